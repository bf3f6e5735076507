"""Measured files of any make become signals, and what is wrong with them or with their map is named at once."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from fmu_builder.cli.commands import app
from fmu_builder.cosim.comparison import Tolerance
from fmu_builder.cosim.mapped_comparison import compare_measurement, compare_with_map
from fmu_builder.cosim.measurement import Measurement, read_measurement
from fmu_builder.cosim.trace import Trace, write_trace
from fmu_builder.errors import InputError
from fmu_builder.model.mapping import MeasurementMap, read_map

UNITS = {"ball.height": "m", "ball.velocity": "m/s", "floor.temperature": "degC", "axis.speed": "rad/s"}
PLAIN = {"columns": {"z": "ball.height"}}


def read(tmp_path: Path, text: str, table: dict[str, object] | None = None) -> Measurement:
    path = tmp_path / "measured.csv"
    path.write_text(text, encoding="utf-8")
    return read_measurement(path, MeasurementMap.model_validate(table or PLAIN), UNITS, "map.toml: ")


@pytest.mark.parametrize(
    "text",
    [
        "t,z\n0,1\n0.5,2\n",
        "t [s];z [m]\n0;1\n0,5;2\n",
        "t [ms]\tz [mm]\n0\t1000\n500\t2000\n",
        "t z\n0 1\n0.5 2\n",
        "# logger 7\n% run 3\nt,z (mm)\n\n0,1000\n// a remark\n500e-3,2e3\n",
        "# t, z [mm]\n0,1000\n0.5,2000\n",
        "t;z\n[ms];[mm]\n0;1000\n500;2000\n",
        "\ufefft,z / cm,\n0,100,\n0.5,200,\n",
        '"t [s]","z [mm]"\r\n0,1000\r\n0.5,2000\r\n',
        "z,t\n",
    ],
)
def test_one_motion_is_read_from_files_of_many_makes(tmp_path: Path, text: str) -> None:
    if text == "z,t\n":  # the time in another column
        found = read(tmp_path, "z,t\n1,0\n2,0.5\n", {"time": "t", **PLAIN})
    else:
        found = read(tmp_path, text)
    (column,) = found.columns
    assert column.time == pytest.approx([0.0, 0.5], abs=1e-15)
    assert column.values == pytest.approx([1.0, 2.0], rel=1e-15)
    assert (column.signal, column.unit) == ("ball.height", "m")


def test_a_gap_leaves_out_a_sample_of_its_column_alone(tmp_path: Path) -> None:
    table = {"columns": {"z": "ball.height", "v": "ball.velocity"}}
    found = read(tmp_path, "t,z,v\n0,1,nan\n1,,5\n2,-,6\n3,NA,7\n4,5,8\n", table)
    z, v = found.columns
    assert (list(z.time), list(z.values)) == ([0.0, 4.0], [1.0, 5.0])
    assert (list(v.time), list(v.values)) == ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0])
    assert [note.partition(": ")[2] for note in found.notes] == [
        "3 of 5 rows have no value of 'z'; they are left out",
        "1 of 5 rows have no value of 'v'; they are left out",
    ]


def test_scale_offset_and_deviation_are_in_the_unit_of_the_signal(tmp_path: Path) -> None:
    entry = {"signal": "ball.height", "unit": "mm", "scale": -1, "offset": "120 cm", "deviation": "2 mm", "weight": 3}
    (column,) = read(tmp_path, "t,dist [in]\n0,200\n", {"columns": {"dist": entry}}).columns
    assert column.values == pytest.approx([1.0])  # the unit of the table counts, not that of the header
    assert (column.deviation, column.weight) == (pytest.approx(2e-3), 3.0)


@pytest.mark.parametrize(("line", "text"), [(2, "t,z\n0,HUGE\n1,2\n"), (1, "t,zHUGE\n0,1\n"), (1, "# t,zHUGE\n0,1\n")])
def test_a_cell_that_no_csv_file_has_is_refused_with_its_line(tmp_path: Path, line: int, text: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text.replace("HUGE", "1" * 140_000))
    (problem,) = caught.value.problems
    assert problem.where == f"{tmp_path / 'measured.csv'}: line {line}"


@pytest.mark.parametrize(
    ("unit", "given", "expected"),
    [
        ("mm", 2, 2.0),
        ("mm", "2", 2.0),
        ("mm", " +2.0e0 ", 2.0),
        ("mm", "2 m", 2000.0),
        ("mm", "2 [mm]", 2.0),
        ("K", "2 degC", 2.0),
        ("degC", "2 K", 2.0),
        ("degC", "2", 2.0),
    ],
)
def test_a_difference_is_in_the_unit_of_the_signal_and_has_no_zero_of_a_unit(
    tmp_path: Path, unit: str, given: float | str, expected: float
) -> None:
    path = tmp_path / "measured.csv"
    path.write_text("t,z\n0,0\n", encoding="utf-8")
    table = {"columns": {"z": {"signal": "floor.level", "offset": given, "deviation": given}}}
    (column,) = read_measurement(path, MeasurementMap.model_validate(table), {"floor.level": unit}, "").columns
    assert (column.values[0], column.deviation) == (
        pytest.approx(expected, rel=1e-15),
        pytest.approx(expected, rel=1e-15),
    )


def test_a_temperature_in_kelvin_is_converted_with_its_offset(tmp_path: Path) -> None:
    (column,) = read(tmp_path, "t,T [K]\n0,300\n", {"columns": {"T": "floor.temperature"}}).columns
    assert column.values == pytest.approx([26.85])


def test_a_signal_without_a_unit_is_taken_in_si(tmp_path: Path) -> None:
    path = tmp_path / "measured.csv"
    path.write_text("t,z [mm],n\n0,1500,3\n")
    table = MeasurementMap.model_validate({"columns": {"z": "height", "n": "count"}})
    z, n = read_measurement(path, table, {"height": "", "count": ""}, "map.toml: ").columns
    assert (z.values[0], z.unit) == (1.5, "m") and (n.values[0], n.unit) == (3.0, "1")


def test_everything_that_is_wrong_with_a_map_is_named_at_once(tmp_path: Path) -> None:
    columns = {
        "zz": "ball.height",
        "z": "ball.hight",
        "v": {"signal": "ball.velocity", "unit": "mm"},
        "n": {"signal": "axis.speed", "deviation": "0 rad/s"},
        "e": "ball.height",
    }
    offset = {"min": "3 ms", "max": "1 ms"}
    with pytest.raises(InputError) as caught:
        read(tmp_path, "t,z,v,n [Hz],e\n0,1,2,3,nan\n", {"time_offset": offset, "columns": columns})
    assert [(p.where, p.what) for p in caught.value.problems] == [
        ("map.toml: time_offset", "min = 0.003 s must be less than max = 0.001 s; exchange them"),
        ("map.toml: columns 'zz'", f"{tmp_path}/measured.csv has no such column; did you mean 'z'?"),
        ("map.toml: columns 'z'", "the run has no signal 'ball.hight'; did you mean 'ball.height'?"),
        (
            "map.toml: columns 'v' unit",
            "'mm' has the dimension m, but ball.velocity is in m/s (m.s-1); give the unit of the column, or another "
            "signal",
        ),
        (
            "map.toml: columns 'n' unit",
            "'Hz' has the dimension s-1, but axis.speed is in rad/s (s-1.rad); give the unit of the column, or another "
            "signal",
        ),
        ("map.toml: columns 'e'", f"{tmp_path}/measured.csv holds no number in this column; name another one"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no rows of numbers"),
        ("t,z\n", "has no rows of numbers"),
        ("0,1\n1,2\n", "line 1: holds numbers; a line above them must name the columns, such as t [s]; z [mm]"),
        ("t,z\n0,1\n1\n", "line 3: has 1 cells; the header names 2 columns"),
        ("t,z\n0,1\n1,abc\n", "line 3, column 'z': 'abc' is neither a number nor a gap (empty, nan, NA, -)"),
        ("t,z\n0,1\n1,1e999\n", "line 3, column 'z': '1e999' is neither a number nor a gap"),
        ("t,z\n1,1\n0,1\n", "line 3: time 0 s is below 1 s of line 2; sort the rows by time"),
        ("t [N],z\n1,1\n", "column 't [N]': is in N (kg.m.s-2), so is not the time; name its column by `time`"),
        ("t,z,z\n1,1,2\n", "columns 'z': "),
    ],
)
def test_what_is_wrong_with_a_file_is_named_by_line_and_column(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)


def test_a_file_of_a_thousand_faults_shows_twenty(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, "t,z\n" + "x,y\n" * 500)
    assert len(caught.value.problems) == 21
    assert str(caught.value.problems[-1]) == "and 980 further faults"


@pytest.mark.parametrize("scale", ["0", "-0.0"])
def test_a_scale_of_0_is_refused(tmp_path: Path, scale: str) -> None:
    (tmp_path / "map.toml").write_text(f'[columns]\nz = {{ signal = "ball.height", scale = {scale} }}\n')
    with pytest.raises(InputError, match=r"map.toml: \[columns.z\] scale: .* must not be 0"):
        read_map(tmp_path / "map.toml")


def test_unknown_keys_of_a_map_are_refused(tmp_path: Path) -> None:
    (tmp_path / "map.toml").write_text('tme = "t"\n[columns]\nz = { signl = "ball.height" }\nv = 3\n')
    with pytest.raises(InputError) as caught:
        read_map(tmp_path / "map.toml")
    text = str(caught.value)
    assert "tme: this key is unknown; did you mean 'time'?" in text
    assert "signal: this key is missing" in text and "v: 3: must be the name of a signal, or a table" in text


# --- compare ---------------------------------------------------------------------------------------------------------

TIME = np.linspace(0.0, 2.0, 2001)
FALL = Trace(TIME, ("ball.height",), (np.sin(3.0 * TIME))[:, None], {"ball.height": "m"})


def measured(tmp_path: Path, time: np.ndarray, values: np.ndarray, **more: object) -> Measurement:
    rows = "".join(f"{t!r},{v!r}\n" for t, v in zip(time.tolist(), values.tolist(), strict=True))
    return read(tmp_path, "t,z [mm]\n" + rows, {**PLAIN, **more})


def test_rms_and_largest_error_are_those_of_the_samples(tmp_path: Path) -> None:
    time = TIME[5:1995:10]
    error = np.where(np.arange(len(time)) % 2 == 0, 3.0, -1.0)  # mm
    error[7] = 20.0
    found = compare_measurement(
        FALL, measured(tmp_path, time, 1e3 * np.sin(3.0 * time) + error), Tolerance(absolute=0.021)
    )
    (column,) = found.columns
    assert column.rms == pytest.approx(1e-3 * np.sqrt(np.mean(error**2)), rel=1e-9)
    assert (column.error, column.time) == (pytest.approx(20e-3, rel=1e-9), pytest.approx(time[7]))
    assert (
        found.passed
        and not compare_measurement(
            FALL, measured(tmp_path, time, 1e3 * np.sin(3.0 * time) + error), Tolerance(absolute=0.0199)
        ).passed
    )


@pytest.mark.parametrize("offset", [-0.05, 0.0, 0.0123])
def test_an_unknown_offset_in_time_is_found(tmp_path: Path, offset: float) -> None:
    time = np.arange(0.1, 1.9, 0.0131)
    given = measured(tmp_path, time - offset, 1e3 * np.sin(3.0 * time), time_offset={"min": "-100 ms", "max": "100 ms"})
    found = compare_measurement(FALL, given, Tolerance(absolute=1e-5))
    assert found.offset == pytest.approx(offset, abs=1e-6)
    assert found.offset_is_fitted and found.passed and found.left_out == 0


def test_samples_outside_of_the_trace_fail_a_comparison_unless_it_is_allowed(tmp_path: Path) -> None:
    time = np.arange(1.0, 3.0, 0.01)
    given = measured(tmp_path, time, 1e3 * np.sin(3.0 * time))
    assert not compare_measurement(FALL, given, Tolerance(absolute=1e-3)).passed
    found = compare_measurement(FALL, given, Tolerance(absolute=1e-3), overlap=True)
    assert found.passed and found.left_out == 99  # 2.01 s and later
    with pytest.raises(InputError, match="no time in common; correct time_offset"):
        compare_measurement(FALL, measured(tmp_path, time + 5.0, time), Tolerance())
    short = np.array([0.0, 0.02])  # within the trace with some of these offsets, with none of them all the time
    wide = measured(tmp_path, short, short, time_offset={"min": "-30 ms", "max": "30 ms"})
    with pytest.raises(InputError, match="s: no time in common with each of these offsets; narrow or"):
        compare_measurement(FALL, wide, Tolerance())


def test_compare_takes_a_map(tmp_path: Path) -> None:
    write_trace(FALL, tmp_path / "trace.csv")
    time = np.arange(0.0005, 2.0, 0.01)  # between the samples of the trace, which is linear there
    measured(tmp_path, time, 1e3 * np.sin(3.0 * time))
    (tmp_path / "map.toml").write_text('[columns]\nz = "ball.height"\n')
    files = [str(tmp_path / name) for name in ("trace.csv", "measured.csv")]
    arguments = ["compare", *files, "--map", str(tmp_path / "map.toml")]
    done = CliRunner().invoke(app, [*arguments, "--json"])
    found = json.loads(done.output)
    assert done.exit_code == 0 and found["passed"]
    assert found["columns"][0]["signal"] == "ball.height" and 0.0 < found["columns"][0]["rms"] < 2e-6
    shown = CliRunner().invoke(app, [*arguments, "--relative", "1e-9"])
    assert shown.exit_code == 1 and "FAILED" in shown.output and "time offset 0 s (given)" in shown.output
    refused = CliRunner().invoke(app, [*arguments, "--time", "0.1"])
    assert "a map shifts the time" in str(refused.exception)
    with pytest.raises(InputError) as caught:
        compare_with_map(tmp_path / "no.csv", tmp_path / "measured.csv", tmp_path / "none.toml", Tolerance())
    assert len(caught.value.problems) == 2
