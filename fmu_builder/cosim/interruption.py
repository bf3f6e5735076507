"""Ctrl-C while slaves run: it is noted, and the run ends in order between two steps.

Python's handler waits while a call of an FMU does not return.  What can end such a call, as the process of an isolated
slave can, registers itself: it is called at once, from a thread that reads the signals that have arrived."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

at_once: set[Callable[[], None]] = set()  # called in another thread at each Ctrl-C that is noted


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
    with _passed_on():
        signal.signal(signal.SIGINT, note)
        try:
            yield noted
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def _passed_on() -> Iterator[None]:
    """To what is registered, if there is anything."""
    if not at_once:
        yield
        return
    arrived, sent = os.pipe()
    os.set_blocking(sent, False)
    before = signal.set_wakeup_fd(sent, warn_on_full_buffer=False)
    reader = threading.Thread(target=_pass_on, args=(arrived,), name="Ctrl-C of the master", daemon=True)
    reader.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(sent)
        reader.join()
        os.close(arrived)


def _pass_on(arrived: int) -> None:
    while numbers := os.read(arrived, 64):
        for call in [*at_once] if signal.SIGINT in numbers else []:
            call()
