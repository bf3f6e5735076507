"""FMUs that break one rule each, made from a whole one by a change of its files.

python -m tests.fmu_builder.broken_fmus FOLDER        writes them all, NAME of the rule.fmu"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

from fmu_builder.check.findings import DESCRIPTION
from fmu_builder.export.fmu import pack
from fmu_builder.export.terminals import FILE as TERMINALS

Files = dict[str, bytes]  # of an archive, by name
WHOLE = """
<fmiModelDescription fmiVersion="2.0" modelName="Whole" guid="w--" variableNamingConvention="structured"
  generationDateAndTime="2026-01-02T03:04:05Z" numberOfEventIndicators="0">
<ModelExchange modelIdentifier="Whole" canGetAndSetFMUstate="true" canSerializeFMUstate="true"/>
<CoSimulation modelIdentifier="Whole" canGetAndSetFMUstate="true" canSerializeFMUstate="true"/>
<UnitDefinitions>
<Unit name="m"><BaseUnit m="1"/><DisplayUnit name="mm" factor="1000"/></Unit>
<Unit name="m/s"><BaseUnit m="1" s="-1"/></Unit>
</UnitDefinitions>
<TypeDefinitions><SimpleType name="Mode"><Enumeration><Item name="on" value="1"/><Item name="off" value="2"/>
</Enumeration></SimpleType><SimpleType name="Length"><Real unit="m" min="-1" max="1" nominal="0.5"/></SimpleType>
</TypeDefinitions>
<LogCategories><Category name="logAll"/><Category name="logEvents"/></LogCategories>
<DefaultExperiment startTime="0" stopTime="1" tolerance="1e-6" stepSize="0.1"/>
<VendorAnnotations><Tool name="a"/><Tool name="b"/></VendorAnnotations>
<ModelVariables>
<ScalarVariable name="time" valueReference="0" causality="independent" variability="continuous"><Real/></ScalarVariable>
<ScalarVariable name="u" valueReference="1" causality="input" variability="continuous">
<Real start="0"/></ScalarVariable>
<ScalarVariable name="x" valueReference="2" causality="output" variability="continuous" initial="exact">
<Real declaredType="Length" displayUnit="mm" start="0.25" reinit="true"/></ScalarVariable>
<ScalarVariable name="der(x)" valueReference="3" causality="local" variability="continuous" initial="calculated">
<Real unit="m/s" derivative="3"/></ScalarVariable>
<ScalarVariable name="p[1]" valueReference="4" causality="parameter" variability="tunable">
<Real start="1" min="0" max="2"/>
</ScalarVariable>
<ScalarVariable name="c" valueReference="5" causality="calculatedParameter" variability="tunable">
<Real/></ScalarVariable>
<ScalarVariable name="mode" valueReference="1" causality="parameter" variability="fixed">
<Enumeration declaredType="Mode" start="2"/></ScalarVariable>
<ScalarVariable name="n" valueReference="2" causality="output" variability="discrete"><Integer/></ScalarVariable>
<ScalarVariable name="k" valueReference="6" causality="local" variability="constant"><Real start="3"/></ScalarVariable>
<ScalarVariable name="k_2" valueReference="6" causality="output" variability="constant">
<Real start="3"/></ScalarVariable>
<ScalarVariable name="y" valueReference="7" causality="output" variability="continuous">
<Real unit="m"/></ScalarVariable>
<ScalarVariable name="y_2" valueReference="7" causality="local" variability="continuous">
<Real unit="m"/></ScalarVariable>
<ScalarVariable name="s" valueReference="0" causality="parameter" variability="fixed">
<String start="a"/></ScalarVariable>
</ModelVariables>
<ModelStructure>
<Outputs><Unknown index="3" dependencies="3"/><Unknown index="8"/><Unknown index="10" dependencies=""/>
<Unknown index="11" dependencies="2 3" dependenciesKind="dependent constant"/></Outputs>
<Derivatives><Unknown index="4" dependencies="2"/></Derivatives>
<InitialUnknowns><Unknown index="4" dependencies="2"/><Unknown index="6"/><Unknown index="8"/>
<Unknown index="11" dependencies="2 5" dependenciesKind="dependent dependent"/></InitialUnknowns>
</ModelStructure>
</fmiModelDescription>
"""


def whole() -> Files:
    """What breaks no rule."""
    terminal = '<Terminal name="t" matchingRule="bus"><TerminalMemberVariable variableName="u" variableKind="signal"/>'
    terminals = (
        f'<fmiTerminalsAndIcons fmiVersion="3.0"><Terminals>{terminal}</Terminal></Terminals></fmiTerminalsAndIcons>'
    )
    build = (
        '<fmiBuildDescription fmiVersion="3.0"><BuildConfiguration modelIdentifier="Whole"><SourceFileSet>'
        '<SourceFile name="fmu.c"/></SourceFileSet></BuildConfiguration></fmiBuildDescription>'
    )
    return {
        DESCRIPTION: WHOLE.lstrip().encode(),
        "sources/fmu.c": b"",
        "sources/buildDescription.xml": build.encode(),
        TERMINALS: terminals.encode(),
        "documentation/index.html": b"<p>An FMU</p>",
        "model.png": b"\x89PNG\r\n\x1a\n",
    }


Change = Callable[[Files], None]


def text(old: str, new: str, file: str = DESCRIPTION) -> Change:
    """One place of a file."""

    def change(files: Files) -> None:
        before = files[file].decode()
        assert before.count(old) == 1, f"{old!r} is {before.count(old)} times in {file}"
        files[file] = before.replace(old, new).encode()

    return change


def added(name: str, data: bytes = b"") -> Change:
    return lambda files: files.update({name: data})


def removed(name: str) -> Change:
    return lambda files: files.pop(name) and None


def renamed(old: str, new: str) -> Change:
    return lambda files: files.update({new: files.pop(old)})


def several(*changes: Change) -> Change:
    def change(files: Files) -> None:
        for one in changes:
            one(files)

    return change


def every(pattern: str, new: str) -> Change:
    """All places of the description that the regular expression fits."""
    return lambda files: files.update({DESCRIPTION: re.sub(pattern, new, files[DESCRIPTION].decode()).encode()})


_UNKNOWN = '<Unknown index="4" dependencies="2"/></Derivatives>'
# by rule: each change breaks it, and no other
BREAKS: dict[str, tuple[Change, ...]] = {
    "A02": (added("documentation/Index.html"),),
    "A04": (added("Resources/table.csv"),),
    "A05": (several(removed("sources/fmu.c"), removed("sources/buildDescription.xml")),),
    "A06": (added("binaries/Linux64/Whole.so"), added("binaries/x86_64-beos/Whole.so")),
    "A07": (
        added("binaries/linux32/whole.so"),
        added("binaries/win32/Whole.so"),
        added("binaries/armv7-linux/other.so"),
    ),
    "A08": (added("binaries/linux64/Whole.so", b"no library"), added("binaries/win64/Whole.dll", b"MZ")),
    "A10": (
        text(
            'canSerializeFMUstate="true"/>\n<CoS',
            'canSerializeFMUstate="true"><SourceFiles><File name="a.c"/></SourceFiles></ModelExchange>\n<CoS',
        ),
    ),
    "A11": (removed("sources/buildDescription.xml"),),
    "A12": (
        text("fmu.c", "gone.c", "sources/buildDescription.xml"),
        text('modelIdentifier="Whole"', 'modelIdentifier="Other"', "sources/buildDescription.xml"),
        added("sources/buildDescription.xml", b"<a"),
        added("sources/buildDescription.xml", b"<fmiBuildDescription/>"),
    ),
    "A13": (added("sources/fmi2Functions.h"), added("sources/include/fmi2TypesPlatform.h")),
    "A14": (renamed("documentation/index.html", "documentation/Main.html"),),
    "A15": (added("model.png", b"GIF89a"),),
    "A16": (text('"u"', '"gone"', TERMINALS), text(' name="t"', "", TERMINALS), added(TERMINALS, b"<")),
    "M01": (
        text(' guid="w--"', ""),
        text('valueReference="5"', 'valueReference="-5"'),
        text("<Integer/>", "<Int/>"),
        text('<Item name="on" value="1"/>', '<Item name="on"/>'),
    ),
    "M02": (text('factor="1000"', 'factor="NaN"'), text('max="2"', 'max="INF"')),
    "M03": (text('guid="w--"', 'guid=""'), text('guid="w--"', 'guid="  "')),
    "M04": (
        text('<ModelExchange modelIdentifier="Whole"', '<ModelExchange modelIdentifier="My-Model"'),
        text('<ModelExchange modelIdentifier="Whole"', '<ModelExchange modelIdentifier="switch"'),
    ),
    "M05": (every(r"<(ModelExchange|CoSimulation) [^>]*/>", ""),),
    "M06": (
        text(
            '<CoSimulation modelIdentifier="Whole" canGetAndSetFMUstate="true"', '<CoSimulation modelIdentifier="Whole"'
        ),
    ),
    "M07": (
        text("2026-01-02T03:04:05Z", "2026-01-02T03:04:05"),
        text("2026-01-02T03:04:05Z", "2026-01-02T03:04:05+01:00"),
    ),
    "M08": (text('stopTime="1"', 'stopTime="-1"'), text('stepSize="0.1"', 'stepSize="0"'), text('"1e-6"', '"-1e-6"')),
    "M09": (text('"logEvents"', '"logAll"'),),
    "M10": (text('<Tool name="b"/>', '<Tool name="a"/>'),),
    "U01": (
        text('<Unit name="m/s">', '<Unit name="m"><BaseUnit m="1"/></Unit><Unit name="m/s">'),
        text('<DisplayUnit name="mm"', '<DisplayUnit name="mm"/><DisplayUnit name="mm"'),
    ),
    "U02": (text('factor="1000"', 'factor="0"'), text('<BaseUnit m="1"/>', '<BaseUnit m="1" factor="0"/>')),
    "U03": (text('<Real unit="m/s" ', '<Real unit="km/h" '), text('<Real unit="m/s" ', '<Real unit="" ')),
    "U04": (
        text('displayUnit="mm"', 'displayUnit="cm"'),
        text('<Real start="0"/>', '<Real start="0" displayUnit="mm"/>'),
    ),
    "U05": (text('s="-1"', 's="-2"'),),
    "U06": (
        text('<SimpleType name="Mode">', '<SimpleType name="u"><Real/></SimpleType><SimpleType name="Mode">'),
        text('<SimpleType name="Mode">', '<SimpleType name="Mode"><Boolean/></SimpleType><SimpleType name="Mode">'),
    ),
    "U07": (
        text("<Integer/>", '<Integer declaredType="Count"/>'),
        text("<Integer/>", '<Integer declaredType="Length"/>'),
    ),
    "U08": (text('name="off" value="2"', 'name="on" value="2"'), text('value="1"/>', 'value="2"/>')),
    "V01": (text('name="y_2"', 'name="y"'),),
    "V02": (text('name="p[1]"', 'name="p["'), text('name="y_2"', 'name="y 2"'), text('name="y_2"', 'name="y[01]"')),
    "V03": (
        text('causality="parameter" variability="tunable"', 'causality="parameter" variability="discrete"'),
        text('causality="calculatedParameter" variability="tunable"', 'causality="calculatedParameter"'),
        text('causality="input" variability="continuous"', 'causality="input" variability="fixed"'),
    ),
    "V04": (
        text('variability="discrete"', 'variability="continuous"'),
        text('causality="output" variability="discrete"', 'causality="output"'),
    ),
    "V05": (
        text('causality="input" ', 'causality="input" initial="exact" '),
        text('causality="calculatedParameter" ', 'causality="calculatedParameter" initial="exact" '),
    ),
    "V06": (text('<Real start="0"/>', "<Real/>"), text('<String start="a"/>', "<String/>"), text(' start="0.25"', "")),
    "V07": (text("<Integer/>", '<Integer start="1"/>'), text('continuous"><Real/>', 'continuous"><Real start="0"/>')),
    "V08": (
        text(
            'name="y_2" valueReference="7" causality="local"', 'name="y_2" valueReference="8" causality="independent"'
        ),
    ),
    "V09": (text('min="-1" max="1"', 'min="1" max="-1"'),),
    "V10": (text('start="0.25"', 'start="1.25"'), text('start="1" min="0"', 'start="-1" min="0"')),
    "V11": (text('nominal="0.5"', 'nominal="0"'), text('<Real unit="m/s" ', '<Real unit="m/s" nominal="-1" ')),
    "V12": (text('start="2"', 'start="3"'),),
    "V13": (
        text('derivative="3"', 'derivative="33"'),
        text('derivative="3"', 'derivative="8"'),
        text('derivative="3"', 'derivative="0"'),
    ),
    "V14": (text('<Real start="0"/>', '<Real start="0" reinit="true"/>'), every(r"<ModelExchange [^>]*/>", "")),
    "V15": (text('name="c" ', 'name="c" canHandleMultipleSetPerTimeInstant="true" '),),
    "V16": (
        text(
            'start="3"/></ScalarVariable>\n<ScalarVariable name="y"',
            'start="4"/></ScalarVariable>\n<ScalarVariable name="y"',
        ),
        text('name="c" valueReference="5"', 'name="c" valueReference="6"'),
    ),
    "V17": (text('name="p[1]" valueReference="4"', 'name="p[1]" valueReference="1"'),),
    "V18": (
        text(
            '<Real unit="m"/></ScalarVariable>\n<ScalarVariable name="s"',
            '<Real/></ScalarVariable>\n<ScalarVariable name="s"',
        ),
    ),
    "V19": (text('name="n" valueReference="2"', 'name="n" valueReference="1"'),),
    "S01": (
        text('<Unknown index="8"/><Unknown index="10"', '<Unknown index="88"/><Unknown index="8"/><Unknown index="10"'),
    ),
    "S02": (
        text('<Unknown index="8"/><Unknown index="10"', '<Unknown index="8"/><Unknown index="8"/><Unknown index="10"'),
    ),
    "S03": (
        text('<Unknown index="8"/><Unknown index="10"', '<Unknown index="10"'),
        text('<Unknown index="8"/><Unknown index="10"', '<Unknown index="8"/><Unknown index="9"/><Unknown index="10"'),
    ),
    "S04": (text(_UNKNOWN, f'<Unknown index="9"/>{_UNKNOWN}'),),
    "S05": (
        text(
            '<Real unit="m"/></ScalarVariable>\n<ScalarVariable name="s"',
            '<Real unit="m" derivative="2"/></ScalarVariable>\n<ScalarVariable name="s"',
        ),
    ),
    "S06": (text('<Unknown index="6"/>', ""), text('<Unknown index="6"/>', '<Unknown index="5"/><Unknown index="6"/>')),
    "S07": (text('<Unknown index="6"/><Unknown index="8"/>', '<Unknown index="8"/><Unknown index="6"/>'),),
    "S08": (
        text('<Unknown index="8"/><Unknown index="10"', '<Unknown index="8" dependencies="5"/><Unknown index="10"'),
        text('dependencies="2 5"', 'dependencies="2 77"'),
    ),
    "S09": (text('dependencies="2 5"', 'dependencies="5 2"'), text('dependencies="2 5"', 'dependencies="2 2"')),
    "S10": (text("dependent constant", "dependent"), text(' dependencies="2 5"', "")),
    "S11": (text("dependent dependent", "dependent fixed"),),
    "S12": (
        text(
            '<Unknown index="8"/><Unknown index="10"',
            '<Unknown index="8" dependencies="2" dependenciesKind="constant"/><Unknown index="10"',
        ),
    ),
}


def broken(rule: str, number: int = 0) -> bytes:
    """The archive of the FMU with this change of the rule."""
    files = whole()
    BREAKS[rule][number](files)
    return pack(files)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for rule, changes in BREAKS.items():
        for number in range(len(changes)):
            (folder / f"{rule}_{number + 1}.fmu").write_bytes(broken(rule, number))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
