"""The Modelica library against the FMUs and closed forms: compiled and simulated by rumoca, a tool that is not ours.

The Modelica Standard Library is not installed by pip: Modelica/ has stand-ins for the classes that the library uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import rumoca
from fmpy import simulate_fmu
from numpy.typing import NDArray

from fmu_builder.cosim.trace import read_trace
from fmu_builder.export.fmu import host_fmu
from fmu_builder.model.assembly import AssemblyModel
from fmu_builder.model.loader import load_model
from fmu_builder.model.scenario import read_scenario
from fmu_builder.modelica import Written, write_library
from fmu_builder.modelica.library import CASES, case_class
from fmu_builder.paths import catalogue, shipped

pytestmark = pytest.mark.platform

STANDARD_LIBRARY = Path(__file__).parent / "Modelica"
TOLERANCE = 1e-12  # of both solvers: a contact multiplies the error of the moment at which it begins by its stiffness
AGREEMENT = 1e-8  # of the largest value of a signal, at least of 1
OF_FORCES = (
    1e-7  # of forces and powers: they have the error of the motion times a slope, 294 N.s/m on a ramp of friction
)
LONGEST = 1.0  # s
COUNT = "floor.contact_count"
SYSTEMS = (
    "BeadInBowl",
    "BodyOnThreeSprings",
    "BouncingBall",
    "MarbleInTube",
    "SlidingBlock",
    "SlidingOffSphere",
    "TorsionPendulum",
    "TwoBodyImpact",
    "TwoInertias",
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Written:
    return write_library(tmp_path_factory.mktemp("modelica") / "FmuBuilder")


def compiled(folder: Path, name: str) -> rumoca.Model:
    return rumoca.Session(roots=[str(STANDARD_LIBRARY)]).load(str(folder / "package.mo"), model=name)


@dataclass
class Simulated:
    """The signals of a class at multiples of a step; at an event those behind it."""

    result: rumoca.Result
    times: NDArray[np.float64]

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        found = np.searchsorted(np.array(self.result.time), self.times + 1e-9, side="right") - 1
        return np.asarray(np.array(self.result[name], dtype=np.float64)[found])


def simulated(model: rumoca.Model, stop: float, step: float) -> Simulated:
    settings = rumoca.SimConfig(rtol=TOLERANCE, atol=TOLERANCE, dt=step, solver="rk-like")
    return Simulated(model.simulate(stop, config=settings), np.arange(round(stop / step) + 1) * step)


def common_signals(system: AssemblyModel, library: Written) -> Iterator[tuple[str, tuple[str, float]]]:
    """The name in the FMU of each real signal that is in the class too; its name there, and what it may differ by."""
    parts = library.systems[f"FmuBuilder.Examples.{system.name}"].parts
    for part in system.parts:
        declared = library.elements[f"FmuBuilder.Elements.{part.model.name}"].declared
        for raw in part.model.variables:
            v = system.variables[part.offset + raw.index]
            base, index, _ = re.match(r"(.*?)((\[\d+\])?)$", raw.name).groups()  # type: ignore[union-attr]
            if base in declared and v.type == "real" and v.kind in ("state", "output") and not v.hidden:
                limit = OF_FORCES if v.kind == "output" and v.unit.name in ("N", "N.m", "W") else AGREEMENT
                yield v.name, (f"{parts[part.name]}.{declared[base]}{index}", limit)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_moves_as_its_fmu(name: str, library: Written) -> None:
    path = next(path for path in catalogue() if path.stem == name)
    system = load_model(path)
    assert isinstance(system, AssemblyModel)
    stop, step = min(system.experiment.stop, LONGEST), max(system.experiment.step, 1e-3)
    names = dict(common_signals(system, library))
    fmu = simulate_fmu(
        str(host_fmu(path)),
        stop_time=stop,
        step_size=step,
        output_interval=step,
        relative_tolerance=TOLERANCE,
        start_values={"solver.tolerance": TOLERANCE},
        output=list(names),
    )
    ours = simulated(compiled(library.folder, f"FmuBuilder.Examples.{name}"), stop, step)
    assert len(names) >= 4 and len(fmu) == len(ours.times)
    scales = [np.abs(fmu[one]).max() for one in names]
    assert sum(scale > 0.0 for scale in scales) >= 4  # something moves
    for (one, (in_modelica, limit)), scale in zip(names.items(), scales, strict=True):
        apart = np.abs(ours[in_modelica] - fmu[one]).max()
        assert apart <= limit * max(scale, 1.0), f"{one}: {apart:.2g} of {scale:.2g}"


@pytest.mark.parametrize("case", CASES)
def test_a_case_moves_as_its_closed_form(case: str, library: Written) -> None:
    path = shipped("elements") / f"{case}.toml"
    scenario = read_scenario(path)
    assert scenario.reference is not None
    reference = read_trace(path.parent / scenario.reference.file)
    step = float(reference.time[1] - reference.time[0])
    name = f"FmuBuilder.Examples.{case_class(case)}"
    ours = simulated(compiled(library.folder, name), scenario.seconds("stop"), step)
    for signal in scenario.reference.signals:
        slave, _, variable = signal.partition(".")
        there = f"{library.systems[name].parts[slave]}.{variable.replace('.', '_')}"
        apart = np.abs(ours[there] - reference[signal]).max()
        assert apart <= AGREEMENT * max(np.abs(reference[signal]).max(), 1.0), f"{signal}: {apart:.2g}"


def test_what_no_example_simulates_compiles(library: Written) -> None:
    """Classes of elements with their ports open, and the one system that is too large to simulate here."""
    simulated_here = {*SYSTEMS, *map(case_class, CASES)}
    large = {one.name for one in library.systems.values()} - simulated_here
    assert large == {"SpringMassTrain"}
    used = {
        line.split()[0] for one in library.systems.values() for line in one.text.splitlines() if "Elements." in line
    }
    names = [name for name, one in library.elements.items() if f"Elements.{one.name}" not in used]
    assert names
    for name in [*names, "FmuBuilder.Examples.SpringMassTrain"]:
        assert compiled(library.folder, name).name == name


def test_contacts_are_counted_and_a_broken_rule_is_an_assertion(library: Written) -> None:
    ball = simulated(compiled(library.folder, "FmuBuilder.Examples.BouncingBall"), 2.0, 0.1)
    fmu = simulate_fmu(str(host_fmu(shipped("fmus") / "BouncingBall.toml")), stop_time=2.0, output=[COUNT])
    assert ball[COUNT][-1] == fmu[COUNT][-1] == 6
    with pytest.raises(rumoca.RumocaError, match="k must be greater than 0 N"):
        compiled(library.folder, "FmuBuilder.Examples.TorsionPendulum").simulate(0.1, params={"spring.k": -30.0})
