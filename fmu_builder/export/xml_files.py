"""XML files of FMUs, which come from anywhere: no entity is resolved, nothing is loaded beside them."""

from __future__ import annotations

import io
from xml.parsers import expat

from lxml import etree

from fmu_builder.errors import InputError, Problem

DESCRIPTION = "modelDescription.xml"
_ROOT = "fmiModelDescription"


def parsed(text: bytes, where: str) -> etree._Element:
    """The root of an XML file.

    where   of messages.   Raises InputError for what is no XML, and for a document type: entities are not resolved, as
    they can make a small file large, and lxml validates no tree that holds some."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(text, parser)
    except etree.XMLSyntaxError as error:
        raise InputError(Problem(where, f"is no XML: {error.msg}")) from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise InputError(Problem(where, "declares a document type, which no FMU needs; it is refused"))
    try:  # lxml takes UTF-16 that is declared as UTF-8; most importers, and smoke.py, do not
        expat.ParserCreate().Parse(text, True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        what = f"is no XML that all tools read: {error}; save it as UTF-8, and declare that or nothing"
        raise InputError(Problem(where, what)) from error
    return root


def description_root(text: bytes, where: str) -> etree._Element:
    """The root of a modelDescription.xml, with its fmiVersion.   where: the FMU in messages.   Raises InputError."""
    root = parsed(text, f"{where}: {DESCRIPTION}")
    faults = []
    for one in (root, *root.iterchildren(etree.Element)):
        name = etree.QName(one)
        if name.namespace is not None:
            what = f"<{name.localname}> is in the namespace '{name.namespace}', and FMI has none: remove its xmlns"
            faults.append(Problem(f"{where}: {DESCRIPTION}: line {one.sourceline}", what))
        if one is root and faults:
            break  # it may be that of all inside as well
    if etree.QName(root).localname != _ROOT or (root.get("fmiVersion") is None and not faults):
        faults = [Problem(where, f"{DESCRIPTION} is no {_ROOT} with an fmiVersion")]
    if faults:
        raise InputError(faults)
    return root


def is_fmi3(text: bytes, where: str) -> bool:
    """Whether a modelDescription.xml is one of FMI 3.0; nothing behind its root element is read.   Raises
    InputError."""
    try:
        beginning = etree.iterparse(
            io.BytesIO(text), ("start",), resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
        )
        _, root = next(iter(beginning))
    except (etree.XMLSyntaxError, StopIteration) as error:
        raise InputError(Problem(f"{where}: {DESCRIPTION}", f"is no XML: {error}")) from error
    return bool(root.get("fmiVersion", "").startswith("3."))
