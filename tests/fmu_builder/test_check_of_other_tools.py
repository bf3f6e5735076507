"""FMUs that pythonfmu, fmpy and a developer in C write break the rules that they break, and no others.

Neither fmpy nor its documentation holds an FMU of a pendulum: c_pendulum.c is one by hand, which fmpy runs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_pendulum import ALSO, ANGLE, GRAVITY, LENGTH, MISTAKES, SLIPS, c_pendulum
from fmpy import read_model_description, simulate_fmu
from fmpy.container_fmu.cli import create_container_fmu
from fmpy.container_fmu.config import Component, Configuration
from fmpy.model_description import CoSimulation, DefaultExperiment, ModelDescription, ModelVariable, Unknown
from fmpy.validation import validate_fmu
from pythonfmu.builder import FmuBuilder
from pythonfmu.csvbuilder import CsvFmuBuilder
from scipy.special import ellipk

from fmu_builder import run
from fmu_builder.check.report import CheckReport, check_fmu
from fmu_builder.export.fmi3_variables import Fmi
from fmu_builder.export.fmu import host_fmu
from fmu_builder.model.documents import Recipe, as_file
from tests.contact_core.fmi2 import QUICK

pytestmark = pytest.mark.slow

PENDULUM = """
from math import sin

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Integer, Real


class Pendulum(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.phi, self.w, self.torque, self.steps = 0.5, 0.0, 0.0, 0
        self.register_variable(Real("phi", causality=Fmi2Causality.output))
        self.register_variable(Real("torque", causality=Fmi2Causality.input))
        self.register_variable(Integer("steps", causality=Fmi2Causality.output{discrete}))

    def do_step(self, current_time, step_size):
        self.steps += 1
        self.w += step_size * (self.torque - 9.81 * sin(self.phi))
        self.phi += step_size * self.w
        {end}
"""
# of every FMU of pythonfmu: calls before the initialization, values set where none may be; how it writes dates
HABITS = {"M07", "B23", "B24", "B25", "B26", "B28"}


def pythonfmu_report(folder: Path, discrete: str = "", end: str = "return True") -> CheckReport:
    script = folder / "pendulum.py"
    script.write_text(PENDULUM.format(discrete=discrete, end=end), encoding="utf-8")
    return check_fmu(FmuBuilder.build_FMU(script, dest=folder))


def levels(report: CheckReport) -> tuple[set[str], set[str]]:
    """The rules of errors, and those of warnings."""
    errors = {finding.rule.id for finding in report.findings if finding.rule.level == "error"}
    return errors, {finding.rule.id for finding in report.findings} - errors


def test_pythonfmu_compares_no_guid_has_no_initial_unknowns_and_states_no_variability_of_integers(
    tmp_path: Path,
) -> None:
    errors, warnings = levels(pythonfmu_report(tmp_path))
    assert errors == {"V04", "S06", "B05"} and warnings <= HABITS


def test_an_integer_of_pythonfmu_whose_variability_is_stated_breaks_no_rule(tmp_path: Path) -> None:
    errors, warnings = levels(pythonfmu_report(tmp_path, ", variability=Fmi2Variability.discrete"))
    assert errors == {"S06", "B05"} and warnings <= HABITS


def test_an_exception_in_a_step_of_pythonfmu_is_an_fmi2_fatal(tmp_path: Path) -> None:
    report = pythonfmu_report(tmp_path, end="raise ValueError('of the slave')")
    fatal = [finding.found.what for finding in report.findings if finding.rule.id == "B01"]
    assert fatal and all(what.startswith("fmi2DoStep at t = 0 s answers fmi2Fatal") for what in fatal)


def test_a_table_of_pythonfmu_breaks_the_rules_of_its_calls_alone(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("t, force [REAL]\n0.0, 1.0\n1.0, 2.0\n", encoding="utf-8")
    errors, warnings = levels(check_fmu(CsvFmuBuilder.build_FMU(table, dest=tmp_path)))
    assert errors == {"B05"} and warnings <= HABITS


# ---- a pendulum in C -------------------------------------------------------------------------------------------------


def test_a_pendulum_in_c_breaks_no_rule_and_fmpy_finds_no_problem(tmp_path: Path) -> None:
    fmu = c_pendulum(tmp_path)
    report = check_fmu(fmu)
    assert (report.findings, report.notes) == ((), ())
    assert validate_fmu(str(fmu)) == []


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_the_pendulum_in_c_is_back_after_the_period_of_the_closed_form(kind: str, tmp_path: Path) -> None:
    """4 K(sin(phi_0/2)) sqrt(l/g), 1.6 % more than that of small angles."""
    period = 4.0 * ellipk(math.sin(ANGLE / 2.0) ** 2) * math.sqrt(LENGTH / GRAVITY)
    assert period / (2.0 * math.pi * math.sqrt(LENGTH / GRAVITY)) == pytest.approx(1.016, abs=5e-4)
    settings: dict[str, Any] = {"stop_time": period, "output_interval": period / 200, "relative_tolerance": 1e-11}
    swung = simulate_fmu(str(c_pendulum(tmp_path)), fmi_type=kind, output=["phi", "omega", "x"], **settings)
    back, speed = swung["phi"][-1], np.abs(swung["omega"]).max()
    assert swung["time"][-1] == pytest.approx(period, abs=1e-12)
    assert back == pytest.approx(ANGLE, abs=1e-8) and swung["phi"][100] == pytest.approx(-ANGLE, abs=1e-8)
    assert speed == pytest.approx(2.0 * math.sqrt(GRAVITY / LENGTH) * math.sin(ANGLE / 2.0), abs=1e-7)
    np.testing.assert_allclose(swung["x"], LENGTH * np.sin(swung["phi"]), rtol=0.0, atol=1e-14)


@pytest.mark.parametrize(("mistake", "rule"), MISTAKES.items())
def test_a_mistake_in_the_c_of_a_pendulum_is_named_with_its_rule_alone(mistake: str, rule: str, tmp_path: Path) -> None:
    report = check_fmu(c_pendulum(tmp_path, mistake))
    assert levels(report) == ({rule}, set()) and report.notes == ()


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_in_the_description_of_a_pendulum_is_named_with_its_rule(slip: str, tmp_path: Path) -> None:
    report = check_fmu(c_pendulum(tmp_path, slip=slip))
    assert levels(report) == ({slip} | ALSO.get(slip, set()), set()) and report.notes == ()


def test_a_start_value_outside_of_its_one_bound_is_named_with_that_bound(tmp_path: Path) -> None:
    report = check_fmu(c_pendulum(tmp_path, slip="V10"), timeout=None)
    assert [finding.found.what for finding in report.findings] == ["start 0.8 of 'l' is outside of min 1"]


# ---- containers of fmpy ----------------------------------------------------------------------------------------------


def container(folder: Path, fmu: Path, fmi: Fmi) -> Path:
    """An FMU in which fmpy holds another one, with its outputs."""
    inner = read_model_description(str(fmu))
    of_real = "Real" if fmi == 2 else "Float64"
    part = Component("pendulum", fmu, inner)
    outer: Any = ModelDescription()
    outer.fmiVersion, outer.modelName, outer.numberOfEventIndicators = f"{fmi}.0", "Container", 0
    outer.guid = outer.instantiationToken = "{00000000-0000-0000-0000-000000000001}"
    outer.coSimulation = CoSimulation(modelIdentifier="container_fmu")
    outer.coSimulation.maxOutputDerivativeOrder, outer.coSimulation.fixedInternalStepSize = 0, 1e-3
    outer.defaultExperiment = DefaultExperiment(startTime="0", stopTime="1", stepSize="1e-3")
    outer.modelVariables = [
        ModelVariable(name="time", valueReference=0, type=of_real, causality="independent", variability="continuous")
    ]
    shown = {}
    for v in inner.modelVariables:
        if v.causality == "output" and v.type == of_real and v.variability == "continuous":
            own = ModelVariable(name=v.name, valueReference=len(outer.modelVariables), type=of_real)
            own.causality, own.variability, own.initial = "output", "continuous", "calculated"
            outer.modelVariables.append(own)
            outer.outputs.append(Unknown(variable=own))
            shown[own] = [(part, v)]
    (folder / "unpacked").mkdir()
    create_container_fmu(Configuration(False, outer, [part], [], shown), folder / "unpacked", folder / "Container.fmu")
    return folder / "Container.fmu"


@pytest.fixture
def pendulum(fmi: Fmi) -> Path:
    """One of our own that swings."""
    with as_file(Recipe(name="Swing", element="pendulum", start={"phi0": "30 deg"})) as path:
        return host_fmu(path, QUICK, fmi)


@pytest.mark.parametrize("fmi", [2])
def test_a_container_of_fmpy_has_no_initial_unknowns_and_an_attribute_of_model_exchange(
    pendulum: Path, tmp_path: Path
) -> None:
    report = check_fmu(container(tmp_path, pendulum, 2))
    assert levels(report) == ({"V15", "S06"}, set()) and report.notes == ()


@pytest.mark.parametrize("fmi", [2, 3])
def test_a_container_of_fmpy_runs_as_the_fmu_in_it(pendulum: Path, fmi: Fmi, tmp_path: Path) -> None:
    outer = container(tmp_path, pendulum, fmi)
    inside, alone = (run(path, step="1 ms", stop="0.1 s") for path in (outer, pendulum))
    for name in ("tip.r[1]", "tip.r[3]"):
        np.testing.assert_allclose(inside[f"fmu.{name}"], alone[f"fmu.{name}"], rtol=0.0, atol=1e-12)
        assert np.ptp(alone[f"fmu.{name}"]) > 1e-3
