"""One entry for many parts or slaves: what it stands for, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fmu_builder.errors import InputError
from fmu_builder.model.assembly_format import read_assembly
from fmu_builder.model.loader import load_assembly
from fmu_builder.model.scenario import read_scenario

CHAIN = """
description = "A row"
connections = [["mass[i].p", "spring[i].r"], ["mass[i].p", "spring[i+1].c"]]
[parts]
mass = { recipe = "SliderMass", count = 3, start = { m = 2 } }
spring = { recipe = "TranslationalSpring", count = 4 }
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "Row.toml"
    path.write_text(text, encoding="utf-8")
    return path


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_assembly(write(folder, text))
    return [str(problem) for problem in caught.value.problems]


def test_parts_and_connections_are_counted_from_one(tmp_path: Path) -> None:
    recipe = read_assembly(write(tmp_path, CHAIN))
    assert list(recipe.parts) == [*(f"mass[{i}]" for i in (1, 2, 3)), *(f"spring[{i}]" for i in (1, 2, 3, 4))]
    assert all(recipe.parts[f"mass[{i}]"].start == {"m": 2} for i in (1, 2, 3))
    assert recipe.connections == [
        *((f"mass[{i}].p", f"spring[{i}].r") for i in (1, 2, 3)),
        *((f"mass[{i}].p", f"spring[{i + 1}].c") for i in (1, 2, 3)),
    ]


@pytest.mark.parametrize(
    ("pair", "ends"),
    [
        ('["mass[i+1].p", "spring[i].r"]', [(2, 1), (3, 2)]),
        ('["mass[i].p", "spring[ i - 1 ].r"]', [(2, 1), (3, 2)]),
        ('["mass[i-1].p", "spring[i+2].r"]', [(1, 4)]),
        ('["mass[i].p", "spring[1].r"]', [(1, 1), (2, 1), (3, 1)]),
        ('["mass[2].p", "spring[4].r"]', [(2, 4)]),
    ],
)
def test_i_runs_as_far_as_both_ends_exist(tmp_path: Path, pair: str, ends: list[tuple[int, int]]) -> None:
    text = CHAIN.replace('["mass[i].p", "spring[i].r"], ["mass[i].p", "spring[i+1].c"]', pair)
    recipe = read_assembly(write(tmp_path, text))
    assert recipe.connections == [(f"mass[{a}].p", f"spring[{b}].r") for a, b in ends]


def test_i_counts_the_variables_of_one_part_along(tmp_path: Path) -> None:
    text = """
connections = [["ball[i].p", "floor.point[i]"]]
[parts]
ball = { recipe = "PointMass", count = 3 }
floor = "ThreePoints"
"""
    assert [b for _, b in read_assembly(write(tmp_path, text)).connections] == [f"floor.point[{i}]" for i in (1, 2, 3)]


def test_one_of_many_can_be_different_and_stays_in_its_place(tmp_path: Path) -> None:
    recipe = read_assembly(write(tmp_path, CHAIN + '"mass[2]" = { recipe = "Other", start = { m = 5 } }\n'))
    assert list(recipe.parts)[:3] == ["mass[1]", "mass[2]", "mass[3]"]
    assert recipe.parts["mass[2]"].recipe == "Other"
    assert [recipe.parts[f"mass[{i}]"].start["m"] for i in (1, 2, 3)] == [2, 5, 2]


def test_many_may_stand_one_by_one(tmp_path: Path) -> None:
    text = CHAIN.replace(
        'mass = { recipe = "SliderMass", count = 3, start = { m = 2 } }',
        "\n".join(f'"mass[{i}]" = {{ recipe = "SliderMass", start = {{ m = 2 }} }}' for i in (1, 2, 3)),
    )
    assert '"mass[3]"' in text
    found, counted = (read_assembly(write(tmp_path, one)) for one in (text, CHAIN))
    assert (found.parts, found.connections) == (counted.parts, counted.connections)


def test_exposed_names_are_counted_too(tmp_path: Path) -> None:
    exposed = '[expose.outputs]\n"position[i]" = "mass[i].p.s"\n"force[i]" = "spring[i].F"\n'
    model = load_assembly(write(tmp_path, CHAIN + exposed))
    outputs = [v.name for v in model.variables if v.is_output]
    assert outputs == ["position[1]", "position[2]", "position[3]", "force[1]", "force[2]", "force[3]", "force[4]"]


def test_slaves_and_the_signals_of_a_reference_are_counted(tmp_path: Path) -> None:
    text = CHAIN.replace(
        "[parts]",
        """
[experiment]
stop = 1
step = 0.1
[reference]
file = "x.csv"
source = "nowhere at all"
signals."mass[i].p.v" = { absolute = 1 }
[slaves]
""",
    )
    scenario = read_scenario(write(tmp_path, text))
    assert len(scenario.slaves) == 7 and len(scenario.connections) == 6
    assert scenario.reference is not None
    assert list(scenario.reference.signals) == [f"mass[{i}].p.v" for i in (1, 2, 3)]


@pytest.mark.parametrize("count", ["0", "-1", "2.5", "true", '"3"', "100001"])
def test_a_count_that_is_no_number_of_parts_is_refused(tmp_path: Path, count: str) -> None:
    text = CHAIN.replace("count = 4", f"count = {count}").replace('"spring[i].r"', '"spring.r"')
    (found,) = problems(tmp_path, text)  # what connections name is not known
    assert "[parts] spring" in found and "must be a whole number from 1 to 100000" in found


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ('["mas[i].p", "spring[i].r"]', "'mas' has no count: [i] stands behind the name of many; did you mean 'mass'?"),
        ('["mass[1].p", "spring[1].r[i]"]', "i has no range"),
        ('["mass[i].p", "spring[i+7].r"]', "there is no i with which all of these exist"),
        ('["mass[4].p", "spring[1].r"]', "there is no part 'mass[4]'"),
        ('["mass.p", "spring[1].r"]', "there is no part 'mass'"),
        ('["mass[i]x.p", "spring[i].r"]', "has no count"),
    ],
)
def test_a_connection_that_stands_for_nothing_is_refused_by_its_name(tmp_path: Path, pair: str, said: str) -> None:
    found = problems(tmp_path, CHAIN.replace('["mass[i].p", "spring[i].r"]', pair))
    assert len(found) == 1 and said in found[0] and "connections [mas" in found[0]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('"mass[4]" = "Other"', "there is mass[1] to mass[3]"),
        ('"mass[0]" = "Other"', "there is mass[1] to mass[3]"),
        ('"mass[01]" = "Other"', "there is mass[1] to mass[3]"),
        ('"body[2]" = "Other"', "there is no 'body' with a count, nor are there all from body[1] on"),
        ('body = "Other"\n"body[1]" = "Other"', "there is no 'body' with a count"),
        ('"mass[one]" = "Other"', "must be an identifier"),
    ],
)
def test_one_of_many_that_there_is_not_is_refused(tmp_path: Path, entry: str, said: str) -> None:
    found = problems(tmp_path, CHAIN + entry + "\n")
    assert len(found) == 1 and said in found[0]


def test_a_wrong_count_hides_no_other_fault(tmp_path: Path) -> None:
    wrong = 'stp = 1\n[parts]\nmass = { recipe = "SliderMass", count = 2.5, strt = 1 }\n'
    found = problems(tmp_path, wrong)
    assert len(found) == 3 and "count = 2.5 must be a whole number" in found[0]
    path = write(tmp_path, wrong.replace("parts", "slaves") + '[experiment]\nstop = "1 kg"\nstep = 1\n')
    with pytest.raises(InputError) as caught:
        read_scenario(path)
    text = str(caught.value)
    assert "count = 2.5 must be a whole number" in text and "[experiment] stop = '1 kg'" in text
    assert "strt: this key is unknown" in text and "stp: this key is unknown" in text


def test_a_misspelt_count_has_a_hint(tmp_path: Path) -> None:
    parts = '[parts]\nmass = { recipe = "SliderMass", cout = 3 }\nbody = { recipe = "SliderMass", number = 3 }\n'
    near, far = problems(tmp_path, parts)
    assert near.endswith("[parts.mass] cout: this key is unknown; did you mean 'count'?")
    assert "number: this key is unknown; known: call_limit, count, isolated" in far
