"""C of user laws: the values, slopes, kinks and integrals of the numpy evaluation, and of quadrature."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws_of_the_source import DAMPING, FRICTION
from scipy.integrate import quad

from fmu_builder.export.toolchain import compile_hosted, find_compiler
from fmu_builder.laws.c_source import LawInSlot, kinks_of, laws_header
from fmu_builder.laws.definitions import LawFunction, Laws
from fmu_builder.laws.forms import inlined, integral, integral_below, kinks
from fmu_builder.laws.numeric import evaluate, scalar_values
from fmu_builder.laws.tables import LawTable
from fmu_builder.laws.text import read_laws, read_value
from fmu_builder.laws.tree import Call, Source
from fmu_builder.paths import shipped
from fmu_builder.units import parse_unit

TEXT = (
    DAMPING
    + FRICTION
    + """
scalar k = 1e5[N/m];
scalar step = 2[mm];
scalar twice = 2*k;
scalar h0 = step/4;
function stop(h[m]) = #h < step -> k*#h, k*step + 10*k*(#h - step);
function hertz(h[m]) = k/sqrt(1[mm])*#h^1.5;
function stiffening(h[m]) = twice*#h - k*#h^2/(4*step) + k/step^1.25*#h^(9/4);
function three(h[m]) = h0 > #h -> k*#h, #h >= step -> k*h0 + 9*k*(#h - step), k*h0;
function kinked(h[m]) = k*#h + k*max(#h - step, 0[m]);
function gap(h[m], w[m]) = #h > 0.5*#w -> k*(#h - 0.5*#w), #h < -0.5*#w -> 2*k*(#h + 0.5*#w), 0[N];
function soft(h[m], w[m]) = k*h0*(exp(#h/#w) - 1) + k*max(-#h - h0, 0[m]);
function root(h[m], w[m]) = #h > 0[m] -> k*#h^1.5/sqrt(#w), 3*k*#h;
function exponential(h[m]) = k*h0*(exp(#h/h0) - 1);
function ripple(h[m]) = k*h0*(2*sin(3*#h/step) - cos(1 - #h/h0)/4 + sin(#h/h0 - 2)) + k*#h;
function saturated(h[m]) = k*h0*tanh(#h/h0) - k*#h*h0/step;
function bounded(h[m]) = min(k*#h, twice*h0) + abs(3*step - 3*#h)*k/7;
function product(h[m]) = k*#h*exp(-#h/h0);
function powers(x[]) = #x^0.5 + #x^1.5 + #x^2.5 + #x^3.5 + #x^2 + #x^3 + #x^4 + #x^-1 + #x^5 + pow(#x, 0.3);
function every(x[]) = sin(pi*#x) + cos(#x)*tan(#x/2) + asin(#x/9) - acos(#x/8) + atan(#x) + atan2(#x, 2) + exp(-#x)
    + log(#x) + tanh(#x) + abs(#x - 1) + sign(#x - 2) + min(#x, 3) - max(#x, 2.5);
function chain(x[]) = #x < 1 && !(#x <= 0.5) || #x == 4 -> 10, #x >= 2 -> 20*#x, #x != 1.5 -> 30, -1;
"""
)
UNITS = {"h": "m", "w": "m", "N": "N", "v": "m/s", "x": "1"}
# slot: expression, arguments, unit of the value, ranges of the arguments
SLOTS: dict[str, tuple[str, str, str, tuple[tuple[float, float], ...]]] = {
    "fd": ("fd_1", "v", "1", ((-2.0, 2.0),)),
    "line": ("fr_line_1", "Nv", "N", ((0.0, 1e4), (0.0, 0.5))),
    "sine": ("fr_sin_1", "Nv", "N", ((0.0, 1e4), (0.0, 0.5))),
    "stop": ("stop", "h", "N", ((0.0, 6e-3),)),
    "hertz": ("hertz", "h", "N", ((0.0, 6e-3),)),
    "stiffening": ("stiffening", "h", "N", ((0.0, 6e-3),)),
    "three": ("three", "h", "N", ((0.0, 6e-3),)),
    "kinked": ("kinked", "h", "N", ((0.0, 6e-3),)),
    "exponential": ("exponential", "h", "N", ((0.0, 6e-3),)),
    "ripple": ("ripple", "h", "N", ((0.0, 6e-3),)),
    "saturated": ("saturated", "h", "N", ((0.0, 6e-3),)),
    "bounded": ("bounded", "h", "N", ((0.0, 6e-3),)),
    "product": ("product", "h", "N", ((0.0, 6e-3),)),
    "powers": ("powers", "x", "1", ((0.1, 5.0),)),
    "every": ("every", "x", "1", ((0.1, 7.0),)),
    "chain": ("chain", "x", "1", ((0.0, 5.0),)),
    "points": ("points", "h", "N", ((-1e-3, 7e-3),)),
    "smooth": ("smooth(h)", "h", "N", ((-1e-3, 7e-3),)),
    "mixed": ("2*points(h) + k*h", "h", "N", ((0.0, 7e-3),)),
    "gap": ("gap", "hw", "N", ((-6e-3, 6e-3), (0.0, 4e-3))),
    "soft": ("soft", "hw", "N", ((-6e-3, 6e-3), (1e-3, 4e-3))),
    "root": ("root", "hw", "N", ((-6e-3, 6e-3), (1e-3, 4e-3))),
}
CLOSED = ("stop", "three", "kinked", "hertz", "stiffening", "exponential", "ripple", "saturated", "bounded")
INTEGRALS = (*CLOSED, "points", "smooth", "product", "mixed")
TWO_SIDED = ("gap", "soft", "root")
TABLES: dict[str, dict[str, str]] = {
    "points": {"interpolation": "linear", "outside": "hold"},
    "smooth": {"interpolation": "pchip", "outside": "linear"},
}


@dataclass(frozen=True)
class Compiled:
    """The laws, and the C made of them, called through `value`, `slope`, `sides` and `area`."""

    laws: Laws
    slots: Mapping[str, LawInSlot]
    library: ctypes.CDLL

    def _call(self, kind: str, slot: str, points: np.ndarray, size: int = 1) -> np.ndarray:
        """The function of the slot at each row of points, shape (n, size)."""
        points = np.ascontiguousarray(points, dtype=np.float64)
        function = getattr(self.library, f"{kind}_{slot}")
        scalars = np.array([*scalar_values(self.laws).values()])
        out = np.full((len(points), size), np.nan)
        as_doubles = ctypes.POINTER(ctypes.c_double)
        function(*(a.ctypes.data_as(as_doubles) for a in (scalars, points, out)), ctypes.c_int(len(points)))
        return out

    def value(self, slot: str, points: np.ndarray) -> np.ndarray:
        return self._call("value", slot, points)[:, 0]

    def slopes(self, slot: str, points: np.ndarray) -> np.ndarray:
        """Shape (n, arguments)."""
        return self._call("slope", slot, points, points.shape[1])

    def sides(self, slot: str, points: np.ndarray) -> np.ndarray:
        return self._call("sides", slot, points, len(self.slots[slot].kinks))

    def area(self, slot: str, points: np.ndarray) -> np.ndarray:
        """Integral and its derivative, shape (n, 2)."""
        return self._call("area", slot, points, 2)

    def exact(self, slot: str, points: np.ndarray, by: str | None = None) -> tuple[np.ndarray, np.ndarray]:
        law = self.slots[slot].law
        names = [name for name, _ in law.parameters]
        found = evaluate(law, self.laws, dict(zip(names, points.T, strict=True)), by)
        return found.value, found.slope


def points_laws() -> Laws:
    x = np.array([0.0, 0.5e-3, 1e-3, 2e-3, 5e-3])
    y = np.array([0.0, 20.0, 80.0, 100.0, 900.0])
    tables = {
        name: LawFunction(
            name,
            (("h", parse_unit("m")),),
            LawTable(tuple(x), tuple(y), "h", parse_unit("m"), parse_unit("N"), **entry),  # type: ignore[arg-type]
            read_value("1[N]", "", {}, parse_unit("N")).dimension,
        )
        for name, entry in TABLES.items()
    }
    return Laws({}, tables)


def slots_of(laws: Laws) -> dict[str, LawInSlot]:
    found = {}
    for slot, (text, arguments, unit, _) in SLOTS.items():
        law = read_value(text, slot, {name: parse_unit(UNITS[name]) for name in arguments}, parse_unit(unit), laws)
        body = inlined(law, laws, slot)
        area = None
        below = integral_below(body, "h") if slot in TWO_SIDED else None
        if slot in INTEGRALS + TWO_SIDED:
            table = laws.functions[body.name].body if isinstance(body, Call) and body.name in laws.functions else None
            area = table if isinstance(table, LawTable) else integral(body, arguments[0])
        wanted = slot in INTEGRALS + TWO_SIDED
        found[slot] = LawInSlot(slot, law, kinks(body, laws, slot), area, wanted, slot in TWO_SIDED, below)
    return found


HARNESS = """
#include "base/real.h"
typedef struct {{ struct {{ Real {members}; }} laws; }} Element;
typedef struct {{ double {kinks}; }} Indicators;
#include "laws.h"
static Element element(const double *s)
{{
    Element e;
    for (int i = 0; i < (int)(sizeof e / sizeof(Real)); i++)
        ((Real *)&e)[i] = s[i];
    laws_calculate(&e);
    return e;
}}
#define EXPORT __attribute__((visibility("default"))) void
"""


def harness(laws: Laws, slots: Mapping[str, LawInSlot], dual: bool) -> str:
    kinks_members = ", ".join(f"{kinks_of(name)}[{len(slot.kinks) or 1}]" for name, slot in slots.items())
    lines = ["#define CC_DUAL" if dual else "", HARNESS.format(members=", ".join(laws.scalars), kinks=kinks_members)]

    def export(kind: str, name: str, size: int, body: str) -> None:
        count = len(slots[name].names)
        lines.append(f"EXPORT {kind}_{name}(const double *s, const double *a, double *out, int n) {{")
        lines.append(
            f"    Element e = element(s);\n    for (; n > 0; n--, a += {count}, out += {size}) {{ {body} }}\n}}"
        )

    for name, slot in slots.items():
        count = len(slot.names)
        if dual:
            seeds = [
                [f"cc_real(a[{i}], {'CC_DUAL_STEP' if i == k else '0.0'})" for i in range(count)] for k in range(count)
            ]
            slopes = [
                f"out[{k}] = __imag__ slot_{name}(&e, {', '.join(seeds[k])}) / CC_DUAL_STEP;" for k in range(count)
            ]
            export("slope", name, count, " ".join(slopes))
            if slot.wants_integral:
                area = f"Real r = slot_{name}_integral(&e, {', '.join(seeds[0])});"
                export("area", name, 2, f"{area} out[0] = re(r); out[1] = __imag__ r / CC_DUAL_STEP;")
        else:
            given = ", ".join(f"a[{i}]" for i in range(count))
            export("value", name, 1, f"*out = slot_{name}(&e, {given});")
            export("sides", name, len(slot.kinks), f"slot_{name}_kinks(&e, {given}, out);")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    laws = read_laws(Source(TEXT, "text"), points_laws())
    slots = slots_of(laws)
    folder = tmp_path_factory.mktemp("laws")
    (folder / "laws.h").write_text(laws_header(laws, [*slots.values()], "/* Test. */"), encoding="utf-8")
    for name, dual in (("real.c", False), ("dual.c", True)):
        (folder / name).write_text(harness(laws, slots, dual), encoding="utf-8")
    compiler = find_compiler()
    assert compiler is not None
    library = folder / "laws.so"
    sources = [folder / "real.c", folder / "dual.c"]
    compile_hosted(sources, library, [folder, shipped("contact_core")], compiler, ("-O0",))
    return Compiled(laws, slots, ctypes.CDLL(str(library)))


def random_points(slot: str, seed: int, count: int = 400) -> np.ndarray:
    ranges = np.array(SLOTS[slot][3])
    return np.random.default_rng(seed).uniform(ranges[:, 0], ranges[:, 1], (count, len(ranges)))


@given(seed=st.integers(0, 2**31))
@settings(max_examples=20)
@pytest.mark.parametrize("slot", SLOTS)
def test_the_c_has_the_values_of_numpy(compiled: Compiled, slot: str, seed: int) -> None:
    points = random_points(slot, seed)
    expected = compiled.exact(slot, points)[0]
    # sums of terms as large as the largest one: the last digit is that of the term
    assert compiled.value(slot, points) == pytest.approx(expected, rel=1e-14, abs=1e-14 * np.max(np.abs(expected)))


@pytest.mark.parametrize(
    ("slot", "places"), [("chain", (0.5, 1.0, 1.5, 2.0, 4.0)), ("every", (1.0, 2.0, 2.5, 3.0)), ("gap", (2e-3, -2e-3))]
)
def test_values_where_the_formula_changes_are_those_of_numpy(
    compiled: Compiled, slot: str, places: tuple[float, ...]
) -> None:
    """sign(0) is 0, and a comparison decides at its own bound; the gap is w/2 wide."""
    points = np.array([[x, 4e-3] if slot == "gap" else [x] for x in places])
    assert compiled.value(slot, points) == pytest.approx(compiled.exact(slot, points)[0], rel=1e-14)


@pytest.mark.parametrize("slot", SLOTS)
def test_dual_numbers_have_the_slopes_of_numpy(compiled: Compiled, slot: str) -> None:
    points = random_points(slot, 1)
    slopes = compiled.slopes(slot, points)
    for k, name in enumerate(compiled.slots[slot].names):
        expected = compiled.exact(slot, points, by=name)[1]
        assert slopes[:, k] == pytest.approx(expected, rel=1e-12, abs=1e-13 * np.max(np.abs(expected)) + 1e-300)


def test_every_comparison_and_kink_of_a_law_has_a_function_that_changes_sign_there(compiled: Compiled) -> None:
    places = {
        "fd": [-(1 - 0.16) * 0.75 / 0.79, (1 - 0.16) * 0.25 / 0.79],
        "stop": [2e-3],
        "chain": [0.5, 1.0, 1.5, 2.0, 4.0],
        "every": [1.0, 2.0, 2.5, 3.0],
        "points": [0.0, 0.5e-3, 1e-3, 2e-3, 5e-3],
        "hertz": [],
    }
    for slot, expected in places.items():
        ((low, high),) = SLOTS[slot][3]
        x = np.linspace(low - 0.01 * (high - low), high, 40_001)
        sides = compiled.sides(slot, x[:, None])
        changes = np.nonzero(np.diff(sides > 0.0, axis=0).any(axis=1))[0]
        assert x[changes] == pytest.approx(sorted(expected), abs=(high - low) / 20_000), slot
        for k, kink in enumerate(compiled.slots[slot].kinks):
            law = LawFunction("", compiled.slots[slot].law.parameters, kink, None)
            ((name, _),) = law.parameters
            exact = evaluate(law, compiled.laws, {name: x[::200]}).value
            assert sides[::200, k] == pytest.approx(exact, rel=1e-13, abs=1e-18)


def test_the_side_of_a_kink_is_the_side_that_the_operator_selects(compiled: Compiled) -> None:
    """#x < 1, #x <= 0.5, #x >= 2 at their own bounds: above zero is true of < and >, false of <= and >=."""
    at = compiled.sides("chain", np.array([[1.0], [0.5], [2.0]]))
    assert list(np.diag(at[:, [0, 1, 3]])) == [0.0, 0.0, 0.0]
    around = compiled.sides("chain", np.array([[0.999], [0.499], [1.999]]))
    assert list(np.diag(around[:, [0, 1, 3]]) > 0.0) == [True, False, True]


@pytest.mark.parametrize("slot", INTEGRALS)
def test_integrals_are_those_of_quadrature_and_their_derivative_is_the_law(compiled: Compiled, slot: str) -> None:
    h = np.array([0.0, 1e-7, 0.4e-3, 1.1e-3, 2e-3, 3.3e-3, 6e-3])
    found = compiled.area(slot, h[:, None])

    def force(at: float) -> float:
        return float(compiled.exact(slot, np.array([[at]]))[0][0])

    kinks_at = [0.5e-3, 1e-3, 2e-3, 5e-3]
    exact = [
        quad(force, 0.0, one, points=[k for k in kinks_at if k < one], epsabs=0.0, epsrel=1e-12, limit=200)[0]
        for one in h[1:]
    ]
    assert found[0, 0] == 0.0
    assert found[1:, 0] == pytest.approx(exact, rel=1e-11)
    assert found[1:, 1] == pytest.approx([force(one) for one in h[1:]], rel=1e-9)


@pytest.mark.parametrize("slot", TWO_SIDED)
def test_integrals_go_to_both_sides_while_other_arguments_stay(compiled: Compiled, slot: str) -> None:
    for w in (1.2e-3, 3e-3):
        h = np.array([-5e-3, -1.5e-3, -0.3e-3, 0.0, 0.4e-3, 1.6e-3, 5e-3])

        def force(at: float, w: float = w) -> float:
            return float(compiled.exact(slot, np.array([[at, w]]))[0][0])

        kinks_at = [-0.5 * w, -0.5e-3, 0.0, 0.5 * w]
        exact = [quad(force, 0.0, one, points=kinks_at, epsabs=0.0, epsrel=1e-12, limit=200)[0] for one in h]
        found = compiled.area(slot, np.column_stack([h, np.full(7, w)]))
        assert found[:, 0] == pytest.approx(exact, rel=1e-11, abs=1e-12)
        assert found[:, 1] == pytest.approx([force(one) for one in h], rel=1e-9)


def test_sums_of_powers_and_waves_chains_of_them_and_tables_have_integrals_in_closed_form(compiled: Compiled) -> None:
    closed = {slot for slot in INTEGRALS if compiled.slots[slot].integral is not None}
    assert compiled.slots["gap"].integral is not None
    assert compiled.slots["gap"].integral_below is not None
    assert compiled.slots["root"].integral_below is None
    assert closed == {*CLOSED, "points", "smooth"}


@pytest.mark.parametrize("k", [-2e5, 0.0, 1e5])
def test_the_integral_of_a_minimum_follows_the_sign_of_a_scalar(compiled: Compiled, k: float) -> None:
    """min(k h, 2 k h0), of which the second is smaller below h = 2 h0 for k < 0: k is a parameter of the FMU."""
    laws = compiled.laws
    law = LawFunction("", (("h", parse_unit("m")),), laws.functions["bounded"].body, None)
    area = LawFunction("", law.parameters, compiled.slots["bounded"].integral, None)
    for h in (0.2e-3, 0.9e-3, 1.4e-3, 5e-3):
        found = evaluate(area, laws, {"h": np.array([h])}, scalars={"k": k}).value[0]
        parts = [(0.0, min(h, 1e-3)), (min(h, 1e-3), min(h, 2e-3)), (min(h, 2e-3), h)]
        force = lambda at: float(evaluate(law, laws, {"h": np.array([at])}, scalars={"k": k}).value[0])  # noqa: E731
        exact = sum(quad(force, a, b, epsabs=0.0, epsrel=1e-12)[0] for a, b in parts)
        assert found == pytest.approx(exact, rel=1e-11, abs=1e-300)


MANY = 3000
MEMORY = """
#include "base/real.h"
typedef struct {{ struct {{ Real {members}; }} laws; struct {{ Real {kept}; }} previous_laws; }} Element;
typedef struct {{ double x; }} Indicators;
#include "laws.h"
#define EXPORT __attribute__((visibility("default")))
EXPORT void keep(double *s) {{ laws_remember((Element *)s); }}
EXPORT void exchange(double *s) {{ laws_exchange((Element *)s); }}
EXPORT int changed(const double *s) {{ return laws_changed((const Element *)s); }}
"""


def test_thousands_of_scalars_are_remembered_exchanged_and_compared_each_by_itself(tmp_path: Path) -> None:
    """Some are computed and have no memory, so that what lies together is interrupted; both ends of it are tried.  As a
    condition of so many the comparison takes a compiler minutes."""
    computed = {f"s{k}" for k in (4, 2000)}
    text = "\n".join(f"scalar s{k} = {'2*s0' if f's{k}' in computed else f'{k + 1}[N/m]'};" for k in range(MANY))
    laws = read_laws(Source(text + "function f(h[m]) = s0*#h;", "many"))
    kept = [name for name in laws.scalars if name not in computed]
    law = read_value("f", "slot", {"h": parse_unit("m")}, parse_unit("N"), laws)
    slot = LawInSlot("F", law, (), integral(inlined(law, laws, ""), "h"), wants_integral=True)
    (tmp_path / "laws.h").write_text(laws_header(laws, [slot], "/* laws */", kept), encoding="utf-8")
    (tmp_path / "memory.c").write_text(
        MEMORY.format(members=", ".join(laws.scalars), kept=", ".join(kept)), encoding="utf-8"
    )
    compiler = find_compiler()
    assert compiler is not None
    compile_hosted(
        [tmp_path / "memory.c"], tmp_path / "memory.so", [tmp_path, shipped("contact_core")], compiler, ("-w",)
    )
    library = ctypes.CDLL(str(tmp_path / "memory.so"))
    block = (ctypes.c_double * (MANY + len(kept)))(*range(1, MANY + 1))
    place = {name: i for i, name in enumerate(laws.scalars)}
    numbers = [place[name] for name in kept]
    library.keep(block)
    assert [block[i] for i in numbers] == block[MANY:]
    assert not library.changed(block)
    for name in ("s0", "s3", "s5", "s1999", "s2001", "s2999"):
        block[place[name]] += 0.5
        assert library.changed(block), name
        library.exchange(block)
        assert block[MANY + kept.index(name)] == place[name] + 1.5 and block[place[name]] == place[name] + 1.0
        library.keep(block)
        assert not library.changed(block)


SHARED = """
{dual}
#include "base/real.h"
typedef struct {{ struct {{ Real k; }} laws; }} Element;
typedef struct {{ double F_kinks[1]; }} Indicators;
#include "laws.h"
#define EXPORT __attribute__((visibility("default")))
EXPORT void value(const double *h, double *out)
{{
    Element e = {{{{2.0}}}};
    Real found = slot_F(&e, {argument});
    out[0] = re(found), out[1] = {slope};
}}
EXPORT void kink(double h, double *z) {{ Element e = {{{{2.0}}}}; slot_F_kinks(&e, h, z); }}
"""


def shared_law() -> tuple[Laws, LawInSlot]:
    """Thirty levels, each of which uses the one before twice: 2^30 operators when it is written out."""
    body = "#h > 1[mm] -> {0}(#h) + {0}(#h)/2, {0}(#h) - {0}(#h)/4"
    lines = ["scalar k = 2[N/m];", "function f0(h[m]) = k*#h;"]
    lines += [f"function f{i}(h[m]) = {body.format(f'f{i - 1}')};" for i in range(1, 31)]
    laws = read_laws(Source("\n".join(lines), "shared"))
    law = read_value("f30", "slot", {"h": parse_unit("m")}, parse_unit("N"), laws)
    return laws, LawInSlot("F", law, kinks(inlined(law, laws, ""), laws, ""))


@pytest.mark.parametrize("dual", [False, True], ids=["value", "derivative"])
def test_what_functions_use_twice_is_computed_once(dual: bool, tmp_path: Path) -> None:
    """f = k h 1.5^30 above 1 mm and k h 0.75^30 below; the sources are a few lines for each level."""
    laws, slot = shared_law()
    header = laws_header(laws, [slot], "/* laws */")
    assert "Real shared_0 = law_f29(e, a_h);" in header and len(header) < 30_000
    (tmp_path / "laws.h").write_text(header, encoding="utf-8")
    argument, slope = ("cc_real(*h, CC_DUAL_STEP)", "__imag__ found / CC_DUAL_STEP") if dual else ("*h", "0.0")
    text = SHARED.format(dual="#define CC_DUAL" * dual, argument=argument, slope=slope)
    (tmp_path / "shared.c").write_text(text, encoding="utf-8")
    compiler = find_compiler()
    assert compiler is not None
    folders = [tmp_path, shipped("contact_core")]
    compile_hosted([tmp_path / "shared.c"], tmp_path / "shared.so", folders, compiler, ("-w", "-O0"))
    library = ctypes.CDLL(str(tmp_path / "shared.so"))
    for h, factor in ((2e-3, 1.5), (0.25e-3, 0.75)):
        out = (ctypes.c_double * 2)()
        library.value(ctypes.byref(ctypes.c_double(h)), out)
        assert out[0] == pytest.approx(2.0 * h * factor**30, rel=1e-13)
        assert out[1] == pytest.approx(2.0 * factor**30 * dual, rel=1e-13)
