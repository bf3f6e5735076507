"""FMUs as slaves: which archives are refused and why, what is read of them, what they say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import fmpy
import pytest
from fmpy.fmi2 import FMU2Slave
from foreign import BODY, GAIN, Var, foreign_fmu, model_description, renamed, without_units

from fmu_builder.cosim import extraction
from fmu_builder.cosim.extraction import Extraction
from fmu_builder.cosim.slave import Slave, read_slave
from fmu_builder.errors import InputError, SlaveError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.export.toolchain import PLATFORMS, host_platform
from fmu_builder.paths import shipped


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where temporary files go; empty again at the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_slave(path)
    message = str(caught.value)
    assert all(line.startswith(f"{path}: ") for line in message.splitlines())
    return message.removeprefix(f"{path}: ")


# ---- archives ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["../evil", "resources/../../evil", "/etc/evil", "C:/evil", "\\\\host\\evil", "a\\..\\..\\b"]
)
def test_an_archive_that_would_write_elsewhere_is_refused_before_anything_is_extracted(
    tmp_path: Path, temporary: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def extract(*_: object, **__: object) -> None:
        raise AssertionError("extracted")

    monkeypatch.setattr(zipfile.ZipFile, "extractall", extract)
    monkeypatch.setattr(zipfile.ZipFile, "extract", extract)
    fmu = foreign_fmu(tmp_path, "Evil", files={name: b"x", "resources/fine": b""})
    message = refusal(fmu)
    assert f"'{name}'" in message and "outside its folder" in message


def test_backslashes_are_refused_with_the_repair(tmp_path: Path) -> None:
    message = refusal(foreign_fmu(tmp_path, "Back", files={"resources\\data.csv": b""}))
    assert "'resources\\data.csv'" in message and "forward slashes" in message


PLAIN = model_description("Plain", GAIN, "g0--")
ROOT = "<fmiModelDescription"


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        (PLAIN.replace(ROOT, f'{ROOT} xmlns="http://x.y"', 1), "line", "namespace 'http://x.y', and FMI has none"),
        (PLAIN.replace("<ModelVariables", '<ModelVariables xmlns="a:b"', 1), "line", "<ModelVariables> is in the nam"),
        (f"<!DOCTYPE a [<!ENTITY b 'c'>]>{PLAIN[PLAIN.index(ROOT) :]}", "", "declares a document type"),
        (PLAIN.replace(ROOT, "<other", 1).replace("</fmiModelDescription", "</other"), "", "is no fmiModelDescription"),
        (re.sub("<ModelVariables>.*</ModelVariables>", "", PLAIN, flags=re.DOTALL), "line", "ModelVariables"),
        (re.sub('valueReference="[0-9]+"', "", PLAIN, count=1), "line", "'valueReference' is required but missing"),
    ],
    ids=["namespace", "namespace inside", "document type", "other", "no variables", "no reference"],
)
def test_what_is_wrong_in_the_description_is_named(tmp_path: Path, text: str, where: str, what: str) -> None:
    message = refusal(foreign_fmu(tmp_path, "Plain", description=text))
    assert message.startswith("modelDescription.xml") and where in message and what in message
    assert "NoneType" not in message


def described(folder: Path, name: str, data: bytes) -> Path:
    """An FMU with these bytes as its description."""
    return foreign_fmu(folder, name, description="", files={"modelDescription.xml": data})


def test_a_description_in_another_encoding_than_it_declares_is_refused(tmp_path: Path) -> None:
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    text = head + PLAIN[PLAIN.index(ROOT) :]
    message = refusal(described(tmp_path, "Plain", text.encode("utf-16")))
    assert message.startswith("modelDescription.xml: is no XML that all tools read: encoding specified in XML")
    assert read_slave(described(tmp_path, "Plain", text.replace("UTF-8", "UTF-16").encode("utf-16"))).guid == "g0--"


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.fmu") == "there is no such file"


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_fmu_is_told(tmp_path: Path, share: float) -> None:
    whole = foreign_fmu(tmp_path, "Whole").read_bytes()
    cut = tmp_path / "cut.fmu"
    cut.write_bytes(whole[: int(share * len(whole))])
    assert "is no complete FMU (a zip archive)" in refusal(cut)


def test_a_file_that_is_no_zip_is_told(tmp_path: Path) -> None:
    path = tmp_path / "text.fmu"
    path.write_text("this is no zip archive", encoding="utf-8")
    assert "is no complete FMU (a zip archive)" in refusal(path)


def test_a_damaged_member_is_named(tmp_path: Path) -> None:
    path = foreign_fmu(tmp_path, "Damaged", files={"resources/data": b"0123456789" * 100})
    path.write_bytes(path.read_bytes().replace(b"0123456789", b"0123456780", 1))
    assert "the checksum of resources/data is wrong" in refusal(path)


def test_an_encrypted_archive_is_told(tmp_path: Path) -> None:
    path = foreign_fmu(tmp_path, "Secret")
    data = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(signature)
        data[at + flags] |= 1
    path.write_bytes(data)
    assert "cannot be unpacked" in refusal(path)


def test_an_archive_without_model_description_is_no_fmu(tmp_path: Path) -> None:
    assert "modelDescription.xml" in refusal(foreign_fmu(tmp_path, "None", description=""))


@pytest.mark.parametrize(
    "text",
    [
        "<fmiModelDescription",
        "",
        "<a/>",
        '<fmiModelDescription fmiVersion="2.0"><ModelVariables/></fmiModelDescription>',
    ],
)
def test_a_faulty_model_description_is_told(tmp_path: Path, text: str) -> None:
    assert "modelDescription.xml" in refusal(foreign_fmu(tmp_path, "Faulty", description=text or " "))


@pytest.mark.parametrize("fmi_version", ["1.0", "4.0"])
def test_other_versions_of_fmi_are_refused_by_name(tmp_path: Path, fmi_version: str) -> None:
    text = (
        f'<fmiModelDescription fmiVersion="{fmi_version}" modelName="X" modelIdentifier="X" instantiationToken="x"'
        ' guid="x" numberOfContinuousStates="0" numberOfEventIndicators="0"><CoSimulation modelIdentifier="X"/>'
        "<ModelVariables/><ModelStructure/></fmiModelDescription>"
    )
    message = refusal(foreign_fmu(tmp_path, "X", description=text))
    assert message == f"is for FMI {fmi_version}; 2.0 and 3.0 are supported"


def test_an_fmu_for_model_exchange_only_is_refused(tmp_path: Path) -> None:
    text = model_description("Me", BODY, interface="ModelExchange")
    assert "is for model exchange only" in refusal(foreign_fmu(tmp_path, "Me", description=text))


@pytest.mark.parametrize(("platforms", "named"), [((), "none"), (("win64", "win32"), "win64, win32")])
def test_an_fmu_without_a_binary_for_this_machine_names_those_it_has(
    tmp_path: Path, temporary: Path, platforms: tuple[str, ...], named: str
) -> None:
    description = read_slave(foreign_fmu(tmp_path, "Other", platforms=platforms))  # it can be read all the same
    with pytest.raises(SlaveError) as caught:
        Slave("other", description)
    expected = f"other (Other.fmu): has no binary for this machine ({host_platform()}); it has {named}"
    assert str(caught.value) == expected


def test_a_library_with_another_name_than_the_model_identifier_is_named(tmp_path: Path) -> None:
    fmu, moved = foreign_fmu(tmp_path, "Other"), tmp_path / "Moved.fmu"
    with zipfile.ZipFile(fmu) as old, zipfile.ZipFile(moved, "w") as new:
        for name in old.namelist():
            new.writestr(re.sub(r"(binaries/.*/)Other", r"\1Another", name), old.read(name))
    description = read_slave(moved)
    assert (description.obstacle() or "").startswith(
        f"has no binary for this machine: binaries/{host_platform()}/ lacks Other{PLATFORMS[host_platform()].suffix}; "
    )


# ---- what is read ------------------------------------------------------------------------------------------------


def test_variables_are_read_with_type_unit_dependency_and_literals(tmp_path: Path) -> None:
    description = read_slave(foreign_fmu(tmp_path, "Spring"))
    v = description.variables
    assert (v["p.r[2]"].type, v["p.r[2]"].unit, v["p.r[2]"].reference) == ("Real", "m", 1)
    assert v["p.r[2]"].depends == frozenset() and v["moving"].depends == {"on"}
    assert v["state"].literals == {"idle": 1, "loaded": 2}
    assert v["label"].type == "String"
    assert (description.start, description.stop, description.step) == (0.0, 0.01, 0.001)


def test_an_output_without_a_list_of_dependencies_depends_on_all(tmp_path: Path) -> None:
    gain = [Var("y", 17, "output", depends=None) if v.name == "y" else v for v in GAIN]
    assert read_slave(foreign_fmu(tmp_path, "Gain", gain)).variables["y"].depends is None


@pytest.mark.parametrize("experiment", ["", 'stopTime="soon" stepSize=""'])
def test_a_missing_or_faulty_default_experiment_is_none(tmp_path: Path, experiment: str) -> None:
    text = model_description("X", GAIN, experiment=experiment)
    description = read_slave(foreign_fmu(tmp_path, "X", description=text))
    assert (description.start, description.stop, description.step) == (0.0, None, None)


def test_ports_are_found_by_their_names(tmp_path: Path) -> None:
    ports = read_slave(foreign_fmu(tmp_path, "Spring", without_units(BODY))).ports
    assert {n: (p.kind, p.side) for n, p in ports.items()} == {"p": ("point", "body")}
    ports = read_slave(host_fmu(shipped("fmus") / "PointSurface.toml")).ports
    assert {n: (p.kind, p.side) for n, p in ports.items()} == {
        "point": ("point", "force"),
        "surface": ("frame", "force"),
    }


def test_names_deep_in_a_structure_make_ports_and_others_make_none(tmp_path: Path) -> None:
    deep = renamed(BODY, {"p.r": "arm.tip.r", "p.v": "arm.tip.v", "p.f": "arm.tip.f"})
    assert list(read_slave(foreign_fmu(tmp_path, "Deep", deep)).ports) == ["arm.tip"]
    other = renamed(BODY, {"p.r": "position", "p.v": "velocity", "p.f": "force"})
    assert read_slave(foreign_fmu(tmp_path, "Other", other)).ports == {}
    incomplete = [v for v in BODY if v.name != "p.v[2]"]
    assert read_slave(foreign_fmu(tmp_path, "Incomplete", incomplete)).ports == {}
    one_way = [replace(v, causality="output", start=None) if v.name.startswith("p.f") else v for v in BODY]
    assert read_slave(foreign_fmu(tmp_path, "OneWay", one_way)).ports == {}


# ---- loading and talking -----------------------------------------------------------------------------------------


def test_a_library_that_does_not_load_is_told_and_the_working_directory_stays(tmp_path: Path, temporary: Path) -> None:
    folder, name = host_platform(), f"Bad{PLATFORMS[host_platform()].suffix}"
    fmu = foreign_fmu(tmp_path, "Bad", platforms=(), files={f"binaries/{folder}/{name}": b"no library" * 100})
    before = Path.cwd()
    with pytest.raises(SlaveError, match=r"^bad \(Bad\.fmu\): does not load: "):
        Slave("bad", read_slave(fmu))
    assert Path.cwd() == before


def test_only_what_this_machine_needs_is_extracted_and_close_removes_it(tmp_path: Path, temporary: Path) -> None:
    fmu = foreign_fmu(
        tmp_path, "Big", platforms=(*PLATFORMS, "win32"), files={"resources/a.csv": b"", "sources/b.c": b""}
    )
    slave = Slave("big", read_slave(fmu))
    (folder,) = temporary.iterdir()
    found = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    assert found == [f"binaries/{host_platform()}/Big{PLATFORMS[host_platform()].suffix}", "resources/a.csv"]
    slave.close()
    slave.close()  # twice does no harm


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps a library that is loaded")
@pytest.mark.slow
def test_what_a_slave_that_is_never_closed_left_is_removed_when_python_ends(tmp_path: Path, temporary: Path) -> None:
    fmu = foreign_fmu(tmp_path, "Left")
    script = (
        "import os, sys, tempfile; from pathlib import Path\n"
        "from fmu_builder.cosim.slave import Slave, read_slave\n"
        "slave = Slave('left', read_slave(Path(sys.argv[1]))); print(len(os.listdir(tempfile.gettempdir())))"
    )
    command = [sys.executable, "-c", script, str(fmu)]
    environment = os.environ | {"TMPDIR": str(temporary)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_threads_share_one_complete_folder_which_the_last_one_removes(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fmu = foreign_fmu(tmp_path, "Shared", files={"resources/a.csv": b"whole"})
    unpack = extraction.unpack

    def slow(*arguments: Any) -> None:
        time.sleep(0.05)
        unpack(*arguments)

    def opened(_: int) -> tuple[Extraction, bytes]:
        one = Extraction.of(fmu, f"binaries/{host_platform()}", "guid")
        return one, (one.folder / "resources" / "a.csv").read_bytes()

    monkeypatch.setattr(extraction, "unpack", slow)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(opened, range(4)))
        assert {content for _, content in found} == {b"whole"}
        assert [one.folder for one, _ in found] == [*temporary.iterdir()] * 4
        list(threads.map(lambda pair: pair[0].close(), found))


@pytest.fixture
def started(tmp_path: Path, temporary: Path) -> Iterator[Callable[..., Slave]]:
    slaves: list[Slave] = []

    def start(name: str, guid: str = "b0--") -> Slave:
        slaves.append(Slave(name, read_slave(foreign_fmu(tmp_path, "Spring", BODY, guid))))
        return slaves[-1]

    yield start
    for slave in slaves:
        slave.close()


def test_a_refused_call_names_the_variable_that_the_message_points_to(started: Callable[..., Slave]) -> None:
    slave = started("body")
    with pytest.raises(SlaveError) as caught:
        slave.set(slave.description.variables["p.f[2]"], 1.0)
    assert str(caught.value) == (
        "body: fmi2SetReal answered fmi2Error (p.f[2] = 1.0 N); "
        "it logged: p.f[2] is an input; initialization mode is needed"
    )


def test_messages_go_to_the_slave_that_wrote_them_even_without_a_name(started: Callable[..., Slave]) -> None:
    first, second = started("first"), started("second")
    label = first.description.variables["label"]
    second.set(label, "right")  # logs with NULL for its name
    first.set(label, "100 %s left")
    assert [str(e) for e in first.log] == ["first: the label is now 100 %s left"]
    assert [str(e) for e in second.log] == ["second: the label is now right"]


def test_an_fmu_that_someone_else_loaded_still_prints_its_messages(
    tmp_path: Path, started: Callable[..., Slave], capfd: pytest.CaptureFixture[str]
) -> None:
    ours = started("ours")
    fmu = foreign_fmu(tmp_path, "Theirs")
    folder = fmpy.extract(str(fmu), tmp_path / "theirs")
    theirs = FMU2Slave(
        "theirs",
        guid="b0--",
        unzipDirectory=str(folder),
        modelIdentifier="Theirs",
        libraryPath=str(next(Path(folder).rglob(f"*{PLATFORMS[host_platform()].suffix}"))),
    )
    theirs.instantiate()
    theirs.setString([0], ["by hand"])
    theirs.freeInstance()
    shutil.rmtree(folder)
    assert "the label is now by hand" in capfd.readouterr().out
    assert ours.log == []


def test_an_error_does_not_repeat_what_the_one_before_has_told(temporary: Path) -> None:
    slave = Slave("floor", read_slave(host_fmu(shipped("fmus") / "PointSurface.toml")))
    try:
        told = []
        for name in ("C_r", "C_F"):
            with pytest.raises(SlaveError) as caught:
                slave.set(slave.description.variables[name], -1.0)
            told.append(str(caught.value))
    finally:
        slave.close()
    assert "(C_r = -1.0); it logged: fmi2SetReal: C_r = -1 is refused" in told[0]
    assert "(C_F = -1.0 N/m); it logged: fmi2SetReal: C_F = -1 N/m is refused" in told[1]


def test_our_own_message_of_a_refused_value_reaches_the_user(temporary: Path) -> None:
    slave = Slave("floor", read_slave(host_fmu(shipped("fmus") / "PointSurface.toml")))
    try:
        with pytest.raises(SlaveError) as caught:
            slave.set(slave.description.variables["C_F"], float("nan"))
    finally:
        slave.close()
    message = str(caught.value)
    assert message.startswith("floor: fmi2SetReal answered fmi2Error (C_F = nan N/m)") and "finite" in message
