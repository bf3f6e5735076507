"""The library adaptor.c between the master and an FMU for FMI 3.0, and what it needs to know of the FMU."""

from __future__ import annotations

import ctypes
import functools
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from ctypes import c_char_p, c_size_t, c_uint8, c_uint32, c_void_p
from pathlib import Path

from fmpy.model_description import ModelDescription

from fmu_builder.cosim.fmi3.arrays import Array, Scalars
from fmu_builder.export.host import shared_library
from fmu_builder.export.toolchain import fmi_headers
from fmu_builder.model.connectable import Type

# Type of FMI 3.0 -> type of the master, in the order of Kind in adaptor.c.
KINDS: Mapping[str, Type] = {
    "Float64": "Real",
    "Float32": "Real",
    "Int8": "Integer",
    "UInt8": "Integer",
    "Int16": "Integer",
    "UInt16": "Integer",
    "Int32": "Integer",
    "UInt32": "Integer",
    "Int64": "Integer",
    "UInt64": "Integer",
    "Boolean": "Boolean",
    "String": "String",
}
READABLE = frozenset({*KINDS, "Enumeration"})  # types of the variables that the master has
_ENUMERATION = "Int64"  # functions that read and set enumerations
_FUNCTIONS = (  # behind those that get and set, in the order of Functions in adaptor.c
    "InstantiateCoSimulation",
    "FreeInstance",
    "SetDebugLogging",
    "EnterInitializationMode",
    "ExitInitializationMode",
    "Terminate",
    "Reset",
    "DoStep",
    "GetFMUState",
    "SetFMUState",
    "FreeFMUState",
    "SerializedFMUStateSize",
    "SerializeFMUState",
    "DeserializeFMUState",
    "GetDirectionalDerivative",
    "GetOutputDerivatives",
)
# Names of functions of FMI 2.0 in messages, where FMI 3.0 has others.
_OTHER_NAMES = {
    "fmi2Instantiate": "fmi3InstantiateCoSimulation",
    "fmi2SetupExperiment": "fmi3EnterInitializationMode",
}
_ACCESS = re.compile(r"fmi2([GS]et)(Real|Integer)\b")


class _Array(ctypes.Structure):
    """Array of adaptor.c."""

    _fields_ = (
        ("reference", c_uint32),
        ("first", c_uint32),
        ("size", c_uint32),
        ("kind", c_uint32),
        ("place", c_size_t),
        ("has_starts", c_size_t),
    )


class _Fmu(ctypes.Structure):
    """Fmu of adaptor.c."""

    _fields_ = (
        ("functions", c_void_p * (2 * len(KINDS) + len(_FUNCTIONS))),
        ("resources", c_char_p),
        ("references", c_void_p),
        ("kinds", c_void_p),
        ("size", c_size_t),
        ("arrays", c_void_p),
        ("n_arrays", c_size_t),
        ("starts", c_void_p),
        ("kept_size", c_size_t),
        ("longest", c_size_t),
        ("is_plain", c_uint32),
    )


def name_in_fmi3(text: str, kinds: Mapping[int, str]) -> str:
    """A message about functions of FMI 2.0 as one about those of FMI 3.0.

    kinds   types of the variables: a function for all Reals or Integers is one for each type that the FMU has"""
    present = {kind_of(kind) for kind in kinds.values()}

    def access(found: re.Match[str]) -> str:
        return " or ".join(f"fmi3{found[1]}{kind}" for kind in KINDS if KINDS[kind] == found[2] and kind in present)

    text = _ACCESS.sub(access, text)
    for old, new in _OTHER_NAMES.items():
        text = text.replace(old, new)
    return text.replace("fmi2", "fmi3")


def function_of(verb: str, family: str, reference: int, kinds: Mapping[int, str] | None) -> str:
    """The name of the function that gets or sets a variable.   kinds: of an FMU for FMI 3.0, its types"""
    return f"fmi2{verb}{family}" if kinds is None else f"fmi3{verb}{kind_of(kinds[reference])}"


def kind_of(type_name: str) -> str:
    """The type by whose functions a variable of FMI 3.0 is read."""
    return _ENUMERATION if type_name == "Enumeration" else type_name


def type_of(type_name: str) -> Type:
    """The type of the master for one of FMI 2.0 or 3.0."""
    return KINDS.get(type_name, type_name)  # type: ignore[arg-type]


def kinds_of(description: ModelDescription, scalars: Scalars) -> dict[int, str]:
    """The types of the scalars by the references that the master has for them, without clocks and binary data."""
    readable = (v for v in description.modelVariables if v.type in READABLE)
    return {reference: v.type for v in readable for _, reference, _ in scalars.of(v)}


@functools.cache
def _library() -> Path:
    """adaptor.c, compiled at first use.  Raises ToolError."""
    return shared_library(Path(__file__).with_name("adaptor.c"), (fmi_headers(),))


class Adaptor:
    """What an FMU has in its folder beside its own library: a copy of the adaptor, which has one FMU.

    kinds   types of FMI 3.0 of its scalars, by the references that the master has for them
    arrays  those that hold scalars"""

    def __init__(self, library: Path, folder: Path, kinds: Mapping[int, str], arrays: Sequence[Array] = ()) -> None:
        compiled = _library()
        self.path = folder / f"adaptor{compiled.suffix}"
        shutil.copyfile(compiled, self.path)
        self.fmu = ctypes.CDLL(str(library))
        self._resources = f"{folder / 'resources'}{os.sep}".encode()
        ordered = sorted(kinds)
        self._references = (c_uint32 * len(ordered))(*ordered)
        places = {name: place for place, name in enumerate(KINDS)}
        self._kinds = (c_uint8 * len(ordered))(*(places[kind_of(kinds[one])] for one in ordered))
        self._is_plain = "Float32" not in kinds.values()
        self._starts, rows = bytearray(), []
        for one in arrays:
            kind = places[kind_of(one.kind)]
            rows.append(_Array(one.reference, one.first, one.size, kind, len(self._starts), bool(one.starts)))
            self._starts += one.start_bytes()
            self._starts += bytes(-len(self._starts) % 8)  # each array begins at a multiple of 8 bytes
        self._arrays = (_Array * len(rows))(*rows)
        self._longest = max((one.size for one in arrays), default=0)

    def connect(self, adaptor: ctypes.CDLL) -> None:
        """Give the loaded copy the functions and types of its FMU."""
        names = [f"{verb}{kind}" for verb in ("Get", "Set") for kind in KINDS] + [*_FUNCTIONS]
        addresses = [ctypes.cast(getattr(self.fmu, f"fmi3{name}"), c_void_p).value for name in names]
        given = _Fmu(
            (c_void_p * len(addresses))(*addresses),
            self._resources,
            ctypes.cast(self._references, c_void_p),
            ctypes.cast(self._kinds, c_void_p),
            len(self._references),
            ctypes.cast(self._arrays, c_void_p),
            len(self._arrays),
            ctypes.cast((c_uint8 * len(self._starts)).from_buffer(self._starts), c_void_p),
            len(self._starts),
            self._longest,
            int(self._is_plain),
        )
        self._own = ctypes.CDLL(adaptor._name, handle=adaptor._handle)
        self._own.connect_fmu(ctypes.byref(given))

    def take_early_return(self, takes: bool) -> None:
        """Whether the instances that are made from now on may end steps early."""
        self._own.take_early_return(int(takes))
