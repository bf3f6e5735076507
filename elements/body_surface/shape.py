"""What it looks like in a page: the surface, and the samples of the body as crosses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fmu_builder.paths import load_module

Polyline = list[tuple[float, float, float]]
MOST_CROSSES = 150  # samples that are drawn


def shapes(constants: Mapping[str, Any], choices: Mapping[str, object]) -> dict[str, list[Polyline]]:
    """By port: the surface as point_surface draws it, and each sample as a cross as wide as its area."""
    drawn: dict[str, list[Polyline]] = load_module(Path(__file__).parents[1] / "point_surface" / "shape.py").shapes(
        constants, choices
    )
    samples = np.frombuffer(constants["body_samples"], "<f8").reshape(-1, 4)
    chosen = samples[np.linspace(0, len(samples) - 1, min(len(samples), MOST_CROSSES)).astype(int)]
    half = np.sqrt(chosen[:, 3]) / 4.0
    crosses = [
        [(x - a * h, y - b * h, z - c * h), (x + a * h, y + b * h, z + c * h)]
        for (x, y, z, _), h in zip(chosen.tolist(), half.tolist(), strict=True)
        for a, b, c in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    ]
    return {**drawn, "body": crosses}
