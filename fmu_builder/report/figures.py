"""The figures of the report: the comparison of a case as data for plotly.js."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from fmu_builder.cosim.comparison import SignalResult
from fmu_builder.cosim.trace import Trace
from fmu_builder.cosim.validation import CaseResult, Order
from fmu_builder.report.contact_figure import contact_figure, contact_window, draw_contacts, find_contacts
from fmu_builder.report.figure_sheet import (
    COLOURS,
    FAILED,
    TEXT,
    Figure,
    Sheet,
    Values,
    Window,
    axis_title,
    curve_style,
    number_text,
    pale,
    scale_of,
    thinned,
    time_axis,
    value_axis,
    within_window,
)

_REFERENCE = {"mode": "lines", "line": {"width": 6, "color": "#cccccc"}}
_LEAST_SHARE, _LARGEST_SHARE = 1e-4, 1e4  # of the allowed error, in the plots of errors
_PATH = re.compile(r"((energy|power)\.)?[^.]*$")  # of a signal: the part that names the quantity
_SEEN = 0.02  # of the height of a panel: what is thinner cannot be seen
_FEW = 25  # samples that are marked, so that nobody takes the lines between them for the motion
_ALIKE = 30.0  # signals of one unit share a panel if their changes differ by less than this factor


def case_figure(result: CaseResult, points: int) -> Figure:
    """The plot of a case; empty if there is nothing to draw."""
    if result.trace is None or result.reference is None or result.comparison is None:
        return {}
    if result.comparison.signals or result.order:
        return _signal_figure(result, result.comparison.signals, result.trace, result.reference, points)
    return contact_figure(result.comparison, result.trace, points)


def _signal_figure(
    result: CaseResult, signals: Sequence[SignalResult], trace: Trace, reference: Trace, points: int
) -> Figure:
    """Trace over reference, a panel for each unit, the errors below.  Before it the errors over steps, after it the
    contacts, where they are too short to be seen in the run."""
    contacts = find_contacts(trace)
    run = (float(trace.time[0]), float(trace.time[-1]))
    groups = _groups(signals, trace, reference)
    windows: list[tuple[str, Window]] = []
    if groups:
        closer = contact_window(contacts, run)
        step = trace.provenance.get("step")
        at_step = f" with the step {scale_of(step, 's').text(step)}" if isinstance(step, int | float) else ""
        windows.append((f"run{at_step}" if result.order else "whole run" if closer else "", run))
        windows += [closer] if closer else []
    heights = [{1: 240, 2: 180}.get(len(groups), 150)] * len(groups) + [130] if groups else [300]
    first = 1 if result.order else 0
    sheet = Sheet(heights, [1.0] * (first + len(windows)))
    if result.order:
        _draw_order(sheet, result.order, len(heights) - 1)
    for column, (heading, window) in enumerate(windows, first):
        if heading:
            sheet.heading(column, heading)
        in_legend = column == len(sheet.widths) - 1
        for row, group in enumerate(groups):
            _draw_signals(sheet, column, row, window, group, signals, trace, reference, points, in_legend)
        _draw_errors(sheet, column, len(groups), window, signals, trace, reference, points)
        draw_contacts(sheet, sheet.panels[-1], contacts, window)
    return sheet.figure()


def _groups(signals: Sequence[SignalResult], trace: Trace, reference: Trace) -> list[list[SignalResult]]:
    """The signals by panel: of one unit, and of changes of like size; constant ones join any of their unit."""
    groups: list[tuple[str, float, list[SignalResult]]] = []
    for s in signals:
        values = np.concatenate((trace[s.name], reference[s.name]))
        change = float(np.ptp(values))
        if change <= 4.0 * s.allowed:
            change = 0.0
        for unit, largest, group in groups:
            if unit == s.unit and (not change or not largest or 1.0 / _ALIKE < change / largest < _ALIKE):
                group.append(s)
                break
        else:
            groups.append((s.unit, change, [s]))
    return [group for _, _, group in groups]


def _style(name: str, signals: Sequence[SignalResult]) -> tuple[str, str]:
    """Colour and dash of a signal, the same in all panels."""
    return curve_style([s.name for s in signals].index(name))


def _draw_signals(
    sheet: Sheet,
    column: int,
    row: int,
    window: Window,
    group: Sequence[SignalResult],
    signals: Sequence[SignalResult],
    trace: Trace,
    reference: Trace,
    points: int,
    in_legend: bool,
) -> None:
    curves = {s.name: within_window(trace.time, trace[s.name], window) for s in group}
    references = {s.name: within_window(reference.time, reference[s.name], window) for s in group}
    values = [v for _, v in (*curves.values(), *references.values())]
    width, scale, y = value_axis(values, 4.0 * max(s.allowed for s in group), group[0].unit)
    time_scale, x = time_axis(window, sheet.panels[-row].x if row else None, labelled=False)
    title = scale.title(_common_quantity([s.name for s in group]))
    panel = sheet.panel(column, (row, row), x, y | {"title": axis_title(title), "nticks": 6})
    legend = row if in_legend else None
    tubes = [s for s in group if 2.0 * s.allowed >= _SEEN * width]
    if in_legend and row == 0:
        sheet.legend_entry(panel, "reference", row, **_REFERENCE)
    if in_legend and tubes:
        sheet.legend_entry(panel, "allowed", row, mode="lines", line={"width": 12, "color": "rgba(0, 0, 0, 0.12)"})

    def shown(time: Values, values: Values) -> tuple[Values, Values]:
        t, v = thinned(time, values, points, width)
        return t / time_scale.factor, v / scale.factor

    for s in group:
        colour, _ = _style(s.name, signals)
        t, v = shown(*references[s.name])
        if s in tubes:
            half, edge, fill = s.allowed / scale.factor, {"width": 0}, pale(colour, 0.14)
            sheet.curve(panel, t, v - half, s.name, line=edge, hoverinfo="skip")
            sheet.curve(panel, t, v + half, s.name, line=edge, hoverinfo="skip", fill="tonexty", fillcolor=fill)
        sheet.curve(panel, t, v, f"reference of {s.name}", line={"width": 6, "color": pale(colour, 0.32)})
    for s in group:
        colour, dash = _style(s.name, signals)
        line = {"width": 1.6, "color": colour, "dash": dash}
        mode = "lines+markers" if len(curves[s.name][0]) <= _FEW else "lines"
        sheet.curve(panel, *shown(*curves[s.name]), s.name, legend=legend, line=line, mode=mode)
    failed = [s for s in group if not s.passed and window[0] <= s.time <= window[1]]
    if failed:
        x_values = np.array([s.time / time_scale.factor for s in failed])
        y_values = np.array([s.value / scale.factor for s in failed])
        cross = {"symbol": "x-thin-open", "size": 13, "color": FAILED, "line": {"width": 2.5}}
        sheet.curve(
            panel, x_values, y_values, "largest error", legend=legend, mode="markers", marker=cross, cliponaxis=False
        )


def _common_quantity(names: Sequence[str]) -> str:
    """As "r" of body.p.r[1], body.p.r[2]; "r[3]" of one signal; "energy.total" of body.energy.total, "energy" of that
    and body.energy.kinetic; "" if they differ."""
    paths = {_PATH.search(name)[0] for name in names}  # type: ignore[index]
    for coarser in (r"\[.*", r"\..*"):
        if len(paths) > 1:
            paths = {re.sub(coarser, "", path) for path in paths}
    return paths.pop() if len(paths) == 1 else ""


def _draw_errors(
    sheet: Sheet,
    column: int,
    row: int,
    window: Window,
    signals: Sequence[SignalResult],
    trace: Trace,
    reference: Trace,
    points: int,
) -> None:
    """Errors in shares of what is allowed, so that all units share a panel and 100 % is the limit of each."""
    curves = {s.name: within_window(*_share_of_allowed(s, trace, reference), window) for s in signals}
    worst = [float(share.max()) for _, share in curves.values()]
    bottom = math.floor(math.log10(min(max(min(worst), 10.0 * _LEAST_SHARE), 1.0))) - 1
    top = math.log10(min(max(2.5, 2.0 * max(worst)), _LARGEST_SHARE))
    decades = range(bottom, math.floor(top) + 1)
    ticks = [("≤ " if d == bottom else "") + _decade_text(d) for d in decades]
    time_scale, x = time_axis(window, sheet.panels[-row].x, labelled=True)
    y: Figure = {"type": "log", "range": [bottom, top], "tickvals": [10.0**d for d in decades], "ticktext": ticks}
    panel = sheet.panel(column, (row, row), x, y | {"title": axis_title("error / allowed")})
    for s in signals:
        colour, dash = _style(s.name, signals)
        time, share = curves[s.name]
        t, exponent = thinned(time, np.log10(np.clip(share, 10.0**bottom, _LARGEST_SHARE)), points, top - bottom)
        line = {"width": 1.4, "color": colour, "dash": dash}
        sheet.curve(panel, t / time_scale.factor, 10.0**exponent, s.name, line=line)
    sheet.level(panel, 1.0)
    if column == len(sheet.widths) - 1:
        place: Figure = {"x": 1.012, "xref": "paper", "xanchor": "left", "y": 0.0, "yref": panel.y}
        sheet.label("allowed", **place)


def _share_of_allowed(result: SignalResult, trace: Trace, reference: Trace) -> tuple[Values, Values]:
    """Times of both grids within the common span, and error/allowed there, see the head of this module."""
    time = np.union1d(trace.time, reference.time)
    time = time[(time >= reference.time[0]) & (time <= reference.time[-1])]
    time = time[(time >= trace.time[0]) & (time <= trace.time[-1])]
    difference = np.interp(time, trace.time, trace[result.name])
    difference -= np.interp(time, reference.time, reference[result.name])
    error = np.minimum(np.abs(difference), result.error)
    return time, error / result.allowed if result.allowed > 0.0 else np.where(error > 0.0, math.inf, 0.0)


def _decade_text(decade: int) -> str:
    return f"{10**decade}×" if decade > 0 else f"{number_text(100.0 * 10.0**decade, 1)} %"


def _draw_order(sheet: Sheet, order: Order, last_row: int) -> None:
    """Errors over communication steps and the line of the expected order, both axes logarithmic."""
    steps, errors = np.array(order.steps), np.array(order.errors)
    step_scale, error_scale = scale_of(float(steps.max()), "s"), scale_of(float(errors.max()), order.unit)
    middle_step, middle_error = (float(np.exp(np.log(v).mean())) for v in (steps, errors))
    ends = np.array([steps.min() / 1.25, steps.max() * 1.25])
    line = middle_error * (ends / middle_step) ** order.expected
    shown = np.concatenate((errors, line)) / error_scale.factor
    x: Figure = {
        "type": "log",
        "range": np.log10(ends / step_scale.factor).tolist(),
        "tickvals": [step / step_scale.factor for step in order.steps],
        "ticktext": [number_text(step / step_scale.factor, 3) for step in order.steps],
        "title": axis_title(step_scale.title("communication step")),
    }
    ticks = _ticks_125(float(shown.min()), float(shown.max()))
    y: Figure = {
        "type": "log",
        "range": [math.log10(shown.min()) - 0.1, math.log10(shown.max()) + 0.1],
        "tickvals": ticks,
        "ticktext": [number_text(tick, 3) for tick in ticks],
        "title": axis_title(error_scale.title(f"error of {order.quantity}")),
    }
    panel = sheet.panel(0, (0, last_row), x, y)
    sheet.heading(0, "error over step")
    dashed = {"width": 1.2, "dash": "dash", "color": TEXT}
    sheet.curve(panel, ends / step_scale.factor, line / error_scale.factor, "expected order", line=dashed)
    colour = COLOURS[0] if order.passed else FAILED
    sheet.curve(
        panel,
        steps / step_scale.factor,
        errors / error_scale.factor,
        order.quantity,
        mode="lines+markers",
        line={"width": 1.4, "color": colour},
        marker={"size": 8},
    )
    text = f"{'✓' if order.passed else '✗'} measured order {number_text(order.measured, 4)}<br>"
    text += f"expected {number_text(order.expected, 3)} ± {number_text(order.tolerance, 3)} (dashed)"
    place: Figure = {"x": 0.04, "xref": f"{panel.x} domain", "xanchor": "left", "align": "left"}
    place |= {"y": 0.97, "yref": f"{panel.y} domain", "yanchor": "top"}
    sheet.label(text, **place | {"font": {"size": 12, "color": TEXT if order.passed else FAILED}})


def _ticks_125(low: float, high: float) -> list[float]:
    """The numbers 1, 2, 5 times powers of ten within the range."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{digit}e{decade}") for decade in decades for digit in (1, 2, 5)]
    return [tick for tick in ticks if low / 1.25 <= tick <= high * 1.25]
