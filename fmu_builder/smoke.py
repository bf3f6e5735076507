"""`python -m fmu_builder.smoke FILE.fmu`: load the FMU, run a few steps as co-simulation and, if it offers that, as
model exchange, read everything back.  Exit 0 if it works."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from ctypes import c_double
from tempfile import TemporaryDirectory
from typing import Any

import fmpy
from fmpy.fmi2 import FMU2Model, FMU2Slave
from fmpy.model_description import ModelDescription

from fmu_builder.build import SMOKE_CALL
from fmu_builder.toolchain import PLATFORMS, host_platform

STEPS = 10


def main(file: str) -> None:
    """Ten steps from the start values; every call must answer fmi2OK, every Real be finite."""
    description = fmpy.read_model_description(file, validate=False)
    with TemporaryDirectory(prefix="fmu-builder-", ignore_cleanup_errors=True) as folder:
        fmpy.extract(file, unzipdir=folder)
        for make, run in ((FMU2Slave, _step), (FMU2Model, _integrate)):
            if make is FMU2Model and description.modelExchange is None:
                continue
            fmu = _begin(make, description, folder)
            run(fmu, description, float(description.defaultExperiment.stepSize))
            _read_back(fmu, description)
            _call("fmi2Terminate", fmu.terminate)
            _call("fmi2FreeInstance", fmu.freeInstance)


def _call(name: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    print(SMOKE_CALL + name, flush=True)
    return function(*arguments, **named)


def _begin(make: Any, description: ModelDescription, folder: str) -> Any:
    identifier, platform = description.coSimulation.modelIdentifier, host_platform()
    fmu = _call(
        "loading the library",
        make,
        guid=description.guid,
        unzipDirectory=folder,
        modelIdentifier=identifier,
        instanceName="smoke",
        libraryPath=f"{folder}/binaries/{platform}/{identifier}{PLATFORMS[platform].suffix}",
    )
    _call("fmi2Instantiate", fmu.instantiate, loggingOn=True)
    _call("fmi2SetupExperiment", fmu.setupExperiment, startTime=0.0)
    _call("fmi2EnterInitializationMode", fmu.enterInitializationMode)
    _call("fmi2ExitInitializationMode", fmu.exitInitializationMode)
    return fmu


def _step(fmu: Any, _: ModelDescription, h: float) -> None:
    for k in range(STEPS):
        _call(f"fmi2DoStep at t = {k * h:g} s", fmu.doStep, k * h, h)


def _integrate(fmu: Any, description: ModelDescription, h: float) -> None:
    """Euler's method with steps so short that no stiff element goes astray; events are passed over."""
    h *= 1e-6
    n, m = description.numberOfContinuousStates, description.numberOfEventIndicators
    x, slopes, indicators = (c_double * n)(), (c_double * n)(), (c_double * m)()
    _call("fmi2NewDiscreteStates", fmu.newDiscreteStates)
    _call("fmi2EnterContinuousTimeMode", fmu.enterContinuousTimeMode)
    _call("fmi2GetContinuousStates", fmu.getContinuousStates, x, n)
    for k in range(1, STEPS + 1):
        _call(f"fmi2GetDerivatives before t = {k * h:g} s", fmu.getDerivatives, slopes, n)
        x[:] = [a + h * b for a, b in zip(x, slopes, strict=True)]
        _call(f"fmi2SetTime at t = {k * h:g} s", fmu.setTime, k * h)
        _call(f"fmi2SetContinuousStates at t = {k * h:g} s", fmu.setContinuousStates, x, n)
        _call(f"fmi2GetEventIndicators at t = {k * h:g} s", fmu.getEventIndicators, indicators, m)
        _call(f"fmi2CompletedIntegratorStep at t = {k * h:g} s", fmu.completedIntegratorStep)


def _read_back(fmu: Any, description: ModelDescription) -> None:
    for kind, read in (("Real", fmu.getReal), ("Integer", fmu.getInteger), ("Boolean", fmu.getBoolean)):
        variables = [v for v in description.modelVariables if v.type == kind]
        values = _call(f"fmi2Get{kind}", read, [v.valueReference for v in variables])
        wrong = [v.name for v, value in zip(variables, values, strict=True) if not math.isfinite(value)]
        if wrong:
            sys.exit(f"not finite after ten steps: {', '.join(wrong)}")


if __name__ == "__main__":
    main(sys.argv[1])
