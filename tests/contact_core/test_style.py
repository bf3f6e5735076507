"""What no compiler and no linter checks of the C sources."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_lines_of_c_are_no_longer_than_those_of_python_and_hold_no_tabs_or_blanks_at_the_end() -> None:
    most = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["line-length"]
    folders = ("contact_core", "elements", "fmu_builder", "tests")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.[ch]")]
    assert len(files) > 80
    faults = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in sorted(files)
        for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), start=1)
        if len(line) > most or "\t" in line or line != line.rstrip()
    ]
    assert not faults
