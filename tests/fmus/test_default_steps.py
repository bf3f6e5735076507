"""Every force element of the catalogue keeps, at the communication step that its FMU recommends, the one per cent that
its advice promises, beside bodies of the mass that the advice assumes and under either master.

Bodies of the unit velocity meet a contact, swing on a spring or across a line, or are braked, from closed forms:

    contact   F = F_e(h) (1 + d(w)) with w = h': w dw/(1 + d(w)) = -F_e dh/m, so the rebound w_1 of an impact at w_0
              solves  int_0^w_0 w dw/(1 + d(w)) = int_0^w_1 w dw/(1 + d(-w)),  whatever the mass and F_e
    swing     v = v_0 cos(omega t) for half a period, omega = sqrt(k/m); coupled, of the amplitude
    damper    v = v_0 exp(-d t/m)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import brentq

from fmu_builder import run
from fmu_builder.cosim.slave import Slave, read_slave
from fmu_builder.cosim.trace import Trace
from fmu_builder.export.fmu import host_fmu
from fmu_builder.model.loader import load_model
from fmu_builder.model.model import Model
from fmu_builder.model.step_advice import MODE, Advice, HeldForce, step_advice
from fmu_builder.paths import catalogue, shipped

MASTERS = ("jacobi", "gauss_seidel")
BODIES = {"point": "PointMass", "frame": "PointMass", "translational": "SliderMass", "rotational": "Inertia"}
LAWS = {"FloorWithLaws": (0.4, 1.0, 0.25)}  # C_r, k_D, k_E of laws of the shape of the built-in one
NEAR = np.array([0.013, 0.021, 0.055])  # m: a place near each surface and line, on no axis of any
PLACES = {  # m: near those that do not reach there
    "FloorPatch": np.array([0.007, 0.005, 0.055]),  # a patch of 20 mm
    "PointMeshBowl": np.array([0.013, 0.021, -0.055]),  # the lower half of a sphere
}
PROMISED = 0.01


def held_of(model: Model, advice: Advice) -> HeldForce:
    held = model[advice.constant[0]].held
    assert held is not None
    return held


SKIN = {"BodySurface"}  # tests/elements/test_held_skin.py
ASSEMBLIES = {"SpringMassTrain"}  # run by themselves at a step of their own; the advice is for what is connected
# of elements that have an advice: an element is read where it is tested
ADVISED = (
    "FloorPatch", "FloorWithLaws", "FloorWithStribeck", "FourPointSurface", "GuideRail", "ImpactDamper", "PointBowl",
    "PointCone", "PointCylinder", "PointDisc", "PointExtrusion", "PointLine1", "PointLine2", "PointMeshBowl",
    "PointPipe", "PointRevolution", "PointRoad", "PointSaddle", "PointSphere", "PointSurface", "PointSurfaceBristle",
    "PointToPointSpring", "PointTorus", "PointTube", "RotationalDamper", "RotationalSpring",
    "RotationalSpringByAngles", "TranslationalDamper", "TranslationalSpring", "TranslationalSpringByPositions",
    "TwoPointSurface",
)  # fmt: skip


@pytest.mark.slow
def test_force_elements_without_advice_have_neither_stiffness_nor_damping() -> None:
    """Points of bodies in the plane pass forces on."""
    models = {path.stem: load_model(path) for path in catalogue()}
    advised = {name for name, model in models.items() if step_advice(model.variables) is not None}
    assert advised == {*ADVISED, *ASSEMBLIES, *SKIN}
    forces = {name for name, model in models.items() if any(port.side == "force" for port in model.ports)}
    assert forces - advised == {"TwoDPointX", "TwoDPointY", "TwoDPointTheta", "TwoDPointXY"}


def rebound(C_r: float, k_D: float, k_E: float, w_0: float) -> float:
    """Of the damping ratio k_D w between the limits that C_r and k_E set."""
    loss, delta = 1.0 - C_r**2, 1.0 - k_E + C_r**2 * k_E

    def spent(w: float, sign: float) -> float:
        limits = sorted(abs(bound / k_D) for bound in (loss * k_E / delta, loss * (1.0 - k_E) / delta) if k_D > 0.0)
        at = [point for point in limits if point < w]

        def rate(u: float) -> float:
            return u / (1.0 + min(max(sign * k_D * u, -loss * (1.0 - k_E) / delta), loss * k_E / delta))

        return float(quad(rate, 0.0, w, points=at or None, epsabs=1e-12, epsrel=1e-12)[0])

    return float(brentq(lambda w_1: spent(w_1, -1.0) - spent(w_0, 1.0), 0.0, w_0, xtol=1e-12)) if C_r < 1.0 else w_0


@dataclass(frozen=True)
class Place:
    """Where a point meets the element, and the unit vector from there to it."""

    r: NDArray[np.float64]
    away: NDArray[np.float64]


def place_of(path: Path, point: str, near: NDArray[np.float64]) -> Place:
    """The closest place to `near` on a surface, or on a line."""
    description = read_slave(host_fmu(path))
    slave = Slave("force", description)
    try:
        slave.setup(0.0, 1.0, None)
        slave.call("fmi2EnterInitializationMode")
        for k in range(3):
            slave.set(description.variables[f"{point}.r[{k + 1}]"], near[k])
        foot = "foot" if "foot.r[1]" in description.variables else point.replace("point", "contact")
        r = np.array([slave.get(description.variables[f"{foot}.r[{k + 1}]"]) for k in range(3)])
        if foot == "foot":
            return Place(r, (near - r) / np.linalg.norm(near - r))
        normal = [v for v in description.variables if v.startswith("normal[")]
        first = 3 * (int(point[6:-1]) - 1) if "[" in point else 0
        return Place(r, np.array([slave.get(description.variables[n]) for n in normal[first : first + 3]]))
    finally:
        slave.close()


def scenario_of(path: Path, model: Model, held: HeldForce, mass: float, step: float, stop: float, master: str) -> str:
    """The element and a body of unit velocity at each of its points, or at its first port; the other one stands."""
    kinds = {port.name: port.kind for port in model.ports}
    points = [name for name in held.ports if name.split("[")[0] == "point"] or list(held.ports[:1])
    slaves, connections, start = [], [], ""
    for number, port in enumerate(points, 1):
        body = BODIES[kinds[port]]
        if kinds[port] in ("point", "frame") and held.part in ("contact", "guide"):
            place = place_of(path, port, PLACES.get(path.stem, NEAR) + 0.01 * (number - 1))
            gap = 0.37 * step if held.part == "contact" else 0.0
            r, v = place.r + gap * place.away, -place.away
            given = f"m = {mass}, g = [0, 0, 0], r0 = {list(map(float, r))}, v0 = {list(map(float, v))}"
        elif body == "PointMass":
            given = f"m = {mass}, g = [0, 0, 0], r0 = [0.1, 0, 0], v0 = [1, 0, 0]"
        elif held.inner_mass:
            given, start = f"m = {mass}", ", start = { w0 = 1, x0 = 0.0049 }"
        else:
            given = f"m = {mass}, v0 = 1" if body == "SliderMass" else f"J = {mass}, w0 = 1"
        slaves.append(f"body{number} = {{ recipe = '{body}', start = {{ {given} }} }}")
        end = "tip" if body == "Pendulum" else "p"
        connections.append(f"['body{number}.{end}', 'force.{port}']")
    text = f"free_moment = true\nconnections = [{', '.join(connections)}]\n[experiment]\nalgorithm = '{master}'\n"
    text += f"step = {step!r}\nstop = {math.ceil(stop / step) * step!r}\n[slaves]\n"
    return text + "\n".join([f"force = {{ recipe = '{path}'{start} }}", *slaves]) + "\n"


def speeds(trace: Trace, start: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the first body along its velocity at the start; of a mass inside relative to it."""
    if "force.w" in trace and "force.depth" in trace:  # a mass in its housing
        return trace["force.v"]
    names = [n for n in trace.names if n.startswith("body1.p.v") or n == "body1.p.w"]
    columns = np.array([trace[n] for n in names])
    return np.asarray(start @ columns if len(names) == 3 else columns[0])


def displacement(trace: Trace, start: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the first body from its start, along its velocity there."""
    names = [n for n in trace.names if n.startswith("body1.p.r[") or n in ("body1.p.s", "body1.p.phi")]
    columns = np.array([trace[n] - trace[n][0] for n in names])
    return np.asarray(start @ columns if len(names) == 3 else columns[0])


def error(path: Path, model: Model, advice: Advice, master: str, folder: Path) -> float:
    """The largest error of the speed, as a share of what the advice means by one."""
    held = held_of(model, advice)
    step, (_, value, _) = model.experiment.step, advice.constant
    inner = model[held.inner_mass].start if held.inner_mass else math.inf
    mass = advice.mass / (1.0 + advice.mass / inner)
    half = mass / value if held.part == "damper" else math.pi * math.sqrt(mass / value)
    last = 3.0 * half if held.part == "damper" else half
    file = folder / "one.toml"
    file.write_text(
        scenario_of(path, model, held, advice.mass, step, 4.0 * half if held.part == "contact" else last, master)
    )
    trace = run(file).trace
    names = [f"body1.p.v[{k}]" for k in (1, 2, 3)]
    start = np.array([trace[n][0] for n in names]) if names[0] in trace else np.ones(1)
    v = speeds(trace, start)
    if held.part == "contact":
        given: Mapping[str, float] = {v.name: v.start for v in model.variables}
        law = LAWS.get(path.stem) or (given["C_r"], given["k_D"], given["k_E"])
        expected = rebound(*law, 1.0)
        return abs(float(v[-1]) + expected) / expected
    t = trace.time
    within = t <= last * (1.0 + 1e-12)
    if held.part != "damper" and MODE in model:  # coupled: the amplitude, from the energy
        return float(np.max(np.abs(np.hypot(v, math.pi / half * displacement(trace, start)) - 1.0)[within]))
    exact = np.exp(-t / half) if held.part == "damper" else np.cos(math.pi * t / half)
    return float(np.max(np.abs(v - exact)[within]))


EVERYDAY = {
    "PointSurface",
    "PointLine1",
    "TranslationalSpring",
    "TranslationalDamper",
    "ImpactDamper",
    "PointToPointSpring",
}


@pytest.mark.parametrize("master", MASTERS)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in EVERYDAY else pytest.mark.slow) for name in ADVISED],
)
def test_the_recommended_step_keeps_one_per_cent_under_either_master(name: str, master: str, tmp_path: Path) -> None:
    path = shipped("fmus") / f"{name}.toml"
    model = load_model(path)
    advice = step_advice(model.variables)
    assert advice is not None
    assert error(path, model, advice, master, tmp_path) <= PROMISED
