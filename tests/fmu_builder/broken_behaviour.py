"""FMUs that break one rule each when they are called: broken.c, whose guid selects what it does wrong."""

from __future__ import annotations

from pathlib import Path

from fmu_builder.check.findings import DESCRIPTION
from fmu_builder.export.fmu import pack
from fmu_builder.export.toolchain import PLATFORMS, host_platform
from tests.fmu_builder import freestanding

WHOLE = "0"
FAULTS = {  # by rule, the letters that break it
    "B01": "CE",
    "B03": "a",
    "B04": "b",
    "B05": "c",
    "B06": "d",
    "B07": "e",
    "B08": "f",
    "B09": "g",
    "B10": "h",
    "B11": "i",
    "B12": "j",
    "B13": "k",
    "B14": "l",
    "B15": "m",
    "B16": "n",
    "B17": "o",
    "B18": "pFG",
    "B19": "q",
    "B20": "r",
    "B21": "s",
    "B22": "t",
    "B23": "u",
    "B24": "v",
    "B25": "w",
    "B26": "x",
    "B27": "y",
    "B28": "z",
    "B29": "A",
    "B30": "B",
}
HANGS = "D"
_CAN = 'canGetAndSetFMUstate="true" canSerializeFMUstate="true" providesDirectionalDerivative="true"'
_DESCRIPTION = f"""<fmiModelDescription fmiVersion="2.0" modelName="Broken" guid="GUID" numberOfEventIndicators="0">
<ModelExchange modelIdentifier="Broken" {_CAN}/>
<CoSimulation modelIdentifier="Broken" canHandleVariableCommunicationStepSize="true" canInterpolateInputs="true"
  maxOutputDerivativeOrder="1" {_CAN}/>
<LogCategories><Category name="logAll"/></LogCategories>
<DefaultExperiment startTime="0" stopTime="1" stepSize="0.1"/>
<ModelVariables>
<ScalarVariable name="x" valueReference="0" initial="exact"><Real start="1"/></ScalarVariable>
<ScalarVariable name="der(x)" valueReference="1"><Real derivative="1"/></ScalarVariable>
<ScalarVariable name="z" valueReference="2" initial="exact"><Real start="2"/></ScalarVariable>
<ScalarVariable name="der(z)" valueReference="3"><Real derivative="3"/></ScalarVariable>
<ScalarVariable name="u" valueReference="4" causality="input"><Real start="0"/></ScalarVariable>
<ScalarVariable name="k" valueReference="5" causality="parameter" variability="fixed"><Real start="1"/></ScalarVariable>
<ScalarVariable name="y" valueReference="6" causality="output"><Real/></ScalarVariable>
</ModelVariables>
<ModelStructure><Outputs><Unknown index="7" dependencies="1 5"/></Outputs>
<Derivatives><Unknown index="2"/><Unknown index="4" dependencies="1"/></Derivatives>
<InitialUnknowns><Unknown index="2"/><Unknown index="4"/><Unknown index="7"/></InitialUnknowns></ModelStructure>
</fmiModelDescription>"""


def library() -> bytes:
    """broken.c for this machine."""
    return freestanding.library("broken.c", "Broken")


def broken_behaviour(folder: Path, fault: str, data: bytes | None = None) -> Path:
    """Write Broken.fmu with this fault.   data: its library, by default that of broken.c"""
    path = folder / "Broken.fmu"
    name = f"binaries/{host_platform()}/Broken{PLATFORMS[host_platform()].suffix}"
    description = _DESCRIPTION.replace("GUID", f"f{fault}")
    path.write_bytes(pack({DESCRIPTION: description.encode(), name: library() if data is None else data}))
    return path
