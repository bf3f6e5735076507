"""Runs of systems of FMUs in co-simulation engines that are not ours: libcosim (Open Simulation Platform, on Modelon's
FMI Library), Ecos, and the container of the FMU manipulation toolbox.

    python importers.py libcosim|ecos|container|"libcosim archive"|"ecos archive" SYSTEMS.json RESULTS.json

reads a list of systems and writes what the named variables are at the end of each.  All are Jacobi
masters with a constant step.  A process of its own, because an FMU that fails may take the engine with it."""

from __future__ import annotations

import contextlib
import ctypes
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fmpy

System = dict[str, Any]  # slaves: {name: path of FMU}, start, connections, step in ns, steps, read: variables


def libcosim(system: System) -> list[float]:
    from libcosimpy import CosimLogging
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    CosimLogging.log_output_level(CosimLogging.CosimLogLevel.WARNING)
    references = {
        f"{name}.{v.name}": v.valueReference
        for name, fmu in system["slaves"].items()
        for v in fmpy.read_model_description(fmu, validate=False).modelVariables
    }
    execution = CosimExecution.from_step_size(step_size=system["step"])
    index = {
        name: execution.add_local_slave(CosimLocalSlave(fmu_path=fmu, instance_name=name))
        for name, fmu in system["slaves"].items()
    }

    def place(variable: str) -> tuple[int, int]:
        return index[variable.partition(".")[0]], references[variable]

    for variable, value in system["start"].items():
        execution.real_initial_value(*place(variable), value)
    for source, sink in system["connections"]:
        execution.connect_real_variables(*place(source), *place(sink))
    observer = CosimObserver.create_last_value()
    execution.add_observer(observer)
    if not execution.step(step_count=system["steps"]):
        raise RuntimeError(f"libcosim stopped: {execution.status()}")
    return [observer.last_real_values(place(v)[0], [place(v)[1]])[0] for v in system["read"]]


def ecos(system: System) -> list[float]:
    # its library links libtbb, which the package tbb puts where the loader does not look
    ctypes.CDLL(str(Path(sys.prefix) / "lib" / "libtbb.so.12"), mode=ctypes.RTLD_GLOBAL)
    from ecospy import EcosSimulation, EcosSimulationStructure

    def name(variable: str) -> str:
        return variable.replace(".", "::", 1)

    with EcosSimulationStructure() as structure:
        for slave, fmu in system["slaves"].items():
            structure.add_model(slave, fmu)
        for source, sink in system["connections"]:
            structure.make_real_connection(name(source), name(sink))
        structure.add_parameter_set("start", {name(v): float(value) for v, value in system["start"].items()})
        with EcosSimulation(structure=structure, step_size=system["step"] * 1e-9) as simulation:
            simulation.init(parameter_set="start")
            simulation.step(system["steps"])
            values = [simulation.get_real(name(v)) for v in system["read"]]
            simulation.terminate()
    return values


def container(system: System) -> list[float]:
    """As one FMU around those of the system, which the FMU manipulation toolbox makes, under fmpy."""
    from fmpy.fmi2 import FMU2Slave
    from fmu_manipulation_toolbox.assembly import AssemblyNode

    step, unlinked = system["step"] * 1e-9, {"auto_link": False, "auto_input": False, "auto_output": False}
    with tempfile.TemporaryDirectory() as folder:
        node = AssemblyNode("container.fmu", step_size=step, **unlinked)
        for slave, fmu in system["slaves"].items():
            shutil.copyfile(fmu, Path(folder) / f"{slave}.fmu")
            node.add_fmu(f"{slave}.fmu")

        def port(variable: str) -> tuple[str, str]:
            slave, _, name = variable.partition(".")
            return f"{slave}.fmu", name

        for variable, value in system["start"].items():
            node.add_start_value(*port(variable), repr(float(value)))
        for source, sink in system["connections"]:
            node.add_link(*port(source), *port(sink))
        for variable in system["read"]:
            node.add_output(*port(variable), variable)
        with contextlib.redirect_stdout(sys.stderr):
            node.make_fmu(Path(folder))
        made = Path(folder) / "container.fmu"
        description = fmpy.read_model_description(made, validate=False)
        references = {v.name: v.valueReference for v in description.modelVariables}
        slave = FMU2Slave(
            guid=description.guid,
            unzipDirectory=fmpy.extract(made, f"{folder}/container"),
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName="container",
        )
        slave.instantiate()
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        for k in range(system["steps"]):
            slave.doStep(k * step, step)
        values: list[float] = slave.getReal([references[name] for name in system["read"]])
        slave.terminate()
        slave.freeInstance()
    return values


def libcosim_archive(system: System) -> list[float]:
    """As libcosim reads an SSP archive, with the step that its annotation gives."""
    from libcosimpy import CosimLogging
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimObserver import CosimObserver

    CosimLogging.log_output_level(CosimLogging.CosimLogLevel.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        fmpy.extract(system["archive"], folder)
        execution = CosimExecution.from_ssp_file(folder)
        observer = CosimObserver.create_last_value()
        execution.add_observer(observer)
        if not execution.step(step_count=system["steps"]):
            raise RuntimeError(f"libcosim stopped: {execution.status()}")
        values = []
        for variable in system["read"]:
            slave, _, name = variable.partition(".")
            description = fmpy.read_model_description(system["slaves"][slave], validate=False)
            reference = next(v.valueReference for v in description.modelVariables if v.name == name)
            values.append(observer.last_real_values(execution.slave_index_from_instance_name(slave), [reference])[0])
        return values


def ecos_archive(system: System) -> list[float]:
    """As Ecos reads an SSP archive."""
    ctypes.CDLL(str(Path(sys.prefix) / "lib" / "libtbb.so.12"), mode=ctypes.RTLD_GLOBAL)
    from ecospy import EcosSimulation

    with EcosSimulation(ssp_path=system["archive"], step_size=system["step"] * 1e-9) as simulation:
        simulation.init(parameter_set="initialValues")
        simulation.step(system["steps"])
        values = [simulation.get_real(v.replace(".", "::", 1)) for v in system["read"]]
        simulation.terminate()
    return values


ENGINES: dict[str, Callable[[System], list[float]]] = {"ecos": ecos, "libcosim": libcosim, "container": container}
ARCHIVES = {"libcosim": libcosim_archive, "ecos": ecos_archive}


if __name__ == "__main__":
    engine, _, archive = sys.argv[1].partition(" ")
    run = (ARCHIVES if archive else ENGINES)[engine]
    results = []
    for system in json.loads(Path(sys.argv[2]).read_text()):
        print(", ".join(system["slaves"].values()), file=sys.stderr, flush=True)  # the last one is where it ended
        results.append(run(system))
    Path(sys.argv[3]).write_text(json.dumps(results))
