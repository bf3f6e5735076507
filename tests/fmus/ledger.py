"""The energy ledger of force elements inside one solver: what may be left over, from the tolerance and the energy that
passes."""

from __future__ import annotations

import numpy as np

from fmu_builder.cosim.trace import Trace


def worst_residuals(trace: Trace, tolerance: float) -> dict[str, float]:
    """The largest |energy.residual| of each force element of a trace of one FMU, as a multiple of what is allowed.

    Allowed is the tolerance as a share of the energy that passed, at least of the nominal value 1 J, for each of the
    four that the ledger sets against each other: work, damping and friction, which are states, and the elastic energy,
    which follows from the motion."""
    found = {}
    for residual in (name for name in trace.names if name.endswith(".energy.residual")):
        element = residual.removesuffix(".energy.residual")
        parts = [f"{element}.energy.{part}" for part in ("work", "damping", "friction")]  # a spring dissipates nothing
        passed = [np.abs(np.diff(trace[part])).sum() for part in parts if part in trace.names]
        allowed = 4.0 * tolerance * max(*passed, 1.0)
        found[element] = float(np.abs(trace[residual]).max() / allowed)
    return found
