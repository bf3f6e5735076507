"""Studies: responses, rows and tables, in this process; plans are in test_study_plans.py, pools, kills and clusters in
test_study_engines.py."""

from __future__ import annotations

import json
import re
import resource
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from typer.testing import CliRunner

import fmu_builder
from fmu_builder.cli.commands import app
from fmu_builder.cli.studying import show_study
from fmu_builder.errors import InputError, ToolError
from fmu_builder.model.loader import load_model
from fmu_builder.studies import run as running
from fmu_builder.studies import table as tables
from fmu_builder.studies.page import Column, write_page
from fmu_builder.studies.run import StudyResult, study
from fmu_builder.studies.sensitivity import sobol_indices
from fmu_builder.studies.setup import prepare
from fmu_builder.studies.work import Batch, Done, Job, Worker

BOUNCE = """system = "BouncingBall"
[factors]
restitution = { low = 0.4, high = 0.8, count = 3 }
h = { start = "initial_height", values = ["50 cm", 1.0] }
[responses]
top = { signal = "height", take = "maximum" }
last = { signal = "height" }
impact = { event = "floor.impact_speed[1]" }
bounce = { event = "floor.rebound_speed[1]" }
ratio = "bounce/impact"
lift = "bounce^2/(2*9.81[m/s^2])/h"
tenth = { event = "floor.impact_speed[10]" }
count = { event = "floor.contact_count" }
"""


class Inline:
    """The engine of this process."""

    workers, blames_all = 1, True

    def __init__(self, job: Job, files: Mapping[str, Path], workers: int) -> None:
        self._worker = Worker(job, files)
        self._left: list[Batch] = []

    def submit(self, batch: Batch) -> None:
        self._left.append(batch)

    def finished(self, seconds: float) -> list[tuple[Batch, Done | None]]:
        found = [(batch, self._worker.run(batch)) for batch in self._left]
        self._left.clear()
        return [*found]

    def close(self) -> None:
        self._worker.close()


class Fragile(Inline):
    """Run 1 ends its process: all batches that were submitted are lost with it."""

    _asked = False

    def finished(self, seconds: float) -> list[tuple[Batch, Done | None]]:
        if not any(1 in batch.runs for batch in self._left):
            return super().finished(seconds)
        if not self._asked:
            self._asked = True
            return []  # still at it
        self._asked = False
        lost: list[tuple[Batch, Done | None]] = [(batch, None) for batch in self._left]
        self._left.clear()
        return lost


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], StudyResult]:
    """Runs the text of a study in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(running, "ProcessPool", Inline)

    def run(text: str) -> StudyResult:
        Path("bounce.toml").write_text(text, encoding="utf-8")
        return study("bounce.toml")

    return run


def test_rows_are_the_runs_that_run_gives_to_the_bit(here: Callable[[str], StudyResult]) -> None:
    result = here(BOUNCE)
    assert (result.runs, result.total, result.failed, result.repeated) == (6, 6, 0, 0)
    assert result.notes == ("tenth: no run has it, as the contact that it is of does not happen",)
    rows = result.table().to_pylist()
    assert [(row["restitution"], row["h"]) for row in rows] == [
        (restitution, h) for restitution in (0.4, 0.6000000000000001, 0.8) for h in (0.5, 1.0)
    ]
    for row in (rows[0], rows[-1]):  # that of a fresh instance, and of one that was reset
        start = {"restitution": row["restitution"], "initial_height": row["h"]}
        alone = fmu_builder.run("BouncingBall", start=start)
        assert row["last"] == alone["fmu.height"][-1]
        assert row["top"] == alone["fmu.height"].max()
        assert row["impact"] == alone.events["fmu.floor.impact_speed[1]"]
        assert row["ratio"] == alone.events["fmu.floor.restitution[1]"]
        assert row["lift"] == pytest.approx(row["bounce"] ** 2 / 19.62 / row["h"], rel=1e-14)
        assert row["count"] == alone.events["fmu.floor.contact_count"]
        assert row["tenth"] is None
    units = {name: result.table().schema.field(name).metadata[b"unit"] for name in ("h", "impact", "ratio", "lift")}
    assert units == {"h": b"m", "impact": b"m/s", "ratio": b"1", "lift": b"1"}


def test_an_expression_of_responses_knows_pi(here: Callable[[str], StudyResult]) -> None:
    rows = here(f'{BOUNCE.partition("[responses]")[0]}[responses]\nturn = "2*pi*h"\n').table().to_pylist()
    assert [row["turn"] / row["h"] for row in rows] == pytest.approx([2.0 * np.pi] * 6, rel=1e-15)


def test_expressions_may_stand_before_what_they_use(here: Callable[[str], StudyResult]) -> None:
    """The rows are the same, and so are the columns but for their order, in which rows that are there are kept."""
    head, responses = BOUNCE.split("[responses]\n")
    other = head + "[responses]\n" + "".join(reversed(responses.splitlines(keepends=True)))
    expected = here(BOUNCE).table()
    kept = here(other)
    assert kept.repeated == 6 and kept.table().to_pylist() == expected.to_pylist()
    pyarrow.parquet.write_table(expected.slice(0, 2), "bounce.parquet")
    result = here(other)
    turned, measured = result.table(), expected.column_names[:11]
    assert result.repeated == 2 and turned.column_names[3:11] == expected.column_names[10:2:-1]
    assert turned.select(measured).to_pylist() == expected.select(measured).to_pylist()


def test_a_study_written_in_python_may_use_its_responses(here: Callable[[str], StudyResult], tmp_path: Path) -> None:
    """Its file has the tables behind the texts; that of save() gives the same."""
    document = fmu_builder.Study(
        name="thrown",
        system=fmu_builder.Scenario(
            name="throw",
            slaves={"m": fmu_builder.Part(recipe="SliderMass", start={"m": 2.0})},
            connections=[],
            experiment=fmu_builder.Experiment(stop="1 s", step="10 ms"),
        ),
        factors={"m.v0": [1.0, 3.0]},
        responses={"speed": {"signal": "m.p.v"}, "energy": "1[kg]*square", "square": "speed^2"},
    )
    rows = study(document).table().to_pylist()
    assert [(row["speed"], row["square"], row["energy"]) for row in rows] == [(1.0, 1.0, 1.0), (3.0, 9.0, 9.0)]
    saved = document.save(tmp_path / "saved")
    assert study(saved).table().to_pylist() == rows


@pytest.mark.parametrize(
    ("responses", "said"),
    [
        ('a = "2*a"', ["a: follows from itself: a -> a"]),
        ('a = "b + 1[m]"\nb = "2*c"\nc = "a*1[m]/h"', ["a: follows from itself: a -> b -> c -> a"]),
        ('e = "2*a"\na = "b"\nb = "a"\nc = "d"\nd = "c"', ["a: follows from itself: a", "c: follows from itself: c"]),
        ('a = "h*(b"\nb = "2*a"', ["a: the text ends; expected"]),
    ],
)  # fmt: skip
def test_responses_in_a_circle_are_named(here: Callable[[str], StudyResult], responses: str, said: list[str]) -> None:
    with pytest.raises(InputError) as error:
        here(BOUNCE.partition("[responses]")[0] + "[responses]\n" + responses)
    found = [str(problem).partition("[responses] ")[2] for problem in error.value.problems]
    assert len(found) == len(said) and all(a.startswith(b) for a, b in zip(found, said, strict=True)), found


def test_a_rate_is_one_of_an_angle_only_where_there_is_an_angle(here: Callable[[str], StudyResult]) -> None:
    responses = {
        "v": ('{ event = "floor.impact_speed[1]" }', "m/s"),
        "rate": ('"v/h"', "1/s"),
        "change": ('"v^2/h^2"', "1/s2"),
        "turning": ('"1[rad]*v/h"', "rad/s"),
        "later": ('"2*turning"', "rad/s"),
        "work": ('"1[N]*h"', "J"),
    }
    text = "".join(f"{name} = {response}\n" for name, (response, _) in responses.items())
    schema = here(f"{BOUNCE.partition('[responses]')[0]}[responses]\n{text}").table().schema
    assert {name: schema.field(name).metadata[b"unit"].decode() for name in responses} == {
        name: unit for name, (_, unit) in responses.items()
    }


def test_a_study_goes_on_and_repeats_nothing(
    here: Callable[[str], StudyResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[int] = []
    original = Worker.run

    def counted(self: Worker, batch: Batch) -> Done:
        if len(computed) >= 2:
            raise ToolError("the power fails")
        computed.extend(batch.runs.tolist())
        return original(self, batch)

    monkeypatch.setattr(Worker, "run", counted)
    monkeypatch.setattr(running, "_TIMED", 2)
    with pytest.raises(ToolError, match="the power fails"):
        here(BOUNCE)
    assert computed == [0, 1]
    monkeypatch.setattr(Worker, "run", original)
    result = here(BOUNCE)
    assert (result.runs, result.repeated) == (6, 2)
    assert result.table().column("run").to_pylist() == [*range(6)]
    assert not list(Path().glob(".*"))  # no journal
    with pytest.raises(InputError, match=r"another study \(factors differ\)"):
        here(BOUNCE.replace("0.8", "0.9"))


@pytest.mark.parametrize("count", [2, 7])
def test_a_run_that_ends_its_process_is_a_row_also_where_it_is_the_last_open_one(
    here: Callable[[str], StudyResult], monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    sent: list[int] = []

    class Counted(Fragile):
        def submit(self, batch: Batch) -> None:
            sent.append(len(batch))
            assert len(sent) < 20, "the run that ends its process is submitted without end"
            super().submit(batch)

    monkeypatch.setattr(running, "ProcessPool", Counted)
    result = here(BOUNCE.replace("count = 3", f"count = {count}").replace('["50 cm", 1.0]', "[1.0]"))
    assert (result.runs, result.failed) == (count, 1)
    assert [row["status"] == "killed" for row in result.table().to_pylist()] == [run == 1 for run in range(count)]


def test_values_of_which_one_is_a_text_are_texts(here: Callable[[str], StudyResult]) -> None:
    """An enumeration by name and by number, base and table alike."""
    factors = '"coupling.mode" = { values = ["hold", 2], base = 2 }'
    text = f'system = "PointSurface"\n[experiment]\nstop = "1 ms"\nstep = "1 ms"\n[factors]\n{factors}\n'
    result = here(text + '[plan]\nkind = "one_at_a_time"\n[responses]\nz = { signal = "point.f[3]" }\n')
    assert result.table().column("coupling.mode").to_pylist() == ["2", "hold"]
    assert result.failed == 0


@pytest.mark.slow
def test_the_page_says_where_no_run_has_all_responses(
    here: Callable[[str], StudyResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Worker._run

    def either(self: Worker, batch: Batch) -> Done:
        done = original(self, batch)
        done.responses[:, 0][batch.runs % 2 == 0] = np.nan
        done.responses[:, 1][batch.runs % 2 == 1] = np.nan
        return done

    monkeypatch.setattr(Worker, "_run", either)
    here(BOUNCE)
    write_page(Path("bounce.parquet"), Path("bounce.html"))
    assert "no run has all responses" in Path("bounce.html").read_text()


def test_a_worker_frees_what_all_its_threads_have_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bounce.toml").write_text(BOUNCE)
    prepared = prepare(tmp_path / "bounce.toml")
    unpacked = tmp_path / "temporary"
    unpacked.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(unpacked))
    batch = Batch(np.arange(1), prepared.plan.rows(0, 1))
    worker = Worker(prepared.job, prepared.files)
    with ThreadPoolExecutor(2) as pool:
        for done in pool.map(worker.run, [batch, batch]):
            assert done.status == ["ok"]
    assert [*unpacked.iterdir()]
    worker.close()
    assert not [*unpacked.iterdir()]

    late = Worker(prepared.job, prepared.files)
    original = late._run

    def closed_meanwhile(batch: Batch) -> Done:
        late.close()  # which frees nothing that runs
        return original(batch)

    monkeypatch.setattr(late, "_run", closed_meanwhile)
    assert late.run(batch).status == ["ok"]
    assert not [*unpacked.iterdir()]


def test_a_run_that_a_slave_refuses_is_a_row_with_its_reason(here: Callable[[str], StudyResult]) -> None:
    result = here(BOUNCE.replace("low = 0.4, high = 0.8, count = 3", "values = [0.5, -1]"))
    assert (result.runs, result.failed) == (4, 2)
    rows = result.table().to_pylist()
    assert [row["status"] for row in rows] == ["ok", "ok", "refused", "refused"]
    assert "restitution" in rows[2]["message"] and rows[2]["top"] is None


@pytest.mark.parametrize(("values", "code"), [("[0.5]", 0), ("[0.5, -1]", 3), ("[-1]", 3)])
def test_the_command_tells_whether_all_runs_are_ok(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, values: str, code: int
) -> None:
    """The second time too, where no run is left; the table is there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(running, "ProcessPool", Inline)
    text = BOUNCE.replace("low = 0.4, high = 0.8, count = 3", f"values = {values}")
    Path("bounce.toml").write_text(text, encoding="utf-8")
    for _ in range(2):
        assert CliRunner().invoke(app, ["study", "run", "bounce.toml"]).exit_code == code
        assert Path("bounce.parquet").is_file()


@pytest.mark.parametrize(("variable", "value"), [("floor.C_F", "-1 N/m"), ("body.m", "0 kg")])
def test_the_reason_of_a_refused_value_names_its_factor(
    here: Callable[[str], StudyResult], tmp_path: Path, variable: str, value: str
) -> None:
    """C_F is refused where it is set, m at the end of initialization."""
    (tmp_path / "drop.toml").write_text(
        'connections = [["body.p", "floor.point"]]\n[experiment]\nstop = "1 ms"\nstep = "0.1 ms"\n'
        '[slaves]\nbody = "PointMass"\nfloor = "PointSurface"\n',
        encoding="utf-8",
    )
    factor = f'system = "drop.toml"\n[factors]\nchosen = {{ start = "{variable}", values = ["{value}"] }}\n'
    (row,) = here(factor + '[responses]\nheight = { signal = "body.p.r[3]" }\n').table().to_pylist()
    assert row["status"] == "refused"
    assert row["message"].startswith(f"[factors] chosen start {variable}: ")


def test_traces_are_lists_of_the_table(here: Callable[[str], StudyResult]) -> None:
    row = here(BOUNCE + '[traces]\nrecord = ["fmu.height"]\nevery = 10\n').table().to_pylist()[0]
    alone = fmu_builder.run("BouncingBall", start={"restitution": 0.4, "initial_height": 0.5})
    assert row["trace.fmu.height"] == alone["fmu.height"][::10].tolist()
    assert row["trace.time"] == alone.trace.time[::10].tolist()


def test_traces_of_a_single_fmu_take_the_short_names_that_responses_take(here: Callable[[str], StudyResult]) -> None:
    row = here(BOUNCE + '[traces]\nrecord = ["height", "vel*"]\nevery = 10\n').table().to_pylist()[0]
    assert [name for name in row if name.startswith("trace.")] == [
        "trace.time",
        "trace.fmu.height",
        "trace.fmu.velocity",
    ]


def test_show_prints_the_responses(here: Callable[[str], StudyResult]) -> None:
    here(BOUNCE)
    shown = CliRunner().invoke(app, ["study", "show", "bounce.parquet"])
    assert shown.exit_code == 0 and "6 of 6 runs, plan grid" in shown.output
    assert re.search(r"^impact +m/s +3\.132\d* +3\.78\d* +4\.4\d* +0$", shown.output, re.MULTILINE)
    summary = json.loads(CliRunner().invoke(app, ["study", "show", "bounce.parquet", "--json"]).output)
    assert summary["status"] == {"ok": 6} and summary["responses"]["tenth"]["missing"] == 6


@pytest.mark.slow
def test_the_page_of_a_study_holds_every_plot(here: Callable[[str], StudyResult]) -> None:
    here(BOUNCE)
    shown = CliRunner().invoke(app, ["study", "show", "bounce.parquet", "--plot", "bounce.html"])
    assert shown.exit_code == 0 and shown.output.endswith("bounce.html\n")
    page = Path("bounce.html").read_text()
    figures = re.findall(
        r'<script type="application/json" id="figure\d+" class="figure">(.*?)</script>', page, re.DOTALL
    )
    drawn = [json.loads(figure) for figure in figures]
    kinds = [
        {(trace["type"], trace["mode"]) if "mode" in trace else trace["type"] for trace in one["data"]} for one in drawn
    ]
    assert kinds == [{("scatter", "markers")}, {("scatter", "lines+markers")}, {("scatter", "lines")}, {"contour"}]
    effects = drawn[1]["data"]
    assert [len(trace["x"]) for trace in effects] == [3, 2] * 7  # levels of each factor; `tenth` has no value
    assert re.search(r"<td>impact</td><td>h</td><td>1\.000</td>", page)  # sqrt(2 g h)
    assert "default-src 'none'" in page and not re.search(r'(?:src|href)="', page.split("<script>")[0])


def test_effects_of_one_factor_at_a_time_are_those_at_the_base(here: Callable[[str], StudyResult]) -> None:
    """The runs of the other factors have its base as well, and no share in its effect."""
    text = BOUNCE.replace('values = ["50 cm", 1.0]', 'values = ["50 cm", 1.0], base = 0.5')
    rows = here(text + '[plan]\nkind = "one_at_a_time"\n').table().to_pylist()
    write_page(Path("bounce.parquet"), Path("bounce.html"))
    page = Path("bounce.html").read_text()
    figures = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    restitution = json.loads(figures[1])["data"][0]  # over which `top` is the height of the start
    assert restitution["y"] == [pytest.approx(row["top"]) for row in rows if row["h"] == 0.5]
    assert "each factor alone, the others at their base" in page and "Contours" not in page


def test_a_study_in_the_place_of_its_table_is_named_with_the_command_that_writes_it() -> None:
    with pytest.raises(
        InputError, match=r"bounce\.toml: is no table of a study; `fmu-builder study bounce\.toml` runs"
    ):
        show_study(Path("bounce.toml"), None, as_json=False)


def test_the_axis_of_a_response_with_one_value_shows_it(here: Callable[[str], StudyResult]) -> None:
    """Over every factor, and not amid +-1, where it looks like 0."""
    impact = 'impact = { event = "floor.impact_speed[1]" }\n'
    here(f'{BOUNCE.partition("[responses]")[0]}[responses]\n{impact}small = "-0.002*impact/impact"\n')
    write_page(Path("bounce.parquet"), Path("bounce.html"))
    figures = re.findall(
        r'<script type="application/json"[^>]*>(.*?)</script>', Path("bounce.html").read_text(), re.DOTALL
    )
    for figure in figures[:2]:
        layout = json.loads(figure)["layout"]
        assert [layout[f"yaxis{number}"].get("range") for number in ("", "2", "3", "4")] == [
            *[None] * 2,
            *[[-0.003, -0.001]] * 2,
        ]
    matches = [layout[f"yaxis{number}"].get("matches") for number in ("", "2", "3", "4")]
    assert matches == [None, "y", None, None]  # a range and `matches` together hide the ranges of the other rows


def test_an_axis_of_words_has_no_line_at_zero(here: Callable[[str], StudyResult]) -> None:
    here(BOUNCE.replace("[responses]", 'algorithm = ["gauss_seidel", "jacobi"]\n[responses]'))
    write_page(Path("bounce.parquet"), Path("bounce.html"))
    figure = re.findall(
        r'<script type="application/json"[^>]*>(.*?)</script>', Path("bounce.html").read_text(), re.DOTALL
    )[0]
    axes = [axis for name, axis in json.loads(figure)["layout"].items() if name.startswith("xaxis")]
    words = [axis for axis in axes if axis.get("ticktext") == ["gauss_seidel", "jacobi"]]
    assert words and all(axis["zeroline"] is False for axis in words)


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (1.0, 5.0, [1.0, 2.0, 5.0]),
        (2e4, 2e5, [2e4, 5e4, 1e5, 2e5]),
        (5e3, 1e5, [1e4, 3e4, 1e5]),
        (1e4, 1e6, [1e4, 1e5, 1e6]),
        (1e-9, 1e3, [1e-9, 1e-6, 1e-3, 1e0, 1e3]),
        (10.0, 10.0, [10.0]),
    ],
)
def test_a_logarithmic_axis_has_few_numbers(low: float, high: float, shown: list[float]) -> None:
    ticks = Column("k", "N/m", np.array([low, high]), is_log=True).axis()["tickvals"]
    assert [one for one in ticks if low <= one <= high] == shown


def test_the_indices_of_a_grid_are_the_variances_of_the_means() -> None:
    a, b = (one.ravel() for one in np.meshgrid([0.0, 1.0, 2.0], [0.0, 1.0], indexing="ij"))
    found = sobol_indices("grid", ["a", "b"], np.column_stack([a, b]), 3.0 * a + b)
    assert [one.first for one in found] == pytest.approx([6.0 / 6.25, 0.25 / 6.25])  # 9 Var(a), Var(b)
    assert sobol_indices("grid", ["a"], a[:, None], np.ones(6)) == []


DROP = """connections = [["body.p", "floor.point"]]
experiment = { stop = "40 ms", step = "50 us" }
[slaves]
body = { recipe = "PointMass" }
floor = { recipe = "PointSurface" }
"""
BY_ONE = 'kind = "one_at_a_time"'
OF_DROP = """system = "drop.toml"
[factors]
"body.m" = { low = 1, high = 2, base = 1.5 }
[responses]
z = { signal = "body.p.r[3]" }
[plan]
kind = "one_at_a_time"
"""
LIST = 'kind = "list"\nfile = "runs.csv"'


@pytest.mark.parametrize(
    ("kind", "file", "old", "new", "part"),
    [
        ("one_at_a_time", "study.toml", "base = 1.5", "base = 1.25", "factors"),
        ("list", "runs.csv", "\n1.75", "\n1.76", "plan"),
        ("one_at_a_time", "drop.toml", '"PointSurface"', '"PointSurface", step = "100 us"', "settings"),
        ("one_at_a_time", "drop.toml", '"PointMass"', '"PointMass", isolated = true', "settings"),
        pytest.param(
            "one_at_a_time",
            "drop.toml",
            '"PointMass"',
            '"PointMass", call_limit = "2 s", isolated = true',
            "settings",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "one_at_a_time",
            "drop.toml",
            '"PointMass"',
            '"PointMass", start = { g = [0, 0, 0] }',
            "settings",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_decides_on_results_makes_another_study(
    tmp_path: Path, kind: str, file: str, old: str, new: str, part: str
) -> None:
    texts = {
        "drop.toml": DROP,
        "study.toml": OF_DROP.replace(BY_ONE, LIST).replace(", base = 1.5", "") if kind == "list" else OF_DROP,
        "runs.csv": "body.m\n" + "1.5\n" * 1500 + "1.75\n",
    }

    def schema() -> object:
        for name, text in texts.items():
            (tmp_path / name).write_text(text)
        found = prepare(tmp_path / "study.toml")
        return tables.schema_of(found.job, found.about)

    before, same = schema(), schema()
    tables.check_same(before, same, Path("study.parquet"))
    assert old in texts[file]
    texts[file] = texts[file].replace(old, new)
    with pytest.raises(InputError, match=rf"is the table of another study \({part} differ\)"):
        tables.check_same(before, schema(), Path("study.parquet"))


FAULTS = {
    "restitution = { low": ("restitutio = { low", "has no variable 'restitutio'; did you mean 'restitution'?"),
    "50 cm": ("50 kg", "has the dimension kg but m is needed"),
    "low = 0.4, high = 0.8": ("low = 0.9, high = 0.8", "low = 0.9 must be less than high = 0.8"),
    '"height" }': ('"heigt" }', "no run has the signal 'heigt'; did you mean 'fmu.height'?"),
    "floor.rebound": ("flor.rebound", "no run has contacts at 'flor'; did you mean 'fmu.floor'?"),
    '"bounce/impact"': ('"bounce + 1[m]"', "'+' needs equal dimensions: m/s on the left, m on the right"),
    "speed[1]": ("speed", "give the number of a contact, impact_speed[1], or for all of them take"),
    "maximum": ("maxi", "take: 'maxi' is none of end, minimum, maximum, mean, integral; did you mean 'maximum'?"),
    "[responses]\n": (
        "[plan]\nkind = 'list'\nfile = 'none.csv'\n[responses]\n",
        "[plan] file: there is no file none.csv",
    ),
    "[factors]\n": ("[factors]\ngravity = [1, 2]\n", "it is a vector, name an element of it, as gravity[1]"),
    "{ low = 0.4, high = 0.8, count = 3 }": ("3", "restitution: 3: must be a table or a list of values"),
    "[responses]": ("[plan]\nkind = 'sobol'\n[responses]", "sobol needs runs"),
    "count = 3": ("count = 100000000000", "count: 100000000000: must be at most 1000000"),
    "count = 3 ": ("count = '3' ", "count: '3': must be a whole number"),
    "low = 0.4, high = 0.8, count = 3": ("low = 0.4, high = 0.8, count = true", "count: true: must be a whole number"),
    "[factors]": ("[factors]\ncoupling_tolerance = [1e-3, 1e-4]", "is of adaptive, and the runs have gauss_seidel"),
    "low = 0.4": ("scale = 'log', low = 0", "restitution low: 0 must be greater than 0 where scale = 'log': raise it"),
    '"50 cm", 1.0': (
        '"50 cm", 1.0, 0.5, 1',
        "h values: 0.5 is 50 cm once more, and each value is run once: remove one",
    ),
    "1.0]": ("1.0, 1.0]", "h values: 1.0 stands twice"),
    "count = 3 }": ("count = 3, base = 77 }", "base: 77 is outside 0.4 .. 0.8"),
    ", count = 3 }": (
        ", count = 3, base = 0.5 }",
        "[factors] restitution base: 0.5: is of one_at_a_time, and the plan is grid: remove it, or choose kind",
    ),
    "[responses]\ntop": ("[plan]\nseed = 3\n[responses]\ntop", "grid draws no random numbers: remove seed"),
    "[responses]\ntop =": (
        "[plan]\nkind = 'one_at_a_time'\nseed = 3\nruns = 5\n[responses]\ntop =",
        "the number of runs of one_at_a_time follows: remove it; one_at_a_time draws no random numbers: remove seed",
    ),
}


@pytest.mark.parametrize("text", FAULTS)
def test_faults_of_a_study_name_file_key_value_and_rule(
    here: Callable[[str], StudyResult], tmp_path: Path, text: str
) -> None:
    wrong, said = FAULTS[text]
    with pytest.raises(InputError) as error:
        here(BOUNCE.replace(text, wrong))
    assert said in str(error.value) and "bounce.toml: " in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["bounce.toml"]


def test_a_fault_of_the_text_hides_no_wrong_name(here: Callable[[str], StudyResult]) -> None:
    """Nor is anything said of what follows from it, such as expressions of a response that cannot be read."""
    text = BOUNCE.replace("count = 3", "cunt = 3").replace('["50 cm"', '["50 kg"').replace('maximum"', 'maxi"')
    text = text.replace('"height" }', '"heigt" }').replace("bounce^2", "top^2") + '[traces]\nrecord = ["nothing"]\n'
    with pytest.raises(InputError) as error:
        here("sed = 1\n" + text)
    said = (
        "sed: this key is unknown",
        "[factors.restitution] cunt: this key is unknown; did you mean 'count'?",
        "[responses] top: {",
        "[factors] h = '50 kg' has the dimension kg",
        "[traces] record: 'nothing' names no signal",
        "[responses] last: no run has the signal 'heigt'",
    )
    found = [str(problem) for problem in error.value.problems]
    assert all(any(one in problem for problem in found) for one in said) and len(found) == len(said), found


def test_faults_of_a_response_name_no_validator(here: Callable[[str], StudyResult]) -> None:
    wrong = '[responses]\na = {}\nb = 5\nc = { signal = "height", at = 2 }\n'
    with pytest.raises(InputError) as error:
        here(BOUNCE.replace("[responses]\n", wrong))
    assert str(error.value).splitlines() == [
        f"bounce.toml: {line}"
        for line in (
            "[responses] a: {}: give either signal or event",
            "[responses] b: 5: must be a table or a text",
            "[responses.c] at: this key is unknown; known: event, signal, take",
        )
    ]


def test_a_plan_of_many_runs_needs_a_yes(here: Callable[[str], StudyResult]) -> None:
    many = BOUNCE.replace("count = 3", "count = 1000000").replace(
        'values = ["50 cm", 1.0]', "low = 1, high = 2, count = 1000000"
    )
    with pytest.raises(
        InputError, match=r"1e\+12 runs are more than 1e\+09: take fewer levels, or allow it with --yes"
    ):
        here(many)


def test_a_study_that_cannot_run_keeps_the_table(here: Callable[[str], StudyResult]) -> None:
    here(BOUNCE)
    table = Path("bounce.parquet")
    before, written = table.read_bytes(), table.stat().st_mtime_ns
    for options, said in (
        ({"scheduler": "tcp://127.0.0.1:1", "workers": 2}, "a scheduler has its own workers"),
        ({"again": True, "workers": 0}, "^--workers: 0 must be at least 1"),
    ):
        with pytest.raises(InputError, match=said):
            study("bounce.toml", **options)  # type: ignore[arg-type]

    def broken(*_: object) -> Inline:
        raise ToolError("no worker answers")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "ProcessPool", broken)
        for again in (True, False):
            Path("bounce.toml").write_text(BOUNCE if again else BOUNCE.replace("0.8", "0.9"))
            name = table if again else Path("other.parquet")
            with pytest.raises(ToolError, match="no worker answers"):
                study("bounce.toml", name, again=again)
    with pytest.raises(InputError, match="another study"):
        study("bounce.toml")
    assert (table.read_bytes(), table.stat().st_mtime_ns) == (before, written)
    assert sorted(path.name for path in Path().iterdir()) == ["bounce.parquet", "bounce.toml"]


@pytest.mark.slow
def test_again_replaces_the_table(here: Callable[[str], StudyResult]) -> None:
    here(BOUNCE)
    Path("bounce.toml").write_text(BOUNCE.replace("0.8", "0.9"))
    result = study("bounce.toml", again=True)
    assert (result.runs, result.repeated) == (6, 0)
    assert result.table().column("restitution").to_pylist()[-1] == 0.9


@pytest.mark.parametrize("rows", [0, 2, pytest.param(6, marks=pytest.mark.slow)])
def test_a_journal_that_a_power_cut_left_costs_no_row_of_the_table(
    here: Callable[[str], StudyResult], rows: int
) -> None:
    """`rows` that were written whole; with 0 not even the schema was."""
    here(BOUNCE)
    table, journal = Path("bounce.parquet"), tables.journal_of(Path("bounce.parquet"))
    whole = tables.columns(table)
    if rows == 0:
        journal.write_bytes(b"")
    else:
        with pyarrow.ipc.new_stream(journal, whole.schema) as stream:
            stream.write_table(whole.slice(0, rows))
            end = journal.stat().st_size
        journal.write_bytes(journal.read_bytes()[:end] + b"\xff\xff\xff\xff\x10")
    result = study("bounce.toml")
    assert (result.runs, result.repeated) == (6, rows or 6)
    assert result.table().drop(["seconds"]) == whole.drop(["seconds"])
    assert not journal.exists()


def test_a_full_disk_is_an_error_and_the_rows_before_are_kept(
    here: Callable[[str], StudyResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_TIMED", 2)
    original, limits = Worker.run, resource.getrlimit(resource.RLIMIT_FSIZE)
    batches: list[int] = []

    def filled(self: Worker, batch: Batch) -> Done:
        batches.append(len(batch))
        if len(batches) == 2:
            size = tables.journal_of(Path("bounce.parquet")).stat().st_size
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, limits[1]))
        return original(self, batch)

    monkeypatch.setattr(Worker, "run", filled)
    try:
        with pytest.raises(ToolError, match=r"cannot be written: File too large"):
            here(BOUNCE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    monkeypatch.setattr(Worker, "run", original)
    result = here(BOUNCE)
    assert (result.runs, result.repeated) == (6, 2)


@pytest.mark.slow
def test_two_studies_do_not_write_one_table(here: Callable[[str], StudyResult]) -> None:
    here(BOUNCE)
    table = Path("bounce.parquet")
    with (
        tables.Journal(table, tables.read_schema(table)),
        pytest.raises(ToolError, match=r"bounce\.parquet: is being written by another study"),
    ):
        study("bounce.toml")
    assert study("bounce.toml").repeated == 6


def test_a_table_that_is_none_is_kept(here: Callable[[str], StudyResult]) -> None:
    Path("bounce.parquet").write_text("mine")
    with pytest.raises(InputError, match=r"bounce\.parquet: cannot be read as Parquet"):
        here(BOUNCE)
    assert Path("bounce.parquet").read_text() == "mine"
    with pytest.raises(InputError, match=r"bounce\.parquet: cannot be read as Parquet"):
        study("bounce.toml", "bounce.parquet", again=True)
    assert Path("bounce.parquet").read_text() == "mine"


@pytest.mark.parametrize("name", ["runs.csv", "bounce.toml"])
def test_a_table_ends_as_parquet_does(here: Callable[[str], StudyResult], name: str) -> None:
    Path("bounce.toml").write_text(BOUNCE)
    with pytest.raises(InputError, match=rf"-o: '{name}' would be a table in Parquet .*; end it with \.parquet"):
        study("bounce.toml", name, again=True)
    assert not Path("runs.csv").exists()
    assert Path("bounce.toml").read_text() == BOUNCE


def test_rows_of_a_file_have_units_in_the_header(here: Callable[[str], StudyResult]) -> None:
    Path("runs.csv").write_text("h [cm],restitution\n50,0.5\n75,0.6\n")
    listed = BOUNCE.replace('values = ["50 cm", 1.0]', "low = 0, high = 1")
    rows = here(listed + '[plan]\nkind = "list"\nfile = "runs.csv"\n').table().to_pylist()
    assert [(row["h"], row["restitution"]) for row in rows] == [(0.5, 0.5), (0.75, 0.6)]
    Path("runs.csv").write_text("h [cm]; restitution\n50; 0.5\n75; 0.6\n")
    assert here(listed + '[plan]\nkind = "list"\nfile = "runs.csv"\n').table().to_pylist() == rows
    Path("runs.csv").write_text("h / cm,restitution (1)\n50,0.5\n75,0.6\n")
    assert here(listed + '[plan]\nkind = "list"\nfile = "runs.csv"\n').table().to_pylist() == rows
    with pytest.raises(InputError, match=r"row 1, h: 0\.5 m is outside 0\.6 \.\. 1 m"):
        narrow = listed.replace("low = 0, high = 1", "low = 0.6, high = 1")
        Path("runs.csv").write_text("h [cm],restitution\n50,0.5\n75,0.6\n")
        here(narrow + '[plan]\nkind = "list"\nfile = "runs.csv"\n')
    Path("runs.csv").write_text("h [kg],restitutio\n50,0.5\n")
    with pytest.raises(InputError, match="is no factor; did you mean 'restitution'"):
        here(listed + '[plan]\nkind = "list"\nfile = "runs.csv"\n')
    Path("runs.csv").write_text(f"h [cm],restitution\n50,{'1' * 140_000}\n")
    with pytest.raises(InputError, match=r"runs\.csv: line 2: field larger than field limit"):
        here(listed + '[plan]\nkind = "list"\nfile = "runs.csv"\n')


def test_units_in_the_header_hold_for_listed_values_too(here: Callable[[str], StudyResult]) -> None:
    """A number in cm was compared with the values in m."""
    listed = BOUNCE + '[plan]\nkind = "list"\nfile = "runs.csv"\n'
    Path("runs.csv").write_text("h [cm],restitution\n50,0.5\n100,0.6\n")
    assert here(listed).table().column("h").to_pylist() == [0.5, 1.0]
    Path("runs.csv").write_text("h [cm],restitution\n1.0,0.5\n")
    with pytest.raises(InputError, match=r"row 1, h: '0\.01 m' is none of 0\.5 m, 1\.0 m"):
        here(listed)
    Path("runs.csv").write_text("h [kg],restitution\n50,0.5\n")
    with pytest.raises(InputError, match="row 1, h = '50 kg' has the dimension kg but m is needed"):
        here(listed)


def test_notes_of_a_study_are_those_of_a_run_on_start_values(here: Callable[[str], StudyResult]) -> None:
    """Of a factor too: one that a connection or a drive overwrites changes no row."""
    Path("drop.toml").write_text("""connections = [["body.p", "spring.r"]]
[experiment]
stop = "2 ms"
step = "1 ms"
[slaves]
body = { recipe = "SliderMass", start = { "p.F" = "2 N" } }
spring = { recipe = "TranslationalSpring" }
[drive]
"spring.c.v" = 0.5
""")
    result = here("""system = "drop.toml"
[factors]
held = { start = "spring.c.v", values = [1, 2] }
fast = { start = ["body.v0", "spring.r.v"], values = ["1 m/s"] }
[responses]
last = { signal = "body.p.v" }
""")
    own = fmu_builder.run("drop.toml").notes
    assert result.notes[: len(own)] == own and "[slaves] body start p.F = 2 N has no effect" in own[-1]
    assert result.notes[len(own) :] == (
        "[factors] held has no effect: from the initialization on its drive gives the value; remove it",
        "[factors] fast has no effect for spring.r.v: from the initialization on body.p.v gives the value",
    )


def test_a_recipe_that_a_factor_makes_faulty_is_named_by_its_own_file(here: Callable[[str], StudyResult]) -> None:
    Path("Spring.toml").write_text('element = "translational_spring"\n')
    text = 'system = "Spring.toml"\n[responses]\nx = { signal = "x" }\n[factors]\n'
    with pytest.raises(InputError) as caught:
        here(text + 'k = { recipe = "fmu", key = "start.kk", values = [1, 2] }\n')
    assert [str(problem) for problem in caught.value.problems] == [
        f"bounce.toml: [factors] recipe fmu: with start.kk = {value}: {Path('Spring.toml').resolve()}: [start] kk: "
        "there is no such variable; did you mean 'k'?"
        for value in (1, 2)
    ]


def test_the_laws_of_the_example_in_the_guide_fit_their_slot(tmp_path: Path) -> None:
    guide = (Path(fmu_builder.__file__).parent / "guide" / "studies.md").read_text(encoding="utf-8")
    found = re.search(r'key = "functions\.(\w+)", values = (\[.*?\])', guide)
    assert found is not None
    for law in json.loads(found[2]):
        recipe = tmp_path / f"{law.title()}.toml"
        recipe.write_text(f'element = "point_surface"\n[surface]\nkind = "plane"\n[functions]\n{found[1]} = "{law}"\n')
        assert load_model(recipe).name == law.title()
