"""The language of user laws: what it means, and what it refuses."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws_of_the_source import DAMPING, FRICTION

from fmu_builder.errors import InputError
from fmu_builder.laws import shared
from fmu_builder.laws import tree as law_tree
from fmu_builder.laws.check import BUILTINS
from fmu_builder.laws.definitions import LawFunction, Laws
from fmu_builder.laws.derivatives import derivative
from fmu_builder.laws.dimensions import text_of
from fmu_builder.laws.forms import inlined, kinks
from fmu_builder.laws.numeric import evaluate, scalar_values
from fmu_builder.laws.shared import walk_once, written_size
from fmu_builder.laws.text import read_laws, read_value
from fmu_builder.laws.tree import Binary, Source, walk
from fmu_builder.model.element_model import load_element
from fmu_builder.units import parse_unit

NEWTON, SPEED, METRE, NUMBER = (parse_unit(text) for text in ("N", "m/s", "m", "1"))
FRICTION_OF = {"N": NEWTON, "v": SPEED}


def laws_of(text: str) -> Laws:
    return read_laws(Source(text, "Pad.toml: [functions] text", 5))


def law(text: str, laws: Laws | None = None, **units: str) -> LawFunction:
    """An expression of one number x, or of what `units` names; its own dimension does not matter here."""
    arguments = {name: parse_unit(unit) for name, unit in (units or {"x": "1"}).items()}
    return read_value(text, "Pad.toml: [functions] F", arguments, NUMBER, laws)


def value(text: str, x: Any = 0.0, laws: Laws | None = None) -> Any:
    return evaluate(law(text, laws), laws or Laws(), {"x": x}).value


def faults(make: Callable[[], object]) -> list[str]:
    with pytest.raises(InputError) as caught:
        make()
    return [str(problem) for problem in caught.value.problems]


# ---- the laws of the source ------------------------------------------------------------------------------------------


def test_the_laws_of_the_source_are_read_as_they_are_printed() -> None:
    laws = laws_of(DAMPING + FRICTION)
    assert [*laws.functions] == ["fd", "fd_1", "fr_line", "fr_line_1", "fr_sin", "fr_sin_1"]
    assert scalar_values(laws) == {"Cr1": 0.4, "kD1": 1.0, "kE1": 0.25, "k_fr": 0.1, "kT1": 10.0}


def test_the_damping_of_the_source_has_the_limits_that_its_coefficients_ask_for() -> None:
    laws = laws_of(DAMPING)
    fd_1 = read_value("fd_1", "", {"v": SPEED}, NUMBER, laws)
    w = np.array([-5.0, -0.8, -0.7974, 0.0, 0.2, 0.2658, 0.27, 5.0])
    loss, delta = 1.0 - 0.4**2, 1.0 - 0.25 + 0.4**2 * 0.25
    expected = np.clip(w, -loss * 0.75 / delta, loss * 0.25 / delta)
    assert evaluate(fd_1, laws, {"v": w}).value == pytest.approx(expected, rel=1e-15)
    assert evaluate(fd_1, laws, {"v": [-9.0, 9.0]}).value == pytest.approx([-0.797468354430, 0.265822784810], abs=1e-12)


def test_the_friction_of_the_source_is_a_ramp_and_a_sine() -> None:
    laws = laws_of(FRICTION)
    N, v = np.meshgrid([0.0, 3.0, 1e4], np.linspace(0.0, 0.3, 61))
    line, sine = (read_value(name, "", FRICTION_OF, NEWTON, laws) for name in ("fr_line_1", "fr_sin_1"))
    ramp = np.minimum(10.0 * v, 1.0)
    assert evaluate(line, laws, {"N": N, "v": v}).value == pytest.approx(0.1 * N * ramp, rel=1e-14)
    # (1 + sin(pi kT v - pi/2))/2 = sin^2(pi kT v/2)
    wave = 0.1 * N * np.sin(0.5 * math.pi * ramp) ** 2
    assert evaluate(sine, laws, {"N": N, "v": v}).value == pytest.approx(wave, rel=1e-12, abs=1e-12)
    ends = evaluate(sine, laws, {"N": 100.0, "v": [0.0, 0.1]}, by="v")
    assert ends.value == pytest.approx([0.0, 10.0], abs=1e-13)
    assert ends.slope[0] == pytest.approx(0.0, abs=1e-12)  # it never stops a sliding block


def test_a_changed_scalar_changes_the_law_and_the_scalars_that_follow_it() -> None:
    laws = laws_of("scalar a = 2; scalar b = 3*a; function f(x[]) = b*#x;")
    f = read_value("f", "", {"x": NUMBER}, NUMBER, laws)
    assert evaluate(f, laws, {"x": 1.0}).value == 6.0
    assert evaluate(f, laws, {"x": 1.0}, scalars={"a": 5.0}).value == 15.0


# ---- meaning ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-2^2", -4.0),
        ("2^3^2", 512.0),
        ("2^-1", 0.5),
        ("6/2/3", 1.0),
        ("1 - 2 - 3", -4.0),
        ("2*-3", -6.0),
        ("1/2", 0.5),
        ("10[mm]/1[cm]", 1.0),
        ("90[deg] - PI/2", 0.0),
        ("90[deg] - pi/2", 0.0),
        ("1e3[] + 1.[-]", 1001.0),
        ("min(1, max(-2, -3)) + abs(-4) + sign(-5) + sign(0)", 1.0),
        ("1 > 2 -> 10, 2 >= 2 -> 20, 30", 20.0),
        ("1 < 2 && 2 < 1 || 3 != 4 -> 1, 0", 1.0),
        ("!(1 == 1 && (2 <= 3)) -> 1, 0", 0.0),
        ("(1 + 1) > 1 -> 1, 0", 1.0),
        ("x != 0 -> 1/x, 7  // only what is selected counts", 7.0),
    ],
)
def test_operators_bind_and_select_as_documented(text: str, expected: float) -> None:
    assert value(text) == expected


EXPRESSIONS = st.recursive(
    st.sampled_from(["x", "PI", "2", "0.5", "3e-1", "7"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(st.sampled_from(["sin", "cos", "atan", "tanh", "exp", "abs"]), inner).map(
            lambda t: f"{t[0]}({t[1]})"
        ),
        st.tuples(inner, st.sampled_from(["2", "3", "-1"])).map(lambda t: f"({t[0]})^{t[1]}"),
        inner.map(lambda one: f"(-{one})"),
    ),
    max_leaves=12,
)
FUNCTIONS = {name: getattr(mpmath, name) for name in ("sin", "cos", "atan", "tanh", "exp")}


@given(text=EXPRESSIONS, x=st.floats(-3.0, 3.0))
@settings(max_examples=200)
@pytest.mark.slow
def test_random_expressions_have_the_value_of_another_evaluator(text: str, x: float) -> None:
    with mpmath.workdps(40):
        names = {**FUNCTIONS, "abs": abs, "PI": mpmath.mpf(math.pi), "x": mpmath.mpf(x)}

        def exact(at: Any) -> Any:
            return eval(text.replace("^", "**"), {"__builtins__": {}}, {**names, "x": at})

        try:
            expected = exact(mpmath.mpf(x))
            spread = max(abs(exact(mpmath.mpf(x) * (1 + s * mpmath.mpf(2) ** -50)) - expected) for s in (-1, 1))
        except (ZeroDivisionError, OverflowError, ValueError):
            return
        if not abs(expected) < 1e100:
            return
        # ill-conditioned ones (a difference of equals) lose as many digits as a change of x by 4 ulp makes
        scale = float(abs(expected) + spread * 2**50 * 1e-3)
    assert float(value(text, x)) == pytest.approx(float(expected), rel=1e-12, abs=1e-12 * scale + 1e-11)


@pytest.mark.parametrize(
    "text",
    [
        "x^3 - 2*x^2.5 + x^(3/2)/x^0.5 + sqrt(x)",
        "sin(x)*cos(2*x)/tan(x)",
        "asin(x/3)*acos(x/4) - atan(x)",
        "exp(-x)*log(x) + tanh(x^2)",
        "pow(x, x) + x^-2 + 2^x",
        "atan2(x, 2*x^2) + max(x, x^2) - min(3, x)",
        "x > 1 -> -abs(x - 3), sign(x)*x",
    ],
)
def test_slopes_are_those_of_numerical_differentiation_at_40_digits(text: str) -> None:
    def exact(at: Any) -> Any:
        names = {
            name: getattr(mpmath, name)
            for name in ["sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "tanh", "sqrt", "sign", "atan2"]
        }
        names |= {"abs": abs, "max": max, "min": min, "pow": mpmath.power, "x": at}
        condition, _, rest = text.partition("->")
        chosen = text
        if rest:
            then, _, other = rest.partition(",")
            chosen = then if eval(condition, {}, names) else other
        return eval(chosen.strip().replace("^", "**"), {"__builtins__": {}}, names)

    x = np.array([0.3, 0.7, 1.3, 2.2])
    slopes = evaluate(law(text), Laws(), {"x": x}, by="x").slope
    with mpmath.workdps(40):
        expected = [float(mpmath.diff(exact, mpmath.mpf(float(one)))) for one in x]
    assert slopes == pytest.approx(expected, rel=1e-12)


def test_a_slot_may_leave_out_the_mark_of_its_arguments_unless_a_scalar_has_the_name() -> None:
    laws = laws_of("scalar v = 3;")
    assert evaluate(law("#v + v", laws, v="1"), laws, {"v": 10.0}).value == 13.0
    assert evaluate(law("#v + v", v="1"), Laws(), {"v": 10.0}).value == 20.0


def test_pi_is_the_number_unless_a_definition_or_an_argument_has_the_name() -> None:
    wave = laws_of("function wave(t[s]) = sin(2*pi*200[Hz]*#t); scalar turn = 2*pi;")
    assert evaluate(law("wave(x*1[s])", wave), wave, {"x": 1 / 800}).value == 1.0
    assert scalar_values(wave) == {"turn": 2.0 * math.pi}
    assert evaluate(law("sin(2*pi*x)"), Laws(), {"x": 0.0}, by="x").slope == 2.0 * math.pi
    sine = law("sin(pi*x)")
    slope = replace(sine, body=derivative(next(sine.expressions()), "x", "F"))
    assert evaluate(slope, Laws(), {"x": 1.0}).value == -math.pi
    own = laws_of("scalar pi = 3; function f(x[]) = pi*#x;")
    assert evaluate(law("f(x) + pi", own), own, {"x": 10.0}).value == 33.0
    assert evaluate(law("f(x) + pi", own), own, {"x": 10.0}, scalars={"pi": 4.0}).value == 44.0
    assert evaluate(law("pi + #pi", pi="1"), Laws(), {"pi": 2.0}).value == 4.0
    (message,) = faults(lambda: laws_of("function f(pi[]) = pi;"))
    assert "'pi' is a parameter of f: write #pi" in message
    (message,) = faults(lambda: laws_of("scalar a = pi;\nscalar pi = 3;"))
    assert "'pi' is used before its definition in line 6" in message
    (message,) = faults(lambda: law("sin(Pi)"))
    assert "'Pi' is unknown; did you mean 'pi'?" in message


@pytest.mark.parametrize("written", ["time", "#time", "Time", "#T"])
def test_the_time_of_a_drive_is_named_as_it_is_written(written: str) -> None:
    (message,) = faults(lambda: law(f"sin(2*pi*200[Hz]*{written})", t="s"))
    assert "did you mean '#t'?" in message.splitlines()[0]


def test_powers_of_dimensions_are_exact_fractions() -> None:
    hertz = "scalar K = 1e9[N/m]/sqrt(1[m]); function F(h[m]) = K*#h^1.5; function root(h[m]) = sqrt(#h)^(2/3);"
    laws = laws_of(hertz)
    assert [text_of(f.dimension) for f in laws.functions.values() if f.dimension] == ["N (kg.m.s-2)", "m1/3"]


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "what", "marked"),
    [
        ("scalar a = 1[m] + 1[s];", "'+' needs equal dimensions: m on the left, s on the right", "+"),
        ("scalar a = 1[N] - 1[N.m];", "'-' needs equal dimensions: N (kg.m.s-2) on the left, J (kg.m2.s-2)", "-"),
        ("function f(v[m/s]) = #v > 1 -> 1, 2;", "'>' needs equal dimensions: m/s on the left, 1 on the right", ">"),
        ("function f(v[m/s]) = #v > 0 -> #v, 2[m];", "the values of a chain of conditions must have equal", "->"),
        ("scalar a = sin(1[m]);", "sin takes a number without unit, not m", "1[m]"),
        ("scalar a = 2^1[s];", "an exponent must be a number, not s", "^"),
        ("scalar n = 2; scalar a = 1[m]^n;", "m can be raised to a number only", "^"),
        ("scalar a = max(1[m], 1);", "max needs equal dimensions: m on the left, 1 on the right", "max"),
        ("function g(x[m]) = #x; scalar a = g(1[s]);", "g: x must have the dimension m, not s", "1[s]"),
        ("scalar a = 3[foo];", "the symbol 'foo' is unknown", "[foo]"),
        ("scalar a = k_frr;", "'k_frr' is unknown", "k_frr"),
        ("scalar k_fr = 1; scalar a = k_frr;", "'k_frr' is unknown; did you mean 'k_fr'?", "k_frr"),
        ("function f(v[]) = #w;", "#w: f has no parameter of this name", "#w"),
        ("function f(v[]) = v;", "'v' is a parameter of f: write #v", "v;"),
        ("scalar a = #v;", "a scalar has no parameters", "#v"),
        ("function f(v[]) = f(#v/2);", "f calls itself: recursion is not allowed", "f(#v/2)"),
        ("scalar a = a;", "'a' stands in its own definition", "a;"),
        ("scalar a = b;\nscalar b = 1;", "'b' is used before its definition in line 7: move the definition up", "b;"),
        ("scalar a = 1; scalar a = 2;", "'a' is defined twice, first in line 6", "a = 2"),
        ("scalar sin = 1;", "'sin' has a meaning of its own", "sin"),
        ("scalar double = 1;", "'double' is a word of C or FMI", "double"),
        ("function f(v[], v[]) = 1;", "the parameter 'v' stands twice", "v[])"),
        ("function f(v[]) = 1; scalar a = f(1, 2);", "f takes 1 argument (v), 2 given", "f(1, 2)"),
        ("scalar a = atan2(1);", "atan2 takes 2 arguments (y, x), 1 given", "atan2"),
        ("scalar a = 1/0;", "division by zero", "/0"),
        ("scalar T = -5[degC];", "degC has an offset, so signs and sums of its values are wrong; write K", "[degC]"),
        ("scalar _a = 1;", "'_a': the name of a scalar begins with a letter", "_a"),
        ("scalar a = 1e999;", "1e999 is too large for a double", "1e999"),
        ("scalar a = 1 +;", "';' cannot stand here; expected '(' or a name or a number", ";"),
        ("scalar a = 1", "the text ends; expected ';'", ""),
        ("scalar größe = 1;", "'ö': names of laws are ASCII letters", "öße"),
        ("scalar a = 1 @ 2;", "'@': no law uses this character", "@"),
        ("scalar a = " + "(1 + " * 101 + "1" + ")" * 101 + ";", "more than 100 nested operators and calls", ""),
    ],
)
def test_a_fault_is_told_with_line_caret_and_rule(text: str, what: str, marked: str) -> None:
    (told,) = faults(lambda: laws_of("// a comment; with a semicolon\n" + text))
    first, shown, caret = told.split("\n")
    line = 6 + text[: text.rindex(marked)].count("\n") if marked else 6
    assert first.startswith(f"Pad.toml: [functions] text, line {line}: ")
    assert what in first
    if marked:
        assert shown[caret.index("^") :].startswith(marked)


def test_all_faults_of_a_text_are_told_at_once() -> None:
    told = faults(lambda: laws_of("scalar a = 1[m] + c;\nscalar = 2;\nfunction f(x[]) = #y + sin(#x, 1);\n"))
    assert [one.partition(":")[0] for one in told] == ["Pad.toml"] * 4
    assert [one.split("line ")[1][0] for one in told] == ["6", "5", "7", "7"]


def test_what_follows_from_a_fault_is_not_told_and_what_does_not_is() -> None:
    told = faults(lambda: laws_of("scalar a = sin(200[Hz]*b) + (c/1[s])^2*1[m];"))
    assert [one.splitlines()[0].rpartition(": ")[2] for one in told] == ["'b' is unknown", "'c' is unknown"]
    told = faults(lambda: laws_of("function f(x[m]) = #x; scalar a = 2*f(1[s]) + 1[N];"))
    assert ["f: x must have" in told[0], "'+' needs equal dimensions: m on the left" in told[1]] == [True, True]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("fr_line", "fr_line takes 3 arguments, the law is called with (N[N], v[m/s])"),
        ("fd_1", "fd_1 takes 1 argument, the law is called with (N[N], v[m/s])"),
        ("swapped", "swapped: v has the dimension m/s, not N (kg.m.s-2); the call is (N[N], v[m/s])"),
        ("power", "the value of power has the dimension W (kg.m2.s-3), N (kg.m.s-2) is needed"),
        ("#N*#v", "the expression has the dimension W (kg.m2.s-3), N (kg.m.s-2) is needed"),
        ("#N*w", "'w' is unknown"),
        ("fr_lin(N, v, kT1)", "'fr_lin' is unknown; did you mean 'fr_line'?"),
        ("fr_lin", "'fr_lin' is unknown; did you mean 'fr_line'?"),
        ("", "the text ends; expected"),
    ],
)
def test_a_law_that_does_not_fit_its_slot_is_refused(text: str, what: str) -> None:
    laws = laws_of(DAMPING + FRICTION + "function swapped(v[m/s], N[N]) = #N; function power(N[N], v[m/s]) = #N*#v;")
    told = faults(lambda: read_value(text, "Pad.toml: [functions] F_fr", FRICTION_OF, NEWTON, laws))
    assert what in told[0] and told[0].startswith("Pad.toml: [functions] F_fr: ")


# ---- documentation ---------------------------------------------------------------------------------------------------


def test_the_documentation_quotes_the_grammar_and_an_example_that_can_be_read(tmp_path: Path) -> None:
    package = Path(law_tree.__file__).parents[1]
    page = (package / "guide" / "laws.md").read_text(encoding="utf-8")
    assert (package / "laws" / "laws.lark").read_text(encoding="utf-8").rstrip() in page
    recipe = tmp_path / "Pad.toml"
    recipe.write_text(page.partition('```toml title="Pad.toml"\n')[2].partition("```")[0], encoding="utf-8")
    assert "laws.kT1" in load_element(recipe)
    (line,) = (line for line in page.splitlines() if line.startswith("- Functions:"))
    assert {*line.split("`")[1].split(), "abs", "sign", "sqrt", "min", "max", "atan2", "pow"} == {*BUILTINS}


# ---- many definitions, and calls inside calls --------------------------------------------------------------------


def chain(levels: int, body: str) -> Laws:
    """f0 is a spring, each other function has `body`, in which {before} is the one before it."""
    lines = ["function f0(h[m]) = 1[N/m]*#h;"]
    lines += [f"function f{k}(h[m]) = {body.format(before=f'f{k - 1}')};" for k in range(1, levels)]
    return read_laws(Source("\n".join(lines), "chain"))


def test_three_hundred_plain_calls_are_one_operator() -> None:
    """Each level hands its argument down: what is left is the spring, whatever their number."""
    laws = chain(300, "{before}(#h)")
    body = inlined(laws.functions["f299"], laws, "f299")
    spring = inlined(laws.functions["f0"], laws, "f0")
    assert [type(node) for node in walk(body)] == [type(node) for node in walk(spring)]


@pytest.mark.parametrize(
    ("body", "levels", "size", "written"),
    [
        ("{before}(#h) + {before}(#h)", 4, 3 + 3, 8 * 3 + 7),
        ("{before}(2*#h)", 10, 3 + 9 + 1, 3 + 9 * 2),
        ("{before}({before}(#h)*1[m/N])", 3, 10, 7 + (7 + 2) - 1),
    ],
)
def test_the_size_that_is_counted_is_that_of_different_operators(
    body: str, levels: int, size: int, written: int
) -> None:
    """What is equal counts once: of f(h) = g(h) + g(h) a sum for each level, above the three nodes of the spring."""
    laws = chain(levels, body)
    found = inlined(laws.functions[f"f{levels - 1}"], laws, "law")
    assert sum(1 for _ in walk(found)) == written_size(found) == written
    assert sum(1 for _ in walk_once(found)) == size


def test_twenty_levels_that_use_the_one_before_twice_are_one_expression_of_twenty_sums() -> None:
    """2^20 operators when it is written out; its kinks, slope and value follow from each part once."""
    laws = chain(21, "#h > 1[mm] -> {before}(#h) + {before}(#h), 4*{before}(#h) - {before}(#h)*2")
    law = laws.functions["f20"]
    body = inlined(law, laws, "law")
    written, different = written_size(body), sum(1 for _ in walk_once(body))
    assert written > 2**20 and different < 150
    (kink,) = kinks(body, laws, "law")
    assert isinstance(kink, Binary) and kink.operator == "-"
    h = np.array([0.0, 0.5e-3, 2e-3])
    found = evaluate(law, laws, {"h": h}, by="h")
    assert found.value.tolist() == (2.0**20 * h).tolist() and found.slope.tolist() == [2.0**20] * 3
    slope = LawFunction("", law.parameters, derivative(body, "h", "law"), None)
    assert evaluate(slope, laws, {"h": h}).value.tolist() == [2.0**20] * 3


def test_a_law_is_counted_once_however_often_it_is_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[Any] = []
    bottom_up = shared.bottom_up
    monkeypatch.setattr(shared, "bottom_up", lambda *body: counted.append(body) or bottom_up(*body))
    laws = chain(6, "{before}(#h) + {before}(#h)")
    law = laws.functions["f5"]
    assert evaluate(law, laws, {"h": 0.5}).value == 2.0**4
    first = len(counted)
    assert first >= 6
    assert evaluate(law, laws, {"h": 0.25}).value == 2.0**3
    assert len(counted) == first


@pytest.mark.slow
def test_a_law_that_grows_beyond_bounds_is_refused_without_being_written_out() -> None:
    """Each level calls the one before with two other arguments, so that nothing is equal."""
    laws = chain(25, "{before}(#h + 1[mm]) + {before}(2*#h)")
    with pytest.raises(
        InputError, match="the law has more than 60000 different operators when its functions are expanded"
    ):
        inlined(laws.functions["f24"], laws, "law")


def test_a_law_that_becomes_too_deep_is_refused() -> None:
    laws = chain(250, "{before}(#h) + 1[N/m]*#h")
    inlined(laws.functions["f190"], laws, "law")
    with pytest.raises(InputError, match="the law nests 251 operators"):
        inlined(laws.functions["f249"], laws, "law")


@pytest.mark.slow
def test_many_scalars_are_read_in_a_time_that_grows_with_their_number() -> None:
    """Four times the scalars take less than eight times as long; to the square it would be sixteen times."""

    def seconds(count: int) -> float:
        text = "\n".join(f"scalar s{k} = {k + 1}[N/m];" for k in range(count))
        begin = time.process_time()
        read_laws(Source(text, "many"))
        return time.process_time() - begin

    few = min(seconds(500) for _ in range(2))
    assert min(seconds(2000) for _ in range(2)) < 8.0 * few


def test_the_numbers_behind_a_chain_of_scalars_are_found_however_long_it_is() -> None:
    lines = ["scalar s0 = 1[N/m];", *(f"scalar s{k} = 2*s{k - 1};" for k in range(1, 3000))]
    laws = read_laws(Source("\n".join([*lines, "scalar other = 1;"]), "chain"))
    assert laws.numbers_behind(laws.scalars["s2999"]) == ["s0"]
    assert laws.numbers_behind(laws.scalars["s0"]) == []
