"""Sums behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references
from fmu_builder.paths import shipped

Array = NDArray[np.float64]


def ball() -> tuple[Array, Array]:
    """The corners of the ball of the catalogue, shape (n, 3), m, and a third of the triangles around each, m2."""
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("spare", "<u2")])
    data = (shipped("fmus") / "meshes" / "ball.stl").read_bytes()
    triangles = np.frombuffer(data, record, offset=84)["corners"].astype(float) * 1e-3
    corners, number = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    a, b, c = triangles.transpose(1, 0, 2)
    share = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6.0
    return corners, np.bincount(number.ravel(), np.repeat(share, 3)).astype(float)


def dragged() -> Trace:
    """At the height 100 mm - 20 mm sin(2 pi t/s): N = C_p h A on each corner, and 0.3 N against the way."""
    t, (corners, areas) = np.arange(101, dtype=float) * 1e-2, ball()
    height = 0.1 - 0.02 * np.sin(2.0 * np.pi * t)
    h = np.maximum(-(height[:, None] + corners[:, 2]), 0.0)
    N = 2e7 * h * areas
    normal = N.sum(axis=1)
    columns = {
        "normal_force": (normal, "N"), "friction_force": (0.3 * normal, "N"), "body.f[1]": (-0.3 * normal, "N"),
        "surface.f[3]": (-normal, "N"), "body.t[2]": (-(0.3 * N @ corners[:, 2]) - N @ corners[:, 0], "N.m"),
        "depth": (h.max(axis=1), "m"), "contact_area": ((h > 0.0) @ areas, "m2"),
    }  # fmt: skip
    return reference("dragged", "N = C_p h A on each corner, friction 0.3 N", t, columns, of="skin")


CASES: tuple[Callable[[], Trace], ...] = (dragged,)

if __name__ == "__main__":
    write_references(CASES, __file__)
