"""The terminals that an FMU of any tool describes in terminalsAndIcons.xml."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence

from lxml import etree

from fmu_builder.export.terminals import FILE
from fmu_builder.model.connectable import Member, Terminal


def read_terminals(archive: zipfile.ZipFile) -> dict[str, Terminal]:
    """By name.  A file that cannot be parsed has none: a run needs no terminals, and `check` names what is wrong."""
    if FILE not in archive.namelist():
        return {}
    try:
        root = etree.fromstring(archive.read(FILE), etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return {}
    return {one.name: one for one in _terminals(root.findall("Terminals/Terminal"), "")}


def _terminals(elements: Sequence[etree._Element], before: str) -> Iterator[Terminal]:
    for element in elements:
        name = f"{before}{element.get('name', '')}"
        members = tuple(
            Member(one.get("memberName", ""), one.get("variableName", ""), one.get("variableKind", ""))
            for one in element.iterfind("TerminalMemberVariable")
        )
        rule, kind = element.get("matchingRule", ""), element.get("terminalKind", "")
        yield Terminal(name, rule, kind, members, element.get("description", ""))
        yield from _terminals(element.findall("Terminal"), f"{name}.")
