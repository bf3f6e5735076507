"""Expressions whose equal parts are one: what is written twice is counted, evaluated and compiled once.

Two nodes are equal if they differ only in their places in the text.  An expression made of shared nodes can have 2^n
nodes when it is written out; every traversal visits each node once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field, fields

from fmu_builder.laws.tree import Argument, Call, Condition, Expression, Name, Node, Number, children, with_parts

WRITTEN_OUT = 20_000  # nodes; of larger expressions equal parts are evaluated and compiled once


@dataclass
class Shapes:
    """One node for all that are equal apart from their places.

    _known   by id, with the node itself, so that no other gets its id"""

    _nodes: dict[tuple[object, ...], Node] = field(default_factory=dict)
    _known: dict[int, tuple[Node, Node]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._nodes)

    def one(self, node: Node) -> Node:
        """The node that stands for all equal ones; its parts do so too."""
        for below in bottom_up(node, self._known):
            parts = tuple([self._known[id(child)][1] for child in children(below)])
            key: list[object] = [type(below), *map(id, parts)]
            for name in (one.name for one in fields(below)):
                value = getattr(below, name)
                if name not in ("place", "arguments") and not isinstance(value, Node):
                    key.append(repr(value))
            found = self._nodes.setdefault(tuple(key), with_parts(below, parts))
            self._known[id(below)] = (below, found)
            self._known[id(found)] = (found, found)
        return self._known[id(node)][1]


def bottom_up(node: Node, known: Container[int] = ()) -> Iterator[Node]:
    """The node and all below it, each once and after what is below it, without recursion.

    known   ids of nodes that are left out, with what is below them"""
    met: set[int] = set()
    open_nodes = [(node, False)]
    while open_nodes:
        one, is_below_done = open_nodes.pop()
        if is_below_done:
            yield one
        elif id(one) not in met and id(one) not in known:
            met.add(id(one))
            open_nodes.append((one, True))
            open_nodes += [(child, False) for child in reversed(children(one))]


def walk_once(node: Node) -> Iterator[Node]:
    """The node and all below it, in the order of tree.walk, each once."""
    met: dict[int, Node] = {}
    open_nodes = [node]
    while open_nodes:
        one = open_nodes.pop()
        if id(one) not in met:
            met[id(one)] = one
            yield one
            open_nodes += reversed(children(one))


def written_size(node: Node, functions: Mapping[str, int] | None = None) -> int:
    """Nodes of the expression when it is written out.   functions: sizes of those whose bodies are written out too."""
    sizes: dict[int, int] = {}
    for one in bottom_up(node):
        called = functions.get(one.name, 0) if functions and isinstance(one, Call) else 0
        sizes[id(one)] = 1 + called + sum([sizes[id(child)] for child in children(one)])
    return sizes[id(node)]


def repeated(*expressions: Expression) -> list[Expression]:
    """What is computed in the expressions, made by Shapes, and used more than once: each after what it is made of."""
    uses = Counter(map(id, expressions))
    order: dict[int, Expression] = {}
    for expression in expressions:
        for node in bottom_up(expression, order):
            if not isinstance(node, Condition):
                order[id(node)] = node
                uses.update(id(part) for child in children(node) for part in _expressions_of(child))
    leaves = Number | Argument | Name
    return [node for node in order.values() if uses[id(node)] > 1 and not isinstance(node, leaves)]


def _expressions_of(node: Node) -> Iterator[Expression]:
    """The expression, or those of a condition, which is written out wherever it stands."""
    if isinstance(node, Condition):
        for child in children(node):
            yield from _expressions_of(child)
    else:
        yield node
