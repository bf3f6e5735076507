"""Draws the pictures of the pages that show a command or a run: `python pictures.py`, in a minute.

Each is what the commands print, or what fmpy computes, on this machine; paths and times are left out."""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import fmpy
import numpy as np
from numpy.typing import NDArray

from fmu_builder import build
from fmu_builder.drawing import CURVES, FAINT, FORCE, GREY, INK, MOTION, Drawing, Plot

FOLDER = Path(__file__).parent
_LINE, _CHARACTER, _SIZE, _EDGE = 19.0, 7.83, 13.0, 16.0  # px
_WIDEST = 104  # characters of a line
_BRACES = {ord("{"): 0xE000, ord("}"): 0xE001}  # which mark symbols of formulas in drawings


def printed(folder: Path, command: str) -> list[str]:
    """The command, and what it prints in this folder."""
    program, *arguments = shlex.split(command)
    module = {"fmu-builder": "fmu_builder", "pytest": "pytest"}[program]
    own = ["-p", "fmu_builder.testing", "-q", "-p", "no:cacheprovider"] if program == "pytest" else []
    done = subprocess.run(
        [sys.executable, "-m", module, *own, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        text=True,
    )
    return [f"$ {command}", *(line.rstrip() for line in done.stdout.replace(f"{folder}/", "").splitlines())]


def terminal(name: str, title: str, lines: Sequence[str]) -> None:
    """Lines as a terminal shows them; those that begin with $ are commands."""
    (FOLDER / f"{name}.svg").write_text(_svg(_shown(title, lines)), encoding="utf-8")


def _shown(title: str, lines: Sequence[str], beside: float = 0.0) -> Drawing:
    """`beside`: room to the right of the lines, px."""
    cut = [line if len(line) <= _WIDEST else f"{line[: _WIDEST - 1]}…" for line in lines]
    width = 2 * _EDGE + _CHARACTER * max(map(len, cut)) + beside
    drawing = Drawing(width, 2 * _EDGE + _LINE * len(cut), title, FAINT)
    for number, line in enumerate(cut):
        at = (_EDGE, _EDGE + _LINE * (number + 0.75))
        is_command = line.startswith("$ ")
        plain = line.replace(" ", "\u00a0").translate(_BRACES)
        drawing.text(at, plain, MOTION if is_command else INK, _SIZE, bold=is_command, mono=True)
    return drawing


def _svg(drawing: Drawing) -> str:
    return drawing.svg().translate({place: brace for brace, place in _BRACES.items()})


def check(folder: Path) -> None:
    """An FMU of which one start value lies outside of its range."""
    build("PointMass", folder, platforms=["host"])
    data = (folder / "PointMass.fmu").read_bytes()
    terminal("check", "fmu-builder check", [
        *printed(folder, "fmu-builder check PointMass.fmu"),
        "",
        *_broken(folder, data),
    ])  # fmt: skip


def _broken(folder: Path, data: bytes) -> list[str]:
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(changed, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename == "modelDescription.xml":
                content = content.replace(b'start="1.0" ', b'start="-1.0" ', 1).replace(b'unit="kg"', b'unit="kgg"', 1)
                content = re.sub(rb'(name="m"[^>]*?)variability="tunable"', rb'\1variability="continuous"', content)
            new.writestr(entry, content)
    (folder / "Broken.fmu").write_bytes(changed.getvalue())
    return printed(folder, "fmu-builder check Broken.fmu --static")


def recording(folder: Path) -> None:
    build("PointMass", folder, platforms=["host"])
    printed(folder, "fmu-builder record PointMass.fmu --into calls")
    printed(folder, "fmu-builder run PointMass-recorder.fmu --stop '2 ms' --step '1 ms'")
    calls = printed(folder, "fmu-builder calls calls/PointMass.calls --last 9")
    sums = printed(folder, "fmu-builder calls calls/PointMass.calls --check")
    terminal("recording", "fmu-builder calls", [*calls, "", *sums])


_TEST = """import pytest

def test_ball(fmu_build, fmu_run, fmu_golden):
    ball = fmu_build("BouncingBall")
    start = {"initial_height": STARTS}
    result = fmu_run(ball, start=start, stop="0.5 s", step="1 ms")
    fmu_golden(result, {"fmu.height": "1 nm"})
"""


def ci(folder: Path) -> None:
    """A reference is written, and then the ball falls from another height."""
    test = folder / "test_ball.py"
    test.write_text(_TEST.replace("STARTS", "1.0"), encoding="utf-8")
    first = printed(folder, "pytest test_ball.py --update-references")
    test.write_text(_TEST.replace("STARTS", "1.0001"), encoding="utf-8")
    second = [line for line in printed(folder, "pytest test_ball.py") if re.match(r"\$|E |1 ", line)]
    lines = [re.sub(r" in \d.*s$", "", line) for line in (*first, "", *second) if line != "."]
    terminal("ci", "pytest with fixtures of fmu-builder", lines)


def probes(folder: Path) -> None:
    lines: list[str] = []
    for name, start in (("ended", "end_at"), ("discarded", "discard_at"), ("failed", "fail_at")):
        (folder / f"{name}.toml").write_text(
            f'slaves.probe = {{ recipe = "ProbeStep", start = {{ {start} = "0.35 s" }} }}\n'
            'experiment = { stop = "1 s", step = "0.1 s" }\n',
            encoding="utf-8",
        )
        lines += [f"# {start} = 0.35 s", *printed(folder, f"fmu-builder run {name}.toml"), ""]
    terminal("probes", "ProbeStep under fmu-builder run", lines[:-1])


def modelica(folder: Path) -> None:
    """A class with a law of a user."""
    page = (FOLDER / "modelica.md").read_text("utf-8")
    block = re.search(r'```toml title="Felt.toml"\n(.*?)```', page, re.DOTALL)
    assert block is not None
    (folder / "Felt.toml").write_text(block[1], encoding="utf-8")
    made = printed(folder, "fmu-builder modelica Felt.toml -o Pads")
    text = (folder / "Pads" / "Elements" / "Felt.mo").read_text("utf-8").splitlines()
    begin = next(number for number, line in enumerate(text) if "slot_C_F =" in line)
    excerpt = ["# Pads/Elements/Felt.mo", "  ...", *text[begin - 6 : begin + 3], "  ..."]
    terminal("modelica", "A law of a user as Modelica", [*made, "", *excerpt])


def fmi3(folder: Path) -> None:
    """Rows of fmpy with steps of 0.1 s, with and without early return, on the motion of the ball."""
    fmu = str(build("BouncingBall", folder, platforms=["host"], fmi=3))

    def heights(step: float, early: bool) -> list[tuple[float, float]]:
        found = fmpy.simulate_fmu(
            fmu, output=["height"], stop_time=1.2, output_interval=step, early_return_allowed=early
        )
        return list(zip(found["time"].tolist(), found["height"].tolist(), strict=True))

    plot = Plot(
        "Steps of 0.1 s that end at touch-down and release", (0.0, 1.2), (0.0, 1.0), "time, s", "height, m",
        (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2), (0.0, 0.25, 0.5, 0.75, 1.0),
    )  # fmt: skip
    plot.polyline(heights(1e-3, False), GREY, "motion")
    regular = heights(0.1, False)
    events = [row for row in heights(0.1, True) if min(abs(row[0] - time) for time, _ in regular) > 1e-9]
    for row in regular:
        plot.drawing.circle(plot.at(*row), 3.5, CURVES[0])
    for row in events:
        plot.drawing.circle(plot.at(*row), 5.5, CURVES[1])
    plot.drawing.text((252, 52), "● ends of steps of 0.1 s", CURVES[0], 14)
    plot.drawing.text((252, 72), "● early returns", CURVES[1], 14)
    (FOLDER / "fmi3.svg").write_text(plot.drawing.svg(), encoding="utf-8")


def terminals(folder: Path) -> None:
    page = (FOLDER / "terminals.md").read_text("utf-8")
    block = re.search(r'```toml title="pull.toml"\n(.*?)```', page, re.DOTALL)
    assert block is not None
    (folder / "pull.toml").write_text(block[1], encoding="utf-8")
    printed(folder, "fmu-builder show pull.toml -o pull.svg")
    (FOLDER / "terminals.svg").write_bytes((folder / "pull.svg").read_bytes())


def bodies(folder: Path) -> None:
    """Speed and spin of the ball of the catalogue while it bounces, slips and rolls."""
    fmu = str(build("BallOnFloor", folder, platforms=["host"]))
    found = fmpy.simulate_fmu(fmu, output=["velocity[1]", "angular_velocity[2]", "position[3]"], output_interval=2e-3)
    time = found["time"].tolist()
    plot = Plot(
        "A spinning ball of 642 samples bounces, slips and rolls", (0.0, 1.0), (-0.6, 1.2), "time, s", "m/s",
        (0.0, 0.2, 0.4, 0.6, 0.8, 1.0), (-0.5, 0.0, 0.5, 1.0),
    )  # fmt: skip
    speed, spin = found["velocity[1]"].tolist(), (0.1 * found["angular_velocity[2]"]).tolist()
    plot.polyline(list(zip(time, speed, strict=True)), CURVES[0], "")
    plot.polyline(list(zip(time, spin, strict=True)), CURVES[1], "")
    plot.drawing.text((252, 62), "― speed", CURVES[0], 14)
    plot.drawing.text((252, 222), "― spin times radius", CURVES[1], 14)
    (FOLDER / "bodies.svg").write_text(plot.drawing.svg(), encoding="utf-8")


def _ring() -> NDArray[np.float32]:
    """Corners of the triangles of a ring around z, mm, shape (n, 3, 3)."""
    major, minor = 40.0, 15.0
    turn, around = (2.0 * np.pi * np.arange(n + 1) / n for n in (24, 12))
    u, v = np.meshgrid(turn, around, indexing="ij")
    r = major + minor * np.cos(v)
    at = np.stack([r * np.cos(u), r * np.sin(u), minor * np.sin(v)], axis=2)
    at[-1], at[:, -1] = at[0], at[:, 0]
    a, b, c, d = at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]
    return np.concatenate([np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)]).reshape(-1, 3, 3).astype("<f4")


def part(folder: Path) -> None:
    """A ring from its file to an FMU, and the force of that FMU on a point some 1 mm deep in it."""
    corners = _ring()
    records = np.zeros(len(corners), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("spare", "<u2")])
    records["corners"] = corners
    (folder / "ring.stl").write_bytes(bytes(80) + len(records).to_bytes(4, "little") + records.tobytes())
    lines = [*printed(folder, "fmu-builder info ring.stl"), "", *printed(folder, "fmu-builder build ring.stl")]
    r, z, turn = 40.0 + 14.0 * np.cos(1.0), 14.0 * np.sin(1.0), np.radians(95.0)
    at = 1e-3 * np.array([r * np.cos(turn), r * np.sin(turn), z])
    start = {f"point.r[{i + 1}]": x for i, x in enumerate(at.tolist())} | {"coupling.mode": 1}
    names = [f"{vector}[{i}]" for vector in ("contact.r", "point.f") for i in (1, 2, 3)]
    found = fmpy.simulate_fmu(
        str(folder / "ring.fmu"), start_values=start, output=names, stop_time=1e-3, output_interval=1e-3
    )
    contact, force = (np.array([found[name][-1] for name in names[k : k + 3]]) for k in (0, 3))

    size = 330.0
    drawing = _shown("A ring from its file to an FMU, and a point in contact with it", lines, size)
    side, toward = np.array([-0.5, 0.8660254, 0.0]), np.array([0.7071068, 0.4082483, 0.5773503])
    up = np.cross(toward, side)
    middle = (_EDGE + _CHARACTER * min(max(map(len, lines)), _WIDEST) + size / 2, _EDGE + _LINE * len(lines) / 2)

    def seen(place: NDArray[np.float64]) -> tuple[float, float]:
        return float(middle[0] + 2.5 * place @ side), float(middle[1] - 2.5 * place @ up)

    for triangle in sorted(corners.astype(float), key=lambda one: float(one.mean(axis=0) @ toward)):
        normal = np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0])
        light = float(normal @ toward) / float(np.linalg.norm(normal))
        if light > 0.0:
            grey = round(150 + 95 * light)
            drawing.line([*map(seen, triangle)], GREY, 0.5, fill=f"#{grey:02x}{grey:02x}{grey:02x}")
    tip = 1e3 * contact + 45.0 * force / np.linalg.norm(force)
    drawing.arrow(seen(1e3 * contact), seen(tip), FORCE)
    drawing.circle(seen(1e3 * contact), 4.0, FORCE, FORCE)
    label = (seen(tip)[0], seen(tip)[1] - 12.0)
    drawing.text(label, f"{np.linalg.norm(force):.0f} N on the point", FORCE, 13, anchor="end", halo=FAINT)
    (FOLDER / "part.svg").write_text(_svg(drawing), encoding="utf-8")


PICTURES: tuple[Callable[[Path], None], ...] = (fmi3, modelica, check, recording, ci, probes, terminals, bodies, part)

if __name__ == "__main__":
    for picture in PICTURES:
        if len(sys.argv) == 1 or picture.__name__ in sys.argv[1:]:
            with tempfile.TemporaryDirectory() as made:
                picture(Path(made))
