"""`fmu-builder new`: what it writes, what it refuses, and that the element it makes is a good example."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.fmi2 import FMU2Slave
from numpy.typing import NDArray

from fmu_builder import cli
from fmu_builder.cosim.master import load_scenario, run
from fmu_builder.cosim.trace import read_trace
from fmu_builder.cosim.validation import find_cases, run_case
from fmu_builder.errors import InputError, ToolError
from fmu_builder.export.fmu import build_fmu, host_fmu
from fmu_builder.model.declaration_reader import read_declaration
from fmu_builder.model.file_kinds import camel_case
from fmu_builder.model.loader import load_model
from fmu_builder.new import new_element

Vector = NDArray[np.float64]


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


@pytest.fixture(scope="module")
def spring(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds nothing but the new element."""
    folder = tmp_path_factory.mktemp("spring")
    new_element("demo_spring", folder)
    return folder


# ---- what is written -----------------------------------------------------------------------------------------------


def test_new_element_is_complete_and_names_itself(spring: Path) -> None:
    element = "elements/demo_spring"
    cases = {f"{element}/cases/oscillation{s}" for s in (".toml", "_ref.py", "_ref.csv", "_ref.csv.json")}
    text_files = (
        {f"{element}/{n}" for n in ("README.md", "element.toml", "element.c")} | {"fmus/DemoSpring.toml"} | cases
    )
    assert files(spring) == text_files | {"elements", "fmus", element, f"{element}/cases"}
    for path in (spring / name for name in text_files):
        text = path.read_text(encoding="utf-8")
        assert "@" not in text
        assert text.endswith("\n")
        assert max(map(len, text.splitlines())) <= 120


def test_new_element_builds_and_runs_and_passes_its_case_without_an_edit(
    spring: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    built = build_fmu(spring / "fmus" / "DemoSpring.toml", tmp_path, ("host",))
    assert built.notes == ()
    assert [path.name for path in tmp_path.iterdir()] == ["DemoSpring.fmu"]
    assert fmpy.validation.validate_fmu(str(built.path)) == []
    assert run(load_scenario(built.path)).trace.time[-1] == 1.0
    result = run_case("oscillation", spring / "elements/demo_spring/cases/oscillation.toml")
    assert result.failure is None
    assert result.passed


def test_case_of_the_new_element_refuses_a_softer_spring(spring: Path, tmp_path: Path) -> None:
    cases = spring / "elements/demo_spring/cases"
    for path in cases.glob("*_ref.csv*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    text = (cases / "oscillation.toml").read_text(encoding="utf-8")
    changed = text.replace("k = 1000", "k = 990").replace("../../../fmus", (spring / "fmus").as_posix())
    assert changed != text
    (tmp_path / "oscillation.toml").write_text(changed, encoding="utf-8")
    result = run_case("softer", tmp_path / "oscillation.toml")
    assert result.failure is None
    assert not result.passed


def test_reference_is_the_closed_form(spring: Path) -> None:
    reference = read_trace(spring / "elements/demo_spring/cases/oscillation_ref.csv")
    np.testing.assert_allclose(reference["body.p.r[3]"], 0.01 * np.cos(np.sqrt(1000.0) * reference.time), atol=1e-16)
    assert reference.time[-1] == 0.4


def test_readme_of_the_new_element_states_the_law_the_sign_and_the_commands(spring: Path) -> None:
    text = (spring / "elements/demo_spring/README.md").read_text(encoding="utf-8")
    assert "# demo_spring" in text
    assert "f = -k (r - anchor) - c v" in text
    for path in re.findall(r"^    fmu-builder \w+ (\S+)$", text, re.MULTILINE):
        assert (spring / path).is_file()
    assert text.count("    fmu-builder ") == 2


# ---- the physics of the template ----------------------------------------------------------------------------------


class Spring:
    """The FMU at one point: values by name, and directional derivatives."""

    def __init__(self, recipe: Path) -> None:
        fmu = host_fmu(recipe)
        description = fmpy.read_model_description(str(fmu))
        self.variables = {v.name: v for v in description.modelVariables}
        self._folder = tempfile.TemporaryDirectory()
        fmpy.extract(str(fmu), self._folder.name)
        self.slave = FMU2Slave(
            guid=description.guid,
            unzipDirectory=self._folder.name,
            modelIdentifier=description.coSimulation.modelIdentifier,
        )
        self.slave.instantiate()
        self.slave.setupExperiment(startTime=0.0)
        self.slave.enterInitializationMode()
        self.slave.exitInitializationMode()

    def close(self) -> None:
        self.slave.terminate()
        self.slave.freeInstance()
        self._folder.cleanup()

    def set(self, values: dict[str, float]) -> None:
        self.slave.setReal([self.variables[n].valueReference for n in values], list(values.values()))

    def get(self, names: list[str]) -> Vector:
        return np.array(self.slave.getReal([self.variables[n].valueReference for n in names]))

    def directional(self, unknowns: list[str], known: str) -> Vector:
        reference = [self.variables[known].valueReference]
        wanted = [self.variables[n].valueReference for n in unknowns]
        return np.array(self.slave.getDirectionalDerivative(wanted, reference, [1.0]))


UNKNOWNS = ["point.f[1]", "point.f[2]", "point.f[3]", "energy.elastic", "power.damping"]


def point(rng: np.random.Generator) -> dict[str, float]:
    return {f"point.{n}[{k}]": float(rng.uniform(-1, 1)) for n in "rv" for k in (1, 2, 3)}


@pytest.fixture
def running(spring: Path) -> Iterator[Spring]:
    running = Spring(spring / "fmus" / "DemoSpring.toml")
    yield running
    running.close()


def test_force_and_energies_of_the_spring_are_those_of_its_readme(running: Spring) -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        at = point(rng) | {f"anchor[{k}]": float(rng.uniform(-1, 1)) for k in (1, 2, 3)} | {"k": 700.0, "c": 3.0}
        running.set(at)
        r, v, anchor = (np.array([at[f"{n}[{k}]"] for k in (1, 2, 3)]) for n in ("point.r", "point.v", "anchor"))
        expected = [*(-700.0 * (r - anchor) - 3.0 * v), 350.0 * np.sum((r - anchor) ** 2), 3.0 * np.sum(v**2)]
        np.testing.assert_allclose(running.get(UNKNOWNS), expected, rtol=1e-13, atol=1e-11)


def test_directional_derivatives_of_the_spring_are_its_matrices(running: Spring) -> None:
    """The law is polynomial of second order: central differences are exact up to rounding."""
    rng = np.random.default_rng(2)
    for _ in range(5):
        at = point(rng)
        running.set(at)
        for name, value in at.items():
            exact = running.directional(UNKNOWNS, name)
            ends = []
            for step in (-1e-3, 1e-3):
                running.set({name: value + step})
                ends.append(running.get(UNKNOWNS))
            running.set({name: value})
            np.testing.assert_allclose(exact, (ends[1] - ends[0]) / 2e-3, rtol=1e-9, atol=1e-8)
            component = int(name[-2]) - 1
            slope = -1000.0 if ".r" in name else -2.0
            expected = [slope if k == component else 0.0 for k in range(3)]
            np.testing.assert_allclose(exact[:3], expected, rtol=1e-15, atol=0)


def test_declared_dependencies_of_the_spring_are_those_it_has(spring: Path, running: Spring) -> None:
    model = load_model(spring / "fmus" / "DemoSpring.toml")
    rng = np.random.default_rng(3)
    at = point(rng)
    running.set(at)
    for name in at:
        depends = [bool(value) for value in running.directional(UNKNOWNS, name)]
        declared = [model[name].index in model[unknown].depends for unknown in UNKNOWNS]
        assert depends == declared, name


def test_switched_off_spring_has_no_force(running: Spring) -> None:
    running.set(point(np.random.default_rng(4)))
    running.slave.setBoolean([running.variables["work"].valueReference], [False])
    assert not running.get(UNKNOWNS).any()


def test_damping_of_the_spring_never_gives_energy_back(spring: Path, tmp_path: Path) -> None:
    (tmp_path / "damped.toml").write_text(
        'connections = [["body.p", "spring.point"]]\n[experiment]\nstop = "0.5 s"\nstep = "0.1 ms"\n[slaves]\n'
        'body = { recipe = "PointMass", start = { r0 = [0, 0, 0.1], g = [0, 0, 0] } }\n'
        f"spring = {{ recipe = '{(spring / 'fmus' / 'DemoSpring.toml').as_posix()}', start = {{ c = 10 }} }}\n",
        encoding="utf-8",
    )
    trace = run(tmp_path / "damped.toml").trace
    damped = trace["spring.energy.damping"]
    assert (np.diff(damped) >= 0.0).all()
    total = trace["body.energy.kinetic"] + trace["spring.energy.elastic"] + damped
    # the held force adds k h^2 w / 4 of energy in every radian: 3 % of the energy over 16 rad is far above it
    assert np.abs(total - total[0]).max() < 0.03 * total[0]
    assert damped[-1] > 0.9 * total[0]


def test_template_declares_every_variable_with_unit_and_description(spring: Path) -> None:
    declaration = read_declaration(spring / "elements" / "demo_spring")
    for table in (declaration.parameters, declaration.states, declaration.locals):
        for name, entry in table.items():
            assert entry.unit != "1", name
            assert entry.description[0].isupper(), name


# ---- names ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "repair"),
    [
        ("DemoSpring", "how about 'demo_spring'?"),
        ("demo-spring", "how about 'demo_spring'?"),
        ("demo spring", "how about 'demo_spring'?"),
        ("_spring", "how about 'spring'?"),
        ("2springs", "how about 'springs'?"),
        ("spring_", "how about 'spring'?"),
        ("../spring", "how about 'spring'?"),
        ("", "such as 'demo_spring'"),
        ("Feder\u00e4", "must be lower case"),
        ("con", "device on Windows"),
        ("lpt1", "device on Windows"),
        ("s" * 60, "60 characters"),
        ("point_mass", "choose another name"),
        ("floor_patch", "choose another name"),
    ],
)
def test_unusable_name_is_refused_with_a_better_one(tmp_path: Path, name: str, repair: str) -> None:
    with pytest.raises(InputError) as refused:
        new_element(name, tmp_path)
    (problem,) = refused.value.problems
    assert problem.where == "NAME"
    assert f"'{name}'" in problem.what
    assert repair in problem.what
    assert files(tmp_path) == set()


@pytest.mark.parametrize("name", ["a", "spring2", "my_2nd_spring", "s" * 50, "int", "double", "main"])
def test_usable_names_build(tmp_path: Path, name: str) -> None:
    """Words of C among them: the name becomes a folder and, in camel case, the model identifier."""
    new_element(name, tmp_path)
    assert load_model(tmp_path / "fmus" / f"{camel_case(name)}.toml").name == camel_case(name)


def test_existing_element_and_recipe_are_named_and_kept(tmp_path: Path) -> None:
    new_element("demo_spring", tmp_path)
    kept = {name: (tmp_path / name).read_bytes() for name in files(tmp_path) if (tmp_path / name).is_file()}
    with pytest.raises(InputError) as refused:
        new_element("demo_spring", tmp_path)
    assert [p.where for p in refused.value.problems] == [
        str(tmp_path / "elements" / "demo_spring"),
        str(tmp_path / "fmus" / "DemoSpring.toml"),
    ]
    assert kept == {name: (tmp_path / name).read_bytes() for name in files(tmp_path) if (tmp_path / name).is_file()}


# ---- failures ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("broken", ["write_text", "replace", "mkdir"])
@pytest.mark.parametrize("call", [1, 2, 3])
def test_nothing_stays_behind_when_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str, call: int
) -> None:
    if broken == "mkdir" and call == 3:
        call = 1
    whole, calls = getattr(Path, broken), []

    def full(path: Path, *arguments: object, **options: object) -> object:
        if tmp_path in path.parents:
            calls.append(path)
            if len(calls) == call:
                raise OSError(28, "No space left on device")
        return whole(path, *arguments, **options)

    monkeypatch.setattr(Path, broken, full)
    with pytest.raises(ToolError, match="No space left on device"):
        new_element("demo_spring", tmp_path)
    monkeypatch.undo()
    assert files(tmp_path) == set()


def test_interrupt_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fmu_builder.new.runpy.run_path", interrupted)
    with pytest.raises(KeyboardInterrupt):
        new_element("demo_spring", tmp_path)
    assert files(tmp_path) == set()


def test_file_in_the_place_of_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "elements").write_bytes(b"")
    with pytest.raises(ToolError, match="cannot be written to: File exists"):
        new_element("demo_spring", tmp_path)
    assert files(tmp_path) == {"elements"}


def test_own_elements_are_listed_and_validated_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the folder they were made in and from folders below it, as recipes find them."""
    new_element("demo_spring", tmp_path)
    broken = tmp_path / "elements" / "broken" / "element.toml"
    broken.parent.mkdir()
    broken.write_text("[", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fmu_builder.cli.listing.catalogue", lambda: [])  # each of its recipes is read
    monkeypatch.setattr(sys, "argv", ["fmu-builder", "list", "--json"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    told = json.loads(capsys.readouterr().out)
    assert not ended.value.code
    assert "demo_spring" in told["elements"] and "point_mass" in told["elements"]
    assert told["elements"]["broken"].startswith("faulty: ")
    assert "DemoSpring" in told["fmus"] and "demo_spring/oscillation" in told["cases"]
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    path = tmp_path / "elements" / "demo_spring" / "cases" / "oscillation.toml"
    for name in ("demo_spring", "demo_spring/oscillation", "oscillation"):
        assert path in find_cases([name]).values()
    assert "demo_spring/oscillation" not in find_cases(())  # those that are shipped
