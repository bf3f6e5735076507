"""Tables of recipes for the structure of elements: surfaces, lines, mechanisms.

One declaration serves files and Python: `structure.py` of the element reads its tables by these models, with their
units and limits, and the JSON schemas and the page of the Python API show them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from fmu_builder.model.table_model import In, Pair, Points, Quantities, Quantity, TableModel, Truth, Whole, WholeNumbers

# ---- [surface] of point_surface ----------------------------------------------------------------------------------

Side = Literal["outside", "inside"]
Curve = Literal["polyline", "spline"]
_SIDE = "on which the point moves; the material is on the other"
_CURVE = "what joins the points: straight lines, or a cubic spline"
_Edge = Annotated[Pair | None, In("m")]
_Radius = Annotated[Quantity, In("m", above=0.0)]
_Length = Annotated[Quantity | None, In("m", above=0.0)]
_Profile = Annotated[Points, In("m")]


class Plane(TableModel):
    """The plane z = 0 of the frame `surface`, with the normal +z."""

    kind: Literal["plane"] = Field(default="plane", description="`plane`")
    x: _Edge = Field(default=None, description="from and to of the drawn part; endless without")
    y: _Edge = Field(default=None, description="from and to of the drawn part; endless without")


class Disc(TableModel):
    """A plane that is drawn as a disc about the origin."""

    kind: Literal["disc"] = Field(default="disc", description="`disc`")
    radius: _Radius = Field(description="of the disc")


class Sphere(TableModel):
    """A ball about the origin, or the hollow in which the point moves."""

    kind: Literal["sphere"] = Field(default="sphere", description="`sphere`")
    radius: _Radius = Field(description="of the sphere")
    side: Side = Field(default="outside", description=_SIDE)


class Cylinder(TableModel):
    """A bar about the z axis, or a pipe."""

    kind: Literal["cylinder"] = Field(default="cylinder", description="`cylinder`")
    radius: _Radius = Field(description="of the cylinder")
    length: _Length = Field(default=None, description="along z, about z = 0; endless without")
    side: Side = Field(default="outside", description=_SIDE)


class Cone(TableModel):
    """A cone about the z axis that opens to +z from its apex at the origin, or a funnel."""

    kind: Literal["cone"] = Field(default="cone", description="`cone`")
    angle: Annotated[Quantity, In("rad", above=0.0, below=1.5707963267948966)] = Field(description="half the opening")
    z: Annotated[Pair, In("m")] = Field(description="from and to of the drawn part; from outside it is above 0")
    side: Side = Field(default="outside", description=_SIDE)


class Torus(TableModel):
    """A ring about the z axis, or the tube in which the point moves."""

    kind: Literal["torus"] = Field(default="torus", description="`torus`")
    major_radius: _Radius = Field(description="of the circle that the centre of the tube describes")
    minor_radius: _Radius = Field(description="of the tube, less than major_radius")
    side: Side = Field(default="outside", description=_SIDE)


class Revolution(TableModel):
    """A profile turned about the z axis; its material is on the left of the way along the points."""

    kind: Literal["revolution"] = Field(default="revolution", description="`revolution`")
    profile: _Profile = Field(description="points (distance from the axis, z), or the name of a CSV file of them")
    curve: Curve = Field(default="polyline", description=_CURVE)
    side: Side = Field(default="outside", description=_SIDE)


class Extrusion(TableModel):
    """A profile drawn along the z axis; its material is on the left of the way along the points."""

    kind: Literal["extrusion"] = Field(default="extrusion", description="`extrusion`")
    profile: _Profile = Field(description="points (x, y), or the name of a CSV file of them")
    curve: Curve = Field(default="polyline", description=_CURVE)
    length: _Length = Field(default=None, description="along z, about z = 0; endless without")
    side: Side = Field(default="outside", description=_SIDE)


class HeightField(TableModel):
    """Heights z over a rectangular grid along x and y, joined by a bicubic spline."""

    kind: Literal["height_field"] = Field(default="height_field", description="`height_field`")
    heights: Annotated[Points, In("m")] = Field(
        description="points (x, y, z) of the grid in any order; or rows of heights along x, the first one at the least "
        "y; or the name of a CSV file of either, or of a PNG image"
    )
    x: _Edge = Field(default=None, description="from and to of rows of heights or of an image")
    y: _Edge = Field(
        default=None, description="from and to of rows of heights or of an image, whose last line is at `from`"
    )
    range: _Edge = Field(default=None, description="heights of black and white in an image")
    periodic: Literal["none", "x", "y", "both"] = Field(
        default="none", description="directions along which the heights repeat without end"
    )
    side: Side = Field(default="outside", description="on which the point moves: above, or with `inside` below")


class Patch(TableModel):
    """A bicubic surface of B-splines by control points, with weights a NURBS patch."""

    kind: Literal["patch"] = Field(default="patch", description="`patch`")
    control: Annotated[Points, In("m")] = Field(
        description="control points (x, y, z) or (x, y, z, weight), those along v one after the other for each u; or "
        "the name of a CSV file of them"
    )
    size: WholeNumbers = Field(description="numbers of control points along u and along v")
    knots_u: Annotated[Quantities | None, In("1")] = Field(
        default=None,
        description="size[1] + 4 knots along u, not falling; without them equal spans that begin and end at "
        "control points",
    )
    knots_v: Annotated[Quantities | None, In("1")] = Field(default=None, description="the same along v")
    closed: Literal["none", "u", "v", "both"] = Field(
        default="none", description="directions that run back into their start; their knots are uniform"
    )
    side: Side = Field(
        default="outside", description="on which the point moves: that of the normal S_u × S_v, or the other"
    )


class Mesh(TableModel):
    """Triangles from a CAD system, in an STL, OBJ or PLY file; corners counterclockwise as seen from outside."""

    kind: Literal["mesh"] = Field(default="mesh", description="`mesh`")
    file: str = Field(description="name of the file, beside the recipe")
    unit: str = Field(description="unit of length of the numbers in it, which it does not name itself: `mm`")
    scale: Annotated[Quantity, In("1", above=0.0)] = Field(default=1.0, description="factor on its size")
    place: Annotated[Quantities, In("m")] = Field(
        default=(0.0, 0.0, 0.0), description="(x, y, z) of its origin in the frame `surface`"
    )
    normals: Literal["smooth", "facet"] = Field(
        default="smooth", description="of curved triangles through the corners, or of the flat ones"
    )
    crease: Annotated[Quantity, In("rad", above=0.0, below=3.141592653589793)] = Field(
        default="30 deg", description="angle between triangles from which on their edge is sharp, for smooth normals"
    )
    open: Truth = Field(default=False, description="the mesh may have a border, where the surface ends")
    side: Side = Field(default="outside", description=_SIDE)


SURFACES: Mapping[str, type[TableModel]] = {
    "plane": Plane,
    "disc": Disc,
    "sphere": Sphere,
    "cylinder": Cylinder,
    "cone": Cone,
    "torus": Torus,
    "revolution": Revolution,
    "extrusion": Extrusion,
    "height_field": HeightField,
    "patch": Patch,
    "mesh": Mesh,
}

# ---- [skin] of body_surface --------------------------------------------------------------------------------------


class Skin(TableModel):
    """The skin of a body, in an STL, OBJ or PLY file, by samples that each stand for their share of its area."""

    file: str = Field(description="name of the file, beside the recipe; an open mesh is taken as it is")
    unit: str = Field(description="unit of length of the numbers in it, which it does not name itself: `mm`")
    scale: Annotated[Quantity, In("1", above=0.0)] = Field(default=1.0, description="factor on its size")
    place: Annotated[Quantities, In("m")] = Field(
        default=(0.0, 0.0, 0.0), description="(x, y, z) of its origin in the frame `body`"
    )
    samples: Whole | Literal["vertices"] = Field(
        default=500, description="number of samples, 1 to 10000, evenly spread; or `vertices`: one at each of the mesh"
    )
    x: _Edge = Field(default=None, description="from and to, in the frame `body`, of the part that can touch")
    y: _Edge = Field(default=None, description="the same along y")
    z: _Edge = Field(default=None, description="the same along z")


# ---- [line] of point_line_1 and point_line_2 ---------------------------------------------------------------------


class GuideLine(TableModel):
    """The line on which points are guided, fixed to one body or spanned over several."""

    points: Annotated[Points, In("m")] = Field(
        description="points (x, y, z), each in the coordinates of its body, or the name of a CSV file of them"
    )
    body: WholeNumbers | None = Field(
        default=None, description="which body carries each point, counted from 1; without it one carries all"
    )
    closed: Truth = Field(default=False, description="the last point is joined to the first")
    interpolation: Curve = Field(default="polyline", description=_CURVE)


# ---- [[body]], [[constraint]] and [[point]] of planar_mechanism --------------------------------------------------

_Place = Annotated[Pair, In("m")]
_Angle = Annotated[Quantity, In("rad")]


class Body(TableModel):
    """A body of a planar mechanism, with the joint that carries it; the ground is not listed."""

    name: str | None = Field(default=None, description="by which others name it: `body 1`, `body 2`, ... without")
    on: str | None = Field(default=None, description="what carries it, `ground` or a body above; the one above without")
    joint: Literal["revolute", "prismatic"] = Field(description="a prismatic one slides along its own x axis")
    place: _Place = Field(default=(0.0, 0.0), description="of the joint in the axes of the body before")
    angle: _Angle = Field(default=0.0, description="of its axes against those of the body before, at q = 0")
    mass: Annotated[Quantity, In("kg", above=0.0)] = Field(description="of the body")
    inertia: Annotated[Quantity, In("kg.m2", above=0.0)] = Field(description="moment about the centre of mass")
    centre: _Place = Field(default=(0.0, 0.0), description="of mass, in its axes")
    stiffness: Annotated[Quantity, In(("N.m/rad", "N/m"), least=0.0)] = Field(
        default=0.0, description="of a spring in the joint"
    )
    free: Annotated[Quantity, In(("rad", "m"))] = Field(default=0.0, description="where that spring is free")
    damping: Annotated[Quantity, In(("N.m.s/rad", "N.s/m"), least=0.0)] = Field(default=0.0, description="of the joint")
    start: Annotated[Quantity, In(("rad", "m"))] = Field(default=0.0, description="coordinate at the start")
    speed: Annotated[Quantity, In(("rad/s", "m/s"))] = Field(default=0.0, description="at the start")
    closes: Truth = Field(
        default=False,
        description="its start follows from the constraints, `start` is the guess; without any the mechanism chooses",
    )
    force: str | None = Field(
        default=None, description="a law of time `#t`: force or torque on the joint, beside that of its input"
    )
    motion: str | None = Field(
        default=None, description="a law of time its coordinate follows, or `inputs`: drive.q, drive.qd, drive.qdd"
    )
    port: Truth = Field(default=False, description="the joint is a port: shaft, or slide of a prismatic one")


_BODY = "that is held"
_POINT = "of the body, in its axes"


class Profile(TableModel):
    """Holds a point of a body on a profile or a curve, given by one of `profile`, `profile_points`, `curve_points`, or
    `curve_x` with `curve_y`."""

    kind: Literal["profile"] = Field(default="profile", description="`profile`")
    body: str = Field(description=_BODY)
    point: _Place = Field(default=(0.0, 0.0), description=_POINT)
    on: str | None = Field(default=None, description="the body that carries the profile; without it the ground")
    profile: Annotated[Quantities | str | None, In("1")] = Field(
        default=None, description="y = f(x) by powers of x, in m; or a law of `#x`, over range"
    )
    profile_points: Annotated[Points | None, In("m")] = Field(
        default=None, description="a spline y = f(x) through points (x, y), or the name of a CSV file of them"
    )
    curve_points: Annotated[Points | None, In("m")] = Field(
        default=None,
        description="a spline over the length of the chords between points, or the name of a CSV file of them",
    )
    curve_x: str | None = Field(default=None, description="x of a curve, a law of a parameter `#s` without unit")
    curve_y: str | None = Field(default=None, description="y of a curve, a law of the same parameter")
    closed: Truth = Field(default=False, description="of a curve: its last point is its first")
    range: Annotated[Pair | None, In(("m", "1"))] = Field(
        default=None, description="of x or s: where a law is checked, of an open curve its ends"
    )
    side: Literal["below", "above"] = Field(
        default="below", description="of the profile on which its material is: to the right or left of the way along it"
    )
    base: _Place = Field(default=(0.0, 0.0), description="origin of the profile in the axes of `on`")
    angle: _Angle = Field(default=0.0, description="of the profile's axes against those of `on`")
    unilateral: Truth = Field(default=False, description="the point may leave the profile: nothing pulls it back")
    friction: Annotated[Quantity, In("1", least=0.0)] = Field(
        default=0.0, description="coefficient on the profile, contact[i].mu"
    )
    k_T: Annotated[Quantity, In("s/m", above=0.0)] = Field(
        default=100.0, description="full friction above the slip 1/k_T, contact[i].k_T"
    )


class Pin(TableModel):
    """Holds a point of a body at a point of another one or of the ground."""

    kind: Literal["pin"] = Field(default="pin", description="`pin`")
    body: str = Field(description=_BODY)
    point: _Place = Field(default=(0.0, 0.0), description=_POINT)
    on: str | None = Field(default=None, description="the other body; without it the ground")
    base: _Place = Field(default=(0.0, 0.0), description="the other point, in the axes of `on`")


class Distance(TableModel):
    """Holds a point of a body at a distance from a point of another one or of the ground."""

    kind: Literal["distance"] = Field(default="distance", description="`distance`")
    body: str = Field(description=_BODY)
    point: _Place = Field(default=(0.0, 0.0), description=_POINT)
    on: str | None = Field(default=None, description="the other body; without it the ground")
    base: _Place = Field(default=(0.0, 0.0), description="the other point, in the axes of `on`")
    length: Annotated[Quantity, In("m", above=0.0)] = Field(description="that is held")


CONSTRAINTS: Mapping[str, type[TableModel]] = {"profile": Profile, "pin": Pin, "distance": Distance}


class Point(TableModel):
    """A port of a planar mechanism at a point of a body, for forces on it and contacts of it."""

    body: str = Field(description="that carries the point")
    offset: _Place = Field(default=(0.0, 0.0), description="of the point, in the axes of the body")
    force_x: str | None = Field(default=None, description="a law of time `#t`: force on the point, beside the port's")
    force_y: str | None = Field(default=None, description="as force_x, along y")
