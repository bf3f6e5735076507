"""Inspection of linked libraries: real ones from the zig compiler for five targets, each also spoiled in one way."""

from __future__ import annotations

import os
import random
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import fmpy
import pytest

from fmu_builder.errors import InputError, ToolError
from fmu_builder.export.binaries import check_library, merge_universal, read_library
from fmu_builder.export.cache import cache_folder

SOURCE = """
#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
int _fltused = 1;
int DllMainCRTStartup(void *library, unsigned reason, void *reserved)
{ (void)library; (void)reason; (void)reserved; return 1; }
int _DllMainCRTStartup(void *library, unsigned reason, void *reserved)
{ return DllMainCRTStartup(library, reason, reserved); }
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#if defined(CALL_SINE)
double sin(double angle);
#define SYSTEM(x) sin(x)
#elif defined(CALL_WEAK_SINE)
__attribute__((weak)) double sin(double angle);
#define SYSTEM(x) (sin ? sin(x) : (x))
#elif defined(CALL_WINDOWS)
__declspec(dllimport) unsigned long GetTickCount(void);
#define SYSTEM(x) ((x) + GetTickCount())
#else
#define SYSTEM(x) (x)
#endif

__attribute__((noinline)) double hidden_square(double x) { return x * x; }
EXPORT double contact_force(double depth) { return depth > 0 ? 1e5 * hidden_square(SYSTEM(depth)) : 0; }
EXPORT double friction_force(double slip_speed) { return -slip_speed * hidden_square(slip_speed); }
#if defined(PROTECTED_EXPORT)
__attribute__((visibility("protected"))) double leaked_force(double depth) { return hidden_square(depth) + 1; }
#elif defined(EXTRA_EXPORT)
EXPORT double leaked_force(double depth) { return hidden_square(depth) + 1; }
#endif
"""
EXPORTS = {"contact_force", "friction_force"}
ELF_FLAGS = ("-Wl,-z,defs",)
MACHO_FLAGS = ("-Wl,-install_name,@rpath/Pad.dylib",)
TARGETS = {  # name: target triple, file ending, flags
    "linux64": ("x86_64-linux-gnu.2.17", ".so", ELF_FLAGS),
    "aarch64-linux": ("aarch64-linux-gnu.2.17", ".so", ELF_FLAGS),
    "win64": ("x86_64-windows-gnu", ".dll", ()),
    "x86_64-darwin": ("x86_64-macos.11.0", ".dylib", MACHO_FLAGS),
    "aarch64-darwin": ("aarch64-macos.11.0", ".dylib", MACHO_FLAGS),
}
COMMON = (
    *("-std=c11", "-O2", "-fno-sanitize=undefined", "-fPIC", "-shared", "-s", "-fvisibility=hidden"),
    *("-ffp-contract=off", "-fno-fast-math", "-fno-math-errno", "-U__FP_FAST_FMA", "-Wall", "-Wextra"),
)
FREE = ("-ffreestanding", "-nostdlib")
PLATFORMS = ("linux64", "win64", "darwin64", "aarch64-linux", "aarch64-darwin")


@dataclass
class Compiler:
    """Compiles SOURCE; every distinct call once."""

    folder: Path
    built: dict[tuple[object, ...], bytes] = field(default_factory=dict)

    def __call__(
        self, name: str, *defines: str, link: tuple[str, ...] | None = None, mode: tuple[str, ...] = FREE
    ) -> bytes:
        target, ending, usual_link = TARGETS[name]
        key = (name, defines, link, mode)
        if key not in self.built:
            output = self.folder / str(len(self.built)) / f"Pad{ending}"
            output.parent.mkdir()
            source = self.folder / "pad.c"
            source.write_text(SOURCE, encoding="utf-8")
            command = [sys.executable, "-m", "ziglang", "cc", *COMMON, *mode, "-target", target]
            command += [f"-D{define}" for define in defines]
            command += [str(source), *(usual_link if link is None else link), "-o", str(output)]
            cache = str(cache_folder() / "zig")  # which knows the libraries of the system that some link
            caches = {name: cache for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}
            result = subprocess.run(command, env=os.environ | caches, capture_output=True, text=True, check=False)
            assert result.returncode == 0, result.stderr
            self.built[key] = output.read_bytes()
        return self.built[key]

    def platform(self, platform: str, *defines: str) -> bytes:
        """The library as an FMU holds it for `platform`."""
        if platform != "darwin64":
            return self(platform, *defines)
        return merge_universal({"x86_64": self("x86_64-darwin", *defines), "aarch64": self("aarch64-darwin", *defines)})


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Compiler:
    return Compiler(tmp_path_factory.mktemp("binaries"))


def problems(data: bytes, platform: str, exports: set[str] = EXPORTS) -> list[str]:
    return [str(problem) for problem in check_library(data, expected_exports=exports, platform=platform, where="Pad")]


def only_problem(data: bytes, platform: str, exports: set[str] = EXPORTS) -> str:
    (problem,) = problems(data, platform, exports)
    return problem


def header_number(data: bytes, layout: str, offset: int) -> int:
    return int(struct.unpack_from(layout, data, offset)[0])


def replaced(data: bytes, offset: int, new: bytes) -> bytes:
    return data[:offset] + new + data[offset + len(new) :]


def load_command(data: bytes, wanted: int) -> int:
    """Offset of a load command in a thin Mach-O file."""
    offset = 32
    for _ in range(header_number(data, "<I", 16)):
        if header_number(data, "<I", offset) == wanted:
            return offset
        offset += header_number(data, "<I", offset + 4)
    raise AssertionError(f"no load command {wanted:#x}")


# ---- Good libraries --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_self_contained_library_passes_on_every_platform(compiler: Compiler, platform: str) -> None:
    assert problems(compiler.platform(platform), platform) == []


@pytest.mark.parametrize(
    ("name", "file_format", "machine"),
    [
        ("linux64", "elf", "x86_64"),
        ("aarch64-linux", "elf", "aarch64"),
        ("win64", "pe", "x86_64"),
        ("x86_64-darwin", "macho", "x86_64"),
        ("aarch64-darwin", "macho", "aarch64"),
    ],
)
def test_reader_tells_format_machine_and_names(compiler: Compiler, name: str, file_format: str, machine: str) -> None:
    (library,) = read_library(compiler(name))
    assert (library.format, library.machine) == (file_format, machine)
    if file_format == "macho":
        assert library.exports == {"_contact_force", "_friction_force", "__mh_dylib_header", "___dso_handle"}
        assert library.imports == {"/usr/lib/libSystem.B.dylib"}
        assert library.undefined == {"dyld_stub_binder"}
        assert library.install_name == "@rpath/Pad.dylib"
    else:
        assert (library.exports, library.imports, library.undefined) == (EXPORTS, set(), set())
        assert library.install_name is None
    assert library.signed is (True if name == "aarch64-darwin" else None)


def test_reader_takes_a_path_and_names_it_in_errors(compiler: Compiler, tmp_path: Path) -> None:
    path = tmp_path / "Pad.so"
    path.write_bytes(compiler("linux64"))
    assert read_library(path) == read_library(compiler("linux64"))
    path.write_text("a note, not a library\n", encoding="utf-8")
    with pytest.raises(ToolError, match=r"Pad\.so: starts with 61206e6f"):
        read_library(path)
    with pytest.raises(ToolError, match=r"absent\.so: cannot be read: No such file"):
        read_library(tmp_path / "absent.so")


# ---- Exports ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("platform", PLATFORMS)
def test_missing_export_is_found(compiler: Compiler, platform: str) -> None:
    found = problems(compiler.platform(platform), platform, EXPORTS | {"joint_force"})
    assert len(found) == (2 if platform == "darwin64" else 1)  # one per slice
    assert all("does not export" in problem and "joint_force; " in problem for problem in found)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_extra_export_is_found(compiler: Compiler, platform: str) -> None:
    data = compiler.platform(platform, "EXTRA_EXPORT")
    found = problems(data, platform)
    assert len(found) == (2 if platform == "darwin64" else 1)
    assert all("exports" in problem and "leaked_force; nothing but" in problem for problem in found)
    assert problems(data, platform, EXPORTS | {"leaked_force"}) == []


def test_protected_function_counts_as_export(compiler: Compiler) -> None:
    assert "exports leaked_force;" in only_problem(compiler("linux64", "PROTECTED_EXPORT"), "linux64")


def test_mach_o_without_a_trie_is_read_from_its_symbol_table(compiler: Compiler) -> None:
    data = compiler("aarch64-darwin")
    command = load_command(data, 0x80000022)  # LC_DYLD_INFO_ONLY becomes a command that the reader does not know
    without_trie = replaced(data, command, struct.pack("<I", 0x7F))
    assert read_library(without_trie)[0].exports == read_library(data)[0].exports
    # _hidden_square, marked hidden (N_PEXT) and external (N_EXT) as in object files, is still no export.
    symbols, count, names = struct.unpack_from("<III", without_trie, load_command(data, 0x2) + 8)
    hidden = without_trie.index(b"_hidden_square\0", names) - names
    (place,) = [at for at in range(symbols, symbols + 16 * count, 16) if header_number(data, "<I", at) == hidden]
    without_trie = replaced(without_trie, place + 4, bytes([without_trie[place + 4] | 0x11]))
    assert read_library(without_trie)[0].exports == read_library(data)[0].exports


def test_both_forms_of_export_trie_give_the_same_names(compiler: Compiler) -> None:
    data = compiler("aarch64-darwin")
    command = load_command(data, 0x80000022)
    trie_place = data[command + 40 : command + 48]
    newer = replaced(data, command, struct.pack("<I", 0x80000033) + data[command + 4 : command + 8] + trie_place)
    # Without symbols the names can come from the trie alone.
    newer = replaced(newer, load_command(data, 0x2) + 12, struct.pack("<I", 0))
    assert read_library(newer)[0].exports == read_library(data)[0].exports
    empty = replaced(newer, command + 12, struct.pack("<I", 0))
    assert read_library(empty)[0].exports == set()


def test_trie_that_runs_in_a_circle_is_refused(compiler: Compiler) -> None:
    data = compiler("aarch64-darwin")
    place = load_command(data, 0x80000022) + 40
    circle = b"\0\1_\0\0"  # a node without export and one edge "_" back to itself
    offset = header_number(data, "<I", place)
    data = replaced(data, place + 4, struct.pack("<I", len(circle)))
    with pytest.raises(ToolError, match="export trie reaches its node at 0 on two paths"):
        read_library(replaced(data, offset, circle))


# ---- Imports ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def libm(tmp_path: Path) -> str:
    """A library with the name of the C library's, its function and the version of that."""
    source, versions, library = tmp_path / "libm.c", tmp_path / "versions", tmp_path / "libm.so"
    source.write_text("double sin(double x) { return x; }\n", encoding="utf-8")
    versions.write_text("GLIBC_2.2.5 { global: sin; };\n", encoding="utf-8")
    command = [sys.executable, "-m", "ziglang", "cc", "-target", TARGETS["linux64"][0], *FREE, "-shared", "-fPIC"]
    command += ["-fno-builtin", "-Wl,-soname,libm.so.6", f"-Wl,--version-script={versions}", str(source)]
    caches = dict.fromkeys(("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"), str(cache_folder() / "zig"))
    subprocess.run([*command, "-o", str(library)], env=os.environ | caches, check=True)
    return str(library)


def test_library_that_needs_libm_is_refused(compiler: Compiler, libm: str) -> None:
    refuses_libm(compiler("linux64", "CALL_SINE", link=(libm,)))


@pytest.mark.slow  # zig compiles its runtime library for this
def test_library_that_needs_libm_of_the_c_library_is_refused(compiler: Compiler) -> None:
    refuses_libm(compiler("linux64", "CALL_SINE", link=("-lm",), mode=()))


def refuses_libm(data: bytes) -> None:
    (library,) = read_library(data)
    assert library.imports >= {"libm.so.6", "sin"}
    assert "sin" in library.undefined
    found = only_problem(data, "linux64")
    assert "libm.so.6" in found and "sin" in found and "it may import nothing" in found


@pytest.mark.parametrize("name", ["linux64", "aarch64-linux"])
@pytest.mark.parametrize(("define", "undefined"), [("CALL_SINE", {"sin"}), ("CALL_WEAK_SINE", set())])
def test_undefined_function_is_an_import_even_if_weak(
    compiler: Compiler, name: str, define: str, undefined: set[str]
) -> None:
    data = compiler(name, define, link=())
    (library,) = read_library(data)
    assert (library.imports, library.undefined) == ({"sin"}, undefined)
    assert "imports sin; it may import nothing" in only_problem(data, name)


def test_import_of_a_windows_dll_is_found(compiler: Compiler) -> None:
    data = compiler("win64", "CALL_WINDOWS", link=("-lkernel32",))
    assert read_library(data)[0].imports == {"KERNEL32.dll"}
    assert "imports KERNEL32.dll; it may import nothing" in only_problem(data, "win64")


def test_sine_of_the_macos_system_library_is_found_though_it_links(compiler: Compiler) -> None:
    found = only_problem(compiler("aarch64-darwin", "CALL_SINE"), "aarch64-darwin")
    assert "imports _sin from the system" in found


def test_weak_reference_of_a_dylib_is_not_counted_as_undefined(compiler: Compiler) -> None:
    data = compiler("aarch64-darwin", "CALL_SINE")
    symbols, count, names = struct.unpack_from("<III", data, load_command(data, 0x2) + 8)
    sine = data.index(b"_sin\0", names) - names
    (place,) = [at for at in range(symbols, symbols + 16 * count, 16) if header_number(data, "<I", at) == sine]
    weak = replaced(data, place + 6, struct.pack("<H", header_number(data, "<H", place + 6) | 0x40))  # N_WEAK_REF
    assert read_library(data)[0].undefined == {"dyld_stub_binder", "_sin"}
    assert read_library(weak)[0].undefined == {"dyld_stub_binder"}


def test_second_library_of_a_dylib_is_found(compiler: Compiler, tmp_path: Path) -> None:
    other = tmp_path / "Other.dylib"
    other.write_bytes(compiler("aarch64-darwin", link=("-Wl,-install_name,@rpath/Other.dylib",)))
    found = only_problem(compiler("aarch64-darwin", link=(*MACHO_FLAGS, str(other))), "aarch64-darwin")
    assert "imports @rpath/Other.dylib; it may import only libSystem" in found


# ---- Signature, names, folders, stack --------------------------------------------------------------------------------


def test_every_signed_page_is_checked(compiler: Compiler) -> None:
    data = compiler("aarch64-darwin")
    signature = header_number(data, "<I", load_command(data, 0x1D) + 8)
    text_at = 0x1400  # behind the load commands, in the first page
    for offset, page in ((text_at, 0), (0x4000, 1), (0x8001, 2), (signature - 1, signature // 0x4000)):
        spoiled = replaced(data, offset, bytes([data[offset] ^ 1]))
        assert f"page {page} of 4 differs from its signed hash" in only_problem(spoiled, "aarch64-darwin")
        assert read_library(spoiled)[0].signed is False


def test_signature_must_be_there_ad_hoc_and_cover_the_file(compiler: Compiler) -> None:
    data = compiler("aarch64-darwin")
    command = load_command(data, 0x1D)
    directory = header_number(data, "<I", command + 8) + 20  # behind the header and an index of one
    assert data[directory : directory + 4] == b"\xfa\xde\x0c\x02"
    spoiled = {
        "no code signature": replaced(data, command, struct.pack("<I", 0x7F)),
        "without a code directory": replaced(data, directory - 20, b"\0\0\0\0"),
        "is not ad hoc": replaced(data, directory + 12, struct.pack(">I", 0x20000)),
        "SHA-256 is type 2": replaced(data, directory + 37, b"\1"),
        "macOS uses 2^12 to 2^14": replaced(data, directory + 39, b"\x20"),
        "bytes lie before it": replaced(
            data, directory + 32, struct.pack(">I", header_number(data, "<I", command + 8) - 16)
        ),
    }
    for what, library in spoiled.items():
        assert what in only_problem(library, "aarch64-darwin")


def test_unsigned_intel_slice_is_accepted_and_a_spoiled_arm_slice_is_named(compiler: Compiler) -> None:
    data = compiler.platform("darwin64")
    arm = len(data) - len(compiler("aarch64-darwin"))
    spoiled = replaced(data, arm + 0x8001, bytes([data[arm + 0x8001] ^ 1]))
    assert only_problem(spoiled, "darwin64").startswith("Pad (aarch64 slice): page 2 of 4 differs")


def test_absolute_install_name_is_refused(compiler: Compiler) -> None:
    data = compiler("aarch64-darwin", link=("-Wl,-install_name,/opt/Pad.dylib",))
    assert "has install name '/opt/Pad.dylib'; it must be '@rpath/...'" in only_problem(data, "aarch64-darwin")


@pytest.mark.parametrize("flag", ["--enable-new-dtags", "--disable-new-dtags"])  # RUNPATH and RPATH
def test_run_path_is_refused(compiler: Compiler, flag: str) -> None:
    data = compiler("linux64", link=(*ELF_FLAGS, "-Wl,-rpath,/opt/pads", f"-Wl,{flag}"))
    assert "has run path '/opt/pads'; it may have none" in only_problem(data, "linux64")


def test_run_path_of_a_dylib_is_refused(compiler: Compiler) -> None:
    data = compiler("aarch64-darwin", link=(*MACHO_FLAGS, "-Wl,-rpath,/opt/pads"))
    assert "has run path '/opt/pads'; it may have none" in only_problem(data, "aarch64-darwin")


@pytest.mark.parametrize("name", ["linux64", "aarch64-linux"])
def test_executable_or_undeclared_stack_is_refused(compiler: Compiler, name: str) -> None:
    data = compiler(name)
    segments, count = header_number(data, "<Q", 32), header_number(data, "<H", 56)
    places = [segments + 56 * number for number in range(count)]
    (stack,) = [place for place in places if header_number(data, "<I", place) == 0x6474E551]
    executable = replaced(data, stack + 4, struct.pack("<I", 7))
    undeclared = replaced(data, stack, struct.pack("<I", 0))
    for spoiled in (executable, undeclared):
        assert "requests an executable stack" in only_problem(spoiled, name)


# ---- Wrong and broken files ------------------------------------------------------------------------------------------


def test_every_library_passes_on_its_own_platform_alone(compiler: Compiler) -> None:
    for built_for in PLATFORMS:
        for platform in PLATFORMS:
            found = problems(compiler.platform(built_for), platform)
            assert (found == []) is (built_for == platform)
    assert only_problem(compiler("linux64"), "aarch64-linux") == (
        "Pad: holds elf x86_64; aarch64-linux needs elf aarch64"
    )
    assert only_problem(compiler("x86_64-darwin"), "darwin64") == (
        "Pad: holds macho x86_64; darwin64 needs macho aarch64 and macho x86_64"
    )


def test_unknown_platform_is_an_input_error(compiler: Compiler) -> None:
    with pytest.raises(InputError, match="platform 'linux' is unknown; did you mean 'linux64'"):
        problems(compiler("linux64"), "linux")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_truncated_library_is_refused_wherever_it_ends(compiler: Compiler, platform: str) -> None:
    data = compiler.platform(platform)
    chance = random.Random(20)
    lengths = {0, 1, 4, 8, 63, 64, len(data) - 1, *(chance.randrange(len(data)) for _ in range(300))}
    lengths |= {chance.randrange(2000) for _ in range(300)}
    for length in sorted(lengths):
        with pytest.raises(ToolError, match=r"Pad.*: (truncated: .* \d+|starts with)"):
            read_library(data[:length], "Pad")
        assert len(problems(data[:length], platform)) == 1


@pytest.mark.parametrize("platform", PLATFORMS)
def test_damaged_library_is_read_or_refused_but_never_breaks_the_reader(compiler: Compiler, platform: str) -> None:
    """Random bytes in headers and tables: the only exception may be ToolError."""
    data = compiler.platform(platform)
    chance = random.Random(21)
    starts = [0, len(data) - 1200, *([0x4000, 0xC000, 0x10000] if platform == "darwin64" else [0xC000])]
    refused = 0
    for _ in range(1500):
        damaged = bytearray(data)
        start = chance.choice(starts)
        for _ in range(chance.choice((1, 1, 4))):
            offset = min(start + chance.randrange(1200), len(data) - 1)
            damaged[offset] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        try:
            read_library(bytes(damaged))
        except ToolError as error:
            refused += 1
            assert all(problem.where and problem.what for problem in error.problems)
    assert 0 < refused < 1500


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (lambda data: replaced(data, 4, b"\1"), "ELF class 1"),
        (lambda data: replaced(data, 16, b"\2"), "ELF type 2 is not a shared library"),
        (lambda data: replaced(data, 18, b"\3\0"), "machine code 0x3 is neither x86_64 nor aarch64"),
        (lambda data: b"#!/bin/sh\n" + data, "neither ELF"),
        (lambda data: b"", "starts with nothing"),
    ],
)
def test_what_is_no_64_bit_shared_library_is_refused(
    compiler: Compiler, spoil: Callable[[bytes], bytes], what: str
) -> None:
    assert what in only_problem(spoil(compiler("linux64")), "linux64")


def test_segment_longer_than_the_file_is_refused(compiler: Compiler) -> None:
    elf, mac = compiler("linux64"), compiler("x86_64-darwin")
    segment = header_number(elf, "<Q", 32) + 56  # the second, for the first holds the table itself
    with pytest.raises(ToolError, match="truncated: the ELF segment of type 0x1 takes 1000000 bytes"):
        read_library(replaced(elf, segment + 32, struct.pack("<Q", 10**6)))
    with pytest.raises(ToolError, match="truncated: a Mach-O segment takes 1000000 bytes"):
        read_library(replaced(mac, load_command(mac, 0x19) + 48, struct.pack("<Q", 10**6)))


def test_tables_that_contradict_each_other_are_refused(compiler: Compiler) -> None:
    elf, mac = compiler("linux64"), compiler("x86_64-darwin")
    sections, count = header_number(elf, "<Q", 40), header_number(elf, "<H", 60)
    places = [sections + 64 * number for number in range(count)]
    (symbols,) = [place for place in places if header_number(elf, "<I", place + 4) == 11]
    with pytest.raises(ToolError, match="name different symbol tables"):
        read_library(replaced(elf, symbols + 16, struct.pack("<Q", 0x10)))
    with pytest.raises(ToolError, match="no dynamic symbol table"):
        read_library(replaced(elf, symbols + 4, struct.pack("<I", 0)))
    with pytest.raises(ToolError, match="Mach-O load command 0 has 0 bytes"):
        read_library(replaced(mac, 36, struct.pack("<I", 0)))
    install = load_command(mac, 0xD)
    size = header_number(mac, "<I", install + 4)
    with pytest.raises(ToolError, match="truncated: a name in a load command at 24 has no end"):
        read_library(replaced(mac, install + 24, b"x" * (size - 24)))


def test_programs_are_no_libraries(compiler: Compiler) -> None:
    windows, mac = compiler("win64"), compiler("aarch64-darwin")
    flags = header_number(windows, "<I", 0x3C) + 22
    assert "not a DLL" in only_problem(replaced(windows, flags, b"\x22\0"), "win64")
    assert "Mach-O type 2" in only_problem(replaced(mac, 12, b"\2"), "aarch64-darwin")


# ---- Universal libraries ---------------------------------------------------------------------------------------------


def test_universal_library_holds_both_slices_unchanged_on_page_boundaries(compiler: Compiler) -> None:
    slices = {"aarch64": compiler("aarch64-darwin"), "x86_64": compiler("x86_64-darwin")}
    merged = merge_universal(slices)
    magic, count, *entries = struct.unpack_from(">12I", merged)
    assert (magic, count) == (0xCAFEBABE, 2)
    intel, arm = entries[:5], entries[5:]
    assert (intel[0], intel[4]) == (0x01000007, 12)
    assert (arm[0], arm[4]) == (0x0100000C, 14)
    assert intel[2] == 0x1000 and arm[2] % 0x4000 == 0
    assert merged[intel[2] : intel[2] + intel[3]] == slices["x86_64"]
    assert merged[arm[2] :] == slices["aarch64"]
    assert not any(merged[48 : intel[2]]) and not any(merged[intel[2] + intel[3] : arm[2]])
    assert merged == merge_universal(dict(reversed(slices.items())))
    assert [library.machine for library in read_library(merged)] == ["x86_64", "aarch64"]


def test_wrong_slices_are_refused_all_at_once(compiler: Compiler) -> None:
    with pytest.raises(ToolError) as refusal:
        merge_universal({"x86_64": compiler("aarch64-darwin"), "aarch64": b"text"})
    assert [problem.where for problem in refusal.value.problems] == ["x86_64 slice", "aarch64 slice"]
    single = merge_universal({"aarch64": compiler("aarch64-darwin")})
    for slices in ({}, {"x86_64": compiler("linux64")}, {"aarch64": single}):
        with pytest.raises(ToolError):
            merge_universal(slices)


def test_slice_of_another_machine_than_the_universal_header_says_is_refused(compiler: Compiler) -> None:
    data = compiler.platform("darwin64")
    with pytest.raises(ToolError, match=r"library \(aarch64 slice\): starts with cffaedfe07000001"):
        read_library(replaced(data, 8, struct.pack(">I", 0x0100000C)))


# ---- Foreign libraries -----------------------------------------------------------------------------------------------

FMPY = Path(fmpy.__file__).parent


def test_all_libraries_bundled_with_fmpy_are_read() -> None:
    paths = sorted(path for path in FMPY.rglob("*") if path.suffix in {".so", ".dll", ".dylib"})
    formats = set()
    for path in paths:
        if "win32" in path.parts:
            with pytest.raises(ToolError, match="machine code 0x14c is neither x86_64 nor aarch64"):
                read_library(path)
            continue
        for library in read_library(path):
            formats.add(library.format)
            assert library.exports and library.imports, path
            assert problems(path.read_bytes(), "linux64"), path
    assert formats == {"elf", "pe", "macho"}


@pytest.mark.parametrize("ending", [".so", ".dll", ".dylib"])
def test_solver_bundled_with_fmpy_exports_its_entry_points(ending: str) -> None:
    paths = sorted(FMPY.rglob(f"*sundials_cvode*{ending}"))
    assert paths
    underscore = "_" if ending == ".dylib" else ""
    for path in paths:
        for library in read_library(path):
            assert {f"{underscore}{name}" for name in ("CVode", "CVodeInit", "CVodeFree")} <= library.exports
            assert any("sundials_core" in name for name in library.imports)
