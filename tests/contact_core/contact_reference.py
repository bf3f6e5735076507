"""contactPS a second time, from its description, with rotations by scipy: one point, a surface of a moving frame."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Vector = NDArray[np.float64]

ZERO = np.zeros(3)


@dataclass(frozen=True)
class Law:
    """SI; the defaults are those of elements/point_surface."""

    C_F: float = 1e6
    K_fr: float = 0.0
    C_r: float = 1.0
    D_max: float = 1.0
    k_D: float = 100.0
    k_E: float = 0.5
    k_T: float = 100.0


@dataclass(frozen=True)
class Scene:
    """Motion of the point (r, v) and of the surface's frame (o, q, v_o, w), world components."""

    r: Vector
    v: Vector = field(default_factory=lambda: ZERO)
    o: Vector = field(default_factory=lambda: ZERO)
    q: Vector = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    v_o: Vector = field(default_factory=lambda: ZERO)
    w: Vector = field(default_factory=lambda: ZERO)

    def values(self, point: str = "point") -> dict[str, Vector]:
        """As inputs of the FMU."""
        return {
            f"{point}.r": self.r,
            f"{point}.v": self.v,
            "surface.r": self.o,
            "surface.q": self.q,
            "surface.v": self.v_o,
            "surface.w": self.w,
        }


@dataclass(frozen=True)
class Contact:
    depth: float
    depth_rate: float
    slip_speed: float
    elastic: float
    damping: float
    normal: float
    friction: float
    n: Vector
    force: Vector  # on the point
    moment: Vector  # on the surface's body, about o
    energy: float  # elastic


Surface = Callable[[Vector], tuple[float, Vector, bool]]  # point -> depth, normal, on the drawn part; in the frame


def square(half_width: float) -> Surface:
    """The plane z = 0; the drawn part is |x|, |y| <= half_width."""
    return lambda P: (-P[2], np.array([0.0, 0.0, 1.0]), max(abs(P[0]), abs(P[1])) <= half_width)


def contact(law: Law, scene: Scene, surface: Surface | float = math.inf) -> Contact:
    """Forces at one instant on a surface, by default the plane, or the square of this half width."""
    depth_at = surface if callable(surface) else square(surface)
    turn = Rotation.from_quat([*scene.q[1:], scene.q[0]])
    arm = scene.r - scene.o
    depth, normal, on = depth_at(turn.inv().apply(arm))
    n = turn.apply(normal)
    v = scene.v - scene.v_o - np.cross(scene.w, arm)
    rate = -float(v @ n)
    slip = v + rate * n
    speed = float(np.linalg.norm(slip))
    depth = depth if 0.0 < depth <= law.D_max and on else 0.0
    loss = 1.0 - law.C_r**2
    delta = 1.0 - law.k_E + law.C_r**2 * law.k_E
    ratio = min(max(law.k_D * rate, -loss * (1.0 - law.k_E) / delta), loss * law.k_E / delta)
    elastic = law.C_F * depth
    normal = elastic * (1.0 + ratio)
    friction = law.K_fr * normal * min(law.k_T * speed, 1.0)
    force = normal * n - (friction * slip / speed if speed > 0.0 else ZERO)
    return Contact(
        depth=depth,
        depth_rate=rate,
        slip_speed=speed,
        elastic=elastic,
        damping=elastic * ratio,
        normal=normal,
        friction=friction,
        n=n,
        force=force,
        moment=np.cross(arm, -force),
        energy=0.5 * law.C_F * depth**2,
    )
