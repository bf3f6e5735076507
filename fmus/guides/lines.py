"""The lines of the guides in this folder.  `python lines.py` writes every *.csv anew."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]


def parabola() -> Points:
    """z = x^2/m from -0.6 m to 0.6 m."""
    x = np.linspace(-0.6, 0.6, 401)
    return np.stack([x, 0.0 * x, x**2], axis=1)


def cycloid() -> Points:
    """x = a (p + sin p), z = a (1 - cos p), a = 0.25 m: the way from the lowest point is 4 a sin(p/2)."""
    p = np.linspace(-2.0, 2.0, 401)
    return 0.25 * np.stack([p + np.sin(p), 0.0 * p, 1.0 - np.cos(p)], axis=1)


def helix() -> Points:
    """Radius 0.5 m, 0.1 m down in each radian."""
    a = np.linspace(-0.5, 4.0, 301)
    return np.stack([0.5 * np.cos(a), 0.5 * np.sin(a), -0.1 * a], axis=1)


def ring() -> Points:
    """A circle of 1 m in the plane of x and y."""
    a = 2.0 * np.pi * np.arange(720) / 720
    return np.stack([np.cos(a), np.sin(a), 0.0 * a], axis=1)


def hoop() -> Points:
    """An upright circle of 0.5 m, from its lowest point."""
    a = 2.0 * np.pi * np.arange(360) / 360
    return 0.5 * np.stack([np.sin(a), 0.0 * a, -np.cos(a)], axis=1)


LINES = (parabola, cycloid, helix, ring, hoop)


def text(points: Points) -> str:
    rows = "\n".join(", ".join(f"{value + 0.0:.15g}" for value in row) for row in points)
    return f"x [m], y [m], z [m]\n{rows}\n"


if __name__ == "__main__":
    for line in LINES:
        path = Path(__file__).parent / f"{line.__name__}.csv"
        path.write_text(text(line()), encoding="utf-8", newline="\n")
