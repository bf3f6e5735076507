"""Contact events of a ball whose every touch, release and impulse is known in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np
import pytest
from sampled import contact_events

from fmu_builder.cosim.events import ContactEvent, event_units
from fmu_builder.cosim.trace import Trace
from fmu_builder.errors import InputError

MASS = 2.0  # kg
GRAVITY = 9.81  # m/s2, in flight only
RESTITUTION = 0.8
FREQUENCY = 1000.0  # rad/s, of ball and floor while the depth grows
FIRST_TOUCH = 0.0123456  # s, on no sample
SPEED = 1.5  # m/s, of the first touch
STEP = 1e-4  # s


@dataclass(frozen=True)
class Bounce:
    """One contact: quarter sine in of frequency w, quarter sine out of frequency e w, so the depth is continuous."""

    touch: float
    speed: float

    @property
    def turn(self) -> float:
        return self.touch + pi / 2 / FREQUENCY

    @property
    def release(self) -> float:
        return self.turn + pi / 2 / (RESTITUTION * FREQUENCY)

    @property
    def impulse(self) -> float:
        return MASS * self.speed * (1 + RESTITUTION)

    @property
    def peak_force(self) -> float:
        return MASS * self.speed * FREQUENCY


def bounces(number: int) -> list[Bounce]:
    found = [Bounce(FIRST_TOUCH, SPEED)]
    while len(found) < number:
        rebound = RESTITUTION * found[-1].speed
        found.append(Bounce(found[-1].release + 2 * rebound / GRAVITY, rebound))
    return found


def bouncing_ball(time: np.ndarray, number: int) -> Trace:
    """The columns of a contact named floor, sampled at `time`, for as many contacts."""
    depth_rate = SPEED + GRAVITY * (time - FIRST_TOUCH)
    depth, force, impulse, in_contact = (np.zeros_like(time) for _ in range(4))
    for bounce in bounces(number):
        rebound = RESTITUTION * bounce.speed
        inward = (time >= bounce.touch) & (time < bounce.turn)
        outward = (time >= bounce.turn) & (time < bounce.release)
        for phase, speed, frequency in (
            (inward, bounce.speed, FREQUENCY),
            (outward, rebound, RESTITUTION * FREQUENCY),
        ):
            angle = frequency * (time[phase] - bounce.turn)
            depth[phase] = speed / frequency * np.cos(angle)
            depth_rate[phase] = -speed * np.sin(angle)
            force[phase] = MASS * frequency * speed * np.cos(angle)
            impulse[phase] += MASS * (bounce.speed - depth_rate[phase])
            in_contact[phase] = 1.0
        after = time >= bounce.release
        depth_rate[after] = -rebound + GRAVITY * (time[after] - bounce.release)
        impulse[after] += bounce.impulse
    names = ("floor.depth", "floor.depth_rate", "floor.normal_force", "floor.impulse", "floor.in_contact")
    return Trace(time, names, np.column_stack((depth, depth_rate, force, impulse, in_contact)), {})


def part(trace: Trace, first: int, beyond: int) -> Trace:
    return Trace(trace.time[first:beyond], trace.names, trace.values[first:beyond], trace.units)


def with_columns(trace: Trace, *names: str) -> Trace:
    return Trace(trace.time, names, np.column_stack([trace[name] for name in names]), {})


def test_every_event_of_a_bouncing_ball_is_found() -> None:
    events = contact_events(bouncing_ball(np.arange(7000) * STEP, 3))
    # depth/depth_rate = tan(w s)/w instead of s after touch: the cubic term, with s up to one step
    located = STEP * (FREQUENCY * STEP) ** 2 / 2
    for i, bounce in enumerate(bounces(3), 1):
        assert events[f"floor.touch[{i}]"] == pytest.approx(bounce.touch, abs=located)
        assert events[f"floor.release[{i}]"] == pytest.approx(bounce.release, abs=located)
        assert events[f"floor.duration[{i}]"] == pytest.approx(bounce.release - bounce.touch, abs=2 * located)
        assert events[f"floor.impulse[{i}]"] == pytest.approx(bounce.impulse, rel=1e-12)
        # the last sample before the turn is up to one step early; the force jumps down at the turn
        assert events[f"floor.peak_force[{i}]"] == pytest.approx(bounce.peak_force, rel=(FREQUENCY * STEP) ** 2 / 2)
        # the speeds are those of the neighbouring samples, up to g h from those at touch and release
        slack = 2 * GRAVITY * STEP / bounce.speed
        assert events[f"floor.restitution[{i}]"] == pytest.approx(RESTITUTION, abs=slack)
    assert events["floor.contact_count"] == 3.0
    assert len(events) == 8 * 3 + 1


def test_touch_and_release_converge_with_the_third_power_of_the_step() -> None:
    bounce = bounces(1)[0]
    errors = []
    for step in (2e-4, 1e-4, 0.5e-4):
        # the same fraction of a step between touch and the next sample, and between the last sample and release
        ends = (bounce.touch + 0.7 * step, bounce.release - 0.7 * step)
        inside = np.linspace(*ends, round((ends[1] - ends[0]) / step))
        time = np.concatenate(([bounce.touch - 0.3 * step], inside, [bounce.release + 0.3 * step]))
        events = contact_events(bouncing_ball(time, 1))
        errors.append((abs(events["floor.touch[1]"] - bounce.touch), abs(events["floor.release[1]"] - bounce.release)))
    slopes = np.log2(np.array(errors)[:-1] / np.array(errors)[1:])
    assert slopes == pytest.approx(3.0, abs=0.1)


@pytest.mark.parametrize("offset", np.linspace(0.0, 1.0, 11))
def test_events_stay_within_their_sample_intervals_when_a_contact_has_few_samples(offset: float) -> None:
    bounce = bounces(1)[0]
    step = (bounce.release - bounce.touch) / 1.5
    time = bounce.touch + (np.arange(-3, 6) + offset) * step
    trace = bouncing_ball(time, 1)
    samples = np.flatnonzero(trace["floor.in_contact"])
    assert samples.size in (1, 2)
    events = contact_events(trace)
    assert time[samples[0] - 1] <= events["floor.touch[1]"] <= time[samples[0]]
    assert time[samples[-1]] <= events["floor.release[1]"] <= time[samples[-1] + 1]
    assert events["floor.impulse[1]"] == pytest.approx(bounce.impulse, rel=1e-12)


def test_a_contact_that_is_switched_off_on_the_way_in_has_no_restitution() -> None:
    assert ContactEvent("a", 1, impact_speed=2.0, rebound_speed=1.0).restitution == 0.5
    assert ContactEvent("a", 1, impact_speed=2.0, rebound_speed=0.0).restitution == 0.0
    assert ContactEvent("a", 1, impact_speed=2.0, rebound_speed=-1e-6).restitution is None


def test_a_single_sample_on_the_way_out_takes_its_touch_from_the_approach() -> None:
    time = np.array([0.0, 1.0, 2.0])
    values = np.array([[0.0, 4.0, 0.0], [2.0, -2.5, 1.0], [0.0, -3.0, 0.0]])
    trace = Trace(time, ("a.depth", "a.depth_rate", "a.in_contact"), values, {})
    events = contact_events(trace)
    assert events["a.touch[1]"] == 1.0 - 2.0 / 4.0
    assert events["a.release[1]"] == 1.0 + 2.0 / 2.5
    assert events["a.restitution[1]"] == 3.0 / 4.0


def test_a_contact_entered_and_left_over_an_edge_has_no_touch_and_no_release() -> None:
    values = np.array([[0.0, 0.0, 0.0, 0.0], [1e-3, 0.0, 1.0, 50.0], [0.0, 0.0, 0.0, 0.0]])
    trace = Trace(np.arange(3.0), ("a.depth", "a.depth_rate", "a.in_contact", "a.normal_force"), values, {})
    assert contact_events(trace) == {"a.peak_force[1]": 50.0, "a.rebound_speed[1]": 0.0, "a.contact_count": 1.0}


def test_a_contact_cut_by_the_trace_lacks_what_lies_outside() -> None:
    trace = bouncing_ball(np.arange(7000) * STEP, 3)
    inside = np.flatnonzero(trace["floor.in_contact"])
    second = inside[np.flatnonzero(np.diff(inside) > 1)[0] + 1]  # first sample of contact 2
    whole = contact_events(trace)
    begun = contact_events(part(trace, inside[5], 3000))
    assert "floor.release[1]" in begun and "floor.peak_force[1]" in begun
    assert {"touch", "duration", "impulse", "impact_speed", "restitution"}.isdisjoint(_quantities(begun, 1))
    assert begun["floor.release[1]"] == whole["floor.release[1]"]
    cut = contact_events(part(trace, 0, second + 5))
    assert cut["floor.touch[2]"] == whole["floor.touch[2]"]
    assert _quantities(cut, 2) == {"touch", "impact_speed", "peak_force", "impulse"}
    assert cut["floor.impulse[2]"] < whole["floor.impulse[2]"]
    assert cut["floor.contact_count"] == 2.0


def _quantities(events: dict[str, float], number: int) -> set[str]:
    return {name.split(".")[1].partition("[")[0] for name in events if name.endswith(f"[{number}]")}


def test_only_what_the_columns_tell_is_reported() -> None:
    trace = bouncing_ball(np.arange(7000) * STEP, 3)
    assert contact_events(with_columns(trace, "floor.depth", "floor.depth_rate")) == {}
    assert contact_events(with_columns(trace, "floor.in_contact")) == {"floor.contact_count": 3.0}
    assert _quantities(contact_events(with_columns(trace, "floor.in_contact", "floor.impulse")), 1) == {"impulse"}
    assert _quantities(contact_events(with_columns(trace, "floor.in_contact", "floor.depth_rate")), 1) == {
        "impact_speed",
        "rebound_speed",
        "restitution",
    }


def test_a_touch_exactly_on_a_sample_is_that_sample() -> None:
    values = np.array([[0.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.5, 0.0, 1.0], [0.0, -1.0, 1.0], [0.0, -1.0, 0.0]])
    trace = Trace(np.arange(5.0), ("a.depth", "a.depth_rate", "a.in_contact"), values, {})
    events = contact_events(trace)
    assert (events["a.touch[1]"], events["a.release[1]"], events["a.duration[1]"]) == (1.0, 3.0, 2.0)


def test_contacts_between_samples_are_counted_where_the_element_counts_them() -> None:
    values = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 3.0]])
    trace = Trace(np.arange(3.0), ("a.in_contact", "a.contact_count"), values, {})
    assert contact_events(trace) == {"a.contact_count": 3.0}


def test_slaves_are_told_apart() -> None:
    time = np.arange(3.0)
    values = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 7.0, 0.0, 0.0], [0.0, 0.0, 1.0, 9.0]])
    names = ("a.in_contact", "a.normal_force", "b.pad[2].in_contact", "b.pad[2].normal_force")
    assert contact_events(Trace(time, names, values, {})) == {
        "a.peak_force[1]": 7.0,
        "a.contact_count": 1.0,
        "b.pad[2].peak_force[1]": 9.0,
        "b.pad[2].contact_count": 1.0,
    }


def test_a_flag_that_is_neither_0_nor_1_is_refused() -> None:
    trace = Trace(np.arange(2.0), ("a.in_contact",), np.array([[0.0], [0.5]]), {})
    with pytest.raises(InputError) as caught:
        contact_events(trace)
    assert str(caught.value) == "a.in_contact: 0.5 at time 1.0 s; must be 0 or 1"


def test_every_event_has_a_unit() -> None:
    events = contact_events(bouncing_ball(np.arange(7000) * STEP, 3))
    assert {name.split(".")[1].partition("[")[0]: event_units(name) for name in events} == {
        "touch": "s",
        "release": "s",
        "duration": "s",
        "impact_speed": "m/s",
        "rebound_speed": "m/s",
        "impulse": "N.s",
        "peak_force": "N",
        "restitution": "1",
        "contact_count": "1",
    }
    assert event_units("b.pad[2].touch[1]") == "s"
    assert event_units("chain.constraint_drift") == ""
