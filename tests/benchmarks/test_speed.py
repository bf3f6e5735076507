"""Speed of what runs in every step, timed from C loops.  `python -m pytest -n 0 -m benchmark tests/benchmarks`.

Figures are processor time per call, in the best of the rounds: other work on the machine only adds.  `extra_info` of
the JSON report holds them in ns.  Times are reported and not asserted, as machines differ; their budgets stand beside
them for the reader.  What is asserted of the coupled contact is the ratio to a step of the contact without the group
`coupling`, timed in turn with it.
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import fmpy
import pytest
from fmpy.fmi2 import FMU2Model

from fmu_builder.cosim.slave import Slave, read_slave
from fmu_builder.export.fmu import host_fmu
from fmu_builder.export.toolchain import compile_hosted, find_compiler, fmi_headers
from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import catalogue, shipped
from tests.contact_core.fmi2 import literal

pytestmark = pytest.mark.benchmark(timer=time.thread_time)

CALLS = 50_000
LONG_ENOUGH = 0.15  # s of all rounds, of which there are 3 to 15


@pytest.fixture(scope="module")
def loops(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ctypes.CDLL]:
    folder = tmp_path_factory.mktemp("loops")
    compiler = find_compiler()
    assert compiler is not None, "a benchmark needs a compiler: python -m pip install ziglang"
    libraries = {}
    for name, defines in (("real", ["-DLOOP_LAW=loop_law"]), ("dual", ["-DLOOP_LAW=loop_law", "-DCC_DUAL"])):
        library = folder / f"{name}.so"
        include = [shipped("contact_core"), fmi_headers()]
        compile_hosted([Path(__file__).parent / "loops.c"], library, include, compiler, defines)
        libraries[name] = ctypes.CDLL(str(library))
        libraries[name].loop_law.restype = ctypes.c_double
        libraries[name].loop_law.argtypes = [ctypes.c_long]
    return libraries


@pytest.fixture
def floor(tmp_path: Path) -> Iterator[Slave]:
    slave = Slave("floor", read_slave(host_fmu(literal("PointSurface", tmp_path))))
    slave.dll.fmi2SetupExperiment(slave.component, 0, 0.0, 0.0, 0, 0.0)
    slave.call("fmi2EnterInitializationMode")
    variables = slave.description.variables
    slave.set(variables["point.r[3]"], -1e-3)
    slave.call("fmi2ExitInitializationMode")
    yield slave
    slave.close()


def report(
    benchmark: Callable[..., object],
    run: Callable[[], object],
    budget: str,
    setup: Callable[[], None] | None = None,
    substeps: Callable[[], float] | None = None,
) -> None:
    """`setup` goes before every round; `substeps` tells how many there were in the last one, the same as in any."""
    if setup:
        setup()
    begin = time.thread_time()
    run()  # warms up, too
    rounds = min(max(int(LONG_ENOUGH / (time.thread_time() - begin)), 3), 15)
    benchmark.pedantic(run, setup=setup, rounds=rounds, iterations=1)  # type: ignore[attr-defined]
    count, what = (substeps(), "accepted substep") if substeps else (CALLS, "call")
    nanoseconds = benchmark.stats.stats.min / count * 1e9  # type: ignore[attr-defined]
    benchmark.extra_info["ns_per_call"] = round(nanoseconds, 1)  # type: ignore[attr-defined]
    print(f"\n{benchmark.name}: {nanoseconds:.1f} ns per {what} (budget {budget})")  # type: ignore[attr-defined]


def test_contact_law(benchmark: Callable[..., object], loops: dict[str, ctypes.CDLL]) -> None:
    report(benchmark, lambda: loops["real"].loop_law(CALLS), "60 ns")
    assert loops["real"].loop_law(CALLS) != 0.0


def test_contact_law_with_one_derivative(benchmark: Callable[..., object], loops: dict[str, ctypes.CDLL]) -> None:
    report(benchmark, lambda: loops["dual"].loop_law(CALLS), "150 ns")
    assert loops["dual"].loop_law(CALLS) != 0.0


def _clock(slave: Slave) -> Callable[[], float]:
    """Where the next series of steps begins."""
    state = {"steps": 0}

    def now() -> float:
        state["steps"] += CALLS
        return (state["steps"] - CALLS) * 1e-6

    return now


def test_point_surface_do_step(benchmark: Callable[..., object], loops: dict[str, ctypes.CDLL], floor: Slave) -> None:
    now = _clock(floor)
    step = ctypes.cast(floor.dll.fmi2DoStep, ctypes.c_void_p)
    component = ctypes.c_void_p(floor.component)

    def run() -> None:
        status = loops["real"].loop_do_step(
            step, component, ctypes.c_double(now()), ctypes.c_double(1e-6), ctypes.c_long(CALLS)
        )
        assert status == 0

    report(benchmark, run, "500 ns")


# Recipes of the catalogue that are one element; contacts and mechanisms have figures of their own, probes none.
ELEMENTS = [
    path.stem
    for path in catalogue()
    if not str(read_toml(path).get("element", "probe_")).startswith(("point_surface", "planar_mechanism", "probe_"))
]


EXACT = ("Inertia", "PointMass", "Prescribed", "RotationalDamper", "SliderMass", "TranslationalDamper", "TwoDBody")


@pytest.mark.parametrize("h", [1e-6, 1e-3])
@pytest.mark.parametrize("name", ELEMENTS)
def test_element_do_step(benchmark: Callable[..., object], loops: dict[str, ctypes.CDLL], name: str, h: float) -> None:
    """In motion: every input but orientations has a value of its own.  Each round begins at the start."""
    slave = Slave("element", read_slave(host_fmu(shipped("fmus") / f"{name}.toml")))
    inputs = [v for v in slave.description.variables.values() if v.causality == "input" and v.type == "Real"]
    step, component = ctypes.cast(slave.dll.fmi2DoStep, ctypes.c_void_p), ctypes.c_void_p(slave.component)

    def begin() -> None:
        slave.call("fmi2Reset")
        slave.dll.fmi2SetupExperiment(slave.component, 0, 0.0, 0.0, 0, 0.0)
        slave.call("fmi2EnterInitializationMode")
        for i, variable in enumerate(v for v in inputs if ".q[" not in v.name):
            slave.set(variable, 1e-3 * (1 + i))
        slave.call("fmi2ExitInitializationMode")

    def run() -> None:
        status = loops["real"].loop_do_step(
            step, component, ctypes.c_double(0.0), ctypes.c_double(h), ctypes.c_long(CALLS)
        )
        assert status == 0

    def count(name: str) -> float:
        return slave.get(slave.description.variables[f"solver.{name}"])

    integrates = "solver.steps" in slave.description.variables
    budget = "1000 ns" if name.startswith("Rigid") else "300 ns"
    report(benchmark, run, budget, begin, (lambda: count("steps")) if integrates else None)
    if name.startswith(EXACT):
        assert count("evaluations") == count("steps") == CALLS
    slave.close()


def test_point_surface_step_with_new_inputs(
    benchmark: Callable[..., object], loops: dict[str, ctypes.CDLL], floor: Slave
) -> None:
    now = _clock(floor)
    calls = [
        ctypes.cast(f, ctypes.c_void_p) for f in (floor.dll.fmi2SetReal, floor.dll.fmi2DoStep, floor.dll.fmi2GetReal)
    ]
    variables = floor.description.variables
    motion = (ctypes.c_uint * 6)(*(variables[f"point.{n}[{i}]"].reference for n in "rv" for i in (1, 2, 3)))
    force = (ctypes.c_uint * 3)(*(variables[f"point.f[{i}]"].reference for i in (1, 2, 3)))
    component = ctypes.c_void_p(floor.component)

    def run() -> None:
        status = loops["real"].loop_steps(
            *calls, component, motion, force, ctypes.c_double(now()), ctypes.c_double(1e-6), ctypes.c_long(CALLS)
        )
        assert status == 0

    report(benchmark, run, "500 ns for the step alone")


MODES = {  # given: coupling.order = parallel, which loop_coupled is
    "": {},
    "hold": {"coupling.mode": 1},
    "auto": {"coupling.mode": 5},
    "given": {"coupling.mode": 5, "coupling.order": 3},
}


class Contact:
    """A mass of 1 kg on a contact, driven by loop_coupled: it rises from `height`, or is pressed on by `weight`."""

    def __init__(self, loops: ctypes.CDLL, recipe: Path, mode: str, weight: float, height: float, H: float):
        self.slave = Slave("floor", read_slave(host_fmu(recipe)))
        self._loops, self._weight, self._H, self._time = loops, weight, H, 0.0
        slave, variables = self.slave, self.slave.description.variables
        slave.dll.fmi2SetupExperiment(slave.component, 0, 0.0, 0.0, 0, 0.0)
        slave.call("fmi2EnterInitializationMode")
        for name, value in {"C_F": 1e6, "C_r": 1.0, "K_fr": 0.0, "point.r[3]": height}.items():
            slave.set(variables[name], value)
        for name, value in MODES[mode].items():
            slave.set(variables[name], value)
        slave.call("fmi2ExitInitializationMode")
        functions = (slave.dll.fmi2SetReal, slave.dll.fmi2DoStep, slave.dll.fmi2GetReal)
        self._calls = [ctypes.cast(function, ctypes.c_void_p) for function in functions]
        self._motion = (ctypes.c_uint * 6)(*(variables[f"point.{n}[{i}]"].reference for n in "rv" for i in (1, 2, 3)))
        self._force = (ctypes.c_uint * 3)(*(variables[f"point.f[{i}]"].reference for i in (1, 2, 3)))
        self.state = (ctypes.c_double * 3)(height, 0.0 if weight else 1.0, weight)

    def run(self, twice: int = 0, steps: int = CALLS) -> None:
        """`twice`: with two sets and two gets for each step."""
        status = self._loops.loop_coupled(
            *self._calls, ctypes.c_void_p(self.slave.component), self._motion, self._force,
            ctypes.c_double(self._time), ctypes.c_double(self._H), ctypes.c_double(self._weight), self.state,
            ctypes.c_long(steps), twice,
        )  # fmt: skip
        self._time += steps * self._H
        assert status == 0

    def nanoseconds(self, twice: int) -> float:
        steps, start = 3000, time.thread_time()
        self.run(twice, steps)
        return (time.thread_time() - start) / steps * 1e9


def steps_alone(contacts: Sequence[Contact]) -> list[tuple[float, float]]:
    """ns of one step of each, and of one step with a set and a get; the first is the second without what two sets and
    two gets take more than one of each.

    The rounds are so short that some of many are left alone by other work on the machine, and in turn, so that all run
    at the same speed of the processor; there are more of them until the best no longer get better."""
    times = [[math.inf, math.inf] for _ in contacts]
    for _ in range(8):
        before = [one[:] for one in times]
        for _ in range(100):
            for contact, best in zip(contacts, times, strict=True):
                best[:] = [min(best[twice], contact.nanoseconds(twice)) for twice in (0, 1)]
        if all(
            new > 0.98 * old for one, two in zip(times, before, strict=True) for new, old in zip(one, two, strict=True)
        ):
            break
    return [(2.0 * once - both, once) for once, both in times]


@pytest.mark.parametrize(
    ("mode", "weight", "height", "most", "budget"),
    [
        ("hold", 500.0, -1e-4, 3.5, "1000 ns"),
        ("auto", 500.0, -1e-4, 18.0, "1600 ns"),
        ("given", 500.0, -1e-4, 12.0, "800 ns"),
        ("hold", 0.0, 1.0, 3.5, "250 ns"),
        ("auto", 0.0, 1.0, 3.5, "250 ns"),
        ("given", 0.0, 1.0, 3.5, "250 ns"),
    ],
)
def test_coupled_contact_with_new_inputs(
    benchmark: Callable[..., object],
    loops: dict[str, ctypes.CDLL],
    mode: str,
    weight: float,
    height: float,
    most: float,
    budget: str,
    tmp_path: Path,
) -> None:
    """1 kg swings elastically in contact with 1e6 N/m at eight steps a contact, or rises from the floor.  `most`: times
    a step of PointSurface without the group, whose point rises, with a set and a get: about twice what one processor
    measures, because the ratio differs between processors."""
    H = 1e-6 if mode == "hold" else 3.14e-3 / 8  # at the large step the literal force would throw the mass off
    coupled = Contact(loops["real"], shipped("fmus") / "PointSurface.toml", mode, weight, height, H)
    plain = Contact(loops["real"], literal("PointSurface", tmp_path), "", 0.0, 1.0, 1e-6)
    report(benchmark, coupled.run, f"{budget} for the step alone")
    (alone, _), (plain_alone, peer) = steps_alone((coupled, plain))
    benchmark.extra_info["ns_of_the_step_alone"] = round(alone, 1)  # type: ignore[attr-defined]
    benchmark.extra_info["times_a_plain_step"] = round(alone / peer, 2)  # type: ignore[attr-defined]
    print(
        f"{benchmark.name}: {alone:.1f} ns per step alone (budget {budget}), "  # type: ignore[attr-defined]
        f"{alone / peer:.2f} times a step of PointSurface without the group and with a set and a get, {peer:.1f} ns "
        f"(at most {most:g}), which takes {plain_alone:.1f} ns alone"
    )
    assert 0.0 < alone <= most * peer
    assert -1.1e-3 < coupled.state[0] < -5e-5 or weight == 0.0 or mode == "hold"
    coupled.slave.close()
    plain.slave.close()


@pytest.mark.parametrize("mode", ["hold", "auto"])
@pytest.mark.parametrize("recipe", ["TranslationalSpring", "RotationalDamper"])
def test_coupled_axis_with_new_inputs(
    benchmark: Callable[..., object], loops: dict[str, ctypes.CDLL], recipe: str, mode: str
) -> None:
    """1 kg swings on 1 kN/m, or is braked, at omega h = 0.2 and d h/J = 2e-5."""
    slave = Slave("axis", read_slave(host_fmu(shipped("fmus") / f"{recipe}.toml")))
    slave.dll.fmi2SetupExperiment(slave.component, 0, 0.0, 0.0, 0, 0.0)
    slave.call("fmi2EnterInitializationMode")
    variables = slave.description.variables
    spring = recipe.startswith("Translational")
    H = (0.2 / 1e3**0.5 if mode == "auto" else 1e-7) if spring else 1e-4
    slave.set(variables["coupling.mode"], {"hold": 1, "auto": 5}[mode])
    slave.call("fmi2ExitInitializationMode")
    speed, force = (variables[name].reference for name in (("r.v", "r.F") if spring else ("r.w", "r.t")))
    calls = [
        ctypes.cast(f, ctypes.c_void_p) for f in (slave.dll.fmi2SetReal, slave.dll.fmi2DoStep, slave.dll.fmi2GetReal)
    ]
    component, state = ctypes.c_void_p(slave.component), (ctypes.c_double * 2)(1.0, 0.0)
    time_now = {"t": 0.0}

    def run() -> None:
        status = loops["real"].loop_axis(
            *calls, component, speed, force, ctypes.c_double(time_now["t"]), ctypes.c_double(H), state,
            ctypes.c_long(CALLS),
        )  # fmt: skip
        time_now["t"] += CALLS * H
        assert status == 0

    report(benchmark, run, "no budget: the ratio of the modes counts")
    assert abs(state[0]) < 1.2
    slave.close()


@pytest.mark.parametrize("mode", ["hold", "auto"])
def test_coupled_point_spring_with_new_inputs(
    benchmark: Callable[..., object], loops: dict[str, ctypes.CDLL], mode: str
) -> None:
    """1 kg passes the other end of a spring of 1 kN/m and swings, at omega h = 0.2."""
    slave = Slave("spring", read_slave(host_fmu(shipped("fmus") / "PointToPointSpring.toml")))
    slave.dll.fmi2SetupExperiment(slave.component, 0, 0.0, 0.0, 0, 0.0)
    slave.call("fmi2EnterInitializationMode")
    variables = slave.description.variables
    start = {"coupling.mode": {"hold": 1, "auto": 5}[mode], "second.r[1]": 0.3, "first.r[1]": 0.0, "first.v[3]": 1.0}
    for name, value in start.items():
        slave.set(variables[name], value)
    slave.call("fmi2ExitInitializationMode")
    calls = [
        ctypes.cast(f, ctypes.c_void_p) for f in (slave.dll.fmi2SetReal, slave.dll.fmi2DoStep, slave.dll.fmi2GetReal)
    ]
    motion = (ctypes.c_uint * 6)(*(variables[f"first.{n}[{i}]"].reference for n in "rv" for i in (1, 2, 3)))
    force = (ctypes.c_uint * 3)(*(variables[f"first.f[{i}]"].reference for i in (1, 2, 3)))
    state, H, time_now = (ctypes.c_double * 3)(0.0, 1.0, 0.0), 0.2 / 1e3**0.5 if mode == "auto" else 1e-7, {"t": 0.0}

    def run() -> None:
        status = loops["real"].loop_coupled(
            *calls, ctypes.c_void_p(slave.component), motion, force, ctypes.c_double(time_now["t"]),
            ctypes.c_double(H), ctypes.c_double(0.0), state, ctypes.c_long(CALLS), 0,
        )  # fmt: skip
        time_now["t"] += CALLS * H
        assert status == 0

    report(benchmark, run, "no budget: the ratio of the modes counts")
    assert abs(state[1]) < 1.2
    slave.close()


# what a recipe adds in [functions]
LAWS = {
    "built in": "",
    "closed integral": 'C_F = "hertz"\nF_d = "hunt_crossley"\nF_fr = "ramp"',
    "chain": """
text = "scalar k = 1e5[N/m]; scalar gap = 2[mm]; scalar kD = 100[s/m]; scalar d = 0.6;"
C_F = "k*#h"
F_d = "kD*#v > d -> d, kD*#v < -d -> -d, kD*#v"
F_fr = "#v > 1[cm/s] -> 0.3*#N, 0.3*#N*#v/1[cm/s]"
""",
    "exponential": 'C_F = "1e5[N/m]*1[mm]*(exp(#h/1[mm]) - 1)"',
    "maximum": 'C_F = "1e5[N/m]*h + 9e5[N/m]*max(h - 0.5[mm], 0[m])"',
    "quadrature": 'C_F = "1e5[N/m]*h*exp(#h/1[mm])"',
    "quadrature with a kink": 'C_F = "1e5[N/m]*h*exp(#h/1[mm]) + 9e5[N/m]*max(h - 0.5[mm], 0[m])"',
}


@pytest.mark.parametrize("laws", LAWS)
def test_point_surface_evaluation_in_model_exchange(
    benchmark: Callable[..., object], loops: dict[str, ctypes.CDLL], tmp_path: Path, laws: str
) -> None:
    recipe = tmp_path / "Floor.toml"
    text = (shipped("fmus") / "PointSurface.toml").read_text(encoding="utf-8").partition("[start]")[0]
    recipe.write_text(f"{text}\n[structure]\ncoupling = false\n[functions]\n{LAWS[laws]}\n", encoding="utf-8")
    file = str(host_fmu(recipe))
    description = fmpy.read_model_description(file)
    floor = FMU2Model(
        guid=description.guid,
        unzipDirectory=fmpy.extract(file, str(tmp_path)),
        modelIdentifier=description.modelExchange.modelIdentifier,
        instanceName="floor",
    )
    floor.instantiate()
    floor.setupExperiment()
    floor.enterInitializationMode()
    height = next(v.valueReference for v in description.modelVariables if v.name == "point.r[3]")
    floor.setReal([height], [-1e-3])
    floor.exitInitializationMode()
    floor.enterContinuousTimeMode()
    calls = [
        ctypes.cast(getattr(floor.dll, f"fmi2{name}"), ctypes.c_void_p)
        for name in ("SetTime", "SetContinuousStates", "GetDerivatives", "GetEventIndicators")
    ]
    nx, nz = description.numberOfContinuousStates, description.numberOfEventIndicators
    x, slopes, z = ((ctypes.c_double * n)() for n in (nx, nx, nz))
    component, size = ctypes.c_void_p(floor.component), ctypes.c_size_t

    def run() -> None:
        status = loops["real"].loop_evaluate(
            *calls, component, x, slopes, size(nx), z, size(nz), ctypes.c_double(1e-6), ctypes.c_long(CALLS)
        )
        assert status == 0

    report(benchmark, run, "200 ns; 60 ns more with laws")
    assert max(slopes) > 0.0
    floor.terminate()
    floor.freeInstance()
