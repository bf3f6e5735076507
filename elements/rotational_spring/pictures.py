"""The pictures of rotational_spring."""

from __future__ import annotations

from functools import partial

from fmu_builder.drawing import FORCE, MOTION, between_shafts, two_port_icon


def rotational_spring_drawing() -> str:
    legend = (
        ("{θ}  angle of r ahead of c, {θ}' = {w_r} − {w_c}", MOTION),
        ("{t} = {k} {θ}: turns r back and c along", FORCE),
    )
    return between_shafts(
        "Two shafts on one axis and the spring between them: speeds, torques, ports", "{θ}, {k}", legend
    )


PICTURES = {"drawing.svg": rotational_spring_drawing}
ICON = partial(two_port_icon, "rotational_spring", "{k}", ("r", "c"))
