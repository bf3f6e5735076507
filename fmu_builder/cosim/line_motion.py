"""The motion of a guide for the report: the line and the path of its point.

All is drawn in the axes of the first body that carries the line, at its place at the start: a bead at rest in a turning
hoop is drawn at rest.  Other bodies that carry parts of the line move relative to the first; of their rotation the part
in the plane of the picture is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from fmu_builder.cosim.motion import GROUND, Line, Motion

Vector = NDArray[np.float64]
_DRAWN = 400  # points of a line, at most


def motion(
    constants: Mapping[str, Sequence[float]], values: Mapping[str, float], signals: Mapping[str, Vector]
) -> Motion:
    """The line, the path of the point and the point, seen along the axis of the least extent."""
    count = max(len(values) for values in signals.values())

    def role(port: str, name: str, size: int) -> Vector:
        """A role of a port over time, shape (count, size); where nothing moves it, its start."""
        of_port = [f"{port}.{name}[{k}]" for k in range(1, size + 1)]
        return np.stack([np.broadcast_to(signals.get(one, values[one]), count) for one in of_port], axis=1)

    own, bodies = np.array(constants["line_points"], float).reshape(-1, 3), constants["line_bodies"]
    carried = np.array(bodies, int) if len(bodies) > 1 else np.zeros(len(own), int)
    kept = np.unique(np.linspace(0, len(own) - 1, _DRAWN).astype(int))
    if constants["closed"][0]:
        kept = np.append(kept, 0)
    own, carried = own[kept], carried[kept]
    ports = [f"body[{b + 1}]" for b in range(carried.max() + 1)]
    places = [role(port, "r", 3) for port in ports]
    turns = [Rotation.from_quat(role(port, "q", 4), scalar_first=True) for port in ports]
    back = turns[0][0] * turns[0].inv()  # onto the first body as it stands at the start

    def seen(world: Vector) -> Vector:
        found: Vector = places[0][0] + back.apply(world - places[0])
        return found

    way = seen(role("point", "r", 3))
    line = np.zeros_like(own)
    for b, (place, turn) in enumerate(zip(places, turns, strict=True)):
        line[carried == b] = seen(np.broadcast_to(place[0], (count, 3)))[0] + turn[0].apply(own[carried == b])
    extent = np.ptp(np.concatenate([line, way]), axis=0)
    axes = np.sort(np.argsort(-extent, kind="stable")[:2])
    poses = np.zeros((count, len(ports) + 1, 3))  # of the point, of the bodies but the first, and of the ground
    poses[:, 0, :2] = way[:, axes]
    for b in range(1, len(ports)):
        poses[:, b, :2] = seen(places[b])[:, axes]
        turned = (back * turns[b] * turns[b][0].inv()).as_matrix()[:, axes][:, :, axes]
        poses[:, b, 2] = np.arctan2(turned[:, 1, 0] - turned[:, 0, 1], turned[:, 0, 0] + turned[:, 1, 1])
    ends = np.flatnonzero(np.diff(carried)) + 1
    still = all(np.ptp(pose, axis=0).max() == 0.0 for pose in np.moveaxis(poses[:, 1:], 1, 0))
    parts = [np.arange(len(line))] if still else np.split(np.arange(len(line)), ends)
    lines = []
    for part in parts:
        b = 0 if still else carried[part[0]]
        lines.append(Line(b if b else GROUND, line[part][:, axes] - (poses[0, b, :2] if b else 0.0), "profile"))
    return Motion(poses, (*lines, Line(GROUND, way[:, axes], "guide"), Line(0, np.zeros((1, 2)), "tip")))
