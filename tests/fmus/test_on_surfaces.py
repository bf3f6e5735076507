"""Points on curved surfaces: what a smooth surface keeps, and the limits of an endlessly stiff one.

Against independent integrations of the same law: the systems bead_*, marble_* and mass_slides_off."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from fmi2 import literal, load_shipped
from running import Running
from scipy.special import ellipk

from fmu_builder.cosim.master import run
from fmu_builder.export.fmu import build_model_fmu
from fmu_builder.model.loader import assembly_of_scenario
from fmu_builder.model.scenario import SlaveEntry, read_scenario

G, R = 9.81, 0.1


@pytest.mark.parametrize(
    ("name", "surface"),
    [
        pytest.param("BeadInBowl", "bowl", marks=pytest.mark.slow),
        ("MarbleInFunnel", "funnel"),
        pytest.param("MarbleInTube", "tube", marks=pytest.mark.slow),
    ],
)
def test_a_smooth_surface_of_revolution_keeps_energy_and_angular_momentum(
    name: str, surface: str, tmp_path: Path
) -> None:
    """E = v^2/2 + g z + C_F h^2/2 and L = x v_y - y v_x for 2 s, to 1e-8 of their start, at the default tolerance."""
    running = Running(load_shipped(name, tmp_path), {})
    energy, momentum, heights = [], [], []
    for _ in range(201):
        r, v = running.vector("position"), running.vector("velocity")
        energy.append(0.5 * v @ v + G * r[2] + 0.5e6 * running[f"{surface}.depth"] ** 2)
        momentum.append(r[0] * v[1] - r[1] * v[0])
        heights.append(r[2])
        running.step(0.01)
    energy_scale = G * R + 0.5 * 0.8**2
    assert np.abs(np.array(energy) - energy[0]).max() <= 1e-8 * energy_scale
    assert np.abs(np.array(momentum) - momentum[0]).max() <= 1e-8 * abs(momentum[0])
    assert np.ptp(heights) > 0.01


@pytest.mark.parametrize(
    ("g_x", "g_z", "H"),
    [(-0.09, -9.745, 2e-3), (0.269, -9.921, 1e-3), (0.137, -9.921, 5e-3), (-0.103, -9.284, 5e-3)],
)
def test_a_point_leaves_a_sphere_so_slowly_that_its_distance_is_rounding(
    g_x: float, g_z: float, H: float, tmp_path: Path
) -> None:
    """Some 0.2 mm/s along the normal, so that the distance stays 0 over many of the shortest substeps: one event.  With
    gravity at the angle psi_0 from the start, cos psi = 2/3 cos psi_0 + v_0^2/(3 g R), seen in the speed across it."""
    values = {"gravity": (g_x, 0.0, g_z), "restitution": 1.0, "solver.max_substeps": 5000.0}
    running = Running(load_shipped("SlidingOffSphere", tmp_path), values)
    g, v_0 = np.array([g_x, 0.0, g_z]), running.vector("velocity")
    energy = 0.5 * v_0 @ v_0 - g @ running.vector("position") + 0.5e6 * running["ball.depth"] ** 2
    while running.time < 0.4:
        running.step(H)
    r, v, size = running.vector("position"), running.vector("velocity"), math.hypot(g_x, g_z)
    assert running["ball.depth"] == 0.0
    assert 0.5 * v @ v - g @ r == pytest.approx(energy, rel=1e-8)
    across = v[0] * -g_z + v[2] * g_x
    cosine = ((across / size) ** 2 / (size * R)) ** (1 / 3)
    assert cosine == pytest.approx(2 / 3 * -g_z / size + v_0 @ v_0 / (3 * size * R), abs=1e-3)


def test_a_point_leaves_a_smooth_sphere_at_two_thirds(tmp_path: Path) -> None:
    """cos = 2/3 + v0^2/(3 g R), seen in the horizontal speed that stays: v_x^2 = g R cos^3.  The error is that of the
    depth m g/C_F, and falls with it."""
    fmu, v_0, errors = load_shipped("SlidingOffSphere", tmp_path), 0.1, []
    for stiffness in (1e5, 1e6, 1e7):
        depth = (G - v_0**2 / R) / stiffness
        running = Running(fmu, {"stiffness": stiffness, "initial_position": (0.0, 0.0, R - depth)}, tolerance=1e-11)
        running.step(0.45)
        assert running["ball.depth"] == 0.0
        cosine = (running.vector("velocity")[0] ** 2 / (G * R)) ** (1 / 3)
        errors.append(abs(cosine - (2 / 3 + v_0**2 / (3 * G * R))))
    assert errors[2] < 1e-5
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(10.0, rel=0.3)  # the waves of the first contact are as small as this


@pytest.mark.slow
def test_a_bead_in_a_bowl_swings_as_a_pendulum(tmp_path: Path) -> None:
    """From 60 deg it is at the bottom after T/4 = sqrt(R/g) K(sin^2 30 deg); the error falls with the depth 3 m g/C_F
    that it has there."""
    fmu, quarter, errors = load_shipped("BeadInBowl", tmp_path), math.sqrt(R / G) * float(ellipk(0.25)), []
    for stiffness in (1e6, 1e7):
        away = R + 0.5 * G / stiffness
        start = (away * math.sin(math.pi / 3), 0.0, -0.5 * away)
        values = {"stiffness": stiffness, "initial_position": start, "initial_velocity": (0.0, 0.0, 0.0)}
        running = Running(fmu, values, tolerance=1e-11)
        running.step(quarter)
        errors.append(abs(running.vector("position")[0]))
        assert running.vector("velocity")[0] == pytest.approx(-math.sqrt(G * R), rel=1e3 / stiffness)
    assert errors[1] < 2e-6
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.1)


GLANCING = """
description = "A point hits a smooth ball beside its middle"
connections = [["body.p", "ball.point"]]

[experiment]
stop = "12.8 ms"
step = "32 us"
output_step = "12.8 ms"
algorithm = "gauss_seidel"

[slaves]
body = { recipe = "PointMass", start = { g = [0, 0, 0], r0 = [0.05, 0, 0.0876], v0 = [0, 0, -1] } }
ball = { recipe = "PointSphere", start = { C_F = "1e5 N/m", C_r = 1, K_fr = 0 } }
"""


@pytest.mark.slow
def test_a_glancing_impact_coupled_by_a_master_converges_to_the_assembly(tmp_path: Path) -> None:
    """With the order 1 of a force that is held over the step; the deflection is that of the assembly."""
    literal("PointSphere", tmp_path)
    path = tmp_path / "glancing.toml"
    path.write_text(GLANCING, encoding="utf-8")
    scenario = read_scenario(path)

    def velocity(slaves: dict[str, object], step: float) -> np.ndarray:
        experiment = scenario.experiment.model_copy(update={"step": step})
        trace = run(scenario.model_copy(update={"experiment": experiment} | slaves)).trace
        names = [next(n for n in trace.names if n.endswith(f"body.p.v[{k}]")) for k in (1, 2, 3)]
        return np.array([trace[name][-1] for name in names])

    fmu = build_model_fmu(assembly_of_scenario(scenario), tmp_path, ("host",)).path
    one = {"connections": [], "slaves": {"fmu": SlaveEntry(recipe=str(fmu))}}
    assembled = velocity(one, 12.8e-3)
    assert assembled @ assembled == pytest.approx(1.0, abs=1e-8)
    assert assembled[0] > 0.8  # it is deflected by 120 deg and a little more
    steps = [32e-6, 16e-6, 8e-6, 4e-6]
    errors = [float(np.linalg.norm(velocity({}, h) - assembled)) for h in steps]
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(1.0, abs=0.03)
    assert errors[-1] < 1e-3
