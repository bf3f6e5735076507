"""point_line_2 with laws of the user's and sensors: a trolley on a guide of variable width."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from fmi2 import Fmu
from running import Running, build
from scipy.integrate import quad

from fmu_builder.errors import InputError
from fmu_builder.model.loader import load_model

TROLLEY = """
element = "point_line_2"
[structure]
coupling = false
[line]
points = [[0, 0, 0], ["0.5 m", 0, 0], ["1 m", 0, 0]]
[sensors]
width = "m"
load = "N"
[functions]
text = \"\"\"
scalar soft = 20[N/mm];
function side(delta[m], width[m]) = #delta > 0.5*#width -> 1e3[N/mm]*(#delta - 0.5*#width) + soft*#delta, soft*#delta;
\"\"\"
f_r1 = "side(#delta, #width)"
f_r2 = "1e5[N/m]*#delta + 1e9[N/m^3]*#delta^3"
F_fr2 = "(0.1*abs(#P1) + 0.2*abs(#P2) + 0.05*#load)*tanh(#v/10[mm/s])"
normDamp = "30[N*s/m]*#v + 5[N*s^2/m^2]*#v^2"
[start]
"sensor.width" = "2 mm"
"sensor.load" = "10 N"
"point.r" = ["0.4 m", 0, 0]
"""


@pytest.fixture(scope="module")
def trolley(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("trolley"), "Trolley", TROLLEY)


def law(r: np.ndarray, v: np.ndarray, width: float, load: float) -> dict[str, float]:
    """Forces on a rail along x: V1 = y, V2 = z."""
    _, a, b = r
    f1 = 2e4 * a + (1e6 * (a - width / 2) if a > width / 2 else 0.0)
    f2 = 1e5 * b + 1e9 * b**3
    speed = math.hypot(v[1], v[2])
    damping = (30.0 * speed + 5.0 * speed**2) / speed
    p1, p2 = f1 + damping * v[1], f2 + damping * v[2]
    friction = (0.1 * abs(p1) + 0.2 * abs(p2) + 0.05 * load) * math.tanh(abs(v[0]) / 0.01)
    return {
        "delta1": a, "delta2": b, "F_r1": f1, "F_r2": f2, "P1": p1, "P2": p2, "friction_force": friction,
        "point.f[1]": -math.copysign(friction, v[0]), "point.f[2]": -p1, "point.f[3]": -p2,
    }  # fmt: skip


def test_laws_take_their_arguments_in_order_and_the_sensors_behind_them(trolley: Fmu) -> None:
    source = np.random.default_rng(3)
    running = Running(trolley)
    for width, load in ((2e-3, 10.0), (0.5e-3, 400.0), (6e-3, 0.0)):
        for _ in range(10):
            r = np.array([source.uniform(0.1, 0.9), *source.normal(size=2) * 2e-3])
            v = source.normal(size=3) * np.array([0.02, 0.3, 0.3])
            running.set({"point.r": r, "point.v": v, "sensor.width": width, "sensor.load": load})
            expected = law(r, v, width, load)
            np.testing.assert_allclose(running.values(list(expected)), list(expected.values()), rtol=1e-10, atol=1e-12)


def test_derivatives_are_those_of_the_laws(trolley: Fmu) -> None:
    r, v = np.array([0.3, 2e-3, -1e-3]), np.array([0.005, 0.1, 0.2])
    running = Running(trolley, {"point.r": r, "point.v": v})
    unknowns = ["point.f[1]", "point.f[2]", "point.f[3]"]
    for name, k in (("point.r[2]", 1), ("point.r[3]", 2)):
        h = 1e-7 * np.eye(3)[k]
        ahead, behind = law(r + h, v, 2e-3, 10.0), law(r - h, v, 2e-3, 10.0)
        slope = [(ahead[u] - behind[u]) / 2e-7 for u in unknowns]
        np.testing.assert_allclose(running.directional(unknowns, {name: 1.0}), slope, rtol=1e-6, atol=1e-3)
    exact = running.directional(unknowns, {"sensor.width": 1.0})
    assert exact[1] == pytest.approx(0.5e6, rel=1e-12)  # a wider guide pushes less
    assert running.directional(["friction_force"], {"sensor.load": 1.0})[0] == pytest.approx(
        0.05 * math.tanh(0.5), rel=1e-12
    )
    assert running.directional(["F_r1"], {"sensor.load": 1.0})[0] == 0.0


def test_at_rest_there_is_neither_damping_nor_friction_but_their_slopes(trolley: Fmu) -> None:
    running = Running(trolley, {"point.r": (0.3, 0.5e-3, 0.0)})
    assert running["point.f[1]"] == 0.0
    slopes = running.directional(["point.f[1]", "point.f[2]"], {"point.v[1]": 1.0})
    assert slopes[0] == pytest.approx(-(0.1 * 10.0 + 0.5) / 0.01, rel=1e-12)
    assert running.directional(["point.f[2]"], {"point.v[2]": 1.0})[0] == pytest.approx(-30.0, rel=1e-12)


def test_energy_of_a_law_is_the_integral_of_its_force(trolley: Fmu) -> None:
    """Pushed 3 mm aside at 30 mm/s: U = soft d^2/2 + 1e6 N/m (d - w/2)^2/2, with the kink located."""
    running = Running(trolley, {"point.v": (0.0, 0.03, 0.0)})
    running.rates({"point.r": (0.0, 0.03, 0.0)})
    running.step(0.1)
    stored = 0.5 * 2e4 * 3e-3**2 + 0.5 * 1e6 * 2e-3**2
    assert running["energy.elastic"] == pytest.approx(stored, rel=1e-8)
    assert running["energy.damping"] == pytest.approx((30.0 * 0.03 + 5.0 * 0.03**2) * 3e-3, rel=1e-8)
    assert abs(running["energy.residual"]) < 1e-9
    running.set({"point.r": (1.1, 3e-3, 0.0), "point.v": (0.0, 0.0, 0.0)})
    running.step(1e-3)
    assert (running["on"], running["energy.elastic"]) == (0, 0.0)
    assert running["energy.switched"] == pytest.approx(stored, rel=1e-8)
    running.set({"point.r": (0.7, 1e-3, 0.0)})
    running.step(1e-3)
    assert running["energy.elastic"] == pytest.approx(0.5 * 2e4 * 1e-3**2, rel=1e-12)
    assert running["energy.switched"] == pytest.approx(stored - 0.01, rel=1e-8)


def test_a_changed_parameter_of_a_law_switches_energy(trolley: Fmu) -> None:
    running = Running(trolley, {"point.r": (0.3, 3e-3, 0.0)})
    running.set({"laws.soft": 5e4})
    running.step(1e-3)
    assert running["energy.switched"] == pytest.approx(-0.5 * 3e4 * 3e-3**2, rel=1e-12)
    assert abs(running["energy.residual"]) < 1e-12


def test_sensors_that_change_work_on_the_springs(trolley: Fmu) -> None:
    """The guide narrows at 4 mm/s while the point moves at 10 mm/s: the sensor's power is dU/dw w',
    dU/dw = -1e6 N/m (d - w/2)/2."""
    running = Running(trolley, {"point.r": (0.3, 2.5e-3, 0.0), "point.v": (0.0, 0.01, 0.0)})
    running.rates({"point.r": (0.0, 0.01, 0.0), "sensor.width": -4e-3})
    running.step(0.2)

    def power(t: float) -> float:
        return 4e-3 * 0.5e6 * (2.5e-3 + 0.01 * t - 0.5 * (2e-3 - 4e-3 * t))

    done = quad(power, 0.0, 0.2, epsrel=1e-12)[0]
    assert running["energy.sensors"] == pytest.approx(done, rel=1e-8)
    stored = 0.5 * 2e4 * 4.5e-3**2 + 0.5 * 1e6 * (4.5e-3 - 0.6e-3) ** 2
    assert running["energy.elastic"] == pytest.approx(stored, rel=1e-12)
    assert abs(running["energy.residual"]) < 1e-9 * stored
    running.set({"point.v": (0.0, 0.0, 0.0), "sensor.width": 9e-3})  # the wall is gone at once, and its energy with it
    running.step(1e-3)
    assert running["energy.sensors"] == pytest.approx(done - 0.5 * 1e6 * (4.5e-3 - 0.6e-3) ** 2, rel=1e-8)
    assert abs(running["energy.residual"]) < 1e-9 * stored


def test_second_argument_of_friction_can_be_the_length_of_both_forces(tmp_path: Path) -> None:
    text = TROLLEY.replace("[structure]", '[structure]\nfr2_args = "p1_p"').replace(
        "0.1*abs(#P1) + 0.2*abs(#P2)", "0.2*abs(#P)"
    )
    running = Running(build(tmp_path, "Both", text), {"point.r": (0.3, 0.5e-3, 1e-3), "point.v": (1.0, 0.0, 0.0)})
    both = math.hypot(10.0, 1e5 * 1e-3 + 1e9 * 1e-9)
    assert running["friction_force"] == pytest.approx(0.2 * both + 0.5, rel=1e-12)


def test_the_second_argument_of_friction_has_the_name_of_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "Both.toml"
    path.write_text(TROLLEY.replace("[structure]", '[structure]\nfr2_args = "p1_p"'), encoding="utf-8")
    with pytest.raises(InputError, match=r"P2"):
        load_model(path)
    path.write_text(path.read_text(encoding="utf-8").replace("#P2", "#P"), encoding="utf-8")
    load_model(path)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('width = "m"\n', 'width = "kg"\n', "dimension"),
        ('width = "m"\n', 'width = "metre"\n', "[sensors] width"),
        ('width = "m"\n', 'width = "mm"\n', "'mm': a sensor has an SI unit"),
        ("load =", "sin =", "[sensors] sin: the name of a sensor"),
        ("load =", "delta =", "[sensors] delta: the name of a sensor"),
        ('"side(#delta, #width)"', '"side(#delta, #breadth)"', "breadth"),
        ('"side(#delta, #width)"', '"side(#delta)"', "side"),
        ('"1e5[N/m]*#delta + 1e9', '"1[N] + 1e5[N/m]*#delta + 1e9', "the law must be 0 at delta = 0"),
        ("*tanh(#v/10[mm/s])", "", "the law must be 0 at v = 0"),
        ('"30[N*s/m]*#v', '"2[N] + 30[N*s/m]*#v', "the law must be 0 at v = 0"),
        ("[start]", "[start]\nK_fr = 0.1", "F_fr2 excludes [start] K_fr"),
        ("[start]", "[start]\nk_r1 = 1", "f_r1 excludes [start] k_r1"),
        ("[start]", "[start]\nnormDamp = 1", "normDamp excludes [start] normDamp"),
    ],
)
def test_what_laws_and_sensors_must_not_be(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in TROLLEY
    path = tmp_path / "Wrong.toml"
    path.write_text(TROLLEY.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert said in str(caught.value), str(caught.value)


def test_sensors_are_inputs_with_their_units(tmp_path: Path) -> None:
    path = tmp_path / "Trolley.toml"
    path.write_text(TROLLEY, encoding="utf-8")
    model = load_model(path)
    assert (model["sensor.width"].unit.name, model["sensor.width"].start) == ("m", 2e-3)
    assert model["sensor.load"].is_continuous_input
    assert model["sensor.width"].index in model["point.f[1]"].depends
    path.write_text('element = "point_mass"\n[sensors]\nwidth = "m"\n', encoding="utf-8")
    with pytest.raises(InputError, match="sensors: this key is unknown"):
        load_model(path)
