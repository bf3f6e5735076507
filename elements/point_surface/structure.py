"""The surface of a recipe: `[surface]` becomes constants of the generated C.

[surface]
kind = "plane"              # z = 0 of the frame `surface`, outward normal +z, material below
x = ["-1 m", "1 m"]         # drawn part; without x or y it is unbounded in that direction
y = ["-1 m", "1 m"]
"""

from fmu_builder.structure import Constant, Reader, Structure

TABLES = ("surface",)

UNBOUNDED = 1.7976931348623157e308  # the largest double: no closest point lies beyond


def structure(tables: dict[str, dict[str, object]], read: Reader) -> Structure:
    """Check `[surface]`; returns the constants surface_x and surface_y, m."""
    surface = read.table("surface", keys=("kind", "x", "y"), required=("kind",))
    read.choice(surface, "kind", ("plane",))
    return Structure(
        constants=(
            Constant("surface_x", read.interval(surface, "x", "m", default=(-UNBOUNDED, UNBOUNDED))),
            Constant("surface_y", read.interval(surface, "y", "m", default=(-UNBOUNDED, UNBOUNDED))),
        )
    )
