"""Calls of FMI 3.0 functions one by one, by ctypes: what an importer may do, and what it may not."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint, c_void_p
from pathlib import Path
from typing import Any

import fmpy
from lxml import etree

from fmu_builder.export.toolchain import TUPLES, host_platform

OK, WARNING, DISCARD, ERROR = range(4)
_Log = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_char_p)
_Update = ctypes.CFUNCTYPE(None, c_void_p, c_double, c_bool, c_bool, c_bool, c_bool, POINTER(c_bool), POINTER(c_double))
TYPES: dict[str, Any] = {"Float64": c_double, "Int32": c_int32, "Int64": c_int64, "Boolean": c_bool}
# what a step is asked in an intermediate update, of (time, may end early); answers the time to end at, or None
Watch = Callable[[float, bool], float | None]


class Fmu3:
    """An FMU for FMI 3.0, loaded."""

    def __init__(self, path: Path, folder: Path) -> None:
        fmpy.extract(str(path), str(folder))
        self.folder = folder
        self.description = fmpy.read_model_description(str(path), validate=False)
        self.variables = {v.name: v for v in self.description.modelVariables}
        self.token = self.description.guid
        self.library = ctypes.CDLL(str(next((folder / "binaries" / TUPLES[host_platform()]).iterdir())))
        self.library.fmi3GetVersion.restype = c_char_p

    @classmethod
    def of(cls, library: ctypes.CDLL, description: bytes) -> Fmu3:
        """Of a library that is loaded, and a modelDescription.xml."""
        fmu = cls.__new__(cls)
        fmu.library, fmu.token = library, str(etree.fromstring(description).get("instantiationToken"))
        return fmu


class Instance:
    """An instance that keeps what it logs.  `call` answers the status of a function."""

    def __init__(
        self,
        fmu: Fmu3,
        co_simulation: bool = True,
        events: bool = False,
        early: bool = False,
        watch: Watch | None = None,
        token: str | None = None,
    ) -> None:
        self.fmu, self.log = fmu, list[tuple[int, str]]()
        self.watch = watch
        self._log, self._update = _Log(self._note), _Update(self._show)
        head = (b"one", (token or fmu.token).encode(), b"", c_bool(False), c_bool(True))
        library = fmu.library
        if co_simulation:
            make = library.fmi3InstantiateCoSimulation
            update = ctypes.cast(self._update, c_void_p) if watch else None
            tail: Sequence[Any] = (c_bool(events), c_bool(early), None, c_size_t(0), None, self._log, update)
        else:
            make, tail = library.fmi3InstantiateModelExchange, (None, self._log)
        make.restype = c_void_p
        self.component = c_void_p(make(*head, *tail))

    def _note(self, _: int, status: int, __: bytes, message: bytes) -> None:
        self.log.append((status, message.decode()))

    def _show(
        self, _: int, time: float, sets: bool, gets: bool, finished: bool, ends: bool, wanted: Any, when: Any
    ) -> None:
        assert not sets and gets and finished and self.watch
        end = self.watch(time, ends)
        if end is not None:
            wanted[0], when[0] = True, end

    def call(self, name: str, *arguments: Any) -> int:
        status: int = getattr(self.fmu.library, name)(self.component, *arguments)
        return status

    def said(self) -> str:
        """The last text of the log."""
        return self.log[-1][1] if self.log else ""

    def begin(self, stop: float | None = None) -> Instance:
        """Through the initialization."""
        stop_time = (c_bool(stop is not None), c_double(stop or 0.0))
        assert self.call("fmi3EnterInitializationMode", c_bool(False), c_double(0), c_double(0), *stop_time) == OK
        assert self.call("fmi3ExitInitializationMode") == OK
        return self

    def step(self, t: float, h: float) -> tuple[int, bool, bool, float]:
        """Status, whether there is an event, an early return, and the time reached."""
        event, end, early, time = c_bool(), c_bool(), c_bool(), c_double()
        answers = (byref(event), byref(end), byref(early), byref(time))
        status = self.call("fmi3DoStep", c_double(t), c_double(h), c_bool(True), *answers)
        return status, event.value, early.value, time.value

    def references(self, names: Sequence[str]) -> Any:
        return (c_uint * len(names))(*(self.fmu.variables[name].valueReference for name in names))

    def set(self, family: str, names: Sequence[str], values: Sequence[float]) -> int:
        given = (TYPES[family] * len(values))(*values)
        n = (c_size_t(len(names)), given, c_size_t(len(values)))
        return self.call(f"fmi3Set{family}", self.references(names), *n)

    def get(self, family: str, names: Sequence[str], count: int | None = None) -> tuple[int, list[float]]:
        values = (TYPES[family] * (len(names) if count is None else count))()
        n = (c_size_t(len(names)), values, c_size_t(len(values)))
        return self.call(f"fmi3Get{family}", self.references(names), *n), list(values)

    def value(self, name: str, family: str = "Float64") -> float:
        status, values = self.get(family, [name])
        assert status == OK, self.said()
        return values[0]

    def derivative(
        self, name: str, unknowns: Sequence[str], knowns: Sequence[str], seed: Sequence[float], n: int
    ) -> Any:
        """Directional or adjoint derivative, of n numbers."""
        answer, given = (c_double * n)(), (c_double * len(seed))(*seed)
        references = [(self.references(names), c_size_t(len(names))) for names in (unknowns, knowns)]
        arguments = (*references[0], *references[1], given, c_size_t(len(seed)), answer, c_size_t(n))
        return self.call(f"fmi3Get{name}Derivative", *arguments), list(answer)

    def update(self) -> int:
        flags, next_time = [c_bool() for _ in range(5)], c_double()
        return self.call("fmi3UpdateDiscreteStates", *map(byref, flags), byref(next_time))

    def end_of_update(self) -> bool:
        """fmi3UpdateDiscreteStates: whether the FMU asks for the end."""
        flags, next_time = [c_bool() for _ in range(5)], c_double()
        assert self.call("fmi3UpdateDiscreteStates", *map(byref, flags), byref(next_time)) == OK
        return flags[1].value

    def free(self) -> None:
        self.fmu.library.fmi3FreeInstance.restype = None
        self.fmu.library.fmi3FreeInstance(self.component)
