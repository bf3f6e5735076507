"""What `assert_trace` compares, and how it names what differs."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from fmu_builder.cosim.comparison import Comparison, SignalResult, Tolerance, compare
from fmu_builder.cosim.result import Result
from fmu_builder.cosim.trace import Trace, read_trace
from fmu_builder.errors import InputError, Problem, behind_number, did_you_mean, shortened
from fmu_builder.units import parse_quantity, parse_unit

if TYPE_CHECKING:
    from fmu_builder.testing import AnyTolerance

_KEYS = ("absolute", "relative", "time")
_SHOWN = 10  # signals of one message


def check_trace(
    trace: Trace | Result | Path | str,
    reference: Trace | Path | str,
    tolerances: AnyTolerance | Mapping[str, AnyTolerance],
    overlap: bool,
    name: str = "the reference",
) -> str:
    """What is outside of its tolerance, "" if nothing is.   name: of the reference.   Raises InputError."""
    __tracebackhide__ = True
    given, expected = as_trace(trace), as_trace(reference)
    shown = str(reference) if isinstance(reference, str | Path) else name
    chosen = tolerances_of(expected, tolerances)
    return message_of(compare(given, expected, chosen, Tolerance(), overlap=overlap), chosen, shown)


def as_trace(source: Trace | Result | Path | str) -> Trace:
    if isinstance(source, Result):
        return source.trace
    return source if isinstance(source, Trace) else read_trace(Path(source))


def tolerances_of(
    reference: Trace, tolerances: AnyTolerance | Mapping[str, AnyTolerance], partial: bool = False
) -> dict[str, Tolerance]:
    """The tolerance of each signal of the reference: of the first name or pattern that it matches.

    partial   signals that none matches are left out; else they have none, and must be equal
    Raises InputError naming each pattern without a signal and each value that is no tolerance."""
    __tracebackhide__ = True
    patterns: Mapping[str, AnyTolerance]
    if isinstance(tolerances, Mapping) and not (tolerances and set(tolerances) <= set(_KEYS)):
        patterns = tolerances
    else:
        patterns = {"*": tolerances}  # type: ignore[dict-item]
    problems = [
        Problem(f"tolerance of '{pattern}'", f"there is no such signal{did_you_mean(pattern, reference.names)}")
        for pattern in patterns
        if not any(_matches(name, pattern) for name in reference.names)
    ]
    found = {}
    for name in reference.names:
        pattern = next((one for one in patterns if _matches(name, one)), None)
        if pattern is None:
            if not partial:
                found[name] = Tolerance()
            continue
        try:
            found[name] = _tolerance(patterns[pattern], reference.units.get(name, "1"), f"tolerance of '{pattern}'")
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(dict.fromkeys(problems))
    return found


def _matches(name: str, pattern: str) -> bool:
    """Brackets are indices here, and no sets of characters: `p.r[3]`, `p.r[*]`."""
    return name == pattern or fnmatchcase(name, pattern.replace("[", "[[]"))


def _tolerance(given: AnyTolerance, unit: str, where: str) -> Tolerance:
    if isinstance(given, Tolerance):
        return given
    parts = given if isinstance(given, Mapping) else {"absolute": given}
    unknown = [key for key in parts if key not in _KEYS]
    if unknown:
        raise InputError(Problem(where, f"{shortened(unknown[0])} is none of {', '.join(_KEYS)}"))
    units = dict(zip(_KEYS, (unit or "1", "1", "s"), strict=True))
    return Tolerance(**{key: parse_quantity(one, parse_unit(units[key]), where) for key, one in parts.items()})


def message_of(comparison: Comparison, tolerances: Mapping[str, Tolerance], reference: str) -> str:
    """The signals that left their tolerance, a line each; "" where all passed."""
    failed = [signal for signal in comparison.signals if not signal.passed]
    lines = [_line(signal, tolerances[signal.name]) for signal in failed[:_SHOWN]]
    if len(failed) > _SHOWN:
        lines.append(f"and {len(failed) - _SHOWN} more")
    if failed:
        lines.insert(0, f"{len(failed)} of {len(comparison.signals)} signals differ from {reference}:")
    if comparison.span.note and not comparison.overlap:
        lines.append(f"{comparison.span.note}; overlap=True allows that")
    return "\n  ".join(lines)


def _line(signal: SignalResult, tolerance: Tolerance) -> str:
    unit = behind_number(signal.unit)
    parts = [f"{signal.allowed:.6g}{unit}"]
    if tolerance.relative:
        parts.append(f"of which {tolerance.relative:g} of the largest value")
    if tolerance.time:
        parts.append(f"within {tolerance.time:g} s")
    return (
        f"{signal.name} at {signal.time:.9g} s: {signal.value:.9g}{unit}, reference {signal.reference:.9g}{unit}, "
        f"differs by {signal.error:.3g}{unit}, tolerance {', '.join(parts)}"
    )
