"""What the line looks like in a page: its points, joined, on the bodies that carry them."""

from fmu_builder.pages.scene import line_shapes as shapes

__all__ = ["shapes"]
