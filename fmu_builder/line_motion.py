"""What a guide looks like while a case runs: the line and the way of its point, for the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from fmu_builder.motion import GROUND, Line, Motion

_DRAWN = 400  # points of a line, at most


def motion(
    constants: Mapping[str, Sequence[float]], values: Mapping[str, float], signals: Mapping[str, NDArray[np.float64]]
) -> Motion:
    """The line, where its frames stand at the start, the way of the point and the point itself, seen along the axis in
    which all of it has the least extent."""
    points = np.array(constants["line_points"]).reshape(-1, 3)
    carried = (
        np.array(constants["line_bodies"], int) if len(constants["line_bodies"]) > 1 else np.zeros(len(points), int)
    )
    for b in range(carried.max() + 1):
        name = f"body[{b + 1}]" if f"body[{b + 1}].r[1]" in values else "body"
        at, q = (np.array([values[f"{name}.{role}[{k}]"] for k in range(1, n + 1)]) for role, n in (("r", 3), ("q", 4)))
        points[carried == b] = at + Rotation.from_quat(q, scalar_first=True).apply(points[carried == b])
    line = points[np.unique(np.linspace(0, len(points) - 1, _DRAWN).astype(int))]
    if constants["closed"][0]:
        line = np.concatenate([line, line[:1]])
    ways = [signals.get(f"point.r[{k}]", np.array([values[f"point.r[{k}]"]])) for k in (1, 2, 3)]
    count = max(len(way) for way in (*ways, *signals.values()))
    way = np.stack([np.broadcast_to(one, count) for one in ways], axis=1)
    extent = np.ptp(np.concatenate([line, way]), axis=0)
    axes = np.sort(np.argsort(-extent, kind="stable")[:2])
    poses = np.zeros((count, 2, 3))
    poses[:, 0, :2] = way[:, axes]
    return Motion(
        poses,
        (
            Line(GROUND, line[:, axes], "profile"),
            Line(GROUND, way[:, axes], "guide"),
            Line(0, np.zeros((1, 2)), "tip"),
        ),
    )
