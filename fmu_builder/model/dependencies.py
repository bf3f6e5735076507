"""Declared vectors of variables, and the meaning of patterns such as "point.*" in `depends`."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fmu_builder.errors import InputError, Problem, did_you_mean
from fmu_builder.model.declaration import Variable as Entry
from fmu_builder.model.layout import Layout
from fmu_builder.model.model import Kind
from fmu_builder.model.recipe import CheckedRecipe


@dataclass(frozen=True)
class Declared:
    """One declared vector of variables, from whichever table."""

    path: tuple[str, ...]
    kind: Kind
    entry: Entry
    each: str | None
    size: int

    @property
    def base(self) -> str:
        return ".".join(self.path)

    @property
    def is_recorded(self) -> bool:
        return self.kind == "memory" and self.path[0] == "last_contact"


EVERYTHING = ("*[*]", "time")  # the patterns where none are declared


class Patterns:
    """Resolves `depends` patterns such as "point.*" or "C_F" to value references."""

    def __init__(self, recipe: CheckedRecipe, declared: Iterable[Declared], layout: Layout) -> None:
        self._recipe = recipe
        self._declared = {d.base: d for d in declared}
        self._indices = {base: layout.indices(d.path) for base, d in self._declared.items()}
        self._meant: dict[str, list[str]] = {}  # by patterns resolved before: each occurs for every scalar
        self._everything: tuple[int, ...] | None = None
        self._resolved: dict[tuple[tuple[str, ...], int, str | None, int], tuple[int, ...]] = {}

    def group(self, base: str, each_index: int, each: str | None) -> list[int]:
        """All scalars of the declared name; the same `each` index if both run over the same size."""
        groups = self._indices[base]
        if each is not None and self._declared[base].each == each:
            groups = groups[each_index : each_index + 1]
        return [i for group in groups for i in group]

    def resolve(
        self, patterns: Iterable[str], where: str, each_index: int, each: str | None, component: int
    ) -> tuple[int, ...]:
        """Indices of the parameters, inputs and states patterns stand for, and of time where it is named; "p.f[k]" is
        the same component of p.f, "p.f[2]" the second one, "p.f[*]" all of p.f whatever its `each` index."""
        if patterns is EVERYTHING:  # one tuple for all: it is long
            if self._everything is None:
                self._everything = self.resolve([*EVERYTHING], where, each_index, each, component)
            return self._everything
        patterns = tuple(patterns)
        if not patterns:
            return ()
        if not any(written.endswith("[k]") for written in patterns):
            component = 0  # all components have the same
        written_as = (patterns, each_index, each, component)
        if written_as not in self._resolved:  # scalars of laws, and of memory, are many, and alike in this
            self._resolved[written_as] = self._resolve(where, *written_as)
        return self._resolved[written_as]

    def _resolve(
        self, where: str, patterns: tuple[str, ...], each_index: int, each: str | None, component: int
    ) -> tuple[int, ...]:
        found: set[int] = set()
        for written in patterns:
            pattern, _, number = written.removesuffix("]").partition("[")
            for base in self._bases(pattern, where):
                d = self._declared[base]
                if number not in ("", "*", "k", *map(str, range(1, d.size + 1))):
                    what = f"depends on '{written}': {base} has {d.size or 'no'} components"
                    raise InputError(Problem(f"{self.path}: {where}", what))
                if d.kind in ("fixed", "tunable", "input", "state") or base == pattern == "time":
                    if number in ("", "*"):
                        found.update(self.group(base, each_index, None if number else each))
                        continue
                    first = component if number == "k" else int(number) - 1
                    found.update(self.group(base, each_index, each)[first :: max(d.size, 1)])
        return tuple(sorted(found))

    def _bases(self, pattern: str, where: str) -> list[str]:
        """The declared names that a pattern stands for."""
        if pattern not in self._meant:
            named = [pattern] if pattern in self._declared else None
            bases = named or [base for base in self._declared if fnmatch.fnmatchcase(base, pattern)]
            for absent in fnmatch.filter(self._recipe.replaced, pattern):
                bases += [f"laws.{name}" for name in self._recipe.scalars_for(absent)]
            may_be_absent = pattern in ("sensor.*", "laws.*") or fnmatch.filter(self._recipe.absent, pattern)
            if not bases and not may_be_absent:
                what = f"depends on '{pattern}', which is unknown" + did_you_mean(pattern, self._declared)
                raise InputError(Problem(f"{self.path}: {where}", what))
            self._meant[pattern] = bases
        return self._meant[pattern]

    @property
    def path(self) -> Path:
        return self._recipe.element_folder / "element.toml"

    def declared(self, base: str, where: str) -> Declared:
        if base not in self._declared:
            what = f"'{base}' is unknown" + did_you_mean(base, self._declared)
            raise InputError(Problem(f"{self.path}: {where}", what))
        return self._declared[base]
