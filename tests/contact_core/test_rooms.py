"""What each room of the core may know: of other rooms, and of elements."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from fmu_builder.cosim.call_order import BODIES_FIRST
from fmu_builder.model.declaration import VARIABLE_TABLES
from fmu_builder.model.declaration_reader import read_declaration
from fmu_builder.model.step_advice import ORDER
from fmu_builder.paths import load_module, shared_folder, shipped, shipped_elements

CORE = shipped("contact_core")
FILES = sorted(path for path in CORE.rglob("*.[ch]") if "freestanding_include" not in path.parts)
# A room includes nothing of a later one.  "" are the headers at the top, the waist and the instance.
ROOMS = ("base", "laws", "surfaces", "lines", "mechanism", "coupling", "", "solver", "fmi2", "fmi3", "check")
LETTER = re.compile(r"[A-Za-z]_[A-Za-z]{1,3}")  # of a formula, with an index: C_F, k_D
# Members of CcContact, under the same names outputs of elements; element.py reads them.
OF_CONTACT = {"damping_force", "elastic_force", "friction_force", "normal_force", "slip_speed"}


def includes(path: Path) -> Iterator[str]:
    return (found[1] for found in re.finditer(r'^\s*#\s*include\s+"([^"]+)"', path.read_text("utf-8"), re.MULTILINE))


def room(path: Path) -> str:
    return "" if path.parent == CORE else path.parent.name


def test_every_room_includes_only_rooms_before_it() -> None:
    assert {room(path) for path in FILES} == set(ROOMS)
    faults, seen = [], set()
    for path in FILES:
        if room(path) == "" and path.suffix == ".c":
            continue  # what is compiled includes all it needs
        for name in includes(path):
            target = Path(posixpath.normpath((path.parent / name).as_posix()))
            if target.is_file():
                seen.add((room(path), room(target)))
                if ROOMS.index(room(target)) > ROOMS.index(room(path)):
                    faults.append(f"{path.relative_to(CORE)} includes {name}")
    assert not faults
    assert {("coupling", "base"), ("solver", ""), ("fmi2", "solver")} <= seen


def test_a_file_of_the_core_has_a_name_that_no_other_has() -> None:
    """An element of its own may include a header by its name alone."""
    names = [path.name for path in (*FILES, *shared_folder().glob("*.h"))]
    assert len(names) == len(set(names)) > 60


def functions(text: str) -> set[str]:
    """Names of the functions that a C text defines, once each: a platform may have a definition of its own."""
    text = re.sub(r"__attribute__\(\((?:[^()]|\([^()]*\))*\)\)", "", text)
    return set(re.findall(r"^(?:CC_\w+|static)\b[^;{}=]*?\b(\w+)\([^;{}]*\)\s*\{", text, re.MULTILINE))


# Headers that a model includes in the place of another.
STAND_INS = {"explicit_only.h": "rosenbrock.h", "stateless.h": "solver.h", "fmi3_importer.h": "fmi2_importer.h"}


def test_a_function_of_the_core_is_defined_in_one_header() -> None:
    """Any two headers may be included together, but for one and what stands in its place."""
    defined = {path.name: functions(path.read_text("utf-8")) for path in FILES if path.suffix == ".h"}
    for name, other in STAND_INS.items():
        assert defined[name] and defined.pop(name) <= defined[other]
    times = Counter(function for names in defined.values() for function in names)
    assert [function for function, count in times.items() if count > 1] == []
    assert len(times) > 400


@pytest.mark.parametrize(
    "head", ["CC_API Real", "static double *", "CC_RARE __attribute__((format(printf, 1, 2))) void"]
)
def test_a_definition_is_found_and_a_declaration_is_none(head: str) -> None:
    assert functions(f"{head} f(int a,\n  int b)\n{{\n}}\n{head} g(void);\n") == {"f"}


def divided(text: str) -> list[str]:
    """Lines of a C text behind which a condition of the preprocessor stands though their statement goes on."""
    text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)
    found, before = [], ";"
    for line in filter(None, map(str.strip, text.split("\n"))):
        if re.match(r"#\s*(if|ifdef|ifndef|elif|else|endif)\b", line):
            found += [] if before[-1] in ";{}" or re.fullmatch(r"[A-Z_]+", before) else [before]
        else:
            before = ";" if line.startswith("#") else line
    return found


def test_no_condition_of_the_preprocessor_stands_in_a_statement() -> None:
    elements = [path for folder in shipped_elements() for path in folder.rglob("*.[ch]")]
    files = [*FILES, *shared_folder().glob("*.h"), *elements]
    assert {path.name: found for path in files if (found := divided(path.read_text("utf-8")))} == {}
    assert len(files) > 150


def test_a_condition_in_a_statement_is_found() -> None:
    assert divided(
        "#ifdef A\nint f(void) { return 1; }\n#endif\nint x = 1 /* one */\n#if B\n    + 2\n#endif\n    ;\n"
    ) == [
        "int x = 1",
        "+ 2",
    ]


def test_the_map_is_up_to_date() -> None:
    """If not: python contact_core/map.py."""
    assert (CORE / "map.svg").read_text(encoding="utf-8") == load_module(CORE / "map.py").draw()


def test_every_call_on_the_map_is_in_the_file_that_makes_it() -> None:
    way = load_module(CORE / "map.py").WAY
    assert {call.number for call in way} == set(range(1, 8))
    for call in way:
        assert re.search(rf"\b{call.function}\b\)?[(;]", (CORE / call.file).read_text(encoding="utf-8")), call


def test_the_theory_of_the_coupling_names_all_its_files_and_has_the_constants_of_the_code() -> None:
    folder = CORE / "coupling"
    theory = (folder / "THEORY.md").read_text(encoding="utf-8")
    headers = sorted(folder.glob("*.h"))
    assert [path.name for path in headers if f"`{path.name}`" not in theory] == []
    code = "".join(path.read_text(encoding="utf-8") for path in headers)
    defined = dict(re.findall(r"#define (CC_\w+) ([-+.0-9e]+)", code))
    rows = re.findall(r"^\| (`CC_[^|]*) \| ([^|]*) \|", theory, re.MULTILINE)
    stated = [
        pair
        for names, values in rows
        for pair in zip(re.findall(r"CC_\w+", names), re.split(r", | … ", values), strict=True)
    ]
    assert len(stated) > 15
    assert [(name, value) for name, value in stated if defined.get(name) != value] == []


def test_the_theory_of_the_coupling_names_what_the_master_tells_of_the_order_of_its_calls() -> None:
    theory = (CORE / "coupling" / "THEORY.md").read_text(encoding="utf-8")
    assert [name for name in (ORDER, BODIES_FIRST) if f"`{name}`" not in theory] == []


def names_of_elements() -> set[str]:
    """Names of elements and of all their variables, as far as they are no single word and no letter of a formula."""
    found = {folder.name for folder in shipped_elements()}
    for folder in shipped_elements():
        declaration = read_declaration(folder)
        tables = (getattr(declaration, table) for table in (*VARIABLE_TABLES, "structure", "slots", "indicators"))
        found |= {name.partition(" variant ")[0] for name in chain.from_iterable(tables)}
    return {name for name in found if re.search(r"[._]|[a-z][A-Z]", name) and not LETTER.fullmatch(name)}


def naming(path: Path, names: set[str]) -> list[str]:
    """The names of elements that the file holds, in code, comments or texts; a name of a header is none."""
    text = re.sub(r"\b\w+\.[hc]\b", "", path.read_text(encoding="utf-8"))
    known = names - OF_CONTACT if room(path) == "laws" else names
    runs = (run.split(".") for run in set(re.findall(r"(?<![\w.])[\w.]+", text)))
    return sorted(known & {".".join(parts[:n]) for parts in runs for n in range(1, len(parts) + 1)})


def test_the_core_names_no_element_and_none_of_its_variables() -> None:
    names = names_of_elements()
    assert {"coupling.mode", "energy.residual", "depth_limit", "point_surface", "forceZone"} <= names
    assert len(names) > 200
    assert {path.relative_to(CORE).as_posix(): found for path in FILES if (found := naming(path, names))} == {}


@pytest.mark.parametrize(
    "text", ["e->depth_limit", 'say("set coupling.mode = auto")', "/* as energy.residual */", "like point_surface"]
)
def test_a_name_in_code_text_or_comment_is_found(text: str, tmp_path: Path) -> None:
    (tmp_path / "some.h").write_text(f"/* contact.h */ {text};\n", encoding="utf-8")
    assert len(naming(tmp_path / "some.h", names_of_elements())) == 1
