"""The elements of the catalogue keep to what they declare, and the check of it would see if one did not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fmu_builder.export import element_check, probe
from fmu_builder.export.canaries import with_canaries
from fmu_builder.export.declared_check import element_problems
from fmu_builder.export.generate import check_sources
from fmu_builder.export.toolchain import PLATFORMS, Compiler, compile_hosted, find_compiler, host_platform
from fmu_builder.model.model import ElementModel, load_model
from fmu_builder.paths import catalogue, shipped

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    found = find_compiler()
    assert found is not None
    return found


@pytest.mark.parametrize("recipe", catalogue(), ids=lambda path: path.stem)
def test_every_element_and_assembly_keeps_to_its_declaration(recipe: Path, compiler: Compiler) -> None:
    assert element_problems(load_model(recipe), compiler) == []


def probed(library: Path, plan: probe.Plan) -> probe.Findings:
    findings = probe.Findings()
    probe.Probe(probe.Element(str(library), plan, findings)).run()
    return findings


NAMES = ("PointSurface", "PointLine2", "RigidBody", "FourBar", "ImpactDamper")


@pytest.mark.parametrize("name", NAMES)
def test_a_variable_taken_from_a_list_is_missed(name: str, compiler: Compiler, tmp_path: Path) -> None:
    """Each declared name in turn is taken from each list, if it shows there at four times as many points.  The points
    of a build need not meet every regime, but have to meet nearly all."""
    model = load_model(shipped("fmus") / f"{name}.toml")
    assert isinstance(model, ElementModel)
    guarded = with_canaries(element_check._form(model))
    plan = element_check._plan(guarded, every=True)
    sources, compiled = check_sources(guarded.model)
    for file, text in sources.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    library = tmp_path / f"check{PLATFORMS[host_platform()].suffix}"
    compile_hosted([tmp_path / file for file in compiled], library, [tmp_path], compiler, ("-O0",))
    silent = set(probed(library, plan).unshown)
    wanted, missed = 0, []
    for listed, values in plan.sets:
        for base in {element_check._base(plan.names[i]) for i in listed}:
            gone = [i for i in listed if element_check._base(plan.names[i]) == base]
            if all((v, k) in silent for v in values for k in gone):
                continue
            wanted += 1
            left = [i for i in listed if i not in gone]
            one = replace(plan, sets=[(left, values)], memories=[], every=False)
            if not probed(library, one).undeclared:
                missed.append((plan.names[values[0]], base))
    assert wanted > 10
    print(f"{name}: {wanted - len(missed)} of {wanted}")
    assert len(missed) <= 0.05 * wanted, missed
