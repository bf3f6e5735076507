"""memcpy, memmove and memset of binaries without a C library, against slices of bytes."""

from __future__ import annotations

import ctypes
import random

import pytest

from tests.contact_core.hosted import load_c

ROOM = 14000
SIZES = [*range(20), 63, 64, 65, 127, 128, 1016, *range(1020, 1032), 2000, 4095, 6641]


@pytest.fixture(scope="module", params=["-O2", "-O0"])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    loaded = load_c("memory_functions.c", tmp_path_factory.mktemp("memory"), [request.param])
    for name in ("copy", "move"):
        getattr(loaded, name).argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    loaded.set.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
    return loaded


@pytest.fixture
def memory() -> ctypes.Array[ctypes.c_ubyte]:
    return (ctypes.c_ubyte * ROOM)(*random.Random(1).randbytes(ROOM))


@pytest.mark.parametrize("offset", [0, 1, 8, 13])
def test_copies(library: ctypes.CDLL, memory: ctypes.Array[ctypes.c_ubyte], offset: int) -> None:
    """And nothing beside them is written."""
    start, source = ctypes.addressof(memory), 7000 - offset % 3
    for n in SIZES:
        expected = bytearray(memory)
        expected[offset : offset + n] = expected[source : source + n]
        library.copy(start + offset, start + source, n)
        assert bytes(memory) == bytes(expected), n


@pytest.mark.parametrize("shift", [-3000, -200, -64, -63, -8, -1, 0, 1, 7, 64, 200, 3000])
def test_moves_of_what_overlaps(library: ctypes.CDLL, memory: ctypes.Array[ctypes.c_ubyte], shift: int) -> None:
    start = ctypes.addressof(memory)
    for n in SIZES:
        expected = bytearray(memory)
        expected[3500 + shift : 3500 + shift + n] = expected[3500 : 3500 + n]
        library.move(start + 3500 + shift, start + 3500, n)
        assert bytes(memory) == bytes(expected), n


def test_sets(library: ctypes.CDLL, memory: ctypes.Array[ctypes.c_ubyte]) -> None:
    for n in SIZES:
        expected = bytearray(memory)
        expected[5 : 5 + n] = bytes([n % 256]) * n
        library.set(ctypes.addressof(memory) + 5, n % 256, n)
        assert bytes(memory) == bytes(expected), n
