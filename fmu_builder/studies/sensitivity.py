"""What of the variance of a response each factor accounts for: Sobol indices.

first   the part that the factor explains alone, Var(E(Y|X))/Var(Y)
total   the part that is left when all others are known; None where the plan cannot give it

A plan `saltelli` gives both, by SALib's estimators with 95 % intervals (Saltelli et al. 2010).  Points that fill the
ranges give the first ones by RBD-FAST (Tarantola et al. 2006; bias removed as by Tissot & Prieur 2012).  A grid gives
them exactly for its levels, each of which counts the same: the variance of the means over the others."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fmu_builder.errors import ToolError

Array = NDArray[np.float64]
_LEAST = 65  # runs that RBD-FAST needs for its six harmonics
_DRAWN = ("random", "latin_hypercube", "sobol")


@dataclass(frozen=True)
class Index:
    """Of one factor.   interval: half of the width of the 95 % interval of `first`, `total_interval` of `total`"""

    factor: str
    first: float
    interval: float | None = None
    total: float | None = None
    total_interval: float | None = None


def sobol_indices(kind: str, names: Sequence[str], factors: Array, response: Array) -> list[Index]:
    """The indices of each factor, in their order; empty where the runs do not give them.

    kind      of the plan
    factors   shape (n, factors): values, or places in a list;   response  shape (n,)
    Raises ToolError without SALib where it is needed."""
    if len(response) < 2 or np.isnan(response).any() or np.ptp(response) <= 1e-12 * np.abs(response).max():
        return []
    if kind == "grid":
        return [Index(name, _of_means(factors[:, k], response)) for k, name in enumerate(names)]
    if kind == "saltelli":
        return _with_totals(names, response)
    if kind in _DRAWN and len(response) >= _LEAST:
        return _without_totals(names, factors, response)
    return []


def _of_means(levels: Array, response: Array) -> float:
    """The variance of the means at each level over that of all."""
    _, place = np.unique(levels, return_inverse=True)
    counts = np.bincount(place)
    means = np.bincount(place, response) / counts
    return float(np.average((means - response.mean()) ** 2, weights=counts) / response.var())


def _with_totals(names: Sequence[str], response: Array) -> list[Index]:
    scaled = (response - response.mean()) / response.std()
    found = _analysis("sobol").analyze(_problem(names), scaled, calc_second_order=False, seed=1)
    columns = (found[key] for key in ("S1", "S1_conf", "ST", "ST_conf"))
    return [Index(name, *map(float, row)) for name, *row in zip(names, *columns, strict=True)]


def _without_totals(names: Sequence[str], factors: Array, response: Array) -> list[Index]:
    found = _analysis("rbd_fast").analyze(_problem(names), factors, response, M=6, seed=1)
    pairs = zip(names, found["S1"], found["S1_conf"], strict=True)
    return [Index(name, float(first), float(interval)) for name, first, interval in pairs]


def _analysis(method: str) -> Any:
    try:
        return importlib.import_module(f"SALib.analyze.{method}")
    except ImportError as error:
        raise ToolError("Sobol indices need SALib: pip install 'fmu-builder[study]'") from error


def _problem(names: Sequence[str]) -> dict[str, object]:
    return {"num_vars": len(names), "names": [*names], "bounds": [[0.0, 1.0]] * len(names)}
