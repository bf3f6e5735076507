"""FMUs that are not ours, for tests: foreign.c compiled for this machine, with the modelDescription.xml a test wants.

foreign_fmu(tmp_path, "Spring", BODY)                      a mass on a spring with a port `p`, and all types
foreign_fmu(tmp_path, "Stuck", BODY, guid="b3--")          answers fmi2Error from 5 ms on (codes: foreign.c)
foreign_fmu(tmp_path, "Gain", GAIN, guid="g0--")           y = a u + b
foreign_fmu(tmp_path, "Ball", RIGID, guid="r0--")          a rigid body with a contact point `p`, its own integrators
"""

from __future__ import annotations

import functools
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from xml.sax.saxutils import quoteattr

from fmu_builder.export.toolchain import PLATFORMS, compile_hosted, find_compiler, fmi_headers, host_platform
from fmu_builder.paths import shipped


@dataclass(frozen=True)
class Var:
    """One variable.  `depends`: inputs an output depends on; None leaves it out, which means all."""

    name: str
    reference: int
    causality: str
    type: str = "Real"
    start: str | None = None
    unit: str | None = None
    depends: tuple[str, ...] | None = ()

    @property
    def variability(self) -> str:
        if self.causality == "parameter":
            return "tunable" if self.name in ("k", "a") else "fixed"
        return "continuous" if self.type == "Real" else "discrete"


def _vector(name: str, first: int, causality: str, unit: str) -> tuple[Var, ...]:
    start = None if causality == "output" else "0"
    return tuple(Var(f"{name}[{i + 1}]", first + i, causality, start=start, unit=unit) for i in range(3))


BODY = (
    *_vector("p.r", 0, "output", "m"),
    *_vector("p.v", 3, "output", "m/s"),
    *_vector("p.f", 6, "input", "N"),
    Var("m", 9, "parameter", start="1", unit="kg"),
    Var("k", 10, "parameter", start="0", unit="N/m"),
    *_vector("r0", 11, "parameter", "m"),
    Var("steps", 0, "output", "Integer"),
    Var("count", 1, "input", "Integer", start="0"),
    Var("mode", 2, "parameter", "Enumeration", start="1"),
    Var("state", 3, "output", "Enumeration"),
    Var("on", 0, "input", "Boolean", start="true"),
    Var("moving", 1, "output", "Boolean", depends=("on",)),
    Var("label", 0, "parameter", "String", start=""),
    Var("echo", 1, "output", "String"),
)
RIGID = (
    *_vector("p.r", 0, "output", "m"),
    *_vector("p.v", 3, "output", "m/s"),
    *_vector("p.f", 6, "input", "N"),
    Var("m", 9, "parameter", start="1", unit="kg"),
    *_vector("r0", 11, "parameter", "m"),
    Var("J", 18, "parameter", start="1", unit="kg.m2"),
    *_vector("arm", 19, "parameter", "m"),
    *_vector("v0", 22, "parameter", "m/s"),
    *_vector("w0", 25, "parameter", "rad/s"),
    *_vector("g", 28, "parameter", "m/s2"),
    Var("m_2", 31, "parameter", start="1", unit="kg"),
    Var("k_2", 32, "parameter", start="0", unit="N/m"),
    *_vector("r", 33, "output", "m"),
    *_vector("v", 36, "output", "m/s"),
    *_vector("w", 42, "output", "rad/s"),
    Var("z_2", 45, "output", unit="m"),
    Var("v_2", 46, "output", unit="m/s"),
    Var("rule", 4, "parameter", "Integer", start="1"),
    Var("substeps", 5, "parameter", "Integer", start="1"),
    Var("turns", 6, "parameter", "Integer", start="0"),
)
GAIN = (
    Var("a", 14, "parameter", start="1"),
    Var("b", 15, "parameter", start="0"),
    Var("u", 16, "input", start="0"),
    Var("y", 17, "output", depends=("u",)),
)


def without_units(variables: Sequence[Var]) -> tuple[Var, ...]:
    return tuple(replace(v, unit=None) for v in variables)


def renamed(variables: Sequence[Var], names: Mapping[str, str]) -> tuple[Var, ...]:
    """Other names before the index: {"p.r": "position"}."""

    def new(name: str) -> str:
        base, bracket, index = name.partition("[")
        return names.get(base, base) + bracket + index

    return tuple(replace(v, name=new(v.name)) for v in variables)


@functools.cache
def library() -> bytes:
    """foreign.c for this machine; needs nothing of the system."""
    compiler = find_compiler()
    assert compiler is not None, "these tests need a compiler: python -m pip install ziglang"
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"Foreign{PLATFORMS[host_platform()].suffix}"
        source = Path(__file__).with_name("foreign.c")
        include = [shipped("contact_core") / "base" / "freestanding_include", fmi_headers()]
        compile_hosted([source], target, include, compiler, ["-ffreestanding", "-nostdlib"])
        return target.read_bytes()


def model_description(
    name: str,
    variables: Sequence[Var],
    guid: str = "b0--",
    *,
    fmi_version: str = "2.0",
    interface: str = "CoSimulation",
    experiment: str = 'startTime="0" stopTime="0.01" stepSize="0.001"',
    bases: Mapping[str, str] = {},
) -> str:
    """bases: attributes of the <BaseUnit> of a unit, by its name"""
    index = {v.name: i + 1 for i, v in enumerate(variables)}
    units = sorted({v.unit for v in variables if v.unit})
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines += [f'<fmiModelDescription fmiVersion="{fmi_version}" modelName="{name}" guid={quoteattr(guid)}>']
    lines += [f'<{interface} modelIdentifier="{name}"/>']
    if units:
        lines += ["<UnitDefinitions>", *(_unit(u, bases.get(u)) for u in units), "</UnitDefinitions>"]
    lines += ['<TypeDefinitions><SimpleType name="Mode"><Enumeration><Item name="idle" value="1"/>']
    lines += ['<Item name="loaded" value="2"/></Enumeration></SimpleType></TypeDefinitions>']
    lines += [f"<DefaultExperiment {experiment}/>" if experiment else "", "<ModelVariables>"]
    for v in variables:
        attributes = {"start": v.start, "unit": v.unit, "declaredType": "Mode" if v.type == "Enumeration" else None}
        written = " ".join(f"{key}={quoteattr(value)}" for key, value in attributes.items() if value is not None)
        lines += [
            f'<ScalarVariable name={quoteattr(v.name)} valueReference="{v.reference}" causality="{v.causality}"'
            f' variability="{v.variability}"><{v.type} {written}/></ScalarVariable>'
        ]
    outputs = [v for v in variables if v.causality == "output"]
    unknowns = "".join(
        f'<Unknown index="{index[v.name]}"'
        + ("" if v.depends is None else f' dependencies="{" ".join(str(index[d]) for d in v.depends)}"')
        + "/>"
        for v in outputs
    )
    lines += ["</ModelVariables>", f"<ModelStructure><Outputs>{unknowns}</Outputs>"]
    lines += [f"<InitialUnknowns>{unknowns}</InitialUnknowns></ModelStructure></fmiModelDescription>"]
    return "\n".join(lines)


def _unit(name: str, base: str | None) -> str:
    return f'<Unit name="{name}"/>' if base is None else f'<Unit name="{name}"><BaseUnit {base}/></Unit>'


def foreign_fmu(
    folder: Path,
    name: str,
    variables: Sequence[Var] = BODY,
    guid: str = "b0--",
    *,
    platforms: Sequence[str] | None = None,
    description: str | None = None,
    files: Mapping[str, bytes] = {},
) -> Path:
    """Write <folder>/<name>.fmu and return its path.

    platforms    folders of binaries, by default this machine's
    description  text of modelDescription.xml, by default that of the variables; "" leaves it out
    files        more members of the archive
    Equal FMUs have equal bytes, so that a run tries them out once for all tests."""
    path = folder / f"{name}.fmu"
    text = model_description(name, variables, guid) if description is None else description
    with zipfile.ZipFile(path, "w") as archive:
        if text:
            archive.writestr(member_of("modelDescription.xml"), text)
        for platform in (host_platform(),) if platforms is None else platforms:
            suffix = PLATFORMS[platform].suffix if platform in PLATFORMS else ".dll"
            archive.writestr(member_of(f"binaries/{platform}/{name}{suffix}"), library())
        for member, data in files.items():
            archive.writestr(member_of(member), data)
    return path


def member_of(name: str) -> zipfile.ZipInfo:
    """A member of an archive, of no date."""
    return zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
