"""Modelica of laws: what is written; tests/platform/test_modelica_models.py simulates it."""

from __future__ import annotations

import pytest

from fmu_builder.laws import Laws, Source, read_laws, read_value
from fmu_builder.laws.c_source import LawInSlot
from fmu_builder.laws.modelica_source import computed_scalars, is_continuous, law_functions, slot_equation
from fmu_builder.laws.tree import Branch
from fmu_builder.units import parse_unit

LAWS = read_laws(
    Source(
        """
scalar k = 2[kN/m];
scalar a = 5[mm];
scalar peak = 3*k*a;
function soft(x[m]) = k*#x*exp(-#x/a);
function stop(x[m]) = #x < a -> k*#x, peak - 2*k*(#x - a) - (peak - k*a);
function jump(x[m]) = #x < a -> k*#x, peak;
function clipped(x[m]) = min(soft(#x), peak)*abs(#x)/#x;
function root(x[m]) = #x > 0[m] -> k*a*(#x/a)^0.5, 0[N];
""",
        "laws",
    )
)


def equation(text: str, laws: Laws = LAWS) -> tuple[str, ...]:
    law = read_value(text, "here", {"x": parse_unit("m")}, parse_unit("N"), laws)
    return slot_equation(LawInSlot("F", law, ()), laws, "here", "Own_").equations


def test_a_function_has_its_scalars_as_inputs_with_units_and_values() -> None:
    functions = dict(law_functions(LAWS, {"a": 0.007}, prefix="Own_"))
    assert functions["soft"] == [
        "function Own_soft",
        '  input Real x(unit="m");',
        '  input Real laws_k(unit="N/m") = 2000;',
        '  input Real laws_a(unit="m") = 0.007;',
        '  output Real y(unit="N");',
        "algorithm",
        "  y := laws_k*x*exp((-x)/laws_a);",
        "end Own_soft;",
    ]
    assert "  Real laws_peak" in "\n".join(functions["stop"])
    assert list(computed_scalars(LAWS)) == ['final parameter Real laws_peak(unit="N") = 3*laws_k*laws_a;']


def test_names_that_modelica_has_taken_get_an_underscore() -> None:
    laws = read_laws(Source("function f(end[m], y[m]) = #end + #y;", "laws"))
    ((_, lines),) = law_functions(laws, keywords={"end"})
    assert lines[1:5] == ['  input Real end_(unit="m");', '  input Real y(unit="m");', '  output Real y_(unit="m");',
                          "algorithm"]  # fmt: skip


def test_a_law_without_kinks_is_a_call_and_one_with_kinks_is_written_out() -> None:
    assert equation("soft") == ("slot_F = Own_soft(slot_F_x, laws_k, laws_a);",)
    assert equation("stop")[0].startswith("slot_F = smooth(0, if slot_F_x < laws_a then laws_k*slot_F_x else ")
    assert equation("jump") == ("slot_F = if slot_F_x < laws_a then laws_k*slot_F_x else laws_peak;",)


def test_minimum_and_absolute_value_become_relations() -> None:
    (text,) = equation("clipped")
    call = "Own_soft(slot_F_x, laws_k, laws_a)"
    assert f"smooth(0, if {call} < laws_peak then {call} else laws_peak)" in text
    assert "smooth(0, if slot_F_x < 0 then -slot_F_x else slot_F_x)/slot_F_x" in text


def test_a_law_that_is_too_large_to_write_out_is_a_call() -> None:
    text = ["function f0(x[m]) = min(#x, 1[m]);"]
    text += [f"function f{n}(x[m]) = f{n - 1}(#x) + f{n - 1}(2*#x);" for n in range(1, 13)]
    laws = read_laws(Source("\n".join(text), "laws"))
    law = read_value("f12", "here", {"x": parse_unit("m")}, parse_unit("m"), laws)
    assert slot_equation(LawInSlot("F", law, ()), laws, "here").equations == ("slot_F = f12(slot_F_x);",)


def test_what_has_no_value_behind_a_condition_is_guarded_and_its_kink_is_a_relation_beside_it() -> None:
    value, side = equation("root")
    assert value.startswith("slot_F = noEvent(if slot_F_x > 0 then laws_k*laws_a*(slot_F_x/laws_a)^0.5 else 0")
    assert side == "slot_F_side_1 = slot_F_x - 0 > 0;"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("k*(x + a) - (x - a)*k", "laws_k*(slot_F_x + laws_a) - (slot_F_x - laws_a)*laws_k"),
        ("-k*x - -(k*a)", "(-laws_k)*slot_F_x - (-laws_k*laws_a)"),
        ("k*x^2/a/2", "laws_k*slot_F_x^2/laws_a/2"),
        ("k*a*2^-1", "laws_k*laws_a*2^(-1)"),
        ("k*a*(2^3)^2", "laws_k*laws_a*(2^3)^2"),
        ("x == a -> k*x, k*a", "if slot_F_x <= laws_a and slot_F_x >= laws_a then laws_k*slot_F_x else laws_k*laws_a"),
        ("!(x < a && (x > 0 || x < -a)) -> k*x, k*a", "if not (slot_F_x < laws_a and (slot_F_x > 0 or slot_F_x < "
         "-laws_a)) then laws_k*slot_F_x else laws_k*laws_a"),
    ],
)  # fmt: skip
def test_operators_bind_as_in_the_text(text: str, written: str) -> None:
    assert equation(text)[0] == f"slot_F = {written};"


@pytest.mark.parametrize(
    ("text", "continuous"),
    [
        ("x < a -> k*x, k*a", True),
        ("x < a -> k*x, peak", False),
        ("2*x > a -> k*a + k*x, 3*k*x", True),
        ("x < 5[mm] -> k*x, k*a", False),  # by the numbers only, and a can be changed
        ("abs(x) < a -> k*x, k*a", False),  # continuous at one of two places
        ("x*x < a*a -> k*x, k*a", False),  # not decided
    ],
)
def test_continuity_holds_for_all_values_of_scalars(text: str, continuous: bool) -> None:
    law = read_value(text, "here", {"x": parse_unit("m")}, parse_unit("N"), LAWS)
    assert isinstance(law.body, Branch)
    assert is_continuous(law.body, LAWS) is continuous
