"""An FMU of several parts does what its parts do, connected without delay."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from fmi2 import Fmu
from running import Running, build

from fmu_builder.build import content_guid, host_fmu
from fmu_builder.model import load_model

BALL = """
connections = [["ball.p", "floor.point"]]
[parts]
ball = { recipe = "PointMass", start = { r0 = [0, 0, "0.1 m"] } }
floor = "PointSurface"
"""
SLIDER = BALL + '[start]\n"ball.v0" = [1.0, 0.5, 0.0]\n"floor.K_fr" = 0.4\n'


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return build(tmp_path_factory.mktemp("ball"), "Ball", BALL)


def course(running: Running, prefix: str, names: list[str]) -> list[bytes]:
    """A mass pushed about by forces that change at every step; the bits of the named variables after each."""
    rng = random.Random(7)
    bits = []
    for k in range(50):
        running.set({f"{prefix}p.f": [rng.uniform(-5.0, 5.0) for _ in range(3)]})
        if k % 7 == 0:
            running.set({f"{prefix}m": rng.uniform(0.5, 2.0)})
        running.step(rng.choice((1e-3, 2e-2)))
        bits.append(running.values([prefix + name for name in names]).tobytes())
    return bits


def test_an_assembly_of_one_part_gives_the_bits_of_the_part(tmp_path: Path) -> None:
    alone = build(tmp_path, "Alone", 'element = "point_mass"\n')
    inside = build(tmp_path, "Inside", '[parts]\nmass = "Alone"\n')
    names = [name for name in alone.names("Real") if name != "time" and not name.startswith(("solver.", "der("))]
    starts = {"r0": (0.1, 0.2, 0.3), "v0": (-1.0, 0.5, 2.0)}
    first = course(Running(alone, starts), "", names)
    assert first == course(Running(inside, {f"mass.{n}": v for n, v in starts.items()}), "mass.", names)
    assert len(set(first)) == len(first)


def test_two_builds_give_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "Ball.toml").write_text(BALL, encoding="utf-8")
    first, second = load_model(tmp_path / "Ball.toml"), load_model(tmp_path / "Ball.toml")
    assert content_guid(first) == content_guid(second)
    assert host_fmu(tmp_path / "Ball.toml").read_bytes() == host_fmu(tmp_path / "Ball.toml").read_bytes()


def test_forces_arrive_without_delay(ball: Fmu) -> None:
    """Newton's second law at every point, with the force of the same point: r'' = f/m + g."""
    running = Running(ball, {"ball.v0": (0.3, 0.0, -2.0), "ball.m": 2.0})
    touched = False
    for _ in range(200):
        running.step(1e-3)
        f = running.vector("floor.point.f")
        assert (running.vector("ball.p.f") == f).all()
        assert (running.vector("floor.point.r") == running.vector("ball.p.r")).all()
        acceleration = running.values([f"der(ball.p.v[{k}])" for k in (1, 2, 3)])
        np.testing.assert_array_equal(acceleration, f / 2.0 + np.array([0.0, 0.0, -9.81]))
        touched |= running["floor.in_contact"] == 1
    assert touched


def test_messages_name_the_part(ball: Fmu) -> None:
    running = Running(ball, {"ball.r0": (0.0, 0.0, -1e-3)})
    assert any(text.startswith("floor: point 1 is in contact at the start, 0.001 m deep") for text in running.told)
