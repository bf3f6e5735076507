"""What the commands print: results to stdout, all else to stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

out = Console(soft_wrap=True)
out.width = max(out.width, 100)  # a table cut to 80 columns loses the names of the cases
err = Console(stderr=True, soft_wrap=True)

SHOWN = 20  # warnings and contacts of a run; a slave that warns in every step would print thousands
INTERRUPTED = 130  # exit code
_INTERVAL = 5.0  # s, between lines on the progress


def line(text: str = "") -> None:
    out.print(text, markup=False, highlight=False)


def print_progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def print_notes(notes: Iterable[str], kind: str = "note") -> None:
    for note in notes:
        err.print(f"{kind}: {note}", style="yellow", markup=False, highlight=False)


def print_fault(text: str) -> None:
    err.print(text, style="red", markup=False, highlight=False)


def progress_lines(text: Callable[[Any], str]) -> Callable[[Any], None]:
    """A function that prints the text of what it is given every five seconds; nothing for a short run."""
    last: float | None = None

    def report(done: Any) -> None:
        nonlocal last
        now = time.monotonic()
        if last is not None and now - last < _INTERVAL:
            return
        if last is not None:
            print_progress(text(done))
        last = now

    return report


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """A function to call when one of `total` things is done: a bar on a terminal, a line each elsewhere."""
    if not err.is_terminal:
        yield print_progress
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task(title, total=total)

        def done(text: str) -> None:
            progress.update(task, advance=1, description=f"{title} {text}")

        yield done
