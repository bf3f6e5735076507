"""The line of a recipe: `[line]` becomes constants of the generated C."""

from fmu_builder.model.lines import TABLES, line_structure

__all__ = ["TABLES", "structure"]

structure = line_structure
