"""`python -m fmu_builder.smoke FILE.fmu`: load the FMU, run a few steps, read everything back.  Exit 0 if it works."""

from __future__ import annotations

import sys
from tempfile import TemporaryDirectory

import fmpy
from fmpy.fmi2 import FMU2Slave

from fmu_builder.toolchain import PLATFORMS, host_platform


def main(file: str) -> None:
    """Ten steps of the default length with start values; every call must answer fmi2OK, every Real be finite."""
    description = fmpy.read_model_description(file, validate=False)
    experiment = description.defaultExperiment
    identifier = description.coSimulation.modelIdentifier
    platform = host_platform()
    with TemporaryDirectory(prefix="fmu-builder-") as folder:
        fmpy.extract(file, unzipdir=folder)
        slave = FMU2Slave(
            guid=description.guid,
            unzipDirectory=folder,
            modelIdentifier=identifier,
            instanceName="smoke",
            libraryPath=f"{folder}/binaries/{platform}/{identifier}{PLATFORMS[platform].suffix}",
        )
        slave.instantiate(loggingOn=True)
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        step = float(experiment.stepSize)
        for k in range(10):
            slave.doStep(k * step, step)
        for kind, read in (("Real", slave.getReal), ("Integer", slave.getInteger), ("Boolean", slave.getBoolean)):
            read([v.valueReference for v in description.modelVariables if v.type == kind])
        slave.terminate()
        slave.freeInstance()


if __name__ == "__main__":
    main(sys.argv[1])
