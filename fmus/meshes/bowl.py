"""Writes bowl.stl, in mm: the part below z = 50 of the ball of ball.py.  No edge lies in a plane of the axes."""

from __future__ import annotations

from pathlib import Path

from fmu_builder.paths import load_module

TOP = 50.0


def bowl() -> bytes:
    ball = load_module(Path(__file__).with_name("ball.py"))
    corners = ball.triangles()
    return bytes(ball.stl("bowl of radius 100 mm", corners[(corners[:, :, 2] <= TOP).all(axis=1)]))


if __name__ == "__main__":
    Path(__file__).with_name("bowl.stl").write_bytes(bowl())
