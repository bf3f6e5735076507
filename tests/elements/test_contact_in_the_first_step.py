"""A contact that begins before any sample is taken: Gauss-Seidel steps the ball first, through the surface."""

from __future__ import annotations

import math

import pytest
from fmi2 import Fmu, load_shipped
from running import Running

from fmu_builder import Experiment, Part, Scenario, run
from fmu_builder.cosim.result import Result

STIFFNESS = 1e5  # N/m, under 1 kg


def dropped(N: float, lead: float, C_r: float, algorithm: str = "gauss_seidel") -> Result:
    """It meets the surface with 1 m/s after a share of the first step, N steps of which are an undamped contact."""
    H = math.pi * math.sqrt(1.0 / STIFFNESS) / N
    start = {"m": 1.0, "g": [0, 0, 0], "r0": [0, 0, lead * H], "v0": [0, 0, -1.0]}
    return run(
        Scenario(
            slaves={
                "b": Part(recipe="PointMass", start=start),
                "f": Part(recipe="PointSurface", start={"C_F": STIFFNESS, "C_r": C_r, "K_fr": 0}),
            },
            connections=[("b.p", "f.point")],
            experiment=Experiment(stop=math.ceil(4 * N) * H, step=H, algorithm=algorithm),
        )
    )


@pytest.mark.parametrize(("N", "most"), [(3.1, 0.12), (4.0, 0.03), (6.3, 0.006), (12.0, 0.001)])
@pytest.mark.parametrize("lead", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("C_r", [1.0, 0.5])
def test_what_the_first_step_stores_in_a_contact_is_paid_back(C_r: float, lead: float, N: float, most: float) -> None:
    """Nobody has taken it from the ball: it would leave 1.4, 1.25, 1.1 and 1.05 times as fast."""
    result = dropped(N, lead, C_r)
    assert result["b.p.v[3]"][-1] == pytest.approx(C_r, abs=most)
    kinetic = 0.5 * float(result["b.p.v[3]"][-1]) ** 2
    assert result["f.energy.work"][-1] == pytest.approx(0.5 - kinetic, abs=1e-12)


@pytest.mark.parametrize("lead", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("C_r", [1.0, 0.5])
def test_under_jacobi_the_first_sample_is_the_start(C_r: float, lead: float) -> None:
    assert dropped(6.3, lead, C_r, "jacobi")["b.p.v[3]"][-1] == pytest.approx(C_r, abs=0.002)


@pytest.mark.parametrize(("N", "most"), [(5.0, 0.02), (8.0, 0.004), (16.0, 0.001)])
@pytest.mark.parametrize("depth", [1e-15, 1e-9, 1e-4])
def test_a_contact_at_the_start_pays_back_what_the_first_step_stores(depth: float, N: float, most: float) -> None:
    """It moves into the surface with 1 m/s from a small depth, whose force acts in the first step."""
    H = math.pi * math.sqrt(1.0 / STIFFNESS) / N
    speed = dropped(N, -depth / H, 1.0)["b.p.v[3]"][-1]
    assert speed == pytest.approx(math.sqrt(1.0 + STIFFNESS * depth**2), abs=most)


# ---- masters that read outputs before the step


@pytest.fixture(scope="module")
def surface(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("PointSurface", tmp_path_factory.mktemp("surface"))


def rebound(surface: Fmu, N: float, rounds: int, read: bool = False) -> float:
    """Of 1 kg that is stepped first, from half a step above; each round moves it by the mean of the force at the
    beginning and of the one that it shows at the end."""
    H = math.pi * math.sqrt(1.0 / STIFFNESS) / N
    law = {"C_F": STIFFNESS, "C_r": 1.0, "K_fr": 0.0}
    x, v = 0.5 * H, -1.0
    contact = Running(surface, law | {"point.r": (0.0, 0.0, x), "point.v": (0.0, 0.0, v)})
    before = contact["point.f[3]"]
    for _ in range(math.ceil(4 * N)):
        force = before
        for k in range(rounds + 1):
            r_end, v_end = x + H * v + 0.5 * H * H * force, v + H * force
            contact.set({"point.r": (0.0, 0.0, r_end), "point.v": (0.0, 0.0, v_end)})
            shown = contact["point.f[3]"] if read or k < rounds else math.nan
            if k < rounds:
                force = 0.5 * (before + shown)
        x, v = r_end, v_end
        contact.step(H)
        before = contact["point.f[3]"]
    return v


@pytest.mark.parametrize("N", [5.0, 8.0, 16.0])
def test_outputs_that_are_read_before_the_step_change_nothing(surface: Fmu, N: float) -> None:
    assert rebound(surface, N, 0, read=True) == rebound(surface, N, 0)


@pytest.mark.parametrize("N", [5.0, 8.0, 16.0])
def test_a_first_step_under_forces_that_were_read_is_not_paid_for(surface: Fmu, N: float) -> None:
    """The ball has paid: it was slowed by the force at the end of the step."""
    assert rebound(surface, N, 2) == pytest.approx(1.0, abs=2.0 / N**2)
