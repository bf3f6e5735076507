"""The file of a study (TOML): a system, its factors, the plan of the runs, and the responses of each run.

system = "drop.toml"                          # a scenario, a recipe, an .fmu or an .ssp
[experiment]   stop, step, output_step, algorithm: in place of those of the system
[factors]      "floor.C_r" = { low = 0.3, high = 0.9, count = 7 },  "body.r0[3]" = ["0.1 m", "0.2 m"],
               step = ["20 us", "10 us"],  algorithm = ["jacobi", "gauss_seidel"],
               k = { start = ["a.C_F", "b.C_F"], low = "1e4 N/m", high = "1e6 N/m", scale = "log" },
               law = { recipe = "floor", key = "functions.F_d", values = ["flores", "hunt_crossley"] }
[plan]         kind = grid | one_at_a_time | list | random | latin_hypercube | sobol | saltelli, runs, seed, file
[responses]    height = { signal = "body.p.r[3]", take = "maximum" },  bounce = { event = "floor.rebound_speed[1]" },
               loss = "1 - (bounce/impact)^2"
[traces]       record = ["body.p.r[3]"], every = 10
[limits]       time = "10 s"                  # of the computation of a run
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, ValidationError, WithJsonSchema, model_validator

from fmu_builder.errors import InputError, Problem, none_of, shown_value
from fmu_builder.model.documents import AsModel, Assembly, Document, Recipe, Scenario
from fmu_builder.model.scenario import Scalar
from fmu_builder.model.table_model import Count, Quantity, TableModel, Whole, rule
from fmu_builder.model.toml_files import explain, read_about_system, refuse_fields_of_ours, without_faulty

EXPERIMENT = ("step", "stop", "algorithm", "tolerance", "coupling_tolerance")  # factors of the experiment
TAKES = ("end", "minimum", "maximum", "mean", "integral")  # of a signal
EVENT_TAKES = ("first", "last", "minimum", "maximum", "sum", "mean")  # of the contacts at a place
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_FACTOR_NAME = re.compile(r"[A-Za-z_][\w.,\[\]]*", re.ASCII)
COLUMNS = ("run", "status", "message", "seconds", "seed", "fmus", "fmu_builder", "python")  # of every table


def _values(value: object) -> object:
    if not isinstance(value, list | tuple) or not all(isinstance(one, bool | int | float | str) for one in value):
        raise rule("must be a list of numbers, texts, true or false")
    return value


def _names(value: object) -> object:
    return [value] if isinstance(value, str) else value


_NAMES_SCHEMA = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}


class Factor(TableModel):
    """What differs between the runs: start values of slaves, a key of the experiment, or a key of a recipe."""

    start: Annotated[list[str], BeforeValidator(_names), WithJsonSchema(_NAMES_SCHEMA)] | None = Field(
        default=None,
        min_length=1,
        description="the variables, `slave.variable`, that take the value; without it the name of the factor is one, "
        f"or one of {', '.join(EXPERIMENT)} of the experiment",
    )
    recipe: str | None = Field(default=None, description="a slave whose recipe differs: an FMU is built for each value")
    key: str | None = Field(default=None, description="of that recipe, as `structure.coupling` or `surface.kind`")
    values: Annotated[list[Scalar], BeforeValidator(_values)] | None = Field(
        default=None, min_length=1, description="the levels one by one"
    )
    low: Quantity | None = Field(default=None, description="the least value of a range")
    high: Quantity | None = Field(default=None, description="the largest value of a range")
    count: Whole = Field(default=5, ge=2, le=1_000_000, description="levels of the range in a grid, with both ends")
    scale: Literal["linear", "log"] = Field(default="linear", description="of the range: equal distances or quotients")
    base: Scalar | None = Field(
        default=None, description="in `one_at_a_time`, the value while others change; without it the middle one"
    )

    @model_validator(mode="after")
    def _one_source(self) -> Factor:
        if (self.low is None) != (self.high is None) or (self.values is None) == (self.low is None):
            raise rule("give either values = [...], or both low and high")
        if (self.recipe is None) != (self.key is None):
            raise rule("a factor of a recipe has both recipe = 'slave' and key")
        if self.recipe is not None and (self.start is not None or self.values is None):
            raise rule("a factor of a recipe has values, and no start")
        return self


class Plan(TableModel):
    """Which runs there are."""

    kind: Literal["grid", "one_at_a_time", "list", "random", "latin_hypercube", "sobol", "saltelli"] = Field(
        default="grid",
        description="all combinations of the levels; a base and each factor over its levels; the rows of a file; "
        "points in the ranges, independent, one in each of as many layers, or evenly as Sobol's sequence; or as the "
        "Sobol indices with totals need them",
    )
    runs: Count | None = Field(default=None, description="of random, latin_hypercube, sobol and saltelli")
    seed: Whole = Field(default=1, ge=0, description="of the random numbers of these")
    file: str | None = Field(
        default=None, description="of `list`: CSV with a column for each factor, SI or a unit in the name: `z [mm]`"
    )

    @model_validator(mode="after")
    def _fits(self) -> Plan:
        drawn = self.kind in ("random", "latin_hypercube", "sobol", "saltelli")
        faults = []
        if drawn != (self.runs is not None):
            follows = f"the number of runs of {self.kind} follows: remove it"
            faults.append(f"{self.kind} needs runs" if drawn else follows)
        if not drawn and "seed" in self.model_fields_set:
            faults.append(f"{self.kind} draws no random numbers: remove seed")
        if (self.kind == "list") != (self.file is not None):
            faults.append("list needs file" if self.kind == "list" else f"{self.kind} reads no file: remove it")
        if faults:
            raise rule("; ".join(faults))
        return self


class Response(TableModel):
    """A number of each run: of a signal, or of the contacts at a place."""

    signal: str | None = Field(default=None, description="an output or local variable, `slave.variable`")
    event: str | None = Field(
        default=None, description="of one contact, `floor.rebound_speed[1]`, or of all: `floor.peak_force` with `take`"
    )
    take: str | None = Field(
        default=None, description=f"of a signal: {', '.join(TAKES)}; of all contacts: {', '.join(EVENT_TAKES)}"
    )

    @model_validator(mode="after")
    def _one_source(self) -> Response:
        if (self.signal is None) == (self.event is None):
            raise rule("give either signal or event")
        allowed = TAKES if self.signal is not None else EVENT_TAKES
        if self.take is not None and self.take not in allowed:
            raise rule(f"take: {none_of(self.take, allowed)}")
        return self


class Changes(TableModel):
    """Keys of the experiment in place of those of the system."""

    stop: Quantity | None = Field(default=None, description="time at which each run ends")
    step: Quantity | None = Field(default=None, description="communication step")
    output_step: Quantity | None = Field(
        default=None, description="of the rows that extremes, integrals and traces are taken of, a multiple of step"
    )
    algorithm: str | None = Field(default=None, description="jacobi, gauss_seidel, implicit or adaptive")


class Traces(TableModel):
    """Signals over time, kept as lists in the table."""

    record: list[str] = Field(min_length=1, description="signals, in which * stands for any text")
    every: Count = Field(default=1, description="so many rows of output_step are one of the table")


class Limits(TableModel):
    """What ends a run."""

    time: Quantity | None = Field(default=None, description="of its computation, s")


class Study(Document):
    """Many runs of a system."""

    description: str | None = Field(default=None, description="what it asks")
    system: str | Recipe | Assembly | Scenario = Field(
        description="a scenario (.toml), an .fmu, an .ssp, or the name of a recipe or case"
    )
    experiment: AsModel[Changes] | None = Field(default=None, description="in place of that of the system")
    factors: dict[str, list[Any] | AsModel[Factor]] = Field(
        description="what differs, by name: a list of values, or a table"
    )
    plan: AsModel[Plan] | None = Field(default=None, description="which runs there are; without it a grid")
    responses: dict[str, str | AsModel[Response]] = Field(
        description="numbers of each run, by name: a table, or an expression of others and of factors"
    )
    traces: AsModel[Traces] | None = Field(default=None, description="signals over time to keep")
    limits: AsModel[Limits] | None = Field(default=None, description="what ends a run")


class CheckedStudy(TableModel):
    """A study whose own text is right; variables and units are checked when its system is known.

    unread   names of factors and responses that could not be read"""

    OURS: ClassVar = ("path", "unread")

    path: Path
    description: str = ""
    system: str = Field(min_length=1)
    experiment: Changes = Changes()
    factors: dict[str, Factor]
    plan: Plan = Plan()
    responses: dict[str, Response | str]
    traces: Traces | None = None
    limits: Limits = Limits()
    unread: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return self.path.stem


def parse_study(path: Path) -> tuple[CheckedStudy, list[Problem]]:
    """The study without the keys, factors and responses that are wrong, and what is wrong.  Raises InputError where no
    system is named."""
    tables = read_about_system(path, "study", "system")
    problems = refuse_fields_of_ours(path, tables, CheckedStudy)
    factors, responses = tables.get("factors"), tables.get("responses")
    if isinstance(factors, dict):
        problems += _name_problems(path, "factors", factors, _FACTOR_NAME)
        tables["factors"] = {name: {"values": one} if isinstance(one, list) else one for name, one in factors.items()}
    if isinstance(responses, dict):
        problems += _name_problems(path, "responses", responses, _NAME)
        for name in responses.keys() & (factors.keys() if isinstance(factors, dict) else ()):
            problems.append(Problem(f"{path}: [responses] {name}", "is the name of a factor as well"))
    for table in ("factors", "responses"):
        if tables.get(table) == {}:
            problems.append(Problem(f"{path}: [{table}]", "is empty: name at least one"))
    try:
        checked = CheckedStudy.model_validate({"path": path, **tables})
    except ValidationError as error:
        # of the kinds of a response only the table is meant where one is given
        problems += [p for p in explain(path, error, CheckedStudy) if not p.where.endswith(" str")]
        problems = [_plain(problem) for problem in problems]
        sound = without_faulty(tables, error, ("factors", "responses", "experiment"))
        try:
            checked = CheckedStudy.model_validate({"path": path, "factors": {}, "responses": {}, **sound})
        except ValidationError:
            raise InputError(problems) from None
        named = {name for one in (factors, responses) if isinstance(one, dict) for name in one}
        unread = named.difference(checked.factors, checked.responses)
        checked = checked.model_copy(update={"unread": frozenset(unread)})
        if "plan" in tables and "plan" not in sound:  # which of them it uses is not known
            return checked, problems
    return checked, [*problems, *_unused_bases(checked)]


def _unused_bases(study: CheckedStudy) -> Iterator[Problem]:
    kind = study.plan.kind
    for name, factor in study.factors.items():
        if factor.base is not None and kind != "one_at_a_time":
            what = f"{shown_value(factor.base)}: is of one_at_a_time, and the plan is {kind}"
            where = f"{study.path}: [factors] {name} base"
            yield Problem(where, f"{what}: remove it, or choose kind = 'one_at_a_time'")


def _plain(problem: Problem) -> Problem:
    """Without the model and its validator, which pydantic names where several models are possible."""
    where = re.sub(r"function-\w+\[\w+\(\), Response\]", "Response", problem.where)
    where = re.sub(r"\[responses\.(\w+)\] Response$", r"[responses] \1", where).replace(".Response]", "]")
    what = problem.what
    if "[responses] " in where:
        what = re.sub("must be a table$", "must be a table or a text", what)
    elif "[factors] " in where:
        what = re.sub("must be a table$", "must be a table or a list of values", what)
    return Problem(where, what)


def _name_problems(path: Path, table: str, names: dict[str, Any], form: re.Pattern[str]) -> list[Problem]:
    problems = []
    for name in names:
        where = f"{path}: [{table}] {name}"
        if name in COLUMNS or name.startswith("trace."):
            problems.append(Problem(where, "is the name of a column that every table has; choose another one"))
        elif not form.fullmatch(name):
            problems.append(Problem(where, f"'{name}' is no name: letters, digits and _, the first one no digit"))
    return problems
