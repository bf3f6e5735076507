"""two_d_point: the names and formulas of its origin, no power lost, what it is connected to, and the extension to large
angles."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from fmi2 import ERROR, Fmu, literal, load_shipped
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from running import Running, build

from fmu_builder import run
from fmu_builder.errors import InputError
from fmu_builder.model.loader import load_assembly

Vector = NDArray[np.float64]
EPSILON = 2.0**-52
TINY = 1e-300  # below the products of numbers that are worth measuring
VARIANTS = {"x": "TwoDPointX", "y": "TwoDPointY", "theta": "TwoDPointTheta", "xy": "TwoDPointXY"}
P_OUT = {f"P_out.F[{k}]": ("output", unit) for k, unit in ((1, "N"), (2, "N"), (3, "N.m"))}
P_OUT |= {f"P_out.v[{k}]": ("input", unit) for k, unit in ((1, "m/s"), (2, "m/s"), (3, "rad/s"))}
LINE = {"p_in.F": ("input", "N"), "p_in.v": ("output", "m/s")}
SHAFT = {"p_in.T": ("input", "N.m"), "p_in.omega": ("output", "rad/s")}
XP, YP, THETA = ({name: ("parameter", unit)} for name, unit in (("XP", "m"), ("YP", "m"), ("theta", "rad")))
moderate = st.floats(-100.0, 100.0)
offsets = st.floats(-10.0, 10.0)
angles = st.floats(-10.0, 10.0)


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Fmu]:
    """The FMUs of the catalogue by variant."""
    return {v: load_shipped(name, tmp_path_factory.mktemp(name)) for v, name in VARIANTS.items()}


@pytest.fixture(scope="module")
def turning(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Fmu]:
    """The variants for large angles."""
    return {
        v: build(
            tmp_path_factory.mktemp(f"large_{v}"),
            f"Large{v.upper()}",
            f'element = "two_d_point"\n[structure]\nvariant = "{v}"\nlarge_angle = true\n',
        )
        for v in ("x", "y", "xy")
    }


def row(variant: str, x: float, y: float, angle: float) -> Vector:
    """B: the velocity along the line is B v."""
    if variant == "theta":
        return np.array([0.0, 0.0, 1.0])
    angle = {"x": 0.0, "y": math.pi / 2, "xy": angle}[variant]
    cosine, sine = {"x": (1.0, 0.0), "y": (0.0, 1.0)}.get(variant, (math.cos(angle), math.sin(angle)))
    return np.array([cosine, sine, x * sine - y * cosine])


def start(variant: str, x: float, y: float, angle: float) -> dict[str, float]:
    known = {"x": ("YP",), "y": ("XP",), "xy": ("XP", "YP", "theta"), "theta": ()}[variant]
    return {name: value for name, value in (("XP", x), ("YP", y), ("theta", angle)) if name in known}


def ends(variant: str) -> tuple[str, str]:
    """Force and velocity of the port with one degree of freedom."""
    return ("p_in.T", "p_in.omega") if variant == "theta" else ("p_in.F", "p_in.v")


# ---- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("x", LINE | P_OUT | YP),
        ("y", LINE | P_OUT | XP),
        ("theta", SHAFT | P_OUT),
        ("xy", LINE | P_OUT | XP | YP | THETA),
    ],
)
def test_variables_are_those_of_the_origin_and_no_others(
    points: dict[str, Fmu], variant: str, expected: dict[str, tuple[str, str]]
) -> None:
    found = {v.name: (v.causality, v.unit) for v in points[variant].description.modelVariables if v.name != "time"}
    assert found == expected
    assert points[variant].description.numberOfContinuousStates == 0


# ---- the formulas ----------------------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(f=moderate, v=st.tuples(moderate, moderate, moderate), x=offsets, y=offsets, angle=angles)
@pytest.mark.parametrize("variant", VARIANTS)
def test_forces_and_velocities_are_those_of_the_origin(
    points: dict[str, Fmu], variant: str, f: float, v: tuple[float, float, float], x: float, y: float, angle: float
) -> None:
    force, velocity = ends(variant)
    running = Running(points[variant], start(variant, x, y, angle) | {force: f} | {"P_out.v": v})
    b = row(variant, x, y, angle)
    size = np.array([1.0, 1.0, abs(x) + abs(y) + 1.0])
    assert np.all(np.abs(running.vector("P_out.F") - b * f) <= 8 * EPSILON * size * abs(f) + TINY)
    assert abs(running[velocity] - b @ v) <= 8 * EPSILON * (size @ np.abs(v)) + TINY
    exact = {"x": (f, 0.0, -f * y), "y": (0.0, f, f * x), "theta": (0.0, 0.0, f)}  # no rounding but of the product
    if variant in exact:
        assert tuple(running.vector("P_out.F")) == exact[variant]
        assert running[velocity] == {"x": v[0] - y * v[2], "y": v[1] + x * v[2], "theta": v[2]}[variant]


@settings(max_examples=100, deadline=None)
@given(f=moderate, v=st.tuples(moderate, moderate, moderate), x=offsets, y=offsets, angle=angles)
@pytest.mark.parametrize("variant", VARIANTS)
def test_no_power_is_lost_but_by_rounding(
    points: dict[str, Fmu], variant: str, f: float, v: tuple[float, float, float], x: float, y: float, angle: float
) -> None:
    """p_in.F p_in.v = P_out.F . P_out.v: six products and their sums on either side, each rounded once."""
    force, velocity = ends(variant)
    running = Running(points[variant], start(variant, x, y, angle) | {force: f} | {"P_out.v": v})
    terms = abs(f) * (abs(v[0]) + abs(v[1]) + (abs(x) + abs(y) + 1.0) * abs(v[2]))
    assert abs(f * running[velocity] - running.vector("P_out.F") @ v) <= 8 * EPSILON * terms + TINY


@settings(max_examples=50, deadline=None)
@given(f=moderate, v=st.tuples(moderate, moderate, moderate), x=offsets, y=offsets)
def test_x_is_xy_at_0_and_y_is_xy_at_a_quarter_turn(
    points: dict[str, Fmu], f: float, v: tuple[float, float, float], x: float, y: float
) -> None:
    """X to the bit, for the offset that it does not have plays no part; Y but for cos(pi/2) = 6e-17 in its place."""
    names = ["p_in.v", "P_out.F[1]", "P_out.F[2]", "P_out.F[3]"]
    given_values = {"p_in.F": f, "P_out.v": v}
    inclined = Running(points["xy"], {"XP": x, "YP": y, "theta": 0.0, **given_values})
    assert list(inclined.values(names)) == list(Running(points["x"], {"YP": y, **given_values}).values(names))
    upright = Running(points["xy"], {"XP": x, "YP": y, "theta": math.pi / 2, **given_values}).values(names)
    along_y = Running(points["y"], {"XP": x, **given_values}).values(names)
    size = 1.0 + abs(x) + abs(y)
    assert np.all(np.abs(upright - along_y) <= 4 * EPSILON * size * np.array([np.abs(v).sum(), *[abs(f)] * 3]) + TINY)


@pytest.mark.parametrize("variant", VARIANTS)
def test_directional_derivatives_are_b_and_its_transpose(points: dict[str, Fmu], variant: str) -> None:
    running = Running(points[variant], start(variant, 0.3, -0.2, 0.7))
    force, velocity = ends(variant)
    speeds, forces = ([f"P_out.{name}[{k}]" for k in (1, 2, 3)] for name in "vF")
    b = np.array([running.directional([velocity], {name: 1.0})[0] for name in speeds])
    assert b == pytest.approx(row(variant, 0.3, -0.2, 0.7), abs=1e-15)
    assert running.directional(forces, {force: 1.0}) == pytest.approx(b, abs=1e-16)
    assert not running.directional(forces, dict.fromkeys(speeds, 1.0)).any()
    assert running.directional([velocity], {force: 1.0})[0] == 0.0


def test_an_offset_is_fixed_and_one_that_is_no_number_is_refused(points: dict[str, Fmu]) -> None:
    running = Running(points["xy"], {"XP": 0.3})
    assert running.slave.set({"XP": 0.4}) == ERROR
    assert "XP cannot be set after the initialization" in running.told[-1]
    slave = points["xy"].slave()
    assert slave.set({"YP": math.nan}) != 0
    assert any("YP" in text and "nan" in text.lower() for text in slave.importer.texts)


# ---- connections -----------------------------------------------------------------------------------------------------

WIRED = """
connections = [["body.P[1]", "point.P_out"], ["point.p_in", "spring.r"]]
[experiment]
stop = 1.0
step = 1e-3
[slaves]
body = {{ recipe = "TwoDBody", start = {{ J = 0.1, omega0 = 2.0 }} }}
point = "{point}"
spring = "RotationalSpring"
"""
FREQUENCY = 10.0  # sqrt(k/J), rad/s: 10 N.m/rad, 0.1 kg.m2


def wired(folder: Path, point: str) -> Path:
    literal("RotationalSpring", folder)
    path = folder / "wired.toml"
    path.write_text(WIRED.format(point=point), encoding="utf-8")
    return path


def test_a_shaft_is_connected_by_the_names_of_the_origin(tmp_path: Path) -> None:
    """In one FMU: theta = omega0/W sin(W t)."""
    head, _, rest = wired(tmp_path, "TwoDPointTheta").read_text("utf-8").partition("[experiment]")
    one = Running(build(tmp_path, "One", head + rest[rest.index("[slaves]") :].replace("slaves", "parts")))
    for k in range(1, 11):
        one.step(0.1)
        assert one["body.theta"] == pytest.approx(0.2 * math.sin(FREQUENCY * 0.1 * k), abs=1e-8)


@pytest.mark.parametrize(("algorithm", "steps_late"), [("gauss_seidel", 1), ("jacobi", 3)])
def test_a_point_between_slaves_makes_the_force_late(tmp_path: Path, algorithm: str, steps_late: int) -> None:
    """To rounding what the order of the calls says; so the amplitude grows by exp(late W^2 h t/2)."""
    path, h = wired(tmp_path, "TwoDPointTheta"), 1e-3
    path.write_text(path.read_text("utf-8").replace("step = 1e-3", f'step = {h}\nalgorithm = "{algorithm}"'), "utf-8")
    trace = run(path).trace
    w, seen, theta, acting = 2.0, 2.0, 0.0, 0.0  # speed of the body and at the point, angle of the spring, torque
    for n, (speed, angle) in enumerate(zip(trace["body.P[1].v[3]"], trace["spring.theta"], strict=True)):
        assert (speed, angle) == pytest.approx((w, theta), abs=1e-12), n
        before = w
        w += h / 0.1 * acting
        acting = -10.0 * theta
        theta += h * (w if algorithm == "gauss_seidel" else seen)
        seen = before
    size = np.log(np.hypot(trace["spring.theta"], trace["body.P[1].v[3]"] / FREQUENCY))
    growth = np.polyfit(trace.time, size, 1)[0]
    assert growth == pytest.approx(steps_late * FREQUENCY**2 * h / 2, rel=0.05)


@pytest.mark.parametrize("point", ["TwoDPointX", "TwoDPointY", "TwoDPointXY"])
def test_a_shaft_on_a_line_is_refused_with_both_ports_and_the_repair(tmp_path: Path, point: str) -> None:
    with pytest.raises(InputError) as caught:
        run(wired(tmp_path, point))
    (problem,) = caught.value.problems
    assert problem.what == (
        "point.p_in is a translational port, spring.r a rotational port: connect point.p_in to a translational port of "
        "a force element, spring.r to a rotational port of a body"
    )
    assert "connections [point.p_in, spring.r]" in problem.where


def test_the_theta_variant_on_a_translational_port_is_refused_in_an_assembly(tmp_path: Path) -> None:
    """The port of a mass on a line takes no torque, nor does that of a spring there."""
    (tmp_path / "elements" / "rope").mkdir(parents=True)
    (tmp_path / "elements" / "rope" / "element.toml").write_text(
        'description = "A rope"\n[ports.end]\nkind = "translational"\nside = "force"\ndescription = "Its end"\n',
        "utf-8",
    )
    (tmp_path / "Rope.toml").write_text('element = "rope"\n', encoding="utf-8")
    path = tmp_path / "Wrong.toml"
    path.write_text(
        'connections = [["point.p_in", "rope.end"]]\n[parts]\npoint = "TwoDPointTheta"\nrope = "Rope"\n', "utf-8"
    )
    with pytest.raises(InputError) as caught:
        load_assembly(path)
    assert [p.what for p in caught.value.problems] == [
        "point.p_in is a rotational port, rope.end a translational port: connect point.p_in to a rotational port of a "
        "force element, rope.end to a translational port of a body"
    ]


# ---- large angles ----------------------------------------------------------------------------------------------------


def turned(x: float, y: float, angle: float) -> Vector:
    return np.array([x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle)])


@settings(max_examples=40, deadline=None)
@given(
    r=st.tuples(moderate, moderate, angles), v=st.tuples(moderate, moderate, moderate), x=offsets, y=offsets,
    angle=angles, f=moderate,
)  # fmt: skip
@pytest.mark.parametrize("variant", ["x", "y", "xy"])
def test_an_offset_turns_with_the_body_and_the_line_does_not(
    turning: dict[str, Fmu],
    variant: str,
    r: tuple[float, float, float],
    v: tuple[float, float, float],
    x: float,
    y: float,
    angle: float,
    f: float,
) -> None:
    own = {"x": (0.0, y), "y": (x, 0.0), "xy": (x, y)}[variant]
    arm = turned(*own, r[2])
    b = row(variant, *arm, angle)
    values = {"p_in.F": f, "P_out.r": r, "P_out.v": v}
    running = Running(turning[variant], start(variant, x, y, angle) | values)
    size = 1.0 + abs(x) + abs(y)
    assert running.vector("P_out.F") == pytest.approx(b * f, abs=1e-14 * size * abs(f) + TINY)
    assert running["p_in.v"] == pytest.approx(b @ v, abs=1e-14 * size * np.abs(v).sum() + TINY)
    assert running["p_in.s"] == pytest.approx(b[:2] @ (np.array(r[:2]) + arm), abs=1e-13 * (size + np.abs(r).sum()))
    terms = abs(f) * size * np.abs(v).sum()
    assert abs(f * running["p_in.v"] - running.vector("P_out.F") @ v) <= 8 * EPSILON * terms + TINY


def test_at_the_angle_0_the_extension_changes_nothing(points: dict[str, Fmu], turning: dict[str, Fmu]) -> None:
    names = ["p_in.v", "P_out.F[1]", "P_out.F[2]", "P_out.F[3]"]
    for variant, fmu in turning.items():
        values = start(variant, 0.3, -0.2, 0.7) | {"p_in.F": 3.0, "P_out.v": (1.0, -2.0, 5.0)}
        assert list(Running(fmu, values).values(names)) == list(Running(points[variant], values).values(names))


@pytest.mark.parametrize("variant", ["x", "y", "xy"])
def test_the_velocity_is_the_derivative_of_the_position(turning: dict[str, Fmu], variant: str) -> None:
    """From the output derivatives: the FMU knows that r' = v."""
    values = start(variant, 0.3, -0.2, 0.7) | {"P_out.r": (0.1, 0.2, 1.1), "P_out.v": (1.0, -2.0, 5.0)}
    running = Running(turning[variant], values)
    running.step(1e-3)
    assert running.output_rates(["p_in.s"])[0] == pytest.approx(running["p_in.v"], rel=1e-14)


# ---- the page --------------------------------------------------------------------------------------------------------


def test_the_numbers_of_the_readme_are_right() -> None:
    text = " ".join((Path(__file__).parents[2] / "elements/two_d_point/README.md").read_text("utf-8").split())
    b = row("xy", 0.3, -0.1, math.radians(60.0))
    assert f"**B** = ({b[0]:.4g}, {b[1]:.4g}, {b[2]:.4g} m)" in text
    assert f"push with {10 * b[0]:.4g} N along x, {10 * b[1]:.4g} N along y and a torque of {10 * b[2]:.4g} N·m" in text
