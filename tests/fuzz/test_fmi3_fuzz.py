"""Random calls of FMI 3.0, right and wrong, under the sanitizers: no crash, and every answer is a status."""

from __future__ import annotations

import ctypes
import math
import random
from contextlib import chdir
from ctypes import byref, c_bool, c_char_p, c_double, c_int32, c_size_t, c_ubyte, c_uint, c_uint64, c_void_p
from pathlib import Path
from typing import Any

import pytest
from fuzzed import CATALOGUE, RECIPES, shipped_recipe, write_recipe
from sanitizer import build_sanitized, require_sanitizer

from fmu_builder.export.description_fmi3 import model_description_fmi3
from fmu_builder.export.fmi3_variables import fmi3_variables
from fmu_builder.export.fmu import content_guid
from fmu_builder.model.documents import Assembly, Recipe, as_file
from fmu_builder.model.loader import load_model
from fmu_builder.model.model import Model
from fmu_builder.paths import find_recipe
from tests.contact_core.fmi3 import ERROR, OK, TYPES, Fmu3, Instance

pytestmark = pytest.mark.platform

INSTANCES, CALLS = 50, 120
NUMBERS = (0.0, 1.0, -1.0, 1e-12, 1e-3, 0.3, 1e300, math.inf, math.nan)
FAMILY = {"real": "Float64", "int": "Int32", "enum": "Int64", "bool": "Boolean"}
TEXTS = (b"", b"a", "Größe 50 %s #r1#".encode(), b"\xff\xfe", 1023 * b"x", 1024 * b"x", None)
CLOCK_CALLS = (
    *("SetClock", "GetClock", "GetIntervalDecimal", "GetIntervalFraction", "GetShiftDecimal", "GetShiftFraction"),
    *("SetIntervalDecimal", "SetIntervalFraction", "SetShiftDecimal", "SetShiftFraction"),
)
MODES = ("EnterEventMode", "EnterStepMode", "EnterContinuousTimeMode", "ExitInitializationMode", "Terminate", "Reset")


class Caller:
    """Makes random calls of one instance."""

    def __init__(self, model: Model, one: Instance, chance: random.Random) -> None:
        self.one, self.chance, self.time = one, chance, 0.0
        self.states: list[c_void_p] = []
        known = [v for v in fmi3_variables(model) if v.name != "solver.max_substeps"]  # no step takes seconds
        self.variables = [
            (v.reference, "Clock" if v.first.clock else FAMILY[v.first.type], len(v.scalars)) for v in known
        ]
        self.strings = [model.reference_of(text) for text in model.texts]
        self.answers: set[tuple[str, int]] = set()

    def call(self, name: str, *arguments: object) -> int:
        status = self.one.call(f"fmi3{name}", *arguments)
        assert 0 <= status <= 3, name
        self.answers.add((name, status))
        return status

    def values(self) -> None:
        family = self.chance.choice([*FAMILY.values()])
        known = [v for v in self.variables if v[1] == family or self.chance.random() < 0.02]
        chosen = self.chance.choices(known, k=self.chance.randrange(4)) if known else []
        size = sum(length for *_, length in chosen) + (self.chance.random() < 0.1)
        if family == "Float64":
            numbers: list[float] = self.chance.choices(NUMBERS, k=size)
        else:
            numbers = self.chance.choices((0, 1, 2) if family != "Boolean" else (0, 1), k=size)
        values = (TYPES[family] * max(size, 1))(*numbers)
        references = (c_uint * max(len(chosen), 1))(*(reference for reference, *_ in chosen))
        given = None if self.chance.random() < 0.02 else references
        verb = self.chance.choice(("Get", "Set"))
        self.call(f"{verb}{family}", given, c_size_t(len(chosen)), values, c_size_t(size))

    def texts(self) -> None:
        """Strings, among them ones that are no UTF-8, too long, or not there."""
        chosen = self.chance.choices(self.strings, k=self.chance.randrange(4)) if self.strings else []
        size = len(chosen) + (self.chance.random() < 0.1)
        values = (c_char_p * max(size, 1))(*self.chance.choices(TEXTS, k=size))
        references = (c_uint * max(len(chosen), 1))(*chosen)
        verb = self.chance.choice(("Get", "Set"))
        self.call(f"{verb}String", references, c_size_t(len(chosen)), values, c_size_t(size))

    def clocks(self) -> None:
        """Of all kinds and none, with room for one value more."""
        known = [v for v in self.variables if v[1] == "Clock" or self.chance.random() < 0.02]
        chosen = self.chance.choices(known, k=self.chance.randrange(4)) if known else []
        room = [(c_uint64 * (len(chosen) + 1))(*(self.chance.randrange(2) for _ in chosen)) for _ in range(3)]
        given = [None if self.chance.random() < 0.02 else one for one in room]
        references = (c_uint * max(len(chosen), 1))(*(reference for reference, *_ in chosen))
        name = self.chance.choice(CLOCK_CALLS if self.chance.random() < 0.6 else CLOCK_CALLS[:2])
        self.call(name, references, c_size_t(len(chosen)), *given)

    def step(self) -> None:
        event, end, early, last = c_bool(), c_bool(), c_bool(), c_double(self.time)
        start = self.time if self.chance.random() < 0.9 else self.chance.choice(NUMBERS)
        length = self.chance.choice((1e-3, 1e-2, 0.1, 0.3, *NUMBERS))
        answers = (byref(event), byref(end), byref(early), byref(last))
        self.call("DoStep", c_double(start), c_double(length), c_bool(True), *answers)
        self.time = last.value

    def integrate(self) -> None:
        n, m, flag = c_size_t(), c_size_t(), c_bool()
        self.call("GetNumberOfContinuousStates", byref(n))
        self.call("GetNumberOfEventIndicators", byref(m))
        some = NUMBERS[:6] if self.chance.random() < 0.7 else NUMBERS
        x, z = (c_double * (n.value + 1))(*self.chance.choices(some, k=n.value)), (c_double * (m.value + 1))()
        size = c_size_t(n.value + (self.chance.random() < 0.1))
        name = self.chance.choice(("GetContinuousStates", "SetContinuousStates", "GetContinuousStateDerivatives"))
        self.call(name, x, size)
        self.call("GetEventIndicators", z, m)
        self.call("SetTime", c_double(self.chance.choice(NUMBERS)))
        self.call("CompletedIntegratorStep", c_bool(True), byref(flag), byref(flag))

    def derivatives(self) -> None:
        unknowns, knowns = ([*self.chance.choices(self.variables, k=self.chance.randrange(4))] for _ in range(2))
        name = self.chance.choice(("Directional", "Adjoint"))
        sizes = [sum(length for *_, length in group) for group in (unknowns, knowns)]
        n_seed, n_answer = sizes[::-1] if name == "Directional" else sizes
        n_seed += self.chance.random() < 0.1
        groups = [((c_uint * max(len(g), 1))(*(v[0] for v in g)), c_size_t(len(g))) for g in (unknowns, knowns)]
        seed = (c_double * (n_seed + 1))(*self.chance.choices(NUMBERS[:6], k=n_seed))
        answer = (c_double * (n_answer + 1))()
        numbers = (seed, c_size_t(n_seed), answer, c_size_t(n_answer))
        self.call(f"Get{name}Derivative", *groups[0], *groups[1], *numbers)
        orders = (c_int32 * max(len(unknowns), 1))(*(self.chance.randrange(3) for _ in unknowns))
        slopes = (c_double * (sizes[0] + 1))()
        self.call("GetOutputDerivatives", *groups[0], orders, slopes, c_size_t(sizes[0]))

    def state(self) -> None:
        kept, size = c_void_p(), c_size_t()
        if self.call("GetFMUState", byref(kept)) != OK:
            return
        self.states.append(kept)
        if self.chance.random() < 0.5:
            self.call("SetFMUState", self.chance.choice(self.states))
            return
        assert self.call("SerializedFMUStateSize", kept, byref(size)) == OK
        data = (c_ubyte * size.value)()
        assert self.call("SerializeFMUState", kept, data, size) == OK
        if self.chance.random() < 0.5:
            data[self.chance.randrange(size.value)] ^= 1 << self.chance.randrange(8)
        copy = c_void_p()
        if self.call("DeserializeFMUState", data, size, byref(copy)) == OK:
            self.states.append(copy)

    def mode(self) -> None:
        self.call(self.chance.choice(MODES if self.chance.random() < 0.2 else MODES[:3]))
        self.one.update()
        times = (c_double(self.chance.choice(NUMBERS)), c_bool(False), c_double(0.0))
        self.call("EnterInitializationMode", c_bool(False), c_double(0.0), *times)

    def run(self) -> None:
        kinds = [self.values, self.values, self.values, self.step, self.integrate, self.derivatives, self.state]
        kinds += [self.texts] if self.strings else []
        kinds += [self.clocks] * 3 * any(family == "Clock" for _, family, _ in self.variables)
        for _ in range(CALLS):
            self.chance.choice((*kinds, self.mode))()
        for state in self.states:
            assert self.call("FreeFMUState", byref(state)) == OK


# What differs in the layer of FMI 3.0 or in the state, besides the assembly: Strings and all types; steps that are
# discarded, fail or end the run; a force that is held over the step.
OF_FMI_3 = ("ProbeFeedthrough", "ProbeStep", "ProbeClock", "PointSurface")
ASSEMBLY = "arrays, mesh and bristles"
OF_FMI_2 = {f"{name}, as for FMI 2.0": name for name in (*RECIPES, *CATALOGUE)}


def model_of(which: str, folder: Path) -> Model:
    if which == ASSEMBLY:
        return assembly(folder)
    if which in OF_FMI_3:
        return load_model(find_recipe(which))
    name = OF_FMI_2[which]
    if name in CATALOGUE:
        return load_model(shipped_recipe(folder, name))
    return load_model({one: write_recipe(folder, one, text) for one, text in RECIPES.items()}[name])


def assembly(folder: Path) -> Model:
    """Arrays; events, switches, states that jump; friction with memory on triangles, which are few: the search is slow
    under the sanitizers."""
    corners = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0)]
    with (folder / "roof.stl").open("w", encoding="ascii") as file:
        file.write("solid roof\n")
        for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
            places = "\n".join("vertex {} {} {}".format(*place) for place in (a, b, (0.0, 0.0, 0.5)))
            file.write(f"facet normal 0 0 0\nouter loop\n{places}\nendloop\nendfacet\n")
        file.write("endsolid roof\n")
    mesh = {"kind": "mesh", "file": "roof.stl", "unit": "m", "open": True}
    stiff = {"C_F": "1e5 N/m", "C_r": 0.5, "K_fr": 0.3}
    roof = Recipe(element="point_surface", surface=mesh, structure={"bristle": True}, start=stiff)
    parts: dict[str, Any] = {"ball": "PointMass", "roof": roof}
    limited = {"solver.max_substeps": 100}
    document = Assembly(name="Arrays", arrays=True, parts=parts, connections=[("ball.p", "roof.point")], start=limited)
    with chdir(folder), as_file(document) as path:
        return load_model(path)


@pytest.mark.parametrize("which", [ASSEMBLY, *OF_FMI_3, *OF_FMI_2])
def test_no_call_of_fmi_3_does_harm(which: str, tmp_path: Path) -> None:
    require_sanitizer()
    model = model_of(which, tmp_path)
    chance = random.Random(3)
    library = ctypes.CDLL(str(build_sanitized(model, 3)))
    fmu = Fmu3.of(library, model_description_fmi3(model, content_guid(model)))
    answers: set[tuple[str, int]] = set()
    for number in range(INSTANCES):
        flags = (chance.random() < 0.5, chance.random() < 0.5)
        watch = (lambda time, _: chance.choice((None, None, time, math.nan))) if number % 3 == 0 else None
        one = Instance(fmu, number % 5 > 1, *flags, watch=watch)
        if number % 7:
            one.begin()
            one.call("fmi3EnterStepMode" if number % 5 > 1 else "fmi3EnterContinuousTimeMode")
        caller = Caller(model, one, chance)
        caller.run()
        one.free()
        answers |= caller.answers
    done = {call for call, status in answers if status == OK}
    if model.texts:
        assert {("GetString", OK), ("SetString", OK), ("SetString", ERROR)} <= answers
    of_kind = set(CLOCK_CALLS[:6]) if which == "ProbeClock" else {"GetAdjointDerivative", "SetContinuousStates"}
    assert {"DoStep", "SetFMUState", "DeserializeFMUState"} | of_kind <= done
