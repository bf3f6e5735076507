"""Writes bowl.stl, in mm: the part below z = 50 of a sphere of the radius 100.

Each of the twenty triangles of an icosahedron is divided into 64, and all are turned, so that no edge lies in a plane
of the axes.  They look outwards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import trimesh

RADIUS, TOP = 100.0, 50.0
TURN = np.array([[2.0, -1.0, 2.0], [2.0, 2.0, -1.0], [-1.0, 2.0, 2.0]]) / 3.0


def bowl() -> bytes:
    sphere = trimesh.creation.icosphere(subdivisions=3, radius=RADIUS)
    corners = (sphere.vertices @ TURN.T)[sphere.faces]
    corners = corners[(corners[:, :, 2] <= TOP).all(axis=1)].astype("<f4")
    records = np.zeros(len(corners), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("spare", "<u2")])
    records["corners"] = corners
    return b"bowl of radius 100 mm".ljust(80) + np.uint32(len(records)).tobytes() + records.tobytes()


if __name__ == "__main__":
    Path(__file__).with_name("bowl.stl").write_bytes(bowl())
