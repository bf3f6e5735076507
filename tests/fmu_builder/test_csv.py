"""One rule for the separator of CSV files, and one for the units in their headers.  Plans: test_study.py, drives:
test_master.py, measurements: test_measurement.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fmu_builder.cosim.trace import read_trace
from fmu_builder.errors import InputError
from fmu_builder.files import csv_reader, csv_separator
from fmu_builder.headers import split_header
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


@pytest.mark.parametrize(
    ("header", "name", "unit"),
    [
        ("z [mm]", "z", "mm"),
        (" z[mm] ", "z", "mm"),
        ("z (mm)", "z", "mm"),
        ("z(mm)", "z", "mm"),
        ("z / mm", "z", "mm"),
        ("v / (m/s)", "v", "(m/s)"),
        ("v (m/(s.rad))", "v", "m/(s.rad)"),
        ("M / N m", "M", "N m"),
        ("v [m / s]", "v", "m / s"),
        ("a / b [mm]", "a / b", "mm"),
        ("[mm]", "", "mm"),
        ("mu []", "mu", None),
        ("mu [1]", "mu", "1"),
        ("z", "z", None),
        ("a/b", "a/b", None),
        ("point.r[1]", "point.r[1]", None),
        ("m[1,2]", "m[1,2]", None),
        ("floor.point.f[3] [N]", "floor.point.f[3]", "N"),
        ("floor.point.f[3] / kN", "floor.point.f[3]", "kN"),
        ("Sensor (2)", "Sensor (2)", None),
        ("der(x)", "der(x)", None),
        ("body.der(s)", "body.der(s)", None),
        ("der(der(x)) [m/s2]", "der(der(x))", "m/s2"),
        ("der(x) (mm/s)", "der(x)", "mm/s"),
        ("F(t)", "F(t)", None),
        ("F(t) / kN", "F(t)", "kN"),
        ("x [mm", "x [mm", None),
        ("x mm)", "x mm)", None),
        ("", "", None),
    ],
)
def test_a_header_is_a_name_with_a_unit_in_all_spellings(header: str, name: str, unit: str | None) -> None:
    assert split_header(header) == (name, unit)


def test_an_index_of_one_is_a_unit_where_names_have_none() -> None:
    assert split_header("d[1]", indexed=False) == ("d", "1")


@pytest.mark.parametrize("spelling", ["{} [{}]", "{}[{}]", "{} ({})", "{}({})", "{} / {}"])
def test_all_tables_read_all_spellings(tmp_path: Path, spelling: str) -> None:
    """A law, points of a surface, heights in rows; drives are in test_master.py, plans in test_study.py."""
    (tmp_path / "table.csv").write_text(f"{spelling.format('h', 'mm')},{spelling.format('F', 'kN')}\n0,0\n1,2\n")
    law = read_table(tmp_path / "Law.toml", {"table": "table.csv"}, "law")
    assert (law.x, law.y) == ((0.0, 1e-3), (0.0, 2e3))
    points = "\n".join(f"{i},{j},{i + j * j}" for j in range(4) for i in range(4))
    rows = "\n".join(",".join(str(i + j * j) for i in range(4)) for j in range(4))
    placed = 'x = ["0 mm", "3 mm"]\ny = ["0 mm", "3 mm"]\n'
    recipe = tmp_path / "Field.toml"
    found = []
    for form in ("{} [{}]", spelling):
        x, y, z = (form.format(name, "mm") for name in "xyz")
        for text, ends in ((f"{x},{y},{z}\n{points}", ""), (f"{z}\n{rows}", placed)):
            (tmp_path / "heights.csv").write_text(text)
            recipe.write_text(
                'element = "point_surface"\n[surface]\nkind = "height_field"\nheights = "heights.csv"\n' + ends
            )
            found.append(load_model(recipe).constants)
    assert all(found) and found[:2] == found[2:]


def test_a_column_without_a_unit_beside_others_with_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rail.csv").write_text("x [mm],y,z [mm]\n0,0,0\n100,0,0\n")
    recipe = tmp_path / "Rail.toml"
    recipe.write_text('element = "point_line_2"\n[line]\npoints = "rail.csv"\n')
    with pytest.raises(InputError) as caught:
        load_model(recipe)
    (problem,) = caught.value.problems
    assert problem.where == f"{tmp_path / 'rail.csv'}: line 1"
    assert problem.what == "column 'y' has no unit beside columns with one: name it too, as y [mm]"


def test_every_faulty_unit_of_a_header_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "rail.csv").write_text("x (foo),y [s],z [mm]\n0,0,0\n100,0,0\n200,0,0\n")
    recipe = tmp_path / "Rail.toml"
    recipe.write_text('element = "point_line_2"\n[line]\npoints = "rail.csv"\n')
    with pytest.raises(InputError) as caught:
        load_model(recipe)
    assert [str(one).partition("line 1: ")[2][:16] for one in caught.value.problems] == [
        "column 'x (foo)'",
        "column 'y [s]' =",
    ]


RAIL = 'element = "point_line_2"\n[line]\npoints = "p.csv"\n'
VASE = 'element = "point_surface"\n[surface]\nkind = "revolution"\nprofile = "p.csv"\n'
BAR = 'element = "point_surface"\n[surface]\nkind = "extrusion"\nprofile = "p.csv"\n'
ROAD = 'element = "point_surface"\n[surface]\nkind = "height_field"\nheights = "p.csv"\n'
PATCH = 'element = "point_surface"\n[surface]\nkind = "patch"\nsize = [4, 4]\ncontrol = "p.csv"\n'


def geometry(folder: Path, recipe: str, text: str) -> object:
    """What a recipe makes of a file of points."""
    (folder / "p.csv").write_text(text, encoding="utf-8")
    (folder / "Recipe.toml").write_text(recipe, encoding="utf-8")
    return load_model(folder / "Recipe.toml").constants


@pytest.mark.parametrize(
    ("recipe", "text", "columns"),
    [
        (RAIL, "0,0,0\n0.1,0,0\n0.2,0,0.01\n", ": x, y, z"),
        (RAIL, "0 mm, 0 mm, 0 mm\n100 mm, 0 mm, 0 mm\n", ": x, y, z"),
        (RAIL, "0,0;0;0\n0,1;0;0\n", ": x, y, z"),
        (RAIL, "0,nan,\n0.1,0,0\n", ": x, y, z"),
        (VASE, "0.06,0\n0.09,0.06\n0.07,0.14\n", ": p, z"),
        (BAR, "0.06,-1e-3\n0.09,0.06\n0.07,0.14\n", ": x, y"),
        (PATCH, "0,0,0,1\n" * 16, ": x, y, z, weight"),
        (ROAD, "0,0,0\n1,0,0\n0,1,0\n1,1,0\n", ": x, y, z of points; or z alone, as z [mm], above rows of heights"),
        (
            ROAD + "x = [0, 1]\ny = [0, 1]\n",
            "0,0,0\n0,0,0\n0,0,1\n",
            ": x, y, z of points; or z alone, as z [mm], above rows of heights",
        ),
    ],
)
def test_the_first_point_is_never_taken_for_a_header(tmp_path: Path, recipe: str, text: str, columns: str) -> None:
    with pytest.raises(InputError) as caught:
        geometry(tmp_path, recipe, text)
    (problem,) = caught.value.problems
    assert str(problem) == f"{tmp_path / 'p.csv'}: line 1: holds numbers; it must name the columns{columns}"


@pytest.mark.parametrize(
    ("recipe", "one", "other"),
    [
        (RAIL, "x [m],y [m],z [m]\n0,0,0\n0.1,0,0\n0.2,0,0.01\n", "Z [cm],Y [m],X [m]\n0,0,0\n0,0,0.1\n1,0,0.2\n"),
        (VASE, "p [m],z [m]\n0.06,0\n0.09,0.06\n", "z [m],r [mm]\n0,60\n0.06,90\n"),
        (VASE, "p [m],z [m]\n0.06,0\n0.09,0.06\n", "radius [m],height [m]\n0.06,0\n0.09,0.06\n"),
        (BAR, "x,y\n0.06,0\n0.09,0.06\n", "y,x\n0,0.06\n0.06,0.09\n"),
        (ROAD, "x,y,z\n0,0,5\n2,0,6\n0,1,7\n2,1,9\n", "z,x,y\n5,0,0\n6,2,0\n7,0,1\n9,2,1\n"),
        (
            PATCH,
            "x [m],y [m],z [m],weight\n" + "".join(f"{k // 4},{k % 4},{k / 8},{1 + k}\n" for k in range(16)),
            "w [%],z [m],y [m],x [m]\n" + "".join(f"{100 + 100 * k},{k / 8},{k % 4},{k // 4}\n" for k in range(16)),
        ),
    ],
)
def test_known_names_sort_the_columns(tmp_path: Path, recipe: str, one: str, other: str) -> None:
    assert geometry(tmp_path, recipe, one) == geometry(tmp_path, recipe, other)


@pytest.mark.parametrize(
    ("recipe", "header", "faults"),
    [
        (VASE, "z,height", ["column 'z' stands in the place of p, and others have names that are not known"]),
        (RAIL, "x,z,height", ["column 'z' stands in the place of y, and others have names that are not known"]),
        (RAIL, "x,X [m],z", ["column 'X' names the same as one before it"]),
        (VASE, "p,r", ["column 'r' names the same as one before it"]),
    ],
)
def test_known_names_that_are_exchanged_are_refused(
    tmp_path: Path, recipe: str, header: str, faults: list[str]
) -> None:
    with pytest.raises(InputError) as caught:
        geometry(tmp_path, recipe, header + "\n" + ",".join("0" * (header.count(",") + 1)) + "\n")
    names = "p, z" if recipe == VASE else "x, y, z"
    where = f"{tmp_path / 'p.csv'}: line 1"
    assert list(map(str, caught.value.problems)) == [
        f"{where}: {fault}: name the columns {names}, in any order" for fault in faults
    ]
