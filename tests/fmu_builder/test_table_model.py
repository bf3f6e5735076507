"""Models of tables: what structure.py reads by them, and what is wrong with a table that has one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from fmu_builder.model import In, Pair, Quantity, Reader, TableModel
from fmu_builder.model.toml_files import explain


class Pad(TableModel):
    thickness: Annotated[Quantity, In("m", above=0.0, below=1.0)] = Field(description="without load")
    angle: Annotated[Quantity, In(("rad", "1"), least=0.0)] = Field(default=0.5, description="or the slope")
    place: Annotated[Pair, In("m")] = Field(default=(1.0, 2.0), description="of its centre")
    edge: Annotated[Pair | None, In("m")] = Field(default=None, description="from and to")


def test_a_model_gives_keys_units_limits_and_defaults() -> None:
    read = Reader(Path("Pad.toml"), {"pad": {"thickness": "3 mm", "edge": ["1 cm", 1]}})
    table = read.table("pad", Pad)
    assert read.quantity(table, "thickness", default=0.1) == 0.003
    assert read.quantity(table, "angle", unit="rad") == 0.5
    assert read.vector(table, "place") == (1.0, 2.0)
    assert read.interval(table, "edge") == (0.01, 1.0)
    assert read.problems == []


def test_a_fault_in_a_list_without_a_name_is_named_by_its_entry() -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(list[Pad]).validate_python([{"thickness": 1}, {"thicknes": 1}])
    assert [str(problem) for problem in explain(Path("Pads.json"), caught.value, Pad)] == [
        "Pads.json: [entry 2] thickness: this key is missing",
        "Pads.json: [entry 2] thicknes: this key is unknown; did you mean 'thickness'?",
    ]


def test_faults_of_a_table_with_a_model_are_those_of_its_fields() -> None:
    read = Reader(Path("Pad.toml"), {"pad": {"angel": 1, "angle": "-1 deg", "place": [1]}})
    table = read.table("pad", Pad)
    assert read.quantity(table, "thickness", default=0.1) == 0.1
    assert read.quantity(table, "angle", unit="rad") == 0.5
    assert read.vector(table, "place") == (1.0, 2.0)
    assert [str(problem) for problem in read.problems] == [
        "Pad.toml: [pad] angel: this key is unknown; did you mean 'angle'?",
        "Pad.toml: [pad] thickness: this key is missing",
        "Pad.toml: [pad] angle: '-1 deg' is refused: it must be at least 0 rad",
        "Pad.toml: [pad] place: [1] is no list of 2 quantities",
    ]


def test_the_unit_that_other_keys_choose_is_that_of_messages() -> None:
    read = Reader(Path("Pad.toml"), {"pad": {"thickness": 1.5, "angle": -0.1}})
    table = read.table("pad", Pad)
    read.quantity(table, "thickness", default=0.1)
    read.quantity(table, "angle", unit="1")
    assert [problem.what for problem in read.problems] == [
        "1.5 is refused: it must be less than 1 m",
        "-0.1 is refused: it must be at least 0",
    ]


def test_kinds_of_a_table_need_the_word_and_the_keys_that_all_need() -> None:
    class Ring(TableModel):
        kind: Literal["ring"] = "ring"
        thickness: Annotated[Quantity, In("m")]
        radius: Annotated[Quantity, In("m")]

    read = Reader(Path("Pad.toml"), {"pad": {"radius": 1, "edge": [0, 1]}})
    read.table("pad", {"pad": Pad, "ring": Ring})
    assert [str(problem) for problem in read.problems] == [
        "Pad.toml: [pad] kind: this key is missing",
        "Pad.toml: [pad] thickness: this key is missing",
    ]
