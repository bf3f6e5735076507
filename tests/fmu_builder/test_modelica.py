"""Packages of Modelica classes: what they declare, and what has no Modelica form.

tests/platform/test_modelica_models.py compiles and simulates them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fmu_builder.cli import app
from fmu_builder.errors import InputError
from fmu_builder.modelica import Written, words, write_package
from fmu_builder.paths import find_recipe, shipped, shipped_elements

FMUS = shipped("fmus")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Written:
    paths = [find_recipe(name) for name in ("TorsionPendulum", "BodyOnThreeSprings", "PointPipe")]
    return write_package(paths, tmp_path_factory.mktemp("modelica") / "Own")


def lines(package: Written, place: str) -> list[str]:
    return (package.folder / place).read_text(encoding="utf-8").splitlines()


def test_a_package_has_a_file_for_each_class_in_its_order(package: Written) -> None:
    assert lines(package, "package.order") == ["Interfaces", "Elements", "Examples"]
    assert lines(package, "Examples/package.order") == ["BodyOnThreeSprings", "TorsionPendulum"]
    for folder in ("Elements", "Examples", "Interfaces"):
        for name in lines(package, f"{folder}/package.order"):
            text = lines(package, f"{folder}/{name}.mo")
            assert text[0] == f"within Own.{folder};"
            assert text[-1] == f"end {name};"
    images = {path.name for path in (package.folder / "Resources" / "Images").iterdir()}
    assert {"inertia.svg", "two_d_body.svg", "point_surface.svg"} < images


def test_parameters_states_and_connectors_are_those_of_the_declaration(package: Written) -> None:
    spring = "\n".join(lines(package, "Elements/RotationalSpring.mo"))
    for line in (
        'parameter Real k(unit="N.m/rad", min=0) = 10 "Spring rate";',
        'parameter Real theta0(unit="rad", displayUnit="deg") = 0 "Deformation at the start";',
        'input Boolean work = true "false switches the torque off";',
        'Modelica.Mechanics.Rotational.Interfaces.Flange_a r "The shaft at the rod"',
        'assert(k > 0, "k must be greater than 0 N.m/rad");',
        "der(theta) = w;",
    ):
        assert f"  {line}\n" in spring
    assert 'start=theta0, fixed=true) "Deformation: angle of r relative to c";' in spring
    assert "coupling" not in spring  # what FMUs alone need
    pipe = "\n".join(lines(package, "Elements/PointPipe.mo"))
    assert 'parameter Real surface_radius(unit="m") = 0.05' in pipe
    assert "parameter Real surface_side = -1 " in pipe


def test_a_system_has_the_start_values_and_connections_of_its_recipe(package: Written) -> None:
    pendulum = "\n".join(lines(package, "Examples/TorsionPendulum.mo"))
    assert "  Elements.Inertia disc(J=0.1)\n" in pendulum
    assert "  Elements.RotationalSpring spring(theta0=0.3)\n" in pendulum
    assert "  connect(disc.p, spring.r)\n" in pendulum
    assert "  connect(spring.c, ground_of_spring_c.flange)\n" in pendulum
    assert "annotation(experiment(StopTime=2, Interval=0.01, Tolerance=1e-09)," in pendulum


def test_equations_name_what_is_declared(package: Written) -> None:
    """All of an element's names: declared in its class, or words of the language."""
    built_in = {"der", "sqrt", "max", "smooth", "zeros", "cross", "sin", "cos", "pre", "initial", "time", "Real"}
    for name, one in package.elements.items():
        text = one.text.split("annotation(Icon")[0]
        declared = set(one.declared.values()) | set(one.connectors)
        for line in text.splitlines():
            if line.startswith("  ") and '"' in line:
                declared |= words.words_in(line.partition('"')[0])
        equations = text.partition("\nequation\n")[2]
        strange = words.words_in(equations) - declared - words.KEYWORDS - built_in - {"Frames", "Connections"}
        assert not strange, f"{name}: {strange}"


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ("PointExtrusion", '[surface] kind: "extrusion" has no Modelica form; those with one: "cone", "cylinder", '),
        ("FloorWithStribeck", "[functions] F_slip: a law in this slot has no Modelica form"),
        ("RigidBar", "the element rigid_body has no Modelica form; those with one: inertia, pendulum, point_mass, "),
        ("FourPointSurface", "[structure] points: 4: a Modelica class has one of them"),
    ],
)
def test_what_has_no_modelica_form_is_named(recipe: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        write_package([FMUS / f"{recipe}.toml"], tmp_path / "Own")
    assert said in str(error.value)
    assert not (tmp_path / "Own").exists()


def test_a_connection_of_single_variables_and_a_force_in_space_have_no_modelica_form(tmp_path: Path) -> None:
    recipe = tmp_path / "Pair.toml"
    recipe.write_text(
        'connections = [["disc.p.w", "spring.r.w"], ["spring.r.t", "disc.p.t"]]\n'
        '[parts]\ndisc = "Inertia"\nspring = "RotationalSpring"\n'
        'body = { recipe = "PointMass", start = { "p.f" = [1, 0, 0] } }\n'
        'belt = { recipe = "PointSurface", start = { "surface.v" = [1, 0, 0] } }\n'
    )
    with pytest.raises(InputError) as error:
        write_package([recipe], tmp_path / "Own")
    assert "connections [disc.p.w, spring.r.w]: 'disc.p.w' is no port of a part" in str(error.value)
    assert "belt: surface is not connected and moves, or lies elsewhere: no Modelica form" in str(error.value)
    assert "body: p.f[1] = 1 at the start: a constant force in space or in the plane has no" in str(error.value)


def test_a_surface_that_stands_turned_is_held_by_a_frame_of_the_package(tmp_path: Path) -> None:
    written = write_package([FMUS / "BlockOnIncline.toml"], tmp_path / "Own")
    text = written.systems["Own.Examples.BlockOnIncline"].text
    assert "FixedFrame ground_of_incline_surface(r={0, 0, 0}, q={0.9961946980917455, 0, 0.0871557427" in text
    assert "  connect(incline.surface, ground_of_incline_surface.frame_b)\n" in text
    assert "FixedFrame" in lines(written, "Interfaces/package.order")


def test_only_a_package_of_ours_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "Own"
    write_package([FMUS / "Inertia.toml"], folder)
    write_package([FMUS / "SliderMass.toml"], folder)
    assert [path.name for path in (folder / "Elements").iterdir() if path.stem not in ("package",)] == ["SliderMass.mo"]
    (tmp_path / "Other").mkdir()
    (tmp_path / "Other" / "notes.txt").write_text("mine")
    for name, said in (("Other", "no package of fmu-builder"), ("9 lives", "a Modelica identifier")):
        with pytest.raises(InputError, match=said):
            write_package([FMUS / "Inertia.toml"], tmp_path / name)


def test_files_of_others_in_a_package_stay(tmp_path: Path) -> None:
    folder = tmp_path / "Own"
    write_package([FMUS / "Inertia.toml"], folder)
    elements = folder / "Elements"
    mine = [folder / "Mine.mo", elements / "MyInertia.mo", folder / "Resources" / "Images" / "mine.svg"]
    mine += [folder / "More" / "package.mo", folder / "More" / "package.order"]
    mine[3].parent.mkdir()
    for path in mine:
        path.write_text("model Mine\nend Mine;\n")
    mine[1].write_text((elements / "Inertia.mo").read_text())  # a copy, as of an editor of Modelica
    texts = {path: path.read_text() for path in mine}
    (folder / "package.order").write_text("Elements\nMine\nMore\n")
    (elements / "package.order").write_text("MyInertia\nInertia\n")
    write_package([FMUS / "SliderMass.toml"], folder)
    assert {path: path.read_text() for path in mine} == texts
    assert not (elements / "Inertia.mo").exists()
    assert (folder / "package.order").read_text() == "Elements\nMine\nMore\n"
    assert (elements / "package.order").read_text() == "SliderMass\nMyInertia\n"
    (elements / "Inertia.mo").write_text("within Own.Elements;\nmodel Inertia\nend Inertia;\n")
    with pytest.raises(InputError, match=r"Elements/Inertia\.mo would be replaced, but .* did not write"):
        write_package([FMUS / "Inertia.toml"], folder)
    assert (elements / "SliderMass.mo").exists()


def test_two_recipes_of_one_name_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "Inertia.toml"
    other.write_text('element = "inertia"\n')
    with pytest.raises(InputError, match="a class of this name is made of"):
        write_package([FMUS / "Inertia.toml", other], tmp_path / "Own")


def test_names_of_parts_and_files_that_modelica_has_taken(tmp_path: Path) -> None:
    recipe = tmp_path / "Names.toml"
    recipe.write_text('[parts]\nworld = "Inertia"\nconnect = "Inertia"\n')
    written = write_package([recipe], tmp_path / "Own")
    assert written.systems["Own.Examples.Names"].parts == {"world": "world_", "connect": "connect_"}
    for name, text in (("model", 'element = "inertia"\n'), ("when", '[parts]\na = "Inertia"\n')):
        (tmp_path / f"{name}.toml").write_text(text)
        with pytest.raises(InputError, match="is a word of Modelica; rename the file"):
            write_package([tmp_path / f"{name}.toml"], tmp_path / "Own")


def test_an_element_of_a_user_has_equations_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "elements" / "demo_spring"
    folder.mkdir(parents=True)
    for name in ("element.toml", "element.c"):
        text = (shipped("elements") / "slider_mass" / name).read_text(encoding="utf-8")
        (folder / name).write_text(text)
    (folder / "element.mo").write_text("equation\n  p_s = p.s;\n  der(p_s) = p_v;\n  m*der(p_v) = p.f;\n")
    (tmp_path / "Demo.toml").write_text('element = "demo_spring"\n')
    text = write_package([tmp_path / "Demo.toml"], tmp_path / "Own").elements["Own.Elements.Demo"].text
    assert "  m*der(p_v) = p.f;\n" in text
    assert "graphics={Rectangle(extent=" in text  # without a drawing
    assert "energy_kinetic" not in text  # it has no equation


def test_names_become_identifiers() -> None:
    assert words.identifier("energy.elastic") == "energy_elastic"
    assert words.identifier("mass[12].p") == "mass_12_p"
    assert words.identifier("end") == "end_"
    assert words.values([1.797e308]) == "1e+60"
    assert words.string('a "b" \\') == r'"a \"b\" \\"'


def test_every_equation_file_belongs_to_an_element_with_element_mo() -> None:
    for folder in shipped_elements():
        assert (folder / "element.mo").is_file() or not list(folder.rglob("*.mo")), folder.name


def test_a_system_begins_where_its_scenario_does(tmp_path: Path) -> None:
    (tmp_path / "late.toml").write_text(
        'description = "A mass"\n[experiment]\nstart = "1 s"\nstop = "2.5 s"\nstep = "1 ms"\n'
        '[slaves]\nm = "SliderMass"\n'
    )
    written = write_package([tmp_path / "late.toml"], tmp_path / "Late")
    (system,) = written.systems.values()
    assert "annotation(experiment(StartTime=1, StopTime=2.5, Interval=0.001, Tolerance=" in system.text


def test_build_writes_the_law_of_a_user_as_modelica_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = tmp_path / "Rubber.toml"
    recipe.write_text(
        'element = "point_surface"\n[surface]\nkind = "plane"\n[functions]\n'
        'text = "function stiff(h[m]) = 1e5[N/m]*#h*(1 + #h/1[mm]);"\nC_F = "stiff"\n'
    )
    options = ["--source-only", "-o", str(tmp_path), "--modelica", str(tmp_path / "Own")]
    app(["build", str(recipe), *options], standalone_mode=False)
    assert (tmp_path / "Rubber.fmu").is_file()
    text = (tmp_path / "Own" / "Elements" / "Rubber.mo").read_text(encoding="utf-8")
    assert "Rubber_stiff" in text and "function Rubber_stiff" in text
    assert "(1 element, 0 systems)" in capsys.readouterr().out
    with pytest.raises(InputError, match="exists, and is no package of fmu-builder"):
        app(["build", str(recipe), "--source-only", "--modelica", str(tmp_path)], standalone_mode=False)
