"""A body that is moved in a plane; what is moved in one direction is drawn as its port."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from fmu_builder.pages.scene import Place


def places(constants: Mapping[str, Sequence[float]], names: Collection[str]) -> list[Place]:
    return [("position[1]", "position[2]", "position[3]")] if "position[1]" in names else []
