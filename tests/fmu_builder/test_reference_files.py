"""The references that an FMU holds: what another tool finds in extra/, and that it gets the same."""

from __future__ import annotations

import hashlib
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from fmpy import simulate_fmu
from fmpy.util import read_csv
from lxml import etree

from fmu_builder.cli import app
from fmu_builder.cosim.reference_files import ABOUT, FOLDER, cases_alone, files_of, with_references
from fmu_builder.errors import InputError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.paths import find_recipe, shipped

LS = "{http://fmi-standard.org/fmi-ls-manifest}fmi-ls-"

CASE = """
description = "A mass is pushed"
[experiment]
stop = "20 ms"
step = "1 ms"
[slaves]
mass = { recipe = "SliderMass", start = { m = "500 g", "solver.method" = "explicit" } }
[drive]
"mass.p.F" = "2[N]"
[reference]
file = "pushed_ref.csv"
source = "closed form: v = F t / m"
signals."mass.p.v" = { absolute = "1 nm/s" }
"""


@pytest.fixture
def mass(tmp_path: Path) -> Path:
    return Path(shutil.copy(host_fmu(find_recipe("SliderMass")), tmp_path))


@pytest.fixture
def pushed(tmp_path: Path) -> Path:
    time = np.linspace(0.0, 0.02, 21)
    rows = np.column_stack([time, 4.0 * time])
    np.savetxt(tmp_path / "pushed_ref.csv", rows, delimiter=",", header="time,mass.p.v", comments="", fmt="%.17g")
    path = tmp_path / "pushed.toml"
    path.write_text(CASE)
    return path


def test_the_manifest_lists_every_file_with_its_role_and_digest(mass: Path) -> None:
    assert with_references(mass, cases_alone("SliderMass")) == ("push",)
    files = {name.removeprefix(f"{FOLDER}/"): data for name, data in files_of(mass).items() if name != ABOUT}
    root = etree.fromstring(files.pop("fmi-ls-manifest.xml"))
    assert root.tag == "fmiReferences" and root.get(f"{LS}name") == "org.fmi-standard.fmi-ls-ref"
    related = {one.get("source"): one for one in root}
    assert related.keys() == files.keys() == {"experiments.exp", "push.ssv", "push_ref.csv"}
    roles = {name: one.get("role") for name, one in related.items()}
    assert roles == {"experiments.exp": "experiment/validation", "push.ssv": "parameter", "push_ref.csv": "result"}
    for name, data in files.items():
        assert hashlib.sha3_256(data).hexdigest() == related[name].get("checksum")


def test_another_tool_gets_the_reference_from_what_the_fmu_holds(mass: Path, pushed: Path, tmp_path: Path) -> None:
    with_references(mass, [pushed])
    with zipfile.ZipFile(mass) as archive:
        archive.extractall(tmp_path / "x", [name for name in archive.namelist() if name.startswith(FOLDER)])
    folder = tmp_path / "x" / FOLDER
    (experiment,) = etree.parse(str(folder / "experiments.exp")).getroot()
    sources = {one.tag: folder / str(one.get("source")) for one in experiment}
    assert sources.keys() == {"Parameters", "Stimuli", "References"}
    parameters = etree.parse(str(sources["Parameters"])).getroot()
    starts = {one.get("name"): one[0].get("value") for one in parameters.iter("{*}Parameter")}
    assert starts == {"m": "0.5", "solver.method": "explicit"}
    expected = read_csv(sources["References"])
    found = simulate_fmu(
        str(mass),
        stop_time=float(experiment.get("stopTime")),
        output_interval=float(experiment.get("stepSize")),
        start_values={"m": starts["m"]},
        input=read_csv(sources["Stimuli"]),
        output=["p.v"],
    )
    assert np.max(np.abs(expected["p.v"])) > 1e-4
    assert np.allclose(found["p.v"], expected["p.v"], rtol=1e-9, atol=1e-15)


def test_the_same_references_give_the_same_bytes_and_replace_former_ones(mass: Path, pushed: Path) -> None:
    with_references(mass, [pushed])
    before = mass.read_bytes()
    with_references(mass, cases_alone("SliderMass"))
    assert not any("pushed" in name for name in files_of(mass))
    with_references(mass, [pushed])
    assert mass.read_bytes() == before


def test_sources_and_tolerances_stand_in_the_documentation(mass: Path, pushed: Path) -> None:
    with_references(mass, [pushed])
    text = files_of(mass)[ABOUT].decode()
    assert "closed form: v = F t / m" in text and "p.v: tolerance absolute 1 nm/s" in text


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("mass.p.v", "mass.p.w", "has no variable p.w"),
        ('signals."mass.p.v"', 'signals."mass.p.s"', r"pushed_ref\.csv has no signal mass\.p\.s"),
        ("[slaves]", '[slaves]\nother = "SliderMass"', "has 2 slaves"),
        ('signals."mass.p.v"', 'events."mass.touch[1]"', r"has no \[reference\] with signals"),
    ],
)
def test_a_case_that_is_none_of_the_fmu_alone_is_refused(
    mass: Path, pushed: Path, old: str, new: str, what: str
) -> None:
    pushed.write_text(CASE.replace(old, new))
    reference = pushed.with_name("pushed_ref.csv")
    reference.write_text(reference.read_text().replace(old, new))
    before = mass.read_bytes()
    with pytest.raises(InputError, match=what):
        with_references(mass, [pushed])
    assert mass.read_bytes() == before


def test_cases_of_one_file_name_are_refused(mass: Path, pushed: Path) -> None:
    other = pushed.parent / "other" / pushed.name
    other.parent.mkdir()
    for path in (pushed, pushed.with_name("pushed_ref.csv")):
        shutil.copy(path, other.parent)
    with pytest.raises(InputError) as refused:
        with_references(mass, [pushed, other])
    assert f"{other}: has the file name of {pushed}" in str(refused.value)


def test_references_that_do_not_fit_leave_no_fmu(pushed: Path, tmp_path: Path) -> None:
    pushed.write_text(CASE.replace("mass.p.v", "mass.p.s"))
    command = ["build", "SliderMass", "-o", str(tmp_path / "made"), "--source-only", "--references", str(pushed)]
    with pytest.raises(InputError, match="has no signal"):
        app(command, standalone_mode=False)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("name", ["SliderMass", "SliderMass.fmu", "Missing"])
def test_a_case_of_another_recipe_is_refused(name: str, pushed: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "Own.toml"
    recipe.write_text((shipped("fmus") / "SliderMass.toml").read_text())
    pushed.write_text(CASE.replace('"SliderMass"', f'"{name}"'))
    command = ["build", str(recipe), "-o", str(tmp_path / "made"), "--source-only", "--references", str(pushed)]
    with pytest.raises(InputError) as refused:
        app(command, standalone_mode=False)
    what = f"is of the recipe '{name}', but the FMU is built from {recipe}: name that in the case"
    said = "Missing: there is no recipe of this name" if name == "Missing" else what
    assert str(refused.value).startswith(f"{pushed}: [slaves] mass: {said}")
    assert not (tmp_path / "made").exists()


def test_what_is_built_again_has_the_version_of_the_fmu_and_keeps_its_references(pushed: Path, tmp_path: Path) -> None:
    app(["build", "SliderMass", "-o", str(tmp_path), "--source-only", "--fmi", "3"], standalone_mode=False)
    fmu = (tmp_path / "SliderMass_fmi3.fmu").rename(tmp_path / "renamed.fmu")
    again = ["build", str(fmu), "-o", str(tmp_path / "made")]
    app(again, standalone_mode=False)
    assert (tmp_path / "made" / "SliderMass_fmi3.fmu").read_bytes() == fmu.read_bytes()
    with pytest.raises(InputError, match="keeps the references that it holds"):
        app([*again, "--references", str(pushed)], standalone_mode=False)


def test_of_two_versions_none_is_written_where_one_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match=r"of FMI 2\.0 only"):
        app(["build", "ProbePlain", "-o", str(tmp_path), "--source-only", "--fmi", "2,3"], standalone_mode=False)
    assert list(tmp_path.iterdir()) == []
    assert "building ProbePlain for FMI 3.0" in capsys.readouterr().err


def test_cases_of_the_catalogue_are_found_where_the_fmu_is_alone() -> None:
    assert {path.stem for path in cases_alone("Pendulum")} == {"door", "swing"}
    assert cases_alone("TranslationalSpring") == []  # needs bodies


def test_a_build_of_the_catalogue_holds_its_references_and_one_from_that_fmu_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app(["build", "SliderMass", "-o", "first", "--source-only"], standalone_mode=False)
    first = tmp_path / "first" / "SliderMass.fmu"
    assert f"{FOLDER}/push_ref.csv" in files_of(first)
    app(["build", str(first), "-o", "second"], standalone_mode=False)
    assert (tmp_path / "second" / "SliderMass.fmu").read_bytes() == first.read_bytes()


def test_a_case_that_drives_clocks_is_none_of_the_fmu_of_fmi_3_in_which_they_are_no_inputs(tmp_path: Path) -> None:
    app(["build", "ProbeClock", "-o", str(tmp_path), "--source-only", "--fmi", "2,3"], standalone_mode=False)
    assert f"{FOLDER}/ticks_ref.csv" in files_of(tmp_path / "ProbeClock.fmu")
    assert not files_of(tmp_path / "ProbeClock_fmi3.fmu")


@pytest.mark.slow
def test_an_own_case_is_given_by_name_or_path(pushed: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "Own.toml"
    recipe.write_text((shipped("fmus") / "SliderMass.toml").read_text())
    command = ["build", str(recipe), "-o", str(tmp_path / "made"), "--source-only"]
    app(command, standalone_mode=False)
    assert not files_of(tmp_path / "made" / "Own.fmu")
    for name in ("Own", "Own.fmu"):
        pushed.write_text(CASE.replace('"SliderMass"', f'"{name}"'))
        app([*command, "--references", str(pushed)], standalone_mode=False)
        assert f"{FOLDER}/pushed_ref.csv" in files_of(tmp_path / "made" / "Own.fmu")
