"""The files of an SSP archive: unpacked once, and their XML.

An archive comes from anywhere: its size is bounded, no name leads out of it, and XML with a document type, which could
hold entities without end, is refused."""

from __future__ import annotations

import hashlib
import math
import os
import re
import secrets
import zipfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from lxml import etree

from fmu_builder.errors import InputError, Problem, ToolError, did_you_mean
from fmu_builder.export.archive import Room, check_archive, check_zip, unpack
from fmu_builder.export.cache import cache_folder, discard, used
from fmu_builder.files import read_text

MAIN = "SystemStructure.ssd"
NAMESPACES = {
    short: f"http://ssp-standard.org/SSP1/SystemStructure{name}"
    for short, name in (
        ("ssd", "Description"),
        ("ssc", "Common"),
        ("ssv", "ParameterValues"),
        ("ssm", "ParameterMapping"),
        ("ssb", "SignalDictionary"),
    )
}
_LARGEST_XML = 64 * 2**20  # bytes; a million connections
_HINT = "FMU_BUILDER_CACHE names the folder of the cache, where archives are unpacked"
_OURS = frozenset(NAMESPACES.values())


@dataclass(frozen=True)
class Package:
    """An unpacked archive: its path as messages name it, and the folder with its files."""

    path: Path
    folder: Path

    def resolve(self, source: str, where: str, document: str = MAIN) -> tuple[Path, str]:
        """The file that a relative URI of a document in the archive names, and the fragment of the URI.

        Raises InputError for another URI, and where there is no such file."""
        address, _, fragment = source.partition("#")
        name = unquote(address)
        if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", name) or name.startswith(("/", "\\")):
            what = f"'{source}' is not in the archive; pack the file into it, and name it by its path there"
            raise InputError(Problem(where, what))
        parts = [*PurePosixPath(document).parts[:-1], *re.split(r"[/\\]", name)]
        if ".." in parts:
            raise InputError(Problem(where, f"'{source}' leads out of the archive; pack the file into it"))
        place = self.folder.joinpath(*(part for part in parts if part not in ("", ".")))
        if not name or not os.path.isfile(place):  # noqa: PTH113  a name may be too long for a path
            there = (p.relative_to(self.folder).as_posix() for p in self.folder.rglob("*") if p.is_file())
            alike = did_you_mean(name, [one for one in there if Path(one).suffix == Path(name).suffix])
            raise InputError(Problem(where, f"the archive holds no '{source}'{alike}"))
        return place, unquote(fragment)

    def shown(self, file: Path) -> str:
        """A file of the archive as messages name it."""
        return f"{self.path}: {file.relative_to(self.folder).as_posix()}"


def open_package(path: Path, room: Room, shown: str | None = None) -> Package:
    """The archive, unpacked into the cache.

    room    for it and for others around it and inside it
    shown   its name in messages
    Raises InputError, ToolError."""
    try:
        check_zip(path, "SSP", MAIN, room)
    except InputError as error:
        raise InputError([replace(p, where=shown or p.where) for p in error.problems]) from error
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:32]
    folder = used(cache_folder() / "ssp" / digest)
    if not folder.is_dir():
        temporary = folder.with_name(f"{digest}.{secrets.token_hex(4)}")
        try:
            temporary.mkdir(parents=True)
            unpack(path, temporary, ("",), _HINT)
            os.replace(temporary, folder)  # noqa: PTH105  whole or not at all
        except OSError as error:
            if not folder.is_dir():  # else another process was faster
                raise ToolError(Problem(str(path), f"cannot be unpacked into {folder}: {error.strerror}")) from error
        finally:
            discard(temporary)
        used(folder)
    return Package(Path(shown) if shown else path, folder)


def finite_number(text: str) -> float | None:
    """The number that a text of XML gives, None where it gives no finite one."""
    text = text.strip()
    if not re.fullmatch(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", text):
        return None
    return float(text) if math.isfinite(float(text)) else None


@dataclass(frozen=True)
class Item:
    """An XML element with the name of its file."""

    element: etree._Element
    file: str

    @property
    def where(self) -> str:
        return f"{self.file}: line {self.element.sourceline}"

    @property
    def tag(self) -> str:
        """The name without its namespace."""
        return str(etree.QName(self.element).localname)

    @property
    def namespace(self) -> str:
        return str(etree.QName(self.element).namespace)

    def get(self, key: str, default: str = "") -> str:
        value: str = self.element.get(key, default)
        return value

    def needed(self, key: str, problems: list[Problem]) -> str:
        """An attribute that must be there."""
        if key not in self.element.attrib:
            problems.append(Problem(self.where, f"<{self.tag}> has no {key}"))
        return self.get(key)

    def number(self, key: str, default: float, problems: list[Problem]) -> float:
        """A finite number, the default where the attribute is missing or wrong."""
        text = self.element.get(key)
        found = default if text is None else finite_number(text)
        if found is None:
            problems.append(Problem(self.where, f"{key} '{text}' must be a finite number"))
        return default if found is None else found

    def truth(self, key: str, problems: list[Problem]) -> bool:
        """xs:boolean, false where the attribute is missing."""
        text = self.get(key, "false").strip()
        if text not in ("true", "false", "1", "0"):
            problems.append(Problem(self.where, f"{key} '{text}' must be true or false"))
        return text in ("true", "1")

    def all(self) -> Iterator[Item]:
        """The elements inside, without comments."""
        yield from (Item(e, self.file) for e in self.element if isinstance(e.tag, str))

    def first(self, tag: str) -> Item | None:
        return next((child for child in self.all() if child.tag == tag), None)

    def inside(self, tag: str) -> list[Item]:
        """The elements in the first child of this name."""
        child = self.first(tag)
        return list(child.all()) if child else []

    def check(self, known: Collection[str], problems: list[Problem]) -> None:
        """Adds the elements that neither SSP 1.0 nor 2.0 has here."""
        for child in self.all():
            if child.tag not in known or child.namespace not in _OURS:
                what = (
                    f"<{self.tag}> holds <{child.tag}>, which SSP does not have there{did_you_mean(child.tag, known)}"
                )
                problems.append(Problem(child.where, what))


def read_xml(file: Path, shown: str, root: str) -> Item:
    """The root element, of the name `root`, of an XML file.   shown: the file in messages.   Raises InputError."""
    return parse_xml(read_text(file, _LARGEST_XML), shown, root)


def read_xml_of_fmu(fmu: Path, source: str, where: str, root: str) -> Item:
    """The root element of an XML file in an FMU, as read_xml."""
    name = unquote(source)
    names = check_archive(fmu)
    if name not in names:
        raise InputError(Problem(where, f"{fmu.name} holds no '{source}'{did_you_mean(name, names)}"))
    with zipfile.ZipFile(fmu) as archive:
        if archive.getinfo(name).file_size > _LARGEST_XML:
            what = f"'{source}' has more than {_LARGEST_XML / 2**20:g} MiB, the most that is read of such a file"
            raise InputError(Problem(where, what))
        data = archive.read(name)
    try:
        return parse_xml(data.decode("utf-8-sig"), f"{fmu.name}: {name}", root)
    except UnicodeDecodeError as error:
        raise InputError(Problem(where, f"'{source}' is not UTF-8 text: {error.reason}")) from error


def parse_xml(text: str, shown: str, root: str) -> Item:
    """As read_xml, of a text."""
    if "<!DOCTYPE" in text:
        what = "holds a document type (<!DOCTYPE), whose entities may have no end; SSP needs none: remove it"
        raise InputError(Problem(shown, what))
    # the encoding, as the text is checked in it: declared as UTF-7, XML could hide a document type
    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, encoding="utf-8")
    try:
        found = Item(etree.fromstring(text.encode("utf-8"), parser), shown)
    except etree.XMLSyntaxError as error:
        raise InputError(Problem(shown, f"is no XML: {error.msg}")) from error
    return checked_root(found, root)


def checked_root(found: Item, root: str) -> Item:
    """The element, if it has this name and a known version."""
    if found.tag != root or found.namespace not in _OURS:
        raise InputError(Problem(found.where, f"begins with <{found.tag}>; must be <{root}> of SSP 1.0 or 2.0"))
    version = found.get("version")
    if not re.fullmatch(r"1\.[0-9]+(-.*)?|2\.0(-.*)?", version):
        raise InputError(Problem(found.where, f"version '{version}' of SSP is unknown; 1.0 and 2.0 are read"))
    return found
