"""c_pendulum.c as an FMU with its modelDescription.xml, both written by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fmu_builder.check.findings import DESCRIPTION
from fmu_builder.export.fmu import pack
from fmu_builder.export.toolchain import PLATFORMS, host_platform
from tests.fmu_builder import freestanding

LENGTH, GRAVITY, ANGLE = 0.8, 9.81, 0.5  # m, m/s2, rad: start values
RIGHT = "0"
MISTAKES = {  # letter of c_pendulum.c -> the rule that it breaks
    "g": "B05",
    "i": "B11",
    "r": "B12",
    "s": "B13",
    "w": "B14",
    "d": "B18",
    "o": "B20",
}
_CAN = 'canGetAndSetFMUstate="true" canSerializeFMUstate="true" providesDirectionalDerivative="true"'
_WHOLE = f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Pendulum" guid="GUID" generationTool="by hand"
  variableNamingConvention="structured" numberOfEventIndicators="0">
<ModelExchange modelIdentifier="Pendulum" {_CAN}/>
<CoSimulation modelIdentifier="Pendulum" canHandleVariableCommunicationStepSize="true" {_CAN}/>
<UnitDefinitions>
<Unit name="s"><BaseUnit s="1"/></Unit>
<Unit name="rad"><BaseUnit rad="1"/><DisplayUnit name="deg" factor="57.29577951308232"/></Unit>
<Unit name="rad/s"><BaseUnit rad="1" s="-1"/></Unit>
<Unit name="rad/s2"><BaseUnit rad="1" s="-2"/></Unit>
<Unit name="m"><BaseUnit m="1"/></Unit>
<Unit name="kg"><BaseUnit kg="1"/></Unit>
<Unit name="m/s2"><BaseUnit m="1" s="-2"/></Unit>
<Unit name="N.m"><BaseUnit kg="1" m="2" s="-2"/></Unit>
<Unit name="N.m.s"><BaseUnit kg="1" m="2" s="-1"/></Unit>
</UnitDefinitions>
<LogCategories><Category name="logStatusError"/></LogCategories>
<DefaultExperiment startTime="0" stopTime="2" stepSize="0.01"/>
<ModelVariables>
<ScalarVariable name="time" valueReference="0" causality="independent"><Real unit="s"/></ScalarVariable>
<ScalarVariable name="phi" valueReference="1" causality="output" initial="exact">
  <Real unit="rad" displayUnit="deg" start="{ANGLE}"/></ScalarVariable>
<ScalarVariable name="der(phi)" valueReference="2"><Real unit="rad/s" derivative="2"/></ScalarVariable>
<ScalarVariable name="omega" valueReference="3" causality="output" initial="exact">
  <Real unit="rad/s" start="0"/></ScalarVariable>
<ScalarVariable name="der(omega)" valueReference="4"><Real unit="rad/s2" derivative="4"/></ScalarVariable>
<ScalarVariable name="tau" valueReference="5" causality="input"><Real unit="N.m" start="0"/></ScalarVariable>
<ScalarVariable name="l" valueReference="6" causality="parameter" variability="fixed">
  <Real unit="m" start="{LENGTH}" min="0.001"/></ScalarVariable>
<ScalarVariable name="m" valueReference="7" causality="parameter" variability="fixed">
  <Real unit="kg" start="2" min="0.001"/></ScalarVariable>
<ScalarVariable name="d" valueReference="8" causality="parameter" variability="fixed">
  <Real unit="N.m.s" start="0" min="0"/></ScalarVariable>
<ScalarVariable name="g" valueReference="9" causality="parameter" variability="fixed">
  <Real unit="m/s2" start="{GRAVITY}"/></ScalarVariable>
<ScalarVariable name="x" valueReference="10" causality="output" initial="calculated"><Real unit="m"/></ScalarVariable>
<ScalarVariable name="alpha" valueReference="11" causality="output" initial="calculated">
  <Real unit="rad/s2"/></ScalarVariable>
</ModelVariables>
<ModelStructure>
<Outputs><Unknown index="2" dependencies="2"/><Unknown index="4" dependencies="4"/>
  <Unknown index="11" dependencies="2"/><Unknown index="12" dependencies="2 4 6"/></Outputs>
<Derivatives><Unknown index="3" dependencies="4"/><Unknown index="5" dependencies="2 4 6"/></Derivatives>
<InitialUnknowns><Unknown index="3" dependencies="4"/><Unknown index="5" dependencies="2 4 6 7 8 9 10"/>
  <Unknown index="11" dependencies="2 7"/><Unknown index="12" dependencies="2 4 6 7 8 9 10"/></InitialUnknowns>
</ModelStructure>
</fmiModelDescription>
"""
SLIPS = {  # rule -> what is replaced in modelDescription.xml, and by what
    "U03": ('<Real unit="N.m" start="0"/>', '<Real unit="Nm" start="0"/>'),
    "V07": ('initial="calculated"><Real unit="m"/>', 'initial="calculated"><Real unit="m" start="0"/>'),
    "V10": (f'start="{LENGTH}" min="0.001"', f'start="{LENGTH}" min="1"'),
    "S03": ('<Unknown index="11" dependencies="2"/>', ""),
    "S04": ('<Real unit="rad/s2" derivative="4"/>', '<Real unit="rad/s2"/>'),
    "S06": ('\n  <Unknown index="11" dependencies="2 7"/>', "\n  "),
}
ALSO = {"S04": {"S08"}}  # what is no state any more cannot be depended on


def library() -> bytes:
    """c_pendulum.c for this machine; it needs nothing of the system."""
    return freestanding.library("c_pendulum.c", "Pendulum")


def c_pendulum(folder: Path, mistake: str = RIGHT, slip: str = "") -> Path:
    """Write Pendulum.fmu.   mistake: a letter of c_pendulum.c;   slip: a rule that modelDescription.xml breaks"""
    text = _WHOLE.replace("GUID", f"p{mistake}")
    if slip:
        old, new = SLIPS[slip]
        assert text.count(old) == 1
        text = text.replace(old, new)
    files: Mapping[str, bytes] = {
        DESCRIPTION: text.encode(),
        f"binaries/{host_platform()}/Pendulum{PLATFORMS[host_platform()].suffix}": library(),
    }
    path = folder / "Pendulum.fmu"
    path.write_bytes(pack(dict(files)))
    return path
