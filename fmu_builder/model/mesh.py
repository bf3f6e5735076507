"""Triangle meshes from files: STL, OBJ, PLY.  Read with trimesh, joined at equal vertices, and checked.

A mesh that a point can meet is a surface: each edge belongs to two triangles that run along it in opposite directions,
or, on the border of an open mesh, to one.  What breaks this rule is counted, with the first place, in one message."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmu_builder.errors import InputError, Problem, counted
from fmu_builder.files import is_file, read_data

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

FORMATS = (".stl", ".obj", ".ply")
MOST_TRIANGLES = 2_000_000
MOST_EMBEDDED = 100_000  # triangles whose data are in each binary; of more, in a file of the FMU's folder resources
LARGEST_FILE = 2**30  # bytes
SMALLEST, LARGEST = 1e-6, 1e4  # m that a part may measure; beyond, its unit is wrong
FLAT = 1e-12  # height over longest edge below which a triangle has no normal
_HEADER, _RECORD = 84, 50  # bytes of a binary STL file, and of a triangle in it


@dataclass(frozen=True)
class Mesh:
    """A surface of triangles, m.

    vertices    shape (n, 3), each once
    triangles   shape (m, 3), indices of vertices, counterclockwise as seen from outside the material
    numbers     shape (m,), of each triangle in the file, from 1
    neighbours  shape (m, 3), the triangle behind the edge from corner k to corner k + 1; -1 behind the border
    dropped     number of triangles of the file that two equal corners make a line"""

    vertices: Floats
    triangles: Indices
    numbers: Indices
    neighbours: Indices
    dropped: int = 0
    kept: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)  # what takes long to compute

    @cached_property
    def areas(self) -> Floats:
        """Shape (m,), m2."""
        return np.asarray(np.linalg.norm(self._doubled, axis=1) / 2.0)

    @cached_property
    def normals(self) -> Floats:
        """Shape (m, 3): the unit normals of triangles."""
        return np.asarray(self._doubled / (2.0 * self.areas)[:, None])

    @cached_property
    def _doubled(self) -> Floats:
        return doubled_areas(self.vertices, self.triangles)

    @property
    def is_closed(self) -> bool:
        return bool((self.neighbours >= 0).all())

    @property
    def size(self) -> Floats:
        """Extent along x, y and z, m."""
        return np.asarray(np.ptp(self.vertices, axis=0))

    @property
    def area(self) -> float:
        """m2"""
        return float(self.areas.sum())

    @property
    def volume(self) -> float:
        """m3, of a closed mesh; negative if it is turned inside out."""
        middle = self.vertices.mean(axis=0)  # near the part: less is cancelled
        a, b, c = (self.vertices[self.triangles[:, k]] - middle for k in range(3))
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def doubled_areas(vertices: Floats, triangles: Indices) -> Floats:
    """Shape (m, 3): the normal of each triangle, as long as twice its area."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return np.asarray(np.cross(b - a, c - a))


@dataclass(frozen=True)
class Faults:
    """What makes a mesh no surface: how many, and of each kind the place of the first one, m, None without one."""

    flat: int = 0
    duplicate: int = 0
    border: int = 0  # edges
    branching: int = 0  # edges of more than two triangles
    turned: int = 0  # edges along which both triangles run in one direction
    places: tuple[tuple[str, tuple[float, float, float]], ...] = ()

    def place(self, kind: str) -> str:
        """` near (x, y, z) m`"""
        found = dict(self.places).get(kind)
        return f", the first near ({', '.join(f'{x:.4g}' for x in found)}) m" if found else ""


def read_mesh(
    path: Path, unit: float, place: tuple[float, float, float] = (0.0, 0.0, 0.0), border: bool = False
) -> Mesh:
    """The mesh of a file, m.

    unit    m of a number in the file
    place   of the file's origin, m
    border  an open mesh is accepted
    Raises InputError with every fault, its number, the first place and what repairs it."""
    mesh, faults = inspect_mesh(path, unit, place)
    problems = list(refusals(mesh, faults, border))
    if problems:
        raise InputError([Problem(str(path), what) for what in problems])
    return mesh


def inspect_mesh(path: Path, unit: float, place: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> tuple[Mesh, Faults]:
    """The mesh of a file, m, even if it is no surface, and what makes it none; its size is not checked.

    Raises InputError if the file cannot be read, holds no triangle, more than MOST_TRIANGLES or numbers that are not
    finite."""
    corners = _corners(path)
    finite = np.isfinite(corners).all(axis=(1, 2))
    if not finite.all():
        first = int(np.argmin(finite)) + 1
        what = f"{int((~finite).sum())} of {len(corners)} triangles have coordinates that are no finite number, the "
        what += f"first is triangle {first}: export the part again, or remove these triangles"
        raise InputError(Problem(str(path), what))
    vertices, triangles = _joined(corners * unit + np.array(place))
    a, b, c = triangles.T
    whole = (a != b) & (b != c) & (c != a)
    numbers = np.flatnonzero(whole) + 1
    triangles = triangles[whole]
    if not len(triangles):
        what = "each triangle has two equal corners: export the part again, with more digits"
        raise InputError(Problem(str(path), what))
    neighbours, faults = _edges(vertices, triangles)
    return Mesh(vertices, triangles, numbers, neighbours, int((~whole).sum())), faults


def _corners(path: Path) -> Floats:
    """Shape (m, 3, 3): the corners of each triangle in the file, in its unit."""
    kind = path.suffix.lower()
    if kind not in FORMATS:
        what = f"'{path.suffix}' is none of {', '.join(FORMATS)}: export the part as STL, OBJ or PLY"
        raise InputError(Problem(str(path), what))
    if kind == ".stl" and is_file(path):
        _refuse_stl(path)
    data = read_data(path, LARGEST_FILE)
    if not data.strip():
        raise InputError(Problem(str(path), "is empty: export the part again"))
    if kind == ".stl":
        _refuse_cut(path, data)
    import trimesh  # starts in half a second: only who reads a mesh waits
    from trimesh.exchange.stl import load_stl

    try:
        # the arrays of one solid; a trimesh.Trimesh of a million triangles takes seconds for copies and hashes
        arrays: Any = load_stl(io.BytesIO(data)) if kind == ".stl" else {}
        if "faces" not in arrays:
            found: Any = trimesh.load_mesh(io.BytesIO(data), file_type=kind[1:], process=False)
            arrays = {"vertices": found.vertices, "faces": found.faces}
        corners: Floats = np.asarray(arrays["vertices"], float)[np.asarray(arrays["faces"], int)]
    except IndexError as error:
        raise InputError(Problem(str(path), _beyond(kind, str(error)))) from error
    except Exception as error:  # a parser fails in many ways at what is no mesh
        what = f"is no {kind[1:].upper()} file: {str(error) or type(error).__name__}"
        raise InputError(Problem(str(path), what)) from error
    if not len(corners):
        what = f"holds no triangle that can be read as {kind[1:].upper()}: export the part again"
        raise InputError(Problem(str(path), what))
    _refuse_number(path, len(corners))
    return corners


def _beyond(kind: str, error: str) -> str:
    """What is wrong with a file whose arrays end before an index that numpy's error names."""
    match = re.match(r"index (-?\d+) is out of bounds for axis 0 with size (\d+)", error)
    if match is None:
        return f"is no {kind[1:].upper()} file: {error}"
    index, count = int(match[1]), int(match[2])
    written = index + 1 if kind == ".obj" and index >= 0 else index  # OBJ counts from 1, or from the end by -1
    return f"a face names the vertex {written}, but the file has {count} vertices: export the part again"


def _refuse_stl(path: Path) -> None:
    """Raises InputError for a binary STL file whose size or number of triangles is wrong, before it is read."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
            size = file.seek(0, io.SEEK_END)
    except OSError:
        return  # read_data reports it
    if len(header) < _HEADER or (header.lstrip().startswith(b"solid") and (size - _HEADER) % _RECORD):
        return
    count = int.from_bytes(header[80:], "little")
    held = (size - _HEADER) // _RECORD
    if size == _HEADER + _RECORD * count:
        _refuse_number(path, count)
    elif not header.lstrip().startswith(b"solid") and b"\0" in header + count.to_bytes(4, "little"):
        what = f"its header counts {count} triangles, and it holds {held}: it was cut off, or is no STL file"
        raise InputError(Problem(str(path), what))


def _refuse_cut(path: Path, data: bytes) -> None:
    """Raises InputError for an STL file of text that ends within a solid, which trimesh leaves out."""
    behind = data.lower().rpartition(b"endsolid")[2] if data[:_HEADER].lstrip().lower().startswith(b"solid") else b""
    if re.search(rb"facet\s+normal", behind):
        whole = counted(behind.count(b"endfacet"), "whole facet", "whole facets")
        what = f"its last solid ends after {whole}, without `endsolid`"
        raise InputError(Problem(str(path), f"{what}: it was cut off; export the part again"))


def _refuse_number(path: Path, count: int) -> None:
    if count > MOST_TRIANGLES:
        what = f"{count} triangles, and at most {MOST_TRIANGLES} are taken: reduce them, as with the filter "
        what += "'Quadric Edge Collapse Decimation' of MeshLab"
        raise InputError(Problem(str(path), what))


def _joined(corners: Floats) -> tuple[Floats, Indices]:
    """Vertices, each once, and the triangles as indices of them: corners at the same place become one vertex."""
    points = np.ascontiguousarray(corners.reshape(-1, 3)) + 0.0  # -0 is 0
    bits = points.view(np.uint64)
    mixed = (bits * np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)) ^ (bits >> 29)
    keys = mixed[:, 0] ^ (mixed[:, 1] << np.uint64(1)) ^ (mixed[:, 2] << np.uint64(2))
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    vertices = points[first]
    if not (vertices[inverse] == points).all():  # two places with one key
        vertices, inverse = np.unique(points, axis=0, return_inverse=True)
    return vertices, np.asarray(inverse, np.int64).reshape(-1, 3)


def _edges(vertices: Floats, triangles: Indices) -> tuple[Indices, Faults]:
    """The neighbours of each triangle, and the faults."""
    count = len(triangles)
    start, end = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    low, high = np.minimum(start, end), np.maximum(start, end)
    key = low * len(vertices) + high
    order = np.argsort(key)
    key = key[order]
    begins = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    uses, first = np.diff(np.append(begins, len(key))), np.minimum.reduceat(order, begins)
    pairs = begins[uses == 2]
    one = first[uses == 2]
    two = order[pairs] + order[pairs + 1] - one
    neighbours = np.full(3 * count, -1)
    neighbours[one], neighbours[two] = two // 3, one // 3
    turned = one[start[one] == start[two]]
    border, branching = first[uses == 1], first[uses > 2]

    along = vertices[np.roll(triangles, -1, axis=1)] - vertices[triangles]
    longest = (along**2).sum(axis=2).max(axis=1)
    flat = np.flatnonzero(np.linalg.norm(doubled_areas(vertices, triangles), axis=1) <= FLAT * longest)
    again = (neighbours.reshape(-1, 3) == neighbours[::3, None]).all(axis=1)  # at all edges the same, or an open one
    again[np.concatenate([turned, order[np.repeat(uses > 2, uses)]]) // 3] = True
    doubtful = np.flatnonzero(again)
    _, single = np.unique(np.sort(triangles[doubtful], axis=1), axis=0, return_index=True)
    duplicate = np.delete(doubtful, single)

    firsts = {"border": border, "branching": branching, "turned": turned, "flat": 3 * flat, "duplicate": 3 * duplicate}
    places = tuple((kind, _place(vertices[start[one.min()]])) for kind, one in firsts.items() if len(one))
    faults = Faults(len(flat), len(duplicate), len(border), len(branching), len(turned), places)
    return neighbours.reshape(-1, 3), faults


def _place(vertex: Floats) -> tuple[float, float, float]:
    x, y, z = map(float, vertex)
    return x, y, z


def refusals(mesh: Mesh, faults: Faults, border: bool) -> Iterator[str]:
    """What keeps a mesh from being the surface of a part."""
    x, y, z = mesh.size
    extent = f"it measures {x:.4g} x {y:.4g} x {z:.4g} m: is the unit of its numbers right?"
    if not SMALLEST <= max(x, y, z) <= LARGEST:
        yield f"{extent}  A part measures {SMALLEST:g} m to {LARGEST:g} m"
    if faults.duplicate:
        repair = "MeshLab's 'Remove Duplicate Faces' repairs it"
        what = counted(faults.duplicate, "triangle is", "triangles are")
        yield f"{what} there twice{faults.place('duplicate')}; {repair}"
    if faults.flat:
        repair = "MeshLab's 'Remove T-Vertices' repairs it, or a finer export"
        what = counted(faults.flat, "triangle has", "triangles have")
        yield f"{what} no area{faults.place('flat')}; {repair}"
    if faults.branching:
        what = counted(faults.branching, "edge belongs", "edges belong")
        repair = "MeshLab's 'Repair non Manifold Edges' repairs it"
        yield f"{what} to more than two triangles{faults.place('branching')}; {repair}"
    if faults.turned:
        what = (
            counted(faults.turned, "edge has", "edges have") + " triangles on both sides that are turned against each"
        )
        yield f"{what} other{faults.place('turned')}; MeshLab's 'Re-Orient all faces coherently' repairs it"
    if faults.border and not border:
        what = counted(faults.border, "edge belongs", "edges belong")
        yield (
            f"the mesh is open: {what} to one triangle{faults.place('border')}; MeshLab's 'Close Holes' or 'Merge "
            "Close Vertices' repairs it, or open = true takes it as it is"
        )
    if not (faults.branching or faults.turned or faults.border) and (volume := mesh.volume) < 0.0:
        yield (
            f"the mesh is turned inside out: all {len(mesh.triangles)} triangles look into the part, whose volume is "
            f"{-volume:.4g} m3; MeshLab's 'Invert Faces Orientation' repairs it"
        )
    elif not math.isfinite(mesh.area):
        yield extent
