"""A law stands in one place: a changed constant moves force, energy, events and the coupled force together."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fmu_builder.paths import PACKAGE, shipped

BALL = "[parts]\nball = { recipe = 'PointMass', start = { r0 = [0, 0, 0.01], v0 = [0, 0, -1], g = [0, 0, 0] } }\n"
FLOOR = "floor = { recipe = 'PointSurface', start = { C_F = 1e4, C_r = 0.5, k_D = 1e4, K_fr = 0 } }\n"
ASSEMBLY = f"connections = [['ball.p', 'floor.point']]\n{BALL}{FLOOR}[experiment]\nstop = 0.1\nstep = 1e-3\n"
SCENARIO = f"""connections = [['ball.p', 'floor.point']]
[experiment]
stop = 0.1
step = 1e-3
algorithm = "jacobi"
{(BALL + FLOOR).replace("[parts]", "[slaves]")}
"""
HELD = """connections = [['ball.p', 'floor.point']]
[slaves.ball]
recipe = "PointMass"
start = { r0 = [0, 0, 0.01], v0 = [0.5, 0, -1], g = [0, 0, 0] }
[slaves.floor]
recipe = "PointSurface"
start = { C_F = 1e4, C_r = 0.5, k_D = 1e4, K_fr = 0.1, k_T = 1e4, "coupling.mode" = "hold" }
[experiment]
stop = 0.1
step = 2e-5
algorithm = "gauss_seidel"
"""
DAMPER = """
[experiment]
stop = 0.1
step = 1e-3
[slaves]
damper = { recipe = "ImpactDamper", start = { m = 1, C_F = 1e4, C_r = 0.5, k_D = 1e4, gap = 0.02, w0 = 1 } }
"""
SKIN = """
connections = [["ball.frame", "skin.body"]]
[parts]
skin = { recipe = "BodySurface", start = { C_p = 2e7, C_r = 0.5, k_D = 1e4, K_fr = 0 } }
[parts.ball]
recipe = "RigidBody"
start = { m = 1, J_xx = 1e3, J_yy = 1e3, J_zz = 1e3, r0 = [0, 0, 0.11], v0 = [0, 0, -1], g = [0, 0, 0] }
[experiment]
stop = 0.1
step = 1e-3
"""
PROGRAM = """
import json
from pathlib import Path
from fmu_builder import run
found = {}
for name in ("Bounce", "Skin", "coupled", "held", "damper"):
    trace = run(Path(f"{name}.toml")).trace
    found[name] = {**trace.events, **{signal: [float(trace[signal].min()), float(trace[signal].max()),
                                               float(trace[signal][-1])] for signal in trace.names}}
print(json.dumps(found))
"""


def results(folder: Path, *changes: tuple[str, str, str]) -> dict[str, dict[str, float | list[float]]]:
    """What the systems do with a copy of the package in which lines of contact_core/laws are changed.

    changes   (header, what it holds once, what stands there instead)"""
    package = folder / "package"
    shutil.copytree(PACKAGE, package / "fmu_builder", ignore=shutil.ignore_patterns("__pycache__", "elements", "fmus"))
    for name in ("elements", "contact_core", "fmus"):
        shutil.copytree(shipped(name), package / name, ignore=shutil.ignore_patterns("__pycache__", "cases", "systems"))
    for header, old, new in changes:
        path = package / "contact_core" / "laws" / header
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{header}: {old}"
        path.write_text(text.replace(old, new), encoding="utf-8")
    (folder / "Bounce.toml").write_text(ASSEMBLY)
    (folder / "Skin.toml").write_text(SKIN)
    (folder / "coupled.toml").write_text(SCENARIO)
    (folder / "held.toml").write_text(HELD)
    (folder / "damper.toml").write_text(DAMPER)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, float | list[float]]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "k", "restitution"),
    [
        ((), 1e4, 0.5),
        # F = 2 k x and U = k x^2: a spring of twice the stiffness
        (
            (("spring.h", "return k * x;", "return 2.0 * k * x;"), ("spring.h", "0.5 * k * x * x", "k * x * x")),
            2e4,
            0.5,
        ),
        # half the loss: d_rest = -0.3, d_comp = 0.3 at C_r = 0.5, k_E = 0.5, and 0.7/1.3 of the energy comes back
        (
            (("contact.h", "loss = 1.0 - C_r * C_r", "loss = 0.5 * (1.0 - C_r * C_r)"),),
            1e4,
            math.sqrt(0.7 / 1.3),
        ),
    ],
    ids=["as it is", "stiffness", "restitution"],
)
def test_force_energy_events_and_coupled_force_follow_one_formula(
    tmp_path: Path, changes: tuple[tuple[str, str, str], ...], k: float, restitution: float
) -> None:
    """1 kg at 1 m/s, a point or the skin of a ball: d is on its limits but within 1e-4 s at the turn, so that the
    rebound is sqrt((1 + d_rest)/(1 + d_comp)), and the largest elastic force of the point sqrt(k/(1 + d_comp))."""
    found = results(tmp_path, *changes)
    d_comp = (1.0 - restitution**2) / (1.0 + restitution**2)
    for name, ball, close in (
        ("Bounce", "fmu.ball.p.v[3]", 1e-3),
        ("Skin", "fmu.ball.frame.v[3]", 1e-3),
        ("coupled", "ball.p.v[3]", 5e-3),
    ):
        v = found[name][ball]
        assert isinstance(v, list)
        assert v[-1] == pytest.approx(restitution, rel=close), name
    elastic = found["Bounce"]["fmu.floor.energy.elastic"]
    residual = found["Bounce"]["fmu.floor.energy.residual"]
    assert isinstance(elastic, list) and isinstance(residual, list)
    assert elastic[1] == pytest.approx(0.5 / (1.0 + d_comp), rel=0.02)  # rows are 1 ms apart
    assert max(map(abs, residual)) < 1e-8
    touch, release = found["coupled"]["floor.touch[1]"], found["coupled"]["floor.release[1]"]
    assert isinstance(touch, float) and isinstance(release, float)
    lasts = 0.5 * math.pi * (math.sqrt(1.0 / (k * (1.0 + d_comp))) + math.sqrt(1.0 / (k * (1.0 - d_comp))))
    assert release - touch == pytest.approx(lasts, abs=1e-3)  # its force begins and ends at communication points
    speed = found["damper"]["damper.w"]
    assert isinstance(speed, list)
    assert speed[0] == pytest.approx(-restitution, rel=1e-3)  # after the first wall


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "restitution", "friction"),
    [
        (("spring.h", "return k * x;", "return k * x;"), 0.5, 0.1),
        # half the damping ratio: d_rest = -0.3, d_comp = 0.3
        (
            ("contact.h", "return cc_clamp(k_D * w, d.rest, d.comp)", "return 0.5 * cc_clamp(k_D * w, d.rest, d.comp)"),
            math.sqrt(0.7 / 1.3),
            0.1,
        ),
        (("contact.h", "return F_e * (1.0 + d)", "return F_e * (1.0 + 0.5 * d)"), math.sqrt(0.7 / 1.3), 0.1),
        # a point that slides is held back by half the force
        (("friction.h", "? k_T : 1.0 / u", "? k_T : 0.5 / u"), 0.5, 0.05),
    ],
    ids=["as it is", "limits", "normal force", "friction"],
)
def test_held_force_is_that_of_the_literal_law(
    tmp_path: Path, change: tuple[str, str, str], restitution: float, friction: float
) -> None:
    """The literal law acts in the assembly and, from the samples, under coupling.mode = hold.  (Under auto the mean of
    an interval is found in closed form, from the limits and slopes of damping and friction.)"""
    found = results(tmp_path, change)
    for name, ball, close in (
        ("Bounce", "fmu.ball.p.v", 1e-3),
        ("Skin", "fmu.ball.frame.v", 1e-3),
        ("held", "ball.p.v", 5e-3),
    ):
        v = found[name][f"{ball}[3]"]
        assert isinstance(v, list)
        assert v[-1] == pytest.approx(restitution, rel=close), name
    along = found["held"]["ball.p.v[1]"]
    assert isinstance(along, list)
    assert along[-1] == pytest.approx(0.5 - friction * (1.0 + restitution), rel=5e-3)
    speed = found["damper"]["damper.w"]
    assert isinstance(speed, list)
    assert speed[0] == pytest.approx(-restitution, rel=1e-3)
