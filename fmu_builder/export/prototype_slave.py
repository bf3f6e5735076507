"""What runs inside the FMU of a prototype: element.py behind the waist of contact_core/python_waist.h.

This file is packed with the FMU; on the target it needs Python, numpy and the files that lie beside it, nothing of
fmu_builder.  contact_core/fmi2/python_host.h has pythonfmu make one `Prototype`, which gives it the functions below,
one set for each element.py.  No exception leaves them: a call that one ends gives no values, and `check` gives the
reason."""

from __future__ import annotations

import array
import ctypes
import importlib.util
import json
import math
import os
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pythonfmu.fmi2slave import Fmi2Slave

Vector = NDArray[np.float64]

_HERE = Path(__file__).resolve().parent

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
                if (reads or value.flags.writeable) and (value.shape == shape or (not shape and value.size)):
                    return ctypes.c_void_p(value.__array_interface__["data"][0])  # the caller keeps the array
            elif reads and len(shape) == 1 and isinstance(value, list | tuple) and len(value) == shape[0]:
                return values(*value)
            elif reads and np.shape(value) == shape:
                return values(*np.ravel(value))
            raise TypeError(
                f"{what} must be a numpy array of {size} {dtype}{'' if reads else ', not one only to read'}"
            )

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


def struct(node: Mapping[str, Any], memory: array.array[float], at: int = 0, locked: Mapping[int, str] = {}) -> Any:
    """The members of a node of the variable table as attributes over `memory`, from index `at` on: numbers for scalars,
    numpy arrays for vectors, tuples of structs for several.  Nothing else can be set; `locked` is what not, and why."""
    block = np.frombuffer(memory)
    members: dict[str, Any] = {"__slots__": (), "_place": (at, _length(node))}
    for name, member in node["members"].items():
        length, each, size = _length(member), member["each"], member["size"]
        if member["members"]:
            one = length // max(each, 1)
            parts = tuple(struct(member, memory, at + i * one, locked) for i in range(max(each, 1)))
            members[name] = parts if each else parts[0]
        elif each or size:
            view = block[at : at + length].reshape([n for n in (each, size) if n])
            view.flags.writeable = at not in locked
            members[name] = _property(view, ..., locked.get(at))
        else:
            members[name] = _property(memory, at, locked.get(at))
        at += length
    return type("Element", (), members)()


def _property(values: Any, place: Any, locked: str | None) -> property:
    def get(_: Any) -> Any:
        return values[place]

    def put(_: Any, value: Any) -> None:
        if locked:
            raise AttributeError(locked)
        values[place] = value

    return property(get, put)


# ---- the waist ---------------------------------------------------------------------------------------------------


class _HostCalls(ctypes.Structure):
    """CcPythonHost."""

    _fields_ = (
        ("host", ctypes.c_void_p),
        ("report", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)),
        ("fail", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)),
        ("held_over", ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)),
        ("keep", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)),
    )


class _Host:
    """The `host` of element.py.  Messages are sent after its function has returned: the importer's logger may be slow,
    and no other call may come in between."""

    def __init__(self, categories: Mapping[str, str], memory: int) -> None:
        """memory: address of the copy that element.py works on"""
        self._categories = categories
        self._memory = memory
        self._calls: Any = None
        self._block = 0  # address of the block that is copied
        self._keeps = False  # in accept
        self._messages: list[tuple[str, str, str]] = []

    def report(self, level: str, category: str, text: str) -> None:
        """Log a message in a declared category; `level` is "info" or "warning"."""
        if level not in ("info", "warning"):
            raise ValueError(f"the level '{level}' is neither info nor warning")
        if category not in self._categories:
            raise ValueError(f"the log category '{category}' is none of {', '.join(self._categories)}")
        self._messages.append((level, category, str(text)))

    def fail(self, text: str) -> None:
        """A rule across variables is broken: the text names the variables, their values and the rule."""
        self._messages.append(("fail", "", str(text)))

    @property
    def held_over(self) -> float:
        """Length of the communication steps over which the motion at the ports is held, s; 0 where it is not."""
        return float(self._calls.held_over(self._calls.host))

    def keep(self, record: Any) -> None:
        """In accept: keep what has ended, such as e.last_contact, before the variables of the next one are written."""
        if not self._keeps:
            raise RuntimeError("host.keep is for the function accept alone: only there a contact can end")
        at, length = record._place
        place, before = self._block + 8 * at, ctypes.string_at(self._block + 8 * at, 8 * length)
        ctypes.memmove(place, self._memory + 8 * at, len(before))  # the core reads values and place at one address
        self._calls.keep(self._calls.host, place, length)
        ctypes.memmove(place, before, len(before))  # nothing is written yet where accept ends with an exception

    def _listen(self, block: int, pointer: int, keeps: bool = False) -> None:
        self._block, self._keeps, self._calls = block, keeps, _HostCalls.from_address(pointer)
        self._messages = []

    def _take(self) -> list[tuple[str, str, str]]:
        messages, self._messages, self._calls = self._messages, [], None
        return messages


def _send(pointer: int, messages: Sequence[tuple[str, str, str]]) -> None:
    calls: Any = _HostCalls.from_address(pointer)
    for level, category, text in messages:
        written = text.replace("\0", " ").encode("utf-8", "replace")
        if level == "fail":
            calls.fail(calls.host, written)
        else:
            calls.report(calls.host, int(level == "warning"), category.encode(), written)


_ADDRESS = ctypes.c_void_p
_PLAIN = ctypes.CFUNCTYPE(None, _ADDRESS, ctypes.c_double)
_COUNTED = ctypes.CFUNCTYPE(ctypes.c_int, _ADDRESS, ctypes.c_double, _ADDRESS, ctypes.c_double)
_NOTHING = ctypes.CFUNCTYPE(None)
_WITH_ONE_MORE = ctypes.CFUNCTYPE(None, _ADDRESS, _ADDRESS)


class _Functions(ctypes.Structure):
    """CcPythonElement."""

    _fields_ = (
        ("evaluate", _PLAIN),
        ("initial", _PLAIN),
        ("start", _PLAIN),
        ("accept", _COUNTED),
        ("sample", _COUNTED),
        ("indicators", _WITH_ONE_MORE),
        ("lost", _NOTHING),
        ("check", _WITH_ONE_MORE),
    )


class Element:
    """One element.py: its functions as those of C, over a copy of the block that all instances share, one at a time.

    tables  its part of model.json      folder  of its element.py      core  the module contact_core"""

    def __init__(self, tables: Mapping[str, Any], folder: Path, core: ModuleType) -> None:
        self.label: str = tables["element"]  # element.py as messages name it
        self.memory = array.array("d", tables["starts"])
        self.block: Vector = np.frombuffer(self.memory)
        self.views = {}  # the struct as a function gets it
        for function in ("outputs", "initial", "start", "accept"):
            locked = {i: why for i, why, changed_by in tables["locked"] if function not in changed_by}
            self.views[function] = struct(tables["tree"], self.memory, 0, locked)
            type(self.views[function]).structure = SimpleNamespace(**tables["structure"])
        self.indicator_names: list[str] = tables["indicators"]
        self.crossings = array.array("d", [math.nan] * len(self.indicator_names))
        self.indicator_block: Vector = np.frombuffer(self.crossings)
        self.z = struct(tables["indicator_tree"], self.crossings)
        self.host = _Host(tables["categories"], self.block.ctypes.data)
        self.lock = threading.Lock()
        self.failures: dict[int, BaseException] = {}  # why values are missing, by the thread that asked for them
        self.interrupted = False  # by the keyboard, until it is reported
        self.physics = self._read(folder / "element.py", core)
        self.functions = _Functions(
            _PLAIN(self._computing("outputs", self._evaluate)),
            _PLAIN(self._computing("initial", self.physics.get("initial"))),
            _PLAIN(self._computing("start", self.physics.get("start"), tables["memory"])),
            _COUNTED(self._bookkeeping(self.physics.get("accept"), keeps=True)),
            _COUNTED(self._bookkeeping(self.physics.get("sample"), keeps=False)),
            _WITH_ONE_MORE(self._indicators()),
            _NOTHING(self._lost),
            _WITH_ONE_MORE(self._check),
        )

    def _read(self, path: Path, core: ModuleType) -> Mapping[str, Any]:
        """The functions of element.py.  While it is read, `import contact_core` finds the library of this FMU."""
        spec = importlib.util.spec_from_loader(f"{__name__}_{path.parent.name}", loader=None)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        before = sys.modules.get("contact_core")
        sys.modules["contact_core"] = core
        try:
            with np.errstate(all="ignore"):
                exec(compile(path.read_text(encoding="utf-8"), self.label, "exec"), module.__dict__)
        finally:
            if before is None:
                del sys.modules["contact_core"]
            else:
                sys.modules["contact_core"] = before
        return module.__dict__

    @property
    def _evaluate(self) -> Callable[[Any], None]:
        outputs, derivatives = self.physics["outputs"], self.physics.get("derivatives")
        if derivatives is None:
            return outputs  # type: ignore[no-any-return]

        def evaluate(e: Any) -> None:
            outputs(e)
            derivatives(e)

        return evaluate

    def _fail(self, error: BaseException) -> None:
        """Remember why values are missing, for `check`, which the same thread calls if that matters; what follows from
        them is no reason."""
        self.interrupted |= isinstance(error, KeyboardInterrupt)
        self.failures.setdefault(threading.get_ident(), error)

    def _lost(self) -> None:
        """A call copied nothing back: if no exception is known, an interrupt has ended it outside of its `try`."""
        with self.lock:
            if threading.get_ident() not in self.failures:
                self._fail(KeyboardInterrupt())

    def _computing(self, name: str, function: Callable[[Any], None] | None, lost: Sequence[int] = ()) -> Any:
        """A function that computes values.   lost: of the block, NaN where an exception ended it; others are before"""
        here, size = self.block.ctypes.data, self.block.nbytes
        move, errstate, lock, failures = ctypes.memmove, np.errstate, self.lock, self.failures
        element, block, memory = self.views[name], self.block, self.memory

        def call(address: int, time: float) -> None:
            with lock:
                try:
                    if self.interrupted or function is None:
                        return
                    move(here, address, size)
                    memory[0] = time
                    with errstate(all="ignore"):  # values that are not finite are found and named
                        function(element)
                    if failures:
                        failures.pop(threading.get_ident(), None)  # of a point that was only tried
                    move(address, here, size)
                except BaseException as error:  # SystemExit and KeyboardInterrupt too: the host lives
                    self._fail(error)
                    if name == "start":
                        move(here, address, size)
                        memory[0] = time
                        block[lost] = math.nan
                        move(address, here, size)

        return call

    def _bookkeeping(self, function: Callable[[Any, _Host, float], Any] | None, keeps: bool) -> Any:
        """accept, which may keep records, or sample: an exception makes the call an error."""
        here, size, host = self.block.ctypes.data, self.block.nbytes, self.host

        def call(address: int, time: float, pointer: int, step: float) -> int:
            changed, why, messages = 0, "", []
            with self.lock:
                try:
                    ctypes.memmove(here, address, size)
                    self.memory[0] = time
                    host._listen(address, pointer, keeps)
                    with np.errstate(all="ignore"):
                        assert function is not None
                        changed = int(function(self.views["accept"], host, step) or 0) & 3  # CC_JUMPED
                    messages = host._take()
                    ctypes.memmove(address, here, size)
                except BaseException as error:
                    changed, why, messages = 0, self.explain(error), host._take()
                    ctypes.c_double.from_address(address).value = time
            if messages or why:
                _send(pointer, [*messages, *([("fail", "", why)] if why else [])])
            return changed

        return call

    def _indicators(self) -> Any:
        function = self.physics.get("indicators")
        here, size = self.block.ctypes.data, self.block.nbytes
        values, length = self.indicator_block.ctypes.data, self.indicator_block.nbytes

        def call(address: int, z: int) -> None:
            with self.lock:
                try:
                    if self.interrupted or function is None:
                        return
                    self.indicator_block.fill(math.nan)
                    ctypes.memmove(here, address, size)
                    with np.errstate(all="ignore"):
                        function(self.views["outputs"], self.z)
                    if math.isnan(sum(self.crossings)):
                        self._find_missing()
                    ctypes.memmove(z, values, length)
                except BaseException as error:
                    self._fail(error)

        return call

    def _find_missing(self) -> None:
        values = zip(self.indicator_names, self.crossings, strict=True)
        missing = ", ".join(f"z.{name}" for name, value in values if math.isnan(value))
        if missing:  # else some are infinite
            what = f"the function indicators gives {missing} no value, or NaN; element.toml declares it"
            raise _MissingError(f"{self.label}: {what}")

    def _check(self, address: int, pointer: int) -> None:
        """Where values are missing, why; then the rules of the element."""
        with self.lock:
            ctypes.memmove(self.block.ctypes.data, address, self.block.nbytes)
            messages = []
            if not np.isfinite(self.block).all():
                why = self.failures.pop(threading.get_ident(), KeyboardInterrupt() if self.interrupted else None)
                messages = [("fail", "", self.explain(why))] if why is not None else []
                self.interrupted = False
            self.host._listen(address, pointer)
            try:
                if "check" in self.physics:
                    with np.errstate(all="ignore"):
                        self.physics["check"](self.views["outputs"], self.host)
                messages += self.host._take()
            except BaseException as error:
                messages += [*self.host._take(), ("fail", "", self.explain(error))]
        _send(pointer, messages)

    def explain(self, error: BaseException) -> str:
        """An exception in one line: file and line of element.py if it came from there, type and message."""
        if isinstance(error, _MissingError):
            return str(error)
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == self.label]
        if frames:
            return f"{self.label}:{frames[-1].lineno}: {what}, in {frames[-1].name}"
        return what


class _MissingError(Exception):
    """A value is missing; the text is complete."""


# ---- the slave ---------------------------------------------------------------------------------------------------


class _Load(ctypes.Structure):
    """CcPythonLoad."""

    _fields_ = (
        ("elements", ctypes.POINTER(_Functions)),
        ("count", ctypes.c_int),
        ("is_done", ctypes.c_int),
        ("why", ctypes.c_char * 1000),
    )


def _read_model() -> tuple[str, list[Element]]:
    """The GUID and the elements, read once: the files may be gone when a second instance is made."""
    tables = json.loads((_HERE / "model.json").read_text(encoding="utf-8"))
    core: Any = bind(_HERE / f"contact_core{'.dll' if os.name == 'nt' else '.so'}", tables["declarations"])
    core.CC_CHANGED, core.CC_JUMPED = 1, 3  # of waist.h
    return tables["guid"], [Element(one, _HERE / one["folder"], core) for one in tables["elements"]]


_model: tuple[str, list[Element]] | None = None
_why_not = ""  # there is no model
try:
    _model = _read_model()
except BaseException as _error:  # it is reported when an instance is made
    _places = [f for f in traceback.extract_tb(_error.__traceback__) if f.filename.endswith("element.py")]
    _line = f"{_places[-1].filename}:{_places[-1].lineno}: " if _places else ""
    _line = f"{_error.filename}:{_error.lineno}: " if isinstance(_error, SyntaxError) else _line
    _why_not = f"{_line}{type(_error).__name__}: {_error}"


class Prototype(Fmi2Slave):  # type: ignore[misc]
    """What pythonfmu makes."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        with suppress(KeyError, ValueError):  # where pythonfmu put it, for this module to be found
            sys.path.remove(arguments["resources"])

    def set_string(self, references: list[int], values: list[str]) -> None:
        """The GUID of the binary and the address of its CcPythonLoad, which is filled in."""
        guid, address = values
        load: Any = _Load.from_address(int(address))
        why = _why_not
        if _model is not None:
            own, elements = _model
            if (guid, load.count) == (own, len(elements)):
                for i, element in enumerate(elements):
                    load.elements[i] = element.functions
                load.is_done = 1
                return
            why = f"the binary belongs to '{guid}', the resources to '{own}': they are from different builds"
        load.why = why.encode("utf-8", "replace")[:999]

    def do_step(self, current_time: float, step_size: float) -> bool:
        """Of the base class, which needs one."""
        raise AssertionError("steps are done in C")
