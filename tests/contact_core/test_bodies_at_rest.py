"""A body that came to rest leaves no denormal number in an instance: a product with one takes some hundred cycles, and
a step at rest took twice its time for ever."""

from __future__ import annotations

import math
import struct
import sys
from pathlib import Path

import pytest
from fmi2 import OK, load_shipped, place_in_state

from fmu_builder.model.loader import load_model
from fmu_builder.model.model import Model
from fmu_builder.paths import shipped

H, AMPLITUDE, OMEGA = 1e-3, 2e-3, 40.0  # s, m, rad/s
MOVING, RESTING = 1500, 4000  # samples; a sum of which each leaves 0.8 is denormal after 3,200
POINTS = {
    "PointSurface": ("point",),
    "PointSurfaceBristle": ("point",),
    "FourPointSurface": tuple(f"point[{k}]" for k in range(1, 5)),
    "PointToPointSpring": ("first", "second"),
    "PointLine2": ("point",),
}


def denormal(model: Model, data: bytes) -> list[str]:
    """The variables in a serialized state that are."""
    names = [one.name for one in model.variables]
    values = {name: struct.unpack_from("<d", data, place_in_state(model, data, name))[0] for name in names}
    return [f"{name} = {x}" for name, x in values.items() if 0.0 < abs(x) < sys.float_info.min]


@pytest.mark.parametrize("height", [-1e-3, 0.05])
@pytest.mark.parametrize("name", [*POINTS, "TranslationalSpring", "RotationalDamper"])
def test_what_fades_ends_at_zero(tmp_path: Path, name: str, height: float) -> None:
    fmu, model = load_shipped(name, tmp_path), load_model(shipped("fmus") / f"{name}.toml")
    slave, inputs = fmu.slave(), {}
    slave.initialize()
    rate = {"TranslationalSpring": "r.v", "RotationalDamper": "r.w"}.get(name)
    start = {f"{point}.r[{i}]": slave.get(f"{point}.r[{i}]")[0] for point in POINTS.get(name, ()) for i in (1, 2, 3)}
    for k in range(MOVING + RESTING):
        angle, moves = OMEGA * H * min(k, MOVING), k < MOVING
        if rate:
            inputs = {rate: AMPLITUDE * OMEGA * math.cos(angle) if moves else 0.0}
        for n, (place, at) in enumerate(start.items()):
            lifted = height if place.endswith("[3]") else 0.0
            inputs[place] = at + lifted + AMPLITUDE * math.sin(angle + n)
            inputs[place.replace(".r[", ".v[")] = AMPLITUDE * OMEGA * math.cos(angle + n) if moves else 0.0
        assert slave.set(inputs) == OK
        assert slave.step(k * H, H) == OK, slave.importer.texts
    assert denormal(model, slave.state()) == []
