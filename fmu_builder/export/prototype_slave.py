"""What runs inside the FMU of a prototype: the waist of contact_core/waist.h with element.py in the place of element.c.

This file is packed with the FMU; on the target it needs Python, numpy and the files that lie beside it, nothing of
fmu_builder.  pythonfmu calls the methods of `Prototype`.  None of them lets an exception out: pythonfmu would answer
fmi2Fatal and crash in the next call.  What is wrong is logged, and contact_core/fmi2/prototype.c answers with the worst
status that was logged during a call.
"""

from __future__ import annotations

import array
import ctypes
import functools
import importlib.util
import json
import math
import os
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pythonfmu.enums import Fmi2Status
from pythonfmu.fmi2slave import Fmi2Slave

Vector = NDArray[np.float64]

_HERE = Path(__file__).resolve().parent
_GUID_REFERENCE = 0x7FFFFFFF  # of contact_core/fmi2/prototype.c
_HUGE = sys.float_info.max
_TYPES = {"real": "Real", "int": "Integer", "bool": "Boolean", "enum": "Integer"}
_READABLE = ("initialization mode", "step complete", "error", "terminated")
_WRITABLE = ("instantiated", "initialization mode", "step complete")


class _RefusedError(Exception):
    """A call that is answered with a status worse than fmi2OK; the text says why."""

    def __init__(self, text: str, status: Fmi2Status = Fmi2Status.error) -> None:
        super().__init__(text)
        self.status = status


def _number(value: float) -> str:
    """Up to nine significant digits, exponents as e9, e-7."""
    mantissa, e, exponent = f"{value:.9g}".partition("e")
    return mantissa + (f"e{int(exponent)}" if e else "")


# ---- contact_core ------------------------------------------------------------------------------------------------

_KINDS: dict[str, Any] = {"double": ctypes.c_double, "int": ctypes.c_int}


def _array_type(what: str, kind: str, shape: tuple[int, ...], reads: bool) -> Any:
    """The type of an argument that is an array, for ctypes.  `reads`: the function only reads it, so that any sequence
    will do; what it writes into must be a numpy array of its type."""
    dtype = np.dtype(np.float64 if kind == "double" else np.intc)
    values = _KINDS[kind] * math.prod(shape)
    size = " x ".join(map(str, shape)) or "1"

    class Array:
        @classmethod
        def from_param(cls, value: Any) -> Any:
            if isinstance(value, np.ndarray) and value.dtype == dtype and value.flags.c_contiguous:
                if value.shape == shape or (not shape and value.size):
                    return ctypes.c_void_p(value.__array_interface__["data"][0])  # the caller keeps the array
            elif reads and len(shape) == 1 and isinstance(value, list | tuple) and len(value) == shape[0]:
                return values(*value)
            elif reads and np.shape(value) == shape:
                return values(*np.ravel(value))
            raise TypeError(f"{what} must be a numpy array of {size} {dtype}")

    return Array


def _struct_type(name: str, fields: Sequence[tuple[str, str, Sequence[int]]]) -> type[ctypes.Structure]:
    """A struct of C; a member that is an array is read as a numpy array of its memory, and set as a whole."""
    members: dict[str, Any] = {"_fields_": []}
    for field, kind, shape in fields:
        whole: Any = _KINDS[kind]
        for size in reversed(shape):
            whole = whole * size
        members["_fields_"].append((f"_{field}" if shape else field, whole))
    struct = type(name, (ctypes.Structure,), members)
    for field, kind, shape in fields:
        if shape:
            place = getattr(struct, f"_{field}").offset
            dtype = np.dtype(np.float64 if kind == "double" else np.intc)

            def view(
                self: Any, name: str = field, place: int = place, dtype: Any = dtype, shape: Sequence[int] = shape
            ) -> Any:
                if name not in self.__dict__:  # made once: a view costs as much as the law
                    self.__dict__[name] = np.frombuffer(self, dtype, math.prod(shape), place).reshape(shape)
                return self.__dict__[name]

            def fill(self: Any, values: Any, view: Any = view) -> None:
                view(self)[...] = values

            setattr(struct, field, property(view, fill))
    return struct


def bind(library: Path, declarations: Mapping[str, Any]) -> ModuleType:
    """contact_core as a Python module: the structs and the functions of its declarations, under their names in C.

    Arrays are numpy arrays of the size that C declares.  A wrong argument is a ctypes.ArgumentError."""
    module = ModuleType("contact_core", "The laws of contact_core, compiled; see its headers.")
    lib = ctypes.CDLL(str(library))
    for name, fields in declarations["structs"].items():
        setattr(module, name, _struct_type(name, fields))
    plain = {**_KINDS, "void": None}
    for name, (result, arguments) in declarations["functions"].items():
        function = getattr(lib, name)
        function.restype = plain[result]
        function.argtypes = [
            plain[kind]
            if way == "value"
            else ctypes.POINTER(getattr(module, kind))
            if kind in declarations["structs"]
            else _array_type(f"{name}: {argument}", kind, tuple(shape), way == "in")
            for argument, kind, way, shape in arguments
        ]
        setattr(module, name, function)
    return module


# ---- the struct --------------------------------------------------------------------------------------------------


def _length(node: Mapping[str, Any]) -> int:
    inner = sum(map(_length, node["members"].values())) if node["members"] else max(node["size"], 1)
    return int(inner * max(node["each"], 1))


def struct(node: Mapping[str, Any], memory: array.array[float], at: int = 0, more: Mapping[str, Any] = {}) -> Any:
    """The members of a node of the variable table as attributes over `memory`, from index `at` on: numbers for scalars,
    numpy arrays for vectors, tuples of structs for what is there several times.  Nothing else can be set."""
    block = np.frombuffer(memory)
    members: dict[str, Any] = {"__slots__": (), **more}
    for name, member in node["members"].items():
        length, each, size = _length(member), member["each"], member["size"]
        if member["members"]:
            one = length // max(each, 1)
            parts = tuple(struct(member, memory, at + i * one) for i in range(max(each, 1)))
            members[name] = parts if each else parts[0]
        elif each or size:
            members[name] = _array_property(block[at : at + length].reshape([n for n in (each, size) if n]))
        else:
            members[name] = _scalar_property(memory, at)
        at += length
    return type("Element", (), members)()


def _scalar_property(memory: array.array[float], at: int) -> property:
    def get(_: Any) -> float:
        return memory[at]

    def put(_: Any, value: Any) -> None:
        memory[at] = value

    return property(get, put)


def _array_property(view: Vector) -> property:
    def put(_: Any, value: Any) -> None:
        view[...] = value

    return property(lambda _: view, put)


# ---- the model ---------------------------------------------------------------------------------------------------


class _Model:
    """What the FMU's files say, read once: they may be gone when a second instance is made."""

    def __init__(self) -> None:
        tables = json.loads((_HERE / "model.json").read_text(encoding="utf-8"))
        self.guid: str = tables["guid"]
        self.label: str = tables["element"]  # element.py as messages name it
        self.tree: dict[str, Any] = tables["tree"]
        self.names: list[str] = tables["names"]
        self.kinds: list[str] = tables["kinds"]
        self.types: list[str] = tables["types"]
        self.units: list[str] = tables["units"]
        self.starts = array.array("d", tables["starts"])
        self.low: list[float] = [-_HUGE if v is None else v for v in tables["low"]]
        self.high: list[float] = [_HUGE if v is None else v for v in tables["high"]]
        self.strict: list[tuple[int, float, float]] = [
            (i, -math.inf if above is None else above, math.inf if below is None else below)
            for i, above, below in tables["strict"]
        ]
        self.references: dict[str, set[int]] = {
            family: {i for i in tables["visible"] if _TYPES[self.types[i]] == family} for family in set(_TYPES.values())
        }
        self.quaternions: list[int] = tables["quaternions"]
        self.indicator_names: list[str] = [name for name, _ in tables["indicators"]]
        self.indicator_nominals: Vector = np.array([nominal for _, nominal in tables["indicators"]])
        self.indicator_tree: dict[str, Any] = tables["indicator_tree"]
        self.categories: dict[str, str] = tables["categories"]
        self.structure: dict[str, Any] = tables["structure"]
        self.states = np.array([s[0] for s in tables["states"]], dtype=int)
        self.derivatives = np.array([s[1] for s in tables["states"]], dtype=int)
        rated = [s for s in tables["states"] if s[2] >= 0]
        self.rated = np.array([s[1] for s in rated], dtype=int)
        self.rates = np.array([s[2] for s in rated], dtype=int)
        held = [s for s in tables["states"] if s[3] >= 0]
        self.held = np.array([s[0] for s in held], dtype=int)
        self.held_by = np.array([s[3] for s in held], dtype=int)
        self.nominals: Vector = np.array([s[4] for s in tables["states"]])
        self.index = {name: i for i, name in enumerate(self.names)}
        suffix = ".dll" if os.name == "nt" else ".so"
        self.core = bind(_HERE / f"contact_core{suffix}", tables["declarations"])
        self.physics = self._physics()

    def _physics(self) -> Mapping[str, Any]:
        """The functions of element.py.  While it is read, `import contact_core` finds the library of this FMU."""
        spec = importlib.util.spec_from_loader(f"{__name__}_element", loader=None)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        before = sys.modules.get("contact_core")
        sys.modules["contact_core"] = self.core
        try:
            text = (_HERE / "element.py").read_text(encoding="utf-8")
            exec(compile(text, self.label, "exec"), module.__dict__)
        finally:
            if before is None:
                del sys.modules["contact_core"]
            else:
                sys.modules["contact_core"] = before
        return module.__dict__

    def explain(self, error: BaseException) -> str:
        """An exception in one line: file and line of element.py if it came from there, type and message."""
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        if isinstance(error, SyntaxError):
            return f"{error.filename}:{error.lineno}: {what}"
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == self.label]
        if frames:
            return f"{self.label}:{frames[-1].lineno}: {what}, in {frames[-1].name}"
        return what


_model: _Model | None = None
_why_not = ""  # there is no model
try:
    with np.errstate(all="ignore"):
        _model = _Model()
except BaseException as _error:  # it is told when the first instance is made
    _places = [f for f in traceback.extract_tb(_error.__traceback__) if f.filename.endswith("element.py")]
    _line = f"{_places[-1].filename}:{_places[-1].lineno}: " if _places else ""
    _line = f"{_error.filename}:{_error.lineno}: " if isinstance(_error, SyntaxError) else _line
    _why_not = f"{_line}{type(_error).__name__}: {_error}"


# ---- integration -------------------------------------------------------------------------------------------------

# The explicit Runge-Kutta pair of order 5(4) by Dormand and Prince, as contact_core/solver/dormand_prince.h has it.
NODES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
STAGES = (
    np.array([]),
    np.array([1 / 5]),
    np.array([3 / 40, 9 / 40]),
    np.array([44 / 45, -56 / 15, 32 / 9]),
    np.array([19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729]),
    np.array([9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656]),
    np.array([35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]),
)
ERRORS = np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])
DENSE = np.array(
    [
        -12715105075 / 11282082432,
        0.0,
        87487479700 / 32700410799,
        -10690763975 / 1880347072,
        701980252875 / 199316789632,
        -1453857185 / 822651844,
        69997945 / 29380423,
    ]
)
_SHORTEST = 16 * sys.float_info.epsilon  # a substep, as a share of the time: shorter ones do not move the clock
_BRACKET = 1e-7  # a zero of an indicator is located to this share of the substep


def _turned(z_0: Vector, z_1: Vector, noise: Vector) -> bool:
    """Whether an indicator has another sign than before, by more than rounding at one of the two places."""
    crossed = (np.sign(z_0) != np.sign(z_1)) & ((np.abs(z_0) > noise) | (np.abs(z_1) > noise))
    return bool(crossed.any())


# ---- the slave ---------------------------------------------------------------------------------------------------


def _guarded(function: Any) -> Any:
    """The method with its exceptions turned into log messages.  numpy's warnings are off: values that are not finite
    are found and named."""

    @functools.wraps(function)
    def call(self: Prototype, *arguments: Any) -> Any:
        try:
            with np.errstate(all="ignore"):
                return function(self, *arguments)
        except _RefusedError as refused:
            self.say(str(refused), refused.status)
        except BaseException as error:  # SystemExit and KeyboardInterrupt too: the host lives
            self.say(self.model.explain(error), Fmi2Status.error)
            self.mode = "error"
        return [0] * len(arguments[0]) if function.__name__.startswith("get_") else True

    return call


class Prototype(Fmi2Slave):  # type: ignore[misc]
    """One instance.  `memory` holds all variables, `element` shows them as element.py sees them."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        with suppress(KeyError, ValueError):  # where pythonfmu put it, for this module to be found
            sys.path.remove(arguments["resources"])
        self.mode = "instantiated"
        if _model is None:
            return  # set_string says why
        self.model = _model
        self.memory = array.array("d", self.model.starts)
        self.block: Vector = np.frombuffer(self.memory)
        self.element = struct(self.model.tree, self.memory, 0, {"structure": SimpleNamespace(**self.model.structure)})
        self.crossings = array.array("d", [math.nan] * len(self.model.indicator_names))
        self.indicators = struct(self.model.indicator_tree, self.crossings)
        self.crossings_known = False
        self.failures = 0  # told by fail()
        self.dirty = self.jumped = self.changed = False
        self.stop: float | None = None
        self.last_step = self.substep = 0.0

    # what element.py calls

    def report(self, level: str, category: str, text: str) -> None:
        """Say something in a declared log category; `level` is "info" or "warning"."""
        self.say(text, {"info": Fmi2Status.ok, "warning": Fmi2Status.warning}[level], category)

    def fail(self, text: str) -> None:
        """A rule across variables is broken: the text names the variables, their values and the rule."""
        self.failures += 1
        self.say(text, Fmi2Status.error)

    # log

    def say(self, text: str, status: Fmi2Status, category: str | None = None) -> None:
        groups = {Fmi2Status.discard: "logStatusDiscard", Fmi2Status.error: "logStatusError"}
        self.log(text.replace("#", "##"), status, category or groups.get(status, "logStatusWarning"))

    def _named(self, index: int, value: float | None = None) -> str:
        unit = self.model.units[index]
        text = self.model.names[index] if value is None else f"{self.model.names[index]} = {_number(value)}"
        return f"{text} {unit}" if unit and value is not None else text

    # creation and initialization

    @_guarded
    def set_string(self, references: list[int], values: list[str]) -> None:
        if _model is None:
            raise _RefusedError(_why_not)
        if references != [_GUID_REFERENCE]:
            raise _RefusedError("fmi2SetString: this FMU has no String variables")
        if values != [self.model.guid]:
            raise _RefusedError(
                f"fmi2Instantiate: the GUID is '{values[0]}', but these files belong to '{self.model.guid}': "
                "modelDescription.xml and resources are from different builds"
            )

    @_guarded
    def setup_experiment(self, start_time: float, stop_time: float | None, tolerance: float | None) -> None:
        if not math.isfinite(start_time):
            raise _RefusedError(f"fmi2SetupExperiment: startTime = {_number(start_time)} s must be finite")
        if stop_time is not None and not start_time <= stop_time < math.inf:
            raise _RefusedError(
                f"fmi2SetupExperiment: stopTime = {_number(stop_time)} s must be finite and not before "
                f"startTime = {_number(start_time)} s"
            )
        if tolerance is not None and not 0 <= tolerance < math.inf:
            raise _RefusedError(f"fmi2SetupExperiment: tolerance = {_number(tolerance)} must be greater than 0")
        if tolerance == 0:
            text = "fmi2SetupExperiment: tolerance = 0 is ignored, it must be greater than 0"
            self.say(text, Fmi2Status.ok, "logStatusWarning")
        self.stop = stop_time
        self.memory[0] = start_time
        at = self.model.index.get("solver.tolerance")
        if tolerance and at is not None and self.memory[at] == self.model.starts[at]:
            self.memory[at] = min(max(tolerance, self.model.low[at]), self.model.high[at])

    @_guarded
    def enter_initialization_mode(self) -> None:
        self._need("fmi2EnterInitializationMode", "instantiated")
        self.mode = "initialization mode"
        self.dirty = True

    @_guarded
    def exit_initialization_mode(self) -> None:
        self._need("fmi2ExitInitializationMode", "initialization mode")
        try:
            self._check_rules()
            self.dirty = True
            self._refresh()
            self._accept(0.0)
            self._check_finite("initialization: {} is not finite")
        except _RefusedError:
            self.mode = "error"
            raise
        self.changed = self.jumped = False
        self.mode = "step complete"

    @_guarded
    def terminate(self) -> None:
        self._need("fmi2Terminate", "step complete")
        self._refresh()
        self.mode = "terminated"

    def _need(self, function: str, *modes: str) -> None:
        if self.mode not in modes:
            raise _RefusedError(f"{function} is not allowed in the mode '{self.mode}'")

    def _check_rules(self) -> None:
        """Rules across variables, strict bounds, quaternions: all broken ones are told, then the call is refused."""
        self.failures = 0
        for i, above, below in self.model.strict:
            value, unit = self.memory[i], self.model.units[i]
            if not value > above:
                self.fail(f"{self._named(i, value)}: it must be greater than {_number(above)} {unit}".rstrip())
            if not value < below:
                self.fail(f"{self._named(i, value)}: it must be less than {_number(below)} {unit}".rstrip())
        method = self.model.index.get("solver.method")
        if method is not None and self.memory[method] == 3.0:
            self.fail("solver.method = implicit: a prototype in Python integrates explicitly; auto and explicit can")
        if "check" in self.model.physics:
            self.model.physics["check"](self.element, self)
        self._check_quaternions()
        self._end_checks()

    def _check_quaternions(self) -> None:
        for i in self.model.quaternions:
            q = self.memory[i : i + 4]
            if not math.hypot(*q) >= 0.5:
                values = ", ".join(map(_number, q))
                what = "the length of a quaternion must be 1 and is below 0.5"
                self.fail(f"{self.model.names[i]} .. [4] = ({values}): {what}")

    def _end_checks(self) -> None:
        failures, self.failures = self.failures, 0
        if failures:
            raise _RefusedError(f"{failures} rule{'s are' if failures > 1 else ' is'} broken")

    def _check_finite(self, text: str) -> None:
        finite = np.isfinite(self.block)
        if not finite.all():
            raise _RefusedError(text.format(self.model.names[int(np.argmin(finite))]))

    # the waist

    def _evaluate(self) -> None:
        """Outputs and state derivatives of the point in the memory."""
        physics, block = self.model.physics, self.block
        physics["outputs"](self.element)
        if "derivatives" in physics:
            physics["derivatives"](self.element)
        block[self.model.rated] = block[self.model.rates]

    def _refresh(self) -> None:
        """Bring outputs up to date with what was set.  In initialization mode the initial state follows the
        parameters."""
        if not self.dirty:
            return
        if self.mode == "initialization mode":
            self.block[self.model.held] = self.block[self.model.held_by]
            if "start" in self.model.physics:
                self.model.physics["start"](self.element)
        self._evaluate()
        self.dirty = False

    def _accept(self, step: float) -> bool:
        """Bookkeeping at an accepted point; whether outputs were computed again."""
        if "accept" not in self.model.physics or not self.model.physics["accept"](self.element, self, step):
            return False
        self._evaluate()
        return True

    def _indicators(self) -> Vector:
        count = len(self.model.indicator_nominals)
        if not count:
            return np.zeros(0)
        self.model.physics["indicators"](self.element, self.indicators)
        if not self.crossings_known:  # all are NaN before the first call
            values = zip(self.model.indicator_names, self.crossings, strict=True)
            missing = ", ".join(f"z.{name}" for name, value in values if math.isnan(value))
            if missing:
                what = f"the function indicators gives {missing} no value, or NaN; element.toml declares it"
                raise _RefusedError(f"{self.model.label}: {what}")
            self.crossings_known = True
        return np.array(self.crossings)

    # getting and setting

    def _get(self, family: str, references: list[int]) -> list[float]:
        if self.mode not in _READABLE:
            raise _RefusedError(f"fmi2Get{family} is not allowed in the mode '{self.mode}'")
        if not self.model.references[family].issuperset(references):
            self._refuse_reference(f"fmi2Get{family}", family, references)
        self._refresh()
        values = [self.memory[i] for i in references]
        if not all(map(math.isfinite, values)):
            bad = next(i for i, value in zip(references, values, strict=True) if not math.isfinite(value))
            raise _RefusedError(f"fmi2Get{family}: {self.model.names[bad]} is not finite")
        return values

    @_guarded
    def get_real(self, references: list[int]) -> list[float]:
        return self._get("Real", references)

    @_guarded
    def get_integer(self, references: list[int]) -> list[int]:
        return [int(value) for value in self._get("Integer", references)]

    @_guarded
    def get_boolean(self, references: list[int]) -> list[bool]:
        return [value != 0.0 for value in self._get("Boolean", references)]

    def _refuse_reference(self, function: str, family: str, references: Iterable[int]) -> None:
        known = set().union(*self.model.references.values())
        for i in references:
            if i not in known:
                raise _RefusedError(f"{function}: there is no variable with the value reference {i}")
            if i not in self.model.references[family]:
                name, own = self.model.names[i], _TYPES[self.model.types[i]]
                raise _RefusedError(f"{function}: {name} is of type {own}, not {family}")

    def _set(self, family: str, references: list[int], values: Sequence[float]) -> None:
        """Checked first and stored afterwards, so that a refused call has set nothing."""
        if not self.model.references[family].issuperset(references):
            self._refuse_reference(f"fmi2Set{family}", family, references)
        refused, status = "", Fmi2Status.discard
        for i, value in zip(references, values, strict=True):
            kind = self.model.kinds[i]
            legal = _WRITABLE if kind in ("input", "tunable") else _WRITABLE[:2] if kind == "fixed" else ()
            if self.mode not in legal:
                why = "at all: the FMU computes it"
                if kind == "fixed":
                    why = "after the initialization: it is a fixed parameter"
                elif legal:
                    why = f"in the mode '{self.mode}'"
                raise _RefusedError(f"fmi2Set{family}: {self.model.names[i]} cannot be set {why}")
            if not self.model.low[i] <= value <= self.model.high[i]:
                status = status if kind == "input" else Fmi2Status.error
                refused = refused or f"fmi2Set{family}: {self._named(i, value)} is refused, it must be " + (
                    "finite"
                    if not math.isfinite(value)
                    else f"at least {_number(self.model.low[i])} {self.model.units[i]}".rstrip()
                    if value < self.model.low[i]
                    else f"at most {_number(self.model.high[i])} {self.model.units[i]}".rstrip()
                )
        if refused:
            raise _RefusedError(refused, status)
        for i, value in zip(references, values, strict=True):
            if self.memory[i] != value:
                self.memory[i] = value
                self.dirty = self.jumped = True
                self.changed |= self.model.kinds[i] == "tunable" or self.model.types[i] != "real"

    @_guarded
    def set_real(self, references: list[int], values: list[float]) -> None:
        self._set("Real", references, values)

    @_guarded
    def set_integer(self, references: list[int], values: list[int]) -> None:
        self._set("Integer", references, values)

    @_guarded
    def set_boolean(self, references: list[int], values: list[bool]) -> None:
        self._set("Boolean", references, [float(value) for value in values])

    # steps

    @_guarded
    def do_step(self, current_time: float, step_size: float) -> bool:
        self._need("fmi2DoStep", "step complete")
        self._check_clock(current_time, step_size)
        before = self.memory[:]
        done = False
        try:
            if self.changed:
                self._check_rules()
            elif self.model.quaternions:
                self._check_quaternions()
                self._end_checks()
            if self.jumped:
                self._evaluate()
                self._accept(max(self.last_step, step_size))
            self._integrate(current_time, current_time + step_size)
            end = _number(current_time + step_size)
            self._check_finite(
                f"fmi2DoStep: {{}} is not finite after the step from {_number(current_time)} s to {end} s"
            )
            done = True
        finally:
            if not done:
                self.block[:] = before
                self.mode = "error"
        self.changed = self.jumped = self.dirty = False
        self.last_step = step_size
        return True

    def _check_clock(self, t_c: float, h: float) -> None:
        t = self.memory[0]
        if not (math.isfinite(t_c) and 0 < h < math.inf):
            raise _RefusedError(
                f"fmi2DoStep: a step of {_number(h)} s from {_number(t_c)} s; the step must be greater than 0 and both "
                "finite"
            )
        slack = min(1e-9 * h + 2.0**-50 * max(abs(t), abs(t_c)), 0.5 * h)  # as in contact_core/fmi2/fmi2_step.h
        if abs(t_c - t) > slack:
            raise _RefusedError(
                f"fmi2DoStep: the step begins at {_number(t_c)} s, but the last one ended at {_number(t)} s: they may "
                f"differ by {slack:.3g} s and differ by {abs(t_c - t):.3g} s"
            )
        if not t_c + h > t:
            raise _RefusedError(f"fmi2DoStep: a step of {_number(h)} s from {_number(t_c)} s does not move the clock")
        if self.stop is not None and t_c + h > self.stop + min(1e-9 * max(abs(self.stop), h), 0.5 * h):
            raise _RefusedError(
                f"fmi2DoStep: the step ends at {_number(t_c + h)} s, after the stop time {_number(self.stop)} s that "
                "fmi2SetupExperiment announced"
            )

    def _slopes(self, x: Vector, t: float) -> Vector:
        """The state derivatives at the states x and the time t, to which the memory is brought."""
        self.block[self.model.states] = x
        self.memory[0] = t
        self._evaluate()
        self.evaluations += 1
        slopes: Vector = self.block[self.model.derivatives]
        return slopes

    def _integrate(self, t_c: float, t_end: float) -> None:
        """The states from t_c to t_end with held inputs, in substeps that end on every zero of an indicator.  Their
        estimated error is at most solver.tolerance * max(|x| before, |x| behind, the way, nominal).  The memory holds
        the outputs at t_c."""
        if not len(self.model.states):
            self.memory[0] = t_end
            self._evaluate()
            self._accept(t_end - t_c)
            return
        solver = self.element.solver
        tolerance, longest = solver.tolerance, solver.max_step
        noise = tolerance * self.model.indicator_nominals
        self.evaluations = 0
        x_0: Vector = self.block[self.model.states]
        slopes = np.empty((7, len(x_0)))
        slopes[0] = self.block[self.model.derivatives]
        z_0 = self._indicators()
        tau, length, attempts = 0.0, t_end - t_c, 0
        proposed = self.substep or length
        landing = 0.0  # length of the substep to a zero that was found, else 0
        while tau < length:
            attempts += 1
            if attempts > solver.max_substeps:
                raise _RefusedError(
                    f"fmi2DoStep: solver.max_substeps = {_number(solver.max_substeps)} substeps lead to "
                    f"{_number(t_c + tau)} s only; events without end, or a stiff system, which needs the element in C"
                )
            h = landing or min(proposed, longest, length - tau)
            is_last = tau + h >= length * (1 - _SHORTEST)
            for stage in range(1, 7):
                x_1 = x_0 + h * (STAGES[stage] @ slopes[:stage])
                end = t_end if is_last and NODES[stage] == 1.0 else t_c + tau + NODES[stage] * h
                slopes[stage] = self._slopes(x_1, end)
            way = h * np.abs(slopes[[0, 3, 6]]).max(axis=0)
            allowed = tolerance * np.maximum.reduce([np.abs(x_0), np.abs(x_1), way, self.model.nominals])
            error = float((h * np.abs(ERRORS @ slopes) / allowed).max())
            shortest = _SHORTEST * max(abs(t_c), abs(t_end))
            if not error <= 1.0 and h > shortest:
                solver.rejected += 1
                proposed = h * (max(0.2, 0.9 * error**-0.2) if math.isfinite(error) else 0.1)
                landing = 0.0
                continue
            if not error <= 1.0:
                self._check_finite(
                    f"fmi2DoStep: {{}} is not finite at {_number(t_c + tau)} s, however short the substep"
                )
                raise _RefusedError(
                    f"fmi2DoStep: at {_number(t_c + tau)} s no substep is short enough for solver.tolerance = "
                    f"{_number(tolerance)}"
                )
            z_1 = self._indicators()
            crossed = len(z_1) > 0 and _turned(z_0, z_1, noise)
            if crossed and not landing and h > shortest:
                share = self._first_zero(x_0, x_1, h, slopes, z_0, noise, t_c + tau)
                if share < 1.0:
                    landing = share * h
                    solver.rejected += 1
                    continue
                self._slopes(x_1, end)  # the search has left it
            tau = length if is_last else tau + h
            solver.steps += 1
            solver.events += crossed
            if not (is_last or landing) or h >= proposed:
                proposed = h * min(5.0, max(0.2, 0.9 * max(error, 1e-10) ** -0.2))
            landing = 0.0
            self._accept(h)
            x_0, slopes[0], z_0 = x_1, self.block[self.model.derivatives], z_1
        self.substep = proposed
        solver.evaluations += self.evaluations

    def _first_zero(
        self, x_0: Vector, x_1: Vector, h: float, slopes: Vector, z_0: Vector, noise: Vector, t: float
    ) -> float:
        """The share of the substep just behind the first zero of an indicator, by bisection on the dense output."""
        d, b = x_1 - x_0, h * slopes[0] - (x_1 - x_0)
        curve = h * (DENSE @ slopes)
        low, high = 0.0, 1.0
        while high - low > _BRACKET:
            share = 0.5 * (low + high)
            inner = d - h * slopes[6] - b + (1 - share) * curve
            self._slopes(x_0 + share * (d + (1 - share) * (b + share * inner)), t + share * h)
            if _turned(z_0, self._indicators(), noise):
                high = share
            else:
                low = share
        return high
