"""Bodies that guides and surfaces lead along curves, each in an FMU of its own, under the algorithms that solve for
their forces: against the same parts in one FMU, whose solver integrates them at 1e-10."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from fmu_builder import run
from fmu_builder.paths import shipped

POLYLINE = """element = "point_line_2"
[line]
points = [[0, 0, 0], [0.2, 0, 0], [0.4, 0.02, 0], [0.6, 0.06, 0.01], [0.8, 0.12, 0.03], [1, 0.2, 0.06]]
[start]
k_r1 = "3e4 N/m"
k_r2 = "5e4 N/m"
"point.r" = [0.02, 0, 0]
"""
BEAD = """bead = { recipe = "PointMass", start = { r0 = [0.02, 0.001, 0], v0 = [2, 0, 0], g = [0, 0, 0] } }
guide = { recipe = "Polyline.toml" }
"""
ALGORITHMS = ("implicit", "adaptive")


def errors(
    folder: Path, connections: str, parts: str, stop: str, steps: tuple[str, ...], algorithm: str
) -> list[float]:
    """Largest error of a velocity of `bead`, over the largest one, for each step."""
    (folder / "one.toml").write_text(
        f'connections = {connections}\n[parts]\n{parts}\n[expose.outputs]\nv = "bead.p.v"\n'
        f'[experiment]\nstop = "{stop}"\nstep = "0.4 ms"\n'
    )
    one = run(folder / "one.toml", start={"solver.tolerance": 1e-10})
    exact = np.array([one[f"fmu.v[{k}]"] for k in (1, 2, 3)])
    found = []
    for step in steps:
        (folder / "apart.toml").write_text(
            f'connections = {connections}\n[slaves]\n{parts}\n[experiment]\nstop = "{stop}"\nstep = "{step}"\n'
            'output_step = "0.4 ms"\n'
        )
        apart = run(folder / "apart.toml", algorithm=algorithm)
        v = np.array([apart[f"bead.p.v[{k}]"] for k in (1, 2, 3)])
        found.append(float(np.abs(v - exact).max() / np.abs(exact).max()))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_bead_on_a_bent_polyline_moves_as_in_one_fmu(algorithm: str, tmp_path: Path) -> None:
    """The force of a polyline is no gradient of its energy: the direction is interpolated between the knots."""
    (tmp_path / "Polyline.toml").write_text(POLYLINE)
    coarse, fine = errors(tmp_path, '[["bead.p", "guide.point"]]', BEAD, "0.4 s", ("0.4 ms", "0.1 ms"), algorithm)
    assert coarse < 6e-3
    assert fine < 4e-4
    assert coarse / fine > (12.0 if algorithm == "implicit" else 8.0)  # `adaptive` has taken shorter steps already


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_bead_on_a_guide_of_three_bodies_moves_as_in_one_fmu(algorithm: str, tmp_path: Path) -> None:
    text = (shipped("fmus") / "BeadOnThreeBodies.toml").read_text()
    connections = re.search(r"connections = (\[.*?\n\])", text, re.S)
    parts = re.search(r"\[parts\]\n(.*?)\n\n", text, re.S)
    assert connections and parts
    places = parts[1].replace('"guides/ThreePartTrack"', f'"{shipped("fmus") / "guides/ThreePartTrack.toml"}"')
    (error,) = errors(tmp_path, connections[1], places, "0.4 s", ("0.1 ms",), algorithm)
    assert error < 1e-4


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_marble_that_runs_round_in_a_cone_is_held_by_its_normal_force(algorithm: str, tmp_path: Path) -> None:
    parts = (
        'bead = { recipe = "PointMass", start = { r0 = ["100.006705 mm", 0, "99.993295 mm"], v0 = [0, 0.6, 0] } }\n'
        'cone = { recipe = "PointCone", start = { C_F = "1e6 N/m", C_r = 1, K_fr = 0 } }'
    )
    (error,) = errors(tmp_path, '[["bead.p", "cone.point"]]', parts, "0.4 s", ("0.4 ms",), algorithm)
    assert error < 5e-5


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("speed", "step"), [(0.5, "5 ms"), (3.0, "10 ms"), (8.0, "2 ms")])
def test_a_mass_that_orbits_on_a_spring_keeps_its_energy(
    speed: float, step: str, algorithm: str, tmp_path: Path
) -> None:
    """On a spring of 1 kN/m that turns and is stretched and released: its force stores what it works."""
    path = tmp_path / "orbit.toml"
    path.write_text(
        'connections = [["mass.p", "spring.first"]]\n[slaves]\n'
        f'mass = {{ recipe = "PointMass", start = {{ r0 = [0.12, 0, 0], v0 = [0, {speed}, 0], g = [0, 0, 0] }} }}\n'
        'spring = { recipe = "PointToPointSpring", start = { k = 1000, l0 = 0.1, "first.r" = [0.12, 0, 0] } }\n'
        f'[experiment]\nstop = "2 s"\nstep = "{step}"\nalgorithm = "{algorithm}"\n'
    )
    result = run(path)
    r, v = (np.array([result[f"mass.p.{name}[{k}]"] for k in (1, 2, 3)]) for name in "rv")
    energy = 0.5 * (v**2).sum(axis=0) + 500.0 * (np.sqrt((r**2).sum(axis=0)) - 0.1) ** 2
    np.testing.assert_allclose(energy, energy[0], rtol=1e-7)
