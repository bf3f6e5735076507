"""A pytest plugin for tests of FMUs and of systems of them, loaded wherever fmu-builder is installed.

    def test_ball(fmu_build, fmu_run, fmu_golden):
        ball = fmu_build("BouncingBall")
        result = fmu_run(ball, stop="0.5 s")
        fmu_golden(result, {"fmu.height": "1 nm"})

fixtures   fmu_build, fmu_run, fmu_golden
marker     fmu_platform(name, ...): the test runs on these platforms only, such as linux64
option     --update-references: fmu_golden writes its files in place of comparing with them
function   assert_trace(trace, reference, tolerances)

This module imports pytest alone, which is there: test runs that use none of it pay for none of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from fmu_builder.cosim.comparison import Tolerance
    from fmu_builder.cosim.result import Result
    from fmu_builder.cosim.trace import Trace
    from fmu_builder.model.documents import Assembly, Document, Recipe
    from fmu_builder.testing.golden import Golden

    AnyTolerance = Tolerance | float | str | Mapping[str, float | str]

__all__ = ["assert_trace"]

UPDATE = "--update-references"
_WRITTEN = "fmu_builder.reference"  # user property of a test: a reference that it wrote


def assert_trace(
    trace: Trace | Result | Path | str,
    reference: Trace | Path | str,
    tolerances: AnyTolerance | Mapping[str, AnyTolerance] = 0.0,
    *,
    overlap: bool = False,
) -> None:
    """Assert that every signal of a reference stays within its tolerance in the trace.

    trace        of a run, its result, or a CSV file;   reference   likewise
    tolerances   of each signal by name or pattern (`fmu.*`, first match), or one for all: an absolute error as a number
                 in the unit of the signal or as a text with its unit, or a Tolerance, or its keys absolute, relative,
                 time; what matches no name has to be equal
    overlap      compare the common times only
    Raises AssertionError naming signal, time, value, reference and tolerance; InputError where both cannot be compared.
    """
    from fmu_builder.testing.assertion import check_trace

    __tracebackhide__ = True
    message = check_trace(trace, reference, tolerances, overlap)
    if message:
        raise AssertionError(message)


# ---- fixtures --------------------------------------------------------------------------------------------------------


def _beside(request: pytest.FixtureRequest, source: Document | Path | str) -> Document | Path | str:
    """A file of this name beside the test, else the source itself."""
    path = request.path.parent / source if isinstance(source, str | Path) else None
    return path if path is not None and path.suffix and path.is_file() else source


@pytest.fixture
def fmu_build(request: pytest.FixtureRequest) -> Callable[[Recipe | Assembly | Path | str], Path]:
    """Builds the FMU of a recipe for this machine: a document, a file beside the test, or a name of the catalogue.

    FMUs come from the cache of fmu-builder: one that has not changed is not compiled again."""

    def build(recipe: Recipe | Assembly | Path | str) -> Path:
        from fmu_builder.export.fmu import host_fmu
        from fmu_builder.model.documents import as_file
        from fmu_builder.paths import find_recipe

        with as_file(_beside(request, recipe)) as path:
            return host_fmu(find_recipe(str(path)))

    return build


@pytest.fixture
def fmu_run(request: pytest.FixtureRequest) -> Callable[..., Result]:
    """`fmu_builder.run`; the file of a system is looked for beside the test first."""

    def run(system: Document | Path | str, **options: Any) -> Result:
        from fmu_builder.cosim.master import run as run_system

        return run_system(_beside(request, system), **options)

    return run


@pytest.fixture
def fmu_golden(request: pytest.FixtureRequest) -> Golden:
    """Compares a trace with the file `references/MODULE/TEST.csv` beside the test, which --update-references writes."""
    from fmu_builder.testing.golden import Golden

    def wrote(path: Path) -> None:
        request.node.user_properties.append((_WRITTEN, str(path)))

    test = ".".join([*([request.cls.__qualname__] if request.cls else []), request.node.name])
    return Golden(request.path, test, update=bool(request.config.getoption(UPDATE)), wrote=wrote)


# ---- option, marker, summary -----------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("fmu-builder")
    group.addoption(UPDATE, action="store_true", help="write the references of fmu_golden in place of comparing")


def pytest_configure(config: pytest.Config) -> None:
    what = "the test runs on these platforms only: linux64, aarch64-linux, win64, darwin64, aarch64-darwin"
    config.addinivalue_line("markers", f"fmu_platform(name, ...): {what}")


def pytest_runtest_setup(item: pytest.Item) -> None:
    marker = item.get_closest_marker("fmu_platform")
    if marker is not None:
        from fmu_builder.testing.platforms import reason_to_skip

        reason = reason_to_skip(marker.args)
        if reason:
            pytest.skip(reason)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not terminalreporter.config.getoption(UPDATE):
        return
    reports: Sequence[pytest.TestReport] = terminalreporter.stats.get("passed", ())
    paths = sorted({str(path) for report in reports for key, path in report.user_properties if key == _WRITTEN})
    terminalreporter.section(f"{UPDATE}: {len(paths)} written")
    for path in paths:
        terminalreporter.line(path)
