"""Coupled forces under masters that extrapolate, interpolate, iterate, smooth, take steps back or vary them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.elements.closed_loop import Law
from tests.elements.port_bodies import System, Wire, contact, linear_plant, rows
from tests.elements.port_families import draw_systems, one_system
from tests.elements.port_masters import MASTERS, PLAIN, Loop, Result, run_master, step_by
from tests.elements.port_systems import METHODS, RIGHT, coupling_of

Array = NDArray[np.float64]
MOVING = ("extrapolate", "extrapolate ports", "extrapolate in turn", "interpolate", "interpolate both")
_COUPLED, _STEPS_REPEATED, _INPUTS_MOVE = 0, 4, 5  # coupling.fallback


@cache
def few_phases(family: str, number: int, count: int = 3) -> System:
    system = one_system(1, family, number)
    return replace(system, starts=system.starts[:: 15 // count])


def run(system: System, master: str, method: str) -> Result:
    found = run_master(system, master, method, system.reference())
    assert found is not None
    return found


def shown(system: System, name: str) -> float:
    return system.bench.instances[0].found()[f"coupling.{name}[1]"]


def started(system: System, method: str, word: str = "sequential") -> Loop:
    coupling = coupling_of(system, word, METHODS[method])
    assert coupling is not None
    system.bench.start(system.starts[0], coupling)
    return Loop(system, np.array(system.starts[0]))


@pytest.mark.parametrize("method", ["auto", "given"])
@pytest.mark.parametrize("master", MOVING)
def test_a_free_body_is_right_where_inputs_change_within_the_step(master: str, method: str) -> None:
    """Forces held or extrapolated: from the first contact on, of 16 and 21 steps.  Errors below 0.5 % of the speed."""
    for number in (0, 2):
        system = few_phases("gravity", number)
        assert np.all(run(system, master, method).errors < 0.005)
        assert shown(system, "fallback") == _COUPLED
        assert shown(system, "beta") == pytest.approx(0.5, rel=1e-12)
        assert shown(system, "admittance") == pytest.approx(1 / system.facts["m"], rel=1e-4)


@pytest.mark.parametrize("master", ["extrapolate", "interpolate both"])
def test_the_law_acts_where_a_body_swings_under_extrapolated_forces(master: str) -> None:
    """As under hold to the bit, with one message."""
    system = few_phases("two-mass", 1)
    hold, auto = (run(system, master, method) for method in ("hold", "auto"))
    assert np.array_equal(hold.errors, auto.errors)
    assert shown(system, "fallback") == _INPUTS_MOVE and shown(system, "in_force") == 0
    texts = [text for text in system.bench.instances[0].messages() if "SetRealInputDerivatives" in text]
    assert len(texts) == 1


@pytest.mark.parametrize("master", ["extrapolate ports", "extrapolate in turn", "interpolate"])
def test_a_body_that_swings_under_held_forces_is_identified(master: str) -> None:
    system = few_phases("two-mass", 1)
    hold, auto = (run(system, master, method) for method in ("hold", "auto"))
    assert np.all(auto.errors < 0.5 * hold.errors)
    assert shown(system, "fallback") == _COUPLED and shown(system, "in_force") == 3


@pytest.mark.parametrize("family", ["gravity", "two-mass"])
@pytest.mark.parametrize("master", ["iterate 3", "iterate 5"])
def test_the_law_acts_where_steps_are_repeated_with_other_inputs(master: str, family: str) -> None:
    """But for the first round of the first step that is repeated, as under hold."""
    system = few_phases(family, 0)
    hold, auto = (run(system, master, method) for method in ("hold", "auto"))
    assert np.all(auto.errors <= hold.errors + 0.002)
    assert shown(system, "fallback") == _STEPS_REPEATED
    assert sum("repeats steps" in text for text in system.bench.instances[0].messages()) == 1


@pytest.mark.parametrize("family", ["spring by rates", "spring by positions", "damper", "guide"])
@pytest.mark.parametrize("master", [*MOVING, "iterate 3"])
def test_the_law_acts_on_springs_dampers_and_guides_under_such_masters(master: str, family: str) -> None:
    """As under hold to the bit where inputs change within the step; of repeated steps but for the first round."""
    system = few_phases(family, 0)
    for method in ("auto", "given"):
        hold, found = (run(system, master, one) for one in ("hold", method))
        assert np.array_equal(hold.errors, found.errors) or (master == "iterate 3" and family != "damper")
        assert np.all(found.errors <= hold.errors + 0.002)
        for instance in system.bench.instances:
            assert instance.found()["coupling.in_force"] == 0
            texts = [text for text in instance.messages() if text.startswith("the importer")]
            assert len(texts) == 1 and ("repeats steps" in texts[0]) == (master == "iterate 3")


def step_once(loop: Loop) -> None:
    """Sequential."""
    for _ in range(loop.system.steps):
        u = loop.step_ports(loop.inputs(loop.z), loop.system.H)
        loop.accept(loop.moved(u, loop.system.H), u, loop.system.H)


@pytest.mark.parametrize("method", ["auto", "given"])
@pytest.mark.parametrize("family", ["gravity", "two-mass"])
def test_steps_that_are_taken_back_leave_no_trace(family: str, method: str) -> None:
    """To the bit: each step made once, and each made, taken back and made again."""
    system, ends = few_phases(family, 1), []
    for master in (step_once, MASTERS["repeat"][0]):
        loop = started(system, method)
        master(loop)
        ends.append((loop.z, loop.forces))
    assert np.array_equal(ends[0][0], ends[1][0]) and np.array_equal(ends[0][1], ends[1][1])
    assert np.any(ends[0][0] != system.starts[0])


def test_a_step_of_another_length_is_no_iteration() -> None:
    """Also with other inputs: a master whose bodies are first shows them at the end of the shorter step."""
    system = few_phases("gravity", 0)
    loop = started(system, "given")
    while not loop.forces[2] > 0:
        u = loop.step_ports(loop.inputs(loop.z), system.H)
        loop.accept(loop.moved(u, system.H), u, system.H)
    saved, inputs = loop.save(), loop.inputs(loop.z)
    first = loop.step_ports(inputs, system.H)
    for share in (0.5, 0.25):
        loop.restore(saved)
        loop.step_ports(inputs - 1e-6, share * system.H)
        assert shown(system, "fallback") == _COUPLED
    loop.restore(saved)
    assert np.array_equal(loop.step_ports(inputs, system.H), first)
    loop.restore(saved)
    loop.step_ports(inputs - 1e-6, system.H)
    assert shown(system, "fallback") == _STEPS_REPEATED
    loop.free(saved)


@pytest.mark.parametrize("word", ["sequential", "jacobi"])
@pytest.mark.parametrize("method", ["auto", "given"])
def test_the_force_tends_to_the_law_with_the_step(method: str, word: str) -> None:
    """In the middle of a contact, the next step from one state: an error in proportion to its length, down to
    4e-19 s."""
    system = few_phases("gravity", 0)
    loop = started(system, method, word)
    for _ in range(100):
        u = loop.step_ports(loop.inputs(loop.z), system.H)
        acts = u if word == "sequential" else loop.forces
        loop.accept(loop.moved(acts, system.H), u, system.H)
        if loop.z[1] > -0.5 * system.facts["v0"]:
            break
    law = system.laws[0].normal_force(-loop.z[:1], -loop.z[1:])[0]
    saved, inputs, errors = loop.save(), loop.inputs(loop.z), []
    shares = np.array([1e-2, 1e-4, 1e-8, 1e-12, 4e-19 / system.H])
    for share in shares:
        loop.restore(saved)
        errors.append(abs(loop.step_ports(inputs, share * system.H)[2] / law - 1))
    loop.free(saved)
    assert np.all(np.array(errors) < shares + 1e-12)


@pytest.mark.parametrize("method", ["auto", "given"])
def test_motion_converges_with_second_order_in_the_step(method: str) -> None:
    """Fifty times nearer from 21 to 166 steps in a contact; hold four times from 21 to 83."""
    system = few_phases("gravity", 0)
    exact = system.reference()

    def error(how: str, share: float) -> float:
        found = []
        for start, motion in zip(system.starts, exact, strict=True):
            loop = started(replace(system, starts=start[None]), how)
            step_by(loop, (share,))
            found.append(system.error_at_end(start, loop.z, motion[-1, :-1]))
        return max(found)

    assert error(method, 1.0) < 1e-3 and error(method, 0.125) < 0.02 * error(method, 1.0)
    assert 0.2 * error("hold", 1.0) < error("hold", 0.25) < 0.3 * error("hold", 1.0)


@pytest.mark.parametrize("master", ["alternate", "shrink"])
def test_steps_that_vary_are_right_with_the_order_given(master: str) -> None:
    for family in PLAIN[::2]:
        assert np.all(run(few_phases(family, 0), master, "given").errors < 2.5 * RIGHT)


def test_a_master_without_states_is_sequential() -> None:
    """It sets inputs again without a step: the held force does not answer, and acts as under a sequential master."""
    system = few_phases("gravity", 0)
    assert np.all(run(system, "set again", "given").errors < RIGHT)


@pytest.mark.parametrize("recipe", ["FloorOfTwo", "FloorBristle"])
@pytest.mark.parametrize("master", ["extrapolate", "interpolate", "iterate 3"])
def test_the_law_acts_on_several_points_and_bristles_under_such_masters(master: str, recipe: str) -> None:
    """As under hold to the bit; under a plain master they are coupled."""
    law, H = Law(1e5, 0.5), 3e-4
    port, start = replace(contact(law), recipe=recipe), np.array([[1e-5, -1.0], [2e-4, -1.0]])
    if recipe == "FloorBristle":
        port = replace(port, parameters={"C_F": law.stiffness, "C_r": law.C_r, "k_D": law.k_D, "K_fr": 0.0})
    if recipe == "FloorOfTwo":
        names = {name: name.replace("point", "point[1]") for name in (*port.inputs, *port.forces)}
        port = replace(port, inputs=[names[n] for n in port.inputs], forces=[names[n] for n in port.forces])
    plant = linear_plant([1.0], H, [Wire(port, rows(1, z=[1]))])
    system = System("falls", plant, (port,), H, 60, start, np.array([0.0, 1.0]))
    hold, auto = (run(system, master, method) for method in ("hold", "auto"))
    if master == "iterate 3":
        assert np.all(auto.errors <= hold.errors + 0.002)
    else:
        assert np.array_equal(hold.errors, auto.errors)
    assert shown(system, "fallback") == (_STEPS_REPEATED if master == "iterate 3" else _INPUTS_MOVE)
    run(system, "repeat", "auto")
    assert shown(system, "fallback") == _COUPLED


# ---- the table of `python -m tests.elements.port_masters`, of another seed than those it was built with

_SEED, _COUNT = 1018, 12
_WORSE = {"auto": 1, "given": 1}  # most systems that are worse than under hold by 2 % in a phase, of each master
_TWO_WORSE = {"set again"}  # with the order found: they iterate on the law, and the first contact is short
_RIGHT = {  # least share that is right, with the order found and given; of all of them that of hold less one system
    "extrapolate": (0.2, 0.2),
    "extrapolate ports": (0.5, 0.5),
    "extrapolate in turn": (0.5, 0.5),
    "interpolate": (0.5, 0.5),
    "repeat": (0.75, 0.9),
    "roll back": (0.6, 0.9),
    "alternate": (0.6, 0.9),
    "shrink": (0.6, 0.9),
    "control error": (0.9, 0.9),
}


@cache
def drawn() -> list[tuple[System, Sequence[Array]]]:
    """The systems with their motions."""
    return [(system, system.reference()) for _, system in draw_systems(_SEED, _COUNT, PLAIN)]


@cache
def results(master: str, method: str) -> list[Result]:
    """Of all systems; one master is a second of work, and any process may make its part of the table."""
    found = [run_master(system, master, method, exact) for system, exact in drawn()]
    return [one for one in found if one is not None]


@pytest.mark.slow
@pytest.mark.parametrize("master", list(MASTERS))
def test_no_master_ends_before_its_time(master: str) -> None:
    assert sum(one.aborted for method in METHODS for one in results(master, method)) == 0


def share_right(master: str, method: str) -> float:
    return float(np.mean([np.mean(one.errors) < RIGHT for one in results(master, method)]))


@pytest.mark.slow
@pytest.mark.parametrize("master", list(MASTERS))
def test_coupled_contacts_are_right_under_masters_of_all_kinds(master: str) -> None:
    held = share_right(master, "hold") - 1.001 / _COUNT
    for method, least in zip(("auto", "given"), _RIGHT.get(master, (0.0, 0.0)), strict=True):
        assert share_right(master, method) >= max(least, held)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "given"])
def test_under_a_master_that_smooths_forces_coupled_contacts_are_nearer_to_what_is_right(method: str) -> None:
    mean = {of: np.mean([np.mean(one.errors) for one in results("smooth", of)]) for of in (method, "hold")}
    assert mean[method] < 0.7 * mean["hold"]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "given"])
@pytest.mark.parametrize("master", list(MASTERS))
def test_hardly_a_coupled_contact_is_worse_than_a_held_one(master: str, method: str) -> None:
    pairs = list(zip(results(master, method), results(master, "hold"), strict=True))
    worse = [k for k, (one, hold) in enumerate(pairs) if np.any(one.errors > hold.errors + RIGHT)]
    assert len(worse) <= _WORSE[method] + (method == "auto" and master in _TWO_WORSE), worse
