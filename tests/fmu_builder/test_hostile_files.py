"""Files that no user would write: without end, without bounds, with what no FMU can hold.  Each is named."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from foreign import GAIN, foreign_fmu, model_description

from fmu_builder import files
from fmu_builder.cosim.master import load_scenario
from fmu_builder.cosim.slave import read_slave
from fmu_builder.cosim.trace import read_trace
from fmu_builder.errors import InputError
from fmu_builder.laws.tables import read_table
from fmu_builder.model.loader import load_model
from fmu_builder.model.toml_files import read_toml

MASS = 'element = "point_mass"\n'


def refusal(read: Callable[[Path], object], path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read(path)
    return str(caught.value)


def toml(folder: Path, text: str) -> Path:
    path = folder / "Mass.toml"
    path.write_text(text, encoding="utf-8")
    return path


# ---- TOML --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("brackets", [("[", "]"), ("{ a = ", "}")], ids=["arrays", "tables"])
def test_brackets_without_end_are_refused(tmp_path: Path, brackets: tuple[str, str]) -> None:
    opened, closed = (bracket * 20_000 for bracket in brackets)
    path = toml(tmp_path, f"{MASS}[start]\nm = {opened}1{closed}\n")
    assert refusal(load_model, path) == f"{path}: has too many nested brackets"


def test_a_number_of_too_many_digits_is_refused(tmp_path: Path) -> None:
    path = toml(tmp_path, f"{MASS}[start]\nm = {'9' * 5000}\n")
    assert refusal(load_model, path).startswith(f"{path}: is not valid TOML: Exceeds the limit")


@pytest.mark.parametrize("character", ["\x00", "\x01", "\x0b", "\x1f", "\ufffe", "\uffff"], ids=ascii)
def test_a_text_that_no_xml_can_hold_is_named_with_its_place(tmp_path: Path, character: str) -> None:
    escape = f"\\u{ord(character):04X}"
    path = toml(tmp_path, f'{MASS}description = "a{escape}b"\n[start]\nr0 = [0, "{escape}", 0]\n"m{escape}" = 1\n')
    problems = refusal(load_model, path).splitlines()
    for problem, where in zip(problems, ("description", "[start.r0] 2", "[start] a key"), strict=True):
        assert problem.startswith(f"{path}: {where}: ")
        assert problem.endswith(f"the character U+{ord(character):04X} cannot be written into an FMU; remove it")


def test_the_characters_of_all_languages_and_line_breaks_are_taken(tmp_path: Path) -> None:
    path = toml(tmp_path, f'{MASS}description = "Größe, 質量, 🎱\\tand\\r\\n\\u0085"\n')
    assert load_model(path).description == "Größe, 質量, 🎱\tand\r\n\u0085"


def test_a_byte_order_mark_is_no_part_of_a_recipe(tmp_path: Path) -> None:
    path = tmp_path / "Mass.toml"
    path.write_bytes(b"\xef\xbb\xbf" + MASS.encode())
    assert load_model(path).name == "Mass"


# ---- data files --------------------------------------------------------------------------------------------------


READERS: dict[str, Callable[[Path], object]] = {
    "recipe": read_toml,
    "trace": read_trace,
    "law": lambda path: read_table(path, {"table": path.name}, "law"),
    "points": lambda path: load_model(line_of(path)),
}


def line_of(points: Path) -> Path:
    recipe = points.parent / "Line.toml"
    recipe.write_text(f'element = "point_line_2"\n[line]\npoints = "{points.name}"\n', encoding="utf-8")
    return recipe


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such devices")
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", ["/dev/zero", "fifo"])
def test_devices_and_fifos_are_not_read(tmp_path: Path, reader: str, kind: str) -> None:
    """A link to the device: a fault must not wait for a FIFO, nor fill the memory, of which /dev/zero gives no end."""
    path = tmp_path / "data.csv"
    if kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(kind)
    assert f"{path}: is a device or FIFO; only regular files are read" in refusal(READERS[reader], path)


@pytest.mark.parametrize("reader", READERS)
def test_a_file_beyond_the_limit_is_refused_unread(
    tmp_path: Path, reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data.csv"
    if reader == "recipe":
        with path.open("wb") as file:  # sparse: it takes no room on the disk
            file.truncate(64 * 2**20 + 1)
    else:
        path.write_bytes(b"0" * 2001)
        monkeypatch.setattr(files.read_text, "__defaults__", (2000,))
    assert f"{path}: has more than " in refusal(READERS[reader], path)


@pytest.mark.parametrize("reader", READERS)
def test_a_folder_and_other_encodings_are_named(tmp_path: Path, reader: str) -> None:
    path = tmp_path / "data.csv"
    path.mkdir()
    assert f"{path}: is a folder; only regular files are read" in refusal(READERS[reader], path)
    path.rmdir()
    path.write_bytes("x,y\n1,\xb5\n".encode("latin-1"))
    assert f"{path}: line 2: is not UTF-8 text: invalid start byte" in refusal(READERS[reader], path)


# ---- DefaultExperiment of an FMU ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("experiment", "said"),
    [
        ('stepSize="NaN"', "stepSize: 'NaN' must be a finite number, in s; give --step, or "),
        ('stepSize="-1"', "stepSize: -1 s must be greater than 0; give --step, or "),
        ('stepSize="0"', "stepSize: 0 s must be greater than 0; give --step, or "),
        ('stepSize="soon"', "stepSize: 'soon' must be a finite number, in s; give --step, or "),
        ('stepSize="1e-300"', "stepSize: 1e-300 s makes 1e+300 steps; at most 1e+09 are run; give --step, or "),
        ('stopTime="1e300" stepSize="1e-300"', "stepSize: 1e-300 s makes inf steps; at most 1e+09 are run; give "),
        ('stopTime="INF"', "stopTime: 'INF' must be a finite number, in s; give --stop, or "),
        ('startTime="-INF"', "startTime: '-INF' must be a finite number, in s; name the FMU in a scenario "),
    ],
)
def test_times_of_an_fmu_that_make_no_run_are_named(tmp_path: Path, experiment: str, said: str) -> None:
    fmu = foreign_fmu(tmp_path, "Odd", description=model_description("Odd", GAIN, "g0--", experiment=experiment))
    message = refusal(load_scenario, fmu)
    assert message.startswith(f"{fmu}: DefaultExperiment {said}")
    if "--" in said:
        key = said.partition("--")[2][:4]
        assert load_scenario(fmu, [key]).slaves.keys() == {"fmu"}  # the command line replaces the time


def test_all_faulty_times_of_an_fmu_are_named_at_once(tmp_path: Path) -> None:
    text = model_description("Odd", GAIN, experiment='startTime="NaN" stopTime="x" stepSize="-INF"')
    fmu = foreign_fmu(tmp_path, "Odd", description=text)
    assert [line.split(": ")[1] for line in refusal(load_scenario, fmu).splitlines()] == [
        f"DefaultExperiment {key}" for key in ("startTime", "stepSize", "stopTime")
    ]
    description = read_slave(fmu)
    assert (description.start, description.stop, description.step) == (0.0, None, None)


def test_a_literal_without_a_number_is_a_fault_of_the_description(tmp_path: Path) -> None:
    text = model_description("Odd", GAIN).replace('value="1"/>', 'value="one"/>', 1)
    message = refusal(read_slave, foreign_fmu(tmp_path, "Odd", description=text))
    assert "modelDescription.xml: line 4: " in message and "'one' is not a valid value" in message
