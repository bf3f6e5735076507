"""The least squares of a fit, in shares 0 .. 1 of the ranges of its parameters.

    r_i = weight (f(t_i; p) - y_i)/deviation            sum of squares by scipy.optimize.least_squares, trf

The sum of squares of a bounce train has a valley for every number of bounces that fall together, and the gradient leads
into the nearest.  So points between the bounds are tried first, by soft_l1, which a bounce that is out of step does not
dominate; from the best of them, and from the start, samples are fitted window by window, few bounces before many,
roughly; from the best of these ends, all samples by the loss that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.stats import qmc

from fmu_builder.errors import SlaveError
from fmu_builder.fitting.tables import FitMethod
from fmu_builder.fitting.task import FitTask, RunFailedError

Values = NDArray[np.float64]
Progress = Callable[[str], None]
_PENALTY = 10.0  # residuals where a run fails, over the root mean square of the best so far
_LOCAL = 4  # points of the scan from which a least is looked for
_INSIDE = 0.02  # share that a window may not come nearer to a bound, from which trf leaves slowly
_EARLY, _LAST = 1e-3, 1e-8  # relative change of the sum of squares, and of the parameters, that ends a window


@dataclass(frozen=True)
class Found:
    """shares     of the ranges, shape (p,)
    jacobian   of the residuals by them, shape (n, p); of a loss that is not linear with the weights of that loss
    cost       half the sum of squares, or of the loss"""

    shares: Values
    residuals: Values
    jacobian: Values
    cost: float
    converged: bool

    def scaled(self, factor: float) -> Found:
        """With residuals that are so many times as large, by a linear loss."""
        return replace(
            self, residuals=factor * self.residuals, jacobian=factor * self.jacobian, cost=factor**2 * self.cost
        )


class Search:
    """scales   of each series: deviation over weight, by which its residuals are divided"""

    def __init__(self, task: FitTask, scales: Sequence[float], robust: float, progress: Progress) -> None:
        self._task, self._method, self._progress = task, task.table.method, progress
        self._scales, self._robust = scales, robust
        self._sizes = [len(one.time) for one in task.series]
        self._best = np.inf  # root mean square of residuals
        shares = [one.share_of(one.start) for one in task.parameters]
        self.start = np.clip(shares, 0.0, 1.0)  # of a start at a bound the logarithm may round beyond it

    def residuals(self, shares: Values) -> Values | None:
        """Shape (n,), None where a run fails."""
        try:
            found = self._task.values(self._parameters(shares))
        except RunFailedError:
            return None
        rows = zip(found, self._task.series, self._scales, strict=True)
        return np.concatenate([(values - series.values) / scale for values, series, scale in rows])

    def _parameters(self, shares: Values) -> Values:
        pairs = zip(self._task.parameters, shares.tolist(), strict=True)
        return np.array([one.of_share(share) for one, share in pairs])

    def _penalized(self, shares: Values) -> Values:
        found = self.residuals(shares)
        if found is None:
            return np.full(sum(self._sizes), _PENALTY * (self._best if np.isfinite(self._best) else 1.0))
        self._best = min(self._best, float(np.sqrt(np.mean(found**2))))
        return found

    def jacobian(self, shares: Values) -> Values:
        """Derivatives of the residuals by the shares, shape (n, p): those that the runs give, else central differences,
        one-sided at bounds and beside runs that fail; by a time offset the slope of the run itself.  0 where both runs
        fail."""
        found = np.zeros((sum(self._sizes), len(shares)))
        here: Values | None = None
        given = None if self._task.without_derivatives else self._task.derivatives(self._parameters(shares))
        if given is not None:
            by_values = np.concatenate([one / scale for one, scale in zip(given, self._scales, strict=True)])
            followed = [k for k, one in enumerate(self._task.parameters) if one.measurement is None]
            rates = [self._task.parameters[k].rate(float(shares[k])) for k in followed]
            found[:, followed] = by_values * np.array(rates)
        for k, parameter in enumerate(self._task.parameters):
            if parameter.measurement is not None:
                with_offset = self._task.slopes(self._parameters(shares), parameter.measurement)
                rise = [slope / scale for slope, scale in zip(with_offset, self._scales, strict=True)]
                found[:, k] = np.concatenate(rise) * (parameter.high - parameter.low)
                continue
            if given is not None:
                continue
            ends: list[tuple[float, Values]] = []
            for sign in (-1.0, 1.0):
                moved = shares.copy()
                moved[k] = np.clip(shares[k] + sign * self._method.difference, 0.0, 1.0)
                if moved[k] != shares[k] and (values := self.residuals(moved)) is not None:
                    ends.append((float(moved[k]), values))
            if len(ends) == 1:
                here = self.residuals(shares) if here is None else here
                if here is not None:
                    ends.append((float(shares[k]), here))
            if len(ends) == 2:
                (a, before), (b, after) = ends
                found[:, k] = (after - before) / (b - a)
        return found

    # --- the way to the least -----------------------------------------------------------------------------------------

    def candidates(self) -> list[Values]:
        """The best points of a scan, and the given start.   Raises SlaveError if no run succeeds."""
        points = [self.start]
        if self._method.scan:
            sequence = qmc.Sobol(len(self.start), scramble=False)
            sequence.fast_forward(1)  # its first point is the corner of all lower bounds
            points += list(_INSIDE + (1.0 - 2.0 * _INSIDE) * sequence.random(self._method.scan))
        costs = []
        for number, point in enumerate(points):
            self._progress(f"scan, point {number + 1} of {len(points)}")
            found = self.residuals(point)
            costs.append(np.inf if found is None else _soft_l1(found, self._robust))
        if not np.isfinite(costs).any():
            raise SlaveError(f"all {len(points)} runs failed; {self._task.first_failure}")
        ranked = [int(k) for k in np.argsort(costs, kind="stable")[:_LOCAL]]
        return [points[k] for k in dict.fromkeys((*ranked, 0)) if np.isfinite(costs[k])]

    def least(self) -> Found:
        """The least sum of squares that is found.   Raises SlaveError if no run succeeds."""
        points = self.candidates()
        if len(points) == 1 and self._method.windows == 1:  # there is nothing to choose from
            return self.through_all(points[0])
        ends = [self._through_windows(point) for point in points]
        return self.through_all(min(ends, key=lambda one: one.cost).shares)

    def _through_windows(self, begin: Values) -> Found:
        """From one point on, window by window, roughly."""
        shares = begin
        for number in range(self._method.windows - 1, 0, -1):
            use = self._window(0.5**number)
            if np.count_nonzero(use) > len(begin):
                self._progress(f"window of 1/{2**number} of the samples")
                inside = np.clip(shares, _INSIDE, 1.0 - _INSIDE)
                begin = shares if self.residuals(inside) is None else inside
                shares = self._least(begin, use, "soft_l1", _EARLY).shares
        self._progress("all samples, roughly")
        return self._least(shares, self._window(1.0), "soft_l1", _EARLY)

    def through_all(self, begin: Values) -> Found:
        """From one point on, with all samples."""
        self._progress("all samples")
        return self._least(begin, self._window(1.0), self._method.loss, _LAST)

    def _window(self, share: float) -> NDArray[np.bool_]:
        """The first samples of each measurement, by time."""
        parts = []
        for one in self._task.series:
            together = [series.time for series in self._task.series if series.measurement == one.measurement]
            first, last = min(float(t[0]) for t in together), max(float(t[-1]) for t in together)
            parts.append(one.time <= first + share * (last - first))
        return np.concatenate(parts)

    def _least(self, begin: Values, use: NDArray[np.bool_], loss: str, tolerance: float) -> Found:
        """From a point whose run succeeds."""
        self._best = np.inf
        solved = least_squares(
            lambda shares: self._penalized(shares)[use],
            begin,
            jac=lambda shares: self.jacobian(shares)[use],
            bounds=(0.0, 1.0),
            method="trf",
            x_scale="jac",
            loss=loss,
            f_scale=self._robust,
            ftol=tolerance,
            xtol=tolerance,
            gtol=1e-12,
            max_nfev=self._method.max_evaluations,
        )
        shares = np.asarray(solved.x, dtype=np.float64)
        return Found(shares, np.asarray(solved.fun), np.asarray(solved.jac), float(solved.cost), solved.status > 0)


def _soft_l1(residuals: Values, scale: float) -> float:
    """As least_squares has it."""
    return float(np.sum(2.0 * scale**2 * (np.sqrt(1.0 + (residuals / scale) ** 2) - 1.0)))


def method_text(method: FitMethod, has_offsets: bool, without_derivatives: str) -> str:
    """How a fit is found, in words.   without_derivatives: why differences are used, empty if they are not"""
    scan = (
        f"from the best {_LOCAL} of a Sobol scan of {method.scan} points, and from the start, " if method.scan else ""
    )
    early = method.windows - 1
    windows = f"first samples in {early} windows, each twice as long, and " if early else ""
    derivatives = "derivatives by dual numbers along one run, exact"
    if without_derivatives:
        step = f"{method.difference:g} of each range"
        derivatives = f"derivatives by central differences of {step} ({without_derivatives})"
    offsets = "; of time offsets by the slope of the run" if has_offsets else ""
    roughly = "all samples roughly by soft_l1, then " if scan or windows else "all samples "
    return f"{scan}{windows}{roughly}by scipy least_squares (trf, loss {method.loss}); {derivatives}{offsets}"
