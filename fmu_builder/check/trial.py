"""An FMU that is called, for the rules on its behaviour: instances, and what they answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from ctypes import POINTER, c_char_p, c_double, c_int, c_size_t, c_uint, c_void_p
from dataclasses import dataclass, field
from typing import Any

from fmu_builder.check.document import Fmu, Scalar
from fmu_builder.export.smoke import CO_SIMULATION, MODEL_EXCHANGE, Instance, Refused, Unpacked, status_name

ERROR, FATAL, PENDING = 3, 4, 5
_C_TYPES: dict[str, Any] = {"Real": c_double, "Integer": c_int, "Boolean": c_int, "String": c_char_p}
Values = tuple[float | bytes | None, ...]


class FatalError(Exception):
    """A call was answered with fmi2Fatal, after which none may follow."""


class Probe(Instance):
    """One instance.  A function that answers fmi2Fatal ends all calls by FatalError."""

    def status(self, name: str, *arguments: object, note: str = "") -> int:
        answer = super().status(name, *arguments, note=note)
        if answer == FATAL:
            raise FatalError(f"{name}{note}")
        return answer

    def get(self, variables: Sequence[Scalar]) -> Values:
        """Values in the order of the variables; raises Refused."""
        found: dict[int, float | bytes | None] = {}
        for kind, c_type in _C_TYPES.items():
            some = [v for v in variables if v.family == kind]
            if some:
                values = (c_type * len(some))()
                self.call(f"fmi2Get{kind}", references(some), c_size_t(len(some)), values)
                found |= {v.index: value for v, value in zip(some, values, strict=True)}
        return tuple(found[v.index] for v in variables)

    def set_real(self, variables: Sequence[Scalar], values: Sequence[float]) -> int:
        return self.status(
            "fmi2SetReal", references(variables), c_size_t(len(variables)), (c_double * len(variables))(*values)
        )

    def step(self, t: float, h: float) -> int:
        return self.status("fmi2DoStep", c_double(t), c_double(h), c_int(1), note=f" at t = {t:g} s")


def references(variables: Sequence[Scalar]) -> Any:
    return (c_uint * max(len(variables), 1))(*(v.reference for v in variables))


@dataclass
class Trial:
    """An FMU that is unpacked for calls.

    announce  takes the name of each call before it is made
    logged    status, category and text of the messages so far"""

    fmu: Fmu
    unpacked: Unpacked
    announce: Callable[[str], None]
    logged: list[tuple[int, str, str]] = field(default_factory=list)

    @property
    def is_co_simulation(self) -> bool:
        return self.fmu.interface("CoSimulation") is not None

    @property
    def is_model_exchange(self) -> bool:
        return self.fmu.interface("ModelExchange") is not None

    def can(self, flag: str, kind: str = "") -> bool:
        """A capability of this interface, by default of co-simulation, or without it of model exchange."""
        one = self.fmu.interface(kind) if kind else self._interface()
        return one is not None and one.get(flag, "false") in ("true", "1")

    def _interface(self) -> Any:
        one = self.fmu.interface("CoSimulation" if self.is_co_simulation else "ModelExchange")
        assert one is not None
        return one

    def attribute(self, key: str) -> str:
        return str(self._interface().get(key, ""))

    @property
    def start(self) -> float:
        return self._experiment("startTime", 0.0)

    @property
    def step(self) -> float:
        """Of communication: as DefaultExperiment has it, or a thousandth of the run, or 1 ms."""
        duration = self._experiment("stopTime", self.start + 1.0) - self.start
        given = self._experiment("stepSize", 0.0)
        return given if given > 0.0 else duration / 1000 if duration > 0.0 else 1e-3

    def _experiment(self, key: str, otherwise: float) -> float:
        one = self.fmu.root.find("DefaultExperiment")
        with suppress(ValueError):
            value = float(one.get(key, "")) if one is not None else otherwise
            return value if math.isfinite(value) else otherwise
        return otherwise

    @property
    def inputs(self) -> list[Scalar]:
        """Continuous Real inputs without bounds, which may be moved."""
        return [
            v
            for v in self.fmu.variables
            if (v.type, v.causality, v.variability) == ("Real", "input", "continuous")
            and not {"min", "max"} & v.shared.keys()
        ]

    @property
    def readable(self) -> list[Scalar]:
        return [v for v in self.fmu.variables if v.causality != "independent"]

    def raw(self, kind: int | None = None, guid: str | None = None, logging: bool = True) -> Probe:
        """Instantiated.  Raises Refused if the answer is NULL."""
        if kind is None:
            kind = CO_SIMULATION if self.is_co_simulation else MODEL_EXCHANGE
        try:
            return Probe(self.unpacked, kind, guid, logging, self._log, self.announce)
        except Refused:
            raise
        except SystemExit as error:
            raise Refused(str(error.code)) from error

    def _log(self, _: int, __: bytes, status: int, category: bytes | None, message: bytes | None) -> None:
        text = (message or b"").decode("utf-8", "replace")
        self.logged.append((status, (category or b"").decode("utf-8", "replace"), text))

    @contextmanager
    def begun(self, kind: int | None = None, moved: bool = False) -> Iterator[Probe]:
        """An initialized instance, which is freed.   moved: inputs are off their start values.  Raises Refused."""
        one = self.raw(kind)
        try:
            self.initialize(one, moved)
            yield one
            if kind != MODEL_EXCHANGE:
                one.status("fmi2Terminate")
        except FatalError:
            raise
        except Refused:
            one.free()
            raise
        else:
            one.free()

    def initialize(self, one: Probe, moved: bool = False) -> None:
        self.enter(one, moved)
        one.call("fmi2ExitInitializationMode")

    def enter(self, one: Probe, moved: bool = False) -> None:
        """Into initialization mode.  Raises Refused."""
        one.call("fmi2SetupExperiment", c_int(0), c_double(0.0), c_double(self.start), c_int(0), c_double(0.0))
        one.call("fmi2EnterInitializationMode")
        if moved:
            self.move(one)

    def move(self, one: Probe) -> None:
        """Inputs off their start values, which they keep if the FMU refuses others."""
        inputs = self.inputs
        starts = [float(v.start or 0.0) for v in inputs]
        if inputs and one.set_real(inputs, [x + 0.01 * (1 + k % 7) for k, x in enumerate(starts)]) > 1:
            one.set_real(inputs, starts)

    def run(self, one: Probe, begin: int, end: int) -> None:
        """Communication steps from number `begin` on.  Raises Refused."""
        for k in range(begin, end):
            t = self.start + k * self.step
            status = one.step(t, self.step)
            if status > 1:
                raise Refused(f"fmi2DoStep at t = {t:g} s answered {status_name(status)}")

    def result(self, one: Probe) -> Values:
        return one.get(self.readable)

    def differing(self, a: Values, b: Values) -> list[str]:
        """Names of the variables whose values differ in any bit; what is not a number equals itself."""
        pairs = zip(self.readable, a, b, strict=True)
        return [str(v) for v, x, y in pairs if x != y and not (_is_nan(x) and _is_nan(y))]


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def state_functions(one: Probe) -> None:
    """Argument types of the functions that take pointers to states."""
    library = one.library
    library.fmi2GetFMUstate.argtypes = (c_void_p, POINTER(c_void_p))
    library.fmi2SetFMUstate.argtypes = (c_void_p, c_void_p)
    library.fmi2FreeFMUstate.argtypes = (c_void_p, POINTER(c_void_p))
    library.fmi2SerializedFMUstateSize.argtypes = (c_void_p, c_void_p, POINTER(c_size_t))
    library.fmi2SerializeFMUstate.argtypes = (c_void_p, c_void_p, c_void_p, c_size_t)
    library.fmi2DeSerializeFMUstate.argtypes = (c_void_p, c_void_p, c_size_t, POINTER(c_void_p))
