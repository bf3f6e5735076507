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

from fmu_builder import build
from fmu_builder.drawing import CURVES, FAINT, GREY, INK, MOTION, Drawing, Plot

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
    cut = [line if len(line) <= _WIDEST else f"{line[: _WIDEST - 1]}…" for line in lines]
    width = 2 * _EDGE + _CHARACTER * max(map(len, cut))
    drawing = Drawing(width, 2 * _EDGE + _LINE * len(cut), title, FAINT)
    for number, line in enumerate(cut):
        at = (_EDGE, _EDGE + _LINE * (number + 0.75))
        is_command = line.startswith("$ ")
        plain = line.replace(" ", "\u00a0").translate(_BRACES)
        drawing.text(at, plain, MOTION if is_command else INK, _SIZE, bold=is_command, mono=True)
    back = {place: brace for brace, place in _BRACES.items()}
    (FOLDER / f"{name}.svg").write_text(drawing.svg().translate(back), encoding="utf-8")


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


PICTURES: tuple[Callable[[Path], None], ...] = (fmi3, modelica, check, recording, ci, probes, terminals, bodies)

if __name__ == "__main__":
    for picture in PICTURES:
        if len(sys.argv) == 1 or picture.__name__ in sys.argv[1:]:
            with tempfile.TemporaryDirectory() as made:
                picture(Path(made))
