"""What a contact records of itself: touch-down, release, speeds, force and impulse of the last contact, per point.

A ball whose motion is known in closed form is shown to the FMU at communication points, held in between or with input
derivatives; the times follow from the motion, not from the points."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from ctypes import c_void_p

import pytest
from checksum import sealed
from fmi2 import ERROR, OK, Fmu, Slave, load_shipped
from running import Running, build

from fmu_builder import Experiment, Part, Scenario, run

FLOOR = 'element = "point_surface"\n[surface]\nkind = "plane"\n[structure]\n'
G = 9.81
LAST = ("start", "end", "impact_speed", "rebound_speed", "peak_force", "impulse")
H = 1e-3  # s, communication step
DROP = 0.1  # m
TOUCH, SPEED = math.sqrt(2.0 * DROP / G), math.sqrt(2.0 * DROP * G)
DEPTH = 0.01  # m, at which the motion below is turned upwards


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("floor"), "Floor", FLOOR + "coupling = false\n")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("two"), "Two", FLOOR + "coupling = false\npoints = 2\nledger = false\n")


def thrown(time: float, rebound: float = 0.0) -> tuple[float, float]:
    """Height and velocity: a fall from DROP, then from the depth DEPTH on upwards at the speed `rebound`, if any."""
    turn = math.sqrt(2.0 * (DROP + DEPTH) / G)
    if time <= turn or not rebound:
        return DROP - 0.5 * G * time**2, -G * time
    t = time - turn
    return -DEPTH + rebound * t - 0.5 * G * t**2, rebound - G * t


def record(running: Running, point: str = "") -> dict[str, float]:
    return {
        name: running[f"last_contact{point}.{name}"]
        for name in LAST
        if f"last_contact{point}.{name}" in running.fmu.references
    }


def show(running: Running, motion: Callable[[float], tuple[float, float]], until: float, point: str = "point") -> None:
    """Communication steps of H whose inputs are held at the motion of their beginning."""
    for k in range(round(until / H)):
        z, v = motion(k * H)
        running.set({f"{point}.r": (0.0, 0.0, z), f"{point}.v": (0.0, 0.0, v)})
        running.step(H)


@pytest.mark.parametrize("stiffness", [0.0, 1e5])
def test_a_fall_touches_when_and_as_fast_as_the_closed_form_says(floor: Fmu, stiffness: float) -> None:
    """The points are 1 ms apart, the time is exact to rounding."""
    running = Running(floor, {"C_F": stiffness, "point.r[3]": DROP})
    show(running, thrown, TOUCH + 5 * H)
    assert running["present_contact.start"] == pytest.approx(TOUCH, abs=1e-14)
    assert running["present_contact.impact_speed"] == pytest.approx(SPEED, rel=1e-13)
    assert running["release_count"] == 0
    assert record(running) == dict.fromkeys(LAST, 0.0)


def test_a_release_is_located_as_exactly_and_completes_the_record(floor: Fmu) -> None:
    rebound = 2.0
    running = Running(floor, {"C_F": 1e4, "point.r[3]": DROP})
    forces = []

    def motion(time: float) -> tuple[float, float]:
        forces.append(running["normal_force"])
        return thrown(time, rebound)

    show(running, motion, 0.2)
    turn = math.sqrt(2.0 * (DROP + DEPTH) / G)
    slow = math.sqrt(rebound**2 - 2.0 * G * DEPTH)  # where it passes the surface again
    found = record(running)
    assert found["start"] == pytest.approx(TOUCH, abs=1e-14)
    assert found["end"] == pytest.approx(turn + (rebound - slow) / G, abs=1e-14)
    assert found["impact_speed"] == pytest.approx(SPEED, rel=1e-13)
    assert found["rebound_speed"] == pytest.approx(slow, rel=1e-12)
    assert found["peak_force"] == max(forces) == running["peak_force"]
    assert found["impulse"] == pytest.approx(sum(forces) * H, rel=1e-12)
    assert (running["release_count"], running["contact_count"]) == (1, 1)


def test_inputs_with_derivatives_are_located_within_the_step_they_move_in(floor: Fmu) -> None:
    """A point that moves evenly: one step of 10 ms that touches, and one that releases."""
    running = Running(floor, {"point.r[3]": 3e-3, "point.v[3]": -1.0})
    for height, speed in ((3e-3, -1.0), (-7e-3, 1.0)):
        running.set({"point.r[3]": height, "point.v[3]": speed})
        running.rates({"point.r[3]": speed})
        running.step(10e-3)
    found = record(running)
    assert found["start"] == pytest.approx(3e-3, abs=1e-13)
    assert found["end"] == pytest.approx(17e-3, abs=1e-13)
    assert found["impact_speed"] == found["rebound_speed"] == 1.0


def test_each_point_has_a_record_of_its_own(two: Fmu) -> None:
    running = Running(two, {"C_F": 1e4, "point[1].r[3]": DROP, "point[2].r[3]": 1.0})
    show(running, lambda t: thrown(t, 2.0), 0.16, "point[1]")
    assert (running["release_count[1]"], running["release_count[2]"]) == (1, 0)
    show_from = round(0.16 / H)
    for k in range(show_from, show_from + 10):  # the second passes at 1 m/s amid its third step
        running.set({"point[2].r": (0.0, 0.0, 2.5e-3 - (k - show_from) * H), "point[2].v": (0.0, 0.0, -1.0)})
        running.step(H)
    assert record(running, "[1]")["start"] == pytest.approx(TOUCH, abs=1e-14)
    assert running["present_contact[2].start"] == pytest.approx(0.16 + 2.5e-3, abs=1e-13)
    assert "impulse" not in record(running, "[1]")


def test_a_contact_that_is_there_at_the_start_has_no_impact(floor: Fmu) -> None:
    running = Running(floor, {"point.r[3]": -1e-3}, time=5.0)
    assert (running["present_contact.start"], running["present_contact.impact_speed"]) == (5.0, 0.0)
    running.set({"point.r[3]": 1e-3, "point.v[3]": 1.0})
    running.step(H)
    assert (running["release_count"], record(running)["impact_speed"]) == (1, 0.0)
    assert record(running)["peak_force"] == running["peak_force"] > 0.0


def test_a_switch_ends_a_contact_when_it_is_switched(floor: Fmu) -> None:
    running = Running(floor, {"point.r[3]": -1e-3})
    running.step(H)
    running.set({"work": False})
    running.step(H)
    assert record(running)["end"] == pytest.approx(H, abs=1e-15)


@pytest.fixture(
    scope="module", params=["coupling = true", "coupling = true\nbristle = true", "coupling = true\npoints = 2"]
)
def coupled(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Fmu:
    return build(tmp_path_factory.mktemp("coupled"), "Floor", f"{FLOOR}{request.param}\n")


@pytest.mark.parametrize("mode", [1, 3, 4, 5], ids=["hold", "averaged", "predicted", "auto"])
def test_impulse_and_peak_of_a_contact_are_all_that_its_force_did(coupled: Fmu, mode: int) -> None:
    """A ball of 1 kg dropped on the FMU by a Gauss-Seidel master: a coupled force acts in the interval in which the
    ball will touch, before it does.  What the contacts record sums up to the ledger's impulse all the same."""
    index = "[1]" if "point[1].r[3]" in coupled.references else ""
    z, v, h, given, peak, force = 5e-3, 0.0, 2e-4, 0.0, 0.0, 0.0
    start = {"C_F": 1e5, "C_r": 0.6, "coupling.mode": mode, f"point{index}.r[3]": z}
    running = Running(coupled, start | ({"point[2].r[3]": 1.0} if index else {}))
    events: list[dict[str, float]] = []
    for _ in range(1500):
        z, v = z + h * v + 0.5 * h * h * (force - G), v + h * (force - G)
        running.set({f"point{index}.r": (0.0, 0.0, z), f"point{index}.v": (0.0, 0.0, v)})
        running.step(h)
        force = running[f"point{index}.f[3]"]
        given += h * running[f"normal_force{index}"]
        peak = max(peak, running[f"normal_force{index}"])
        if running[f"release_count{index}"] != len(events):
            events.append(record(running, index))
    assert len(events) == running[f"release_count{index}"] >= 2
    rest = running[f"impulse{index}"] - running[f"present_contact{index}.impulse_before"]
    assert sum(e["impulse"] for e in events) + rest == pytest.approx(given, rel=1e-9)
    assert max(e["peak_force"] for e in events) == running[f"peak_force{index}"] == peak
    first = events[0]
    change = first["impact_speed"] + first["rebound_speed"] + G * (first["end"] - first["start"])
    outside = h * first["peak_force"]  # a held force acts for a part of an interval before touch-down or after release
    assert first["impulse"] == pytest.approx(change, abs=outside)
    times = [t for e in events for t in (e["start"], e["end"])]
    assert times == sorted(times)


# ---- contacts before the last one ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("BouncingBall", tmp_path_factory.mktemp("ball"))


KEPT = 8 * (1 + 32 * (2 + 6))  # bytes of contact_record.h in a serialized state, in front of the checksum


def ends(slave: Slave, many: int) -> list[float]:
    """Of the contacts that ended last, the last one first."""
    found = []
    for back in range(many):
        assert slave.set_integer("contact_record.back", back) == OK
        found += slave.get("floor.last_contact.end")
    assert slave.set_integer("contact_record.back", 0) == OK
    return found


def test_contacts_before_the_last_one_are_read_back_and_reading_them_changes_nothing(ball: Fmu) -> None:
    read, unread = ball.slave(), ball.slave()
    for slave in (read, unread):
        slave.initialize({})
        assert slave.step(0.0, 1.3) == OK
    last, *before, none = ends(read, 6)
    assert last > before[0] > before[1] > before[2] > before[3] == 0.0 == none  # four contacts have ended
    assert read.get_integer("floor.release_count") == 4
    assert read.state() == unread.state()
    assert read.set_integer("contact_record.back", 2) == OK
    assert (read.step(1.3, 0.5), unread.step(1.3, 0.5)) == (OK, OK)
    assert read.get("floor.last_contact.end") == [before[0]]  # two before the fifth
    assert read.set_integer("contact_record.back", 0) == OK
    assert read.state() == unread.state()
    assert read.set_integer("contact_record.back", 33) == ERROR


def test_kept_contacts_are_part_of_the_state(ball: Fmu) -> None:
    slave = ball.slave()
    slave.initialize({})
    assert slave.step(0.0, 1.0) == OK
    place, early = slave.get_state(), ends(slave, 4)
    data = slave.serialize(place)
    assert slave.step(1.0, 1.0) == OK
    late = ends(slave, 4)
    assert late != early
    assert slave.call("fmi2SetFMUstate", place) == OK
    assert ends(slave, 4) == early and slave.state() == data
    assert slave.step(1.0, 1.0) == OK
    assert ends(slave, 4) == late


def test_a_step_that_fails_keeps_no_contact(ball: Fmu) -> None:
    """Contacts ended in it before its substeps were used up."""
    slave = ball.slave()
    slave.initialize({})
    assert slave.step(0.0, 1.0) == OK
    before, used = slave.state(), slave.get_integer("solver.steps")
    assert slave.set_integer("solver.max_substeps", used // 2) == OK
    assert slave.step(1.0, 1.0) == ERROR
    assert slave.state()[-KEPT - 8 : -8] == before[-KEPT - 8 : -8]
    assert slave.get_integer("floor.release_count") == 2


@pytest.mark.parametrize(
    ("place", "value"), [(0, 32.0), (0, -1.0), (0, 0.5), (1, 1e9), (1, -8.0), (2, 7.0), (2, 0.5), (3, math.inf)]
)
def test_forged_records_are_refused(ball: Fmu, place: int, value: float) -> None:
    """next; of the first record its place, its size and its first number"""
    slave = ball.slave()
    slave.initialize({})
    data = slave.state()
    at = len(data) - 8 - KEPT + 8 * place
    assert slave.deserialize(sealed(data[:at] + struct.pack("<d", value) + data[at + 8 :]), c_void_p()) == ERROR
    assert "contact_record" in slave.importer.texts[-1]
    assert slave.state() == data


@pytest.mark.parametrize(
    ("z", "speed", "reported"),
    [
        ((5e-3, -5e-3), 10.0, True),
        ((5e-3, -5e-4), 10.0, False),
        ((5e-3, -5e-3), 1.0, False),
        ((-2e-3, -5e-3), 10.0, False),
    ],
)
def test_a_point_that_goes_through_within_one_step_is_reported(
    floor: Fmu, z: tuple[float, float], speed: float, reported: bool
) -> None:
    """From above to below D_max: not into contact, not by a jump that its speed does not explain, not from below."""
    at = [{"point.r": (0.0, 0.0, height), "point.v": (0.0, 0.0, -speed)} for height in z]
    contact = Running(floor, {"D_max": 1e-3, **at[0]})
    contact.set(at[1])
    contact.step(1e-3)
    passed = [text for text in contact.told if "went through the surface" in text]
    assert passed == reported * [
        "point 1 went through the surface in one step, from 0.005 m above it to 0.005 m below it, deeper than D_max = "
        "0.001 m, and no force acted; take steps below 0.0001 s, or a larger D_max"
    ]


def test_the_step_for_a_point_that_stands_still_below_the_surface_is_that_of_its_way(floor: Fmu) -> None:
    contact = Running(floor, {"D_max": 1e-3, "point.r": (0.0, 0.0, 5e-3), "point.v": (0.0, 0.0, -10.0)})
    contact.set({"point.r": (0.0, 0.0, -5e-3), "point.v": (0.0, 0.0, 0.0)})
    contact.step(1e-3)
    assert any("take steps below 0.0001 s" in text for text in contact.told)


@pytest.mark.parametrize(
    ("algorithm", "height", "speed"),
    [("implicit", 1.25e-3, 5.0), ("implicit", 2.5e-3, 10.0), ("adaptive", 2.25e-3, 1.0)],
)
def test_a_touch_that_is_located_on_the_surface_begins_one_contact(algorithm: str, height: float, speed: float) -> None:
    """There the point stands on either side by rounding, and goes on inwards."""
    result = run(
        Scenario(
            slaves={
                "ball": Part(recipe="PointMass", start={"r0": [0, 0, height], "v0": [0, 0, -speed], "g": [0, 0, 0]}),
                "floor": Part(recipe="PointSurface"),
            },
            connections=[("ball.p", "floor.point")],
            experiment=Experiment(stop=0.03, step=1e-3, algorithm=algorithm),
        )
    )
    assert [contact.restitution for contact in result.contacts] == [pytest.approx(0.5, abs=0.01)]
    assert result.contacts[0].impact_speed == pytest.approx(speed, rel=0.01)
    assert result["floor.contact_count"][-1] == 1


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
@pytest.mark.parametrize("N", [5.0, 10.0, 40.0])
def test_what_a_coupled_force_takes_before_the_touch_is_as_the_readme_says(algorithm: str, N: float) -> None:
    H, found = math.pi * math.sqrt(1.0 / 1e5) / N, []
    for lead in (1.1, 1.3, 1.5, 1.7, 1.9):
        start = {"r0": [0, 0, lead * H], "v0": [0, 0, -1.0], "g": [0, 0, 0]}
        result = run(
            Scenario(
                slaves={
                    "ball": Part(recipe="PointMass", start=start),
                    "floor": Part(recipe="PointSurface", start={"C_F": 1e5, "C_r": 0.5}),
                },
                connections=[("ball.p", "floor.point")],
                experiment=Experiment(stop=math.ceil(4 * N) * H, step=H, algorithm=algorithm),
            )
        )
        found.append(result.contacts[0].impact_speed - 1.0)
    assert max(found) < 1e-9
    assert -1.2 / N**2 < min(found) < -0.1 / N**2
