"""The order in which the parts of an assembly are evaluated, and algebraic loops."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush

from fmu_builder.model.assembly import Copy, Evaluation, Part
from fmu_builder.model.model import Variable


class EvaluationOrder:
    """The order in which parts are evaluated and values copied, and what a connected input finally depends on.

    schedule  evaluations; every part has exactly one that is its last
    copies    in the order they are made
    known     of a connected input: indices of the inputs, parameters and states it depends on through all connections
    loops     texts that name algebraic loops; empty without any"""

    def __init__(self, parts: Sequence[Part], sources: Mapping[int, Sequence[int]], names: Sequence[str]) -> None:
        self.parts, self.sources, self.names = parts, sources, names
        self.offsets = [part.offset for part in parts]
        self.schedule: list[Evaluation] = []
        self.copies: list[Copy] = []
        self.known: dict[int, tuple[int, ...]] = {}
        self.loops: list[str] = []
        self._inputs: list[list[int]] = [[] for _ in parts]  # of each part, the connected ones
        self._targets: dict[int, list[int]] = {}  # of each source
        self._waits_for: dict[int, list[int]] = {}  # source -> connected inputs that it needs
        self._needed_by: dict[int, list[int]] = {}  # connected input -> sources of its part that need it
        self._missing: dict[int, int] = {}  # of an input: sources; of a source: inputs; that are not known yet
        self._outputs: list[list[int]] = [[] for _ in parts]  # of each part, the sources that are computed
        for target in sorted(sources):
            self._inputs[self._part_of(target)].append(target)
            self._missing[target] = len(sources[target])
            for source in sources[target]:
                self._targets.setdefault(source, []).append(target)
        self._missing_inputs = [len(inputs) for inputs in self._inputs]
        self._ready = deque(p for p, inputs in enumerate(self._inputs) if not inputs)
        self._partial: list[int] = []  # parts with an output that is needed and whose inputs are known
        self._valid: set[int] = set()
        self._done = [False] * len(parts)
        self._run()

    def _part_of(self, index: int) -> int:
        return bisect_right(self.offsets, index) - 1

    def _raw(self, index: int) -> Variable:
        p = self._part_of(index)
        return self.parts[p].model.variables[index - self.offsets[p]]

    def expand(self, depends: Iterable[int], offset: int) -> tuple[int, ...]:
        """Indices in the part at `offset` as those of the FMU: in place of connected inputs what they depend on, in
        place of the part's time that of the FMU."""
        found: set[int] = set()
        for i in depends:
            if i + offset in self.sources:
                found.update(self.known.get(i + offset, ()))
            else:
                found.add(i + offset if i else 0)
        return tuple(sorted(found))

    def _run(self) -> None:
        known = []
        for source in sorted(self._targets):
            p = self._part_of(source)
            if p < 0 or self._raw(source).kind == "state":  # an input of the assembly, or a state
                known.append(source)
                continue
            v = self._raw(source)
            self._outputs[p].append(source)
            needs = [i + self.offsets[p] for i in v.depends] if v.kind != "memory" else self._inputs[p]
            self._waits_for[source] = [i for i in needs if i in self.sources]
            self._missing[source] = len(self._waits_for[source])
            for i in self._waits_for[source]:
                self._needed_by.setdefault(i, []).append(source)
            if not self._missing[source] and v.kind != "memory":
                heappush(self._partial, p)
        for source in known:
            self._make_valid(source)
        while True:
            if self._ready:
                self._evaluate(self._ready.popleft(), last=True)
            elif self._partial:
                p = heappop(self._partial)
                if not self._done[p] and any(self._is_ready(s) for s in self._outputs[p]):
                    self._evaluate(p, last=False)
            else:
                break
        if not all(self._done):
            self.loops = list(self._find_loops())

    def _is_ready(self, source: int) -> bool:
        """Memory is known when its part has started, which needs all inputs; other outputs when their inputs are."""
        return source not in self._valid and not self._missing[source] and self._raw(source).kind != "memory"

    def _evaluate(self, p: int, last: bool) -> None:
        self._copy([i for i in self._inputs[p] if i in self._valid])
        self._inputs[p] = [i for i in self._inputs[p] if i not in self._valid]
        self.schedule.append(Evaluation(p, len(self.copies), last))
        self._done[p] = last
        for source in self._outputs[p]:
            if source not in self._valid and (last or self._is_ready(source)):
                self._make_valid(source)

    def _make_valid(self, source: int) -> None:
        self._valid.add(source)
        for target in self._targets[source]:
            self._missing[target] -= 1
            if not self._missing[target]:
                self._receive(target)

    def _receive(self, target: int) -> None:
        """All sources of the input are known."""
        self._valid.add(target)
        found: set[int] = set()
        for source in self.sources[target]:
            if self._part_of(source) < 0 or self._raw(source).kind == "state":
                found.add(source)
            else:
                found.update(self.expand(self._raw(source).depends, source - self._raw(source).index))
        self.known[target] = tuple(sorted(found))
        p = self._part_of(target)
        self._missing_inputs[p] -= 1
        if not self._missing_inputs[p]:
            self._ready.append(p)
        for source in self._needed_by.get(target, ()):
            self._missing[source] -= 1
            if self._is_ready(source):
                heappush(self._partial, p)

    def _copy(self, targets: Sequence[int]) -> None:
        """Neighbours copied from neighbours are one copy; sums are formed in the order of the connections."""
        rank = 0
        while targets:
            for target in targets:
                source = self.sources[target][rank]
                last = self.copies[-1] if self.copies else None
                if (
                    last is not None
                    and target != targets[0]
                    and last.target + last.count == target
                    and last.source + last.count == source
                ):
                    self.copies[-1] = replace(last, count=last.count + 1)
                else:
                    self.copies.append(Copy(target, source, 1, rank > 0))
            rank += 1
            targets = [t for t in targets if len(self.sources[t]) > rank]

    def _find_loops(self) -> Iterator[str]:
        """Walk against the signals from every input that is not known, until an input repeats."""
        seen: set[int] = set()
        for begin in sorted(set(self.sources) - self._valid):
            path: list[int] = []  # input, source, input, source ...
            at = begin
            while at not in seen:
                seen.add(at)
                source = next(s for s in self.sources[at] if s not in self._valid)
                path += [at, source]
                at = next(i for i in self._waits_for[source] if i not in self._valid)
            if at in path:
                loop = path[path.index(at) :][::-1]  # source, input, source, input ... along the signals
                first = loop.index(min(loop[::2]))
                loop = [*loop[first:], *loop[: first + 1]]
                yield f"algebraic loop: {' -> '.join(self.names[i] for i in loop)}; {_LOOP_REPAIR}"


_LOOP_REPAIR = (
    "each of these outputs depends on the input before it at the same time: put an element with states between"
)
