"""The bodies of a mechanism and their joints for a page, by the names of variables."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from fmu_builder.pages.scene import Curve, Joint, Linkage

DISTANCE, PROFILE, CURVE = 2, 3, 4  # as in contact_core/mechanism/constraint.h
FINE, MOST = 12, 240  # points of an interval of a spline, and of all
Plane = tuple[float, float]


def spline(constants: Mapping[str, Sequence[float]], hold: int) -> tuple[Plane, ...]:
    """Points of the spline of a constraint, as cc_spline has them: FINE in each interval, fewer of many intervals."""
    first, count = int(constants["spline_first"][hold]), int(constants["spline_counts"][hold])
    knots = constants["spline_knots"][first : first + count]
    each = max(FINE * MOST // max(MOST, FINE * count), 1)
    points: list[Plane] = []
    for k in range(count - 1):
        begin = 4 * (first + k)
        width = knots[k + 1] - knots[k]
        for i in range(each + (k == count - 2)):
            t = width * i / each
            x, y = (_cubic(constants[name][begin : begin + 4], t) for name in ("spline_x", "spline_y"))
            points.append((x, y) if constants["hold_shapes"][hold] == CURVE else (knots[k] + t, x))
    return tuple(points)


def _cubic(c: Sequence[float], t: float) -> float:
    return float(c[0] + t * (c[1] + t * (c[2] + t * c[3])))


def linkage(constants: Mapping[str, Sequence[int]], names: Collection[str]) -> Linkage:
    parents, slides = constants["parents"], constants["slides"]

    def point(name: str) -> tuple[str, str]:
        return f"{name}[1]", f"{name}[2]"

    joints = tuple(
        Joint(int(parent), point(f"joint[{i}].place"), f"joint[{i}].angle", f"q[{i}]", bool(slides[i - 1]))
        for i, parent in enumerate(parents, start=1)
    )
    links = [(int(parent), point(f"joint[{i}].place")) for i, parent in enumerate(parents, start=1)]
    curves = []
    kinds = {int(hold): int(constants["row_kinds"][row]) for row, hold in enumerate(constants["row_holds"])}
    for k in (k for k in kinds if f"hold[{k + 1}].angle" in names):
        body, other = int(constants["hold_bodies"][k]), int(constants["hold_others"][k])
        held, base = point(f"hold[{k + 1}].point"), point(f"hold[{k + 1}].base")
        links += [(body, held)] + ([(other, base)] if kinds[k] < PROFILE else [])
        if kinds[k] >= PROFILE and constants["spline_counts"][k]:
            line = spline(constants, k)
            curves.append(Curve(other, base, f"hold[{k + 1}].angle", (), body, held, line))
        elif kinds[k] >= PROFILE and constants["hold_shapes"][k]:
            slots = (f"profile_{k + 1}",) if kinds[k] == PROFILE else (f"curve_x_{k + 1}", f"curve_y_{k + 1}")
            ends = constants["hold_from"][k], constants["hold_to"][k]
            curves.append(Curve(other, base, f"hold[{k + 1}].angle", (), body, held, (), slots, ends))
        elif kinds[k] >= PROFILE:
            f = tuple(f"hold[{k + 1}].f[{i + 1}]" for i in range(int(constants["hold_degrees"][k]) + 1))
            curves.append(Curve(other, base, f"hold[{k + 1}].angle", f, body, held))
    offsets = [(int(body), f"point[{k}].offset") for k, body in enumerate(constants["point_bodies"], start=1)]
    links += [(body, point(name)) for body, name in offsets if f"{name}[1]" in names]
    links += [(i, point(f"body[{i + 1}].centre")) for i in range(len(parents))]
    return Linkage(joints, tuple(link for link in links if link[0] >= 0), tuple(curves))
