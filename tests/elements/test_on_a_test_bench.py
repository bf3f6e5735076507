"""Elements whose motion is given, as on a test bench, and bodies that rest from the start: the force is the law.

Order and mass are unknown, as where an FMU was just dropped into a tool."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fmi2 import load_shipped
from running import Running

from fmu_builder import run

HOLD, UNKNOWN, SEQUENTIAL, PARALLEL = 1, 1, 2, 3  # of coupling.mode, and coupling.order
H = 1e-3  # s


def forces_at(name: str, values: dict[str, float], folder: Path, steps: int = 12) -> np.ndarray:
    """All forces and moments that the FMU shows at the start and after each step, with inputs that stay."""
    fmu = load_shipped(name, folder)
    shown = [v.name for v in fmu.description.modelVariables if v.causality == "output" and v.unit in ("N", "N.m")]
    running = Running(fmu, values)
    found = [running.values(shown)]
    for _ in range(steps):
        running.step(H)
        found.append(running.values(shown))
    return np.array(found)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("PointSurface", {"point.r[3]": -1e-3}),
        ("PointSphere", {"point.r[1]": 0.099}),
        ("PointSurfaceBristle", {"point.r[3]": -1e-3}),
        ("TwoPointSurface", {"point[2].r[3]": -1e-3}),
        ("FourPointSurface", {f"point[{k}].r[3]": -1e-3 for k in (1, 2, 3, 4)}),
        ("PointPipe", {"point.r[1]": 0.051}),
        ("PointLine1", {"point.r[2]": 1e-3}),
        ("PointLine2", {"point.r[2]": 1e-3, "point.r[3]": 1e-3}),
        ("GuideRail", {"point.r[2]": 1e-3}),
        ("PointToPointSpring", {"first.r[1]": 0.11}),
        ("TranslationalSpringByPositions", {"r.s": 1e-3}),
        ("RotationalSpringByAngles", {"r.phi": 0.1}),
        ("TranslationalDamper", {"r.v": 0.1}),
        ("RotationalDamper", {"r.w": 0.1}),
    ],
)
def test_inputs_that_stay_show_the_force_of_the_law(name: str, values: dict[str, float], tmp_path: Path) -> None:
    """From the start on: that of `hold`, to rounding, whatever the coupling could find out by another one."""
    coupled = forces_at(name, values, tmp_path)
    law = forces_at(name, {**values, "coupling.mode": HOLD}, tmp_path)
    assert np.abs(law).max() > 0.0
    assert coupled == pytest.approx(law, rel=1e-12, abs=1e-15 * np.abs(law).max())


@pytest.mark.parametrize("order", [UNKNOWN, SEQUENTIAL, PARALLEL])
def test_a_point_that_is_pushed_in_and_stopped_shows_the_law_one_step_later(order: int, tmp_path: Path) -> None:
    """It could be a body that was stopped by the force; that nothing moves on shows that it is none."""
    depth, law = 0.0, 1e5 * 1e-3
    running = Running(load_shipped("PointSurface", tmp_path), {"coupling.order": order})
    for k in range(24):
        depth, speed = min(1e-4 * k, 1e-3), 0.1 if k < 10 else 0.0
        running.set({"point.r[3]": -depth, "point.v[3]": -speed})
        running.step(H)
        if k > 10:
            assert running["point.f[3]"] == pytest.approx(law, rel=1e-12), k
            assert running["coupling.fallback[1]"] == 6
    running.set({"point.r[3]": -0.9e-3, "point.v[3]": 0.1})  # and is moved on
    running.step(H)
    assert running["coupling.fallback[1]"] == 0


@pytest.mark.parametrize(("order", "lag"), [(UNKNOWN, 1), (SEQUENTIAL, 0), (PARALLEL, 1)])
def test_a_point_that_is_pushed_in_steadily_shows_the_law_after_two_samples(
    order: int, lag: int, tmp_path: Path
) -> None:
    """C_F x (1 + d) in the middle of the interval on which the force will act, L + 1/2 steps after the sample; with
    d = (1 - C_r^2) k_E / Delta = 0.6.  The first two forces look for what they move."""
    running = Running(load_shipped("PointSurface", tmp_path), {"coupling.order": order})
    speed = 0.1
    for k in range(12):
        running.set({"point.r[3]": -speed * k * H, "point.v[3]": -speed})
        running.step(H)
        if k >= 2:
            assert running["point.f[3]"] == pytest.approx(1e5 * speed * (k + lag + 0.5) * H * 1.6, rel=1e-9), k


RESTING = """connections = [["body.p", "floor.point"]]
[experiment]
stop = "{stop!r} s"
step = "{step!r} s"
algorithm = "{algorithm}"
[slaves]
body = {{ recipe = "PointMass", start = {{ r0 = [0, 0, {r}], g = [0, 0, -9.81] }} }}
floor = {{ recipe = "PointSurface", start = {{ K_fr = 0.3, "coupling.order" = "unknown" }} }}
"""


@pytest.mark.parametrize("algorithm", ["gauss_seidel", "jacobi"])
@pytest.mark.parametrize("h", [0.5, 2.0, 5.0])  # omega H
def test_a_body_that_rests_from_the_start_stays_where_it_is(h: float, algorithm: str, tmp_path: Path) -> None:
    """1 kg at its static depth; with `hold` it is thrown off under Jacobi where rounding moves it."""
    step, r = h / 1e5**0.5, -9.81 / 1e5
    text = RESTING.format(stop=200 * step, step=step, algorithm=algorithm, r=r)
    (tmp_path / "resting.toml").write_text(text, encoding="utf-8")
    trace = run(tmp_path / "resting.toml").trace
    assert trace["body.p.r[3]"] == pytest.approx(r, rel=1e-12)
    assert trace["floor.normal_force"] == pytest.approx(9.81, rel=1e-12)


@pytest.mark.parametrize("algorithm", ["gauss_seidel", "jacobi"])
def test_a_body_that_begins_to_slide_from_rest_is_found(algorithm: str, tmp_path: Path) -> None:
    """On an incline of tan = 0.5 with mu = 0.3, at its static depth: it shows its order and mass by friction alone.  It
    slides with the acceleration g (sin - mu cos), and without friction in the step before it is seen to slide, under
    Jacobi the two steps."""
    step, r = 1.0 / 1e5**0.5, -9.81 / 1e5
    text = RESTING.format(stop=200 * step, step=step, algorithm=algorithm, r=r)
    (tmp_path / "sliding.toml").write_text(text.replace("g = [0, 0, -9.81]", "g = [4.905, 0, -9.81]"), encoding="utf-8")
    trace = run(tmp_path / "sliding.toml").trace
    assert trace["body.p.r[3]"] == pytest.approx(r, rel=0.01)
    free = 2 if algorithm == "jacobi" else 1
    expected = 200 * step * (4.905 - 0.3 * 9.81) + free * step * 0.3 * 9.81
    assert trace["body.p.v[1]"][-1] == pytest.approx(expected, rel=2e-3)
