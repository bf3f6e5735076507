"""One element's FMU, run step by step: values by name, vectors as arrays, steps that must succeed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ctypes import c_double, c_int
from pathlib import Path
from typing import Any

import numpy as np
from fmi2 import OK, QUICK, Fmu, Importer, Slave, integers, reals, references
from numpy.typing import ArrayLike, NDArray

from fmu_builder.export.fmu import host_fmu

Values = Mapping[str, ArrayLike]
_MIXED = {"Real": c_double, "Integer": c_int, "Boolean": c_int}


def build(folder: Path, name: str, recipe: str) -> Fmu:
    """The FMU of a recipe's text, for this machine, compiled quickly.  Those of the catalogue are as users get them."""
    path = folder / f"{name}.toml"
    path.write_text(recipe, encoding="utf-8")
    return Fmu(host_fmu(path, QUICK), folder)


def scalars(values: Values) -> dict[str, float]:
    """`{"point.r": (1, 2, 3)}` by scalar names: point.r[1], point.r[2], point.r[3]."""
    named: dict[str, float] = {}
    for name, value in values.items():
        if isinstance(value, float) or np.ndim(value) == 0:
            named[name] = float(value)  # type: ignore[arg-type]
        else:
            named |= {f"{name}[{i}]": float(part) for i, part in enumerate(np.asarray(value), start=1)}
    return named


class Running:
    """An initialized instance; every call must be answered with fmi2OK.  `time` is the last communication point, s."""

    def __init__(
        self, fmu: Fmu, values: Values | None = None, *, time: float = 0.0, tolerance: float | None = None
    ) -> None:
        self._begin(fmu, values or {}, time, tolerance)
        self._expect(self.slave.call("fmi2ExitInitializationMode"))

    @classmethod
    def in_initialization(cls, fmu: Fmu, time: float = 0.0) -> Running:
        """An instance in initialization mode, which it does not leave."""
        running = cls.__new__(cls)
        running._begin(fmu, {}, time, None)
        return running

    def begin_again(self, values: Values) -> None:
        """After fmi2Reset: initialized anew, at time 0."""
        self._enter(values, 0.0, None)
        self._expect(self.slave.call("fmi2ExitInitializationMode"))

    def _begin(self, fmu: Fmu, values: Values, time: float, tolerance: float | None) -> None:
        self.fmu = fmu
        self.slave: Slave = fmu.slave(Importer())
        self._by_type: dict[tuple[str, ...], tuple[list[tuple[str, Any, Any]], list[int]]] = {}  # what `mixed` calls
        self._enter(values, time, tolerance)

    def _enter(self, values: Values, time: float, tolerance: float | None) -> None:
        self.time = time
        self.set(values)
        self._expect(self.slave.call("fmi2SetupExperiment", tolerance is not None, tolerance or 0.0, time, 0, 0.0))
        self._expect(self.slave.call("fmi2EnterInitializationMode"))

    @property
    def told(self) -> list[str]:
        return self.slave.importer.texts

    def _expect(self, status: int) -> None:
        assert status == OK, self.told

    def set(self, values: Values) -> None:
        """Reals, vectors of Reals, Booleans, Integers and enumerations."""
        named = scalars(values)
        reals_only = {name: value for name, value in named.items() if self.fmu.types[name] == "Real"}
        self._expect(self.slave.set(reals_only))
        for name in named.keys() - reals_only.keys():
            set_one = self.slave.set_boolean if self.fmu.types[name] == "Boolean" else self.slave.set_integer
            self._expect(set_one(name, int(named[name])))

    def rates(self, values: Values) -> None:
        """Derivatives of inputs for the next step."""
        named = scalars(values)
        vr = references(*(self.fmu.references[name] for name in named))
        orders, numbers = integers(*[1] * len(named)), reals(*named.values())
        self._expect(self.slave.call("fmi2SetRealInputDerivatives", vr, len(named), orders, numbers))

    def step(self, h: float) -> None:
        self._expect(self.slave.step(self.time, h))
        self.time += h

    def __getitem__(self, name: str) -> float:
        """A Real, Integer or Boolean."""
        kind = self.fmu.types[name]
        return self.slave.get(name)[0] if kind == "Real" else self.slave.get_integer(name, kind)

    def vector(self, name: str, size: int = 3) -> NDArray[np.float64]:
        return np.array(self.slave.get(*(f"{name}[{i}]" for i in range(1, size + 1))))

    def values(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Reals, shape (n,)."""
        return np.array(self.slave.get(*names))

    def mixed(self, names: Sequence[str]) -> list[float]:
        """Reals, Integers and Booleans, one call for each type."""
        key = tuple(names)
        if key not in self._by_type:
            by_type = [[name for name in names if self.fmu.types[name] == kind] for kind in _MIXED]
            place = {name: k for k, name in enumerate(name for some in by_type for name in some)}
            calls = [
                (f"fmi2Get{kind}", references(*(self.fmu.references[name] for name in some)), number * len(some))
                for (kind, number), some in zip(_MIXED.items(), by_type, strict=True)
            ]
            self._by_type[key] = calls, [place[name] for name in names]
        calls, places = self._by_type[key]
        found: list[float] = []
        for function, vr, array in calls:
            values = array()
            self._expect(self.slave.call(function, vr, len(values), values))
            found += values
        return [found[place] for place in places]

    def directional(self, unknowns: Sequence[str], seeds: Mapping[str, float]) -> NDArray[np.float64]:
        """fmi2GetDirectionalDerivative along the seeds, shape (n,)."""
        found = reals(*[np.nan] * len(unknowns))
        known = references(*(self.fmu.references[name] for name in seeds))
        self._expect(
            self.slave.call(
                "fmi2GetDirectionalDerivative",
                references(*(self.fmu.references[name] for name in unknowns)),
                len(unknowns),
                known,
                len(seeds),
                reals(*seeds.values()),
                found,
            )
        )
        return np.array(found)

    def output_rates(self, names: Sequence[str], order: int = 1) -> NDArray[np.float64]:
        """fmi2GetRealOutputDerivatives, shape (n,)."""
        found = reals(*[np.nan] * len(names))
        vr = references(*(self.fmu.references[name] for name in names))
        self._expect(
            self.slave.call("fmi2GetRealOutputDerivatives", vr, len(names), integers(*[order] * len(names)), found)
        )
        return np.array(found)
