"""Whether the parts of an assembly can be evaluated in the order that follows from what they declare."""

from __future__ import annotations

from collections.abc import Iterator

from fmu_builder import probe
from fmu_builder.assembly import Assembly
from fmu_builder.element_check import TIMEOUT, Called, findings, point_text, values_of
from fmu_builder.errors import Problem
from fmu_builder.generate import assembly_check_sources
from fmu_builder.toolchain import Compiler

_MOST = 5  # problems that are shown


def assembly_problems(model: Assembly, compiler: Compiler, timeout: float = TIMEOUT) -> list[Problem]:
    """Values that an evaluation in that order gets wrong.

    The right values come from all parts, evaluated from the last to the first, again and again until no bit changes:
    that needs no order.  Both begin with NaN wherever something is computed, so that nothing old is taken for new.
    Raises ToolError where the compiler fails, or a part crashes or does not return."""
    plan = probe.Plan(
        **values_of(model),
        on_demand=[],
        indicators=[],
        sets=[],
        memories=[],
        canaries={},
        z_canaries={},
        is_assembly=True,
    )
    sources, compiled = assembly_check_sources(model)
    found = findings(sources, compiled, plan, compiler, Called(f"{model.name}.check", str(model.path), timeout))
    return list(_told(model, found["disordered"]))


def _told(model: Assembly, disordered: dict[str, dict[str, float]]) -> Iterator[Problem]:
    for index, point in list(disordered.items())[:_MOST]:
        part = max((part for part in model.parts if part.offset <= int(index)), key=lambda one: one.offset)
        element = part.model.recipe.element_folder / "element.toml"
        what = (
            f"{model.variables[int(index)].name} follows from values that are older than the point"
            f" ({point_text(point) or 'the start values'}): a part of the assembly depends on more than it declares; "
            f"complete depends in {element} and in those of the parts before it, or leave it out"
        )
        yield Problem(f"{model.path}: connections", what)
