"""`info` and `build` of a mesh file: what the part measures, its faults, and the recipe of a contact with it."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

from fmu_builder.cli.printing import line
from fmu_builder.errors import InputError, Problem, counted
from fmu_builder.files import is_file, write_whole
from fmu_builder.model.mesh import FORMATS, Faults, Mesh, inspect_mesh, read_mesh, refusals
from fmu_builder.units import parse_unit

MOST_DEPTH = 1.0  # m, the default of D_max where the surface does not limit it


def is_mesh(name: str) -> bool:
    return Path(name).suffix.lower() in FORMATS


def show_mesh(path: Path, unit: str, as_json: bool) -> None:
    """Print what a mesh is, even if it is no surface.

    unit   of the numbers in the file.   Raises InputError if the file cannot be read, or for a unit of no length"""
    factor = _metres(unit)
    mesh, faults = inspect_mesh(path, factor)
    about = _about(path, unit, mesh, faults)
    if as_json:
        print(json.dumps(about, indent=2))
        return
    triangles = counted(about["triangles"], "triangle", "triangles")
    line(f"{path.name}  {triangles}, {about['vertices']} vertices")
    size = " x ".join(_in(x, factor) for x in about["size"])
    line(f"  size            {size} {unit}, if its numbers are {unit}")
    line(f"  area            {about['area']:.4g} m2")
    if about["volume"] is not None:
        line(f"  volume          {about['volume']:.4g} m3")
    border = counted(faults.border, "edge is", "edges are")
    line(f"  closed          {'yes' if about['closed'] else f'no, {border} its border'}")
    if about["D_max"] is not None:
        wall = about["thinnest_wall"]
        line(f"  thinnest wall   {'none' if wall is None else f'{_in(wall, factor)} {unit}'}")
        for side, depth in about["D_max"].items():
            line(f'  advised D_max   {_in(depth, factor)} {unit}, side = "{side}"')
    for fault in about["faults"]:
        line(f"\nfault: {fault}")
    if not any(refusals(mesh, faults, border=True)):
        line(f"\n{_recipe(path, unit, mesh.is_closed)}")


def recipe_place(path: Path) -> Path:
    """Of the recipe that belongs to a mesh."""
    name = re.sub(r"\W", "_", path.stem, flags=re.ASCII)
    return path.with_name(f"{'part_' if name[0].isdigit() else ''}{name}.toml")


def write_recipe(path: Path, unit: str) -> Path:
    """Write the recipe of a point in contact with a mesh beside its file, and return its place.

    Raises InputError if the mesh is refused, or if another recipe lies there."""
    read_mesh(path, _metres(unit))
    recipe = recipe_place(path)
    text = _recipe(path, unit, is_closed=True) + "\n"
    if not is_file(recipe):
        write_whole(recipe, text)
    elif recipe.read_bytes() != text.encode():
        what = f"is there, and is not what --unit {unit} gives for {path.name}: build it, or move it"
        raise InputError(Problem(str(recipe), what))
    return recipe


def _metres(unit: str) -> float:
    """Of a number in a file."""
    try:
        length = parse_unit(unit)
    except InputError as error:
        raise InputError([Problem("--unit", one.what) for one in error.problems]) from None
    if not length.same_dimension(parse_unit("m")):
        raise InputError(Problem("--unit", f"{unit!r} is no unit of length, as mm or in"))
    return length.factor


def _recipe(path: Path, unit: str, is_closed: bool) -> str:
    name = json.dumps(path.name, ensure_ascii=False)  # escaped as TOML escapes
    surface = f'[surface]\nkind = "mesh"\nfile = {name}\nunit = {json.dumps(unit)}'
    return f'element = "point_surface"\n\n{surface}' + ("" if is_closed else "\nopen = true")


def _about(path: Path, unit: str, mesh: Mesh, faults: Faults) -> dict[str, Any]:
    """SI values; None where there is none."""
    found = list(refusals(mesh, faults, border=False))
    measured = not (faults.flat or faults.duplicate or faults.branching or faults.turned)
    wall, depths = math.inf, None
    if measured:
        from fmu_builder.model import mesh_width  # with scipy, for which only who needs it waits

        wall = mesh_width.thinnest_wall(mesh)
        sides = {"outside": 1.0, "inside": -1.0}
        depths = {name: min(MOST_DEPTH, mesh_width.reach(mesh, side)) for name, side in sides.items()}
    return {
        "file": str(path),
        "unit": unit,
        "triangles": len(mesh.triangles),
        "vertices": len(mesh.vertices),
        "size": [float(x) for x in mesh.size],
        "area": mesh.area,
        "volume": abs(mesh.volume) if mesh.is_closed and measured else None,
        "closed": mesh.is_closed,
        "faults": found,
        "thinnest_wall": wall if math.isfinite(wall) else None,
        "D_max": depths,
    }


def _in(value: float, factor: float) -> str:
    return f"{value / factor:.4g}"
