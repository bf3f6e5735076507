"""A prototype beside the same element in C, impact_damper: one solver and one FMI layer, so the same bits in
co-simulation, in model exchange, from a saved state and as part of an assembly."""

from __future__ import annotations

import functools
import re
import threading
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmi2 import DISCARD, ERROR, MODEL_EXCHANGE, OK, Fmu, Slave, integers, reals, references

from fmu_builder import run
from fmu_builder.export import fmu
from fmu_builder.export.fmu import host_fmu
from fmu_builder.export.toolchain import find_compiler
from fmu_builder.model.loader import load_model
from fmu_builder.paths import shipped

RATTLE = {"w0": 1.0, "C_F": 1e5, "C_r": 0.7, "gap": 4e-3}
H = 5e-4  # s


class Loaded:
    """The FMU of a recipe with its resources."""

    def __init__(self, recipe: Path, folder: Path) -> None:
        self.file = host_fmu(recipe)
        self.fmu = Fmu(self.file, folder)
        with zipfile.ZipFile(self.file) as archive:
            archive.extractall(folder, [name for name in archive.namelist() if name.startswith("resources/")])
        self.create = functools.partial(self.fmu.slave, resources=(folder / "resources").as_uri().encode())

    def slave(self, values: dict[str, float] = RATTLE, **options: Any) -> Slave:
        slave = self.create(**options)
        assert slave.set(values) == OK
        assert slave.setup() == slave.call("fmi2EnterInitializationMode") == OK
        assert slave.call("fmi2ExitInitializationMode") == OK, slave.importer.texts
        return slave


def recipe_of(folder: Path, language: str) -> Path:
    recipe = folder / "Damper.toml"
    element = (shipped("elements") / "impact_damper").as_posix()
    recipe.write_text(f"element = '{element}'\nlanguage = '{language}'\n", encoding="utf-8")
    return recipe


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {language: tmp_path_factory.mktemp(language) for language in ("c", "python")}


@pytest.fixture(scope="module")
def both(folders: dict[str, Path]) -> dict[str, Loaded]:
    return {language: Loaded(recipe_of(folder, language), folder) for language, folder in folders.items()}


def steps(slave: Slave, first: int, last: int) -> None:
    for i in range(first, last):
        assert slave.step(H * i, H) == OK, slave.importer.texts


# ---- states ----------------------------------------------------------------------------------------------------------


def test_a_state_brings_the_prototype_back_to_the_same_bits(both: dict[str, Loaded]) -> None:
    """Amid a contact: the first wall is met after 2 ms."""
    slave = both["python"].slave()
    steps(slave, 0, 5)
    assert slave.get("depth")[0] > 0.0
    place, before = slave.get_state(), slave.all_values()
    data = slave.serialize(place)
    steps(slave, 5, 40)
    after = slave.all_values()
    assert after != before
    assert slave.call("fmi2SetFMUstate", place) == OK
    assert slave.all_values() == before
    steps(slave, 5, 40)
    assert slave.all_values() == after
    other = both["python"].slave()
    moved = type(place)()
    assert other.deserialize(data, moved) == OK and other.call("fmi2SetFMUstate", moved) == OK
    steps(other, 5, 40)
    assert other.all_values() == after


# ---- model exchange --------------------------------------------------------------------------------------------------


def test_a_point_of_model_exchange_has_the_bits_of_the_element_in_c(both: dict[str, Loaded]) -> None:
    rng = np.random.default_rng(3)
    slaves = {language: loaded.slave(kind=MODEL_EXCHANGE) for language, loaded in both.items()}
    for slave in slaves.values():
        assert slave.new_discrete_states()[0] == OK and slave.call("fmi2EnterContinuousTimeMode") == OK
    count = len(slaves["c"].continuous_states())
    touched = 0
    for t in np.linspace(1e-3, 5e-2, 20):
        x = [rng.uniform(-4e-3, 4e-3), rng.normal(), *rng.uniform(size=count - 2)]
        found = []
        for slave in slaves.values():
            assert slave.call("fmi2SetTime", t) == slave.set_states(x) == OK
            assert slave.set({"p.v": 0.3}) == OK
            found.append((slave.derivatives(), slave.indicators(), slave.all_values()))
            assert slave.completed_step()[0] == OK
        assert found[0] == found[1]
        touched += slaves["c"].get("depth")[0] > 0.0
    assert 5 < touched < 18


def test_an_importer_integrates_the_prototype_and_stops_at_its_walls(both: dict[str, Loaded]) -> None:
    """CVode of fmpy: the same rows, those of events among them, from C and from Python."""
    found = [
        fmpy.simulate_fmu(
            str(loaded.file),
            fmi_type="ModelExchange",
            stop_time=0.02,
            start_values=RATTLE,
            output=["x", "w", "contact_count"],
            relative_tolerance=1e-8,
        )
        for loaded in both.values()
    ]
    assert found[0]["contact_count"][-1] >= 2
    np.testing.assert_array_equal(found[0], found[1])


# ---- records ---------------------------------------------------------------------------------------------------------


def test_every_contact_of_a_step_is_kept_as_in_c(both: dict[str, Loaded]) -> None:
    found = []
    for loaded in both.values():
        slave = loaded.slave({**RATTLE, "C_r": 1.0})
        assert slave.step(0.0, 0.05) == OK
        records = []
        for back in range(4):
            assert slave.set_integer("contact_record.back", back) == OK
            records.append(slave.get("last_contact.start", "last_contact.end", "last_contact.impulse"))
        found.append(records)
    assert found[0] == found[1]
    ends = [end for _, end, _ in found[1]]
    assert ends == sorted(ends, reverse=True) and ends[-1] > 0.0


# ---- derivatives -----------------------------------------------------------------------------------------------------


def test_derivatives_that_are_not_exact_are_not_offered(both: dict[str, Loaded]) -> None:
    slave, fmu = both["python"].slave(), both["python"].fmu
    vr = references(fmu.references["p.F"])
    status = slave.call(
        "fmi2GetDirectionalDerivative", vr, 1, references(fmu.references["p.v"]), 1, reals(1.0), reals(0.0)
    )
    assert status == ERROR and "fmi2GetDirectionalDerivative is not supported" in slave.importer.texts[-1]
    assert slave.call("fmi2GetRealOutputDerivatives", vr, 1, integers(1), reals(0.0)) == ERROR
    assert slave.step(0.0, H) == OK


@pytest.mark.parametrize("values", [{}, {"k_D": 10.0}], ids=["limited damping", "damping"])
def test_the_implicit_method_follows_the_same_motion_with_differences_for_derivatives(
    both: dict[str, Loaded], values: dict[str, float]
) -> None:
    """Exact derivatives in C, differences in Python: both within the tolerance."""
    found = []
    for loaded in both.values():
        slave = loaded.create()
        assert slave.set({**RATTLE, **values, "solver.tolerance": 1e-8}) == slave.set_integer("solver.method", 3) == OK
        assert slave.setup() == slave.call("fmi2EnterInitializationMode") == OK
        assert slave.call("fmi2ExitInitializationMode") == OK
        steps(slave, 0, 20)
        found.append(slave.get("x", "w"))
    assert found[0][1] < 0.9  # it has met a wall
    assert found[1] == pytest.approx(found[0], abs=1e-6)


# ---- assemblies ------------------------------------------------------------------------------------------------------

ASSEMBLY = """
description = "A loose mass takes the speed of a body"
connections = [["body.p", "damper.p"]]

[parts]
body = { recipe = "Body.toml", start = { m = 1.0, v0 = 1.0 } }
damper = { recipe = "Damper.toml", start = { C_F = "1e5 N/m", gap = "4 mm" } }

[expose.outputs]
speed = "body.p.v"
"""


@pytest.fixture(scope="module")
def assemblies(folders: dict[str, Path], both: dict[str, Loaded]) -> dict[str, Path]:
    found = {}
    for language, folder in folders.items():
        (folder / "Body.toml").write_text('element = "slider_mass"\n', encoding="utf-8")
        found[language] = folder / "Damped.toml"
        found[language].write_text(ASSEMBLY, encoding="utf-8")
    return found


def test_a_part_in_python_gives_the_assembly_the_bits_of_the_part_in_c(
    assemblies: dict[str, Path], tmp_path: Path
) -> None:
    traces = []
    for recipe in assemblies.values():
        scenario = tmp_path / f"{recipe.parent.name}.toml"
        text = f"[experiment]\nstop = 0.05\nstep = 1e-3\n[slaves]\none = '{recipe.as_posix()}'\n"
        scenario.write_text(text, encoding="utf-8")
        traces.append(run(scenario).trace)
    c, python = traces
    assert c.names == python.names and c["one.damper.contact_count"][-1] >= 3
    for name in c.names:
        np.testing.assert_array_equal(python[name], c[name], err_msg=name)
    assert load_model(assemblies["python"]).is_prototype and not load_model(assemblies["c"]).is_prototype


def test_a_change_of_what_prototypes_are_packed_with_renames_the_cached_assembly(
    assemblies: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = find_compiler()
    assert compiler is not None
    names: dict[str, set[str]] = {"c": set(), "python": set()}
    for packed in (b"one version", b"another"):
        monkeypatch.setattr(fmu, "prototype_content", lambda packed=packed: packed)
        for language, recipe in assemblies.items():
            _, files = fmu.fmu_contents(load_model(recipe))
            names[language].add(fmu._content(files, compiler, "linux64"))
    assert (len(names["c"]), len(names["python"])) == (1, 2)


# ---- instances and threads -------------------------------------------------------------------------------------------


def test_instances_in_threads_do_not_mix(both: dict[str, Loaded]) -> None:
    """Python is one for all instances, and its element.py may keep things of a call."""
    starts = [{**RATTLE, "w0": 0.5 + 0.25 * i} for i in range(4)]
    alone = []
    for values in starts:
        slave = both["python"].slave(values)
        steps(slave, 0, 30)
        alone.append(slave.all_values())
    slaves = [both["python"].slave(values) for values in starts]
    threads = [threading.Thread(target=steps, args=(slave, 0, 30)) for slave in slaves]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [slave.all_values() for slave in slaves] == alone


# ---- where its files are ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["file://{}", "file:{}", "file://localhost{}", "file://{}/", "{}"])
def test_resources_are_found_by_every_form_of_their_place(folders: dict[str, Path], tmp_path: Path, form: str) -> None:
    place = tmp_path / "with blank"
    place.mkdir()
    loaded = Loaded(recipe_of(folders["python"], "python"), place)
    resources = (place / "resources").as_uri().removeprefix("file://") if "file" in form else f"{place / 'resources'}"
    slave = loaded.slave(resources=form.format(resources).encode())
    assert slave.step(0.0, H) == OK


# ---- points that have no values --------------------------------------------------------------------------------------

ROOT = {
    "element.toml": """
description = "x' = -sqrt(x)"

[states]
x = { unit = "m", start = 1.0, output = true, depends = ["x"], description = "Level" }
""",
    "element.py": """import math


def outputs(e):
    pass


def derivatives(e):
    e.der.x = -math.sqrt(e.x)
""",
}


def loaded(folder: Path, name: str, files: Mapping[str, str]) -> Loaded:
    """An element of these files with its default structure."""
    home = folder / "elements" / name
    home.mkdir(parents=True)
    for file, text in files.items():
        (home / file).write_text(text, encoding="utf-8")
    recipe = folder / f"{name.capitalize()}.toml"
    recipe.write_text(f'element = "{name}"\n', encoding="utf-8")
    return Loaded(recipe, folder)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return loaded(tmp_path_factory.mktemp("root"), "root", ROOT)


def test_a_step_that_tries_points_without_values_is_shortened_until_it_has_none(root: Loaded) -> None:
    """x = (1 - t/2)^2, and beyond t = 2 s, where x is 0, trial points have x < 0 and math.sqrt raises."""
    slave = root.slave({})
    assert slave.step(0.0, 1.9) == OK
    assert slave.get("x")[0] == pytest.approx(0.05**2, abs=1e-8)
    assert not slave.importer.texts


def test_what_raised_an_exception_is_told_where_the_importer_finds_no_shorter_step(root: Loaded) -> None:
    slave = root.slave({}, kind=MODEL_EXCHANGE)
    assert slave.new_discrete_states()[0] == OK and slave.call("fmi2EnterContinuousTimeMode") == OK
    assert slave.set_states([-1.0]) == OK
    derivatives = reals(0.0)
    assert slave.call("fmi2GetDerivatives", derivatives, 1) == DISCARD
    assert re.match(r"root/element\.py:9: ValueError: math domain error, in derivatives", slave.importer.texts[0])
    assert slave.set_states([4.0]) == OK and slave.derivatives() == [-2.0]


FOLLOWER = {
    "element.toml": """
description = "x' = a (u^3 - x)"

[parameters]
a = { unit = "1/s", start = 1e7, min = 0.0, description = "Rate of decay" }

[inputs]
u = { description = "Root of where it goes" }

[states]
x = { start = 1.0, output = true, depends = ["a", "u", "x"], description = "Value" }
""",
    "element.py": """
def outputs(e):
    pass


def derivatives(e):
    e.der.x = e.a * (e.u**3 - e.x)
""",
}


@pytest.fixture(scope="module")
def follower(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return loaded(tmp_path_factory.mktemp("follower"), "follower", FOLLOWER)


def implicit(loaded: Loaded, most_substeps: int) -> Slave:
    slave = loaded.create()
    assert slave.set({"solver.tolerance": 1e-4}) == slave.set_integer("solver.method", 3) == OK
    assert slave.set_integer("solver.max_substeps", most_substeps) == OK
    assert slave.setup() == slave.call("fmi2EnterInitializationMode") == OK
    assert slave.call("fmi2ExitInitializationMode") == OK
    return slave


def test_implicit_substeps_of_a_prototype_go_far_beyond_the_limit_of_explicit_ones(follower: Loaded) -> None:
    """Explicit substeps are stable up to 3.3/a, of which this step has 3,000: so short are those without derivatives,
    too."""
    slave = implicit(follower, 100)
    assert slave.step(0.0, 1e-3) == OK, slave.importer.texts
    assert slave.get("x")[0] == pytest.approx(0.0, abs=1e-4)


def test_differences_stay_small_where_an_input_rises_fast(follower: Loaded) -> None:
    """While t moves by 2^-20 s, u moves by 1, a tenth of its way.  A derivative of u^3 over such a difference is wrong,
    which costs 500 substeps and more."""
    slave = implicit(follower, 100)
    u = references(follower.fmu.references["u"])
    assert slave.call("fmi2SetRealInputDerivatives", u, 1, integers(1), reals(1e6)) == OK
    assert slave.step(0.0, 1e-5) == OK, slave.importer.texts
    lag = 1e6 / 1e7  # of u behind itself, over one time constant
    exact = 10.0**3 - 3.0 * 10.0**2 * lag + 6.0 * 10.0 * lag**2 - 6.0 * lag**3
    assert slave.get("x")[0] == pytest.approx(exact, rel=1e-4)


# ---- the rest of the waist -------------------------------------------------------------------------------------------

SAMPLED = {
    "element.toml": """
description = "x' = u, where u is held as it was when the step began"

[structure]
held = { default = true, samples = true, description = "Hold the input" }

[parameters]
a = { start = 2.0, fixed = true, description = "Root of the state at the start" }

[inputs]
u = { start = 0.0, description = "Rate" }

[outputs]
y = { depends = ["x"], description = "Twice the state" }

[states]
x = { initial = ["a"], depends = ["kept"], description = "State" }

[memory]
kept = { depends = ["u"], output = true, description = "The rate that is held" }
held_over = { depends = [], output = true, description = "Length of the last steps" }
"last_contact.start" = { unit = "s", output = true, depends = [], description = "Start of the contact that ended last" }
"last_contact.end" = { unit = "s", output = true, depends = [], description = "Its end" }
""",
    "element.py": """
def initial(e):
    e.x = e.a**2


def outputs(e):
    e.y = 2.0 * e.x


def derivatives(e):
    e.der.x = e.kept


def start(e):
    e.kept = e.u
    e.held_over = e.last_contact.start = e.last_contact.end = 0.0


def accept(e, host, step):
    if e.last_contact.end == 0.0:  # three contacts of one place end at one point
        for n in (1, 2, 3):
            if n > 1:
                host.keep(e.last_contact)
            e.last_contact.start, e.last_contact.end = n - 0.5, n
    return False


def sample(e, host, step):
    if e.u < 0.0:
        host.keep(e.last_contact)
    e.kept, e.held_over = e.u, host.held_over
    return True
""",
}


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return loaded(tmp_path_factory.mktemp("sampled"), "sampled", SAMPLED)


def test_initial_states_and_samples_are_those_of_element_py(sampled: Loaded) -> None:
    slave = sampled.slave({"a": 3.0})
    assert slave.get("x", "y") == [9.0, 18.0]
    assert slave.set({"u": 1.5}) == OK and slave.step(0.0, 0.5) == OK
    assert slave.get("y", "kept", "held_over") == pytest.approx([19.5, 1.5, 0.0], abs=1e-12)
    assert slave.step(0.5, 0.5) == OK
    assert slave.get("y", "held_over") == pytest.approx([21.0, 0.5], abs=1e-12)


def test_contacts_of_one_place_that_end_at_one_point_are_kept_as_they_were(sampled: Loaded) -> None:
    slave = sampled.slave({"a": 3.0})
    assert slave.step(0.0, 0.5) == OK
    found = []
    for back in range(4):
        assert slave.set_integer("contact_record.back", back) == OK
        found.append(slave.get("last_contact.start", "last_contact.end"))
    assert found == [[2.5, 3.0], [1.5, 2.0], [0.5, 1.0], [0.0, 0.0]]


def test_a_contact_is_kept_in_accept_alone(sampled: Loaded) -> None:
    slave = sampled.slave({"a": 3.0})
    assert slave.set({"u": -1.0}) == OK and slave.step(0.0, 0.5) == ERROR
    assert re.match(
        r"sampled/element\.py:\d+: RuntimeError: host.keep is for the function accept", slave.importer.texts[0]
    )
