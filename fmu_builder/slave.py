"""One FMU as a slave: read, checked, loaded through fmpy's FMU2Slave, and called with buffers that stay where they are."""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from ctypes import byref, c_double, c_int, c_uint
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import fmpy
from fmpy.fmi2 import (
    FMU2Slave,
    fmi2CallbackAllocateMemoryTYPE,
    fmi2CallbackFreeMemoryTYPE,
    fmi2CallbackFunctions,
    fmi2CallbackLoggerTYPE,
)
from fmpy.logging import addLoggerProxy

from fmu_builder.errors import InputError, Problem, SlaveError
from fmu_builder.ports import PORT_KINDS
from fmu_builder.toolchain import PLATFORMS, host_platform

STATUS = ("fmi2OK", "fmi2Warning", "fmi2Discard", "fmi2Error", "fmi2Fatal", "fmi2Pending")
OK, WARNING, DISCARD, ERROR, FATAL, PENDING = range(6)
_TERMINATED, _LAST_SUCCESSFUL_TIME = 3, 2  # fmi2StatusKind

Type = Literal["Real", "Integer", "Boolean", "Enumeration", "String"]
BUFFER = {"Real": c_double, "Integer": c_int, "Boolean": c_int, "Enumeration": c_int}
FAMILY = {"Real": "Real", "Integer": "Integer", "Boolean": "Boolean", "Enumeration": "Integer"}


@dataclass(frozen=True)
class SlaveVariable:
    """A variable as modelDescription.xml declares it.  `depends`: names of the inputs an output depends on, at
    initialization; None means all."""

    name: str
    reference: int
    type: Type
    causality: str
    variability: str
    initial: str | None
    unit: str
    start: str | None
    depends: frozenset[str] | None


@dataclass(frozen=True)
class SlavePort:
    """A bundle found by the names of the variables (ports.py)."""

    name: str
    kind: str
    side: Literal["body", "force"]
    motion: Mapping[str, tuple[str, ...]]
    force: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class SlaveDescription:
    path: Path
    model_name: str
    identifier: str
    guid: str
    variables: Mapping[str, SlaveVariable]
    ports: Mapping[str, SlavePort]
    step: float | None


def read_slave(path: Path) -> SlaveDescription:
    """What modelDescription.xml of an .fmu says.  Raises InputError for anything that is no FMI 2.0 slave."""
    _check_archive(path)
    try:
        description = fmpy.read_model_description(str(path), validate=False)
    except Exception as error:  # fmpy raises bare exceptions and lxml errors alike
        raise InputError(Problem(str(path), f"modelDescription.xml cannot be read: {error}")) from error
    if description.fmiVersion != "2.0":
        raise InputError(Problem(str(path), f"is for FMI {description.fmiVersion}, only 2.0 is run here"))
    if description.coSimulation is None:
        raise InputError(Problem(str(path), "has no co-simulation part, so it cannot be a slave"))
    unknowns = {u.variable.name: u.dependencies for u in (*description.outputs, *description.initialUnknowns)}
    variables = {}
    for v in description.modelVariables:
        depends = unknowns.get(v.name)
        variables[v.name] = SlaveVariable(
            name=v.name,
            reference=v.valueReference,
            type=v.type,
            causality=v.causality,
            variability=v.variability,
            initial=v.initial,
            unit=v.unit or (v.declaredType.unit if v.declaredType else None) or "",
            start=v.start,
            depends=None if depends is None else frozenset(d.name for d in depends),
        )
    step = description.defaultExperiment.stepSize if description.defaultExperiment else None
    return SlaveDescription(
        path=path,
        model_name=description.modelName,
        identifier=description.coSimulation.modelIdentifier,
        guid=description.guid,
        variables=variables,
        ports={p.name: p for p in find_ports(variables)},
        step=float(step) if step else None,
    )


def _check_archive(path: Path) -> None:
    """A readable zip whose files stay inside the folder they are extracted to."""
    if not path.is_file():
        raise InputError(Problem(str(path), "there is no such file"))
    try:
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        raise InputError(Problem(str(path), f"is no complete FMU (a zip archive): {error}")) from error
    if damaged:
        raise InputError(Problem(str(path), f"is damaged: the checksum of {damaged} is wrong"))
    problems = [
        Problem(str(path), f"holds '{name}', which would be written outside its folder; the FMU is refused")
        for name in names
        if name.startswith(("/", "\\")) or ":" in name or ".." in re.split(r"[/\\]", name)
    ]
    if problems:
        raise InputError(problems)
    if "modelDescription.xml" not in names:
        raise InputError(Problem(str(path), "holds no modelDescription.xml, so it is no FMU"))


def find_ports(variables: Mapping[str, SlaveVariable]) -> Iterator[SlavePort]:
    """Ports by their names: `p.r[1]` .. and `p.f[1]` .. make the port `p`.  The kind with most variables wins."""
    prefixes = dict.fromkeys(name.rsplit(".", 1)[0] for name in variables if "." in name)
    for prefix in prefixes:
        best: SlavePort | None = None
        for kind, roles in PORT_KINDS.items():
            motion = {r.name: _role_names(prefix, r.name, r.size) for r in roles.motion}
            force = {r.name: _role_names(prefix, r.name, r.size) for r in roles.force}
            names = [n for group in (*motion.values(), *force.values()) for n in group]
            if not all(n in variables for n in names):
                continue
            given = {variables[n].causality for group in motion.values() for n in group}
            taken = {variables[n].causality for group in force.values() for n in group}
            if given == {"output"} and taken == {"input"}:
                port = SlavePort(prefix, kind, "body", motion, force)
            elif given == {"input"} and taken == {"output"}:
                port = SlavePort(prefix, kind, "force", motion, force)
            else:
                continue
            if best is None or len(port.motion) > len(best.motion):
                best = port
        if best is not None:
            yield best


def _role_names(prefix: str, role: str, size: int) -> tuple[str, ...]:
    return tuple(f"{prefix}.{role}[{k + 1}]" for k in range(size)) if size > 1 else (f"{prefix}.{role}",)


@dataclass(frozen=True)
class LogEntry:
    slave: str
    status: int
    category: str
    text: str

    def __str__(self) -> str:
        return f"{self.slave}: {self.text}"


# One logger for all slaves of this process: fmpy's proxy, which finishes the text of variadic messages, keeps only one.
_log: list[LogEntry] = []


def _receive(_environment: object, name: bytes, status: int, category: bytes, text: bytes) -> None:
    def decode(raw: bytes | None) -> str:
        return (raw or b"").decode("utf-8", errors="replace")

    _log.append(LogEntry(decode(name), status, decode(category), decode(text).replace("##", "#")))


_callbacks = fmi2CallbackFunctions()
_callbacks.logger = fmi2CallbackLoggerTYPE(_receive)
_callbacks.allocateMemory = fmi2CallbackAllocateMemoryTYPE(fmpy.calloc)
_callbacks.freeMemory = fmi2CallbackFreeMemoryTYPE(fmpy.free)
addLoggerProxy(byref(_callbacks))


class Slave:
    """A loaded instance.  Calls raise SlaveError with the slave's name, the call, its status, and what it logged."""

    def __init__(self, name: str, description: SlaveDescription) -> None:
        self.name = name
        self.description = description
        self.log: list[LogEntry] = []
        self._folder = Path(tempfile.mkdtemp(prefix="fmu-builder-"))
        self._alive = False
        platform = host_platform()
        library = self._folder / "binaries" / platform / (description.identifier + PLATFORMS[platform].suffix)
        try:
            fmpy.extract(str(description.path), unzipdir=str(self._folder))
            if not library.is_file():
                found = sorted(p.name for p in (self._folder / "binaries").glob("*"))
                raise SlaveError(
                    Problem(
                        f"{name} ({description.path.name})",
                        f"has no binary for this machine ({platform}); it has {', '.join(found) or 'none'}",
                    )
                )
            try:
                self.fmu = FMU2Slave(
                    guid=description.guid,
                    unzipDirectory=str(self._folder),
                    modelIdentifier=description.identifier,
                    instanceName=name,
                    libraryPath=str(library),
                )
            except Exception as error:  # fmpy raises a bare Exception where the library does not load
                raise SlaveError(Problem(f"{name} ({description.path.name})", f"does not load: {error}")) from error
            self.dll = self.fmu.dll
            _log.clear()
            try:
                self.fmu.instantiate(callbacks=_callbacks, loggingOn=True)
            except Exception as error:  # fmpy: "Failed to instantiate model"
                self._collect()
                raise self._error("fmi2Instantiate", None) from error
            self._alive = True
            self._collect()
        except BaseException:
            self.close()
            raise

    @property
    def component(self) -> int:
        return int(self.fmu.component)

    def _collect(self) -> None:
        self.log += [entry for entry in _log if entry.slave == self.name or not entry.slave]
        _log[:] = [entry for entry in _log if entry.slave != self.name and entry.slave]

    def _error(self, call: str, status: int | None, note: str = "") -> SlaveError:
        if status is None:
            answer = "gave no instance"
        else:
            answer = (
                f"answered {STATUS[status]}" if 0 <= status < len(STATUS) else f"answered the undefined status {status}"
            )
        said = [entry.text for entry in self.log if entry.status >= DISCARD][-3:]
        what = f"{call} {answer}" + (f" ({note})" if note else "") + "".join(f"; {text}" for text in said)
        return SlaveError(Problem(self.name, what))

    def check(self, status: int, call: str, note: str = "") -> None:
        """Collect what was logged; raise SlaveError unless the status is OK or Warning."""
        if _log:
            self._collect()
        if status not in (OK, WARNING):
            raise self._error(call, status, note)

    def setup(self, start: float, stop: float, tolerance: float | None) -> None:
        status = self.dll.fmi2SetupExperiment(
            self.component, int(tolerance is not None), tolerance or 0.0, start, 1, stop
        )
        self.check(status, "fmi2SetupExperiment")

    def call(self, name: str) -> None:
        """A function whose only argument is the instance."""
        self.check(getattr(self.dll, name)(self.component), name)

    def set(self, variable: SlaveVariable, value: float) -> None:
        family = FAMILY[variable.type]
        buffer = BUFFER[variable.type]
        status = getattr(self.dll, f"fmi2Set{family}")(
            self.component,
            (c_uint * 1)(variable.reference),
            1,
            (buffer * 1)(buffer(value).value if buffer is c_double else int(value)),
        )
        self.check(status, f"fmi2Set{family}", f"{variable.name} = {value!r}")

    def get(self, variable: SlaveVariable) -> float:
        family = FAMILY[variable.type]
        value = (BUFFER[variable.type] * 1)()
        status = getattr(self.dll, f"fmi2Get{family}")(self.component, (c_uint * 1)(variable.reference), 1, value)
        self.check(status, f"fmi2Get{family}", variable.name)
        return float(value[0])

    def discarded(self, time: float, step: float) -> float:
        """After fmi2Discard: the time at which the slave ended the simulation, else SlaveError."""
        if _log:
            self._collect()
        terminated, last = c_int(0), c_double(time)
        self.dll.fmi2GetRealStatus(self.component, _LAST_SUCCESSFUL_TIME, byref(last))
        if self.dll.fmi2GetBooleanStatus(self.component, _TERMINATED, byref(terminated)) == OK and terminated.value:
            return last.value
        raise self._error(
            "fmi2DoStep",
            DISCARD,
            f"step of {step:g} s from {time:g} s, done up to {last.value:g} s; try a smaller step",
        )

    def close(self) -> None:
        """Free the instance and its folder; never raises."""
        if self._alive:
            self._alive = False
            self.fmu.freeInstance()
        shutil.rmtree(self._folder, ignore_errors=True)
