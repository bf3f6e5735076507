"""An FMU as the rules read it: the names in its archive, modelDescription.xml with its lines, and its variables."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lxml import etree

from fmu_builder.errors import InputError, Problem
from fmu_builder.export.archive import check_archive
from fmu_builder.export.xml_files import DESCRIPTION, description_root

TYPES = ("Real", "Integer", "Boolean", "String", "Enumeration")
_REPAIR = "export it for FMI 2.0, with fmu-builder by `build --fmi 2`"
_KEPT = ("constant", "fixed", "tunable", "discrete", "continuous")
# by causality, the variabilities that it may have
VARIABILITIES: Mapping[str, Sequence[str]] = {
    "parameter": ("fixed", "tunable"),
    "calculatedParameter": ("fixed", "tunable"),
    "input": ("discrete", "continuous"),
    "output": ("constant", "discrete", "continuous"),
    "local": _KEPT,
    "independent": ("continuous",),
}


def initials(causality: str, variability: str) -> Sequence[str]:
    """The values of `initial` that a variable may have, the default first; none for inputs and time."""
    if causality in ("input", "independent"):
        return ()
    if causality == "parameter" or variability == "constant":
        return ("exact",)
    if causality == "calculatedParameter" or variability in ("fixed", "tunable"):
        return ("calculated", "approx")
    return ("calculated", "exact", "approx")


@dataclass(frozen=True)
class Scalar:
    """A ScalarVariable.   index: from 1     initial: also where it follows from the others, '' for none
    own: attributes of its type's element     shared: those, and what its declared type gives besides"""

    index: int
    name: str
    reference: int
    type: str
    causality: str
    variability: str
    initial: str
    line: int
    attributes: Mapping[str, str]
    own: Mapping[str, str]
    shared: Mapping[str, str]

    @property
    def family(self) -> str:
        """The type of the functions that get and set it."""
        return "Integer" if self.type == "Enumeration" else self.type

    @property
    def start(self) -> str | None:
        return self.own.get("start")

    @property
    def is_settable(self) -> bool:
        """Whether a start value can be set before the initialization."""
        return self.causality == "input" or (self.initial in ("exact", "approx") and self.variability != "constant")

    def number(self, key: str) -> float | None:
        """An attribute that the declared type may give, as a number; None without one."""
        with suppress(ValueError):
            return float(self.shared[key]) if key in self.shared else None
        return math.nan

    def __str__(self) -> str:
        return f"'{self.name}'"


class Description:
    """modelDescription.xml of FMI 2.0.   text: the file     where: of messages

    Raises InputError for what is no XML, or of another version."""

    def __init__(self, text: bytes, where: str) -> None:
        self.root = description_root(text, where)
        version = self.root.get("fmiVersion")
        if version != "2.0":
            raise InputError(Problem(where, f"is for FMI {version}, and this command is for FMI 2.0 only: {_REPAIR}"))

    @cached_property
    def interfaces(self) -> tuple[etree._Element, ...]:
        """ModelExchange and CoSimulation, as far as there."""
        return tuple(one for one in self.root if one.tag in ("ModelExchange", "CoSimulation"))

    def interface(self, kind: str) -> etree._Element | None:
        return self.root.find(kind)

    @property
    def is_for_co_simulation_only(self) -> bool:
        return [one.tag for one in self.interfaces] == ["CoSimulation"]

    @cached_property
    def identifiers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.get("modelIdentifier", "") for one in self.interfaces))

    @cached_property
    def types(self) -> Mapping[str, tuple[str, etree._Element]]:
        """By the name of a SimpleType: its base type and that element."""
        found = {}
        for one in self.root.iterfind("TypeDefinitions/SimpleType"):
            base = next((child for child in one if child.tag in TYPES), None)
            if base is not None:
                found[one.get("name", "")] = (str(base.tag), base)
        return found

    @cached_property
    def units(self) -> Mapping[str, etree._Element]:
        """By name; of several with one name the first."""
        found: dict[str, etree._Element] = {}
        for one in self.root.iterfind("UnitDefinitions/Unit"):
            found.setdefault(one.get("name", ""), one)
        return found

    @cached_property
    def variables(self) -> tuple[Scalar, ...]:
        return tuple(self._scalars())

    def _scalars(self) -> Iterator[Scalar]:
        for index, one in enumerate(self.root.iterfind("ModelVariables/ScalarVariable"), 1):
            typed = next((child for child in one if child.tag in TYPES), None)
            if typed is None:
                continue
            causality, variability = one.get("causality", "local"), one.get("variability", "continuous")
            declared = self.types.get(typed.get("declaredType", ""), ("", None))[1]
            allowed = initials(causality, variability)
            yield Scalar(
                index,
                one.get("name", ""),
                int(one.get("valueReference", "0")),
                str(typed.tag),
                causality,
                variability,
                one.get("initial") or (allowed[0] if allowed else ""),
                one.sourceline or 0,
                dict(one.attrib),
                dict(typed.attrib),
                {**(dict(declared.attrib) if declared is not None else {}), **typed.attrib},
            )

    @cached_property
    def by_index(self) -> Mapping[int, Scalar]:
        return {v.index: v for v in self.variables}

    @cached_property
    def states(self) -> tuple[int, ...]:
        """Indices of the continuous states, in the order of the Derivatives of ModelStructure; 0 where one is none."""
        unknowns = (self.by_index.get(unknown) for unknown, _ in self.unknowns("Derivatives"))
        named = (int(v.own["derivative"]) for v in unknowns if v is not None and "derivative" in v.own)
        return tuple(index if index in self.by_index else 0 for index in named)

    @cached_property
    def state_pairs(self) -> tuple[tuple[Scalar, Scalar], ...]:
        """Each continuous state with its derivative, in the order of Derivatives; none where the list is wrong."""
        rates = [self.by_index.get(index) for index, _ in self.unknowns("Derivatives")]
        states = [self.by_index.get(int(v.own.get("derivative", "0"))) if v is not None else None for v in rates]
        pairs = [(x, v) for x, v in zip(states, rates, strict=True) if x is not None and v is not None]
        sound = all(one.type == "Real" for pair in pairs for one in pair) and len(pairs) == len(rates)
        return tuple(pairs) if sound else ()

    @property
    def knows_states(self) -> bool:
        return bool(self.state_pairs) or not any(self.unknowns("Derivatives"))

    def unknowns(self, group: str) -> Iterator[tuple[int, etree._Element]]:
        """Index and element of each Unknown of Outputs, Derivatives or InitialUnknowns."""
        for one in self.root.iterfind(f"ModelStructure/{group}/Unknown"):
            yield int(one.get("index", "0")), one


def by_reference(description: Description) -> dict[tuple[str, int], list[Scalar]]:
    """The variables of a family and value reference."""
    found: dict[tuple[str, int], list[Scalar]] = {}
    for v in description.variables:
        found.setdefault((v.family, v.reference), []).append(v)
    return found


class Fmu(Description):
    """An FMI 2.0 FMU.  `names` are the files of its archive, `root` is modelDescription.xml.

    Raises InputError for what is no FMI 2.0 FMU: no whole archive of bounded size, no XML, another version."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.names = check_archive(path)
        super().__init__(self.read(DESCRIPTION), str(path))

    def read(self, name: str) -> bytes:
        with zipfile.ZipFile(self.path) as archive:
            return archive.read(name)

    @cached_property
    def entries(self) -> tuple[zipfile.ZipInfo, ...]:
        with zipfile.ZipFile(self.path) as archive:
            return tuple(archive.infolist())
