"""Closed forms behind the cases of this folder.  `python references.py` writes every *_ref.csv anew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fmu_builder import Trace
from fmu_builder.cosim.reference_scripts import reference, write_references


def ticks() -> Trace:
    """What Booleans show that rise at some steps: values behind a step follow those at its beginning."""
    t = np.arange(101, dtype=float) * 0.01
    rises, falls = (10, 30, 50, 70), (15, 35, 55, 75)  # of tick, in steps
    beat, echo, delay = (5, 25, 45, 65, 85), (33, 73), 0.03
    rows = []
    for k in range(101):
        now = k - 1  # the beginning of the step that ends here
        count = sum(one <= now for one in rises)
        is_up = any(up <= now < down for up, down in zip(rises, falls, strict=True))
        carries = [one for one in rises[1::2] if one <= now]
        beats = [one for one in beat if one <= now]
        echoes = [one for one in echo if one <= now]
        sampled = t[beats[-1]] if beats else 0.0
        echo_at = t[carries[-1]] + delay if carries else 0.0
        waits = len(carries) > len(echoes)
        rows.append((sampled, echo_at, count, is_up and count % 2 == 0, len(beats), len(echoes), waits))
    names = ("sampled", "echo_at", "count", "carry", "beats", "echoes", "echo_waits")
    columns = {name: (column, "") for name, column in zip(names, np.array(rows).T, strict=True)}
    return reference("ticks", "rises of the inputs", t, columns, of="probe")


CASES: tuple[Callable[[], Trace], ...] = (ticks,)

if __name__ == "__main__":
    write_references(CASES, __file__)
