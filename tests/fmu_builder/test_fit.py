"""A fit finds known values, says how sure they are, and names what measurements do not determine."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from foreign import BODY, foreign_fmu
from jsonschema import Draft202012Validator
from scipy import stats
from typer.testing import CliRunner

import fmu_builder
from fmu_builder.cli.commands import app
from fmu_builder.cosim.master import load_scenario
from fmu_builder.cosim.measurement import MeasuredColumn, Measurement
from fmu_builder.errors import InputError, SlaveError
from fmu_builder.export.schema import document_schema
from fmu_builder.fitting import fit_to_json, fitted_text
from fmu_builder.fitting.result import FitResult
from fmu_builder.fitting.search import Search
from fmu_builder.fitting.solution import fitted
from fmu_builder.fitting.tables import Fit, FitMethod, FitParameter, find_fit, read_fit
from fmu_builder.fitting.task import FitTask, Parameter, RunFailedError, Series
from fmu_builder.model.loader import load_model
from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import load_module, shipped
from fmu_builder.studies.format import parse_study

FITS = shipped("fmus") / "fits"
MEASURED = load_module(FITS / "measurements.py").MEASURED
REPETITIONS = 100
Model = Callable[..., np.ndarray]


class Formula(FitTask):
    """A fit whose runs are a formula of the time and the parameters.   fails: for which parameters a run fails"""

    def __init__(
        self,
        model: Model,
        values: np.ndarray,
        time: np.ndarray,
        ranges: dict[str, tuple[float, float, float]],
        *,
        deviation: float | None = None,
        fails: Callable[..., bool] = lambda *_: False,
        logarithmic: bool = False,
        **method: object,
    ) -> None:
        self.path, self.runs, self.failed, self.first_failure, self.notes = Path("fit.toml"), 0, 0, "", []
        self.table = Fit.model_construct(method=FitMethod.model_validate(method))
        self.parameters = [Parameter(name, "m", *given, log=logarithmic) for name, given in ranges.items()]
        column = MeasuredColumn("y", "a.y", "m", time, values, deviation)
        self.measurements = [Measurement(Path("y.csv"), (column,))]
        self.series = [Series(0, column, "a.y", time, values)]
        self.scenario = None  # type: ignore[assignment]
        self._model, self._fails, self.columns = model, fails, 1
        self.without_derivatives = "a formula gives none"

    def values(self, parameters: np.ndarray) -> list[np.ndarray]:
        self.runs += 1
        if self._fails(*parameters):
            self.failed += 1
            self.first_failure = self.first_failure or "too stiff"
            raise RunFailedError("too stiff")
        return [self._model(self.series[0].time, *parameters)] * self.columns

    def fitted(self) -> FitResult:
        return fitted(self, lambda text: None)


TIME = np.linspace(0.0, 1.0, 101)
NOISE = np.random.default_rng(3).normal(0.0, 0.1, len(TIME))


def line(t: np.ndarray, a: float, b: float) -> np.ndarray:
    return a + b * t


LINE = {"a": (0.0, -5.0, 5.0), "b": (1.0, -20.0, 20.0)}


def test_intervals_and_correlation_of_a_line_are_those_of_the_textbook() -> None:
    y = line(TIME, 1.0, 2.0) + NOISE
    found = Formula(line, y, TIME, LINE).fitted()
    known = stats.linregress(TIME, y)
    quantile = stats.t.ppf(0.975, len(TIME) - 2)
    a, b = found.parameters
    assert (a.value, b.value) == (pytest.approx(known.intercept, rel=1e-7), pytest.approx(known.slope, rel=1e-7))
    assert (b.deviation, a.deviation) == (pytest.approx(known.stderr), pytest.approx(known.intercept_stderr))
    assert (b.low, b.high) == (
        pytest.approx(b.value - quantile * known.stderr),
        pytest.approx(b.value + quantile * known.stderr),
    )
    middle, square = TIME.mean(), np.mean(TIME**2)
    assert found.correlation[0, 1] == pytest.approx(-middle / math.sqrt(square))
    assert found.converged and not found.warnings
    assert found.columns[0].deviation == pytest.approx(np.std(y - line(TIME, a.value, b.value)))


def test_each_column_counts_by_the_noise_that_its_residuals_show() -> None:
    y = line(TIME, 1.0, 2.0)
    rng = np.random.default_rng(11)
    quiet, loud = y + rng.normal(0.0, 0.01, len(y)), y + rng.normal(0.0, 1.0, len(y))
    both = Formula(line, quiet, TIME, LINE)
    (series,) = both.series
    both.series = [series, replace(series, values=loud)]
    both.columns = 2
    found, alone = both.fitted(), Formula(line, quiet, TIME, LINE).fitted()
    assert [c.deviation for c in found.columns] == [pytest.approx(0.01, rel=0.2), pytest.approx(1.0, rel=0.2)]
    # the loud column moves the values by a hundredth of what the quiet one leaves open
    for one, other in zip(found.parameters, alone.parameters, strict=True):
        assert one.value == pytest.approx(other.value, abs=0.1 * other.deviation)
        assert one.deviation == pytest.approx(other.deviation, rel=0.2)


def test_the_interval_of_a_logarithmic_parameter_is_symmetric_in_its_logarithm() -> None:
    decay = np.exp(-30.0 * TIME)
    found = Formula(lambda t, k: np.exp(-k * t), decay + 0.1 * NOISE, TIME, {"k": (1.0, 0.1, 1e3)}, logarithmic=True)
    k = found.fitted()["k"]
    assert k.low < 30.0 < k.high
    assert k.low * k.high == pytest.approx(k.value**2)


def test_a_wider_confidence_widens_the_interval_as_the_t_distribution_does() -> None:
    y = line(TIME, 1.0, 2.0) + NOISE
    narrow, wide = (Formula(line, y, TIME, LINE, confidence=one).fitted()["b"] for one in (0.5, 0.99))
    ratio = stats.t.ppf(0.995, 99) / stats.t.ppf(0.75, 99)
    assert (wide.high - wide.low) / (narrow.high - narrow.low) == pytest.approx(ratio)


def test_what_cannot_be_told_apart_is_named() -> None:
    ranges = LINE | {"c": (0.0, -5.0, 5.0)}
    found = Formula(lambda t, a, b, c: a + c + b * t, line(TIME, 1.0, 2.0) + NOISE, TIME, ranges).fitted()
    assert [w.partition(":")[0] for w in found.warnings] == ["a is not identifiable", "c is not identifiable"]
    assert math.isinf(found["a"].high) and math.isfinite(found["b"].high)
    assert math.isnan(found.correlation[0, 1])
    assert fit_to_json(found)["parameters"][0]["high"] is None  # type: ignore[index]


def test_a_parameter_that_nothing_depends_on_is_named() -> None:
    ranges = LINE | {"idle": (0.0, -5.0, 5.0)}
    found = Formula(lambda t, a, b, _: a + b * t, line(TIME, 1.0, 2.0) + NOISE, TIME, ranges).fitted()
    assert [w.partition(":")[0] for w in found.warnings] == ["idle is not identifiable"]


def test_almost_equal_effects_are_named_by_their_correlation() -> None:
    late = TIME + 10.0  # the level at 0 follows from the slope
    found = Formula(lambda t, a, b: a + b * t, line(late, 1.0, 2.0) + NOISE, late, LINE).fitted()
    assert any("a and b are correlated by -0.99" in w for w in found.warnings)


def test_a_value_at_its_bound_is_named() -> None:
    found = Formula(line, line(TIME, 1.0, 2.0) + NOISE, TIME, {"a": (0.0, -5.0, 5.0), "b": (0.0, -1.0, 1.0)}).fitted()
    assert found["b"].at_bound and not found["a"].at_bound
    assert any(w.startswith("b is at its bound, max = 1 m: widen the range") for w in found.warnings)


def test_residuals_that_are_not_noise_are_named() -> None:
    found = Formula(line, line(TIME, 1.0, 2.0) + np.sin(12.0 * TIME), TIME, LINE).fitted()
    assert any("the residual of a.y in y.csv is not white" in w for w in found.warnings)


def test_deviations_that_are_too_small_are_named() -> None:
    found = Formula(line, line(TIME, 1.0, 2.0) + NOISE, TIME, LINE, deviation=0.01).fitted()
    assert any("times as large as the given deviations" in w for w in found.warnings)
    assert found.scale == pytest.approx(10.0, rel=0.2)


def test_samples_far_off_hardly_move_a_robust_fit() -> None:
    y = line(TIME, 1.0, 2.0) + NOISE
    y[::10] += 30.0
    loose, robust = (
        Formula(line, y, TIME, LINE, deviation=0.1, loss=one).fitted()["a"] for one in ("linear", "cauchy")
    )
    assert abs(robust.value - 1.0) < 0.1 < abs(loose.value - 1.0)


def test_runs_that_fail_for_some_parameters_are_avoided_and_told() -> None:
    found = Formula(line, line(TIME, 1.0, 2.0) + NOISE, TIME, LINE, fails=lambda _, b: b > 4.0).fitted()
    assert found["b"].low < 2.0 < found["b"].high
    assert 0 < found.failed_runs < found.runs
    assert any("runs failed, and their parameters were avoided: too stiff" in w for w in found.warnings)


def test_the_least_beside_runs_that_fail_has_one_sided_slopes() -> None:
    y = line(TIME, 1.0, 2.0) + NOISE
    best = stats.linregress(TIME, y).slope
    found = Formula(line, y, TIME, LINE, fails=lambda _, b: b > best + 1e-9).fitted()
    assert found["b"].value == pytest.approx(best, rel=1e-5) and math.isfinite(found["b"].high)


@pytest.mark.parametrize("start", [0.1, 1e3])
def test_a_fit_may_begin_at_a_bound(start: float) -> None:
    decay = np.exp(-30.0 * TIME) + 0.01 * NOISE
    ranges = {"k": (start, 0.1, 1e3)}
    found = Formula(lambda t, k: np.exp(-k * t), decay, TIME, ranges, logarithmic=True, scan=0).fitted()
    assert found["k"].low < 30.0 < found["k"].high


def test_a_start_whose_run_fails_is_replaced_by_a_point_of_the_scan() -> None:
    y = line(TIME, 1.0, 2.0) + NOISE
    ranges = {"a": (4.9, -5.0, 5.0), "b": (19.0, -20.0, 20.0)}
    found = Formula(line, y, TIME, ranges, fails=lambda a, _: a > 3.0).fitted()
    assert found["a"].low < 1.0 < found["a"].high and found.failed_runs > 0


def test_a_fit_without_any_good_run_is_an_error() -> None:
    with pytest.raises(SlaveError, match="all 33 runs failed; too stiff"):
        Formula(line, TIME, TIME, LINE, fails=lambda *_: True).fitted()


def bounces(t: np.ndarray, restitution: float) -> np.ndarray:
    """Heights of a ball from 1 m, in closed form: arcs of speeds v e, v e^2, ..."""
    g = 9.81
    speed, begin = math.sqrt(2.0 * g), math.sqrt(2.0 / g)
    height = np.where(t < begin, 1.0 - g * t**2 / 2, 0.0)
    while begin < t[-1] and speed > 1e-3:
        speed *= restitution
        inside = (t >= begin) & (t < begin + 2.0 * speed / g)
        height[inside] = (speed * (t - begin) - g * (t - begin) ** 2 / 2)[inside]
        begin += 2.0 * speed / g
    return height


@pytest.mark.parametrize("true", [0.62, 0.75, 0.9])
def test_bounces_that_are_seen_late_are_found_where_the_gradient_leads_elsewhere(true: float) -> None:
    time = np.arange(1.5, 4.0, 0.01)
    y = bounces(time, true) + np.random.default_rng(1).normal(0.0, 2e-3, len(time))
    given = {"restitution": (0.4, 0.3, 0.98)}
    alone = Formula(bounces, y, time, given, scan=0, windows=1).fitted()["restitution"]
    found = Formula(bounces, y, time, given).fitted()["restitution"]
    assert found.value == pytest.approx(true, abs=1e-4)
    assert abs(alone.value - true) > 0.1


# --- fits of FMUs ----------------------------------------------------------------------------------------------------


def within_three_deviations(found: FitResult, truth: dict[str, float]) -> bool:
    return all(abs(found[name].value - value) < 3.0 * found[name].deviation for name, value in truth.items())


def test_the_command_prints_values_and_writes_the_fitted_recipe_and_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (FITS / "bounces.toml").read_text(encoding="utf-8")
    text = text.replace("[parameters]", 'experiment = { stop = "1 s" }\n[parameters]', 1)  # the first bounce
    (tmp_path / "bounces.csv").write_text((FITS / "bounces.csv").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "first.toml").write_text(text + "[method]\nscan = 0\nwindows = 1\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["fit", "first.toml", "--report", "page.html", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    for one, (name, true) in zip(found["parameters"], MEASURED["bounces"].truth.items(), strict=True):
        assert one["name"] == name and abs(one["value"] - true) < 3.0 * one["deviation"]
    assert found["columns"][0]["rms"] == pytest.approx(2e-3, rel=0.2)
    assert not found["warnings"] and found["converged"]
    assert [note.rpartition(": ")[0] for note in found["notes"]] == [
        "samples that are not used, as they lie outside of the runs or would with another time offset"
    ]
    model = load_model(tmp_path / "first_fitted.toml")
    assert [model[name].start for name in ("restitution", "stiffness")] == [
        found["parameters"][k]["value"] for k in (0, 1)
    ]
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "time_offset of bounces.csv" in page and 2e6 < len(page) < 6e6


def test_a_fit_that_does_not_exist_is_named_with_the_nearest() -> None:
    known = "known: bounces, cam, sliding"
    for name, said in (("bounce", "did you mean 'bounces'?"), ("", known), ("a/b.toml", "No such file")):
        assert said in str(CliRunner().invoke(app, ["fit", name]).exception)


def test_a_system_in_the_place_of_a_fit_or_a_study_is_named(tmp_path: Path) -> None:
    for name, text in (("drop.toml", '[slaves]\nbody = "PointMass"\n'), ("Ball.fmu", ""), ("Rig.ssp", "")):
        (path := tmp_path / name).write_text(text)
        for read, said in ((read_fit, "fit: write one with scenario"), (parse_study, "study: write one with system")):
            with pytest.raises(InputError, match=f"is a system, and no {said} = '{name}'"):
                read(path)
    for key, kind, read in (
        ("factors", "study", read_fit),
        ("measurement", "fit", parse_study),
        ("factors", "study", load_scenario),
        ("measurement", "fit", load_scenario),
    ):
        path.with_name("other.toml").write_text(f"{key} = {{}}\n")
        with pytest.raises(InputError, match=f"other.toml: is a {kind}, and no .*: give it to `fmu-builder {kind}`"):
            read(path.with_name("other.toml"))
    with pytest.raises(InputError, match="is a system, and no fit"):
        app(["fit", str(tmp_path / "Ball.fmu")], standalone_mode=False)


def test_everything_that_is_wrong_with_a_fit_is_named_at_once(tmp_path: Path) -> None:
    (tmp_path / "ball.csv").write_text("t [s],z [mm],w [N],e\n0,1,1,\n0.1,2,2,\n")
    (tmp_path / "late.csv").write_text("t,z\n5,1\n6,1\n")
    (tmp_path / "fit.toml").write_text(
        'scenario = "BouncingBall"\n'
        "[parameters]\n"
        "restitution = { start = 1.2, min = 0.1, max = 0.9 }\n"
        'stiffness = { start = "1 kg", min = "1e6 N/m", max = "1e4 N/m" }\n'
        "mass = { start = 1, min = 2, max = 0.5 }\n"
        "restituton = { start = 0.5, min = 0.1, max = 0.9 }\n"
        "height = { start = 0.5, min = 0.1, max = 0.9 }\n"
        "gravity = { start = 0.5, min = 0.1, max = 0.9 }\n"
        "'floor.k_E' = { start = 0.5, min = 0, max = 1, log = true }\n"
        "'floor.K_fr' = { start = 0.5, max = 1, lg = true }\n"
        "'floor.D_max' = { start = 0.5, min = '-100 mm', max = 1 }\n"
        "'solver.tolerance' = { start = 1e-3, min = 1e-4, max = 0.02 }\n"
        "[[measurement]]\n"
        "file = 'ball.csv'\n"
        "start = { initial_hight = '1 m', mass = '3 m' }\n"
        "columns = { zz = 'height', w = 'height', e = 'velocity', z = 'hight' }\n"
        "[[measurement]]\n"
        "file = 'late.csv'\n"
        "columns = { z = 'height' }\n"
        "[[measurement]]\n"
        "file = 'none.csv'\n"
        "columns = { z = 'height' }\n"
        "[method]\n"
        "scan = -1\n"
    )
    with pytest.raises(InputError) as caught:
        fmu_builder.fit(tmp_path / "fit.toml")
    said = [f"{p.where.replace(str(tmp_path), '')}: {p.what}" for p in caught.value.problems]
    path = "/fit.toml: "
    expected = [
        f"{path}[parameters.floor.K_fr] min: this key is missing",
        f"{path}[parameters.floor.K_fr] lg: this key is unknown; did you mean 'log'?",
        f"{path}[method] scan: -1: must be at least 0",
        f"{path}[parameters] restitution: start = 1.2 must be between min = 0.1 and max = 0.9: move it, or widen the "
        "range",
        "/fit.toml: [parameters] stiffness start = '1 kg' has the dimension kg but N/m (kg.s-2) is needed",
        f"{path}[parameters] mass: min = 2 kg must be less than max = 0.5 kg; exchange them",
        f"{path}[parameters] restituton: BouncingBall has no variable 'restituton'; did you mean 'restitution'?",
        f"{path}[parameters] gravity: BouncingBall has no variable 'gravity': it is a vector, name an element of it, "
        "as gravity[1]",
        f"{path}[parameters] height: is continuous, output; only Reals that a run may start with can be fitted: "
        "parameters, and inputs that are not connected",
        f"{path}[parameters] floor.k_E log: min = 0 must be greater than 0 where log = true; raise it, or remove log",
        f"{path}[parameters] floor.D_max min: -0.1 m is below 0 m, the least value of floor.D_max: raise it",
        f"{path}[parameters] solver.tolerance max: 0.02 is above 0.01, the largest value of solver.tolerance: lower it",
        f"{path}[measurement ball.csv] columns 'zz': {tmp_path}/ball.csv has no such column; did you mean 'z'?",
        f"{path}[measurement ball.csv] columns 'w' unit: 'N' has the dimension kg.m.s-2, but height is in m (m); "
        "give the unit of the column, or another signal",
        f"{path}[measurement ball.csv] columns 'e': {tmp_path}/ball.csv holds no number in this column; name "
        "another one",
        f"{path}[measurement ball.csv] columns 'z': the system has no signal 'hight'; did you mean 'height'?",
        f"{path}[measurement ball.csv] start initial_hight: BouncingBall has no such variable; did you mean "
        "'initial_height'?",
        f"{path}[measurement ball.csv] start mass = '3 m' has the dimension m but kg is needed",
        f"{path}[measurement none.csv] file: there is no file {tmp_path}/none.csv",
        "/late.csv: column 'z': covers 5 s to 6 s and the run 0 s to 2 s, with the time offset 0 s: no time in common; "
        "correct time_offset",
    ]
    assert [one for one in expected if one not in said] == []
    assert len(said) == len(expected)


@pytest.mark.parametrize(
    ("rows", "more", "said"),
    [
        (
            "5,1\n6,1\n7,1\n",
            "",
            "covers 5 s to 7 s and the run 0 s to 2 s, with the time offset 0 s: no time in common",
        ),
        ("0,1\n1,1\n", "", "2 samples lie in the runs, for 2 parameters; more samples than parameters are needed"),
        ("0,1\n1,1\n2,1\n", "start = { restitution = 0.5 }", "start restitution: is fitted as well; remove it here"),
    ],
)
def test_samples_that_cannot_carry_a_fit_are_refused(tmp_path: Path, rows: str, more: str, said: str) -> None:
    (tmp_path / "ball.csv").write_text("t,z\n" + rows)
    parameters = {name: FitParameter(start=0.5, min=0.1, max=0.9) for name in ("restitution", "floor.k_E")}
    (tmp_path / "fit.toml").write_text(
        Fit.model_construct(scenario="BouncingBall", parameters=parameters).toml()
        + f"[[measurement]]\nfile = 'ball.csv'\ncolumns = {{ z = 'height' }}\n{more}\n"
    )
    with pytest.raises(InputError) as caught:
        fmu_builder.fit(tmp_path / "fit.toml")
    assert said in str(caught.value)


def test_a_fit_can_be_written_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    time = np.arange(0.0, 0.4, 0.01)  # in flight: z = h - g t^2/2
    for name, height in (("high.csv", 2.0), ("low.csv", 1.5)):
        rows = "".join(f"{t!r},{height - 4.0 * t**2!r}\n" for t in time.tolist())
        (tmp_path / name).write_text("t,z\n" + rows)
    measurement = [
        fmu_builder.FitMeasurement(file=name, start={"initial_height": height}, columns={"z": "height"})
        for name, height in (("high.csv", "2 m"), ("low.csv", "150 cm"))
    ]
    gravity = FitParameter(start=-9.0, min=-20.0, max=-1.0)
    given = Fit(
        scenario="BouncingBall",
        experiment={"stop": "0.5 s"},
        parameters={"gravity[3]": gravity},
        measurement=measurement,
        method={"scan": 4, "windows": 1},
    )
    found = fmu_builder.fit(given)
    assert found["gravity[3]"].value == pytest.approx(-8.0, rel=1e-4)  # the run is linear between its rows
    assert [column.file for column in found.columns] == ["high.csv", "low.csv"]
    assert "gravity[3]" in str(found)
    with pytest.raises(InputError, match="did you mean 'gravity\\[3\\]'"):
        _ = found["gravity"]
    assert 'stop = "0.5 s"' in given.toml()
    Draft202012Validator(document_schema(Fit)).validate(read_toml(given.save(tmp_path)))


def test_a_fitted_scenario_names_its_recipes_from_where_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "Own.toml").write_text((shipped("fmus") / "BouncingBall.toml").read_text())
    (tmp_path / "a" / "drop.toml").write_text(
        '[experiment]\nstop = "0.1 s"\nstep = "10 ms"\n[slaves]\nball = { recipe = "Own", start = { mass = 2 } }\n'
        'other = "BouncingBall"\n'
    )
    (tmp_path / "a" / "ball.csv").write_text("t,z\n0,1\n0.05,1\n0.1,1\n")
    (tmp_path / "a" / "fit.toml").write_text(
        'scenario = "drop.toml"\n[parameters]\n"ball.initial_height" = { start = 0.9, min = 0, max = 2 }\n'
        "[[measurement]]\nfile = 'ball.csv'\ncolumns = { z = 'ball.height' }\n[method]\nscan = 0\n"
    )
    found = fmu_builder.fit(tmp_path / "a" / "fit.toml")
    path = tmp_path / "a" / "b" / "fitted.toml"
    path.write_text(fitted_text(found, path))
    tables = read_toml(path)
    value = found["ball.initial_height"].value
    assert tables["slaves"] == {
        "ball": {"recipe": "../Own.toml", "start": {"mass": 2, "initial_height": value}},
        "other": {"recipe": "BouncingBall"},
    }
    assert fmu_builder.run(path)["ball.height"][0] == value


def test_a_parameter_that_a_connection_sets_and_a_measurement_twice_are_refused(tmp_path: Path) -> None:
    (tmp_path / "ball.csv").write_text("t,z\n0,1\n0.001,1\n0.002,1\n")
    (tmp_path / "drop.toml").write_text(
        'connections = [["body.p", "floor.point"]]\n[experiment]\nstop = 0.01\nstep = 0.001\n'
        '[slaves]\nbody = "PointMass"\nfloor = "PointSurface"\n[drive]\n"floor.surface.r[1]" = 0.1\n'
    )
    bounds = "{ start = 1, min = 0.5, max = 2 }"
    measurement = "[[measurement]]\nfile = 'ball.csv'\ncolumns = { z = 'body.p.r[3]' }\n"
    (tmp_path / "fit.toml").write_text(
        f"scenario = 'drop.toml'\n[parameters]\n'body.p.f[1]' = {bounds}\n'floor.surface.r[1]' = {bounds}\n"
        + 2 * measurement
    )
    with pytest.raises(InputError) as caught:
        fmu_builder.fit(tmp_path / "fit.toml")
    assert [str(problem).partition("fit.toml: ")[2] for problem in caught.value.problems] == [
        "[parameters] body.p.f[1]: has no effect: floor.point.f[1] gives the value; remove it",
        "[parameters] floor.surface.r[1]: has no effect: its drive gives the value; remove it",
        "[measurement ball.csv]: stands twice, and its samples would count twice: remove one",
    ]


def test_a_start_on_a_strict_bound_is_refused_and_a_bound_there_is_none(tmp_path: Path) -> None:
    """The search keeps away from a bound at which a run fails; a fit that begins there has nothing to begin with."""
    (tmp_path / "ball.csv").write_text("t,z\n0,1\n0.001,1\n0.002,1\n")
    (tmp_path / "drop.toml").write_text('[experiment]\nstop = 1\nstep = 0.1\n[slaves]\nfloor = "PointSurface"\n')
    (tmp_path / "fit.toml").write_text(
        "scenario = 'drop.toml'\n[parameters]\n'floor.k_E' = { start = 1.0, min = 0.1, max = 1.0 }\n"
        "[[measurement]]\nfile = 'ball.csv'\ncolumns = { z = 'floor.depth' }\n"
    )
    with pytest.raises(InputError) as caught:
        fmu_builder.fit(tmp_path / "fit.toml")
    (problem,) = caught.value.problems
    assert str(problem).endswith("[parameters] floor.k_E start: 1 is refused: k_E must be less than 1")


def test_a_fault_of_a_measurement_is_named_with_its_number(tmp_path: Path) -> None:
    measurements = "".join(
        f"[[measurement]]\nfile = 'ball.csv'\ncolumns = {{ z = {{ signal = 'height', scale = {scale} }} }}\n"
        for scale in (1, 0)
    )
    parameters = "[parameters]\nmass = { start = 1, min = 0.5, max = 2 }\n"
    (tmp_path / "fit.toml").write_text(f'scenario = "BouncingBall"\n{parameters}{measurements}')
    with pytest.raises(InputError, match=r"fit.toml: \[measurement 2.columns.z\] scale: 0: must not be 0, which"):
        fmu_builder.fit(tmp_path / "fit.toml")


def test_a_fitted_scenario_of_counted_slaves_runs(tmp_path: Path) -> None:
    (tmp_path / "drop.toml").write_text(
        '[experiment]\nstop = "0.1 s"\nstep = "10 ms"\n[slaves]\nball = { recipe = "BouncingBall", count = 2 }\n'
    )
    (tmp_path / "ball.csv").write_text("t,z\n0,1\n0.05,1\n0.1,1\n")
    (tmp_path / "fit.toml").write_text(
        'scenario = "drop.toml"\n[parameters]\n"ball[2].initial_height" = { start = 0.9, min = 0, max = 2 }\n'
        "[[measurement]]\nfile = 'ball.csv'\ncolumns = { z = 'ball[2].height' }\n[method]\nscan = 0\n"
    )
    found = fmu_builder.fit(tmp_path / "fit.toml")
    path = tmp_path / "fitted.toml"
    path.write_text(fitted_text(found, path))
    assert fmu_builder.run(path)["ball[2].height"][0] == found["ball[2].initial_height"].value


def test_a_shipped_fit_is_found_by_its_name_and_an_unknown_name_is_answered_with_them() -> None:
    with pytest.raises(InputError, match=r"^bounce: there is no fit of this name; .*did you mean 'bounces'\?$"):
        fmu_builder.fit("bounce")
    assert find_fit("bounces") == shipped("fmus") / "fits" / "bounces.toml"


@pytest.mark.parametrize("name", ["gone.fmu", "gone.ssp", "gone.toml", "Gone"])
def test_a_system_that_is_not_there_is_named_with_the_key_that_names_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / "fit.toml"
    path.write_text(
        f"scenario = '{name}'\n[parameters]\n'a.b' = {{ start = 1, min = 0, max = 2 }}\n"
        "[[measurement]]\nfile = 'a.csv'\ncolumns = { z = 'a.z' }\n"
    )
    with pytest.raises(InputError) as caught:
        FitTask(path)
    (problem,) = caught.value.problems
    assert problem.where == f"{path}: scenario" and name in problem.what


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURED)
def test_the_shipped_measurements_are_those_of_their_script(name: str) -> None:
    seed = list(MEASURED).index(name)
    assert (FITS / f"{name}.csv").read_text(encoding="utf-8") == MEASURED[name].text(np.random.default_rng(seed))


@pytest.mark.slow
def test_derivatives_of_runs_are_those_of_the_closed_form() -> None:
    """By friction, slope of the ramp and time offset: the solver's 1e-9 over steps of 1e-4 leave 1e-5."""
    motion = MEASURED["sliding"].motion
    truth = np.array([*MEASURED["sliding"].truth.values()])
    with FitTask(FITS / "sliding.toml") as task:
        search = Search(task, [1.0], 1.0, lambda text: None)
        shares = np.array([one.share_of(value) for one, value in zip(task.parameters, truth, strict=True)])
        found = search.jacobian(shares)
        mu, k, offset = task.parameters
        time = task.series[0].time + truth[2]
    h = 1e-5
    by_mu = (motion(time, mu=0.25 + h) - motion(time, mu=0.25 - h)) / (2.0 * h) * (mu.high - mu.low)
    by_k = (motion(time, k=4.0 + h) - motion(time, k=4.0 - h)) / (2.0 * h) * 4.0 * math.log(k.high / k.low)
    by_offset = (motion(time + h) - motion(time - h)) / (2.0 * h) * (offset.high - offset.low)
    for column, exact in zip(found.T, (by_mu, by_k, by_offset), strict=True):
        assert np.abs(column - exact).max() < 1e-5 * np.abs(exact).max()


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURED)
def test_intervals_hold_the_truth_as_often_as_they_say(name: str) -> None:
    """95 of 100 repetitions on average: fewer than 90, or all, is 1 % each by the binomial distribution."""
    measured = MEASURED[name]
    with FitTask(FITS / f"{name}.toml") as task:
        first = fitted(task, lambda text: None)
        assert within_three_deviations(first, measured.truth)
        assert not [warning for warning in first.warnings if "white" not in warning]
        # each repetition begins at that fit: the scan is tested above
        task.table.method = task.table.method.model_copy(update={"scan": 0, "windows": 1})
        task.parameters = [
            replace(one, start=found.value) for one, found in zip(task.parameters, first.parameters, strict=True)
        ]
        (series,) = task.series
        exact = measured.motion(series.time + measured.offset)
        rng = np.random.default_rng(7)
        held = dict.fromkeys(measured.truth, 0)
        for _ in range(REPETITIONS):
            noise = measured.deviation * rng.standard_normal(len(exact))
            task.series = [replace(series, values=exact + noise)]
            found = fitted(task, lambda text: None)
            for parameter, true in measured.truth.items():
                held[parameter] += found[parameter].low <= true <= found[parameter].high
    assert all(count >= 90 for count in held.values()), held


def test_an_fmu_that_crashes_for_some_parameters_is_avoided_in_a_process_of_its_own(tmp_path: Path) -> None:
    """A mass on a spring, which ends its process where k > 1e6 N/m."""
    foreign_fmu(tmp_path, "Spring", BODY, guid="b0-s")
    (tmp_path / "spring.toml").write_text(
        '[experiment]\nstop = "0.2 s"\nstep = "1 ms"\n'
        '[slaves]\nspring = { recipe = "Spring.fmu", isolated = true, start = { "r0[1]" = 0.1 } }\n'
    )
    time = np.arange(0.0, 0.2, 0.005)
    rows = "".join(f"{t!r},{100.0 * math.cos(20.0 * t)!r}\n" for t in time.tolist())  # w^2 = k/m
    (tmp_path / "swing.csv").write_text("t,x [mm]\n" + rows)
    (tmp_path / "fit.toml").write_text(
        'scenario = "spring.toml"\n[parameters]\n"spring.k" = { start = 100, min = 50, max = 1e9, log = true }\n'
        "[[measurement]]\nfile = 'swing.csv'\ncolumns = { x = 'spring.p.r[1]' }\n[method]\nscan = 4\nwindows = 1\n"
    )
    found = fmu_builder.fit(tmp_path / "fit.toml")
    assert found["spring.k"].value == pytest.approx(400.0, rel=0.05)
    assert found.failed_runs > 0 and any("runs failed, and their parameters were avoided" in w for w in found.warnings)


# --- derivatives along a run ------------------------------------------------------------------------------------------

KNOWN = {"bounces": (0.72, 2e4, 0.0125), "sliding": (0.25, 4.0, -0.02), "cam": (8e-3, 4e-3)}


@pytest.mark.parametrize("name", KNOWN)
def test_derivatives_along_the_run_of_a_shipped_fit_are_those_of_differences(name: str) -> None:
    with FitTask(FITS / f"{name}.toml") as task:
        values = np.array(KNOWN[name])
        found = task.derivatives(values)
        assert found is not None, task.without_derivatives
        assert task.runs == 1
        for k in range(len(values) - 1):  # the last one is the time offset
            step = np.zeros(len(values))
            step[k] = 1e-5 * values[k]
            (before,), (after,) = task.values(values - step), task.values(values + step)
            slopes = (after - before) / (2.0 * step[k])
            # where a bounce moves from one side of a row to the other, the difference has its kink
            assert np.quantile(np.abs(found[0][:, k] - slopes), 0.9) < 1e-5 * np.abs(slopes).max()


def test_exact_derivatives_lead_to_the_fit_that_differences_lead_to_with_fewer_runs(tmp_path: Path) -> None:
    text = (FITS / "sliding.toml").read_text(encoding="utf-8").replace("1.5 s", "0.5 s")
    text += "[method]\nscan = 0\nwindows = 1\n"
    (tmp_path / "sliding.csv").write_bytes((FITS / "sliding.csv").read_bytes())
    (tmp_path / "exact.toml").write_text(text, encoding="utf-8")
    (tmp_path / "differences.toml").write_text(text + 'derivatives = "differences"\n', encoding="utf-8")
    exact, differences = (fmu_builder.fit(tmp_path / f"{name}.toml") for name in ("exact", "differences"))
    assert "by dual numbers along one run" in exact.method
    assert "by central differences of 0.0001 of each range ([method] derivatives = differences)" in differences.method
    assert exact.runs < 0.6 * differences.runs
    for one, other in zip(exact.parameters, differences.parameters, strict=True):
        assert one.value == pytest.approx(other.value, abs=0.01 * other.deviation)
        assert one.deviation == pytest.approx(other.deviation, rel=0.01)


def test_a_fit_without_derivatives_along_the_run_says_why(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("t,a\n" + "\n".join(f"{0.01 * k},{k}" for k in range(1, 60)), encoding="utf-8")
    reasons = {}
    for signal in ("floor.contact_count", "floor.peak_force"):
        text = (
            'scenario = "BouncingBall"\nexperiment = { stop = "0.6 s", step = "10 ms" }\n'
            "[parameters]\nrestitution = { start = 0.5, min = 0.2, max = 0.9 }\n"
            f'[[measurement]]\nfile = "m.csv"\ncolumns = {{ a = "{signal}" }}\n'
        )
        (tmp_path / "f.toml").write_text(text, encoding="utf-8")
        with FitTask(tmp_path / "f.toml") as task:
            assert task.derivatives(np.array([0.5])) is None
            reasons[signal] = task.without_derivatives
    assert reasons["floor.contact_count"] == "floor.contact_count is no Real"
    assert "floor.peak_force depends on what was kept at an event" in reasons["floor.peak_force"]
