"""The motion of a case as an HTML page draws it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fmu_builder.cosim.motion import GROUND, Animation, Line

_SIZE = 420.0  # px of the longer side
_MARGIN = 0.06  # of the longer side


@dataclass(frozen=True)
class Picture:
    """An animation as an HTML page shows it: lengths in px, y downwards, the ground before the bodies.

    bodies  for each its lines: kind, points as SVG has them, x and y of the first, color
    frames  x, y and degrees of each body, one after the other"""

    width: float
    height: float
    bodies: tuple[tuple[tuple[str, str, float, float, str], ...], ...]
    frames: tuple[tuple[float, ...], ...]
    time: tuple[float, ...]


def picture(shown: Animation) -> Picture:
    poses, lines = np.roll(shown.motion.poses, 1, axis=1), shown.motion.lines
    corners = []
    for line in lines:
        c, s = np.cos(poses[:, line.body + 1, 2]), np.sin(poses[:, line.body + 1, 2])
        x, y = line.points[:, 0], line.points[:, 1]
        corners.append(np.outer(c, x) - np.outer(s, y) + poses[:, line.body + 1, :1])
        corners.append(np.outer(s, x) + np.outer(c, y) + poses[:, line.body + 1, 1:2])
    left, right = (min(a.min() for a in corners[::2]), max(a.max() for a in corners[::2]))
    low, high = (min(a.min() for a in corners[1::2]), max(a.max() for a in corners[1::2]))
    longer = max(right - left, high - low, 1e-9)
    margin, scale = _MARGIN * longer, _SIZE / ((1.0 + 2.0 * _MARGIN) * longer)
    bodies = tuple(
        tuple(_mark(line, scale) for kind in _ORDER for line in lines if line.body == i and line.kind == kind)
        for i in range(GROUND, poses.shape[1] - 1)
    )
    placed = np.round(
        np.stack(
            [
                (poses[..., 0] - left + margin) * scale,
                (high + margin - poses[..., 1]) * scale,
                -np.degrees(poses[..., 2]),
            ],
            axis=-1,
        ),
        1,
    )
    return Picture(
        round((right - left + 2.0 * margin) * scale, 1),
        round((high - low + 2.0 * margin) * scale, 1),
        bodies,
        tuple(tuple(frame) for frame in placed.reshape(len(placed), -1).tolist()),
        tuple(round(t, 6) for t in shown.time.tolist()),
    )


_ORDER = ("profile", "guide", "link", "slider", "hinge", "tip")


def _mark(line: Line, scale: float) -> tuple[str, str, float, float, str]:
    points = np.round(line.points * (scale, -scale), 2).tolist()
    return line.kind, " ".join(f"{x:g},{y:g}" for x, y in points), points[0][0], points[0][1], line.color
