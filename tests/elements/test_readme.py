"""The texts and pictures of the elements say what the code does, and are as fresh as it."""

from __future__ import annotations

import math
import re
import struct
import zipfile
from pathlib import Path

import pytest
from fmi2 import literal
from scipy.integrate import solve_ivp

from fmu_builder import run
from fmu_builder.errors import InputError
from fmu_builder.export.documentation import icon_file, markdown, theory, variable_rows
from fmu_builder.export.element_docs import default_model, generated, with_sections
from fmu_builder.export.fmu import build_fmu
from fmu_builder.model.declaration_reader import is_core_variable
from fmu_builder.model.element_model import build_model
from fmu_builder.model.loader import load_model
from fmu_builder.model.recipe import read_recipe
from fmu_builder.paths import load_module, shipped, shipped_elements
from fmu_builder.units import quantity

ELEMENTS = shipped("elements")
POINT_SURFACE = ELEMENTS / "point_surface"
G = 9.81


draw = load_module(ELEMENTS / "draw.py")
of_point_surface = load_module(POINT_SURFACE / "pictures.py")


CURVED = "sphere, cylinder, cone, torus, revolution, extrusion, height_field, patch, mesh"


def _lines() -> str:
    return (POINT_SURFACE / "README.md").read_text(encoding="utf-8")


def _readme(folder: Path = POINT_SURFACE) -> str:
    """The README with every run of white space as one blank, so that line ends do not matter."""
    return " ".join((folder / "README.md").read_text(encoding="utf-8").split())


# ---- generated parts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", generated(), ids=lambda path: path.parent.name)
def test_generated_documentation_is_that_of_the_declarations(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == generated()[path](), f"{path}: run python -m fmu_builder.export.element_docs"


@pytest.mark.parametrize("folder", shipped_elements(), ids=lambda folder: folder.name)
def test_every_visible_variable_is_in_the_table_with_its_description(folder: Path) -> None:
    table = (folder / "README.md").read_text(encoding="utf-8")  # which shows the declaration: see above
    table = table.partition("<!-- variables -->")[2].partition("<!-- end -->")[0]
    for v in default_model(folder).variables:
        if not v.hidden and v.kind not in ("time", "derivative"):
            shown = v.name.replace("|", r"\|")  # which would end the cell
            name = re.sub(r"\[\d+\]$", "[1..", shown)
            assert (f"`{name}" in table or f"`{shown}`" in table) and v.description in table, v.name


def test_the_points_of_one_vector_share_a_row_but_vectors_of_different_points_do_not(tmp_path: Path) -> None:
    recipe = tmp_path / "Two.toml"
    recipe.write_text(
        'element = "point_surface"\n[surface]\nkind = "plane"\n[structure]\npoints = 2\n', encoding="utf-8"
    )
    names = [row.name for row in variable_rows(build_model(read_recipe(recipe)).variables)]
    for name in (
        "point[1].r[1..3]",
        "point[2].r[1..3]",
        "depth[1..2]",
        "normal[1,1..3]",
        "normal[2,1..3]",
        "surface.q[1..4]",
    ):
        assert names.count(name) == 1, name


def test_components_with_different_starts_are_listed_one_by_one() -> None:
    rows = {row.name: row for row in variable_rows(default_model(ELEMENTS / "point_mass").variables)}
    assert rows["g[1..3]"].start == "(0, 0, -9.81)" and rows["g[1..3]"].unit == "m/s2"
    assert rows["v0[1..3]"].start == "0"
    assert rows["m"].range == "> 0"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e6, "1e6"),
        (1.5e5, "1.5e5"),
        (123456.0, "123456"),
        (99999.0, "99999"),
        (100.0, "100"),
        (-9.81, "-9.81"),
        (-0.0, "0"),
        (1e-4, "0.0001"),
        (2.5e-7, "2.5e-7"),
        (1e300, "1e300"),
        (math.inf, "inf"),
    ],
)
def test_numbers_are_written_as_people_do(value: float, text: str) -> None:
    assert quantity(value) == text


def test_a_section_that_is_missing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text("# x\n<!-- variables -->\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"<!-- variables -->.*<!-- end -->"):
        with_sections(path, {"variables": lambda: "text"})


def test_a_section_is_replaced_and_all_else_kept(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text("a\n<!-- one -->\nold\n<!-- end -->\nb\n<!-- two -->\n<!-- end -->\n", encoding="utf-8")
    text = with_sections(path, {"one": lambda: r"new \1"})
    assert text == "a\n<!-- one -->\n\nnew \\1\n\n<!-- end -->\nb\n<!-- two -->\n<!-- end -->\n"


# ---- numbers of the text -----------------------------------------------------------------------------------------


def test_the_restitution_table_is_that_of_the_closed_form() -> None:
    text = (POINT_SURFACE / "README.md").read_text(encoding="utf-8")
    assert of_point_surface.restitution_table() in text, "run python elements/draw.py"


def _integrated_restitution(c_r: float, x: float) -> float:
    """Rebound over impact speed of m h'' = -k h (1 + d(h')), m = k = v0 = 1, k_D = x, k_E = 0.5."""
    delta = 0.5 + 0.5 * c_r**2
    limit = 0.5 * (1 - c_r**2) / delta

    def motion(_: float, y: list[float]) -> list[float]:
        return [y[1], -y[0] * (1 + max(-limit, min(limit, x * y[1])))]

    def surface(_: float, y: list[float]) -> float:
        return y[0] + 1e-14

    surface.terminal, surface.direction = True, -1.0  # type: ignore[attr-defined]
    end = solve_ivp(motion, (0.0, 100.0), [0.0, 1.0], method="DOP853", rtol=1e-10, atol=1e-13, events=surface)
    return float(-end.y[1, -1])


@pytest.mark.parametrize("c_r", of_point_surface.RESTITUTIONS[1:])
def test_the_restitution_table_agrees_with_integrated_impacts(c_r: float) -> None:
    text = (POINT_SURFACE / "README.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| \*\*{c_r:g}\*\* \|(.*)\|$", text, re.MULTILINE)
    assert row is not None
    for x, printed in zip(of_point_surface.SPEEDS, row[1].split("|"), strict=True):
        # half a unit of the fourth digit, and what an integrator does at the kinks of d
        assert float(printed) == pytest.approx(_integrated_restitution(c_r, x), abs=0.6e-4), f"k_D v0 = {x}"


def test_a_plastic_contact_returns_less_than_one_over_k_d() -> None:
    for x in of_point_surface.SPEEDS:
        assert of_point_surface.restitution()(0.0, x) * x < 1.0


def test_the_worked_examples_are_computed_right() -> None:
    text = _readme()
    e = of_point_surface.restitution()
    assert f"e = {e(0.5, 10.0):.4f}. At 20 mm/s, k_D v0 = 2, it is e = {e(0.5, 2.0):.4f}" in text
    assert f"at 1 mm/s, k_D v0 = 0.1, it is e = {e(0.5, 0.1):.4f}" in text
    assert e(0.5, 5.0) < 0.505 < e(0.5, 4.0)  # "within 1 % ... k_D >= 5/v"
    delta = 1 - 0.5 + 0.25 * 0.5
    h_max, f_max = math.sqrt(delta / 1e5), math.sqrt(1e5 / delta)
    t_c = math.pi / 2 * math.sqrt(delta / 1e5) * (1 + 1 / 0.5)
    assert f"h_max = {h_max * 1e3:.1f} mm, F_max = {f_max:.0f} N, t_c = {t_c * 1e3:.1f} ms" in text
    assert f"{G * 100 * math.sqrt(1e-6) / 2:.2f} for 1 kg, 1e6 N/m" in text
    creep = math.tan(math.radians(10)) / (0.3 * 100)
    assert f"v = {creep * 1e3:.2f} mm/s; with 1000 s/m {creep * 1e2:.3f} mm/s" in text


def test_the_steps_per_contact_keep_the_promised_one_per_cent() -> None:
    text = _readme()
    for name, lag, promised in (("Gauss-Seidel", 1, 248), ("Jacobi", 3, 744)):
        assert math.ceil(lag * math.pi**2 / 4 / math.log(1.01)) == promised
        assert re.search(rf"{name} exp\({lag if lag > 1 else ''}π²/\(4N\)\) 1 % needs N ≥ {promised}", text)
    omega = math.sqrt(1e5)
    assert f"ω = {omega:.0f} rad/s and a contact of {math.pi / omega * 1e3:.2f} ms" in text
    assert (
        f"{math.pi / omega / 248 * 1e6:.0f} µs with Gauss-Seidel and {math.pi / omega / 744 * 1e6:.0f} µs with Jacobi"
        in text
    )
    n = math.pi / omega / 1e-4
    late = [100 * math.expm1(lag * math.pi**2 / 4 / n) for lag in (1, 3)]
    assert f"rebound is {late[0]:.1f} % or {late[1]:.1f} % too fast" in text


def _speed_after(step: float, late: bool) -> float:
    """Speed of a unit mass that hits a spring, ω = 1, at speed 1 while its force is held over each step."""
    x, v, returned = -0.37 * step, 1.0, 0.0
    while x >= 0 or v > 0:
        now = max(x, 0.0)
        held = returned if late else now
        returned = now
        x, v = x + v * step - held * step**2 / 2, v - held * step
    return -v


@pytest.mark.parametrize("n", [31, 63, 248, 744])
def test_a_held_force_multiplies_the_rebound_as_the_readme_says(n: int) -> None:
    for late, lag in ((False, 1), (True, 3)):
        first_order = lag * math.pi**2 / 4 / n
        assert math.log(_speed_after(math.pi / n, late)) == pytest.approx(first_order, rel=0.2 * first_order + 0.01)


def _settles(step: float, late: bool, stiffness: float) -> bool:
    """Whether a mass of 1 kg, disturbed by 0.1 % of its static depth, comes to rest with the default k_D."""
    weight = G
    depth = weight / stiffness
    x, v, returned = 1.001 * depth, 0.0, weight
    for _ in range(4000):
        now = stiffness * max(x, 0.0) * (1 + max(-1.0, min(1.0, 100.0 * v)))
        held = returned if late else now
        returned = now
        a = G - held
        x, v = x + v * step + a * step**2 / 2, v + a * step
    return abs(x - depth) < 1e-3 * depth


@pytest.mark.parametrize("stiffness", [1e5, 1e6, 1e7])
def test_a_resting_body_settles_below_the_stated_step_only(stiffness: float) -> None:
    assert "step < 2 min(k_D m g / C_F, 1/(k_D g)) Gauss-Seidel; 0.24 of it for Jacobi" in _readme()
    limit = 2 * min(100 * G / stiffness, 1 / (100 * G))
    assert _settles(0.95 * limit, False, stiffness) and _settles(0.95 * 0.24 * limit, True, stiffness)
    assert not _settles(1.1 * limit, False, stiffness) and not _settles(1.1 * limit, True, stiffness)
    if stiffness == 1e6:
        friction = 2 / (0.3 * 100 * G)
        stated = (limit, 0.24 * limit, friction, friction / 2)
        text = "{:.2f} ms and {:.2f} ms at rest, {:.1f} ms and {:.1f} ms for friction".format(
            *(1e3 * s for s in stated)
        )
        assert text in _readme()


def test_the_energy_a_held_force_makes_shows_in_the_sum_over_all_elements(tmp_path: Path) -> None:
    literal("PointSurface", tmp_path)
    path = tmp_path / "impact.toml"
    path.write_text(
        """
connections = [["body.p", "floor.point"]]
[experiment]
stop = "30 ms"
step = "0.1 ms"
algorithm = "jacobi"
[slaves]
body = { recipe = "PointMass", start = { r0 = [0, 0, "0.037 mm"], v0 = [0, 0, -1], g = [0, 0, 0] } }
floor = { recipe = "PointSurface", start = { C_F = "1e5 N/m", C_r = 0.5, K_fr = 0 } }
""",
        encoding="utf-8",
    )
    trace = run(path).trace
    last = dict(zip(trace.names, trace.values[-1], strict=True))
    lost, work = 0.5 - last["body.energy.kinetic"], last["floor.energy.work"]
    rebound, residual = last["body.p.v[3]"], last["floor.energy.residual"]
    text = _readme()
    assert (
        f"The body loses {lost:.3f} J, `energy.work` is {work:.3f} J, so the coupling made {work - lost:.3f} J" in text
    )
    assert f"the rebound is {rebound:.3f} m/s instead of {of_point_surface.restitution()(0.5, 100.0):.3f} m/s" in text
    assert abs(residual) < 2e-5 and "`energy.residual` is 1e-5 J" in text


@pytest.mark.parametrize(
    ("recipe", "stop", "text", "counts"),
    [
        (
            "BouncingBall",
            2.0,
            shipped("contact_core"),
            "{steps:g} substeps, {events:g} events, {evaluations:g} evaluations",
        ),
        ("CamChainConcave", 1.5, ELEMENTS / "planar_mechanism", "right-hand side | {steps:g}, {evaluations:g} |"),
    ],
)
def test_the_work_of_the_solver_is_as_the_texts_say(recipe: str, stop: float, text: Path, counts: str) -> None:
    trace = run(recipe, step=stop, stop=stop).trace
    last = {name.rpartition("solver.")[2]: value for name, value in zip(trace.names, trace.values[-1], strict=True)}
    assert counts.format(**last) in _readme(text)


@pytest.mark.slow
@pytest.mark.usefixtures("optimized")
def test_the_libraries_with_and_without_coupling_are_as_large_as_the_readme_says(tmp_path: Path) -> None:
    said = re.search(r"x86-64 grows from (\d+) kB to (\d+) kB, with four points from (\d+) kB to (\d+) kB", _readme())
    assert said is not None
    structures = ("coupling = false", "", "points = 4\ncoupling = false", "points = 4")
    for number, (structure, size) in enumerate(zip(structures, said.groups(), strict=True)):
        recipe = tmp_path / f"Floor{number}.toml"
        recipe.write_text(f'element = "point_surface"\n[surface]\nkind = "plane"\n[structure]\n{structure}\n')
        with zipfile.ZipFile(build_fmu(recipe, tmp_path, ("linux64",)).path) as fmu:
            library = len(fmu.read(f"binaries/linux64/{recipe.stem}.so"))
        assert library / 1000 == pytest.approx(float(size), rel=0.03), structure


def test_every_log_message_of_the_element_is_explained() -> None:
    files = [POINT_SURFACE / "element.c", *POINT_SURFACE.glob("*/*.h")]
    source = "".join(path.read_text(encoding="utf-8") for path in files)
    calls = re.findall(r'cc_report\(host, \w+, "\w+",\s+((?:"[^"]*"\s*)+)', source)
    assert len(calls) == source.count("cc_report(") > 0
    text = _readme()
    for call in calls:
        message = "".join(re.findall(r'"([^"]*)"', call))
        assert re.sub(r"%(g|s|\.3g)", "…", message.replace("%d", "1")) in text


def test_defaults_in_the_text_are_those_of_the_declaration() -> None:
    text = (POINT_SURFACE / "README.md").read_text(encoding="utf-8").replace("&nbsp;", " ")
    written = dict(re.findall(r"^\| `(\w+)` \| (\S+)(?: [^|]*)? \| [A-Z]", text, re.MULTILINE))
    declared = default_model(POINT_SURFACE).by_kind("tunable")
    tunable = {v.name: v.start for v in declared if not is_core_variable(v.name)}
    assert {name: float(value) for name, value in written.items()} == tunable


@pytest.mark.parametrize(
    ("name", "condition"),
    [
        ("singular", f"`surface.kind` = {CURVED}"),  # with a bristle and a law F_slip too: three changes
        ("deflection[1..3]", f"`surface.kind` = {CURVED}; `bristle` = true"),  # excludes a law F_fr, which goes unsaid
        ("clipped_count", "`allow_adhesion` = false; a law `F_d`"),
        ("c_B", "`bristle` = true"),
        ("depth", ""),
    ],
)
def test_the_table_tells_the_choices_that_a_variable_needs_and_no_others(name: str, condition: str) -> None:
    rows = re.findall(rf"^\| `{re.escape(name)}` \|.*\| (.*?) ?\|$", _lines(), re.MULTILINE)
    assert rows == [condition]


# ---- pictures ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", shipped_elements(), ids=lambda folder: folder.name)
def test_every_picture_is_what_the_script_draws(folder: Path) -> None:
    pictures = draw.pictures(folder)
    assert "drawing.svg" in pictures
    for name, picture in pictures.items():
        committed = (folder / name).read_text(encoding="utf-8")
        assert committed == picture(), f"{folder.name}/{name}: run python elements/draw.py"
        assert len(committed) < 50_000


def source_hash(png: bytes) -> str:
    """The hash of the SVG that a PNG of draw.py was made from, empty if it carries none."""
    position = len(draw.PNG_SIGNATURE)
    while position + 8 <= len(png):
        (length,) = struct.unpack(">I", png[position : position + 4])
        data = png[position + 8 : position + 8 + length]
        if png[position + 4 : position + 8] == b"tEXt" and data.startswith(draw.HASH_KEYWORD + b"\0"):
            return data[len(draw.HASH_KEYWORD) + 1 :].decode("ascii")
        position += 12 + length
    return ""


@pytest.mark.parametrize("folder", shipped_elements(), ids=lambda folder: folder.name)
def test_every_icon_was_made_from_the_svg_of_the_script(folder: Path) -> None:
    assert {path.name for path in folder.glob("model*.png")} == draw.icons(folder).keys()
    for name, picture in draw.icons(folder).items():
        png = (folder / name).read_bytes()
        assert source_hash(png) == draw.svg_hash(picture()), f"{folder.name}/{name}: run python elements/draw.py --png"
        assert (folder / name).with_suffix(".svg").read_text(encoding="utf-8") == picture(), (
            f"{folder.name}/{name}: run python elements/draw.py"
        )
        assert struct.unpack(">II", png[16:24]) == (draw.ICON_SIZE, draw.ICON_SIZE)
        assert len(png) < 50_000


def test_each_variant_of_a_point_has_an_icon_of_its_kind() -> None:
    names = ("TwoDPointX", "TwoDPointY", "TwoDPointTheta", "TwoDPointXY")
    icons = [icon_file(load_model(shipped("fmus") / f"{name}.toml")) for name in names]
    assert len({icon.read_bytes() for icon in icons if icon is not None}) == 4


@pytest.mark.parametrize("folder", shipped_elements(), ids=lambda folder: folder.name)
def test_every_readme_shows_the_drawing(folder: Path) -> None:
    assert "](drawing.svg)" in (folder / "README.md").read_text(encoding="utf-8")


# ---- the page in the FMU -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", shipped_elements(), ids=lambda folder: folder.name)
def test_the_page_in_the_fmu_stands_alone(folder: Path) -> None:
    page = markdown(theory(folder), folder)
    links = re.findall(r'(?:src|href)="([^"]{0,30})', page)
    assert links and all(link.startswith("data:image/") for link in links), links
    assert page.count("<img") == (folder / "README.md").read_text(encoding="utf-8").count("![")
    assert "<h1>" not in page and "<h2>" in page
    assert "energy.potential</code></td>" not in page and "<!-- variables" not in page  # the FMU's own table has them


def test_a_picture_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    text = "![a](missing.svg) ![b](https://example.org/b.png) ![c](notes.txt)"
    (tmp_path / "notes.txt").write_text("c", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        markdown(text, tmp_path)
    assert [problem.where.rsplit(" ", 1)[1] for problem in caught.value.problems] == [
        "missing.svg",
        "https://example.org/b.png",
        "notes.txt",
    ]
