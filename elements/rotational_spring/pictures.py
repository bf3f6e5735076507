"""The pictures of rotational_spring."""

from __future__ import annotations

from functools import partial

from fmu_builder.drawing import FORCE, MOTION
from fmu_builder.paths import load_module, shared_folder

SHARED = load_module(shared_folder() / "pictures.py")
TITLE = "Two shafts on one axis and the spring between them: speeds, torques, ports"
LEGEND = (
    ("{θ}  angle of r ahead of c, {θ}' = {w_r} − {w_c}", MOTION),
    ("{t} = {k} {θ}: turns r back and c along", FORCE),
)

PICTURES = {"drawing.svg": partial(SHARED.between_shafts, TITLE, "{θ}, {k}", LEGEND)}
ICON = partial(SHARED.two_port_icon, "rotational_spring", "{k}", ("r", "c"))
