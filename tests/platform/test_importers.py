"""The catalogue in co-simulation engines that are not ours: what they read is what fmpy reads, bit by bit."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fmpy
import pytest
from fmpy.fmi2 import FMU2Slave
from forms import first_of_each_element
from importers import ENGINES

import fmu_builder
from fmu_builder.cosim.master import run
from fmu_builder.export.fmu import host_fmu
from fmu_builder.paths import catalogue, shipped
from tests.contact_core.fmi2 import literal
from tests.fmu_builder import implicit_table
from tests.platform import engines_table

pytestmark = pytest.mark.platform

STEP = 2.0**-9  # s; a whole number of nanoseconds, and all times are exact
STEPS = 100
SCRIPT = Path(__file__).with_name("importers.py")

# a ball falls on a soft floor: 51 steps per contact, so that the coupling matters
DROP = """
[experiment]
algorithm = "jacobi"
stop = "1 s"
step = "1953.125 us"
[slaves]
body = { recipe = "PointMass", start = { r0 = [0, 0, "0.1 m"] } }
floor = { recipe = "PointSurface", start = { C_F = "1000 N/m", C_r = 0.5 } }
"""


def run_with(engine: str, systems: list[dict[str, Any]], folder: Path) -> list[list[float]]:
    (folder / "systems.json").write_text(json.dumps(systems))
    done = subprocess.run(
        [sys.executable, str(SCRIPT), engine, str(folder / "systems.json"), str(folder / "results.json")],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    results: list[list[float]] = json.loads((folder / "results.json").read_text())
    return results


def fmu_of(name: str, folder: Path | None = None) -> Path:
    """The FMU of a recipe of the catalogue; with a folder to write it to, of its form with the literal law."""
    return host_fmu(shipped("fmus") / f"{name}.toml" if folder is None else literal(name, folder))


def alone(fmu: Path, names: list[str], folder: Path) -> list[float]:
    """What fmpy reads after the steps."""
    description = fmpy.read_model_description(fmu, validate=False)
    references = {v.name: v.valueReference for v in description.modelVariables}
    slave = FMU2Slave(
        guid=description.guid,
        unzipDirectory=fmpy.extract(fmu, folder),
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="alone",
    )
    slave.instantiate()
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    for k in range(STEPS):
        slave.doStep(k * STEP, STEP)
    values: list[float] = slave.getReal([references[name] for name in names])
    slave.terminate()
    slave.freeInstance()
    return values


@dataclass
class Catalogue:
    """Each FMU of the catalogue as a system of its own, and what fmpy reads from it: FMU -> variable -> value."""

    systems: list[dict[str, Any]] = field(default_factory=list)
    expected: dict[str, dict[str, float]] = field(default_factory=dict)


@pytest.fixture(scope="module")
def under_fmpy(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Catalogue:
    """The whole catalogue; one recipe of each element where parameters are sampled, as on a slow machine."""
    found, folder = Catalogue(), tmp_path_factory.mktemp("under fmpy")
    sampled = first_of_each_element() if pytestconfig.getoption("--of-each") else None
    for recipe in catalogue():
        if sampled and recipe.stem not in sampled:
            continue
        fmu = host_fmu(recipe)
        variables = fmpy.read_model_description(fmu, validate=False).modelVariables  # as every build has validated it
        names = [v.name for v in variables if v.type == "Real" and v.causality in ("output", "local")]
        found.systems.append(system({"alone": fmu}, [f"alone.{name}" for name in names], STEPS))
        found.expected[recipe.stem] = dict(zip(names, alone(fmu, names, folder / recipe.stem), strict=True))
    return found


@pytest.mark.parametrize("engine", ["libcosim", "ecos"])  # a container for each FMU takes a minute
def test_every_fmu_of_the_catalogue_runs_as_under_fmpy(engine: str, under_fmpy: Catalogue, tmp_path: Path) -> None:
    expected = under_fmpy.expected
    results = zip(expected.items(), run_with(engine, under_fmpy.systems, tmp_path), strict=True)
    different = {
        f"{fmu}.{name}": (value, read)
        for (fmu, outputs), values in results
        for (name, value), read in zip(outputs.items(), values, strict=True)
        if value != read
    }
    assert not different
    assert sum(map(len, expected.values())) > 10 * len(expected) > 100


LINKS = [(f"body.p.{q}[{i}]", f"floor.point.{q}[{i}]") for q in "rv" for i in (1, 2, 3)]
LINKS += [(f"floor.point.f[{i}]", f"body.p.f[{i}]") for i in (1, 2, 3)]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_elastic_ball_keeps_its_energy_in_a_master_that_knows_nothing_of_it(engine: str, tmp_path: Path) -> None:
    """Six steps per contact: a force that is held makes the ball rebound at nearly three times its speed; the
    energy-consistent force of mode auto at its own (physics of it: elements/point_surface/README.md)."""
    g, height, steps_per_contact = 9.80665, 0.1, 6.3
    stiffness = (math.pi / (steps_per_contact * STEP)) ** 2  # N/m, for 1 kg
    start = {"body.r0[3]": height, "floor.C_F": stiffness, "floor.C_r": 1.0}
    rebound = {}
    for law, floor in (("literal", fmu_of("PointSurface", tmp_path)), ("auto", fmu_of("PointSurface"))):
        fmus = {"body": fmu_of("PointMass"), "floor": floor}
        drop = system(fmus, ["body.p.r[3]", "body.p.v[3]"], 102, start, LINKS)
        ((z, v),) = run_with(engine, [drop], tmp_path)
        assert v > 0.5 and z > 0.02  # on its way up
        rebound[law] = math.sqrt((v**2 / 2 + g * z) / (g * height))
    assert rebound["literal"] > 2
    assert rebound["auto"] == pytest.approx(1, abs=5e-4)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_ball_bounces_as_under_our_jacobi_master(engine: str, tmp_path: Path) -> None:
    read = [f"body.p.{q}[3]" for q in "rv"]  # what no input feeds through to, so it does not matter when it is read
    fmus = {"body": fmu_of("PointMass"), "floor": fmu_of("PointSurface", tmp_path)}
    start = {"body.r0[3]": 0.1, "floor.C_F": 1000.0, "floor.C_r": 0.5}
    (tmp_path / "drop.toml").write_text(f"connections = {json.dumps(LINKS)}\n{DROP}")
    trace = run(tmp_path / "drop.toml").trace
    ours = [float(trace[name][-1]) for name in read]
    assert ours[0] < 0.05 and trace["floor.contact_count"][-1] >= 2
    ((*theirs,),) = run_with(engine, [system(fmus, read, 512, start, LINKS)], tmp_path)
    assert theirs == ours


def test_the_guide_shows_the_errors_of_other_masters(tmp_path: Path) -> None:
    guide = (Path(fmu_builder.__file__).parent / "guide" / "implicit.md").read_text(encoding="utf-8")
    (shown,) = [line for line in guide.splitlines() if line.startswith("| damped | 0.24 |")]
    errors = engines_table.engine_errors(["damped"], 3.1)
    assert shown == f"| damped | 0.24 | {' | '.join(implicit_table.shown(errors[e]['damped']) for e in ENGINES)} |"


def test_forces_that_add_up_are_left_out_for_masters_without_sums() -> None:
    assert engines_table.engine_system("cradle", 3.1) is None


def system(
    slaves: dict[str, Path],
    read: list[str],
    steps: int,
    start: dict[str, float] | None = None,
    connections: list[tuple[str, str]] | None = None,
) -> dict[str, Any]:
    """What importers.py takes."""
    paths = {name: str(path) for name, path in slaves.items()}
    return {
        "slaves": paths,
        "start": start or {},
        "connections": connections or [],
        "step": round(STEP * 1e9),
        "steps": steps,
        "read": read,
    }
