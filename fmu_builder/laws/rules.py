"""Rules on laws, checked over the range of their arguments before anything is built.

A law without a value there, or with one other than the slot requires, is an error; a probable mistake is a warning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, StrictBool

from fmu_builder.errors import Problem, behind_number
from fmu_builder.laws.c_source import LawInSlot
from fmu_builder.laws.definitions import LawFunction, Laws
from fmu_builder.laws.numeric import Evaluation, Frame, Values, evaluate, scalar_values
from fmu_builder.laws.tables import LawTable
from fmu_builder.laws.tree import Binary, Branch, Call, Expression, Place, children

Array = NDArray[np.float64]
Ranges = Mapping[str, tuple[float, float]]

_POINTS = {1: (2001,), 2: (31, 401)}  # of the grid, by number of arguments
_ROUNDING = 1e-9  # of the largest value: what counts as 0


class LawRules(BaseModel):
    """What a law in some slot has to be: its arguments, its unit, the range it is checked over, and the rules.

    The fields are keys of [slots] in element.toml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    description: str = Field(min_length=3, description="what the law gives")
    arguments: dict[str, str] = Field(min_length=1, description="names and units, in the order of the call")
    unit: str = Field(default="1", description="of the value")
    range: dict[str, tuple[float, float]] = Field(
        description="where the law is checked if the recipe says nothing, SI, for each argument"
    )
    zero_at: str | None = Field(default=None, description="the law must be 0 where this argument is 0")
    rises_from: str | None = Field(default=None, description="argument from whose 0 on the law should rise at once")
    same_sign: str | None = Field(default=None, description="argument whose sign the law must have to dissipate energy")
    least: float | None = Field(default=None, description="values below this are warned about")
    least_means: str = Field(default="it pulls where it should push", description="what such a value does")
    smooth: StrictBool = Field(
        default=False, description="the law may have neither jumps, corners nor vertical tangents"
    )
    built_in: str | None = Field(default=None, description="the element's own law, as a function of its laws.txt")
    place: str = Field(default="", description="table and key of the recipe where it stands, if not in [functions]")


@dataclass(frozen=True)
class Checked:
    """A law in its slot over the range of its arguments, with the scalars as they start.

    parameters  text for messages: those that the law depends on, with their values"""

    slot: LawRules
    law: LawInSlot
    laws: Laws
    ranges: Ranges
    scalars: Mapping[str, float]
    parameters: str = ""

    def axes(self) -> dict[str, Array]:
        """For each argument the points to look at, with 0 if it is among them."""
        names = [*self.slot.arguments]
        counts = _POINTS.get(len(names), (11,) * len(names))
        found = {}
        for name, count in zip(names, counts, strict=True):
            low, high = self.ranges[name]
            found[name] = np.unique([*np.linspace(low, high, count), *([0.0] if low <= 0.0 <= high else [])])
        return found

    def grid(self) -> dict[str, Array]:
        """Arrays over all combinations, one axis for each argument."""
        axes = self.axes()
        return dict(zip(axes, np.meshgrid(*axes.values(), indexing="ij"), strict=True))

    def over(self, arguments: Mapping[str, Array], by: str | None = None) -> Values:
        return evaluate(self.law.law, self.laws, arguments, by, self.scalars)

    def text(self, name: str, value: float) -> str:
        unit = self.slot.arguments[name]
        return f"{name} = {value:.6g}{'' if unit == '1' else f' {unit}'}"

    def at(self, arguments: Mapping[str, Array], index: tuple[int, ...]) -> str:
        return ", ".join(self.text(name, float(values[index])) for name, values in arguments.items())

    def fault_at(self, arguments: Mapping[str, Array], index: tuple[int, ...]) -> str:
        return self.at(arguments, index) + (f" with {self.parameters}" if self.parameters else "")

    def value(self, value: float) -> str:
        unit = behind_number(self.slot.unit)
        return f"{value:.6g}{unit}"


def kink_sizes(checked: Checked) -> tuple[float, ...]:
    """The usual size of each kink function: its largest value over the range."""
    grid = checked.grid()
    sizes = []
    for kink in checked.law.kinks:
        law = LawFunction("", checked.law.law.parameters, kink, None)
        values = np.abs(evaluate(law, checked.laws, grid, scalars=checked.scalars).value)
        largest = float(np.max(values, where=np.isfinite(values), initial=0.0))
        sizes.append(largest if largest > 0.0 else 1.0)
    return tuple(sizes)


def rule_problems(checked: Checked, where: str, problem_at: Callable[[str, Place, str], Problem]) -> Iterator[Problem]:
    """Errors, which stop the build.   problem_at(function, place, what) makes the fault of a place in a function's
    text, or in the slot's own for the function ''."""
    found = list(_poles(checked, problem_at))
    yield from found
    grid = checked.grid()
    value = checked.over(grid).value
    bad = np.argwhere(~np.isfinite(value))
    if len(bad) and not found:
        what = f"the law has no finite value at {checked.fault_at(grid, tuple(bad[0]))}"
        yield Problem(where, f"{what}; {_repair(checked)}")
    if checked.slot.smooth and not found and not len(bad):
        yield from _corners(checked, where)
    zero_at = checked.slot.zero_at
    if zero_at is None or len(bad):
        return
    at_zero = {**checked.axes(), zero_at: np.array([0.0])}
    grid = dict(zip(at_zero, np.meshgrid(*at_zero.values(), indexing="ij"), strict=True))
    there = checked.over(grid).value
    largest = float(np.max(np.abs(value)))
    worst = np.unravel_index(int(np.argmax(np.abs(there))), there.shape)
    if not abs(float(there[worst])) <= _ROUNDING * largest:
        at = checked.at(grid, tuple(int(i) for i in worst))
        yield Problem(where, f"the law must be 0 at {zero_at} = 0; it is {checked.value(float(there[worst]))} at {at}")


_JUMP = 1e-6  # of the largest value or slope: what counts as a jump
_STEEP = 1e4  # slope of a law whose value has the unit of its argument


def _corners(checked: Checked, where: str) -> Iterator[Problem]:
    """Vertical tangents, and jumps of the law or its slope where it changes from one formula to another."""
    ((name, x),) = checked.grid().items()
    parameters = checked.law.law.parameters

    def at(expression: Expression, x: Array) -> Array:
        law = LawFunction("", parameters, expression, None)
        return np.broadcast_to(evaluate(law, checked.laws, {name: x}, scalars=checked.scalars).value, x.shape)

    assert not isinstance(checked.law.law.body, LawTable)
    value, slope = checked.law.law.body, checked.law.derivatives[0]
    steep = np.argwhere(~(np.abs(at(slope, x)) < _STEEP))
    if len(steep):
        here = checked.text(name, float(x[steep[0][0]]))
        repair = "" if name == "t" else "; give the profile as a curve, x and y over a parameter"
        yield Problem(where, f"vertical tangent at {here}{repair}")
        return
    width = float(x[-1] - x[0])
    for kink in checked.law.kinks:
        side = at(kink, x) > 0.0
        for i in np.flatnonzero(side[1:] != side[:-1]):
            low, high = float(x[i]), float(x[i + 1])
            for _ in range(60):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if bool(at(kink, np.array([middle]))[0] > 0.0) == side[i] else (low, middle)
            near = np.clip(np.array([low - 1e-9 * width, high + 1e-9 * width]), x[0], x[-1])
            for what, expression in (("a jump of the value", value), ("a corner of the slope", slope)):
                before, after = at(expression, near)
                if abs(after - before) > _JUMP * max(1.0, float(np.abs(at(expression, x)).max())):
                    here = checked.text(name, low)
                    yield Problem(where, f"{what} at {here}, from {before:.6g} to {after:.6g}: no point can follow")
                    return


def _repair(checked: Checked) -> str:
    if checked.slot.place:
        return "guard it with a condition" + (
            ", or state in the key range where the law is used" if "x" in checked.ranges else ""
        )
    ranges = ", ".join(f"{name} = [{low:g}, {high:g}]" for name, (low, high) in checked.ranges.items())
    return (
        "guard it with a condition, or state the range in which the law is used: "
        f"[functions] range = {{ {checked.law.slot} = {{ {ranges} }} }}"
    )


def rule_warnings(checked: Checked) -> Iterator[str]:
    """Probable mistakes, which do not stop the build."""
    grid = checked.grid()
    value = checked.over(grid).value
    name, slot = checked.law.slot, checked.slot
    largest = float(np.max(np.abs(value)))
    low = np.unravel_index(int(np.argmin(value)), value.shape)
    if slot.least is not None and float(value[low]) < slot.least - _ROUNDING * max(largest, abs(slot.least)):
        at = checked.at(grid, tuple(int(i) for i in low))
        yield (
            f"{name} = {checked.value(float(value[low]))} at {at}, below {checked.value(slot.least)}: "
            + slot.least_means
        )
    if slot.same_sign is not None:
        product = value * np.sign(grid[slot.same_sign])
        worst = np.unravel_index(int(np.argmin(product)), product.shape)
        if float(product[worst]) < -_ROUNDING * largest:
            at = checked.at(grid, tuple(int(i) for i in worst))
            yield (
                f"{name} = {checked.value(float(value[worst]))} at {at} adds energy: it must have the sign of "
                f"{slot.same_sign}"
            )


def rule_notes(checked: Checked) -> Iterator[str]:
    """Properties of the law that may surprise."""
    slot, start = checked.slot, checked.slot.rises_from
    if start is None:
        return
    largest = float(np.max(np.abs(checked.over(checked.grid()).value)))
    ends = {name: np.array([high]) for name, (_, high) in checked.ranges.items()}
    slope = float(checked.over({**ends, start: np.array([0.0])}, by=start).slope[0])
    if largest > 0.0 and not slope * ends[start][0] > 1e-6 * largest:
        yield (
            f"{checked.law.slot} does not rise at {start} = 0 {slot.arguments[start]}: a sliding body never stops, and "
            "under load it creeps faster than with a ramp of the same width"
        )


def _poles(checked: Checked, problem_at: Callable[[str, Place, str], Problem]) -> Iterator[Problem]:
    """Divisors that are 0, or change their sign, inside the range and where they are evaluated."""
    grid = checked.grid()
    reported: set[tuple[str, Place]] = set()
    with np.errstate(all="ignore"):
        evaluation = Evaluation(checked.laws, scalar_values(checked.laws, checked.scalars))
        given = {name: Values(values, np.zeros(())) for name, values in grid.items()}
        everywhere = np.ones(next(iter(grid.values())).shape, dtype=bool)
        for owner, node, divisor, used in _divisions(checked.law.law, "", given, everywhere, evaluation):
            value = np.broadcast_to(divisor, everywhere.shape)
            index = _zero(value, used)
            if index is not None and (owner, node.place) not in reported:
                reported.add((owner, node.place))
                what = f"division by zero near {checked.fault_at(grid, index)}; {_repair(checked)}"
                yield problem_at(owner, node.place, what)


def _zero(value: Array, used: NDArray[np.bool_]) -> tuple[int, ...] | None:
    """A point where the value is 0, or next to which its sign changes."""
    places = np.argwhere((value == 0.0) & used)
    for axis in range(value.ndim):
        ahead = [slice(None)] * value.ndim
        behind = [slice(None)] * value.ndim
        ahead[axis], behind[axis] = slice(1, None), slice(None, -1)
        a, b = value[tuple(behind)], value[tuple(ahead)]
        crossing = (a * b < 0.0) & used[tuple(behind)] & used[tuple(ahead)]
        places = np.concatenate([places, np.argwhere(crossing)])
    return tuple(int(i) for i in places[0]) if len(places) else None


_Division = tuple[str, Binary, Array, NDArray[np.bool_]]


def _divisions(
    law: LawFunction,
    owner: str,
    given: Mapping[str, Values],
    used: NDArray[np.bool_],
    evaluation: Evaluation,
) -> Iterator[_Division]:
    """Function, quotient, divisor, and where it is evaluated, through all calls.

    What is repeated in a large body is looked at once for each branch that it stands in."""
    if isinstance(law.body, LawTable):
        return
    body, frame = evaluation.prepared(law.body, given)
    met: dict[tuple[int, int], NDArray[np.bool_]] = {}  # with the array, so that no other gets its id
    stack: list[tuple[Expression, NDArray[np.bool_]]] = [(body, used)]
    while stack:
        node, here = stack.pop()
        if isinstance(frame, Frame) and id(node) in frame.known:
            if (id(node), id(here)) in met:
                continue
            met[id(node), id(here)] = here
        if isinstance(node, Branch):
            chosen = np.broadcast_to(evaluation.condition(node.condition, frame), here.shape)
            stack += [(node.value, here & chosen), (node.other, here & ~chosen)]
            stack += [(part, here) for part in _expressions_in(node.condition)]
            continue
        if isinstance(node, Binary) and node.operator == "/":
            yield owner, node, evaluation.expression(node.right, frame).value, here
        if isinstance(node, Call) and node.name in evaluation.laws.functions:
            called = evaluation.laws.functions[node.name]
            values = [evaluation.expression(argument, frame) for argument in node.arguments]
            names = [name for name, _ in called.parameters]
            yield from _divisions(called, called.name, dict(zip(names, values, strict=True)), here, evaluation)
        stack += [(part, here) for part in _expressions_in(node)]


def _expressions_in(node: object) -> Sequence[Expression]:
    """Expressions directly below, or below the conditions there."""
    found = []
    for below in children(node):  # type: ignore[arg-type]
        found += [below] if isinstance(below, Expression) else [*_expressions_in(below)]
    return found
