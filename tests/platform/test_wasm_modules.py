"""WebAssembly modules in wasmtime: the bits of native FMUs, for one recipe of each element, and assemblies.

`python -m tests.platform.wasm_bits` compares the whole catalogue."""

from __future__ import annotations

import pytest
from wasm_bits import STEPS, runs

from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import catalogue, find_recipe

pytestmark = pytest.mark.platform
MORE = (
    "BodyOnThreeSprings",
    "BouncingBall",
    "PointMeshBowl",
    "PointRoad",
    "PointSphere",
)  # assemblies, curved surfaces


def first_of_each_element() -> list[str]:
    found: dict[str, str] = {}
    for path in catalogue():
        found.setdefault(read_toml(path).get("element", ""), path.stem)
    return sorted(name for element, name in found.items() if element)


@pytest.mark.parametrize("name", [*first_of_each_element(), *MORE])
def test_a_module_has_the_bits_of_the_native_fmu(name: str) -> None:
    found = runs(find_recipe(name))
    assert len(found.native) == STEPS and found.native.size
    assert found.different() == []
