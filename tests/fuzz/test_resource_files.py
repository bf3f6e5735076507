"""Files of data, and places of them, that are not those of an FMU: refused by one message, and nothing is kept."""

from __future__ import annotations

import ctypes
import random
import struct
from pathlib import Path

import pytest
from call_model import Fmu
from fmi_library import CO_SIMULATION, MODEL_EXCHANGE, Arguments, Importer, Status
from fuzzed import built_fmu, sanitized_fmu, shipped_recipe
from sanitizer import require_sanitizer

from fmu_builder.export.resources import resource_files

NAME = "PointMeshBowl"
HEADER = 64
WORDS = (0, 1, 63, 64, 2**31, 2**32 - 1, 2**63, 2**64 - 1)
PIECES = (
    "file:",
    "FILE:///",
    "//",
    "/",
    "\\",
    "%",
    "%2",
    "%41",
    "%00",
    "localhost",
    "C:",
    "..",
    "ü",
    "x" * 300,
    "#r1#%s",
)


def changed(data: bytes, rng: random.Random) -> bytes:
    """Another file: cut, longer, with other bits, other numbers in its header, blocks in other places, or noise."""
    how = rng.randrange(6)
    if how == 0:
        return data[: rng.choice((0, 1, 7, 8, HEADER - 1, HEADER, len(data) - 1, rng.randrange(len(data))))]
    if how == 1:
        return data + rng.randbytes(rng.choice((1, 4, 64, len(data))))
    if how == 2:
        return rng.randbytes(rng.choice((0, HEADER, len(data))))
    new = bytearray(data)
    if how == 3:
        for _ in range(rng.choice((1, 1, 2, 8))):
            bit = rng.randrange(8 * rng.choice((HEADER, len(data))))
            new[bit // 8] ^= 1 << bit % 8
    elif how == 4:
        struct.pack_into("<Q", new, 8 * rng.randrange(8), rng.choice(WORDS))
    else:
        a, b = (64 * rng.randrange(len(data) // 64) for _ in range(2))
        new[a : a + 64], new[b : b + 64] = new[b : b + 64], new[a : a + 64]
    return bytes(new)


def place(folder: Path, rng: random.Random) -> str | None:
    """No place of the file."""
    choice = rng.randrange(4)
    if choice == 0:
        return rng.choice((None, "", "file://", "/", str(folder.parent)))
    text = "".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 9)))
    return text if choice < 3 else f"{folder.as_uri()}{text}x"


def instance(fmu: Fmu, where: str | None, kind: int) -> tuple[int | None, Importer]:
    importer = Importer()
    callbacks = importer.callbacks(1)
    with Arguments() as a:
        given = a.text(where) if where is not None else None
        component = fmu.library.instantiate(
            a.text("read"), kind, a.text(fmu.guid), given, ctypes.addressof(callbacks), 0, 0
        )
    return component or None, importer


def offer(fmu: Fmu, folder: Path, seed: int, number: int) -> None:
    rng = random.Random(seed)
    ((name, data),) = resource_files(fmu.model).items()
    folder.mkdir()
    file, refused = folder / name, 0
    for k in range(number):
        new, where = data, folder.as_uri()
        if k % 4 == 3:
            where = place(folder, rng)
        elif k % 4:
            new = changed(data, rng)
        file.write_bytes(new)
        is_right = new == data and where == folder.as_uri()
        component, importer = instance(fmu, where, rng.choice((CO_SIMULATION, MODEL_EXCHANGE)))
        assert (component is not None) == is_right, (k, where)
        assert not importer.faults
        if component is not None:
            fmu.library.free_instance(component)
        else:
            (message,) = importer.messages
            assert (message.status, message.category) == (Status.ERROR, b"logStatusError")
            assert name.encode() in message.text or b"fmuResourceLocation is no path" in message.text
            refused += 1
        assert not importer.alive
    assert refused > number // 2


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a mesh whose data lie in a file."""
    monkeypatch.setattr("fmu_builder.model.mesh.MOST_EMBEDDED", 0)
    return shipped_recipe(tmp_path, NAME)


def test_another_file_or_place_is_refused(recipe: Path, tmp_path: Path) -> None:
    offer(built_fmu(recipe, tmp_path), tmp_path / "resources", 1, 400)


@pytest.mark.platform
def test_another_file_or_place_breaks_no_rule_of_c(recipe: Path, tmp_path: Path) -> None:
    require_sanitizer()
    offer(sanitized_fmu(recipe), tmp_path / "resources", 2, 2_000)
