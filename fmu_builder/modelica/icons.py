"""Icons and places: the drawing of an element as an image, its connectors left and right of it."""

from __future__ import annotations

from pathlib import Path

from fmu_builder.modelica import words

IMAGES = "Resources/Images"
_EXTENT = {"left": ("-110,-10", "-90,10"), "right": ("90,-10", "110,10")}


def image_name(drawing: Path) -> str:
    """The file in the folder of images that a drawing of an element becomes."""
    return f"{drawing.parent.name}.svg"


def icon(drawing: Path | None, package: str) -> str:
    """The annotation `Icon` with the image of the element in the package, or a frame, and the name of the component."""
    extent = "extent={{-100,-100},{100,100}}"
    if drawing is None:
        image = f"Rectangle({extent})"
    else:
        name = words.string(f"modelica://{package}/{IMAGES}/{image_name(drawing)}")
        image = f"Bitmap({extent}, fileName={name})"
    return (
        f"Icon(coordinateSystem({extent}), graphics={{{image}, "
        'Text(extent={{-150,140},{150,100}}, textColor={0,0,255}, textString="%name")})'
    )


def placement(side: str) -> str:
    low, high = _EXTENT[side]
    return f"Placement(transformation(extent={{{{{low}}},{{{high}}}}}))"


def placed_at(x: float, y: float) -> str:
    """Of a component in a diagram, 20 by 20 about (x, y)."""
    return f"Placement(transformation(extent={{{{{x - 10:g},{y - 10:g}}},{{{x + 10:g},{y + 10:g}}}}}))"


def line(a: tuple[float, float], b: tuple[float, float]) -> str:
    """Of a connection in a diagram."""
    return f"Line(points={{{{{a[0]:g},{a[1]:g}}},{{{b[0]:g},{b[1]:g}}}}})"
