"""One rule for the separator of CSV files: points of laws and surfaces, and traces; of plans in test_study.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fmu_builder.cosim.trace import read_trace
from fmu_builder.files import csv_reader, csv_separator
from fmu_builder.laws.tables import read_table
from fmu_builder.model.loader import load_model

SEPARATORS = [",", ";", ", ", "; "]


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("time,x\n0,1\n", ","),
        ("time;x\n0;1\n", ";"),
        ("time;m[1,2]\n0;1\n", ";"),
        ('"time","a;b"\n0,1\n', ","),
        ("z [mm]\n0;1\n", ";"),
        ("z [mm]\n0,1\n", ","),
        ("z [mm]\n0\n1;2\n", ","),
        ("", ","),
    ],
)
def test_the_first_line_tells_the_separator_and_below_a_single_name_the_next(text: str, separator: str) -> None:
    assert csv_separator(text) == separator
    assert all(separator not in cell or "[" in cell for row in csv_reader(text) for cell in row if separator == ";")


@pytest.mark.parametrize("separator", SEPARATORS)
def test_traces_and_tables_of_laws_take_both(tmp_path: Path, separator: str) -> None:
    text = "x [m],F [N]\n0,1\n1,2.5\n".replace(",", separator)
    (tmp_path / "table.csv").write_text(text)
    law = read_table(tmp_path / "Law.toml", {"table": "table.csv"}, "law")
    assert (law.x, law.y) == ((0.0, 1.0), (1.0, 2.5))
    (tmp_path / "trace.csv").write_text(text.replace("x [m]", "time"))
    trace = read_trace(tmp_path / "trace.csv")
    assert [*trace.time] == [0.0, 1.0] and [*trace.values[:, 0]] == [1.0, 2.5]


@pytest.mark.parametrize(
    "text", ["x [m];F [N];\n0;1;\n1;2.5;\n", "x [m],F [N],\n0,1\n1,2.5, \n", "x [m],F [N]\n0,1,\n1,2.5\n"]
)
def test_a_separator_at_the_end_of_a_line_begins_no_column(tmp_path: Path, text: str) -> None:
    (tmp_path / "table.csv").write_text(text)
    law = read_table(tmp_path / "Law.toml", {"table": "table.csv"}, "law")
    assert (law.x, law.y) == ((0.0, 1.0), (1.0, 2.5))
    (tmp_path / "trace.csv").write_text(text.replace("x [m]", "time"))
    trace = read_trace(tmp_path / "trace.csv")
    assert trace.names == ("F [N]",) and [*trace.values[:, 0]] == [1.0, 2.5]


def test_a_value_that_is_missing_is_no_end_of_a_row() -> None:
    assert [*csv_reader("a,b\n1,\n,\n1,2,,\n")] == [["a", "b"], ["1", ""], ["", ""], ["1", "2", "", ""]]


@pytest.mark.parametrize("heights", ["x [mm],y [mm],z [mm]\n{points}", "z [mm]\n{rows}"])
def test_surfaces_take_both(tmp_path: Path, heights: str) -> None:
    """Points, and rows of heights below a single name."""
    z = [[round(float(np.sin(i) + j * j), 3) for i in range(4)] for j in range(4)]
    points = "\n".join(f"{i},{j},{z[j][i]}" for j in range(4) for i in range(4))
    rows = "\n".join(",".join(map(str, row)) for row in z)
    placed = "" if "{points}" in heights else 'x = ["0 mm", "3 mm"]\ny = ["0 mm", "3 mm"]\n'
    found = []
    for separator in SEPARATORS:
        (tmp_path / "heights.csv").write_text(heights.format(points=points, rows=rows).replace(",", separator))
        recipe = tmp_path / "Field.toml"
        recipe.write_text(
            'element = "point_surface"\n[surface]\nkind = "height_field"\nheights = "heights.csv"\n' + placed
        )
        found.append(load_model(recipe).constants)
    assert found[0] and all(one == found[0] for one in found)
