"""Work and precision of an FMU and of its peers MuJoCo and Exudyn on three problems: the runs and their measurement.

Problems   elastic, damped: a ball of 1 kg falls 1 m on a floor of 1e5 N/m, restitution 1 and 0.5, until 0.8 s, after
           the rebound.  sliding: a block of 1 kg at 2 m/s, ramp friction 0.3 with k_T = 100 s/m, until 1 s, at rest.
Error      the larger of |r - r_ref| / (height of the fall, way of the block) and |v - v_ref| / (speed of the impact, of
           the start); root mean square over five heights or speeds, so that luck in where steps fall averages out.
Time       processor time of the integration alone, from a state that is set up: median over the five and their
           repetitions.  A run is one call from Python, so what remains of Python is the time of a call, `overhead`.
Settings   Each peer gets what is best for it: one degree of freedom (the FMU has three, and keeps account of energy and
           impulse), no output, no checks, the force law in compiled code.
  MuJoCo   Its contact is a constraint, not a spring.  A fixed tendon on the slide joint with the dead band 0 .. 1 km is
           the elastic floor exactly; the damped one is mjcb_passive in C (peers.c); friction is a velocity actuator of
           limited force.  Shown besides: its own contact, solref = (-k, 0) with the least impedance.
  Exudyn   ObjectContactCoordinate locates contacts, elastic only, by default to a force of 1 N (`located`: to 1 mN); a
           symbolic user function, which Exudyn evaluates in C++, can be damped; friction is
           ObjectConnectorCoordinateSpringDamperExt with a proportional zone, exactly the ramp.
References closed forms (elastic: free flight and a half-wave under gravity; sliding: friction mu g, then exponential);
           damped: DOP853 from kink to kink."""

from __future__ import annotations

import ctypes
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.integrate import solve_ivp

from fmu_builder.cosim.slave import Slave, SlaveDescription, read_slave
from fmu_builder.export.fmu import host_fmu
from fmu_builder.export.toolchain import find_compiler, run_compiler

Name = Literal["elastic", "damped", "sliding"]
ENGINES = ("FMU", "MuJoCo", "Exudyn")
LEVELS = (1e-3, 1e-6, 1e-9)  # errors at which times are compared
LONGEST_RUN = 0.15  # s; finer settings are not tried, by default

g = 9.81  # m/s2
m = 1.0  # kg
k = 1e5  # N/m
C_r, k_E, k_D = 0.5, 0.5, 100.0  # noqa: N816  restitution, share of compression, s/m
mu, k_T = 0.3, 100.0  # noqa: N816  friction, s/m


# ---- problems and references -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    name: Name
    title: str
    stop: float  # s
    starts: tuple[float, ...]  # heights in m, or speeds in m/s
    reference: Callable[[float], tuple[float, float]]  # position, velocity at the stop
    scales: Callable[[float], tuple[float, float]]

    def error(self, start: float, position: float, velocity: float) -> float:
        pairs = zip((position, velocity), self.reference(start), self.scales(start), strict=True)
        return max(abs(x - reference) / scale for x, reference, scale in pairs)


def elastic(height: float) -> tuple[float, float]:
    w, v = math.sqrt(k / m), math.sqrt(2.0 * g * height)
    contact = 2.0 / w * (math.pi - math.atan(w * v / g))
    t = DROP - v / g - contact  # since the release, at the speed of the impact
    return v * t - 0.5 * g * t * t, v - g * t


def damping_limits() -> tuple[float, float]:
    """Of the damping ratio d(w), w the depth rate: in restitution, in compression."""
    loss, delta = 1.0 - C_r**2, 1.0 - k_E + C_r**2 * k_E
    return -loss * (1.0 - k_E) / delta, loss * k_E / delta


@cache
def damped(height: float) -> tuple[float, float]:
    low, high = damping_limits()
    t, y = math.sqrt(2.0 * height / g), np.array([0.0, math.sqrt(2.0 * g * height)])  # depth, depth rate
    laws: tuple[Callable[[float], float], ...] = (lambda w: high, lambda w: k_D * w, lambda w: low)
    for law, bound in zip(laws, (high / k_D, low / k_D, None), strict=True):

        def rates(t: float, y: np.ndarray, law: Callable[[float], float] = law) -> list[float]:
            return [y[1], g - k / m * y[0] * (1.0 + law(y[1]))]

        def ends(t: float, y: np.ndarray, bound: float | None = bound) -> float:
            return float(y[0] if bound is None else y[1] - bound)

        ends.terminal, ends.direction = True, -1.0  # type: ignore[attr-defined]
        solution = solve_ivp(rates, (t, t + 0.1), y, "DOP853", events=ends, rtol=1e-13, atol=1e-15, max_step=1e-3)
        assert solution.status == 1
        t, y = solution.t[-1], solution.y[:, -1]
    t, v = DROP - t, -y[1]
    return v * t - 0.5 * g * t * t, v - g * t


def sliding(speed: float) -> tuple[float, float]:
    v_T, rate = 1.0 / k_T, mu * g * k_T
    t = SLIDE - (speed - v_T) / (mu * g)
    v = v_T * math.exp(-rate * t)
    return (speed**2 - v_T**2) / (2.0 * mu * g) + (v_T - v) / rate, v


DROP, SLIDE = 0.8, 1.0  # s
HEIGHTS = tuple(1.0 + 0.02 * i for i in range(3))


def drop_scales(height: float) -> tuple[float, float]:
    return height, math.sqrt(2.0 * g * height)


PROBLEMS = {
    "elastic": Problem("elastic", "Elastic drop", DROP, HEIGHTS, elastic, drop_scales),
    "damped": Problem("damped", "Damped drop", DROP, HEIGHTS, damped, drop_scales),
    "sliding": Problem(
        "sliding",
        "Sliding block",
        SLIDE,
        tuple(2.0 + 0.04 * i for i in range(3)),
        sliding,
        lambda speed: (speed**2 / (2.0 * mu * g), speed),
    ),
}


# ---- measurement -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    setting: float  # tolerance, or number of steps
    time: float  # s
    error: float


@dataclass
class Curve:
    engine: str
    method: str
    points: list[Point] = field(default_factory=list)

    def time_at(self, error: float) -> float | None:
        """s in which the error is reached: of a setting that does, or log(time) interpolated over log(error) between
        two neighbours of which the finer one does; None if none does."""
        times = [p.time for p in self.points if p.error <= error]
        for a, b in pairwise(self.points):
            if b.error <= error < a.error:
                share = math.log(a.error / error) / math.log(a.error / b.error)
                times.append(a.time ** (1.0 - share) * b.time**share)
        return min(times, default=None)


# A method's run of one start value: call it for the processor time of one integration, in s, and the end state.
Run = Callable[[], tuple[float, float, float]]
Prepare = Callable[[Problem, float, float], Run]  # problem, start value, setting


def measure(curve: Curve, prepare: Prepare, problem: Problem, settings: tuple[float, ...], longest: float) -> Curve:
    """Coarse to fine, until a run takes too long, `longest` in s, or errors fall no more."""
    for setting in settings:
        times, errors = [], []
        for start in problem.starts:
            run, spent = prepare(problem, start, setting), 0.0
            for repetition in range(25):
                seconds, position, velocity = run()
                times.append(seconds)
                spent += seconds
                if spent > 0.005 and (repetition >= 2 or seconds > 0.005):  # a long run needs no repetition
                    break
            errors.append(problem.error(start, position, velocity))
        error = math.sqrt(sum(e * e for e in errors) / len(errors))
        if math.isfinite(error):
            curve.points.append(Point(setting, float(np.median(times)), error))
        if np.median(times) > longest / 3.0:
            break
    return curve


STEPS = tuple(float(round(100 * 2**i)) for i in range(14))
TOLERANCES = tuple(10.0**-i for i in range(2, 14))

# ---- the FMU ---------------------------------------------------------------------------------------------------------

RECIPE = """
description = "A particle and a floor"
connections = [["body.p", "floor.point"]]
[parts]
body = {{ recipe = "PointMass", start = {{ r0 = [0, 0, {z}], v0 = [{speed}, 0, 0] }} }}
floor = {{ recipe = "{floor}", start = {{ C_F = {k}, C_r = {C_r}, K_fr = {mu} }} }}
[start]
"floor.k_E" = {k_E}
"floor.k_D" = {k_D}
"floor.k_T" = {k_T}
"""
FLOOR = 'element = "point_surface"\n[structure]\nledger = false\n[surface]\nkind = "plane"\n'


def write_recipe(folder: Path, problem: Problem, ledger: bool) -> Path:
    """The recipe of the assembly, with or without the sums of energy and impulse."""
    (folder / "BareFloor.toml").write_text(FLOOR, encoding="utf-8")
    drop = problem.name != "sliding"
    text = RECIPE.format(
        floor="PointSurface" if ledger else "BareFloor",
        z=1.0 if drop else -m * g / k,  # the block rests in equilibrium
        speed=0.0 if drop else 2.0,
        k=k,
        C_r=C_r if problem.name == "damped" else 1.0,
        k_E=k_E,
        k_D=k_D,
        mu=0.0 if drop else mu,
        k_T=k_T,
    )
    path = folder / f"{problem.name.capitalize()}{'' if ledger else 'Bare'}.toml"
    path.write_text(text, encoding="utf-8")
    return path


def prepare_fmu(folder: Path, ledger: bool) -> Prepare:
    @cache
    def description(problem: Problem) -> SlaveDescription:
        return read_slave(host_fmu(write_recipe(folder, problem, ledger)))

    def prepare(problem: Problem, start: float, tolerance: float) -> Run:
        slave = Slave("fmu", description(problem))
        variables = slave.description.variables
        slave.setup(0.0, problem.stop, None)
        slave.set(variables["solver.tolerance"], tolerance)
        slave.set(variables["body.v0[1]" if problem.name == "sliding" else "body.r0[3]"], start)
        slave.call("fmi2EnterInitializationMode")
        slave.call("fmi2ExitInitializationMode")
        state = slave.fmu.getFMUState()
        step, component = slave.dll.fmi2DoStep, slave.fmu.component
        axis = 1 if problem.name == "sliding" else 3
        stop = problem.stop

        def run() -> tuple[float, float, float]:
            slave.fmu.setFMUState(state)
            begin = time.process_time()
            status = step(component, 0.0, stop, 1)
            seconds = time.process_time() - begin
            slave.check(status, "fmi2DoStep")
            return seconds, slave.get(variables[f"body.p.r[{axis}]"]), slave.get(variables[f"body.p.v[{axis}]"])

        return run

    return prepare


def overhead(folder: Path) -> float:
    """s that a call through ctypes and two looks at the clock take: of a function that does nothing."""
    slave = Slave("fmu", read_slave(host_fmu(write_recipe(folder, PROBLEMS["elastic"], True))))
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_int)(
        ctypes.cast(slave.dll.fmi2GetVersion, ctypes.c_void_p).value or 0
    )
    times = []
    for _ in range(1000):
        begin = time.process_time()
        call(None, 0.0, 0.0, 1)
        times.append(time.process_time() - begin)
    slave.close()
    return float(np.median(times))


# ---- MuJoCo ----------------------------------------------------------------------------------------------------------

MODEL = """
<mujoco>
  <option integrator="{integrator}" gravity="0 0 {gravity}">
    <flag {flags}/>
  </option>
  <worldbody>
    {floor}
    <body>
      <joint name="s" type="slide" axis="{axis}"/>
      <inertial pos="0 0 0" mass="{m}" diaginertia="1 1 1"/>
      {geom}
    </body>
  </worldbody>
  {force}
</mujoco>
"""
UNUSED = ("eulerdamp", "sensor", "warmstart", "refsafe", "island", "filterparent")  # features that would only take time
SPRING = (
    f'<tendon><fixed name="floor" stiffness="{k!r}" springlength="0 1000"><joint joint="s" coef="1"/></fixed></tendon>'
)
RAMP = (
    f'<actuator><velocity joint="s" kv="{mu * m * g * k_T!r}" forcelimited="true" '
    f'forcerange="{-mu * m * g!r} {mu * m * g!r}"/></actuator>'
)
R = 0.1  # m, radius of the sphere in MuJoCo's own contact
# with the impedance d, its least, MuJoCo's acceleration in contact is (1 - d) g - k/m depth
CONTACT = f'solref="{-k / m!r} 0" solimp="1e-4 1e-4 1e-3 0.5 1" condim="1"'


def passive_law(folder: Path, mujoco: Any) -> Any:
    """The damped floor as a mjcb_passive, compiled."""
    compiler = find_compiler()
    assert compiler is not None, "a benchmark needs a compiler: python -m pip install ziglang"
    library = folder / "peers.so"
    low, high = damping_limits()
    values = {"STIFFNESS": k, "SLOPE": k_D, "LOW": low, "HIGH": high}
    run_compiler(
        compiler,
        [
            "-shared",
            "-fPIC",
            "-O2",
            *(f"-D{name}={value!r}" for name, value in values.items()),
            "-I",
            str(Path(mujoco.__file__).parent / "include"),
            str(Path(__file__).parent / "peers.c"),
            "-o",
            str(library),
        ],
    )
    return ctypes.CDLL(str(library)).damped_floor


def prepare_mujoco(mujoco: Any, integrator: str, own_contact: bool, law: Any) -> Prepare:
    def prepare(problem: Problem, start: float, steps: float) -> Run:
        slides = problem.name == "sliding"
        disabled = (
            *UNUSED,
            *(() if own_contact else ("contact", "constraint")),
            *(() if slides else ("actuation", "clampctrl")),
        )
        model = mujoco.MjModel.from_xml_string(
            MODEL.format(
                integrator=integrator,
                gravity=repr(-g),
                flags=" ".join(f'{name}="disable"' for name in disabled),
                axis="1 0 0" if slides else "0 0 1",
                m=m,
                floor=f'<geom type="plane" size="10 10 1" {CONTACT}/>' if own_contact else "",
                geom=f'<geom type="sphere" size="{R}" pos="0 0 {R}" mass="0" {CONTACT}/>' if own_contact else "",
                force=RAMP if slides else SPRING if problem.name == "elastic" and not own_contact else "",
            )
        )
        data = mujoco.MjData(model)
        n = round(steps)
        model.opt.timestep = problem.stop / n

        def run() -> tuple[float, float, float]:
            mujoco.set_mjcb_passive(law if problem.name == "damped" else None)
            mujoco.mj_resetData(model, data)
            (data.qvel if slides else data.qpos)[0] = start
            begin = time.process_time()
            mujoco.mj_step(model, data, nstep=n)
            seconds = time.process_time() - begin
            mujoco.set_mjcb_passive(None)
            assert abs(data.time - problem.stop) < 1e-9
            return seconds, float(data.qpos[0]), float(data.qvel[0])

        return run

    return prepare


# ---- Exudyn ----------------------------------------------------------------------------------------------------------

Force = Literal["contact", "located", "function", "friction"]


def import_exudyn() -> Any:
    sys.exudynFast = True  # type: ignore[attr-defined]  # its build without range checks
    import exudyn
    import exudyn.itemInterface
    import exudyn.utilities

    exudyn.config.suppressWarnings = True  # where it reaches its shortest step: the error shows it
    exudyn.config.printToConsole = False
    return exudyn


def prepare_exudyn(exu: Any, method: str, force: Force) -> Prepare:
    solver = getattr(exu.DynamicSolverType, method)
    implicit = method in ("GeneralizedAlpha", "TrapezoidalIndex2")
    adaptive = method in ("ODE23", "DOPRI5")

    def prepare(problem: Problem, start: float, setting: float) -> Run:
        assert (problem.name == "sliding") == (force == "friction")
        system, functions = build_exudyn(exu, problem, start, force)
        settings = exu.SimulationSettings()
        settings.solution.file.write = False
        settings.solution.sensors.active = False
        settings.linearSolver.solverType = exu.LinearSolverType.EXUdense
        integration = settings.timeIntegration
        integration.solverType = solver
        integration.endTime = problem.stop
        integration.generalizedAlpha.spectralRadius = 1.0  # no numerical damping
        integration.automaticStepSize = adaptive
        integration.minimumStepSize = 1e-13
        if force == "located":
            integration.discontinuous.iterationTolerance = 1e-3
            integration.discontinuous.maxIterations = 10
        if adaptive:
            integration.numberOfSteps = 1
            integration.stepSizeMaxIncrease = 5.0
            integration.absoluteTolerance = integration.relativeTolerance = setting
        else:
            integration.numberOfSteps = round(setting)

        def run(kept: list[Any] = functions) -> tuple[float, float, float]:  # functions live as long as the run
            system.Assemble()
            integrator = exu.MainSolverImplicitSecondOrder() if implicit else exu.MainSolverExplicit()
            integrator.InitializeSolver(system, settings)
            begin = time.process_time()
            good = integrator.SolveSteps(system, settings)
            seconds = time.process_time() - begin
            integrator.FinalizeSolver(system, settings)
            if not good or abs(system.systemData.GetTime() - problem.stop) > 1e-9:
                return seconds, math.nan, math.nan
            kinds = exu.OutputVariableType
            position, velocity = (system.GetNodeOutput(1, kind) for kind in (kinds.Coordinates, kinds.Coordinates_t))
            return seconds, float(position), float(velocity)

        return run

    return prepare


def build_exudyn(exu: Any, problem: Problem, start: float, force: Force) -> tuple[Any, list[Any]]:
    """A system of one mass on one coordinate, node 1; and its symbolic functions, which have to be kept."""
    item, symbolic = exu.itemInterface, exu.symbolic
    system = exu.SystemContainer().AddSystem()
    functions: list[Any] = []
    slides = problem.name == "sliding"
    ground = system.AddNode(item.NodePointGround())
    node = system.AddNode(
        item.Node1D(
            referenceCoordinates=[0.0],
            initialCoordinates=[0.0 if slides else start],
            initialVelocities=[start if slides else 0.0],
        )
    )
    system.AddObject(item.ObjectMass1D(mass=m, nodeNumber=node))
    markers = [system.AddMarker(item.MarkerNodeCoordinate(nodeNumber=n, coordinate=0)) for n in (ground, node)]
    if not slides:
        system.AddLoad(item.LoadCoordinate(markerNumber=markers[1], load=-m * g))
    if force in ("contact", "located"):
        data = system.AddNode(item.NodeGenericData(initialCoordinates=[start], numberOfDataCoordinates=1))
        system.AddObject(item.ObjectContactCoordinate(markerNumbers=markers, nodeNumber=data, contactStiffness=k))
    elif force == "friction":
        system.AddObject(
            item.ObjectConnectorCoordinateSpringDamperExt(
                markerNumbers=markers, dynamicFrictionForce=mu * m * g, frictionProportionalZone=1.0 / k_T
            )
        )
    else:
        low, high = damping_limits() if problem.name == "damped" else (0.0, 0.0)

        # as Exudyn wants it: the force on the first marker, here the ground
        def spring(  # type: ignore[no-untyped-def]
            mbs, t, itemNumber, displacement, velocity, stiffness, damping, offset
        ):
            d = symbolic.max(low, symbolic.min(high, -k_D * velocity))
            return k * symbolic.min(displacement, 0.0) * (1.0 + d)

        connector = system.AddObject(item.ObjectConnectorCoordinateSpringDamper(markerNumbers=markers))
        functions.append(exu.utilities.CreateSymbolicUserFunction(system, spring, "springForceUserFunction", connector))
        system.SetObjectParameter(connector, "springForceUserFunction", functions[0])
    system.Assemble()
    return system, functions


# ---- all together ----------------------------------------------------------------------------------------------------


def curves(problem: Problem, folder: Path, longest: float = LONGEST_RUN) -> Iterator[Curve]:
    """Every engine with every method, measured; no run takes much more than `longest`, s."""
    import mujoco

    exudyn = import_exudyn()
    for method, ledger in (("auto", True), ("auto, no ledger", False)):
        yield measure(Curve("FMU", method), prepare_fmu(folder, ledger), problem, TOLERANCES, longest)
    law = passive_law(folder, mujoco) if problem.name == "damped" else None
    for integrator in ("Euler", "RK4", "implicitfast"):
        prepare = prepare_mujoco(mujoco, integrator, False, law)
        yield measure(Curve("MuJoCo", integrator), prepare, problem, STEPS, longest)
    if problem.name == "elastic":
        yield measure(
            Curve("MuJoCo", "Euler, contact"), prepare_mujoco(mujoco, "Euler", True, law), problem, STEPS, longest
        )
    forces: dict[Name, tuple[Force, ...]] = {
        "elastic": ("contact", "located", "function"),
        "damped": ("function",),
        "sliding": ("friction",),
    }
    for force in forces[problem.name]:
        for method in ("DOPRI5", "ODE23"):
            prepare = prepare_exudyn(exudyn, method, force)
            yield measure(Curve("Exudyn", f"{method}, {force}"), prepare, problem, TOLERANCES[:-1], longest)
        if force != "located":
            for method in ("RK44", "VelocityVerlet", "GeneralizedAlpha"):
                prepare = prepare_exudyn(exudyn, method, force)
                yield measure(Curve("Exudyn", f"{method}, {force}"), prepare, problem, STEPS, longest)
