"""The pictures of translational_damper."""

from __future__ import annotations

from functools import partial

from fmu_builder.drawing import FORCE, MOTION
from fmu_builder.paths import load_module, shared_folder

SHARED = load_module(shared_folder() / "pictures.py")
TITLE = "Two bodies on a line and the damper between them: speeds, forces, ports"
LEGEND = (
    ("{v} = {v_r} − {v_c}: r is faster than c", MOTION),
    ("{F} = {d} {v}: slows r down and takes c along", FORCE),
)

PICTURES = {"drawing.svg": partial(SHARED.between_bodies, TITLE, "{v}, {d}", LEGEND, damper=True)}
ICON = partial(SHARED.two_port_icon, "translational_damper", "{d}", ("c", "r"), damper=True)
