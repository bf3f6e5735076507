"""The bodies of a mechanism and their joints for a page, by the names of variables."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from fmu_builder.pages.scene import Curve, Joint, Linkage

DISTANCE, PROFILE = 2, 3  # as in contact_core/mechanism/constraint.h


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
        if kinds[k] >= PROFILE and not constants["hold_shapes"][k]:
            f = tuple(f"hold[{k + 1}].f[{i + 1}]" for i in range(int(constants["hold_degrees"][k]) + 1))
            curves.append(Curve(other, base, f"hold[{k + 1}].angle", f, body, held))
    offsets = [(int(body), f"point[{k}].offset") for k, body in enumerate(constants["point_bodies"], start=1)]
    links += [(body, point(name)) for body, name in offsets if f"{name}[1]" in names]
    links += [(i, point(f"body[{i + 1}].centre")) for i in range(len(parents))]
    return Linkage(joints, tuple(link for link in links if link[0] >= 0), tuple(curves))
