"""A box about the centre of mass, as large as the scene lets it be seen: a body has a mass and axes, and no size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Polyline = list[tuple[float, float, float]]
HALF = (0.3, 0.18, 0.08)  # of the edges along x, y and z, over that of the scene


def shapes(constants: Mapping[str, Sequence[float]], choices: Mapping[str, object]) -> dict[str, list[Polyline]]:
    if choices["points"] not in (0, 1):  # several points show how it turns
        return {}
    a, b, c = HALF
    corners = [(a, b), (-a, b), (-a, -b), (a, -b)]
    rims: list[Polyline] = [[(x, y, z) for x, y in (*corners, corners[0])] for z in (-c, c)]
    return {"*frame": [*rims, *([(x, y, -c), (x, y, c)] for x, y in corners)]}
