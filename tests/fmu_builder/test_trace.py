"""Traces on disk: what is written is what is read, and what is wrong is named."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fmu_builder.cosim.trace import Trace, read_trace, write_trace
from fmu_builder.errors import InputError, ToolError

FINITE = st.floats(allow_nan=False, allow_infinity=False)
# every character but halves of surrogate pairs, which are not text
NAMES = st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), unique=True, max_size=4).map(
    lambda names: tuple(name for name in names if name.strip() and name.casefold() != "time")
)


def small_trace() -> Trace:
    return Trace(
        time=np.array([0.0, 0.1, 0.1, 0.3]),
        names=("floor.depth", "floor.in_contact"),
        values=np.array([[0.0, 0.0], [1e-3, 1.0], [2e-3, 1.0], [0.1 + 0.2, 0.0]]),
        units={"time": "s", "floor.depth": "m"},
        events={"floor.touch[1]": 0.05},
        provenance={"step": 0.1, "algorithm": "jacobi"},
    )


def written(tmp_path: Path, text: str, beside: str | None = None) -> Path:
    path = tmp_path / "trace.csv"
    path.write_bytes(text.encode())
    if beside is not None:
        path.with_name("trace.csv.json").write_text(beside, encoding="utf-8")
    return path


def faults_of(path: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_trace(path)
    return [str(problem).removeprefix(str(path)) for problem in caught.value.problems]


def test_a_printed_trace_begins_with_what_moves_and_not_with_how_it_is_computed() -> None:
    names = ("floor.coupling.debt[1]", "floor.depth", "floor.solver.steps", "body.p.r[3]")
    values = np.arange(32.0).reshape(8, 4)
    table = str(Trace(np.arange(8.0), names, values, {"floor.depth": "m", "body.p.r[3]": "m"})).splitlines()
    assert table[0].split() == ["time", "floor.depth", "body.p.r[3]", "floor.coupling.debt[1]", "floor.solver.steps"]
    assert table[1].split() == ["s", "m", "m", "1", "1"]
    assert table[3].split() == ["1", "5", "7", "4", "6"] and table[-2].split() == ["7", "29", "31", "28", "30"]
    assert table[-1] == "8 rows"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(names=NAMES, data=st.data())
@pytest.mark.slow
def test_every_number_and_name_survives_the_file_bit_for_bit(
    tmp_path: Path, names: tuple[str, ...], data: st.DataObject
) -> None:
    n = data.draw(st.integers(1, 5))
    time = np.array(sorted(data.draw(st.lists(FINITE, min_size=n, max_size=n))))
    flat = data.draw(st.lists(FINITE, min_size=n * len(names), max_size=n * len(names)))
    events = data.draw(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), FINITE, max_size=3))
    units = {name: "m/s" for name in names[:1]}
    trace = Trace(time, names, np.array(flat).reshape(n, len(names)), units, events, {"step": 0.1, "list": [1, None]})
    write_trace(trace, tmp_path / "trace.csv")
    back = read_trace(tmp_path / "trace.csv")
    assert back.time.tobytes() == trace.time.tobytes()
    assert back.values.tobytes() == trace.values.tobytes()
    assert (back.names, back.units, back.provenance) == (trace.names, trace.units, trace.provenance)
    assert {name: value.hex() for name, value in back.events.items()} == {n: v.hex() for n, v in events.items()}


def test_file_is_comma_separated_with_quoted_names_and_booleans_as_0_and_1(tmp_path: Path) -> None:
    write_trace(small_trace(), tmp_path / "trace.csv")
    assert (tmp_path / "trace.csv").read_bytes() == (
        b'"time","floor.depth","floor.in_contact"\n0,0,0\n0.1,0.001,1\n0.1,0.002,1\n0.3,0.30000000000000004,0\n'
    )
    assert json.loads((tmp_path / "trace.csv.json").read_text()) == {
        "units": {"time": "s", "floor.depth": "m"},
        "events": {"floor.touch[1]": 0.05},
        "provenance": {"step": 0.1, "algorithm": "jacobi"},
    }


def test_equal_traces_give_equal_bytes_whatever_the_order_of_their_tables(tmp_path: Path) -> None:
    trace = small_trace()
    turned = Trace(
        trace.time,
        trace.names,
        trace.values,
        dict(reversed(trace.units.items())),
        trace.events,
        dict(reversed(trace.provenance.items())),
    )
    for name, one in (("a.csv", trace), ("b.csv", turned)):
        write_trace(one, tmp_path / name)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert (tmp_path / "a.csv.json").read_bytes() == (tmp_path / "b.csv.json").read_bytes()


@pytest.mark.parametrize(
    "text",
    [
        '"time","m[1,2]","b"\n0,1,2\n1,3,4\n',
        "t;m[1,2];b\r\n0;1;2\r\n1;3;4\r\n",
        '\ufeff"Time, in s","m[1,2]",b\n0,1,2\n\n1.,+3e0,4.0E0',
        'seconds, "m[1,2]", b\n"0", "1", "2"\n 1 , 3 , 4 \n\n',
    ],
    ids=["ours", "semicolon", "byte order mark", "blanks"],
)
def test_any_csv_of_numbers_is_read(tmp_path: Path, text: str) -> None:
    trace = read_trace(written(tmp_path, text))
    assert trace.names == ("m[1,2]", "b")
    assert trace.time.tolist() == [0.0, 1.0]
    assert trace.values.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert (dict(trace.units), dict(trace.events), dict(trace.provenance)) == ({}, {}, {})


def test_column_is_found_by_name_and_an_unknown_one_is_refused_with_the_nearest() -> None:
    trace = small_trace()
    assert trace["floor.depth"].tolist() == [0.0, 1e-3, 2e-3, 0.1 + 0.2]
    assert "floor.depth" in trace and "time" not in trace
    with pytest.raises(InputError, match=r"no signal 'floor.dept'; did you mean 'floor.depth'\?"):
        trace["floor.dept"]
    with pytest.raises(ValueError, match="read-only"):
        trace["floor.depth"][0] = 1.0


def test_a_signal_that_is_added_needs_a_value_for_each_time() -> None:
    trace = small_trace()
    n = len(trace.time)
    assert trace.with_signals({"more": ("N", np.ones(n))})["more"].tolist() == [1.0] * n
    for shape in ((n + 1,), (n, 2)):
        with pytest.raises(InputError) as caught:
            trace.with_signals({"more": ("N", np.ones(shape))})
        what = f"has values of shape {shape}, the times of the trace {(n,)}: give one for each time"
        assert str(caught.value) == f"trace, signal 'more': {what}"


def test_all_faults_of_the_rows_are_reported_at_once_with_line_and_column(tmp_path: Path) -> None:
    path = written(
        tmp_path, "time;x;y\n0;1;2\n1;one;nan\n\n0.5;-INF;1,5\n2;1\n2;1_0;true\n3;1e999;\u0661\n3;1;2;3\n4;;2\n"
    )
    assert faults_of(path) == [
        ": line 3, column 'x': 'one' is not a number",
        ": line 3, column 'y': 'nan' is not finite; a trace holds finite numbers only",
        ": line 5, column 'time': time 0.5 s is below 1.0 s of line 3; "
        "times must not decrease (equal times are a jump)",
        ": line 5, column 'x': '-INF' is not finite; a trace holds finite numbers only",
        ": line 5, column 'y': '1,5' is not a number; write a decimal point: 1.5",
        ": line 6: has 2 cells; line 1 names 3 columns",
        ": line 7, column 'x': '1_0' is not a number",
        ": line 7, column 'y': 'true' is not a number; write 1",
        ": line 8, column 'x': '1e999' is beyond the range of a double",
        ": line 8, column 'y': '\u0661' is not a number",
        ": line 9: has 4 cells; line 1 names 3 columns",
        ": line 10, column 'x': '' is not a number",
    ]


def test_a_decreasing_time_alone_is_found(tmp_path: Path) -> None:
    (fault,) = faults_of(written(tmp_path, "time,x\n0,1\n0.2,1\n0.2,2\n0.1,1\n"))
    assert fault.startswith(": line 5, column 'time': time 0.1 s is below 0.2 s of line 4")


@pytest.mark.parametrize("cell", ["1_0", "\u0661", "1e999", "nan", "0x10", "1d0", "--1", ".", "1,"])
def test_a_single_cell_that_is_no_finite_number_is_found(tmp_path: Path, cell: str) -> None:
    (fault,) = faults_of(written(tmp_path, f"time;x\n0;1\n1;{cell}\n"))
    assert fault.startswith(f": line 3, column 'x': '{cell}' is ")


def test_more_than_20_faults_are_counted_not_listed(tmp_path: Path) -> None:
    faults = faults_of(written(tmp_path, "time,x\n" + "".join(f"{k},?\n" for k in range(33))))
    assert len(faults) == 21
    assert faults[-1] == "and 13 further faults"


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("", [": is empty; the first line must name the columns, the first of them the time"]),
        ("time,x\n", [": has no rows of numbers"]),
        ("0,1\n1,2\n", [": line 1: holds numbers; it must name the columns, the first of them the time"]),
        (
            "time,x,,x\n0,1,b,2\n",
            [
                ": line 1: column 3 has no name",
                ": line 1: the name 'x' appears more than once; names must be unique",
                ": line 2, column '': 'b' is not a number",
            ],
        ),
        (
            "time,x,\n0,1,2\n",
            [": line 2: has 3 cells; line 1 names 2 columns"],
        ),
        (
            "x,time\n1,0\n",
            [": line 1: the first column 'x' must be the time, which is column 2; move it to the front"],
        ),
        (
            "time [ms],x\n0,1\n",
            [": line 1: the first column 'time [ms]' must be the time in s; convert it"],
        ),
        (
            "Time / min,x\n0,1\n",
            [": line 1: the first column 'Time / min' must be the time in s; convert it"],
        ),
        (
            "# of the rig\n# on a Monday\ntime,x\n0,1\n",
            [": line 1: is a comment; it must name the columns, the first of them the time: remove comments"],
        ),
    ],
    ids=[
        "empty",
        "no rows",
        "no header",
        "names",
        "no name for the last",
        "no time",
        "milliseconds",
        "minutes",
        "comments",
    ],
)
def test_faults_of_the_header_are_named(tmp_path: Path, text: str, faults: list[str]) -> None:
    assert faults_of(written(tmp_path, text)) == faults


def test_a_header_behind_a_number_sign_is_one(tmp_path: Path) -> None:
    """As numpy.savetxt writes it."""
    assert read_trace(written(tmp_path, "# time,x\n0,1\n")).names == ("x",)


def test_a_file_that_is_no_text_or_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    assert faults_of(path) == [": cannot be read: No such file or directory"]
    path.write_bytes(b"time,x\n0,\xff\n")
    assert faults_of(path) == [": line 2: is not UTF-8 text: invalid start byte; save it as UTF-8"]
    path.write_text('time,x\n0,"' + "1" * 200_000 + "\n")
    assert faults_of(path) == [": line 2: field larger than field limit (131072); is a quote left open?"]


def test_faults_of_both_files_are_reported_together(tmp_path: Path) -> None:
    beside = '{"unit": {}, "units": {"y": "m", "x": 3}, "events": {"a": NaN, "b": true, "c": 1}, "provenance": []}'
    assert faults_of(written(tmp_path, "time,x\n0,?\n", beside)) == [
        ": line 2, column 'x': '?' is not a number",
        ".json: unknown key 'unit'; did you mean 'units'?",
        ".json: provenance: is a list; must be a table of names",
        ".json: units, 'x': 3 is not a text; a unit is one, as in \"m/s\"",
        ".json: units: 'y' is not a column of the trace; known: time, x",
        ".json: events, 'a': nan is not a finite number",
        ".json: events, 'b': True is not a finite number",
    ]
    assert faults_of(written(tmp_path, "time,x\n0,1\n", "{")) == [
        ".json: line 1: is not JSON: Expecting property name enclosed in double quotes"
    ]
    assert faults_of(written(tmp_path, "time,x\n0,1\n", "[]")) == [
        ".json: holds a list; must be a table of events, provenance and units"
    ]


def test_unit_of_a_renamed_time_column_is_kept_as_that_of_time(tmp_path: Path) -> None:
    assert read_trace(written(tmp_path, "t,x\n0,1\n", '{"units": {"t": "s", "x": "m"}}')).units == {
        "time": "s",
        "x": "m",
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time": np.array([0.0, np.nan])}, "time of row 1 is nan"),
        ({"time": np.array([1.0, 0.5])}, r"time 0\.5 s is below 1\.0 s of row 0"),
        ({"values": np.array([[1.0, np.inf], [0.0, 0.0]])}, r"signal 'b': inf at time 0\.0 s"),
        ({"values": np.zeros((2, 3))}, r"values \(2, 3\), with 2 names"),
        ({"time": np.zeros(0), "values": np.zeros((0, 2))}, "n >= 1"),
        ({"names": ("a", "a")}, "the name 'a' appears more than once"),
        ({"names": ("a", "time")}, "this name belongs to the first column"),
        ({"units": {"c": "m"}}, "'c' is not a column of the trace"),
        ({"events": {"a.touch[1]": float("nan")}}, r"event 'a.touch\[1\]': nan"),
    ],
)
def test_a_trace_that_could_not_be_read_back_is_never_made(change: dict[str, object], message: str) -> None:
    good: dict[str, object] = {
        "time": np.array([0.0, 1.0]),
        "names": ("a", "b"),
        "values": np.zeros((2, 2)),
        "units": {},
    }
    Trace(**good)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=message):
        Trace(**{**good, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize("fails_at", [1, 2, 3])
@pytest.mark.parametrize("existing", [False, True])
def test_a_failed_write_leaves_both_targets_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, existing: bool, fails_at: int
) -> None:
    """Moves are counted: 1 the JSON file, 2 the CSV file; at 3 none is left and the write succeeds."""
    path = tmp_path / "trace.csv"
    if existing:
        write_trace(small_trace(), path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    moves = 0
    move = Path.replace

    def failing(source: Path, target: Path) -> Path:
        nonlocal moves
        moves += 1
        if moves == fails_at:
            raise PermissionError(13, "Permission denied")
        return move(source, target)

    other = Trace(np.array([0.0]), ("x",), np.array([[1.0]]), {"x": "N"})
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", failing)
        if fails_at == 3:
            write_trace(other, path)
        else:
            with pytest.raises(ToolError, match=r"trace\.csv: cannot be written: Permission denied"):
                write_trace(other, path)
    after = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    if fails_at == 3:
        assert sorted(after) == ["trace.csv", "trace.csv.json"]
        assert read_trace(path).names == ("x",)
    else:
        assert after == before


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_text = Path.write_text

    def full_disk(path: Path, text: str, **options: str) -> int:
        write_text(path, text[: len(text) // 2], **options)
        if ".csv.json" in path.name:
            return len(text)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full_disk)
    with pytest.raises(ToolError, match="No space left on device"):
        write_trace(small_trace(), tmp_path / "trace.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_a_fault_of_the_place_and_a_strange_provenance_of_the_input(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="No such file or directory"):
        write_trace(small_trace(), tmp_path / "missing" / "trace.csv")
    trace = small_trace()
    for strange in (object(), float("nan")):
        broken = Trace(trace.time, trace.names, trace.values, trace.units, {}, {"solver": strange})
        with pytest.raises(InputError, match="may hold text, finite numbers, lists and tables only"):
            write_trace(broken, tmp_path / "trace.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_path_may_be_a_text_as_elsewhere(tmp_path: Path) -> None:
    write_trace(small_trace(), f"{tmp_path}/small.csv")
    assert str(read_trace(f"{tmp_path}/small.csv")) == str(read_trace(tmp_path / "small.csv"))
