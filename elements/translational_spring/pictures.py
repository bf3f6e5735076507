"""The pictures of translational_spring."""

from __future__ import annotations

from functools import partial

from fmu_builder.drawing import FORCE, MOTION
from fmu_builder.paths import load_module, shared_folder

SHARED = load_module(shared_folder() / "pictures.py")
TITLE = "Two bodies on a line and the spring between them: speeds, forces, ports"
LEGEND = (
    ("{x}  r ahead of c beyond the relaxed length, {x}' = {v_r} − {v_c}", MOTION),
    ("{F} = {k} {x}: pulls r back and c along", FORCE),
)

PICTURES = {"drawing.svg": partial(SHARED.between_bodies, TITLE, "{x}, {k}", LEGEND)}
ICON = partial(SHARED.two_port_icon, "translational_spring", "{k}", ("c", "r"))
