"""The two kinds of motion along one axis.  Springs, dampers and bodies of both obey the same equations under different
names, so one test serves both: here every FMU answers to the names of the rotational kind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from fmi2 import OK, Fmu, load_literal, load_shipped
from running import build


@dataclass(frozen=True)
class Kind:
    """Recipes of its elements, units and defaults; `names`: those of the rotational kind -> its own."""

    body: str
    spring: str
    spring_by_position: str
    damper: str
    by_position: str
    inertia_unit: str
    rate_unit: str
    rate: float
    names: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return "translational" if self.names else "rotational"

    def own(self, text: str) -> str:
        """The text with the names of this kind."""
        return _renamed(text, self.names)

    def element(self, recipe: str) -> str:
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", recipe).lower()

    def load(self, recipe: str, folder: Path) -> Fmu:
        """A catalogue FMU, by the names of the rotational kind; of a force element with the literal law."""
        return self.as_rotational((load_shipped if recipe == self.body else load_literal)(recipe, folder))

    def build(self, recipe: str, folder: Path, name: str) -> Fmu:
        """The FMU of a recipe that is written with the names of the rotational kind."""
        return self.as_rotational(build(folder, name, self.own(recipe)))

    def as_rotational(self, fmu: Fmu) -> Fmu:
        back = {own: name for name, own in self.names.items()}
        fmu.references = {_renamed(name, back): reference for name, reference in fmu.references.items()}
        fmu.types = {_renamed(name, back): type_ for name, type_ in fmu.types.items()}
        return fmu


def _renamed(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\w+", lambda word: names.get(word[0], word[0]), text)


ROTATIONAL = Kind(
    "Inertia", "RotationalSpring", "RotationalSpringByAngles", "RotationalDamper", "angles", "kg.m2", "N.m/rad", 10.0
)
TRANSLATIONAL = Kind(
    "SliderMass", "TranslationalSpring", "TranslationalSpringByPositions", "TranslationalDamper", "positions", "kg",
    "N/m", 1000.0,
    {"w": "v", "t": "F", "theta": "x", "theta0": "x0", "phi": "s", "phi0": "s0", "w0": "v0", "J": "m",
     "Inertia": "SliderMass", "RotationalSpring": "TranslationalSpring", "RotationalDamper": "TranslationalDamper",
     "RotationalSpringByAngles": "TranslationalSpringByPositions"},
)  # fmt: skip
KINDS = (ROTATIONAL, TRANSLATIONAL)
# springs and dampers of both kinds have one source, elements/shared/axis_spring.h and damper.h: every day one is tested
OF_ONE_SOURCE = (ROTATIONAL, pytest.param(TRANSLATIONAL, marks=pytest.mark.slow))


def refused(fmu: Fmu, name: str, value: float, *texts: str) -> bool:
    """Whether an instance is refused this value, when it is set or when initialization ends, with all these texts in
    one message."""
    slave = fmu.slave()
    statuses = [
        slave.set({name: value}),
        slave.setup(),
        slave.call("fmi2EnterInitializationMode"),
        slave.call("fmi2ExitInitializationMode"),
    ]
    return any(s != OK for s in statuses) and any(all(t in m for t in texts) for m in slave.importer.texts)
