"""What files declare, and the models made of them: elements, recipes, assemblies, scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fmu_builder.facade import on_demand

if TYPE_CHECKING:
    from fmu_builder.model.assembly import AssemblyModel
    from fmu_builder.model.assembly_format import CheckedAssembly, read_assembly
    from fmu_builder.model.declaration import Declaration, Slot
    from fmu_builder.model.declaration_reader import read_declaration
    from fmu_builder.model.element_model import build_model, load_element
    from fmu_builder.model.loader import assembly_of_scenario, load_assembly, load_model
    from fmu_builder.model.model import ElementModel, Model, Variable
    from fmu_builder.model.recipe import CheckedRecipe, read_recipe
    from fmu_builder.model.scenario import CheckedScenario, read_scenario
    from fmu_builder.model.structure_reader import Constant, Limit, Reader, Structure, Table
    from fmu_builder.model.table_model import In, Pair, Points, Quantities, Quantity, TableModel
    from fmu_builder.model.wiring import Wiring, wire

__all__ = [
    "AssemblyModel",
    "CheckedAssembly",
    "CheckedRecipe",
    "CheckedScenario",
    "Constant",
    "Declaration",
    "ElementModel",
    "In",
    "Limit",
    "Model",
    "Pair",
    "Points",
    "Quantities",
    "Quantity",
    "Reader",
    "Slot",
    "Structure",
    "Table",
    "TableModel",
    "Variable",
    "Wiring",
    "assembly_of_scenario",
    "build_model",
    "load_assembly",
    "load_element",
    "load_model",
    "read_assembly",
    "read_declaration",
    "read_recipe",
    "read_scenario",
    "wire",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = on_demand(__name__, __all__)
