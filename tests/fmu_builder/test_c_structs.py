"""Memory that is a C struct has the size that its header declares."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from fmu_builder.errors import InputError
from fmu_builder.export.fmu import build_fmu
from fmu_builder.model.loader import load_model
from fmu_builder.paths import shipped

TOML = """
description = "Keeps the last inputs"
[inputs]
u = { description = "Input" }
[outputs]
y = { depends = ["u"], description = "Output" }
[memory]
store = { struct = "Store", each = "stores", hidden = true, description = "The last inputs" }
[structure]
stores = { default = 2, description = "Number of stores" }
"""
HEADER = """
#define PLACES 3
enum { ROWS = 2, COLUMNS = ROWS + 2 };
typedef struct { double at, value; } Sample; /* not in Store: { double x; } */
typedef struct {
    double count; double grid[ROWS][COLUMNS]; // 9
    Sample last[PLACES];               // 6
} Store;
"""
C = """#ifndef CC_DUAL
#include "store.h"
#endif
static void outputs(Element *e) { e->y = e->u; }
static void start(Element *e) { (void)e; }
static int accept(Element *e, CcHost *host, double step)
{
    (void)e, (void)host, (void)step;
#ifndef CC_DUAL
    ((Store *)e->store[1])->last[PLACES - 1].value = e->u;
#endif
    return 0;
}
"""


def keeper(folder: Path, header: str = HEADER, declared: str = TOML) -> Path:
    element = folder / "elements" / "keeper"
    element.mkdir(parents=True)
    for name, text in (("element.toml", declared), ("element.c", C), ("store.h", header)):
        (element / name).write_text(text, encoding="utf-8")
    recipe = folder / "Keeper.toml"
    recipe.write_text('element = "keeper"\n', encoding="utf-8")
    return recipe


@pytest.mark.slow
def test_the_size_follows_the_header_and_the_compiler_agrees(tmp_path: Path) -> None:
    recipe = keeper(tmp_path)
    assert sum(v.name.startswith("store") for v in load_model(recipe).variables) == 2 * (1 + 8 + 6)
    build_fmu(recipe, platforms=("host",))
    header = tmp_path / "elements" / "keeper" / "store.h"
    header.write_text(HEADER.replace("PLACES 3", "PLACES 5"), encoding="utf-8")
    assert sum(v.name.startswith("store") for v in load_model(recipe).variables) == 2 * (1 + 8 + 10)
    build_fmu(recipe, platforms=("host",))


@pytest.mark.slow
def test_members_have_the_ranges_that_stand_behind_them(tmp_path: Path) -> None:
    """Of arrays and of structs inside, each number has that of its member; the compiler sees none of it."""
    header = HEADER.replace("at,", "at CC_FROM(-0.5),").replace("[COLUMNS]", "[COLUMNS] CC_IN(0, 1e3)")
    recipe = keeper(tmp_path, header)
    store = [v for v in load_model(recipe).variables if v.name.startswith("store[1")]
    ranges = [(v.min, v.max) for v in store]
    assert ranges == [(None, None), *[(0.0, 1e3)] * 8, *[(-0.5, None), (None, None)] * 3]
    build_fmu(recipe)


def test_a_struct_that_the_preprocessor_changes_is_refused_by_the_compiler(tmp_path: Path) -> None:
    other = "#else\ntypedef struct { double only; } Store;\n#endif\n"
    recipe = keeper(tmp_path, f"#if 1\n{HEADER}{other}")
    with pytest.raises(InputError, match=r"static assertion failed.*store"):
        build_fmu(recipe, platforms=("host",))


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"Store"', '"Stoer"', r"struct: no header declares a struct 'Stoer'; did you mean 'Store'\?"),
        ('"Store"', '"CcContactLaw", size = 6', r"size: the struct gives it, remove it"),
        ("[memory]", "[locals]", r"\[locals\] store: struct belongs to memory that is hidden"),
        ("hidden = true, ", "", r"\[memory\] store: struct belongs to memory that is hidden"),
    ],
)
def test_what_is_no_memory_of_doubles_is_refused(tmp_path: Path, old: str, new: str, what: str) -> None:
    recipe = keeper(tmp_path, HEADER, TOML.replace(old, new, 1))
    with pytest.raises(InputError, match=what):
        load_model(recipe)


def test_a_struct_that_holds_more_than_doubles_is_refused(tmp_path: Path) -> None:
    recipe = keeper(tmp_path, HEADER.replace("double count", "int count"))
    with pytest.raises(
        InputError, match=r"\[memory\] store: struct: the struct 'Store' holds int, and memory consists"
    ):
        load_model(recipe)
    recipe = keeper(tmp_path / "other", HEADER.replace("[PLACES]", "[SPACES]"))
    with pytest.raises(InputError, match=r"the struct 'Store' cannot be read: "):
        load_model(recipe)


def test_a_number_typed_for_a_size_is_that_of_a_vector_or_a_tensor() -> None:
    """Of the shipped elements; what is larger is a struct, or a size of [structure]."""
    for path in shipped("elements").glob("*/element.toml"):
        for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).get("memory", {}).items():
            for one in entry if isinstance(entry, list) else [entry]:
                assert not isinstance(one.get("size"), int) or one["size"] <= 9, f"{path.parent.name}: {name}"
