"""Clocks of FMI 3.0: Booleans of element.toml that are active for an instant.

In FMI 2.0 they stay Booleans, and the element takes a rise for a tick."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt


class ClockEntry(BaseModel):
    """What kind of clock a Boolean is: triggered without any key, periodic with an interval, or one that counts down to
    a moment that the element computes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    interval: float | None = Field(default=None, gt=0, description="of a periodic input: time from tick to tick, s")
    shift: float = Field(default=0.0, ge=0, description="of a periodic input: time from the start to its first tick, s")
    resolution: StrictInt | None = Field(
        default=None,
        gt=0,
        description="of a periodic input: interval and shift are whole numbers of its fractions, 1/s",
    )
    moment: str | None = Field(
        default=None, description="of an input that counts down: the variable with the time of its next tick"
    )
    waits: str | None = Field(
        default=None, description="of an input that counts down: the variable that is true until that tick"
    )


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock of a model.

    interval, shift  of a constant one, s   resolution  1/s, 0 if interval and shift are no fractions
    moment, waits    indices of variables of one that counts down"""

    kind: Literal["input", "output", "constant", "countdown"]
    interval: float = 0.0
    shift: float = 0.0
    resolution: int = 0
    moment: int = -1
    waits: int = -1

    @property
    def variability(self) -> str:
        """intervalVariability of FMI 3.0."""
        return self.kind if self.kind in ("constant", "countdown") else "triggered"

    @property
    def interval_counter(self) -> int:
        return round(self.interval * self.resolution)

    @property
    def shift_counter(self) -> int:
        return round(self.shift * self.resolution)


# of a variable of an assembly, in which clocks of parts are Booleans in FMI 3.0 too
NO_CLOCK: dict[str, Any] = {"clock": None, "clocks": (), "previous": -1}


def clock_links(
    clock: ClockEntry | None,
    clocks: Sequence[str],
    previous: str | None,
    is_output: bool,
    index_of: Callable[[str], int],
) -> dict[str, Any]:
    """`clock`, `clocks` and `previous` of a variable of the model.   index_of: of the name of a declared variable"""
    made = None
    if clock is not None and clock.interval is not None:
        made = Clock("constant", clock.interval, clock.shift, clock.resolution or 0)
    elif clock is not None and clock.moment is not None and clock.waits is not None:
        made = Clock("countdown", moment=index_of(clock.moment), waits=index_of(clock.waits))
    elif clock is not None:
        made = Clock("output" if is_output else "input")
    before = index_of(previous) if previous is not None else -1
    return {"clock": made, "clocks": tuple(map(index_of, clocks)), "previous": before}
