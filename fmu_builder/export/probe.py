"""`python -P probe.py LIBRARY`: call an element at many points and compare what its values follow with what it says.

The library is contact_core/check.c with the element, or check_assembly.c with all parts of an assembly; the plan, JSON
from element_check.py, comes by the standard input.  What is found goes to the standard output as JSON.  A crash ends
this process and not the build.

Points         the start values; random ones, over the ranges that the variables declare; and from these across zeros
               of the indicators, so that contact and no contact, stick and slip are all met
Unassigned     computed values are NaN before each evaluation; one that still has these bits was never assigned, one
               that another filling changes follows what was there before
Dependencies   duals: all that a list leaves out has a random direction, and what the list belongs to must have none;
               bits: all that a list leaves out has other values, and what the list belongs to must keep its bits.
               Duals show what is continuous near a point; bits what is switched, rounded or read by re()
Order          of an assembly: an evaluation in the order that follows from what its parts declare gives the bits of one
               that needs no order, and begins with NaN wherever something is computed
Canaries       values behind every array, and behind what indicators get, that must keep their bits"""

from __future__ import annotations

import ctypes
import json
import math
import random
import struct
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

DUAL_STEP = 1e-180  # as in contact_core/base/real.h
FENCE = 8  # values behind what indicators get
STEP = 1e-3  # s, handed to accept and sample
POINTS = 60
WORK = 4_000_000  # values computed at most, beyond the points that every element gets
LEAST_POINTS, LEAST_SETS = 4, 8
ASSEMBLY_POINTS = 6
ENOUGH = 20  # findings


def quiet_nan(kind: int, number: int) -> int:
    """Bits of a NaN that nobody computes."""
    return 0x7FF8 << 48 | kind << 40 | number


def from_bits(bits: int) -> float:
    found: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return found


UNASSIGNED, CANARY = 0xA, 0xC


@dataclass(frozen=True)
class Plan:
    """What the element declares.  Indices are those of the block.

    starts, ranges   of every value: (least, greatest, whether the bound itself is excluded), None for no bound
    sets             of computed values that declare the same: (what they declare, these values)
    memories         the same of memory, whose initial value follows parameters and inputs
    canaries         name of an array -> indices behind it; z_canaries the same among the indicators"""

    names: list[str]
    kinds: list[str]
    types: list[str]
    starts: list[float]
    ranges: list[tuple[float | None, float | None, bool, bool]]
    nominals: list[float | None]
    on_demand: list[int]
    quaternions: list[int]
    indicators: list[float]
    sets: list[tuple[list[int], list[int]]]
    memories: list[tuple[list[int], list[int]]]
    canaries: dict[str, list[int]]
    z_canaries: dict[str, list[int]]
    every: bool = False
    is_assembly: bool = False

    def of_kind(self, *kinds: str) -> list[int]:
        return [i for i, kind in enumerate(self.kinds) if kind in kinds]


@dataclass
class Findings:
    """`undeclared`: value, known, what happens, the point.   `unshown`: values and knowns never seen together."""

    undeclared: list[tuple[int, int, str, dict[str, float]]] = field(default_factory=list)
    unassigned: dict[int, dict[str, float]] = field(default_factory=dict)
    stale: dict[int, dict[str, float]] = field(default_factory=dict)
    overwritten: dict[str, str] = field(default_factory=dict)  # array -> the function that writes behind it
    changed: dict[int, str] = field(default_factory=dict)  # value -> the function that must not change it
    read_behind: dict[int, str] = field(default_factory=dict)  # value -> array behind which was read
    unwritten: list[int] = field(default_factory=list)  # indicators
    unshown: list[tuple[int, int]] = field(default_factory=list)
    disordered: dict[int, dict[str, float]] = field(default_factory=dict)  # values that the order changes
    points: int = 0

    @property
    def enough(self) -> bool:
        return len(self.undeclared) + len(self.unassigned) + len(self.stale) >= ENOUGH


class Element:
    """The compiled element: a block of values, and calls on it that watch the canaries."""

    def __init__(self, library: str, plan: Plan, findings: Findings) -> None:
        self.plan, self.findings = plan, findings
        self.library = ctypes.CDLL(library)
        self.size = len(plan.names)
        self.block: Any = (ctypes.c_double * self.size)()
        self.bits: Any = (ctypes.c_uint64 * self.size).from_buffer(self.block)
        self.duals: Any = (ctypes.c_double * (2 * self.size))()
        self.zeros = (ctypes.c_double * self.size)()
        self.z: Any = (ctypes.c_double * (len(plan.indicators) + FENCE))()
        self.z_bits: Any = (ctypes.c_uint64 * len(self.z)).from_buffer(self.z)
        for name in () if plan.is_assembly else ("accept", "sample"):
            getattr(self.library, f"check_{name}").argtypes = (ctypes.c_void_p, ctypes.c_double)
        self.guarded = [(i, quiet_nan(CANARY, i)) for group in plan.canaries.values() for i in group]
        self.all_canaries = itemgetter(0, 0, *(i for i, _ in self.guarded))  # time twice keeps it a tuple
        self.all_bits = tuple(bits for _, bits in self.guarded)
        self.array_of = {i: name for name, group in plan.canaries.items() for i in group}
        behind = {i: f"z->{name}" for name, group in plan.z_canaries.items() for i in group}
        self.z_array_of = behind | dict.fromkeys(range(len(plan.indicators), len(self.z)), "z")
        self.z_untouched = [quiet_nan(UNASSIGNED, i) for i in range(len(self.z))]
        self.crossings = [i for i in range(len(plan.indicators)) if i not in behind]

    def watch(self, function: str) -> list[int]:
        """The bits of the block after a function; those of canaries must be as before."""
        found: list[int] = self.bits[:]
        if self.all_canaries(found)[2:] != self.all_bits:
            for i, bits in self.guarded:
                if found[i] != bits:
                    array = self.array_of[i]
                    self.findings.overwritten.setdefault(array, "derivatives" if array.startswith("der.") else function)
                    self.bits[i] = found[i] = bits
        return found

    def evaluate(self, point: Sequence[float], on_demand: int = 1) -> list[int]:
        """The bits of the block after an evaluation of the point."""
        self.block[:] = point
        self.library.check_evaluate(self.block, on_demand)
        return self.watch("rates" if self.plan.on_demand and not on_demand else "outputs")

    def dual(self, point: Sequence[float], directions: Iterable[tuple[int, float]]) -> list[float]:
        """The derivatives of all values along the directions."""
        self.duals[0::2] = point
        self.duals[1::2] = self.zeros
        for i, direction in directions:
            self.duals[2 * i + 1] = direction * DUAL_STEP
        self.library.check_dual(self.duals, 1)
        return [direction / DUAL_STEP for direction in self.duals[1::2]]

    def start(self, point: Sequence[float]) -> list[float]:
        self.block[:] = point
        self.library.check_start(self.block)
        self.watch("start")
        values: list[float] = self.block[:]
        return values

    def broken_rules(self, point: Sequence[float]) -> int:
        self.block[:] = point
        found: int = self.library.check_rules(self.block)
        return found

    def accept(self, point: Sequence[float], function: str) -> list[float]:
        """The block after bookkeeping at the point, which has been evaluated."""
        self.evaluate(point)
        before = self.bits[:]
        getattr(self.library, f"check_{function}")(self.block, STEP)
        self.watch(function)
        for i in self.plan.of_kind("fixed", "tunable", "input", "time"):
            if self.bits[i] != before[i] and i not in self.array_of:
                self.findings.changed.setdefault(i, function)
        values: list[float] = self.block[:]
        return values

    def indicators(self, point: Sequence[float]) -> list[float]:
        """The zero-crossing functions at the point."""
        self.evaluate(point, 0)
        untouched = self.z_untouched
        self.z_bits[:] = untouched
        self.library.check_indicators(self.block, self.z)
        self.watch("indicators")
        bits = self.z_bits[:]
        for i, array in self.z_array_of.items():
            if bits[i] != untouched[i]:
                self.findings.overwritten.setdefault(array, "indicators")
        for i in self.crossings:
            if bits[i] == untouched[i] and i not in self.findings.unwritten:
                self.findings.unwritten.append(i)
        return [self.z[i] for i in self.crossings]


class Probe:
    """Draws points and tries what is declared at each of them."""

    def __init__(self, element: Element) -> None:
        self.element, self.plan, self.findings = element, element.plan, element.findings
        plan = self.plan
        self.random = random.Random(20)  # the same points at every build
        self.knowns = [
            i for i in plan.of_kind("time", "fixed", "tunable", "input", "state") if i not in element.array_of
        ]
        self.computed = plan.of_kind("calculated", "output", "derivative")
        self.kept = [*self.knowns, *plan.of_kind("memory")]  # what an evaluation may not change
        self.on_demand = set(plan.on_demand)
        blank = [0.0] * element.size
        for i, bits in element.guarded:
            blank[i] = from_bits(bits)
        for i in self.computed:
            blank[i] = from_bits(quiet_nan(UNASSIGNED, i))
        for i in (*self.knowns, *plan.of_kind("memory")):
            blank[i] = plan.starts[i]
        self.blank = blank
        every = set(self.knowns)
        self.sets = [(listed, values) for listed, values in plan.sets if not every.issubset(listed)]
        self.budget = max(LEAST_POINTS, POINTS * (4 if plan.every else 1))
        # of very large elements some of the sets at each point
        self.sets_each = max(LEAST_SETS, WORK // (3 * element.size * self.budget))
        self.pool: list[tuple[int, int, list[float]]] = []
        self.sides: list[set[bool]] = [set() for _ in element.crossings]
        self.reported: set[tuple[int, int]] = set()
        wanted = {(v, k) for listed, values in plan.sets for v in values for k in listed} if plan.every else set()
        self.unshown: set[tuple[int, int]] = wanted

    # -- points

    def value(self, i: int, share_of_starts: float) -> float:
        """A random value that the variable may have."""
        plan, rng = self.plan, self.random
        start = plan.starts[i]
        low, high, above, below = plan.ranges[i]
        if plan.types[i] == "bool":
            return float(rng.random() < 0.5)
        if plan.types[i] in ("int", "enum"):
            least, most = low if low is not None else start - 3.0, high if high is not None else start + 3.0
            return float(rng.randint(int(least), int(min(most, least + 100.0))))
        choice = rng.random()
        if choice < share_of_starts:
            return start
        if choice < 0.6 + 0.4 * share_of_starts:
            size = abs(start) or plan.nominals[i] or 1.0
            x: float = start + size * 10.0 ** rng.uniform(-3.0, 0.3) * rng.uniform(-1.0, 1.0)
        elif low == 0.0 and start > 0.0 and rng.random() < 0.5:
            x = start * 10.0 ** rng.uniform(-4.0, 1.0)  # what cannot be negative differs by powers
        elif low is not None and high is not None:
            x = float(rng.choice((low, high, rng.uniform(low, high))))
        else:
            x = (low or 0.0) + rng.choice((-1.0, 1.0, 0.0)) * 10.0 ** rng.uniform(-3.0, 2.0)
        if low is not None and (x < low or (above and x == low)):
            x = low + (low - x or 10.0 ** rng.uniform(-3.0, 0.0) * (abs(start - low) or 1.0))
        if high is not None and (x > high or (below and x == high)):
            x = high - 10.0 ** rng.uniform(-3.0, 0.0) * (high - (start if low is None else low))
        return x

    def random_point(self) -> list[float]:
        """Random knowns, with the memory and, of every other point, the states that the element begins with there."""
        rng = self.random
        for share in (rng.choice((0.1, 0.5, 0.9)), 0.9, 1.0):
            point = self.blank[:]
            for i in self.knowns:
                point[i] = self.value(i, share)
            self.normalize(point)
            if self.element.broken_rules(point):
                continue
            begun = self.element.start(point)
            for i in self.plan.of_kind("memory"):
                point[i] = begun[i] if math.isfinite(begun[i]) else point[i]
            if rng.random() < 0.5:
                for i in self.plan.of_kind("state"):
                    point[i] = begun[i] if math.isfinite(begun[i]) else point[i]
            return point
        return self.start_point()

    def normalize(self, point: list[float]) -> None:
        for first in self.plan.quaternions:
            length = math.hypot(*point[first : first + 4]) or 1.0
            point[first : first + 4] = [x / length for x in point[first : first + 4]]

    def start_point(self) -> list[float]:
        point = self.blank[:]
        begun = self.element.start(point)
        for i in self.plan.of_kind("memory", "state"):
            point[i] = begun[i]
        return point

    def points(self) -> Iterator[list[float]]:
        """Points to try: the start, some at random, and what can be reached from those where most is at work."""
        plan = self.plan
        cost = self.element.size * (4 + 3 * min(len(self.sets), LEAST_SETS))
        budget = max(LEAST_POINTS, min(self.budget, WORK // cost))
        yield self.into_pool(self.start_point())
        for k in range(budget):
            if k < budget // 4:
                point: list[float] | None = self.random_point()
            elif plan.indicators and k % 2:
                point = self.across(self.busy_point() if k % 4 == 1 else self.random.choice(self.pool)[2])
            else:
                point = self.beside(self.busy_point())
            if point is None:
                continue
            if k % 4 == 3:  # with the memory of somebody who has been there
                self.remember(point)
            yield self.into_pool(point)

    def into_pool(self, point: list[float]) -> list[float]:
        """Keep the point for others to begin at, with the number of values that are at work there; and see on which
        sides of the indicators it is."""
        if self.plan.indicators:
            for z, seen in zip(self.element.indicators(point), self.sides, strict=True):
                seen.add(z > 0.0)
        bits = self.element.evaluate(point)
        busy = sum(bits[i] << 1 & (1 << 64) - 1 != 0 for i in self.computed)  # -0 is 0
        self.pool.append((busy, len(self.pool), point))
        self.pool.sort(reverse=True)
        return point

    def busy_point(self) -> list[float]:
        """One of the pool, where much is at work rather than little."""
        return self.pool[int(len(self.pool) * self.random.random() ** 3)][2]

    def remember(self, point: list[float]) -> None:
        """Give the point the memory that the element has after it."""
        for function in ("sample", "accept"):
            after = self.element.accept(point, function)
            for i in self.plan.of_kind("memory"):
                point[i] = after[i] if math.isfinite(after[i]) else point[i]

    def beside(self, point: list[float]) -> list[float] | None:
        """A point near this one, with some parameters that are far from its own."""
        rng, plan = self.random, self.plan
        there = point[:]
        reach = rng.uniform(-4.0, 0.0)
        for i in self.knowns:
            if plan.kinds[i] in ("fixed", "tunable") or plan.types[i] != "real":
                there[i] = self.value(i, 0.3) if rng.random() < 0.3 else there[i]
            else:
                there[i] += (abs(there[i]) or plan.nominals[i] or 1.0) * 10.0**reach * rng.uniform(-1.0, 1.0)
        self.normalize(there)
        return None if self.element.broken_rules(there) else there

    def across(self, point: list[float]) -> list[float] | None:
        """A point near this one where an indicator has the other sign: along its gradient over some of the continuous
        inputs and states, by Newton's method.  None if that does not lead there."""
        rng, plan, element = self.random, self.plan, self.element
        alone = [i for i, seen in enumerate(self.sides) if len(seen) < 2]
        which = rng.choice(alone) if alone and rng.random() < 0.5 else rng.randrange(len(self.sides))
        free = [i for i in plan.of_kind("input", "state") if plan.types[i] == "real" and i not in element.array_of]
        free = rng.sample(free, min(len(free), 12))
        before = element.indicators(point)[which]
        nominal = plan.indicators[element.crossings[which]]
        target = -math.copysign(nominal * 10.0 ** rng.uniform(-3.0, 0.0), before)
        here = point[:]
        for _ in range(4):
            z = element.indicators(here)[which]
            if not math.isfinite(z):
                return None
            if (z > 0.0) != (before > 0.0):
                return here
            slopes = []
            for i in free:
                step = 1e-6 * (abs(here[i]) or 1.0)
                there = here[:]
                there[i] += step
                slopes.append((element.indicators(there)[which] - z) / step)
            square = sum(slope * slope for slope in slopes)
            if not (math.isfinite(square) and square > 0.0):
                return None
            for i, slope in zip(free, slopes, strict=True):
                here[i] += (target - z) * slope / square
        return here if (element.indicators(here)[which] > 0.0) != (before > 0.0) else None

    # -- what is tried

    def run_assembly(self) -> None:
        """The order of evaluation at the start and some random points."""
        element = self.element
        before = (ctypes.c_double * element.size)()
        for k in range(ASSEMBLY_POINTS):
            point = self.random_point() if k else self.start_point()
            scheduled = element.evaluate(point)
            element.block[:] = point
            element.library.check_settle(element.block, before)
            settled = element.bits[:]
            for i in self.computed:
                a, b = from_bits(scheduled[i]), from_bits(settled[i])
                if scheduled[i] != settled[i] and not (math.isnan(a) and math.isnan(b)):
                    self.findings.disordered.setdefault(i, self.shown(point))
            self.findings.points += 1

    def run(self) -> None:
        self.try_memories()
        for point in self.points():
            self.findings.points += 1
            if self.element.broken_rules(point):
                continue
            bits = self.try_evaluation(point)
            for listed, group in self.random.sample(self.sets, min(len(self.sets), self.sets_each)):
                declared = set(listed)
                left_out = [i for i in self.knowns if i not in declared]
                self.try_duals(point, left_out, group)
                self.try_bits(point, bits, left_out, group)
            if self.unshown:
                self.see(point, bits)
            if self.findings.enough:
                break
        self.findings.unshown = sorted(self.unshown)

    def shown(self, point: list[float]) -> dict[str, float]:
        """The point as text needs it: what differs from its start value."""
        plan = self.plan
        return {plan.names[i]: point[i] for i in self.knowns if point[i] != plan.starts[i]}

    def try_evaluation(self, point: list[float]) -> list[int]:
        """Evaluate the point with NaN where values are computed, and with numbers there; returns the bits."""
        plan, findings = self.plan, self.findings
        bits = self.element.evaluate(point)
        other = point[:]
        for i in self.computed:
            other[i] = 0.7
        again = self.element.evaluate(other)
        for i in self.computed:
            if bits[i] == quiet_nan(UNASSIGNED, i):
                findings.unassigned.setdefault(i, self.shown(point))
            elif bits[i] != again[i]:
                findings.stale.setdefault(i, self.shown(point))
            elif bits[i] >> 40 == quiet_nan(CANARY, 0) >> 40:
                findings.read_behind.setdefault(i, self.element.array_of.get(bits[i] & 0xFFFFFFFF, "an array"))
        self.element.block[:] = point
        for i, before in ((i, self.element.bits[i]) for i in self.kept):
            if bits[i] != before:
                findings.changed.setdefault(i, "outputs")
        if plan.on_demand:
            rates = self.element.evaluate(point, 0)
            for i in self.computed:
                if i not in self.on_demand and rates[i] == quiet_nan(UNASSIGNED, i) != bits[i]:
                    findings.unassigned.setdefault(i, self.shown(point))
        return bits

    def report(self, value: int, known: int, what: str, point: list[float]) -> None:
        if (value, known) not in self.reported and not self.findings.enough:
            self.reported.add((value, known))
            self.findings.undeclared.append((value, known, what, self.shown(point)))

    def try_duals(self, point: list[float], left_out: list[int], group: list[int]) -> None:
        directions = [(i, self.random.uniform(0.5, 2.0)) for i in left_out if self.plan.types[i] == "real"]
        slopes = self.element.dual(point, directions)
        suspects = [v for v in group if slopes[v] != 0.0 and math.isfinite(slopes[v])]
        if not suspects:
            return
        for known, _ in directions:
            slopes = self.element.dual(point, [(known, 1.0)])
            for v in suspects:
                if slopes[v] != 0.0 and math.isfinite(slopes[v]):
                    self.report(v, known, f"its derivative with it is {slopes[v]:.6g}", point)

    def try_bits(self, point: list[float], bits: list[int], left_out: list[int], group: list[int]) -> None:
        for near in (True, False):
            other = point[:]
            for i in left_out:
                if near and self.plan.types[i] == "real":
                    other[i] = self.near(i, point[i])
                else:
                    other[i] = self.value(i, 0.2)
            if self.element.broken_rules(other):
                continue
            suspects = self.differing(bits, self.element.evaluate(other), group)
            if not suspects:
                continue
            moving = point[:]
            before = bits
            for known in left_out:  # one after the other: the one with which a value changes is to blame
                if moving[known] == other[known]:
                    continue
                moving[known] = other[known]
                after = self.element.evaluate(moving)
                for v in self.differing(before, after, suspects):
                    a, b = from_bits(before[v]), from_bits(after[v])
                    what = f"it changes from {a:.9g} to {b:.9g} with it at {other[known]:.9g}"
                    self.report(v, known, what, point)
                before = after

    def near(self, i: int, x: float) -> float:
        """A value beside x that the variable may have."""
        low, high, _, _ = self.plan.ranges[i]
        step = (abs(x) or self.plan.nominals[i] or 1.0) * 10.0 ** self.random.uniform(-6.0, -2.0)
        if high is not None and x + step >= high:
            step = -step
        return x if low is not None and x + step <= low else x + step

    def differing(self, before: list[int], after: list[int], group: Iterable[int]) -> list[int]:
        """Values of the group that are finite in both and not equal."""
        changed = [v for v in group if before[v] != after[v]]
        return [
            v
            for v in changed
            if from_bits(before[v]) != from_bits(after[v])
            and math.isfinite(from_bits(before[v]))
            and math.isfinite(from_bits(after[v]))
        ]

    def try_memories(self) -> None:
        """What the initial value of memory follows: parameters and inputs, before any evaluation."""
        free = [i for i in self.knowns if self.plan.kinds[i] != "state"]
        for _ in range(LEAST_POINTS if self.plan.memories else 0):
            point = self.random_point()
            begun = self.element.start(point)
            for listed, group in self.plan.memories:
                declared = set(listed)
                left_out = [i for i in free if i not in declared]
                other = point[:]
                for i in left_out:
                    other[i] = self.value(i, 0.2)
                if not left_out or self.element.broken_rules(other):
                    continue
                after = self.element.start(other)
                suspects = [v for v in group if begun[v] != after[v] and math.isfinite(begun[v] + after[v])]
                moving, before = point[:], begun
                for known in left_out if suspects else ():
                    moving[known] = other[known]
                    after = self.element.start(moving)
                    for v in suspects:
                        if before[v] != after[v] and math.isfinite(before[v] + after[v]):
                            what = f"it begins with {after[v]:.9g} for {before[v]:.9g} with it at {other[known]:.9g}"
                            self.report(v, known, what, point)
                    before = after

    def see(self, point: list[float], bits: list[int]) -> None:
        """Which of the declared dependencies show at the point."""
        for known in sorted({k for _, k in self.unshown}):
            waiting = [v for v, k in self.unshown if k == known]
            if self.plan.types[known] == "real":
                slopes = self.element.dual(point, [(known, 1.0)])
                self.unshown -= {(v, known) for v in waiting if slopes[v] != 0.0 and math.isfinite(slopes[v])}
                waiting = [v for v in waiting if (v, known) in self.unshown]
            other = point[:]
            other[known] = self.value(known, 0.0)
            if waiting and not self.element.broken_rules(other):
                changed = self.element.evaluate(other)
                self.unshown -= {(v, known) for v in self.differing(bits, changed, waiting)}


def main(library: str) -> None:
    plan = Plan(**json.load(sys.stdin))
    findings = Findings()
    probe = Probe(Element(library, plan, findings))
    if plan.is_assembly:
        probe.run_assembly()
    else:
        probe.run()
    result: dict[str, Any] = vars(findings)
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
