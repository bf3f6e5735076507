"""The report of a validation: one HTML page that needs no network, with a verdict, a table and a plot for every case.

The page shows the verdicts of `validate`.  Errors over time are drawn at equal times and capped at the error of the
verdict, which forgives a shift by the tolerance in time: an upper bound of what was compared.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fmu_builder.cosim.comparison import Comparison, EventResult, SignalResult
from fmu_builder.cosim.connection_energy import ConnectionEnergy
from fmu_builder.cosim.trace import Trace
from fmu_builder.cosim.validation import CaseResult
from fmu_builder.errors import InputError, Problem
from fmu_builder.export.documentation import templates
from fmu_builder.export.origin import build_date
from fmu_builder.files import write_whole
from fmu_builder.model.scenario import ALGORITHMS
from fmu_builder.pages.live import frame_text
from fmu_builder.pages.parts import packed
from fmu_builder.paths import own_version
from fmu_builder.report.case_view import CaseView
from fmu_builder.report.figure_page import figure_parts
from fmu_builder.report.figure_sheet import Scale, number_text, scale_of
from fmu_builder.report.figures import case_figure
from fmu_builder.report.system_figure import system_svg

Values = NDArray[np.float64]
Figure = dict[str, object]
Window = tuple[float, float]  # begin and end, s

_PLOT_BYTES = 2_000_000  # of all plots together; plotly.js takes 2 MB of the 6 MB that a mail attachment may have
_POINTS = (2000, 1000, 500, 250, 125)  # largest number of points of a curve, tried in turn until the plots fit


def write_report(
    results: Sequence[CaseResult],
    path: Path,
    *,
    fmus: Sequence[Path] = (),
    title: str,
    views: Mapping[str, CaseView] | None = None,
) -> None:
    """Writes the page `path`; equal results of one day give equal bytes (the seconds a case took are left out).

    fmus   the FMUs that were run, listed with size and SHA-256
    views  what else is shown of the cases, by name
    Raises InputError for no results or an FMU that cannot be read, ToolError if the page cannot be written.
    """
    if not results:
        raise InputError(Problem(str(path), "no case was run: there is nothing to report"))
    ordered = sorted(results, key=lambda result: (result.passed, result.name))
    page = _page(ordered, _fmu_rows(fmus), title, views or {})
    write_whole(path, page)


def _energy_rows(energies: Sequence[ConnectionEnergy]) -> list[tuple[str, str, str, str]]:
    """Connection, energy made and passed, J, and the share; their sum at last."""
    rows = [
        (
            one.name,
            number_text(one.made, 4),
            number_text(one.passed, 4),
            f"{one.made / one.passed:.2g}" if one.passed else "",
        )
        for one in sorted(energies, key=lambda one: -abs(one.made))
    ]
    return [*rows, ("sum", number_text(sum(one.made for one in energies), 4), "", "")] if rows else []


def summary_rows(results: Sequence[CaseResult]) -> list[SummaryRow]:
    """One row per case, in the order of the results: the signal, event or order with the largest share of its
    tolerance, or why the case ended."""
    return [_summary_row(result) for result in results]


# --- what was measured -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Measure:
    """An error and what is allowed of it, both in `unit` (SI); None where there is none, and `note` gives the
    reason."""

    what: str
    error: float | None
    allowed: float | None
    unit: str
    passed: bool
    note: str = ""

    @property
    def share(self) -> float | None:
        """error / allowed: 1 is the limit; infinite if nothing is allowed."""
        if self.error is None or self.allowed is None:
            return None
        if self.allowed == 0.0:
            return 0.0 if self.error == 0.0 else math.inf
        return self.error / self.allowed

    @property
    def error_text(self) -> str:
        """The error in the unit of `allowed_text`."""
        if self.error is None:
            return "–"
        if self.allowed and 0.0 < self.error < 1e-3 * self.allowed:
            return "< " + self._scale.text(1e-3 * self.allowed)
        return self._scale.text(self.error)

    @property
    def allowed_text(self) -> str:
        return "–" if self.allowed is None else self._scale.text(self.allowed)

    @property
    def share_text(self) -> str:
        """As "54 %", far beyond the limit as "17 times"."""
        if self.share is None:
            return "–"
        if self.share > 1000.0:
            return "> 1000 times"
        if self.share > 10.0:
            return f"{number_text(self.share, 2)} times"
        if 0.0 < self.share < 1e-3:
            return "< 0.1 %"
        return f"{number_text(100.0 * self.share, 2)} %"

    @property
    def verdict(self) -> str:
        return "✓ passed" if self.passed else "✗ failed"

    @property
    def _scale(self) -> Scale:
        return scale_of(self.allowed or self.error or 0.0, self.unit)


@dataclass(frozen=True, kw_only=True)
class SummaryRow(Measure):
    """The verdict on the case `name`, with the signal, event or order that uses most of its allowance."""

    name: str


@dataclass(frozen=True, kw_only=True)
class _Finding(Measure):
    """One signal, event or order: trace and reference there, and when ("" for what has no time)."""

    value: float | None
    reference: float | None
    time_text: str = ""

    @classmethod
    def of(cls, result: SignalResult | EventResult, note: str = "", time_text: str = "") -> _Finding:
        return cls(
            what=result.name,
            error=result.error,
            allowed=result.allowed,
            unit=result.unit,
            passed=result.passed,
            note=note,
            value=result.value,
            reference=result.reference,
            time_text=time_text,
        )

    @property
    def value_text(self) -> str:
        return self._quantity(self.value)

    @property
    def reference_text(self) -> str:
        return self._quantity(self.reference)

    def _quantity(self, value: float | None) -> str:
        if value is None:
            return "absent"
        if self.allowed and abs(value) < 1e-3 * self.allowed:
            return "0"  # rounding beside a zero
        return scale_of(max(abs(self.value or 0.0), abs(self.reference or 0.0)), self.unit).text(value, 6)


def _summary_row(result: CaseResult) -> SummaryRow:
    findings = _findings(result)
    if not findings:
        note = (result.failure or "nothing was compared").partition("\n")[0]
        return SummaryRow(name=result.name, what="", error=None, allowed=None, unit="", passed=result.passed, note=note)
    worst = max(findings, key=lambda f: (not f.passed, math.inf if f.share is None else f.share))
    span_note = result.comparison.span.note if result.comparison else ""
    return SummaryRow(
        name=result.name,
        what=worst.what,
        error=worst.error,
        allowed=worst.allowed,
        unit=worst.unit,
        passed=result.passed,
        note=worst.note or span_note,
    )


def _findings(result: CaseResult) -> list[_Finding]:
    found: Comparison | None = result.comparison
    time_scale = scale_of(found.span.stop if found else 0.0, "s")
    findings = [_Finding.of(s, time_text=time_scale.text(s.time, 6)) for s in (found.signals if found else ())]
    findings += [_Finding.of(e, note=e.note) for e in (found.events if found else ())]
    if result.order:
        order = result.order
        findings.append(
            _Finding(
                what=f"order of {order.quantity}",
                error=abs(order.measured - order.expected),
                allowed=order.tolerance,
                unit="1",
                passed=order.passed,
                value=order.measured,
                reference=order.expected,
            )
        )
    return findings


# --- the page --------------------------------------------------------------------------------------------------------


def _page(
    results: Sequence[CaseResult],
    fmu_rows: Sequence[tuple[str, str, str]],
    title: str,
    views: Mapping[str, CaseView],
) -> str:
    for points in _POINTS:
        figures = [json.dumps(case_figure(result, points)) for result in results]
        if sum(map(len, figures)) <= _PLOT_BYTES:
            break
    shown = [views.get(result.name, CaseView()) for result in results]
    cases = [
        {
            "id": f"case-{number}",
            "name": result.name,
            "element": _element(result.name),
            "passed": result.passed,
            "description": result.description,
            "source": result.source,
            "formula": formula if formula not in result.source else "",
            "run": _run_text(result.trace),
            "notes": (*result.notes, *view.notes),
            "span": result.comparison.span.note if result.comparison else "",
            "failure": result.failure,
            "findings": _findings(result),
            "energies": _energy_rows(result.energies),
            "times": bool(result.comparison and result.comparison.signals),
            "row": row,
            "plot": json.loads(figure),
            "laws": result.laws,
            "motion": view.movement,
            "live": view.live is not None,
            "refusal": view.refusal,
            "system": system_svg(result.system) if result.system else "",
        }
        for number, (result, row, figure, view) in enumerate(
            zip(results, summary_rows(results), figures, shown, strict=True), 1
        )
        for formula in [_entry(result.reference, "formula")]
    ]
    data = {f"{case['id']}-plot": figure for case, figure in zip(cases, figures, strict=True) if case["plot"]}
    data |= {
        f"{case['id']}-motion": json.dumps(view.movement.document)
        for case, view in zip(cases, shown, strict=True)
        if view.movement
    }
    data |= {f"{case['id']}-live": view.live.system for case, view in zip(cases, shown, strict=True) if view.live}
    modules = {guid: text for view in shown if view.live for guid, text in view.live.modules.items()}
    more = {f"module-{guid}": text for guid, text in sorted(modules.items())}
    if modules:
        more["frame-data"] = packed(frame_text())
    page = templates().get_template("report.html")
    return page.render(
        title=title,
        cases=cases,
        elements=sorted(Counter(_element(result.name) for result in results).items()),
        passed=sum(result.passed for result in results),
        fmus=fmu_rows,
        versions=_versions(results),
        live=bool(modules),
        parts=figure_parts(data, more, "report.js"),
    )


def _element(case: str) -> str:
    """The element, or `systems`, of a case."""
    return case.rpartition("/")[0] or case


def _entry(trace: Trace | None, key: str) -> str:
    """A text of the provenance, "" if there is none."""
    value = trace.provenance.get(key) if trace else None
    return value if isinstance(value, str) else ""


def _run_text(trace: Trace | None) -> str:
    """As "Gauss-Seidel, step 2 µs; body = PointMass, floor = PointSurface"."""
    if trace is None:
        return ""
    algorithm = _entry(trace, "algorithm")
    parts = [ALGORITHMS.get(algorithm, algorithm)] if algorithm else []
    step = trace.provenance.get("step")
    if isinstance(step, int | float):
        parts.append(f"step {scale_of(step, 's').text(step, 6)}")
    slaves = trace.provenance.get("slaves")
    models = []
    if isinstance(slaves, Mapping):
        for name, slave in slaves.items():
            model = slave.get("model") if isinstance(slave, Mapping) else None
            models.append(f"{name} = {model}" if model else str(name))
    return "; ".join(filter(None, (", ".join(parts), ", ".join(models))))


def _versions(results: Sequence[CaseResult]) -> str:
    """The versions all runs name, the kind of machine and the date (of SOURCE_DATE_EPOCH if that is set), as
    "fmu-builder 0.1.0, Python 3.11.7, fmpy 0.3.32 on Linux x86_64, 2 cores, 2026-01-31"."""
    found = [f"fmu-builder {own_version()}"]
    for key, shown in (("python", "Python"), ("fmpy", "fmpy"), ("numpy", "numpy")):
        versions = sorted({_entry(result.trace, key) for result in results} - {""})
        found += [f"{shown} {version}" for version in versions]
    date = (build_date() or datetime.now(UTC).isoformat())[:10]
    return f"{', '.join(found)} on {platform.system()} {platform.machine()}, {os.cpu_count()} cores, {date}"


def _fmu_rows(fmus: Sequence[Path]) -> list[tuple[str, str, str]]:
    """Name, size and SHA-256 of every FMU, sorted by name."""
    rows, problems = [], []
    for path in fmus:
        try:
            content = path.read_bytes()
        except OSError as error:
            problems.append(Problem(str(path), f"cannot be read: {error.strerror or error}"))
            continue
        rows.append((path.name, f"{len(content) / 1000:.0f} kB", hashlib.sha256(content).hexdigest()))
    if problems:
        raise InputError(problems)
    return sorted(rows)
