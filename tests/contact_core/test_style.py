"""What no compiler and no linter checks of the C sources: lines, first lines, names of files in comments."""

from __future__ import annotations

import re
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


CORE = ROOT / "contact_core"
FILES = [path for path in sorted(CORE.rglob("*.[ch]")) if "freestanding_include" not in path.parts]
MOST_LINES = 500
PARAGRAPHS = "coupling"  # a room whose files begin with whole paragraphs
GENERATED = {"model_data.h", "model_tables.c", "assembly_tables.c", "laws.h"}  # with each FMU
NAMED = re.compile(r"(?<![\w./<-])[\w*/]*\w\.(?:h|c|py|toml|md|mo|txt)\b")


def comments(text: str) -> str:
    return " ".join(re.findall(r"/\*(.*?)\*/", text, re.DOTALL))


def is_there(name: str, beside: Path) -> bool:
    folders = (beside, CORE, ROOT, ROOT / "elements" / "shared")
    return name in GENERATED or any(any(folder.glob(name)) for folder in folders) or any(ROOT.glob(f"*/*/{name}"))


def test_every_file_of_the_core_says_in_its_first_line_what_it_holds() -> None:
    firsts = {
        path.relative_to(CORE).as_posix(): path.read_text(encoding="utf-8")
        .partition("\n")[0]
        .removesuffix("*/")
        .strip()
        for path in FILES
        if path.parent.name != PARAGRAPHS
    }
    assert len(firsts) > 70
    assert {n: first for n, first in firsts.items() if not first.startswith("/* ") or first[-1] not in ".:"} == {}


def test_every_file_in_c_is_short_or_says_that_it_is_one_thing() -> None:
    """As modules in Python: test_packages.py."""
    files = [*FILES, *(path for path in sorted((ROOT / "elements").rglob("*.[ch]")))]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}
    long = {name: text for name, text in texts.items() if len(text.splitlines()) > MOST_LINES}
    assert "contact_core/coupling/coupling.h" in long
    assert not {name for name, text in long.items() if "One family of functions" not in text.partition("*/")[0]}


def test_files_that_comments_of_the_core_name_are_there() -> None:
    named = {
        (path.relative_to(CORE).as_posix(), name)
        for path in FILES
        for name in NAMED.findall(comments(path.read_text(encoding="utf-8")))
        if "*" not in name or "/" not in name.strip("*")
    }
    assert len(named) > 100
    assert sorted((file, name) for file, name in named if not is_there(name, (CORE / file).parent)) == []
