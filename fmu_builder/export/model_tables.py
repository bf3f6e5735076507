"""model_tables.h, model_tables.c: tables of the FMI layer: variables, log categories, tables of laws."""

from __future__ import annotations

from collections.abc import Sequence

from fmu_builder.export.c_text import c_literal, c_number, counting_table, counting_type, int_table, name_literals
from fmu_builder.export.fmi3_variables import Fmi, fmi3_variables
from fmu_builder.export.model_data import HEADING, heading, index_tables, tables_without_ends
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


class _Tables:
    """Tables that model_tables.h declares and model_tables.c defines, under names of the model's own."""

    def __init__(self) -> None:
        self.declared: list[str] = []
        self.defined: list[str] = []

    def add(self, kind: str, name: str, values: Sequence[str], size: str = "") -> None:
        """cc_<name>.   values: each of a line of C, or numbers   size: of each row"""
        array = f"{kind} cc_{name}[]{size}"
        self.declared += [f"#define cc_{name} CC_ENTRY({name})", f"CC_HIDDEN extern const {array};"]
        self.defined += [f"const {array} = {{", *(f"    {one}," for one in values), "};"]

    def add_numbers(self, kind: str, name: str, values: Sequence[str]) -> None:
        self.add(kind, name, [", ".join(values[i : i + 20]) for i in range(0, len(values), 20)])


def _law_tables(model: Model, tables: _Tables) -> None:
    """What the FMI layer reports of a table without values outside, in the unit of the table."""
    of_types = [(kind.model, f"{kind.name}: ") for kind in model.types] if isinstance(model, AssemblyModel) else []
    models = of_types or ([(model, "")] if isinstance(model, ElementModel) else [])
    of_laws = [(f"{part}{name}", one) for owner, part in models for name, one in tables_without_ends(owner).items()]
    tables.declared += [
        f"#define CC_LAW_TABLES {len(of_laws)} /* without values outside; x = factor value + offset */",
        "typedef struct {",
        "    const char *law, *argument, *unit;",
        "    double factor, offset, from, to;",
        "} CcLawTable;",
    ]
    rows = []
    for name, table in of_laws:
        unit, ends = table.unit, ((x - table.unit.offset) / table.unit.factor for x in (table.x[0], table.x[-1]))
        texts = ", ".join(map(c_literal, (name, table.name, "" if unit.name == "1" else unit.name)))
        rows.append(f"{{{texts}, {', '.join(map(c_number, (unit.factor, unit.offset, *ends)))}}}")
    if rows:
        tables.add("CcLawTable", "law_tables", rows)


def model_tables(model: Model, fmi: Fmi) -> dict[str, str]:
    """model_tables.h and model_tables.c: the tables of the FMI layer, apart from it, for they change with start values
    and the layer is most of what has to be compiled.

    Many variables are alike but for their names and start values, so rows are shared, and names are one text: tables of
    numbers, which need no work when the library is loaded."""
    rows: dict[str, int] = {}
    row_of = [rows.setdefault(_row(v, fmi), len(rows)) for v in model.variables]
    starts: dict[str, int] = {}
    start_of = [starts.setdefault(c_number(v.start), len(starts)) for v in model.variables]
    # a number of the memory is only named where it is wrong, and is called by its array
    shown = [v.name.partition("[")[0] if v.hidden else v.name for v in model.variables]
    shown += [z.name for z in model.indicators]
    names, width, places_of_names = name_literals(list(dict.fromkeys(shown)))
    place_of = dict(zip(dict.fromkeys(shown), places_of_names, strict=True))
    places = [place_of[name] for name in shown]
    categories = log_categories(model, fmi)
    tables = _Tables()
    tables.add("CcVariable", "variables", list(rows))
    tables.add_numbers(counting_type(row_of), "variable_rows", list(map(str, row_of)))
    tables.add_numbers("double", "start_values", list(starts))
    tables.add_numbers(counting_type(start_of), "start_rows", list(map(str, start_of)))
    tables.add_numbers(counting_type(places), "name_places", list(map(str, places)))
    tables.declared.append(f"#define CC_NAMES_ROW {width}")
    tables.add("char", "names", names, "[CC_NAMES_ROW]")
    tables.add_numbers("double", "fixed_tolerance", [c_number(model.experiment.tolerance)])
    _law_tables(model, tables)
    resource_tables(model, tables.declared, tables.defined)
    _texts(model, tables)
    declared = [
        HEADING,
        "#ifndef MODEL_TABLES_H",
        "#define MODEL_TABLES_H",
        "",
        '#include "waist.h"',
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
        *tables.declared,
        "",
        f"#define CC_LOG_CATEGORIES {len(categories)}",
        "static const char *const cc_log_categories[] __attribute__((unused)) = {"
        f"{', '.join(map(c_literal, categories))}}};",
        *(index_tables(model) if isinstance(model, AssemblyModel) else []),  # the parts have their own
        *(_tables_of_fmi3(model) if fmi == 3 else []),
        "",
        "#endif",
        "",
    ]
    defined = [
        heading(model),
        '#include "model_tables.h"',
        '#include "model_guid.h" /* generated: CC_GUID_TEXT */',
        "",
        "const char CC_GUID[39] = CC_GUID_TEXT;",
        *tables.defined,
        "",
    ]
    return {"model_tables.h": "\n".join(declared), "model_tables.c": "\n".join(defined)}


def _texts(model: Model, tables: _Tables) -> None:
    """The String variables: those that are set show themselves."""
    tables.declared += ["", f"#define CC_TEXTS {len(model.texts)} /* String variables */"]
    if model.texts:
        rows = [
            f"{{{c_literal(one.name)}, {c_literal(one.start)}, {one.shows if one.shows >= 0 else one.number}}}"
            for one in model.texts
        ]
        tables.declared += [
            f"#define CC_TEXT_WORDS {(LONGEST_TEXT + 1) // 8} /* 8 bytes each, of one of them */",
            "typedef struct {",
            "    const char *name, *start;",
            "    int shows;",
            "} CcStringVariable;",
        ]
        tables.add("CcStringVariable", "texts", rows)


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
    return f"{{{c_literal(unit)}, {kinds}, {', '.join(c_number(bound, far) for bound, far in bounds)}}}"
