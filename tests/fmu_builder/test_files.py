"""Files that are written: whole or not at all, through links, and to devices and FIFOs instead of in their place."""

from __future__ import annotations

import os
import re
import stat
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fmu_builder import cli
from fmu_builder.cosim.trace import Trace, read_trace, write_trace
from fmu_builder.errors import InputError, ToolError
from fmu_builder.export.toolchain import find_compiler
from fmu_builder.files import is_stream, staged, write_whole
from fmu_builder.paths import find_recipe
from fmu_builder.report.trace_plot import plot

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need rights there, and there are no FIFOs")
TRACE = Trace(np.array([0.0, 1.0]), ("x",), np.array([[1.0], [2.0]]), {"x": "m"})
WRITERS: dict[str, Callable[[Path], None]] = {
    "text": lambda path: write_whole(path, "text"),
    "bytes": lambda path: write_whole(path, b"bytes"),
    "trace": lambda path: write_trace(TRACE, path),
    "plot": lambda path: plot(TRACE, path),
}


def all_of_a_fifo(path: Path, write: Callable[[Path], None]) -> bytes:
    """What a reader gets while `write` writes."""
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    write(path)
    reader.join(timeout=60)
    return got[0]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_fifo_is_written_to_and_stays(tmp_path: Path, writer: str) -> None:
    fifo, plain = tmp_path / "fifo" / "out", tmp_path / "plain" / "out"
    for path in (fifo, plain):
        path.parent.mkdir()
    os.mkfifo(fifo)
    WRITERS[writer](plain)
    assert all_of_a_fifo(fifo, WRITERS[writer]) == plain.read_bytes()
    assert stat.S_ISFIFO(fifo.stat().st_mode) and list(fifo.parent.iterdir()) == [fifo]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_device_takes_what_is_written_and_stays(tmp_path: Path, writer: str) -> None:
    """Through a link, so that a fault does not replace the device of this machine."""
    link = tmp_path / "null"
    link.symlink_to("/dev/null")
    WRITERS[writer](link)
    assert link.is_symlink() and stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert list(tmp_path.iterdir()) == [link]


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_the_file_behind_it_is_replaced(tmp_path: Path, writer: str, exists: bool) -> None:
    real, link, chain = tmp_path / "far" / "real", tmp_path / "link", tmp_path / "chain"
    real.parent.mkdir()
    if exists:
        real.write_text("old", encoding="utf-8")
        real.chmod(0o640)
    link.symlink_to("far/real")
    chain.symlink_to(link)
    WRITERS[writer](chain)
    assert link.is_symlink() and chain.is_symlink() and real.is_file()
    assert real.read_bytes() not in (b"old", b"")
    assert not exists or stat.S_IMODE(real.stat().st_mode) == 0o640
    assert not [path for path in tmp_path.rglob("*.tmp")]


def test_a_trace_behind_a_link_is_read_back_with_its_units(tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to("real.csv")
    write_trace(TRACE, tmp_path / "link.csv")
    assert read_trace(tmp_path / "link.csv").units == {"x": "m"}


def test_standard_output_is_a_stream_even_where_it_is_a_file(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as file:
        assert is_stream(Path(f"/dev/fd/{file.fileno()}"))
    assert not is_stream(tmp_path / "out") and not is_stream(tmp_path / "none") and not is_stream(tmp_path)


def test_an_exception_leaves_every_target_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old", encoding="utf-8")
    with pytest.raises(ZeroDivisionError), staged(tmp_path / "a", tmp_path / "b") as (a, b):
        a.write_text("new", encoding="utf-8")
        b.write_text("new", encoding="utf-8")
        raise ZeroDivisionError
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text(encoding="utf-8") == "old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no such device")
def test_a_stream_that_takes_nothing_more_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="/dev/full: cannot be written: No space left on device"):
        write_whole(Path("/dev/full"), "text")


def test_run_writes_the_trace_to_a_fifo_and_no_json_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert find_compiler() is not None
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")

    def run(_: Path) -> None:
        monkeypatch.setattr(sys, "argv", ["fmu-builder", "run", "PointMass", "--stop", "10 ms", "-o", "fifo"])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert not ended.value.code, capsys.readouterr().err

    assert all_of_a_fifo(Path("fifo"), run).startswith(b'"time",')
    assert [path.name for path in tmp_path.iterdir()] == ["fifo"]


def test_two_outputs_behind_links_to_one_file_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("link.csv").symlink_to("a.csv")
    monkeypatch.setattr(sys, "argv", ["fmu-builder", "run", "PointMass", "-o", "a.csv", "--plot", "link.csv"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert "--plot: 'link.csv' is written by another option as well" in capsys.readouterr().err


_SWING = """description = "a mass on a floor"
connections = [["body.p", "Floor.point"]]
[experiment]
stop = "2 ms"
step = "1 ms"
[slaves]
body = "PointMass"
Floor = "Floor"
[drive]
"Floor.surface.r[3]" = { table = "d.csv" }
[reference]
file = "ref.csv"
source = "a run of the test"
signals = { "body.p.r[3]" = { absolute = 1 } }
"""
_FIT = """scenario = "swing.toml"
[parameters]
"Floor.C_F" = { start = "5e4 N/m", min = "1e4 N/m", max = "1e6 N/m" }
[[measurement]]
file = "camera.csv"
columns = { "z [m]" = "body.p.r[3]" }
"""


@pytest.mark.parametrize(
    "command",
    [
        "run swing.toml -o ref.csv",
        "run swing.toml -o d.csv",
        "run swing.toml -o a.csv --plot Floor.toml",
        "run swing.toml -o a.csv --plot Floor.stl",
        "validate swing.toml --report swing.toml",
        "validate swing.toml --report ref.csv",
        "fit fit.toml --report camera.csv",
        "fit fit.toml -o swing.toml",
        "ssp swing.toml -o Floor.toml",
    ],
)
def test_no_output_replaces_a_file_that_the_command_reads(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    floor = 'element = "point_surface"\n[surface]\nkind = "mesh"\nfile = "Floor.stl"\nunit = "m"\nopen = true\n'
    facet = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
    texts = {
        "swing.toml": _SWING,
        "fit.toml": _FIT,
        "Floor.toml": floor,
        "Floor.stl": f"solid\n{facet}endsolid\n",
        "d.csv": "time,F\n0,0\n1,1\n",
        "ref.csv": "time,body.p.r[3]\n0,0\n0.002,0\n",
        "camera.csv": "time,z [m]\n0,0\n0.001,0\n0.002,0\n",
    }
    for name, text in texts.items():
        Path(name).write_text(text)
    monkeypatch.setattr(sys, "argv", ["fmu-builder", *command.split()])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    target = command.rpartition(" ")[2]
    message = capsys.readouterr().err
    assert f"'{target}' is written by another option as well, or read; choose another name" in message
    assert ended.value.code == 2
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == texts


@pytest.mark.parametrize("name", ["mine.toml", "x.parquet", "x.mat", "x.xlsx"])
def test_a_trace_ends_as_csv_does(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text('element = "pendulum"\n')
    monkeypatch.setattr(sys, "argv", ["fmu-builder", "run", "PointMass", "-o", name])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    rule = f"'{name}' would be a trace in CSV under a name that says something else; end it with .csv"
    assert f"-o: {rule}" in capsys.readouterr().err
    with pytest.raises(InputError, match=re.escape(rule)):
        write_trace(TRACE, name)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"mine.toml": 'element = "pendulum"\n'}
    write_trace(TRACE, "X.CSV")
    assert read_trace("X.CSV").names == TRACE.names


def test_a_run_makes_the_reference_that_is_not_there_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("Floor.toml").write_text('element = "point_surface"\n[surface]\nkind = "plane"\n')
    Path("d.csv").write_text("time,r\n0,0\n1,1\n")
    Path("swing.toml").write_text(_SWING)
    cli.app(["run", "swing.toml", "-o", "ref.csv"], standalone_mode=False)
    assert Path("ref.csv").is_file()


def test_in_place_of_a_missing_recipe_only_files_that_are_there_are_suggested(tmp_path: Path) -> None:
    (tmp_path / "Floor.toml").symlink_to(tmp_path / "nowhere.toml")
    with pytest.raises(InputError, match=r"Floor\.toml: there is no such file$"):
        find_recipe(str(tmp_path / "Floor.toml"))
