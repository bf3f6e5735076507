"""The measured files of the fits: closed forms and independent integrations with noise of a fixed seed.

`python measurements.py` writes every CSV file anew.  None of this uses the code under test; TRUTH holds the values that
a fit has to find."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fmu_builder.paths import load_module, shipped

Array = NDArray[np.float64]

systems = load_module(shipped("fmus") / "systems" / "references.py")
G = systems.G


def bounce_train(time: Array) -> Array:
    """Height of a ball of 1 kg that is dropped from 1 m, m; references.py of the systems."""
    (height, _), _, _ = systems.bounces(time, 1.0, k=2e4, c_r=0.72)
    return np.asarray(height)


def sliding_block(time: Array, mu: float = 0.25, k: float = 4.0) -> Array:
    """Way of a block with 2 m/s at first and the friction mu N min(k v, 1), m.

    v' = -mu g while k v > 1; below, v = exp(-mu g k (t - t_1))/k."""
    v_0 = 2.0
    t_1 = (v_0 - 1.0 / k) / (mu * G)
    full = np.minimum(time, t_1)
    rest = np.maximum(time - t_1, 0.0)
    return np.asarray(v_0 * full - mu * G * full**2 / 2 - np.expm1(-mu * G * k * rest) / (mu * G * k**2))


def follower(time: Array) -> Array:
    """Stroke of a pointed follower over the axis of a disc of 30 mm radius that turns at 60 rad/s, m.

    The distance of the point from the centre of the disc is its radius."""
    e, radius, angle = 8e-3, 30e-3, 60.0 * time - 0.5 * np.pi
    return np.asarray(e * np.sin(angle) + np.sqrt(radius**2 - (e * np.cos(angle)) ** 2))


class Measured(NamedTuple):
    """A file: time of the run = time of the file + offset, s.

    deviation   of the noise, m;   header, row   as the logger writes them, of time and value in SI
    truth       what the fit has to find, by parameter"""

    motion: Callable[[Array], Array]
    time: Array
    offset: float
    deviation: float
    header: str
    row: Callable[[float, float], str]
    truth: dict[str, float]

    def values(self, rng: np.random.Generator) -> Array:
        return self.motion(self.time) + self.deviation * rng.standard_normal(len(self.time))

    def text(self, rng: np.random.Generator) -> str:
        values = self.values(rng)
        rows = (self.row(t - self.offset, z) for t, z in zip(self.time.tolist(), values.tolist(), strict=True))
        return self.header + "".join(rows)


MEASURED = {
    "bounces": Measured(
        bounce_train,
        np.arange(0.04, 1.95, 0.01),
        0.0125,
        2e-3,
        "# camera 2, 100 frames a second\nt [ms];z [mm]\n",
        lambda t, z: f"{1e3 * t:.3f};{1e3 * z:.4f}\n".replace(".", ","),
        {"restitution": 0.72, "stiffness": 2e4, "time_offset of bounces.csv": 0.0125},
    ),
    "sliding": Measured(
        sliding_block,
        np.arange(0.03, 1.45, 0.008),
        -0.02,
        1e-3,
        "clock,way\ns,mm\n",
        lambda t, s: f"{t:.6f},{1e3 * s:.4f}\n",
        {"friction": 0.25, "friction_slope": 4.0, "time_offset of sliding.csv": -0.02},
    ),
    "cam": Measured(
        follower,
        np.arange(0.01, 0.29, 0.0015),
        0.004,
        1e-4,
        "% gauge of the follower, downwards from 60 mm\nt (ms)\tgap (um)\n",
        lambda t, q: f"{1e3 * t:.4f}\t{6e4 - 1e6 * q:.3f}\n",
        {"laws.eccentricity": 8e-3, "time_offset of cam.csv": 0.004},
    ),
}


def main() -> None:
    for seed, (name, measured) in enumerate(MEASURED.items()):
        text = measured.text(np.random.default_rng(seed))
        Path(__file__).with_name(f"{name}.csv").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
