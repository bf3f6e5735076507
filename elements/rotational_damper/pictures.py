"""The pictures of rotational_damper."""

from __future__ import annotations

from functools import partial

from fmu_builder.drawing import FORCE, MOTION, between_shafts, two_port_icon


def rotational_damper_drawing() -> str:
    legend = (
        ("{w} = {w_r} − {w_c}: r turns faster than c", MOTION),
        ("{t} = {d} {w}: slows r down and takes c along", FORCE),
    )
    title = "Two shafts on one axis and the damper between them: speeds, torques, ports"
    return between_shafts(title, "{w}, {d}", legend, damper=True)


PICTURES = {"drawing.svg": rotational_damper_drawing}
ICON = partial(two_port_icon, "rotational_damper", "{d}", ("r", "c"), damper=True)
