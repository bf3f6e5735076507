"""What all tests share: repeatable examples, quick builds, and how long the fuzz runs and how much is sampled."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from fmu_builder.cosim import initialization, master
from fmu_builder.export import fmu, host, prototype, toolchain
from fmu_builder.export.cache import cache_folder
from fmu_builder.export.fmi3_variables import Fmi
from fmu_builder.export.toolchain import Compiler
from fmu_builder.model.model import Model
from fmu_builder.paths import shipped

TESTS = "tests"  # what pytest runs when no file is named
QUICK = ("-O0",)
EVERYDAY = 2  # parameters of a test that the everyday run takes; the others count as slow
MARKERS = ("slow", "platform", "benchmark")  # of what the everyday run leaves out

# The same examples on every machine and in every run; `--hypothesis-profile explore` looks for new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fuzz-calls",
        type=int,
        metavar="N",
        help="calls of the fuzz tests; by default 3,000, and 60,000 against the build with sanitizers",
    )
    parser.addoption(
        "--of-each",
        type=int,
        metavar="N",
        help="of every test not marked unsampled run at most N of its parameters, from the first to the last at equal "
        "distances",
    )
    parser.addoption(
        "--all-parameters",
        action="store_true",
        help=f"no parameter counts as slow because its test has more than {EVERYDAY} of them",
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The everyday run does not read the files of which every test is marked with what it leaves out."""
    return True if _is_left_out(collection_path, config) else None


def _is_left_out(path: Path, config: pytest.Config) -> bool:
    marker = {"platform": "platform", "benchmarks": "benchmark"}.get(path.name, "")
    return bool(marker) and path.parent == Path(__file__).parent and f"not {marker}" in config.option.markexpr


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Where nothing is compiled yet, two processes would both compile the asserts of all tests, in 5 s each.  Every
    second one begins with the last file, and each finds half of them compiled by the other."""
    if os.environ.get("PYTEST_XDIST_WORKER", "gw0")[-1] not in "13579" or session.config.args != [TESTS]:
        return
    gc.disable()
    for path in sorted(Path(__file__).parent.glob("*/test_*.py"), reverse=True):
        if _is_left_out(path.parent, session.config):
            continue
        if str(path.parent) not in sys.path:
            sys.path.insert(0, str(path.parent))  # as pytest does
        with suppress(Exception):  # the collection reports it
            importlib.import_module(path.stem)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """The garbage collector searches neither while files are compiled, which makes much and little garbage in circles,
    nor later what this has made: it takes a third of the time of collection, and a quarter of a second each time.  In
    tests it searches when there are 10,000 new objects, and not 700, which halves its time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(10_000)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    if not config.getoption("--all-parameters"):
        everyday = [item for item in items if not any(item.get_closest_marker(name) for name in MARKERS)]
        kept = some_of_each(everyday, EVERYDAY)
        for item in everyday:
            if id(item) not in kept:
                item.add_marker("slow")
    yield  # the markers leave some
    most: int | None = config.getoption("--of-each")
    if most is None:
        return
    kept = some_of_each([item for item in items if not item.get_closest_marker("unsampled")], most)
    kept |= {id(item) for item in items if item.get_closest_marker("unsampled")}
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = [item for item in items if id(item) in kept]


def some_of_each(items: list[pytest.Item], most: int) -> set[int]:
    """Identities of the items that stay when every test keeps at most so many of its parameters."""
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item)
    return {id(item) for each in tests.values() for item in spread(each, most)}


def spread(items: list[pytest.Item], most: int) -> list[pytest.Item]:
    """At most so many of the items, the first and the last among them; of a single one the first."""
    if len(items) <= most:
        return items
    if most == 1:
        return items[:1]
    return [items[round(k * (len(items) - 1) / (most - 1))] for k in range(most)]


@pytest.fixture(scope="session")
def fuzz_calls(pytestconfig: pytest.Config) -> int | None:
    """--fuzz-calls, None if it was not given."""
    calls: int | None = pytestconfig.getoption("--fuzz-calls")
    return calls


@dataclass
class FmuFlags:
    """What this process adds to the compiler's flags of every FMU for which no flags are given, and to those of the
    core as a library."""

    flags: tuple[str, ...] = ()

    def of(self, given: Sequence[str]) -> tuple[str, ...]:
        return tuple(given) or self.flags


@pytest.fixture(scope="session", autouse=True)
def fmu_flags(request: pytest.FixtureRequest) -> Iterator[FmuFlags]:
    """Everyday tests compile without optimization, FMUs in a quarter of the time, libraries of the core in a ninth; the
    bits are those of optimized code (contact_core/test_quick_builds.py).  A run with slow tests, tests of platforms or
    benchmarks builds what users get, and quickly only where a test asks for it."""
    added = FmuFlags()
    if not any(item.get_closest_marker(name) for item in request.session.items for name in MARKERS):
        added.flags = QUICK
    content, compile_fmu, options, problems = fmu._content, fmu.compile_fmu, prototype._options, fmu.element_problems
    hosted, host_compiler = toolchain.compile_hosted, host._compiler
    elements = shipped("elements")

    def content_with(files: Mapping[str, bytes], compiler: Compiler, platform: str, flags: Sequence[str] = ()) -> str:
        return content(files, compiler, platform, added.of(flags))

    def compile_with(
        sources: Path,
        name: str,
        platforms: Sequence[str],
        compiler: Compiler,
        extra: Sequence[str],
        files: Sequence[str],
    ) -> dict[str, bytes]:
        return compile_fmu(sources, name, platforms, compiler, added.of(extra), files)

    def hosted_with(*arguments: Any) -> None:
        sources, library, include, compiler, extra, *platform = arguments
        hosted(sources, library, include, compiler, (*extra, *added.flags), *platform)

    def compiler_with() -> tuple[Compiler, tuple[str, ...]]:
        compiler, extra = host_compiler()
        return compiler, (*extra, *(added.flags if compiler.cross else ()))  # as it is, where gcc has sanitizers

    def problems_with(model: Model, *arguments: Any, **named: Any) -> list[str]:
        """A third of the time of a quick build.  A run with slow tests asks for the elements of the catalogue too."""
        is_shipped = all(folder.is_relative_to(elements) for folder in model.folders().values())
        return [] if added.flags and is_shipped else problems(model, *arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fmu, "_content", content_with)
        patch.setattr(fmu, "element_problems", problems_with)
        patch.setattr(fmu, "compile_fmu", compile_with)
        patch.setattr(toolchain, "compile_hosted", hosted_with)
        patch.setattr(host, "_compiler", compiler_with)
        patch.setattr(prototype, "_options", lambda platform: (*options(platform), *added.flags))
        yield added


@pytest.fixture
def optimized(fmu_flags: FmuFlags, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test builds FMUs as users get them."""
    monkeypatch.setattr(fmu_flags, "flags", ())


@pytest.fixture(scope="session", autouse=True)
def quick_slaves() -> Iterator[None]:
    """Scenarios of recipes that tests write run FMUs without optimization in every run."""
    catalogue = shipped("fmus")

    def quick(recipe: Path, flags: Sequence[str] = ()) -> Path:
        return fmu.host_fmu(recipe, flags if recipe.resolve().parent == catalogue else (*flags, *QUICK))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(master, "host_fmu", quick)
        yield


@pytest.fixture(scope="session", autouse=True)
def catalogue_read_once() -> Iterator[None]:
    """Models of the catalogue are read once in a process, and what goes into its FMUs is written once, since tests do
    not change it."""
    catalogue, read, load = shipped("fmus"), fmu._read, initialization.load_model
    known: dict[tuple[Path, Fmi], tuple[Model, str, dict[str, bytes]]] = {}
    models: dict[Path, Model] = {}

    def read_once(recipe: Path, fmi: Fmi) -> tuple[Model, str, dict[str, bytes]]:
        if recipe.resolve().parent != catalogue:
            return read(recipe, fmi)
        if (recipe, fmi) not in known:
            known[recipe, fmi] = read(recipe, fmi)
        model, guid, files = known[recipe, fmi]
        return model, guid, dict(files)

    def load_once(path: Path) -> Model:
        if path.resolve().parent != catalogue:
            return load(path)
        if path not in models:
            models[path] = load(path)
        return models[path]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fmu, "_read", read_once)
        patch.setattr(initialization, "load_model", load_once)
        yield


@pytest.fixture
def new_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache folder, which this process has not begun to use."""
    monkeypatch.setenv("FMU_BUILDER_CACHE", str(tmp_path / "cache"))
    cache_folder.cache_clear()
    yield cache_folder()
    cache_folder.cache_clear()


@pytest.fixture
def interruptible() -> Iterator[None]:
    """A background job begins with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
