"""Running cases: how they are found, that none hides another, and what counts as a failure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from fmu_builder.cli.commands import app
from fmu_builder.cosim import validation as module
from fmu_builder.cosim.comparison import Comparison, Span, comparison_to_json
from fmu_builder.cosim.master import Master
from fmu_builder.cosim.trace import read_trace
from fmu_builder.cosim.validation import CaseResult, Order, all_cases, find_cases, run_case, validate
from fmu_builder.errors import InputError, SlaveError
from fmu_builder.model.scenario import CheckedScenario, Convergence, read_scenario
from fmu_builder.new import new_element

CASES = all_cases()
QUICK = ("point_mass/projectile", "point_surface/work_off")


def copy(case: str, folder: Path, *replaced: tuple[str, str]) -> Path:
    """A shipped case with its reference in a folder of its own, with texts replaced."""
    for path in CASES[case].parent.glob(f"{CASES[case].stem}_ref.csv*"):
        (folder / path.name).write_bytes(path.read_bytes())
    text = CASES[case].read_text(encoding="utf-8")
    for old, new in replaced:
        assert old in text
        text = text.replace(old, new)
    target = folder / CASES[case].name
    target.write_text(text, encoding="utf-8")
    return target


# ---- finding cases -------------------------------------------------------------------------------------------------


def test_cases_are_found_by_full_name_case_element_and_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = CASES["point_mass/projectile"]
    assert find_cases(["point_mass/projectile"]) == {"point_mass/projectile": path}
    assert find_cases(["projectile"]) == {"point_mass/projectile": path}
    assert find_cases([str(path)]) == {"point_mass/projectile": path}
    assert find_cases(["point_surface"]) == {n: p for n, p in CASES.items() if n.startswith("point_surface/")}
    assert find_cases([]) == CASES
    assert find_cases(["projectile", "point_mass", str(path)]) == {"point_mass/projectile": path}


def test_cases_of_one_stem_are_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a/drop.toml", "b/drop.toml", "elements/x/cases/drop.toml"):
        Path(name).parent.mkdir(parents=True)
        Path(name).touch()
    found = find_cases(["a/drop.toml", "b/drop.toml", "elements/x/cases/drop.toml"])
    assert list(found) == ["a/drop", "b/drop", "x/drop"]


def test_all_names_that_are_no_case_are_told_at_once() -> None:
    with pytest.raises(InputError) as refused:
        find_cases(["slidin_block", "nothing/like.toml", "", "projectile"])
    said = [str(p) for p in refused.value.problems]
    assert said[0] == "slidin_block: there is no such case; did you mean 'sliding_block'?"
    assert said[1] == "nothing/like.toml: there is no such file"
    assert said[2].startswith("'': there is no such case")
    assert len(said) == 3


# ---- running them --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Together:
    """Results of cases that ran side by side, by name, and the names in the order in which they were told and given."""

    results: dict[str, CaseResult]
    told: list[str]
    given: list[str]


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Together:
    """The quick cases in wrong order, one that is broken and one that is not there."""
    folder, told = tmp_path_factory.mktemp("together"), list[str]()
    (folder / "broken.toml").write_text("slaves = 3\n", encoding="utf-8")
    cases = {name: CASES[name] for name in reversed(QUICK)}
    cases |= {name: folder / f"{name}.toml" for name in ("broken", "missing")}
    results = validate(cases, lambda result: told.append(result.name))
    return Together({result.name: result for result in results}, told, [result.name for result in results])


@pytest.mark.slow
def test_cases_run_side_by_side_give_the_results_of_cases_run_alone(together: Together) -> None:
    assert together.given == sorted(together.told) == sorted([*QUICK, "broken", "missing"])
    for name in QUICK:
        result, alone = together.results[name], run_case(name, CASES[name])
        assert result.trace is not None
        assert alone.trace is not None
        assert result.trace.time.tobytes() == alone.trace.time.tobytes()
        assert result.trace.values.tobytes() == alone.trace.values.tobytes()
        assert result.trace.events == alone.trace.events
        assert result.passed
        assert replace(result, trace=None, reference=None, seconds=0.0) == replace(
            alone, trace=None, reference=None, seconds=0.0
        )


@pytest.mark.slow
def test_broken_case_is_told_and_hides_no_other(together: Together) -> None:
    broken, missing = together.results["broken"], together.results["missing"]
    assert all(together.results[name].passed for name in QUICK)
    assert not broken.passed
    assert broken.exit_code == 2
    assert broken.failure is not None
    assert "broken.toml: experiment: this key is missing" in broken.failure
    assert "broken.toml: slaves" in broken.failure
    assert missing.failure is not None
    assert "missing.toml: cannot be read" in missing.failure


@pytest.mark.slow
def test_case_whose_fmu_crashes_is_told_and_hides_no_other(tmp_path: Path) -> None:
    """Above 1e5 N/m the element traps, which takes the whole process down."""
    new_element("demo_spring", tmp_path)
    source = tmp_path / "elements" / "demo_spring" / "element.c"
    text = source.read_text(encoding="utf-8")
    changed = text.replace(
        "    Real stretch[3];\n", "    Real stretch[3];\n    if (re(e->k) > 1e5)\n        __builtin_trap();\n"
    )
    assert changed != text
    source.write_text(changed, encoding="utf-8")
    good = tmp_path / "elements" / "demo_spring" / "cases" / "oscillation.toml"
    bad = good.with_name("crash.toml")
    bad.write_text(good.read_text(encoding="utf-8").replace("k = 1000", "k = 1e6"), encoding="utf-8")
    heard: list[str] = []
    crashed, passed = validate({"crash": bad, "good": good}, lambda result: heard.append(result.name))
    assert passed.passed
    assert not crashed.passed
    assert crashed.exit_code == 3
    assert crashed.failure is not None
    assert "crash.toml: the process that ran it crashed" in crashed.failure
    assert sorted(heard) == ["crash", "good"]


def test_fault_of_our_own_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("an invariant of ours")

    monkeypatch.setattr(Master, "run", broken)
    result = run_case("projectile", CASES["point_mass/projectile"])
    assert result.exit_code == 3
    assert result.failure is not None
    assert "Traceback" in result.failure
    assert "ZeroDivisionError: an invariant of ours" in result.failure


def test_scenario_without_reference_is_no_case(tmp_path: Path) -> None:
    path = tmp_path / "alone.toml"
    path.write_text('[experiment]\nstop = 1\nstep = 0.1\n[slaves]\nbody = "PointMass"\n', encoding="utf-8")
    result = run_case("alone", path)
    assert result.exit_code == 2
    assert result.failure == f"{path}: has no [reference], so there is nothing to compare with"


@pytest.mark.slow
def test_a_column_of_the_reference_that_is_not_compared_is_named(tmp_path: Path) -> None:
    whole = run_case("projectile", copy("point_mass/projectile", tmp_path))
    assert whole.passed and whole.notes == ()
    assert whole.reference is not None
    left = whole.reference.names[0]
    text = "".join(
        line
        for line in (tmp_path / "projectile.toml").read_text(encoding="utf-8").splitlines(keepends=True)
        if not line.startswith(f'signals."{left}"')
    )
    (tmp_path / "projectile.toml").write_text(text, encoding="utf-8")
    part = run_case("projectile", tmp_path / "projectile.toml")
    assert part.passed
    (note,) = part.notes
    assert note in CliRunner().invoke(app, ["validate", str(tmp_path / "projectile.toml")]).stderr
    assert note.startswith(f"projectile_ref.csv: not compared: {left}; give them tolerances in [reference] signals")


def test_no_shipped_reference_has_a_column_that_is_not_compared() -> None:
    for name, path in CASES.items():
        case = read_scenario(path)
        assert case.reference is not None
        columns = read_trace(path.parent / case.reference.file).names
        convergence = case.convergence.quantity if case.convergence is not None else ""
        assert set(columns) <= {*case.reference.signals, convergence}, name


def test_signals_that_the_reference_lacks_are_told_with_its_file(tmp_path: Path) -> None:
    """All of them, and not that it has none."""
    text = '[experiment]\nstop = 1\nstep = 0.1\n[slaves]\nbody = "PointMass"\n[reference]\nfile = "known.csv"\n'
    path = tmp_path / "misspelt.toml"
    signals = 'signals."body.p.r[3" = { absolute = 1 }\nsignals.other = { absolute = 1 }\n'
    path.write_text(f'{text}source = "closed form"\n{signals}', encoding="utf-8")
    (tmp_path / "known.csv").write_text("time,body.p.r[3]\n0,0\n1,0\n", encoding="utf-8")
    result = run_case("misspelt", path)
    assert (result.exit_code, (result.failure or "").splitlines()) == (
        2,
        [
            f"{path}: [reference] signals body.p.r[3: known.csv has no such signal; did you mean 'body.p.r[3]'?",
            f"{path}: [reference] signals other: known.csv has no such signal; known: body.p.r[3]",
        ],
    )


def test_a_reference_that_cannot_be_read_is_told_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '[experiment]\nstop = 1\nstep = 0.1\n[slaves]\nbody = "PointMass"\n[reference]\nfile = "lost.csv"\n'
    path = tmp_path / "long.toml"
    path.write_text(f'{text}source = "closed form"\nsignals."body.p.r[3]" = {{ absolute = 1 }}\n', encoding="utf-8")
    monkeypatch.setattr(Master, "run", lambda *_: pytest.fail("it was run"))
    result = run_case("long", path)
    assert result.failure == f"{path}: [reference] file: there is no file {tmp_path / 'lost.csv'}"


def test_tolerances_in_wrong_units_are_all_named_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '[experiment]\nstop = 1\nstep = 0.1\n[slaves]\nbody = "PointMass"\n[reference]\nfile = "known.csv"\n'
    text += 'source = "closed form"\nsignals."body.p.r[3]" = { absolute = "1 kg" }\n'
    text += 'signals."body.p.v[3]" = { absolute = "1 m" }\nevents."floor.impulse" = { time = "1 m" }\n'
    path = tmp_path / "long.toml"
    path.write_text(text, encoding="utf-8")
    (tmp_path / "known.csv").write_text("time,body.p.r[3],body.p.v[3]\n0,0,0\n1,0,0\n", encoding="utf-8")
    (tmp_path / "known.csv.json").write_text(
        '{"units": {"body.p.r[3]": "m", "body.p.v[3]": "m/s"}, "events": {}, "provenance": {}}', encoding="utf-8"
    )
    monkeypatch.setattr(Master, "run", lambda *_: pytest.fail("it was run"))
    lines = (run_case("long", path).failure or "").splitlines()
    assert [line.removeprefix(f"{path}: [reference] ").partition(" has")[0] for line in lines] == [
        "signals body.p.r[3] absolute = '1 kg'",
        "signals body.p.v[3] absolute = '1 m'",
        "events floor.impulse time = '1 m'",
    ]


def test_tolerances_of_a_reference_without_units_are_checked_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '[experiment]\nstop = 1\nstep = 0.1\n[slaves]\nbody = "PointMass"\n[reference]\nfile = "known.csv"\n'
    text += 'source = "closed form"\nsignals."body.p.r[3]" = { absolute = "1 kg" }\n'
    path = tmp_path / "long.toml"
    path.write_text(text + 'signals."body.r[3]" = { absolute = "1 m" }\n', encoding="utf-8")
    (tmp_path / "known.csv").write_text("time,body.p.r[3],body.r[3]\n0,0,0\n1,0,0\n", encoding="utf-8")
    monkeypatch.setattr(Master, "run", lambda *_: pytest.fail("it was run"))
    lines = (run_case("long", path).failure or "").splitlines()
    assert [line.removeprefix(f"{path}: [reference] ") for line in lines] == [
        "signals body.r[3]: the run has no such signal; did you mean 'body.p.r[3]'?",
        "signals body.p.r[3] absolute = '1 kg' has the dimension kg but m is needed",
    ]


def test_a_reference_of_another_time_and_an_unknown_quantity_are_named_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '[experiment]\nstop = 1\nstep = 0.1\n[slaves]\nbody = "PointMass"\n[reference]\nfile = "known.csv"\n'
    text += 'source = "closed form"\nsignals."body.p.r[3]" = { absolute = 1 }\n'
    text += '[convergence]\nquantity = "body.p.r[4]"\nsteps = [0.5, 0.2, 0.1]\norder = 1\n'
    path = tmp_path / "long.toml"
    path.write_text(text, encoding="utf-8")
    (tmp_path / "known.csv").write_text("time,body.p.r[3]\n5,0\n6,0\n", encoding="utf-8")
    monkeypatch.setattr(Master, "run", lambda *_: pytest.fail("it was run"))
    lines = (run_case("long", path).failure or "").splitlines()
    assert [line.removeprefix(f"{path}: ") for line in lines] == [
        "[reference] file: known.csv covers 5 s to 6 s, and the run 0 s to 1 s: no common span; correct one of them",
        "[convergence] quantity: known.csv has no signal or event 'body.p.r[4]'; did you mean 'body.p.r[3]'?",
    ]


def test_a_lost_reference_hides_no_fault_of_the_scenario(tmp_path: Path) -> None:
    text = '[experiment]\nstop = 1\nstep = 0.1\n[slaves]\nbody = { recipe = "PointMass", start = { mm = 1 } }\n'
    path = tmp_path / "both.toml"
    reference = '[reference]\nfile = "lost.csv"\nsource = "closed form"\nsignals."body.p.r[3]" = { absolute = 1 }\n'
    path.write_text(text + reference, encoding="utf-8")
    failure = run_case("both", path).failure or ""
    assert "[reference] file: there is no file" in failure
    assert "[slaves] body start mm: PointMass has no such variable" in failure


# ---- verdicts ------------------------------------------------------------------------------------------------------


def test_run_that_ends_before_its_reference_fails(tmp_path: Path) -> None:
    text = CASES["point_mass/projectile"].read_text(encoding="utf-8")
    (stop,) = [line for line in text.splitlines() if line.startswith("stop")]
    path = copy("point_mass/projectile", tmp_path, (stop, "stop = 0.1"))
    result = run_case("short", path)
    assert result.failure is None
    assert result.comparison is not None
    assert all(signal.passed for signal in result.comparison.signals)
    assert "the trace ends at 0.1 s" in result.comparison.span.note
    assert not result.passed


def result_with(order: Order | None = None, note: str = "") -> CaseResult:
    comparison = Comparison((), (), Span(0.0, 1.0, note))
    return CaseResult("x", "", "", comparison, order, None, None, (), 0.0)


@pytest.mark.parametrize(
    ("measured", "passed"), [(1.0, True), (1.15, True), (0.85, True), (1.16, False), (0.84, False), (2.0, False)]
)
def test_order_passes_within_its_tolerance_and_decides_on_the_case(measured: float, passed: bool) -> None:
    order = Order("x", "m", (1.0, 0.5), (1.0, 0.5), measured, expected=1.0, tolerance=0.15 + 1e-12)
    assert order.passed is passed
    assert result_with(order).passed is passed


def test_span_note_is_a_failure() -> None:
    assert result_with().passed
    assert not result_with(note="compared from 0.0 s to 0.5 s only").passed


def test_failure_is_no_pass_whatever_was_compared() -> None:
    assert not replace(result_with(), error=SlaveError("it crashed")).passed


def converging(monkeypatch: pytest.MonkeyPatch, errors: list[float]) -> Order:
    """The order measured from made-up errors at steps of 32, 16 and 8 us."""
    path = CASES["point_surface/converge_jacobi"]
    scenario: CheckedScenario = read_scenario(path)
    convergence = Convergence(quantity="body.p.v[3]", steps=["32 us", "16 us", "8 us"], order=1)
    monkeypatch.setattr(module, "coupling_errors", lambda *_: iter(errors))
    return module._order(scenario, convergence, read_trace(path.parent / "converge_jacobi_ref.csv"))


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_order_is_the_slope_of_the_errors_whatever_their_sign(monkeypatch: pytest.MonkeyPatch, power: float) -> None:
    order = converging(monkeypatch, [3.0 * 4.0**power, -3.0 * 2.0**power, 3.0])
    assert order.measured == pytest.approx(power, abs=1e-12)
    assert order.passed is (power == 1.0)
    assert order.steps == (32e-6, 16e-6, 8e-6)


def test_error_of_zero_has_no_order(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="is exact at a step: there is no order"):
        converging(monkeypatch, [1.0, 0.0, 0.5])


def test_unknown_quantity_of_convergence_is_told_with_the_nearest(tmp_path: Path) -> None:
    path = copy("point_surface/converge_jacobi", tmp_path, ('quantity = "body.p.v[3]"', 'quantity = "body.p.v[4]"'))
    result = run_case("unknown", path)
    assert result.exit_code == 2
    assert result.failure is not None
    said = (
        "[convergence] quantity: converge_jacobi_ref.csv has no signal or event 'body.p.v[4]'; did you mean 'body.p.v["
    )
    assert said in result.failure


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            'events."floor.rebound" = { relative = 0.1 }',
            "events floor.rebound: 'rebound' is none of touch, release, ",
        ),
        (
            'events."flor.rebound_speed[1]" = { relative = 0.1 }',
            "events flor.rebound_speed[1]: neither the run nor known.csv has such an",
        ),
        ('signals."body.p.r[3]" = { absolute = -1 }', "signals body.p.r[3] absolute: -1 must be at least 0"),
        ('signals."body.p.r[3]" = { time = "-1 ms" }', "signals body.p.r[3] time: '-1 ms' must be at least 0"),
        ('signals."body.p.r[3]" = { absolute = "1 kg" }', "signals body.p.r[3] absolute = '1 kg' has the dimension kg"),
    ],
)
def test_faults_of_tolerances_that_a_run_shows_are_named_by_their_table(tmp_path: Path, table: str, said: str) -> None:
    text = '[experiment]\nstop = 0.2\nstep = 0.1\n[slaves]\nbody = "PointMass"\n[reference]\nfile = "known.csv"\n'
    path = tmp_path / "known.toml"
    path.write_text(f'{text}source = "closed form"\n{table}\n', encoding="utf-8")
    (tmp_path / "known.csv").write_text("time,body.p.r[3]\n0,0\n0.2,0\n", encoding="utf-8")
    failure = run_case("known", path).failure or ""
    assert f"{path}: [reference] {said}" in failure


def test_result_as_json_holds_numbers_only_where_there_are_some() -> None:
    result = run_case("point_mass/projectile", CASES["point_mass/projectile"])
    assert result.comparison is not None
    assert np.isfinite([s["error"] for s in comparison_to_json(result.comparison)["signals"]]).all()
