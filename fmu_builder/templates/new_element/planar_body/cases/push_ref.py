"""Closed form behind push.toml.  `python push_ref.py` writes push_ref.csv."""

from pathlib import Path

import numpy as np

from fmu_builder import Trace, write_trace

time = np.arange(101) * 1e-2
v = -4.0 + 6.0 * time
r = -4.0 * time + 3.0 * time**2
columns = {
    "body.plane.r[2]": r,
    "body.plane.v[2]": v,
}
units = {"body.plane.r[2]": "m", "body.plane.v[2]": "m/s"}
provenance = {"formula": "v = v0 + F/m t, r = v0 t + F/m t^2/2", "script": "push_ref.py"}
reference = Trace(time, tuple(columns), np.column_stack([*columns.values()]), units, {}, provenance)

if __name__ == "__main__":
    write_trace(reference, Path(__file__).parent / "push_ref.csv")
