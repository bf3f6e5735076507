"""Laws of a recipe as functions of a page: their curves follow the parameters."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from fmu_builder.laws.definitions import LawFunction
from fmu_builder.laws.figures import abscissae, shown_argument
from fmu_builder.laws.rules import Checked
from fmu_builder.laws.tables import LawTable
from fmu_builder.model.model import ElementModel
from fmu_builder.pages.drive_law import JavaScript

_MOST_POINTS = 500  # of tables, which a page would hold
_SCALAR, _FUNCTION, _ARGUMENT = "s_", "f_", "a_"  # before names, which JavaScript may have itself


def law_curves(slave: str, model: ElementModel, names: Mapping[str, str], known: Collection[str]) -> Iterator[Any]:
    """Of each law that a slot of [functions] holds: the curve over one argument, the others at the upper ends of their
    ranges, as in the documentation.

    names   in the FMU, by those of the element's variables
    known   parameters of the FMU that a page may set
    `code` is the body of a function of `at`, which gives the value of a parameter of the slave, and of `tableLaw` of
    laws.js: it returns y(x), SI."""
    laws = model.recipe.laws
    for law in laws.checked if laws is not None else ():
        if law.slot.place:  # of a table of the structure, which the picture of the element shows
            continue
        used = law.laws.used_by(law.law.law).functions.values()
        tables = [one.body for one in (law.law.law, *used) if isinstance(one.body, LawTable)]
        if sum(len(table.x) for table in tables) > _MOST_POINTS:
            continue
        argument = shown_argument(law)
        x = abscissae(law, argument)
        others = {name: law.ranges[name][1] for name in law.slot.arguments if name != argument}
        yield {
            "slave": slave,
            "name": law.law.slot,
            "about": law.slot.description,
            "unit": law.slot.unit,
            "argument": argument,
            "of": law.slot.arguments[argument],
            "from": float(x[0]),
            "to": float(x[-1]),
            "others": [law.text(name, value) for name, value in others.items()],
            "code": _code(law, argument, others, names, known),
        }


def _code(
    law: Checked, argument: str, others: Mapping[str, float], names: Mapping[str, str], known: Collection[str]
) -> str:
    laws = law.laws.used_by(law.law.law)
    functions = {name: f"{_FUNCTION}{name}" for name in laws.functions}
    printer = JavaScript(_ARGUMENT, _SCALAR, functions)
    lines = []
    for name, scalar in laws.scalars.items():
        parameter = names.get(f"laws.{name}")
        is_set = scalar.number is not None and parameter in known
        value = f"at({json.dumps(parameter)})" if is_set else printer.expression(scalar.value)
        lines.append(f"const {_SCALAR}{name} = {value};")
    lines += [_function(functions[name], function, printer) for name, function in laws.functions.items()]
    given = ["x" if name == argument else repr(others[name]) for name, _ in law.law.law.parameters]
    lines.append(_function("law", law.law.law, printer))
    lines.append(f"return (x) => law({', '.join(given)});")
    return "\n".join(lines)


def _function(name: str, function: LawFunction, printer: JavaScript) -> str:
    if isinstance(function.body, LawTable):
        return f"const {name} = tableLaw({table_text(function.body)});"
    arguments = ", ".join(f"{_ARGUMENT}{parameter}" for parameter, _ in function.parameters)
    return f"const {name} = ({arguments}) => {printer.expression(function.body)};"


def table_text(table: LawTable) -> str:
    """What tableLaw of laws.js takes."""
    low, high = table.end_slopes
    slopes = {"linear": [low, high], "error": None}.get(table.outside, [0.0, 0.0])
    found = {
        "x": [float(value) for value in table.x],
        "c": [[float(value) for value in row] for row in table.coefficients],
        "ends": [float(table.y[0]), float(table.y[-1])],
        "slopes": slopes,
    }
    return json.dumps(found, separators=(",", ":"))
