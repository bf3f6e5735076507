"""The pytest plugin: its fixtures, its marker, its references, and what its messages name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fmu_builder.cosim.comparison import Tolerance
from fmu_builder.cosim.trace import Trace
from fmu_builder.errors import InputError
from fmu_builder.export.toolchain import PLATFORMS, host_platform
from fmu_builder.testing import assert_trace

pytest_plugins = ["pytester"]

TIME = np.linspace(0.0, 1.0, 11)
TRACE = Trace(TIME, ("a.x", "a.f[1]"), np.column_stack([TIME, 3.0 * TIME]), {"a.x": "m", "a.f[1]": "N"})


def shifted(name: str, by: float, at: float = 0.5) -> Trace:
    """TRACE with one sample of one signal moved."""
    values = TRACE.values.copy()
    values[np.argmin(np.abs(TIME - at)), TRACE.names.index(name)] += by
    return Trace(TIME, TRACE.names, values, TRACE.units)


def run_inner(pytester: pytest.Pytester, text: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(test_inner=text)
    return pytester.runpytest_inprocess("-p", "fmu_builder.testing", *options)


# ---- assert_trace ----------------------------------------------------------------------------------------------------


def test_without_a_tolerance_traces_have_to_be_equal() -> None:
    assert_trace(TRACE, TRACE)
    with pytest.raises(AssertionError):
        assert_trace(shifted("a.x", 1e-15), TRACE)


def test_a_difference_names_signal_time_value_reference_and_tolerance() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_trace(shifted("a.x", 0.25), TRACE, {"a.x": "0.1 m", "*": 0.0})
    what = "a.x at 0.5 s: 0.75 m, reference 0.5 m, differs by 0.25 m, tolerance 0.1 m"
    assert str(caught.value) == f"1 of 2 signals differ from the reference:\n  {what}"


@pytest.mark.parametrize(
    "tolerances",
    [
        0.25,
        "25 cm",
        Tolerance(absolute=0.25),
        {"absolute": "25 cm"},
        {"a.x": {"relative": 0.25}},
        {"a.?": 0.25},
        {"*": {"time": "0.25 s"}},
    ],
)
def test_a_tolerance_may_be_given_for_all_or_by_pattern(tolerances: Any) -> None:
    moved, reference = (Trace(t.time, ("a.x",), t.values[:, :1], {"a.x": "m"}) for t in (shifted("a.x", 0.25), TRACE))
    assert_trace(moved, reference, tolerances)
    with pytest.raises(AssertionError, match=r"a\.x at 0\.5 s"):
        assert_trace(moved, reference)


def test_brackets_of_a_pattern_are_indices() -> None:
    assert_trace(shifted("a.f[1]", 0.1), TRACE, {"a.f[*]": 0.2, "a.x": 0})
    with pytest.raises(InputError, match=r"tolerance of 'a\.f1': there is no such signal"):
        assert_trace(TRACE, TRACE, {"a.f1": 0.2})


def test_a_shorter_trace_does_not_pass_unless_that_is_allowed() -> None:
    short = Trace(TIME[:6], TRACE.names, TRACE.values[:6], TRACE.units)
    with pytest.raises(AssertionError, match=r"the trace ends at 0\.5 s, not at 1\.0 s; overlap=True"):
        assert_trace(short, TRACE)
    assert_trace(short, TRACE, overlap=True)


@pytest.mark.parametrize("tolerance", [{"a.x": "1 s"}, {"a.x": {"absolut": 1.0}}, {"a.x": -1.0}, {"b": 1.0}])
def test_what_is_no_tolerance_is_an_error_of_the_test(tolerance: dict[str, object]) -> None:
    with pytest.raises(InputError, match="tolerance of "):
        assert_trace(TRACE, TRACE, tolerance)  # type: ignore[arg-type]


# ---- references that the plugin writes -------------------------------------------------------------------------------

GOLDEN = """
import numpy as np
import pytest
from fmu_builder import Trace

@pytest.mark.parametrize("end", [1.0])
def test_ramp(fmu_golden, end):
    time = np.linspace(0.0, 1.0, 3)
    trace = Trace(time, ("x", "noise"), np.column_stack([time * VALUE, time]), {"x": "m"})
    fmu_golden(trace, {"x": "1 mm"})
"""


def test_a_reference_is_written_by_the_option_alone_and_then_compared(pytester: pytest.Pytester) -> None:
    missing = run_inner(pytester, GOLDEN.replace("VALUE", "1.0"))
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(["*there is no reference *test_ramp-1.0.csv; pytest --update-references writes it"])
    file = pytester.path / "references" / "test_inner" / "test_ramp-1.0.csv"
    assert not file.exists()

    written = run_inner(pytester, GOLDEN.replace("VALUE", "1.0"), "--update-references")
    written.assert_outcomes(passed=1)
    written.stdout.fnmatch_lines(["*--update-references: 1 written*", str(file)])
    assert file.read_text().startswith('"time","x"\n0')

    run_inner(pytester, GOLDEN.replace("VALUE", "1.0009")).assert_outcomes(passed=1)
    wrong = run_inner(pytester, GOLDEN.replace("VALUE", "1.5"))
    wrong.assert_outcomes(failed=1)
    wrong.stdout.fnmatch_lines(["*x at 1 s: 1.5 m, reference 1 m, differs by 0.5 m, tolerance 0.001 m"])


@pytest.mark.slow
def test_a_reference_with_other_signals_is_named(pytester: pytest.Pytester) -> None:
    text = GOLDEN.replace("VALUE", "1.0")
    run_inner(pytester, text, "--update-references").assert_outcomes(passed=1)
    result = run_inner(pytester, text.replace('{"x": "1 mm"}', '{"x": "1 mm", "noise": 1}'))
    result.stdout.fnmatch_lines(["*test_ramp-1.0.csv: it lacks the signal noise; *"])
    result = run_inner(pytester, text.replace('{"x": "1 mm"}', '{"noise": 1}'))
    result.stdout.fnmatch_lines(["*test_ramp-1.0.csv: it lacks the signal noise; *"])


def test_a_reference_of_the_name_before_is_read_with_a_warning(pytester: pytest.Pytester) -> None:
    text = GOLDEN.replace("VALUE", "1.0")
    run_inner(pytester, text, "--update-references").assert_outcomes(passed=1)
    folder = pytester.path / "references" / "test_inner"
    (folder / "test_ramp-1.0.csv").rename(folder / "test_ramp_1.0.csv")
    result = run_inner(pytester, text, "-W", "default")
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*test_ramp_1.0.csv is named as such files were before: rename it to *-1.0.csv*"])
    run_inner(pytester, GOLDEN.replace("VALUE", "1.1")).assert_outcomes(failed=1)


SHARED = """
import numpy as np
import pytest
from fmu_builder import Trace

def check(fmu_golden, value, name=""):
    time = np.linspace(0.0, 1.0, 3)
    fmu_golden(Trace(time, ("x",), (time * value)[:, None], {"x": "m"}), {"x": "1 mm"}, name)

def test_ramp(fmu_golden): check(fmu_golden, FACTOR * 1.0)
def test_ramp_1(fmu_golden): check(fmu_golden, FACTOR * 2.0)

@pytest.mark.parametrize("value", ["1", "a+b", "a b", "a/b"])
def test_value(fmu_golden, value): check(fmu_golden, FACTOR * {"1": 3.0, "a+b": 4.0, "a b": 5.0, "a/b": 6.0}[value])
def test_value_1(fmu_golden): check(fmu_golden, FACTOR * 7.0)

@pytest.mark.parametrize("value", ["1", "1.0"])
def test_named(fmu_golden, value): check(fmu_golden, FACTOR * float(len(value)), "0" if value == "1" else "")

class TestFirst:
    def test_ramp(self, fmu_golden): check(fmu_golden, FACTOR * 8.0)
    class TestInner:
        def test_ramp(self, fmu_golden): check(fmu_golden, FACTOR * 9.0)

class TestSecond:
    def test_ramp(self, fmu_golden): check(fmu_golden, FACTOR * 10.0)
"""


def test_no_two_tests_share_a_reference(pytester: pytest.Pytester) -> None:
    """Of other classes, of parameters whose characters a file name cannot have, of modules in other folders."""
    texts = {"here": SHARED.replace("FACTOR", "1.0"), "there": SHARED.replace("FACTOR", "0.5")}
    for folder, text in texts.items():
        (pytester.path / folder).mkdir()
        (pytester.path / folder / "test_same.py").write_text(text)
    options = ("-p", "no:xdist", "-p", "no:cacheprovider", "--import-mode=importlib")
    pytester.runpytest_inprocess(*options, "--update-references").assert_outcomes(passed=24)
    for folder in texts:
        files = {file.name for file in (pytester.path / folder / "references" / "test_same").glob("*.csv")}
        assert len(files) == 12
        assert {"test_ramp.csv", "TestFirst.test_ramp.csv", "TestFirst.TestInner.test_ramp.csv"} <= files
        assert {"test_value-1.csv", "test_value_1.csv", "test_named-1.0.csv"} <= files
    pytester.runpytest_inprocess(*options).assert_outcomes(passed=24)


# ---- platforms -------------------------------------------------------------------------------------------------------


def test_a_test_of_other_platforms_is_skipped_and_an_unknown_one_is_an_error(pytester: pytest.Pytester) -> None:
    host = host_platform()
    other = next(name for name in PLATFORMS if name != host)
    result = run_inner(
        pytester,
        f"""
        import pytest

        @pytest.mark.fmu_platform({host!r}, {other!r})
        def test_here(): pass

        @pytest.mark.fmu_platform({other!r})
        def test_elsewhere(): raise AssertionError

        @pytest.mark.fmu_platform("linux65")
        def test_misspelt(): pass
        """,
        "-rs",
        "--strict-markers",
    )
    result.assert_outcomes(passed=1, skipped=1, errors=1)
    result.stdout.fnmatch_lines([f"*is for {other}; this is {host}*"])
    result.stdout.fnmatch_lines(["*'linux65' is none of *"])


# ---- a test of a user ------------------------------------------------------------------------------------------------


def test_three_lines_build_run_and_compare(pytester: pytest.Pytester) -> None:
    text = """
    def test_mass(fmu_build, fmu_run, fmu_golden):
        mass = fmu_build("PointMass")
        result = fmu_run(mass, stop="10 ms", step="1 ms")
        fmu_golden(result, {"fmu.p.r[*]": "1 nm"})
    """
    run_inner(pytester, text, "--update-references").assert_outcomes(passed=1)
    (file,) = pytester.path.glob("references/test_inner/*.csv")
    assert file.read_text().startswith('"time","fmu.p.r[1]","fmu.p.r[2]","fmu.p.r[3]"\n')
    run_inner(pytester, text).assert_outcomes(passed=1)


def test_the_plugin_imports_nothing_that_pytest_has_not_imported() -> None:
    """Every pytest run of an environment with fmu-builder loads it."""
    text = (
        "import pytest, sys; before = set(sys.modules); import fmu_builder.testing; print(*set(sys.modules) - before)"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", text], cwd=root, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"fmu_builder", "fmu_builder.facade", "fmu_builder.testing"}
