"""The pictures of rotational_damper."""

from __future__ import annotations

from functools import partial

from fmu_builder.drawing import FORCE, MOTION
from fmu_builder.paths import load_module, shared_folder

SHARED = load_module(shared_folder() / "pictures.py")
TITLE = "Two shafts on one axis and the damper between them: speeds, torques, ports"
LEGEND = (
    ("{w} = {w_r} − {w_c}: r turns faster than c", MOTION),
    ("{t} = {d} {w}: slows r down and takes c along", FORCE),
)

PICTURES = {"drawing.svg": partial(SHARED.between_shafts, TITLE, "{w}, {d}", LEGEND, damper=True)}
ICON = partial(SHARED.two_port_icon, "rotational_damper", "{d}", ("r", "c"), damper=True)
