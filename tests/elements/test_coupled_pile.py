"""A box that settles on the floor with two others on it, as FMUs under plain masters: ten contacts, four bodies with
the floor, three sets of contacts that know nothing of each other."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.contact_core.held_cases import Pile
from tests.elements.coupled_fmus import JACOBI, MASTERS, Array, Crew, System, Wire, law_values

pytestmark = pytest.mark.slow
BOTH = pytest.mark.parametrize("master", MASTERS)


def connect(crew: Crew, pile: Pile, master: str, mode: str) -> System:
    """The lower box carries a frame on its upper side for each of the others."""
    boxes = [crew.take("Box", k) for k in range(3)]
    floors = [crew.take("Floor4", 0), crew.take("Floor3", 0), crew.take("Floor3", 1)]
    wires = []
    for k, (box, floor, body, feet) in enumerate(zip(boxes, floors, pile.boxes, pile.feet, strict=True)):
        J = dict(zip(("J_xx", "J_yy", "J_zz"), body.J, strict=True))
        offsets = {f"point[{i}].offset": foot for i, foot in enumerate(feet, start=1)}
        if k == 0:
            offsets |= {f"point[{4 + i}].offset": (pile.boxes[i].r[0], 0.0, pile.top) for i in (1, 2)}
        box.start({"m": body.m, **J, "r0": body.r, "q0": body.state[3:7], **offsets})
        wires += [Wire(box, f"point[{i}]", floor, f"point[{i}]") for i in range(1, len(feet) + 1)]
        if k > 0:
            wires.append(Wire(boxes[0], f"attach[{4 + k}]", floor, "surface"))
    _, values = law_values(pile.law)
    for floor in floors:
        motion = {
            f"{wire.at}.{role}": wire.body.get(f"{wire.of}.{role}")
            for wire in wires if wire.contact is floor for role in wire.motion
        }  # fmt: skip
        floor.start({**values, "coupling.mode": mode, **motion})
    return System(boxes, floors, wires, master)


def settle(system: System, H: float, time: float) -> tuple[Array, Array, Array]:
    """Energy, that of the bodies alone and their kinetic energy, J, at the communication points, as FMUs show them."""
    kinetic, potential, elastic = np.zeros((3, 3))
    members = {"energy.kinetic": system.bodies, "energy.potential": system.bodies, "energy.elastic": system.contacts}
    reading = [
        [member.call("fmi2GetReal", [name], memory[k : k + 1]) for k, member in enumerate(members[name])]
        for name, memory in zip(members, (kinetic, potential, elastic), strict=True)
    ]
    energies, of_bodies, moving = [], [], []
    for _ in range(math.ceil(time / H)):
        for call in (*reading[0], *reading[1]):
            system.statuses |= call()
        moving.append(kinetic.sum())
        of_bodies.append(moving[-1] + potential.sum())
        system.step(H)  # the contacts show what they store at the motion with which the step began
        for call in reading[2]:
            system.statuses |= call()
        energies.append(of_bodies[-1] + elastic.sum())
    return np.array(energies), np.array(of_bodies), np.array(moving)


@pytest.mark.parametrize("seed", range(3))
@BOTH
def test_a_pile_of_ten_contacts_gains_nothing_and_comes_to_rest(crew: Crew, master: str, seed: int) -> None:
    """Energy never above the start by more than 1 % of the fall, and after 2 s that of the boxes standing still.  Of
    forty piles two ring longer than half a second under Jacobi, by 1e-4 of their weights."""
    pile = Pile.of(seed)
    system = connect(crew, pile, master, "auto")
    energies, _, kinetic = settle(system, pile.H, 2.0)
    fall = energies[0] - pile.rest
    assert system.statuses == 0
    assert energies.max() - energies[0] <= 1e-2 * fall
    assert kinetic[-1] < 1e-9 * fall
    assert abs(energies[-1] - pile.rest) < 1e-3 * pile.elastic  # a box that slid by 1 cm changes it by 5e-4
    of_floor, *of_others = (
        sum(floor.get(f"normal_force[{i}]")[0] for i in range(1, len(feet) + 1))
        for floor, feet in zip(system.contacts, pile.feet, strict=True)
    )
    loads = [box.m * box.g for box in pile.boxes]
    assert of_others == pytest.approx(loads[1:], rel=1e-6)
    assert of_floor == pytest.approx(sum(loads), rel=1e-6)


@BOTH
def test_the_literal_force_throws_the_pile_off(crew: Crew, master: str) -> None:
    """The negative control: with coupling.mode = hold it gains more than the fall.  How much is chance, so the worst of
    the falls counts."""
    gains = []
    for seed in range(3):
        pile = Pile.of(seed)
        energies, _, _ = settle(connect(crew, pile, master, "hold"), pile.H, 0.5)
        gains.append((energies.max() - energies[0]) / (energies[0] - pile.rest))
    assert max(gains) > 1, gains


EQUAL = (1.0, 1.0, 1.0)


@pytest.mark.parametrize(("seed", "step"), [(0, 1.0), (1, 1.0), (2, 0.5)])
@BOTH
def test_boxes_as_heavy_as_the_one_below_come_to_rest(crew: Crew, master: str, seed: int, step: float) -> None:
    """The contacts give the boxes nothing that these had not before, and they come to rest, at omega H = `step`."""
    pile = Pile.of(seed, EQUAL)
    system = connect(crew, pile, master, "auto")
    energies, of_bodies, kinetic = settle(system, step * pile.H, 0.6)
    fall = energies[0] - pile.rest
    assert system.statuses == 0
    assert of_bodies.max() - of_bodies[0] <= 1e-9 * fall
    assert kinetic[-1] < 1e-9 * fall
    assert abs(energies[-1] - pile.rest) < 1e-2 * pile.elastic


def test_the_literal_force_throws_equal_boxes_off(crew: Crew) -> None:
    """The negative control, under Jacobi."""
    pile = Pile.of(0, EQUAL)
    energies, of_bodies, _ = settle(connect(crew, pile, JACOBI, "hold"), pile.H, 0.05)
    assert of_bodies.max() - of_bodies[0] > energies[0] - pile.rest
