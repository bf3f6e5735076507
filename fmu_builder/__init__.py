"""Mechanical force elements and constrained mechanisms as self-contained FMI 2.0 and 3.0 FMUs.

    build(recipe) -> Path                 recipe -> .fmu
    run(scenario) -> Result               slaves coupled by a master -> trace, contacts, notes, log
    compare(trace, reference) -> Comparison
    check_fmu(path) -> CheckReport        what breaks the rules of FMI 2.0 in an FMU of any tool
    fit(fit) -> FitResult                 parameters from measured files, with intervals
    live(scenario) -> Path                a page on which it runs in the browser
    plot(trace) -> Path                   a page of its signals
    study(file) -> StudyResult            many runs of a system, as a table

Recipes, scenarios and studies are files, or Recipe, Assembly, Scenario, Case and Study, with models of their tables
such as Plane and Experiment.  The command line is `fmu-builder`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fmu_builder.facade import on_demand

if TYPE_CHECKING:
    from fmu_builder.check.report import CheckReport, check_fmu
    from fmu_builder.cosim.comparison import Comparison, Tolerance, compare
    from fmu_builder.cosim.master import run
    from fmu_builder.cosim.result import Result, RunInterrupted
    from fmu_builder.cosim.trace import Trace, read_trace, write_trace
    from fmu_builder.errors import FmuBuilderError, InputError, SlaveError, ToolError
    from fmu_builder.export.fmu import build
    from fmu_builder.fitting.result import FitResult, FittedColumn, FittedParameter
    from fmu_builder.fitting.solution import fit
    from fmu_builder.fitting.tables import Fit, FitExperiment, FitMeasurement, FitMethod, FitParameter
    from fmu_builder.model.documents import Assembly, Case, Part, Recipe, Scenario
    from fmu_builder.model.mapping import ColumnEntry, OffsetEntry
    from fmu_builder.model.scenario import Convergence, Drive, Experiment, Reference
    from fmu_builder.model.structure_tables import (
        Body,
        Cone,
        Cylinder,
        Disc,
        Distance,
        Extrusion,
        GuideLine,
        HeightField,
        Mesh,
        Patch,
        Pin,
        Plane,
        Point,
        Profile,
        Revolution,
        Sphere,
        Torus,
    )
    from fmu_builder.pages.live import live
    from fmu_builder.report.trace_plot import plot
    from fmu_builder.studies.format import Factor, Plan, Response, Study
    from fmu_builder.studies.run import StudyInterrupted, StudyResult, study
    from fmu_builder.version import __version__

__all__ = [
    "Assembly",
    "Body",
    "Case",
    "CheckReport",
    "ColumnEntry",
    "Comparison",
    "Cone",
    "Convergence",
    "Cylinder",
    "Disc",
    "Distance",
    "Drive",
    "Experiment",
    "Extrusion",
    "Factor",
    "Fit",
    "FitExperiment",
    "FitMeasurement",
    "FitMethod",
    "FitParameter",
    "FitResult",
    "FittedColumn",
    "FittedParameter",
    "FmuBuilderError",
    "GuideLine",
    "HeightField",
    "InputError",
    "Mesh",
    "OffsetEntry",
    "Part",
    "Patch",
    "Pin",
    "Plan",
    "Plane",
    "Point",
    "Profile",
    "Recipe",
    "Reference",
    "Response",
    "Result",
    "Revolution",
    "RunInterrupted",
    "Scenario",
    "SlaveError",
    "Sphere",
    "Study",
    "StudyInterrupted",
    "StudyResult",
    "Tolerance",
    "ToolError",
    "Torus",
    "Trace",
    "__version__",
    "build",
    "check_fmu",
    "compare",
    "fit",
    "live",
    "plot",
    "read_trace",
    "run",
    "study",
    "write_trace",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = on_demand(__name__, __all__)
