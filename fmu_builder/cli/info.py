"""`info`: ports, variables, step and origin of an FMU, or of the one that a recipe makes."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fmu_builder.cli.files import find
from fmu_builder.cli.printing import line, print_notes
from fmu_builder.cosim.slave import SlaveDescription, read_slave
from fmu_builder.errors import InputError, Problem, listed
from fmu_builder.export.declared_check import unshown_dependencies
from fmu_builder.export.fmu import fmu_contents, pack
from fmu_builder.export.origin import Origin, read_origin
from fmu_builder.export.toolchain import find_compiler
from fmu_builder.model.connectable import SlaveVariable
from fmu_builder.model.loader import load_model
from fmu_builder.model.mesh import FORMATS
from fmu_builder.model.step_advice import MODE, step_advice
from fmu_builder.units import quantity, units_text

_PORT_KEYS = ("name", "kind", "side", "motion", "force")
_ACTS = {"frame": "force and moment", "planar": "forces and torque", "rotational": "torque"}  # by kind of port


def show_info(fmu: str, as_json: bool) -> None:
    """Print what an FMU shows;   fmu: its file, or the name or file of a recipe."""
    if fmu.endswith(".fmu"):
        description, origin = _about(Path(fmu))
    else:
        _refuse_other_file(Path(fmu))
        description, origin = _describe(find(fmu, "an .fmu or a recipe"))
    if as_json:
        print(json.dumps(_info_json(description, origin), indent=2))
    else:
        _print_info(description, origin)


def _refuse_other_file(path: Path) -> None:
    if path.suffix and path.suffix != ".toml" and path.is_file():
        what = f"is a {path.suffix} file; info reads an .fmu, the .toml of a recipe, and meshes ({', '.join(FORMATS)})"
        raise InputError(Problem(str(path), what))


def _about(fmu: Path) -> tuple[SlaveDescription, Origin | None]:
    return read_slave(fmu), read_origin(fmu)


def _describe(recipe: Path) -> tuple[SlaveDescription, Origin | None]:
    """What the FMU of a recipe shows, without compiling it; of elements that are not shipped also the declared
    dependencies that never show."""
    model = load_model(recipe)
    print_notes((f"{model.name}: {warning}" for warning in model.warnings()), "warning")
    print_notes(f"{model.name}: {note}" for note in model.notes())
    compiler = find_compiler()
    if compiler is not None:
        print_notes(unshown_dependencies(model, compiler))
    with tempfile.TemporaryDirectory(prefix="fmu-builder-") as folder:
        path = Path(folder) / f"{model.name}.fmu"
        path.write_bytes(pack(fmu_contents(model)[1]))
        return _about(path)


def _info_json(description: SlaveDescription, origin: Origin | None) -> dict[str, Any]:
    return {
        "built_by": f"fmu-builder {origin.version}" if origin else None,
        "recipe": origin.text if origin else None,
        "structure": origin.structure if origin else None,
        "model": description.model_name,
        "guid": description.guid,
        "platforms": list(description.platforms),
        "interfaces": list(description.interfaces),
        "start": description.start,
        "stop": description.stop,
        "step": description.step,
        "arrays": [one.name for one in description.arrays],
        "left_out": list(description.left_out),
        "ports": [{key: getattr(p, key) for key in _PORT_KEYS} for p in description.ports.values()],
        "variables": [
            {
                "name": v.name,
                "type": v.type,
                "reference": v.reference,
                "causality": v.causality,
                "variability": v.variability,
                "unit": v.unit,
                "start": v.start,
                "description": v.description,
            }
            for v in description.variables.values()
        ],
    }


_SHOWN = 8  # names of arrays
_WIDEST = 40  # characters of names, or of values, beyond which a row keeps no columns


def _sizes(shape: tuple[int, ...]) -> str:
    return ",".join(map(str, shape))


def _print_info(description: SlaveDescription, origin: Origin | None) -> None:
    line(f"{description.model_name}  {description.guid}")
    if origin:
        line(f"built by fmu-builder {origin.version} from {origin.recipe.name}, see the end")
    version = "" if description.kinds is None else " of FMI 3.0"
    line(f"interfaces: {', '.join(description.interfaces)}{version}")
    if description.arrays:
        line(f"arrays: {listed([f'{one.name}[{_sizes(one.shape)}]' for one in description.arrays], _SHOWN)}")
    if description.left_out:
        line(f"neither read nor set by `run`: {listed(description.left_out, _SHOWN)}")
    if description.platforms:
        line(f"binaries: {', '.join(description.platforms)}")
    print_notes((f"DefaultExperiment {key}: {what}" for key, what in description.faults.items()), "warning")
    if description.step:
        line(f"recommended communication step: {quantity(description.step)} s")
    if advice := step_advice(description.variables.values()):
        by = f" by {MODE}" if advice.mass_name else ""
        line(f"communication step{by}, {advice.sentence(quantity)}:")
        width = max(map(len, advice.steps))
        for mode, step in advice.shown(" s").items():
            line(f"  {mode:{width}}  {step}")
        if others := advice.beside_others(description.variables):
            line(f"  {others}")
        if advice.mass_name and MODE not in description.variables:
            line("  this FMU behaves as hold; a recipe without [structure] coupling = false has all modes")
    in_ports = set()
    for port in description.ports.values():
        in_ports |= {*port.motion_names, *port.force_names}
        motion, force = (", ".join(map(_vector, roles.values())) for roles in (port.motion, port.force))
        if port.side == "body":
            partner, inputs, outputs = f"a {port.kind} port of a force element", force, motion
        else:
            acts = _ACTS.get(port.kind, "force")
            partner, inputs, outputs = f"a {port.kind} port of a body: motion in, {acts} on the body out", motion, force
        line(f"\nport {port.name} ({port.kind}), connect it to {partner}")
        line(f"  in   {inputs}")
        line(f"  out  {outputs}")
    tables = {}
    for title, causality in (("inputs", "input"), ("outputs", "output"), ("parameters", "parameter")):
        chosen = [v for v in description.variables.values() if v.causality == causality and v.name not in in_ports]
        tables[title] = list(_rows(chosen))
    every = [row for rows in tables.values() for row in rows]
    widths = [min(max((len(row[i]) for row in every), default=0), _WIDEST) for i in (0, 1)]
    for title, rows in tables.items():
        if rows:
            line(f"\n{title}")
        for names, value, text in rows:
            line(f"  {names:{widths[0]}}  {value:{widths[1]}}  {text}".rstrip())
    if origin:
        line(f"\n{origin.recipe.name}")
        for text in origin.text.rstrip().splitlines():
            line(f"  {text}".rstrip())
        for name, table in origin.structure.items():
            line(f"\ncompiled in{f', {name}' if len(origin.structure) > 1 else ''}")
            for key, value in table.items():
                line(f"  {key:24} {value}")


def _vector(names: Sequence[str]) -> str:
    """`p.r[1..3]` for p.r[1], p.r[2], p.r[3]."""
    return names[0] if len(names) == 1 else f"{names[0].removesuffix('[1]')}[1..{len(names)}]"


def _rows(variables: Sequence[SlaveVariable]) -> Iterator[tuple[str, str, str]]:
    """Name, start with unit, and description, with the elements of a vector in one row."""
    vectors: dict[str, list[SlaveVariable]] = {}
    for v in variables:
        vectors.setdefault(re.sub(r"\[\d+\]$", "", v.name), []).append(v)
    for base, group in vectors.items():
        whole = [v.name for v in group] == [f"{base}[{k}]" for k in range(1, len(group) + 1)]
        for part in [group] if whole else [[v] for v in group]:
            unit = units_text([v.unit for v in part])
            starts = [_start_text(v) for v in part if v.start]
            start = f"({', '.join(starts)})" if len(starts) > 1 else "".join(starts)
            value = f"= {start} {unit}".rstrip() if start else unit
            yield _vector([v.name for v in part]), value, part[0].description


def _start_text(variable: SlaveVariable) -> str:
    literal = next((text for text, number in variable.literals.items() if str(number) == variable.start), None)
    if literal is not None:
        return literal
    try:
        return quantity(float(variable.start or "")) if variable.type == "Real" else str(variable.start)
    except ValueError:  # an FMU of another tool
        return str(variable.start)
