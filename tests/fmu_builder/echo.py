"""Echo.fmu: echo.c for this machine, with a model of all types."""

from __future__ import annotations

from pathlib import Path

from fmu_builder.check.findings import DESCRIPTION
from fmu_builder.export.fmu import pack
from fmu_builder.export.toolchain import PLATFORMS, host_platform
from tests.fmu_builder import freestanding

_CAN = 'canGetAndSetFMUstate="true" canSerializeFMUstate="true" providesDirectionalDerivative="true"'
_PARAMETER = 'causality="parameter" variability'
_DISCRETE = 'causality="input" variability="discrete"'
XML = f"""<fmiModelDescription fmiVersion="2.0" modelName="Echo" guid="GUID" numberOfEventIndicators="2">
<ModelExchange modelIdentifier="Echo" {_CAN}/>
<CoSimulation modelIdentifier="Echo" canHandleVariableCommunicationStepSize="true" canInterpolateInputs="true"
  maxOutputDerivativeOrder="1" {_CAN}/>
<LogCategories><Category name="logAll"/></LogCategories>
<ModelVariables>
<ScalarVariable name="x" valueReference="0" initial="exact"><Real start="1"/></ScalarVariable>
<ScalarVariable name="der(x)" valueReference="1"><Real derivative="1"/></ScalarVariable>
<ScalarVariable name="u[1]" valueReference="2" causality="input"><Real start="0" max="10"/></ScalarVariable>
<ScalarVariable name="k" valueReference="3" {_PARAMETER}="tunable"><Real start="1"/></ScalarVariable>
<ScalarVariable name="m" valueReference="4" {_PARAMETER}="fixed"><Real start="1"/></ScalarVariable>
<ScalarVariable name="y" valueReference="5" causality="output"><Real/></ScalarVariable>
<ScalarVariable name="n" valueReference="2" {_DISCRETE}><Integer start="1"/></ScalarVariable>
<ScalarVariable name="on" valueReference="1" {_DISCRETE}><Boolean start="0"/></ScalarVariable>
<ScalarVariable name="label" valueReference="0" {_PARAMETER}="fixed"><String start=""/></ScalarVariable>
<ScalarVariable name="text" valueReference="1" causality="output" variability="discrete"><String/></ScalarVariable>
<ScalarVariable name="z" valueReference="6"><Real/></ScalarVariable>
</ModelVariables>
<ModelStructure><Outputs><Unknown index="6" dependencies="1 3"/><Unknown index="10" dependencies=""/></Outputs>
<Derivatives><Unknown index="2" dependencies="1"/></Derivatives>
<InitialUnknowns><Unknown index="2"/><Unknown index="6"/><Unknown index="10"/></InitialUnknowns></ModelStructure>
</fmiModelDescription>"""


def library(platform: str = "") -> bytes:
    """echo.c for a platform, by default this machine's."""
    return freestanding.library("echo.c", "Echo", platform)


def echo_fmu(folder: Path, guid: str = "e", *, files: dict[str, bytes] | None = None) -> Path:
    """Write Echo.fmu.   files: in the place of its library"""
    path = folder / "Echo.fmu"
    if files is None:
        files = {f"binaries/{host_platform()}/Echo{PLATFORMS[host_platform()].suffix}": library()}
    text = XML.replace("GUID", guid).encode()
    path.write_bytes(pack({DESCRIPTION: text, "resources/table.csv": b"0, 1\n", **files}))
    return path
