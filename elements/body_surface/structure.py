"""The skin and the surface of a recipe: `[skin]` becomes samples of its skin, `[surface]` is that of point_surface."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from fmu_builder.model import Constant, Reader, Structure, Table
from fmu_builder.model.structure_tables import SURFACES, Skin
from fmu_builder.paths import load_module

TABLES = {"skin": Skin, "surface": SURFACES}

ENDLESS = (-math.inf, math.inf)


def structure(tables: dict[str, dict[str, object]], read: Reader) -> Structure:
    """Check `[skin]` and `[surface]`; returns what point_surface does for the surface, and the constants body_samples
    and body_balls.  The body starts clear of the surface."""
    surface = load_module(Path(__file__).parents[1] / "point_surface" / "structure.py").structure(tables, read)
    assert isinstance(surface, Structure)
    samples, balls, note = _samples(read.table("skin", Skin), read)
    free = np.array(surface.input_starts.get("point.r", (0.0, 0.0, 0.0)))
    size = float(np.linalg.norm(samples[:, :3], axis=1).max())
    away = free / np.linalg.norm(free) if free.any() else np.array([0.0, 0.0, 1.0])
    constants = (
        Constant("body_samples", samples.astype("<f8").tobytes()),
        Constant("body_balls", balls.astype("<f8").tobytes()),
        Constant("body_count", (len(balls),)),
    )
    return Structure(
        constants=(*surface.constants, *constants),
        choices=surface.choices,
        limits=surface.limits,
        contact_area=float(samples[:, 3].sum()),
        input_starts={"body.r": tuple((free + size * away).tolist())},
        notes=(*surface.notes, *note),
    )


def _samples(table: Table, read: Reader) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Tables of samples and of balls around them, and what they are; placeholders beside problems."""
    from fmu_builder.model import samples  # with scipy, for which only who needs it waits
    from fmu_builder.model.mesh import read_mesh

    before = len(read.problems)
    name, unit = read.text(table, "file", ""), read.unit(table, "unit", "m")
    scale, place = read.quantity(table, "scale"), read.vector(table, "place")
    box = tuple(read.interval(table, axis, default=ENDLESS) for axis in ("x", "y", "z"))
    count = table.get("samples", 500)
    whole = isinstance(count, int) and not isinstance(count, bool) and 1 <= count <= samples.MOST_SAMPLES
    if not whole and count != "vertices":
        what = f"{count!r} must be a whole number from 1 to {samples.MOST_SAMPLES}, or 'vertices'"
        read.problem("skin", "samples", what)
    path = read.file("skin", "file", name)
    if path is not None and len(read.problems) == before and "file" in table:
        with read.collected(table, "file"):
            mesh = read_mesh(path, unit * scale, (place[0], place[1], place[2]), border=True)
    if len(read.problems) == before and "file" in table:
        with read.collected(table, "samples"):
            found = samples.spread(mesh, count, box) if isinstance(count, int) else samples.at_vertices(mesh, box)
            area = float(found.areas.sum())
            number = len(found.areas)
            note = f"{number} samples of {area:.4g} m2 of {name}, each of about {area / number:.3g} m2"
            return *samples.tables(found), (note,)
    return np.zeros((1, 4)), np.array([[0.0, 0.0, 0.0, 0.0, 1.0, 1.0]]), ()
