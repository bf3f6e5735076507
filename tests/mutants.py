"""python tests/mutants.py [--count N] [--seed S] [--of PATH] [--without PATH] [--keep FILE] [PYTEST ARGUMENT ...]: do
the tests notice faulty C?

Each mutant is one change of one token of contact_core or of an element: an operator, a comparison, a sign or a
constant, drawn with a fixed seed.  The tests run on it in a copy of the checkout until one fails: those named, or else
those of its room.  A mutant that no test kills is a gap in the tests, or a change that makes no difference.  The
mutants follow from the C and the seed alone, so the verdicts of two versions of the tests can be compared: `--keep
verdicts.json` writes them."""

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

_CALLS = ("fmi2_calls", "fmi2_values", "step", "model_exchange", "fmi2_state", "derivatives", "fmi2_log", "states")
# Tests of each room or file of the core, those first that fail soonest; the longest name that fits counts.
_ROOMS = {
    "contact_core/": tuple(f"contact_core/test_{name}.py" for name in _CALLS),
    "contact_core/instance": (*(f"contact_core/test_{name}.py" for name in _CALLS), "contact_core/test_solver.py"),
    "contact_core/fmi2/fmi2_state": (
        "contact_core/test_fmi2_state.py",
        "contact_core/test_states.py",
        "fuzz/test_forged_states.py",
    ),
    "contact_core/contact_record.h": (
        "elements/test_recorded_contacts.py",
        "contact_core/test_fmi2_state.py",
        "fuzz/test_forged_states.py",
    ),
    "contact_core/fmi2/fmi2_variables.h": (
        "contact_core/test_fmi2_values.py",
        "contact_core/test_fmi2_calls.py",
        "elements/test_recorded_contacts.py",
    ),
    "contact_core/fmi3/": ("contact_core/test_fmi3.py",),
    "contact_core/base/freestanding": ("contact_core/test_fmi2_state.py", "contact_core/test_step.py"),
    "contact_core/assembly": ("contact_core/test_parts.py",),
    "contact_core/python": ("contact_core/test_python_element.py",),
    "contact_core/fmi2/python": ("contact_core/test_python_element.py",),
    "contact_core/base/": ("contact_core/test_vector.py", "contact_core/test_mechanism.py"),
    "contact_core/base/elementary": ("contact_core/test_elementary.py",),
    "contact_core/base/text": ("contact_core/test_text.py",),
    "contact_core/check/": ("contact_core/test_element_check.py",),
    "contact_core/laws/": (
        "contact_core/test_contact.py",
        "contact_core/test_one_law.py",
        "elements/test_bristle.py",
        "elements/test_point_surface_laws.py",
    ),
    "contact_core/laws/law.h": (
        "fmu_builder/test_law_c_source.py",
        "contact_core/test_one_law.py",
        "elements/test_point_surface_laws.py",
    ),
    "contact_core/lines/": ("contact_core/test_line.py", "elements/test_point_line_2.py"),
    "contact_core/mechanism/": (
        "contact_core/test_mechanism.py",
        "elements/test_planar_mechanism.py",
        "elements/test_mechanism_impacts.py",
        "elements/test_mechanism_drives.py",
    ),
    "contact_core/solver/": (
        "contact_core/test_solver.py",
        "contact_core/test_step.py",
        "elements/test_prescribed_motion.py",
    ),
    "contact_core/surfaces/": (
        "contact_core/test_surfaces.py",
        "contact_core/test_plane.py",
        "contact_core/test_crossing.py",
        "elements/test_profile_corners.py",
    ),
}


def tests_of(file: str) -> list[str]:
    """The tests of the room of a file of contact_core.  Raises SystemExit for others."""
    rooms = [room for room in _ROOMS if file.startswith(room)]
    if not rooms:
        raise SystemExit(f"{file} lies in no room with tests of its own: name the tests")
    return [f"tests/{test}" for test in _ROOMS[max(rooms, key=len)]]


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


def drawn(count: int, seed: int, of: Sequence[str], without: Sequence[str] = ()) -> list[Mutant]:
    """Mutants of the C in these files and folders, the same for the same sources and seed."""
    files = [path for name in of for path in sorted((ROOT / name).rglob("*.[ch]")) or [ROOT / name]]
    files = [path for path in files if not any(path.is_relative_to(ROOT / name) for name in without)]
    every = [m for path in files for m in mutants_of(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))]
    return random.Random(seed).sample(every, min(count, len(every)))


def verdict(mutant: Mutant, copy: Path, cache: Path, tests: Sequence[str], timeout: float) -> str:
    """`killed by TEST`, `refused` by the compiler, or `survived`.  A crash or a timeout kills too."""
    path = copy / mutant.file
    text = path.read_text("utf-8")
    path.write_text(mutant.applied(text), "utf-8")
    try:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
        environment = os.environ | {"FMU_BUILDER_CACHE": str(cache)}
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, check=False, timeout=timeout
        )
    except subprocess.TimeoutExpired:
        return f"killed by the timeout of {timeout:g} s"
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
    parser.add_argument("--without", action="append", default=[], help="file or folder to leave out")
    parser.add_argument(
        "--timeout", type=float, default=1800.0, help="of the tests on one mutant, s: a loop may not end"
    )
    parser.add_argument("--keep", type=Path, help="file that takes the verdicts as JSON")
    options, tests = parser.parse_known_args()
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy, cache = Path(folder) / "copy", Path(folder) / "cache"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "__pycache__", ".*_cache"))
        for mutant in drawn(options.count, options.seed, options.of or ("contact_core", "elements"), options.without):
            found[str(mutant)] = verdict(mutant, copy, cache, tests or tests_of(mutant.file), options.timeout)
            print(f"{mutant}  {found[str(mutant)]}", flush=True)
            shutil.rmtree(cache / "fmus", ignore_errors=True)  # of this mutant: nobody asks for them again
    survived = sum(one == "survived" for one in found.values())
    refused = sum(one == "refused" for one in found.values())
    print(f"{len(found)} mutants: {len(found) - survived - refused} killed, {refused} refused, {survived} survived")
    if options.keep:
        options.keep.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
