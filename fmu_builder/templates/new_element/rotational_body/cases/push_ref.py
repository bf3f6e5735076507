"""Closed form behind push.toml.  `python push_ref.py` writes push_ref.csv."""

from pathlib import Path

import numpy as np

from fmu_builder import Trace, write_trace

time = np.arange(101) * 1e-2
w = -4.0 + 6.0 * time
phi = -4.0 * time + 3.0 * time**2
columns = {
    "body.shaft.phi": phi,
    "body.shaft.w": w,
}
units = {"body.shaft.phi": "rad", "body.shaft.w": "rad/s"}
provenance = {"formula": "w = w0 + t/J t, phi = w0 t + t/J t^2/2", "script": "push_ref.py"}
reference = Trace(time, tuple(columns), np.column_stack([*columns.values()]), units, {}, provenance)

if __name__ == "__main__":
    write_trace(reference, Path(__file__).parent / "push_ref.csv")
