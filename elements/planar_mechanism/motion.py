"""What the bodies and profiles of a mechanism look like, and where they are over time: for the report of a case."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim import GROUND, Line, Motion

Vector = NDArray[np.float64]
DISTANCE, PROFILE = 2, 3  # as in contact_core/mechanism/constraint.h
BEYOND = 0.3  # share of the way of a point by which its profile is drawn farther


def turned(angle: Vector | float, vector: Vector) -> Vector:
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([c * vector[..., 0] - s * vector[..., 1], s * vector[..., 0] + c * vector[..., 1]], axis=-1)


def motion(
    constants: Mapping[str, Sequence[int]], values: Mapping[str, float], signals: Mapping[str, Vector]
) -> Motion:
    """constants  of the structure, by name
    values        start values of parameters, by name, SI
    signals       outputs over time, by name
    Raises KeyError where a coordinate was not recorded."""
    parents, slides = constants["parents"], constants["slides"]

    def point(name: str) -> Vector:
        return np.array([values[f"{name}[1]"], values[f"{name}[2]"]])

    samples = len(signals["q[1]"])
    poses = np.zeros((samples, len(parents) + 1, 3))  # the last one is the ground, which stays
    for i, parent in enumerate(parents):
        q, before, joint = signals[f"q[{i + 1}]"], poses[:, parent], f"joint[{i + 1}]"
        poses[:, i, 2] = before[:, 2] + values[f"{joint}.angle"] + (0.0 if slides[i] else q)
        poses[:, i, :2] = before[:, :2] + turned(before[:, 2], point(f"{joint}.place"))
        if slides[i]:
            poses[:, i, :2] += turned(poses[:, i, 2], np.stack([q, 0.0 * q], axis=-1))

    lines = [Line(i, np.zeros((1, 2)), "slider" if slides[i] else "hinge") for i in range(len(parents))]
    ends = [(parent, point(f"joint[{i + 1}].place")) for i, parent in enumerate(parents)]
    for i, (parent, place) in enumerate(ends):
        if slides[i]:
            q = np.append(signals[f"q[{i + 1}]"], 0.0)
            way = np.array([[q.min(), 0.0], [q.max(), 0.0]])
            lines.append(Line(parent, place + turned(values[f"joint[{i + 1}].angle"], way), "guide"))
    kinds = {hold: constants["row_kinds"][row] for row, hold in enumerate(constants["row_holds"])}
    holds = [k for k in kinds if f"hold[{k + 1}].angle" in values]
    for k in holds:
        body, other = constants["hold_bodies"][k], constants["hold_others"][k]
        held = point(f"hold[{k + 1}].point")
        ends.append((body, held))
        base = point(f"hold[{k + 1}].base")
        if kinds[k] < DISTANCE:  # a pin, drawn with the later one of its bodies, else this would hide it
            on, at = max((body, held), (other, base), key=lambda end: end[0])
            lines.append(Line(on, at[None], "hinge"))
        else:
            lines.append(Line(body, held[None], "tip"))
        if kinds[k] < PROFILE:
            ends.append((other, base))
            continue
        way = poses[:, body, :2] + turned(poses[:, body, 2], held) - poses[:, other, :2]
        own = turned(-poses[:, other, 2], way)  # in the axes of what carries the profile
        lines.append(Line(other, _profile(k, constants, values, own), "profile"))
    ends += [(body, point(f"point[{k + 1}].offset")) for k, body in enumerate(constants["point_bodies"])
             if f"point[{k + 1}].offset[1]" in values]  # fmt: skip
    seen = {body for body, end in ends if np.abs(end).max() > 0.0}
    ends += [(i, point(f"body[{i + 1}].centre")) for i in range(len(parents)) if i not in seen]
    for body, end in ends:
        if body != GROUND and np.abs(end).max() > 0.0:
            lines.append(Line(body, np.array([[0.0, 0.0], end]), "link"))
    return Motion(poses, tuple(lines))


def _profile(k: int, constants: Mapping[str, Sequence[int]], values: Mapping[str, float], way: Vector) -> Vector:
    """A polynomial around the way of its point; of other profiles the way itself."""
    if constants["hold_shapes"][k]:
        return way
    base, angle = np.array([values[f"hold[{k + 1}].base[{i}]"] for i in (1, 2)]), values[f"hold[{k + 1}].angle"]
    x = turned(-angle, way - base)[:, 0]
    more = BEYOND * max(float(np.ptp(x)), 1e-2)
    xs = np.linspace(x.min() - more, x.max() + more, 60)
    f = [values[f"hold[{k + 1}].f[{i + 1}]"] for i in range(constants["hold_degrees"][k] + 1)]
    return base + turned(angle, np.stack([xs, np.polynomial.polynomial.polyval(xs, f)], axis=-1))
