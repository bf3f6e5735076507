"""Memory of a trace is there before the loop writes it, and not much more than that."""

from __future__ import annotations

import ctypes
import mmap
import sys
import threading
import time

import numpy as np
import pytest

from fmu_builder.cosim import fresh_memory
from fmu_builder.cosim.fresh_memory import taken_ahead

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux knows how")
MB = 2**20


def resident(memory: np.ndarray) -> int:
    """Bytes of whole pages that the system has given."""
    pages = memory.nbytes // mmap.PAGESIZE
    found = (ctypes.c_ubyte * pages)()
    mincore = ctypes.CDLL(None).mincore
    mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    assert mincore(memory.ctypes.data, memory.nbytes, found) == 0
    return sum(one & 1 for one in found) * mmap.PAGESIZE


def fresh(megabytes: int) -> np.ndarray:
    return np.frombuffer(mmap.mmap(-1, megabytes * MB), dtype=np.float64)


def awaited(memory: np.ndarray, least: int) -> int:
    deadline = time.monotonic() + 60.0
    while resident(memory) < least and time.monotonic() < deadline:
        time.sleep(0.002)
    return resident(memory)


def test_the_pages_are_taken_and_keep_their_values() -> None:
    memory = fresh(32)
    memory[::100_000] = 7.0
    before = memory.copy()
    with taken_ahead(memory, lambda: 0):
        assert awaited(memory, 24 * MB) >= 24 * MB  # but for what is no whole chunk at the ends
    assert np.array_equal(memory, before)


def test_a_run_that_ends_early_has_taken_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh_memory, "_AHEAD", 8 * MB)
    memory, written = fresh(64), 0
    with taken_ahead(memory, lambda: written):
        assert awaited(memory, 4 * MB) >= 4 * MB
        time.sleep(0.05)
        assert resident(memory) <= 16 * MB
        written = 32 * MB
        assert awaited(memory, 32 * MB) >= 32 * MB
    assert resident(memory) <= 48 * MB
    assert not any(thread.name == "memory of the trace" for thread in threading.enumerate())


def test_small_arrays_need_no_thread() -> None:
    with taken_ahead(fresh(1), lambda: 0):
        assert not any(thread.name == "memory of the trace" for thread in threading.enumerate())
