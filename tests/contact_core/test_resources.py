"""Data of an FMU in files: where an importer says they are, and what tells a file from another one."""

from __future__ import annotations

import ctypes
import errno
import struct
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from fmu_builder.export.resources import check_sums
from fmu_builder.export.toolchain import compile_hosted, find_compiler
from fmu_builder.paths import shipped

PathOf = Callable[..., bytes | None]
SIZE = 900  # CC_PATH_SIZE


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ctypes.CDLL]:
    """With paths of this platform, and with those of Windows."""
    folder, compiler = tmp_path_factory.mktemp("resources"), find_compiler()
    assert compiler is not None
    found = {}
    for name, flags in {"other": [], "windows": ["-DWINDOWS"]}.items():
        source = Path(__file__).with_name("resources.c")
        compile_hosted([source], folder / f"{name}.so", [shipped("contact_core")], compiler, flags)
        found[name] = ctypes.CDLL(str(folder / f"{name}.so"))
    return found


def path_of(library: ctypes.CDLL, given: bytes, size: int = SIZE) -> bytes | None:
    """The path; None if there is none.  What lies behind its memory stays as it is."""
    path = ctypes.create_string_buffer(b"\xff" * (size + 16), size + 16)
    is_path = library.path_of(given, path, ctypes.c_size_t(size))
    assert path.raw.endswith(b"\xff" * 16)
    return path.value if is_path else None


PLACES = [  # given, on Windows, elsewhere
    ("file:///home/a%20b/resources", "/home/a b/resources", "/home/a b/resources"),
    ("file:/home/a/resources/", "/home/a/resources", "/home/a/resources"),
    ("file://localhost/home/a", "/home/a", "/home/a"),
    ("FILE://LOCALHOST/home/a", "/home/a", "/home/a"),
    ("file:///models/f%C3%BCr/resources", "/models/für/resources", "/models/für/resources"),
    ("file:///models/für", "/models/für", "/models/für"),
    ("file:///a%2fb%5Cc", "/a/b\\c", "/a/b\\c"),
    ("file:///a%zz%4", "/a%zz%4", "/a%zz%4"),
    ("file:///tmp/{8c4e810f}/resources", "/tmp/{8c4e810f}/resources", "/tmp/{8c4e810f}/resources"),
    ("file:///C:/Program%20Files/x/resources", "C:/Program Files/x/resources", "/C:/Program Files/x/resources"),
    ("file:///c%3A/x", "c:/x", "/c:/x"),
    ("file:/C:/x/", "C:/x", "/C:/x"),
    ("file://C:/x", "C:/x", "/x"),
    ("file:C:/x", "C:/x", "C:/x"),
    ("file:///C:\\x\\resources\\", "C:\\x\\resources", "/C:\\x\\resources\\"),
    ("file://server/share/a%20b", "//server/share/a b", "/share/a b"),
    ("file:////server/share/a", "//server/share/a", "//server/share/a"),
    ("\\\\server\\share\\resources\\", "\\\\server\\share\\resources", "\\\\server\\share\\resources\\"),
    ("C:\\a b\\resources\\", "C:\\a b\\resources", "C:\\a b\\resources\\"),
    ("C:/a%20b/resources/", "C:/a%20b/resources", "C:/a%20b/resources"),
    ("/home/a%20b/resources/", "/home/a%20b/resources", "/home/a%20b/resources"),
    ("resources", "resources", "resources"),
    ("/", "/", "/"),
    ("file:///", "/", "/"),
    ("file:", "", ""),
    ("file://", "", ""),
]


@pytest.mark.parametrize(("given", "windows", "other"), PLACES)
def test_the_path_of_a_folder_is_found_from_what_importers_give(
    libraries: dict[str, ctypes.CDLL], given: str, windows: str, other: str
) -> None:
    assert path_of(libraries["windows"], given.encode()) == windows.encode()
    assert path_of(libraries["other"], given.encode()) == other.encode()


@pytest.mark.parametrize("name", ["windows", "other"])
def test_a_path_that_is_too_long_or_holds_an_end_is_none(libraries: dict[str, ctypes.CDLL], name: str) -> None:
    library = libraries[name]
    assert path_of(library, b"/" + b"x" * (SIZE - 2)) == b"/" + b"x" * (SIZE - 2)
    assert path_of(library, b"/" + b"x" * (SIZE - 1)) is None
    assert path_of(library, b"file:///" + b"%41" * (SIZE - 2)) == b"/" + b"A" * (SIZE - 2)
    assert path_of(library, b"file:///tmp%00/x") is None
    assert path_of(library, b"/tmp%00/x") == b"/tmp%00/x"


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=40).map(lambda text: text.replace(b"\0", b"")), st.integers(1, 30))
def test_any_text_gives_a_path_within_its_memory(libraries: dict[str, ctypes.CDLL], text: bytes, size: int) -> None:
    for library in libraries.values():
        for begin in (b"", b"file:", b"file:///", b"file://localhost/"):
            path_of(library, begin + text, size)


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_characters="\0\\", exclude_categories=("Cs",)), min_size=1, max_size=60))
def test_the_path_of_a_uri_is_that_of_python(libraries: dict[str, ctypes.CDLL], name: str) -> None:
    place = "/" + name.strip("/")
    uri = "file://" + urllib.parse.quote(place)
    assert path_of(libraries["other"], uri.encode()) == urllib.request.url2pathname(uri[7:]).encode()


LONG = "x" * 250
LONG_PATHS = [  # as GetFullPathNameW gives them, and as CreateFileW gets them
    (f"C:\\{LONG}\\ab.bin", f"\\\\?\\C:\\{LONG}\\ab.bin"),
    (f"C:\\{LONG}\\b ü.bin", f"\\\\?\\C:\\{LONG}\\b ü.bin"),
    (f"C:\\{LONG[:-3]}\\12345678", f"C:\\{LONG[:-3]}\\12345678"),  # 259
    (f"C:\\{LONG[:-2]}\\12345678", f"\\\\?\\C:\\{LONG[:-2]}\\12345678"),  # 260
    (f"\\\\server\\share\\{LONG}", f"\\\\?\\UNC\\server\\share\\{LONG}"),
    (f"\\\\?\\C:\\{LONG}{LONG}", f"\\\\?\\C:\\{LONG}{LONG}"),
    (f"\\\\.\\C:\\{LONG}{LONG}", f"\\\\.\\C:\\{LONG}{LONG}"),
    ("C:\\a", "C:\\a"),
    ("\\\\server\\share", "\\\\server\\share"),
]


@pytest.mark.parametrize(("full", "expected"), LONG_PATHS)
def test_a_path_of_windows_that_is_longer_than_its_programs_take_is_marked(
    libraries: dict[str, ctypes.CDLL], full: str, expected: str
) -> None:
    """With \\\\?\\ in front, without which a file there is not found."""
    room = 8  # CC_LONG_PREFIX
    text = np.frombuffer(("#" * room + full + "\0").encode("utf-16-le"), np.uint16).copy()
    library = libraries["windows"]
    library.long_path.restype = ctypes.c_void_p
    begin = (library.long_path(text.ctypes.data_as(ctypes.c_void_p)) - text.ctypes.data) // 2
    assert begin >= 0 and text[begin:].tobytes().decode("utf-16-le") == expected + "\0"
    assert set(text[:begin].tolist()) <= {ord("#")}


def test_a_map_that_a_signal_interrupts_is_begun_again(libraries: dict[str, ctypes.CDLL], tmp_path: Path) -> None:
    """As on file systems of the network, which wait for an answer."""
    file, library = tmp_path / "data", libraries["other"]
    file.write_bytes(bytes(100))
    for interrupted in (0, 1, 5):
        assert library.map_error(bytes(file), ctypes.c_ulonglong(100), interrupted) == 0
    assert library.map_error(bytes(file), ctypes.c_ulonglong(99), 1) == -1
    assert library.map_error(bytes(tmp_path / "none"), ctypes.c_ulonglong(100), 1) == errno.ENOENT


def sums_of(words: list[int]) -> tuple[int, ...]:
    """As the format has them, in whole numbers."""
    a = b = c = d = 0
    for word in words:
        a += word
        b += a
        c += b
        d += c
    return tuple(one % 2**64 for one in (a, b, c, d))


@pytest.mark.parametrize("count", [0, 16, 16 * 1024, 16 * 1025, 40_000])
def test_check_sums_are_the_same_in_c_and_python(libraries: dict[str, ctypes.CDLL], count: int) -> None:
    words = np.random.default_rng(count).integers(2**31, 2**32, count, np.uint32)
    sums = (ctypes.c_ulonglong * 4)()
    libraries["other"].add_up(words.ctypes.data_as(ctypes.c_void_p), ctypes.c_ulonglong(count), sums)
    assert tuple(sums) == check_sums(words.tobytes()) == sums_of(words.tolist())


def test_changes_of_one_and_two_words_change_the_check_sums() -> None:
    """Every bit, and words that change places, or by opposite amounts."""
    words = np.random.default_rng(1).integers(0, 2**32, 64, np.uint32)
    of_words = check_sums(words.tobytes())
    found = set()
    for bit in range(32 * len(words)):
        changed = words.copy()
        changed[bit // 32] ^= np.uint32(1 << bit % 32)
        found.add(check_sums(changed.tobytes()))
    for i in range(len(words)):
        for j in range(i):
            changed = words.copy()
            changed[[i, j]] = words[[j, i]]
            found.add(check_sums(changed.tobytes()))
    assert of_words not in found
    assert len(found) == 32 * 64 + 64 * 63 // 2
    assert check_sums(struct.pack("<2I", 5, 5)) != check_sums(struct.pack("<2I", 4, 6))
