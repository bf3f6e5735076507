"""terminalsAndIcons/ of an FMU: its ports as terminals, and its icon, in the form of FMI 3.0."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import fmpy
from lxml import etree

from fmu_builder.errors import Problem, ToolError
from fmu_builder.export.description import xml_bytes
from fmu_builder.export.fmi3_variables import Fmi, Fmi3Variable, fmi3_variables
from fmu_builder.model.connectable import Member, Terminal
from fmu_builder.model.model import Model
from fmu_builder.model.terminals import terminal_of

FILE = "terminalsAndIcons/terminalsAndIcons.xml"
_ICON = {"x1": "-100", "y1": "-100", "x2": "100", "y2": "100"}  # all of the coordinate system that is the default


def terminals_and_icons(model: Model, has_icon: bool, fmi: Fmi) -> bytes | None:
    """terminalsAndIcons.xml, or None for a model without ports and icon.

    Ports with a variable that the FMU does not show are left out.   Raises ToolError naming what the schema refuses."""
    visible = {v.name for v in model.variables if not v.hidden}
    terminals = [terminal_of(p) for p in model.ports if visible.issuperset((*p.motion_names, *p.force_names))]
    if fmi == 3:
        terminals = [_with_arrays(one, fmi3_variables(model)) for one in terminals]
    if not terminals and not has_icon:
        return None
    root = etree.Element("fmiTerminalsAndIcons", fmiVersion="3.0")
    if has_icon:
        etree.SubElement(etree.SubElement(root, "GraphicalRepresentation"), "Icon", _ICON)
    if terminals:
        group = etree.SubElement(root, "Terminals")
        for one in terminals:
            about = {"description": one.description} if one.description else {}
            element = etree.SubElement(
                group, "Terminal", name=one.name, matchingRule=one.rule, terminalKind=one.kind, **about
            )
            for member in one.members:
                etree.SubElement(
                    element,
                    "TerminalMemberVariable",
                    variableName=member.variable,
                    memberName=member.name,
                    variableKind=member.kind,
                )
    schema = terminals_schema()
    if not schema.validate(root):
        raise ToolError(Problem(FILE, str(e.message)) for e in schema.error_log)
    return xml_bytes(root)


def _with_arrays(terminal: Terminal, variables: Sequence[Fmi3Variable]) -> Terminal:
    """The terminal whose members are the arrays that hold its scalars: `r` for r[1], r[2], r[3]."""
    array_of = {v.name: one for one in variables if len(one.scalars) > 1 for v in one.scalars}
    members: dict[str, Member] = {}
    for member in terminal.members:
        array = array_of.get(member.variable)
        if array is None:
            members[member.variable] = member
        else:
            members[array.name] = replace(member, name=member.name.partition("[")[0], variable=array.name)
    return replace(terminal, members=tuple(members.values()))


@functools.cache
def terminals_schema() -> etree.XMLSchema:
    """The schema that fmpy ships."""
    return etree.XMLSchema(etree.parse(Path(fmpy.__file__).parent / "schema" / "fmi3" / "fmi3TerminalsAndIcons.xsd"))


ICON_SIZE, _EDGE, _GAP = 128, 2, 2  # px
PART_SIZE = (ICON_SIZE - 2 * _EDGE - _GAP) // 2  # of the icon of an element in that of an assembly


def icon_places(count: int) -> Iterator[tuple[float, float]]:
    """Where the icons of elements begin in that of an assembly: the first four of them in two rows."""
    middle = (ICON_SIZE - PART_SIZE) / 2
    for number in range(min(count, 4)):
        row, column = divmod(number, 2)
        x, y = (_EDGE + place * (PART_SIZE + _GAP) for place in (column, row))
        yield middle if count == 3 and number == 2 else x, middle if count == 2 else y


def svg_icon(drawings: Sequence[str]) -> str:
    """The icon as SVG: that of the element, or those of several beside one another as in their PNG."""
    if len(drawings) == 1:
        return drawings[0]
    parts = []
    for drawing, (x, y) in zip(drawings, icon_places(len(drawings)), strict=False):
        body = drawing[drawing.index("<svg") :].replace('width="128" height="128"', "", 1).rstrip()
        parts.append(body.replace("<svg", f'<svg x="{x:g}" y="{y:g}" width="{PART_SIZE}" height="{PART_SIZE}"', 1))
    size = f'width="{ICON_SIZE}" height="{ICON_SIZE}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {ICON_SIZE} {ICON_SIZE}" {size}>'
    return "\n".join([head, *parts, "</svg>", ""])
