"""The pictures of probe_ode."""

from __future__ import annotations

from functools import partial

from fmu_builder.paths import load_module, shared_folder

SHARED = load_module(shared_folder() / "probe_pictures.py")
TITLE = "The equations of Lorenz, and a stiff one"

PICTURES = {"drawing.svg": partial(SHARED.block, TITLE, (), ("{x}′ = {f}({x}, {t})",), ("x",))}
ICON = partial(SHARED.sign, "probe_ode", "ode")
