"""Derivatives of laws as laws, against the dual numbers of laws/numeric.py."""

from __future__ import annotations

import numpy as np
import pytest

from fmu_builder.errors import InputError
from fmu_builder.laws.definitions import LawFunction, Laws
from fmu_builder.laws.derivatives import derivative
from fmu_builder.laws.forms import inlined
from fmu_builder.laws.numeric import evaluate
from fmu_builder.laws.tables import LawTable
from fmu_builder.laws.text import parse_laws, read_value
from fmu_builder.laws.tree import Source
from fmu_builder.units import parse_unit

ONE = {"x": parse_unit("1")}
X = np.linspace(0.11, 0.93, 37)
LAWS = [
    "x", "-x", "3", "x + 2*x - 5", "x*x*x", "1/x", "(1 + x)/(2 - x^2)", "x^2", "x^(3/2)", "x^(-1/2)", "2^x", "x^x",
    "pow(x, 2.5)", "sqrt(x)", "sin(3*x)*cos(x)", "tan(x)", "asin(x)", "acos(x)", "atan(x/2)", "exp(-x)", "log(x)",
    "tanh(2*x)", "abs(x - 0.5)", "sign(x - 0.5)*x", "min(x, x^2)", "max(sin(x), 0.5)", "atan2(x, 1 + x)",
    "x < 0.4 -> x^3, x < 0.7 && x > 0.5 -> exp(x), cos(x)",
]  # fmt: skip


@pytest.mark.parametrize("text", LAWS)
def test_a_derivative_is_that_of_dual_numbers(text: str) -> None:
    law = read_value(text, "here", ONE, parse_unit("1"))
    assert not isinstance(law.body, LawTable)
    first = LawFunction("", law.parameters, derivative(law.body, "x", "here"), None)
    expected = np.broadcast_to(evaluate(law, Laws(), {"x": X}, "x").slope, X.shape)
    found = evaluate(first, Laws(), {"x": X}, "x")
    assert np.broadcast_to(found.value, X.shape) == pytest.approx(expected, rel=1e-13, abs=1e-14)
    assert not isinstance(first.body, LawTable)
    second = LawFunction("", law.parameters, derivative(first.body, "x", "here"), None)
    value = evaluate(second, Laws(), {"x": X}).value
    slope = np.broadcast_to(found.slope, X.shape)
    assert np.broadcast_to(value, X.shape) == pytest.approx(slope, rel=1e-12, abs=1e-13)


def test_functions_and_scalars_come_with_it() -> None:
    laws = parse_laws(Source("scalar a = 2; scalar b = a*3; function f(y[]) = a*#y^2 + b;", ""), Laws(), [])
    law = read_value("f(x^2)", "here", ONE, parse_unit("1"), laws)
    found = derivative(inlined(law, laws, "here"), "x", "here")
    assert evaluate(LawFunction("", law.parameters, found, None), laws, {"x": X}).value == pytest.approx(8.0 * X**3)


def test_points_have_no_smooth_derivative() -> None:
    one = parse_unit("1")
    table = LawTable((0.0, 1.0), (0.0, 1.0), "x", one, one)
    laws = Laws({}, {"lift": LawFunction("lift", (("x", one),), table, None)})
    law = read_value("2*lift(x)", "here", ONE, one, laws)
    with pytest.raises(InputError, match="'lift' is given by points"):
        derivative(inlined(law, laws, "here"), "x", "here")
