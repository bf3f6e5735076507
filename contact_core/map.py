"""Draws map.svg: who calls whom in the core, and the way of one communication step.

python contact_core/map.py

The files in a box are those of its folder; tests/contact_core/test_rooms.py checks that the picture is up to date, and
that every function on the way is in the file that calls it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fmu_builder.drawing import FORCE, GREY, HATCH, MATERIAL, PAPER, Drawing, Point
from fmu_builder.paths import shared_folder

CORE = Path(__file__).resolve().parent
WIDTH = 960
LEFT, RIGHT = 20, 940
LETTER = 6.05  # px: width of a letter of a file name
OWN = "#fff4e0"  # ground of what is an element's


class Call(NamedTuple):
    """An arrow of the way at x, px, from y_0 to y_1; `function` stands in `file`, which calls it."""

    number: int
    function: str
    file: str
    x: float
    y: tuple[float, float]
    shown: str = ""
    sign: float = 0.46  # where on the arrow its number is, from y_0 (0) to y_1 (1)


WAY = (
    Call(1, "fmi2DoStep", "fmi2/fmi2_step.h", 110, (46, 86)),
    Call(2, "sample", "fmi2/fmi2_step.h", 490, (158, 326), sign=0.14),
    Call(3, "cc_integrate", "fmi2/fmi2_step.h", 110, (158, 200)),
    Call(4, "evaluate", "solver/evaluation.h", 110, (272, 326)),
    Call(5, "indicators", "solver/substep.h", 270, (272, 326)),
    Call(6, "accept", "solver/solver.h", 380, (272, 326)),
    Call(4, "outputs", "element_run.h", 110, (384, 430), "outputs, derivatives"),
    Call(5, "indicators", "element_real.c", 290, (384, 430)),
    Call(6, "accept", "element_real.c", 400, (384, 430)),
    Call(2, "sample", "element_real.c", 490, (384, 430)),
    Call(7, "fmi2OK", "fmi2/fmi2_step.h", 490, (86, 46), "fmi2OK, or fmi2Error and the state as it was"),
)
ROOMS = (
    ("laws/", "contact, friction,", "laws of a recipe"),
    ("surfaces/", "closest point, its", "normal, the depth"),
    ("lines/", "foot on a line, how", "its force is shared"),
    ("mechanism/", "trees of bodies", "with constraints"),
    ("coupling/", "a force held over a", "step makes no energy"),
)


def files(folder: Path, pattern: str = "*.[ch]") -> list[str]:
    return [path.name for path in sorted(folder.glob(pattern))]


def lines_of(names: Sequence[str], width: float) -> list[str]:
    """The names in lines no longer than the width, px."""
    lines = [""]
    for name in names:
        longer = f"{lines[-1]} · {name}" if lines[-1] else name
        lines = [*lines[:-1], longer] if len(longer) * LETTER <= width or not lines[-1] else [*lines, name]
    return lines


def box(
    picture: Drawing,
    at: Point,
    size: Point,
    title: str,
    texts: Sequence[str],
    names: Sequence[str],
    fill: str = MATERIAL,
) -> None:
    """A title, what it is for, and the names of its files."""
    (x, y), (width, height) = at, size
    picture.rectangle(x, y, width, height, fill, HATCH, 6)
    picture.text((x + 12, y + 21), title, size=15, bold=True, mono=True)
    beside = len(texts) == 1
    for i, text in enumerate(texts):
        picture.text((x + 32 + 9.2 * len(title), y + 21) if beside else (x + 12, y + 40 + 16 * i), text, size=13)
    first = y + (42 if beside else 46 + 16 * len(texts))
    for i, line in enumerate(lines_of(names, width - 20)):
        picture.text((x + 12, first + 14 * i), line, GREY, 10, mono=True)


def sign(picture: Drawing, at: Point, number: int, text: str = "") -> None:
    """The number of a call in a circle, and what is called."""
    picture.circle(at, 9, PAPER, FORCE)
    picture.text((at[0], at[1] + 4.5), str(number), FORCE, 12, "middle", bold=True)
    picture.text((at[0] + 14, at[1] + 4.5), text, FORCE, 12, mono=True)


def draw() -> str:
    full = RIGHT - LEFT
    wide = (full - 4 * 14) / 5
    most = max(len(lines_of(files(CORE / title, "*.h"), wide - 20)) for title, *_ in ROOMS)
    high = 76 + 14 * most
    bottom = 536 + high + 32
    picture = Drawing(
        WIDTH, bottom + 70, "The rooms of the core: who calls whom, and the way of one communication step"
    )
    picture.rectangle(LEFT, 12, full, 34, PAPER, HATCH, 6)
    picture.text((LEFT + 12, 34), "importer", size=15, bold=True)
    picture.text((LEFT + 110, 34), "sets inputs, steps, reads outputs", size=13)
    box(picture, (LEFT, 86), (600, 72), "fmi2/", ["FMI 2.0 (fmu.c); fmi3/ is a layer around it (fmu3.c)"],
        files(CORE / "fmi2", "fmi2*.h"))  # fmt: skip
    box(picture, (LEFT, 200), (430, 72), "solver/", ["substeps, their length and method, events"],
        files(CORE / "solver", "*.h"))  # fmt: skip
    box(
        picture,
        (700, 86),
        (RIGHT - 700, 186),
        "instance.h",
        ["memory and state of an instance,", "its log, its rules"],
        [],
    )
    box(
        picture,
        (LEFT, 326),
        (full, 58),
        "waist.h",
        ["the interface between the core and an element"],
        [
            "element_real.c: over double",
            "element_dual.c: over dual numbers, for derivatives",
            "assembly.h: parts in order",
        ],
    )
    box(picture, (LEFT, 430), (full, 58), "element.c", ["the physics of an element, over its generated struct Element"],
        lines_of(["elements/shared/", *files(shared_folder(), "*.h")], full), OWN)  # fmt: skip
    for i, (title, *texts) in enumerate(ROOMS):
        x = LEFT + i * (wide + 14)
        middle = x + wide / 2
        box(picture, (x, 536), (wide, high), title, texts, files(CORE / title, "*.h"))
        picture.arrow((middle, 488), (middle, 536), FORCE, 2)
        sign(picture, (middle, 510), 2 if title == "coupling/" else 4)
        picture.arrow((middle, 536 + high), (middle, bottom), GREY, 1.5)
    box(picture, (LEFT, bottom), (full, 58), "base/", ["numbers and dual numbers, vectors, elementary functions, text"],
        files(CORE / "base"))  # fmt: skip
    picture.arrow((620, 115), (700, 115), GREY, 1.5)
    picture.arrow((450, 244), (700, 244), GREY, 1.5)
    for call in WAY:
        y_0, y_1 = call.y
        picture.arrow((call.x, y_0), (call.x, y_1), FORCE, 2)
        sign(picture, (call.x, y_0 + call.sign * (y_1 - y_0)), call.number, call.shown or call.function)
    return picture.svg()


if __name__ == "__main__":
    (CORE / "map.svg").write_text(draw(), encoding="utf-8")
