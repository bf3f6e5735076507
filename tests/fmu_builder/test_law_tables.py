"""Laws given by points."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import PchipInterpolator

from fmu_builder.errors import InputError
from fmu_builder.laws.tables import LawTable, read_table

POINTS = "h [mm], F [kN]\n0, 0\n1, 0.5\n2, 2\n\n4, 3\n"


def table(folder: Path, text: str = POINTS, **entry: object) -> LawTable:
    (folder / "force.csv").write_text(text, encoding="utf-8")
    return read_table(folder / "Pad.toml", {"table": "force.csv", **entry}, "Pad.toml: [functions] C_F")


def test_points_are_read_in_their_units(tmp_path: Path) -> None:
    read = table(tmp_path)
    assert (read.x, read.y) == ((0.0, 0.001, 0.002, 0.004), (0.0, 500.0, 2000.0, 3000.0))
    assert (read.name, read.unit.name, read.value_unit.name) == ("h", "mm", "kN")


def test_between_the_points_a_table_is_linear_or_a_monotone_cubic(tmp_path: Path) -> None:
    h = np.linspace(0.0, 0.004, 41)
    linear = table(tmp_path)
    assert linear.at(h)[0] == pytest.approx(np.interp(h, linear.x, linear.y), rel=1e-14, abs=1e-12)
    cubic = table(tmp_path, interpolation="pchip")
    exact = PchipInterpolator(cubic.x, cubic.y)
    assert cubic.at(h)[0] == pytest.approx(exact(h), rel=1e-14, abs=1e-12)
    assert cubic.at(h)[1] == pytest.approx(exact(h, 1), rel=1e-12)
    assert np.all(np.diff(cubic.at(h)[0]) > 0.0)


@pytest.mark.parametrize("interpolation", ["linear", "pchip"])
def test_outside_of_its_points_a_table_holds_goes_on_or_has_no_value(tmp_path: Path, interpolation: str) -> None:
    beyond = np.array([-0.001, 0.005])
    hold = table(tmp_path, interpolation=interpolation)
    assert [*hold.at(beyond)[0]] == [0.0, 3000.0] and [*hold.at(beyond)[1]] == [0.0, 0.0]
    line = table(tmp_path, interpolation=interpolation, outside="linear")
    first, last = line.end_slopes
    assert [*line.at(beyond)[0]] == pytest.approx([-0.001 * first, 3000.0 + 0.001 * last])
    if interpolation == "linear":
        assert (first, last) == pytest.approx((5e5, 5e5))
    assert np.all(np.isnan(table(tmp_path, interpolation=interpolation, outside="error").at(beyond)[0]))
    assert not np.any(np.isnan(table(tmp_path, outside="error").at(np.array([0.0, 0.004]))[0]))


@pytest.mark.parametrize("interpolation", ["linear", "pchip"])
def test_the_integrals_at_the_points_are_those_of_quadrature(tmp_path: Path, interpolation: str) -> None:
    read = table(tmp_path, interpolation=interpolation)
    for x, integral in zip(read.x, read.integrals, strict=True):
        exact = quad(lambda h: float(read.at(np.array(h))[0]), 0.0, x, points=[0.001, 0.002], epsabs=1e-13)[0]
        assert integral == pytest.approx(exact, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("h [mm], F [N]\n0, 0\n1, 2\n1, 3\n", "force.csv, line 4", "h is the same as in the line before"),
        ("h [mm], F [N]\n0, 0\n2, 2\n1, 3\n", "force.csv, line 4", "h is smaller than in the line before; sort"),
        ("h [mm], F [N]\n0, 0\n1, nan\n", "force.csv, line 3", "'nan' is not finite"),
        ("h [mm], F [N]\n0, 0\n1, -inf\n", "force.csv, line 3", "'-inf' is not finite"),
        ("h [mm], F [N]\n0, 0\n1, x\n", "force.csv, line 3", "'x' is no number"),
        ("h [mm], F [N]\n0, 0\n1\n", "force.csv, line 3", "1 values; 2 are needed"),
        ("h [mm], F [N]\n0, 0\n", "force.csv", "1 point; at least 2 are needed"),
        ("h [mm], F [M]\n0, 0\n1, 1\n", "force.csv, line 1", "'M': the symbol 'M' is unknown"),
        (
            "0, 0\n1, 1\n",
            "force.csv, line 1",
            "holds numbers; it must name the columns with their units",
        ),
        ("h, F, G\n0, 0, 0\n", "force.csv, line 1", "3 columns; the header must name two"),
        ("", "force.csv, line 1", "0 columns"),
    ],
)
def test_a_faulty_table_is_refused_with_file_and_line(tmp_path: Path, text: str, where: str, what: str) -> None:
    with pytest.raises(InputError) as caught:
        table(tmp_path, text)
    told = [str(problem).replace(f"{tmp_path}/", "") for problem in caught.value.problems]
    assert any(one.startswith(f"{where}: ") and what in one for one in told), told


def test_an_entry_with_unknown_words_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        table(tmp_path, interpolation="cubic", outside="zero", outsid="hold")
    told = [str(problem) for problem in caught.value.problems]
    assert told == [
        "Pad.toml: [functions] C_F outsid: this key is unknown; did you mean 'outside'?",
        "Pad.toml: [functions] C_F interpolation: 'cubic' is none of linear, pchip",
        "Pad.toml: [functions] C_F outside: 'zero' is none of hold, error, linear; did you mean 'error'?",
    ]
    with pytest.raises(InputError, match=r"^Pad\.toml: \[functions\] C_F table: there is no file .*none\.csv"):
        read_table(tmp_path / "Pad.toml", {"table": "none.csv"}, "Pad.toml: [functions] C_F")
    with pytest.raises(InputError, match="table: 5 must be the name of a CSV file"):
        read_table(tmp_path / "Pad.toml", {"table": 5}, "Pad.toml: [functions] C_F")
