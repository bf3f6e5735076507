"""The pictures of translational_spring."""

from __future__ import annotations

from functools import partial

from fmu_builder.drawing import FORCE, MOTION, between_bodies, two_port_icon


def translational_spring_drawing() -> str:
    legend = (
        ("{x}  r ahead of c beyond the relaxed length, {x}' = {v_r} − {v_c}", MOTION),
        ("{F} = {k} {x}: pulls r back and c along", FORCE),
    )
    return between_bodies("Two bodies on a line and the spring between them: speeds, forces, ports", "{x}, {k}", legend)


PICTURES = {"drawing.svg": translational_spring_drawing}
ICON = partial(two_port_icon, "translational_spring", "{k}", ("c", "r"))
