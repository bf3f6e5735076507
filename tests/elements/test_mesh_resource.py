"""Meshes whose data lie in a file of the FMU's folder resources: the bits of meshes in the binary, and files that are
not the ones of the FMU."""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmi2 import ERROR, OK, QUICK, Fmu, Importer, Slave, only
from running import Running

from fmu_builder import run
from fmu_builder.check import check_fmu
from fmu_builder.cosim.slave import read_slave
from fmu_builder.errors import InputError, SlaveError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.model.loader import load_model
from fmu_builder.pages.module import wasm_module
from fmu_builder.paths import shipped
from fmu_builder.recording.wrapping import record_fmu
from tests.benchmarks.test_mesh_speed import torus
from tests.fmus.fmi3_twins import Instance, Library

MESHES = shipped("fmus") / "meshes"
SURFACE = '[surface]\nkind = "mesh"\nunit = "mm"\nfile = "{}.stl"\n{}\n[start]\nC_F = 1e5\nC_r = 0.5\nK_fr = 0.3\n'
BOWL = 'element = "point_surface"\n' + SURFACE.format("bowl", 'open = true\nside = "inside"')
BALL = 'element = "point_surface"\n' + SURFACE.format("ball", "")
BOTH = """
description = "A bead in a bowl, and a ball that it meets"
connections = [["bead.p", "bowl.point"], ["bead.p", "ball.point"]]

[parts]
bead = { recipe = "PointMass", start = { r0 = ["80 mm", 0, "-60 mm"], v0 = [0, "0.8 m/s", 0] } }
bowl = { recipe = "Bowl.toml" }
ball = { recipe = "Ball.toml", start = { "surface.r" = [0, "60 mm", "-60 mm"] } }

[experiment]
step = "1 ms"
"""
HEADER = 64


def in_files(patch: pytest.MonkeyPatch) -> None:
    """Every mesh lies in a file, however small."""
    patch.setattr("fmu_builder.model.mesh.MOST_EMBEDDED", 0)


class Unpacked(Fmu):
    """An FMU whose instances find its resources, in a folder of its own."""

    def __init__(self, file: Path, folder: Path) -> None:
        super().__init__(file, folder)
        self.folder = folder / "with blank and ü" / "resources"
        with zipfile.ZipFile(file) as archive:
            for name in archive.namelist():
                if name.startswith("resources/"):
                    self.folder.mkdir(parents=True, exist_ok=True)
                    (self.folder / name.removeprefix("resources/")).write_bytes(archive.read(name))

    def instantiate(self, importer: Importer | None = None, **options: Any) -> Slave | None:
        return super().instantiate(importer, **({"resources": self.folder.as_uri().encode()} | options))

    @property
    def files(self) -> list[Path]:
        return sorted(self.folder.iterdir())

    def maps(self) -> int:
        """How many of its files this process has in its memory."""
        return Path("/proc/self/maps").read_text().count(os.fsencode(self.folder).decode("utf-8"))


@pytest.fixture(scope="module")
def recipes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recipes")
    for name in ("bowl", "ball"):
        shutil.copy(MESHES / f"{name}.stl", folder)
    for name, text in {"Bowl": BOWL, "Ball": BALL, "Both": BOTH}.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def fmus(recipes: Path) -> dict[str, dict[bool, Path]]:
    """The FMUs by name, with data in binaries and in files."""
    found: dict[str, dict[bool, Path]] = {name: {False: host_fmu(recipes / f"{name}.toml", QUICK)} for name in NAMES}
    with pytest.MonkeyPatch.context() as patch:
        in_files(patch)
        for name in NAMES:
            found[name][True] = host_fmu(recipes / f"{name}.toml", QUICK)
    return found


NAMES = ("Bowl", "Both")


@pytest.fixture
def unpacked(fmus: dict[str, dict[bool, Path]], tmp_path: Path) -> Callable[[str], Unpacked]:
    return lambda name: Unpacked(fmus[name][True], tmp_path / name)


@pytest.fixture
def bowl(unpacked: Callable[[str], Unpacked], tmp_path: Path) -> Unpacked:
    (tmp_path / "Bowl").mkdir()
    return unpacked("Bowl")


@pytest.fixture
def both(unpacked: Callable[[str], Unpacked], tmp_path: Path) -> Unpacked:
    (tmp_path / "Both").mkdir()
    return unpacked("Both")


# ---- the same bits ---------------------------------------------------------------------------------------------------


def moved(t: float) -> dict[str, Any]:
    """Along the bowl, in and out of its triangles."""
    angle = 0.3 + 5.0 * t
    at = (0.1 + 1e-3 * np.sin(40.0 * t)) * np.array([0.5 * np.cos(angle), 0.5 * np.sin(angle), -np.sqrt(0.75)])
    return {"point.r": at, "point.v": np.array([0.3, -0.2, 0.1])}


def values_along(fmu: Fmu, steps: int) -> list[bytes]:
    running = Running(fmu, moved(0.0) if "point.r[1]" in fmu.references else None)
    found = []
    for k in range(1, steps + 1):
        running.step(1e-3)
        if "point.r[1]" in fmu.references:
            running.set(moved(1e-3 * k))
        found.append(running.slave.all_values())
    return found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
def test_data_in_a_file_give_the_bits_of_data_in_the_binary(
    name: str, fmus: dict[str, dict[bool, Path]], tmp_path: Path
) -> None:
    folders = [tmp_path / "in_file", tmp_path / "in_binary"]
    for folder in folders:
        folder.mkdir()
    in_file, in_binary = Unpacked(fmus[name][True], folders[0]), Fmu(fmus[name][False], folders[1])
    assert len(in_file.files) == (1 if name == "Bowl" else 2)
    of_file, of_binary = values_along(in_file, 300), values_along(in_binary, 300)
    assert of_file == of_binary and len(set(of_file)) == 300


def test_fmi_3_reads_the_file_from_its_resource_path(
    recipes: Path, fmus: dict[str, dict[bool, Path]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    in_files(monkeypatch)
    three = Library(host_fmu(recipes / "Bowl.toml", QUICK, 3), 3, tmp_path / "three")
    two = Library(fmus["Bowl"][False], 2, tmp_path / "two")
    there, three.resources = three.resources, str(tmp_path / "nowhere")
    texts: list[str] = []
    log = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)(
        lambda environment, status, category, text: texts.append(f"{status} {category.decode()} {text.decode()}")
    )
    make = three.library.fmi3InstantiateModelExchange
    make.restype = ctypes.c_void_p
    assert make(b"one", three.token.encode(), b"/nowhere/", False, False, None, log) is None
    assert only(texts).startswith("3 logStatusError fmi3InstantiateModelExchange: surface_mesh_")
    assert "give its folder resources as resourcePath; looked for at /nowhere/surface_mesh_" in only(texts)
    for place in (there, there.rstrip("/"), Path(there).as_uri()):
        three.resources = place
        instances = [Instance(library, 1) for library in (three, two)]
        names = [name for name, v in three.variables.items() if v.kind == "real" and v.causality == "output"]
        point = [f"point.r[{i}]" for i in (1, 2, 3)]
        for instance in instances:
            assert instance.begin() == OK
        for k in range(20):
            found = []
            for instance in instances:
                assert instance.set(instance.group(point), list(moved(1e-3 * k)["point.r"])) == OK
                assert instance.step(1e-3 * k, 1e-3) == OK
                values = instance.group(names)
                assert instance.get(values) == OK
                found.append(bytes(values.values))
            assert found[0] == found[1]
        for instance in instances:
            instance.free()


def test_the_limit_is_a_number_of_triangles(recipes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the limit all is as without it; a triangle more lies in a file."""
    (embedded,) = [one for one in load_model(recipes / "Bowl.toml").constants if one.name == "surface_mesh"]
    count = int.from_bytes(embedded.values[:4], "little")
    for limit, is_resource in ((count, False), (count - 1, True)):
        monkeypatch.setattr("fmu_builder.model.mesh.MOST_EMBEDDED", limit)
        model = load_model(recipes / "Bowl.toml")
        (found,) = [one for one in model.constants if one.name == "surface_mesh"]
        assert (found.is_resource, found.values) == (is_resource, embedded.values)
        assert any("resources" in note for note in model.notes()) == is_resource


# ---- of all instances ------------------------------------------------------------------------------------------------


def test_instances_share_one_map_which_the_last_one_gives_back(both: Unpacked) -> None:
    assert both.maps() == 0
    slaves = [both.slave() for _ in range(3)]
    assert both.maps() == 2
    for slave in slaves:
        assert both.maps() == 2
        slave.free()
    assert both.maps() == 0
    running = Running(both)  # and again from the beginning
    assert both.maps() == 2
    shutil.rmtree(both.folder)
    running.step(1e-3)
    other = both.slave(resources=None)  # what is there needs no file
    running.slave.free()
    assert both.maps() > 0
    other.free()
    assert both.maps() == 0


def test_an_instance_without_memory_gives_its_data_back(bowl: Unpacked) -> None:
    importer = Importer(places=0)
    assert bowl.instantiate(importer) is None
    assert "no memory" in only(importer.messages).text
    assert bowl.maps() == 0


def test_threads_begin_and_end_instances_side_by_side(bowl: Unpacked) -> None:
    expected, found, faults = values_along(bowl, 3), [], []

    def work() -> None:
        try:
            for _ in range(20):
                slave = bowl.slave()
                slave.free()
            found.append(values_along(bowl, 3))
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults and found == [expected] * 8


# ---- files that are not the ones of the FMU --------------------------------------------------------------------------


def refusal(fmu: Unpacked, **options: Any) -> str:
    """The one message of an FMU that makes no instance, and keeps nothing."""
    importer = Importer()
    assert fmu.instantiate(importer, logging=False, **options) is None
    message = only(importer.messages)
    assert (message.status, message.category) == (ERROR, "logStatusError")
    assert importer.allocated == importer.freed and fmu.maps() == 0
    return message.text


def rewritten(at: int, new: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data[:at] + new + data[at + len(new) :]


WRONG = {
    "cut off in its data": (lambda data: data[:-64], " bytes in the place of "),
    "cut off in its header": (lambda data: data[:40], "has 40 bytes in the place of "),
    "empty": (lambda data: b"", "has 0 bytes in the place of "),
    "longer": (lambda data: data + b"\0", " bytes in the place of "),
    "of another kind": (rewritten(0, b"PK\3\4"), "does not begin with FMUBDATA"),
    "of another format": (rewritten(8, b"\2"), "has another format than this binary reads"),
    "of another size": (rewritten(16, b"\1"), "belongs to another FMU"),
    "of another build": (rewritten(24, b"12345678"), "belongs to another FMU, or to another build of this one"),
    "changed in front": (rewritten(HEADER, b"\xff"), "was changed: its check sums are wrong"),
    "changed at its end": (lambda data: data[:-1] + b"\1", "was changed: its check sums are wrong"),
    "changed in its spare": (rewritten(60, b"\1"), "was changed: its check sums are wrong"),
    "zeros": (lambda data: bytes(len(data)), "does not begin with FMUBDATA"),
}


@pytest.mark.parametrize("how", WRONG)
def test_another_file_is_refused_with_its_fault_its_place_and_the_repair(bowl: Unpacked, how: str) -> None:
    (file,) = bowl.files
    data = file.read_bytes()
    change, fault = WRONG[how]
    file.write_bytes(change(data))
    text = refusal(bowl)
    assert fault in text and text.startswith(f"fmi2Instantiate: {file.name} ")
    assert "unpack it again as a whole, and give its folder resources as fmuResourceLocation" in text
    assert text.endswith(f"looked for at {file}")
    file.write_bytes(data)
    bowl.slave().free()


@pytest.mark.parametrize("k", range(6))
def test_no_flipped_bit_gives_an_instance(bowl: Unpacked, k: int) -> None:
    """Bits all over the header, and in the data at random."""
    (file,) = bowl.files
    data = file.read_bytes()
    draw = random.Random(k)
    bits = [*range(k, 8 * HEADER, 12), *(draw.randrange(8 * HEADER, 8 * len(data)) for _ in range(30))]
    for bit in bits:
        file.write_bytes(rewritten(bit // 8, bytes([data[bit // 8] ^ 1 << bit % 8]))(data))
        refusal(bowl)


def test_files_of_two_parts_that_have_changed_places_are_refused(both: Unpacked) -> None:
    one, other = both.files
    first, second = one.read_bytes(), other.read_bytes()
    longer = max(first, second, key=len)
    one.write_bytes(second)
    other.write_bytes(first)
    assert " bytes in the place of " in refusal(both)
    for file, own in ((one, first), (other, second)):  # and one of the right size, with the header of the other
        file.write_bytes(longer[:HEADER] + own[HEADER:] if own is not longer else own)
    assert "belongs to another FMU" in refusal(both)
    one.write_bytes(first)
    other.unlink()
    assert f"{other.name} is missing" in refusal(both)


def test_what_is_no_file_is_refused_at_once(bowl: Unpacked) -> None:
    (file,) = bowl.files
    file.unlink()
    assert f"{file.name} is missing" in refusal(bowl)
    file.mkdir()
    assert f"looked for at {file}" in refusal(bowl)
    file.rmdir()
    os.mkfifo(file)  # which nobody writes to
    refusal(bowl)
    file.unlink()
    file.symlink_to("/dev/zero")
    assert "has 0 bytes in the place of " in refusal(bowl)


PLACES: dict[str, tuple[bytes | None, str]] = {
    "none": (None, "fmuResourceLocation is NULL, and the FMU needs surface_mesh_"),
    "empty": (b"", "fmuResourceLocation is empty, and the FMU needs surface_mesh_"),
    "too long": (b"file:///" + b"x" * 2000, "fmuResourceLocation is no path of at most 899 bytes: unpack the FMU into"),
    "with an end": (b"file:///tmp%00", "fmuResourceLocation is no path of at most 899 bytes"),
    "elsewhere": (b"file:///models/resources", "is missing; the FMU takes the file of its own build"),
    "a file": (b"file:///etc/passwd/", "is missing"),
    "with signs of printf": (b"file:///%25s%25n%23r1%23/x", "looked for at /%s%n#r1#/x/surface_mesh_"),
}


@pytest.mark.parametrize("how", PLACES)
def test_a_place_without_the_file_is_refused(bowl: Unpacked, how: str) -> None:
    place, what = PLACES[how]
    assert what in refusal(bowl, resources=place)


def test_a_long_path_leaves_room_for_fault_and_repair(bowl: Unpacked) -> None:
    text = refusal(bowl, resources=b"/" + b"x" * 890)
    assert "give its folder resources as fmuResourceLocation; looked for at /xxx" in text


@pytest.mark.parametrize("form", ["file://{}", "file:{}", "file://localhost{}", "file://{}/", "{}", "{}/"])
def test_every_form_of_the_place_leads_to_the_file(bowl: Unpacked, form: str) -> None:
    place = bowl.folder.as_uri().removeprefix("file://") if "file" in form else str(bowl.folder)
    bowl.slave(resources=form.format(place).encode()).free()


# ---- around the FMU --------------------------------------------------------------------------------------------------

SYSTEM = """
[slaves]
both = "Both.fmu"

[experiment]
stop = "50 ms"
step = "1 ms"
"""


def test_runs_in_other_processes_and_with_a_recorder_have_the_same_bits(
    fmus: dict[str, dict[bool, Path]], tmp_path: Path
) -> None:
    shutil.copy(fmus["Both"][True], tmp_path / "Both.fmu")
    (tmp_path / "System.toml").write_text(SYSTEM, encoding="utf-8")
    plain, isolated = run(tmp_path / "System.toml"), run(tmp_path / "System.toml", isolated=True)
    assert plain.trace.values.tobytes() == isolated.trace.values.tobytes()
    (tmp_path / "recorded").mkdir()
    record_fmu(tmp_path / "Both.fmu", tmp_path / "recorded" / "Both.fmu", tmp_path)
    shutil.copy(tmp_path / "System.toml", tmp_path / "recorded")
    recorded = run(tmp_path / "recorded" / "System.toml")
    assert recorded.trace.values.tobytes() == plain.trace.values.tobytes()
    assert list(tmp_path.glob("*.calls"))


@pytest.mark.parametrize(
    ("change", "fault"),
    [(None, "is missing"), (WRONG["changed at its end"][0], "was changed"), (WRONG["empty"][0], "was cut off")],
    ids=["missing", "changed", "empty"],
)
def test_an_fmu_without_its_file_gives_no_run_no_page_and_a_finding(
    change: Callable[[bytes], bytes] | None, fault: str, fmus: dict[str, dict[bool, Path]], tmp_path: Path
) -> None:
    damaged = tmp_path / "Both.fmu"
    with zipfile.ZipFile(fmus["Both"][True]) as whole, zipfile.ZipFile(damaged, "w") as archive:
        first = min(name for name in whole.namelist() if name.startswith("resources/"))
        for name in whole.namelist():
            if name != first:
                archive.writestr(name, whole.read(name))
            elif change is not None:
                archive.writestr(name, change(whole.read(name)))
    with pytest.raises(
        SlaveError, match=r"fmi2Instantiate returned no instance; it logged: .*surface_mesh_.* resources"
    ):
        run(damaged)
    found = check_fmu(damaged).findings
    assert [one.found.what for one in found if "it logs: fmi2Instantiate: surface_mesh_" in one.found.what]
    with pytest.raises(InputError, match=rf"{first} .*{fault}.*: copy the FMU again, or build it again"):
        wasm_module(read_slave(damaged))


# ---- a million triangles ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_million_triangles_are_few_bytes_in_a_binary_and_start_at_once(tmp_path: Path) -> None:
    (tmp_path / "part.stl").write_bytes(torus(708))
    surface = '[surface]\nkind = "mesh"\nfile = "part.stl"\nunit = "m"\n[start]\nC_F = "1e5 N/m"\n'
    (tmp_path / "Million.toml").write_text(f'element = "point_surface"\n{surface}', encoding="utf-8")
    file = host_fmu(tmp_path / "Million.toml")
    with zipfile.ZipFile(file) as archive:
        sizes = {one.filename: one.file_size for one in archive.infolist()}
    assert sum(size for name, size in sizes.items() if name.startswith("binaries/")) < 2**20
    assert sum(size for name, size in sizes.items() if name.startswith("resources/")) < 120e6
    fmu = Unpacked(file, tmp_path)
    begin = os.times()
    slave = fmu.slave()
    end = os.times()
    assert end.user + end.system - begin.user - begin.system < 0.2  # s
    slave.initialize({"point.r[1]": 1.4, "point.r[2]": 0.0, "point.r[3]": 0.0})
    assert slave.get("distance") == [pytest.approx(0.1, abs=1e-5)]
    slave.free()
    fmpy.validation.validate_fmu(str(file))
