"""The laws of a model, each as the recipe writes it and as a picture, for documentation and reports."""

from __future__ import annotations

from dataclasses import dataclass

from fmu_builder.laws.figures import law_svg
from fmu_builder.model.assembly import AssemblyModel
from fmu_builder.model.model import ElementModel, Model


@dataclass(frozen=True)
class DrawnLaw:
    """What stands in a slot, as the recipe writes it, and its picture as SVG."""

    slot: str
    description: str
    written: str
    picture: str


@dataclass(frozen=True)
class LawSection:
    """The laws of one recipe and the text of its [functions]."""

    recipe: str
    text: str
    laws: tuple[DrawnLaw, ...]


def law_sections(model: Model) -> tuple[LawSection, ...]:
    """Of the model, or of the recipes of an assembly's parts; those without laws are left out.  `recipe` is "" for the
    model's own."""
    models: list[Model] = [kind.model for kind in model.types] if isinstance(model, AssemblyModel) else [model]
    found = []
    for one in models:
        laws = one.recipe.laws if isinstance(one, ElementModel) else None
        if laws is not None:
            drawn = tuple(
                DrawnLaw(
                    law.law.slot,
                    law.slot.description,
                    laws.written[law.law.slot],
                    law_svg(law, laws.built_in.get(law.law.slot), "this law", f"built in: {law.slot.built_in}"),
                )
                for law in laws.checked
            )
            found.append(LawSection(one.name if one is not model else "", laws.text, drawn))
    return tuple(found)
