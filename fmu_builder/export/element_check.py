"""Whether an element keeps to its declaration, found by calling it as contact_core/check/probe_element.c does.

Every build checks the form of the element that it builds, in a process of its own, and keeps the findings in the cache
under the content of all that goes into them: sources, declarations, compiler.  Start values of a recipe do not."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fmu_builder.errors import InputError, Problem, ToolError, listed
from fmu_builder.export import canaries, probe, probe_plan, toolchain
from fmu_builder.export.cache import cache_folder, used
from fmu_builder.export.canaries import Guarded, with_canaries
from fmu_builder.export.description import initial_dependencies
from fmu_builder.export.generate import check_sources, write_sources
from fmu_builder.export.probe_plan import Plan, pack, same_lists, unpack
from fmu_builder.export.toolchain import (
    PLATFORMS,
    Compiler,
    compile_folder,
    compile_object,
    compile_unoptimized,
    host_platform,
)
from fmu_builder.model.declaration import VARIABLE_TABLES, Declaration, plain
from fmu_builder.model.element_model import build_model
from fmu_builder.model.model import ElementModel, Variable
from fmu_builder.paths import is_shipped_element, shipped

TIMEOUT = 60  # s; a check takes a tenth of one
POINTS = 60  # to try; four times as many where dependencies that never show are looked for, fewer with large tables
_LARGE = 2**20  # bytes of tables that halve this number, twice as many a third: an evaluation may search all of them
_SHOWN_VALUES = 12


@dataclass(frozen=True)
class Findings:
    """What the check of an element found.

    problems  that stop the build      unshown  declared dependencies that were never seen, as text
    points    how many were tried"""

    problems: tuple[Problem, ...] = ()
    unshown: tuple[str, ...] = ()
    points: int = 0


def check_element(model: ElementModel, compiler: Compiler, every: bool = False, timeout: float = TIMEOUT) -> Findings:
    """Check the element of the model, or read what an earlier check of the same content found.

    every    look for declared dependencies that do not show as well, which takes a second or two
    timeout  of the run, s
    Raises ToolError where the compiler fails, or a shipped element crashes or does not return, InputError where another
    does."""
    form = _form(model)
    guarded = with_canaries(form)
    plan = _plan(guarded, every)
    sources, compiled = check_sources(guarded.model)
    place = f"{model.element_name}.check"
    is_own = not is_shipped_element(model.recipe.element_folder)
    called = Called(place, _source(model), timeout, "probe_element.c", is_own)
    found = findings(sources, compiled, plan, compiler, called)
    return _findings(model, guarded.model, found)


def _form(model: ElementModel) -> ElementModel:
    """The element alone, with the start values that it declares, or that its structure gives."""
    recipe = model.recipe
    given = {name: value for name, value in recipe.starts.items() if name in recipe.structure_starts}
    return build_model(replace(recipe, starts=given), solver=False)


def _plan(guarded: Guarded, every: bool) -> Plan:
    model = guarded.model
    large = sum(len(one.values) for one in model.constants if isinstance(one.values, bytes))
    return pack(
        model,
        POINTS * (4 if every else 1) // (1 + large // _LARGE),
        sets=declared_sets(model),
        memories=same_lists(_initial(model)),
        canaries=guarded.values,
        z_canaries=guarded.indicators,
        every=every,
    )


def declared_sets(model: ElementModel) -> list[tuple[list[int], list[int]]]:
    """What computed values of the element declare, each list with the values that have it."""
    computed = [
        v for v in model.variables if v.kind in ("calculated", "output") or (v.kind == "derivative" and _own(model, v))
    ]
    return same_lists((v.index, v.depends) for v in computed)


def _own(model: ElementModel, derivative: Variable) -> bool:
    """Whether the derivative of a state is computed by the element, and is no copy of another variable."""
    return model.variables[derivative.derivative].rate < 0


def _initial(model: ElementModel) -> Iterator[tuple[int, Sequence[int]]]:
    """What the initial value of each memory variable depends on."""
    known: dict[int, list[int]] = {}  # by identity of the list: the same long one may belong to many
    for v in model.by_kind("memory"):
        if id(v.depends) not in known:
            known[id(v.depends)] = sorted(initial_dependencies(model, v))
        yield v.index, known[id(v.depends)]


# ---- the check, and what is kept of it -------------------------------------------------------------------------------


def _content(sources: Mapping[str, str | bytes], plan: Plan, compiler: Compiler) -> str:
    """A name that changes with everything that the findings follow from."""
    digest = content_of_tools(compiler)
    digest.update(plan.numbers.tobytes())
    digest.update("\n".join((*plan.names, *plan.arrays)).encode())
    for name, content in sorted(sources.items()):
        data = f"{name}\0".encode() + (content.encode() if isinstance(content, str) else content)
        digest.update(b"\0%d\0" % len(data) + data)
    return digest.hexdigest()[:32]


def content_of_tools(compiler: Compiler) -> hashlib._Hash:
    """A hash of what checks: compiler, probes, and the modules of this package that call them."""
    tools = [Path(one.__file__ or "") for one in (probe, probe_plan, canaries, toolchain)]
    tools += [Path(__file__), *sorted(_probes().iterdir())]
    digest = hashlib.sha256(repr((host_platform(), compiler.command, compiler.version)).encode())
    for data in map(Path.read_bytes, tools):
        digest.update(b"\0%d\0" % len(data) + data)
    return digest


def _read(known: Path) -> dict[str, Any] | None:
    """Earlier findings; None without any, or if a crash of the machine damaged them."""
    try:
        found: dict[str, Any] = json.loads(known.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found


def _write(known: Path, found: Mapping[str, Any]) -> None:
    """Under a temporary name first; without effect where the cache cannot be written to."""
    with suppress(OSError):
        known.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=known.parent, delete=False, encoding="utf-8") as file:
            json.dump(found, file)
        Path(file.name).replace(known)


@dataclass(frozen=True)
class Called:
    """What is checked: the folder of its sources, the file that a crash is blamed on, the most it may take, s, the file
    of contact_core/check that calls it, and whether an element is not shipped, so that a crash is a wrong input."""

    place: str
    source: str
    timeout: float
    probe: str
    is_own: bool


def _probes() -> Path:
    return shipped("contact_core") / "check"


def findings(
    sources: Mapping[str, str | bytes], compiled: Sequence[str], plan: Plan, compiler: Compiler, called: Called
) -> dict[str, Any]:
    """What probe.py finds with a library of these sources, or found before.  Raises ToolError, and InputError."""
    known = used(cache_folder() / "checks" / f"{_content(sources, plan, compiler)}.json")
    found = _read(known)
    if found is None:
        found = _probe(sources, compiled, plan, compiler, called)
        _write(known, found)
    return found


def _probe(
    sources: Mapping[str, str | bytes], compiled: Sequence[str], plan: Plan, compiler: Compiler, called: Called
) -> dict[str, Any]:
    """Compile the sources and run probe.py."""
    failed = InputError if called.is_own else ToolError
    with compile_folder(called.place) as folder:
        write_sources(sources, folder)
        library = folder / f"check{PLATFORMS[host_platform()].suffix}"
        compile_unoptimized(folder, library, compiler, (*compiled, *_objects(called.probe, compiler)))
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-S", probe.__file__, str(library)],
                input=plan.numbers.tobytes(),
                capture_output=True,
                check=False,
                timeout=called.timeout,
            )
        except subprocess.TimeoutExpired as error:
            what = f"the check of its declaration did not end within {called.timeout:g} s: it does not return"
            raise failed(Problem(called.source, what)) from error
    if done.returncode != 0:
        text = done.stderr.decode("utf-8", "replace").strip()
        last = text.splitlines()[-1:] or [f"it crashed, exit code {done.returncode}"]
        raise failed(Problem(called.source, f"the check of its declaration failed: {last[0]}"))
    return unpack(plan, done.stdout)


def _objects(probe: str, compiler: Compiler) -> list[str]:
    """The probe and the memory functions that it needs, compiled once and without optimization: that saves 0.5 s, and a
    run takes 4 ms longer."""
    base = shipped("contact_core") / "base"
    digest = content_of_tools(compiler)
    for path in sorted(base.glob("*.[ch]")):
        digest.update(path.read_bytes() + b"\0")
    objects = []
    for source in (_probes() / probe, base / "freestanding.c"):
        kept = used(cache_folder() / "host" / f"{source.stem}-{digest.hexdigest()[:32]}.o")
        if not kept.is_file():
            kept.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=kept.parent, prefix="object-") as folder:
                compile_object(source, Path(folder) / kept.name, compiler)
                Path(folder, kept.name).replace(kept)
        objects.append(str(kept))
    return objects


# ---- what was found, as text -----------------------------------------------------------------------------------------


def _source(model: ElementModel) -> str:
    return str(model.recipe.element_folder / "element.c")


def _findings(model: ElementModel, padded: ElementModel, found: Mapping[str, Any]) -> Findings:
    source = _source(model)
    names = [v.name for v in padded.variables]
    problems = [*_undeclared(model, padded, found["undeclared"])]
    for key, what in (
        ("unassigned", "is never assigned{at}: assign it in every branch of the function that computes it"),
        (
            "stale",
            "is computed from the old value of a computed variable{at}: assign that one first, or declare memory",
        ),
    ):
        for index, point in found[key].items():
            at = f" at {point_text(point)}" if point else " at the start values"
            problems.append(Problem(source, f"{names[int(index)]} {what.format(at=at)}"))
    for index, array in found["read_behind"].items():
        problems.append(Problem(source, f"{names[int(index)]} is computed from a value behind the array {array}"))
    for array, function in found["overwritten"].items():
        problems.append(Problem(source, f"the function `{function}` writes beyond the end of the array {array}"))
    for index, function in found["changed"].items():
        kind = padded.variables[int(index)].kind
        what = f"the function `{function}` changes {names[int(index)]}: it must not change {_KINDS[kind]}"
        problems.append(Problem(source, what))
    for index in found["unwritten"]:
        what = f"the function `indicators` never assigns z->{padded.indicators[index].name}"
        problems.append(Problem(source, what))
    unshown = _unshown(model, padded, found["unshown"])
    return Findings(tuple(dict.fromkeys(problems)), tuple(unshown), found["points"])


_KINDS = {
    "fixed": "a parameter",
    "tunable": "a parameter",
    "input": "an input",
    "state": "a state",
    "memory": "memory",
    "time": "time",
}


@dataclass
class _Missing:
    """What the list of one declared entry leaves out."""

    names: dict[str, str] = field(default_factory=dict)  # what to add -> the scalar it stands for
    seen: list[str] = field(default_factory=list)


def _undeclared(model: ElementModel, padded: ElementModel, found: Sequence[Sequence[Any]]) -> Iterator[Problem]:
    """One problem for each list of element.toml that leaves something out."""
    entries: dict[str, _Missing] = {}
    for value, known, what, point in found:
        v, k = padded.variables[value], padded.variables[known]
        missing = entries.setdefault(_entry(model.element, _base(v.name)), _Missing())
        added = _base(k.name) if _each(k.name) in ("", _each(v.name)) else f"{_base(k.name)}[*]"
        if added not in missing.names:
            missing.names[added] = k.name
            values = point_text({k.name: point.get(k.name, k.start)} | point)
            missing.seen.append(f"{v.name} follows {k.name} ({what}; {values})")
    for entry, missing in entries.items():
        listed = ", ".join(f'"{name}"' for name in missing.names)
        what = (
            f"depends leaves out {', '.join(missing.names)}: {'; '.join(missing.seen[:3])}"
            f"; add {listed}, or leave depends out, which stands for everything"
        )
        yield Problem(f"{model.recipe.element_folder / 'element.toml'}: {entry}", what)


def _unshown(model: ElementModel, padded: ElementModel, found: Sequence[Sequence[int]]) -> Iterator[str]:
    """Declared names of which no component showed in any component of the entry that lists them."""
    if not found:
        return
    computed = [v for v in padded.variables if v.kind in ("calculated", "output", "derivative")]
    never = {(value, known) for value, known in found}
    listed: dict[str, dict[str, bool]] = {}
    for v in computed:
        shows = listed.setdefault(_entry(model.element, _base(v.name)), {})
        for i in v.depends:
            base = _base(padded.variables[i].name)
            shows[base] = shows.get(base, False) or (v.index, i) not in never
    for entry, shows in listed.items():
        if silent := [base for base, was_seen in shows.items() if not was_seen]:
            yield f"{entry} depends on {', '.join(silent)}"


def _base(name: str) -> str:
    """The declared name of a scalar: without der() and indices."""
    return re.sub(r"\[[\d,]+\]", "", name.removeprefix("der(").removesuffix(")"))


def _each(name: str) -> str:
    """The index over `each` of a scalar of a port or group, as text."""
    found = re.match(r"\w+\[(\d+)\]\.", name)
    return found[1] if found else ""


def _entry(declaration: Declaration, base: str) -> str:
    """Where element.toml declares the dependencies of a variable."""
    group, _, role = base.partition(".")
    for table in VARIABLE_TABLES:
        for name, entry in getattr(declaration, table).items():
            if plain(name) == base:
                rate = entry.rate
                return _entry(declaration, rate) if table == "states" and rate is not None else f"[{table}] {base}"
    return f"[ports.{group}] {role}" if group in map(plain, declaration.ports) else base


def point_text(values: Mapping[str, float]) -> str:
    """Values that are off their start values."""
    return listed([f"{name} = {value:.9g}" for name, value in values.items()], _SHOWN_VALUES)
