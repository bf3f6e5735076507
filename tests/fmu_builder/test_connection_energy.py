"""The energy that the coupling of slaves makes is what their own energies gain together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from foreign import BODY, foreign_fmu

from fmu_builder.cosim import connection_energy
from fmu_builder.cosim.loop.program import LOOP
from fmu_builder.cosim.master import run
from fmu_builder.cosim.result import Result
from fmu_builder.errors import InputError
from tests.contact_core.fmi2 import literal

DROP = """
connections = [["body.p", "floor.point"]]
[experiment]
stop = {stop}
step = 2e-4
output_step = 1e-3
algorithm = "{algorithm}"
power = true
[slaves]
{slaves}
"""
BALL = 'body = {{ recipe = "PointMass", start = {{ r0 = [0, 0, {height}], v0 = [0.2, 0, -1], g = [0, 0, -9.81] }} }}\n'
FLOOR = 'floor = {{ recipe = "PointSurface", start = {{ C_F = 1e5, C_r = {restitution}, K_fr = {friction} }} }}\n'
NAME = "body.p~floor.point"


def drop(
    folder: Path,
    algorithm: str = "gauss_seidel",
    restitution: float = 1.0,
    friction: float = 0.0,
    stop: float = 0.04,
    order: str = "body floor",
) -> Result:
    slaves = {
        "body": BALL.format(height=0.003),
        "floor": FLOOR.format(restitution=restitution, friction=friction),
    }
    text = DROP.format(stop=stop, algorithm=algorithm, slaves="".join(slaves[name] for name in order.split()))
    path = folder / "drop.toml"
    path.write_text(text, encoding="utf-8")
    return run(path)


def gained(done: Result) -> float:
    """J: kinetic, potential and elastic energy, and what was dissipated, at the end less those at the start."""
    names = ["body.energy.kinetic", "body.energy.potential", "floor.energy.elastic", "floor.energy.damping"]
    total = sum(done.trace[name] for name in [*names, "floor.energy.friction", "floor.energy.switched"])
    return float(total[-1] - total[0])


@pytest.mark.parametrize("loop", ["compiled", "python"])
@pytest.mark.parametrize("order", ["body floor", "floor body"])
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
@pytest.mark.parametrize(("restitution", "friction"), [(1.0, 0.0), (0.5, 0.3)])
def test_what_the_coupling_makes_is_what_all_energies_gain(
    tmp_path: Path,
    algorithm: str,
    order: str,
    restitution: float,
    friction: float,
    loop: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    literal("PointSurface", tmp_path)
    monkeypatch.setenv(LOOP, loop)
    done = drop(tmp_path, algorithm, restitution, friction, order=order)
    (energy,) = done.energies
    assert energy.name == NAME and energy.passed > 0.4  # of a ball of 1 kg at 1 m/s
    assert energy.made > 0.01
    assert energy.made == pytest.approx(gained(done), abs=1e-12)
    made, power = done.trace[f"{NAME}.made"], done.trace[f"{NAME}.power"]
    assert made[0] == 0.0 and made[-1] == energy.made
    assert power[0] == 0.0 and np.abs(power).max() > 1.0
    assert (done.trace.units[f"{NAME}.made"], done.trace.units[f"{NAME}.power"]) == ("J", "W")
    assert [n for n in done.notes if n.startswith("the coupling has made ") and f"most at {NAME}: " in n]


@pytest.mark.parametrize("slow", ["body", "floor"])
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_slaves_with_longer_steps_make_what_all_energies_gain_too(tmp_path: Path, algorithm: str, slow: str) -> None:
    literal("PointSurface", tmp_path)
    slaves = {"body": BALL.format(height=0.003), "floor": FLOOR.format(restitution=1, friction=0)}
    slaves[slow] = slaves[slow].replace(" }\n", ", step = 1e-3 }\n")
    path = tmp_path / "drop.toml"
    path.write_text(DROP.format(stop=0.04, algorithm=algorithm, slaves="".join(slaves.values())), encoding="utf-8")
    done = run(path)
    (energy,) = done.energies
    assert energy.made > 0.05
    assert energy.made == pytest.approx(gained(done), abs=1e-12)


def test_both_loops_give_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    literal("PointSurface", tmp_path)
    found = []
    for loop in ("compiled", "python"):
        monkeypatch.setenv(LOOP, loop)
        found.append(drop(tmp_path, "jacobi", 0.5, 0.3))
    assert found[0].trace.values.tobytes() == found[1].trace.values.tobytes()
    assert found[0].energies == found[1].energies


def test_a_force_that_makes_no_energy_is_shown_as_such(tmp_path: Path) -> None:
    """The default of contacts, coupling.mode = auto, through a bounce without loss."""
    done = drop(tmp_path, stop=0.02)
    (energy,) = done.energies
    assert done.trace["body.p.v[3]"][-1] > 0.5
    assert abs(energy.made) < 1e-3 * energy.passed
    literal("PointSurface", tmp_path)
    (held,) = drop(tmp_path, stop=0.02).energies
    assert held.made > 0.05 * held.passed


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_without_a_ledger_forces_and_motions_at_both_ends_tell_the_same(
    tmp_path: Path, algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A linear force without loss is one of its ends' mean, but in the two steps where the contact begins and ends."""
    literal("PointSurface", tmp_path)
    (ledger,) = drop(tmp_path, algorithm, stop=0.02).energies
    monkeypatch.setattr(connection_energy, "_LEDGER", ("energy.work", "energy.remainder"))
    (flows,) = drop(tmp_path, algorithm, stop=0.02).energies
    assert flows.passed == ledger.passed
    assert flows.made == pytest.approx(ledger.made, rel=0.1)
    assert flows.made != ledger.made


def test_flows_count_in_the_units_of_their_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    literal("PointSurface", tmp_path)
    monkeypatch.setattr(connection_energy, "_LEDGER", ("energy.work", "energy.remainder"))
    unit_of = {"p.r": "mm", "p.v": "mm/s", "r0": "mm", "m": "t"}
    variables = [replace(v, unit=unit_of.get(v.name.partition("[")[0], v.unit)) for v in BODY if v.name != "k"]
    metres, small = foreign_fmu(tmp_path, "Metres"), foreign_fmu(tmp_path, "Small", variables)
    slaves = [
        f"body = {{ recipe = '{metres}', start = {{ r0 = [0, 0, -1e-3] }} }}\n",
        f"body = {{ recipe = '{small}', start = {{ r0 = [0, 0, '-1 mm'], m = '1 kg' }} }}\n",
    ]
    floor = FLOOR.format(restitution=1, friction=0)
    made = []
    for body in slaves:
        path = tmp_path / "drop.toml"
        path.write_text(DROP.format(stop=0.02, algorithm="gauss_seidel", slaves=body + floor), encoding="utf-8")
        (energy,) = run(path).energies
        made.append((energy.made, energy.passed))
    assert made[0][1] == pytest.approx(0.5 * 1e5 * 1e-6, rel=0.1)  # of the spring at its start
    assert made[1] == pytest.approx(made[0], rel=1e-9)


def test_each_connection_has_its_own_energy_and_the_worst_is_named(tmp_path: Path) -> None:
    """Two bodies on springs, of which one is fifty times as stiff, and one between them."""
    text = """
        connections = [["a.p", "soft.r"], ["b.p", "stiff.r"], ["a.p", "between.r"], ["b.p", "between.c"]]
        [experiment]
        stop = 0.05
        step = 5e-4
        power = true
        [slaves]
        a = { recipe = "SliderMass", start = { v0 = 1 } }
        b = { recipe = "SliderMass", start = { v0 = 1 } }
        soft = { recipe = "TranslationalSpring", start = { k = 1e3 } }
        stiff = { recipe = "TranslationalSpring", start = { k = 5e4 } }
        between = { recipe = "TranslationalSpring", start = { k = 1e3 } }
        """
    path = tmp_path / "train.toml"
    path.write_text(text, encoding="utf-8")
    done = run(path)
    made = {one.name: one.made for one in done.energies}
    assert set(made) == {"a.p~soft.r", "b.p~stiff.r", "between"}
    bodies = sum(done.trace[f"{name}.energy.kinetic"] for name in "ab")
    springs = sum(done.trace[f"{name}.energy.elastic"] for name in ("soft", "stiff", "between"))
    total = bodies + springs
    assert sum(made.values()) == pytest.approx(total[-1] - total[0], abs=1e-12)
    assert abs(made["b.p~stiff.r"]) > 1e-3
    assert max(made, key=lambda name: abs(made[name])) == "b.p~stiff.r"
    powers = {"a.p~soft.r.power", "b.p~stiff.r.power", "a.p~between.r.power", "b.p~between.c.power"}
    assert powers == {name for name in done.trace.names if name.endswith(".power")}
    (note,) = [note for note in done.notes if note.startswith("the coupling has made ")]
    assert "most at b.p~stiff.r: " in note


POINTS = """
connections = [["point.P_out", "body.P[1]"], ["point.p_in", "spring.r"]{more}]
[experiment]
stop = 0.5
step = {step}
algorithm = "{algorithm}"
power = true
[slaves]
{slaves}
"""
TURNING = {
    "body": 'body = { recipe = "TwoDBody", start = { m = 2, J = 0.03, omega0 = 4 } }',
    "point": 'point = { recipe = "TwoDPointTheta" }',
    "spring": 'spring = { recipe = "RotationalSpring", start = { k = 50, theta0 = 0.2, "coupling.mode" = "%s" } }',
    "damper": 'damper = { recipe = "RotationalDamper", start = { d = 0.05 } }',
}


@pytest.mark.parametrize("loop", ["compiled", "python"])
@pytest.mark.parametrize("order", ["body point spring", "spring point body"])
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
@pytest.mark.parametrize("mode", ["auto", "hold"])
def test_what_is_made_on_both_sides_of_a_point_counts_together(
    tmp_path: Path, mode: str, algorithm: str, order: str, loop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A body that only turns: what its energy and that of its spring gain."""
    monkeypatch.setenv(LOOP, loop)
    parts = {**TURNING, "spring": TURNING["spring"] % mode}
    slaves = "\n".join(parts[name] for name in order.split())
    path = tmp_path / "turning.toml"
    path.write_text(POINTS.format(step=1e-3, algorithm=algorithm, slaves=slaves, more=""), encoding="utf-8")
    done = run(path)
    total = done.trace["body.energy.kinetic"] + done.trace["spring.energy.elastic"]
    (energy,) = done.energies
    assert energy.name == "spring" and energy.passed > 1.0
    assert energy.made == pytest.approx(total[-1] - total[0], abs=1e-9 * total.max())
    assert done.trace["spring.made"][-1] == energy.made
    assert {"body.P[1]~point.P_out.power", "point.p_in~spring.r.power"} <= set(done.trace.names)


def test_elements_at_one_point_count_together(tmp_path: Path) -> None:
    slaves = "\n".join(TURNING.values()).replace("%s", "hold")
    text = POINTS.format(step=1e-3, algorithm="jacobi", slaves=slaves, more=', ["point.p_in", "damper.r"]')
    path = tmp_path / "turning.toml"
    path.write_text(text, encoding="utf-8")
    done = run(path)
    names = ["body.energy.kinetic", "spring.energy.elastic", "damper.energy.damping"]
    total = sum(done.trace[name] for name in names)
    (energy,) = done.energies
    assert energy.name == "spring+damper"
    assert energy.made == pytest.approx(total[-1] - total[0], abs=1e-9) and energy.made > 0.1


SHAKEN = """
connections = [["mass.p", "spring.r"], ["mass.p", "other.r"]{more}]
[experiment]
stop = 1
step = 2e-3
power = true
[slaves]
mass = {{ recipe = "SliderMass", start = {{ v0 = 1 }} }}
spring = {{ recipe = "TranslationalSpring", start = {{ k = 100 }} }}
other = {{ recipe = "TranslationalSpring", start = {{ k = 50 }} }}
{end}
"""


def test_an_element_that_a_drive_moves_is_left_out_and_a_note_says_so(tmp_path: Path) -> None:
    """The same motion of a slave is counted: energy gained, less the work of that motion."""
    path = tmp_path / "shaken.toml"
    path.write_text(SHAKEN.format(more="", end='[drive]\n"spring.c.v" = "1[m/s]*cos(10[rad/s]*#t)"'), encoding="utf-8")
    done = run(path)
    assert [one.name for one in done.energies] == ["mass.p~other.r"]
    assert "mass.p~spring.r.made" not in done.trace and "mass.p~spring.r.power" in done.trace
    (note,) = [note for note in done.notes if "not counted" in note]
    assert note.startswith("spring: ") and "c.v is driven" in note and "prescribed_motion" in note
    shaker = (
        'shaker = { recipe = "PrescribedTranslation", start = { amplitude = 0.1, frequency = 1.5915494309189535 } }'
    )
    path.write_text(SHAKEN.format(more=', ["shaker.port", "spring.c"]', end=shaker), encoding="utf-8")
    counted = run(path)
    assert not [note for note in counted.notes if "not counted" in note]
    made = {one.name: one.made for one in counted.energies}
    total = sum(counted.trace[n] for n in ("mass.energy.kinetic", "spring.energy.elastic", "other.energy.elastic"))
    gained = total[-1] - total[0] - counted.trace["shaker.energy.work"][-1]
    assert set(made) == {"spring", "mass.p~other.r"}
    assert sum(made.values()) == pytest.approx(gained, abs=2e-4)  # the mean of two speeds is not that of the sine
    assert abs(counted.trace["shaker.energy.work"][-1]) > 0.1


def test_without_the_key_nothing_is_recorded_and_implicit_refuses_it(tmp_path: Path) -> None:
    literal("PointSurface", tmp_path)
    path = tmp_path / "plain.toml"
    slaves = BALL.format(height=0.003) + FLOOR.format(restitution=1, friction=0)
    text = DROP.format(stop=0.002, algorithm="gauss_seidel", slaves=slaves)
    path.write_text(text.replace("power = true\n", ""), encoding="utf-8")
    done = run(path)
    assert done.energies == () and not [name for name in done.trace.names if "~" in name]
    asked = run(path, power=True)
    assert [one.name for one in asked.energies] == [NAME]
    np.testing.assert_array_equal(asked.trace.values[:, : done.trace.values.shape[1]], done.trace.values)
    path.write_text(text.replace("gauss_seidel", "implicit"), encoding="utf-8")
    with pytest.raises(InputError, match=r"\[experiment\] power: is of jacobi and gauss_seidel"):
        run(path)


def test_power_without_a_connection_of_ports_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "alone.toml"
    text = "[experiment]\nstop = 0.002\nstep = 1e-3\npower = true\n[slaves]\nbody = { recipe = 'PointMass' }\n"
    path.write_text(text, encoding="utf-8")
    done = run(path)
    (note,) = [note for note in done.notes if "power" in note]
    assert note.startswith("power = true has no effect: no port of a body is connected to a port of an element")
    assert not done.energies and not any("~" in name for name in done.trace.names)
    assert not [note for note in run(path, power=False).notes if "power" in note]
