"""The pictures of translational_damper."""

from __future__ import annotations

from functools import partial

from fmu_builder.drawing import FORCE, MOTION, between_bodies, two_port_icon


def translational_damper_drawing() -> str:
    legend = (
        ("{v} = {v_r} − {v_c}: r is faster than c", MOTION),
        ("{F} = {d} {v}: slows r down and takes c along", FORCE),
    )
    title = "Two bodies on a line and the damper between them: speeds, forces, ports"
    return between_bodies(title, "{v}, {d}", legend, damper=True)


PICTURES = {"drawing.svg": translational_damper_drawing}
ICON = partial(two_port_icon, "translational_damper", "{d}", ("c", "r"), damper=True)
