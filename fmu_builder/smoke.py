"""`python -m fmu_builder.smoke FILE.fmu`: load the FMU, run a few steps, read everything back.  Exit 0 if it works."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any

import fmpy
from fmpy.fmi2 import FMU2Slave

from fmu_builder.build import SMOKE_CALL
from fmu_builder.toolchain import PLATFORMS, host_platform


def main(file: str) -> None:
    """Ten steps of the default length with start values; every call must answer fmi2OK, every Real be finite."""
    description = fmpy.read_model_description(file, validate=False)
    experiment = description.defaultExperiment
    identifier = description.coSimulation.modelIdentifier
    platform = host_platform()

    def call(name: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        print(SMOKE_CALL + name, flush=True)
        return function(*arguments, **named)

    with TemporaryDirectory(prefix="fmu-builder-", ignore_cleanup_errors=True) as folder:
        fmpy.extract(file, unzipdir=folder)
        slave = call(
            "loading the library",
            FMU2Slave,
            guid=description.guid,
            unzipDirectory=folder,
            modelIdentifier=identifier,
            instanceName="smoke",
            libraryPath=f"{folder}/binaries/{platform}/{identifier}{PLATFORMS[platform].suffix}",
        )
        call("fmi2Instantiate", slave.instantiate, loggingOn=True)
        call("fmi2SetupExperiment", slave.setupExperiment, startTime=0.0)
        call("fmi2EnterInitializationMode", slave.enterInitializationMode)
        call("fmi2ExitInitializationMode", slave.exitInitializationMode)
        step = float(experiment.stepSize)
        for k in range(10):
            call(f"fmi2DoStep at t = {k * step:g} s", slave.doStep, k * step, step)
        for kind, read in (("Real", slave.getReal), ("Integer", slave.getInteger), ("Boolean", slave.getBoolean)):
            variables = [v for v in description.modelVariables if v.type == kind]
            values = call(f"fmi2Get{kind}", read, [v.valueReference for v in variables])
            wrong = [v.name for v, value in zip(variables, values, strict=True) if not math.isfinite(value)]
            if wrong:
                sys.exit(f"not finite after ten steps: {', '.join(wrong)}")
        call("fmi2Terminate", slave.terminate)
        call("fmi2FreeInstance", slave.freeInstance)


if __name__ == "__main__":
    main(sys.argv[1])
