"""What the coupled contact does at practical communication steps, measured with FMUs under plain masters.

    python -m tests.elements.coupled_tables [product summary impacts sweep restitution lasting train disturbed order]

prints the tables, for each cell  mean (least .. largest) of fifteen phases of the impact within a step."""

from __future__ import annotations

import functools
import itertools
import math
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.contact_core.held_bodies import PHASES, Flexible
from tests.contact_core.held_cases import CASES, CONTACT, FLEXIBLE, LASTING, STEEP, STIFFNESS, SWEEP, G, Law, exact
from tests.elements.coupled_fmus import GAUSS_SEIDEL, JACOBI, MASTERS, Array, Crew, couple, places, speeds

ALL = CASES | SWEEP | STEEP | {"flexible": FLEXIBLE}
KNOWN = {JACOBI: "predicted", GAUSS_SEIDEL: "averaged"}  # the mode of a known order
OF_PRODUCT = (31, 16, 6.3, 3.1)  # N of the table in the README


@dataclass(frozen=True)
class Impact:
    """Of each phase: rebound sqrt(E / E_exact); |v - v_exact| / |v_0| in the mass norm; what the contact logged."""

    rebound: Array
    error: Array
    told: list[list[str]]

    def __str__(self) -> str:
        mean, least, most = self.rebound.mean(), self.rebound.min(), self.rebound.max()
        return f"{mean:7.4f} ({least:6.3f} .. {most:6.3f}) {self.error.max():6.4f}"


def varied(steps: int) -> Array:
    """Factors of steps that vary at random."""
    return np.random.default_rng(5).uniform(0.8, 1.25, steps)


def impact(
    crew: Crew, name: str, N: float, master: str, mode: str = "auto", *, m_eff: float = 0.0, identify: bool = True,
    impacts: int = 1, vary: bool = False, **options: Any,
) -> Impact:  # fmt: skip
    """The last of some impacts on one body, which is put back for each."""
    case = ALL[name]
    body = case.body()
    H, weight, before = case.time / N, body.mass, body.v[0]
    steps = math.ceil(case.contacts * case.time / H) + 5
    factors = varied(steps) if vary else np.ones(steps)
    norm = lambda u: math.sqrt(float((u * u * weight).sum()))  # noqa: E731
    rebound, error, told = [], [], []
    for phase, offset in enumerate(PHASES):
        lift = (2 + bool(options.get("late")) + offset) * H
        coupling = {"mode": mode, "m_eff": m_eff, "identify": identify}
        system, again = couple(crew, body, case.laws, master, phase, lift, coupling, **options)
        for k in range(impacts):
            if k > 0:
                again()
                system.part(H)
                again()
                system.begin()
            for factor in factors.tolist():
                system.step(H * factor)
        assert system.statuses == 0
        v = speeds(body, system.bodies)
        if isinstance(body, Flexible):  # how it swings depends on the phase
            spring = body.stiffness * (system.bodies[0].get("z_2")[0] - system.bodies[0].get("r")[2]) ** 2
            rebound.append(math.sqrt(norm(v) ** 2 + spring) / norm(before))
            error.append(abs(rebound[-1] - 1))
        else:
            rebound.append(norm(v) / norm(exact(name)))
            error.append(norm(v - exact(name)) / norm(before))
        told.append([text for contact in system.contacts for text in contact.told])
    return Impact(np.array(rebound), np.array(error), told)


def lasting(
    crew: Crew, name: str, master: str, h: float, mode: str = "auto", contact_steps: int = 1, **coupling: float
) -> float:
    """Error of a contact that goes on, at omega H = h; `coupling`: more values of the group."""
    case = LASTING[name]
    body, H = case.body(), h / math.sqrt(STIFFNESS)
    phases = range(len(PHASES) if case.drop else 1)
    kept = []
    for phase in phases:
        lift = (PHASES[phase] + 2) * H * case.drop
        settings = {"mode": mode, **coupling}
        system, _ = couple(crew, body, [case.law], master, phase, lift, settings, contact_steps=contact_steps)
        steps, trace = case.duration(H), []
        for k in range(steps):
            system.step(H)
            if k >= 0.8 * steps:
                trace.append((places(body, system.bodies), speeds(body, system.bodies)))
        kept.append(trace)
    q, v = (np.array([[moment[i] for moment in trace] for trace in kept]).swapaxes(0, 1) for i in (0, 1))
    return case.error(q, v)


def train(crew: Crew, master: str, N: float, mode: str = "auto", phases: Sequence[int] = range(0, 15, 3)) -> Array:
    """Energy of a ball after about fifteen elastic impacts under gravity, over that before."""
    H, found = CONTACT / N, []
    case = LASTING["rest"]
    for phase in phases:
        body = case.body()
        body.v[:, 1] = -1.0
        lift = (PHASES[phase] + 2) * H
        system, _ = couple(crew, body, [Law()], master, phase, lift, {"mode": mode})
        for _ in range(math.ceil(15 * (2 / G + CONTACT) / H)):
            system.step(H)
        z, w = places(body, system.bodies)[1], speeds(body, system.bodies)[1]
        energy = 0.5 * w * w + G * z + STIFFNESS / 2 * min(z, 0.0) ** 2
        found.append(energy / (0.5 + G * lift))
    return np.array(found)


def orders(crew: Crew, name: str, master: str, impacts: int = 1) -> tuple[list[float], list[float]]:
    """Largest velocity errors at N = 12, 24, 48, 96, and the order from one to the next."""
    errors = [float(impact(crew, name, N, master, impacts=impacts).error.max()) for N in (12, 24, 48, 96)]
    return errors, [math.log2(a / b) if b > 0 else math.inf for a, b in itertools.pairwise(errors)]


def of_product(crew: Crew) -> list[list[float]]:
    """The table of the README: N; mean rebound of the elastic ball, Jacobi hold and auto, Gauss-Seidel hold and auto;
    the second impact of that."""
    ball = functools.partial(impact, crew, "linear, e = 1")
    rows = []
    for N in OF_PRODUCT:
        firsts = [ball(N, master, mode) for master in MASTERS for mode in ("hold", "auto")]
        second = ball(N, GAUSS_SEIDEL, impacts=2)
        rows.append([N, *(float(found.rebound.mean()) for found in (*firsts, second))])
    return rows


# --- the tables ------------------------------------------------------------------------------------------------------


def print_impacts(crew: Crew) -> None:
    print("impacts: rebound, velocity error; first = nothing known, second = the same contact once more")
    for name, case in {**CASES, "flexible": FLEXIBLE}.items():
        print(name)
        for N, master in itertools.product(OF_PRODUCT, MASTERS):
            run = functools.partial(impact, crew, name, N, master)
            cells = {
                "hold": run("hold"), "first": run(), "second": run(impacts=2), "order known": run(KNOWN[master]),
                "mass too": run(KNOWN[master], m_eff=1 / case.inverse_mass),
            }  # fmt: skip
            if len(case.laws) > 1:
                cells |= {"first, two FMUs": run(apart=True), "second, two FMUs": run(apart=True, impacts=2)}
            print(f"  N {N:4} {master:12} " + " | ".join(f"{what} {found}" for what, found in cells.items()))


def print_sweep(crew: Crew) -> None:
    print("stiffness: rebound")
    for name, N, master in itertools.product(
        ("linear, e = 1", "Hertz, C_r 0.5"), (157, 63, 31, 16, 6.3, 3.1, 1.57, 0.9, 0.63), MASTERS
    ):
        run = functools.partial(impact, crew, name, N, master)
        cells = {
            "hold": run("hold"), "first": run(), "second": run(impacts=2),
            "mass and order given": run(KNOWN[master], m_eff=1.0),
        }  # fmt: skip
        print(f"  {name:15} omega H {math.pi / N:.2f} N {N:4} {master:12} ", end="")
        print(" | ".join(f"{what} {found}" for what, found in cells.items()))


def print_restitution(crew: Crew) -> None:
    print("restitution: velocity error of the second impact")
    for name, master in itertools.product(SWEEP, MASTERS):
        errors = [impact(crew, name, N, master, impacts=2).error.max() for N in (16, 6.3, 3.1)]
        print(f"  {name:26} {master:12} " + " / ".join(f"{error:.4f}" for error in errors))


def print_lasting(crew: Crew) -> None:
    print("contacts that last: error of hold / auto")
    for name, h, master in itertools.product(LASTING, (0.5, 1.0, 2.0, 3.0), MASTERS):
        found = [lasting(crew, name, master, h, mode) for mode in ("hold", "auto")]
        print(f"  {name:8} omega H {h:3} {master:12} " + " / ".join(f"{error:.1e}" for error in found))


def print_train(crew: Crew) -> None:
    print("fifteen elastic impacts: energy over that at the start, hold / auto, largest of five phases")
    for N, master in itertools.product((16, 6.3, 3.1), MASTERS):
        found = [train(crew, master, N, mode) for mode in ("hold", "auto")]
        print(f"  N {N:4} {master:12} " + " / ".join(f"{ratio.mean():8.4f} .. {ratio.max():8.4f}" for ratio in found))


def print_disturbed(crew: Crew) -> None:
    print("disturbed: rebound, velocity error; first, second")
    kinds: dict[str, dict[str, Any]] = {
        "noise 1e-6": {"noise": 1e-6}, "inputs late": {"late": True}, "step 0.8 .. 1.25": {"vary": True},
    }  # fmt: skip
    for name, what, N, master in itertools.product(("linear, e = 1", "rod, slip reverses"), kinds, OF_PRODUCT, MASTERS):
        run = functools.partial(impact, crew, name, N, master, **kinds[what])
        cells = {"hold": run("hold"), "first": run(), "second": run(impacts=2)}
        print(f"  {name:18} {what:16} N {N:4} {master:12} ", end="")
        print(" | ".join(f"{label} {found}" for label, found in cells.items()))


def print_order(crew: Crew) -> None:
    print("order of convergence: largest velocity errors at N = 12, 24, 48, 96, and the orders")
    for name, master, impacts in itertools.product(
        ("linear, C_r 0.65", "Hertz, C_r 0.5", "sphere that slides, C_r 0.5", "rod, slip reverses",
         "two contacts, tilted"), MASTERS, (1, 2),
    ):  # fmt: skip
        errors, found = orders(crew, name, master, impacts)
        shown = " ".join(f"{error:.1e}" for error in errors), " ".join(f"{order:.1f}" for order in found)
        print(f"  {name:28} {master:12} impact {impacts}: {shown[0]}   {shown[1]}")


def print_product(crew: Crew) -> None:
    print("| N | Jacobi, `hold` | Jacobi, `auto` | Gauss-Seidel, `hold` | Gauss-Seidel, `auto` |")
    print("|---|---|---|---|---|")
    for N, *found, second in of_product(crew):
        last = f"{found[3]:.3f}" + ("" if f"{found[3]:.3f}" == "1.000" else f" at the first impact, then {second:.3f}")
        print(f"| {N:g} | {found[0]:.2f} | {found[1]:.3f} | {found[2]:.2f} | {last} |")


def print_summary(crew: Crew) -> None:
    """What each may be is in test_coupled_acceptance.py."""
    ways = [(name, False) for name in CASES] + [(name, True) for name, case in CASES.items() if len(case.laws) > 1]
    steps = [(name, False) for name in SWEEP]

    def show(
        what: str, master: str, names: Sequence[tuple[str, bool]], velocity: bool, given: bool, **how: Any
    ) -> None:
        found = {}
        for name, apart in names:
            mass = {"m_eff": 1 / ALL[name].inverse_mass} if given else {}
            now = impact(crew, name, master=master, apart=apart, **how, **mass)
            error = float(now.error.max() if velocity else abs(now.rebound.mean() - 1))
            found[name + (", two FMUs" if apart else "")] = error
        worst = sorted(found, key=lambda name: -found[name])[:3]
        print(f"  {master:12} {what:38} " + ", ".join(f"{found[name]:.4f} ({name})" for name in worst))

    print("the worst three cases: |mean rebound - 1|, velocity error")
    for master in MASTERS:
        known = {"mode": KNOWN[master]}
        for N in (16, 6.3):
            show(f"first, N {N}", master, ways, False, False, N=N)
            show(f"first, N {N}, velocity", master, ways, True, False, N=N)
        for N in (6.3, 3.1):
            show(f"second, N {N}", master, ways, False, False, N=N, impacts=2)
            show(f"first, mass and order given, N {N}", master, ways, False, True, N=N, **known)
        show("first, order given, N 6.3", master, ways, False, False, N=6.3, **known)
        for N in (16, 6.3):
            show(f"C_r 0 to 1, second, N {N}, velocity", master, steps, True, False, N=N, impacts=2)


TABLES: dict[str, Callable[[Crew], None]] = {
    "product": print_product, "summary": print_summary, "impacts": print_impacts, "sweep": print_sweep,
    "restitution": print_restitution, "lasting": print_lasting, "train": print_train, "disturbed": print_disturbed,
    "order": print_order,
}  # fmt: skip


def main(names: Sequence[str]) -> None:
    """Print the tables of these names, or all.  Ends with the known ones at a name that is none."""
    if unknown := [name for name in names if name not in TABLES]:
        sys.exit(f"there is no table {', '.join(unknown)}; known: {', '.join(TABLES)}")
    with tempfile.TemporaryDirectory() as folder:
        crew = Crew(Path(folder))
        for name in names or TABLES:
            TABLES[name](crew)
            print(flush=True)
        crew.close()


if __name__ == "__main__":
    main(sys.argv[1:])
