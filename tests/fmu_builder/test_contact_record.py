"""Contact events of a run come from the FMUs, whatever is recorded of their signals."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path

import pytest

from fmu_builder.cosim.master import run
from fmu_builder.cosim.result import Result
from fmu_builder.export.fmu import host_fmu

G = 9.81
DROP = 0.02  # m
TOUCH, SPEED = math.sqrt(2.0 * DROP / G), math.sqrt(2.0 * DROP * G)
STEP = 50e-6  # s
FLOOR = """element = "point_surface"
[start]
C_F = 1e5
C_r = 0.5
[surface]
kind = "plane"
[structure]
coupling = false
"""
TWO_BALLS = """connections = [["left.p", "feet.point[1]"], ["right.p", "feet.point[2]"], ["third.p", "floor.point"]]
[slaves]
left = { recipe = "PointMass", start = { r0 = [0, 0, 0.02] } }
right = { recipe = "PointMass", start = { r0 = [0, 0, 0.03] } }
third = { recipe = "PointMass", start = { r0 = [0, 0, 0.04] } }
feet = { recipe = "Feet" }
floor = { recipe = "Floor" }
"""


def scenario(folder: Path, text: str, experiment: str = "") -> Result:
    """A scenario of 0.15 s, without events between the tables of its experiment and `text`."""
    (folder / "Floor.toml").write_text(FLOOR, encoding="utf-8")
    (folder / "Feet.toml").write_text(FLOOR + "points = 2\n", encoding="utf-8")
    head, tables = text.split("[slaves]")
    path = folder / "scenario.toml"
    path.write_text(
        f'{head}[experiment]\nstop = "0.15 s"\nstep = "50 us"\n{experiment}\n[slaves]{tables}', encoding="utf-8"
    )
    return run(path)


def drop(folder: Path, experiment: str = "", floor: str = "Floor", floor_first: bool = False) -> Result:
    body = f'body = {{ recipe = "PointMass", start = {{ r0 = [0, 0, {DROP}] }} }}\n'
    surface = f'floor = {{ recipe = "{floor}" }}\n'
    slaves = surface + body if floor_first else body + surface
    return scenario(folder, f'connections = [["body.p", "floor.point"]]\n[slaves]\n{slaves}', experiment)


def test_contacts_are_the_same_whatever_the_output_step(tmp_path: Path) -> None:
    runs = [drop(tmp_path, f'output_step = "{step}"') for step in ("50 us", "1 ms", "150 ms")]
    assert runs[0].contacts == runs[1].contacts == runs[2].contacts
    assert dict(runs[0].trace.events) == dict(runs[2].trace.events)
    assert runs[0].trace["floor.peak_force"][-1] == max(c.peak_force or 0.0 for c in runs[0].contacts)
    assert runs[0].trace["floor.impulse"][-1] == pytest.approx(sum(c.impulse or 0.0 for c in runs[0].contacts))
    assert not [name for name in runs[0].trace.names if "_contact." in name]  # they are no signals
    chosen = drop(tmp_path, 'record = ["body.p.r[3]"]')
    assert (chosen.trace.names, chosen.contacts) == (("body.p.r[3]",), runs[0].contacts)


@pytest.mark.parametrize(
    ("algorithm", "floor_first"), [("gauss_seidel", False), ("gauss_seidel", True), ("jacobi", False)]
)
def test_a_touch_is_at_the_time_of_the_fall_whoever_is_stepped_first(
    tmp_path: Path, algorithm: str, floor_first: bool
) -> None:
    """A floor that is stepped after the ball is shown where the ball is at the end of the step."""
    contact = drop(tmp_path, f'algorithm = "{algorithm}"', floor_first=floor_first).contacts[0]
    assert contact.touch == pytest.approx(TOUCH, abs=1e-12)
    assert contact.impact_speed == pytest.approx(SPEED, rel=1e-10)
    assert contact.sampled is None


def test_points_and_slaves_have_contacts_of_their_own(tmp_path: Path) -> None:
    found = scenario(tmp_path, TWO_BALLS)
    first = {c.place: c.touch for c in found.contacts if c.number == 1}
    assert first == {
        "feet.point[1]": pytest.approx(math.sqrt(2.0 * 0.02 / G), abs=1e-12),
        "feet.point[2]": pytest.approx(math.sqrt(2.0 * 0.03 / G), abs=1e-12),
        "floor": pytest.approx(math.sqrt(2.0 * 0.04 / G), abs=1e-12),
    }
    events = found.trace.events
    assert events["feet.point[2].touch[1]"] == first["feet.point[2]"]
    assert events["feet.point[1].contact_count"] == found.trace["feet.contact_count[1]"][-1] >= 2


def test_a_contact_that_is_closed_at_an_end_of_the_run_shows_what_is_known(tmp_path: Path) -> None:
    """A ball that starts on the floor, rebounds, and is caught in its next contact."""
    text = (
        'connections = [["body.p", "floor.point"]]\n[slaves]\n'
        'body = { recipe = "PointMass", start = { r0 = [0, 0, "-1 mm"] } }\nfloor = { recipe = "Floor" }\n'
    )
    whole = scenario(tmp_path, text)
    first = whole.contacts[0]
    assert first.closed_at_start and first.touch is first.impact_speed is first.duration is first.restitution is None
    assert first.release is not None and first.rebound_speed is not None and first.impulse is not None
    assert whole.contacts[1].touch is not None
    stop = whole.contacts[1].touch + 3e-3
    path = tmp_path / "scenario.toml"
    path.write_text(path.read_text().replace("0.15 s", f"{round(stop / STEP) * STEP:.6f} s"), encoding="utf-8")
    cut = run(path)
    last = cut.contacts[-1]
    assert (last.number, last.touch, last.impact_speed) == (2, whole.contacts[1].touch, whole.contacts[1].impact_speed)
    assert last.closed_at_end and last.release is last.rebound_speed is last.restitution is None
    after = cut.trace.time > (first.release or 0.0)
    assert last.peak_force == cut.trace["floor.normal_force"][after].max()
    known = cut.trace["floor.impulse"][-1] - (first.impulse or 0.0)
    assert last.impulse == pytest.approx(known, rel=1e-12)
    assert 0.0 < last.impulse < (whole.contacts[1].impulse or 0.0)
    assert {"floor.release[2]", "floor.duration[2]"}.isdisjoint(cut.trace.events)


def test_an_assembly_locates_its_contacts_itself_in_steps_of_any_length(tmp_path: Path) -> None:
    """BouncingBall from 1 m: in steps of 20 ms the second touch-down is as exact as in steps of 1 ms."""
    found = []
    for step in ("1 ms", "20 ms"):
        path = tmp_path / "ball.toml"
        path.write_text(
            f'[experiment]\nstop = "1.2 s"\nstep = "{step}"\n[slaves]\nball = {{ recipe = "BouncingBall" }}\n'
        )
        found.append(run(path).contacts)
    assert found[0][0].place == "ball.floor"
    assert found[0][0].touch == pytest.approx(math.sqrt(2.0 / G), abs=1e-12)
    assert len(found[0]) == len(found[1]) >= 2
    for fine, coarse in zip(*found, strict=True):
        assert coarse.touch == pytest.approx(fine.touch, abs=1e-8)
        assert coarse.impulse == pytest.approx(fine.impulse, rel=1e-7)


def bounces(folder: Path, step: str, start: str = "") -> Result:
    path = folder / "ball.toml"
    text = f'[experiment]\nstop = "2 s"\nstep = "{step}"\n[slaves]\nball = {{ recipe = "BouncingBall"{start} }}\n'
    path.write_text(text, encoding="utf-8")
    return run(path)


def test_contacts_that_end_together_in_one_step_are_all_listed(tmp_path: Path) -> None:
    """The six of a ball that comes to rest: in one step of 2 s, and in two of which the second begins in flight."""
    fine, *coarse = (bounces(tmp_path, step).contacts for step in ("1 ms", "2 s", "1 s"))
    assert [c.number for c in fine] == [1, 2, 3, 4, 5, 6]
    for contacts in coarse:
        for one, other in zip(fine, contacts, strict=True):
            assert (one.place, one.number, one.closed_at_end) == (other.place, other.number, other.closed_at_end)
            assert list(one.values()) == list(other.values())
            assert list(other.values().values()) == pytest.approx(list(one.values().values()), rel=1e-5)
            assert other.touch == pytest.approx(one.touch, abs=1e-7)


def test_a_contact_that_is_closed_at_a_communication_point_keeps_its_beginning(tmp_path: Path) -> None:
    """The first contact of the ball lasts from 0.4515 to 0.4634 s: it is there at 0.4545 s, and ends together with the
    next three in the step of 0.909 s behind that."""
    fine = bounces(tmp_path, "1 ms").contacts
    path = tmp_path / "closed.toml"
    times = 'start = "-0.4545 s"\nstop = "1.3635 s"\nstep = "0.909 s"'
    path.write_text(f'[experiment]\n{times}\n[slaves]\nball = {{ recipe = "BouncingBall" }}\n', encoding="utf-8")
    coarse = run(path).contacts
    for one, other in zip(fine[:3], coarse, strict=False):
        assert other.touch == pytest.approx((one.touch or 0.0) - 0.4545, abs=1e-7)
        assert other.release == pytest.approx((one.release or 0.0) - 0.4545, abs=1e-7)
        assert other.restitution == pytest.approx(one.restitution, rel=1e-5)


def test_contacts_of_two_walls_that_end_in_one_step_are_all_listed(tmp_path: Path) -> None:
    """A loose mass that rattles 8 times between its walls."""
    found = []
    for step in ("1 ms", "200 ms"):
        path = tmp_path / "rattle.toml"
        path.write_text(
            f'[experiment]\nstop = "0.2 s"\nstep = "{step}"\n[slaves]\n'
            'damper = { recipe = "ImpactDamper", start = { w0 = 1.0, C_r = 0.9 } }\n'
        )
        found.append(run(path))
    fine, coarse = (one.contacts for one in found)
    assert len(fine) == len(coarse) > 5 and not [n for one in found for n in one.notes if "keeps no record" in n]
    for one, other in zip(fine, coarse, strict=True):
        assert list(other.values().values()) == pytest.approx(list(one.values().values()), rel=1e-4)


def test_contacts_that_the_fmu_keeps_no_record_of_are_counted(tmp_path: Path) -> None:
    """An elastic ball that bounces from 1 mm: more often in 2 s than an FMU keeps contacts, 32 before the last one."""
    found = bounces(tmp_path, "2 s", ", start = { initial_height = 1e-3, restitution = 1.0, stiffness = 1e7 }")
    count = int(found.trace.events["ball.floor.contact_count"])
    ended = count if found.contacts[-1].release is not None else count - 1
    assert ended > 33 and [c.number for c in found.contacts][:33] == [*range(ended - 32, ended + 1)]
    assert [note for note in found.notes if note.startswith(f"ball.floor: {ended - 33} of {ended} contacts ended")]


def test_a_rigid_contact_shows_its_impacts(tmp_path: Path) -> None:
    """A chain that starts off its cam, falls on it once and stays, which is one contact without release."""
    path = tmp_path / "chain.toml"
    path.write_text('[experiment]\nstop = 0.5\nstep = "1 ms"\n[slaves]\nchain = { recipe = "CamChainLiftOff" }\n')
    found = run(path)
    (contact,) = found.contacts
    assert (contact.place, contact.number, contact.closed_at_start) == ("chain.contact[1]", 1, False)
    assert contact.closed_at_end and contact.release is None and contact.impulse is None
    assert contact.touch == found.trace["chain.contact[1].touch_down"][-1] > 0.1
    assert contact.impact_impulse == found.trace["chain.contact[1].impulse"][-1] > 0.0
    before = found.trace["chain.contact[1].gap_rate"][found.trace.time < contact.touch]
    assert contact.impact_speed == pytest.approx(-before[-1], rel=0.05)  # up to 1 ms before


def test_leaving_a_guide_is_listed_with_its_time(tmp_path: Path) -> None:
    """A bead from 0.5 m at 2 m/s on a rail of 1 m, slowed by the friction 0.2 of its weight."""
    path = tmp_path / "bead.toml"
    path.write_text('[experiment]\nstop = 0.5\nstep = "50 ms"\n[slaves]\nbead = { recipe = "BeadLeavesRail" }\n')
    found = run(path)
    (contact,) = found.contacts
    slowed = 2.0 - found.trace["bead.velocity[1]"][1]  # over the first 50 ms
    a = slowed / 0.05
    assert a > 0.0
    leaves = (2.0 - math.sqrt(4.0 - 2.0 * a * 0.5)) / a
    assert (contact.place, contact.closed_at_start, contact.touch) == ("bead.rail", True, None)
    assert contact.release == pytest.approx(leaves, abs=1e-8)


def without_record(folder: Path) -> None:
    """Floor.fmu as another tool might write it: without release_count."""
    (folder / "Floor.toml").write_text(FLOOR, encoding="utf-8")
    with (
        zipfile.ZipFile(host_fmu(folder / "Floor.toml")) as source,
        zipfile.ZipFile(folder / "Other.fmu", "w") as target,
    ):
        for name in source.namelist():
            data = source.read(name)
            if name == "modelDescription.xml":
                data = data.replace(b'name="release_count"', b'name="releases"')
            target.writestr(name, data)


def test_contacts_of_other_fmus_are_sampled_at_every_communication_point(tmp_path: Path) -> None:
    without_record(tmp_path)
    located, sampled = (drop(tmp_path, 'output_step = "150 ms"', floor=f) for f in ("Floor", "Other.fmu"))
    assert len(located.contacts) == len(sampled.contacts) >= 2
    assert {c.sampled for c in sampled.contacts} == {STEP}
    for one, other in zip(located.contacts, sampled.contacts, strict=True):
        assert other.touch == pytest.approx(one.touch, abs=STEP / 2)
        assert other.impact_speed == pytest.approx(one.impact_speed, abs=2 * G * STEP)
        assert other.peak_force == one.peak_force
    assert dict(sampled.trace.events).keys() == dict(located.trace.events).keys()
