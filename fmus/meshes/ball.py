"""Writes ball.stl, in mm: a ball of the radius 100, whose corners are the samples of BodySurface.

Each of the twenty triangles of an icosahedron is divided into 64, and all are turned, so that no three corners lie in a
plane of the axes.  They look outwards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import trimesh
from numpy.typing import NDArray

RADIUS = 100.0
TURN = np.array([[2.0, -1.0, 2.0], [2.0, 2.0, -1.0], [-1.0, 2.0, 2.0]]) / 3.0


def triangles() -> NDArray[np.float64]:
    """Their corners, shape (n, 3, 3), mm."""
    sphere = trimesh.creation.icosphere(subdivisions=3, radius=RADIUS)
    found: NDArray[np.float64] = (sphere.vertices @ TURN.T)[sphere.faces]
    return found


def stl(title: str, corners: NDArray[np.float64]) -> bytes:
    records = np.zeros(len(corners), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("spare", "<u2")])
    records["corners"] = corners
    return title.encode().ljust(80) + np.uint32(len(records)).tobytes() + records.tobytes()


def ball() -> bytes:
    return stl("ball of radius 100 mm", triangles())


if __name__ == "__main__":
    Path(__file__).with_name("ball.stl").write_bytes(ball())
