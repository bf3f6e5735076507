"""Elements, laws and systems as Modelica, on the connectors of the Modelica Standard Library 4.

The equations of an element stand by hand in element.mo beside element.c; what it declares comes from element.toml."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fmu_builder.facade import on_demand

if TYPE_CHECKING:
    from fmu_builder.modelica.library import Written, write_library, write_package

__all__ = ["Written", "write_library", "write_package"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = on_demand(__name__, __all__)
