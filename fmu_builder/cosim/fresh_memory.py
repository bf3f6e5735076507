"""Memory for a trace, taken from the system ahead of the loop that writes it.

The system gives the pages of a new array when they are first written, which takes 0.1 us for each kB, and a virtual
machine up to 2 us: more than the values of a row that fill it.  A thread beside the loop can wait for that."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numpy.typing import NDArray

_POPULATE_WRITE = 23  # madvise, from Linux 5.14 on
_CHUNK = 4 * 2**20  # bytes in one call
_AHEAD = 64 * _CHUNK  # at most, as a run may end early
_SMALL = _CHUNK  # arrays below are not worth a thread
_PAUSE = 0.005  # s


@contextmanager
def taken_ahead(memory: NDArray[Any], written: Callable[[], int]) -> Iterator[None]:
    """While inside, pages of the array are taken in a thread; nothing where the system does not know how.

    written   bytes that are written so far"""
    if sys.platform != "linux" or memory.nbytes < _SMALL:
        yield
        return
    over = threading.Event()
    thread = threading.Thread(target=_take, args=(memory, written, over), name="memory of the trace", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _take(memory: NDArray[Any], written: Callable[[], int], over: threading.Event) -> None:
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes, madvise.restype = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int), ctypes.c_int
    begin = -(-memory.ctypes.data // _CHUNK) * _CHUNK  # a whole number of pages of any size
    for at in range(begin, memory.ctypes.data + memory.nbytes - _CHUNK + 1, _CHUNK):
        while at - memory.ctypes.data > written() + _AHEAD:
            if over.wait(_PAUSE):
                return
        if over.is_set() or madvise(at, _CHUNK, _POPULATE_WRITE) != 0:
            return
