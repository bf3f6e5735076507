"""WebAssembly modules in wasmtime: the bits of native FMUs, for one recipe of each element, and assemblies.

`python -m tests.platform.wasm_bits` compares the whole catalogue."""

from __future__ import annotations

import pytest
from wasm_bits import STEPS, runs

from fmu_builder.paths import find_recipe
from tests.forms import first_of_each_element

pytestmark = pytest.mark.platform
MORE = (
    "BodyOnThreeSprings",
    "BouncingBall",
    "PointMeshBowl",
    "PointRoad",
    "PointSphere",
)  # assemblies, curved surfaces


@pytest.mark.parametrize("name", [*first_of_each_element(), *MORE])
def test_a_module_has_the_bits_of_the_native_fmu(name: str) -> None:
    found = runs(find_recipe(name))
    assert len(found.native) == STEPS and found.native.size
    assert found.different() == []


def test_a_module_holds_the_data_that_an_fmu_has_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    embedded = runs(find_recipe("PointMeshBowl"))
    monkeypatch.setattr("fmu_builder.model.mesh.MOST_EMBEDDED", 0)
    found = runs(find_recipe("PointMeshBowl"))
    assert found.native.tobytes() == embedded.native.tobytes() and found.different() == []
