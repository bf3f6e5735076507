"""The elements of the catalogue keep to what they declare, and the check of it would see if one did not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from forms import forms

from fmu_builder.export import element_check, probe
from fmu_builder.export.canaries import with_canaries
from fmu_builder.export.declared_check import element_problems
from fmu_builder.export.generate import check_sources, write_sources
from fmu_builder.export.probe_plan import Plan, pack, unpack
from fmu_builder.export.toolchain import PLATFORMS, Compiler, compile_unoptimized, find_compiler, host_platform
from fmu_builder.model.loader import load_model
from fmu_builder.model.model import ElementModel
from fmu_builder.paths import shipped

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    found = find_compiler()
    assert found is not None
    return found


@pytest.mark.parametrize("name", forms())
def test_every_element_and_assembly_keeps_to_its_declaration(name: str, compiler: Compiler) -> None:
    """Every build asks for it, of the recipes of the same form as well."""
    assert element_problems(load_model(shipped("fmus") / f"{name}.toml"), compiler) == []


def findings(library: Path, plan: Plan) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, probe.__file__, str(library)], input=plan.numbers.tobytes(), capture_output=True, check=True
    )
    return unpack(plan, done.stdout)


NAMES = ("PointSurface", "PointLine2", "RigidBody", "FourBar", "ImpactDamper")


@pytest.mark.parametrize("name", NAMES)
def test_a_variable_taken_from_a_list_is_missed(name: str, compiler: Compiler, tmp_path: Path) -> None:
    """Each declared name in turn is taken from each list, if it shows there at four times as many points.  The points
    of a build need not meet every regime, but have to meet nearly all."""
    model = load_model(shipped("fmus") / f"{name}.toml")
    assert isinstance(model, ElementModel)
    guarded = with_canaries(element_check._form(model))
    padded = guarded.model
    sources, compiled = check_sources(padded)
    write_sources(sources, tmp_path / "sources")
    library = tmp_path / f"check{PLATFORMS[host_platform()].suffix}"
    probes = str(shipped("contact_core") / "check" / "probe_element.c")
    compile_unoptimized(tmp_path / "sources", library, compiler, (*compiled, probes))
    sets = element_check.declared_sets(padded)
    canaries = {"canaries": guarded.values, "z_canaries": guarded.indicators}
    every = findings(library, pack(padded, 4 * element_check.POINTS, sets=sets, every=True, **canaries))
    silent = set(every["unshown"])
    names = [v.name for v in padded.variables]
    wanted, missed = 0, []
    for listed, values in sets:
        for base in {element_check._base(names[i]) for i in listed}:
            gone = [i for i in listed if element_check._base(names[i]) == base]
            if all((v, k) in silent for v in values for k in gone):
                continue
            wanted += 1
            left = [i for i in listed if i not in gone]
            plan = pack(padded, element_check.POINTS, sets=[(left, values)], **canaries)
            if not findings(library, plan)["undeclared"]:
                missed.append((names[values[0]], base))
    assert wanted > 10
    print(f"{name}: {wanted - len(missed)} of {wanted}")
    assert len(missed) <= 0.05 * wanted, missed
