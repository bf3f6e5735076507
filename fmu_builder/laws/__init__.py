"""Laws that users write: their text, dimensions, derivatives, rules, values, and C."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fmu_builder.facade import on_demand

if TYPE_CHECKING:
    from fmu_builder.laws.c_source import laws_header
    from fmu_builder.laws.definitions import LawFunction, Laws, Scalar
    from fmu_builder.laws.derivatives import derivative
    from fmu_builder.laws.numeric import evaluate
    from fmu_builder.laws.rules import Checked, LawRules
    from fmu_builder.laws.text import read_laws, read_value
    from fmu_builder.laws.tree import Source

__all__ = [
    "Checked",
    "LawFunction",
    "LawRules",
    "Laws",
    "Scalar",
    "Source",
    "derivative",
    "evaluate",
    "laws_header",
    "read_laws",
    "read_value",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = on_demand(__name__, __all__)
