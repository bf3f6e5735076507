"""Rules of the clocks of element.toml."""

from __future__ import annotations

from collections.abc import Iterator

from fmu_builder.model.clocks import ClockEntry
from fmu_builder.model.declaration import VARIABLE_TABLES, Declaration, Variable


def clock_problems(declaration: Declaration) -> Iterator[tuple[str, str, str]]:
    """Table, name and rule of each entry that breaks one of clocks."""
    computed = {**declaration.outputs, **declaration.memory, **declaration.locals}
    clocks = [name for name, entry in {**declaration.inputs, **declaration.outputs}.items() if entry.clock is not None]
    for table in VARIABLE_TABLES:
        entries: dict[str, Variable] = getattr(declaration, table)
        for name, entry in entries.items():
            for what in _problems(table, entry, clocks, computed, declaration.memory):
                yield table, name, what


def _problems(
    table: str, entry: Variable, clocks: list[str], computed: dict[str, Variable], memory: dict[str, Variable]
) -> Iterator[str]:
    if (entry.clock or entry.clocks or entry.previous) and (entry.size or entry.each):
        yield "clock, clocks and previous belong to scalars"
    if entry.clocks and table not in ("outputs", "memory", "locals"):
        yield "clocks belongs to an output, a local or memory"
    for name in entry.clocks:
        if name not in clocks:
            yield f"clocks: there is no clock '{name}' among inputs and outputs"
    if entry.previous is not None:
        before = memory.get(entry.previous)
        if not entry.clocks or table != "outputs" or before is None or before.type != entry.type or before.hidden:
            yield f"previous = '{entry.previous}' must be visible memory of the type of a clocked output"
    clock = entry.clock
    if clock is None:
        return
    if entry.type != "bool" or table not in ("inputs", "outputs"):
        yield "clock belongs to an input or output of the type bool"
    if table == "outputs" and clock != ClockEntry():
        yield "an output clock is triggered: clock = {}"
    if clock.interval is None and (clock.shift or clock.resolution):
        yield "shift and resolution belong to an interval"
    if clock.interval is not None and (clock.moment or clock.waits):
        yield "a clock has an interval, or moment and waits"
    for key, value in (("interval", clock.interval), ("shift", clock.shift)):
        fractions = (value or 0.0) * (clock.resolution or 0)
        if abs(fractions - round(fractions)) > 1e-9:
            yield f"{key} = {value:g} s must be a whole number of 1/{clock.resolution} s"
    if (clock.moment is None) != (clock.waits is None):
        yield "moment and waits belong together"
    for key, of, kind, unit in (("moment", clock.moment, "real", "s"), ("waits", clock.waits, "bool", "1")):
        found = computed.get(of or "")
        if of is not None and (found is None or found.type != kind or found.unit != unit):
            yield f"{key} = '{of}' must be a computed variable of the type {kind}" + (" in s" if unit == "s" else "")
