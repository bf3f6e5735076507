"""What the solver may conclude from the dependencies that a model declares: exact, still, core states."""

from __future__ import annotations

from collections.abc import Iterable

from fmu_builder.model.model import Model, Variable


def conclusions(model: Model) -> tuple[str, ...]:
    """What the solver concludes from declared dependencies and a run can show: `exact`, `still`.  An element that
    samples at communication points behaves differently with more of them."""
    exact = not model.samples and is_exact(model)
    return (*(["exact"] if exact else []), *(["still"] if is_still(model) else []))


def _followed(variables: Iterable[Variable]) -> set[int]:
    """All that some variables depend on; a list that many have in common is looked at once."""
    return set[int]().union(*{id(v.depends): v.depends for v in variables}.values())


def is_exact(model: Model) -> bool:
    """Whether the course of every state under held inputs is known: its rate is constant, or is a state with a constant
    rate, or follows the clock alone and has a `primitive`.  Constant is what neither states nor time enter."""
    states = model.by_kind("state")
    followed = _followed(model.variables)
    bends = state_bends(model)

    def enters(state: Variable, *kinds: str) -> bool:
        return any(model.variables[i].kind in kinds for i in model.variables[state.derivative].depends)

    constant = [not enters(s, "state", "time") for s in states]
    primitive = [s.primitive >= 0 and not enters(s, "state") and s.index not in followed for s in states]
    known = all(any(ways) for ways in zip(constant, (bend >= 0 for bend in bends), primitive, strict=True))
    # What moves inside a step may cross an indicator there.
    return bool(states) and known and (all(constant) or not model.indicators)


def is_still(model: Model) -> bool:
    """Whether all computed values, except those on demand, are constant under held inputs: neither states nor time
    enter."""
    moving = {v.index for v in model.by_kind("state", "time")}
    computed = (v for v in model.by_kind("output", "derivative") if not v.on_demand)
    return all(moving.isdisjoint(v.depends) for v in computed)


def state_bends(model: Model) -> list[int]:
    """For each state the constant second derivative it has under held inputs, else -1."""
    found = []
    for state in model.by_kind("state"):
        rate = model.variables[state.rate] if state.rate >= 0 else None
        bend = rate.derivative if rate is not None and rate.kind == "state" else -1
        moving = bend >= 0 and any(model.variables[i].kind in ("state", "time") for i in model.variables[bend].depends)
        found.append(-1 if moving else bend)
    return found


def is_core(model: Model) -> list[int]:
    """For each state, 1 if a right-hand side depends on it while it changes and 0 for a ledger."""
    used = _followed(model.by_kind("derivative"))
    return [int(s.index in used and not s.constant_where_used) for s in model.by_kind("state")]
