"""The pictures of impact_damper."""

from __future__ import annotations

from fmu_builder.drawing import BODY, BODY_EDGE, FORCE, GREY, INK, MATERIAL, MOTION, PAPER, Drawing, icon_paper


def impact_damper_drawing() -> str:
    drawing = Drawing(560, 270, "A housing with two walls and the mass between them: position, velocities, force, port")
    left, right, floor = 70.0, 410.0, 160.0
    for side, outer in ((left, left - 26), (right, right + 26)):
        low, high = sorted((side, outer))
        drawing.rectangle(low, 70, high - low, floor - 52, MATERIAL, INK)
    drawing.rectangle(left - 26, floor, right - left + 52, 18, MATERIAL, INK)
    drawing.circle((290, 118), 40, BODY, BODY_EDGE, 2)
    drawing.text((290, 125), "{m}", PAPER, 23, "middle")
    middle = (left + right) / 2
    drawing.line([(middle, 40), (middle, floor)], GREY, 1, "10 3 2 3")
    drawing.arrow((middle, 50), (290, 50), MOTION, 2.8)
    drawing.text((297, 55), "{x}", MOTION, 19)
    drawing.arrow((290, 92), (350, 92), MOTION, 2.8)
    drawing.text((354, 97), "{w}", MOTION, 19)
    drawing.arrow((left + 40, 118), (left, 118), GREY, 1.6)
    drawing.arrow((left + 110, 118), (left + 130, 118), GREY, 1.6)
    drawing.text((left + 75, 123), "gap/2", GREY, 15, "middle")
    drawing.line([(right + 26, 120), (470, 120)], INK, 2)
    drawing.port((470, 120), 15)
    drawing.text((470, 106), "p", anchor="middle", mono=True)
    drawing.arrow((444, 148), (500, 148), MOTION, 2.8)
    drawing.text((456, 168), "{v_p}", MOTION, 17)
    drawing.arrow((444, 184), (500, 184), FORCE, 4)
    drawing.text((456, 208), "{F_p}", FORCE, 17, bold=True)
    for row, (text, color) in enumerate(
        [
            ("{h} = |{x}| − gap/2: depth in a wall, contact while {h} > 0", INK),
            ("{m} {w}' = −{F_p}: the mass pushes the right wall to the right, {F_p} > 0", FORCE),
        ]
    ):
        drawing.text((left - 26, 224 + 25 * row), text, color, 15)
    return drawing.svg()


def impact_damper_icon() -> str:
    icon = icon_paper("impact_damper")
    icon.rectangle(12, 30, 14, 72, MATERIAL, INK)
    icon.rectangle(90, 30, 14, 72, MATERIAL, INK)
    icon.rectangle(12, 88, 92, 14, MATERIAL, INK)
    icon.circle((66, 62), 24, BODY, BODY_EDGE, 2.6)
    icon.text((66, 70), "{m}", PAPER, 24, "middle")
    icon.port((111, 62), 17)
    icon.text((111, 44), "p", size=19, anchor="middle", mono=True)
    icon.arrow((46, 18), (86, 18), MOTION, 4)
    return icon.svg()


PICTURES = {"drawing.svg": impact_damper_drawing}
ICON = impact_damper_icon
