"""WebAssembly modules of FMUs beside the native FMUs: the same calls, all Real outputs and local variables.

    python -m tests.platform.wasm_bits [RECIPE...]     the catalogue, or some of it: values, and those that differ

A module runs in wasmtime, of PyPI."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import fmpy
import numpy as np
from fmpy.fmi1 import FMICallException
from fmpy.model_description import ModelDescription
from numpy.typing import NDArray
from wasmtime import Func, FuncType, Instance, Module, Store, ValType

from fmu_builder.cosim.slave import read_slave
from fmu_builder.errors import InputError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.pages.module import wasm_module
from fmu_builder.paths import catalogue, find_recipe
from tests.fmus.trace_hashes import STEP, driven_and_read, initialized, input_at

STEPS = 1000
REFUSED = 3  # fmi2Error; what is not below ends the run on both sides

Values = NDArray[np.float64]


class WasmSlave:
    """One instance of the module of an FMU."""

    def __init__(self, module: bytes, name: str, guid: str) -> None:
        self._store = Store()
        made = Module(self._store.engine, module)
        log = Func(self._store, FuncType([ValType.i32()] * 3, []), lambda status, category, text: None)
        self._functions = Instance(self._store, made, [log]).exports(self._store)
        self._component = self._call("page_instantiate", self._text(name), self._text(guid))
        assert self._component, name

    def _call(self, name: str, *arguments: float) -> int:
        return int(self._functions[name](self._store, *arguments))  # type: ignore[operator]

    def _reserve(self, size: int) -> int:
        place = self._call("page_reserve", size)
        assert place, "no memory"
        return place

    def _write(self, data: bytes) -> int:
        place = self._reserve(len(data))
        self._put(data, place)
        return place

    def _put(self, data: bytes, place: int) -> None:
        self._functions["memory"].write(self._store, data, place)  # type: ignore[union-attr]

    def _text(self, text: str) -> int:
        return self._write(text.encode() + b"\0")

    def call(self, name: str, *arguments: float) -> int:
        """The status of a function of FMI 2.0."""
        return self._call(name, self._component, *arguments)

    def link(self, references: Sequence[int]) -> Link:
        array = np.array(references, dtype="<u4").tobytes()
        return Link(self, self._write(array), len(references), self._reserve(8 * max(len(references), 1)))

    def read(self, place: int, count: int) -> Values:
        data = self._functions["memory"].read(self._store, place, place + 8 * count)  # type: ignore[union-attr]
        return np.frombuffer(bytes(data), dtype="<f8")

    def write(self, place: int, values: Sequence[float]) -> None:
        self._put(np.array(values, dtype="<f8").tobytes(), place)


@dataclass
class Link:
    """Reals that are set or read in one call."""

    slave: WasmSlave
    references: int
    count: int
    place: int

    def set(self, values: Sequence[float]) -> int:
        self.slave.write(self.place, values)
        return self.slave.call("fmi2SetReal", self.references, self.count, self.place)

    def get(self) -> Values:
        assert self.slave.call("fmi2GetReal", self.references, self.count, self.place) < REFUSED
        return self.slave.read(self.place, self.count)


@dataclass(frozen=True)
class Runs:
    """Rows of one recipe, shape (steps that both made, variables), natively and as a module."""

    names: list[str]
    native: Values
    module: Values

    def different(self) -> list[str]:
        """Names of the variables that differ in a bit."""
        unlike = (self.native.view(np.uint64) != self.module.view(np.uint64)).any(axis=0)
        return [name for name, is_unlike in zip(self.names, unlike, strict=True) if is_unlike]


def runs(recipe: Path, steps: int = STEPS) -> Runs:
    """Inputs that are no attitude and no switch vary; a call that is refused ends the run, on both sides alike.

    Raises InputError for a recipe without a module, such as a prototype."""
    fmu = host_fmu(recipe)
    module = wasm_module(read_slave(fmu))
    description = fmpy.read_model_description(fmu)
    driven, read = driven_and_read(description)
    inputs = [[input_at(v.name, k * STEP) for v in driven] for k in range(steps)]
    native = native_rows(fmu, description, [v.valueReference for v in driven], [v.valueReference for v in read], inputs)
    slave = WasmSlave(module, recipe.stem, description.guid)
    assert slave.call("fmi2SetupExperiment", 0, 0.0, 0.0, 0, 0.0) < REFUSED
    assert slave.call("fmi2EnterInitializationMode") < REFUSED
    assert slave.call("fmi2ExitInitializationMode") < REFUSED
    driven_link = slave.link([v.valueReference for v in driven])
    read_link = slave.link([v.valueReference for v in read])
    rows = []
    for k, values in enumerate(inputs):
        if driven_link.set(values) >= REFUSED or slave.call("fmi2DoStep", k * STEP, STEP, 1) != 0:
            break
        rows.append(read_link.get())
    assert len(rows) == len(native), f"{len(rows)} steps of {len(native)}"
    return Runs([v.name for v in read], native, np.array(rows).reshape(native.shape))


def native_rows(
    fmu: Path,
    description: ModelDescription,
    driven: Sequence[int],
    read: Sequence[int],
    inputs: Sequence[Sequence[float]],
) -> Values:
    rows = []
    with initialized(fmu, description) as slave, suppress(FMICallException):
        for k, values in enumerate(inputs):
            slave.setReal(driven, values)
            slave.doStep(k * STEP, STEP)
            rows.append(slave.getReal(read))
    return np.array(rows).reshape(len(rows), len(read))


def main(names: Sequence[str]) -> int:
    values, unlike = 0, 0
    for recipe in [find_recipe(name) for name in names] or catalogue():
        try:
            found = runs(recipe)
        except InputError as error:
            print(f"{recipe.stem:32s} {error}")
            continue
        different = found.different()
        values += found.native.size
        unlike += len(different)
        print(f"{recipe.stem:32s} {len(found.native):5d} steps, {found.native.size:8d} values", *different[:3])
    print(f"{values} values, {unlike} variables differ")
    return 1 if unlike else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
