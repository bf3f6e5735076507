"""Random calls of FMI 2.0, right and wrong, and what has to hold after every one of them.

The machine keeps several instances of several FMUs, saved states and serialized states, and a `Life` (call_model.py) of
each, which says what the FMU has to answer.  After every call it looks at the serialized state of all instances: only
what the call was for may have changed.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import re
import struct
import sys
from collections.abc import Collection, Mapping, Sequence
from ctypes import byref, c_char_p, c_double, c_int, c_size_t, c_void_p
from dataclasses import dataclass, replace
from typing import Any, Literal

from call_model import (
    ALLOWED,
    BEFORE,
    MOST_SUBSTEPS,
    Fmu,
    Life,
    Mode,
    are_variables,
    are_variables_of_derivatives,
    input_derivatives_answer,
    is_moderate,
    is_tame,
    may_step,
    set_answer,
    set_states_answer,
    setup_is_right,
)
from fmi_library import (
    ARGUMENTS,
    CO_SIMULATION,
    MODEL_EXCHANGE,
    Arguments,
    Importer,
    Status,
    read_bytes,
    read_pointer,
)
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

Memory = Literal["heap", "pool"]

POOL_SIZE = 4  # instances and states that an FMU holds for importers without memory callbacks
FAR = 10  # place in a state of the flag that a value far off was set
SENTINEL = 0xA5  # byte in memory that a refused call must not write to
SLOTS = 4
REGULAR_NAME = "body"
CATEGORIES = {
    Status.WARNING: "logStatusWarning",
    Status.DISCARD: "logStatusDiscard",
    Status.ERROR: "logStatusError",
}
# What a mechanism says of a position that an importer has set, or moved a profile away from, where it has no finite
# acceleration, or where the solver does not get on.
NAMED_POSITIONS = ("singular position", "profile", "Painleve", "does not close it", "substeps")
LOGGER_TEXT = re.compile(r"(?:[^%#]|%%|##)+")  # a printf format without arguments; #r1# would stand for a variable

# --- what calls are made with -----------------------------------------------------------------------------------------

TAME = (0.0, 1.0, -1.0, 0.5, 2.0, 1e-3, -1e-3, 1e-2, -0.1, 0.25, 1e5, 1e-5, -5e-4, 30.0, 1 / 3)
WILD = (
    math.nan, math.inf, -math.inf, -0.0, 5e-324, -5e-324, 2.2e-308, 1e-300, 1e-160, 1e-9, -1e-12, 1e-8, 1 + 2**-52,
    1e150, -1e154, 1e200, 1.7976931348623157e308, -1.7976931348623157e308, 2.0**53 + 2, 4294967296.0,
)  # fmt: skip
NUMBERS = st.one_of(*[st.sampled_from(TAME)] * 5, st.sampled_from(WILD), st.floats())
STEPS = (1e-3, 1e-3, 1e-4, 1e-2, 0.1, 1.0, 1 / 3, 1e-6)
ODD_STEPS = (0.0, -1e-3, math.nan, math.inf, 1e300, 5e-324, 1e-17, 1e-12, 1e4)
ODD_TEXTS = (
    "", "logAll", "a 100 % b", "#r1#", "%s%n%d", "Größe", "z" * 4000, "%" * 600, "-" + "%" * 600,
    "ü" * 600, "-" + "ü" * 600, "長" * 400, "-" + "長" * 400, "--" + "長" * 400,
)  # fmt: skip
INTEGERS = (0, 1, 0, 1, 2, -1, 255, 2**31 - 1, -(2**31))  # any of them is an fmi2Boolean

fmi_types = st.sampled_from((CO_SIMULATION, CO_SIMULATION, MODEL_EXCHANGE))
slots = st.integers(0, SLOTS - 1)
picks = st.integers(0, 255)
integers = st.sampled_from(INTEGERS)
rarely = st.sampled_from((False,) * 15 + (True,))
pairs = st.lists(st.tuples(picks, NUMBERS), max_size=7)
numbers_or_all = st.lists(picks, max_size=5) | st.just(range(256))
repeats = st.sampled_from((1,) * 15 + (60,))
absent = st.sampled_from((None,) * 12 + (0, 1, 2, 3))  # which of the pointers is NULL
among = st.sampled_from(("fitting",) * 12 + ("visible", "any", "unknown"))
types = st.sampled_from(("Real",) * 6 + ("Boolean", "Integer"))

TYPES = {"Real": "real", "Integer": "int", "Boolean": "bool"}
C_TYPES: dict[str, Any] = {"Real": c_double, "Integer": c_int, "Boolean": c_int}


STATUS_KINDS = {"Status": 0, "StringStatus": 1, "RealStatus": 2, "BooleanStatus": 3}  # the fmi2StatusKind of each
STATUS_TYPES: dict[str, Any] = {
    "Status": c_int,
    "StringStatus": c_char_p,
    "RealStatus": c_double,
    "BooleanStatus": c_int,
}


@dataclass
class Alive:
    """A live instance; `image` is its serialized state, `memory` where it lives."""

    component: int
    life: Life
    memory: Memory
    name: str
    environment: int
    logs: bool
    image: bytes

    @property
    def fmu(self) -> Fmu:
        return self.life.fmu


@dataclass
class Saved:
    """An fmi2FMUstate, with the life and the serialized state of the instance when it was saved."""

    pointer: int
    life: Life
    memory: Memory
    image: bytes


@dataclass(frozen=True)
class Image:
    """A serialized state."""

    data: bytes
    life: Life


@dataclass(frozen=True)
class Observer:
    """One more instance of an FMU, never initialized, which lends its fmi2FMUstate to look at the others with."""

    component: int
    state: int
    state_size: int


@dataclass(frozen=True)
class Request:
    """The arguments of fmi2Instantiate; `guid` None stands for NULL, `exhausted` for an importer without memory."""

    guid: str | None
    name: str | None = REGULAR_NAME
    kind: int = CO_SIMULATION
    location: str | None = None
    memory: Memory = "heap"
    has_logger: bool = True
    has_callbacks: bool = True
    logging: int = 1
    exhausted: bool = False


@dataclass(frozen=True)
class Change:
    """What a call may change: so many flags and clocks of the instance (None: all), and the variables named."""

    flags: int | None = 0
    references: Collection[int] = ()


NOTHING = Change()
REFUSED = {Status.ERROR: NOTHING}
DONE = {Status.OK: NOTHING}
FAILED = Change(2)  # a step, an event or an initialization that failed: the mode, and the status of the last step


def damaged(data: bytes, damage: str, place: int) -> bytes:
    """Serialized bytes with one bit turned, cut, or longer."""
    if damage == "bit" and data:
        changed = bytearray(data)
        changed[place // 8 % len(data)] ^= 1 << place % 8
        return bytes(changed)
    if damage == "cut":
        return data[: place % max(len(data), 1)]
    return data + bytes(1 + place % 9) if damage == "longer" else b"" if damage == "empty" else data


class CallMachine(RuleBasedStateMachine):
    """`fmus` are the FMUs under test; they stay loaded over many runs of the machine."""

    def __init__(self, fmus: Sequence[Fmu]) -> None:
        super().__init__()
        self.fmus = fmus
        self.importer = Importer()
        self.instances: list[Alive | None] = [None] * SLOTS
        self.states: list[Saved | None] = [None] * SLOTS
        self.images: list[Image | None] = [None] * SLOTS
        self.environments = itertools.count(1)
        self.observers = [self._observer(fmu) for fmu in fmus]

    def teardown(self) -> None:
        """Free everything; then nothing may be left."""
        self._check_memory()
        for slot in range(SLOTS):
            self._free_instance(slot)
        for saved in self.states:
            if saved is not None:
                self._check_saved(saved)
                self._free_observed(saved.life.fmu, saved.pointer)
        for fmu, observer in zip(self.fmus, self.observers, strict=True):
            self._free_observed(fmu, observer.state)
            fmu.library.free_instance(observer.component)
        assert not self.importer.faults, self.importer.faults
        assert not self.importer.alive, f"never freed: {self.importer.alive}"

    # --- looking at an FMU --------------------------------------------------------------------------------------------

    def _observer(self, fmu: Fmu) -> Observer:
        with Arguments() as a:
            component = fmu.library.instantiate(
                a.text("observer"), CO_SIMULATION, a.text(fmu.guid), None, byref(self.importer.callbacks(0)), 0, 0
            )
            assert component, self.importer.messages
            pointer, size = a.array(c_void_p, [None]), a.array(c_size_t, [0])
            assert fmu.library.call_silently("GetFMUstate", component, pointer) == Status.OK
            state = read_pointer(pointer)
            assert fmu.library.call_silently("SerializedFMUstateSize", component, state, size) == Status.OK
            return Observer(component, state, read_pointer(size))

    def _observer_of(self, fmu: Fmu) -> Observer:
        return next(o for f, o in zip(self.fmus, self.observers, strict=True) if f is fmu)

    def _free_observed(self, fmu: Fmu, state: int) -> None:
        with Arguments() as a:
            cell = a.array(c_void_p, [state])
            assert fmu.library.call_silently("FreeFMUstate", self._observer_of(fmu).component, cell) == Status.OK
            assert read_pointer(cell) == 0, "a freed state must leave NULL behind"

    def _serialized(self, fmu: Fmu, state: int) -> bytes:
        observer = self._observer_of(fmu)
        with Arguments() as a:
            data = a.bytes(bytes(observer.state_size))
            size = observer.state_size
            assert fmu.library.call_silently("SerializeFMUstate", observer.component, state, data, size) == Status.OK
            return read_bytes(data, size)

    def _image_of(self, fmu: Fmu, component: int) -> bytes:
        """The serialized state of an instance, seen through the observer's fmi2FMUstate."""
        state = self._observer_of(fmu).state
        with Arguments() as a:
            assert fmu.library.call_silently("GetFMUstate", component, a.array(c_void_p, [state])) == Status.OK
        return self._serialized(fmu, state)

    def _changed(self, fmu: Fmu, before: bytes, after: bytes) -> tuple[int, set[int]]:
        """Number of changed flags, clocks and records, without that of far values, and value references whose bits
        changed."""
        count = (len(before) - fmu.state_header - 8) // 8
        old, new = (struct.unpack_from(f"<{count}Q", image, fmu.state_header) for image in (before, after))
        size = len(fmu.variables)
        first = count - size - fmu.behind_variables
        different = [i - first for i in range(count) if old[i] != new[i]]
        references = {i for i in different if 0 <= i < size}
        return sum(i not in references for i in different if i + first != FAR), references

    def _check_saved(self, saved: Saved) -> None:
        assert self._serialized(saved.life.fmu, saved.pointer) == saved.image, "a saved state has changed"

    def _block(self, slot: int) -> tuple[float, ...]:
        """All variables of the instance."""
        alive = self._alive(slot)
        return struct.unpack(f"<{len(alive.fmu.variables)}d", alive.fmu.block(alive.image))

    def _check_values(self, slot: int) -> None:
        """Time, parameters and inputs are what was set, and what the last step made of them."""
        block, life = self._block(slot), self._alive(slot).life
        for reference, value in ({0: life.time} | life.values).items():
            name = life.fmu.variables[reference].name
            assert block[reference] == value, f"{name} is {block[reference]}, not {value}"

    def _check_is_as_built(self, slot: int) -> None:
        """All variables of the instance have their start values, as those of the observer."""
        alive = self._alive(slot)
        observer = self._observer_of(alive.fmu)
        _, references = self._changed(alive.fmu, self._image_of(alive.fmu, observer.component), alive.image)
        assert not references, f"not at their start values: {sorted(references)}"

    def _alive(self, slot: int) -> Alive:
        alive = self.instances[slot]
        assert alive is not None
        return alive

    # --- one call, and all that has to hold after it ------------------------------------------------------------------

    def _call(
        self, slot: int, name: str, *arguments: Any, answers: Mapping[Status, Change], is_tame: bool = True
    ) -> Status:
        """Call with the instance of the slot, with NULL if there is none, and check what came of it.

        answers   what may be answered where the mode allows the call, and what has changed then
        is_tame   whether the arguments are: then an error after states were set has a position for its reason"""
        self._check_memory()
        alive = self.instances[slot]
        fmu = alive.fmu if alive else self._fmu_of(slot)
        if alive is None or not alive.life.allows(name):
            answers = REFUSED
        self.importer.messages.clear()
        status = fmu.library.call(name, alive.component if alive else None, *arguments)
        told = [m.text.decode("utf-8", "replace") for m in self.importer.messages]
        mode = alive.life.mode.name if alive else "no instance"
        said = f"fmi2{name} of {fmu.model.name} in {mode} answered {status} and told {told}"
        assert status in answers, f"{said}; expected {[a.name for a in answers]}"
        self._check_messages(alive, Status(status), said)
        if alive and alive.logs and status == Status.ERROR and Status.OK in answers and is_tame:
            life = alive.life
            is_named = any(reason in text for text in told for reason in NAMED_POSITIONS)
            is_first = (life.placed or life.reshaped) and life.is_tame() and life.mode is not Mode.ERROR
            assert is_named or not is_first, f"{said}: no position is the reason"
        self._check_images(slot, answers[Status(status)], said)
        return Status(status)

    def _fmu_of(self, slot: int) -> Fmu:
        """The FMU of an instance that is not there."""
        return self.fmus[slot % len(self.fmus)]

    def _check_texts(self, name: str, said: str) -> None:
        """What was logged is finished UTF-8 that a printf-like logger prints as it is meant."""
        assert not self.importer.faults, f"{said}: {self.importer.faults}"
        for message in self.importer.messages:
            text = message.text.decode("utf-8")
            assert LOGGER_TEXT.fullmatch(text), f"{said}: the text is no finished format: ...{text[-40:]!r}"
            assert name.startswith(message.name.decode("utf-8")), f"{said}: {name} was called {message.name!r}"

    def _check_messages(self, alive: Alive | None, status: Status, said: str) -> None:
        if alive is None or not alive.logs:
            assert not self.importer.messages, said
            return
        self._check_texts(alive.name, said)
        for message in self.importer.messages:
            category = message.category.decode("utf-8")
            assert category in alive.fmu.categories, f"{said}: the category {category} is unknown"
            assert alive.life.hears(message.status, category), f"{said}: the category {category} is not wanted"
            assert message.environment == alive.environment, f"{said}: to the wrong importer"
        if status != Status.OK and alive.life.hears(status, CATEGORIES[status]):
            assert any(m.status == status for m in self.importer.messages), f"{said}: nobody was told why"

    def _check_images(self, slot: int, change: Change, said: str) -> None:
        """The instance of the slot changed at most as allowed, all others not at all."""
        for other, alive in enumerate(self.instances):
            if alive is None:
                continue
            before, alive.image = alive.image, self._image_of(alive.fmu, alive.component)
            if before == alive.image:
                continue
            assert other == slot, f"{said}: instance {other} changed"
            flags, references = self._changed(alive.fmu, before, alive.image)
            beyond = sorted(alive.fmu.variables[r].name for r in references if r not in change.references)
            assert not beyond, f"{said}: {beyond} changed"
            assert change.flags is None or flags <= change.flags, f"{said}: {flags} flags or clocks changed"

    def _check_memory(self) -> None:
        """Allocations minus frees is what is alive after the call before."""
        expected = 2 * len(self.observers)
        expected += sum(alive is not None and alive.memory == "heap" for alive in self.instances)
        expected += sum(saved is not None and saved.memory == "heap" for saved in self.states)
        assert len(self.importer.alive) == expected, "allocations minus frees is not what is alive"

    def _pool_is_full(self, fmu: Fmu) -> bool:
        users = [*self.instances, *self.states]
        return sum(u is not None and u.memory == "pool" and u.life.fmu is fmu for u in users) == POOL_SIZE

    # --- creation and end ---------------------------------------------------------------------------------------------

    @rule(
        slot=slots,
        fmu=picks,
        guid=st.sampled_from(("right",) * 60 + ("wrong", None, *ODD_TEXTS)),
        name=st.sampled_from((REGULAR_NAME,) * 10 + (None, *ODD_TEXTS)),
        kind=st.sampled_from((CO_SIMULATION,) * 12 + (MODEL_EXCHANGE,) * 7 + (2,)),
        location=st.sampled_from((None, "", "file:///nowhere", "x" * 3000)),
        memory=st.sampled_from(("heap", "heap", "pool")),
        has_logger=st.sampled_from((True,) * 4 + (False,)),
        has_callbacks=st.sampled_from((True,) * 9 + (False,)),
        logging=integers,
        exhausted=rarely,
    )
    def instantiate(self, slot: int, fmu: int, guid: str | None, **arguments: Any) -> None:
        chosen = self.fmus[fmu % len(self.fmus)]
        self._instantiate(slot, chosen, Request(guid=chosen.guid if guid == "right" else guid, **arguments))

    def _instantiate(self, slot: int, fmu: Fmu, request: Request) -> None:
        self._free_instance(slot)
        if not request.has_callbacks:
            request = replace(request, memory="pool", has_logger=False)
        has_memory = not request.exhausted if request.memory == "heap" else not self._pool_is_full(fmu)
        expected = bool(request.name) and request.kind in ALLOWED and request.guid == fmu.guid and has_memory
        environment = next(self.environments)
        callbacks = self.importer.callbacks(environment, request.has_logger, request.memory == "heap")
        self.importer.messages.clear()
        self.importer.exhausted = request.exhausted
        with Arguments() as a:
            name, guid, location = (
                None if text is None else a.text(text) for text in (request.name, request.guid, request.location)
            )
            functions = byref(callbacks) if request.has_callbacks else None
            component = fmu.library.instantiate(
                name, request.kind, guid, location, functions, request.logging, request.logging
            )
        self.importer.exhausted = False
        ctypes.memset(byref(callbacks), SENTINEL, ctypes.sizeof(callbacks))  # the importer's struct may be gone now
        said = f"{request} of {fmu.model.name}"
        self._check_texts(request.name or "", said)
        assert bool(component) == expected, f"{said} answered {component:#x}"
        assert bool(self.importer.messages) == (not expected and request.has_logger), said
        if component:
            life = Life(fmu, request.kind, request.logging != 0, fmu.categories)
            image = self._image_of(fmu, component)
            self.instances[slot] = Alive(
                component, life, request.memory, request.name or "", environment, request.has_logger, image
            )
            self._check_is_as_built(slot)

    @initialize(
        fmus=st.tuples(picks, picks),
        kinds=st.tuples(fmi_types, fmi_types),
        start=st.sampled_from((0.0, 0.0, -1.0)),
        memory=st.sampled_from(("heap", "pool")),
    )
    def begin_with_three_instances(
        self, fmus: tuple[int, int], kinds: tuple[int, int], start: float, memory: Memory
    ) -> None:
        for slot in (0, 1):
            self._bring_to_the_first_step(slot, fmus[slot], kinds[slot], start, None)
        chosen = self.fmus[fmus[0] % len(self.fmus)]
        self._instantiate(2, chosen, Request(guid=chosen.guid, memory=memory))
        self._set_up_experiment(2, 1e-6, start, start + 1.0)
        self._enter_initialization_mode(2)
        self._save_state(0, 0)
        self._serialize(0, 0, 0)

    @rule(
        slot=slots,
        fmu=picks,
        kind=fmi_types,
        start=st.sampled_from((0.0, 0.0, 0.0, -1.0, 1e6)),
        length=st.sampled_from((None, None, 0.05)),
    )
    def bring_to_the_first_step(self, slot: int, fmu: int, kind: int, start: float, length: float | None) -> None:
        self._bring_to_the_first_step(slot, fmu, kind, start, length)

    def _bring_to_the_first_step(self, slot: int, fmu: int, kind: int, start: float, length: float | None) -> None:
        chosen = self.fmus[fmu % len(self.fmus)]
        self._instantiate(slot, chosen, Request(guid=chosen.guid, kind=kind))
        self._set_up_experiment(slot, None, start, None if length is None else start + length)
        self._enter_initialization_mode(slot)
        self._exit_initialization_mode(slot)
        if kind == MODEL_EXCHANGE:
            self._new_discrete_states(slot)
            self._enter_continuous_time_mode(slot)

    @rule(slot=slots)
    def free_instance(self, slot: int) -> None:
        self._free_instance(slot)

    def _free_instance(self, slot: int) -> None:
        """fmi2FreeInstance, with NULL if there is none."""
        alive = self.instances[slot]
        fmu = alive.fmu if alive else self._fmu_of(slot)
        fmu.library.free_instance(alive.component if alive else None)
        self.instances[slot] = None

    @rule(slot=slots)
    def reset(self, slot: int) -> None:
        alive = self.instances[slot]
        everything = Change(None, alive.fmu.references() if alive else ())
        if self._call(slot, "Reset", answers={Status.OK: everything}) == Status.OK:
            alive = self._alive(slot)
            alive.life = Life(alive.fmu, alive.life.kind, alive.life.logging, alive.life.categories)
            self._check_is_as_built(slot)

    @rule(fmu=picks)
    def ask_for_the_version(self, fmu: int) -> None:
        assert self.fmus[fmu % len(self.fmus)].library.version() == (b"default", b"2.0")

    # --- modes --------------------------------------------------------------------------------------------------------

    @rule(slot=slots, tolerance=st.none() | NUMBERS, start=NUMBERS, stop=st.none() | NUMBERS)
    def set_up_experiment(self, slot: int, tolerance: float | None, start: float, stop: float | None) -> None:
        self._set_up_experiment(slot, tolerance, start, stop)

    def _set_up_experiment(self, slot: int, tolerance: float | None, start: float, stop: float | None) -> None:
        """None: the argument is not defined, and garbage stands in its place."""
        is_right = setup_is_right(tolerance, start, stop)
        status = self._call(
            slot,
            "SetupExperiment",
            int(tolerance is not None),
            math.nan if tolerance is None else tolerance,
            start,
            int(stop is not None),
            math.nan if stop is None else stop,
            answers={Status.OK: Change(None, [0, *self._fmu_in(slot).named("solver.tolerance")])}
            if is_right
            else REFUSED,
        )
        if status == Status.OK:
            life = self._alive(slot).life
            life.set_up(tolerance, start, stop)
            life.tame &= is_tame(start)
            self._check_values(slot)

    @rule(slot=slots)
    def enter_initialization_mode(self, slot: int) -> None:
        self._enter_initialization_mode(slot)

    def _enter_initialization_mode(self, slot: int) -> None:
        alive = self.instances[slot]
        answers = {Status.OK: Change(2)} if alive and alive.life.experiment else REFUSED
        if self._call(slot, "EnterInitializationMode", answers=answers) == Status.OK:
            self._alive(slot).life.mode = Mode.INITIALIZATION

    @rule(slot=slots)
    def exit_initialization_mode(self, slot: int) -> None:
        self._exit_initialization_mode(slot)

    def _exit_initialization_mode(self, slot: int) -> None:
        alive = self.instances[slot]
        answers = {}
        if alive is None or alive.life.rules_hold():
            computed = alive.fmu.references("output", "derivative", "state", "memory") if alive else ()
            answers[Status.OK] = Change(None, computed)
        if alive is None or not alive.life.is_finite():
            answers[Status.ERROR] = FAILED
        was_allowed = alive is not None and alive.life.mode is Mode.INITIALIZATION
        if self._call(slot, "ExitInitializationMode", answers=answers) == Status.OK:
            life = self._alive(slot).life
            life.mode = Mode.STEP if life.kind == CO_SIMULATION else Mode.EVENT
            self._check_ledger(slot)
        elif was_allowed:
            self._alive(slot).life.mode = Mode.ERROR

    @rule(slot=slots)
    def terminate(self, slot: int) -> None:
        if self._call(slot, "Terminate", answers={Status.OK: replace(self._outputs(slot), flags=3)}) == Status.OK:
            self._alive(slot).life.mode = Mode.TERMINATED

    @rule(slot=slots, pick=picks, number=NUMBERS)
    def call_what_is_not_offered(self, slot: int, pick: int, number: float) -> None:
        """fmi2CancelStep, or a function of the other type."""
        alive = self.instances[slot]
        offered = ALLOWED[alive.life.kind if alive else CO_SIMULATION]
        names = sorted(name for name in ARGUMENTS if not offered.get(name))
        name = names[pick % len(names)]
        arguments = {c_double: number, c_void_p: None, c_int: 1, c_size_t: 3}
        self._call(slot, name, *(arguments[kind] for kind in ARGUMENTS[name][1:]), answers=REFUSED)

    # --- variables ----------------------------------------------------------------------------------------------------

    def _fmu_in(self, slot: int) -> Fmu:
        alive = self.instances[slot]
        return alive.fmu if alive else self._fmu_of(slot)

    def _references(self, slot: int, numbers: Sequence[int], among: str, fitting: Collection[int]) -> list[int]:
        """Value references picked from those that fit the call, from all that are named, or from wrong ones."""
        fmu = self._fmu_in(slot)
        count = len(fmu.variables)
        choices = {
            "fitting": sorted(fitting),
            "any": range(count + 3),
            "unknown": (count, 2**31, 2**32 - 1),
        }.get(among) or sorted(fmu.references(visible=True))
        return [choices[n % len(choices)] for n in numbers]

    def _outputs(self, slot: int) -> Change:
        """What asking for a value may bring up to date, together with the flag that says so, and before a step with the
        one that says that outputs of its inputs were read."""
        alive = self.instances[slot]
        if alive is None:
            return NOTHING
        kinds = ["output", "derivative"]
        if alive.life.mode is Mode.INITIALIZATION:  # there the state follows the parameters
            kinds += ["state", "memory"]
        return Change(2 if alive.life.mode is Mode.STEP else 1, alive.fmu.references(*kinds))

    def _asked(self, slot: int) -> dict[Status, Change]:
        """The answers to a right question: OK, or Error if what would be handed out is not finite, in continuous-time
        mode Discard."""
        alive = self.instances[slot]
        change = self._outputs(slot)
        return {Status.OK: change} | ({} if alive and alive.life.is_finite() else {self._not_finite(slot): change})

    def _not_finite(self, slot: int) -> Status:
        alive = self.instances[slot]
        return Status.DISCARD if alive and alive.life.mode is Mode.CONTINUOUS else Status.ERROR

    @rule(slot=slots, type_=types, pairs=pairs, among=among, absent=absent, repeats=repeats)
    def set_values(
        self, slot: int, type_: str, pairs: list[tuple[int, float]], among: str, absent: int | None, repeats: int
    ) -> None:
        fitting = self._fmu_in(slot).references("input", "tunable", "fixed", type_=TYPES[type_], visible=True)
        references = self._references(slot, [n for n, _ in pairs], among, fitting) * repeats
        values: list[float] = [x if type_ == "Real" else INTEGERS[n % len(INTEGERS)] for n, x in pairs] * repeats
        self._set_values(slot, type_, references, values, absent)

    def _set_values(
        self, slot: int, type_: str, references: list[int], values: list[float], absent: int | None = None
    ) -> None:
        cut = self._fmu_in(slot).named("solver.max_substeps")
        values = [min(x, MOST_SUBSTEPS) if r in cut else x for r, x in zip(references, values, strict=True)]
        stored = [float(value != 0) for value in values] if type_ == "Boolean" else values
        alive = self.instances[slot]
        answers = REFUSED
        if alive and not (references and absent in (0, 1)):
            answers = {set_answer(alive.life, TYPES[type_], references, stored): NOTHING}
        if Status.OK in answers:
            answers = {Status.OK: Change(3, references)}
        with Arguments() as a:
            status = self._call(
                slot,
                f"Set{type_}",
                None if absent == 0 else a.references(references),
                len(references),
                None if absent == 1 else a.array(C_TYPES[type_], values),
                answers=answers,
            )
        if status == Status.OK:
            life = self._alive(slot).life
            life.values.update(zip(references, stored, strict=True))
            life.reshaped |= not (life.mode & BEFORE or life.fmu.shaping.isdisjoint(references))
            life.tame &= all(map(is_tame, stored))
            self._check_values(slot)

    @rule(slot=slots, type_=types, numbers=st.lists(picks, max_size=9), among=among, absent=absent, repeats=repeats)
    def get_values(
        self, slot: int, type_: str, numbers: list[int], among: str, absent: int | None, repeats: int
    ) -> None:
        fitting = self._fmu_in(slot).references(type_=TYPES[type_], visible=True)
        self._get_values(slot, type_, self._references(slot, numbers, among, fitting) * repeats, absent)

    def _get_values(self, slot: int, type_: str, references: Sequence[int], absent: int | None = None) -> list[float]:
        """The values got; none if the call was refused."""
        fmu, c_type = self._fmu_in(slot), C_TYPES[type_]
        is_right = are_variables(fmu, TYPES[type_], references) and not (references and absent in (0, 1))
        untouched = bytes([SENTINEL]) * (len(references) * ctypes.sizeof(c_type))
        with Arguments() as a:
            values = a.bytes(untouched)
            status = self._call(
                slot,
                f"Get{type_}",
                None if absent == 0 else a.references(references),
                len(references),
                None if absent == 1 else values,
                answers=self._asked(slot) if is_right else REFUSED,
            )
            got = read_bytes(values, len(untouched))
        if status != Status.OK:
            assert got == untouched, f"fmi2Get{type_} was refused and has written"
            return []
        found = list((c_type * len(references)).from_buffer_copy(got)) if references else []
        life = self._alive(slot).life
        for reference, value in zip(references, found, strict=True):
            name = fmu.variables[reference].name
            assert math.isfinite(value), f"{name} = {value} was handed out with OK"
            expected = life.time if reference == 0 else life.values.get(reference, value)
            assert value == expected, f"{name} = {value}, but {expected} was set"
            assert type_ != "Boolean" or value in (0, 1), f"{name} = {value} is no fmi2Boolean"
        return found

    @rule(slot=slots, name=st.sampled_from(("GetString", "SetString")), count=st.sampled_from((0, 0, 1, 3)))
    def get_or_set_strings(self, slot: int, name: str, count: int) -> None:
        with Arguments() as a:
            texts = a.texts(["text"] * count)
            self._call(slot, name, a.references([0] * count), count, texts, answers=REFUSED if count else DONE)

    # --- steps --------------------------------------------------------------------------------------------------------

    @rule(
        slot=slots,
        begin=st.sampled_from(("next",) * 9 + ("again", "later", "about now", "not finite")),
        h=st.sampled_from(STEPS * 2 + ODD_STEPS),
        flag=integers,
    )
    def step(self, slot: int, begin: str, h: float, flag: int) -> None:
        alive = self.instances[slot]
        now = alive.life.time if alive else 0.0
        others = {"again": now - h, "later": now + h, "about now": now * (1 + 1e-12), "not finite": math.nan}
        self._step(slot, others.get(begin, now), h, flag)

    def _step(self, slot: int, t_c: float, h: float, flag: int = 1) -> None:
        alive = self.instances[slot]
        is_right = alive is not None and alive.life.mode is Mode.STEP and may_step(alive.life, t_c, h)
        answers: dict[Status, Change] = dict(REFUSED)
        if alive and is_right:
            alive.life.tame &= is_tame(t_c) and is_tame(h)
            has_end = alive.life.is_finite() and not alive.life.may_run_out_of_substeps(h)
            answers = {} if has_end else {Status.ERROR: FAILED}
            moved = alive.fmu.references("time", "output", "derivative", "state", "memory")
            if alive.life.rates is not None:
                moved |= alive.fmu.references("input", type_="real")
            if alive.life.rules_hold():
                answers[Status.OK] = Change(None, moved)
        status = self._call(slot, "DoStep", t_c, h, flag, answers=answers)
        if alive is None or not is_right:
            return
        alive.life.last_step = status
        if status != Status.OK:
            alive.life.mode = Mode.ERROR
            return
        alive.life.extrapolate(t_c, t_c + h)
        alive.life.time = t_c + h
        self._ask_status(slot, "RealStatus", 2)
        self._check_values(slot)
        self._check_ledger(slot)

    def _check_ledger(self, slot: int) -> None:
        """After a good step: all is finite; contacts begun and energies dissipated have not become less."""
        life, block = self._alive(slot).life, self._block(slot)
        wrong = [v.name for v in life.fmu.variables if not math.isfinite(block[v.index])]
        assert not wrong, f"not finite after a step that was answered with OK: {wrong}"
        now = self._get_values(slot, "Integer", life.fmu.named("contact_count"))
        if "coupling.mode" not in life.fmu.model:  # there a force that was given already may have driven
            now += self._get_values(slot, "Real", life.fmu.named("energy.damping", "energy.friction"))
        if life.ledger is not None:
            assert all(new >= old for new, old in zip(now, life.ledger, strict=True)), f"{life.ledger} fell to {now}"
        life.ledger = now

    @rule(
        slot=slots,
        h=st.sampled_from(STEPS),
        motions=st.lists(pairs, min_size=1, max_size=5),
        rates=st.none() | pairs,
    )
    def run(
        self, slot: int, h: float, motions: list[list[tuple[int, float]]], rates: list[tuple[int, float]] | None
    ) -> None:
        """A few good steps with small motions, so that points meet the surface and leave it."""
        inputs = sorted(self._fmu_in(slot).references("input", type_="real"))
        small = [(inputs[n % len(inputs)], TAME[n % len(TAME)] * 0.1) for n, _ in rates or () if inputs]
        if rates is not None:
            self._set_input_derivatives(slot, [r for r, _ in small], [1] * len(small), [x for _, x in small])
        for motion in motions:
            moved = {inputs[n % len(inputs)]: x if is_tame(x) else 1.0 for n, x in motion if inputs}
            self._set_values(slot, "Real", list(moved), list(moved.values()))
            self._go_on(slot, h)

    def _go_on(self, slot: int, h: float) -> None:
        """A communication step, or one of Euler's method."""
        alive = self.instances[slot]
        if alive is None or alive.life.kind == CO_SIMULATION:
            self._step(slot, alive.life.time if alive else 0.0, h)
            return
        if alive.life.mode is Mode.EVENT:
            self._new_discrete_states(slot)
            self._enter_continuous_time_mode(slot)
        n = len(alive.fmu.states)
        x, slopes = self._ask_vector(slot, "GetContinuousStates", n), self._ask_vector(slot, "GetDerivatives", n)
        self._ask_vector(slot, "GetEventIndicators", len(alive.fmu.model.indicators))
        self._set_time(slot, alive.life.time + h)
        self._set_states(slot, [a + h * b for a, b in zip(x, slopes, strict=False)])
        self._complete_step(slot)

    @rule(
        slot=slots,
        h=st.sampled_from(STEPS),
        pairs=pairs,
        kinds=st.sampled_from((("input",), ("tunable",), ("tunable", "fixed"))),
        at_bounds=st.sampled_from((False, False, True)),
        looks=st.booleans(),
    )
    def disturb(
        self, slot: int, h: float, pairs: list[tuple[int, float]], kinds: tuple[str, ...], at_bounds: bool, looks: bool
    ) -> None:
        """Set parameters or inputs to anything, or to their bounds, look at all that follows, and go on."""
        fmu, alive = self._fmu_in(slot), self.instances[slot]
        if alive and alive.life.mode is Mode.CONTINUOUS and "tunable" in kinds:
            self._enter_event_mode(slot)
        settable = [v for v in fmu.variables if v.kind in kinds and v.type == "real"]
        chosen = [(settable[n % len(settable)], x) for n, x in pairs if settable]
        bounds = {v: [bound for bound in (v.above, v.below, v.min, v.max) if bound is not None] for v, _ in chosen}
        values = [(bounds[v] or [x])[-1 if x < 0.0 else 0] if at_bounds else x for v, x in chosen]
        self._set_values(slot, "Real", [v.index for v, _ in chosen], values)
        if looks:
            self._get_values(slot, "Real", sorted(fmu.references(type_="real", visible=True)))
        if alive and alive.life.mode is Mode.INITIALIZATION:
            self._exit_initialization_mode(slot)
        self._go_on(slot, h)

    # --- model exchange -----------------------------------------------------------------------------------------------

    @rule(slot=slots)
    def enter_event_mode(self, slot: int) -> None:
        self._enter_event_mode(slot)

    def _enter_event_mode(self, slot: int) -> None:
        if self._call(slot, "EnterEventMode", answers={Status.OK: Change(1)}) == Status.OK:
            self._alive(slot).life.mode = Mode.EVENT

    def _accepted(self, slot: int) -> dict[Status, Change]:
        """The answers of a function that accepts the point."""
        alive = self.instances[slot]
        if alive is None:
            return REFUSED
        answers = {} if alive.life.is_finite() else {Status.ERROR: FAILED}
        if alive.life.rules_hold():
            changing = alive.fmu.references("output", "derivative", "memory") | alive.fmu.jumping
            answers[Status.OK] = Change(None, changing)
        return answers

    def _states(self, slot: int) -> list[float]:
        alive = self.instances[slot]
        return [] if alive is None else [self._block(slot)[i] for i in alive.fmu.states]

    def _after_acceptance(self, slot: int, name: str, was_allowed: bool, status: Status) -> None:
        if status == Status.OK:
            block, life = self._block(slot), self._alive(slot).life
            wrong = [v.name for v in life.fmu.variables if not math.isfinite(block[v.index])]
            assert not wrong, f"fmi2{name}: not finite at an accepted point: {wrong}"
            life.values |= {i: block[i] for i in life.fmu.jumping & life.values.keys()}
            life.placed = False  # the constraints are met
            self._check_values(slot)
        elif was_allowed:
            self._alive(slot).life.mode = Mode.ERROR

    def _allows(self, slot: int, name: str) -> bool:
        alive = self.instances[slot]
        return alive is not None and alive.life.allows(name)

    @rule(slot=slots, is_null=rarely)
    def new_discrete_states(self, slot: int, is_null: bool) -> None:
        self._new_discrete_states(slot, is_null)

    def _new_discrete_states(self, slot: int, is_null: bool = False) -> None:
        untouched, was_allowed = bytes([SENTINEL]) * 32, self._allows(slot, "NewDiscreteStates") and not is_null
        with Arguments() as a:
            info = a.bytes(untouched)
            answers = REFUSED if is_null else self._accepted(slot)
            status = self._call(slot, "NewDiscreteStates", None if is_null else info, answers=answers)
            got = read_bytes(info, 32)
        if status == Status.OK:
            jumped = int.from_bytes(got[12:16], sys.byteorder)
            assert got[:12] == bytes(12) and got[16:20] == bytes(4) and got[24:] == bytes(8), (
                f"fmi2EventInfo is {got!r}"
            )
            assert jumped == 0 or (jumped == 1 and self._alive(slot).fmu.jumping), f"fmi2EventInfo is {got!r}"
        else:
            assert got == untouched, "fmi2NewDiscreteStates was refused and has written"
        self._after_acceptance(slot, "NewDiscreteStates", was_allowed, status)

    @rule(slot=slots)
    def enter_continuous_time_mode(self, slot: int) -> None:
        self._enter_continuous_time_mode(slot)

    def _enter_continuous_time_mode(self, slot: int) -> None:
        was_allowed = self._allows(slot, "EnterContinuousTimeMode")
        status = self._call(slot, "EnterContinuousTimeMode", answers=self._accepted(slot))
        self._after_acceptance(slot, "EnterContinuousTimeMode", was_allowed, status)
        if status == Status.OK:
            self._alive(slot).life.mode = Mode.CONTINUOUS

    @rule(slot=slots, flag=integers, absent=absent)
    def complete_step(self, slot: int, flag: int, absent: int | None) -> None:
        self._complete_step(slot, flag, absent)

    def _complete_step(self, slot: int, flag: int = 1, absent: int | None = None) -> None:
        is_null = absent in (0, 1)
        was_allowed, states = self._allows(slot, "CompletedIntegratorStep") and not is_null, self._states(slot)
        with Arguments() as a:
            answers = [a.bytes(bytes([SENTINEL]) * 4) for _ in range(2)]
            status = self._call(
                slot,
                "CompletedIntegratorStep",
                flag,
                *(None if absent == k else answer for k, answer in enumerate(answers)),
                answers=REFUSED if is_null else self._accepted(slot),
            )
            expected = bytes(4) if status == Status.OK else bytes([SENTINEL]) * 4
            event, end = (read_bytes(answer, 4) for answer in answers)
            assert end == expected
            if status == Status.OK and self._alive(slot).fmu.jumping:
                assert event in (bytes(4), (1).to_bytes(4, sys.byteorder))
                assert any(event) or self._states(slot) == states, "states jumped, and no event is wanted"
            else:
                assert event == expected
        self._after_acceptance(slot, "CompletedIntegratorStep", was_allowed, status)

    @rule(slot=slots, time=NUMBERS)
    def set_time(self, slot: int, time: float) -> None:
        self._set_time(slot, time)

    def _set_time(self, slot: int, time: float) -> None:
        answers = {Status.OK: Change(2, (0,))} if math.isfinite(time) else REFUSED
        if self._call(slot, "SetTime", time, answers=answers) == Status.OK:
            life = self._alive(slot).life
            life.time = time
            life.tame &= is_moderate(time)

    @rule(
        slot=slots,
        values=st.lists(NUMBERS, min_size=8, max_size=8),
        surplus=st.sampled_from((0,) * 12 + (1, -1, 10**9)),
        is_null=rarely,
    )
    def set_states(self, slot: int, values: list[float], surplus: int, is_null: bool) -> None:
        n = len(self._fmu_in(slot).states)
        self._set_states(slot, [values[i % len(values)] for i in range(n)], surplus, is_null)

    def _set_states(self, slot: int, x: Sequence[float], surplus: int = 0, is_null: bool = False) -> None:
        """`surplus` says how many more states are announced than there are."""
        alive, n = self.instances[slot], max(len(x) + surplus, 0)
        answers = REFUSED
        if alive and n == len(x) and not (n and is_null):
            answer = set_states_answer(alive.life, x)
            answers = {answer: Change(2, alive.fmu.states) if answer == Status.OK else NOTHING}
        with Arguments() as a:
            status = self._call(slot, "SetContinuousStates", None if is_null else a.reals(x), n, answers=answers)
        if status == Status.OK:
            life = self._alive(slot).life
            life.values.update(zip(life.fmu.states, x, strict=True))
            life.tame &= all(map(is_moderate, x))
            life.placed |= life.fmu.is_mechanism
            self._check_values(slot)

    @rule(
        slot=slots,
        name=st.sampled_from(
            ("GetContinuousStates", "GetDerivatives", "GetEventIndicators", "GetNominalsOfContinuousStates")
        ),
        surplus=st.sampled_from((0,) * 12 + (1, -1, 10**9)),
        is_null=rarely,
    )
    def ask_vector(self, slot: int, name: str, surplus: int, is_null: bool) -> None:
        fmu = self._fmu_in(slot)
        n = len(fmu.model.indicators if name == "GetEventIndicators" else fmu.states)
        self._ask_vector(slot, name, n, surplus, is_null)

    def _ask_vector(self, slot: int, name: str, n: int, surplus: int = 0, is_null: bool = False) -> list[float]:
        """The values; none if the call was refused."""
        announced, untouched = max(n + surplus, 0), bytes([SENTINEL]) * (8 * n)
        answers = REFUSED
        if announced == n and not (n and is_null):
            answers = self._asked(slot)
            if name == "GetNominalsOfContinuousStates":
                answers = DONE
            elif self.instances[slot] and self._alive(slot).life.mode is Mode.INITIALIZATION:
                answers = {status: replace(change, flags=None) for status, change in answers.items()}  # sides
        with Arguments() as a:
            values = a.bytes(untouched)
            status = self._call(slot, name, None if is_null else values, announced, answers=answers)
            got = read_bytes(values, len(untouched))
        self._check_derivatives(f"fmi2{name}", status, got)
        found = list(struct.unpack(f"{n}d", got)) if status == Status.OK else []
        if name == "GetContinuousStates" and found:
            block = self._block(slot)
            assert found == [block[i] for i in self._alive(slot).fmu.states]
        return found

    # a rule that is there more than once is taken more often
    run_more = run_much_more = run_still_more = run
    disturb_more = disturb_much_more = disturb
    step_more = step

    @rule(
        slot=slots,
        function=st.sampled_from(("Status", "RealStatus", "IntegerStatus", "BooleanStatus", "StringStatus")),
        kind=st.sampled_from((0, 1, 2, 3, 4, -1, 99)),
        is_null=rarely,
    )
    def ask_status(self, slot: int, function: str, kind: int, is_null: bool) -> None:
        self._ask_status(slot, function, kind, is_null)

    def _ask_status(self, slot: int, function: str, kind: int, is_null: bool = False) -> None:
        answers = DONE if STATUS_KINDS.get(function) == kind else {Status.DISCARD: NOTHING}
        with Arguments() as a:
            answer = a.bytes(bytes([SENTINEL]) * 8)
            status = self._call(
                slot, f"Get{function}", kind, None if is_null else answer, answers=REFUSED if is_null else answers
            )
            if status != Status.OK:
                assert read_bytes(answer, 8) == bytes([SENTINEL]) * 8, f"fmi2Get{function} was refused and has written"
                return
            got = STATUS_TYPES[function].from_address(answer).value
        life = self._alive(slot).life
        expected = {"Status": life.last_step, "RealStatus": life.time, "BooleanStatus": 0, "StringStatus": b""}[
            function
        ]
        assert got == expected, f"fmi2Get{function}: {got!r}, not {expected!r}"

    # --- derivatives --------------------------------------------------------------------------------------------------

    @rule(
        slot=slots,
        unknowns=numbers_or_all,
        knowns=pairs,
        is_unit=st.booleans(),
        among=among,
        among_knowns=st.sampled_from(("fitting", "fitting", "fitting", "visible")),
        absent=absent,
        repeats=repeats,
    )
    def get_directional_derivative(
        self,
        slot: int,
        unknowns: Sequence[int],
        knowns: list[tuple[int, float]],
        is_unit: bool,
        among: str,
        among_knowns: str,
        absent: int | None,
        repeats: int,
    ) -> None:
        fmu = self._fmu_in(slot)
        fitting = fmu.unknowns
        z = self._references(slot, unknowns, among, fitting) * repeats
        fitting = fmu.knowns
        x = self._references(slot, [n for n, _ in knowns], among_knowns if among == "fitting" else among, fitting)
        directions = [1.0 if is_unit else value for _, value in knowns]
        is_null = (z and absent in (0, 1)) or (x and absent in (2, 3))
        is_right = not is_null and are_variables_of_derivatives(fmu, z, x)
        answers = self._asked(slot) if is_right else REFUSED
        if is_right and not all(map(is_tame, directions)):
            answers = {Status.OK: self._outputs(slot), self._not_finite(slot): self._outputs(slot)}
        untouched = bytes([SENTINEL]) * (8 * len(z))
        with Arguments() as a:
            values = a.bytes(untouched)
            status = self._call(
                slot,
                "GetDirectionalDerivative",
                None if absent == 0 else a.references(z),
                len(z),
                None if absent == 2 else a.references(x),
                len(x),
                None if absent == 3 else a.array(c_double, directions),
                None if absent == 1 else values,
                answers=answers,
                is_tame=all(map(is_tame, directions)),
            )
            self._check_derivatives("fmi2GetDirectionalDerivative", status, read_bytes(values, len(untouched)))

    def _check_derivatives(self, function: str, status: Status, got: bytes) -> None:
        if status == Status.OK:
            assert all(map(math.isfinite, struct.unpack(f"{len(got) // 8}d", got))), f"{function}: OK, but not finite"
        else:
            assert got == bytes([SENTINEL]) * len(got), f"{function} was refused and has written"

    @rule(
        slot=slots,
        pairs=pairs,
        orders=st.lists(st.sampled_from((1,) * 12 + (0, -1, 2, 3)), min_size=7, max_size=7),
        among=among,
        absent=absent,
    )
    def set_input_derivatives(
        self, slot: int, pairs: list[tuple[int, float]], orders: list[int], among: str, absent: int | None
    ) -> None:
        fitting = self._fmu_in(slot).references("input", type_="real")
        references = self._references(slot, [n for n, _ in pairs], among, fitting)
        self._set_input_derivatives(slot, references, orders[: len(pairs)], [value for _, value in pairs], absent)

    def _set_input_derivatives(
        self, slot: int, references: list[int], orders: list[int], values: list[float], absent: int | None = None
    ) -> None:
        fmu = self._fmu_in(slot)
        answer = input_derivatives_answer(fmu, references, orders, values)
        if references and absent in (0, 1, 2):
            answer = Status.ERROR
        with Arguments() as a:
            status = self._call(
                slot,
                "SetRealInputDerivatives",
                None if absent == 0 else a.references(references),
                len(references),
                None if absent == 1 else a.array(c_int, orders),
                None if absent == 2 else a.array(c_double, values),
                answers={answer: Change(None) if answer <= Status.WARNING else NOTHING},
            )
        if status <= Status.WARNING:
            life = self._alive(slot).life
            first = {r: x for r, order, x in zip(references, orders, values, strict=True) if order == 1}
            if first:
                life.rates = (life.rates or {}) | first
            life.tame &= all(map(is_tame, values))

    @rule(
        slot=slots,
        numbers=numbers_or_all,
        orders=st.lists(st.sampled_from((1,) * 12 + (0, -1, 2, 3)), min_size=5, max_size=5),
        among=among,
        absent=absent,
    )
    def get_output_derivatives(
        self, slot: int, numbers: Sequence[int], orders: list[int], among: str, absent: int | None
    ) -> None:
        fmu = self._fmu_in(slot)
        outputs = [v.index for v in fmu.variables if v.is_output and v.type == "real"]
        references = self._references(slot, numbers, among, outputs)
        orders = (orders + [1] * len(references))[: len(references)]
        is_right = set(references) <= set(outputs) and all(order >= 1 for order in orders)
        untouched = bytes([SENTINEL]) * (8 * len(references))
        with Arguments() as a:
            values = a.bytes(untouched)
            status = self._call(
                slot,
                "GetRealOutputDerivatives",
                None if absent == 0 else a.references(references),
                len(references),
                None if absent == 1 else a.array(c_int, orders),
                None if absent == 2 else values,
                answers=self._asked(slot) if is_right and not (references and absent in (0, 1, 2)) else REFUSED,
            )
            self._check_derivatives("fmi2GetRealOutputDerivatives", status, read_bytes(values, len(untouched)))

    # --- states -------------------------------------------------------------------------------------------------------

    def _place_of_state(self, slot: int, number: int) -> int | None:
        """One of the saved states that fit the FMU of the slot, None if there is none: no importer can pass others."""
        fmu = self._fmu_in(slot)
        fitting = [i for i, saved in enumerate(self.states) if saved is not None and saved.life.fmu is fmu]
        return fitting[number % len(fitting)] if fitting else None

    def _state_for(self, slot: int, number: int) -> Saved | None:
        place = self._place_of_state(slot, number)
        return None if place is None else self.states[place]

    def _place_for_state(self, slot: int, number: int) -> int | None:
        """Where a state can be saved to: a free place, or one that holds a state of the same FMU; else None."""
        saved = self.states[number]
        return number if saved is None or saved.life.fmu is self._fmu_in(slot) else self._place_of_state(slot, number)

    @rule(slot=slots, number=slots, is_null=rarely, exhausted=rarely)
    def save_state(self, slot: int, number: int, is_null: bool, exhausted: bool) -> None:
        self._save_state(slot, number, is_null, exhausted)

    def _save_state(self, slot: int, number: int, is_null: bool = False, exhausted: bool = False) -> None:
        place = self._place_for_state(slot, number)
        saved = None if place is None else self.states[place]
        is_null |= place is None
        has_memory = saved is not None or self._has_memory(self.instances[slot], exhausted)
        self.importer.exhausted = exhausted
        with Arguments() as a:
            cell = a.array(c_void_p, [saved.pointer if saved else None])
            answers = DONE if has_memory and not is_null else REFUSED
            status = self._call(slot, "GetFMUstate", None if is_null else cell, answers=answers)
            pointer = read_pointer(cell)
        self.importer.exhausted = False
        if status == Status.OK and place is not None:
            alive = self._alive(slot)
            new = Saved(pointer, alive.life.copy(), saved.memory if saved else alive.memory, alive.image)
            self._check_saved(new)
            self.states[place] = new

    def _has_memory(self, alive: Alive | None, exhausted: bool) -> bool:
        if alive is None or alive.memory == "heap":
            return not exhausted
        return not self._pool_is_full(alive.fmu)

    @rule(slot=slots, number=slots)
    def restore_state(self, slot: int, number: int) -> None:
        alive, saved = self.instances[slot], self._state_for(slot, number)
        is_right = saved is not None and (alive is None or saved.life.kind == alive.life.kind)
        if alive and saved and is_right:
            alive.life = saved.life.copy()
        everything = {Status.OK: Change(None, self._fmu_in(slot).references())}
        pointer = saved.pointer if saved else None
        if self._call(slot, "SetFMUstate", pointer, answers=everything if is_right else REFUSED) == Status.OK and saved:
            assert self._alive(slot).image == saved.image, "the restored instance is not the saved one"
            self._check_saved(saved)

    @rule(slot=slots, number=slots, is_null=rarely)
    def free_state(self, slot: int, number: int, is_null: bool) -> None:
        alive, place = self.instances[slot], self._place_of_state(slot, number)
        saved = None if place is None else self.states[place]
        if alive is None or (saved and saved.memory == "heap" and alive.memory == "pool"):
            saved = None  # an instance without freeMemory cannot free what was allocated
        with Arguments() as a:
            cell = a.array(c_void_p, [saved.pointer if saved else None])
            status = self._call(slot, "FreeFMUstate", None if is_null else cell, answers=DONE)
            if status == Status.OK and not is_null:
                assert read_pointer(cell) == 0, "a freed state must leave NULL behind"
                if saved and place is not None:
                    self.states[place] = None

    @rule(
        slot=slots,
        number=slots,
        into=slots,
        surplus=st.sampled_from((0,) * 6 + (1, 100, -1, -8, -(10**9))),
        absent=absent,
    )
    def serialize(self, slot: int, number: int, into: int, surplus: int, absent: int | None) -> None:
        self._serialize(slot, number, into, surplus, absent)

    def _serialize(self, slot: int, number: int, into: int, surplus: int = 0, absent: int | None = None) -> None:
        saved = self._state_for(slot, number)
        pointer = saved.pointer if saved else None
        needed = self._observer_of(self._fmu_in(slot)).state_size
        size = max(needed + surplus, 0)
        untouched = bytes([SENTINEL]) * size
        with Arguments() as a:
            answer = a.array(c_size_t, [0])
            answers = DONE if saved and absent != 0 else REFUSED
            size_answer = None if absent == 0 else answer
            if self._call(slot, "SerializedFMUstateSize", pointer, size_answer, answers=answers) == Status.OK:
                assert read_pointer(answer) == needed
            data = a.bytes(untouched)
            answers = DONE if saved and surplus >= 0 and absent != 1 else REFUSED
            status = self._call(
                slot, "SerializeFMUstate", pointer, None if absent == 1 else data, size, answers=answers
            )
            got = read_bytes(data, size)
        if status == Status.OK and saved:
            assert got == saved.image + untouched[needed:], "serialized bytes are not those of the saved state"
            self.images[into] = Image(got[:needed], saved.life.copy())
        else:
            assert got == untouched, "fmi2SerializeFMUstate was refused and has written"

    @rule(
        slot=slots,
        source=slots,
        into=slots,
        damage=st.sampled_from(("none",) * 6 + ("bit", "cut", "longer", "empty", "of any FMU")),
        place=st.integers(0, 2**20),
        absent=absent,
        exhausted=rarely,
    )
    def deserialize(
        self, slot: int, source: int, into: int, damage: str, place: int, absent: int | None, exhausted: bool
    ) -> None:
        fmu = self._fmu_in(slot)
        images = [i for i in self.images if i is not None and (i.life.fmu is fmu or damage == "of any FMU")]
        image = images[source % len(images)] if images else None
        data = damaged(image.data if image else b"", damage, place)
        number = self._place_for_state(slot, into)
        saved = None if number is None else self.states[number]
        is_null = absent in (0, 1) or number is None
        is_right = image is not None and image.life.fmu is fmu and data == image.data and not is_null
        has_memory = saved is not None or self._has_memory(self.instances[slot], exhausted)
        self.importer.exhausted = exhausted
        with Arguments() as a:
            cell = a.array(c_void_p, [saved.pointer if saved else None])
            status = self._call(
                slot,
                "DeSerializeFMUstate",
                None if absent == 0 else a.bytes(data),
                len(data),
                None if is_null and absent != 0 else cell,
                answers=DONE if is_right and has_memory else REFUSED,
            )
            pointer = read_pointer(cell)
        self.importer.exhausted = False
        if status == Status.OK and image and number is not None:
            memory = saved.memory if saved else self._alive(slot).memory
            new = Saved(pointer, image.life.copy(), memory, image.data)
            self._check_saved(new)
            self.states[number] = new
        else:
            assert pointer == (saved.pointer if saved else 0), "a refused state has left a pointer"
            if saved:
                self._check_saved(saved)

    # --- log ----------------------------------------------------------------------------------------------------------

    @rule(
        slot=slots,
        on=integers,
        texts=st.lists(st.sampled_from((*CATEGORIES.values(), "contact", None, *ODD_TEXTS)), max_size=4),
        is_null=rarely,
    )
    def set_debug_logging(self, slot: int, on: int, texts: list[str | None], is_null: bool) -> None:
        alive = self.instances[slot]
        answers = REFUSED
        if alive and not (is_null and texts):
            known = alive.fmu.categories
            is_known = [text == "logAll" or text in known for text in texts]
            wanted = known if not texts or "logAll" in texts else known & {text for text in texts if text}
            alive.life.logging, alive.life.categories = on != 0, known  # so that a misspelt category is told
            answers = {Status.OK if all(is_known) else Status.WARNING: Change(2)}
        with Arguments() as a:
            categories = None if is_null else a.texts(texts)
            self._call(slot, "SetDebugLogging", on, len(texts), categories, answers=answers)
        if alive and answers is not REFUSED:
            alive.life.categories = wanted
