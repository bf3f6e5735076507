"""The annotation of fmu-builder: step, algorithm, drives and what is recorded, for which SSP has no place.

It holds the tables [experiment], [drive] and [slaves] of a scenario, in TOML, of the last one what SSP has no place for
either."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

import tomli_w
from lxml import etree

from fmu_builder.cosim.ssp.files import NAMESPACES, Item, finite_number
from fmu_builder.errors import InputError, Problem

TYPE = "org.fmu-builder"
NAMESPACE = "urn:org.fmu-builder:scenario"
KEYS = ("experiment", "drive", "slaves")
OMS = "https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd"
OSP = "http://opensimulationplatform.com/SSP/OSPAnnotations"


def annotation(kind: str) -> etree._Element:
    """An empty <Annotation>."""
    return etree.Element(f"{{{NAMESPACES['ssc']}}}Annotation", {"type": kind})


def written(tables: Mapping[str, Any]) -> etree._Element:
    """The <Annotation> with these tables."""
    found = annotation(TYPE)
    scenario = etree.SubElement(found, f"{{{NAMESPACE}}}Scenario", nsmap={"fmu-builder": NAMESPACE})
    scenario.text = f"\n{tomli_w.dumps(tables)}"
    return found


def read(root: Item, problems: list[Problem]) -> dict[str, Any]:
    """The tables of the annotation in a document; where there is none, the step that those of OMSimulator and of
    libcosim give, if any."""
    own = root.element.find(f".//{{*}}Annotation[@type='{TYPE}']/{{{NAMESPACE}}}Scenario")
    if own is not None:
        where = f"{root.file}: line {own.sourceline}"
        try:
            tables = tomllib.loads(own.text or "")
        except tomllib.TOMLDecodeError as error:
            raise InputError(Problem(where, f"the annotation of fmu-builder is no TOML: {error}")) from error
        unknown = [key for key in tables if key not in KEYS or not isinstance(tables[key], dict)]
        problems += [Problem(where, f"'{key}' is no table of the annotation of fmu-builder") for key in unknown]
        return {key: value for key, value in tables.items() if key not in unknown}
    for tag, key in (("FixedStepMaster", "stepSize"), ("FixedStepAlgorithm", "baseStepSize")):
        for element in root.element.iterfind(f".//{{*}}Annotation//{{*}}{tag}"):
            step = finite_number(element.get(key, ""))
            if step is not None and step > 0.0:
                return {"experiment": {"step": step}}
    return {}
