"""Where the scalars of a model lie in the C struct, and the names that FMI gives them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Node:
    """A member of the struct: a group of members, or a leaf of `size` values (0: scalar)."""

    each: int = 0
    size: int = 0
    members: dict[str, Node] = field(default_factory=dict)

    @property
    def length(self) -> int:
        inner = sum(m.length for m in self.members.values()) if self.members else max(self.size, 1)
        return inner * max(self.each, 1)

    def offsets(self) -> dict[str, int]:
        """Where each member begins, in values."""
        lengths = (member.length for member in self.members.values())
        return dict(zip(self.members, itertools.accumulate(lengths, initial=0), strict=False))


@dataclass
class Layout:
    """The tree of the struct; leaves hold the places of their scalars.  Derivatives form a tree `der`, built like that
    of the states, so that both stand in the same order."""

    root: Node = field(default_factory=Node)
    _places: dict[tuple[str, ...], tuple[int, dict[str, int]]] = field(default_factory=dict, repr=False)
    _indices: dict[tuple[str, ...], list[range]] = field(default_factory=dict, repr=False)

    def _place(self, path: tuple[str, ...], node: Node) -> tuple[int, dict[str, int]]:
        """Length and offsets of the node at a path, found once for the whole tree."""
        if path not in self._places:
            self._places[path] = (node.length, node.offsets())
        return self._places[path]

    def add(self, path: tuple[str, ...], each: int, size: int) -> None:
        self._places.clear()
        self._indices.clear()
        node = self.root
        for depth, part in enumerate(path):
            leaf = depth == len(path) - 1
            node = node.members.setdefault(part, Node())
            if depth == (path[0] == "der"):
                node.each = each
            if leaf:
                node.size = size

    def indices(self, path: tuple[str, ...]) -> Sequence[range]:
        """Value references of a leaf: one range per `each`, with one index per component."""
        if path not in self._indices:
            self._indices[path] = self._found(path)
        return self._indices[path]

    def _found(self, path: tuple[str, ...]) -> list[range]:
        starts, node = [0], self.root
        for depth, part in enumerate(path):
            offset = self._place(path[:depth], node)[1][part]
            node = node.members[part]
            one = self._place(path[: depth + 1], node)[0] // max(node.each, 1)
            starts = [s + offset + i * one for s in starts for i in range(max(node.each, 1))]
        return [range(s, s + max(node.size, 1)) for s in starts]


def fmi_name(path: tuple[str, ...], each: int | None, component: int | None) -> str:
    """The structured FMI name: the index over `each` stands behind the first part, that of a vector at the end."""
    if len(path) == 1:
        indices = [str(i) for i in (each, component) if i is not None]
        return path[0] + (f"[{','.join(indices)}]" if indices else "")
    first = path[0] + (f"[{each}]" if each is not None else "")
    return ".".join([first, *path[1:]]) + (f"[{component}]" if component is not None else "")
