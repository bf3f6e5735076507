"""The Modelica class of a recipe of one element.

The equations are those of element.mo in the folder of the element, and of <choice>/<value>.mo for each choice whose
folder holds such files (`on` and `off` for switches, `built_in` and `law` for slots).  What they name and element.toml
declares is declared in front of them: parameters, inputs, states, outputs and, for a port `p`, the connector `p` and
the variables of its roles, `p_r`, `p_v`, ...   A point in an FMI name is an underscore here."""

from __future__ import annotations

import html as markup
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fmu_builder.errors import InputError, Problem, behind_number
from fmu_builder.files import read_text
from fmu_builder.laws.modelica_source import computed_scalars, law_functions, slot_equation
from fmu_builder.model.declaration import Declaration, applies
from fmu_builder.model.model import ElementModel, Variable
from fmu_builder.modelica import words
from fmu_builder.modelica.icons import icon, placement
from fmu_builder.paths import shipped_elements
from fmu_builder.units import parse_unit

MAIN = "element.mo"
BUILT_IN, LAW = "built_in", "law"
CONNECTORS = {
    "translational": f"{words.MSL}.Translational.Interfaces.Flange",
    "rotational": f"{words.MSL}.Rotational.Interfaces.Flange",
    "planar": "Interfaces.Planar",  # the Standard Library has none
    "point": f"{words.MSL}.MultiBody.Interfaces.Frame",
    "frame": f"{words.MSL}.MultiBody.Interfaces.Frame",
}
_TYPES = {"real": "Real", "int": "Integer", "bool": "Boolean", "enum": "Integer"}


@dataclass(frozen=True)
class Connector:
    """A port of a class.   side: `left` or `right`, where it lies"""

    name: str
    kind: str
    of_body: bool
    side: str
    description: str

    @property
    def type(self) -> str:
        return f"{CONNECTORS[self.kind]}_{'a' if self.side == 'left' else 'b'}"


@dataclass(frozen=True)
class ElementClass:
    """drawing    of the element, if it has one
    declared   the Modelica names of the FMU's variables that the class has, by FMI name without index"""

    name: str
    text: str
    drawing: Path | None
    connectors: Mapping[str, Connector]
    declared: Mapping[str, str]


def has_modelica(folder: Path) -> bool:
    return (folder / MAIN).is_file()


def element_class(model: ElementModel, package: str) -> ElementClass:
    """The class.   package: the full name of what it lies in, for images

    Raises InputError naming each choice of the recipe that has no Modelica form, with those that have one."""
    if model.name in words.KEYWORDS:
        raise InputError(Problem(str(model.path), f"'{model.name}' is a word of Modelica; rename the file"))
    fragments = _fragments(model)
    laws = _laws(model)
    fragments = [*fragments, *laws.fragments]
    used = _with_starts(model, words.words_in("".join(fragments)))
    connectors = _connectors(model.recipe.element, used)
    declared: dict[str, str] = {}
    public = [*_parameters_of_structure(model, used), *_variables(model, used, declared)]
    slots = list(_slots(model.recipe.element, used))
    about = _comment(fragments[0])
    picture = model.recipe.element_folder / "model.svg"
    drawing = picture if picture.is_file() else None
    lines = [
        f"model {model.name} {words.string(model.description)}",
        *(f"  {line}" for line in public),
        *(f"  {_declared_connector(one)}" for one in connectors.values()),
        *(f"  {line}" for line in laws.functions),
        *_sections(fragments, [f"  {line}" for line in slots], _asserts(model, used)),
        f"  annotation({icon(drawing, package)},",
        f"    {words.html(_documentation(model, about))});",
        f"end {model.name};",
        "",
    ]
    return ElementClass(model.name, "\n".join(lines), drawing, connectors, declared)


# ---- the equations ---------------------------------------------------------------------------------------------------


def _fragments(model: ElementModel) -> list[str]:
    """The text of element.mo, then those of the choices.  Raises InputError for choices without a text."""
    folder = model.recipe.element_folder
    if not has_modelica(folder):
        those = ", ".join(sorted(one.name for one in shipped_elements() if has_modelica(one)))
        raise InputError(
            Problem(str(model.path), f"the element {model.element_name} has no Modelica form; those with one: {those}")
        )
    problems = [*_size_problems(model)]
    texts = [read_text(folder / MAIN)]
    slots = model.recipe.element.slots
    for choice, value in model.recipe.choices.items():
        if choice in slots and not applies(slots[choice].when, model.recipe.choices):
            continue
        files = {path.stem: path for path in sorted((folder / choice).glob("*.mo"))}
        if not files:
            continue
        stem = value if isinstance(value, str) else _switch_stem(model.recipe.element, choice, value)
        if stem in files:
            texts.append(read_text(files[stem]))
        else:
            problems.append(_no_form(model, choice, stem, files))
    if problems:
        raise InputError(problems)
    return texts


def _switch_stem(element: Declaration, choice: str, value: bool) -> str:
    if choice in element.slots:
        return LAW if value else BUILT_IN
    return "on" if value else "off"


def _no_form(model: ElementModel, choice: str, stem: str, files: Mapping[str, Path]) -> Problem:
    if choice in model.recipe.element.slots:
        return Problem(f"{model.path}: [functions] {choice}", "a law in this slot has no Modelica form")
    entry = model.recipe.element.structure[choice]
    table, _, key = (entry.given_by or f"structure.{choice}").partition(".")
    written = {"on": "true", "off": "false"}
    those = ", ".join(written.get(one, f'"{one}"') for one in files)
    value = written.get(stem, f'"{stem}"')
    return Problem(f"{model.path}: [{table}] {key}", f"{value} has no Modelica form; those with one: {those}")


def _size_problems(model: ElementModel) -> Iterator[Problem]:
    """A class has one of what an FMU can have many of: in Modelica one connector takes many connections, and classes
    make arrays."""
    for name, size in model.sizes.items():
        ports = [port for port in model.recipe.element.ports.values() if port.each == name]
        if size > 1 and any(port.side == "force" for port in ports):
            what = f"{size}: a Modelica class has one of them; write a recipe with 1, and use an array of its class"
            yield Problem(f"{model.path}: [structure] {name}", what)


@dataclass(frozen=True)
class _Laws:
    """Of the laws of a recipe: their equations as texts like those of files, and the lines of their functions."""

    fragments: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()


def _laws(model: ElementModel) -> _Laws:
    of_recipe = model.recipe.laws
    if of_recipe is None:
        return _Laws()
    laws = of_recipe.laws.used_by(*(slot.law for slot in of_recipe.slots))
    values = {name: model[f"laws.{name}"].start for name in laws.tunable}
    prefix = f"{model.name}_"
    declarations = [*computed_scalars(laws)]
    equations: list[str] = []
    for slot in of_recipe.slots:
        one = slot_equation(slot, laws, f"{model.path}: [functions] {slot.slot}", prefix)
        declarations += one.declarations
        equations += one.equations
    functions = tuple(line for _, lines in law_functions(laws, values, words.KEYWORDS, prefix) for line in lines)
    lines = [*(f"  {line}\n" for line in declarations), "equation\n", *(f"  {line}\n" for line in equations)]
    return _Laws(("".join(lines),), functions)


_HEAD = re.compile(r"\A(?://[^\n]*\n)+")


def _comment(fragment: str) -> str:
    """The text of the comment that a file begins with."""
    head = _HEAD.match(fragment)
    return "\n".join(line[2:].removeprefix(" ") for line in head[0].splitlines()) if head else ""


_DECLARATIONS, _INITIAL, _EQUATION = "protected", "initial equation", "equation"


def _sections(fragments: list[str], declarations: list[str], equations: list[str]) -> Iterator[str]:
    """The sections of a class, each made of those of all fragments, with these declarations and equations in front."""
    sections: dict[str, list[str]] = {_DECLARATIONS: declarations, _INITIAL: [], _EQUATION: equations}
    for fragment in fragments:
        section = _DECLARATIONS
        for line in _HEAD.sub("", fragment).splitlines():
            if line in sections:
                section = line
            else:
                sections[section].append(line)
    for section, lines in sections.items():
        if lines:
            yield from (section, *lines)


# ---- declarations ----------------------------------------------------------------------------------------------------


def _connectors(element: Declaration, used: frozenset[str]) -> dict[str, Connector]:
    found: dict[str, Connector] = {}
    for name, port in element.ports.items():
        if words.identifier(name) in used:
            side = "right" if found else "left"
            found[name] = Connector(words.identifier(name), port.kind, port.side == "body", side, port.description)
    return found


def _declared_connector(one: Connector) -> str:
    return f"{one.type} {one.name} {words.string(one.description)}\n    annotation({placement(one.side)});"


def _parameters_of_structure(model: ElementModel, used: frozenset[str]) -> Iterator[str]:
    """Constants of tables such as [surface], which may be changed here."""
    for constant in model.constants:
        if constant.name in used:
            values = [float(value) for value in constant.values]
            unit = "" if constant.name.endswith("_side") else '(each unit="m")' if len(values) > 1 else '(unit="m")'
            size = f"[{len(values)}]" if len(values) > 1 else ""
            table, _, key = constant.name.partition("_")
            about = words.string(f"[{table}] {key} of the recipe")
            yield f"parameter Real {constant.name}{size}{unit} = {words.values(values)} {about};"


def _with_starts(model: ElementModel, used: frozenset[str]) -> frozenset[str]:
    """The names, and those of the parameters that states among them start from."""
    states = (v for v in model.by_kind("state") if v.start_from >= 0 and words.identifier(_base(v.name)) in used)
    return used | {words.identifier(_base(model.variables[v.start_from].name)) for v in states}


def _base(name: str) -> str:
    """The name without the index of a component."""
    return re.sub(r"\[\d+\]$", "", name)


def _groups(model: ElementModel) -> dict[str, list[Variable]]:
    """The variables that the FMU shows by name, the components of vectors together."""
    found: dict[str, list[Variable]] = {}
    for v in model.variables:
        if v.kind not in ("time", "derivative") and not v.hidden:
            found.setdefault(_base(v.name), []).append(v)
    return found


def _variables(model: ElementModel, used: frozenset[str], declared: dict[str, str]) -> Iterator[str]:
    of_ports = {name for port in model.ports for name in (*port.motion_names, *port.force_names)}
    order = {"fixed": 0, "tunable": 0, "input": 1}
    lines: list[tuple[int, str]] = []
    for base, group in _groups(model).items():
        name = words.identifier(base)
        if name in used and group[0].kind != "calculated":
            declared[base] = name
            is_input = group[0].kind == "input" and group[0].name not in of_ports
            kind = order.get(group[0].kind, 2) if is_input or group[0].kind != "input" else 2
            lines.append((kind, _declaration(model, name, group, is_input)))
    yield from (line for _, line in sorted(lines, key=lambda pair: pair[0]))


def _declaration(model: ElementModel, name: str, group: list[Variable], is_input: bool) -> str:
    v = group[0]
    is_parameter = v.kind in ("fixed", "tunable")
    size = f"[{len(group)}]" if len(group) > 1 else ""
    attributes = words.unit_attributes(v.unit, v.display) if v.type == "real" else []
    if is_parameter:
        low, high = (v.above if v.min is None else v.min), (v.below if v.max is None else v.max)
        bounds = (("min", low), ("max", high))
        attributes += [f"{key}={words.number(bound)}" for key, bound in bounds if bound is not None]
    if v.nominal is not None:
        attributes.append(f"nominal={words.number(v.nominal)}")
    each = "each " if size else ""
    attributes = [f"{each}{one}" for one in attributes]
    if v.kind == "state" or v.type == "int":  # a number that changes in a when-equation has a value before it
        attributes += [f"start={_start(model, group)}", f"{each}fixed=true"]
    prefix = "parameter " if is_parameter else "input " if is_input else ""
    value = f" = {_values(group)}" if is_parameter or is_input else ""
    return f"{prefix}{_TYPES[v.type]} {name}{size}{words.modified(attributes)}{value} {words.string(v.description)};"


def _values(group: list[Variable]) -> str:
    if group[0].type == "bool":
        return words.truth(group[0].start)
    return words.values([v.start for v in group])


def _start(model: ElementModel, group: list[Variable]) -> str:
    """The parameter that holds the initial value, or this."""
    if group[0].start_from >= 0:
        return words.identifier(_base(model.variables[group[0].start_from].name))
    return _values(group)


def _slots(element: Declaration, used: frozenset[str]) -> Iterator[str]:
    """The value and the arguments of each law."""
    for name, slot in element.slots.items():
        if f"slot_{name}" in used:
            unit = words.unit_attributes(parse_unit(slot.unit))
            yield f"Real slot_{name}{words.modified(unit)} {words.string(slot.description)};"
            for argument, its_unit in slot.arguments.items():
                unit = words.unit_attributes(parse_unit(its_unit))
                yield f"Real slot_{name}_{argument}{words.modified(unit)} {words.string(f'{argument} of {name}')};"


def _asserts(model: ElementModel, used: frozenset[str]) -> list[str]:
    """What `min` and `max` cannot say: strict bounds of parameters."""
    lines = []
    for v in model.by_kind("fixed", "tunable"):
        for bound, sign, rule in ((v.above, ">", "greater"), (v.below, "<", "less")):
            if bound is not None and v.name in used:
                unit = behind_number(v.unit.name)
                text = f"{v.name} must be {rule} than {words.number(bound)}{unit}"
                lines.append(f"  assert({v.name} {sign} {words.number(bound)}, {words.string(text)});")
    return lines


def _documentation(model: ElementModel, about: str) -> Iterator[str]:
    element: Declaration = model.recipe.element
    yield f"<p>{markup.escape(element.description)}.</p>"
    if about:
        yield f"<pre>{markup.escape(about)}</pre>"
    if element.origin:
        yield f"<p>Source: {markup.escape(element.origin)}.</p>"
    yield f"<p>The same element as an FMU: <code>fmu-builder build {model.name}</code>.</p>"
