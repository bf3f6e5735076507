"""The table of guide/probes.md: what a right importer shows of each probe, from fmus/probes/expected.toml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fmu_builder.errors import shown_value
from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import shipped

COLUMNS = ("probe", "what it shows", "start values and inputs", "steps", "result")
CLOCK_COLUMNS = ("what it shows", "start values", "ticks of `tick`", "result at 1 s", "new countdowns")
CAPABILITY_COLUMNS = ("capability", "ProbeStep", "ProbePlain", "for ProbePlain, a right importer")
_LONGEST = 40  # characters of a name


def checks() -> list[dict[str, Any]]:
    """The checks, each as the head of the file explains, with all keys but `time`."""
    tables: dict[str, Any] = read_toml(shipped("fmus") / "probes" / "expected.toml")
    defaults: dict[str, Any] = {"start": {}, "set": {}, "step": 0.1, "stop": 0.1, "status": "done", "outputs": {}}
    return [{**defaults, "tolerance": 0.0, "logged": {}, **one} for one in tables["check"]]


def clock_checks() -> list[dict[str, Any]]:
    """The runs of ProbeClock, each as the head of the file explains."""
    tables: dict[str, Any] = read_toml(shipped("fmus") / "probes" / "expected.toml")
    return [{"start": {}, **one} for one in tables["clock"]]


def clock_rows() -> list[tuple[str, ...]]:
    """The rows of the table, below CLOCK_COLUMNS."""
    return [
        (
            one["what"],
            _values(one["start"]),
            ", ".join(f"{time:g}" for time in one["tick"]) + " s" * bool(one["tick"]),
            _values(one["outputs"]),
            str(one["calls"]),
        )
        for one in clock_checks()
    ]


def capabilities() -> dict[str, dict[str, str]]:
    """By attribute of FMI 2.0: what ProbeStep (`step`) and ProbePlain (`plain`) declare, and what an importer does."""
    tables: dict[str, Any] = read_toml(shipped("fmus") / "probes" / "expected.toml")
    return dict(tables["capabilities"])


def capability_rows() -> list[tuple[str, ...]]:
    """The rows of the table, below CAPABILITY_COLUMNS."""
    return [(f"`{name}`", one["step"], one["plain"], one["what"]) for name, one in capabilities().items()]


def check_rows() -> list[tuple[str, ...]]:
    """The rows of the table, below COLUMNS."""
    return [
        (
            one["probe"],
            one["what"],
            ", ".join(filter(None, (_values(one["start"]), _values(one["set"])))),
            f"{one['step']:g} s to {one['stop']:g} s",
            _result(one),
        )
        for one in checks()
    ]


def _values(values: Mapping[str, Any]) -> str:
    return ", ".join(f"`{_short(name)}` = {_text(value)}" for name, value in values.items())


def _short(name: str) -> str:
    name = name.replace("|", "\\|")  # of a cell
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _text(value: bool | int | float | str) -> str:
    if isinstance(value, str):
        return f'"{_short(value)}"'
    return shown_value(value)


def _result(one: Mapping[str, Any]) -> str:
    ending = "" if one["status"] == "done" else f"{one['status']} at {one['time']:g} s: "
    within = f" (± {one['tolerance']:g})" if one["tolerance"] else ""
    return f"{ending}{_values(one['outputs'])}{within}" if one["outputs"] else ending.rstrip(": ")
