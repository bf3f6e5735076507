"""The Modelica library against the FMUs and closed forms: compiled and simulated by rumoca, a tool that is not ours.

The Modelica Standard Library is not installed by pip: Modelica/ has stand-ins for the classes that the library uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import rumoca
from fmpy import simulate_fmu
from numpy.typing import NDArray

from fmu_builder.cosim.trace import read_trace
from fmu_builder.export.fmu import host_fmu
from fmu_builder.laws import Source, evaluate, read_laws
from fmu_builder.model.assembly import AssemblyModel
from fmu_builder.model.loader import load_model
from fmu_builder.model.scenario import read_scenario
from fmu_builder.modelica import Written, write_library, write_package
from fmu_builder.modelica.library import CASES, case_class
from fmu_builder.paths import shipped

pytestmark = pytest.mark.platform

STANDARD_LIBRARY = Path(__file__).parent / "Modelica"
# Of both solvers.  A force has the error of the motion times a slope of its law, 294 N.s/m on a ramp of friction and up
# to 1e5 N/m in depth.  The farthest force follows the tolerance of rumoca: 5e-7 at 1e-10, 7e-8 at 1e-11, 8e-9 at 1e-12,
# 5e-10 here; that of an FMU differs from itself at a tenth of the tolerance by 1e-9 at 1e-12.
TOLERANCE = 1e-13
AGREEMENT = 1e-8  # of the largest value of a signal, at least of 1
LONGEST = 0.5  # s: the ball of BouncingBall meets the floor at 0.45 s
COUNT = "floor.contact_count"
SYSTEMS = (
    "BeadInBowl",
    "BeadInRotatingPipe",
    "BeadInSpinningBowl",
    "BlockHeld",
    "BlockNeverStops",
    "BlockOnIncline",
    "BodyOnThreeSprings",
    "BouncingBall",
    "MarbleInFunnel",
    "MarbleInTube",
    "PendulumOnFloor",
    "PendulumOnFloorTurned",
    "SlidingBlock",
    "SlidingOffSphere",
    "SpringPendulum",
    "TorsionPendulum",
    "TwoBodyImpact",
    "TwoInertias",
)


FLOOR = 'element = "point_surface"\n[surface]\nkind = "plane"\n'
BRUSH = """element = "point_surface"
[surface]
{surface}
[structure]
bristle = true
[start]
C_F = "1e5 N/m"
C_r = 0.5
K_fr = 0.3
k_B = "1e4 N/m"
c_B = "50 N.s/m"
"""
MANY = {  # what no system of the catalogue has: laws, bar, pipe, disc, bristles, large angles, springs by angles
    "Rubber.toml": f"""{FLOOR}[functions]
text = '''
scalar mu = 0.3;
scalar v_s = 20[mm/s];
function rubber(N[N], v[m/s]) = mu*#N*(#N/1[kN])^(-1/3)*tanh(#v/v_s);
'''
C_F = "hertz"
F_d = "flores"
F_fr = "#N > 0[N] -> rubber(#N, #v), 0"
range = {{ F_d = {{ v = ["-5 m/s", "5 m/s"] }} }}
[start]
"laws.hertz_R" = "12 mm"
""",
    "force.csv": "h [mm], F [N]\n0, 0\n1, 50\n3, 300\n8, 1300\n",
    "Table.toml": """element = "point_surface"
[surface]
kind = "disc"
radius = "1 m"
[functions]
text = "function ratio(v[m/s]) = abs(#v) < 0.1[m/s] -> 0.5*#v/1[m/s], 0.05*sign(#v);"
C_F = { table = "force.csv", outside = "linear" }
F_d = "ratio"
F_fr = "stribeck"
""",
    "Smooth.toml": f"""{FLOOR}[structure]
allow_adhesion = true
[functions]
C_F = {{ table = "force.csv", interpolation = "pchip", outside = "linear" }}
F_d = "0.4*tanh(#v/0.2[m/s])"
F_fr = "brown_mcphee"
""",
    "Brush.toml": BRUSH.format(surface='kind = "plane"'),
    "Ball.toml": BRUSH.format(surface='kind = "sphere"\nradius = "0.1 m"'),
    "Plate.toml": 'element = "two_d_body"\n[structure]\nports = 2\nlarge_angle = true\n',
    "Corner.toml": 'element = "two_d_point"\n[structure]\nvariant = "xy"\nlarge_angle = true\n',
    "Many.toml": """connections = [
    ["a.p", "rubber.point"], ["b.p", "table.point"], ["c.p", "smooth.point"], ["d.p", "bar.point"],
    ["e.p", "pipe.point"], ["f.p", "manual.point"], ["first.p", "spring.r"], ["second.p", "spring.c"],
    ["first.p", "damper.r"], ["body.P[1]", "turn.P_out"], ["turn.p_in", "torsion.r"], ["body.P[2]", "corner.P_out"],
    ["corner.p_in", "rod.r"], ["mass.p", "rod.c"], ["g.p", "brush.point"], ["h.p", "ball.point"],
]
[parts]
a = { recipe = "PointMass", start = { r0 = [0, 0, "5 mm"], v0 = [0.5, 0, 0] } }
b = { recipe = "PointMass", start = { r0 = [0, 0, "6 mm"], v0 = [0.4, 0.2, 0] } }
c = { recipe = "PointMass", start = { r0 = [0, 0, "7 mm"], v0 = [0.3, 0, 0] } }
d = { recipe = "PointMass", start = { r0 = [0, "5 mm", "52 mm"], v0 = [0, 0.1, 0] } }
e = { recipe = "PointMass", start = { r0 = ["10 mm", 0, 0], v0 = [0, 0.3, 0.2] } }
f = { recipe = "PointMass", start = { r0 = [0, 0, "4 mm"], v0 = [0.3, 0, 0] } }
g = { recipe = "PointMass", start = { r0 = [0, 0, "6 mm"], v0 = [0.2, 0.1, 0] } }
h = { recipe = "PointMass", start = { r0 = ["1 mm", 0, "104 mm"], v0 = [0.1, 0.05, 0] } }
brush = "Brush"
ball = "Ball"
rubber = "Rubber"
table = "Table"
smooth = "Smooth"
manual = "FloorWithLaws"
bar = { recipe = "PointCylinder", start = { C_F = "1e5 N/m", C_r = 0.7, K_fr = 0.2 } }
pipe = { recipe = "PointPipe", start = { C_F = "1e5 N/m", C_r = 0.6, K_fr = 0.1 } }
first = { recipe = "Inertia", start = { J = 0.1, w0 = 2 } }
second = { recipe = "Inertia", start = { J = 0.3, phi0 = 0.2 } }
spring = "RotationalSpringByAngles"
damper = { recipe = "RotationalDamper", start = { d = 0.05 } }
body = { recipe = "Plate", start = { m = 2, J = 0.1, omega0 = 1 } }
turn = "TwoDPointTheta"
torsion = { recipe = "RotationalSpring", start = { k = 3 } }
corner = { recipe = "Corner", start = { XP = 0.1, YP = 0.05, theta = "30 deg" } }
rod = { recipe = "TranslationalSpring", start = { k = 200 } }
mass = { recipe = "SliderMass", start = { m = 0.5, v0 = 0.2 } }
[experiment]
stop = "60 ms"
step = "1 ms"
""",
}


THROUGH = """connections = [["a.p", "spring.first"], ["b.p", "spring.second"]]
[parts]
a = {{ recipe = "PointMass", start = {{ m = 1, g = [0, 0, 0], r0 = {r0} }} }}
b = {{ recipe = "PointMass", start = {{ m = 2, g = [0, 0, 0] }} }}
spring = {{ recipe = "PointToPointSpring", start = {{ k = 100, l0 = 0.05, d = 0.5 }} }}
[experiment]
stop = "0.5 s"
step = "1 ms"
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Written:
    return write_library(tmp_path_factory.mktemp("modelica") / "FmuBuilder")


def compiled(folder: Path, name: str) -> rumoca.Model:
    return rumoca.Session(roots=[str(STANDARD_LIBRARY)]).load(str(folder / "package.mo"), model=name)


@dataclass
class Simulated:
    """The signals of a class at multiples of a step; at an event those behind it."""

    result: rumoca.Result
    times: NDArray[np.float64]

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        found = np.searchsorted(np.array(self.result.time), self.times + 1e-9, side="right") - 1
        return np.asarray(np.array(self.result[name], dtype=np.float64)[found])


def simulated(model: rumoca.Model, stop: float, step: float) -> Simulated:
    settings = rumoca.SimConfig(rtol=TOLERANCE, atol=TOLERANCE, dt=step, solver="rk-like")
    return Simulated(model.simulate(stop, config=settings), np.arange(round(stop / step) + 1) * step)


def common_signals(system: AssemblyModel, package: Written) -> Iterator[tuple[str, str]]:
    """The names in the FMU and in the class of each real signal that both have."""
    folder = package.folder.name
    parts = package.systems[f"{folder}.Examples.{system.name}"].parts
    for part in system.parts:
        declared = package.elements[f"{folder}.Elements.{part.model.name}"].declared
        for raw in part.model.variables:
            v = system.variables[part.offset + raw.index]
            base, index, _ = re.match(r"(.*?)((\[\d+\])?)$", raw.name).groups()  # type: ignore[union-attr]
            if base in declared and v.type == "real" and v.kind in ("state", "output") and not v.hidden:
                yield v.name, f"{parts[part.name]}.{declared[base]}{index}"


def check_system(path: Path, package: Written) -> None:
    """The assembly as FMU and as class, both with small tolerances."""
    system = load_model(path)
    assert isinstance(system, AssemblyModel)
    stop, step = min(system.experiment.stop, LONGEST), max(system.experiment.step, 1e-3)
    names = dict(common_signals(system, package))
    fmu = simulate_fmu(
        str(host_fmu(path)),
        stop_time=stop,
        step_size=step,
        output_interval=step,
        relative_tolerance=TOLERANCE,
        start_values={"solver.tolerance": TOLERANCE},
        output=list(names),
    )
    ours = simulated(compiled(package.folder, f"{package.folder.name}.Examples.{system.name}"), stop, step)
    assert len(names) >= 4 and len(fmu) == len(ours.times)
    scales = [np.abs(fmu[one]).max() for one in names]
    assert sum(scale > 0.0 for scale in scales) >= 4  # something moves
    for (one, in_modelica), scale in zip(names.items(), scales, strict=True):
        apart = np.abs(ours[in_modelica] - fmu[one]).max()
        assert apart <= AGREEMENT * max(scale, 1.0), f"{one}: {apart:.2g} of {scale:.2g}"


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_moves_as_its_fmu(name: str, library: Written) -> None:
    check_system(shipped("fmus") / f"{name}.toml", library)


def test_laws_surfaces_and_large_angles_move_as_their_fmu(tmp_path: Path) -> None:
    for name, text in MANY.items():
        (tmp_path / name).write_text(text)
    check_system(tmp_path / "Many.toml", write_package([tmp_path / "Many.toml"], tmp_path / "Own"))


@pytest.mark.parametrize("r0", ["[0.1, 0, 0], v0 = [-3, 0, 0]", "[0, 0, 0]"], ids=["pass", "coincide"])
def test_points_that_pass_through_each_other_or_coincide_move_as_their_fmu(r0: str, tmp_path: Path) -> None:
    (tmp_path / "Through.toml").write_text(THROUGH.format(r0=r0))
    check_system(tmp_path / "Through.toml", write_package([tmp_path / "Through.toml"], tmp_path / "Own"))


@pytest.mark.parametrize("case", CASES)
def test_a_case_moves_as_its_closed_form(case: str, library: Written) -> None:
    path = shipped("elements") / f"{case}.toml"
    scenario = read_scenario(path)
    assert scenario.reference is not None
    reference = read_trace(path.parent / scenario.reference.file)
    step = float(reference.time[1] - reference.time[0])
    name = f"FmuBuilder.Examples.{case_class(case)}"
    ours = simulated(compiled(library.folder, name), scenario.seconds("stop"), step)
    for signal in scenario.reference.signals:
        slave, _, variable = signal.partition(".")
        there = f"{library.systems[name].parts[slave]}.{variable.replace('.', '_')}"
        apart = np.abs(ours[there] - reference[signal]).max()
        assert apart <= AGREEMENT * max(np.abs(reference[signal]).max(), 1.0), f"{signal}: {apart:.2g}"


def test_what_is_not_simulated_compiles(library: Written, tmp_path: Path) -> None:
    """What lies in no system, each surface with a mass; a train of a hundred masses takes too long."""
    simulated_here = {*SYSTEMS, *map(case_class, CASES)}
    assert {one.name for one in library.systems.values()} - simulated_here == {"SpringMassTrain"}
    texts = "".join(one.text for one in library.systems.values()) + MANY["Many.toml"]
    others = [one for one in library.elements.values() if one.name not in texts]
    surfaces = [one.name for one in others if "surface" in one.connectors]
    assert "PointTorus" in surfaces
    links = ", ".join(f'["mass_{one}.p", "{one}.point"]' for one in surfaces)
    parts = "".join(f'{one.name} = "{one.name}"\n' for one in others)
    parts += "".join(f'mass_{one} = "PointMass"\n' for one in surfaces)
    (tmp_path / "Others.toml").write_text(f"connections = [{links}]\n[parts]\n{parts}")
    package = write_package([tmp_path / "Others.toml"], tmp_path / "Own")
    assert compiled(package.folder, "Own.Examples.Others").structure().is_balanced


def test_ready_made_laws_have_the_values_of_their_text(library: Written, tmp_path: Path) -> None:
    path = shipped("elements") / "point_surface" / "laws.txt"
    laws = read_laws(Source(path.read_text(encoding="utf-8"), str(path), 1))
    arguments = {"h": "0.01*time", "N": "100*(1 + time)", "v": "0.3*(time - 0.2)", "u": "2*time"}
    lines = [
        f"  Real {name} = FmuBuilder.Laws.{name}({', '.join(arguments[one] for one, _ in law.parameters)});"
        for name, law in laws.functions.items()
    ]
    probe = tmp_path / "Probe.mo"
    probe.write_text(
        "\n".join(["model Probe", "  Real x(start=0, fixed=true);", *lines, "equation", "  der(x) = 1;", "end Probe;"])
    )
    model = rumoca.Session(roots=[str(library.folder)]).load(str(probe), model="Probe")
    found = simulated(model, 1.0, 0.1)
    t = found.times
    given = {"h": 0.01 * t, "N": 100.0 * (1.0 + t), "v": 0.3 * (t - 0.2), "u": 2.0 * t}
    for name, law in laws.functions.items():
        expected = evaluate(law, laws, {one: given[one] for one, _ in law.parameters}).value
        np.testing.assert_allclose(found[name], expected, rtol=1e-12, atol=1e-13 * np.abs(expected).max(), err_msg=name)


def test_contacts_are_counted_and_a_broken_rule_is_an_assertion(library: Written) -> None:
    ball = simulated(compiled(library.folder, "FmuBuilder.Examples.BouncingBall"), 2.0, 0.1)
    fmu = simulate_fmu(str(host_fmu(shipped("fmus") / "BouncingBall.toml")), stop_time=2.0, output=[COUNT])
    assert ball[COUNT][-1] == fmu[COUNT][-1] == 6
    with pytest.raises(rumoca.RumocaError, match="k must be greater than 0 N"):
        compiled(library.folder, "FmuBuilder.Examples.TorsionPendulum").simulate(0.1, params={"spring.k": -30.0})
