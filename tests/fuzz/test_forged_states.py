"""Serialized states with forged numbers under a right checksum: refused, or harmless."""

from __future__ import annotations

import ctypes
import math
import random
import struct
from collections.abc import Iterator
from ctypes import c_int, c_size_t, c_void_p
from dataclasses import dataclass
from pathlib import Path

import pytest
from call_model import Fmu
from checksum import sealed
from fmi_library import CO_SIMULATION, MODEL_EXCHANGE, Arguments, Importer, Status, read_bytes, read_pointer
from forms import first_of_each_element, forms
from fuzzed import built_fmu, sanitized_fmu, shipped_recipe
from sanitizer import require_sanitizer

from tests.contact_core.fmi2 import ALIKE

EVERYDAY = ("PointSurface", "EccentricCam", "GuideRail")
SLOW = sorted({*first_of_each_element(), *set(forms()).difference(ALIKE)}.difference(EVERYDAY))
FORGERIES, FEW = 150, 80  # of each FMU and type, and of one that is slow
STEP = 1e-3
HOSTILE = (
    math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 2.0, 3.0, 7.0, 0.5, 64.0, 128.0, 1e-9, 5e-324, -5e-324,
    2.2e-308, 1e6, 1e9, -2147483648.0, 2147483647.0, 2147483648.0, 4294967296.0, 2.0**53, 1e50, 1e100, -1e154, 1e200,
    1e300, -1e300, 1.7976931348623157e308, -1.7976931348623157e308,
)  # fmt: skip


@dataclass
class Instance:
    """An instance of an FMU, called as by an importer written in C."""

    fmu: Fmu
    component: int
    importer: Importer
    kind: int
    time: float = 0.0

    def call(self, name: str, *arguments: object) -> Status:
        return Status(self.fmu.library.call(name, self.component, *arguments))

    def right(self, name: str, *arguments: object) -> None:
        assert self.call(name, *arguments) == Status.OK, (name, self.importer.messages)

    def initialize(self) -> None:
        self.right("SetupExperiment", 0, 0.0, 0.0, 0, 0.0)
        self.right("EnterInitializationMode")
        self.right("ExitInitializationMode")
        if self.kind == MODEL_EXCHANGE:
            self.right("EnterContinuousTimeMode")

    def image(self) -> bytes:
        """The serialized state."""
        state, size = c_void_p(), c_size_t()
        self.right("GetFMUstate", ctypes.addressof(state))
        self.right("SerializedFMUstateSize", state, ctypes.addressof(size))
        with Arguments() as a:
            to = a.bytes(bytes(size.value))
            self.right("SerializeFMUstate", state, to, size.value)
            data = read_bytes(to, size.value)
        self.right("FreeFMUstate", ctypes.addressof(state))
        return data

    def takes(self, data: bytes) -> bool:
        """Deserialize and set a state; False if it is refused, with a reason and nothing changed."""
        self.importer.messages.clear()
        with Arguments() as a:
            place = a.array(c_void_p, [None])
            status = self.call("DeSerializeFMUstate", a.bytes(data), len(data), place)
            state = read_pointer(place)
            if status != Status.OK:
                assert status == Status.ERROR and not state
                assert b"fmi2DeSerializeFMUstate: the state is refused: " in self.importer.messages[-1].text
                return False
            status = self.call("SetFMUstate", state)
            assert status in (Status.OK, Status.ERROR)  # of the other type
            self.right("FreeFMUstate", place)
        return status == Status.OK

    def values(self) -> set[Status]:
        """Read all variables; what is answered with OK is finite."""
        answers = set()
        for kind, types in {"Real": ("real",), "Boolean": ("bool",), "Integer": ("int", "enum")}.items():
            named = [v.index for v in self.fmu.variables if v.type in types and not v.hidden]
            with Arguments() as a:
                to = a.bytes(bytes(8 * len(named)))
                answer = self.call(f"Get{kind}", a.references(named), len(named), to)
                if kind == "Real" and answer == Status.OK:
                    assert all(map(math.isfinite, struct.unpack(f"{len(named)}d", read_bytes(to, 8 * len(named)))))
            answers.add(answer)
        return answers

    def go_on(self) -> None:
        """Steps, and evaluations, from wherever the state has put the instance."""
        image = self.image()
        (time,) = struct.unpack_from("<d", image, self.fmu.state_header + 8 * numbers_of_instance(self.fmu, image))
        self.values()
        for k in range(3):
            if self.kind == MODEL_EXCHANGE:
                n, m = len(self.fmu.states), len(self.fmu.model.indicators)
                with Arguments() as a:
                    self.call("SetTime", time + k * STEP)
                    self.call("GetDerivatives", a.reals([0.0] * n), n)
                    self.call("GetEventIndicators", a.reals([0.0] * m), m)
                    self.call("CompletedIntegratorStep", 1, a.array(c_int, [0]), a.array(c_int, [0]))
                    self.call("EnterEventMode")
                    self.call("EnterContinuousTimeMode")
            elif self.call("DoStep", time + k * STEP, STEP, 0) == Status.OK:
                assert self.values() == {Status.OK}, self.importer.messages
        self.values()
        with Arguments() as a:
            unknowns, known = sorted(self.fmu.unknowns), sorted(self.fmu.knowns)[:1]
            found = a.reals([0.0] * len(unknowns))
            sizes = len(unknowns), len(known)
            asked = a.references(unknowns), sizes[0], a.references(known), sizes[1], a.reals([1.0] * sizes[1])
            self.call("GetDirectionalDerivative", *asked, found)


def instance_of(fmu: Fmu, kind: int) -> Instance:
    importer = Importer()
    callbacks = importer.callbacks(1)
    with Arguments() as a:
        component = fmu.library.instantiate(
            a.text("forged"), kind, a.text(fmu.guid), a.text(""), ctypes.addressof(callbacks), 0, 0
        )
    assert component
    return Instance(fmu, component, importer, kind)


def numbers_of_instance(fmu: Fmu, image: bytes) -> int:
    """How many there are before those of the variables."""
    return (len(image) - fmu.state_header - 8) // 8 - len(fmu.variables) - fmu.behind_variables


def forged(fmu: Fmu, images: list[bytes], rng: random.Random, number: int) -> Iterator[bytes]:
    """States with one to three words replaced, every word of the instance and many of the variables among them."""
    header, own = fmu.state_header, numbers_of_instance(fmu, images[0])
    count = own + len(fmu.variables) + fmu.behind_variables
    limit = {own + reference for reference in fmu.named("solver.max_substeps")}  # a large one is right, and takes long
    for k in range(number):
        data = bytearray(rng.choice(images))
        places = [k % own if k < 2 * own else rng.randrange(own, count)]
        places += [rng.randrange(count) for _ in range(rng.choice((0, 0, 1, 2)))]
        for place in set(places) - limit:
            struct.pack_into("<d", data, header + 8 * place, rng.choice(HOSTILE))
        yield sealed(bytes(data))


def forge(fmu: Fmu, seed: int, number: int = FORGERIES) -> None:
    for kind in (CO_SIMULATION, MODEL_EXCHANGE):
        rng = random.Random(f"{fmu.model.name} {kind} {seed}")
        victim, source = instance_of(fmu, kind), instance_of(fmu, kind)
        images = [source.image()]
        source.initialize()
        images.append(source.image())
        for k in range(20):
            if kind == CO_SIMULATION:
                source.right("DoStep", k * STEP, STEP, 0)
        images.append(source.image())
        for data in images:
            assert victim.takes(data)
            assert victim.image() == data
        refused = 0
        for data in forged(fmu, images, rng, number):
            before = victim.image()
            if victim.takes(data):
                victim.go_on()
            else:
                refused += 1
                assert victim.image() == before
            assert not victim.importer.faults
            victim.right("Reset")
            assert fmu.block(victim.image()) == fmu.block(images[0])
        assert refused > number // 5
        for instance in (victim, source):
            fmu.library.free_instance(instance.component)
            assert not instance.importer.alive


@pytest.mark.parametrize(
    "name",
    [*EVERYDAY, *(pytest.param(one, marks=pytest.mark.slow) for one in SLOW)],
)
def test_a_forged_state_is_refused_or_harmless(name: str, tmp_path: Path) -> None:
    forge(built_fmu(shipped_recipe(tmp_path, name), tmp_path), 0, FORGERIES if name in EVERYDAY else FEW)


@pytest.mark.platform
@pytest.mark.parametrize(
    "name", [*EVERYDAY, "CamChainLiftOff", "RigidBlock", "TwoPointSurface", "ImpactDamper", "PointMeshBowl"]
)
def test_a_forged_state_breaks_no_rule_of_c(name: str, tmp_path: Path) -> None:
    require_sanitizer()
    forge(sanitized_fmu(shipped_recipe(tmp_path, name)), 1)


def test_a_forged_mass_beyond_all_bounds_ends_the_step_that_its_energy_overflows_in(tmp_path: Path) -> None:
    """m = 1e300 kg at 1e10 m/s: the state says that no value is far, and nobody has set one.  The kinetic energy,
    which is computed on demand, is infinite, so the step must not be answered with fmi2OK."""
    fmu = built_fmu(shipped_recipe(tmp_path, "RigidBody"), tmp_path)
    instance = instance_of(fmu, CO_SIMULATION)
    instance.initialize()
    data = bytearray(instance.image())
    first = fmu.state_header + 8 * numbers_of_instance(fmu, bytes(data))
    number = {v.name: v.index for v in fmu.variables}
    for name, value in {"m": 1e300, "frame.v[1]": 1e10}.items():
        struct.pack_into("<d", data, first + 8 * number[name], value)
    assert instance.takes(sealed(bytes(data))), instance.importer.messages
    assert instance.call("DoStep", 0.0, STEP, 0) != Status.OK
    assert b"energy.kinetic" in instance.importer.messages[-1].text
