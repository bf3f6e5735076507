"""From a recipe to an .fmu: what is in the file, what stops a build, and that nothing half-made stays behind."""

from __future__ import annotations

import errno
import os
import posixpath
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fmpy
import pytest
from fmpy.validation import validate_fmu

from fmu_builder.errors import FmuBuilderError, InputError, ToolError
from fmu_builder.export import fmu as builder
from fmu_builder.export import generate, toolchain
from fmu_builder.export.cache import cache_folder
from fmu_builder.export.fmu import Built, build_fmu, content_guid, fmu_contents, host_fmu, pack
from fmu_builder.export.toolchain import INSTALL_HINT, PLATFORMS, Compiler, find_compiler, host_platform
from fmu_builder.model.loader import load_model
from fmu_builder.paths import catalogue, shipped

ROOT = Path(toolchain.__file__).parents[1]
USER = "zanzibar-karlsson"  # a name that no file holds by accident

GAIN_TOML = """
description = "A force proportional to a speed"

[experiment]
stop = 1.0
step = 0.1
tolerance = 1e-6

[inputs]
v = { unit = "m/s", start = 1.0, description = "Speed" }

[outputs]
F = { unit = "N", depends = ["v"], description = "Force" }
"""


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One cache folder for all tests of this file."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("FMU_BUILDER_CACHE", str(folder))
        cache_folder.cache_clear()
        yield folder
    cache_folder.cache_clear()


def gain(folder: Path, body: str = "    e->F = 2.0 * e->v;", before: str = "") -> Path:
    """The recipe of an element in `folder` whose outputs are computed by `body`."""
    element = folder / "elements" / "gain"
    element.mkdir(parents=True, exist_ok=True)
    (element / "element.toml").write_text(GAIN_TOML, encoding="utf-8")
    text = f"{before}\nstatic void outputs(Element *e)\n{{\n{body}\n}}\n"
    (element / "element.c").write_text(text, encoding="utf-8")
    recipe = folder / "Gain.toml"
    recipe.write_text('element = "gain"\ndescription = "A gain"\n', encoding="utf-8")
    return recipe


def refused(recipe: Path, platforms: tuple[str, ...] = ("host",), kind: type[FmuBuilderError] = ToolError) -> str:
    """The message of a build that must fail and leave no file."""
    before = set(recipe.parent.iterdir())
    with pytest.raises(kind) as error:
        build_fmu(recipe, platforms=platforms)
    assert set(recipe.parent.iterdir()) == before
    return str(error.value)


# --- what is in the file ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Twice:
    """One recipe built for all platforms under two circumstances, with every name of folder and user that was used."""

    first: Path
    second: Path
    names: tuple[str, ...]


BUILT = "PointMass"  # twice for five platforms, from nothing: half the work of a contact
SCRIPT = "import os, sys, fmu_builder; os.umask(int(sys.argv[3], 8)); fmu_builder.build(sys.argv[1], sys.argv[2])"


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Twice:
    folder = tmp_path_factory.mktemp("twice")
    names = [str(Path.home()), str(ROOT), str(Path(fmpy.__file__).parent), str(folder), USER]
    outputs = []
    circumstances = (
        ("one", "022", {"LC_ALL": "C", "TZ": "UTC", "USER": USER, "LOGNAME": USER}),
        ("a longer name/Grüße", "077", {"LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7"}),
    )
    for name, umask, settings in circumstances:
        place = folder / name
        for part in ("home", "tmp", "work"):
            (place / part).mkdir(parents=True)
        shutil.copy(shipped("fmus") / f"{BUILT}.toml", place)
        environment = os.environ | settings | {"HOME": str(place / "home"), "TMPDIR": str(place / "tmp")}
        environment |= {"FMU_BUILDER_CACHE": str(place / "cache"), "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
        command = [sys.executable, "-c", SCRIPT, str(place / f"{BUILT}.toml"), str(place / "out"), umask]
        done = subprocess.run(command, env=environment, cwd=place / "work", capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert list((place / "tmp").iterdir()) == [] == list((place / "work").iterdir())
        outputs.append(place / "out" / f"{BUILT}.fmu")
    return Twice(outputs[0], outputs[1], tuple(names))


@pytest.mark.slow
def test_two_builds_give_the_same_bytes_whatever_the_folder_umask_language_and_time_zone(twice: Twice) -> None:
    assert twice.first.read_bytes() == twice.second.read_bytes()
    assert [path.name for path in twice.second.parent.iterdir()] == [f"{BUILT}.fmu"]


CONTENTS = """
import hashlib
from fmu_builder.export.fmu import fmu_contents
from fmu_builder.model.loader import load_model
from fmu_builder.paths import catalogue
for path in catalogue():
    for name, data in sorted(fmu_contents(load_model(path))[1].items()):
        print(path.stem, name, hashlib.sha256(data).hexdigest())
"""


@pytest.mark.slow
def test_no_file_of_the_catalogue_depends_on_the_order_of_sets() -> None:
    """All that is not compiled, with two orders of the elements of a set of texts."""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", CONTENTS],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("0", "1")
    ]
    first, second = (process.communicate()[0].splitlines() for process in running)
    assert len(first) > 5 * len(catalogue())
    assert set(first) ^ set(second) == set()


@pytest.mark.slow
def test_no_name_of_a_folder_or_user_of_the_building_machine_is_in_the_file(twice: Twice) -> None:
    with zipfile.ZipFile(twice.first) as archive:
        for entry in archive.infolist():
            data = archive.read(entry)
            found = [name for name in twice.names if name.encode() in data or name.encode("utf-16-le") in data]
            assert found == [], entry.filename
            assert not re.search(rb"/(tmp|home|root|Users|work)/", data), entry.filename


@pytest.mark.slow
def test_the_archive_is_stored_sorted_and_without_a_folder_of_its_own(twice: Twice) -> None:
    with zipfile.ZipFile(twice.first) as archive:
        entries = archive.infolist()
    names = [entry.filename for entry in entries]
    assert names[0] == "modelDescription.xml"
    assert names[1:] == sorted(names[1:])
    assert len(names) == len(set(names))
    assert {name.split("/")[0] for name in names} <= {
        "modelDescription.xml",
        "binaries",
        "documentation",
        "extra",
        "sources",
        "resources",
        "model.png",
        "terminalsAndIcons",
    }
    assert not any("\\" in name or name.startswith("/") or name.endswith("/") or ".." in name for name in names)
    assert {entry.compress_type for entry in entries} == {zipfile.ZIP_STORED}
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {entry.external_attr >> 16 for entry in entries} == {0o100644}


@pytest.mark.slow
def test_every_platform_has_its_binary(twice: Twice) -> None:
    with zipfile.ZipFile(twice.first) as archive:
        binaries = {name for name in archive.namelist() if name.startswith("binaries/")}
    assert binaries == {f"binaries/{name}/{BUILT}{p.suffix}" for name, p in PLATFORMS.items()}


@pytest.mark.slow
def test_the_guid_is_the_same_for_every_choice_of_platforms(twice: Twice, tmp_path: Path) -> None:
    guid = fmpy.read_model_description(twice.first).guid
    alone = build_fmu(shipped("fmus") / f"{BUILT}.toml", tmp_path, ("host",))
    assert alone.guid == guid == fmpy.read_model_description(alone.path).guid
    assert alone.platforms == (host_platform(),)


def test_the_sources_hold_no_fmi_headers_and_all_else_that_is_included() -> None:
    _, files = fmu_contents(load_model(shipped("fmus") / "PointSurface.toml"))
    texts = {
        name.removeprefix("sources/"): data.decode("utf-8")
        for name, data in files.items()
        if name.startswith("sources/")
    }
    assert not any(name.startswith(("fmi2Functions", "fmi2Types", "fmi2FunctionTypes")) for name in texts)
    missing = set()
    for name, text in texts.items():
        for included in re.findall(r'#\s*include\s+"([^"]+)"', text):
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(name), included))
            missing |= {included} - {included for one in (beside, included) if one in texts}
    assert missing == {"fmi2Functions.h"}


def test_the_guid_changes_with_the_element_and_the_recipe(tmp_path: Path) -> None:
    guids = [content_guid(load_model(gain(tmp_path)))]
    guids.append(content_guid(load_model(gain(tmp_path, "    e->F = 3.0 * e->v;"))))
    recipe = gain(tmp_path)
    recipe.write_text(recipe.read_text() + "[start]\nv = 2.0\n")
    guids.append(content_guid(load_model(recipe)))
    assert len(set(guids)) == 3
    assert content_guid(load_model(gain(tmp_path))) == guids[0]


def test_the_bytes_of_an_archive_depend_on_its_contents_only() -> None:
    files = {"b/c": b"2", "a": b"1", "modelDescription.xml": b"<x/>"}
    assert pack(files) == pack(dict(reversed(files.items()))) != pack(files | {"a": b"0"})


# --- what stops a build -----------------------------------------------------------------------------------------------


def test_an_element_without_its_physics_is_refused(tmp_path: Path) -> None:
    recipe = gain(tmp_path)
    (physics,) = tmp_path.rglob("element.c")
    physics.unlink()
    with pytest.raises(InputError, match=r"element\.c: is missing: the element has no physics"):
        build_fmu(recipe, tmp_path, ("host",))
    assert not list(tmp_path.rglob("*.fmu"))


def test_an_element_that_exports_a_function_of_its_own_is_refused(tmp_path: Path) -> None:
    leak = '__attribute__((visibility("default"))) int leak(void);\nint leak(void) { return 1; }'
    leak = f"#ifndef CC_DUAL\n{leak}\n#endif"  # the element is compiled twice
    message = refused(gain(tmp_path, before=leak))
    assert f"binaries/{host_platform()}/Gain" in message and "exports leak" in message


def test_an_element_that_calls_the_c_library_is_refused_on_every_platform(tmp_path: Path) -> None:
    recipe = gain(tmp_path, "    e->F = re(e->v) > 0.0 ? tgamma(re(e->v)) : 0.0;", "double tgamma(double);")
    for platform in ("linux64", "win64"):  # the linker refuses
        assert "tgamma" in refused(recipe, (platform,), InputError)
    message = refused(recipe, ("aarch64-darwin",))  # the linker of macOS always has the system library at hand
    assert "imports _tgamma from the system" in message


def test_a_library_changed_after_it_was_signed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_fmu = builder.compile_fmu

    def damaged(*arguments: Any) -> dict[str, bytes]:
        def change(library: bytes) -> bytes:
            at = library.index(b"fmi2DoStep")
            return library[:at] + b"F" + library[at + 1 :]

        return {platform: change(library) for platform, library in compile_fmu(*arguments).items()}

    monkeypatch.setattr(builder, "compile_fmu", damaged)
    message = refused(gain(tmp_path), ("aarch64-darwin",))
    assert "differs from its signed hash" in message


def test_a_library_that_was_cut_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_fmu = builder.compile_fmu
    monkeypatch.setattr(builder, "compile_fmu", lambda *a: {p: b[: len(b) // 2] for p, b in compile_fmu(*a).items()})
    assert f"binaries/{host_platform()}/Gain" in refused(gain(tmp_path))


def test_an_error_in_an_element_is_shown_with_its_own_file_and_line(tmp_path: Path) -> None:
    recipe = gain(tmp_path, "    e->F = 2.0 * e->speed;")
    message = refused(recipe, kind=InputError)
    place = tmp_path / "elements" / "gain" / "element.c"
    assert re.search(re.escape(str(place)) + r":4:\d+: error: .*speed", message), message
    assert "fmu-builder-" not in message  # no path of a copy


def test_warnings_are_errors(tmp_path: Path) -> None:
    message = refused(gain(tmp_path, "    double unused = 1.0;\n    e->F = e->v;"), kind=InputError)
    assert re.search(r"element\.c:4:\d+: error: .*unused", message), message


def test_an_element_without_the_function_of_its_outputs_is_refused(tmp_path: Path) -> None:
    recipe = gain(tmp_path)
    (physics,) = tmp_path.rglob("element.c")
    physics.write_text("static void output(Element *e) { e->F = e->v; }\n", encoding="utf-8")
    assert re.search(r"Gain\.toml: the compiler failed[\s\S]*'?outputs", refused(recipe, kind=InputError))


def test_a_function_that_is_defined_nowhere_is_named_with_the_lines_of_the_element_that_call_it(tmp_path: Path) -> None:
    lines = "    extern double lost(double);  /* cbrt */\n    e->F = e->v + lost(1.0) + __builtin_cbrt(re(e->v));"
    message = refused(gain(tmp_path, lines), kind=InputError)
    place = tmp_path / "elements" / "gain" / "element.c"
    assert f"{place}:4: 'lost' is defined nowhere: an FMU has no C library" in message
    assert f"also in {place}:5" in message and f"{place}:5: 'cbrt' is defined nowhere" in message


def test_a_compiler_error_in_shipped_sources_is_no_fault_of_an_own_element(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any) -> dict[str, bytes]:
        raise ToolError("the compiler failed (exit 1): cc\n./solver/step.h:3:1: error: no type")

    monkeypatch.setattr(builder, "compile_fmu", failing)
    assert "step.h" in refused(gain(tmp_path), kind=ToolError)


def test_an_element_that_writes_through_a_null_pointer_is_refused_and_the_call_named(tmp_path: Path) -> None:
    message = refused(
        gain(tmp_path, "    volatile double *volatile nowhere = 0;\n    *nowhere = re(e->v);\n    e->F = e->v;"),
        kind=InputError,
    )
    assert re.search(
        r"Gain\.toml: Gain\.fmu: the smoke run failed: it crashed in fmi2\w+.* \((SIGSEGV|exit code 0x\w+)\)", message
    )


def test_an_element_that_never_returns_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "SMOKE_TIMEOUT", 1)
    message = refused(gain(tmp_path, "    for (volatile int k = 0; k < 1;) { }\n    e->F = e->v;"), kind=InputError)
    assert "did not return within 1 s" in message
    assert re.search(r"fmi2\w+|the start of Python", message)


def test_an_element_whose_output_is_not_finite_is_refused(tmp_path: Path) -> None:
    message = refused(gain(tmp_path, "    e->F = e->v / (e->v - e->v);"), kind=InputError)
    assert "Gain.toml: Gain.fmu: the smoke run failed" in message and "finite" in message and "Traceback" not in message


def test_a_recipe_of_a_shipped_element_whose_values_the_fmu_refuses_is_at_fault(tmp_path: Path) -> None:
    recipe = tmp_path / "Stiff.toml"
    recipe.write_text('element = "point_to_point_spring"\n[start]\nk = 1e308\n"first.r[1]" = 1e10\n', encoding="utf-8")
    message = refused(recipe, kind=InputError)
    assert f"{recipe}: Stiff.fmu: the smoke run failed" in message and "finite" in message


def test_a_description_that_does_not_validate_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "_faults", lambda path, model: ["first fault", "second fault"])
    message = refused(gain(tmp_path))
    assert message == "Gain.fmu: first fault\nGain.fmu: second fault"


def test_the_smoke_run_needs_neither_this_folder_nor_a_clean_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fmpy.py").write_text("raise RuntimeError('the wrong fmpy')\n")
    (tmp_path / "fmu_builder.py").write_text("raise RuntimeError('the wrong package')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    assert build_fmu(gain(tmp_path), platforms=("host",)).path.is_file()


# --- an older file stays whole ----------------------------------------------------------------------------------------


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """The recipe of a gain whose .fmu is there already."""
    recipe = gain(tmp_path)
    (tmp_path / "Gain.fmu").write_bytes(b"the older file")
    return recipe


def interrupt(*arguments: object) -> None:
    raise KeyboardInterrupt


def full_disk(*arguments: object, **named: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # names no file, as a write does


@pytest.mark.parametrize("at", ["compile_fmu", "_faults", "_smoke_run"])
def test_an_interrupted_build_leaves_the_older_file(older: Path, at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(older.parent.iterdir())
    monkeypatch.setattr(builder, at, interrupt)
    with pytest.raises(KeyboardInterrupt):
        build_fmu(older, platforms=("host",))
    assert older.with_suffix(".fmu").read_bytes() == b"the older file"
    assert set(older.parent.iterdir()) == before


def test_a_disk_that_fills_up_leaves_the_older_file(older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = Path.write_bytes

    def fills_up(path: Path, data: bytes) -> int:
        if path.suffix == ".tmp":
            write(path, data[:1000])
            full_disk()
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", fills_up)
    message = refused(older)
    assert str(older.with_suffix(".fmu")) in message and "No space left on device" in message
    assert older.with_suffix(".fmu").read_bytes() == b"the older file"


@pytest.mark.parametrize("at", ["write_sources", "compile_fmu"])
def test_a_full_temporary_folder_is_a_fault_of_the_tool_chain(
    older: Path, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, at, full_disk)
    message = refused(older)
    assert message.startswith("a temporary file cannot be written: No space left on device; set TMPDIR")
    assert older.with_suffix(".fmu").read_bytes() == b"the older file"


def test_a_file_in_place_of_the_output_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    for folder in (tmp_path / "out", tmp_path / "out" / "deeper"):
        with pytest.raises(ToolError, match=rf"{re.escape(str(folder))}: cannot be written to: .*; choose another"):
            build_fmu(gain(tmp_path), folder, ("host",))
    assert (tmp_path / "out").read_text() == "a file"


def test_a_folder_in_place_of_the_file_is_named(tmp_path: Path) -> None:
    recipe = gain(tmp_path)
    (tmp_path / "Gain.fmu").mkdir()
    assert "Gain.fmu: cannot be written: Is a directory" in refused(recipe)


def test_a_second_build_replaces_the_file(older: Path) -> None:
    built = build_fmu(older, platforms=("host",))
    assert built.path == older.with_suffix(".fmu")
    assert validate_fmu(str(built.path)) == []


def test_without_a_folder_the_file_goes_beside_the_recipe_and_for_the_catalogue_into_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    recipe = gain(tmp_path / "mine")
    assert build_fmu(recipe, platforms=()).path == recipe.with_suffix(".fmu")
    shown = build_fmu(shipped("fmus") / "Inertia.toml", platforms=()).path
    assert shown == tmp_path / "Inertia.fmu" and shown.is_file()
    assert build_fmu(recipe, tmp_path / "new" / "er", ()).path == tmp_path / "new" / "er" / "Gain.fmu"


# --- other compilers, and none ----------------------------------------------------------------------------------------


def test_without_a_compiler_the_file_holds_its_sources_and_a_note_says_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, "find_compiler", lambda: None)
    built = build_fmu(gain(tmp_path))
    assert built.platforms == () and len(built.notes) == 1
    assert "no compiler" in built.notes[0] and INSTALL_HINT in built.notes[0]
    assert validate_fmu(str(built.path)) == []
    with zipfile.ZipFile(built.path) as archive:
        assert not any(name.startswith("binaries/") for name in archive.namelist())
        assert "sources/buildDescription.xml" in archive.namelist()


def test_a_build_for_no_platform_is_silent(tmp_path: Path) -> None:
    assert build_fmu(gain(tmp_path), platforms=()).notes == ()


def test_a_compiler_for_this_machine_only_notes_every_platform_it_did_not_build() -> None:
    host = host_platform()
    others = [name for name in PLATFORMS if name != host]
    gcc = Compiler(("gcc",), cross=False, version="gcc 12")
    assert builder._reachable((host,), gcc) == ((host,), ())
    platforms, notes = builder._reachable(tuple(PLATFORMS), gcc)
    assert platforms == (host,)
    assert notes == (f"gcc 12 builds for this machine only, not built: {', '.join(others)}; {INSTALL_HINT}",)
    assert builder._reachable(("win64" if host != "win64" else "linux64",), gcc)[0] == ()


# --- the FMUs of this machine, kept -----------------------------------------------------------------------------------


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folder of every build that really takes place."""
    found: list[Path] = []
    build_files: Callable[..., Built] = builder._build_files

    def counted(model: Any, guid: str, files: Any, folder: Path, *others: Any) -> Built:
        found.append(folder)
        return build_files(model, guid, files, folder, *others)

    monkeypatch.setattr(builder, "_build_files", counted)
    return found


def test_a_host_fmu_is_built_once_for_one_content(tmp_path: Path, builds: list[Path]) -> None:
    first = host_fmu(gain(tmp_path / "a", "    e->F = 4.0 * e->v;"))
    again = host_fmu(gain(tmp_path / "a", "    e->F = 4.0 * e->v;"))  # files written anew, the same text
    elsewhere = host_fmu(gain(tmp_path / "b", "    e->F = 4.0 * e->v;"))
    assert first == again == elsewhere and len(builds) == 1
    assert fmpy.read_model_description(first).modelName == "Gain"
    assert [path.name for path in first.parent.iterdir()] == ["Gain.fmu"]


@pytest.mark.slow
def test_a_host_fmu_is_built_again_for_another_element_recipe_core_compiler_or_flag(
    tmp_path: Path, builds: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = gain(tmp_path, "    e->F = 5.0 * e->v;")
    element = tmp_path / "elements" / "gain"
    core = tmp_path / "contact_core"
    shutil.copytree(shipped("contact_core"), core)
    for module in (builder, generate, toolchain):
        monkeypatch.setattr(module, "shipped", lambda name: core if name == "contact_core" else shipped(name))

    def content() -> str:
        compiler = builder.find_compiler()
        return str(builder._content(builder.fmu_contents(load_model(recipe))[1], compiler, host_platform()))

    host_fmu(recipe)
    assert builds == [cache_folder() / "fmus" / content()]
    assert host_fmu(recipe, ("-O1",)) != host_fmu(recipe) and len(builds) == 2
    contents = [content()]

    def edit(path: Path, old: str, new: str) -> None:
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        contents.append(content())

    edit(element / "element.c", "5.0", "6.0")
    edit(element / "element.toml", "start = 1.0", "start = 1.5")
    edit(recipe, "A gain", "Another gain")
    edit(core / "solver" / "solver.h", "/*", "/* edited")
    edit(core / "base" / "freestanding.c", "/*", "/* edited")
    edit(core / "base" / "freestanding_include" / "stdlib.h", "/*", "/* edited")
    (tmp_path / "toolchain.py").write_text("another set of flags")
    monkeypatch.setattr(toolchain, "__file__", str(tmp_path / "toolchain.py"))
    contents.append(content())
    monkeypatch.setattr(builder, "find_compiler", lambda: Compiler(("gcc",), False, "gcc 12"))
    contents.append(content())
    assert len(set(contents)) == len(contents) == 9
    edit(element / "element.c", "6.0", "7.0")
    edit(element / "element.c", "7.0", "6.0")
    assert contents[-1] == contents[-3]

    monkeypatch.setattr(builder, "find_compiler", find_compiler)
    assert host_fmu(recipe).is_file() and len(builds) == 3


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04", None])
def test_a_damaged_host_fmu_is_built_again(damage: bytes | None, tmp_path: Path, builds: list[Path]) -> None:
    recipe = gain(tmp_path, "    e->F = 8.0 * e->v;")
    fmu = host_fmu(recipe)
    good = fmu.read_bytes()
    if damage is None:  # a page of zeros, as a file system may leave it after a loss of power
        at = good.index(b"static void outputs")
        fmu.write_bytes(good[:at] + bytes(100) + good[at + 100 :])
    else:
        fmu.write_bytes(damage)
    builds.clear()
    assert host_fmu(recipe).read_bytes() == good
    assert len(builds) == 1


def test_a_host_fmu_without_a_compiler_is_refused_every_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = gain(tmp_path, "    e->F = 9.0 * e->v;")
    monkeypatch.setattr(builder, "find_compiler", lambda: None)
    for _ in range(2):
        with pytest.raises(ToolError, match=r"Gain\.toml: no compiler was found.*pip install ziglang"):
            host_fmu(recipe)


def test_with_a_full_cache_a_recipe_runs_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with `build`, which writes to another folder."""
    cache = tmp_path / "cache"
    cache.mkdir()
    staged = builder.staged

    @contextmanager
    def no_room(*targets: Path) -> Iterator[tuple[Path, ...]]:
        if cache in targets[0].parents:
            full_disk()
        with staged(*targets) as new:
            yield new

    monkeypatch.setattr(builder, "cache_folder", lambda: cache)
    monkeypatch.setattr(builder, "staged", no_room)
    made = builder.host_fmu(gain(tmp_path))
    assert made.is_file() and cache not in made.parents
