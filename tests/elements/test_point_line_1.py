"""point_line_1: its law written anew with numpy, the ledger, and all that it shares with point_line_2."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from fmi2 import Fmu, load_literal
from line_reference import foot
from numpy.typing import NDArray
from running import Running, build
from scipy.integrate import quad
from scipy.spatial.transform import Rotation

from fmu_builder.errors import InputError
from fmu_builder.model.declaration_reader import read_declaration
from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import shipped

Vector = NDArray[np.float64]
EPS = 2.0**-52
LAW = {"k_r": 3e4, "normDamp": 40.0, "K_fr": 0.3, "k_T": 20.0}
SCALARS = ["delta", "F_r", "P", "friction_force", "v_long"]
CLAMP = """
element = "point_line_1"
[structure]
coupling = false
[line]
points = [[0, 0, 0], ["0.5 m", 0, 0], ["1 m", 0, 0]]
[sensors]
gap = "m"
[functions]
text = \"\"\"
scalar wall = 1e6[N/m];
function hold(d[m], gap[m]) = #d > #gap -> 2e4[N/m]*#d + wall*(#d - #gap), 2e4[N/m]*#d;
\"\"\"
f_r = "hold(#delta, #gap)"
F_fr = "0.2*#P*tanh(#v/10[mm/s])"
[start]
normDamp = 50
"sensor.gap" = "1 mm"
"point.r" = ["0.4 m", 0, 0]
"""


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    """A closed spline on one body."""
    return load_literal("PointLine1", tmp_path_factory.mktemp("ring"))


@pytest.fixture(scope="module")
def clamp(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    """A straight line with a law of the distance and of a sensor."""
    return build(tmp_path_factory.mktemp("clamp"), "Clamp", CLAMP)


@pytest.mark.parametrize("seed", range(6))
def test_the_force_is_that_of_the_law_on_a_moving_body(ring: Fmu, seed: int) -> None:
    source = np.random.default_rng(seed)
    points = np.array(read_toml(shipped("fmus") / "PointLine1.toml")["line"]["points"], float)  # type: ignore[index]
    a = source.uniform(0.0, 6.0)
    local = np.array([math.sin(a), 0.0, 1.0 - math.cos(a)]) + source.normal(size=3) * 0.02
    o, turn = source.normal(size=3), Rotation.random(rng=source)
    v_b, w_b, v_P, w_P = source.normal(size=(4, 3))
    P = o + turn.apply(local)
    values = {"body[1].r": o, "body[1].q": turn.as_quat(scalar_first=True), "body[1].v": v_b, "body[1].w": w_b}
    values |= {"point.r": P, "point.v": v_P, "point.w": w_P, "point.q": Rotation.random(rng=source).as_quat()}
    running = Running(ring, {**values, **LAW})

    F, t = foot(points, True, "spline", local)
    v = turn.inv().apply(v_P - v_b - np.cross(w_b, P - o))
    along = float(np.dot(v, t))
    full = -LAW["k_r"] * (local - F) - LAW["normDamp"] * (v - along * t)
    brake = LAW["K_fr"] * np.linalg.norm(full) * min(LAW["k_T"] * abs(along), 1.0)
    f = turn.apply(full - brake * np.sign(along) * t)
    delta = float(np.linalg.norm(local - F))
    np.testing.assert_allclose(running.vector("point.f"), f, rtol=1e-9, atol=1e-8)
    expected = [delta, LAW["k_r"] * delta, np.linalg.norm(full), brake, along]
    np.testing.assert_allclose(running.values(SCALARS), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(running.vector("body[1].f"), -f, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(running.vector("body[1].t"), -np.cross(P - o, f), rtol=1e-9, atol=1e-8)
    assert not running.vector("point.t").any()
    assert running["energy.elastic"] == pytest.approx(0.5 * LAW["k_r"] * delta**2, rel=1e-9)
    assert running["balance.moment"] <= 40 * EPS * np.linalg.norm(f) * (np.linalg.norm(P) + np.linalg.norm(o))


def test_a_law_pushes_towards_the_line_from_every_side(clamp: Fmu) -> None:
    for angle in np.linspace(0.0, 6.0, 9):
        for delta in (0.4e-3, 3e-3):
            d = delta * np.array([0.0, math.cos(angle), math.sin(angle)])
            running = Running(clamp, {"point.r": np.array([0.3, 0.0, 0.0]) + d, "point.v": (0.02, 0.0, 0.0)})
            force = 2e4 * delta + 1e6 * max(delta - 1e-3, 0.0)
            friction = 0.2 * force * math.tanh(2.0)
            expected = np.array([-friction, 0.0, 0.0]) - force * d / delta
            np.testing.assert_allclose(running.vector("point.f"), expected, rtol=1e-12, atol=1e-12)
            assert running["energy.elastic"] == pytest.approx(
                0.5 * 2e4 * delta**2 + 0.5 * 1e6 * max(delta - 1e-3, 0.0) ** 2, rel=1e-12
            )


def test_on_the_line_the_stiffness_is_the_slope_of_the_law(clamp: Fmu) -> None:
    running = Running(clamp)
    assert not running.vector("point.f").any()
    for name in ("point.r[2]", "point.r[3]"):
        slopes = running.directional(["point.f[1]", "point.f[2]", "point.f[3]"], {name: 1.0})
        np.testing.assert_allclose(slopes, [0.0, -2e4, 0.0] if name.endswith("[2]") else [0.0, 0.0, -2e4], rtol=1e-12)


def test_the_ledger_closes_through_the_line_past_the_kink_and_with_a_sensor(clamp: Fmu) -> None:
    """The point is drawn through the line from 2 mm to -2 mm while the clamp closes to 0.2 mm, turning and sliding."""
    running = Running(clamp, {"point.r": (0.3, 2e-3, 0.5e-3), "point.v": (0.1, -0.02, 0.0)})
    for step in range(20):
        running.rates({"point.r": (0.1, -0.02, 0.0), "sensor.gap": -4e-3})
        running.step(0.01)
        running.set(
            {
                "point.r": (0.3 + 1e-3 * (step + 1), 2e-3 - 2e-4 * (step + 1), 0.5e-3),
                "sensor.gap": 1e-3 - 4e-5 * (step + 1),
            }
        )

    def distance(t: float) -> float:
        return math.hypot(2e-3 - 0.02 * t, 0.5e-3)

    def wall(t: float) -> float:
        return 1e6 * max(distance(t) - (1e-3 - 4e-3 * t), 0.0)

    inside = [t for t in np.linspace(0.0, 0.2, 2001) if wall(t) == 0.0]
    done = quad(lambda t: 4e-3 * wall(t), 0.0, 0.2, points=[inside[0], inside[-1]], epsrel=1e-10, limit=400)[0]
    stored = 1e4 * distance(0.2) ** 2 + 0.5 * wall(0.2) ** 2 / 1e6
    assert running["energy.elastic"] == pytest.approx(stored, rel=1e-9)
    assert running["energy.sensors"] == pytest.approx(done, rel=1e-6)
    assert abs(running["energy.residual"]) < 1e-8 * stored
    assert running["energy.damping"] == pytest.approx(50.0 * 0.02**2 * 0.2, rel=1e-8)


def test_the_energy_at_an_end_is_booked(ring: Fmu, clamp: Fmu) -> None:
    running = Running(clamp, {"point.r": (0.9, 2e-3, 0.0)})
    stored = 0.5 * 2e4 * 4e-6 + 0.5 * 1e6 * 1e-6
    running.set({"point.r": (1.2, 2e-3, 0.0)})
    running.step(1e-3)
    assert (running["on"], running["delta"], running["P"], running["energy.elastic"]) == (0, 0.0, 0.0, 0.0)
    assert running["energy.switched"] == pytest.approx(stored, rel=1e-12)
    running = Running(ring, {"point.r": (0.0, 0.0, 0.01), "k_r": 1e5})
    running.set({"k_r": 3e5})
    running.step(1e-3)
    assert running["energy.switched"] == pytest.approx(-0.5 * 2e5 * 1e-4, rel=1e-6)


def test_everything_else_is_that_of_type_2() -> None:
    """What the declaration leaves out, and what it adds, and nothing else."""
    one, two = (read_declaration(shipped("elements") / f"point_line_{kind}") for kind in (1, 2))
    assert set(two.parameters) - set(one.parameters) == {"k_r1", "k_r2", "VectorFr1", "VectorFr2"}
    assert set(one.parameters) - set(two.parameters) == {"k_r"}
    assert set(two.structure) - set(one.structure) == {"consistent_moment", "fr2_args"}
    assert set(one.slots) == {"f_r", "F_fr", "normDamp"}
    assert one.parameters["K_fr"].replaced_by == ("F_fr",)
    assert one.indicators["full_friction"].when == {"F_fr": (False,)}
    (point,) = one.ports.values() if len(one.ports) == 1 else (one.ports["point"],)
    assert (point.kind, one.ports["body"].each) == ("frame", "bodies")
    assert "VectorFr1" not in str(one) and "k_r2" not in str(one) and "point.q" not in str(one)


def test_what_cannot_be_extended_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "elements" / "own"
    folder.mkdir(parents=True)
    (folder / "element.toml").write_text(
        'description = "x y z"\n[extends]\nelement = "point_line_2"\nwithout = ["k_r3"]\nrename = { a = "b" }\n',
        encoding="utf-8",
    )
    with pytest.raises(InputError, match="k_r3: there is no such entry to extend; did you mean") as caught:
        read_declaration(folder)
    assert "rename: this key is unknown" in str(caught.value)
