"""One FMU as a slave: read, checked, and loaded through fmpy's FMU2Slave."""

from __future__ import annotations

import copy
import io
import itertools
import math
import os
import re
import zipfile
from collections.abc import Mapping
from ctypes import CDLL, Array, byref, c_char_p, c_double, c_int, c_uint, c_void_p
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import fmpy
from fmpy.fmi1 import printLogMessage
from fmpy.fmi2 import (
    FMU2Slave,
    fmi2CallbackAllocateMemoryTYPE,
    fmi2CallbackFreeMemoryTYPE,
    fmi2CallbackFunctions,
    fmi2CallbackLoggerTYPE,
)
from fmpy.logging import addLoggerProxy
from fmpy.model_description import ModelDescription
from lxml import etree

from fmu_builder.cosim.description_variables import derivatives_of, states_behind, variables_of
from fmu_builder.cosim.description_xml import gives_derivatives
from fmu_builder.cosim.extraction import Extraction
from fmu_builder.cosim.fmi3.adaptor import READABLE, Adaptor, function_of, kinds_of, name_in_fmi3
from fmu_builder.cosim.fmi3.arrays import Array as Fmi3Array
from fmu_builder.cosim.fmi3.arrays import Scalars
from fmu_builder.cosim.fmi3.tried_starts import tried_starts
from fmu_builder.cosim.isolation.limits import Limits
from fmu_builder.cosim.isolation.process import IsolatedProcess
from fmu_builder.cosim.pending_steps import waiting_step
from fmu_builder.cosim.port_names import find_ports
from fmu_builder.cosim.terminals import read_terminals
from fmu_builder.errors import InputError, Problem, SlaveError, behind_number, raise_faults
from fmu_builder.export.archive import check_archive, platform_folders
from fmu_builder.export.smoke import STATUS
from fmu_builder.export.toolchain import PLATFORMS, TUPLES, host_platform
from fmu_builder.export.trial import try_out
from fmu_builder.export.xml_files import DESCRIPTION, description_root
from fmu_builder.model.connectable import FAMILY, PortUse, SlaveVariable, Terminal
from fmu_builder.model.model import Model
from fmu_builder.model.terminals import port_of

OK, WARNING, DISCARD, ERROR, FATAL, PENDING = range(6)
_FAMILY_LETTERS = {"r": "Real", "i": "Integer", "b": "Boolean", "s": "String"}  # as logged texts point to variables


@dataclass(frozen=True)
class SlaveDescription:
    path: Path
    model_name: str
    identifier: str
    guid: str
    variables: Mapping[str, SlaveVariable]
    ports: Mapping[str, PortUse]
    platforms: tuple[str, ...]
    interfaces: tuple[str, ...] = ("co-simulation",)
    start: float = 0.0
    stop: float | None = None
    step: float | None = None
    ours: bool = False  # made by fmu-builder
    restorable: bool = False  # an FMU of fmu-builder that can restore its state
    derivatives: Mapping[int, int] = field(default_factory=dict)  # value references of states and of their derivatives,
    # of an FMU that gives directional derivatives
    faults: Mapping[str, str] = field(default_factory=dict)  # of DefaultExperiment: what is wrong, by its attribute
    terminals: Mapping[str, Terminal] = field(default_factory=dict)
    can_restore: bool = False  # it declares canGetAndSetFMUstate
    varies_step: bool = False  # it declares canHandleVariableCommunicationStepSize
    shows_events: bool = False  # of an FMU for FMI 3.0: it may end steps at events, and its state can be restored
    interpolates: bool = False  # it declares canInterpolateInputs
    asynchronous: bool = False  # it declares canRunAsynchronuously: its steps may be answered with fmi2Pending
    states_behind: Mapping[str, bool] = field(default_factory=dict)  # by output: whether it depends on states
    arrays: tuple[Fmi3Array, ...] = ()  # of an FMU for FMI 3.0, whose scalars `variables` has
    left_out: tuple[str, ...] = ()  # of an FMU for FMI 3.0: what the master has not: clocks, Binary, arrays of texts
    misnamed: tuple[str, ...] = ()  # platforms whose folder of binaries/ lacks the library that modelIdentifier names
    kinds: Mapping[int, str] | None = None  # of an FMU for FMI 3.0: the types of its variables, by value reference
    warnings: tuple[str, ...] = ()  # of an FMU that is built from a recipe: what `build` warns of

    def obstacle(self) -> str | None:
        """Why the master cannot run the FMU on this machine, or None."""
        platform = host_platform()
        if platform in self.platforms:
            return None
        if platform in self.misnamed:
            folder, _, name = self.library().rpartition("/")
            what = f"has no binary for this machine: {folder}/ lacks {name}"
            return f"{what}; rename the library, or correct modelIdentifier"
        return f"has no binary for this machine ({platform}); it has {', '.join(self.platforms) or 'none'}"

    def library(self) -> str:
        """The archive name of the library for this machine."""
        folder = host_platform() if self.kinds is None else TUPLES[host_platform()]
        return f"binaries/{folder}/{self.identifier}{PLATFORMS[host_platform()].suffix}"


@lru_cache(maxsize=256)
def _of_cache(fmu: Path) -> SlaveDescription:
    return read_slave(fmu)


def read_built(fmu: Path, model: Model) -> SlaveDescription:
    """The description of an FMU that host_fmu has built from this model, with what modelDescription.xml has no place
    for.  It is read once in a process: the name of its folder changes with its content."""
    description = _of_cache(fmu)
    variables = {**description.variables}
    for v in model.variables:
        if (v.above is not None or v.below is not None) and v.name in variables:
            variables[v.name] = replace(variables[v.name], above=v.above, below=v.below)
    warnings = tuple(f"{model.name}: {warning}" for warning in model.warnings())
    return replace(description, variables=variables, warnings=warnings)


def read_slave(path: Path) -> SlaveDescription:
    """The description of an .fmu by its modelDescription.xml.  Raises InputError for anything that is no slave of FMI
    2.0 or 3.0."""
    names = check_archive(path)
    data = io.BytesIO(path.read_bytes())  # fmpy leaves a file open when it fails
    with zipfile.ZipFile(data) as archive:
        root = description_root(archive.read(DESCRIPTION), str(path))
    version = root.get("fmiVersion", "")
    is_fmi3 = version.startswith("3.")
    if version != "2.0" and not is_fmi3:
        raise InputError(Problem(str(path), f"is for FMI {version}; 2.0 and 3.0 are supported"))
    try:
        with zipfile.ZipFile(data) as archive:
            terminals = read_terminals(archive)
        description = fmpy.read_model_description(data, validate=False)
        literals = {t.name: {i.name: int(i.value) for i in t.items or ()} for t in description.typeDefinitions}
        scalars = Scalars(description, str(path))
        kinds = kinds_of(description, scalars) if is_fmi3 else None
    except InputError:
        raise
    except Exception as error:  # fmpy raises bare exceptions and lxml errors alike
        raise_faults(_schema_faults(path, root, is_fmi3))
        raise InputError(Problem(str(path), f"{DESCRIPTION} cannot be read: {error}")) from error
    if description.coSimulation is None and description.modelExchange is None:
        raise InputError(Problem(str(path), f"{DESCRIPTION} declares neither CoSimulation nor ModelExchange"))
    if description.coSimulation is None:
        raise InputError(Problem(str(path), "is for model exchange only; export it again for co-simulation"))
    capabilities = description.coSimulation
    identifier = capabilities.modelIdentifier
    ours = (description.generationTool or "").startswith("fmu-builder")
    terminals = {name: scalars.terminal(one) for name, one in terminals.items()}
    variables = variables_of(description, root, scalars, literals, ours, is_fmi3)
    folders = {n: f"binaries/{TUPLES[n] if is_fmi3 else n}/{identifier}{p.suffix}" for n, p in PLATFORMS.items()}
    others = () if is_fmi3 else sorted(_other_platforms(names))
    full = platform_folders(names)
    misnamed = (n for n, library in folders.items() if library not in names and library.split("/")[1] in full)
    experiment, faults = _default_experiment(description)
    can_restore = bool(capabilities.canGetAndSetFMUstate)
    return SlaveDescription(
        path=path,
        model_name=description.modelName,
        identifier=identifier,
        guid=description.guid,
        variables=variables,
        ports=_terminal_ports(terminals, variables) | {p.name: p for p in find_ports(variables)},
        terminals=terminals,
        platforms=(*(name for name, library in folders.items() if library in names), *others),
        interfaces=("co-simulation", *(("model exchange",) if description.modelExchange else ())),
        start=experiment.get("startTime", 0.0),
        stop=experiment.get("stopTime"),
        step=experiment.get("stepSize"),
        ours=ours,
        restorable=ours and can_restore,
        derivatives=derivatives_of(description, scalars) if gives_derivatives(root) else {},
        faults=faults,
        can_restore=can_restore,
        varies_step=bool(capabilities.canHandleVariableCommunicationStepSize),
        shows_events=is_fmi3 and can_restore and bool(capabilities.mightReturnEarlyFromDoStep),
        interpolates=bool(capabilities.canInterpolateInputs),
        asynchronous=bool(capabilities.canRunAsynchronuously),
        states_behind=states_behind(description, scalars),
        misnamed=tuple(misnamed),
        kinds=kinds,
        arrays=scalars.arrays,
        left_out=tuple(
            v.name for v in description.modelVariables if is_fmi3 and (v.type not in READABLE or not [*scalars.of(v)])
        ),
    )


def _schema_faults(path: Path, root: etree._Element, is_fmi3: bool) -> list[Problem]:
    """What a modelDescription.xml that fmpy does not read has against its schema."""
    from fmu_builder.export.description import model_schema  # whose parts only a faulty FMU needs

    schema = model_schema(3 if is_fmi3 else 2)
    if schema.validate(root):
        return []
    return [Problem(f"{path}: {DESCRIPTION}: line {one.line}", str(one.message)) for one in schema.error_log]


def _terminal_ports(terminals: Mapping[str, Terminal], variables: Mapping[str, SlaveVariable]) -> dict[str, PortUse]:
    ports = {name: port_of(terminal, variables) for name, terminal in terminals.items()}
    return {name: port for name, port in ports.items() if port is not None}


def _default_experiment(description: ModelDescription) -> tuple[dict[str, float], dict[str, str]]:
    """The times of DefaultExperiment, s, that are sound, and what is wrong with the others."""
    times, faults = {}, {}
    for key in ("startTime", "stopTime", "stepSize"):
        text = getattr(description.defaultExperiment, key, None)
        if text:
            try:
                times[key] = float(text)
            except ValueError:
                times[key] = math.nan
            if not math.isfinite(times[key]):
                del times[key]
                faults[key] = f"'{text}' must be a finite number, in s"
    if times.get("stepSize", 1.0) <= 0.0:
        faults["stepSize"] = f"{times.pop('stepSize'):g} s must be greater than 0"
    return times, faults


def _other_platforms(names: frozenset[str]) -> set[str]:
    """Folders of `binaries/` for platforms that fmu-builder does not support, such as win32."""
    return {*platform_folders(names)} - set(PLATFORMS)


@dataclass(frozen=True)
class LogEntry:
    slave: str
    status: int
    category: str
    text: str

    def __str__(self) -> str:
        return f"{self.slave}: {self.text}"


# One logger for all slaves of this process: fmpy's proxy, which finishes the text of variadic messages, keeps only one.
# The environment that a slave is given, and passes back, shows whose message it is.
_slaves: dict[int, Slave] = {}
_environments = itertools.count(1)


def _receive(environment: int | None, name: bytes | None, status: int, category: bytes | None, text: bytes) -> None:
    slave = _slaves.get(environment or 0)
    if slave is None:  # without its environment
        slave = next((s for s in _slaves.values() if s.name.encode("utf-8") == name), None)
    if slave is None:  # loaded by someone else in this process, whose messages the proxy sends here
        printLogMessage(environment, name, status, category, text)
    else:
        slave.log.append(LogEntry(slave.name, status, _decode(category), slave.readable(_decode(text))))


def _decode(raw: bytes | None) -> str:
    return (raw or b"").decode("utf-8", errors="replace")


_callbacks = fmi2CallbackFunctions()
_callbacks.logger = fmi2CallbackLoggerTYPE(_receive)
_callbacks.allocateMemory = fmi2CallbackAllocateMemoryTYPE(fmpy.calloc)
_callbacks.freeMemory = fmi2CallbackFreeMemoryTYPE(fmpy.free)
addLoggerProxy(byref(_callbacks))


_SHOWN_MESSAGES = 3  # of what a slave logged, in an error


class Slave:
    """A loaded instance.  Calls raise SlaveError with the slave's name, the call, its status, and what it logged."""

    def __init__(
        self,
        name: str,
        description: SlaveDescription,
        starts: Mapping[str, float | str] | None = None,
        limits: Limits | None = None,
        ends_early: bool = False,
    ) -> None:
        """starts   SI values that the run sets, with which an FMU of others is tried out first
        limits   of an FMU for FMI 2.0 that is to run in a process of its own, and needs no trial
        ends_early   whether it may end steps at events, if it shows them"""
        self.name, self.ends_early = name, ends_early and description.shows_events
        self.description = description
        self.log: list[LogEntry] = []
        self._reported: LogEntry | None = None  # the last one that stands in an error
        self.status = OK  # of the last call that was not OK
        where = f"{name} ({description.path.name})"
        missing = description.obstacle()
        if missing:
            raise SlaveError(Problem(where, missing))
        library = description.library()
        if limits is None:
            variables, arrays = description.variables, description.arrays
            tried = list(tried_starts(variables, arrays, description.kinds, starts or {}))
            try_out(description.path, library, where, tried)
        self._alive = self._closed = False
        self._process: IsolatedProcess | None = None
        self._environment = next(_environments)
        self._extraction = Extraction.of(
            description.path,
            library.rpartition("/")[0],
            description.guid if description.ours and limits is None else None,
        )
        callbacks = fmi2CallbackFunctions.from_buffer_copy(_callbacks)
        callbacks.componentEnvironment = c_void_p(self._environment)
        _slaves[self._environment] = self
        try:
            if limits is not None:
                self._process = IsolatedProcess(
                    where,
                    name=name,
                    guid=description.guid,
                    library=self._extraction.folder / library,
                    resources=self._extraction.folder / "resources",
                    limits=limits,
                    variables=len(description.variables),
                    callbacks=callbacks,
                )
                callbacks.componentEnvironment = c_void_p(self._process.address)
            try:
                with Extraction.lock:
                    if self._extraction.loaded is None:
                        self._extraction.loaded = self._load(
                            self._process.library if self._process else self._extraction.folder / library
                        )
                self.fmu = copy.copy(self._extraction.loaded)
                self.fmu.instanceName = name
            except Exception as error:  # fmpy raises bare exceptions for faulty files
                raise SlaveError(Problem(where, f"does not load: {error}")) from error
            self.dll = self.fmu.dll
            try:
                if description.kinds is not None:
                    self.fmu.adaptor.take_early_return(self.ends_early)
                self.fmu.instantiate(callbacks=callbacks, loggingOn=True)
            except Exception as error:  # fmpy: "Failed to instantiate model"
                raise self.error("fmi2Instantiate", None) from error
            self._alive = True
        except BaseException:
            self.close()
            raise

    def _load(self, library: Path) -> FMU2Slave:
        """fmpy works in the library's folder while it loads, and stays there if that fails."""
        before = Path.cwd()
        adaptor = None
        if self.description.kinds is not None:
            adaptor = Adaptor(library, self._extraction.folder, self.description.kinds, self.description.arrays)
            library = adaptor.path
        try:
            loaded = FMU2Slave(
                guid=self.description.guid,
                unzipDirectory=str(self._extraction.folder),
                modelIdentifier=self.description.identifier,
                instanceName=self.name,
                libraryPath=str(library),
            )
        finally:
            os.chdir(before)
        if self.description.asynchronous and self._process is None:
            loaded.dll.fmi2DoStep = waiting_step(loaded.dll)
        if adaptor is not None:
            adaptor.connect(loaded.dll)
            loaded.adaptor = adaptor  # as long as its library
        return loaded

    @cached_property
    def library(self) -> CDLL:
        """The library once more, for functions with other types of arguments than fmpy's."""
        return CDLL(self.dll._name, handle=self.dll._handle)

    @property
    def has_crashed(self) -> bool:
        """Whether its process, where it has one of its own, has ended."""
        return self._process is not None and bool(self._process.ending)

    @property
    def component(self) -> int:
        return int(self.fmu.component)

    def readable(self, text: str) -> str:
        """A logged text with the names of the variables it points to (`#r12#`), and its escapes undone."""

        def name(found: re.Match[str]) -> str:
            family = _FAMILY_LETTERS[found[1]]
            for v in self.description.variables.values():
                if v.reference == int(found[2]) and FAMILY.get(v.type, v.type) == family:
                    return v.name
            return found[0]

        return re.sub(r"#([ribs])(\d+)#", name, text).replace("##", "#")

    def error(self, call: str, status: int | None, note: str = "") -> SlaveError:
        if self._process is not None and self._process.ending:
            answer = self._process.ending
        elif status is None:
            answer = "returned no instance"
        elif 0 <= status < len(STATUS):
            answer = f"answered {STATUS[status]}"
        else:
            answer = f"answered the undefined status {status}"
        begin = max((i for i, entry in enumerate(self.log, 1) if entry is self._reported), default=0)
        new = self.log[begin:]
        self._reported = new[-1] if new else self._reported
        worst = [entry for entry in new if entry.status >= DISCARD] or new
        logged = "; ".join(dict.fromkeys(entry.text for entry in worst[-_SHOWN_MESSAGES:]))
        what = f"{call} {answer}" + (f" ({note})" if note else "")
        if status == PENDING and not self.description.asynchronous:
            what += ", which an FMU without canRunAsynchronuously must not"
        elif status == PENDING:
            what += "; the master waits for the step if the slave is not isolated"
        if self._process is not None and self._process.repair:
            what += f"; {self._process.repair}"
        if self.description.kinds is not None:
            what = name_in_fmi3(what, self.description.kinds)
        what += f"; it logged: {logged}" if logged else ""
        return SlaveError(Problem(self.name, what))

    def interrupted(self, time: float) -> str | None:
        """A note if the step from this time on did not return after Ctrl-C, and its process was ended."""
        if self._process is None or not self._process.is_interrupted:
            return None
        self.status = DISCARD
        return f"{self.name} did not return from fmi2DoStep at {time:g} s after Ctrl-C, and its process was ended"

    def check(self, status: int, call: str, note: str = "") -> None:
        """Raise SlaveError unless the status is OK or Warning."""
        self.status = status
        if status not in (OK, WARNING):
            raise self.error(call, status, note)

    def setup(self, start: float, stop: float, tolerance: float | None) -> None:
        status = self.dll.fmi2SetupExperiment(
            self.component, int(tolerance is not None), tolerance or 0.0, start, 1, stop
        )
        self.check(status, "fmi2SetupExperiment", f"start {start:g} s, stop {stop:g} s")

    def call(self, name: str, note: str = "") -> None:
        """A function whose only argument is the instance."""
        self.check(getattr(self.dll, name)(self.component), name, note)

    def set(self, variable: SlaveVariable, value: float | str) -> None:
        family = FAMILY[variable.type]
        if isinstance(value, str):
            values: Array[Any] = (c_char_p * 1)(value.encode("utf-8"))
        elif family == "Real":
            values = (c_double * 1)(value)
        elif -(2**31) <= int(value) < 2**31:
            values = (c_int * 1)(int(value))
        else:
            raise SlaveError(Problem(self.name, f"{variable.name} = {int(value)} is no whole number of 32 bits"))
        status = getattr(self.dll, f"fmi2Set{family}")(self.component, (c_uint * 1)(variable.reference), 1, values)
        self.status = status
        if status != OK:
            call = function_of("Set", family, variable.reference, self.description.kinds)
            unit = behind_number(variable.unit)
            self.check(status, call, f"{variable.name} = {value!r}{unit}".rstrip())

    def get(self, variable: SlaveVariable) -> float:
        """The value of a variable that is a number."""
        family = FAMILY[variable.type]
        value: Array[Any] = (c_double * 1)() if family == "Real" else (c_int * 1)()
        status = getattr(self.dll, f"fmi2Get{family}")(self.component, (c_uint * 1)(variable.reference), 1, value)
        self.check(status, function_of("Get", family, variable.reference, self.description.kinds), variable.name)
        return float(value[0])

    def close(self, free: bool = True) -> None:
        """Free the instance and its folder; never raises.

        `free`: false after fmi2Fatal, when no function of any instance may be called any more."""
        if self._alive and free:
            self.fmu.fmi2FreeInstance(self.fmu.component)
        if self._process is not None:
            self._process.close()
        _slaves.pop(self._environment, None)
        if not self._closed:
            self._closed = True
            self._extraction.close(free or not self._alive)
        self._alive = False
