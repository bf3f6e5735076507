"""Structs of doubles that C headers declare, and how many numbers each holds.

A memory variable of an element may be such a struct: `partner = { struct = "CcAxis", hidden = true, ... }`.  Its size
follows from the one declaration that C has; the compiler checks it (CC_STRUCTS in contact_core/element_run.h).  So do
the ranges of its members, which stand behind them: `double lag CC_IN(0, 2), H CC_FROM(0);` (real.h)."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cffi

from fmu_builder.errors import did_you_mean

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_NUMBER = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\d+)[ \t]*$", re.MULTILINE)
_ENUM = re.compile(r"\benum\s*\{([^{}]*)\}\s*;")
_STRUCT = re.compile(r"\btypedef\s+struct\s*(?:\w+\s*)?\{([^{}]*)\}\s*(\w+)\s*;")
_RANGE = re.compile(r"(\w+)((?:\[\w+\])*)\s*CC_(?:IN|FROM)\s*\(([^()]*)\)")
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, eq=False)
class Headers:
    """What the headers of some folders declare; `constants`: name -> C text that defines it."""

    structs: Mapping[str, str]
    constants: Mapping[str, str]
    ranges: Mapping[tuple[str, str], tuple[float, float | None]]  # by struct and member

    def needed_by(self, name: str) -> Iterator[str]:
        """C text of the struct, behind that of what it consists of."""
        body = self.structs[name]
        for word in dict.fromkeys(_WORD.findall(body)):
            if word in self.structs and word != name:
                yield from self.needed_by(word)
            elif word in self.constants:
                yield self.constants[word]
        yield f"typedef struct {{ {body} }} {name};"


def headers_of(folders: Iterable[Path]) -> Headers:
    """What the headers in these folders declare, the last one counts; the same object until one of them changes."""
    found: list[tuple[str, int]] = []
    for folder in folders:
        with os.scandir(folder) as entries:
            found += sorted((one.path, one.stat().st_mtime_ns) for one in entries if one.name.endswith(".h"))
    return _headers(tuple(found))


@functools.cache
def _headers(files: tuple[tuple[str, int], ...]) -> Headers:
    """files: with the times of their last change, for the cache"""
    structs: dict[str, str] = {}
    constants: dict[str, str] = {}
    ranges: dict[tuple[str, str], tuple[float, float | None]] = {}
    for path, _ in files:
        text = _COMMENT.sub(" ", Path(path).read_text(encoding="utf-8", errors="replace"))
        constants |= {name: f"#define {name} {value}" for name, value in _NUMBER.findall(text)}
        for enum in _ENUM.finditer(text):
            constants |= {one.split("=")[0].strip(): enum[0] for one in enum[1].split(",")}
        for body, name in _STRUCT.findall(text):
            structs[name] = _RANGE.sub(r"\1\2", body)
            for member, _, limits in _RANGE.findall(body):
                ranges[name, member] = _range(limits)
    return Headers(structs, constants, ranges)


def _range(limits: str) -> tuple[float, float | None]:
    """Least and greatest of "0, 1" or "0"."""
    least, *greatest = [float(one) for one in limits.split(",")]
    return least, greatest[0] if greatest else None


Limits = tuple[float, float | None] | None


@functools.cache
def limits_of_doubles(name: str, headers: Headers) -> tuple[Limits, ...]:
    """Least and greatest of each double in the struct, None of those that are finite only."""
    ffi = cffi.FFI()
    ffi.cdef("\n".join(dict.fromkeys(headers.needed_by(name))))
    return tuple(_limits(ffi.typeof(name), name, headers.ranges))


def _limits(ctype: Any, name: str, ranges: Mapping[tuple[str, str], tuple[float, float | None]]) -> Iterator[Limits]:
    for member, field in ctype.fields:
        inner, count = field.type, 1
        while inner.kind == "array":
            inner, count = inner.item, count * inner.length
        for _ in range(count):
            if inner.kind == "struct":
                yield from _limits(inner, inner.cname, ranges)
            else:
                yield ranges.get((name, member))


def count_doubles(name: str, headers: Headers) -> int:
    """The number of doubles in the struct.

    Raises ValueError with the reason if there is none of this name, or it holds something else."""
    if name not in headers.structs:
        raise ValueError(f"no header declares a struct '{name}'" + did_you_mean(name, headers.structs))
    return _count(name, "\n".join(dict.fromkeys(headers.needed_by(name))))


@functools.cache
def _count(name: str, declared: str) -> int:
    ffi = cffi.FFI()
    try:
        ffi.cdef(declared)
        struct = ffi.typeof(name)
    except (cffi.CDefError, cffi.FFIError) as error:
        raise ValueError(f"the struct '{name}' cannot be read: {str(error).splitlines()[0]}") from error
    others = sorted(set(_leaves(struct)) - {"double"})
    if others:
        raise ValueError(f"the struct '{name}' holds {', '.join(others)}, and memory consists of doubles")
    return int(ffi.sizeof(struct) // ffi.sizeof("double"))


def _leaves(ctype: Any) -> Iterator[str]:
    """The types of the members of a struct, and of structs and arrays in it."""
    if ctype.kind == "struct":
        for _, member in ctype.fields:
            yield from _leaves(member.type)
    elif ctype.kind == "array":
        yield from _leaves(ctype.item)
    else:
        yield ctype.cname
