"""Hashes of the traces of the catalogue, to see what a change of the core alters to the bit.

    python tests/fmus/trace_hashes.py write FILE.json           runs every recipe and every case
    python tests/fmus/trace_hashes.py compare OLD.json NEW.json  names what differs, is new, or went

A recipe runs alone for STEPS communication steps with inputs that vary in a way fixed by their names; a case runs as
its scenario says.  Each Real output and local variable has a hash of its own, so a new variable alters no other."""

from __future__ import annotations

import hashlib
import json
import math
import struct
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import fmpy
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import FMU2Slave
from fmpy.model_description import ModelDescription, ScalarVariable

from fmu_builder.cosim.validation import all_cases, run_case
from fmu_builder.export.fmu import host_fmu
from fmu_builder.paths import catalogue

STEP = 2.0**-10  # s
STEPS = 300
AMPLITUDE = 0.02  # SI units of the input: deep enough to touch, small enough for the surfaces of the catalogue

Hashes = dict[str, str]


def input_at(name: str, time: float) -> float:
    """A sine whose phase and frequency follow from the name alone."""
    digest = hashlib.sha256(name.encode()).digest()
    return AMPLITUDE * math.sin(2.0 * math.pi * (1 + digest[0] % 7) * time + digest[1])


def driven_and_read(description: ModelDescription) -> tuple[list[ScalarVariable], list[ScalarVariable]]:
    """Real inputs that are no attitude; Real outputs and local variables, by name."""
    reals = [v for v in description.modelVariables if v.type == "Real"]
    driven = [v for v in reals if v.causality == "input" and ".q[" not in v.name]
    return driven, sorted((v for v in reals if v.causality in ("output", "local")), key=lambda v: v.name)


@contextmanager
def initialized(fmu: Path, description: ModelDescription) -> Iterator[FMU2Slave]:
    """An instance at time 0, with its start values."""
    with tempfile.TemporaryDirectory() as folder:
        slave = FMU2Slave(
            guid=description.guid,
            unzipDirectory=fmpy.extract(str(fmu), folder),
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName=fmu.stem,
        )
        slave.instantiate()
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        yield slave
        slave.freeInstance()


def hashes_of_recipe(recipe: Path) -> Hashes:
    """Inputs that are no attitude and no switch vary; a call that is refused ends the run, and is part of the hash."""
    fmu = host_fmu(recipe)
    description = fmpy.read_model_description(fmu)
    driven, read = driven_and_read(description)
    columns = {v.name: hashlib.sha256() for v in read}
    with initialized(fmu, description) as slave:
        try:
            for k in range(STEPS):
                slave.setReal([v.valueReference for v in driven], [input_at(v.name, k * STEP) for v in driven])
                slave.doStep(k * STEP, STEP)
                values = slave.getReal([v.valueReference for v in read])
                for column, value in zip(columns.values(), values, strict=True):
                    column.update(struct.pack("<d", value))
        except FMICallException:
            for column in columns.values():
                column.update(b"refused")
    return {name: column.hexdigest()[:16] for name, column in columns.items()}


def hashes_of_case(name: str, path: Path) -> Hashes:
    trace = run_case(name, path).trace
    if trace is None:
        return {"": "failed"}
    columns = {"time": trace.time} | {n: trace.values[:, i] for i, n in enumerate(trace.names)}
    return {n: hashlib.sha256(values.astype("<f8").tobytes()).hexdigest()[:16] for n, values in columns.items()}


def _hashes(job: tuple[str, str]) -> Hashes:
    name, path = job
    return hashes_of_case(name, Path(path)) if "/" in name else hashes_of_recipe(Path(path))


def write(file: Path) -> None:
    jobs = [(path.stem, str(path)) for path in catalogue()] + [(name, str(path)) for name, path in all_cases().items()]
    with ProcessPoolExecutor() as pool:
        found = dict(zip((name for name, _ in jobs), pool.map(_hashes, jobs), strict=True))
    file.write_text(json.dumps(found, indent=1, sort_keys=True), encoding="utf-8")


def compare(old: dict[str, Hashes], new: dict[str, Hashes]) -> list[str]:
    """A line for each run that differs: which variables changed, went, or are new."""
    lines = [f"{name}: went" for name in sorted(old.keys() - new.keys())]
    lines += [f"{name}: new" for name in sorted(new.keys() - old.keys())]
    for name in sorted(old.keys() & new.keys()):
        before, after = old[name], new[name]
        changed = sorted(v for v in before.keys() & after.keys() if before[v] != after[v])
        groups = {"changed": changed, "went": sorted(before.keys() - after.keys())}
        lines += [f"{name}: {len(vs)} of {len(before)} {what}: {', '.join(vs)}" for what, vs in groups.items() if vs]
    return lines


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]))
    else:
        differences = compare(*(json.loads(Path(file).read_text(encoding="utf-8")) for file in sys.argv[2:4]))
        print("\n".join(differences) or "no difference")
        sys.exit(bool(differences))
