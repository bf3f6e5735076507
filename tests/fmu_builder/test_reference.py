"""The reference of who writes an element: fresh, complete, and with examples that are right."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from fmu_builder.export.reference import EXAMPLE, EXTENDS, PAGE, SECTIONS, c_functions, reference
from fmu_builder.model.clocks import ClockEntry
from fmu_builder.model.declaration import VARIABLE_TABLES, Hold, PortState, SlotChange
from fmu_builder.model.declaration_reader import read_declaration
from fmu_builder.model.extends import Extends
from fmu_builder.paths import shipped


def test_the_page_is_that_of_the_declarations() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference(), "run: python -m fmu_builder.export.reference"


def test_the_example_is_an_element_that_can_be_read(tmp_path: Path) -> None:
    shutil.copy(EXAMPLE, tmp_path / "element.toml")
    declared = read_declaration(tmp_path)
    assert declared.memory["known"].size  # of the C struct
    assert declared.outputs["force"].depends


def entries_of(model: type[BaseModel], tables: tuple[str, ...]) -> Iterator[dict[str, object]]:
    """What the example has of a model."""
    given = tomllib.loads(EXAMPLE.read_text(encoding="utf-8"))
    if model is Extends:
        yield from (tomllib.loads(text)["extends"] for text in EXTENDS)
    elif "" in tables:
        yield given
    elif model in (PortState, Hold):
        ports = given["ports"].values()
        yield from (state for port in ports for state in port.get("states", {}).values() if model is PortState)
        yield from (port["holds"] for port in ports if model is Hold and "holds" in port)
    elif model is ClockEntry:
        yield from (entry["clock"] for entry in given["inputs"].values() if "clock" in entry)
    elif model is SlotChange:
        yield from (change for slot in given["slots"].values() for change in slot["changes"])
    else:
        for table in (given[name] for name in tables):
            flat = all(not isinstance(entry, dict | list) for entry in table.values())
            for entry in [table] if flat else table.values():
                yield from entry if isinstance(entry, list) else [entry]


@pytest.mark.parametrize(("title", "model", "tables"), SECTIONS, ids=[title for title, _, _ in SECTIONS])
def test_every_key_has_a_meaning_and_is_in_the_example(
    title: str, model: type[BaseModel], tables: tuple[str, ...]
) -> None:
    assert model.__doc__
    assert not [key for key, field in model.model_fields.items() if not field.description]
    shown = {key for entry in entries_of(model, tables) for key in entry}
    assert model.model_fields.keys() - shown == set()


def test_the_page_shows_every_table_of_the_example() -> None:
    blocks = "".join(PAGE.read_text(encoding="utf-8").split("```toml")[1:])
    for line in EXAMPLE.read_text(encoding="utf-8").splitlines():
        assert line in blocks, line
    assert all(f"[{table}]" in blocks for table in VARIABLE_TABLES)


@pytest.mark.parametrize("header", ["waist.h", "base/real.h", "base/vector.h", "base/elementary.h"])
def test_every_function_that_an_element_may_call_has_a_comment(header: str) -> None:
    found = dict(c_functions((shipped("contact_core") / header).read_text(encoding="utf-8")))
    assert len(found) >= 2
    assert not [signature for signature, comment in found.items() if not comment]
