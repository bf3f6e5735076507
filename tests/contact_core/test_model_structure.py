"""What an importer asks that goes by ModelStructure alone: every unknown it names, over every known it names."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from fmi2 import CO_SIMULATION, ERROR, MODEL_EXCHANGE, OK, Slave, load_shipped, only, reals, recipes, references

DISCRETE = 0.0  # a discrete variable moves at events only


def slopes(slave: Slave, unknowns: list[int], knowns: list[int]) -> list[float]:
    """fmi2GetDirectionalDerivative along all knowns at once."""
    found = reals(*[math.nan] * len(unknowns))
    status = slave.call(
        "fmi2GetDirectionalDerivative",
        references(*unknowns),
        len(unknowns),
        references(*knowns),
        len(knowns),
        reals(*[1.0] * len(knowns)),
        found,
    )
    assert status == OK, slave.importer.texts
    return list(found)


@pytest.mark.parametrize("kind", [CO_SIMULATION, MODEL_EXCHANGE], ids=["co-simulation", "model exchange"])
@pytest.mark.parametrize("name", recipes())
def test_all_that_the_structure_names_has_a_directional_derivative(name: str, kind: int, tmp_path: Path) -> None:
    """Outputs and derivatives over inputs, states and time, of whatever type but Strings, whose references are numbers
    of their own; initial unknowns over inputs and time."""
    fmu = load_shipped(name, tmp_path)
    description = fmu.description
    numbers = [v for v in description.modelVariables if v.type != "String"]
    known = {v.name for v in numbers if v.causality in ("input", "independent")}
    slave = fmu.slave(kind=kind)
    assert slave.setup() == OK
    assert slave.call("fmi2EnterInitializationMode") == OK
    questions = [(description.initialUnknowns, known)]
    states = {v.derivative.name for v in description.modelVariables if v.derivative is not None}
    questions.append(([*description.outputs, *description.derivatives], known | states))
    for groups, knowns in questions:
        asked = [one.variable for one in groups if one.variable in numbers]
        over = sorted({d.valueReference for one in groups for d in one.dependencies if d.name in knowns})
        for columns in (over, *([column] for column in over[:20])):
            found = slopes(slave, [v.valueReference for v in asked], columns)
            assert all(map(math.isfinite, found))
            assert all(x == DISCRETE for v, x in zip(asked, found, strict=True) if v.type != "Real")
        if groups is description.initialUnknowns:
            assert slave.call("fmi2ExitInitializationMode") == OK, slave.importer.texts
            if kind == MODEL_EXCHANGE:
                assert slave.call("fmi2EnterContinuousTimeMode") == OK


@pytest.mark.parametrize("name", ["PointSurface", "BouncingBall"])
def test_an_importer_without_enumerations_sets_them_as_integers(name: str, tmp_path: Path) -> None:
    """The number of the literal in its type, from 1; another number is refused and the message has the range."""
    fmu = load_shipped(name, tmp_path)
    types = {one.name: one for one in fmu.description.typeDefinitions}
    found = [v for v in fmu.description.modelVariables if v.type == "Enumeration"]
    assert {v.name for v in found} & {"coupling.mode", "solver.method"}
    slave = fmu.slave()
    for v in found:
        count = len(types[v.declaredType.name].items)
        for number in range(1, count + 1):
            assert slave.set_integer(v.name, number) == OK
        for number, bound in ((0, "at least 1"), (count + 1, f"at most {count}")):
            slave.importer.messages.clear()
            assert slave.set_integer(v.name, number) == ERROR
            assert f"{v.name} = {number} is refused, it must be {bound}" in only(slave.importer.messages).text
        assert slave.set_integer(v.name, 1) == OK
    slave.initialize()
    assert [slave.get_integer(v.name) for v in found] == [1] * len(found)
    assert slave.step(0.0, 1e-4) == OK
