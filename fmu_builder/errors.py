"""The errors of this package, in one tree.

    FmuBuilderError
    ├── InputError        exit code 2: a recipe, scenario, trace or argument is wrong; the message says what to change
    └── ToolError         exit code 3: the tool chain failed
        └── SlaveError    exit code 3: an FMU failed while it was loaded or run

Every error carries all problems found, not the first.  Any other exception is a fault of fmu-builder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches

SHOWN_FAULTS = 20  # of one file; a broken column would otherwise print every row


@dataclass(frozen=True)
class Problem:
    """One fault: where it is (file, table, key) and what is wrong (value with unit, rule, repair)."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" if self.where else self.what


class FmuBuilderError(Exception):
    """Base of all errors of this package.  `problems` lists every fault found; `exit_code` is the command's."""

    exit_code = 3

    def __init__(self, problems: str | Problem | Iterable[Problem]) -> None:
        if isinstance(problems, str):
            problems = Problem("", problems)
        if isinstance(problems, Problem):
            problems = [problems]
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the run that the error ended."""
        return tuple(getattr(self, "__notes__", ()))

    def add_notes(self, notes: Iterable[str]) -> None:
        """Add remarks, which a traceback shows below the message."""
        for note in notes:
            self.add_note(note)

    def __reduce__(self) -> tuple[type[FmuBuilderError], tuple[tuple[Problem, ...]], dict[str, list[str]]]:
        """Errors of other processes keep their problems and notes."""
        return type(self), (self.problems,), {"__notes__": [*self.notes]}


class InputError(FmuBuilderError):
    """The input is wrong: a recipe, a declaration, a scenario, a trace, an argument."""

    exit_code = 2


class ToolError(FmuBuilderError):
    """The tool chain failed: no compiler, a compiler error, an unwritable folder."""


class SlaveError(ToolError):
    """An FMU failed: it does not load, refuses a call, or returns a status that ends the run."""


def raise_all(errors: Iterable[FmuBuilderError]) -> None:
    """Raise all problems of the errors as one error, of the kind with the highest exit code; nothing without errors."""
    found = list(errors)
    if found:
        worst = max(found, key=lambda error: error.exit_code)
        whole = type(worst)([problem for error in found for problem in error.problems])
        whole.add_notes(dict.fromkeys(note for error in found for note in error.notes))
        raise whole


@contextmanager
def collected(problems: list[Problem]) -> Iterator[None]:
    """Adds the problems of an InputError to the list instead of raising it."""
    try:
        yield
    except InputError as error:
        problems += error.problems


def raise_faults(faults: Sequence[Problem]) -> None:
    """Raises InputError with the first faults of one file and the number of further ones, if there are any."""
    if len(faults) > SHOWN_FAULTS:
        raise InputError([*faults[:SHOWN_FAULTS], Problem("", f"and {len(faults) - SHOWN_FAULTS} further faults")])
    if faults:
        raise InputError(faults)


def shortened(value: object) -> str:
    """A value as it stands in a message: long ones are cut."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def listed(texts: Sequence[str], most: int) -> str:
    """The first of the texts, and how many more there are: `a, b and 3 more`."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def counted(number: int, one: str, several: str) -> str:
    """`1 edge is`, `2 edges are`."""
    return f"{number} {one if number == 1 else several}"


def shown_value(value: object) -> str:
    """As the file has it, but for the kind of quotes."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def behind_number(unit: str) -> str:
    """The unit in a text that begins with a number."""
    return f" {unit}" if unit not in ("", "1") else ""


def none_of(value: object, known: Iterable[str]) -> str:
    """`'x' is none of a, b; did you mean 'a'?`"""
    names = list(known)
    near = did_you_mean(str(value), names).partition("; known")[0]  # all stand before it
    return f"{shown_value(value)} is none of {', '.join(names)}{near}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the known word nearest to `word`, else `; known: a, b, c`, else nothing."""
    names = sorted(known)
    alike = [name for name in names if name.casefold() == word.casefold()]
    near = alike or get_close_matches(word, names, n=1, cutoff=0.6)
    if near:
        return f"; did you mean '{near[0]}'?"
    return f"; known: {', '.join(names)}" if 0 < len(names) <= 20 else ""
