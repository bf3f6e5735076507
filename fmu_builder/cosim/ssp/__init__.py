"""SSP 1.0 and 2.0 (System Structure and Parameterization): archives of FMUs, read as scenarios.

    files        the archive, unpacked; XML, without document types
    structure    SystemStructure.ssd as dataclasses
    parameters   parameter sets (SSV) and their mappings (SSM)
    units        units by their powers of the SI base units
    elements     the components: FMUs, and other documents
    signals      from connectors, through systems and dictionaries, to the variables of FMUs
    annotation   what SSP has no place for
    reading      all of it as a scenario

What the standard defines is done, or refused by its name: https://ssp-standard.org"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fmu_builder.facade import on_demand

if TYPE_CHECKING:
    from fmu_builder.cosim.ssp.reading import read_ssp

__all__ = ["read_ssp"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = on_demand(__name__, __all__)
