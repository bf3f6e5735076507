"""Recipes, assemblies, scenarios and cases in Python are read as files are: the same FMUs, traces and messages."""

from __future__ import annotations

import ast
import importlib
import json
import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from typer.testing import CliRunner

import fmu_builder
from fmu_builder import (
    Assembly,
    Body,
    Case,
    Drive,
    Experiment,
    FitMeasurement,
    GuideLine,
    InputError,
    Part,
    Plan,
    Plane,
    Point,
    Recipe,
    Revolution,
    Scenario,
    Sphere,
    ToolError,
    api_docs,
    build,
    run,
)
from fmu_builder.cli import app
from fmu_builder.export.fmu import fmu_contents
from fmu_builder.export.schema import document_schema
from fmu_builder.model import documents
from fmu_builder.model.assembly_format import CheckedAssembly
from fmu_builder.model.documents import DOCUMENTS, as_file
from fmu_builder.model.loader import load_model
from fmu_builder.model.scenario import CheckedScenario, SlaveEntry
from fmu_builder.model.structure_tables import CONSTRAINTS, SURFACES
from fmu_builder.model.table_model import TableModel
from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import catalogue, find_recipe, shipped

FLOOR = Recipe(
    name="Floor",
    element="point_surface",
    surface={"kind": "plane"},
    structure={"coupling": False},
    start={"C_F": "1e5 N/m", "C_r": 0.5, "K_fr": 0},
)
DROP = Scenario(
    slaves={"body": Part(recipe="PointMass", start={"r0": np.array([0.0, 0.0, 0.01])}), "floor": FLOOR},
    connections=[("body.p", "floor.point")],
    experiment={"stop": "0.1 s", "step": "50 us", "record": ["body.p.*", "floor.contact_count"]},
)


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_recipe_in_python_gives_the_bytes_of_its_file(empty_folder: Path) -> None:
    with as_file(FLOOR) as path:
        assert not path.exists()
        here = fmu_contents(load_model(path))
    assert FLOOR.save() == Path("Floor.toml")
    assert fmu_contents(load_model(Path("Floor.toml"))) == here


def test_a_recipe_in_python_is_built_into_the_current_folder(empty_folder: Path) -> None:
    assert build(FLOOR, platforms=("host",)) == Path("Floor.fmu")
    assert [path.name for path in empty_folder.iterdir()] == ["Floor.fmu"]


def test_a_platform_is_given_by_its_name_alone_too(empty_folder: Path) -> None:
    assert build(FLOOR, platforms="host") == Path("Floor.fmu")


def test_a_build_of_another_version_or_without_a_platform_is_refused(empty_folder: Path) -> None:
    for fmi in (1, 4, "3", None):
        with pytest.raises(InputError, match=f"^fmi: {fmi!r} must be the number 2 or 3$"):
            build(FLOOR, platforms="host", fmi=fmi)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^platforms: names none, .* 'all', 'host' or .* build --source-only"):
        build(FLOOR, platforms=())
    with pytest.raises(InputError, match=r"^platforms: 'linux46' is unknown; did you mean 'linux64'\?$"):
        build(FLOOR, platforms=("linux46",))
    assert list(empty_folder.iterdir()) == []


def test_a_scenario_in_python_runs_with_what_a_call_replaces() -> None:
    done = run(DROP, start={"floor.C_r": 1.0}, stop="0.12 s")
    v = (2.0 * 9.81 * 0.01) ** 0.5
    assert done.trace.time[-1] == pytest.approx(0.12, rel=1e-15)
    assert done.events["floor.touch[1]"] == pytest.approx(v / 9.81, rel=1e-9)
    assert done.contacts[0].impact_speed == pytest.approx(v, rel=1e-6)
    assert done["body.p.r[3]"] is not None and "floor.contact_count" in done
    assert any("floor.surface is not connected" in note for note in done.notes)
    with pytest.warns(FutureWarning, match="write .trace.time"):
        assert done.time is done.trace.time  # type: ignore[attr-defined]
    table = str(done).splitlines()
    assert table[0].split()[0] == "time" and set(table[0].split()[1:]) <= set(done.trace.names)
    assert table[1].split()[0] == "s" and "m/s" in table[1].split()
    assert table[-1].startswith(f"{len(done.trace.time)} rows")
    assert done.trace.plot("drop.html") == Path("drop.html") and Path("drop.html").is_file()


@pytest.mark.parametrize(
    "r0", [(0, 0, 0.02), np.array([0.0, 0.0, 0.02]), [np.int64(0), np.float32(0), np.float64(0.02)]]
)
def test_start_values_of_a_call_may_be_tuples_and_values_of_numpy(r0: object) -> None:
    of_lists = run(DROP, start={"body.r0": [0, 0, 0.02], "floor.K_fr": 2}, stop=0.125, step=2**-12, record="body.p.r*")
    start = {"body.r0": r0, "floor.K_fr": np.int64(2)}
    done = run(DROP, start=start, stop=np.float32(0.125), step=np.float64(2**-12), record="body.p.r*")
    assert np.array_equal(done.trace.values, of_lists.trace.values)
    assert done.trace.values[0].tolist() == [0.0, 0.0, 0.02]


def test_a_variable_has_one_start_value() -> None:
    twice = {"body": Part(recipe="PointMass", start={"r0": [0, 0, 1], "r0[3]": 2})}
    with pytest.raises(InputError, match=re.escape("[slaves] body start r0[3]: has a start value by r0 already")):
        run(Scenario(slaves=twice, experiment=Experiment(stop=0.1, step=0.1)))
    for start, said in (
        ({"r0": [0, 0, 1], "fmu.r0[3]": 2}, "run() start fmu.r0[3]: has a start value by r0 already"),
        ({"m": 1, "fmu.m": 2}, "run() start fmu.m: has a start value by m already"),
    ):
        with pytest.raises(InputError, match=re.escape(said)):
            run("PointMass", start=start, stop=0.1, step=0.1)


def test_a_vector_of_a_call_replaces_an_element_of_the_scenario() -> None:
    height = Part(recipe="PointMass", start={"r0[3]": 2})
    scenario = Scenario(slaves={"body": height}, experiment=Experiment(stop=0.1, step=0.1))
    assert run(scenario, start={"body.r0": [0, 0, 6]})["body.p.r[3]"][0] == 6


def test_start_values_of_a_fit_may_be_tuples_and_values_of_numpy() -> None:
    given = {"body.r0": (0, 0, np.float32(0.5)), "body.v0": np.zeros(3), "body.m": np.int64(2)}
    measurement = FitMeasurement(file="measured.csv", columns={"z": "body.p.r[3]"}, start=given)
    assert measurement.start == {"body.r0": [0, 0, 0.5], "body.v0": [0.0, 0.0, 0.0], "body.m": 2}


def test_a_document_inside_a_document_is_a_file_of_its_own_name() -> None:
    whole = Assembly(
        name="Bounce",
        parts={"ball": "PointMass", "floor": Recipe(element="point_surface", surface={"kind": "plane"})},
        connections=[("ball.p", "floor.point")],
    )
    assert whole.save("out") == Path("out/Bounce.toml")
    assert {path.name for path in Path("out").iterdir()} == {"Bounce.toml", "floor.toml"}
    with as_file(whole) as path:
        assert load_model(path).name == "Bounce"
    with pytest.raises(InputError, match=r"Bounce.toml: consists of several files, floor.toml too"):
        whole.toml()
    twice = Assembly(parts={"a": FLOOR, "b": FLOOR.model_copy(update={"start": {"C_r": 0}})}, connections=[])
    with pytest.raises(InputError, match=r"Floor.toml: stands for two different documents"):
        twice.save()


def test_parts_and_slaves_keep_their_order_however_each_is_written() -> None:
    """Gauss-Seidel steps the slaves as they are listed."""
    floor = FLOOR.model_copy(update={"name": "Plate"})
    members = {"b": Part(recipe="PointMass", start={"m": 2}), "d": floor, "a": "PointMass", "c": Part(recipe=FLOOR)}
    for system, table in ((Assembly(parts=members), "parts"), (DROP.model_copy(update={"slaves": members}), "slaves")):
        written = system.save(table)
        assert list(tomllib.loads(written.read_text(encoding="utf-8"))[table]) == ["b", "d", "a", "c"]


def test_all_faults_of_documents_are_those_of_files() -> None:
    wrong = DROP.model_copy(
        update={
            "slaves": {"body": "PointMas", "floor": FLOOR.model_copy(update={"start": {"C_R": 2}})},
            "experiment": {"stop": "0.2 N", "stp": 1},
        }
    )
    with pytest.raises(InputError) as from_python:
        run(wrong)
    wrong.save()
    with pytest.raises(InputError) as from_file:
        run("Scenario.toml")
    assert str(from_python.value) == str(from_file.value)
    assert len(from_python.value.problems) == 5
    with pytest.raises(InputError, match=r"run\(\) step: 0 s must be greater than 0"):
        run(DROP, step=0)
    with pytest.raises(InputError, match=r"run\(\) start flor.C_r: there is no slave 'flor'; did you mean 'floor'"):
        run(DROP, start={"flor.C_r": 1})


def test_a_fault_of_a_law_has_the_line_of_a_file_only_where_there_is_one(tmp_path: Path) -> None:
    """The file of a document is seen by nobody, and escapes hide the lines of a text in a file."""
    of = {"element": "point_surface", "surface": {"kind": "plane"}}

    def told(source: Recipe | Path) -> list[str]:
        with pytest.raises(InputError) as caught:
            fmu_builder.build(source)
        return [problem.where for problem in caught.value.problems]

    one, two = {"text": "scalar a = b;"}, {"text": "scalar a = 1;\nscalar c = b;\n"}
    assert told(Recipe(name="Pad", functions=one, **of)) == ["Pad.toml: [functions] text"]
    assert told(Recipe(name="Pad", functions=two, **of)) == ["Pad.toml: [functions] text, line 2 of the text"]
    for functions, line in ((one, "line 4"), (two, "line 2 of the text")):
        path = Recipe(name="Pad", functions=functions, **of).save(tmp_path)
        assert told(path) == [f"{path}: [functions] text, {line}"]


def test_the_file_of_a_part_replaces_no_other_file_and_none_is_written_alone() -> None:
    whole = Scenario(slaves={"body": Recipe(element="point_mass")}, experiment={"stop": 1, "step": 0.1})
    Path("body.toml").write_text('element = "point_mass"\nstart = { m = 7 }\n')
    with pytest.raises(InputError, match=r"body.toml: is a file with other content; give the document .* a name"):
        whole.save()
    with pytest.raises(InputError, match=r"Scenario.toml: other: 'body' is a document of another part as well"):
        run(whole.model_copy(update={"slaves": {**whole.slaves, "other": "body"}}))
    with pytest.raises(InputError, match=r"Recipe\(\) name: 'a/b' must be the name of a file"):
        Scenario(slaves={"a/b": Recipe(element="point_mass")}, experiment={"stop": 1, "step": 0.1}).save()
    assert [path.name for path in Path().iterdir()] == ["body.toml"]


def test_a_folder_that_takes_no_document_is_named() -> None:
    Path("file").write_text("")
    for folder in ("file", "file/inner"):
        with pytest.raises(ToolError, match=r"^file.*: cannot be written: "):
            FLOOR.save(folder)
    Path("Floor.toml").mkdir()
    with pytest.raises(ToolError, match=r"^Floor.toml: cannot be written: "):
        FLOOR.save()
    assert sorted(path.name for path in Path().iterdir()) == ["Floor.toml", "file"]


def test_what_no_file_can_hold_is_named() -> None:
    for value in ([0, None, 1], 1j, {1, 2}):
        with pytest.raises(InputError, match=r"PointMass.toml: start r0: .* must be a number, a text, true, false"):
            Recipe(element="point_mass", start={"r0": value}).toml()
    with pytest.raises(InputError, match=r"Recipe\(\) name: '../x' must be the name of a file"):
        build(Recipe(name="../x", element="point_mass"))
    with pytest.raises(InputError, match=r"Recipe\(\) name: '' must be"):
        Recipe(element="").save()
    with pytest.raises(InputError) as caught:
        Scenario(slave={"body": "PointMass"})
    assert str(caught.value).count("Scenario(): ") == 3 and "slaves" in str(caught.value)
    assert run(DROP, record="body.p.r*", stop="1 ms").trace.names == ("body.p.r[1]", "body.p.r[2]", "body.p.r[3]")
    with pytest.raises(InputError, match=r"^run\(\) record: names no signal; leave it out to record all of them$"):
        run(DROP, record=[])


def tables_of_the_guide() -> list[dict[str, Any]]:
    pages = [path.read_text(encoding="utf-8") for path in api_docs.PAGE.parent.glob("*.md")]
    blocks = [text for page in pages for text in re.findall(r"^```toml title=.*\n((?s:.*?))^```$", page, re.MULTILINE)]
    return [tomllib.loads(block) for block in blocks]


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_files_of_a_kind_fit_its_schema(kind: str) -> None:
    recipes = [read_toml(path) for path in catalogue()]
    cases = [read_toml(path) for path in (shipped("fmus") / "systems").glob("*.toml")]
    systems = [tables for tables in tables_of_the_guide() if "slaves" in tables]
    found = {
        "recipe": [tables for tables in recipes if "element" in tables],
        "assembly": [tables for tables in recipes if "parts" in tables],
        "case": cases + [tables for tables in systems if "reference" in tables],
        "scenario": [tables for tables in systems if "reference" not in tables],
    }[kind]
    assert len(found) > 10
    schema = document_schema(kind)
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    for tables in found:
        validator(schema).validate(tables)
    printed = CliRunner().invoke(app, ["schema", kind])
    assert json.loads(printed.output) == schema
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"slavs": {}}, schema)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("scenario", {"experiment": {"stop": 1, "stp": 0.1}}),
        ("scenario", {"experiment": {"stop": 1, "step": True}}),
        ("scenario", {"slaves": {"body": {"recipe": "PointMass", "strt": {}}}}),
        ("scenario", {"drive": {"body.p.f[1]": {"times": [0], "value": [1]}}}),
        ("case", {"reference": {"file": "a.csv", "source": "short"}}),
        ("assembly", {"expose": {"output": {}}}),
        ("assembly", {"experiment": {"tolerance": 0}}),
    ],
)
def test_an_editor_marks_what_cannot_be_in_the_tables_of_a_document(kind: str, wrong: dict[str, Any]) -> None:
    members = {"slaves" if kind != "assembly" else "parts": {"body": "PointMass"}}
    times = {"experiment": {"stop": 1, "step": "1 ms"}}
    sound = {"reference": {"file": "a.csv", "source": "closed form", "signals": {}}} if kind == "case" else {}
    jsonschema.validate(members | times | sound, document_schema(kind))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(members | times | sound | wrong, document_schema(kind))


OF_ARCHIVES = ("conversions", "outputs", "notes")  # fields of a scenario that was read from an SSP archive


def test_documents_have_the_keys_that_files_may_have() -> None:
    def keys(model: type[TableModel], *other: str) -> set[str]:
        return model.model_fields.keys() - {*other}

    assert keys(Case, "name") == keys(CheckedScenario, "path", *OF_ARCHIVES)
    assert keys(Scenario, "name") == keys(CheckedScenario, "path", "reference", "convergence", *OF_ARCHIVES)
    assert keys(Assembly, "name") == keys(CheckedAssembly, "path", "table")
    assert keys(Part, "count") == keys(SlaveEntry)


def test_type_checkers_see_the_fields_of_a_recipe() -> None:
    tree = ast.parse(Path(documents.__file__).read_text(encoding="utf-8"))
    (signature,) = (one.args for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.name == "__init__")
    assert {argument.arg for argument in signature.kwonlyargs} == Recipe.model_fields.keys()


@pytest.mark.parametrize("module", ["", *(f".{name}" for name in api_docs.PUBLIC_MODULES)])
def test_every_public_name_has_a_text(module: str) -> None:
    package = importlib.import_module(f"fmu_builder{module}")
    names = [name for name in package.__all__ if not name.startswith("__")]
    assert not [name for name in names if not api_docs.text_of(package.__name__, name)]
    members = [
        (name, *member)
        for name in names
        if isinstance(thing := getattr(package, name), type) and module.strip(".") in ("", *api_docs.WITH_MEMBERS)
        for member in api_docs.public_members(thing)
    ]
    assert not [f"{name}.{member}" for name, member, what in members if not getattr(what, "__doc__", "")]


def test_the_page_of_the_python_api_lists_members_and_keeps_the_quotes_of_defaults() -> None:
    page = api_docs.PAGE.read_text(encoding="utf-8")
    for text in ("- `passed`: ", "- `errors`: ", "- `events`: ", "- `save(folder: Path | str = '.') -> Path`: "):
        assert f"\n{text}" in page
    assert "platforms: str | Sequence[str] = ('all',)" in page
    used = {
        (module, name.strip())
        for path in api_docs.PAGE.parent.glob("*.md")
        for module, names in re.findall(r"from fmu_builder\.(\w+) import ([\w, ]+)", path.read_text(encoding="utf-8"))
        for name in names.split(",")
    }
    assert len(used) > 10
    for module, name in used:
        assert module in api_docs.PUBLIC_MODULES
        assert f"\n- `{name}" in page.partition(f"### fmu_builder.{module}\n")[2], name


def test_every_field_of_a_public_model_has_a_text() -> None:
    public = [getattr(fmu_builder, name) for name in fmu_builder.__all__]
    models = [thing for thing in public if isinstance(thing, type) and issubclass(thing, TableModel)]
    assert {*DOCUMENTS.values(), *SURFACES.values(), *CONSTRAINTS.values(), Part, Body, GuideLine, Point} <= {*models}
    for model in models:
        assert all(field.description for field in model.model_fields.values()), model
    assert issubclass(Case, Scenario)


def as_models(tables: dict[str, Any]) -> dict[str, Any]:
    """The tables of a recipe with models in place of all that have one."""
    found = dict(tables)
    if "surface" in tables:
        found["surface"] = SURFACES[tables["surface"]["kind"]](**tables["surface"])
    if "line" in tables:
        found["line"] = GuideLine(**tables["line"])
    for key, of in (
        ("body", lambda row: Body),
        ("point", lambda row: Point),
        ("constraint", lambda row: CONSTRAINTS[row["kind"]]),
    ):
        if key in tables:
            found[key] = [of(row)(**row) for row in tables[key]]
    return found


STRUCTURED = [path for path in catalogue() if {"surface", "line", "body"} & read_toml(path).keys()]


@pytest.mark.parametrize("path", STRUCTURED, ids=lambda path: path.stem)
def test_every_table_of_the_catalogue_can_be_a_model(path: Path) -> None:
    tables = read_toml(path)
    assert tomllib.loads(Recipe(**as_models(tables)).toml()) == tables


@pytest.mark.parametrize("name", ["PointCone", "PointRevolution", "FourBar", "GuideRail"])
def test_models_of_tables_give_the_sources_of_the_file(name: str, empty_folder: Path) -> None:
    path = find_recipe(name)
    for beside in path.parent.glob("*.csv"):
        shutil.copy(beside, empty_folder)
    with as_file(Recipe(name=name, **as_models(read_toml(path)))) as document:
        guid, here = fmu_contents(load_model(document))
    of_file, there = fmu_contents(load_model(path))
    assert guid == of_file
    with_recipe = {f"extra/org.fmu-builder/files/{name}.toml", "documentation/index.html"}  # its text, without comments
    assert {file for file in here if here[file] != there[file]} == with_recipe


def test_a_plane_needs_no_word_for_its_kind_and_arrays_serve_as_lists() -> None:
    floor = Recipe(element="point_surface", surface=Plane(x=np.array([-1, 1]), y=("-1 m", "1 m")))
    assert tomllib.loads(floor.toml())["surface"] == {"kind": "plane", "x": [-1, 1], "y": ["-1 m", "1 m"]}
    line = Recipe(element="point_line_2", line=GuideLine(points=np.zeros((2, 3)), body=np.array([1, 2])))
    assert tomllib.loads(line.toml())["line"] == {"points": [[0, 0, 0], [0, 0, 0]], "body": [1, 2]}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Sphere(), "Sphere(): radius: this key is missing"),
        (lambda: Plane(lenght=1), "Plane(): lenght: this key is unknown; known: kind, x, y"),
        (lambda: Sphere(radius=True), "Sphere(): radius: True: must be a number (SI) or a text with a unit"),
        (lambda: Sphere(radius=1, side="out"), "Sphere(): side: 'out' is none of outside, inside; did you mean 'outs"),
        (lambda: Plane(x=(1,)), "Plane(): x: (1,): must be a list of two quantities"),
        (lambda: Revolution(profile=3), "Revolution(): profile: 3: must be a list of points, or the name"),
        (lambda: Body(name="arm", joint="revolute", inertia=1), "arm(): mass: this key is missing"),
        (lambda: Experiment(stop=1), "Experiment(): step: this key is missing"),
        (lambda: Drive(), "Drive(): {}: give one of a law, table = 'file.csv', or both time and value"),
        (
            lambda: Assembly(parts={}, connections=["a.p"]),
            "Assembly(): connections 1: 'a.p': must be a pair of texts ['slave.port', 'slave.port']",
        ),
        (lambda: Case(slaves={}, experiment={}, reference="x"), "Case(): reference: 'x': must be a table"),
        (lambda: Scenario(slaves={"a": 3}, experiment={}), "Scenario(): [slaves] a: 3: must be the name of a recipe"),
    ],
)  # fmt: skip
def test_faults_of_models_are_named_where_they_are_made(make: Callable[[], object], said: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: build(5), "recipe: 5 must be a document, a text or a Path"),
        (lambda: build("PointMass", 5), "output: 5 must be a text or a Path"),
        (lambda: build("PointMass", platforms=5), "platforms: 5 must be a text or a list of texts, as 'all' or 'host'"),
        (lambda: build("PointMass", platforms=[5]), "platforms: [5] must be a text or a list of texts, as 'all' or"),
        (lambda: fmu_builder.plot("a.csv"), "trace: 'a.csv' must be a Trace; read_trace() reads one from a file"),
        (lambda: fmu_builder.write_trace(5, "a.csv"), "trace: 5 must be a Trace"),
        (lambda: fmu_builder.compare("a.csv", "b.csv", {}, fmu_builder.Tolerance()), "trace: 'a.csv' must be a Trace"),
        (lambda: run(None), "scenario: None must be a document, a text or a Path"),
        (lambda: run(DROP, record=5), "run() record: 5 must be a text or a list of texts"),
        (lambda: run(DROP, record=[5]), "run() record: [5] must be a text or a list of texts"),
        (lambda: run(DROP, start={5: 1}), "run() start: 5 must be a text, 'slave.variable'"),
        (lambda: run(DROP, start=5), "run() start: 5 must be a dictionary, of values by 'slave.variable'"),
        (lambda: run(DROP, isolated=1), "run() isolated: 1 must be True or False"),
        (lambda: run(DROP, power="yes"), "run() power: 'yes' must be True or False"),
        (lambda: run(DROP, algorithm=5), "run() algorithm: 5 is unknown; known: "),
        (lambda: fmu_builder.live(5), "scenario: 5 must be a document, a text or a Path"),
        (lambda: fmu_builder.live(DROP, 5), "page: 5 must be a text or a Path"),
        (lambda: fmu_builder.fit(5), "source: 5 must be a document, a text or a Path"),
        (lambda: fmu_builder.study(5), "source: 5 must be a Study, a text or a Path"),
        (lambda: fmu_builder.check_fmu(5), "path: 5 must be a text or a Path"),
        (lambda: fmu_builder.read_trace(5), "path: 5 must be a text or a Path"),
    ],
)
def test_an_argument_of_another_type_is_named_with_what_it_takes(call: Callable[[], object], said: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value).startswith(said)


def test_values_of_numpy_are_those_of_python() -> None:
    assert Plan(kind="random", runs=np.int64(5)).runs == 5  # type: ignore[arg-type]
    times = Experiment(stop=1, step=np.float64(0.1), tolerance=np.float32(0.5), power=np.bool_(True))  # type: ignore[arg-type]
    assert times.tolerance == 0.5 and times.power is True


def test_values_of_models_are_checked_with_the_file() -> None:
    wrong = Recipe(name="Ball", element="point_surface", surface=Sphere(radius="-1 m"), start={"C_R": 0})
    with pytest.raises(InputError) as caught:
        build(wrong, platforms=("host",))
    assert "Ball.toml: [surface] radius: '-1 m' is refused: it must be greater than 0 m" in str(caught.value)
    assert "did you mean 'C_r'" in str(caught.value)


def test_models_of_a_scenario_give_the_trace_of_dictionaries() -> None:
    typed = Scenario(
        slaves=DROP.slaves,
        connections=DROP.connections,
        experiment=Experiment(stop="0.1 s", step="50 us", record=["body.p.*", "floor.contact_count"]),
        drive={"floor.surface.r[3]": Drive(law="1[mm]*sin(#t/1[s])"), "floor.work": True},
    )
    plain = DROP.model_copy(update={"drive": {"floor.surface.r[3]": "1[mm]*sin(#t/1[s])", "floor.work": True}})
    one, other = run(typed), run(plain)
    assert one.trace.names == other.trace.names and (one.trace.values == other.trace.values).all()
    assert one.contacts == other.contacts != ()


def test_the_page_of_the_python_api_is_that_of_the_docstrings() -> None:
    assert api_docs.PAGE.read_text(encoding="utf-8") == api_docs.api_text(), "run python -m fmu_builder.api_docs"
    assert api_docs.FITTING.read_text(encoding="utf-8") == api_docs.fitting_text(), "run python -m fmu_builder.api_docs"
