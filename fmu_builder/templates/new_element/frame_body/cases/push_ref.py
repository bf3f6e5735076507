"""Closed form behind push.toml.  `python push_ref.py` writes push_ref.csv."""

from pathlib import Path

import numpy as np

from fmu_builder import Trace, write_trace

time = np.arange(101) * 1e-2
v = -4.0 + 6.0 * time
r = -4.0 * time + 3.0 * time**2  # as the angle about z
columns = {
    "body.frame.r[3]": r,
    "body.frame.v[3]": v,
    "body.frame.q[1]": np.cos(0.5 * r),
    "body.frame.q[4]": np.sin(0.5 * r),
}
units = {"body.frame.r[3]": "m", "body.frame.v[3]": "m/s", "body.frame.q[1]": "1", "body.frame.q[4]": "1"}
provenance = {"formula": "v = v0 + f/m t, r = v0 t + f/m t^2/2", "script": "push_ref.py"}
reference = Trace(time, tuple(columns), np.column_stack([*columns.values()]), units, {}, provenance)

if __name__ == "__main__":
    write_trace(reference, Path(__file__).parent / "push_ref.csv")
