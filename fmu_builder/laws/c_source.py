"""C of user laws over Real (contact_core/laws/law.h): derivatives come with it, compiled from the same text.

A function f becomes `law_f(e, ...)`, a slot s `slot_s(e, ...)` with `slot_s_indicators` and, where the slot declares
it, `slot_s_integral`.  A scalar a is `e->laws.a`.  Constants are hexadecimal, so no parser rounds."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fmu_builder.laws.definitions import LawFunction, Laws
from fmu_builder.laws.forms import MEAN, MEANS, SIDE
from fmu_builder.laws.numeric import half_power
from fmu_builder.laws.shared import WRITTEN_OUT, Shapes, repeated, walk_once, written_size
from fmu_builder.laws.tables import LawTable
from fmu_builder.laws.tree import (
    Argument,
    Binary,
    Branch,
    Call,
    Comparison,
    Expression,
    Inverse,
    Logic,
    Name,
    Negative,
    Node,
    Number,
)


@dataclass(frozen=True)
class LawInSlot:
    """A law with the functions that an element calls.

    kinks           see forms.kinks
    integral        over its first argument from 0, in closed form; None for quadrature
    wants_integral  the slot declares `integral`
    two_sided       also to negative values; integral_below is then that of -f(-x)
    derivatives     by its only argument, as many as the slot declares
    each            the law serves each of a size
    group, number   as the slot declares"""

    slot: str
    law: LawFunction
    kinks: tuple[Expression, ...]
    integral: Expression | LawTable | None = None
    wants_integral: bool = False
    two_sided: bool = False
    integral_below: Expression | None = None
    derivatives: tuple[Expression, ...] = ()
    each: bool = False
    group: str = ""
    number: int = 0

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.law.parameters]


def kinks_of(slot: str) -> str:
    """The member of the struct `Indicators` that holds the kinks of the law in the slot."""
    return f"{slot}_kinks"


def ending_tables(laws: Laws) -> dict[str, LawTable]:
    """The tables that have no value outside, by the name of the law."""
    tables = {name: one.body for name, one in laws.functions.items() if isinstance(one.body, LawTable)}
    return {name: table for name, table in tables.items() if table.outside == "error"}


def laws_header(
    laws: Laws, slots: Sequence[LawInSlot], heading: str, remembered: Sequence[str] = (), first: int = 1
) -> str:
    """laws.h: C of the laws and slots, for an Element whose member `laws` holds the scalars.

    remembered  scalars of which the element keeps the values of the last accepted point, as `previous_laws`
    first       number of the first of the `ending_tables` in the FMU"""
    numbers = {name: number for number, name in enumerate(ending_tables(laws), first)}
    computed = [name for name, scalar in laws.scalars.items() if scalar.number is None]
    lines = [
        heading,
        "#ifndef LAWS_H",
        "#define LAWS_H",
        "",
        '#include "laws/law.h"',
        "",
        "/* Scalars that follow from others. */",
        "CC_API void laws_calculate(Element *e)",
        "{",
        *(f"    e->laws.{name} = {_c(laws.scalars[name].value, laws)};" for name in computed),
        "    (void)e;",
        "}",
        "",
        *(line for name, function in laws.functions.items() for line in _function(name, function, laws, numbers)),
        *(line for slot in slots for line in _slot(slot, laws)),
        *(line for group in dict.fromkeys(s.group for s in slots if s.group) for line in _group(group, slots)),
    ]
    if any(slot.wants_integral for slot in slots):
        lines += _memory(remembered, laws)
    lines += ["#endif", ""]
    return "\n".join(part for line in lines for part in _wrapped(line))


def _wrapped(line: str) -> list[str]:
    if len(line) <= 120 or line.startswith(("#", "/*")):
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(line, 118, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def constant(value: float) -> str:
    """A C constant with the same bits."""
    return f"{value:.1f}" if value == int(value) and abs(value) < 1e15 else value.hex()


_BUILTINS = {
    **{name: f"cc_{name}" for name in ("sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "tanh", "sqrt")},
    **{name: f"cc_{name}" for name in ("abs", "sign", "min", "max", "atan2", "pow")},
    **{MEAN + name: f"cc_mean_{name}" for name in MEANS},
}


def _c(node: Node, laws: Laws, names: Mapping[int, str] | None = None) -> str:
    """C of the expression.   names: of those parts, by id, that have a value already"""
    if names and id(node) in names:
        return names[id(node)]
    match node:
        case Number():
            return constant(node.value)
        case Argument():
            return f"a_{node.name}"
        case Name():
            return f"e->laws.{node.name}"
        case Negative():
            return f"(-{_c(node.operand, laws, names)})"
        case Binary(operator="^"):
            halves = half_power(node)
            base = _c(node.left, laws, names)
            if halves is not None:
                return f"cc_half_power({base}, {halves})"
            return f"cc_pow({base}, {_c(node.right, laws, names)})"
        case Binary():
            return f"({_c(node.left, laws, names)} {node.operator} {_c(node.right, laws, names)})"
        case Comparison():
            return f"re({_c(node.left, laws, names)}) {node.operator} re({_c(node.right, laws, names)})"
        case Logic():
            return f"(({_c(node.left, laws, names)}) {node.operator} ({_c(node.right, laws, names)}))"
        case Inverse():
            return f"!({_c(node.operand, laws, names)})"
        case Branch():
            return (
                f"({_c(node.condition, laws, names)} ? {_c(node.value, laws, names)} : {_c(node.other, laws, names)})"
            )
        case Call():
            arguments = ", ".join(_c(argument, laws, names) for argument in node.arguments)
            if node.name.startswith(SIDE):
                return f"cc_table_side(&law_{node.name.removeprefix(SIDE)}_table, {arguments})"
            return (
                f"law_{node.name}(e, {arguments})"
                if node.name in laws.functions
                else f"{_BUILTINS[node.name]}({arguments})"
            )


def _shared(values: Sequence[Expression], laws: Laws) -> tuple[list[str], list[str]]:
    """Lines that give what is repeated in large expressions a name, and C of the expressions."""
    if sum(written_size(value, laws.written_sizes) for value in values) <= WRITTEN_OUT:
        return [], [_c(value, laws) for value in values]
    shapes = Shapes()
    roots: list[Expression] = [shapes.one(value) for value in values]  # type: ignore[misc]
    lines: list[str] = []
    names: dict[int, str] = {}
    for number, node in enumerate(repeated(*roots)):
        lines.append(f"    Real shared_{number} = {_c(node, laws, names)};")
        names[id(node)] = f"shared_{number}"
    return lines, [_c(root, laws, names) for root in roots]


def _signature(name: str, parameters: Sequence[str]) -> str:
    return f"CC_API Real {name}(const Element *e, {', '.join(f'Real a_{one}' for one in parameters)})"


def _voids(bodies: Sequence[Expression], parameters: Sequence[str]) -> list[str]:
    """Casts to void of unused parameters."""
    used = {node.name for body in bodies for node in walk_once(body) if isinstance(node, Argument)}
    return ["    (void)e;", *(f"    (void)a_{name};" for name in parameters if name not in used)]


def _body(signature: str, value: Expression, parameters: Sequence[str], laws: Laws) -> list[str]:
    lines, (text,) = _shared([value], laws)
    return [signature, "{", *_voids([value], parameters), *lines, f"    return {text};", "}", ""]


def _function(name: str, function: LawFunction, laws: Laws, numbers: Mapping[str, int]) -> Iterator[str]:
    names = [parameter for parameter, _ in function.parameters]
    units = ", ".join(f"{n}[{'' if u.name == '1' else u.name}]" for n, u in function.parameters)
    yield f"/* {name}({units}) */"
    if isinstance(function.body, LawTable):
        yield from _table(f"law_{name}_table", function.body, numbers.get(name, 0))
        call = f"cc_table(&law_{name}_table, a_{names[0]})"
        yield from (_signature(f"law_{name}", names), "{", "    (void)e;", f"    return {call};", "}", "")
    else:
        yield from _body(_signature(f"law_{name}", names), function.body, names, laws)


def _table(name: str, table: LawTable, number: int) -> Iterator[str]:
    """The points, the cubic of each interval, the line on either side, the integrals; its number as an ending table."""
    slopes = table.end_slopes if table.outside == "linear" else (0.0, 0.0)
    yield f"static const double {name}_x[] __attribute__((unused)) = {{{', '.join(map(constant, table.x))}}};"
    rows = (f"{{{', '.join(constant(float(c)) for c in row)}}}" for row in table.coefficients)
    yield f"static const double {name}_c[][4] __attribute__((unused)) = {{{', '.join(rows)}}};"
    integrals = ", ".join(constant(float(one)) for one in table.integrals)
    yield f"static const double {name}_integrals[] __attribute__((unused)) = {{{integrals}}};"
    ends = ", ".join(constant(one) for one in (table.y[0], slopes[0], table.y[-1], slopes[1]))
    yield f"static const CcTable {name} __attribute__((unused)) ="
    yield f"    {{{name}_x, {name}_c, {name}_integrals, {len(table.x)}, {number}, {{{ends}}}}};"


def _slot(slot: LawInSlot, laws: Laws) -> Iterator[str]:
    name, names = f"slot_{slot.slot}", slot.names
    yield f"/* --- the law in the slot {slot.slot} --- */"
    yield ""
    body = slot.law.body
    assert not isinstance(body, LawTable)  # a table in a slot is a call of a function
    yield from _body(_signature(name, names), body, names, laws)
    parameters = "".join(f", Real a_{one}" for one in names)
    yield "/* Functions that change sign where the law has a kink or a jump. */"
    yield f"CC_API void {name}_kinks(const Element *e{parameters}, double z[])"
    yield "{"
    yield from _voids(slot.kinks, names)
    lines, texts = _shared(slot.kinks, laws)
    yield from lines
    for k, text in enumerate(texts):
        yield f"    z[{k}] = cc_side({text});"
    yield "    (void)z;"
    yield "}"
    yield ""
    yield "/* They are indicators of the element. */"
    index, place = (", int i", "[i]") if slot.each else ("", "")
    yield f"CC_API void {name}_indicators(const Element *e{index}{parameters}, Indicators *z)"
    yield "{"
    if slot.kinks:
        yield f"    {name}_kinks(e{''.join(f', a_{one}' for one in names)}, z->{kinks_of(slot.slot)}{place});"
    else:
        unused = ["e", *(["i"] if slot.each else []), *(f"a_{one}" for one in names), "z"]
        yield f"    {', '.join(f'(void){one}' for one in unused)};"
    yield "}"
    yield ""
    for order, expression in enumerate(slot.derivatives, 1):
        yield from _body(_signature(f"{name}_d{order}", names), expression, names, laws)
    if slot.wants_integral:
        yield from _integral(slot, laws)


def _group(group: str, slots: Sequence[LawInSlot]) -> Iterator[str]:
    """The laws of one group by their numbers; LAWS_<GROUP> is defined where there are any."""
    members = [slot for slot in slots if slot.group == group]
    parameters = "".join(f", Real a_{one}" for one in members[0].names)
    arguments = "".join(f", a_{one}" for one in members[0].names)
    yield f"#define LAWS_{group.upper()} 1"
    yield f"/* Value and derivatives of the law `number` of the group {group}; 0 if there is none. */"
    yield f"CC_API int laws_{group}(const Element *e, int number{parameters}, Real values[])"
    yield "{"
    yield "    switch (number) {"
    for slot in members:
        yield f"    case {slot.number}:"
        for order in range(len(slot.derivatives) + 1):
            yield f"        values[{order}] = slot_{slot.slot}{f'_d{order}' if order else ''}(e{arguments});"
        yield "        return 1;"
    yield from ("    default: return 0;", "    }", "}", "")
    yield "/* Its indicators. */"
    yield f"CC_API void laws_{group}_indicators(const Element *e, int number{parameters}, Indicators *z)"
    yield "{"
    yield "    switch (number) {"
    for slot in members:
        yield f"    case {slot.number}: slot_{slot.slot}_indicators(e{arguments}, z); break;"
    yield from ("    }", "}", "")


def _integral(slot: LawInSlot, laws: Laws) -> Iterator[str]:
    name, (argument, *others) = f"slot_{slot.slot}", slot.names
    signature = _signature(f"{name}_integral", slot.names)
    domain = "" if slot.two_sided else f", for {argument} >= 0"
    yield f"/* The integral of the law over {argument} from 0{domain}. */"
    if isinstance(slot.integral, LawTable):
        body = slot.law.body
        assert isinstance(body, Call)
        call = f"cc_table_integral(&law_{body.name}_table, a_{argument})"
        yield from (signature, "{", "    (void)e;", f"    return {call};", "}", "")
        return
    if not slot.two_sided:
        yield from _half_integral(slot, "", slot.integral, laws)
        return
    yield from _half_integral(slot, "_above", slot.integral, laws)
    yield from _half_integral(slot, "_below", slot.integral_below, laws)
    passed = "".join(f", a_{one}" for one in others)
    above, below = f"{name}_integral_above(e, a_{argument}{passed})", f"{name}_integral_below(e, -a_{argument}{passed})"
    yield from (signature, "{", f"    return re(a_{argument}) < 0.0 ? {below} : {above};", "}", "")


def _half_integral(slot: LawInSlot, half: str, closed: Expression | None, laws: Laws) -> Iterator[str]:
    """The integral for a first argument >= 0; `_below`: of the law turned round."""
    name, (argument, *others) = f"slot_{slot.slot}", slot.names
    signature = _signature(f"{name}_integral{half}", slot.names)
    if closed is not None:
        yield from _body(signature, closed, slot.names, laws)
        return
    sign = "-" if half == "_below" else ""
    fixed, passed = "(const Element *)e", ""
    if others:
        yield f"typedef struct {{ const Element *e; Real other[{len(others)}]; }} {name}_fixed{half};"
        fixed = f"((const {name}_fixed{half} *)e)->e"
        passed = "".join(f", ((const {name}_fixed{half} *)e)->other[{i}]" for i in range(len(others)))
    yield f"CC_API Real {name}_at{half}(const void *e, Real a) {{ return {sign}{name}({fixed}, {sign}a{passed}); }}"
    yield f"CC_API void {name}_kinks_at{half}(const void *e, double a, double *z)"
    yield f"{{ {name}_kinks({fixed}, {sign}a{passed}, z); }}"
    yield from (signature, "{")
    if others:
        yield f"    const {name}_fixed{half} fixed = {{e, {{{', '.join(f'a_{one}' for one in others)}}}}};"
    whole = "&fixed" if others else "e"
    call = f"cc_law_integral({name}_at{half}, {name}_kinks_at{half}, {len(slot.kinks)}, {whole}, a_{argument})"
    yield from (f"    return {call};", "}", "")


_FEW = 8  # scalars that are handled one by one


_MEMORY = (  # comment, function, what it does with each scalar, last line
    ("Scalars at the last accepted point.", "laws_remember", "{previous} = {now};", "(void)e;"),
    (
        "Exchanges the scalars with those of the last accepted point.",
        "laws_exchange",
        "cc_exchange(&{now}, &{previous});",
        "laws_calculate(e);",
    ),
)


def _memory(names: Sequence[str], laws: Laws) -> Iterator[str]:
    """Of scalars that lie together, more than a few, loops: a compiler takes minutes over a condition of thousands."""
    runs = list(_runs(names, list(laws.scalars)))
    for first, last, count in runs:
        for group in ("laws", "previous_laws"):
            ends = (f"__builtin_offsetof(Element, {group}.{one})" for one in (last, first))
            yield f'_Static_assert({" - ".join(ends)} == {count - 1} * sizeof(Real), "they lie together");'
    single = _single(names, runs)
    for about, function, statement, end in _MEMORY:
        yield f"/* {about} */"
        yield f"CC_API void {function}(Element *e)"
        yield "{"
        for name in single:
            yield f"    {statement.format(now=f'e->laws.{name}', previous=f'e->previous_laws.{name}')}"
        for run in runs:
            yield from _loop(run, statement.format(now="now[i]", previous="previous[i]"))
        yield f"    {end}"
        yield "}"
        yield ""
    yield "CC_API int laws_changed(const Element *e)"
    yield "{"
    yield "    (void)e;"
    for run in runs:
        yield from _loop(run, "if (re(now[i]) != re(previous[i])) return 1;", "const ")
    differences = " || ".join(f"re(e->laws.{name}) != re(e->previous_laws.{name})" for name in single)
    yield f"    return {differences or '0'};"
    yield "}"
    yield ""


_Run = tuple[str, str, int]  # its first and last name, and how many it has


def _runs(names: Sequence[str], members: Sequence[str]) -> Iterator[_Run]:
    """Runs of more than a few names that follow each other among the members too."""
    place = {name: i for i, name in enumerate(members)}
    begin = 0
    for end in range(1, len(names) + 1):
        if end == len(names) or place[names[end]] != place[names[end - 1]] + 1:
            if end - begin > _FEW:
                yield names[begin], names[end - 1], end - begin
            begin = end


def _single(names: Sequence[str], runs: Sequence[_Run]) -> list[str]:
    """The names that are in none of the runs."""
    counts = {first: count for first, _, count in runs}
    found: list[str] = []
    left = 0
    for name in names:
        left = counts.get(name, left)
        if left == 0:
            found.append(name)
        left = max(left - 1, 0)
    return found


def _loop(run: _Run, what: str, qualifier: str = "") -> Iterator[str]:
    first, _, count = run
    yield f"    for (int i = 0; i < {count}; i++) {{"
    for pointer, group in (("now", "laws"), ("previous", "previous_laws")):
        place = f"__builtin_offsetof(Element, {group}.{first}) / sizeof(Real)"
        yield f"        {qualifier}Real *{pointer} = ({qualifier}Real *)e + {place};"
    yield f"        {what}"
    yield "    }"
