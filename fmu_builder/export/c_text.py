"""Numbers, texts, tables and structs as C writes them."""

from __future__ import annotations

from collections.abc import Sequence

from fmu_builder.laws.c_source import constant
from fmu_builder.model.layout import Node


def c_number(value: float | None, default: str = "0.0") -> str:
    """A C constant with the same bits: hexadecimal, so that no parser rounds."""
    return default if value is None else constant(value)


def c_literal(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def struct_members(node: Node, indent: str, kind: str) -> list[str]:
    """The members of a struct of numbers of this type."""
    lines = []
    for name, member in node.members.items():
        each = f"[{member.each}]" if member.each else ""
        if member.members:
            lines += [f"{indent}struct {{", *struct_members(member, indent + "    ", kind), f"{indent}}} {name}{each};"]
        else:
            size = f"[{member.size}]" if member.size else ""
            lines.append(f"{indent}{kind} {name}{each}{size};")
    return lines


def int_table(name: str, values: list[int]) -> str:
    return c_table("int", name, [str(v) for v in values] or ["-1"])


def counting_table(name: str, values: list[int]) -> str:
    return c_table(counting_type(values), name, [str(v) for v in values])


def counting_type(values: Sequence[int]) -> str:
    """The smallest type that holds the values, none of which is negative."""
    largest = max(values)
    return "unsigned char" if largest < 2**8 else "unsigned short" if largest < 2**16 else "unsigned"


def c_table(kind: str, name: str, values: list[str]) -> str:
    body = ",\n    ".join(", ".join(values[i : i + 20]) for i in range(0, len(values), 20))
    return f"static const {kind} {name}[] __attribute__((unused)) = {{\n    {body}}};"


_LONGEST_TEXT = 4095  # characters of a literal that every C compiler must take


def name_literals(names: Sequence[str]) -> tuple[list[str], int, list[int]]:
    """Literals of C, each with as many names as fit, ended by zeros; the length of an array that holds any of them; and
    where each name begins, counted over such arrays."""
    rows: list[list[str]] = [[]]
    starts: list[tuple[int, int]] = []
    lengths = [len(name.encode("utf-8")) + 1 for name in names]
    count = -(-sum(lengths) // _LONGEST_TEXT)  # all rows take the place of the longest one: so they are alike
    most = min(_LONGEST_TEXT, sum(lengths) // max(count, 1) + max(lengths, default=0))
    used = longest = 0
    for name, length in zip(names, lengths, strict=True):
        if used + length > most and rows[-1]:
            rows.append([])
            used = 0
        rows[-1].append(name)
        starts.append((len(rows) - 1, used))
        used += length
        longest = max(longest, used)
    literals = ['"' + "".join(c_literal(name)[1:-1] + "\\0" for name in row) + '"' for row in rows]
    return literals, longest + 1, [row * (longest + 1) + place for row, place in starts]
