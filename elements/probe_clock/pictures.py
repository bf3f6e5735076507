"""The pictures of probe_clock."""

from __future__ import annotations

from functools import partial

from fmu_builder.paths import load_module, shared_folder

SHARED = load_module(shared_folder() / "probe_pictures.py")
TITLE = "Three clocks drive counters, and the first counter drives a clock"

PICTURES = {
    "drawing.svg": partial(
        SHARED.block,
        TITLE,
        ("tick", "beat", "echo", "u"),
        ("at tick: count + 1", "at beat: sampled = {u}", "at echo: echoes + 1"),
        ("count", "carry", "beats", "sampled", "echoes"),
    )
}
ICON = partial(SHARED.sign, "probe_clock", "clock")
