"""The pictures of probe_event."""

from __future__ import annotations

from functools import partial

from fmu_builder.paths import load_module, shared_folder

SHARED = load_module(shared_folder() / "probe_pictures.py")
TITLE = "A state that decays and jumps at equal intervals"

PICTURES = {
    "drawing.svg": partial(
        SHARED.block, TITLE, (), ("{x}′ = −rate {x}", "at {k} interval: {x} + dose"), ("x", "count", "next")
    )
}
ICON = partial(SHARED.sign, "probe_event", "event")
