"""What a run says of communication steps that are longer than advised, against the masses that forces really meet."""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from foreign import BODY, foreign_fmu

from fmu_builder.cosim import held_steps, master
from fmu_builder.cosim.slave import DISCARD, FATAL, WARNING, LogEntry, Slave
from fmu_builder.errors import InputError, SlaveError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.model.connectable import Node
from fmu_builder.model.loader import load_assembly
from fmu_builder.model.step_advice import STEPS_PER_BRAKING, STEPS_PER_CONTACT, STEPS_PER_SWING
from fmu_builder.paths import shipped
from tests.contact_core.fmi2 import literal

DROP = """
connections = [["body.{port}", "floor.point"]]
[experiment]
stop = "2 ms"
step = "{step}"
output_step = "2 ms"
algorithm = "{algorithm}"
[slaves]
body = {{ recipe = "{body}", start = {{ {start} }} }}
floor = {{ recipe = "{floor}", start = {{ {floor_start} }} }}
"""


HELD = "Held"  # PointSurface with the literal law


def notes_of(text: str, folder: Path) -> list[str]:
    literal("PointSurface", folder, HELD)
    path = folder / "one.toml"
    path.write_text(text)
    return [note for note in master.run(path).notes if "advised" in note]


def drop(folder: Path, step: str, algorithm: str = "jacobi", **given: str) -> list[str]:
    entries = {"port": "p", "body": "PointMass", "start": "", "floor": HELD, "floor_start": ""} | given
    return notes_of(DROP.format(step=step, algorithm=algorithm, **entries), folder)


def advised(note: str) -> float:
    found = re.search(r"longer than the (\S+) s advised", note)
    assert found is not None
    return float(found[1])


def below(note: str, exact: float) -> bool:
    """Whether the note advises this step, rounded down to two digits."""
    return 0.9 * exact < advised(note) <= exact


def test_a_step_that_is_longer_than_advised_is_named_with_the_number_to_use(tmp_path: Path) -> None:
    (note,) = drop(tmp_path, "50 us")
    assert note.startswith(
        "floor: the communication step of 5e-5 s is longer than the 1.3e-5 s advised for 1 % of the rebound"
    )
    assert "with C_F = 1e5 N/m and an effective mass of 1 kg (the force is held over it under Jacobi)" in note
    assert note.endswith(
        "take steps of at most 1.3e-5 s, "
        "or coupling.mode = auto, which a recipe without [structure] coupling = false has"
    )
    assert drop(tmp_path, "12.5 us") == []
    assert drop(tmp_path, "40 us", "gauss_seidel") == []
    (note,) = drop(tmp_path, "50 us", "gauss_seidel")
    assert advised(note) == 4.0e-5 and "under Gauss-Seidel" in note


def test_the_mass_is_that_of_the_body(tmp_path: Path) -> None:
    (note,) = drop(tmp_path, "50 us", start="m = 4")
    assert advised(note) == 2.6e-5 and "an effective mass of 4 kg" in note
    assert drop(tmp_path, "50 us", start="m = 16") == []
    (note,) = drop(tmp_path, "50 us", start="m = 4", floor_start="C_F = 4e5")
    assert advised(note) == 1.3e-5 and "C_F = 4e5 N/m" in note


def test_a_point_of_a_rigid_body_yields_by_turning_too(tmp_path: Path) -> None:
    """W = 1/m - [rho] J^-1 [rho]; its largest eigenvalue is that across the arm."""
    (note,) = drop(tmp_path, "50 us", body="RigidBar", port="point[1]")
    W = 1.0 + 0.2**2 / 0.013333333333333334
    assert below(note, math.pi * math.sqrt(1.0 / (W * 1e5)) / STEPS_PER_CONTACT["hold, Jacobi"])


def test_what_no_force_can_move_needs_no_step(tmp_path: Path) -> None:
    assert drop(tmp_path, "50 us", body="PrescribedMotion", port="port") == []
    text = DROP.format(
        step="50 us", algorithm="jacobi", port="p", body="PointMass", start="", floor=HELD, floor_start=""
    )
    assert notes_of(re.sub("connections = .*", "connections = []", text), tmp_path) == []


def test_the_inverse_masses_at_both_ends_add_up(tmp_path: Path) -> None:
    text = """
connections = [["first.p", "spring.r"], ["second.p", "spring.c"], ["first.p", "damper.r"], ["second.p", "damper.c"]]
[experiment]
stop = "20 ms"
step = "10 ms"
algorithm = "jacobi"
[slaves]
first = { recipe = "SliderMass", start = { m = 2 } }
second = { recipe = "SliderMass", start = { m = 3 } }
spring = { recipe = "TranslationalSpringByPositions", start = { k = 1000 } }
damper = { recipe = "TranslationalDamper", start = { d = 10 } }
"""
    literal("TranslationalSpringByPositions", tmp_path)
    literal("TranslationalDamper", tmp_path)
    spring, damper = notes_of(text, tmp_path)
    assert spring.startswith("spring: ") and "effective mass of 1.2 kg" in spring
    assert below(spring, math.pi * math.sqrt(1.2 / 1000) / STEPS_PER_SWING["hold, Jacobi"])
    assert damper.startswith("damper: ") and below(damper, 1.2 / 10 / STEPS_PER_BRAKING["hold, Jacobi"])


def test_a_coupled_force_is_compared_with_the_step_of_its_mode(tmp_path: Path) -> None:
    coupled = {"floor": "PointSurface", "floor_start": '"coupling.mode" = "auto"'}
    assert drop(tmp_path, "1 ms", **coupled) == []
    (note,) = drop(tmp_path, "2 ms", **coupled)
    assert advised(note) == 1.2e-3 and "coupling = false" not in note
    held = {"floor": "PointSurface", "floor_start": '"coupling.mode" = "hold"'}
    (note,) = drop(tmp_path, "50 us", **held)
    assert advised(note) == 1.3e-5


def test_a_body_that_shows_no_mass_is_taken_as_a_kilogram_and_the_note_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the step is short enough for that mass."""
    monkeypatch.setattr(held_steps, "_probe", lambda *_: None)
    assumed = '; the mass of body is unknown, and 1 kg is assumed: state it with mass = "... kg" at [slaves] body'
    (note,) = drop(tmp_path, "50 us", start="m = 4")
    assert advised(note) == 1.3e-5 and note.endswith(assumed)
    (note,) = drop(tmp_path, "12.5 us", start="m = 4")
    assert note.startswith("floor: steps of up to 1.3e-5 s are advised for 1 % of the rebound, with C_F = 1e5 N/m")
    assert note.endswith(f"(the force is held over it under Jacobi){assumed}")


def other_tool(folder: Path, recipe: str) -> Path:
    """An FMU of ours that says it is of another tool: nothing is known of its state."""
    source, target = host_fmu(shipped("fmus") / f"{recipe}.toml"), folder / f"{recipe}.fmu"
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "modelDescription.xml":
                data = re.sub(rb'generationTool="[^"]*"', b'generationTool="Other"', data)
            new.writestr(name, data)
    return target


def test_another_tool_shows_the_mass_by_its_directional_derivatives(tmp_path: Path) -> None:
    other_tool(tmp_path, "PointMass")
    (note,) = drop(tmp_path, "50 us", body="PointMass.fmu", start="m = 4")
    assert advised(note) == 2.6e-5 and "an effective mass of 4 kg (" in note and "assumed" not in note
    assert drop(tmp_path, "25 us", body="PointMass.fmu", start="m = 4") == []
    other_tool(tmp_path, "RigidBar")  # the speed of its point is no state
    (note,) = drop(tmp_path, "12.5 us", body="RigidBar.fmu", port="point[1]")
    assert "the mass of body is unknown, and 1 kg is assumed" in note


@pytest.mark.parametrize("status", [WARNING, DISCARD, FATAL])
def test_a_body_that_refuses_its_derivatives_leaves_no_message_and_ends_the_run_if_that_is_fatal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    derived = held_steps._derived

    def refused(slave: Slave, *nodes: Sequence[Node]) -> float | None:
        def answer(*_: object) -> int:
            slave.log.append(LogEntry(slave.name, status, "logAll", "no derivatives here"))
            return status

        monkeypatch.setattr(slave.dll, "fmi2GetDirectionalDerivative", answer)
        return derived(slave, *nodes)

    monkeypatch.setattr(held_steps, "_derived", refused)
    other_tool(tmp_path, "PointMass")
    literal("PointSurface", tmp_path, HELD)
    path = tmp_path / "one.toml"
    given = {"port": "p", "body": "PointMass.fmu", "start": "", "floor": HELD, "floor_start": ""}
    path.write_text(DROP.format(step="12.5 us", algorithm="jacobi", **given))
    if status == FATAL:
        with pytest.raises(SlaveError, match=r"body: fmi2GetDirectionalDerivative answered fmi2Fatal .*no derivatives"):
            master.run(path)
    else:
        done = master.run(path)
        assert not [entry for entry in done.log if "no derivatives" in entry.text]
        assert "the mass of body is unknown" in " ".join(done.notes)


FOREIGN = """
connections = [["body.p", "floor.point"]]
[experiment]
stop = "{stop}"
step = "10 us"
output_step = "{stop}"
algorithm = "jacobi"
[slaves]
body = {{ recipe = "Body.fmu", start = {{ m = 0.04, k = 40, r0 = [0, 0, "10 mm"] }}{mass} }}
floor = {{ recipe = "{floor}" }}
"""


def test_a_scenario_states_the_mass_of_an_fmu_that_shows_none(tmp_path: Path) -> None:
    foreign_fmu(tmp_path, "Body", BODY)

    def noted(mass: str) -> list[str]:
        return notes_of(FOREIGN.format(stop="1 ms", floor=HELD, mass=mass), tmp_path)

    (note,) = noted("")
    assert note.startswith("floor: steps of up to 1.3e-5 s") and "the mass of body is unknown" in note
    for stated in (', mass = "40 g"', ", mass = 0.04"):
        (note,) = noted(stated)
        assert below(note, math.pi * math.sqrt(0.04 / 1e5) / STEPS_PER_CONTACT["hold, Jacobi"])
        assert "effective mass of 0.04 kg (" in note and "assumed" not in note
    assert noted(', mass = "1 kg"') == []
    with pytest.raises(InputError, match=r"\[slaves\] floor mass: is that of a body, and floor is a force element"):
        notes_of(FOREIGN.replace('{floor}"', '{floor}", mass = 2').format(stop="1 ms", floor=HELD, mass=""), tmp_path)
    for wrong, what in (('"2 m"', "kg"), ("0", "must be greater than 0 and finite")):
        with pytest.raises(InputError, match=rf"\[slaves\] body mass.*{what}"):
            noted(f", mass = {wrong}")


def test_a_stated_mass_that_the_fmu_denies_is_a_note_with_both_values(tmp_path: Path) -> None:
    text = DROP.format(
        step="50 us", algorithm="jacobi", port="p", body="PointMass", start="m = 4", floor=HELD, floor_start=""
    )

    def denied(mass: str) -> list[str]:
        notes = notes_of(text.replace("m = 4 }", f'm = 4 }}, mass = "{mass}"'), tmp_path)
        return [note for note in notes if "states" in note]

    (note,) = denied("2 kg")
    assert note.startswith("body: [slaves] body mass states 2 kg, and the FMU shows 4 kg to the forces at its ports")
    assert denied("4000 g") == []
    with pytest.raises(
        InputError, match=r"body mass: '2 kg.m2' is a moment of inertia, and forces act at the ports of bo"
    ):
        denied("2 kg.m2")


@pytest.mark.parametrize("floor", [HELD, "PointSurface"])
def test_the_first_contact_shows_a_mass_that_was_unknown(tmp_path: Path, floor: str) -> None:
    """40 g on a spring of 40 N/m from 10 mm: it meets the floor after a quarter of a swing, 50 ms, at 0.316 m/s.  For
    the kilogram that is assumed at first 10 us are short enough; for the mass, where the force is held, not."""
    foreign_fmu(tmp_path, "Body", BODY)
    found = notes_of(FOREIGN.format(stop="60 ms", floor=floor, mass=""), tmp_path)
    if floor == "PointSurface":  # in its mode auto 10 us are short enough for either
        assert found == []
        return
    (note,) = found
    assert "as its contacts show (the force is held over it under Jacobi)" in note and "assumed" not in note
    mass = float(re.search(r"effective mass of (\S+) kg", note)[1])  # type: ignore[index]
    assert mass == pytest.approx(0.04, rel=0.02)
    assert below(note, math.pi * math.sqrt(mass / 1e5) / STEPS_PER_CONTACT["hold, Jacobi"])


def test_a_part_of_an_assembly_takes_no_mass(tmp_path: Path) -> None:
    path = tmp_path / "Two.toml"
    path.write_text('[parts]\nbody = { recipe = "PointMass", mass = "2 kg" }\n')
    with pytest.raises(InputError, match=r"\[parts\] body mass: is for"):
        load_assembly(path)


def test_asking_the_bodies_changes_no_bit_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does the step that is tried leave a message: the bar falls on its floor in it."""
    text = (
        DROP.format(
            step="20 ms",
            algorithm="jacobi",
            port="point[1]",
            body="RigidBar",
            start="v0 = [0, 0, -1]",
            floor=HELD,
            floor_start="",
        )
        .replace('output_step = "2 ms"', "")
        .replace('stop = "2 ms"', 'stop = "200 ms"')
    )
    literal("PointSurface", tmp_path, HELD)
    path = tmp_path / "one.toml"
    path.write_text(text)
    asked = master.run(path)
    monkeypatch.setattr(master, "held_constants", lambda *_: iter(()))
    alone = master.run(path)
    assert asked.log == alone.log
    assert asked.trace.names == alone.trace.names and np.array_equal(asked.trace.values, alone.trace.values)


# ---- forces that pass through FMUs without a mass --------------------------------------------------------------------

THROUGH = """
connections = [["point.P_out", "body.P[1]"], ["point.p_in", "{of}.r"]]
[experiment]
stop = "{stop}"
step = "{step}"
algorithm = "{algorithm}"
[slaves]
{slaves}
"""
PARTS = {
    "body": 'body = { recipe = "TwoDBody", start = { m = 2, J = 0.03, v_y0 = 0.1 }%s }',
    "point": 'point = { recipe = "TwoDPointY", start = { XP = 0.3 } }',
    "spring": 'spring = { recipe = "TranslationalSpring", start = { k = 500, "coupling.mode" = "%s" } }',
    "damper": 'damper = { recipe = "TranslationalDamper", start = { d = 50 } }',
}
AT_THE_POINT = 1 / (1 / 2 + 0.3**2 / 0.03)  # kg


def through(
    step: float,
    algorithm: str = "jacobi",
    of: str = "spring",
    mode: str = "auto",
    order: str = "",
    stop: float = 0.0,
    body: str = "",
) -> str:
    parts = {**PARTS, "spring": PARTS["spring"] % mode, "body": PARTS["body"] % body}
    slaves = "\n".join(parts[name] for name in (order.split() or ["body", "point", of]))
    return THROUGH.format(of=of, stop=f"{stop or 2 * step} s", step=f"{step} s", algorithm=algorithm, slaves=slaves)


@pytest.mark.parametrize("mode", ["auto", "hold"])
def test_a_spring_is_advised_for_the_body_behind_a_point_and_for_its_delay(tmp_path: Path, mode: str) -> None:
    """Under Jacobi 3 intervals from the motion to the force: the law acts in every mode."""
    (note,) = notes_of(through(1e-3, mode=mode), tmp_path)
    assert f"an effective mass of {AT_THE_POINT:.10g} kg" in note
    assert "acts 3 intervals after the motion that it follows from, through point)" in note
    assert 'or algorithm = "gauss_seidel"' in note and "an assembly" in note and "coupling.mode" not in note
    count = 3 * math.pi**2 / 2 / math.log(1.01)
    assert below(note, math.pi * math.sqrt(AT_THE_POINT / 500) / count)
    assert notes_of(through(4e-5, mode=mode), tmp_path) == []


def test_the_energy_behind_a_point_grows_as_the_advised_step_says(tmp_path: Path) -> None:
    """A body that only turns: its amplitude grows by 1 % in half a swing, with twice the step by twice as much."""
    omega, path = math.sqrt(50 / 0.03), tmp_path / "turning.toml"
    text = """
connections = [["point.P_out", "body.P[1]"], ["point.p_in", "spring.r"]]
[experiment]
stop = {stop!r}
step = {step!r}
algorithm = "jacobi"
[slaves]
body = {{ recipe = "TwoDBody", start = {{ m = 2, J = 0.03, omega0 = 4 }} }}
point = {{ recipe = "TwoDPointTheta" }}
spring = {{ recipe = "RotationalSpring", start = {{ k = 50 }} }}
"""
    (note,) = notes_of(text.format(stop=4e-3, step=2e-3), tmp_path)
    for step in (advised(note), 2 * advised(note)):
        count = 4 * round(math.pi / omega / step)
        path.write_text(text.format(stop=count * step, step=step))
        run = master.run(path)
        energy = run.trace["body.energy.kinetic"] + 25 * run.trace["body.theta"] ** 2
        growth = math.log(energy[-1] / energy[0]) / 2 / 4
        assert growth == pytest.approx(math.log(1.01) * step / advised(note), rel=0.05)


@pytest.mark.parametrize("order", ["body point spring", "spring point body", "point body spring", "body spring point"])
def test_under_gauss_seidel_one_interval_is_added_in_any_order(tmp_path: Path, order: str) -> None:
    assert notes_of(through(1e-4, "gauss_seidel", order=order), tmp_path) == [], "the coupling finds one"
    (note,) = notes_of(through(1e-3, "gauss_seidel", mode="hold", order=order), tmp_path)
    assert "acts 1 interval after the motion that it follows from, through point)" in note
    assert "or coupling.mode = auto" in note
    count = math.pi**2 / 2 / math.log(1.01)
    assert below(note, math.pi * math.sqrt(AT_THE_POINT / 500) / count)


def test_a_damper_is_advised_through_a_point_too(tmp_path: Path) -> None:
    (note,) = notes_of(through(1e-3, of="damper"), tmp_path)
    assert below(note, AT_THE_POINT / 50 / (7 / (2 * math.e) / 0.01 + 1.6))


def test_a_mass_that_is_stated_of_the_body_behind_a_point_counts_for_its_forces(tmp_path: Path) -> None:
    (note,) = notes_of(through(1e-3, body=', mass = "8 kg"'), tmp_path)
    assert "an effective mass of 8 kg" in note


LINK = """
description = "A link that hands a force on"
[inputs]
given = { unit = "N", start = 0.0, description = "Force" }
[outputs]
taken = { unit = "N", depends = ["given"], description = "Force" }
"""


@pytest.mark.parametrize(("order", "intervals"), [("spring link body", 0), ("link spring body", 1)])
def test_where_the_force_alone_passes_through_the_order_decides(tmp_path: Path, order: str, intervals: int) -> None:
    text = """
connections = [["body.p.v", "spring.r.v"], ["spring.r.F", "link.given"], ["link.taken", "body.p.F"]]
[experiment]
stop = "4 ms"
step = "2 ms"
[slaves]
"""
    slaves = {
        "body": 'body = { recipe = "SliderMass", start = { m = 2 } }\n',
        "link": 'link = { recipe = "Link.toml" }\n',
        "spring": 'spring = { recipe = "TranslationalSpring", start = { k = 1e3, "coupling.mode" = "hold" } }\n',
    }
    folder = tmp_path / "elements" / "link"
    folder.mkdir(parents=True)
    (folder / "element.toml").write_text(LINK)
    (folder / "element.c").write_text("static void outputs(Element *e) { e->taken = e->given; }\n")
    (tmp_path / "Link.toml").write_text('element = "link"\n')
    (note,) = notes_of(text + "".join(slaves[name] for name in order.split()), tmp_path)
    count = math.pi**2 / 2 / math.log(1.01) if intervals else math.pi / 2 / 0.01
    assert f"acts {intervals} interval" in note and "through link)" in note
    assert below(note, math.pi * math.sqrt(2 / 1000) / count)


def test_a_point_whose_body_is_driven_needs_no_step(tmp_path: Path) -> None:
    text = through(1e-3).replace('"TwoDBody", start = { m = 2, J = 0.03, v_y0 = 0.1 }', '"PrescribedPlanarMotion"')
    assert notes_of(text.replace("body.P[1]", "body.port"), tmp_path) == []
