"""What the scripts that compute references, cases/references.py of an element, have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from fmu_builder.cosim.trace import Trace, write_trace


def reference(
    case: str,
    formula: str,
    time: ArrayLike,
    columns: Mapping[str, tuple[ArrayLike, str]],
    events: Mapping[str, float] | None = None,
    of: str = "",
) -> Trace:
    """The reference of a case.

    columns  values and unit by signal: shape (n,); one number, which stays; or vectors, shape (n, 3), which become
             the signals [1], [2], [3] without those that are 0 throughout.  The unit "" is none
    of       the slave whose signals these are: a prefix of all names"""
    time = np.asarray(time, dtype=float)
    signals = {}
    for name, (values, unit) in columns.items():
        name, values = f"{of}.{name}" if of else name, np.asarray(values, dtype=float)
        if values.ndim < 2:
            signals[name] = (np.broadcast_to(values, time.shape), unit)
        else:
            signals |= {f"{name}[{i}]": (part, unit) for i, part in enumerate(values.T, start=1) if part.any()}
    values = np.column_stack([v for v, _ in signals.values()]) if signals else np.zeros((len(time), 0))
    units = {name: unit for name, (_, unit) in signals.items() if unit}
    provenance = {"case": case, "formula": formula, "script": "references.py"}
    return Trace(time, tuple(signals), values, units, events or {}, provenance)


def grid(stop: float, output_step: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Times from 0 to `stop`, s."""
    return np.arange(round(stop / output_step) + 1, dtype=float) * output_step


def write_references(cases: Iterable[Callable[[], Trace]], script: str) -> None:
    """<name of the case>_ref.csv beside the script."""
    for case in cases:
        write_trace(case(), Path(script).parent / f"{case.__name__}_ref.csv")
