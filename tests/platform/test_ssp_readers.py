"""Our SSP archives under readers that are not ours: the bits of our Jacobi master; valid by SSP 2.0 too."""

from __future__ import annotations

import importlib.util
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from importers import ARCHIVES
from lxml import etree
from test_importers import DROP, LINKS, STEP, fmu_of, run_with, system

from fmu_builder.cosim.master import load_scenario, run, system_of
from fmu_builder.cosim.ssp_writing import ssp_archive
from tests.fmu_builder.foreign import GAIN, foreign_fmu

pytestmark = pytest.mark.platform


def archive(scenario: Path, target: str) -> Path:
    data, _ = ssp_archive(system_of(load_scenario(scenario)), target, ("host",))
    path = scenario.with_suffix(".ssp")
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("engine", ARCHIVES)
def test_a_ball_bounces_as_under_our_jacobi_master(engine: str, tmp_path: Path) -> None:
    floor = fmu_of("PointSurface", tmp_path)  # without enumerations, which these engines do not have
    scenario = tmp_path / "drop.toml"
    text = DROP.replace('"PointSurface"', f'"{floor}"')
    scenario.write_text(f"connections = {[list(link) for link in LINKS]}\n{text}")
    read = ["body.p.r[3]", "body.p.v[3]"]
    trace = run(scenario).trace
    fmus = {"body": fmu_of("PointMass"), "floor": floor}
    given = {**system(fmus, read, round(1.0 / STEP)), "archive": str(archive(scenario, engine))}
    ((*theirs,),) = run_with(f"{engine} archive", [given], tmp_path)
    assert theirs == [float(trace[name][-1]) for name in read]
    assert trace["floor.contact_count"][-1] >= 2


@pytest.mark.parametrize("engine", ARCHIVES)
def test_a_conversion_of_units_is_done(engine: str, tmp_path: Path) -> None:
    fmus = {}
    for name, units in (("first", {"y": "m"}), ("second", {"u": "mm"})):
        variables = [replace(v, unit=units.get(v.name)) for v in GAIN]
        fmus[name] = foreign_fmu(tmp_path, name, variables, "g0--")
    scenario = tmp_path / "units.toml"
    scenario.write_text(
        'connections = [["first.y", "second.u"]]\n[experiment]\nstop = "10 ms"\nstep = "1 ms"\n'
        '[slaves]\nfirst = { recipe = "first.fmu", start = { b = 0.125 } }\nsecond = "second.fmu"\n'
    )
    given = {**system(fmus, ["second.y"], 10), "step": 1_000_000, "archive": str(archive(scenario, engine))}
    assert run_with(f"{engine} archive", [given], tmp_path) == [[125.0]]


def test_documents_are_valid_by_the_schemas_of_ssp_2_0_and_read_by_pyssp(tmp_path: Path) -> None:
    found = importlib.util.find_spec("pyssp_standard")
    assert found is not None and found.submodule_search_locations
    schemas = Path(found.submodule_search_locations[0]) / "resources" / "ssp2"
    scenario = tmp_path / "drop.toml"
    scenario.write_text(f'connections = [["body.p", "floor.point"]]\n{DROP}')
    kinds = {"ssd": "Description", "ssv": "ParameterValues"}
    checked = 0
    with zipfile.ZipFile(archive(scenario, "standard")) as package:
        for name in package.namelist():
            if name[-3:] in kinds:
                schema = etree.XMLSchema(etree.parse(schemas / f"SystemStructure{kinds[name[-3:]]}.xsd"))
                schema.assertValid(etree.fromstring(package.read(name)))
                checked += 1
    assert checked == 3
    from pyssp_standard.ssp import SSP

    with SSP(scenario.with_suffix(".ssp")) as read:
        assert {"body.ssv", "floor.ssv"} <= {Path(str(name)).name for name in read.resources}
        with read.system_structure as structure:
            ends = {
                (one.start_element, one.start_connector, one.end_element, one.end_connector)
                for one in structure.list_connections()
            }
    assert ends == {tuple(part for end in link for part in end.split(".", 1)) for link in LINKS}
