"""Closed form behind oscillation.toml.  `python oscillation_ref.py` writes oscillation_ref.csv."""

from pathlib import Path

import numpy as np

from fmu_builder import Trace, write_trace

time = np.arange(401) * 1e-3
s = 0.01 * np.cos(np.sqrt(1000.0) * time)
provenance = {"formula": "s = s0 cos(sqrt(k/m) t)", "script": "oscillation_ref.py"}
reference = Trace(time, ("body.p.s",), s[:, None], {"body.p.s": "m"}, {}, provenance)

if __name__ == "__main__":
    write_trace(reference, Path(__file__).parent / "oscillation_ref.csv")
