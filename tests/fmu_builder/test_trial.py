"""FMUs from elsewhere: a crash, a hang or an archive without bounds ends in an error with the FMU's name."""

from __future__ import annotations

import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from foreign import BODY, GAIN, foreign_fmu, library, model_description

from fmu_builder import cli, run
from fmu_builder.cosim.slave import Slave, read_slave
from fmu_builder.errors import InputError, SlaveError
from fmu_builder.export import archive, trial
from fmu_builder.export.fmu import build_fmu
from fmu_builder.export.toolchain import PLATFORMS, compile_hosted, find_compiler, host_platform
from fmu_builder.paths import shipped


def with_library(folder: Path, name: str, data: bytes) -> Path:
    """An FMU with these bytes as its library for this machine."""
    member = f"binaries/{host_platform()}/{name}{PLATFORMS[host_platform()].suffix}"
    return foreign_fmu(folder, name, platforms=(), files={member: data})


@pytest.fixture
def tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The trials that are made, with a cache that knows none."""
    made: list[tuple[Any, ...]] = []
    run_smoke = trial.run_smoke

    def counted(*arguments: Any) -> trial.Ending:
        made.append(arguments)
        return run_smoke(*arguments)

    cache = tmp_path / "cache"
    cache.mkdir()
    monkeypatch.setattr(trial, "cache_folder", lambda: cache)
    monkeypatch.setattr(trial, "_known", set())
    monkeypatch.setattr(trial, "run_smoke", counted)
    return made


# ---- crashes -----------------------------------------------------------------------------------------------------


def overwritten(data: bytes) -> bytes:
    """The library with zeros for its code: all behind the first page of a file whose headers are whole."""
    return data[:0x1000] + bytes(len(data) - 0x1000)


def test_the_version_is_that_of_the_root_and_not_of_a_comment(tmp_path: Path, tried: list[tuple[Any, ...]]) -> None:
    text = model_description("Gain", GAIN, "g0--")
    root = "<fmiModelDescription"
    noted = text[text.index(root) :].replace(root, f'<!-- from {root} fmiVersion="3.0"> -->\n{root}', 1)
    for data in (noted.encode(), f'<?xml version="1.0" encoding="UTF-16"?>{noted}'.encode("utf-16")):
        fmu = foreign_fmu(tmp_path, "Gain", GAIN, "g0--", description="", files={"modelDescription.xml": data})
        Slave("gain", read_slave(fmu)).close()
    assert len(tried) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="the loaders of other systems refuse such libraries")
@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], overwritten], ids=["truncated", "zeroed"])
def test_a_damaged_library_is_an_error_with_the_name_of_the_fmu(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, damage: object
) -> None:
    assert callable(damage)
    fmu = with_library(tmp_path, "Damaged", damage(library()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["fmu-builder", "run", "Damaged.fmu"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr().err
    assert ended.value.code == 3
    assert "fmu (Damaged.fmu): " in said and ("crashed in loading the library (SIG" in said or "does not load" in said)
    with pytest.raises(SlaveError, match=r"Damaged\.fmu"):
        run(fmu)


def test_a_crash_in_a_step_is_named_with_its_call_and_time(tmp_path: Path) -> None:
    fmu = foreign_fmu(tmp_path, "Falls", GAIN, guid="g0-c")
    with pytest.raises(SlaveError) as caught:
        Slave("gain", read_slave(fmu))
    message = str(caught.value)
    assert message.startswith("gain (Falls.fmu): crashed in fmi2DoStep at t = 0.005 s (") and "copy" in message


def test_a_crash_that_only_start_values_cause_is_an_error_that_says_so(
    tmp_path: Path, tried: list[tuple[Any, ...]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them are set in the trial, each type; values under which it runs are tried once."""
    fmu = foreign_fmu(tmp_path, "Stiff", BODY, guid="b0-s")
    scenario = tmp_path / "stiff.toml"

    def written(k: float) -> Path:
        start = f'{{ k = {k}, count = 2, mode = 1, on = false, label = "µ", r0 = [0, 0, 1] }}'
        times = "[experiment]\nstop = 0.01\nstep = 0.001\n"
        scenario.write_text(f'{times}[slaves]\nbody = {{ recipe = "{fmu.name}", start = {start} }}\n', "utf-8")
        return scenario

    for _ in range(2):
        run(written(10.0))
    assert len(tried) == 2  # without and with them
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["fmu-builder", "run", str(written(1e7).name)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = " ".join(capsys.readouterr().err.split())
    assert ended.value.code == 3 and len(tried) == 3
    assert "body (Stiff.fmu): crashed in fmi2DoStep at t = 0 s (" in said
    assert "with the start values of this run in a process of its own; without them it did not" in said


def test_a_library_that_ends_the_process_as_if_all_were_well_is_named(tmp_path: Path) -> None:
    source, target = tmp_path / "leave.c", tmp_path / f"leave{PLATFORMS[host_platform()].suffix}"
    source.write_text(
        "void _exit(int);\n__attribute__((constructor)) static void leave(void) { _exit(0); }\n", encoding="utf-8"
    )
    compiler = find_compiler()
    assert compiler is not None
    compile_hosted([source], target, [], compiler, [])
    fmu = with_library(tmp_path, "Leaves", target.read_bytes())
    with pytest.raises(SlaveError, match=r"^x \(Leaves\.fmu\): crashed in loading the library \(exit code 0x0\)"):
        Slave("x", read_slave(fmu))


def test_a_call_that_does_not_return_is_named(
    tmp_path: Path, tried: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*arguments: object, **options: object) -> None:
        raise subprocess.TimeoutExpired("smoke", 1.0, b"smoke: loading the library\nsmoke: fmi2Instantiate\n")

    monkeypatch.setattr(subprocess, "run", late)
    with pytest.raises(SlaveError, match=r"^x \(Slow\.fmu\): fmi2Instantiate did not return within 120 s"):
        Slave("x", read_slave(foreign_fmu(tmp_path, "Slow")))


@pytest.mark.parametrize("guid", ["03--", "b3--", "b4--", "b2t-", "b0n-"], ids=lambda guid: guid)
def test_what_an_fmu_answers_is_left_to_its_run(tmp_path: Path, tried: list[tuple[Any, ...]], guid: str) -> None:
    fmu = foreign_fmu(tmp_path, "Answers", BODY, guid=guid)
    trial.try_out(fmu, read_slave(fmu).library(), "x (Answers.fmu)")
    assert len(tried) == 1


def test_steps_of_a_nonsensical_length_are_not_tried(tmp_path: Path, tried: list[tuple[Any, ...]]) -> None:
    for experiment in ('startTime="INF" stepSize="NaN"', 'stepSize="-1"', 'stepSize="soon"', ""):
        fmu = foreign_fmu(tmp_path, "Odd", description=model_description("Odd", BODY, experiment=experiment))
        trial.try_out(fmu, read_slave(fmu).library(), "x (Odd.fmu)")
    assert len(tried) == 4


# ---- once --------------------------------------------------------------------------------------------------------


def test_an_fmu_is_tried_once_whatever_its_name(tmp_path: Path, tried: list[tuple[Any, ...]]) -> None:
    fmu = foreign_fmu(tmp_path, "Spring")
    copy = tmp_path / "Copy.fmu"
    copy.write_bytes(fmu.read_bytes())
    for path in (fmu, copy, fmu):
        Slave("x", read_slave(path)).close()
        trial._known.clear()  # as in another process
    assert len(tried) == 1
    foreign_fmu(tmp_path, "Spring", files={"resources/note.txt": b"changed"})
    Slave("x", read_slave(fmu)).close()
    assert len(tried) == 2


def test_an_fmu_that_crashed_is_not_taken_for_one_that_runs(tmp_path: Path, tried: list[tuple[Any, ...]]) -> None:
    fmu = foreign_fmu(tmp_path, "Falls", GAIN, guid="g0-c")
    for _ in range(2):
        with pytest.raises(SlaveError, match="crashed"):
            Slave("x", read_slave(fmu))
    assert len(tried) == 2


def test_without_a_cache_an_fmu_is_tried_once_a_process(
    tmp_path: Path, tried: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "cache_folder", lambda: tmp_path / "away")
    fmu = foreign_fmu(tmp_path, "Spring")
    for _ in range(3):
        Slave("x", read_slave(fmu)).close()
    assert len(tried) == 1


def test_what_a_build_made_is_known_by_its_bytes_and_not_by_what_it_says(
    tmp_path: Path, tried: list[tuple[Any, ...]]
) -> None:
    made = build_fmu(shipped("fmus") / "PointMass.toml", tmp_path, ("host",)).path
    Slave("mass", read_slave(made)).close()
    assert tried == []
    claims = model_description("Claims", BODY).replace('modelName="', 'generationTool="fmu-builder" modelName="')
    Slave("x", read_slave(foreign_fmu(tmp_path, "Claims", description=claims))).close()
    assert len(tried) == 1


# ---- archives without bounds ---------------------------------------------------------------------------------------


def bomb(path: Path, size: int) -> Path:
    """A small archive that unpacks to `size` zeros."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("modelDescription.xml", model_description("Bomb", GAIN))
        packed.writestr("resources/zeros", bytes(size))
    return path


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: object) -> None:
        raise AssertionError("unpacked")

    monkeypatch.setattr(zipfile.ZipFile, "testzip", read)
    with pytest.raises(InputError) as caught:
        read_slave(bomb(tmp_path / "Bomb.fmu", 32 * 2**20))
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'Bomb.fmu'}: unpacks to ") and "32 MiB; at most 200 times" in message


def test_a_small_file_may_pack_as_well_as_it_likes(tmp_path: Path) -> None:
    assert read_slave(bomb(tmp_path / "Fine.fmu", 8 * 2**20)).model_name == "Bomb"


def test_every_limit_of_an_archive_is_named_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_FILES", 2)
    monkeypatch.setattr(archive, "MOST_BYTES", 2**20)
    with pytest.raises(InputError) as caught:
        read_slave(foreign_fmu(tmp_path, "Large", files={"resources/a": bytes(2**20), "resources/b": b""}))
    files, size = caught.value.problems
    assert "holds 4 files; at most 2" in files.what and "unpacks to 1 MiB; at most 1 MiB" in size.what


def test_an_archive_that_lies_about_its_sizes_is_damaged(tmp_path: Path) -> None:
    """The declared size bounds what is read, so that no declaration gets round the limits."""
    path = bomb(tmp_path / "Lies.fmu", 2**20)
    data = path.read_bytes().replace(struct.pack("<I", 2**20), struct.pack("<I", 100))
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"checksum of resources/zeros is wrong"):
        read_slave(path)
