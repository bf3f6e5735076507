"""Random systems of port FMUs and exact bodies under plain masters, and how right they are.

python -m tests.elements.port_systems [--family F ...] [--count 300] [--seed S] [--method M ...] [--master M ...]
                                       [--noise R] [--phases]

Each system runs in fifteen phases of its step; springs, dampers and guides begin alike but with --phases.  Right: the
mean error of the phases is below 2 %.  Worse than hold: by the mean, above 1.25 times that of hold and half a percent;
by the phase, in one of them by 2 % and more.  lag: percent of the runs that end with a wrong one.  Seed,
family and index give a system again (--index).  PORT_TREE is the folder of another checkout whose FMUs are measured."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.elements.closed_loop import JACOBI, MIXED, SEQUENTIAL, has_variable
from tests.elements.port_bodies import System
from tests.elements.port_families import FAMILIES, SAMPLE, draw_systems, in_phases, one_system

Array = NDArray[np.float64]
RIGHT = 0.02
_ORDERS = {JACOBI: "parallel", "late": "late"}  # words of coupling.order; others are sequential
_LAGS = {"sequential": 0, "parallel": 1, "late": 2}
METHODS: Mapping[str, Mapping[str, str]] = {
    "hold": {"coupling.mode": "hold"},
    "auto": {"coupling.mode": "auto"},
    "given": {"coupling.mode": "auto", "coupling.order": ""},  # as the master gives it
}


@dataclass(frozen=True)
class Measured:
    """One system under one master and method: errors and energies of its phases, what was logged."""

    index: int
    system: System
    errors: Array
    energies: Array  # at the end over that at the start
    exact_energies: Array
    messages: Counter[str]
    coupling: Sequence[Mapping[str, float]]  # at the end of the last phase, of each FMU
    wrong_lags: float  # share of the phases in which an FMU ends with another lag than that of the master

    @property
    def gain(self) -> float:
        """Largest energy over the exact one, or over a hundredth of that of the start."""
        return float(np.max(self.energies / np.maximum(self.exact_energies, 0.01)))

    @property
    def right(self) -> bool:
        return float(np.mean(self.errors)) < RIGHT


def coupling_of(system: System, master: str, values: Mapping[str, str]) -> dict[str, str] | None:
    """The parameters of a method under a master; None if an FMU does not have them."""
    if any(not has_variable(port, name) for name in values for port in system.ports):
        return None
    word = _ORDERS.get(master, "sequential")
    return {name: word if name == "coupling.order" else given for name, given in values.items()}


def measure(
    index: int, system: System, master: str, method: str, exact: Sequence[Array], noise_share: float = 0.0
) -> Measured | None:
    """None if the FMUs do not have the variables of the method.

    noise_share  of the largest speed at the start, on each rate that an FMU sees"""
    coupling = coupling_of(system, master, METHODS[method])
    if coupling is None:
        return None
    order = JACOBI if master == "late" else master
    errors, energies, lags, messages = [], [], [], Counter[str]()
    right_lag = _LAGS[_ORDERS.get(master, "sequential")]
    for phase, (start, motion) in enumerate(zip(system.starts, exact, strict=True)):
        noise = None
        if noise_share:
            rng, size = np.random.default_rng((index, phase)), noise_share * np.max(np.abs(start[system.weights > 0]))
            inputs = sum(len(port.inputs) for port in system.ports)
            moving = np.concatenate([np.arange(len(p.inputs)) >= len(p.inputs) // 2 for p in system.ports])
            noise = size * rng.standard_normal((system.steps, inputs)) * moving
        run = system.bench.run(
            start, system.H, system.steps, order, coupling, late=master == "late", noise=noise
        )  # fmt: skip
        errors.append(system.error(run.states, run.forces, motion))
        with np.errstate(all="ignore"):
            energies.append([system.energy(z) / system.energy(start) for z in (run.states[-1], motion[-1, :-1])])
        messages += run.messages
        lags.append(any(found not in (right_lag, None) for found in map(_lag, run.coupling)))
    found, exact_energies = np.array(energies).T
    return Measured(
        index, system, np.array(errors), found, exact_energies, messages, run.coupling, float(np.mean(lags))
    )


def _lag(found: Mapping[str, float]) -> float | None:
    return found.get("coupling.lag", found.get("coupling.lag[1]"))


def worse_by_mean(one: Measured, hold: Measured) -> bool:
    return bool(np.mean(one.errors) > 1.25 * np.mean(hold.errors) + 0.005)


def worse_by_phase(one: Measured, hold: Measured) -> bool:
    return bool(np.any(one.errors > hold.errors + RIGHT))


def twice_hold(one: Measured, hold: Measured) -> bool:
    return bool(np.any((one.errors > 2 * hold.errors) & (one.errors > RIGHT)))


def too_much_energy(one: Measured, hold: Measured) -> bool:
    return bool(np.any(one.energies > 2 * np.maximum(np.maximum(hold.energies, one.exact_energies), 0.01)))


Results = dict[tuple[str, str, str], list[Measured]]  # by family, master, method


def survey(
    systems: Iterable[tuple[int, System]], masters: Sequence[str], methods: Sequence[str], noise_share: float = 0.0
) -> Results:
    results: Results = {}
    for index, system in systems:
        exact = system.reference()
        for master in masters:
            if master == MIXED and not system.plant.first_count:
                continue
            for method in methods:
                one = measure(index, system, master, method, exact, noise_share)
                if one is not None:
                    results.setdefault((system.family, master, method), []).append(one)
    return results


def _line(name: str, found: Sequence[Measured], hold: Sequence[Measured] | None) -> str:
    errors = np.array([np.mean(one.errors) for one in found])
    text = (
        f"{name:38} {len(found):4} {100 * np.mean(errors < RIGHT):5.0f} {np.mean(np.minimum(errors, 1e3)):10.4f} "
        f"{max(one.errors.max() for one in found):9.3g} {max(one.gain for one in found):9.3g}"
    )
    if hold is None:
        return text
    text += f"{100 * np.mean([one.wrong_lags for one in found]):5.0f}"
    pairs = list(zip(found, hold, strict=True))
    by_mean = [one.index for one, other in pairs if worse_by_mean(one, other)]
    by_phase = [one.index for one, other in pairs if worse_by_phase(one, other)]
    twice = sum(twice_hold(one, other) for one, other in pairs)
    energy = sum(too_much_energy(one, other) for one, other in pairs)
    worst = sorted(pairs, key=lambda pair: -float(np.max(pair[0].errors - pair[1].errors)))
    families = len({one.system.family for one in found}) > 1
    named = [
        f"{one.system.family + ' ' if families else ''}{one.index}"
        for one, other in worst[:5] if worse_by_phase(one, other)
    ]  # fmt: skip
    return f"{text} {len(by_mean):5} {len(by_phase):6} {twice:6} {energy:6}  {', '.join(named)}"


def print_table(results: Results) -> None:
    print(
        f"{'family, master, method':38} {'n':>4} {'right':>5} {'mean':>10} {'worst':>9} {'E/E*':>9} {'lag':>4} "
        f"{'mean>':>5} {'phase>':>6} {'twice':>6} {'energy':>6}  worst indices"
    )
    methods = list(dict.fromkeys(method for _, _, method in results))
    masters = list(dict.fromkeys(master for _, master, _ in results))
    for family in dict.fromkeys(family for family, _, _ in results):
        for master in masters:
            for method in methods:
                found = results.get((family, master, method))
                if found:
                    hold = results.get((family, master, "hold")) if method != "hold" else None
                    print(_line(f"{family}, {master}, {method}", found, hold))
    for part, low, high in (("all", 0, math.inf), ("N < 5", 0, 5), ("N >= 5", 5, math.inf)):
        for method in methods:
            keys = [key for key in results if key[2] == method]
            found = [one for key in keys for one in results[key] if low <= one.system.N < high]
            hold = [one for f, m, _ in keys for one in results.get((f, m, "hold"), []) if low <= one.system.N < high]
            if found:
                paired = method != "hold" and len(hold) == len(found)
                print(_line(f"{part}, {method}", found, hold if paired else None))


def list_systems(results: Results) -> None:
    """Mean and worst error by method, of each system that is not right or worse than hold in a phase."""
    for family, master, method in results:
        if method == "hold":
            continue
        hold = results.get((family, master, "hold"))
        for k, one in enumerate(results[family, master, method]):
            worse = hold is not None and worse_by_phase(one, hold[k])
            if one.right and not worse:
                continue
            shown = f"{np.mean(one.errors):9.3g} {np.max(one.errors):9.3g}  lag wrong {one.wrong_lags:4.0%}"
            if hold is not None:
                shown += (
                    f"  hold {np.mean(hold[k].errors):9.3g} {np.max(hold[k].errors):9.3g}{'  WORSE' if worse else ''}"
                )
            facts = ", ".join(f"{name} {value:.3g}" for name, value in one.system.facts.items())
            print(f"{family}, {master}, {method} {one.index}:{shown}  ({facts})")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.elements.port_systems", description=__doc__)
    parser.add_argument("--family", nargs="+", choices=list(FAMILIES), default=list(SAMPLE))
    parser.add_argument("--count", type=int, default=110)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--index", type=int, nargs="+", help="only these of each family, in detail")
    parser.add_argument("--method", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument(
        "--master", nargs="+", default=[JACOBI, SEQUENTIAL, MIXED], help="jacobi, sequential, bodies first, late"
    )
    parser.add_argument("--list", action="store_true", help="what is not right, or worse than hold, system by system")
    parser.add_argument("--noise", type=float, default=0.0, help="on the rates, over the largest speed at the start")
    parser.add_argument("--phases", action="store_true", help="of springs, dampers, guides: fifteen starts")
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    systems: Iterable[tuple[int, System]] = draw_systems(options.seed, options.count, options.family)
    if options.index:
        systems = [(k, one_system(options.seed, family, k)) for family in options.family for k in options.index]
    if options.phases:
        systems = [(k, in_phases(system)) for k, system in systems]
    results = survey(systems, options.master, options.method, options.noise)
    print_table(results)
    if options.list:
        list_systems(results)
    if options.index:
        for (family, master, method), found in results.items():
            for one in found:
                facts = ", ".join(f"{name} {value:.4g}" for name, value in one.system.facts.items())
                print(
                    f"{one.index} {family} {master} {method}: {facts}, H {one.system.H:.4g}, {one.system.steps} steps"
                )
                print("   errors", np.array2string(one.errors, precision=3, max_line_width=150))
                print("   energy", np.array2string(one.energies, precision=3, max_line_width=150))
                print("   coupling", [dict(part) for part in one.coupling], dict(one.messages))
    print(f"{time.perf_counter() - began:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
