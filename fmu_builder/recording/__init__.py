"""FMUs that record their calls, and what they recorded: read, printed, checked, repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fmu_builder.facade import on_demand

if TYPE_CHECKING:
    from fmu_builder.recording.file import Call, Message, Recording
    from fmu_builder.recording.wrapping import RecordingFmu, record_fmu

__all__ = ["Call", "Message", "Recording", "RecordingFmu", "record_fmu"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = on_demand(__name__, __all__)
