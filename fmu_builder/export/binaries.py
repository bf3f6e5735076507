"""Inspection of freshly linked shared libraries: what an FMU's binaries export, what they need, whether they can load.

A library of an FMU stands on its own: it exports the declared functions and nothing else, and imports nothing from the
computer it runs on.  An imported function (such as a sine of the C library) could differ between computers, and the
same FMU would not give the same bits.  Linkers do not enforce this: on macOS the system library is always linked, so a
call of its `sin` links silently.

ELF (Linux), PE (Windows) and Mach-O (macOS) are read with `struct` alone; 64 bits, little endian.
Why not LIEF: version 1.0 takes 0.5 s to import, reads truncated libraries without a complaint, checks no page hashes.
References: System V ABI and its gABI; Microsoft PE format; Apple's <mach-o/loader.h>, <mach-o/nlist.h>, cs_blobs.h.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from fmu_builder.errors import InputError, Problem, ToolError, did_you_mean, listed

Format = Literal["elf", "pe", "macho"]
Machine = Literal["x86_64", "aarch64"]

_ELF_MACHINES: dict[int, Machine] = {62: "x86_64", 183: "aarch64"}
_PE_MACHINES: dict[int, Machine] = {0x8664: "x86_64", 0xAA64: "aarch64"}
_MACHO_MACHINES: dict[int, Machine] = {0x01000007: "x86_64", 0x0100000C: "aarch64"}
_PAGE_BITS: dict[Machine, int] = {"x86_64": 12, "aarch64": 14}  # macOS: 4 KiB and 16 KiB pages

_FAT_MAGIC = b"\xca\xfe\xba\xbe"
_MACHO_MAGIC = b"\xcf\xfa\xed\xfe"
_SYSTEM_LIBRARY = "/usr/lib/libSystem.B.dylib"
# Exported by zig's Mach-O linker whatever its options are; harmless, since macOS looks names up per library.
_MACHO_LINKER_EXPORTS = frozenset({"__mh_dylib_header", "___dso_handle"})
# The one symbol that every dylib of the zig linker takes from the system library: it fills in the others.
_MACHO_BINDER = frozenset({"dyld_stub_binder"})
_SHOWN = 10  # names in a message

_PLATFORMS: dict[str, list[tuple[Format, Machine]]] = {
    "linux64": [("elf", "x86_64")],
    "win64": [("pe", "x86_64")],
    "darwin64": [("macho", "aarch64"), ("macho", "x86_64")],
    "aarch64-linux": [("elf", "aarch64")],
    "aarch64-darwin": [("macho", "aarch64")],
    "x86_64-darwin": [("macho", "x86_64")],  # of FMI 3.0
}


@dataclass(frozen=True)
class Library:
    """One shared library for one machine.  Names are those of the file: on Mach-O a C function `f` is `_f`.

    exports           names that others can look up
    imports           what the loader must find: ELF needed libraries and undefined dynamic symbols (weak ones too),
                      PE names of DLLs, Mach-O install names of libraries
    undefined         undefined dynamic symbols other than weak ones; empty for PE
    install_name      Mach-O: the name that programs linked to the library record, None elsewhere
    run_path          ELF RPATH or RUNPATH, Mach-O LC_RPATH: folders searched for imports; None without
    executable_stack  ELF: the loader is asked (or, without a PT_GNU_STACK, free) to make stacks executable
    signature_fault   Mach-O aarch64: what is wrong with the ad-hoc code signature, empty if nothing
    """

    format: Format
    machine: Machine
    exports: frozenset[str]
    imports: frozenset[str]
    undefined: frozenset[str]
    install_name: str | None = None
    run_path: str | None = None
    executable_stack: bool = False
    signature_fault: str = ""

    @property
    def signed(self) -> bool | None:
        """Mach-O aarch64: an ad-hoc signature is present and every page has the signed hash.  None elsewhere."""
        return not self.signature_fault if (self.format, self.machine) == ("macho", "aarch64") else None


@dataclass(frozen=True)
class _Image:
    """Bytes of a file, with reads that end in a ToolError where the bytes end."""

    data: bytes
    where: str

    def refusal(self, what: str) -> ToolError:
        return ToolError(Problem(self.where, what))

    def take(self, offset: int, size: int, what: str) -> bytes:
        if offset + size > len(self.data):
            raise self.refusal(f"truncated: {what} takes {size} bytes from {offset}, the file has {len(self.data)}")
        return self.data[offset : offset + size]

    def part(self, offset: int, size: int, what: str) -> _Image:
        """A part of the file whose offsets count from its own start."""
        return _Image(self.take(offset, size, what), self.where)

    def unpack(self, layout: str, offset: int, what: str) -> tuple[Any, ...]:
        return struct.unpack(layout, self.take(offset, struct.calcsize(layout), what))

    def records(self, layout: str, offset: int, count: int, what: str) -> Iterator[tuple[Any, ...]]:
        return struct.iter_unpack(layout, self.take(offset, count * struct.calcsize(layout), what))

    def text(self, offset: int, what: str) -> str:
        """The zero-terminated name at `offset`."""
        end = self.data.find(b"\0", offset)
        if end < 0:
            raise self.refusal(f"truncated: {what} at {offset} has no end, the file has {len(self.data)} bytes")
        return self.data[offset:end].decode("utf-8", "backslashreplace")

    def machine(self, code: int, machines: Mapping[int, Machine]) -> Machine:
        if code not in machines:
            raise self.refusal(f"machine code {code:#x} is neither x86_64 nor aarch64")
        return machines[code]


# ---- ELF -------------------------------------------------------------------------------------------------------------


def _read_elf(image: _Image) -> Library:
    bits, order = image.unpack("<BB", 4, "the ELF identification")
    if (bits, order) != (2, 1):
        raise image.refusal(f"ELF class {bits} and byte order {order}; a library here has class 2 (64 bits), order 1")
    header = image.unpack("<HHIQQQIHHHHHH", 16, "the ELF header")
    machine = image.machine(header[1], _ELF_MACHINES)
    segments_at, sections_at = header[4:6]
    segment_size, segment_count, section_size, section_count = header[8:12]
    if header[0] != 3:
        raise image.refusal(f"ELF type {header[0]} is not a shared library (type 3)")
    if (segment_size, section_size) != (56, 64):
        raise image.refusal(f"ELF table entries of {segment_size} and {section_size} bytes; 64-bit ELF has 56 and 64")

    dynamic: list[tuple[Any, ...]] = []
    executable_stack = True  # the rule of the loader when PT_GNU_STACK is missing
    segments = image.records("<IIQ16xQ16x", segments_at, segment_count, "the ELF program headers")
    for segment_type, flags, offset, size in segments:
        image.take(offset, size, f"the ELF segment of type {segment_type:#x}")
        if segment_type == 2:  # PT_DYNAMIC
            dynamic = list(image.records("<qQ", offset, size // 16, "the ELF dynamic section"))
        elif segment_type == 0x6474E551:  # PT_GNU_STACK
            executable_stack = bool(flags & 1)

    # The loader finds symbols by hash tables; the section headers of a freshly linked library give the whole table.
    sections = list(image.records("<IIQQQQIIQQ", sections_at, section_count, "the ELF section headers"))
    symbol_table = next((section for section in sections if section[1] == 11), None)  # SHT_DYNSYM
    if symbol_table is None or symbol_table[6] >= section_count:
        raise image.refusal("no dynamic symbol table among the ELF section headers")
    strings = sections[symbol_table[6]]
    tags = dict(reversed(dynamic))
    if (tags.get(6), tags.get(5)) != (symbol_table[3], strings[3]):  # DT_SYMTAB, DT_STRTAB
        raise image.refusal("the ELF section headers and the dynamic section name different symbol tables")

    def name(offset: int) -> str:
        return image.text(strings[4] + offset, "an ELF dynamic name")

    needed = {name(value) for tag, value in dynamic if tag == 1}  # DT_NEEDED
    run_paths = [name(value) for tag, value in dynamic if tag in (15, 29)]  # DT_RPATH, DT_RUNPATH
    exports, undefined, weak = set[str](), set[str](), set[str]()
    symbols = image.records("<IBBH16x", symbol_table[4], symbol_table[5] // 24, "the ELF dynamic symbols")
    for name_at, info, other, section_index in symbols:
        binding, visibility = info >> 4, other & 3
        if binding == 0:  # STB_LOCAL
            continue
        if section_index == 0:  # SHN_UNDEF
            (weak if binding == 2 else undefined).add(name(name_at))
        elif visibility in (0, 3):  # STV_DEFAULT, STV_PROTECTED
            exports.add(name(name_at))
    return Library(
        format="elf",
        machine=machine,
        exports=frozenset(exports),
        imports=frozenset(needed | undefined | weak),
        undefined=frozenset(undefined),
        run_path=":".join(run_paths) or None,
        executable_stack=executable_stack,
    )


# ---- PE --------------------------------------------------------------------------------------------------------------


def _read_pe(image: _Image) -> Library:
    (header_at,) = image.unpack("<I", 0x3C, "the DOS header")
    if image.take(header_at, 4, "the PE signature") != b"PE\0\0":
        raise image.refusal("starts like a Windows program, but holds no PE signature")
    machine_code, section_count, optional_size, flags = image.unpack("<HH12xHH", header_at + 4, "the PE header")
    machine = image.machine(machine_code, _PE_MACHINES)
    if not flags & 0x2000:
        raise image.refusal("a Windows program, not a DLL")
    optional_at = header_at + 24
    (magic,) = image.unpack("<H", optional_at, "the PE optional header")
    if magic != 0x20B:
        raise image.refusal(f"PE optional header {magic:#x} is not the 64-bit one (0x20b)")

    (directory_count,) = image.unpack("<I", optional_at + 108, "the PE optional header")
    directories = [
        address
        for address, _ in image.records("<II", optional_at + 112, min(directory_count, 16), "the PE data directories")
    ] + [0] * 16
    sections = list(image.records("<12x3I16x", optional_at + optional_size, section_count, "the PE section headers"))
    for _, size, offset in sections:
        image.take(offset, size, "a PE section")

    def at(address: int, what: str) -> int:
        """File offset of a virtual address."""
        for start, size, offset in sections:
            if start <= address < start + size:
                return int(address - start + offset)
        raise image.refusal(f"{what} at virtual address {address:#x} lies in no PE section")

    return Library(
        format="pe",
        machine=machine,
        exports=frozenset(_pe_exports(image, at, directories[0])),
        # A record is five words with the DLL's name in the fourth, or eight words with the name in the second.
        imports=frozenset(_pe_dlls(image, at, directories[1], 5, 3) | _pe_dlls(image, at, directories[13], 8, 1)),
        undefined=frozenset(),
    )


def _pe_exports(image: _Image, at: Callable[[int, str], int], directory: int) -> set[str]:
    what = "the PE export directory"
    count, names = image.unpack("<24xI4xI4x", at(directory, what), what) if directory else (0, 0)
    addresses = image.records("<I", at(names, what), count, what) if count else ()
    return {image.text(at(address, what), what) for (address,) in addresses}


def _pe_dlls(image: _Image, at: Callable[[int, str], int], directory: int, words: int, name_word: int) -> set[str]:
    what = "the PE import directory"
    dlls: set[str] = set()
    offset = at(directory, what) if directory else 0
    while directory and any(record := image.unpack(f"<{words}I", offset, what)):  # the last record is all zero
        dlls.add(image.text(at(record[name_word], what), what))
        offset += 4 * words
    return dlls


# ---- Mach-O ----------------------------------------------------------------------------------------------------------

_LOAD_LIBRARY = (0xC, 0x20, 0x80000018, 0x8000001F, 0x80000023)  # LC_LOAD_DYLIB and its lazy, weak, ... variants


def _read_macho(image: _Image) -> Library:
    magic, machine_code, kind, command_count = image.unpack("<4sI4xII12x", 0, "the Mach-O header")
    if magic != _MACHO_MAGIC:
        raise image.refusal(f"starts with {magic.hex()}, not as a 64-bit Mach-O file (cffaedfe)")
    machine = image.machine(machine_code, _MACHO_MACHINES)
    if kind != 6:
        raise image.refusal(f"Mach-O type {kind} is not a dynamic library (type 6)")

    commands: list[tuple[int, _Image]] = []
    offset = 32
    for number in range(command_count):
        command, size = image.unpack("<II", offset, f"Mach-O load command {number}")
        if size < 8:
            raise image.refusal(f"Mach-O load command {number} has {size} bytes; at least 8 are needed")
        commands.append((command, image.part(offset, size, f"Mach-O load command {number}")))
        offset += size

    def words(layout: str, at: int, *kinds: int) -> list[tuple[Any, ...]]:
        """Numbers at one place in all load commands of the given kinds."""
        return [body.unpack(layout, at, f"a load command {kind:#x}") for kind, body in commands if kind in kinds]

    def names(*kinds: int) -> list[str]:
        what = "a name in a load command"
        return [body.text(body.unpack("<I", 8, what)[0], what) for kind, body in commands if kind in kinds]

    for file_offset, file_size in words("<QQ", 40, 0x19):  # LC_SEGMENT_64
        image.take(file_offset, file_size, "a Mach-O segment")
    exported, undefined = set[str](), set[str]()
    for place in words("<IIII", 8, 0x2):  # LC_SYMTAB
        exported, undefined = _macho_symbols(image, *place)
    # LC_DYLD_INFO, LC_DYLD_INFO_ONLY, LC_DYLD_EXPORTS_TRIE: the loader finds exports by the trie alone
    for trie_at, trie_size in words("<II", 40, 0x22, 0x80000022) + words("<II", 8, 0x80000033):
        exported = _trie_names(image.part(trie_at, trie_size, "the export trie"))
    signature_fault = ""
    if machine == "aarch64":  # macOS requires no signature for other machines
        signatures = words("<II", 8, 0x1D)  # LC_CODE_SIGNATURE
        signature_fault = _signature_fault(image, *signatures[0]) if signatures else "no code signature"
    return Library(
        format="macho",
        machine=machine,
        exports=frozenset(exported),
        imports=frozenset(names(*_LOAD_LIBRARY)),
        undefined=frozenset(undefined),
        install_name=next(iter(names(0xD)), None),  # LC_ID_DYLIB
        run_path=":".join(names(0x8000001C)) or None,  # LC_RPATH
        signature_fault=signature_fault,
    )


def _macho_symbols(image: _Image, offset: int, count: int, names_at: int, names_size: int) -> tuple[set[str], set[str]]:
    """Names that the symbol table exports, and names it leaves undefined (weak references left out)."""
    names = image.part(names_at, names_size, "the Mach-O symbol names")
    exported, undefined = set(), set()
    for name_at, kind, description in image.records("<IBxH8x", offset, count, "the Mach-O symbol table"):
        if kind & 0xF1 != 1:  # N_STAB or N_PEXT (debugger's or hidden), or not N_EXT
            continue
        if kind & 0xE:  # N_TYPE; zero is N_UNDF
            exported.add(names.text(name_at, "a Mach-O symbol name"))
        elif not description & 0x40:  # N_WEAK_REF
            undefined.add(names.text(name_at, "a Mach-O symbol name"))
    return exported, undefined


def _trie_names(trie: _Image) -> set[str]:
    """All names of an export trie: a tree whose edges carry the pieces of the names.

    Node: size of the export record (ULEB128), the record if the size is not zero, number of edges (one byte), then per
    edge its piece of name (zero-terminated) and the offset of its node (ULEB128)."""

    def number(offset: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            (byte,) = trie.unpack("<B", offset, "the export trie")
            value |= (byte & 0x7F) << shift
            offset, shift = offset + 1, shift + 7
            if byte < 0x80:
                return value, offset

    names, visited, pending = set(), set(), [("", 0)] if trie.data else []
    while pending:
        name, offset = pending.pop()
        if offset in visited:
            raise trie.refusal(f"the export trie reaches its node at {offset} on two paths")
        visited.add(offset)
        size, offset = number(offset)
        if size:
            names.add(name)
        offset += size
        (edges,) = trie.unpack("<B", offset, "the export trie")
        offset += 1
        for _ in range(edges):
            end = trie.data.find(b"\0", offset)
            piece = trie.text(offset, "an edge of the export trie")
            node, offset = number(end + 1)
            pending.append((name + piece, node))
    return names


def _signature_fault(image: _Image, offset: int, size: int) -> str:
    """What is wrong with the ad-hoc code signature at `offset`, empty if nothing.  Its numbers are big endian."""
    blob = image.part(offset, size, "the code signature")
    magic, count = blob.unpack(">I4xI", 0, "the code signature")
    index = dict(blob.records(">II", 12, count, "the index of the code signature"))
    if magic != 0xFADE0CC0 or 0 not in index:  # CSMAGIC_EMBEDDED_SIGNATURE, CSSLOT_CODEDIRECTORY
        return "code signature without a code directory"
    magic, flags, hashes_at, page_count, code_size, hash_size, hash_type, page_bits = blob.unpack(
        ">I8xII8xIIBBxB", index[0], "the code directory"
    )
    if magic != 0xFADE0C02:  # CSMAGIC_CODEDIRECTORY
        return f"code directory starts with {magic:#x}, not 0xfade0c02"
    if not flags & 2:  # CS_ADHOC
        return f"code signature with flags {flags:#x} is not ad hoc (flag 0x2)"
    if (hash_type, hash_size) != (2, 32):
        return f"code signature with hash type {hash_type} of {hash_size} bytes; SHA-256 is type 2 of 32 bytes"
    if not 12 <= page_bits <= 14:
        return f"code signature with pages of 2^{page_bits} bytes; macOS uses 2^12 to 2^14"
    pages = range(0, code_size, 1 << page_bits)
    if code_size != offset or page_count != len(pages):
        return f"code signature covers {code_size} bytes in {page_count} pages; {offset} bytes lie before it"
    hashes = blob.records(">32s", index[0] + hashes_at, page_count, "the page hashes")
    changed = [
        str(number)
        for number, (page, (signed,)) in enumerate(zip(pages, hashes, strict=True))
        if hashlib.sha256(image.data[page : min(page + (1 << page_bits), code_size)]).digest() != signed
    ]
    return f"page {', '.join(changed)} of {page_count} differs from its signed hash" if changed else ""


# ---- Reading, checking, merging --------------------------------------------------------------------------------------


def _slices(image: _Image) -> Iterator[_Image]:
    """The thin files inside a universal Mach-O file."""
    (count,) = image.unpack(">I", 4, "the universal header")
    for machine_code, _, offset, size, _ in image.records(">5I", 8, count, "the universal header"):
        machine = image.machine(machine_code, _MACHO_MACHINES)
        thin = _Image(image.take(offset, size, f"the {machine} slice"), f"{image.where} ({machine} slice)")
        if thin.data[:8] != _MACHO_MAGIC + struct.pack("<I", machine_code):
            raise thin.refusal(f"starts with {thin.data[:8].hex()}, not as a Mach-O file for {machine}")
        yield thin


def read_library(source: Path | bytes, where: str | None = None) -> list[Library]:
    """The library in a file or in bytes; several, one per machine, for a universal Mach-O file.

    where   name of the file in messages; the path if not given.
    Raises ToolError for a file that cannot be read, that is truncated, or that is no 64-bit x86_64 or aarch64 shared
    library."""
    if isinstance(source, Path):
        where = where or str(source)
        try:
            source = source.read_bytes()
        except OSError as error:
            raise ToolError(Problem(where, f"cannot be read: {error.strerror}")) from error
    image = _Image(source, where or "library")
    if source.startswith(b"\x7fELF"):
        return [_read_elf(image)]
    if source.startswith(b"MZ"):
        return [_read_pe(image)]
    if source.startswith(_FAT_MAGIC):
        return [_read_macho(thin) for thin in _slices(image)]
    if source.startswith(_MACHO_MAGIC):
        return [_read_macho(image)]
    raise image.refusal(
        f"starts with {source[:4].hex() or 'nothing'}, which is neither ELF (7f454c46), PE (4d5a) nor 64-bit Mach-O "
        "(cffaedfe, universal cafebabe)"
    )


def check_library(
    data: bytes, *, expected_exports: Collection[str], platform: str, where: str, allowed: Collection[str] = ()
) -> list[Problem]:
    """All reasons why a library cannot be the binary of an FMU; empty without any.

    expected_exports   C names of all functions to export, no other may be
    platform           one of linux64, win64, darwin64, aarch64-linux, aarch64-darwin, x86_64-darwin
    where              name of the file in the problems       allowed   DLLs, C names of libSystem that it may import
    Raises InputError for an unknown platform.  Unreadable bytes are a problem like the others."""
    if platform not in _PLATFORMS:
        raise InputError(Problem(where, f"platform '{platform}' is unknown{did_you_mean(platform, _PLATFORMS)}"))
    try:
        libraries = read_library(data, where)
    except ToolError as error:
        return list(error.problems)
    found = sorted((library.format, library.machine) for library in libraries)
    if found != _PLATFORMS[platform]:
        return [Problem(where, f"holds {_kinds(found)}; {platform} needs {_kinds(_PLATFORMS[platform])}")]
    problems = []
    for library in libraries:
        place = f"{where} ({library.machine} slice)" if len(libraries) > 1 else where
        problems += [Problem(place, what) for what in _faults(library, frozenset(expected_exports), frozenset(allowed))]
    return problems


def _faults(library: Library, expected_exports: frozenset[str], allowed: frozenset[str]) -> Iterator[str]:
    exports, imports, undefined = library.exports, library.imports - allowed, frozenset[str]()
    if library.format == "macho":
        expected_exports = frozenset(f"_{name}" for name in expected_exports)
        exports -= _MACHO_LINKER_EXPORTS
        imports -= {_SYSTEM_LIBRARY}
        undefined = library.undefined - _MACHO_BINDER - {f"_{one}" for one in allowed}
    if missing := expected_exports - exports:
        names = listed(sorted(missing), _SHOWN)
        yield f"does not export {names}; every expected function must be exported (mark it FMI2_Export)"
    if extra := exports - expected_exports:
        names = listed(sorted(extra), _SHOWN)
        yield f"exports {names}; nothing but the expected functions may be (static, or -fvisibility=hidden)"
    if imports:
        known = "only libSystem" if library.format == "macho" else "nothing"
        names = listed(sorted(imports), _SHOWN)
        yield f"imports {names}; it may import {known} (build it with -nostdlib and functions of its own)"
    if undefined:
        yield f"imports {listed(sorted(undefined), _SHOWN)} from the system; it may import nothing but dyld_stub_binder"
    if library.run_path:
        yield f"has run path '{library.run_path}'; it may have none, as the folder may not exist elsewhere"
    if library.executable_stack:
        yield "requests an executable stack, which hardened systems refuse to load; link with -Wl,-z,noexecstack"
    if library.signed is False:
        yield f"{library.signature_fault}; macOS loads aarch64 code only with a valid signature"
    if library.format == "macho" and not (library.install_name or "").startswith("@rpath/"):
        yield f"has install name '{library.install_name}'; it must be '@rpath/...' (-Wl,-install_name,@rpath/...)"


def _kinds(kinds: Iterable[tuple[str, str]]) -> str:
    return " and ".join(f"{file_format} {machine}" for file_format, machine in kinds) or "no library"


def merge_universal(slices: Mapping[str, bytes]) -> bytes:
    """One universal Mach-O file from thin ones, byte for byte as `lipo -create` writes it.

    slices   thin library by machine (x86_64, aarch64).   The signature inside a slice stays valid, for it covers the
    slice alone.   Raises ToolError for a slice that is not a thin dynamic library of its machine."""
    problems = [] if slices else [Problem("universal library", "no slice was given; at least one is needed")]
    for machine, data in slices.items():
        where = f"{machine} slice"
        try:
            kinds = [(library.format, library.machine) for library in read_library(data, where)]
        except ToolError as error:
            problems += error.problems
        else:
            if kinds != [("macho", machine)] or data.startswith(_FAT_MAGIC):
                problems.append(Problem(where, f"holds {_kinds(kinds)}; one thin macho {machine} is needed"))
    if problems:
        raise ToolError(problems)

    # Each slice starts on a page of its machine, the smaller pages first; macOS maps it from there.
    ordered = sorted((bits, slices[machine]) for machine, bits in _PAGE_BITS.items() if machine in slices)
    header = _FAT_MAGIC + struct.pack(">I", len(ordered))
    body = bytearray(8 + 20 * len(ordered))
    for bits, data in ordered:
        body += bytes(-len(body) % (1 << bits))
        machine_code, machine_variant = struct.unpack_from("<II", data, 4)
        header += struct.pack(">5I", machine_code, machine_variant, len(body), len(data), bits)
        body += data
    body[: len(header)] = header
    return bytes(body)
