"""From a model to an .fmu: C sources, description, documentation, compiler, checks, archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fmu_builder.facade import on_demand

if TYPE_CHECKING:
    from fmu_builder.export.archive import check_archive
    from fmu_builder.export.fmu import Built, build, build_fmu, build_model_fmu, fmu_contents, host_fmu, pack
    from fmu_builder.export.origin import Origin, read_origin, unpack_origin
    from fmu_builder.export.schema import element_schema, recipe_schema
    from fmu_builder.export.toolchain import PLATFORMS, find_compiler, host_platform

__all__ = [
    "PLATFORMS",
    "Built",
    "Origin",
    "build",
    "build_fmu",
    "build_model_fmu",
    "check_archive",
    "element_schema",
    "find_compiler",
    "fmu_contents",
    "host_fmu",
    "host_platform",
    "pack",
    "read_origin",
    "recipe_schema",
    "unpack_origin",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = on_demand(__name__, __all__)
