"""Closed form behind oscillation.toml.  `python oscillation_ref.py` writes oscillation_ref.csv."""

from pathlib import Path

import numpy as np

from fmu_builder import Trace, write_trace

time = np.arange(401) * 1e-3
x = 0.01 * np.cos(np.sqrt(1000.0) * time)
provenance = {"formula": "x = x0 cos(sqrt(k/m) t)", "script": "oscillation_ref.py"}
reference = Trace(time, ("body.x",), x[:, None], {"body.x": "m"}, {}, provenance)

if __name__ == "__main__":
    write_trace(reference, Path(__file__).parent / "oscillation_ref.csv")
