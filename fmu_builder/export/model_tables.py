"""model_tables.h: tables of the FMI layer: variables, log categories, tables of laws."""

from __future__ import annotations

from fmu_builder.export.c_text import c_literal, c_number, c_table, counting_table, int_table, name_literals
from fmu_builder.export.fmi3_variables import Fmi, fmi3_variables
from fmu_builder.export.model_data import heading, index_tables, tables_without_ends
from fmu_builder.export.resources import resource_tables
from fmu_builder.model.assembly import AssemblyModel
from fmu_builder.model.declaration import LONGEST_TEXT
from fmu_builder.model.model import ElementModel, Model, Variable

_KINDS = {
    "time": "CC_TIME",
    "fixed": "CC_FIXED",
    "tunable": "CC_TUNABLE",
    "calculated": "CC_OUTPUT",
    "input": "CC_INPUT",
    "state": "CC_STATE",
    "derivative": "CC_DERIVATIVE",
    "output": "CC_OUTPUT",
    "memory": "CC_MEMORY",
}
_TYPES = {"real": "CC_REAL", "int": "CC_INTEGER", "bool": "CC_BOOLEAN", "enum": "CC_INTEGER"}
_CLOCKS = {
    "input": "CC_CLOCK_INPUT",
    "output": "CC_CLOCK_OUTPUT",
    "constant": "CC_CLOCK_CONSTANT",
    "countdown": "CC_CLOCK_COUNTDOWN",
}
_HUGE = "1.7976931348623157e308"

# Standard categories that contact_core logs in; an element adds its own.
LOG_CATEGORIES = {
    "logStatusWarning": "Calls that were answered with fmi2Warning",
    "logStatusDiscard": "Values of inputs that were refused, calls that were answered with fmi2Discard",
    "logStatusError": "Calls that were answered with fmi2Error; logged also while logging is off",
}
# Beside them those of an element with the switch `statuses` of [structure].
FATAL_CATEGORY = {"logStatusFatal": "Calls that were answered with fmi2Fatal; logged also while logging is off"}
PENDING_CATEGORY = {"logStatusPending": "Steps that are answered with fmi2Pending"}  # not in FMI 3.0


def log_categories(model: Model, fmi: Fmi = 2) -> dict[str, str]:
    """Names and descriptions of all categories this FMU logs in."""
    found = dict(LOG_CATEGORIES)
    if isinstance(model, ElementModel) and model.recipe.choices.get("statuses") is True:
        found |= FATAL_CATEGORY | (PENDING_CATEGORY if fmi == 2 else {})
    return {**{name: text.replace("fmi2", f"fmi{fmi}") for name, text in found.items()}, **model.log}


def _law_tables(model: Model) -> list[str]:
    """What the FMI layer reports of a table without values outside, in the unit of the table."""
    of_types = [(kind.model, f"{kind.name}: ") for kind in model.types] if isinstance(model, AssemblyModel) else []
    models = of_types or ([(model, "")] if isinstance(model, ElementModel) else [])
    tables = [(f"{part}{name}", one) for owner, part in models for name, one in tables_without_ends(owner).items()]
    if not tables:
        return ["#define CC_LAW_TABLES 0"]
    rows = []
    for name, table in tables:
        unit, ends = table.unit, ((x - table.unit.offset) / table.unit.factor for x in (table.x[0], table.x[-1]))
        texts = ", ".join(map(c_literal, (name, table.name, "" if unit.name == "1" else unit.name)))
        rows.append(f"    {{{texts}, {', '.join(map(c_number, (unit.factor, unit.offset, *ends)))}}},")
    return [
        f"#define CC_LAW_TABLES {len(tables)} /* without values outside; x = factor value + offset */",
        "typedef struct {",
        "    const char *law, *argument, *unit;",
        "    double factor, offset, from, to;",
        "} CcLawTable;",
        "static const CcLawTable cc_law_tables[] = {",
        *rows,
        "};",
    ]


def model_tables(model: Model, fmi: Fmi) -> str:
    """model_tables.h: the tables of the FMI layer.

    Many variables are alike but for their names and start values, so rows are shared, and names are one text: tables of
    numbers, which need no work when the library is loaded."""
    rows: dict[str, int] = {}
    row_of = [rows.setdefault(_row(v, fmi), len(rows)) for v in model.variables]
    starts: dict[str, int] = {}
    start_of = [starts.setdefault(c_number(v.start), len(starts)) for v in model.variables]
    names, width, places = name_literals([v.name for v in model.variables] + [z.name for z in model.indicators])
    categories = log_categories(model, fmi)
    lines = [
        heading(model),
        "#ifndef MODEL_TABLES_H",
        "#define MODEL_TABLES_H",
        "",
        f"enum {{ {', '.join(dict.fromkeys(_KINDS.values()))} }};",
        "enum { CC_REAL, CC_INTEGER, CC_BOOLEAN, CC_ENUMERATION, CC_CLOCK }; /* the last two in FMI 3.0 only */",
        "",
        "typedef struct {",
        "    const char *unit;",
        "    unsigned char kind, type, is_output, hidden, on_demand, strict, recorded;",
        "    double min, max, above, below; /* min and max are allowed, above and below are not */",
        "} CcVariable;",
        "",
        "static const CcVariable cc_variables[] = {",
        *rows,
        "};",
        counting_table("cc_variable_rows", row_of),
        c_table("double", "cc_start_values", list(starts)),
        counting_table("cc_start_rows", start_of),
        counting_table("cc_name_places", places),
        f"#define CC_NAMES_ROW {width}",
        "static const char cc_names[][CC_NAMES_ROW] = {",
        *(f"    {row}," for row in names),
        "};",
        "",
        f"#define CC_LOG_CATEGORIES {len(categories)}",
        f"static const char *const cc_log_categories[] = {{{', '.join(map(c_literal, categories))}}};",
        *_law_tables(model),
        *resource_tables(model),
        *_texts(model),
        *(index_tables(model) if isinstance(model, AssemblyModel) else []),  # the parts have their own
        *(_tables_of_fmi3(model) if fmi == 3 else []),
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def _texts(model: Model) -> list[str]:
    """The String variables: those that are set show themselves."""
    lines = ["", f"#define CC_TEXTS {len(model.texts)} /* String variables */"]
    if model.texts:
        rows = (
            f"    {{{c_literal(one.name)}, {c_literal(one.start)}, {one.shows if one.shows >= 0 else one.number}}},"
            for one in model.texts
        )
        lines += [
            f"#define CC_TEXT_WORDS {(LONGEST_TEXT + 1) // 8} /* 8 bytes each, of one of them */",
            "typedef struct {",
            "    const char *name, *start;",
            "    int shows;",
            "} CcStringVariable;",
            "static const CcStringVariable cc_texts[] = {",
            *rows,
            "};",
        ]
    return lines


def _tables_of_fmi3(model: Model) -> list[str]:
    """What contact_core/fmi3 needs: the switches, and how many scalars each variable has, where one has several."""
    computed = [v for v in model.variables if v.type == "bool" and v.kind == "output" and not v.hidden]
    switches = [v.index for v in computed if v.clock is None and not v.clocks]
    lines = [
        *_clocks(model),
        f"#define CC_SWITCHES {len(switches)} /* Boolean variables that the FMU computes */",
        int_table("cc_switches", switches),
    ]
    groups = fmi3_variables(model)
    lines.append(f"#define CC_ARRAYS {int(any(len(one.scalars) > 1 for one in groups))}")
    if any(len(one.scalars) > 1 for one in groups):
        lengths = [1] * len(model.variables)
        for one in groups:
            lengths[one.reference : one.reference + len(one.scalars)] = [
                len(one.scalars),
                *[0] * (len(one.scalars) - 1),
            ]
        lines.append(counting_table("cc_lengths", lengths))
    return lines


def _clocks(model: Model) -> list[str]:
    """The clocks, which contact_core/fmi3/fmi3_clocks.h reads."""
    clocks = [(v, v.clock) for v in model.variables if v.clock is not None]
    if not clocks:
        return ["#define CC_CLOCKS 0"]
    rows = (
        f"    {{{v.index}u, {_CLOCKS[clock.kind]}, {max(clock.moment, 0)}, {max(clock.waits, 0)}, "
        f"{c_number(clock.interval)}, {c_number(clock.shift)}, "
        f"{clock.interval_counter}, {clock.shift_counter}, {clock.resolution}}},"
        for v, clock in clocks
    )
    return [
        f"#define CC_CLOCKS {len(clocks)}",
        "enum { CC_CLOCK_INPUT, CC_CLOCK_OUTPUT, CC_CLOCK_CONSTANT, CC_CLOCK_COUNTDOWN };",
        "typedef struct {",
        "    unsigned reference;",
        "    int kind, moment, waits; /* indices of the variables of a clock that counts down */",
        "    double interval, shift; /* s, of a constant one */",
        "    unsigned long long interval_counter, shift_counter, resolution; /* 0 without fractions */",
        "} CcClock;",
        "static const CcClock cc_clocks[] = {",
        *rows,
        "};",
    ]


def _type(v: Variable, fmi: Fmi) -> str:
    if fmi == 3 and v.clock is not None:
        return "CC_CLOCK"
    return "CC_ENUMERATION" if fmi == 3 and v.type == "enum" else _TYPES[v.type]


def _row(v: Variable, fmi: Fmi) -> str:
    """What a variable has in common with others, as a row of C."""
    strict = v.above is not None or v.below is not None
    unit = "" if v.unit.name == "1" else v.unit.name
    flags = ", ".join(str(int(flag)) for flag in (v.is_output, v.hidden, v.on_demand, strict, v.recorded))
    kinds = f"{_KINDS[v.kind]}, {_type(v, fmi)}, {flags}"
    bounds = ((v.min, f"-{_HUGE}"), (v.max, _HUGE), (v.above, f"-{_HUGE}"), (v.below, _HUGE))
    return f"    {{{c_literal(unit)}, {kinds}, {', '.join(c_number(bound, far) for bound, far in bounds)}}},"
