"""The table of implicit_table.py with the errors of masters that are not ours beside it, in one run.

    python -m tests.platform.engines_table [3.1]

Their columns are Jacobi masters, which let each FMU step once in a communication step and know no element: the elements
are in their mode `auto`.  `sums`: forces of several elements add up in one input, which these masters do not do."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from fmu_builder.cosim.master import load_scenario, run, system_of
from fmu_builder.model.documents import as_file
from tests.fmu_builder import implicit_table
from tests.fmu_builder.implicit_systems import SYSTEMS

ENGINES = ("ecos", "libcosim", "container")
_SCRIPT = Path(__file__).with_name("importers.py")


@dataclass
class Named:
    """Stands for the result of a run: the last values, by name; `asked` lists the names."""

    values: dict[str, float]
    trace: Any
    asked: list[str]

    def __getitem__(self, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        self.asked.append(name)
        return np.array([self.values.get(name, 0.0)])


def engine_system(name: str, N: float) -> dict[str, Any] | None:
    """The system of implicit_systems.py as importers.py takes it, None where inputs are sums.  The step is a whole
    number of nanoseconds."""
    one = SYSTEMS[name]
    with as_file(one.scenario(N, "jacobi")) as path:
        system = system_of(load_scenario(path))
    if any(len(sources) > 1 for sources in system.wiring.sources.values()):
        return None
    step = system.scenario.seconds("step")
    return {
        "slaves": {slave: str(description.path) for slave, description in system.slaves.items()},
        "start": {
            f"{slave}.{variable}": float(value)
            for slave, values in system.starts.items()
            for variable, value in values.items()
            if system.slaves[slave].variables[variable].type == "Real"
        },
        "connections": [[".".join(sources[0]), ".".join(target)] for target, sources in system.wiring.sources.items()],
        "step": round(step * 1e9),
        "steps": round(system.scenario.seconds("stop") / step),
        "read": read_signals(name),
    }


def read_signals(name: str) -> list[str]:
    """The signals that the velocities of a system are read from."""
    names = Named({}, None, [])
    for i in range(len(SYSTEMS[name].phases)):
        SYSTEMS[name].velocities(names, i)  # type: ignore[arg-type]
    return names.asked


def error(name: str, N: float, system: dict[str, Any], values: list[float]) -> float:
    """The largest one of all phases."""
    end = np.array([system["steps"] * system["step"] * 1e-9])
    found = Named(dict(zip(system["read"], values, strict=True)), SimpleNamespace(time=end), [])
    return float(SYSTEMS[name].errors(found, N).max())  # type: ignore[arg-type]


def with_engine(engine: str, systems: list[dict[str, Any]], folder: Path) -> list[list[float]]:
    """What the signals of each system are at its end."""
    given, made = folder / "systems.json", folder / "results.json"
    given.write_text(json.dumps(systems))
    command = [sys.executable, str(_SCRIPT), engine, str(given), str(made)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{engine}: {done.stderr[-2000:]}")
    results: list[list[float]] = json.loads(made.read_text())
    return results


def engine_errors(names: list[str], N: float) -> dict[str, dict[str, float]]:
    """By engine and system, of those without sums."""
    systems = {name: one for name in names if (one := engine_system(name, N)) is not None}
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for engine in ENGINES:
            values = with_engine(engine, list(systems.values()), Path(folder))
            found[engine] = {
                name: error(name, N, system, read) for (name, system), read in zip(systems.items(), values, strict=True)
            }
    return found


def main(N: float) -> None:
    errors = engine_errors(list(SYSTEMS), N)
    titles = [f"{title} | calls" for title in implicit_table.ALGORITHMS]
    print("| " + " | ".join([f"N = {N:g}", *titles, "`auto`, Jacobi", "Ecos", "libcosim", "container"]) + " |")
    print("|---|" + "---|---|" * len(implicit_table.ALGORITHMS) + "---|" * (1 + len(ENGINES)))
    for name in SYSTEMS:
        ours = float(SYSTEMS[name].errors(run(SYSTEMS[name].scenario(N, "jacobi")), N).max())
        others = [implicit_table.shown(e[name]) if name in e else "sums" for e in (errors[k] for k in ENGINES)]
        print(f"{implicit_table.row(name, N)} {' | '.join([implicit_table.shown(ours), *others])} |", flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 3.1)
