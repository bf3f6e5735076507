"""The command line as a user meets it: what it prints where, its exit codes, and what it leaves behind."""

from __future__ import annotations

import io
import json
import os
import pickle
import re
import resource
import signal
import subprocess
import sys
import time
import webbrowser
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from foreign import BODY, GAIN, foreign_fmu
from rich.console import Console

import fmu_builder
from fmu_builder import cli, doctor
from fmu_builder.cli import building, cases, running, studying
from fmu_builder.cli.files import show_page
from fmu_builder.cosim.trace import read_trace
from fmu_builder.cosim.validation import CaseResult, all_cases, demo_cases, find_cases, recipes_of
from fmu_builder.doctor import FAULT, examine
from fmu_builder.errors import SlaveError, ToolError
from fmu_builder.export import fmu as builder
from fmu_builder.export.cache import size_of
from fmu_builder.export.fmu import Built, host_fmu
from fmu_builder.export.toolchain import Compiler, find_compiler, host_platform
from fmu_builder.model.scenario import read_scenario
from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import catalogue, own_version, shipped
from tests.contact_core.fmi2 import literal

COMMANDS = (
    "demo",
    "list",
    "info",
    "build",
    "run",
    "show",
    "live",
    "ssp",
    "cross-check",
    "modelica",
    "validate",
    "compare",
    "check",
    "record",
    "calls",
    "study",
    "fit",
    "new",
    "schema",
    "guide",
    "doctor",
)
FLOOR = """element = "point_surface"
[surface]
kind = "plane"
[structure]
coupling = false
[start]
C_F = "1e5 N/m"
C_r = 0.5
K_fr = 0.3
"""
DROP = """connections = [["body.p", "floor.point"]]
[experiment]
stop = "0.2 s"
step = "20 us"
output_step = "1 ms"
[slaves]
body = { recipe = "PointMass", start = { r0 = [0, 0, "0.1 m"] } }
floor = { recipe = "Floor" }
"""


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str


Command = Callable[..., Said]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """`fmu-builder` with arguments, in the empty folder tmp_path."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["fmu-builder", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        return Said(int(ended.value.code or 0), out, err)

    return call


@pytest.fixture
def drop(command: Command, tmp_path: Path) -> Command:
    """The same in a folder that holds the README's first system."""
    (tmp_path / "Floor.toml").write_text(FLOOR, encoding="utf-8")
    (tmp_path / "drop.toml").write_text(DROP, encoding="utf-8")
    return command


def files(folder: Path) -> set[str]:
    """Everything in the folder, hidden files included."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def shell(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """The command in a process of its own."""
    package = str(Path(fmu_builder.__file__).parent.parent)
    return subprocess.Popen(
        [sys.executable, "-m", "fmu_builder", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": package},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
        # Jobs in the background of a script ignore the interrupt, and their children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


# ---- help, version -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_each_command_shows_one_example_of_it(command: Command, name: str) -> None:
    said = command(name, "--help")
    assert said.code == 0
    assert said.err == ""
    assert re.findall(r"Example: fmu-builder ([\w-]+)", said.out) == [name]


def test_help_lists_every_command_once_and_readme_too(command: Command) -> None:
    said = command("--help")
    assert said.code == 0
    listed = re.findall(r"^│ (\w[\w-]*) +\S", said.out, re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^    fmu-builder ([\w-]+)", readme, re.MULTILINE)) == set(COMMANDS)


def test_version_is_printed(command: Command) -> None:
    said = command("--version")
    assert (said.code, said.err) == (0, "")
    assert re.fullmatch(r"fmu-builder \d+\.\d+\.\d+.*\n", said.out)


@pytest.mark.parametrize(
    "arguments", [("frobnicate",), ("run",), ("info", "--bad"), ("compare", "a", "b", "--time", "x")]
)
def test_wrong_usage_is_bad_input(command: Command, arguments: tuple[str, ...]) -> None:
    said = command(*arguments)
    assert said.code == 2
    assert said.out == ""
    assert "Usage:" in said.err


def test_examples_of_the_help_name_things_that_exist() -> None:
    assert list(find_cases(["sliding_block"])) == ["point_surface/sliding_block"]
    assert list(find_cases(["drop_elastic"])) == ["point_surface/drop_elastic"]
    assert "PointSurface" in [path.stem for path in catalogue()]


# ---- good runs ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_run_writes_trace_events_and_plot_and_prints_the_contacts(drop: Command, tmp_path: Path) -> None:
    said = drop("run", "drop.toml", "--plot", "drop.html")
    assert said.code == 0
    assert files(tmp_path) == {"Floor.toml", "drop.toml", "drop.html", "trace.csv", "trace.csv.json"}
    trace = read_trace(tmp_path / "trace.csv")
    assert trace.events["floor.touch[1]"] == pytest.approx((2 * 0.1 / 9.81) ** 0.5, rel=1e-12)  # a free fall of 0.1 m
    assert trace["floor.contact_count"][-1] == trace.events["floor.contact_count"] == 1.0
    header, units, first = (line.split() for line in said.out.splitlines()[-4:-1])
    assert header[:2] == ["touch", "release"]
    assert units[:3] == ["contact", "s", "s"]
    assert first[:2] == ["floor", "1"]
    assert float(first[2]) == pytest.approx(trace.events["floor.touch[1]"], rel=1e-5)
    assert "floor.surface is not connected" in said.err
    assert "note" not in said.out


@pytest.mark.slow
def test_the_contacts_in_the_readme_are_those_that_its_scenario_prints(command: Command, tmp_path: Path) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    for name in ("Floor.toml", "drop.toml"):
        content = re.search(r"```toml\n(.*?)```", readme[readme.index(f"`{name}`") :], re.DOTALL)
        assert content is not None
        (tmp_path / name).write_text(content[1], encoding="utf-8")
    said = command("run", "drop.toml")
    table = [line.rstrip() for line in said.out.splitlines() if line.startswith(("contact", "floor "))]
    assert len(table) == 5
    assert "\n".join(f"    {line}" for line in table) in readme


def test_run_with_json_prints_json_only(drop: Command, tmp_path: Path) -> None:
    said = drop("run", "drop.toml", "--json", "-o", "t.csv")
    found = json.loads(said.out)
    trace = read_trace(tmp_path / "t.csv")
    assert found["trace"] == "t.csv"
    assert found["rows"] == len(trace.time)
    assert found["events"] == dict(trace.events)
    assert found["contacts"][0]["touch"] == trace.events["floor.touch[1]"]
    assert found["units"] == dict(trace.units)
    assert found["notes"] == [
        "floor.surface is not connected: unless its inputs are set it stays where it starts, as if fixed to the ground"
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--stop", "9 ms"], None),
        (["--step", "5 ms"], None),
        (["--stop", "8 ms"], "--stop: 0.008 s is not a whole number of steps of 0.003 s"),
        (["--stop", "8 mm"], "--stop = '8 mm' has the dimension m but s is needed"),
        ([], "[experiment] stop: 0.01 s is not a whole number of steps of 0.003 s"),
    ],
)
def test_times_replace_those_that_do_not_fit_together(
    command: Command, tmp_path: Path, arguments: list[str], said: str | None
) -> None:
    text = '[experiment]\nstop = "10 ms"\nstep = "3 ms"\n[slaves]\nbody = "PointMass"\n'
    (tmp_path / "apart.toml").write_text(text, encoding="utf-8")
    if said is None:
        assert command("run", "apart.toml", *arguments).code == 0
    else:
        assert said in refused(command, tmp_path, 2, "run", "apart.toml", *arguments)


def test_step_stop_and_algorithm_replace_those_of_the_scenario(drop: Command, tmp_path: Path) -> None:
    said = drop("run", "drop.toml", "--step", "0.5 ms", "--stop", "10 ms", "--algorithm", "jacobi")
    assert said.code == 0
    trace = read_trace(tmp_path / "trace.csv")
    assert trace.time.tolist() == [k * 1e-3 for k in range(11)]
    assert trace.provenance["algorithm"] == "jacobi"


def test_a_step_that_does_not_divide_the_rows_has_a_row_for_each_step(drop: Command, tmp_path: Path) -> None:
    assert drop("run", "drop.toml", "--step", "0.4 ms", "--stop", "8 ms").code == 0
    assert read_trace(tmp_path / "trace.csv").time.tolist() == pytest.approx([k * 0.4e-3 for k in range(21)])


def test_a_recipe_an_fmu_and_a_case_run_from_any_folder(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fmu = host_fmu(shipped("fmus") / "PointMass.toml")
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    for what in ("PointMass", str(fmu)):
        said = command("run", what, "--stop", "5 ms", "-o", "trace.csv")
        assert said.code == 0
        assert read_trace(other / "trace.csv").time[-1] == 5e-3
    assert command("run", "projectile", "-o", "case.csv").code == 0
    assert command("run", "point_mass/projectile", "-o", "same.csv").code == 0
    assert (other / "case.csv").read_bytes() == (other / "same.csv").read_bytes()
    assert files(tmp_path) == {"other"} | {
        f"other/{n}.csv{s}" for n in ("trace", "case", "same") for s in ("", ".json")
    }


def test_a_scenario_finds_its_recipes_from_another_folder(
    drop: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    assert drop("run", "../drop.toml", "--stop", "1 ms").code == 0
    assert files(other) == {"trace.csv", "trace.csv.json"}


def test_signals_to_record_are_chosen_by_pattern(drop: Command, tmp_path: Path) -> None:
    said = drop(
        "run", "drop.toml", "--stop", "1 ms", "--record", "body.p.*", "--record", "floor.depth", "--plot", "p.html"
    )
    assert said.code == 0
    trace = read_trace(tmp_path / "trace.csv")
    assert {name.rpartition("[")[0] or name for name in trace.names} == {"body.p.r", "body.p.v", "floor.depth"}
    assert "error: --record: 'nothing*' names no signal" in refused(
        drop, tmp_path, 2, "run", "drop.toml", "--record", "nothing*"
    )


def test_folders_for_trace_and_plot_are_made(drop: Command, tmp_path: Path) -> None:
    said = drop("run", "drop.toml", "--stop", "1 ms", "-o", "a/b/trace.csv", "--plot", "c/drop.html")
    assert said.code == 0
    assert {"a/b/trace.csv", "a/b/trace.csv.json", "c/drop.html"} <= files(tmp_path)


def test_build_with_json_names_the_files(drop: Command, tmp_path: Path) -> None:
    said = drop("build", "Floor", "PointMass", "--platform", "host", "-o", "out", "--json")
    assert said.code == 0
    found = json.loads(said.out)
    assert [Path(entry["path"]).name for entry in found] == ["Floor.fmu", "PointMass.fmu"]
    for entry in found:
        with zipfile.ZipFile(tmp_path / entry["path"]) as archive:
            assert entry["guid"].encode() in archive.read("modelDescription.xml")
            platforms = {n.split("/")[1] for n in archive.namelist() if n.startswith("binaries/")}
        assert set(entry["platforms"]) == platforms
    assert files(tmp_path) == {"Floor.toml", "drop.toml", "out", "out/Floor.fmu", "out/PointMass.fmu"}


def test_faults_of_all_recipes_are_told_and_the_others_are_built(drop: Command, tmp_path: Path) -> None:
    (tmp_path / "Soft.toml").write_text(FLOOR.replace("C_r = 0.5", "C_r = 2"), encoding="utf-8")
    said = drop("build", "Soft", "Flor", "Floor", "--source-only")
    assert said.code == 2
    assert "C_r must be at most 1" in said.err and "did you mean 'Floor'?" in said.err
    assert said.out.endswith("Floor.fmu  (sources only)\n")
    assert files(tmp_path) == {"Floor.toml", "Soft.toml", "drop.toml", "Floor.fmu"}


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("a/M.toml", "b/M.toml"), "b/M.toml: its FMU would be out/M.fmu, and that of a/M.toml too: rename one"),
        (("a/M.toml", "m.toml"), "m.toml: its FMU would be out/m.fmu, and that of a/M.toml out/M.fmu, on Windows and"),
        (("M.fmu", "a/M.toml"), "a/M.toml: its FMU would be out/M.fmu, and that of M.fmu too"),
        (("a/M.toml", "M.stl"), "M.stl: its FMU would be out/M.fmu, and that of a/M.toml too"),
        (("a/M.toml", "M_fmi3.toml", "--fmi", "2,3"), "M_fmi3.toml: its FMU would be out/M_fmi3.fmu, and that of"),
    ],
)
def test_recipes_whose_fmus_would_be_one_file_are_refused_before_a_build(
    drop: Command, tmp_path: Path, names: tuple[str, ...], said: str
) -> None:
    for name in ("a/M.toml", "b/M.toml", "m.toml", "M_fmi3.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('element = "point_mass"\n', encoding="utf-8")
    (tmp_path / "M.stl").touch()
    if "M.fmu" in names:
        assert drop("build", "a/M.toml", "-o", ".", "--source-only").code == 0
    text = refused(drop, tmp_path, 2, "build", *names, "-o", "out", "--source-only")
    assert said in text.replace("\\", "/") and text.endswith("one by one into folders of their own by -o\n")


def test_recipes_of_one_name_are_built_each_into_its_folder(drop: Command, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "M.toml").write_text('element = "point_mass"\n', encoding="utf-8")
    assert drop("build", "a/M.toml", "b/M.toml", "a/M.toml", "--source-only").code == 0
    assert {"a/M.fmu", "b/M.fmu"} <= files(tmp_path)


@pytest.mark.slow
def test_the_catalogue_is_built_at_once(drop: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three recipes, two of them faulty: what is wrong with both is shown, and the third is there.  It is built as
    users get it, by other processes, so it is a small one."""
    recipes = [tmp_path / f"{name}.toml" for name in ("Floor", "Soft", "Hard")]
    recipes[0].write_text('element = "point_mass"\n', encoding="utf-8")
    recipes[1].write_text(FLOOR.replace("C_r = 0.5", "C_r = 2"), encoding="utf-8")
    recipes[2].write_text(FLOOR.replace("1e5 N/m", "-1 N/m"), encoding="utf-8")
    monkeypatch.setattr(building, "catalogue", lambda: recipes)
    said = drop("build", "--all", "-o", "out", "--platform", "host")
    assert said.code == 2
    assert "Soft.toml: [start] C_r" in said.err and "Hard.toml: [start] C_F" in said.err
    assert {name for name in files(tmp_path) if name.startswith("out")} == {"out", "out/Floor.fmu"}
    assert said.out.splitlines() == [f"{Path('out', 'Floor.fmu')}  ({host_platform()})"]
    monkeypatch.setattr(building, "catalogue", lambda: recipes[:1])
    found = json.loads(drop("build", "--all", "-o", "again", "--platform", "host", "--json").out)
    assert [entry["path"] for entry in found] == [str(Path("again", "Floor.fmu"))]
    assert (tmp_path / "again/Floor.fmu").read_bytes() == (tmp_path / "out/Floor.fmu").read_bytes()


def test_a_failure_of_a_tool_hides_neither_the_fmus_that_were_built_nor_other_problems(
    drop: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_fmu = building.build_fmu

    def no_compiler_for_hard(recipe: Path, *arguments: Any) -> Built:
        if recipe.stem == "Hard":
            raise ToolError("the compiler failed")
        return build_fmu(recipe, *arguments)

    monkeypatch.setattr(building, "build_fmu", no_compiler_for_hard)
    (tmp_path / "Soft.toml").write_text(FLOOR.replace("C_r = 0.5", "C_r = 2"), encoding="utf-8")
    (tmp_path / "Hard.toml").write_text(FLOOR, encoding="utf-8")
    names = ("Soft.toml", "Hard.toml", "Floor.toml")
    said = drop("build", *names, "-o", "out", "--platform", "host")
    assert said.code == 3
    assert "Soft.toml: [start] C_r" in said.err and "the compiler failed" in said.err
    assert said.out.splitlines() == [f"{Path('out', 'Floor.fmu')}  ({host_platform()})"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--all"], "--all: builds the 96 FMUs of the catalogue; name a folder"),
        (["--all", "Floor"], "--all: is the whole catalogue"),
        ([], "RECIPES: none is given"),
    ],
)
def test_build_takes_either_recipes_or_the_catalogue(
    drop: Command, tmp_path: Path, arguments: list[str], said: str
) -> None:
    assert said.replace("96", str(len(catalogue()))) in refused(drop, tmp_path, 2, "build", *arguments)


def test_sources_can_be_built_alone(drop: Command, tmp_path: Path) -> None:
    said = drop("build", "Floor.toml", "--source-only")
    assert said.code == 0
    assert said.out.endswith("Floor.fmu  (sources only)\n")
    with zipfile.ZipFile(tmp_path / "Floor.fmu") as archive:
        assert not [n for n in archive.namelist() if n.startswith("binaries/")]
    assert drop("build", "Floor.toml", "--source-only", "--platform", "host").code == 2


def test_a_scenario_is_built_as_one_fmu_that_runs(drop: Command, tmp_path: Path) -> None:
    said = drop("build", "drop.toml", "--assembly", "--platform", "host")
    assert said.code == 0
    assert "drop.fmu" in said.out
    assert "floor.surface is not connected" in said.err
    coupled, alone = (
        json.loads(drop("run", name, "-o", f"{name}.csv", "--json").out) for name in ("drop.toml", "drop.fmu")
    )
    assert alone["events"]["fmu.floor.impulse[1]"] == pytest.approx(coupled["events"]["floor.impulse[1]"], rel=0.02)


def test_only_a_scenario_becomes_an_assembly(drop: Command) -> None:
    said = drop("build", "Floor.toml", "--assembly")
    assert said.code == 2
    assert "--assembly takes a scenario, and this is a recipe" in said.err


def test_list_and_info_give_machines_what_they_need(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    some = catalogue()[::16]  # each of them is read: the test below has them all
    monkeypatch.setattr("fmu_builder.cli.listing.catalogue", lambda: some)
    listed = json.loads(command("list", "--json").out)
    assert set(listed["fmus"]) == {path.stem for path in some}
    assert set(listed["cases"]) == set(all_cases())
    info = json.loads(command("info", "PointSurface", "--json").out)
    ports = {port["name"]: port for port in info["ports"]}
    assert ports["point"]["side"] == "force"
    assert ports["point"]["force"]["f"] == ["point.f[1]", "point.f[2]", "point.f[3]"]
    named = {v["name"]: v for v in info["variables"]}
    assert named["C_F"]["unit"] == "N/m"
    assert named["C_F"]["causality"] == "parameter"
    assert info["step"] == 9e-4


def test_list_prints_each_name_in_a_line(command: Command) -> None:
    said = command("list")
    assert said.code == 0
    for name in (*all_cases(), *(path.stem for path in catalogue())):
        assert len(re.findall(rf"^  {re.escape(name)}  ", said.out, re.MULTILINE)) == 1


def test_info_shows_vectors_in_one_row_and_starts_as_people_write_them(command: Command) -> None:
    said = command("info", "PointMass")
    assert "p.r[1..3], p.v[1..3]" in said.out
    assert re.search(r"g\[1\.\.3\] +=? ?= \(0, 0, -9\.81\) m/s2", said.out)
    assert "recommended communication step: 0.001 s" in said.out
    assert "interfaces: co-simulation, model exchange" in said.out


def test_info_has_names_values_and_descriptions_in_columns(command: Command) -> None:
    rows = command("info", "PointSurface").out.split("outputs\n")[1].split("\nPointSurface.toml")[0].splitlines()
    assert {"last_contact.rebound_speed", "C_F"} <= {row.split()[0] for row in rows if row.startswith("  ")}
    places = {re.match(r"  \S+ +(?:= \S+ \S+ +|= \S+ +|\S+ +)?(?=[A-Z])", row) for row in rows if row[2:].strip()}
    assert len({found.end() for found in places if found}) == 1


def test_info_shows_the_unit_of_each_component_where_they_differ(command: Command) -> None:
    """The third joint of the chain slides."""
    said = command("info", "CamChainConcave")
    assert re.search(r"^  q\[1\.\.4\] +rad, rad, m, rad ", said.out, re.MULTILINE)
    assert re.search(r"^  qd\[1\.\.4\] +rad/s, rad/s, m/s, rad/s ", said.out, re.MULTILINE)


def test_info_names_literals_and_says_where_there_is_no_choice_of_coupling(command: Command, tmp_path: Path) -> None:
    bare, coupled = (
        command("info", str(literal("PointSurface", tmp_path, "Held"))).out,
        command("info", "PointSurface").out,
    )
    hint = "this FMU behaves as hold; a recipe without [structure] coupling = false has all modes"
    assert hint in bare and hint not in coupled
    assert re.search(r"^  coupling\.mode += auto +\S", coupled, re.MULTILINE)
    assert re.search(r"^  hold, Jacobi +1\.3e-5 s$", bare, re.MULTILINE)  # pi/(744 sqrt(1e5 N/m/1 kg))


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        (
            "PointSurface",
            ["point port of a body: motion in, force on", "frame port of a body: motion in, force and moment on"],
        ),
        ("RotationalSpring", ["rotational port of a body: motion in, torque on"]),
    ],
)
def test_info_says_what_acts_at_a_port(command: Command, recipe: str, said: list[str]) -> None:
    told = command("info", recipe).out
    assert all(part in told for part in said), told


def test_info_takes_a_foreign_fmu(command: Command, tmp_path: Path) -> None:
    said = command("info", str(foreign_fmu(tmp_path, "Spring", BODY)))
    assert said.code == 0
    assert "port p (point)" in said.out
    assert "interfaces: co-simulation\n" in said.out


# ---- compare -----------------------------------------------------------------------------------------------------


def write_csv(path: Path, *values: float) -> None:
    path.write_text("time,x\n" + "".join(f"{k},{v}\n" for k, v in enumerate(values)), encoding="utf-8")


def test_compare_exits_with_its_verdict(command: Command, tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", 0.0, 1.0, 2.0)
    write_csv(tmp_path / "b.csv", 0.0, 1.0, 2.01)
    assert command("compare", "a.csv", "a.csv").code == 0
    said = command("compare", "a.csv", "b.csv")
    assert said.code == 1
    assert re.search(r"^x +0\.01 +0\.00201 +2 s +FAILED", said.out, re.MULTILINE)
    assert command("compare", "a.csv", "b.csv", "--absolute", "0.0101", "--relative", "0").code == 0
    found = command("compare", "a.csv", "b.csv", "--json")
    assert found.code == 1
    assert json.loads(found.out)["passed"] is False


def test_compare_names_the_option_that_reads_a_measured_file(command: Command, tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", 0.0, 1.0)
    for text in ("# rig 7\n# on a Monday\ntime;x\n0;0\n1;1\n", "time [ms],x\n0,0\n1000,1\n"):
        (tmp_path / "b.csv").write_text(text, encoding="utf-8")
        said = command("compare", "a.csv", "b.csv")
        assert said.code == 2
        first, second = said.err.splitlines()
        assert first.startswith("error: b.csv: line 1: ")
        assert second.startswith("error: b.csv: if it is measured, ") and "give --map MAP.toml" in second
        assert "--map" not in command("compare", "b.csv", "a.csv").err  # a map reads the second of the two
    assert "--map" not in command("compare", "a.csv", "absent.csv").err


def test_compare_fails_a_trace_that_ends_early(command: Command, tmp_path: Path) -> None:
    write_csv(tmp_path / "short.csv", 0.0, 1.0)
    write_csv(tmp_path / "whole.csv", 0.0, 1.0, 2.0)
    said = command("compare", "short.csv", "whole.csv")
    assert said.code == 1
    assert "FAILED: compared from 0.0 s to 1.0 s only: the trace ends at 1.0 s, not at 2.0 s" in said.err
    assert "--overlap" in said.err
    assert command("compare", "short.csv", "whole.csv", "--overlap").code == 0


@pytest.mark.parametrize("option", ["--absolute", "--relative", "--time"])
@pytest.mark.parametrize("value", ["nan", "-1", "inf"])
def test_compare_refuses_tolerances_that_are_none(command: Command, tmp_path: Path, option: str, value: str) -> None:
    write_csv(tmp_path / "a.csv", 0.0, 1.0)
    said = command("compare", "a.csv", "a.csv", option, value)
    assert said.code == 2
    assert said.err.startswith(f"error: {option}: {float(value)} must be finite and not negative")


# ---- bad input ---------------------------------------------------------------------------------------------------


def refused(command: Command, folder: Path, code: int, *arguments: str) -> str:
    """The errors the command shows; it must exit with the code, print no result and leave no file."""
    before = files(folder)
    said = command(*arguments)
    assert said.code == code, said
    assert said.out == ""
    assert files(folder) == before
    assert "Traceback" not in said.err
    return "".join(line for line in said.err.splitlines(keepends=True) if not line.startswith("building "))


RECIPES = {
    "unknown key": ("[start]\nC_FF = 1\n", ["[start] C_FF", "there is no such variable", "did you mean 'C_F'?"]),
    "unknown table": ("[strat]\nC_F = 1\n", ["strat", "this key is unknown", "did you mean 'start'?"]),
    "wrong unit": ('[start]\nC_F = "5 kg"\n', ["[start] C_F", "'5 kg'", "N/m"]),
    "negative stiffness": ("[start]\nC_F = -1\n", ["[start] C_F", "-1", "at least 0"]),
    "not a number": ("[start]\nC_F = nan\n", ["[start] C_F", "nan", "must be finite"]),
    "law and coefficient": (
        '[start]\nK_fr = 0.3\n[functions]\nF_fr = "0.1*#N"\n',
        ["[functions] F_fr", "excludes [start] K_fr", "remove one of the two"],
    ),
}


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("verb", ["build", "info", "run"])
def test_faulty_recipe_is_refused_by_name(command: Command, tmp_path: Path, name: str, verb: str) -> None:
    text, said = RECIPES[name]
    (tmp_path / "Bad.toml").write_text(
        f'element = "point_surface"\n[surface]\nkind = "plane"\n{text}', encoding="utf-8"
    )
    error = refused(command, tmp_path, 2, verb, "Bad.toml")
    assert error.startswith("error: Bad.toml: ")
    for part in said:
        assert part in error


def test_all_faults_of_a_recipe_are_told_at_once(command: Command, tmp_path: Path) -> None:
    (tmp_path / "Bad.toml").write_text(
        'element = "point_surface"\ndescripton = "x"\n[surface]\nkind = "plane"\n[start]\nC_F = "-1 N/m"\n'
        'k_E = nan\nC_r = "0.5 kg"\nD_maxx = 1\n[functions]\nF_fr = "0.1*#N"\n',
        encoding="utf-8",
    )
    lines = refused(command, tmp_path, 2, "build", "Bad.toml").splitlines()
    assert len(lines) == 6
    for line, part in zip(lines, ("descripton", "F_fr", "C_F", "k_E", "C_r", "D_maxx"), strict=True):
        assert line.startswith("error: Bad.toml: ")
        assert part in line


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--step", "3 lightyears"], ["--step", "'3 lightyears'", "unknown"]),
        (["--step", "-1ms"], ["--step: -0.001 s must be greater than 0"]),
        (["--step", "1 m"], ["--step", "has the dimension m but s is needed"]),
        (["--stop", "nan"], ["--stop = 'nan' must be finite"]),
        (["--stop", "-1"], ["--stop: -1 s must be after start = 0 s"]),
        (["--stop", "0.15 s", "--step", "0.1 s"], ["--stop: 0.15 s is not a whole number of steps of 0.1 s"]),
        (["--step", "0.3 s"], ["--step: stop = 0.2 s is not a whole number of steps of 0.3 s"]),
        (["--algorithm", "newton"], ["--algorithm: 'newton' is unknown", "gauss_seidel", "jacobi"]),
        (["--algorithm", "jakobi"], ["did you mean 'jacobi'?"]),
        (["--algorithm", "newton", "--step", "1 m", "--stop", "nan"], ["--algorithm", "--step", "--stop"]),
        (["-o", "drop.toml"], ["-o", "'drop.toml'", "choose another name"]),
        (["-o", "."], ["-o", "'.' is a folder"]),
        (["-o", "a.html", "--plot", "a.html"], ["--plot", "'a.html'", "choose another name"]),
        (["-o", "a", "--plot", "a.json"], ["--plot", "'a.json'", "choose another name"]),
        (["-o", "-"], ["-o: '-' is no name of a file"]),
        (["--plot", "-"], ["--plot: '-' is no name of a file"]),
        (["--plot", "a.pdf"], ["--plot: 'a.pdf' would be a page of HTML", "end it with .html"]),
    ],
)
def test_faulty_options_of_run_are_refused(drop: Command, tmp_path: Path, options: list[str], said: list[str]) -> None:
    error = refused(drop, tmp_path, 2, "run", "drop.toml", *options)
    for part in said:
        assert part in error


def test_an_archive_of_a_system_is_written_under_the_ending_by_which_it_is_known(drop: Command, tmp_path: Path) -> None:
    assert "'x.zip' must end with .ssp" in refused(drop, tmp_path, 2, "ssp", "drop.toml", "-o", "x.zip")
    said = "-o: '.ssp' has no name before .ssp; name it, such as drop.ssp"
    assert said in refused(drop, tmp_path, 2, "ssp", "drop.toml", "-o", ".ssp")


@pytest.mark.parametrize(
    "arguments",
    [
        ("ssp", "drop.toml", "-o", "-"),
        ("validate", "projectile", "--report", "-"),
        ("study", "drop.toml", "-o", "-"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_no_command_writes_to_the_standard_output_by_name(
    drop: Command, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    assert f"{arguments[-2]}: '-' is no name of a file" in refused(drop, tmp_path, 2, *arguments)


def test_no_step_that_info_lists_is_longer_than_the_one_that_it_recommends(command: Command) -> None:
    """1.15 ms of `auto` would be 1.2 ms to two digits, and 1.1 ms are recommended."""
    shown = command("info", str(shipped("fmus") / "TranslationalSpring.toml")).out
    recommended = re.search(r"recommended communication step: (\S+) s", shown)
    listed = re.search(r"\n  auto, order unknown, not late +(\S+) s", shown)
    assert recommended and listed and float(listed[1]) <= float(recommended[1])


def test_the_name_of_an_fmu_is_no_folder_of_fmus(drop: Command, tmp_path: Path) -> None:
    for what in ("Floor.toml", "--all"):
        assert "-o: 'Floor.fmu' is the name of an FMU; name a folder" in refused(
            drop, tmp_path, 2, "build", what, "--platform", "host", "-o", "Floor.fmu"
        )


def test_unknown_platform_is_refused(drop: Command, tmp_path: Path) -> None:
    error = refused(drop, tmp_path, 2, "build", "Floor.toml", "--platform", "amiga")
    assert "--platform: 'amiga' is unknown" in error
    assert "linux64" in error


@pytest.mark.parametrize(
    "arguments",
    [
        ("build", "Floor.toml", "--platform", "host", "-o", "file"),
        ("build", "Floor.toml", "--platform", "host", "-o", "file/below"),
        ("run", "drop.toml", "-o", "file/trace.csv"),
        ("run", "drop.toml", "-o", "file/below/trace.csv"),
        ("run", "drop.toml", "--plot", "file/drop.html"),
        ("validate", "projectile", "--report", "file/report.html"),
        ("demo", "-o", "file"),
    ],
    ids=" ".join,
)
def test_a_file_where_a_folder_should_be_is_told_without_doing_the_work(
    drop: Command, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "file").write_bytes(b"")
    error = refused(drop, tmp_path, 3, *arguments)
    assert "file" in error.splitlines()[-1]
    assert "cannot be written" in error or "is a file" in error
    assert (tmp_path / "file").read_bytes() == b""


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate", "projectile", "--report", "/proc/report.html"),
        ("run", "drop.toml", "-o", "/proc/trace.csv"),
        ("study", "drop.toml", "-o", "/proc/runs.parquet"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_folder_that_takes_no_file_is_named_before_the_work(
    drop: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """/proc, which takes files of nobody, root included."""
    for module, work in ((cases, "validate_with_views"), (running, "Master"), (studying, "study")):
        monkeypatch.setattr(module, work, lambda *given, **named: pytest.fail("the work was begun"))
    error = refused(drop, tmp_path, 3, *arguments)
    assert f"{arguments[-2]}: '{arguments[-1]}' cannot be written: /proc cannot be written to" in error


@pytest.mark.parametrize("name", ["a.ssp", "W.txt"])
def test_info_says_what_it_reads_of_a_file_of_another_kind(drop: Command, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("text", encoding="utf-8")
    said = f"{name}: is a {name[1:]} file; info reads an .fmu, the .toml of a recipe, and meshes (.stl, .obj, .ply)"
    assert said in refused(drop, tmp_path, 2, "info", name)


@pytest.mark.parametrize("verb", ["run", "info", "build"])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing.toml", "nothing.toml: there is no such file"),
        ("Flor", "of this name; did you mean 'Floor'?"),
        ("folder", "is a folder"),
        ("", "is no name"),
        ("binary.toml", "is not UTF-8 text: invalid start byte; save it as UTF-8"),
        ("broken.toml", "is not valid TOML"),
        ("empty.toml", "this key is missing"),
    ],
)
def test_what_is_no_recipe_is_refused_by_name(drop: Command, tmp_path: Path, verb: str, name: str, said: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary.toml").write_bytes(bytes(range(128, 256)))
    (tmp_path / "broken.toml").write_text("element = [\n", encoding="utf-8")
    (tmp_path / "empty.toml").write_bytes(b"")
    error = refused(drop, tmp_path, 2, verb, name)
    assert error.startswith(f"error: {name or repr('')}")
    assert said in error


def test_a_misspelt_case_is_told_the_nearest_one(drop: Command, tmp_path: Path) -> None:
    for verb in ("run", "show", "ssp"):
        said = refused(drop, tmp_path, 2, verb, "drop_elastc")
        assert "there is no recipe or case of this name; did you mean 'drop_elastic'?" in said
        assert "there is no recipe or case of this name; `fmu-builder list` shows" in refused(
            drop, tmp_path, 2, verb, "xyz"
        )


@pytest.mark.parametrize(("verb", "what"), [("run", "a scenario (.toml), an .fmu"), ("build", "a recipe")])
def test_a_file_of_another_kind_is_named_as_one(drop: Command, tmp_path: Path, verb: str, what: str) -> None:
    (tmp_path / "trace.csv").write_bytes(b"")
    assert f"trace.csv: is a file of another kind; give {what}" in refused(drop, tmp_path, 2, verb, "trace.csv")


@pytest.mark.parametrize("verb", ["info", "build"])
@pytest.mark.parametrize("name", ["point_surface/depth_limit", "depth_limit", "own/slide"])
def test_a_case_in_the_place_of_a_recipe_is_named_with_the_commands_that_take_it(
    drop: Command, tmp_path: Path, verb: str, name: str
) -> None:
    (tmp_path / "elements" / "own" / "cases").mkdir(parents=True)
    (tmp_path / "elements" / "own" / "element.toml").write_bytes(b"")
    (tmp_path / "elements" / "own" / "cases" / "slide.toml").write_bytes(b"")
    said = refused(drop, tmp_path, 2, verb, name)
    assert f"{name}: is a case, a system of FMUs: `run` runs it" in said


@pytest.mark.parametrize("verb", ["run", "info"])
def test_a_case_of_two_elements_is_named_with_both(drop: Command, tmp_path: Path, verb: str) -> None:
    both = ", ".join(case for case in all_cases() if case.endswith("/swing"))
    assert f"swing: is the name of the cases {both}; name one of them" in refused(drop, tmp_path, 2, verb, "swing")


@pytest.mark.parametrize("verb", ["run", "info"])
def test_what_is_no_fmu_is_refused_by_name(command: Command, tmp_path: Path, verb: str) -> None:
    good = foreign_fmu(tmp_path, "Spring", BODY).read_bytes()
    (tmp_path / "Cut.fmu").write_bytes(good[: len(good) // 2])
    (tmp_path / "Empty.fmu").write_bytes(b"")
    (tmp_path / "Folder.fmu").mkdir()
    foreign_fmu(tmp_path, "Escape", BODY, files={"../escaped.txt": b"x"})
    for name, said in (
        ("Cut.fmu", "is no complete FMU"),
        ("Empty.fmu", "is no complete FMU"),
        ("Folder.fmu", "is no file"),
        ("Missing.fmu", "there is no such file"),
        ("Escape.fmu", "'../escaped.txt', which would be written outside its folder"),
    ):
        error = refused(command, tmp_path, 2, verb, name)
        assert error.startswith(f"error: {name}: ")
        assert said in error
    assert not (tmp_path.parent / "escaped.txt").exists()


def test_what_is_no_trace_is_refused(drop: Command, tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", 0.0, 1.0)
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "binary.csv").write_bytes(bytes(range(128, 256)))
    for name, said in (
        ("Floor.toml", "is not a number"),
        ("empty.csv", "is empty"),
        ("binary.csv", "is not UTF-8 text"),
        (".", "is a folder"),
        ("missing.csv", "cannot be read"),
    ):
        for pair in ((name, "a.csv"), ("a.csv", name)):
            error = refused(drop, tmp_path, 2, "compare", *pair)
            assert f"error: {name}" in error
            assert said in error


def test_ports_of_different_quantities_are_not_connected(drop: Command, tmp_path: Path) -> None:
    text = DROP.replace('[["body.p", "floor.point"]]', '[["floor.normal_force", "floor.point.v[1]"]]')
    (tmp_path / "wrong.toml").write_text(text, encoding="utf-8")
    error = refused(drop, tmp_path, 2, "run", "wrong.toml")
    assert "wrong.toml: connections" in error
    for part in ("floor.normal_force", "floor.point.v[1]", "N", "m/s"):
        assert part in error


def test_loop_without_solution_is_told_with_its_path(command: Command, tmp_path: Path) -> None:
    foreign_fmu(tmp_path, "Gain", GAIN, guid="g0--")
    (tmp_path / "loop.toml").write_text(
        'connections = [["a.y", "b.u"], ["b.y", "a.u"]]\n[experiment]\nstop = 0.01\nstep = 0.001\n[slaves]\n'
        'a = { recipe = "Gain.fmu", start = { a = 2, b = 1 } }\n'
        'b = { recipe = "Gain.fmu", start = { a = 2, b = 1 } }\n',
        encoding="utf-8",
    )
    error = refused(command, tmp_path, 2, "run", "loop.toml")
    assert "loop.toml: connections" in error
    assert "a.y -> b.y" in error or "b.y -> a.y" in error
    assert "no solution" in error
    assert "break the loop" in error


@pytest.mark.parametrize(
    ("guid", "said"),
    [
        ("b3--", "answered fmi2Error"),
        ("b4--", "answered fmi2Fatal"),
        ("b5--", "answered fmi2Pending"),
        ("b7--", "answered the undefined status 7"),
        ("b0-n", "is nan at"),
        ("00--", "no licence: 3 seats of 3 are taken by others"),
    ],
)
def test_slave_that_fails_ends_the_run_with_its_words(command: Command, tmp_path: Path, guid: str, said: str) -> None:
    foreign_fmu(tmp_path, "Stuck", BODY, guid=guid)
    error = refused(command, tmp_path, 3, "run", "Stuck.fmu")
    assert said in error
    if guid[1] in "357":
        assert "fmi2DoStep" in error
        assert "the valve is stuck" in error
        assert "0.005 s" in error


def test_slave_that_warns_in_every_step_is_cut_short(command: Command, tmp_path: Path) -> None:
    foreign_fmu(tmp_path, "Noisy", BODY, guid="b1--")
    said = command("run", "Noisy.fmu", "--step", "0.1 ms")
    assert said.code == 0
    assert said.err.count("the valve is stuck") == 20
    assert re.search(r"note: \d+ further messages", said.err)
    assert len(json.loads(command("run", "Noisy.fmu", "--step", "0.1 ms", "--json").out)["warnings"]) > 20


def test_compiler_message_about_an_element_of_ones_own_names_file_and_line(command: Command, tmp_path: Path) -> None:
    assert command("new", "demo_spring").code == 0
    source = tmp_path / "elements" / "demo_spring" / "element.c"
    text = source.read_text(encoding="utf-8").replace("e->energy.elastic =", "e->energy.elasic =")
    source.write_text(text, encoding="utf-8")
    line = 1 + text[: text.index("elasic")].count("\n")
    error = refused(command, tmp_path, 2, "build", "fmus/DemoSpring.toml", "--platform", "host")
    assert f"elements/demo_spring/element.c:{line}:" in error
    assert "elasic" in error


def test_compiler_message_about_a_file_of_a_variant_names_that_file(command: Command, tmp_path: Path) -> None:
    assert command("new", "demo_spring").code == 0
    folder = tmp_path / "elements" / "demo_spring"
    declared = (folder / "element.toml").read_text(encoding="utf-8")
    switch = '\n[structure]\nstiff = { default = true, description = "Twice the stiffness" }\n'
    (folder / "element.toml").write_text(declared + switch, encoding="utf-8")
    (folder / "stiff").mkdir()
    (folder / "stiff" / "on.h").write_text("static int wrong(void) { return none; }\n", encoding="utf-8")
    text = (folder / "element.c").read_text(encoding="utf-8")
    (folder / "element.c").write_text(f"{text}#include STIFF_FILE\n", encoding="utf-8")
    error = refused(command, tmp_path, 2, "build", "fmus/DemoSpring.toml", "--platform", "host")
    assert "elements/demo_spring/stiff/on.h:1:" in error


# ---- interruptions, faults of our own, and disks that are full ----------------------------------------------------


def test_interrupted_run_leaves_nothing_and_shows_no_traceback(
    drop: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(running.Master, "run", interrupted)
    assert refused(drop, tmp_path, 130, "run", "drop.toml", "--plot", "drop.html") == ""
    monkeypatch.setattr(builder, "_smoke_run", interrupted)
    refused(drop, tmp_path, 130, "build", "Floor.toml", "--platform", "host")


def test_fault_of_our_own_keeps_its_traceback(drop: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("an invariant of ours")

    monkeypatch.setattr(running.Master, "run", broken)
    said = drop("run", "drop.toml")
    assert said.code == 3
    assert said.out == ""
    assert said.err.startswith("Traceback (most recent call last)")
    assert "ZeroDivisionError: an invariant of ours" in said.err
    assert "fault of fmu-builder" in said.err
    assert "error: " not in said.err


def test_full_disk_leaves_neither_trace_nor_json(
    drop: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_text

    def full(path: Path, data: str, *arguments: str, **options: str) -> int:
        if path.suffix == ".tmp":
            write(path, data[:10], encoding="utf-8")
            raise OSError(28, "No space left on device")
        return write(path, data, encoding="utf-8")

    monkeypatch.setattr(Path, "write_text", full)
    error = refused(drop, tmp_path, 3, "run", "drop.toml", "--stop", "1 ms")
    assert "error: trace.csv: cannot be written: No space left on device" in error


@pytest.mark.slow
def test_interrupt_from_the_keyboard_ends_run_and_validate(drop: Command, tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(DROP.replace('output_step = "1 ms"', 'output_step = "1 s"'), encoding="utf-8")
    before = files(tmp_path)
    cases = ["point_mass", "point_surface"]  # one is done soon, others run for seconds
    for arguments in (
        ["run", "long.toml", "--stop", "15000 s", "--plot", "a.html"],  # takes minutes
        ["validate", *cases, "--report", "a.html"],
    ):
        process = shell(tmp_path, *arguments)
        assert process.stderr is not None
        assert re.match("running, |passed ", process.stderr.readline())  # now it is at work
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes of the command
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "Traceback" not in err
        if arguments[0] == "run":  # what it has reached is written
            assert "note: interrupted at " in err and "trace.csv" in out
            assert files(tmp_path) - before == {"trace.csv", "trace.csv.json", "a.html"}
            assert len(read_trace(tmp_path / "trace.csv").time) > 1
        else:
            assert out == ""
            assert files(tmp_path) == before
        for name in files(tmp_path) - before:
            (tmp_path / name).unlink()


# ---- demo --------------------------------------------------------------------------------------------------------


@pytest.fixture
def wrong_case(tmp_path: Path) -> Path:
    """A case with a reference that is ten percent off."""
    folder = shipped("elements") / "point_mass" / "cases"
    copy = tmp_path / "elements" / "point_mass" / "cases"
    copy.mkdir(parents=True)
    for path in folder.glob("projectile*"):
        (copy / path.name).write_bytes(path.read_bytes())
    table = copy / "projectile_ref.csv"
    header, *rows = table.read_text(encoding="utf-8").splitlines()
    changed = [",".join([row.split(",")[0], *(repr(1.1 * float(cell)) for cell in row.split(",")[1:])]) for row in rows]
    table.write_text("\n".join([header, *changed]) + "\n", encoding="utf-8")
    return copy / "projectile.toml"


@pytest.mark.slow
def test_demo_puts_fmus_and_report_into_its_folder_and_fails_with_a_case(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong_case: Path
) -> None:
    monkeypatch.setattr(cases, "demo_cases", lambda: {"point_mass/projectile": wrong_case})
    said = command("demo")
    assert said.code == 1
    assert re.search(r"^point_mass/projectile .* FAILED *$", said.out, re.MULTILINE)
    assert "0 of 1 cases passed" in said.out
    made = {"PointMass.fmu", "report.html"}
    assert files(tmp_path / "fmu-builder-demo") == made
    assert all(name in said.out for name in made)
    assert said.err.splitlines() == ["built PointMass", "live page of PointMass", "FAILED point_mass/projectile"]
    assert "failed" in (tmp_path / "fmu-builder-demo" / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_demo_of_all_takes_catalogue_and_cases(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one recipe for the catalogue and another one's case for all."""
    (ball,) = (path for path in catalogue() if path.stem == "BouncingBall")
    monkeypatch.setattr(cases, "catalogue", lambda: [ball])
    monkeypatch.setattr(cases, "all_cases", lambda: find_cases(["projectile"]))
    said = command("demo", "--all", "-o", "all")
    assert said.code == 0
    assert "BouncingBall.fmu" in said.out and "PointMass.fmu" not in said.out
    assert "1 of 1 cases passed" in said.out


SOURCES = {  # element that a source describes, by source
    "contactPS of EULER": "point_surface",
    "forcePointLine1 of EULER": "point_line_1",
    "forcePointLine2 of EULER": "point_line_2",
    "spring.ssc of Simscape": "rotational_spring",
    "TwoDPoint of 20-sim": "two_d_point",
    "Lipinski's chain": "planar_mechanism",
}


def test_demo_shows_an_element_of_every_source_in_few_fmus() -> None:
    recipes = recipes_of(demo_cases())
    shown = {read_toml(path).get("element") for path in recipes}
    assert set(SOURCES.values()) <= shown
    assert {"BouncingBall", "CamChainConcave", "PointSurface", "Squeezer"} <= {path.stem for path in recipes}
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    said = f"build {len(recipes)} FMUs of the catalogue, run them in {len(demo_cases())} cases"
    assert said in readme
    floors = [read_scenario(path).slaves.get("floor") for path in demo_cases().values()]
    assert {"auto", "hold"} <= {floor.start.get("coupling.mode") for floor in floors if floor is not None}


@pytest.mark.parametrize(
    ("display", "terminal", "opened"), [(":0", True, True), (":0", False, False), ("", True, False)]
)
def test_a_page_is_opened_where_somebody_sees_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, display: str, terminal: bool, opened: bool
) -> None:
    pages: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda page: bool(pages.append(page) or True))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(sys, "stdout", Terminal() if terminal else io.StringIO())
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", display)
    assert show_page(tmp_path / "a page.html") is opened
    assert pages == ([f"{tmp_path.as_uri()}/a%20page.html"] if opened else [])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_verdicts_are_coloured_on_a_terminal_only(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    result = CaseResult("x/y", "", "", None, None, None, None, (), 0.0, SlaveError("it crashed"))
    monkeypatch.setattr(cases, "validate", lambda cases, finished: (result,))
    plain = command("validate", "projectile")
    assert plain.code == 3
    assert "\x1b" not in plain.out
    monkeypatch.setattr(cases, "out", Console(force_terminal=True, color_system="standard", width=100))
    assert "\x1b[31mFAILED" in command("validate", "projectile").out


def test_live_pages_of_cases_need_a_report(command: Command, tmp_path: Path) -> None:
    text = refused(command, tmp_path, 2, "validate", "projectile", "--live")
    assert "error: --live: is of a report, in which the cases run: give --report FILE, or remove it" in text


@pytest.mark.slow
def test_an_event_that_the_reference_lacks_is_named_as_the_reason(command: Command, tmp_path: Path) -> None:
    (tmp_path / "fall.toml").write_text(
        '[experiment]\nstop = "0.6 s"\nstep = "10 ms"\n[slaves]\nball = "BouncingBall"\n[reference]\n'
        'file = "ref.csv"\nsource = "closed form"\nevents."ball.floor.touch[1]" = { absolute = "10 ms" }\n',
        encoding="utf-8",
    )
    (tmp_path / "ref.csv").write_text("time,ball.height\n0,1\n0.6,0\n", encoding="utf-8")
    said = command("validate", "fall.toml")
    assert said.code == 1 and "fall: ball.floor.touch[1]: absent in the reference\n" in said.out
    (tmp_path / "ref.csv.json").write_text('{"events": {"ball.floor.touch[1]": 0.4515}}', encoding="utf-8")
    said = command("validate", "fall.toml")
    assert said.code == 0 and "absent" not in said.out


# ---- guide -------------------------------------------------------------------------------------------------------


def test_guide_is_one_page_with_every_page_and_link(command: Command) -> None:
    folder = Path(command("guide", "--path").out.strip())
    page = Path(command("guide").out.strip()).read_text(encoding="utf-8")
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    sections = re.findall(r'<section id="([^"]+)"', page)
    assert sorted(sections) == sorted(path.stem for path in folder.glob("*.md"))
    assert sections[0] == "index" and re.findall(r'<a href="#([^"]+)"', page.partition("</nav>")[0]) == sections
    links = re.findall(r'href="([^"]+)"', page)
    assert {link.removeprefix("#") for link in links if not link.startswith("http")} <= set(ids)
    assert '<p class="file">drop.toml</p><pre>' in page


# ---- what is imported --------------------------------------------------------------------------------------------

HEAVY = {"cffi", "fmpy", "jinja2", "lark", "lxml", "numpy", "PIL", "plotly", "pythonfmu", "scipy", "ziglang"}


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["--version"]], ids=" ".join)
def test_help_loads_no_library_but_that_of_the_command_line(arguments: list[str]) -> None:
    """0.25 s of processor time in place of 0.95 s."""
    text = f"""
import sys
from fmu_builder.cli import main
sys.argv = ["fmu-builder", *{arguments}]
try:
    main()
finally:
    print(sorted({HEAVY} & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, encoding="utf-8", check=True)
    assert "fmu-builder" in done.stdout
    assert done.stderr.strip() == "[]"


@pytest.mark.slow
def test_a_character_that_the_encoding_of_the_output_lacks_is_shown_as_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a file of Windows."""
    element = tmp_path / "elements" / "small"
    element.mkdir(parents=True)
    (element / "element.toml").write_text('description = "Size \u2264 3 mm"\n', encoding="utf-8")
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")
    listed = shell(tmp_path, "list")
    out, errors = listed.communicate()
    assert (listed.returncode, errors) == (0, "")
    assert r"Size \u2264 3 mm" in out


# ---- doctor ------------------------------------------------------------------------------------------------------


def test_doctor_tells_what_a_report_needs(command: Command) -> None:
    said = command("doctor", "--json")
    assert said.code == 0
    found = json.loads(said.out)
    for key in ("fmu-builder", "python", "system", "compiler", "builds for", "trial", "cache folder", "free there"):
        assert found[key]
    compiler = find_compiler()
    assert compiler is not None
    assert compiler.version in found["compiler"]
    assert "is built and loads" in found["trial"]
    held = size_of(Path(found["cache folder"]))
    assert float(found["in it"].split()[0]) == pytest.approx(held / 1e6, abs=20)  # others build meanwhile
    text = command("doctor").out
    assert [line.split("  ")[0] for line in text.splitlines()] == list(found)


def test_doctor_empties_the_cache(command: Command, new_cache: Path) -> None:
    fmu = new_cache / "fmus" / "0123" / "Old.fmu"
    fmu.parent.mkdir(parents=True)
    fmu.write_bytes(bytes(3_000_000))
    os.utime(fmu.parent, (0.0, 0.0))
    assert command("doctor", "--clean").out == "3 MB were removed\n"
    assert not fmu.parent.exists()
    assert json.loads(command("doctor", "--clean", "--json").out) == {"removed": 0, "left": 0}


def test_doctor_lists_every_package_we_need() -> None:
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.findall(r'^    "([\w-]+)[>=]', project.partition("dependencies = [")[2].partition("]")[0], re.MULTILINE)
    assert len(listed) > 10
    assert set(listed) <= set(examine())
    assert own_version().split()[0] in project


def test_doctor_without_a_compiler_says_how_to_get_one(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (builder, doctor):
        monkeypatch.setattr(module, "find_compiler", lambda: None)
    said = command("doctor")
    assert said.code == 3
    assert re.search(rf"^compiler +{FAULT}none; .*pip install ziglang", said.out, re.MULTILINE)
    assert re.search(rf"^trial +{FAULT}.*no compiler was found", said.out, re.MULTILINE)
    assert "sources only" in said.out


def test_doctor_with_a_system_compiler_says_what_it_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    gcc = Compiler(("gcc",), cross=False, version="gcc 12")
    monkeypatch.setattr(doctor, "find_compiler", lambda: gcc)
    found = examine()
    assert (found["compiler"], found["builds for"]) == ("gcc 12: gcc", "this machine only")


# ---- pipes and interrupts ----------------------------------------------------------------------------------------


def processes_with(name: str, value: object) -> list[Path]:
    """Those that began with this in their environment, as folders of /proc."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended, or is not ours
            if f"{name}={value}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append(process)
    return found


def compilers_of(cache: Path) -> list[Path]:
    return processes_with("ZIG_GLOBAL_CACHE_DIR", cache / "zig")


def processor_time(processes: Sequence[Path]) -> float:
    """Of these processes and of those that they have waited for, s."""
    ticks = 0
    for process in processes:
        with suppress(OSError):  # it ended
            fields = (process / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()  # from field 3 on
            ticks += sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime
    return ticks / os.sysconf("SC_CLK_TCK")


def processor_time_of_children() -> float:
    """Of those that this process has waited for, s."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for the processes of the compiler in /proc")
@pytest.mark.parametrize(("what", "most"), [("PointSurface", 3.0), ("--all", 10.0)])
def test_an_interrupt_ends_a_cold_build_and_its_compilers_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, most: float
) -> None:
    """The signal goes to fmu-builder alone, as `kill` sends it: it has to end the compilers.  At once means in little
    processor time, s, whatever else the machine does: compilers that went on would take twice of it and more.  The
    processes of --all have begun by then, and end."""
    cache = tmp_path / "cache"
    monkeypatch.setenv("FMU_BUILDER_CACHE", str(cache))
    before = processor_time_of_children()
    process = shell(tmp_path, "build", what, "-o", "out")
    limit = time.monotonic() + 60.0
    while not compilers_of(cache) and time.monotonic() < limit:
        time.sleep(0.05)
    time.sleep(0.5)
    assert compilers_of(cache)
    until_the_signal = processor_time(processes_with("FMU_BUILDER_CACHE", cache))
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    assert until_the_signal > 0.0
    # on a slow machine, where the processes took longer to start, they take longer to end
    assert processor_time_of_children() - before - until_the_signal < max(most, 3.5 * until_the_signal)
    assert process.returncode == 130
    assert compilers_of(cache) == []
    written = [*(tmp_path / "out").iterdir()] if (tmp_path / "out").exists() else []
    assert all(zipfile.ZipFile(path).testzip() is None for path in written)  # done before, and whole
    assert len(written) <= (0 if what == "PointSurface" else 2)


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    process = shell(tmp_path, "schema", "point_surface")
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()  # before anything is written
    with process.stderr as errors:
        assert errors.read() == ""
    assert process.wait(timeout=60) == 0


@pytest.mark.parametrize(
    ("arguments", "code"), [(["run", "nope", "--json"], 2), (["validate", "a", "b", "--json"], 2)], ids=lambda a: str(a)
)
def test_errors_are_json_where_results_are(command: Command, arguments: list[str], code: int) -> None:
    said = command(*arguments)
    assert said.code == code and said.out == ""
    answer = json.loads(said.err)
    assert answer["exit_code"] == code
    assert [entry["where"] for entry in answer["errors"]] == arguments[1:-1]
    assert all(entry["what"] for entry in answer["errors"])


@pytest.mark.slow
def test_errors_of_cases_are_json_behind_their_results(command: Command, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('[slaves]\nball = "BouncingBall"\n', encoding="utf-8")
    said = command("validate", "bad.toml", "--json")
    assert said.code == 2 and [case["name"] for case in json.loads(said.out)] == ["bad"]
    answer = json.loads(said.err.partition("FAILED bad\n")[2])
    assert answer["exit_code"] == 2
    assert answer["errors"] == [{"where": "bad.toml: experiment", "what": "this key is missing"}]


@pytest.mark.parametrize(
    ("arguments", "where", "what"),
    [
        (["biuld"], "fmu-builder", "No such command 'biuld'"),
        (["run"], "fmu-builder run", "Missing argument"),
        (["run", "drop.toml", "--foo"], "fmu-builder run", "No such option: --foo"),
        (["compare", "a", "b", "--relative", "abc"], "fmu-builder compare", "Invalid value for '--relative'"),
    ],
)
def test_errors_of_arguments_are_json_where_results_are(
    command: Command, arguments: list[str], where: str, what: str
) -> None:
    said = command(*arguments, "--json")
    assert said.code == 2 and said.out == ""
    told = json.loads(said.err)
    (entry,) = told["errors"]
    assert told["exit_code"] == 2 and entry["where"] == where and entry["what"].startswith(what)


def test_the_notes_of_a_run_that_ends_in_an_error_stand_before_it(command: Command, tmp_path: Path) -> None:
    foreign_fmu(tmp_path, "Stuck", BODY)
    text = "experiment = { stop = 0.01, step = 0.001 }\n[slaves]\n"
    text += 'body = { recipe = "Stuck.fmu", start = { k = -1 } }\nfloor = { recipe = "PointSurface" }\n'
    (tmp_path / "stuck.toml").write_text(text, encoding="utf-8")
    said = command("run", "stuck.toml")
    *notes, error = said.err.splitlines()
    assert said.code == 3 and error.startswith("error: body: fmi2ExitInitializationMode answered fmi2Error")
    assert notes and all(note.startswith("note: ") for note in notes) and len({*notes}) == len(notes)
    assert any(note.startswith("note: floor.point") and "not connected" in note for note in notes)
    answer = command("run", "stuck.toml", "--json")
    assert [f"note: {note}" for note in json.loads(answer.err)["notes"]] == notes
    with pytest.raises(SlaveError) as caught:
        fmu_builder.run("stuck.toml")
    assert [f"note: {note}" for note in caught.value.notes] == notes
    assert pickle.loads(pickle.dumps(caught.value)).notes == caught.value.notes
