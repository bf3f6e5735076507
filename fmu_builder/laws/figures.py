"""Pictures of laws as SVG: the law over its last argument, the element's own law beside it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fmu_builder.drawing import FAINT, GREY, Drawing
from fmu_builder.laws.rules import Checked

Array = NDArray[np.float64]

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 460, 260, 64, 12, 26, 40  # px
_LAW, _BUILT_IN = "#0072b2", "#d55e00"
_SIZE, _LETTER = 11, 5.6  # px: of the text, width of a letter
_POINTS = 400
_MOST_LARGER = 3.0
_STRAIGHT = 0.01  # of the largest value: a curve that stays so close to its chord need not be shown


def law_svg(law: Checked, built_in: Checked | None, name: str, beside: str) -> str:
    """The law in its slot, called `name`, over the argument that it vanishes with, else over its last one; the others
    stand at the upper end of their ranges.

    built_in, beside  the law of the element for the same slot, and what it is called"""
    argument = shown_argument(law)
    x = abscissae(law, argument)
    y = _values(law, argument, x)
    curves = [(name, _LAW, y)]
    shown = y
    if built_in is not None:
        other = _values(built_in, argument, x)
        curves.append((beside, _BUILT_IN, other))
        if np.max(np.abs(other)) <= _MOST_LARGER * np.max(np.abs(y)):  # else it is cut off: the law is what matters
            shown = np.concatenate([y, other])
    low, high = float(min(shown.min(), 0.0)), float(max(shown.max(), 0.0))
    if low == high:
        low, high = -1.0, 1.0
    low, high = low - 0.08 * (high - low) * (low < 0.0), high + 0.08 * (high - low)
    return _drawn(law, argument, x, curves, (low, high))


def shown_argument(law: Checked) -> str:
    """The one over which a law is drawn."""
    return law.slot.zero_at or [*law.slot.arguments][-1]


def _values(law: Checked, argument: str, x: Array) -> Array:
    arguments = {name: np.array(law.ranges[name][1]) for name in law.slot.arguments}
    return np.asarray(law.over({**arguments, argument: x}).value)


def abscissae(law: Checked, argument: str) -> Array:
    """From 0, or symmetric to 0, as far as the law is no straight line."""
    low, high = law.ranges[argument]
    reach = max(abs(low), abs(high))
    share = np.geomspace(1e-6, 1.0, 200)
    bent = 0.0
    for sign in (1.0, -1.0):
        if sign * reach > high or sign * reach < low:
            continue
        y = _values(law, argument, sign * reach * share)
        largest = float(np.max(np.abs(y))) or 1.0
        for k in range(len(share)):
            chord = y[k] + (y[-1] - y[k]) * (share[k:] - share[k]) / max(1.0 - share[k], 1e-12)
            if float(np.max(np.abs(y[k:] - chord))) <= _STRAIGHT * largest:
                bent = max(bent, float(share[k]))
                break
    shown = reach * (min(1.0, 3.0 * bent) if bent > 1e-6 else 1.0)
    return np.linspace(max(low, -shown), min(high, shown), _POINTS + 1)


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers, four to eight of them."""
    rough = (high - low) / 5.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * digit for digit in (1.0, 2.0, 5.0, 10.0) if power * digit >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _drawn(
    law: Checked, argument: str, x: Array, curves: list[tuple[str, str, Array]], window: tuple[float, float]
) -> str:
    low, high = window
    wide, tall = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    right, bottom = _LEFT + wide, _TOP + tall

    def at(x_value: float, y_value: float) -> tuple[float, float]:
        across = (x_value - float(x[0])) / float(x[-1] - x[0])
        return _LEFT + wide * across, _TOP + tall * (high - y_value) / (high - low)

    slot = law.law.slot
    lines = [list(map(at, x.tolist(), y.tolist())) for _, _, y in curves]
    drawing = Drawing(_WIDTH, _HEIGHT, f"{slot} over {argument}")
    for tick in _ticks(float(x[0]), float(x[-1])):
        place, _ = at(tick, 0.0)
        drawing.line([(place, _TOP), (place, bottom)], FAINT, 1)
        drawing.text((place, bottom + 14), f"{tick:.6g}", size=_SIZE, anchor="middle")
    for tick in _ticks(low, high):
        _, place = at(0.0, tick)
        drawing.line([(_LEFT, place), (right, place)], FAINT, 1)
        drawing.text((_LEFT - 6, place + 4), f"{tick:.6g}", size=_SIZE, anchor="end")
    drawing.line([at(float(x[0]), 0.0), at(float(x[-1]), 0.0)], GREY, 1)
    window_name = drawing.clip(_LEFT, _TOP, wide, tall)
    ending = float(right)
    for place in reversed(range(len(curves))):
        label, color, _ = curves[place]
        drawing.line(lines[place], color, 1.8, "5 3" if place else "", clip=window_name)
        drawing.text((ending, 16), label, color, _SIZE, "end")
        ending -= _LETTER * (len(label) + 3)
    others = [law.text(name, law.ranges[name][1]) for name in law.slot.arguments if name != argument]
    drawing.text((_LEFT, 16), ", ".join([_quantity(slot, law.slot.unit), *others]), size=_SIZE)
    drawing.text((right, _HEIGHT - 8), _quantity(argument, law.slot.arguments[argument]), size=_SIZE, anchor="end")
    return drawing.svg()


def _quantity(name: str, unit: str) -> str:
    return name if unit == "1" else f"{name} ({unit})"
