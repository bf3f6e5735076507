"""A first run of an FMU in a process of its own.

`python -P smoke.py FOLDER LIBRARY RESOURCES [CONCLUDED ...]`: load the FMU that is unpacked in FOLDER, run a few steps
as co-simulation and, if it offers that, as model exchange, read everything back.  LIBRARY is the archive name of its
library for this machine, RESOURCES the URI of its folder resources.  Exit 0 if it works.

`python -P smoke.py --try FOLDER LIBRARY RESOURCES [STARTS]`: load an FMU that this builder did not make, run a few
steps of co-simulation and unload it.  The last line is `smoke: the end` unless it crashed, whatever it answered.
STARTS: start values that a run sets, JSON [[type, value reference, value, whether it is an input], ...].

Every build waits for this.  It calls FMI 2.0 by itself, since fmpy takes a quarter of a second to start, and imports
little: zipfile, tempfile, pathlib, typing and ElementTree take twice as long as all else."""

from __future__ import annotations

import ctypes
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from ctypes import byref, c_char_p, c_double, c_int, c_size_t, c_uint, c_void_p
from xml.parsers import expat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CALL = "smoke: "  # begins the line printed before each call, so that a crash can be named
END = "the end"  # in the place of a call: the FMU did not end the process before
STEPS = 10
MODEL_EXCHANGE, CO_SIMULATION = 0, 1
EVENT_FLAGS = (
    "newDiscreteStatesNeeded",
    "terminateSimulation",
    "nominalsOfContinuousStatesChanged",
    "valuesOfContinuousStatesChanged",
    "nextEventTimeDefined",
)
STATUS = ("fmi2OK", "fmi2Warning", "fmi2Discard", "fmi2Error", "fmi2Fatal", "fmi2Pending")

_Logger = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_char_p, c_char_p)  # arguments of the message: not read
_Allocate = ctypes.CFUNCTYPE(c_void_p, c_size_t, c_size_t)
_Free = ctypes.CFUNCTYPE(None, c_void_p)


class _Callbacks(ctypes.Structure):
    """fmi2CallbackFunctions."""

    _fields_ = (
        ("logger", _Logger),
        ("allocateMemory", _Allocate),
        ("freeMemory", _Free),
        ("stepFinished", c_void_p),
        ("componentEnvironment", c_void_p),
    )


def status_name(status: int) -> str:
    return STATUS[status] if 0 <= status < len(STATUS) else str(status)


def callback_functions(log: Callable[..., None]) -> _Callbacks:
    """With the memory of the C library, and a logger that gets what stands before the arguments of a message."""
    memory = ctypes.CDLL(None if os.name != "nt" else "msvcrt")
    return _Callbacks(_Logger(log), _Allocate(("calloc", memory)), _Free(("free", memory)), None, None)


class EventInfo(ctypes.Structure):
    """fmi2EventInfo."""

    _fields_ = (
        *((name, c_int) for name in EVENT_FLAGS),
        ("nextEventTime", c_double),
    )


class Refused(SystemExit):
    """A call was not answered with fmi2OK or fmi2Warning."""


class _Element:
    """An element of XML.  `find`, `findall` and `get` are those of ElementTree, for paths of tags."""

    def __init__(self, tag: str, attrib: dict[str, str]) -> None:
        self.tag = tag
        self.attrib = attrib
        self.get = attrib.get
        self.children: list[_Element] = []

    def find(self, path: str) -> _Element | None:
        return next(iter(self.findall(path)), None)

    def findall(self, path: str) -> list[_Element]:
        found = [self]
        for tag in path.split("/"):
            found = [child for one in found for child in one.children if child.tag == tag]
        return found


def _parse(path: str) -> _Element:
    """The outermost element of a file."""
    document = _Element("", {})
    opened = [document]

    def begin(tag: str, attrib: dict[str, str]) -> None:
        one = _Element(tag, attrib)
        opened[-1].children.append(one)
        opened.append(one)

    parser = expat.ParserCreate()
    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda _: opened.pop()
    with open(path, "rb") as file:  # noqa: PTH123
        parser.ParseFile(file)
    return document.children[0]


class Unpacked:
    """An FMU in a folder: its description, its library, the address of its resources."""

    def __init__(self, folder: str, library: str, resources: str) -> None:
        self.description = _parse(f"{folder}/modelDescription.xml")
        self.folder, _, self.library = f"{folder}/{library}".rpartition("/")
        self.resources = resources


class Called:
    """One instance of an FMU of either version: `call` runs a function on it, which must answer OK or Warning.

    version   what the names of its functions begin with
    announce  takes the name of each call before it is made"""

    def __init__(self, fmu: Unpacked, version: str, announce: Callable[[str], None] | None = None) -> None:
        self.version = version
        self.announce = announce or _announce
        self.announce("loading the library")
        here = os.getcwd()  # noqa: PTH109 - pathlib takes longer to import
        os.chdir(fmu.folder)  # as importers do for libraries that need others beside them
        self.library = ctypes.CDLL(f"{fmu.folder}/{fmu.library}")
        os.chdir(here)

    def instantiate(self, name: str, *arguments: object) -> None:
        """arguments   behind the name of the instance"""
        instantiate = getattr(self.library, name)
        instantiate.restype = c_void_p
        self.announce(name)
        self.component = c_void_p(instantiate(b"smoke", *arguments))
        if not self.component:
            sys.exit(f"{name} answered NULL")

    def status(self, name: str, *arguments: object, note: str = "") -> int:
        """What the function answers."""
        self.announce(name + note)
        answer: int = getattr(self.library, name)(self.component, *arguments)
        return answer

    def call(self, name: str, *arguments: object, note: str = "") -> None:
        status = self.status(name, *arguments, note=note)
        if status > 1:
            raise Refused(f"{name}{note} answered {status_name(status).replace('fmi2', self.version)}")

    def end(self) -> None:
        self.call(f"{self.version}Terminate")
        self.free()

    def free(self) -> None:
        name = f"{self.version}FreeInstance"
        self.announce(name)
        free = getattr(self.library, name)
        free.restype = None
        free(self.component)


class Instance(Called):
    """Of FMI 2.0.

    guid      by default that of the FMU
    log       takes (environment, name, status, category, message), by default it prints the message"""

    def __init__(
        self,
        fmu: Unpacked,
        kind: int,
        guid: str | None = None,
        logging: bool = True,
        log: Callable[[int, bytes, int, bytes, bytes], None] | None = None,
        announce: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(fmu, "fmi2", announce)
        self.callbacks = callback_functions(log or _log)
        token = (fmu.description.attrib["guid"] if guid is None else guid).encode()
        place, callbacks = fmu.resources.encode(), byref(self.callbacks)
        self.instantiate("fmi2Instantiate", kind, token, place, callbacks, 0, int(logging))

    def begin(self) -> None:
        self.call("fmi2SetupExperiment", c_int(0), c_double(0.0), c_double(0.0), c_int(0), c_double(0.0))
        self.call("fmi2EnterInitializationMode")
        self.call("fmi2ExitInitializationMode")

    def make_step(self, t: float, h: float) -> None:
        self.call("fmi2DoStep", c_double(t), c_double(h), c_int(1), note=f" at t = {t:g} s")


def main(unpacked: Unpacked, concluded: Sequence[str]) -> None:
    """Ten steps from the start values; every call must answer fmi2OK, every Real be finite.

    concluded  what the solver concludes from the declared dependencies, each tried out: `exact`, `still`"""
    h = run_interfaces(unpacked, Instance, _integrate, _read_back)
    if concluded:
        try_conclusions(unpacked, h, concluded)


def run_interfaces(
    unpacked: Unpacked,
    make: Callable[[Unpacked, int], Any],
    integrate: Callable[[Any, _Element, float], None],
    read_back: Callable[[Any, _Element], None],
) -> float:
    """Ten steps as co-simulation, and as model exchange, of an FMU of either version; the length of a step, s.

    make, integrate, read_back   what the version does in its own way"""
    description = unpacked.description
    experiment = description.find("DefaultExperiment")
    h = float(experiment.attrib["stepSize"]) if experiment is not None else 1e-3
    for kind, tag, run in ((CO_SIMULATION, "CoSimulation", _step), (MODEL_EXCHANGE, "ModelExchange", integrate)):
        if description.find(tag) is not None:
            fmu = make(unpacked, kind)
            fmu.begin()
            run(fmu, description, h)
            read_back(fmu, description)
            fmu.end()
    return h


_TRIED_FOR = 5.0  # s; an FMU whose steps take longer is tried with fewer


def try_out(unpacked: Unpacked, starts: Sequence[tuple[str, int, Any, bool]]) -> None:
    """What an importer does with a co-simulation from loading to unloading.  A call that is not answered with fmi2OK
    or fmi2Warning ends it early: only a crash counts; other faults are reported when the FMU is run."""

    def initialize(fmu: Instance, start: float) -> None:
        _set_starts(fmu, starts, inputs=False)
        fmu.call("fmi2SetupExperiment", c_int(0), c_double(0.0), c_double(start), c_int(0), c_double(0.0))
        fmu.call("fmi2EnterInitializationMode")
        _set_starts(fmu, starts, inputs=True)
        fmu.call("fmi2ExitInitializationMode")

    try_instance(unpacked, Instance, initialize, "fmi2Terminate")


def try_instance(
    unpacked: Unpacked,
    make: Callable[[Unpacked, int], Any],
    initialize: Callable[[Any, float], None],
    terminate: str,
) -> None:
    """As try_out, of an FMU of either version; ends this process.

    initialize   takes the instance and the time of the start, s     terminate   the name of the function"""
    sys.stdout = os.fdopen(os.dup(1), "w", encoding="utf-8")  # an FMU may close or redirect its own
    fmu, answer = None, ""
    try:
        fmu = make(unpacked, CO_SIMULATION)
        start = _default(unpacked.description, "startTime", 0.0)
        h = _default(unpacked.description, "stepSize", 1e-3)
        initialize(fmu, start)
        begin = time.monotonic()
        for k in range(STEPS):
            if time.monotonic() - begin < _TRIED_FOR:
                fmu.make_step(start + k * h, h)
        fmu.call(terminate)
    except (OSError, AttributeError) as error:  # no library of this machine; a function is missing
        answer = str(error)
    except SystemExit as error:
        answer = str(error.code)
    if fmu is not None:
        if not answer.endswith("Fatal"):  # after that no function may be called
            fmu.free()
        _announce("unloading the library")
        _unload(fmu.library._handle)
    _announce(END)
    os._exit(0)  # other libraries of the FMU at the end of a process do not belong to its run


_FAMILIES: dict[str, Any] = {"Real": c_double, "Integer": c_int, "Boolean": c_int, "String": c_char_p}


def _set_starts(fmu: Instance, starts: Sequence[tuple[str, int, Any, bool]], inputs: bool) -> None:
    """One call for each, as a run does; inputs are set in initialization mode."""
    for family, reference, value, is_input in starts:
        if is_input == inputs:
            one = value.encode() if family == "String" else value
            values = (_FAMILIES[family] * 1)(one)
            note = f" of a start value, {value!r}"
            fmu.call(f"fmi2Set{family}", (c_uint * 1)(reference), c_size_t(1), values, note=note)


def _default(description: _Element, key: str, otherwise: float) -> float:
    """A number of DefaultExperiment, if it is a sound one."""
    experiment = description.find("DefaultExperiment")
    try:
        value = float(experiment.attrib[key]) if experiment is not None else otherwise
    except (KeyError, ValueError):
        return otherwise
    return value if math.isfinite(value) and (key != "stepSize" or value > 0.0) else otherwise


def _unload(handle: int) -> None:
    import _ctypes

    if sys.platform == "win32":
        _ctypes.FreeLibrary(handle)
    else:
        _ctypes.dlclose(handle)


def _announce(call: str) -> None:
    print(CALL + call, flush=True)


def _log(_: int, __: bytes, status: int, ___: bytes, message: bytes) -> None:
    """Messages before an error are reported with it; they are printf formats, so % and # are doubled."""
    print_message(status, message.decode("utf-8", "replace").replace("%%", "%").replace("##", "#"))


def print_message(status: int, text: str) -> None:
    print(f"[{status_name(status).removeprefix('fmi2').upper()}] {text}", flush=True)


def _step(fmu: Any, _: _Element, h: float) -> None:
    for k in range(STEPS):
        fmu.make_step(k * h, h)


def try_conclusions(unpacked: Unpacked, h: float, concluded: Sequence[str]) -> None:
    """exact  one communication step gives the result of ten, as the course of all states under held inputs is known
    still  the outputs that a step leaves are those of its end, for nothing that is computed moves with states or time

    Inputs are off their start values, so that something moves, unless the FMU refuses these values.  One that refuses a
    step ten times as long as its own is not compared."""
    variables = unpacked.description.findall("ModelVariables/ScalarVariable")
    reals = {str(i): one for i, one in enumerate(variables, 1) if one.find("Real") is not None}
    types = [real for one in variables if (real := one.find("Real")) is not None]
    states = [reals[state] for real in types if (state := real.get("derivative")) is not None]
    inputs = [one for one in reals.values() if one.get("causality") == "input" and not _is_bounded(one)]
    moved = [_start(one) + 0.01 * (1 + i % 7) for i, one in enumerate(inputs)]
    for values in (moved, [_start(one) for one in inputs]):
        ends = []
        try:
            for steps in (1, STEPS):
                fmu = Instance(unpacked, CO_SIMULATION)
                _set(fmu, inputs, values)
                fmu.begin()
                for k in range(steps):
                    t, length = k * STEPS * h / steps, STEPS * h / steps
                    fmu.make_step(t, length)
                ends.append(_get(fmu, states))
                if "still" in concluded and inputs:
                    _try_still(fmu, list(reals.values()), inputs[0], values[0])
                fmu.end()
        except Refused:
            continue
        if "exact" in concluded:
            _compare_ends(states, ends, STEPS * h)
        return


def _compare_ends(states: Sequence[_Element], ends: Sequence[list[float]], length: float) -> None:
    """Rounding is measured by the largest state of the same unit."""
    units = [state.find("Real").get("unit") for state in states]  # type: ignore[union-attr]
    for state, unit, a, b in zip(states, units, *ends, strict=True):
        size = max(abs(x) for end in ends for x, u in zip(end, units, strict=True) if u == unit)
        if abs(a - b) > 1e-9 * size + 1e-12:
            sys.exit(
                f"{state.attrib['name']} is {a:.9g} after one step of {length:g} s and {b:.9g} after ten of a tenth: "
                "its rate depends on more than `depends` in element.toml lists; complete the list, or leave it out"
            )


def _try_still(fmu: Instance, reals: Sequence[_Element], known: _Element, value: float) -> None:
    """Read what the step left, have it computed anew, and read it again."""
    computed = [one for one in reals if one.get("causality") in ("output", "local")]
    left = _get(fmu, computed)
    for again in (value + 1.0, value):
        _set(fmu, [known], [again])
    for one, a, b in zip(computed, left, _get(fmu, computed), strict=True):
        if a != b:
            sys.exit(
                f"{one.attrib['name']} is {a:.9g} after a step and {b:.9g} when it is computed there: "
                "it depends on more than `depends` in element.toml lists; complete the list, or leave it out"
            )


def _is_bounded(one: _Element) -> bool:
    real = one.find("Real")
    return real is not None and ("min" in real.attrib or "max" in real.attrib)


def _start(one: _Element) -> float:
    return float(one.find("Real").get("start", "0"))  # type: ignore[union-attr]


def _references(variables: Sequence[_Element]) -> ctypes.Array[c_uint]:
    return (c_uint * len(variables))(*(int(one.attrib["valueReference"]) for one in variables))


def _set(fmu: Instance, variables: Sequence[_Element], values: Sequence[float]) -> None:
    n = len(variables)
    fmu.call("fmi2SetReal", _references(variables), c_size_t(n), (c_double * n)(*values))


def _get(fmu: Instance, variables: Sequence[_Element]) -> list[float]:
    values = (c_double * len(variables))()
    fmu.call("fmi2GetReal", _references(variables), c_size_t(len(variables)), values)
    return list(values)


def _integrate(fmu: Instance, description: _Element, h: float) -> None:
    """Euler's method with steps short enough for stiff elements; events are ignored."""
    h *= 1e-6
    n = len(description.findall("ModelStructure/Derivatives/Unknown"))
    m = int(description.get("numberOfEventIndicators", "0"))
    x, slopes, indicators = (c_double * n)(), (c_double * n)(), (c_double * m)()
    ended, info = c_int(), EventInfo()
    fmu.call("fmi2NewDiscreteStates", byref(info))
    fmu.call("fmi2EnterContinuousTimeMode")
    fmu.call("fmi2GetContinuousStates", x, c_size_t(n))
    for k in range(1, STEPS + 1):
        at = f" at t = {k * h:g} s"
        fmu.call("fmi2GetDerivatives", slopes, c_size_t(n), note=f" before t = {k * h:g} s")
        x[:] = [a + h * b for a, b in zip(x, slopes, strict=True)]
        fmu.call("fmi2SetTime", c_double(k * h), note=at)
        fmu.call("fmi2SetContinuousStates", x, c_size_t(n), note=at)
        fmu.call("fmi2GetEventIndicators", indicators, c_size_t(m), note=at)
        fmu.call("fmi2CompletedIntegratorStep", c_int(1), byref(ended), byref(ended), note=at)


def _read_back(fmu: Instance, description: _Element) -> None:
    """Strings are left out: any text is one."""
    variables = description.findall("ModelVariables/ScalarVariable")
    kinds: Sequence[tuple[str, str, Callable[[int], ctypes.Array[c_double] | ctypes.Array[c_int]]]] = (
        ("Real", "Real", lambda n: (c_double * n)()),
        ("Integer", "Integer", lambda n: (c_int * n)()),
        ("Integer", "Enumeration", lambda n: (c_int * n)()),
        ("Boolean", "Boolean", lambda n: (c_int * n)()),
    )
    for function, kind, memory in kinds:
        mine = [one for one in variables if one.find(kind) is not None]
        references = (c_uint * len(mine))(*(int(one.attrib["valueReference"]) for one in mine))
        values = memory(len(mine))
        fmu.call(f"fmi2Get{function}", references, c_size_t(len(mine)), values)
        wrong = [one.attrib["name"] for one, value in zip(mine, values, strict=True) if not math.isfinite(value)]
        if wrong:
            sys.exit(f"not finite after ten steps: {', '.join(wrong)}")


def _starts(text: str) -> Sequence[tuple[str, int, Any, bool]]:
    import json  # which few runs need

    starts: Sequence[tuple[str, int, Any, bool]] = json.loads(text)
    return starts


def start() -> None:
    """As the arguments of the process say."""
    if sys.argv[1] == "--try":
        try_out(Unpacked(*sys.argv[2:5]), _starts(sys.argv[5]) if len(sys.argv) > 5 else ())
    else:
        main(Unpacked(*sys.argv[1:4]), sys.argv[4:])
        _announce(END)


if __name__ == "__main__":
    start()
