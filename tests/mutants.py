"""python tests/mutants.py [--count N] [--seed S] [--of PATH] [--keep FILE] [PYTEST ARGUMENT ...]: do the tests notice
faulty C?

Each mutant is one change of one token of contact_core or of an element: an operator, a comparison, a sign or a
constant, drawn with a fixed seed.  The tests run on it in a copy of the checkout until one fails.  A mutant that no
test kills is a gap in the tests, or a change that makes no difference.  The mutants follow from the C and the seed
alone, so the verdicts of two versions of the tests can be compared: `--keep verdicts.json` writes them."""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
TIMEOUT = 1800  # s, of the tests on one mutant: a loop may have lost its end
# What is no code of its own: comments, literals, preprocessor lines.
_SKIPPED = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M
)
# Tokens that have another in their place.  Operators stand between blanks, as the style of the project has it.
_CHANGES = {
    " + ": (" - ",),
    " - ": (" + ",),
    " * ": (" / ",),
    " / ": (" * ",),
    " < ": (" <= ", " >= "),
    " <= ": (" < ", " > "),
    " > ": (" >= ", " <= "),
    " >= ": (" > ", " < "),
    " == ": (" != ",),
    " != ": (" == ",),
    " && ": (" || ",),
    " || ": (" && ",),
    " = -": (" = ",),
    "return -": ("return ",),
    "+= ": ("-= ",),
    "-= ": ("+= ",),
    "0.0": ("1.0",),
    "0.5": ("0.75",),
    "1.0": ("1.5",),
    "2.0": ("1.5",),
    "3.0": ("2.5",),
}
_TOKEN = re.compile(
    "|".join(rf"(?<![\w.]){re.escape(t)}(?![\w.])" if t[0].isdigit() else re.escape(t) for t in _CHANGES)
)


@dataclass(frozen=True)
class Mutant:
    """`old` at `place` of the file, the `line`th of it, is replaced by `new`."""

    file: str
    line: int
    place: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: '{self.old.strip()}' -> '{self.new.strip() or 'nothing'}'"

    def applied(self, text: str) -> str:
        assert text.startswith(self.old, self.place)
        return text[: self.place] + self.new + text[self.place + len(self.old) :]


def mutants_of(file: str, text: str) -> Iterator[Mutant]:
    """All mutants of one file."""
    code = _SKIPPED.sub(lambda found: re.sub(r"[^\n]", "\0", found[0]), text)
    for found in _TOKEN.finditer(code):
        for new in _CHANGES[found[0]]:
            yield Mutant(file, text.count("\n", 0, found.start()) + 1, found.start(), found[0], new)


def drawn(count: int, seed: int, of: Sequence[str]) -> list[Mutant]:
    """Mutants of the C in these files and folders, the same for the same sources and seed."""
    files = [path for name in of for path in sorted((ROOT / name).rglob("*.[ch]")) or [ROOT / name]]
    every = [m for path in files for m in mutants_of(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))]
    return random.Random(seed).sample(every, min(count, len(every)))


def verdict(mutant: Mutant, copy: Path, cache: Path, tests: Sequence[str]) -> str:
    """`killed by TEST`, `refused` by the compiler, or `survived`.  A crash or a timeout kills too."""
    path = copy / mutant.file
    text = path.read_text("utf-8")
    path.write_text(mutant.applied(text), "utf-8")
    try:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
        environment = os.environ | {"FMU_BUILDER_CACHE": str(cache)}
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, check=False, timeout=TIMEOUT
        )
    except subprocess.TimeoutExpired:
        return f"killed by the timeout of {TIMEOUT} s"
    finally:
        path.write_text(text, "utf-8")
    if done.returncode == 0:
        return "survived"
    if done.returncode < 0:  # a signal: the fault ended the process of the tests
        return f"killed by {signal.Signals(-done.returncode).name}"
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.M)
    if failed is None:
        raise SystemExit(f"pytest ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return "refused" if "the compiler failed" in done.stdout else f"killed by {failed[1]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=60, help="mutants, by default 60")
    parser.add_argument("--seed", type=int, default=1, help="of the draw, by default 1")
    parser.add_argument("--of", action="append", help="file or folder; by default contact_core and elements")
    parser.add_argument("--keep", type=Path, help="file that takes the verdicts as JSON")
    options, tests = parser.parse_known_args()
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy, cache = Path(folder) / "copy", Path(folder) / "cache"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "__pycache__", ".*_cache"))
        for mutant in drawn(options.count, options.seed, options.of or ("contact_core", "elements")):
            found[str(mutant)] = verdict(mutant, copy, cache, tests)
            print(f"{mutant}  {found[str(mutant)]}", flush=True)
            shutil.rmtree(cache / "fmus", ignore_errors=True)  # of this mutant: nobody asks for them again
    survived = sum(one == "survived" for one in found.values())
    refused = sum(one == "refused" for one in found.values())
    print(f"{len(found)} mutants: {len(found) - survived - refused} killed, {refused} refused, {survived} survived")
    if options.keep:
        options.keep.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
