"""The body, at its centre of mass."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from fmu_builder.pages.scene import Place


def places(constants: Mapping[str, Sequence[float]], names: Collection[str]) -> list[Place]:
    return [("x", "y", "theta")]
