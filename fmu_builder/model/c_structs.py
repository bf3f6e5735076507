"""Structs of doubles that C headers declare, and how many numbers each holds.

A memory variable of an element may be such a struct: `partner = { struct = "CcAxis", hidden = true, ... }`.  Its size
follows from the one declaration that C has; the compiler checks it (CC_STRUCTS in contact_core/element_run.h)."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cffi

from fmu_builder.errors import did_you_mean

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_NUMBER = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\d+)[ \t]*$", re.MULTILINE)
_ENUM = re.compile(r"\benum\s*\{([^{}]*)\}\s*;")
_STRUCT = re.compile(r"\btypedef\s+struct\s*(?:\w+\s*)?\{([^{}]*)\}\s*(\w+)\s*;")
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class _Headers:
    """What the headers of some folders declare; `constants`: name -> C text that defines it."""

    structs: Mapping[str, str]
    constants: Mapping[str, str]

    def needed_by(self, name: str) -> Iterator[str]:
        """C text of the struct, behind that of what it consists of."""
        body = self.structs[name]
        for word in dict.fromkeys(_WORD.findall(body)):
            if word in self.structs and word != name:
                yield from self.needed_by(word)
            elif word in self.constants:
                yield self.constants[word]
        yield f"typedef struct {{ {body} }} {name};"


@functools.cache
def _headers(files: tuple[tuple[Path, int], ...]) -> _Headers:
    """files: with the times of their last change, for the cache"""
    structs: dict[str, str] = {}
    constants: dict[str, str] = {}
    for path, _ in files:
        text = _COMMENT.sub(" ", path.read_text(encoding="utf-8", errors="replace"))
        constants |= {name: f"#define {name} {value}" for name, value in _NUMBER.findall(text)}
        for enum in _ENUM.finditer(text):
            constants |= {one.split("=")[0].strip(): enum[0] for one in enum[1].split(",")}
        structs |= {name: body for body, name in _STRUCT.findall(text)}
    return _Headers(structs, constants)


def count_doubles(name: str, *folders: Path) -> int:
    """The number of doubles in the struct, which a header of one of these folders declares; a later folder wins.

    Raises ValueError with the reason if there is none of this name, or it holds something else."""
    found = (path for folder in folders for path in sorted(folder.glob("*.h")))
    headers = _headers(tuple((path, path.stat().st_mtime_ns) for path in found))
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
