"""The pictures of probe_step."""

from __future__ import annotations

from functools import partial

from fmu_builder.paths import load_module, shared_folder

SHARED = load_module(shared_folder() / "probe_pictures.py")
TITLE = "Steps that are discarded, ended, failed, slow or logged at known times"
LAW = ("discard_at, end_at, fail_at", "slow_loops, alarm_at")

PICTURES = {"drawing.svg": partial(SHARED.block, TITLE, (), LAW, ("x", "steps", "discarded"))}
ICON = partial(SHARED.sign, "probe_step", "step")
