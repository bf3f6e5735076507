"""Compilers, their caches, and what five platforms cost.

Times are printed.  Asserted is processor time spread over two cores, with three times the budget, for machines that run
tests are busy with other things; the benchmarks measure the clock.
"""

from __future__ import annotations

import errno
import os
import random
import re
import resource
import shutil
import stat
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
from fmpy import read_model_description

from fmu_builder.doctor import FAULT, examine
from fmu_builder.errors import InputError, ToolError
from fmu_builder.export import toolchain
from fmu_builder.export.binaries import check_library, merge_universal, read_library
from fmu_builder.export.cache import cache_folder
from fmu_builder.export.fmu import content_guid, host_fmu
from fmu_builder.export.generate import fmu_sources, write_sources
from fmu_builder.export.objects import included
from fmu_builder.export.toolchain import (
    PLATFORMS,
    Compiler,
    compile_fmu,
    compile_folder,
    exported_functions,
    find_compiler,
    fmi2_functions,
    host_platform,
    resolve_platforms,
    run_compiler,
)
from fmu_builder.model.loader import load_model
from fmu_builder.paths import shipped
from tests.contact_core.fmi2 import literal

T = TypeVar("T")

ROOT = Path(toolchain.__file__).parents[1]
BUSY = 3  # times the budget
TARGETS = {target for platform in PLATFORMS.values() for target in platform.targets.values()}
TINY = {
    "tiny.c": "int answer(void) { return 42; }\n",
    "more.c": "int answer(void);\nint more(void) { return answer(); }\n",
}


@pytest.fixture
def forget_cache() -> Iterator[None]:
    """cache_folder looks again at the environment, in this test and after it."""
    cache_folder.cache_clear()
    yield
    cache_folder.cache_clear()


@pytest.fixture(scope="module")
def zig() -> Compiler:
    compiler = find_compiler()
    assert compiler is not None and compiler.cross, "these tests need ziglang: python -m pip install ziglang"
    return compiler


def sources_of(recipe: Path) -> dict[str, str]:
    model = load_model(recipe)
    return fmu_sources(model, content_guid(model))


# --- five platforms ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Time:
    """Seconds by the clock, and of processor time by the compiler divided by two cores."""

    clock: float
    processor: float

    def __str__(self) -> str:
        return f"{self.clock:.2f} s by the clock, {self.processor:.2f} s with two cores to itself"


def timed(work: Callable[[], T]) -> tuple[T, Time]:
    clock, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    result = work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return result, Time(time.perf_counter() - clock, used / 2)


@dataclass(frozen=True)
class Compiled:
    """Time from an empty cache and after an edit of element.c; files the compiler made for the edit; libraries.

    share       of the budgets, which are for the literal law of a contact: the group `coupling` may take as much
                again, and 5 kB for what it says of wrong velocities
    edit_share  of the time from an empty cache that an edit may take: all of the group is compiled again with
                element.c, of the law little"""

    share: float
    edit_share: float
    cold: Time
    edited: Time
    objects_after_edit: list[str]
    libraries: dict[str, bytes]


@pytest.fixture(scope="module", params=["literal", "coupled"])
def compiled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, zig: Compiler
) -> Iterator[Compiled]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FMU_BUILDER_CACHE", str(tmp_path_factory.mktemp("cold")))
        cache_folder.cache_clear()
        is_literal = request.param == "literal"
        recipe = shipped("fmus") / "PointSurface.toml"
        files = sources_of(literal("PointSurface", tmp_path_factory.mktemp("literal")) if is_literal else recipe)

        def compile_all() -> dict[str, bytes]:
            with compile_folder("PointSurface") as folder:
                write_sources(files, folder)
                return compile_fmu(folder, "PointSurface", tuple(PLATFORMS), zig)

        libraries, cold = timed(compile_all)
        before = objects()
        files["element.c"] += "/* edited */\n"
        files["model_guid.h"] = files["model_guid.h"].replace("{", "{0")[:-4] + '}"\n'
        _, edited = timed(compile_all)
        new = sorted(path.stem.split("-")[0] for path in objects() - before)
    cache_folder.cache_clear()
    yield Compiled(*((1.0, 0.5) if is_literal else (2.05, 0.85)), cold, edited, new, libraries)


def objects() -> set[Path]:
    return {*(cache_folder() / "objects").glob("*/o/*/*.o*"), *(cache_folder() / "host").glob("*.o")}


@pytest.mark.slow
def test_five_platforms_compile_from_an_empty_cache_in_five_seconds(compiled: Compiled) -> None:
    print(f"\nfive platforms from an empty cache: {compiled.cold} (budget 5 s)")
    assert compiled.cold.processor < compiled.share * BUSY * 5.0


@pytest.mark.slow
def test_five_platforms_compile_after_an_edit_in_a_share_of_the_time(compiled: Compiled) -> None:
    print(f"\nfive platforms from an empty cache: {compiled.cold}; after an edit of element.c: {compiled.edited}")
    assert compiled.edited.processor < compiled.edit_share * compiled.cold.processor


@pytest.mark.slow
def test_an_edit_of_the_element_compiles_its_two_files_and_the_tables_for_every_target(compiled: Compiled) -> None:
    assert compiled.objects_after_edit == sorted(["element_real", "element_dual", "model_tables"] * len(TARGETS))


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.slow
def test_every_library_passes_its_check_and_takes_at_most_100_kb_a_machine(compiled: Compiled, platform: str) -> None:
    library = compiled.libraries[platform]
    problems = check_library(library, expected_exports=exported_functions(), platform=platform, where=platform)
    assert problems == []
    machines = len(PLATFORMS[platform].targets)
    held = len(re.sub(rb"\0{1024,}", b"", library))  # macOS fills each segment up to a page of 16 kB
    print(f"\n{platform}: {len(library)} bytes for {machines} machine(s), {held} without the padding of pages")
    assert held <= compiled.share * machines * 100_000


@pytest.mark.slow
def test_the_library_for_any_mac_holds_the_one_for_arm_macs(compiled: Compiled) -> None:
    universal = compiled.libraries["darwin64"]
    assert [library.machine for library in read_library(universal)] == ["x86_64", "aarch64"]
    arm = compiled.libraries["aarch64-darwin"]
    assert arm in universal and merge_universal({"aarch64": arm}) != universal


def test_all_functions_of_the_standard_are_expected() -> None:
    names = fmi2_functions()
    assert len(names) == 44
    assert {"fmi2DoStep", "fmi2GetTypesPlatform", "fmi2GetDirectionalDerivative", "fmi2NewDiscreteStates"} <= names


# --- names of platforms -----------------------------------------------------------------------------------------------


def test_platform_names_are_resolved_once_each() -> None:
    host = host_platform()
    assert resolve_platforms(["all"]) == tuple(PLATFORMS)
    assert resolve_platforms(["host", host]) == (host,)
    assert resolve_platforms(["win64", "all"])[0] == "win64"
    assert len(resolve_platforms(["win64", "all", "host"])) == len(PLATFORMS)
    assert resolve_platforms([]) == ()


def test_every_unknown_platform_is_named_with_the_nearest_known() -> None:
    with pytest.raises(InputError) as error:
        resolve_platforms(["linux46", "win64", "atari"])
    assert len(error.value.problems) == 2
    assert "'linux46' is unknown; did you mean 'linux64'?" in str(error.value)
    assert "'atari' is unknown" in str(error.value)


def test_a_machine_we_build_nothing_for_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain._platform, "machine", lambda: "riscv64")
    with pytest.raises(ToolError, match=r"riscv64.*linux64"):
        host_platform()


# --- finding the compiler ---------------------------------------------------------------------------------------------


def find_with(versions: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Compiler | None:
    """find_compiler where `command name -> version` are all compilers there are."""
    monkeypatch.setattr(toolchain.shutil, "which", lambda name: f"/bin/{name}" if name in versions else None)
    monkeypatch.setattr(toolchain, "_version", lambda command: versions.get(Path(command[0]).stem, ""))
    return toolchain.find_compiler.__wrapped__()


def test_ziglang_is_preferred_then_gcc_then_clang_then_none(monkeypatch: pytest.MonkeyPatch) -> None:
    zig = find_with({"zig": "0.16.0", "gcc": "gcc 12"}, monkeypatch)
    assert zig == Compiler((toolchain._zig(), "cc"), True, "ziglang 0.16.0")
    assert Path(zig.command[0]).parent.name == "ziglang"
    gcc = find_with({"clang": "clang 14", "gcc": "gcc 12\nCopyright"}, monkeypatch)
    assert gcc == Compiler(("gcc",), False, "gcc 12")
    assert find_with({"gcc": "", "clang": "clang 14"}, monkeypatch) == Compiler(("clang",), False, "clang 14")
    assert find_with({}, monkeypatch) is None


def test_a_compiler_that_vanished_is_named(new_cache: Path) -> None:
    with pytest.raises(ToolError, match="/no/such/gcc cannot be started: No such file"):
        run_compiler(Compiler(("/no/such/gcc",), cross=False, version=""), ["--version"])


# --- the cache folder -------------------------------------------------------------------------------------------------


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, forget_cache: None) -> Path:
    """A user whose home is tmp_path/home, without settings; temporary files go to tmp_path/tmp."""
    for name in ("FMU_BUILDER_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(toolchain.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    return tmp_path


def test_the_cache_lies_where_the_environment_says(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_folder() == bare / "home" / ".cache" / "fmu-builder"
    cache_folder.cache_clear()
    monkeypatch.setenv("XDG_CACHE_HOME", str(bare / "xdg"))
    assert cache_folder() == bare / "xdg" / "fmu-builder"
    cache_folder.cache_clear()
    monkeypatch.setenv("FMU_BUILDER_CACHE", str(bare / "own"))
    assert cache_folder() == bare / "own"


def test_a_relative_cache_folder_means_the_same_place_in_every_folder(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bare)
    monkeypatch.setenv("FMU_BUILDER_CACHE", "own")
    assert cache_folder() == bare / "own"


def test_an_unwritable_home_is_replaced_by_a_temporary_folder_of_this_user(bare: Path) -> None:
    (bare / "home").touch()  # a file: not even root can make a folder in it
    folder = cache_folder()
    assert folder.parent == bare / "tmp"
    assert str(os.getuid()) in folder.name
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700  # nobody else may plant a library there


def test_a_user_without_home_gets_a_temporary_folder(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(toolchain.Path, "home", no_home)
    assert cache_folder().parent == bare / "tmp"


def test_a_temporary_cache_of_another_user_is_not_used(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bare / "home").touch()
    planted = cache_folder()
    cache_folder.cache_clear()
    owner = os.getuid()
    monkeypatch.setattr(toolchain.os, "getuid", lambda: owner + 1)
    planted.rename(planted.with_name(f"fmu-builder-{owner + 1}"))
    with pytest.raises(ToolError, match=r"no writable cache folder: tried .*; set FMU_BUILDER_CACHE"):
        cache_folder()


def test_a_build_without_any_writable_folder_says_what_was_tried(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("home", "temporary"):
        (bare / name).touch()
    monkeypatch.setattr(toolchain.tempfile, "gettempdir", lambda: str(bare / "temporary"))
    with pytest.raises(ToolError) as error:
        cache_folder()
    for place in ("home/.cache/fmu-builder", f"temporary/fmu-builder-{os.getuid()}"):
        assert str(bare / place) in str(error.value)


@pytest.mark.parametrize(
    ("own", "reason"),
    [
        ("file", "is a file"),
        ("file/below", "cannot be made or written to: Not a directory"),
        ("shared", "fmu-builder is a file"),
    ],
)
def test_a_cache_folder_of_the_environment_that_cannot_be_used_is_refused(
    bare: Path, monkeypatch: pytest.MonkeyPatch, own: str, reason: str
) -> None:
    """And reported by doctor; a folder of others holds a sub-folder."""
    (bare / "file").touch()
    (bare / "shared").mkdir()
    (bare / "shared" / "fmu-builder").touch()
    monkeypatch.setenv("FMU_BUILDER_CACHE", str(bare / own))
    with pytest.raises(InputError) as error:
        cache_folder()
    assert str(error.value).startswith(f"FMU_BUILDER_CACHE: '{bare / own}' cannot be the cache folder: {bare / own}")
    assert reason in str(error.value)
    assert examine()["cache folder"] == f"{FAULT}{error.value}"


# --- the compiler's own cache -----------------------------------------------------------------------------------------


def compile_tiny(folder: Path, zig: Compiler) -> str:
    """Compile two files and link them: what a damaged cache breaks."""
    write_sources(TINY, folder)  # takes the library away, which the linker would not make again from the same objects
    target = PLATFORMS[host_platform()].targets
    options = ["-target", next(iter(target.values())), "-O2", "-fPIC", "-shared", "-nostdlib"]
    return run_compiler(zig, [*options, "tiny.c", "more.c", "-o", "tiny.so"], folder)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:7])


def scramble(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(path.stat().st_size))


@pytest.mark.parametrize("damage", [cut, scramble])
def test_a_damaged_compiler_cache_is_survived_and_not_used_again(
    damage: Callable[[Path], None],
    new_cache: Path,
    tmp_path: Path,
    zig: Compiler,
    runs: list[Path],
) -> None:
    compile_tiny(tmp_path / "tiny", zig)
    good = (tmp_path / "tiny" / "tiny.so").read_bytes()
    for path in (new_cache / "zig" / "o").rglob("*"):
        if path.is_file():
            damage(path)
    runs.clear()
    compile_tiny(tmp_path / "tiny", zig)
    assert len(runs) == 2 and runs[0] == new_cache / "zig" != runs[1]
    assert (tmp_path / "tiny" / "tiny.so").read_bytes() == good
    assert not runs[1].exists()
    runs.clear()
    compile_tiny(tmp_path / "tiny", zig)
    assert runs == [new_cache / "zig"]
    assert (tmp_path / "tiny" / "tiny.so").read_bytes() == good
    assert {path.name for path in new_cache.iterdir()} - {".fmu-builder-cache"} == {
        "zig",
        "lock",
        "pruned",
        "users",
        "discarded",
    }
    assert not [*(new_cache / "discarded").iterdir()]


def test_a_file_in_place_of_the_compiler_cache_is_survived(new_cache: Path, tmp_path: Path, zig: Compiler) -> None:
    assert cache_folder() == new_cache
    (new_cache / "zig").write_text("not a folder")
    compile_tiny(tmp_path / "tiny", zig)
    assert (tmp_path / "tiny" / "tiny.so").is_file()


def test_kept_objects_are_compiled_once_and_survive_damage(new_cache: Path, tmp_path: Path, zig: Compiler) -> None:
    """Of two FMUs; the bytes of a library do not depend on whether the cache holds the objects."""
    names = {"tiny.c": "tiny_real.c", "more.c": "more_dual.c"}
    write_sources({names[name]: text for name, text in TINY.items()}, tmp_path / "tiny")

    def library() -> bytes:
        files = tuple(names.values())
        return compile_fmu(tmp_path / "tiny", "Tiny", (host_platform(),), zig, files=files)[host_platform()]

    first = library()
    room = new_cache / "host"
    kept = {path: (path.read_bytes(), path.stat().st_ino) for path in room.iterdir()}
    assert sorted(path.stem.split("-")[0] for path in kept) == ["freestanding", "more_dual", "tiny_real"]
    assert library() == first and all(path.stat().st_ino == file for path, (_, file) in kept.items())
    for path, (good, _) in kept.items():
        scramble(path)
        assert library() == first and path.read_bytes() == good
    shutil.rmtree(room)
    room.write_text("not a folder")
    assert library() == first


@pytest.mark.parametrize(
    ("recipe", "other", "compiled"),
    [
        ('element = "point_mass"\n', "[start]\nm = 7.0\n", {"fmu", "element_real", "element_dual"}),
        ('[parts]\na = {recipe = "One"}\n', '[start]\n"a.m" = 7.0\n', {"fmu", "assembly_real", "assembly_dual"}),
    ],
    ids=["element", "assembly"],
)
@pytest.mark.slow
def test_recipes_that_differ_in_name_and_start_values_share_all_objects(
    recipe: str, other: str, compiled: set[str], new_cache: Path, tmp_path: Path
) -> None:
    """What is compiled of the second one are its tables, with its name and its GUID."""
    (tmp_path / "One.toml").write_text('element = "point_mass"\n', encoding="utf-8")
    libraries, objects = [], []
    for name, text in (("First", recipe), ("Second", recipe + other)):
        path = tmp_path / f"{name}.toml"
        path.write_text(text, encoding="utf-8")
        built = host_fmu(path, ("-O0",))
        with zipfile.ZipFile(built) as archive:
            (binary,) = (one for one in archive.namelist() if one.startswith("binaries/"))
            libraries.append(archive.read(binary))
        assert read_model_description(built).guid.encode() in libraries[-1]
        objects.append({path.name for path in (new_cache / "host").glob("*.o")})
    assert libraries[0] != libraries[1]
    assert objects[0] == objects[1] and compiled <= {name.split("-")[0] for name in objects[0]}


def test_an_object_is_kept_until_something_changes_that_it_includes(tmp_path: Path) -> None:
    texts = {
        "layer.c": '#include "room/a.h"\n#include "b.h"\n#include "absent.h"\n',
        "room/a.h": '#  include "c.h"\n#include <system.h>\n#define CC_FILE "d.h"\n',
        "b.h": '#include "layer.c"\n',
        "room/c.h": "",
        "c.h": "",
        "d.h": '/* #include "other.h" */\n',
        "other.h": "",
        "system.h": "",
    }
    write_sources(texts, tmp_path)
    found = included(tmp_path, "layer.c")
    assert found.keys() == {"layer.c", "room/a.h", "b.h", "room/c.h", "c.h", "d.h"}
    assert all(text.decode() == texts[name] for name, text in found.items())


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The cache folder of every start of the compiler."""
    found: list[Path] = []
    run = toolchain._run

    def counted(
        compiler: Compiler, arguments: list[str], folder: Path | None, cache: Path, objects: Path
    ) -> subprocess.CompletedProcess[str]:
        found.append(cache)
        return run(compiler, arguments, folder, cache, objects)

    monkeypatch.setattr(toolchain, "_run", counted)
    return found


@pytest.mark.slow
def test_without_optimization_no_file_of_an_fmu_is_optimized(
    new_cache: Path, zig: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last option counts, also one that is for the compiler behind the driver alone."""
    levels: list[str] = []
    run = toolchain._run

    def noted(_: Compiler, arguments: list[str], *more: Path) -> subprocess.CompletedProcess[str]:
        levels.append([one for one in arguments if re.fullmatch("-O[0-3sz]", one)][-1])
        return run(zig, arguments, *more)

    monkeypatch.setattr(toolchain, "_run", noted)
    for extra, expected in (((), {"-O1", "-O2"}), (("-O0",), {"-O0"})):
        with compile_folder("PointMass") as folder:
            write_sources(sources_of(shipped("fmus") / "PointMass.toml"), folder)
            compile_fmu(folder, "PointMass", (host_platform(),), zig, extra)
        assert {*levels} == expected and len(levels) >= 3
        levels.clear()


def test_an_error_in_the_source_is_no_reason_to_try_again(
    new_cache: Path, tmp_path: Path, zig: Compiler, runs: list[Path]
) -> None:
    (tmp_path / "bad.c").write_text("int f(void) { return undeclared; }\n")
    with pytest.raises(ToolError) as error:
        run_compiler(zig, ["-c", "bad.c"], tmp_path)
    assert len(runs) == 1
    assert "bad.c:1:22: error" in str(error.value) and "undeclared" in str(error.value)


def test_a_message_that_is_no_text_is_still_shown(new_cache: Path, tmp_path: Path) -> None:
    script = "import sys; sys.stderr.buffer.write(b'gr\\xfc\\xdfe: wrong'); sys.exit(3)"
    with pytest.raises(ToolError, match=r"exit 3(.|\n)*gr..e: wrong"):
        run_compiler(Compiler((sys.executable, "-c", script), cross=False, version=""), [])


# --- several builds at once -------------------------------------------------------------------------------------------


def test_two_builds_of_one_name_do_not_share_a_folder(new_cache: Path) -> None:
    with compile_folder("Pad") as first:
        with compile_folder("Pad") as second, compile_folder("Pad") as third, compile_folder("Rail") as other:
            assert len({first, second, third, other}) == 4
        assert not second.exists() and not third.exists()
    with compile_folder("Pad") as again:
        assert again == first and other.parent == first.parent


def test_a_file_system_without_locks_gives_every_build_its_own_folder(
    new_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")

    def no_locks(file: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with compile_folder("Pad") as folder:
        assert new_cache not in folder.parents and folder.is_dir()
    assert not folder.exists()


def test_sources_of_the_build_before_do_not_stay(tmp_path: Path) -> None:
    write_sources({"a.h": "1\n", "b.h": "2\n"}, tmp_path)
    before = (tmp_path / "a.h").stat().st_mtime_ns
    write_sources({"a.h": "1\n", "c.h": "Grüße\n"}, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"a.h", "c.h"}
    assert (tmp_path / "c.h").read_bytes() == "Grüße\n".encode()
    assert (tmp_path / "a.h").stat().st_mtime_ns == before  # compilers look at the time first


@pytest.mark.slow
def test_four_processes_build_into_one_empty_cache(tmp_path: Path) -> None:
    recipe = shipped("fmus") / "PointMass.toml"
    environment = os.environ | {"FMU_BUILDER_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    script = "import sys, fmu_builder; print(fmu_builder.build(sys.argv[1], sys.argv[2], ('host', 'win64')))"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(recipe), str(tmp_path / f"out{i}")],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for i in range(4)
    ]
    outputs = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, outputs
    assert len({(tmp_path / f"out{i}" / "PointMass.fmu").read_bytes() for i in range(4)}) == 1
    leftover = [path for i in range(4) for path in (tmp_path / f"out{i}").iterdir() if path.name != "PointMass.fmu"]
    assert leftover == []
