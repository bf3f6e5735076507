"""Work and precision of Lipinski's chain on its concave cam, 1.5 s: the FMU, Exudyn and MuJoCo in one run.

    python tests/benchmarks/mechanism_peers.py elements/planar_mechanism/work_precision.svg

Error      largest |q - q_ref| over the four joints, rad or m, at 0.1, 0.2 ... 1.5 s; the reference is that of the case
           `concave`, absolute coordinates at 1e-12
Time       processor time of the integration alone, from a state that is set up, the best of several runs
Exudyn     four rigid bodies in the plane, 12 coordinates, joints as constraints.  Constrained systems need one of its
           implicit methods: generalized alpha without numerical damping, or the trapezoidal rule of index 2.  The cam
           is either a Python function with its derivative, or, without any Python, three quadratic equations for the
           tip and two more coordinates, z = x^2 and w = x + z, by which x^3 = x z = (w^2 - x^2 - z^2)/2
MuJoCo     four hinges and slides in the plane.  The cam: a light body on two slides, joined to the tip (connect), whose
           coordinates meet an equality of joints, y = cubic(x): soft constraints both, as stiff as the time step allows
           (time constant of two steps, impedance 0.9999).  Their softness grows as the light body gets lighter, so
           there are two, of 1e-6 kg and 1e-4 kg"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peers import ENGINES, Curve, Point, import_exudyn
from work_precision import draw, fastest

from fmu_builder.cosim.slave import Slave, read_slave
from fmu_builder.cosim.trace import read_trace
from fmu_builder.export.fmu import host_fmu
from fmu_builder.paths import shipped

Vector = NDArray[np.float64]
LENGTHS, MASSES, INERTIAS = (0.3, 0.1, 0.3, 0.3), (1.0, 0.5, 1.0, 1.0), (0.1, 0.01, 0.1, 0.1)
STIFFNESS, DAMPING = (0.0, 15.0, 40.0, 18.0), (0.0, 1.0, 1.0, 1.0)
CAM = (-0.595, 0.5, 0.5)  # of x, x^2, x^3
START = (1.1315545342412676, -1.2, 0.0, -0.6)
G, STOP, SAMPLES = 9.81, 1.5, 15
SLIDE = 2
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
STEPS = (150, 300, 600, 1500, 3000, 6000, 15000, 30000, 60000, 150000)
LONGEST = 0.25  # s; finer settings are not tried, once the error
SAME_PROBLEM = 1e-2  # shows that the curve is of this problem
LEVELS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)

Run = Callable[[], tuple[float, Vector]]  # s, and q at the samples, shape (15, 4)


def reference() -> Vector:
    trace = read_trace(shipped("elements") / "planar_mechanism" / "cases" / "concave_ref.csv")
    return np.array([trace[f"chain.q[{i}]"][10:151:10] for i in (1, 2, 3, 4)]).T


def poses() -> list[tuple[float, float, float]]:
    """x, y and angle of the centres of mass at the start, then x and y of the tip."""
    at, found = np.zeros(2), []
    for i, angle in enumerate((START[0], START[0] + START[1], START[0] + START[1], sum(START) - START[2])):
        along = np.array([math.cos(angle), math.sin(angle)])
        found.append((*(at + 0.5 * LENGTHS[i] * along), angle))
        at = at + LENGTHS[i] * along
    return [*found, (*at, 0.0)]


def measure(curve: Curve, prepare: Callable[[float], Run], settings: Sequence[float]) -> Curve:
    exact = reference()
    for setting in settings:
        run = prepare(setting)
        seconds, q = run()
        if seconds < 0.1:
            seconds = min(seconds, *(run()[0] for _ in range(2)))
        error = float(np.abs(q - exact).max()) if np.isfinite(q).all() else math.inf
        if error < 1.0:
            curve.points.append(Point(setting, seconds, error))
        if seconds > LONGEST and error < SAME_PROBLEM:
            break
    return curve


# ---- the FMU ---------------------------------------------------------------------------------------------------------


def prepare_fmu(tolerance: float) -> Run:
    description = read_slave(host_fmu(shipped("fmus") / "CamChainConcave.toml"))

    def run() -> tuple[float, Vector]:
        slave, found, seconds = Slave("chain", description), [], 0.0
        slave.dll.fmi2SetupExperiment(slave.component, 1, tolerance, 0.0, 0, 0.0)
        slave.call("fmi2EnterInitializationMode")
        slave.call("fmi2ExitInitializationMode")
        for k in range(SAMPLES):
            begin = time.process_time()
            slave.dll.fmi2DoStep(slave.component, k * STOP / SAMPLES, STOP / SAMPLES, 1)
            seconds += time.process_time() - begin
            found.append([slave.get(description.variables[f"q[{i}]"]) for i in (1, 2, 3, 4)])
        slave.close()
        return seconds, np.array(found)

    return run


# ---- Exudyn ----------------------------------------------------------------------------------------------------------


def exudyn_chain(exu: Any, python_cam: bool) -> tuple[Any, list[int], list[Any]]:
    """The system, the sensors of its bodies, and functions that have to be kept."""
    item, system, start = exu.itemInterface, exu.SystemContainer().AddSystem(), poses()
    ground = system.AddObject(item.ObjectGround())
    before, end = system.AddMarker(item.MarkerBodyRigid(bodyNumber=ground)), None
    nodes, bodies, kept = [], [], []
    for i in range(4):
        node = system.AddNode(item.NodeRigidBody2D(initialCoordinates=list(start[i])))
        body = system.AddObject(
            item.ObjectRigidBody2D(physicsMass=MASSES[i], physicsInertia=INERTIAS[i], nodeNumber=node)
        )
        near, far = (
            system.AddMarker(item.MarkerBodyRigid(bodyNumber=body, localPosition=[s * 0.5 * LENGTHS[i], 0.0, 0.0]))
            for s in (-1.0, 1.0)
        )
        mass = system.AddMarker(item.MarkerBodyMass(bodyNumber=body))
        system.AddLoad(item.LoadMassProportional(markerNumber=mass, loadVector=[0.0, -G, 0.0]))
        carrier = end if end is not None else before
        if i == SLIDE:
            system.AddObject(item.ObjectJointPrismatic2D(markerNumbers=[carrier, near]))
            system.AddObject(
                item.ObjectConnectorRigidBodySpringDamper(
                    markerNumbers=[carrier, near],
                    stiffness=np.diag([STIFFNESS[i], 0.0, 0.0, 0.0, 0.0, 0.0]),
                    damping=np.diag([DAMPING[i], 0.0, 0.0, 0.0, 0.0, 0.0]),
                )
            )
        else:
            system.AddObject(item.ObjectJointRevolute2D(markerNumbers=[carrier, near]))
            if i:
                turns = [
                    system.AddMarker(item.MarkerNodeCoordinate(nodeNumber=n, coordinate=2)) for n in (nodes[-1], node)
                ]
                system.AddObject(
                    item.ObjectConnectorCoordinateSpringDamper(
                        markerNumbers=turns, stiffness=STIFFNESS[i], damping=DAMPING[i]
                    )
                )
        nodes.append(node)
        bodies.append(body)
        end = far
    a, b, c = CAM
    if python_cam:
        half = 0.5 * LENGTHS[3]
        point = system.AddNode(item.NodePointGround())
        markers = [system.AddMarker(item.MarkerNodeCoordinates(nodeNumber=n)) for n in (point, nodes[3])]

        def height(mbs, t, number, q, v, velocity):  # type: ignore[no-untyped-def]
            x, y = q[-3] + half * math.cos(q[-1]), q[-2] + half * math.sin(q[-1])
            return [y - x * (a + x * (b + x * c))]

        def slope(mbs, t, number, q, v, velocity):  # type: ignore[no-untyped-def]
            cosine, sine = math.cos(q[-1]), math.sin(q[-1])
            x = q[-3] + half * cosine
            f = a + x * (2.0 * b + x * 3.0 * c)
            return np.array([[*(0.0,) * (len(q) - 3), -f, 1.0, half * (cosine + f * sine)]])

        system.AddObject(
            item.ObjectConnectorCoordinateVector(
                markerNumbers=markers,
                scalingMarker0=np.zeros((1, 3)),
                scalingMarker1=np.zeros((1, 3)),
                constraintUserFunction=height,
                jacobianUserFunction=slope,
            )
        )
        kept = [height, slope]
    else:
        x, y, _ = start[4]
        tip = system.AddNode(item.NodePoint2D(initialCoordinates=[x, y]))
        light = system.AddObject(item.ObjectMassPoint2D(physicsMass=1e-9, nodeNumber=tip))
        own = system.AddMarker(item.MarkerBodyPosition(bodyNumber=light))
        system.AddObject(item.ObjectJointRevolute2D(markerNumbers=[end, own]))
        more = system.AddNode(
            item.NodeGenericODE2(
                referenceCoordinates=[0.0, 0.0],
                initialCoordinates=[x * x, x + x * x],
                initialCoordinates_t=[0.0, 0.0],
                numberOfODE2Coordinates=2,
            )
        )
        system.AddObject(item.ObjectGenericODE2(nodeNumbers=[more], massMatrix=1e-9 * np.eye(2)))
        markers = [system.AddMarker(item.MarkerNodeCoordinates(nodeNumber=n)) for n in (tip, more)]
        # X1 q1 + Y1 q1^2 = X0 q0 + Y0 q0^2, rows: z = x^2, w = x + z, y = cubic
        system.AddObject(
            item.ObjectConnectorCoordinateVector(
                markerNumbers=markers,
                scalingMarker0=np.array([[0.0, 0.0], [1.0, 0.0], [a, -1.0]]),
                quadraticTermMarker0=np.array([[1.0, 0.0], [0.0, 0.0], [b - 0.5 * c, 0.0]]),
                scalingMarker1=np.array([[1.0, 0.0], [-1.0, 1.0], [0.0, 0.0]]),
                quadraticTermMarker1=np.array([[0.0, 0.0], [0.0, 0.0], [0.5 * c, -0.5 * c]]),
                offset=np.zeros(3),
            )
        )
    sensors = [
        system.AddSensor(
            item.SensorNode(
                nodeNumber=n,
                storeInternal=True,
                writeToFile=False,
                outputVariableType=exu.OutputVariableType.Coordinates,
            )
        )
        for n in nodes
    ]
    system.Assemble()
    return system, sensors, kept


def prepare_exudyn(exu: Any, method: str, python_cam: bool) -> Callable[[float], Run]:
    def prepare(steps: float) -> Run:
        def run() -> tuple[float, Vector]:
            system, sensors, _kept = exudyn_chain(exu, python_cam)
            settings = exu.SimulationSettings()
            settings.solution.file.write = False
            settings.solution.sensors.writePeriod = STOP / SAMPLES
            settings.linearSolver.solverType = exu.LinearSolverType.EXUdense
            integration = settings.timeIntegration
            integration.verboseMode = 0
            integration.endTime, integration.numberOfSteps = STOP, round(steps)
            integration.newton.useModifiedNewton = True
            integration.newton.relativeTolerance = integration.newton.absoluteTolerance = 1e-10
            integration.solverType = getattr(exu.DynamicSolverType, method)
            integration.generalizedAlpha.spectralRadius = 1.0
            solver = exu.MainSolverImplicitSecondOrder()
            solver.InitializeSolver(system, settings)
            begin = time.process_time()
            good = solver.SolveSteps(system, settings)
            seconds = time.process_time() - begin
            solver.FinalizeSolver(system, settings)
            found = [np.array(system.GetSensorStoredData(s))[1 : SAMPLES + 1, 1:] for s in sensors]
            if not good or len(found[0]) < SAMPLES:
                return seconds, np.full((SAMPLES, 4), math.nan)
            angles = [part[:, 2] for part in found]
            along = np.array([np.cos(angles[1]), np.sin(angles[1])]).T
            slide = np.sum((found[2][:, :2] - found[1][:, :2]) * along, axis=1) - 0.5 * (LENGTHS[1] + LENGTHS[2])
            return seconds, np.array([angles[0], angles[1] - angles[0], slide, angles[3] - angles[2]]).T

        return run

    return prepare


# ---- MuJoCo ----------------------------------------------------------------------------------------------------------

MJCF = """<mujoco><compiler angle="radian" inertiafromgeom="false"/>
<option gravity="0 {g} 0" integrator="{integrator}" timestep="{h}" iterations="200" tolerance="0" jacobian="dense"/>
<default><equality solref="{time} 1" solimp="0.9999 0.9999 0.001"/></default><worldbody>{chain}
<body><inertial pos="0 0 0" mass="{half}" diaginertia="1e-9 1e-9 1e-9"/><joint name="x" type="slide" axis="1 0 0"/>
<body><inertial pos="0 0 0" mass="{half}" diaginertia="1e-9 1e-9 1e-9"/>
<joint name="y" type="slide" axis="0 1 0"/><site name="on cam"/></body></body></worldbody><equality>
<connect site1="tip" site2="on cam"/>
<joint joint1="y" joint2="x" polycoef="0 {a} {b} {c} 0"/></equality></mujoco>"""


def mujoco_model(integrator: str, light: float, h: float) -> str:
    chain = ""
    for i in range(4):
        joint = 'type="slide" axis="1 0 0"' if i == SLIDE else 'type="hinge" axis="0 0 1"'
        chain += (
            f'<body pos="{LENGTHS[i - 1] if i else 0.0} 0 0">'
            f'<inertial pos="{0.5 * LENGTHS[i]} 0 0" mass="{MASSES[i]}" diaginertia="{INERTIAS[i]} {INERTIAS[i]} '
            f'{INERTIAS[i]}"/><joint {joint} stiffness="{STIFFNESS[i]}" damping="{DAMPING[i]}"/>'
        )
    chain += f'<site name="tip" pos="{LENGTHS[3]} 0 0"/>'
    a, b, c = CAM
    return MJCF.format(
        g=-G,
        half=repr(0.5 * light),
        integrator=integrator,
        h=repr(h),
        time=repr(2.0 * h),
        chain=chain + "</body>" * 4,
        a=a,
        b=b,
        c=c,
    )


def prepare_mujoco(mujoco: Any, integrator: str, light: float) -> Callable[[float], Run]:
    def prepare(steps: float) -> Run:
        each = round(steps / SAMPLES)
        model = mujoco.MjModel.from_xml_string(mujoco_model(integrator, light, STOP / SAMPLES / each))
        data, tip = mujoco.MjData(model), poses()[4]

        def run() -> tuple[float, Vector]:
            mujoco.mj_resetData(model, data)
            data.qpos[:] = (*START, tip[0], tip[1])
            found, seconds = [], 0.0
            for _ in range(SAMPLES):
                begin = time.process_time()
                mujoco.mj_step(model, data, nstep=each)
                seconds += time.process_time() - begin
                found.append(data.qpos[:4].copy())
            return seconds, np.array(found)

        return run

    return prepare


# ---- all together ----------------------------------------------------------------------------------------------------


def curves() -> Iterator[Curve]:
    import mujoco

    exudyn = import_exudyn()
    yield measure(Curve("FMU", "auto"), prepare_fmu, TOLERANCES)
    for method in ("GeneralizedAlpha", "TrapezoidalIndex2"):
        for python_cam in (False, True):
            name = f"{method}, cam {'in Python' if python_cam else 'quadratic'}"
            yield measure(Curve("Exudyn", name), prepare_exudyn(exudyn, method, python_cam), STEPS)
    for integrator in ("Euler", "RK4"):
        for light in (1e-6, 1e-4):
            prepare = prepare_mujoco(mujoco, integrator, light)
            yield measure(Curve("MuJoCo", f"{integrator}, {light:g} kg"), prepare, STEPS)


def table(measured: Sequence[Curve]) -> str:
    """Every point, then times at equal error, and MuJoCo's error in the FMU's time and in ten times that."""
    lines = []
    for curve in measured:
        points = "  ".join(f"{p.error:.1e} {p.time * 1e3:.2f}" for p in curve.points)
        lines.append(f"  {curve.engine + ', ' + curve.method:42} {points}")
    for error in LEVELS:
        ours, _, _ = fastest(measured, "FMU", error)
        parts = [f"  error {error:.0e}: FMU {ours * 1e3:.2f} ms"]
        for peer in ENGINES[1:]:
            seconds, method, reached = fastest(measured, peer, error)
            more = "" if reached else "more than "
            parts.append(f"{peer} ({method}) {more}{seconds * 1e3:.1f} ms, {more}{seconds / ours:.0f} times as long")
        lines.append("; ".join(parts))
    for peer in ENGINES[1:]:
        longest = max(p.time for c in measured if c.engine == "FMU" for p in c.points)
        found = [p.error for c in measured if c.engine == peer for p in c.points if p.time <= longest]
        lines.append(
            f"  in the {longest * 1e3:.1f} ms of the finest run of the FMU {peer} reaches {min(found, default=1):.0e}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figure", type=Path, help="SVG file to write")
    target = parser.parse_args().figure
    measured = list(curves())
    print("error, and processor time in ms\n" + table(measured))
    target.write_text(draw({"Lipiński's chain, 1.5 s": measured}, "error of q, rad or m", (-4, 0)), encoding="utf-8")


if __name__ == "__main__":
    main()
