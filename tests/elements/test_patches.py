"""Height fields and patches as surfaces of point_surface: motion, and what a recipe may say.

The closest points themselves: tests/contact_core/test_patch.py.  Derivatives, model exchange and FMI 3.0 over the
catalogue's PointRoad, PointSaddle and PuckOnRoad: tests/contact_core; the road against an independent integration:
fmus/systems/puck_glides_over_road.toml; edges and starts beside those of other kinds: test_surface_kinds.py,
test_surface_starts.py."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from running import Running, build
from scipy.special import ellipk

from fmu_builder import run
from fmu_builder.errors import InputError
from fmu_builder.model.loader import load_model
from fmu_builder.model.model import Model
from fmu_builder.model.patch_tables import MOST_HEIGHTS
from fmu_builder.model.scenario import read_scenario
from fmu_builder.paths import shipped

G = 9.81


def recipe(folder: Path, surface: str, rest: str = "", name: str = "Tip") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(f'element = "point_surface"\n{rest}\n[surface]\n{surface}', encoding="utf-8")
    return path


def loaded(folder: Path, surface: str) -> Model:
    return load_model(recipe(folder, surface))


# ---- motion ----------------------------------------------------------------------------------------------------------

FLAT = "kind = 'height_field'\nx = [-3, 3]\ny = [-3, 3]\nheights = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]\n"
PLANE = "kind = 'plane'\nx = [-3, 3]\ny = [-3, 3]\n"
DROPPED = """
connections = [
    ["body.point[1]", "floor.point[1]"], ["body.point[2]", "floor.point[2]"],
    ["body.point[3]", "floor.point[3]"], ["body.point[4]", "floor.point[4]"],
]
[experiment]
stop = "0.3 s"
step = "1 ms"
algorithm = "jacobi"
[slaves]
body = {{ recipe = "RigidBlock", start = {{ r0 = [0, 0, 0.14], q0 = [1, 0.03, 0.04, -0.015], v0 = [0.3, 0, 0] }} }}
floor = {{ recipe = "{floor}", start = {{ C_F = 1e5, C_r = 0.5, K_fr = 0.3 }} }}
"""


@pytest.mark.slow
def test_a_coupled_block_with_four_feet_moves_on_flat_heights_as_on_a_plane(tmp_path: Path) -> None:
    """With the coupling `auto`, inertia identified from all feet together, ledger, and friction by a bristle."""
    traces = []
    for name, surface in (("Heights", FLAT), ("Plane", PLANE)):
        floor = recipe(tmp_path, surface, "[structure]\npoints = 4\nbristle = true\n", name)
        path = tmp_path / f"on_{name}.toml"
        path.write_text(DROPPED.format(floor=floor.as_posix()), encoding="utf-8")
        traces.append(run(read_scenario(path)).trace)
    heights, plane = traces
    names = [n for n in plane.names if n.startswith("body.") or "force" in n or "energy" in n]
    assert any("normal_force[4]" in n for n in names)
    assert max(plane["floor.normal_force[1]"]) > 10.0
    for name in names:
        scale = float(np.ptp(plane[name])) or 1.0
        assert np.abs(heights[name] - plane[name]).max() <= 1e-9 * scale, name


BOWL, RADIUS, SWING = "kind = 'height_field'\nheights = 'bowl.csv'\n", 0.5, 0.3
BEAD = """
connections = [["bead.p", "bowl.point"]]
[parts]
bead = {{ recipe = "PointMass", start = {{ m = 1, r0 = {r}, v0 = {v} }} }}
bowl = {{ recipe = "{bowl}", start = {{ C_F = 1e5, C_r = 1, K_fr = 0 }} }}
[expose.outputs]
position = "bead.p.r"
velocity = "bead.p.v"
depth = "bowl.depth"
residual = "bowl.energy.residual"
"""


def bead_in_bowl(folder: Path, r: object, v: object) -> Running:
    """Heights of a hollow sphere of RADIUS, its lowest point at the origin, over a grid of 16 mm."""
    x = np.linspace(-0.4, 0.4, 51)
    points = [(a, b, RADIUS - math.sqrt(RADIUS**2 - min(a * a + b * b, 0.2))) for a in x for b in x]
    text = "x [m], y [m], z [m]\n" + "\n".join(f"{a!r}, {b!r}, {c!r}" for a, b, c in np.array(points).tolist())
    (folder / "bowl.csv").write_text(text, encoding="utf-8")
    bowl = recipe(folder, BOWL, name="Bowl")
    return Running(build(folder, "Bead", BEAD.format(r=r, v=v, bowl=bowl.as_posix())), tolerance=1e-10)


@pytest.mark.slow
def test_a_frictionless_bead_in_a_bowl_of_heights_keeps_its_energy_and_the_period_of_a_pendulum(tmp_path: Path) -> None:
    """Swings of 0.3 rad over some 40 lines of the grid each: the energy to 1e-6 of that of the swing.  Its period is
    that of a pendulum as long as the radius and the depth, m g/C_F, together; the depth varies by 0.1 of itself over
    the swing, 2e-5 of the length."""
    length = RADIUS + G / 1e5
    start = [length * math.sin(SWING), 0.0, RADIUS - length * math.cos(SWING)]
    running = bead_in_bowl(tmp_path, start, [0, 0, 0])
    period = 4.0 * math.sqrt(length / G) * float(ellipk(math.sin(SWING / 2) ** 2))
    crossings, energies, before = [], [], start[0]
    for _ in range(int(4.2 * period / 2e-3)):
        running.step(2e-3)
        (x, _, z), v = running.vector("position"), running.vector("velocity")
        energies.append(0.5 * v @ v + G * z + 0.5e5 * running["depth"] ** 2)
        if before > 0.0 >= x:
            crossings.append(running.time - x / v[0])
        before = x
    swing = G * (start[2] - (RADIUS - length))
    assert np.ptp(energies) <= 1e-6 * swing
    assert abs(running["residual"]) <= 1e-6 * swing
    assert len(crossings) == 4
    assert (crossings[-1] - crossings[0]) / 3 == pytest.approx(period, rel=2e-5)


@pytest.mark.slow
def test_a_point_on_either_side_of_heights_is_pushed_out_there(tmp_path: Path) -> None:
    """The road as a ceiling: side = "inside" turns depth, normal and force over."""
    for side, sign in (("outside", 1.0), ("inside", -1.0)):
        path = recipe(tmp_path, FLAT + f"side = '{side}'\n", "[structure]\ncoupling = false\n", name=side.title())
        running = Running(build(tmp_path, side.title(), path.read_text(encoding="utf-8")), {"C_F": 1e5})
        running.set({"point.r": (0.1, 0.2, -1e-3 * sign)})
        assert running["depth"] == pytest.approx(1e-3, abs=1e-16)
        assert list(running.vector("normal")) == [0.0, 0.0, sign]
        assert running["normal_force"] == pytest.approx(100.0, rel=1e-12)
        running.set({"point.r": (0.1, 0.2, 1e-3 * sign)})
        assert not running["in_contact"]


# ---- recipes ---------------------------------------------------------------------------------------------------------

ROWS = [
    [0.0, 0.25, 0.5, 0.0],
    [0.1, 1.0, 0.2, 0.3],
    [0.0, 0.4, 0.1, 0.6],
]  # 0 to 1 m, steps of 1/65535 but for rounding


def test_the_same_heights_from_points_rows_files_and_an_image(tmp_path: Path) -> None:
    x, y = np.linspace(0.0, 3.0, 4), np.linspace(0.0, 1.0, 3)
    points = [(a, b, ROWS[j][i]) for i, a in enumerate(x.tolist()) for j, b in enumerate(y.tolist())]
    (tmp_path / "points.csv").write_text(
        "x [m], y [mm], z [cm]\n" + "\n".join(f"{a}, {b * 1000}, {c * 100}" for a, b, c in reversed(points)), "utf-8"
    )
    (tmp_path / "rows.csv").write_text(
        "z [mm]\n" + "\n".join(", ".join(f"{z * 1e3}" for z in r) for r in ROWS), "utf-8"
    )
    grey = np.round(np.array(ROWS[::-1]) * 65535).astype(np.uint16)
    Image.fromarray(grey).save(tmp_path / "map.png")
    ends = "x = [0, 3]\ny = [0, '1 m']\n"
    kind = "kind = 'height_field'\nheights = "
    one, *others = (
        loaded(tmp_path, kind + keys).constants
        for keys in (f"{list(map(list, points))}\n", f"{ROWS}\n{ends}", "'points.csv'\n", f"'rows.csv'\n{ends}",
                     f"'map.png'\nrange = ['0 mm', '1 m']\n{ends}")
    )  # fmt: skip
    for k, other in enumerate(others):
        for a, b in zip(one, other, strict=True):
            assert a.name == b.name
            assert b.values == pytest.approx(a.values, abs=5e-5 if k == 3 else 1e-14), a.name


def test_the_limit_depth_of_heights_is_their_radius_of_curvature(tmp_path: Path) -> None:
    """z = x^2: 1/2 m at the bottom, on the side of the air; below it every point has one closest point."""
    heights = [[(k / 10) ** 2 for k in range(-10, 11)]] * 2
    surface = f"kind = 'height_field'\nx = [-1, 1]\ny = [-1, 1]\nheights = {heights}\n"
    assert loaded(tmp_path, surface + "side = 'inside'\n")["D_max"].max == pytest.approx(0.5, rel=1e-3)
    assert loaded(tmp_path, surface)["D_max"].max is None
    with pytest.raises(InputError, match="reach of the surface"):
        load_model(recipe(tmp_path, surface + "side = 'inside'\n[start]\nD_max = 0.6\n"))


FIELD = "kind = 'height_field'\n"
SPOTS = FIELD + "heights = "
GIVEN = SPOTS + f"{ROWS}\n"
NET = [[float(u), float(v), 0.0] for u in range(4) for v in range(4)]
MADE = f"kind = 'patch'\nsize = [4, 4]\ncontrol = {NET}\n"
FAULTS = [
    (FIELD, "heights", "this key is missing"),
    (GIVEN + "x = [0, 1]", "y", "is missing: rows of heights needs from and to"),
    (GIVEN + "x = [1, 0]\ny = [0, 1]", "x", "the second must be greater than the first"),
    (GIVEN + "x = [0, 1]\ny = [0, '1 s']", "y", "'1 s' has the dimension s but m is needed"),
    (GIVEN + "x = [0, 1]\ny = [0, 1]\nrange = [0, 1]", "range", "belongs to an image"),
    (SPOTS + "[[0, 1], [2]]\nx = [0, 1]\ny = [0, 1]", "heights", "must be a list of points of 2 quantities"),
    (SPOTS + "[[0, 1, 2]]\nx = [0, 1]\ny = [0, 1]", "heights", "1 along y: a bounded direction has at least 2"),
    (SPOTS + "[[0, 1], [2, 3]]\nx = [0, 1]\ny = [0, 1]\nperiodic = 'x'", "heights", "3 along x: a periodic direction"),
    (SPOTS + "[[0, 0, 0], [1, 0, nan], [0, 1, 0], [1, 1, 0]]", "heights", "nan"),
    (SPOTS + "[[0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 1, 0]]", "heights", "3 different x and 2 different y make"),
    (SPOTS + "[[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]]", "heights", "1 places have more than one"),
    (SPOTS + "[[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 1], [0, 1, 0], [1, 1, 0], [2, 1, 0], [3, 1, 0]]\nperiodic = 'x'",
     "heights", "differ by 1 m between the ends of x, at y = 0 m: periodic heights are equal there"),
    (SPOTS + "'none.csv'", "heights", "none.csv: cannot be read: No such file or directory"),
    (SPOTS + "'../road.csv'", "heights", "'../road.csv' lies outside the folder of the recipe"),
    (SPOTS + "'/road.csv'", "heights", "'/road.csv' lies outside the folder of the recipe"),
    (SPOTS + "'none.png'\nx = [0, 1]\ny = [0, 1]\nrange = [0, 1]", "heights", "none.png: cannot be read"),
    (SPOTS + "'colour.png'\nx = [0, 1]\ny = [0, 1]\nrange = [0, 1]", "heights", "mode RGB has colours"),
    (SPOTS + "'grey.png'\nx = [0, 1]\ny = [0, 1]", "range", "is missing: the heights of black and white"),
    (SPOTS + "'large.png'\nx = [0, 1]\ny = [0, 1]\nrange = [0, 1]", "heights", f"at most {MOST_HEIGHTS} are built"),
    (SPOTS + "'text.png'\nx = [0, 1]\ny = [0, 1]\nrange = [0, 1]", "heights", "is no PNG image that can be read"),
    (MADE + "periodic = 'u'", "periodic", "this key is unknown"),
    (MADE.replace("[4, 4]", "[4]"), "size", "[4] must be two whole numbers"),
    (MADE.replace("[4, 4]", "[4, 5]"), "control", "16 control points, and size = [4, 5] makes 20"),
    (MADE.replace("[4, 4]", "[3, 5]"), "size", "3 control points along u: degree 3 needs at least 4"),
    (MADE + "knots_u = [0, 0, 0, 0, 1, 1, 1]", "knots_u", "7 knots: 4 control points of degree 3 need 8"),
    (MADE + "knots_v = [0, 0, 1, 0, 1, 1, 1, 1]", "knots_v", "knot 4 = 0 is below knot 3 = 1: knots rise"),
    (MADE + "knots_v = [0, 0, 0, 0, 0, 1, 1, 1]", "knots_v", "the knots leave no span"),
    (MADE + "knots_u = [0, 0, 0, 0, 1, 1, 1, 1]\nclosed = 'u'", "knots_u", "a closed direction has uniform knots"),
    (MADE.replace("[0.0, 0.0, 0.0]", "[0.0, 0.0]"), "control", "must be a list of points of 3 quantities"),
    (f"kind = 'patch'\nsize = [4, 4]\ncontrol = {[[*p, 1.0] for p in NET[:15]] + [[3.0, 3.0, 0.0, 0.0]]}", "control",
     "point 16 has the weight 0: weights are greater than 0"),
    (f"kind = 'patch'\nsize = [4, 4]\ncontrol = {[[u, 0.0 if u == 0 else v, 0.0] for u, v, _ in NET]}", "control",
     "has no normal near (0, 0, 0) m"),
]  # fmt: skip


@pytest.mark.parametrize(("surface", "key", "words"), FAULTS)
def test_a_faulty_height_field_or_patch_is_refused_with_key_value_and_rule(
    tmp_path: Path, surface: str, key: str, words: str
) -> None:
    Image.new("RGB", (4, 4)).save(tmp_path / "colour.png")
    Image.new("L", (4, 4)).save(tmp_path / "grey.png")
    if "large" in surface:
        Image.new("L", (600, 600)).save(tmp_path / "large.png")
    (tmp_path / "text.png").write_text("x, y, z\n", encoding="utf-8")
    path = recipe(tmp_path, surface + "\n")
    with pytest.raises(InputError) as caught:
        load_model(path)
    (problem,) = caught.value.problems
    assert str(problem).startswith(f"{path}: [surface] {key}")
    assert words in str(problem)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", "", "must be a CSV file with a header"),
        ("x [m], y [m]\n0, 0\n", "line 1", "2 columns, 3 are needed"),
        ("x [m], y [m], z [kg]\n0, 0, 1\n", "line 1", "has the dimension kg but m is needed"),
        ("z [m]\n0, 1, 2\n3, 4\n", "line 3", "2 heights, and the line before has 3"),
        ("z [m]\n0, 1\n3, x\n", "line 3", "'x [m]' must start with a number"),
        ("z [s]\n0, 1\n3, 2\n", "line 1", "has the dimension s but m is needed"),
    ],
)
def test_a_faulty_file_of_heights_is_told_with_its_line(tmp_path: Path, text: str, line: str, words: str) -> None:
    (tmp_path / "road.csv").write_text(text, encoding="utf-8")
    ends = "x = [0, 1]\ny = [0, 1]\n" if text.startswith("z") else ""
    with pytest.raises(InputError) as caught:
        loaded(tmp_path, SPOTS + f"'road.csv'\n{ends}")
    (problem,) = caught.value.problems
    assert line in str(problem) and words in str(problem)


def test_all_faults_of_a_height_field_are_told_at_once(tmp_path: Path) -> None:
    surface = SPOTS + f"{ROWS}\nx = [1, 0]\nside = 'above'\nperiodic = 'z'\nperiod = 3\n"
    with pytest.raises(InputError) as caught:
        loaded(tmp_path, surface)
    assert {str(p).partition("[surface] ")[2].partition(":")[0] for p in caught.value.problems} >= {
        "side", "periodic", "period",
    }  # fmt: skip


def test_the_catalogue_has_one_of_each_kind() -> None:
    kinds = {
        load_model(shipped("fmus") / f"{name}.toml").recipe.choices["surface"] for name in ("PointRoad", "PointSaddle")
    }
    assert kinds == {"height_field", "patch"}
