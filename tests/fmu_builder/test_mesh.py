"""Meshes from files: what is read of each format, and what a faulty one is refused with."""

from __future__ import annotations

import itertools
import math
import struct
from pathlib import Path

import numpy as np
import pytest

from fmu_builder.errors import InputError
from fmu_builder.files import recorded_reads
from fmu_builder.model.mesh import MOST_TRIANGLES, Mesh, inspect_mesh, read_mesh

CUBE = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
QUADS = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
FACES = [face for a, b, c, d in QUADS for face in ((a, b, c), (a, c, d))]


def obj(vertices: object, faces: object) -> str:
    lines = ["v " + " ".join(map(repr, map(float, v))) for v in vertices]  # type: ignore[attr-defined]
    lines += ["f " + " ".join(str(i + 1) for i in face) for face in faces]  # type: ignore[attr-defined]
    return "\n".join(lines) + "\n"


def ply(vertices: object, faces: object) -> str:
    head = f"ply\nformat ascii 1.0\nelement vertex {len(vertices)}\nproperty double x\nproperty double y\n"  # type: ignore[arg-type]
    head += f"property double z\nelement face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"  # type: ignore[arg-type]
    rows = [" ".join(map(repr, map(float, v))) for v in vertices]  # type: ignore[attr-defined]
    rows += [" ".join(map(str, (len(face), *face))) for face in faces]  # type: ignore[attr-defined]
    return head + "\n".join(rows) + "\n"


def stl(vertices: np.ndarray, faces: object, count: int | None = None) -> bytes:
    corners = [np.array([(0.0, 0.0, 0.0), *(vertices[i] for i in face)], "<f4") for face in faces]  # type: ignore[attr-defined]
    body = b"".join(one.tobytes() + b"\0\0" for one in corners)
    return b"a part".ljust(80, b"\0") + struct.pack("<I", len(corners) if count is None else count) + body


def stl_text(vertices: np.ndarray, faces: object) -> str:
    def loop(face: tuple[int, ...]) -> str:
        rows = "\n".join("vertex " + " ".join(map(str, vertices[i])) for i in face)
        return f"facet normal 0 0 0\nouter loop\n{rows}\nendloop\nendfacet"

    return "solid part\n" + "\n".join(map(loop, faces)) + "\nendsolid part\n"  # type: ignore[arg-type]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    "name, content",
    [
        ("a.stl", stl(1000.0 * CUBE, FACES)),
        ("b.stl", stl_text(1000.0 * CUBE, FACES)),
        ("c.obj", obj(1000.0 * CUBE, FACES)),
        ("d.OBJ", obj(1000.0 * CUBE, QUADS)),
        ("e.ply", ply(1000.0 * CUBE, QUADS)),
    ],
)
def test_a_cube_is_the_same_in_every_format(tmp_path: Path, name: str, content: str | bytes) -> None:
    path = written(tmp_path, name, content)
    with recorded_reads() as files:
        cube = read_mesh(path, unit=1e-3, place=(1.0, 0.0, -1.0))
    assert files == [path], "what was read belongs to the files of the recipe"
    assert len(cube.vertices) == 8 and len(cube.triangles) == 12 and cube.is_closed
    assert cube.volume == pytest.approx(1.0, rel=1e-15) and cube.area == pytest.approx(6.0, rel=1e-15)
    assert cube.vertices.min(axis=0).tolist() == [1.0, 0.0, -1.0] and cube.size.tolist() == [1.0, 1.0, 1.0]
    for k in range(3):
        edges = {(t[k], t[(k + 1) % 3]): i for i, t in enumerate(cube.triangles.tolist())}
        for (a, b), i in edges.items():
            beyond = cube.triangles[cube.neighbours[i, k]].tolist()
            assert (b, a) in zip(beyond, beyond[1:] + beyond[:1], strict=True), "the neighbour runs the other way"


def problems_of(path: Path, **given: object) -> str:
    with pytest.raises(InputError) as error:
        read_mesh(path, **({"unit": 1.0} | given))  # type: ignore[arg-type]
    return str(error.value)


def test_all_faults_of_a_mesh_are_counted_in_one_message(tmp_path: Path) -> None:
    far = CUBE + np.array([5.0, 0.0, 0.0])
    vertices = np.vstack([CUBE, far, [[9.0, 0.0, 0.0], [9.0, 0.5, 0.0], [9.0, 1.0, 0.0]]])
    faces = [face if i else face[::-1] for i, face in enumerate(FACES)]  # one is turned
    faces += [tuple(i + 8 for i in face) for face in FACES[2:]]  # a hole of two triangles
    faces += [faces[-1], (16, 17, 18), (16, 16, 17)]  # one twice, beside the hole; one without area; a line
    text = problems_of(written(tmp_path, "p.obj", obj(vertices, faces)))
    lines = text.splitlines()
    assert all(line.startswith(f"{tmp_path / 'p.obj'}: ") for line in lines)
    for what in (
        "1 triangle is there twice, the first near (",
        "1 triangle has no area, the first near (9, ",
        "edges belong to more than two triangles",
        "4 edges have triangles on both sides that are turned against each other",
        "the mesh is open: 6 edges belong to one triangle",
    ):
        assert sum(what in line for line in lines) == 1, what
    assert sum("MeshLab" in line for line in lines) == 5, "each fault with what repairs it"
    mesh, faults = inspect_mesh(tmp_path / "p.obj", 1.0)
    assert mesh.dropped == 1 and faults.turned == 4 and faults.border == 6


def test_an_open_mesh_is_taken_where_it_is_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, "sheet.obj", obj(CUBE, FACES[:2]))
    assert "the mesh is open: 4 edges" in problems_of(path)
    sheet = read_mesh(path, 1.0, border=True)
    assert not sheet.is_closed and (sheet.neighbours < 0).sum() == 4


def test_a_mesh_turned_inside_out_is_refused_with_its_volume(tmp_path: Path) -> None:
    path = written(tmp_path, "p.obj", obj(CUBE, [face[::-1] for face in FACES]))
    text = problems_of(path)
    assert "all 12 triangles look into the part, whose volume is 1 m3" in text


@pytest.mark.parametrize("unit, size", [(1e6, "1e+06 x 1e+06 x 1e+06"), (1e-9, "1e-09 x 1e-09 x 1e-09")])
def test_a_part_of_a_wrong_unit_is_refused_with_its_size(tmp_path: Path, unit: float, size: str) -> None:
    path = written(tmp_path, "p.stl", stl(CUBE, FACES))
    assert f"it measures {size} m: is the unit of its numbers right?" in problems_of(path, unit=unit)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_numbers_that_are_not_finite_are_counted(tmp_path: Path, value: float) -> None:
    vertices = CUBE.copy()
    vertices[7, 1] = value
    expected = [i for i, face in enumerate(FACES, 1) if 7 in face]
    text = problems_of(written(tmp_path, "p.stl", stl(vertices, FACES)))
    assert f"{len(expected)} of 12 triangles have coordinates that are no finite number" in text
    assert f"the first is triangle {expected[0]}" in text


@pytest.mark.parametrize(
    "name, content, what",
    [
        ("a.stl", b"", "is empty"),
        ("b.stl", b"hello, world", "holds no triangle"),
        ("c.ply", b"hello, world", "is no PLY file"),
        ("d.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "a face names the vertex 9, but the file has 3 vertices"),
        ("h.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -9\n", "a face names the vertex -9, but the file has 3 vertices"),
        ("i.ply", ply(CUBE[:3], [[0, 1, 9]]).encode(), "a face names the vertex 9, but the file has 3 vertices"),
        ("e.step", b"ISO-10303-21;", "'.step' is none of .stl, .obj, .ply"),
        ("f.stl", stl(CUBE, FACES)[:-20], "its header counts 12 triangles, and it holds 11"),
        ("j.stl", stl_text(CUBE, FACES[:2]).partition("endsolid")[0], "ends after 2 whole facets, without `endsolid`"),
        ("k.stl", stl_text(CUBE, FACES) + stl_text(CUBE, FACES)[:100], "ends after 0 whole facets, without `endsolid`"),
        ("g.obj", b"v 0 0 0\nv 1 0 0\nv 0 0 0\nf 1 2 3\n", "each triangle has two equal corners"),
    ],
)
def test_what_is_no_mesh_is_refused(tmp_path: Path, name: str, content: str | bytes, what: str) -> None:
    assert what in problems_of(written(tmp_path, name, content))


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert "cannot be read" in problems_of(tmp_path / "absent.stl")
    (tmp_path / "folder.stl").mkdir()
    assert "is a folder" in problems_of(tmp_path / "folder.stl")


def test_a_hundred_million_triangles_are_refused_before_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "large.stl"
    with path.open("wb") as file:
        file.write(stl(CUBE, [], count=10**8))
        file.truncate(84 + 50 * 10**8)  # holes, which take no room on the disc
    assert f"100000000 triangles, and at most {MOST_TRIANGLES} are taken" in problems_of(path)


def test_vertices_at_one_place_are_joined_whatever_their_zero(tmp_path: Path) -> None:
    corners = np.array([CUBE[list(face)] for face in FACES])
    corners[::2] = np.where(corners[::2] == 0.0, -0.0, corners[::2])
    path = written(tmp_path, "p.obj", obj(corners.reshape(-1, 3), np.arange(36).reshape(-1, 3)))
    assert isinstance(read_mesh(path, 1.0), Mesh)


def test_the_solids_of_a_text_file_are_one_mesh(tmp_path: Path) -> None:
    def solid(name: str, shift: float) -> str:
        lines = [f"solid {name}"]
        for face in FACES:
            lines += ["facet normal 0 0 0", "outer loop"]
            lines += [f"vertex {' '.join(repr(float(x)) for x in CUBE[i] + [shift, 0.0, 0.0])}" for i in face]
            lines += ["endloop", "endfacet"]
        return "\n".join([*lines, f"endsolid {name}", ""])

    one = written(tmp_path, "one.stl", solid("one", 0.0).encode())
    two = written(tmp_path, "two.stl", (solid("one", 0.0) + solid("two", 3.0)).encode())
    assert len(read_mesh(one, 1.0).triangles) == 12
    mesh = read_mesh(two, 1.0)
    assert len(mesh.triangles) == 24 and mesh.volume == pytest.approx(2.0) and mesh.size[0] == pytest.approx(4.0)
