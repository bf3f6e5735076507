"""FMUs that record their calls, and what they recorded: read, printed, checked, repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fmu_builder.facade import on_demand

if TYPE_CHECKING:
    from fmu_builder.recording.checking import check_calls
    from fmu_builder.recording.file import Call, Message, Recording
    from fmu_builder.recording.replay import Difference, Replay, replay_calls
    from fmu_builder.recording.wrapping import RecordingFmu, record_fmu

__all__ = [
    "Call",
    "Difference",
    "Message",
    "Recording",
    "RecordingFmu",
    "Replay",
    "check_calls",
    "record_fmu",
    "replay_calls",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = on_demand(__name__, __all__)
