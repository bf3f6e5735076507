"""impact_damper: signs, contacts in closed form, the ledger; and the same in Python, with the same trace."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from fmi2 import Fmu, load_shipped
from fmpy import simulate_fmu
from numpy.typing import NDArray
from running import Running, Values

from fmu_builder import Experiment, Part, Scenario, run
from fmu_builder.cosim.validation import run_case
from fmu_builder.export.fmu import host_fmu
from fmu_builder.model.loader import load_model
from fmu_builder.model.step_advice import HELD, advice_of, two_digits
from fmu_builder.paths import shipped
from fmu_builder.units import quantity

Vector = NDArray[np.float64]
M, C_F = 0.1, 1e5
W = math.sqrt(C_F / M)
ELASTIC: Values = {"w0": 1.0, "C_F": C_F, "C_r": 1.0}
CASES = shipped("elements") / "impact_damper" / "cases"


@pytest.fixture(scope="module")
def fmu(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("ImpactDamper", tmp_path_factory.mktemp("damper"))


# ---- the law ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", [1.0, -1.0], ids=["right", "left"])
def test_a_mass_in_a_wall_pushes_it_outwards_and_is_pushed_back(fmu: Fmu, side: float) -> None:
    """Numbers by hand: 6 mm from the middle of a gap of 10 mm are 1 mm deep, 100 N at 1e5 N/m, 1000 m/s2 for 0.1 kg.
    Going deeper at 5 mm/s the damping ratio is 100 s/m * 5 mm/s = 0.5, within its limits of +-0.6 for C_r = 0.5."""
    running = Running(fmu, {"x0": side * 6e-3, "C_F": C_F, "w0": 0.0})
    assert running["p.F"] == pytest.approx(side * 100.0, rel=1e-13)
    assert running["der(w)"] == pytest.approx(-side * 1000.0, rel=1e-13)
    assert (running["depth"], running["normal_force"]) == pytest.approx((1e-3, 100.0), rel=1e-13)
    moving = Running(fmu, {"x0": side * 6e-3, "C_F": C_F, "w0": side * 8e-3, "p.v": side * 3e-3})
    assert moving["v"] == moving["der(x)"] == pytest.approx(side * 5e-3)
    assert moving["normal_force"] == pytest.approx(150.0, rel=1e-12)
    assert moving["power.damping"] == pytest.approx(50.0 * 5e-3, rel=1e-12)
    assert moving["power.work"] == pytest.approx(-150.0 * 3e-3, rel=1e-12)


def test_without_contact_nothing_acts(fmu: Fmu) -> None:
    running = Running(fmu, {"x0": 4.999e-3, "p.v": 3.0})
    assert running["p.F"] == running["der(w)"] == running["depth"] == running["energy.elastic"] == 0.0
    off = Running(fmu, {"x0": 6e-3, "work": 0})
    assert off["p.F"] == off["depth"] == off["energy.elastic"] == 0.0


@pytest.mark.parametrize("steps", [1, 50])
def test_elastic_contacts_are_half_oscillations(fmu: Fmu, steps: int) -> None:
    """After one period 2 (gap/w0 + pi/W) the mass is where it was; the deepest point is w0/W."""
    period = 2 * (0.01 + math.pi / W)
    running = Running(fmu, ELASTIC)
    for _ in range(steps):
        running.step(period / steps)
    assert running["x"] == pytest.approx(0.0, abs=1e-9)
    assert running["w"] == pytest.approx(1.0, abs=1e-8)
    assert running["contact_count"] == 2
    deepest = Running(fmu, ELASTIC)
    deepest.step(5e-3 + math.pi / 2 / W)
    assert deepest["depth"] == pytest.approx(1.0 / W, rel=1e-8)


def test_each_contact_is_recorded_with_its_times_and_what_it_did(fmu: Fmu) -> None:
    """At 1 m/s from the middle to the right wall, a half oscillation there, then the same at the left one."""
    running = Running(fmu, ELASTIC)
    for k, begin in enumerate((5e-3, 15e-3 + math.pi / W), start=1):
        running.step(begin + math.pi / W + 2e-3 - running.time)
        record = {name: running[f"last_contact.{name}"] for name in ("start", "end", "peak_force", "impulse")}
        speeds = [running[f"last_contact.{name}_speed"] for name in ("impact", "rebound")]
        assert (running["release_count"], running["contact_count"]) == (k, k)
        assert (record["start"], record["end"]) == pytest.approx((begin, begin + math.pi / W), abs=1e-9)
        assert speeds == pytest.approx([1.0, 1.0], rel=1e-8)
        assert record["peak_force"] == pytest.approx(C_F / W, rel=1e-8)
        assert record["impulse"] == pytest.approx(2.0 * M, rel=1e-8)


@pytest.mark.parametrize("c_r", [0.2, 0.5, 0.8])
def test_each_contact_leaves_the_restitution_of_the_speed(fmu: Fmu, c_r: float) -> None:
    running = Running(fmu, {"w0": 1.0, "C_F": C_F, "C_r": c_r, "k_D": 1e9})
    running.step(0.012 + 5e-3)
    assert running["contact_count"] == 1
    assert running["w"] == pytest.approx(-c_r, abs=1e-8)
    assert running["energy.damping"] == pytest.approx(0.5 * M * (1 - c_r**2), rel=1e-8)


# ---- the ledger ------------------------------------------------------------------------------------------------------


def test_the_ledger_closes_with_every_switch(fmu: Fmu) -> None:
    running = Running(fmu, {"w0": 1.0, "C_F": C_F, "C_r": 0.9, "p.v": 0.3})
    for k in range(400):
        if k == 100:
            running.set({"m": 0.15})
        if k == 150:
            running.set({"gap": 0.008})
        if k == 200:
            running.set({"C_F": 2e5})
        running.step(5e-4)
        assert running["energy.residual"] == pytest.approx(0.0, abs=1e-8)
    assert running["contact_count"] >= 10


def test_switching_destroys_what_the_contact_holds(fmu: Fmu) -> None:
    running = Running(fmu, {"x0": 6e-3, "C_F": C_F, "w0": 0.0})
    running.set({"work": 0})
    running.step(1e-4)
    assert running["energy.switched"] == pytest.approx(0.5 * C_F * 1e-6, rel=1e-12)
    running.set({"m": 0.2})
    running.step(1e-4)
    assert running["energy.switched"] == pytest.approx(0.5 * C_F * 1e-6, rel=1e-12)  # at rest
    running.set({"work": 1})
    running.step(1e-6)
    assert running["energy.switched"] == pytest.approx(0.0, abs=1e-12)
    assert running["energy.residual"] == pytest.approx(0.0, abs=1e-12)


# ---- coupled by a master ---------------------------------------------------------------------------------------------


def shaken(fmu: Fmu, mass: float, h: float, phase: float, late: int, C_r: float, w: float) -> tuple[float, float]:
    """Relative errors of the speed of a housing at rest, and of the rebound of the mass relative to it, after one
    contact: the housing's speed and then the force are held over steps h; late = 1 under Jacobi."""
    start = {"C_F": C_F, "C_r": C_r, "m": M, "gap": 2.0, "w0": w, "x0": 1.0 - h * w * (1.0 + phase)}
    running, v, forces = Running(fmu, start), 0.0, [0.0, 0.0]
    while not (running["release_count"] and forces[0] == forces[late] == 0.0):
        running.set({"p.v": v})
        running.step(h)
        forces = [running["p.F"], forces[0]]
        v += forces[late] * h / mass
    share = M / (M + mass)
    return v / ((1.0 + C_r) * share * w) - 1.0, (v - running["w"]) / (C_r * w) - 1.0


def advised_step(mass: float, late: int) -> float:
    """Of the constants of these tests."""
    held = next(v.held for v in load_model(shipped("fmus") / "ImpactDamper.toml").variables if v.name == "C_F")
    assert held is not None
    return advice_of("C_F", held, C_F, mass, M).steps[HELD["jacobi" if late else "gauss_seidel"]]


PHASES = np.arange(16) / 16


@pytest.mark.slow
@pytest.mark.parametrize("w", [1.0, 30.0])
@pytest.mark.parametrize("C_r", [1.0, 0.5])
@pytest.mark.parametrize("late", [0, 1], ids=["Gauss-Seidel", "Jacobi"])
@pytest.mark.parametrize("mass", [0.03, 0.1, 1.0, 10.0, 100.0, 1000.0])
def test_steps_as_advised_keep_the_speeds_of_housing_and_mass(
    fmu: Fmu, mass: float, late: int, C_r: float, w: float
) -> None:
    """To 1 % in every phase of the step; of a fast impact on a heavy housing, C_r = 0.5, little less is reached."""
    errors = np.abs([shaken(fmu, mass, advised_step(mass, late), phase, late, C_r, w) for phase in PHASES])
    assert errors.max() < 0.01
    if mass >= 10.0 and C_r == 0.5 and w == 30.0:
        assert errors[:, 0].max() > 0.008


@pytest.mark.slow
@pytest.mark.parametrize(("C_r", "n"), [(1.0, 10.0), (1.0, 20.0), (0.5, 50.0), (0.5, 100.0), (0.2, 100.0)])
def test_the_impulse_on_a_heavy_housing_is_a_sum_of_samples(fmu: Fmu, C_r: float, n: float) -> None:
    """Off by up to pi^2/(12 n^2) of an elastic contact, and pi (1 - C_r)/(2 n sqrt(Delta)) where the force jumps."""
    h = math.pi * math.sqrt(M / C_F) / n
    off = max(abs(shaken(fmu, 1e6, h, phase, 0, C_r, 100.0)[0]) for phase in PHASES)
    jump = math.pi * (1.0 - C_r) / (2.0 * n * math.sqrt(0.5 + 0.5 * C_r**2))
    assert off == pytest.approx(jump if C_r < 1.0 else math.pi**2 / 12.0 / n**2, rel=0.15)


@pytest.mark.parametrize("mass", [1.0, 10.0, 1000.0])
@pytest.mark.parametrize("algorithm", ["gauss_seidel", "jacobi"])
def test_run_advises_the_step_and_none_at_it(mass: float, algorithm: str) -> None:
    best = two_digits(advised_step(mass, int(algorithm == "jacobi")))

    def notes(step: float) -> list[str]:
        housing = Part(recipe="SliderMass", start={"m": mass})
        damper = Part(recipe="ImpactDamper", start={"C_F": C_F, "m": M})
        return [
            str(note)
            for note in run(
                Scenario(
                    slaves={"M": housing, "D": damper},
                    connections=[("M.p", "D.p")],
                    experiment=Experiment(stop=3 * step, step=step, algorithm=algorithm),  # type: ignore[arg-type]
                )
            ).notes
        ]

    (note,) = notes(1.2 * best)
    assert note.endswith(f"take steps of at most {quantity(best)} s")
    assert f"an effective mass of {mass:g} kg, m = 0.1 kg inside" in note
    assert notes(best) == []


# ---- C and Python ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recipes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """That of the catalogue, and the same in Python."""
    catalogue = shipped("fmus") / "ImpactDamper.toml"
    recipe = tmp_path_factory.mktemp("python") / "ImpactDamper.toml"
    text = catalogue.read_text(encoding="utf-8").replace(
        '"impact_damper"', f"'{(shipped('elements') / 'impact_damper').as_posix()}'\nlanguage = \"python\""
    )
    recipe.write_text(text, encoding="utf-8")
    return {"c": catalogue, "python": recipe}


def trace_of(recipe: Path, case: str, folder: Path) -> dict[str, Vector]:
    """All signals of the damper in a case that runs the FMU of this recipe."""
    text = (CASES / f"{case}.toml").read_text(encoding="utf-8").split("[reference]")[0]
    changed = text.replace('"ImpactDamper"', f'"{recipe.as_posix()}"')
    assert changed != text
    path = folder / f"{case}.toml"
    path.write_text(changed, encoding="utf-8")
    trace = run(path).trace
    return {"time": trace.time} | {n: trace[n] for n in trace.names if n.startswith("damper.")}


def test_both_languages_have_the_same_variables(recipes: dict[str, Path]) -> None:
    c, python = (load_model(recipes[language]) for language in ("c", "python"))
    assert c.variables == python.variables
    assert not c.is_prototype and python.is_prototype
    assert c.name == python.name == "ImpactDamper"


@pytest.mark.parametrize("case", ["rattle", "restitution"])
def test_the_prototype_gives_the_trace_of_the_element_in_c_bit_for_bit(
    recipes: dict[str, Path], case: str, tmp_path: Path
) -> None:
    """One solver and the same arithmetic: the same substeps and events too."""
    c, python = (trace_of(recipes[language], case, tmp_path) for language in ("c", "python"))
    assert c.keys() == python.keys() and len(c) > 20
    assert c["damper.contact_count"][-1] >= 3 and c["damper.solver.events"][-1] >= 6
    for name in c:
        np.testing.assert_array_equal(python[name], c[name], err_msg=name)


@pytest.mark.slow
def test_the_prototype_passes_the_cases_of_the_element_and_fails_for_a_softer_wall(
    recipes: dict[str, Path], tmp_path: Path
) -> None:
    for path in CASES.glob("*_ref.csv*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    for case in ("rattle", "restitution"):
        text = (CASES / f"{case}.toml").read_text(encoding="utf-8")
        text = text.replace('"ImpactDamper"', f'"{recipes["python"].as_posix()}"')
        for name, content in ((case, text), (f"{case}_softer", text.replace('"1e5 N/m"', '"0.99e5 N/m"'))):
            (tmp_path / f"{name}.toml").write_text(content, encoding="utf-8")
            result = run_case(name, tmp_path / f"{name}.toml")
            assert result.failure is None
            assert result.passed == (name == case)


@pytest.mark.slow
def test_an_assembly_with_a_mesh_has_the_same_trace_with_its_damper_in_either_language(
    recipes: dict[str, Path], tmp_path: Path
) -> None:
    """A prototype compiles the bytes of the mesh like an FMU in C."""
    parts = {"bead": "PointMass", "bowl": "PointMeshBowl", "slider": "SliderMass"}
    places = {name: (shipped("fmus") / f"{recipe}.toml").as_posix() for name, recipe in parts.items()}
    traces = {}
    for language, recipe in recipes.items():
        lines = ['connections = [["bead.p", "bowl.point"], ["slider.p", "damper.p"]]', "[parts]"]
        lines += [f"{name} = {{ recipe = '{place}' }}" for name, place in places.items() if name != "bead"]
        lines.append(f"bead = {{ recipe = '{places['bead']}', start = {{ r0 = ['0 mm', 0, '-99 mm'] }} }}")
        lines.append(f"damper = {{ recipe = '{recipe.as_posix()}', start = {{ w0 = 1 }} }}")
        lines += ["[expose.outputs]", "height = 'bead.p.r'", "force = 'bowl.normal_force'", "loose = 'damper.x'"]
        path = tmp_path / language / "Both.toml"
        path.parent.mkdir()
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        traces[language] = simulate_fmu(str(host_fmu(path)), stop_time=0.2, output_interval=0.01)
    c, python = traces["c"], traces["python"]
    assert c["force"].max() > 12.0 and np.ptp(c["height[3]"]) > 1e-4 and np.ptp(c["loose"]) > 1e-3
    for name in c.dtype.names:
        np.testing.assert_array_equal(python[name], c[name], err_msg=name)
