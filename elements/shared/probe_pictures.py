"""Drawings of the probes: a block with what goes in and what comes out."""

from __future__ import annotations

from collections.abc import Sequence

from fmu_builder.drawing import FORCE, GREY, INK, MOTION, PAPER, Drawing, icon_paper


def block(title: str, inputs: Sequence[str], law: Sequence[str], outputs: Sequence[str]) -> str:
    """Names of inputs on the left, of outputs on the right, the law in between."""
    rows = max(len(inputs), len(outputs), len(law))
    height = 40 + 30 * rows
    drawing = Drawing(600, height + 40, title)
    drawing.rectangle(170, 20, 260, height, PAPER, INK, 8)
    for row, text in enumerate(law):
        drawing.text((300, 20 + height / 2 + 6 + 28 * (row - (len(law) - 1) / 2)), text, INK, 18, "middle")
    for names, color, begin, at, anchor in ((inputs, MOTION, 110, 100, "end"), (outputs, FORCE, 430, 500, "start")):
        for row, name in enumerate(names):
            y = 20 + height / 2 + 30 * (row - (len(names) - 1) / 2)
            drawing.arrow((begin, y), (begin + 58, y), color, 2.5)
            drawing.text((at, y + 5), name, color, 15, anchor, mono=True)
    return drawing.svg()


def sign(name: str, text: str) -> str:
    """The icon: a block with a short text."""
    icon = icon_paper(name)
    icon.line([(6, 64), (26, 64)], MOTION, 4)
    icon.line([(102, 64), (122, 64)], FORCE, 4)
    icon.rectangle(26, 30, 76, 68, PAPER, INK, 6)
    icon.text((64, 71), text, INK, 22, "middle")
    icon.text((64, 22), "probe", GREY, 15, "middle")
    return icon.svg()
