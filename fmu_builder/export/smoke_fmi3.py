"""The first run of an FMU of FMI 3.0, in a process of its own: arguments and output are those of smoke.py.

RESOURCES is a path that ends with a separator."""

from __future__ import annotations

import ctypes
import json
import math
import sys
from collections.abc import Sequence
from ctypes import (
    byref,
    c_bool,
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_int8,
    c_int16,
    c_int32,
    c_int64,
    c_size_t,
    c_uint,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fmu_builder.export import smoke
else:
    import smoke  # the folder of both is one of those where modules are looked for

_Log = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_char_p)
# element of modelDescription.xml: functions, and what they take
FAMILIES: dict[str, tuple[str, Any]] = {
    "Float64": ("Float64", c_double),
    "Float32": ("Float32", c_float),
    "Int8": ("Int8", c_int8),
    "UInt8": ("UInt8", c_uint8),
    "Int16": ("Int16", c_int16),
    "UInt16": ("UInt16", c_uint16),
    "Int32": ("Int32", c_int32),
    "UInt32": ("UInt32", c_uint32),
    "Int64": ("Int64", c_int64),
    "UInt64": ("UInt64", c_uint64),
    "Enumeration": ("Int64", c_int64),
    "Boolean": ("Boolean", c_bool),
    "String": ("String", c_char_p),
}


class Instance(smoke.Called):
    """Of FMI 3.0."""

    def __init__(self, fmu: smoke.Unpacked, kind: int) -> None:
        super().__init__(fmu, "fmi3")
        self.log = _Log(lambda _, status, __, message: smoke.print_message(status, message.decode("utf-8", "replace")))
        token, place = fmu.description.attrib["instantiationToken"].encode(), fmu.resources.encode()
        if kind == smoke.CO_SIMULATION:
            name = "fmi3InstantiateCoSimulation"
            own: Sequence[Any] = (c_bool(False), c_bool(False), None, c_size_t(0), None, self.log, None)
        else:
            name, own = "fmi3InstantiateModelExchange", (None, self.log)
        self.instantiate(name, token, place, c_bool(False), c_bool(True), *own)

    def begin(self, start: float = 0.0) -> None:
        self.enter(start)
        self.call("fmi3ExitInitializationMode")

    def enter(self, start: float) -> None:
        """Enter initialization mode."""
        times = (c_bool(False), c_double(0.0), c_double(start), c_bool(False), c_double(0.0))
        self.call("fmi3EnterInitializationMode", *times)

    def make_step(self, t: float, h: float) -> None:
        event, ended, early, last = c_bool(), c_bool(), c_bool(), c_double()
        answers = (byref(event), byref(ended), byref(early), byref(last))
        self.call("fmi3DoStep", c_double(t), c_double(h), c_bool(True), *answers, note=f" at t = {t:g} s")

    def update(self) -> None:
        """One round of an event."""
        flags, next_time = [c_bool() for _ in range(5)], c_double()
        self.call("fmi3UpdateDiscreteStates", *map(byref, flags), byref(next_time))


def main(unpacked: smoke.Unpacked) -> None:
    """Ten steps from the start values as co-simulation, and as model exchange; all that is read must be finite."""
    smoke.run_interfaces(unpacked, Instance, _integrate, _read_back)


def _integrate(fmu: Instance, _: smoke._Element, h: float) -> None:
    """Euler's method with steps short enough for stiff elements; events are ignored."""
    h *= 1e-6
    n, m = c_size_t(), c_size_t()
    fmu.call("fmi3GetNumberOfContinuousStates", byref(n))
    fmu.call("fmi3GetNumberOfEventIndicators", byref(m))
    x, slopes = (c_double * n.value)(), (c_double * n.value)()
    indicators = (c_double * m.value)()
    enter, ended = c_bool(), c_bool()
    fmu.update()
    fmu.call("fmi3EnterContinuousTimeMode")
    fmu.call("fmi3GetContinuousStates", x, n)
    for k in range(1, smoke.STEPS + 1):
        at = f" at t = {k * h:g} s"
        fmu.call("fmi3GetContinuousStateDerivatives", slopes, n, note=f" before t = {k * h:g} s")
        x[:] = [a + h * b for a, b in zip(x, slopes, strict=True)]
        fmu.call("fmi3SetTime", c_double(k * h), note=at)
        fmu.call("fmi3SetContinuousStates", x, n, note=at)
        fmu.call("fmi3GetEventIndicators", indicators, m, note=at)
        fmu.call("fmi3CompletedIntegratorStep", c_bool(True), byref(enter), byref(ended), note=at)


def _read_back(fmu: Instance, description: smoke._Element) -> None:
    for kind in ("Float64", "Int32", "Enumeration", "Boolean"):
        function, number = FAMILIES[kind]
        mine = description.findall(f"ModelVariables/{kind}")
        sizes = [math.prod(int(d.attrib["start"]) for d in one.findall("Dimension")) for one in mine]
        references = (c_uint * len(mine))(*(int(one.attrib["valueReference"]) for one in mine))
        values = (number * sum(sizes))()
        fmu.call(f"fmi3Get{function}", references, c_size_t(len(mine)), values, c_size_t(len(values)))
        names = (one.attrib["name"] for one, size in zip(mine, sizes, strict=True) for _ in range(size))
        wrong = [name for name, value in zip(names, values, strict=True) if not math.isfinite(value)]
        if wrong:
            sys.exit(f"not finite after ten steps: {', '.join(wrong)}")


def try_out(unpacked: smoke.Unpacked, starts: Sequence[tuple[str, int, Any, bool]]) -> None:
    """As smoke.try_out; of start values the type is one of FAMILIES."""

    def initialize(fmu: Instance, start: float) -> None:
        _set_starts(fmu, starts, inputs=False)
        fmu.enter(start)
        _set_starts(fmu, starts, inputs=True)
        fmu.call("fmi3ExitInitializationMode")

    smoke.try_instance(unpacked, Instance, initialize, "fmi3Terminate")


def _set_starts(fmu: Instance, starts: Sequence[tuple[str, int, Any, bool]], inputs: bool) -> None:
    for family, reference, value, is_input in starts:
        if is_input == inputs:
            function, number = FAMILIES[family]
            given = value if isinstance(value, list) else [value.encode() if family == "String" else value]
            values, size = (number * len(given))(*given), c_size_t(len(given))
            note = f" of a start value, {value!r}"
            fmu.call(f"fmi3Set{function}", (c_uint * 1)(reference), c_size_t(1), values, size, note=note)


def start() -> None:
    """As the arguments of the process say."""
    if sys.argv[1] == "--try":
        starts = json.loads(sys.argv[5]) if len(sys.argv) > 5 else ()
        try_out(smoke.Unpacked(*sys.argv[2:5]), starts)
    else:
        main(smoke.Unpacked(*sys.argv[1:4]))
        smoke._announce(smoke.END)
