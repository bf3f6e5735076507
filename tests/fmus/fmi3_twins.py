"""FMUs of FMI 3.0 beside those of FMI 2.0: the same calls, and every bit that both give.

    python -m tests.fmus.fmi3_twins [RECIPE...]     the catalogue and all probes, or some: figures, and what differs

Co-simulation   inputs of all types vary, attitudes too; after each step all variables, at some steps directional and
                adjoint derivatives, derivatives of outputs and the serialized state.  Half-way the state of FMI 3.0
                goes serialized to another instance, which has the same bits from there on.
Model exchange  an integration with short steps, and the states of co-simulation one after the other; events of both.
                At each point derivatives, event indicators and all variables."""

from __future__ import annotations

import ctypes
import math
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import byref, c_bool, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_ubyte, c_uint, c_void_p
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import fmpy.validation
import numpy as np
from lxml import etree

from fmu_builder.errors import FmuBuilderError
from fmu_builder.export.fmi3_variables import INDICATORS, Fmi
from fmu_builder.export.fmu import host_fmu
from fmu_builder.export.toolchain import PLATFORMS, TUPLES, host_platform
from fmu_builder.paths import catalogue, find_recipe, shipped
from tests.fmus.trace_hashes import input_at

STEPS = 240  # of the default experiment; those of a short course are its first ones
SHORT_STEP = 2.0**-14  # s, of the integration of model exchange, for stiff elements too
MOST = 24  # unknowns and knowns of which single derivatives are compared
REFUSED = 2  # fmi2Discard, fmi3Discard; what is not below ends a run on both sides
CO_SIMULATION, MODEL_EXCHANGE = 1, 0

Kind = str  # real, int, enum, bool, text, clock
# functions fmi2Get..., fmi2Set... of a kind, and what they take
FAMILIES: dict[Fmi, dict[Kind, tuple[str, Any]]] = {
    2: {
        "real": ("Real", c_double),
        "int": ("Integer", c_int),
        "enum": ("Integer", c_int),
        "bool": ("Boolean", c_int),
        "text": ("String", c_char_p),
    },
    3: {
        "real": ("Float64", c_double),
        "int": ("Int32", c_int32),
        "enum": ("Int64", c_int64),
        "bool": ("Boolean", c_bool),
        "text": ("String", c_char_p),
    },
}
TAGS = {
    **{"Real": "real", "Integer": "int", "Enumeration": "enum", "Boolean": "bool", "String": "text"},
    **{"Float64": "real", "Int32": "int", "Clock": "clock"},
}
# what FMI 3.0 calls otherwise
RENAMED = {
    "GetDerivatives": "GetContinuousStateDerivatives",
    "GetRealOutputDerivatives": "GetOutputDerivatives",
    "GetFMUstate": "GetFMUState",
    "SetFMUstate": "SetFMUState",
    "FreeFMUstate": "FreeFMUState",
    "SerializedFMUstateSize": "SerializedFMUStateSize",
    "SerializeFMUstate": "SerializeFMUState",
    "DeSerializeFMUstate": "DeserializeFMUState",
}

_LOG_2 = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_char_p, c_char_p)
_LOG_3 = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_char_p)


class _Callbacks(ctypes.Structure):
    _fields_ = (("logger", _LOG_2), *((name, c_void_p) for name in ("allocate", "free", "finished", "environment")))


class _EventInfo(ctypes.Structure):
    _fields_ = (*((f"flag_{k}", c_int) for k in range(5)), ("next_time", c_double))


@dataclass(frozen=True)
class Variable:
    """A scalar of FMI 2.0, or a scalar or an array of FMI 3.0.   size: number of values"""

    name: str
    kind: Kind
    reference: int
    causality: str
    variability: str
    size: int = 1
    start: tuple[float, ...] = ()  # of a Real of FMI 3.0 that has one

    @cached_property
    def scalars(self) -> list[str]:
        """The names of its scalars in FMI 2.0."""
        if self.size == 1:
            return [self.name]
        inside = self.name.removeprefix("der(").removesuffix(")")
        return [self.name.replace(inside, f"{inside}[{k}]") for k in range(1, self.size + 1)]


class Library:
    """An FMU of one version, loaded: its variables by name, in the order of modelDescription.xml."""

    def __init__(self, path: Path, fmi: Fmi, folder: Path) -> None:
        self.fmi: Fmi = fmi
        fmpy.extract(str(path), str(folder))
        self.root = etree.parse(folder / "modelDescription.xml").getroot()
        self.token = self.root.get("guid" if fmi == 2 else "instantiationToken")
        platform = host_platform() if fmi == 2 else TUPLES[host_platform()]
        name = f"{self.root.find('CoSimulation').get('modelIdentifier')}{PLATFORMS[host_platform()].suffix}"
        self.library = ctypes.CDLL(str(folder / "binaries" / platform / name))
        self.resources = (folder / "resources").as_uri() if fmi == 2 else f"{folder / 'resources'}/"
        self.variables = {v.name: v for v in self._variables()}
        self.unknowns = self._structure("Outputs/Unknown", "Output")
        self.unknowns += self._structure("Derivatives/Unknown", "ContinuousStateDerivative")
        self.states = self.states_of(
            [v.name for v in self._structure("Derivatives/Unknown", "ContinuousStateDerivative")]
        )
        self.step_size = float(self.root.find("DefaultExperiment").get("stopTime")) / STEPS
        self.indicators = int(self.root.get("numberOfEventIndicators") or 0)
        if fmi == 3:
            self.indicators = len(self.root.findall("ModelStructure/EventIndicator"))

    def _variables(self) -> Iterator[Variable]:
        for one in self.root.find("ModelVariables"):
            tag = one.tag if self.fmi == 3 else one[0].tag
            sizes = [int(dimension.get("start")) for dimension in one.findall("Dimension")]
            if not one.get("name").startswith(INDICATORS):
                yield Variable(
                    name=one.get("name"),
                    kind=TAGS[tag],
                    reference=int(one.get("valueReference")),
                    causality=one.get("causality", "local"),
                    variability=one.get("variability", "continuous"),
                    size=math.prod(sizes),
                    start=self._start(one) if tag == "Float64" else (),
                )

    @staticmethod
    def _start(one: Any) -> tuple[float, ...]:
        return tuple(map(float, one.get("start", "").split()))

    def _structure(self, path_2: str, path_3: str) -> list[Variable]:
        """Reals of ModelStructure."""
        found = self.root.findall(f"ModelStructure/{path_2 if self.fmi == 2 else path_3}")
        if self.fmi == 2:
            every = [*self.variables.values()]
            listed = [every[int(one.get("index")) - 1] for one in found]
        else:
            by_reference = {v.reference: v for v in self.variables.values()}
            listed = [by_reference[int(one.get("valueReference"))] for one in found]
        return [v for v in listed if v.kind == "real"]

    def states_of(self, derivatives: Sequence[str]) -> list[Variable]:
        return [self.variables[name.removeprefix("der(").removesuffix(")")] for name in derivatives]


@dataclass
class Group:
    """Variables of one kind, read or set in one call."""

    kind: Kind
    references: Any
    values: Any

    @classmethod
    def of(cls, fmi: Fmi, variables: Sequence[Variable]) -> Group:
        kind = variables[0].kind if variables else "real"
        references = (c_uint * len(variables))(*(v.reference for v in variables))
        return cls(kind, references, (FAMILIES[fmi][kind][1] * sum(v.size for v in variables))())


class Instance:
    """One instance of either version, by the names that FMI 2.0 has for functions."""

    def __init__(self, of: Library, kind: int) -> None:
        self.of, self.fmi = of, of.fmi
        library, name, token, place = of.library, b"twin", of.token.encode(), of.resources.encode()
        if of.fmi == 2:
            self._log: Any = _LOG_2(lambda *_: None)
            callbacks = _Callbacks(self._log)
            make = library.fmi2Instantiate
            arguments: Sequence[Any] = (name, c_int(kind), token, place, byref(callbacks), c_int(0), c_int(0))
        else:
            self._log = _LOG_3(lambda *_: None)
            make = getattr(library, f"fmi3Instantiate{('ModelExchange', 'CoSimulation')[kind]}")
            own = (c_bool(False), c_bool(False), None, c_size_t(0), None, self._log, None)
            more = own if kind == CO_SIMULATION else (None, self._log)
            arguments = (name, token, place, c_bool(False), c_bool(False), *more)
        make.restype = c_void_p
        self.component = c_void_p(make(*arguments))
        assert self.component.value
        self._groups: dict[tuple[str, ...], Group] = {}

    def call(self, name: str, *arguments: Any) -> int:
        own = name if self.fmi == 2 else RENAMED.get(name, name)
        status: int = getattr(self.of.library, f"fmi{self.fmi}{own}")(self.component, *arguments)
        return status

    def free(self) -> None:
        free = getattr(self.of.library, f"fmi{self.fmi}FreeInstance")
        free.restype = None
        free(self.component)

    # ---- values

    def group(self, names: Sequence[str]) -> Group:
        """Of variables of FMI 3.0, whose scalars FMI 2.0 has.   names: of one kind"""
        key = tuple(names)
        if key not in self._groups:
            self._groups[key] = Group.of(self.fmi, [self.of.variables[name] for name in names])
        return self._groups[key]

    def get(self, group: Group) -> int:
        return self._move("Get", group)

    def set(self, group: Group, values: Sequence[Any]) -> int:
        group.values[:] = list(values)
        return self._move("Set", group)

    def _move(self, verb: str, group: Group) -> int:
        family, _ = FAMILIES[self.fmi][group.kind]
        tail = () if self.fmi == 2 else (c_size_t(len(group.values)),)
        return self.call(f"{verb}{family}", group.references, c_size_t(len(group.references)), group.values, *tail)

    # ---- course

    def enter(self) -> int:
        times = (c_double(0.0), c_double(0.0))
        if self.fmi == 3:
            return self.call("EnterInitializationMode", c_bool(False), *times, c_bool(False), c_double(0.0))
        status = self.call("SetupExperiment", c_int(0), *times, c_int(0), c_double(0.0))
        return status or self.call("EnterInitializationMode")

    def begin(self) -> int:
        return self.enter() or self.call("ExitInitializationMode")

    def step(self, t: float, h: float) -> int:
        end, early, event, last = c_bool(), c_bool(), c_bool(), c_double()
        answers = (byref(event), byref(end), byref(early), byref(last)) if self.fmi == 3 else ()
        return self.call("DoStep", c_double(t), c_double(h), c_int(1), *answers)

    def update(self) -> tuple[int, list[Any]]:
        """An event's rounds: status, and what the last of them answers."""
        for _ in range(10):
            if self.fmi == 2:
                info = _EventInfo()
                status = self.call("NewDiscreteStates", byref(info))
                answers = [*(getattr(info, f"flag_{k}") for k in range(5)), info.next_time]
            else:
                flags, next_time = [c_bool() for _ in range(5)], c_double()
                status = self.call("UpdateDiscreteStates", *map(byref, flags), byref(next_time))
                answers = [*(int(flag.value) for flag in flags), next_time.value]
            if status or not answers[0]:
                break
        return status, answers if status == 0 else []

    def completed(self) -> tuple[int, int, int]:
        enter, ends = (c_bool(), c_bool()) if self.fmi == 3 else (c_int(), c_int())
        status = self.call("CompletedIntegratorStep", c_int(1), byref(enter), byref(ends))
        return status, int(enter.value), int(ends.value)

    def vector(self, name: str, size: int) -> tuple[int, Any]:
        values = (c_double * size)()
        return self.call(name, values, c_size_t(size)), values

    # ---- derivatives, state

    def directional(self, unknowns: Group, knowns: Group, seed: Sequence[float]) -> tuple[int, Any]:
        given, answer = (c_double * len(seed))(*seed), (c_double * len(unknowns.values))()
        sides = [item for group in (unknowns, knowns) for item in (group.references, c_size_t(len(group.references)))]
        if self.fmi == 2:
            return self.call("GetDirectionalDerivative", *sides, given, answer), answer
        sizes = (c_size_t(len(given)), c_size_t(len(answer)))
        return self.call("GetDirectionalDerivative", *sides, given, sizes[0], answer, sizes[1]), answer

    def adjoint(self, unknowns: Group, knowns: Group, seed: Sequence[float]) -> tuple[int, Any]:
        """Of FMI 3.0 alone."""
        given, answer = (c_double * len(seed))(*seed), (c_double * len(knowns.values))()
        sides = [item for group in (unknowns, knowns) for item in (group.references, c_size_t(len(group.references)))]
        numbers = (given, c_size_t(len(given)), answer, c_size_t(len(answer)))
        return self.call("GetAdjointDerivative", *sides, *numbers), answer

    def slopes(self, group: Group) -> tuple[int, Any]:
        orders, answer = (
            (c_int * len(group.references))(*([1] * len(group.references))),
            (c_double * len(group.values))(),
        )
        tail = () if self.fmi == 2 else (c_size_t(len(answer)),)
        count = c_size_t(len(group.references))
        return self.call("GetRealOutputDerivatives", group.references, count, orders, answer, *tail), answer

    def state(self) -> bytes:
        """Serialized."""
        kept, size = c_void_p(), c_size_t()
        assert self.call("GetFMUstate", byref(kept)) == self.call("SerializedFMUstateSize", kept, byref(size)) == 0
        data = (c_ubyte * size.value)()
        assert self.call("SerializeFMUstate", kept, data, size) == self.call("FreeFMUstate", byref(kept)) == 0
        return bytes(data)

    def put_state(self, data: bytes) -> None:
        kept, given = c_void_p(), (c_ubyte * len(data)).from_buffer_copy(data)
        assert self.call("DeSerializeFMUstate", given, c_size_t(len(data)), byref(kept)) == 0
        assert self.call("SetFMUstate", kept) == self.call("FreeFMUstate", byref(kept)) == 0


@dataclass(frozen=True)
class Course:
    """How far two FMUs are compared."""

    steps: int  # of co-simulation
    substeps: int  # of model exchange

    @property
    def half(self) -> int:
        """The step before which a state goes to another instance."""
        return self.steps // 2

    @property
    def looked_at(self) -> tuple[int, ...]:
        """The steps after which derivatives and states are compared."""
        return 0, 7, self.half, self.steps - 1

    @property
    def changes(self) -> tuple[int, int]:
        """The steps before which discrete inputs change: before, and soon after, those of the state are taken."""
        return self.steps // 4, self.steps * 3 // 8


FMI_2_ONLY = "ProbePlain"  # it has none of the capabilities that every FMU of FMI 3.0 has
WHOLE, SHORT = Course(STEPS, 200), Course(STEPS // 4, 50)


@dataclass
class Found:
    """Of one recipe: how much was compared, and what differs."""

    steps: int = 0  # of co-simulation
    substeps: int = 0  # of model exchange
    events: int = 0
    values: int = 0
    derivatives: int = 0
    states: int = 0  # bytes
    different: list[str] = field(default_factory=list)

    def same(self, what: str, old: Any, new: Any) -> bool:
        """Note it if two answers differ; numbers are compared by their bits."""
        is_same = bool(bytes(old) == bytes(new) if isinstance(old, (bytes, ctypes.Array)) else old == new)
        if not is_same:
            self.different.append(what)
        return is_same


class Twins:
    """The FMU of one recipe in both versions."""

    def __init__(self, old: Library, new: Library, course: Course = WHOLE) -> None:
        self.old, self.new, self.course, self.found = old, new, course, Found()
        clocks = [v.name for v in new.variables.values() if v.kind == "clock"]  # none ticks
        for name in clocks:
            del new.variables[name], old.variables[name]
        self._of_clocks = 3 * 8 * len(clocks)  # bytes at the end of a state of FMI 3.0
        scalars = [(name, v.kind, v.causality, v.variability) for v in new.variables.values() for name in v.scalars]
        listed = [(v.name, v.kind, v.causality, v.variability) for v in old.variables.values()]
        self.found.same("variables", sorted(listed), sorted(scalars))
        self.found.same("unknowns", [v.name for v in old.unknowns], self._names(new.unknowns))
        self.found.same("event indicators", old.indicators, new.indicators)
        every = [v for v in new.variables.values()]
        self._kinds = [[v for v in every if v.kind == kind] for kind in ("real", "int", "enum", "bool", "text")]
        inputs = [v for v in every if v.causality == "input"]
        self._driven = [v for v in inputs if v.variability == "continuous" and ".q[" not in v.name]
        self._discrete = [v for v in inputs if v.variability == "discrete"]
        self.unknowns = new.unknowns
        self.knowns = [v for v in inputs if v.kind == "real" and v.variability == "continuous"] + new.states
        self._sides: list[bool] = []  # of the event indicators of model exchange: above zero
        self.points: list[tuple[float, Any]] = []  # of co-simulation: time, states

    @staticmethod
    def _names(variables: Sequence[Variable]) -> list[str]:
        return [name for v in variables for name in v.scalars]

    def _pair(self, pair: Sequence[Instance], variables: Sequence[Variable]) -> list[Group]:
        """The groups of variables of FMI 3.0 in each of some instances."""
        own = [v.name for v in variables]
        return [one.group(own if one.fmi == 3 else self._names(variables)) for one in pair]

    @contextmanager
    def instances(self, *of: Library, kind: int) -> Iterator[list[Instance]]:
        made = [Instance(library, kind) for library in of]
        yield made
        for one in made:
            one.free()

    def compare_values(self, pair: Sequence[Instance], when: str) -> bool:
        """All variables; the first instance is that which the others follow."""
        is_same = True
        for variables in filter(None, self._kinds):
            groups = self._pair(pair, variables)
            statuses = [one.get(group) for one, group in zip(pair, groups, strict=True)]
            is_same &= self.found.same(f"status of Get, {variables[0].kind}, {when}", len(set(statuses)), 1)
            lists = [group.values for group in groups]
            as_bits = [bytes(v) if groups[0].kind == "real" else list(map(_plain, v)) for v in lists]
            for own in as_bits[1:]:
                if own != as_bits[0]:
                    pairs = zip(self._names(variables), lists[0], lists[-1], strict=True)
                    named = [name for name, a, b in pairs if repr(a) != repr(b)]
                    is_same = self.found.same(f"{when}: {', '.join(named[:3])}", 0, 1)
            self.found.values += len(lists[0])
        return is_same

    def drive(self, pair: Sequence[Instance], k: int, t: float) -> int:
        """Inputs of all types for step k: Reals around their start values always, others where they change."""
        worst = 0
        if self._driven:
            around = [value for v in self._driven for value in v.start]
            values = [start + input_at(name, t) for name, start in zip(self._names(self._driven), around, strict=True)]
            worst = self._set(pair, self._driven, values)
        if k in self.course.changes:
            for v in self._discrete:
                self._set(pair, [v], [_other(v.kind, k == self.course.changes[0])] * v.size)
        return worst

    def _set(self, pair: Sequence[Instance], variables: Sequence[Variable], values: Sequence[Any]) -> int:
        groups = self._pair(pair, variables)
        statuses = [one.set(group, values) for one, group in zip(pair, groups, strict=True)]
        self.found.same(f"status of Set, {variables[0].name}", len(set(statuses)), 1)
        return max(statuses)

    # ---- co-simulation

    def co_simulate(self) -> None:
        with self.instances(self.old, self.new, self.new, kind=CO_SIMULATION) as (old, new, copy):
            pair = [old, new]
            self.found.same("initialization", [old.enter(), new.enter(), copy.begin()], [0, 0, 0])
            self.compare_values(pair, "initialization mode")
            statuses = [one.call("ExitInitializationMode") for one in pair]
            if not self.found.same("initialization", *statuses) or statuses[0]:
                return
            h, states = new.of.step_size, new.group([v.name for v in self.new.states])
            for k in range(self.course.steps):
                if k == self.course.half:
                    copy.put_state(new.state())
                    pair.append(copy)
                if self.drive(pair, k, k * h) >= REFUSED:
                    break
                statuses = [one.step(k * h, h) for one in pair]
                self.found.same(f"status of step {k}", len(set(statuses)), 1)
                is_same = self.compare_values(pair, f"step {k}")
                if statuses[0] >= REFUSED:
                    break
                self.found.steps += 1
                assert new.get(states) == 0
                self.points.append(((k + 1) * h, np.array(states.values)))
                if k in self.course.looked_at:
                    self.compare_derivatives(pair, f"step {k}")
                    self.compare_states(pair, f"state, step {k}")
                if not is_same:
                    break

    def compare_states(self, pair: Sequence[Instance], what: str) -> None:
        """All numbers of the states; header, checksum and what is known of clocks are those of a version."""
        header = 8 + 8 + 4 + len(self.old.token) + 8
        states = [one.state()[header : -8 - self._of_clocks * (one.fmi == 3)] for one in pair]
        for own in states[1:]:
            self.found.same(what, states[0], own)
        self.found.states += len(states[0])

    def compare_derivatives(self, pair: Sequence[Instance], when: str) -> None:
        outputs = [v for v in self.unknowns if v.causality == "output" and v.variability == "continuous"]
        if outputs:
            (s, a), (s_new, b), *_ = (one.slopes(g) for one, g in zip(pair, self._pair(pair, outputs), strict=True))
            self.found.same(f"{when}: status of slopes", s, s_new)
            self.found.same(f"{when}: slopes", a, b)
            self.found.derivatives += len(a)
        if not self.unknowns or not self.knowns:
            return
        chance = random.Random(when)
        unknowns, knowns = self._pair(pair, self.unknowns), self._pair(pair, self.knowns)
        seed = [chance.uniform(-1.0, 1.0) for _ in knowns[0].values]
        (s, a), (s_new, b), *_ = (one.directional(u, v, seed) for one, u, v in zip(pair, unknowns, knowns, strict=True))
        self.found.same(f"{when}: status of directional derivatives", s, s_new)
        self.found.same(f"{when}: directional derivatives", a, b)
        self.found.derivatives += len(a)
        self._compare_adjoint(pair[1], chance, when)

    def _compare_adjoint(self, one: Instance, chance: random.Random, when: str) -> None:
        """Single entries are the same numbers; a product with a vector is that of the single entries, rounded."""
        some = [chance.sample(v, min(len(v), MOST)) for v in (self.unknowns, self.knowns)]
        unknowns, knowns = (one.group([v.name for v in of]) for of in some)
        rows, columns = len(unknowns.values), len(knowns.values)
        if (rows, columns) == (0, 0):
            return
        by_column, by_row = np.empty((rows, columns)), np.empty((rows, columns))
        for k in range(columns):
            status, answer = one.directional(unknowns, knowns, np.eye(columns)[k])
            if status:
                return  # not finite, as FMI 2.0 says too
            by_column[:, k] = answer
        for i in range(rows):
            status, answer = one.adjoint(unknowns, knowns, np.eye(rows)[i])
            self.found.same(f"{when}: status of adjoint derivatives", status, 0)
            by_row[i] = answer
        self.found.same(f"{when}: adjoint derivatives", (by_column + 0.0).tobytes(), (by_row + 0.0).tobytes())
        weights = np.array([chance.uniform(-1.0, 1.0) for _ in range(rows)])
        _, product = one.adjoint(unknowns, knowns, weights.tolist())
        allowed = 1e-14 * rows * (np.abs(weights) @ np.abs(by_column))
        is_near = bool((np.abs(np.array(product) - weights @ by_column) <= allowed).all())
        self.found.same(f"{when}: product of adjoint derivatives", is_near, True)
        self.found.derivatives += 2 * rows * columns + columns

    # ---- model exchange

    def exchange(self) -> None:
        """Midpoint rule, then the points of co-simulation."""
        with self.instances(self.old, self.new, kind=MODEL_EXCHANGE) as pair:
            statuses = [one.begin() for one in pair]
            if not self.found.same("initialization of model exchange", *statuses) or statuses[0]:
                return
            x, h = self.event(pair, "start"), SHORT_STEP
            for k in range(self.course.substeps):
                slopes = self.evaluate(pair, k * h, x)
                slopes = None if slopes is None else self.evaluate(pair, (k + 0.5) * h, x + 0.5 * h * slopes)
                if slopes is None:
                    return
                x = self.accept(pair, (k + 1) * h, x + h * slopes)
                if x is None:
                    return
            for t, x in self.points:
                if t > self.course.substeps * h and self.accept(pair, t, x) is None:
                    return

    def accept(self, pair: Sequence[Instance], t: float, x: Any) -> Any:
        """An accepted point, with its event if there is one; the states behind it, None where the run ends."""
        if self.evaluate(pair, t, x) is None:
            return None
        (status, enter, ends), other = (one.completed() for one in pair)
        self.found.same(f"accepted point at {t:g} s", (status, enter, ends), other)
        self.found.substeps += 1
        if status or ends:
            return None
        (status, z), (status_new, z_new) = (one.vector("GetEventIndicators", self.old.indicators) for one in pair)
        self.found.same(f"event indicators at {t:g} s", (status, bytes(z)), (status_new, bytes(z_new)))
        before, self._sides = self._sides, [value > 0.0 for value in z]
        if not enter and self._sides == before:
            return x
        self.found.same("EnterEventMode", [one.call("EnterEventMode") for one in pair], [0, 0])
        self.found.events += 1
        return self.event(pair, f"event at {t:g} s")

    def event(self, pair: Sequence[Instance], when: str) -> Any:
        """Update discrete states; the states behind the event."""
        answers = [one.update() for one in pair]
        self.found.same(f"{when}: update", *answers)
        self.compare_values(pair, when)
        self.found.same(when, [one.call("EnterContinuousTimeMode") for one in pair], [0, 0])
        size = sum(v.size for v in self.new.states)
        for name in ("GetNominalsOfContinuousStates", "GetContinuousStates"):
            (s, old), (s_new, new) = (one.vector(name, size) for one in pair)
            self.found.same(f"{when}: {name}", (s, bytes(old)), (s_new, bytes(new)))
        return np.array(new)

    def evaluate(self, pair: Sequence[Instance], t: float, x: Any) -> Any:
        """Derivatives at a point, with all variables; None if it is refused."""
        when, states = f"model exchange at {t:g} s", (c_double * len(x))(*x)
        for name, *arguments in (("SetTime", c_double(t)), ("SetContinuousStates", states, c_size_t(len(x)))):
            statuses = [one.call(name, *arguments) for one in pair]
            self.found.same(f"{when}: status of {name}", *statuses)
            if statuses[0] >= REFUSED:
                return None
        if self.drive(pair, -1, t) >= REFUSED:
            return None
        (status, old), (status_new, new) = (one.vector("GetDerivatives", len(x)) for one in pair)
        self.found.same(f"{when}: derivatives", (status, bytes(old)), (status_new, bytes(new)))
        self.compare_values(pair, when)
        return None if status >= REFUSED else np.array(new)


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value


def _other(kind: Kind, first: bool) -> Any:
    """Values of discrete inputs: those of the first change, and of the second."""
    values: dict[Kind, Any] = {
        "bool": not first,
        "int": 3 if first else -1,
        "enum": 2 if first else 1,
        "real": 15.0 if first else 22.5,
    }
    return values[kind] if kind != "text" else b"changed, 100 %" if first else b""


def compare(recipe: Path, flags: Sequence[str] = (), course: Course = WHOLE) -> Found:
    """The FMUs of a recipe: that of FMI 2.0 as users get it, that of FMI 3.0 with flags of the compiler."""
    with tempfile.TemporaryDirectory() as folder:
        old = Library(host_fmu(recipe), 2, Path(folder, "2"))
        new = Library(host_fmu(recipe, flags, 3), 3, Path(folder, "3"))
        twins = Twins(old, new, course)
        twins.co_simulate()
        twins.exchange()
        return twins.found


def recipes() -> list[Path]:
    """The catalogue, and the probes that are none of it."""
    return [*catalogue(), *sorted((shipped("fmus") / "probes").glob("Probe*.toml"))]


def main(names: Sequence[str]) -> int:
    total, unlike, invalid = Found(), [], []
    for recipe in [find_recipe(name) for name in names] or recipes():
        try:
            found = compare(recipe, ("-O0",))
        except FmuBuilderError as error:
            print(f"{recipe.stem:32s} {error}")
            continue
        problems = fmpy.validation.validate_fmu(str(host_fmu(recipe, ("-O0",), 3)))
        invalid += [recipe.stem] * bool(problems)
        unlike += [recipe.stem] * bool(found.different)
        figures = (
            f"{found.steps:4d} steps, {found.substeps:4d} substeps, {found.events:3d} events, {found.values:8d} values"
        )
        print(f"{recipe.stem:32s} {figures}", *found.different[:3], *problems[:2], sep="; ", flush=True)
        for name in ("steps", "substeps", "events", "values", "derivatives", "states"):
            setattr(total, name, getattr(total, name) + getattr(found, name))
    print(total)
    print(f"FMUs that differ: {unlike or 'none'}; FMUs of which fmpy.validate finds problems: {invalid or 'none'}")
    return 1 if unlike or invalid else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
