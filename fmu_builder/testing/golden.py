"""Traces of former runs as references: files beside a test that one option writes anew."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fmu_builder.cosim.result import Result
from fmu_builder.cosim.trace import Trace, read_trace, write_trace
from fmu_builder.errors import InputError
from fmu_builder.testing import UPDATE
from fmu_builder.testing.assertion import as_trace, check_trace, tolerances_of

if TYPE_CHECKING:
    from fmu_builder.testing import AnyTolerance

FOLDER = "references"


class Golden:
    """The references of one test: `references/MODULE/TEST.csv` beside its file, and `TEST.NAME.csv` of further ones.

    No two tests share a file.  TEST is `CLASS.test` in a class, `test-VALUES` of one with parameters; where characters
    that no file name should have are replaced, and of further ones with parameters, digits of a checksum follow."""

    def __init__(self, test_file: Path, test: str, *, update: bool, wrote: Callable[[Path], None]) -> None:
        """test     its class, name and parameters, as `TestBall.test_drop[1.0]`
        update   write them in place of comparing;   wrote   is called with each file that was written"""
        self._folder = test_file.parent / FOLDER / test_file.stem
        self._test, self._update, self._wrote = test, update, wrote

    def path(self, name: str = "") -> Path:
        """The file of a reference.   name: of a further one of the same test"""
        function, bracket, values = self._test.partition("[")
        test = f"{function}-{values.removesuffix(']')}" if bracket else function
        whole = ".".join(part for part in (test, name) if part)
        stem = re.sub(r"[^0-9A-Za-z_.=-]+", "_", whole)
        if stem != whole or (bracket and name):  # others may have this name too, as a value 1.0 and 1 with the name 0
            stem += "-" + hashlib.sha256(f"{test}\n{name}".encode()).hexdigest()[:8]
        return self._folder / f"{stem}.csv"

    def _former_path(self, name: str) -> Path:
        """Its name before, without classes, which tests could share; read for one version."""
        function, bracket, values = self._test.partition("[")
        whole = ".".join(part for part in (f"{function.rpartition('.')[2]}{bracket}{values}", name) if part)
        return self._folder / f"{re.sub(r'[^0-9A-Za-z_.=-]+', '_', whole).strip('_')}.csv"

    def __call__(
        self,
        trace: Trace | Result | Path | str,
        tolerances: AnyTolerance | Mapping[str, AnyTolerance] = 0.0,
        name: str = "",
    ) -> None:
        """Compare the signals that have a tolerance with the file of the reference, or write it.

        tolerances   as of assert_trace; a file holds the signals that match one, all for a single tolerance
        Raises AssertionError, also where the file is missing or has other signals; InputError."""
        __tracebackhide__ = True
        given, path = as_trace(trace), self.path(name)
        chosen = tolerances_of(given, tolerances, partial=True)
        if self._update:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_trace(_only(given, list(chosen)), path)
            self._wrote(path)
            return
        if not path.is_file():
            former = self._former_path(name)
            if not former.is_file():
                raise AssertionError(f"there is no reference {path}; pytest {UPDATE} writes it")
            warnings.warn(f"{former} is named as such files were before: rename it to {path.name}", stacklevel=2)
            path = former
        reference = read_trace(path)
        if set(chosen) != set(reference.names):
            (which, name), *_ = _differences(list(chosen), reference.names)
            raise AssertionError(f"{path}: {which} {name}; pytest {UPDATE} writes it anew")
        try:
            message = check_trace(given, reference, chosen, overlap=False, name=str(path))
        except InputError as error:  # other units, or no common time
            raise AssertionError(f"{path}: {error}; pytest {UPDATE} writes it anew") from None
        if message:
            raise AssertionError(f"{message}\npytest {UPDATE} takes this trace as the reference")


def _differences(chosen: Sequence[str], held: Sequence[str]) -> list[tuple[str, str]]:
    """What the names that have a tolerance, and those in a file, do not have in common."""
    missing = [("it lacks the signal", name) for name in chosen if name not in held]
    return missing + [("no tolerance matches its signal", name) for name in held if name not in chosen]


def _only(trace: Trace, names: list[str]) -> Trace:
    """These signals, with their units; without provenance, which changes with each version."""
    columns = np.column_stack([trace[name] for name in names])
    units = {name: trace.units[name] for name in names if name in trace.units}
    return Trace(trace.time, tuple(names), columns, units)
