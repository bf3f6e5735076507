"""What README.md shows of its first floor, of its recipe with laws, and of the folders is so."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from fmu_builder.cosim.master import run
from fmu_builder.cosim.validation import find_cases
from fmu_builder.model.loader import load_model
from fmu_builder.model.model import ElementModel
from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import PACKAGE, catalogue, find_recipe

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def example(title: str) -> str:
    """The first block of TOML under a heading."""
    found = re.search(rf"^## {re.escape(title)}\n.*?```toml\n(.*?)```", README, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_the_readme_is_read_in_ten_minutes() -> None:
    words = [word for word in README.split() if re.search(r"[^\W_]", word)]  # code and tables too, without their lines
    assert len(words) <= 1500


def test_the_tables_of_folders_name_all_of_them() -> None:
    def folders(of: Path) -> set[str]:
        return {path.name for path in of.iterdir() if path.is_dir() and not path.name.startswith(("_", "."))}

    row = {name: text for name, text in re.findall(r"^\| `(\w+)/` \| (.*) \|$", README, re.MULTILINE)}
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert set(re.findall(r"`(\w+)`", row["fmu_builder"])) == packages
    assert {*row} - {"tests"} | set(re.findall(r"`(\w+)`", row["tests"])) == folders(ROOT / "tests")
    catalogue_page = (ROOT / "fmus" / "README.md").read_text(encoding="utf-8")
    assert {name for name in folders(ROOT / "fmus") if f"`{name}/`" not in catalogue_page} == set()


def test_the_pages_name_all_functions_of_an_element() -> None:
    waist = (ROOT / "contact_core" / "waist.h").read_text(encoding="utf-8")
    names = re.findall(r"^ \*   (\w+)  ", waist, re.MULTILINE)
    assert {"outputs", "rates", "initial", "sample", "check"} <= {*names}
    core = (ROOT / "contact_core" / "README.md").read_text(encoding="utf-8").partition("**The waist.**")[2]
    guide = (PACKAGE / "guide" / "elements.md").read_text(encoding="utf-8").partition("## The C side")[2]
    assert [name for name in names if f"`{name}`" not in core.partition("\n\n")[0]] == []
    assert [name for name in names if f"`{name}(e" not in guide.partition("\n\nThere is no loop")[0]] == []


def test_the_pages_give_one_cost_of_a_part_of_an_assembly() -> None:
    guide = (ROOT / "fmu_builder" / "guide" / "assemblies.md").read_text(encoding="utf-8")
    core = (ROOT / "contact_core" / "README.md").read_text(encoding="utf-8")
    (many, most) = re.findall(r"^\| an assembly of masses .* \| ([\d.]+) us; ([\d.]+) us \|$", core, re.MULTILINE)[0]
    assert f"takes {many} us in\nassemblies of up to 1,000 parts and {most} us in one of 10,000" in guide
    assert f"assembly in flight {many} us for each part" in README


def rebound(v_0: float, g: float) -> float:
    """Of 1 kg on F = C_F h (1 + d(h')), C_F = 1e5 N/m, against its weight; d of C_r = 0.5, k_E = 0.5, k_D = 100 s/m."""
    low, high = -0.75 * 0.5 / 0.625, 0.75 * 0.5 / 0.625

    def slope(_: float, y: np.ndarray) -> list[float]:
        return [y[1], g - 1e5 * y[0] * (1.0 + min(max(100.0 * y[1], low), high))]

    def over(_: float, y: np.ndarray) -> float:
        return float(y[0])

    over.terminal, over.direction = True, -1.0  # type: ignore[attr-defined]
    found = solve_ivp(slope, (0.0, 1.0), [0.0, v_0], events=over, rtol=1e-10, atol=1e-13, max_step=1e-4)
    return float(-found.y[1, -1])


@pytest.mark.parametrize(("g", "said"), [(9.81, (0.47, 0.34)), (0.0, (0.5, 0.5))])
def test_the_weight_takes_its_share_of_a_rebound(g: float, said: tuple[float, float]) -> None:
    for v_0, share in zip((1.4007, 0.2937), said, strict=True):
        assert rebound(v_0, g) / v_0 == pytest.approx(share, abs=0.005)


def test_the_first_floor_answers_as_its_law(tmp_path: Path) -> None:
    blocks = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    (tmp_path / "Floor.toml").write_text(blocks[0])
    (tmp_path / "drop.toml").write_text(blocks[1])
    done = run(tmp_path / "drop.toml")
    assert done.trace.events["floor.restitution[1]"] == pytest.approx(rebound(1.4007, 9.81) / 1.4007, rel=0.01)
    assert f"{done.trace.events['floor.restitution[1]']:.6g}" in README


def test_the_recipe_with_laws_has_nothing_to_warn_of(tmp_path: Path) -> None:
    path = tmp_path / "Rubber.toml"
    path.write_text(example("Laws of your own"))
    assert load_model(path).warnings() == ()


def test_recipes_and_cases_of_the_five_sources_are_there() -> None:
    rows = re.findall(r"^\| [^|]* \| \[[^|]* \| (?P<recipes>[^|]*) \| `(?P<case>\w+)` \|", README, re.MULTILINE)
    assert len(rows) == 5
    for recipes, case in rows:
        assert find_cases([case])
        for recipe in recipes.removesuffix(", ...").split(", "):
            assert find_recipe(recipe)


def test_floors_that_start_otherwise_than_the_element_say_so() -> None:
    for path in catalogue():
        if read_toml(path).get("element") != "point_surface":
            continue
        model = load_model(path)
        assert isinstance(model, ElementModel)
        for name, word in (("C_r", "restitution"), ("K_fr", "friction")):
            if name in model and model[name].start != model.element.parameters[name].start:
                assert f"{word} {model[name].start:g}" in model.description, path
