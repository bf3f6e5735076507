"""Plans: which runs a study has, laid out lazily.

Every plan gives the rows of any runs by their numbers, the same ones in any order: a study that goes on after an end
repeats nothing, and 10^6 runs take no memory."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fmu_builder.errors import SHOWN_FAULTS, InputError, Problem, did_you_mean
from fmu_builder.files import csv_reader, named_file, read_text
from fmu_builder.headers import split_header
from fmu_builder.studies.factors import Axis
from fmu_builder.studies.format import CheckedStudy

MANY_RUNS = 10**9  # more need --yes
MOST_RUNS = 2**53  # numbers of runs are exact in every reader of the table
_MOST_SOBOL = 2**30  # points of scipy's sequence
_BLOCK = 1024  # runs that share a generator of random numbers

Rows = NDArray[np.float64]  # shape (runs, factors): numbers as factors.py has them


class RunPlan(Protocol):
    @property
    def size(self) -> int: ...

    def rows(self, first: int, count: int) -> Rows:
        """Of the runs first .. first + count - 1."""
        ...


@dataclass(frozen=True)
class Grid:
    """All combinations; the first factor changes slowest."""

    axes: Sequence[Axis]

    @cached_property
    def _levels(self) -> list[NDArray[np.float64]]:
        return [axis.levels() for axis in self.axes]

    @property
    def size(self) -> int:
        return math.prod(len(levels) for levels in self._levels)

    def rows(self, first: int, count: int) -> Rows:
        numbers = np.arange(first, first + count, dtype=np.int64)
        found = np.empty((count, len(self.axes)))
        for column in reversed(range(len(self.axes))):
            numbers, place = np.divmod(numbers, len(self._levels[column]))
            found[:, column] = self._levels[column][place]
        return found


@dataclass(frozen=True)
class OneAtATime:
    """The base, and then each factor over its other levels."""

    axes: Sequence[Axis]

    @cached_property
    def _changes(self) -> list[tuple[int, float]]:
        return [
            (column, float(level))
            for column, axis in enumerate(self.axes)
            for level in axis.levels()
            if level != axis.base
        ]

    @property
    def size(self) -> int:
        return 1 + len(self._changes)

    def rows(self, first: int, count: int) -> Rows:
        found = np.tile([axis.base for axis in self.axes], (count, 1))
        for row, number in enumerate(range(first, first + count)):
            if number:
                column, level = self._changes[number - 1]
                found[row, column] = level
        return found


@dataclass(frozen=True)
class Listed:
    """The rows of a file."""

    values: Rows

    @property
    def size(self) -> int:
        return len(self.values)

    def rows(self, first: int, count: int) -> Rows:
        return self.values[first : first + count]


@dataclass(frozen=True)
class Random:
    """Independent points in the ranges."""

    axes: Sequence[Axis]
    size: int
    seed: int

    def rows(self, first: int, count: int) -> Rows:
        return _scaled(self.axes, _drawn(self.seed, len(self.axes), first, count))


@dataclass(frozen=True)
class LatinHypercube:
    """Each factor has one run in each of `size` layers of its range, in an order that is drawn (McKay et al. 1979).

    A permutation of the layers that gives each one alone keeps the plan lazy: scipy's holds all runs."""

    axes: Sequence[Axis]
    size: int
    seed: int

    def rows(self, first: int, count: int) -> Rows:
        within = _drawn(self.seed, len(self.axes), first, count)
        numbers = np.arange(first, first + count, dtype=np.uint64)
        layers = np.column_stack([_permuted(numbers, self.size, (self.seed, k)) for k in range(len(self.axes))])
        return _scaled(self.axes, (layers + within) / self.size)


@dataclass(frozen=True)
class Sobol:
    """Points of Sobol's sequence, scrambled (Owen 1998); powers of 2 are balanced."""

    axes: Sequence[Axis]
    size: int
    seed: int

    def rows(self, first: int, count: int) -> Rows:
        return _scaled(self.axes, _sobol(len(self.axes), self.seed, first, count))


@dataclass(frozen=True)
class Saltelli:
    """Runs for Sobol indices with totals: of each point of a sequence over all factors twice, A and B, the rows A, A
    with one factor of B for each factor, and B (Saltelli 2002), the order that SALib expects."""

    axes: Sequence[Axis]
    points: int
    seed: int

    @property
    def size(self) -> int:
        return self.points * (len(self.axes) + 2)

    def rows(self, first: int, count: int) -> Rows:
        width, n = len(self.axes), len(self.axes) + 2
        begin, end = first // n, (first + count - 1) // n + 1
        both = _sobol(2 * width, self.seed, begin, end - begin)
        a, b = both[:, :width], both[:, width:]
        blocks = np.repeat(a[:, None, :], n, axis=1)
        for k in range(width):
            blocks[:, 1 + k, k] = b[:, k]
        blocks[:, -1, :] = b
        chosen = blocks.reshape(-1, width)[first - begin * n :][:count]
        return _scaled(self.axes, chosen)


def _scaled(axes: Sequence[Axis], shares: NDArray[np.float64]) -> Rows:
    return np.column_stack([axis.at(shares[:, column]) for column, axis in enumerate(axes)])


def _drawn(seed: int, width: int, first: int, count: int) -> NDArray[np.float64]:
    """Shares, shape (count, width), from one generator for each block of runs."""
    blocks = range(first // _BLOCK, (first + count - 1) // _BLOCK + 1)
    drawn = np.concatenate([np.random.default_rng([seed, block]).random((_BLOCK, width)) for block in blocks])
    return drawn[first - blocks[0] * _BLOCK :][:count]


def _sobol(width: int, seed: int, first: int, count: int) -> NDArray[np.float64]:
    from scipy.stats import qmc

    sequence = qmc.Sobol(width, scramble=True, bits=30, seed=seed)
    if first:
        sequence.fast_forward(first)
    if not first and count & (count - 1):  # scipy warns where the first points are no power of 2
        power = count.bit_length()
        return np.asarray(sequence.random_base2(power)[:count])
    return np.asarray(sequence.random(count))


def _permuted(numbers: NDArray[np.uint64], size: int, key: tuple[int, int]) -> NDArray[np.float64]:
    """The place of each number in a permutation of 0 .. size - 1: a Feistel cipher of the next power of 4, repeated for
    the numbers that it leads outside (Black & Rogaway 2002)."""
    half = max((size - 1).bit_length() + 1, 2) // 2
    mask, shift = np.uint64((1 << half) - 1), np.uint64(half)
    keys = np.random.default_rng([*key, size]).integers(0, 2**63, size=6, dtype=np.uint64) | np.uint64(1)
    found = numbers.copy()
    outside = np.ones(len(found), dtype=bool)
    while outside.any():
        left, right = found[outside] >> shift, found[outside] & mask
        for one in keys:
            mixed = (right + one) * (one ^ np.uint64(0x9E3779B97F4A7C15))
            mixed ^= mixed >> np.uint64(29)
            left, right = right, left ^ (mixed * np.uint64(0xBF58476D1CE4E5B9) >> np.uint64(33) & mask)
        found[outside] = left << shift | right
        outside = found >= np.uint64(size)
    return found.astype(np.float64)


def plan_of(study: CheckedStudy, axes: Sequence[Axis], yes: bool) -> RunPlan:
    """The plan of a study.   yes: however many runs there are.   Raises InputError."""
    plan, where = study.plan, f"{study.path}: [plan]"
    found: RunPlan
    if plan.kind == "grid":
        slow_first = sorted(range(len(axes)), key=lambda column: axes[column].kind == "start")
        found = _Reordered(Grid([axes[column] for column in slow_first]), tuple(slow_first))
    elif plan.kind == "one_at_a_time":
        found = OneAtATime(axes)
    elif plan.file is not None:
        found = Listed(_listed(named_file(study.path.parent / plan.file, f"{where} file"), axes, where))
    else:
        drawn = {"random": Random, "latin_hypercube": LatinHypercube, "sobol": Sobol, "saltelli": Saltelli}
        found = drawn[plan.kind](axes, plan.runs or 0, plan.seed)  # type: ignore[assignment]
        if plan.kind in ("sobol", "saltelli") and (plan.runs or 0) > _MOST_SOBOL:
            raise InputError(Problem(f"{where} runs", f"{plan.runs} is more than the {_MOST_SOBOL} points of Sobol"))
    if found.size == 0:
        raise InputError(Problem(where, "has no runs: give the factors values, or the file rows"))
    if found.size > MOST_RUNS or (found.size > MANY_RUNS and not yes):
        repair = "take fewer levels" + ("" if found.size > MOST_RUNS else ", or allow it with --yes")
        raise InputError(Problem(where, f"{found.size:.3g} runs are more than {MANY_RUNS:.0e}: {repair}"))
    return found


@dataclass(frozen=True)
class _Reordered:
    """A grid whose slowest factors are those that need other FMUs or steps.   order: column of each of its axes"""

    grid: Grid
    order: tuple[int, ...]

    @property
    def size(self) -> int:
        return self.grid.size

    def rows(self, first: int, count: int) -> Rows:
        found = np.empty((count, len(self.order)))
        found[:, list(self.order)] = self.grid.rows(first, count)
        return found


def _listed(path: Path, axes: Sequence[Axis], where: str) -> Rows:
    """The rows of a CSV file with a column for each factor, in any order; other columns are an error."""
    reader = csv_reader(read_text(path))
    try:
        lines = [line for line in reader if line and any(map(str.strip, line))]
    except csv.Error as error:
        raise InputError(Problem(f"{path}: line {reader.line_num}", f"{error}; is a quote left open?")) from error
    if not lines:
        raise InputError(Problem(f"{where} file", f"{path} is empty"))
    known = {axis.name: column for column, axis in enumerate(axes)}
    heads = [(text.strip(), None) if text.strip() in known else split_header(text) for text in lines[0]]
    names = [name for name, _ in heads]
    units = [unit or "" for _, unit in heads]
    problems = [
        Problem(f"{path}: column {name}", "is no factor" + did_you_mean(name, known))
        for name in names
        if name not in known
    ]
    problems += [Problem(str(path), f"there is no column of the factor {name}") for name in known if name not in names]
    problems += [Problem(f"{path}: column {n}", "stands twice") for n in dict.fromkeys(names) if names.count(n) > 1]
    if problems:
        raise InputError(problems)
    rows = np.empty((len(lines) - 1, len(axes)))
    for number, line in enumerate(lines[1:]):
        if len(line) != len(names):
            problems.append(Problem(f"{path}: row {number + 1}", f"has {len(line)} cells, {len(names)} are needed"))
            continue
        for name, unit, text in zip(names, units, line, strict=True):
            try:
                axis = axes[known[name]]
                rows[number, known[name]] = axis.number_of(text.strip(), f"{path}: row {number + 1}, {name}", unit)
            except InputError as error:
                problems += error.problems
        if len(problems) > SHOWN_FAULTS:
            break
    if problems:
        raise InputError(problems)
    return rows
