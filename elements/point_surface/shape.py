"""What the surfaces look like in a page: lines on them, in their axes, m."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from fmu_builder.model.mesh_tree import outlines
from fmu_builder.model.patches import Patch

Point = tuple[float, float, float]
Plane = tuple[float, float]
Polyline = list[Point]
ROUND, FINE, SPAN = 12, 48, 6  # lines around an axis, parts of a circle, and of a span
MESH, ALONG = 13, 49  # lines of a patch in each direction, and points of each
MOST_TRIANGLES = 300  # of a mesh that are drawn
ENDLESS = 6.0  # half the length that is drawn of what has no ends, over its radius


def circle(radius: float, z: float) -> Polyline:
    turns = [2.0 * math.pi * k / FINE for k in range(FINE + 1)]
    return [(radius * math.cos(t), radius * math.sin(t), z) for t in turns]


def turned(profile: Sequence[Plane], every: int = 1) -> list[Polyline]:
    """Circles at every so manieth point of a profile (distance from the axis, z), and the profile at equal angles."""
    angles = [2.0 * math.pi * k / ROUND for k in range(ROUND)]
    around = [circle(r, z) for r, z in profile[::every] if r > 0.0]
    return around + [[(r * math.cos(a), r * math.sin(a), z) for r, z in profile] for a in angles]


def arc(radius: float, count: int, middle: float = 0.0, share: float = 1.0) -> list[Plane]:
    """A share of the circle about (middle, 0), around its point farthest along the first axis."""
    turns = [math.pi * share * (2.0 * k / (count - 1) - 1.0) for k in range(count)]
    return [(middle + radius * math.cos(t), radius * math.sin(t)) for t in turns]


def ends(z: Sequence[float], radius: float) -> list[float]:
    """Both ends, those of what has none far off."""
    return [min(max(end, -ENDLESS * radius), ENDLESS * radius) for end in z]


def profile(spans: Sequence[float]) -> list[Plane]:
    """Points of spans as contact_core/surfaces/profile.h has them: coefficients of p and q, and a box of four."""
    found = []
    for first in range(0, len(spans), 12):
        p, q = spans[first : first + 4], spans[first + 4 : first + 8]
        for u in (k / SPAN for k in range(SPAN + 1)):
            found.append((sum(c * u**i for i, c in enumerate(p)), sum(c * u**i for i, c in enumerate(q))))
    return found


def drawn_out(points: Sequence[Plane], low: float, high: float) -> list[Polyline]:
    bent = [[(x, y, low + (high - low) * k / 4.0) for x, y in points] for k in range(5)]
    return bent + [[(x, y, low), (x, y, high)] for x, y in points[:: SPAN + 1]]


def net(patch: Patch) -> list[Polyline]:
    """Lines of a patch along u and v; of what is periodic over one period."""
    along = patch.derivatives(patch.u.spread(ALONG), patch.v.spread(MESH))[0].swapaxes(0, 1)
    across = patch.derivatives(patch.u.spread(MESH), patch.v.spread(ALONG))[0]
    return [[(x, y, z) for x, y, z in line] for lines in (along, across) for line in lines.tolist()]


def shapes(constants: Mapping[str, Any], choices: Mapping[str, object]) -> dict[str, list[Polyline]]:
    """By port; a plane is as large as the scene (`*`)."""
    kind = choices["surface"]
    if kind == "mesh":
        drawn = outlines(constants["surface_mesh"], MOST_TRIANGLES)
        return {"surface": [[(x, y, z) for x, y, z in line] for line in drawn.tolist()]}
    radius = constants.get("surface_radius", (1.0,))
    if kind == "plane":
        grid = [k / 4.0 for k in range(-4, 5)]
        lines = [line for s in grid for line in ([(s, -1.0, 0.0), (s, 1.0, 0.0)], [(-1.0, s, 0.0), (1.0, s, 0.0)])]
        return {"*surface": lines}
    if kind == "disc":
        lines = turned([(radius[0] * share, 0.0) for share in (0.0, 0.5, 1.0)])
    elif kind == "sphere":
        lines = turned(arc(radius[0], 13, share=0.5))
    elif kind == "torus":
        lines = turned(arc(radius[1], 17, middle=radius[0]), 2)
    elif kind == "cylinder":
        low, high = ends(constants["surface_z"], radius[0])
        lines = turned([(radius[0], low + (high - low) * k / 6.0) for k in range(7)])
    elif kind == "cone":
        cosine, sine = constants["surface_angle"]
        low, high = ends(constants["surface_z"], 1.0)
        heights = [low + (high - low) * k / 6.0 for k in range(7)]
        lines = turned([(abs(z) * sine / cosine, z) for z in heights])
    elif kind == "revolution":
        lines = turned(profile(constants["surface_profile"]), SPAN)
    elif kind in ("height_field", "patch"):
        lines = net(Patch.from_tables(constants))
    else:
        low, high = ends(constants["surface_z"], 1.0)
        lines = drawn_out(profile(constants["surface_profile"]), low, high)
    return {"surface": lines}
