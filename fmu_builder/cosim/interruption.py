"""Ctrl-C while slaves run: it is noted, and the run ends in order between two steps."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Interruption:
    requested: bool = False


@contextmanager
def noted_interruption() -> Iterator[Interruption]:
    """Inside, the first Ctrl-C sets `requested`; a second one, for slaves that do not return, acts as it does outside.

    In other threads than the main one, and where another handler than Python's stands, Ctrl-C is left alone."""
    noted = Interruption()

    def note(*_: object) -> None:
        if noted.requested:
            raise KeyboardInterrupt
        noted.requested = True

    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield noted
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
