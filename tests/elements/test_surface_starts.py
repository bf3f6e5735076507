"""Where the points of point_surface start: off the surface on its free side, with one closest point."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from fmi2 import Fmu, load_shipped
from running import Running, build

from fmu_builder.model.loader import load_model
from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import catalogue, shipped

FLAT = ("plane", "disc")
ARC = [[round(math.cos(a), 6), round(math.sin(a), 6)] for a in np.linspace(-1.0, 1.0, 9)]
CURVED = {
    "sphere": "kind = 'sphere'\nradius = 0.2",
    "cylinder": "kind = 'cylinder'\nradius = 0.2\nlength = 0.5",
    "cone": "kind = 'cone'\nangle = '30 deg'\nz = [0.1, 0.5]",
    "wide cone": "kind = 'cone'\nangle = '85 deg'\nz = [0.1, 300]",
    "torus": "kind = 'torus'\nmajor_radius = 0.3\nminor_radius = 0.1",
    "turned corners": "kind = 'revolution'\nprofile = [[0.3, 0], [0.1, 0.2], [0.4, 0.4], [0.2, 0.5]]",
    "turned spline": f"kind = 'revolution'\nprofile = {ARC}\ncurve = 'spline'",
    "turned cap with a pole": "kind = 'revolution'\nprofile = [[0.2, 0], [0.1, 0.2], [0, 0.25]]\ncurve = 'spline'",
    "turned closed": "kind = 'revolution'\nprofile = [[0.2, 0], [0.4, 0], [0.4, 0.01], [0.2, 0.01], [0.2, 0]]",
    "extruded groove": "kind = 'extrusion'\nprofile = [[0, 0.3], [0.01, 0], [0.02, 0.3]]\nlength = 1",
    "extruded corner": "kind = 'extrusion'\nprofile = [[0, 0], [1, 0], [1, 1]]",
    "extruded spline": f"kind = 'extrusion'\nprofile = {ARC}\ncurve = 'spline'",
    "heights": "kind = 'height_field'\nx = [0, 1]\ny = [0, 1]\nheights = "
    "[[0, 0.2, 0, 0.1], [0.1, 0, 0.3, 0], [0, 0.1, 0, 0]]",
    "repeating heights": "kind = 'height_field'\nx = [0, 1]\ny = [0, 1]\nperiodic = 'both'\nheights = "
    "[[0, 0.02, 0, 0.01], [0.01, 0, 0.03, 0], [0, 0.01, 0, 0]]",
    "patch": "kind = 'patch'\nsize = [4, 4]\ncontrol = "
    f"{[[u, v, 0.3 * ((u - v) % 2)] for u in range(4) for v in range(4)]}",
    "tube": "kind = 'patch'\nsize = [4, 4]\nclosed = 'u'\ncontrol = "
    f"{[[x, y, v] for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1)) for v in range(4)]}",
    "extruded closed": "kind = 'extrusion'\nprofile = [[0, 0], [2, 0], [1, 1], [0, 2], [0, 0]]",
}
QUICK = (("sphere", "outside"), ("torus", "inside"), ("turned corners", "inside"))
AWAY = ((0.0, 0.0, 0.0), (-0.3, 0.2, 0.1), (0.0, -0.7, 0.3), (0.0, 0.0, 5.0))


def is_free_at_the_start(fmu: Fmu, flat: bool) -> None:
    """Not in contact, off a curved surface, with a unit normal that does not depend on where the point was before."""
    running = Running(fmu)
    for at in (name.removeprefix("distance") for name in fmu.references if name.startswith("distance")):
        parts = [f"normal[{at.strip('[]')},{k}]" if at else f"normal[{k}]" for k in (1, 2, 3)]
        start, normal = running.vector(f"point{at}.r"), running.values(parts)
        assert running[f"distance{at}"] == 0.0 if flat else running[f"distance{at}"] > 1e-3
        assert not running[f"in_contact{at}"]
        assert running[f"normal_force{at}"] == 0.0
        assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-15)
        assert flat or not running[f"singular{at}"]
        for place in AWAY:
            running.set({f"point{at}.r": place})
            running.values(parts)
            running.step(1e-3)
            running.set({f"point{at}.r": start})
            assert running.values(parts).tobytes() == normal.tobytes()


@pytest.mark.parametrize(
    ("name", "side"),
    [
        pytest.param(*case, marks=() if case in QUICK else pytest.mark.slow)
        for case in product(CURVED, ("outside", "inside"))
    ],
)
def test_points_start_off_every_kind_of_surface_on_its_free_side(tmp_path: Path, name: str, side: str) -> None:
    points = 2 if name == "sphere" else 1
    text = f'element = "point_surface"\n[structure]\ncoupling = false\npoints = {points}\n'
    text += f'[surface]\n{CURVED[name]}\nside = "{side}"\n'
    is_free_at_the_start(build(tmp_path, "Free", text), flat=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", [p.stem for p in catalogue() if read_toml(p).get("element") == "point_surface"])
def test_no_surface_of_the_catalogue_is_in_contact_at_its_default_inputs(name: str, tmp_path: Path) -> None:
    kind = read_toml(shipped("fmus") / f"{name}.toml").get("surface", {}).get("kind", "plane")
    is_free_at_the_start(load_shipped(name, tmp_path), kind in FLAT)


def starts(folder: Path, text: str) -> list[float | None]:
    path = folder / "Start.toml"
    path.write_text(f'element = "point_surface"\n{text}', encoding="utf-8")
    return [v.start for v in load_model(path).variables if v.name.startswith("point") and ".r[" in v.name]


def test_a_recipe_sets_the_start_of_the_points_itself(tmp_path: Path) -> None:
    ball = "[surface]\nkind = 'sphere'\nradius = '100 mm'\n[structure]\npoints = 2\n[start]\n"
    assert starts(tmp_path, ball) == [0.2, 0.0, 0.0] * 2
    assert starts(tmp_path, ball + "'point[2].r' = [0, 0, '300 mm']") == [0.2, 0.0, 0.0, 0.0, 0.0, 0.3]


@pytest.mark.parametrize("size", [1e-9, 1e300])
def test_the_start_is_as_far_off_as_the_surface_is_large_and_a_metre_at_most(tmp_path: Path, size: float) -> None:
    for side, farthest in (("outside", 2.0 * size), ("inside", 0.5 * size)):
        found = starts(tmp_path, f"[surface]\nkind = 'sphere'\nradius = {size}\nside = '{side}'\n")
        limit = size + 1.0 if side == "outside" else size - 1.0
        nearest = min(farthest, limit) if side == "outside" else max(farthest, limit)
        assert found == [pytest.approx(nearest, rel=1e-15), 0.0, 0.0]
