"""From the recipe of an assembly and the models of its parts to its model."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, Protocol

from fmu_builder.errors import InputError, Problem, collected, did_you_mean
from fmu_builder.model.assembly import AssemblyModel, Part, end_of_variable, shared_types
from fmu_builder.model.assembly_format import CheckedAssembly, default_experiment
from fmu_builder.model.clocks import NO_CLOCK
from fmu_builder.model.connectable import Ends, PortUse, SlaveVariable
from fmu_builder.model.declaration import DefaultExperiment
from fmu_builder.model.declaration import Variable as Entry
from fmu_builder.model.declaration_reader import is_core_variable
from fmu_builder.model.element_model import build_model, core_variables
from fmu_builder.model.evaluation_order import EvaluationOrder
from fmu_builder.model.model import ElementModel, Model, Variable
from fmu_builder.model.recipe import CheckedRecipe
from fmu_builder.model.start_values import law_problems, overwritten, start_values
from fmu_builder.model.step_advice import HeldForce
from fmu_builder.model.wiring import Wiring, wire
from fmu_builder.paths import shipped

_SHOWN_NOTES = 20


class PartModels(Protocol):
    """The models of the parts of an assembly, by the names or paths of their recipes."""

    def part(self, name: str, beside: Path) -> ElementModel | AssemblyModel: ...

    def ends(self, model: ElementModel | AssemblyModel) -> Ends: ...


class AssemblyBuilder:
    """Makes the model of one recipe.  Indices count the variables of the FMU, those of the assembly itself first."""

    def __init__(self, recipe: CheckedAssembly, models: PartModels, solver: bool) -> None:
        self.recipe, self.part_models, self.solver = recipe, models, solver
        self.where = f"{recipe.path}: [{recipe.table}]"
        self.problems: list[Problem] = []
        self.models: dict[str, ElementModel | AssemblyModel] = {}
        self.parts: list[Part] = []
        self.names: list[str] = []
        self.starts: list[float] = []
        self.sources: dict[int, list[int]] = {}
        self.left_out: dict[str, None] = {}  # notes on start values of slaves that a part has no use for
        self.offsets: dict[str, int] = {}  # added to an index in the model of a part gives that in the FMU

    def build(self) -> AssemblyModel:
        self._read_parts()
        experiment = default_experiment(self.recipe, [m.experiment for m in self.models.values()], self.problems)
        wiring = self._wire()
        own = self._own(experiment, wiring)
        self._place_parts(own)
        notes = self._connect(wiring)
        self.index = {name: i for i, name in enumerate(self.names)}
        exposed = self._expose()
        self._raise()
        if self.solver:
            self._find_lost_forces(exposed)
        order = EvaluationOrder(self.parts, self.sources, self.names)
        self.problems += [Problem(f"{self.recipe.path}: connections", text) for text in order.loops]
        self._raise()
        return self._with_starts(self._model(own, experiment, exposed, order, notes))

    def _raise(self) -> None:
        if self.problems:
            raise InputError(self.problems)

    # -- parts

    def _read_parts(self) -> None:
        reported: set[str] = set()
        for name, entry in self.recipe.parts.items():
            try:
                self.models[name] = self.part_models.part(entry.recipe, self.recipe.path.parent)
            except InputError as error:
                if entry.recipe not in reported:  # once, however many parts there are of it
                    self.problems += [Problem(f"{self.where} {name}", str(p)) for p in error.problems]
                reported.add(entry.recipe)
        for name, model in self.models.items() if self.problems else ():
            self._part_starts(name, model)
        self._raise()

    def _own(self, experiment: DefaultExperiment, wiring: Wiring) -> ElementModel:
        """Time, the forces from outside and what contact_core declares."""
        variables = [v for m in self.models.values() for v in m.variables]
        states = any(v.kind == "state" for v in variables)
        records = any(v.recorded for v in variables)
        declaration = core_variables(experiment, self.solver and states, self.solver and records)
        declaration = declaration.model_copy(update={"inputs": dict(self._outer_forces(wiring))})
        recipe = CheckedRecipe(
            path=self.recipe.path,
            name=self.recipe.name,
            description=self.recipe.description,
            element=declaration,
            element_folder=shipped("contact_core"),
            language="c",
            starts={},
            sizes={},
            given_sizes=frozenset(),
            choices={},
            absent={},
            constants=(),
        )
        return build_model(recipe, solver=False)

    def _outer_forces(self, wiring: Wiring) -> Iterator[tuple[str, Entry]]:
        """The inputs of exposed ports of bodies on which something acts inside already: they join the sum there."""
        self.outer: dict[str, list[str]] = {}  # by port as its part calls it: the inputs, in the order of its forces
        for new, old in self.recipe.expose.ports.items():
            port = self._port(old)
            if port is None or port.side != "body":
                continue
            part = old.partition(".")[0]
            forces = [n.partition(".")[2] for n in port.force_names]
            if not any((part, n) in wiring.sources or self._is_summed_inside(part, n) for n in forces):
                continue
            if "[" in new:
                what = f"{old} is connected inside, so forces from outside need a name without an index"
                self.problems.append(Problem(f"{self.recipe.path}: [expose] ports {new}", what))
                continue
            self.outer[old] = [new + _role(n) for n in forces]
            for group in port.force.values():
                vector = group[0].endswith("[1]")
                unit = self.models[part][group[0].partition(".")[2]].unit.name
                name = new + _role(group[0]).removesuffix("[1]")
                what = f"From outside at the port {new}, added to what acts there inside"
                yield name, Entry(unit=unit, size=len(group) if vector else 0, description=what)

    def _is_summed_inside(self, part: str, name: str) -> bool:
        model = self.models[part]
        return isinstance(model, AssemblyModel) and model[name].index in model.sources

    def _place_parts(self, own: ElementModel) -> None:
        self.names = [v.name for v in own.variables]
        self.starts = [v.start for v in own.variables]
        indicators = 0
        for name, model in self.models.items():
            inner = model.parts if isinstance(model, AssemblyModel) else (Part("", 0, 0, 0, model),)
            first = inner[0].offset  # an assembly inside has a time that nothing reads
            shift = self.offsets[name] = len(self.names) - first
            for part in inner:
                part_name = f"{name}.{part.name}" if part.name else name
                self.parts.append(Part(part_name, 0, part.offset + shift, part.indicators + indicators, part.model))
            indicators += len(model.indicators)
            self.names += [
                f"der({name}.{n[4:]}" if n.startswith("der(") else f"{name}.{n}" for n in _names(model, first)
            ]
            self.starts += [v.start for v in model.variables[first:]]
            for i, value in self._part_starts(name, model).items():
                self.starts[i + shift] = value
            if isinstance(model, AssemblyModel):
                for target, found in model.sources.items():  # without its forces from outside
                    self.sources[target + shift] = [s + shift for s in found if s >= first]

    def _part_starts(self, name: str, model: ElementModel | AssemblyModel) -> dict[int, float]:
        where = f"{self.where} {name} start"
        given = dict(self.recipe.parts[name].start)
        for key in [key for key in given if is_core_variable(key)]:
            what = f"'{key}' belongs to the assembly, which has one for all parts: write it into [start]"
            self.problems.append(Problem(where, what))
            del given[key]
        if self.recipe.table == "slaves" and isinstance(model, ElementModel):
            for key in [key for key in given if key in model.recipe.left_out]:
                self.left_out[f"{key} is not used: forces inside an assembly act without communication steps"] = None
                del given[key]
        starts, problems = start_values(model, given, where)
        self.problems += problems + law_problems(model, starts, where)
        return starts

    # -- connections

    def _wire(self) -> Wiring:
        ends = {name: self.part_models.ends(model) for name, model in self.models.items()}
        kind: Literal["part", "slave"] = "part" if self.recipe.table == "parts" else "slave"
        with collected(self.problems):
            given = self._given_from_outside(ends)
            return wire(self.recipe.path, self.recipe.connections, ends, given, self.recipe.free_moment, kind)
        return Wiring({}, ())

    def _connect(self, wiring: Wiring) -> tuple[str, ...]:
        for target, found in wiring.sources.items():
            self.sources.setdefault(self._index(target), []).extend(self._index(source) for source in found)
        for old, inputs in self.outer.items():
            port = self._port(old)
            assert port is not None
            for name, given in zip(port.force_names, inputs, strict=True):
                self.sources.setdefault(self.names.index(name), []).append(self.names.index(given))
        notes = tuple(dict.fromkeys((*wiring.notes, *self._unused_starts(), *self.left_out)))
        if len(notes) > _SHOWN_NOTES:
            notes = (*notes[:_SHOWN_NOTES], f"and {len(notes) - _SHOWN_NOTES} more of this kind")
        return notes

    def _given_from_outside(self, ends: Mapping[str, Ends]) -> frozenset[str]:
        """Names of the inputs that are exposed, and so given from outside."""
        expose = self.recipe.expose
        given = {*expose.inputs.values()}
        for old in expose.ports.values():
            part, _, name = old.partition(".")
            if part in ends and name in ends[part].ports:
                given |= {f"{part}.{n}" for n in ends[part].ports[name].motion_names}
        for old in expose.inputs.values():  # of a vector every component
            part, _, name = old.partition(".")
            if part in ends:
                given |= {f"{part}.{n}" for n in ends[part].variables if n.startswith(f"{name}[")}
        return frozenset(given)

    def _unused_starts(self) -> Iterator[str]:
        for model in self.models.values():
            for name in model.recipe.starts if isinstance(model, ElementModel) else ():
                if is_core_variable(name):
                    yield f"{name} of {model.path.name} is not used: an assembly has one for all parts"
        for part, entry in self.recipe.parts.items():
            where, shift = f"[{self.recipe.table}] {part} start", self.offsets[part]
            yield from overwritten(where, self.models[part], entry.start, shift, self.starts, self.sources, self.names)

    def _index(self, node: tuple[str, str]) -> int:
        part, name = node
        return self.offsets[part] + self.models[part][name].index

    def _find_lost_forces(self, exposed: set[int]) -> None:
        """A force element with the motion of a body whose force acts on no body is a mistake in the connections."""
        used = exposed | {s for found in self.sources.values() for s in found}
        for part in self.parts:
            for port in part.model.ports:
                if port.side != "force":
                    continue
                motion, force = (
                    [part.offset + part.model[n].index for n in names]
                    for names in (port.motion_names, port.force_names)
                )
                if any(i in self.sources for i in motion) and not any(i in used for i in force):
                    first = self.names[force[0]]
                    what = (
                        f"{part.name}.{port.name} receives a motion, but its force acts on nothing: connect the port "
                        f"to that of a body, or connect or expose {first}"
                    )
                    self.problems.append(Problem(f"{self.recipe.path}: connections", what))

    # -- names

    def _raw(self, index: int) -> Variable:
        """The variable as its element declares it."""
        part = self.parts[bisect_right(self.parts, index, key=lambda p: p.offset) - 1]
        return part.model.variables[index - part.offset]

    def _expose(self) -> set[int]:
        """Give the exposed variables their names; returns the indices of those that become outputs."""
        outputs: set[int] = set()
        self.exposed_ports: dict[str, PortUse] = {}
        renamed: dict[int, str] = {}
        first_part = self.parts[0].offset

        def rename(indices: Sequence[int], old: str, new: str, where: str) -> None:
            for i in indices:
                name = new + self.names[i][len(old) :]
                if i in renamed:
                    what = f"{self.names[i]} is exposed as {renamed[i]} already; a variable has one name"
                    self.problems.append(Problem(where, what))
                elif self.index.get(name, i) != i:
                    self.problems.append(Problem(where, f"there is a variable '{name}' already; choose another name"))
                elif name in given:
                    self.problems.append(Problem(where, f"the name '{name}' is given twice"))
                else:
                    renamed[i] = name
                    given.add(name)

        given: set[str] = {name for inputs in self.outer.values() for name in inputs}
        for table in ("inputs", "outputs", "parameters"):
            for new, old in getattr(self.recipe.expose, table).items():
                where = f"{self.recipe.path}: [expose] {table} {new}"
                indices = [i for i in self._find(old) if i >= first_part and not self._raw(i).hidden]
                if not indices:
                    self.problems.append(Problem(where, f"there is no variable '{old}'" + self._near(old)))
                    continue
                fault = self._exposure_fault(table, indices)
                if fault:
                    self.problems.append(Problem(where, f"{old} {fault}"))
                    continue
                rename(indices, old, new, where)
                if table == "outputs":
                    outputs.update(indices)
        for new, old in self.recipe.expose.ports.items():
            where = f"{self.recipe.path}: [expose] ports {new}"
            port = self._port(old)
            if port is None:
                known = [f"{name}.{p}" for name, m in self.models.items() for p in self.part_models.ends(m).ports]
                self.problems.append(Problem(where, f"there is no port '{old}'" + did_you_mean(old, known)))
                continue
            motion, force = ([self.index[n] for n in names] for names in (port.motion_names, port.force_names))
            ins, outs = (force, motion) if port.side == "body" else (motion, force)
            if old in self.outer:
                ins = []
            elif any(i in self.sources for i in ins):
                what = f"{old} follows a body inside the assembly; only one without a connection can be exposed"
                self.problems.append(Problem(where, what))
                continue
            rename([*ins, *outs], old, new, where)
            outputs.update(outs)
            self.exposed_ports[old] = port.renamed(new, lambda name, new=new: new + _role(name))  # type: ignore[misc]
        for i, name in renamed.items():
            self.names[i] = name
            if self._raw(i).kind == "state":
                derivative = i + self._raw(i).derivative - self._raw(i).index
                self.names[derivative] = f"der({name})"
        return outputs

    def _find(self, name: str) -> list[int]:
        """Indices of the scalar `name`, or of name[1], name[2], ..."""
        if name in self.index:
            return [self.index[name]]
        found: list[int] = []
        while f"{name}[{len(found) + 1}]" in self.index:
            found.append(self.index[f"{name}[{len(found) + 1}]"])
        return found

    def _near(self, name: str) -> str:
        part, _, rest = name.partition(".")
        if part not in self.models:
            return f": there is no part '{part}'{did_you_mean(part, self.models)}"
        near = did_you_mean(rest, self.models[part].visible_names)
        return near.replace("did you mean '", f"did you mean '{part}.") if "did you mean" in near else near

    def _exposure_fault(self, table: str, indices: Sequence[int]) -> str | None:
        kinds = {self._raw(i).kind for i in indices}
        connected = any(i in self.sources for i in indices)
        if table == "parameters" and not kinds <= {"fixed", "tunable"}:
            return "is no parameter: " + (
                "expose it as an input" if kinds == {"input"} and not connected else "it is computed"
            )
        if table == "inputs" and kinds != {"input"}:
            return "is no input: " + ("expose it as a parameter" if kinds <= {"fixed", "tunable"} else "it is computed")
        if table == "inputs" and connected:
            return "is connected inside the assembly, so it cannot be set from outside; expose it as an output"
        if table == "outputs" and kinds & {"fixed", "tunable"}:
            return "is a parameter: expose it as one"
        if table == "outputs" and kinds == {"input"} and not connected:
            return "is an input: expose it as one"
        return None

    def _port(self, name: str) -> PortUse | None:
        """A port of a part, with the names it has before anything is exposed."""
        part, _, rest = name.partition(".")
        if part not in self.models:
            return None
        port = self.part_models.ends(self.models[part]).ports.get(rest)
        return port and port.renamed(name, lambda variable: f"{part}.{variable}")

    # -- the model

    def _model(
        self,
        own: ElementModel,
        experiment: DefaultExperiment,
        exposed: set[int],
        order: EvaluationOrder,
        notes: tuple[str, ...],
    ) -> AssemblyModel:
        variables = [*own.variables]
        for part in self.parts:
            variables += self._variables(part, exposed, order)
        own.layout.add(("parts",), 0, len(variables) - len(own.variables))
        types, parts = shared_types(self.parts)
        ends = Ends(self.recipe.name, dict(self._end_variables(exposed)), {p.name: p for p in self._ports()})
        log: dict[str, str] = {}
        for kind in types:
            log |= kind.model.log
        return AssemblyModel(
            name=self.recipe.name,
            arrays=self.recipe.arrays,
            page=self.recipe.page,
            description=self.recipe.description or f"{', '.join([*self.models][:5])} in one FMU",
            path=self.recipe.path,
            variables=tuple(variables),
            ports=tuple(self.exposed_ports.values()),
            layout=own.layout,
            quaternions=tuple(
                (part.offset + q, part.offset + w)
                for part in parts
                for q, w in part.model.quaternions
                if part.offset + q not in self.sources
            ),
            indicators=tuple(
                replace(one, name=f"{part.name}.{one.name}") for part in parts for one in part.model.indicators
            ),
            experiment=experiment,
            log=log,
            types=types,
            parts=parts,
            sources={target: tuple(found) for target, found in self.sources.items()},
            schedule=tuple(order.schedule),
            copies=tuple(order.copies),
            ends=ends,
            connections=tuple(self.recipe.connections),
            own_notes=notes,
        )

    def _variables(self, part: Part, exposed: set[int], order: EvaluationOrder) -> Iterator[Variable]:
        """The variables of one part, as the FMU shows them."""
        offset = part.offset
        depends: dict[tuple[int, ...], tuple[int, ...]] = {(): ()}
        for v in part.model.variables:
            i = v.index + offset
            if v.depends not in depends:
                depends[v.depends] = order.expand(v.depends, offset)
            connected = i in self.sources
            yield replace(
                v,
                name=self.names[i],
                description=f"Derivative of {self.names[i][4:-1]}" if v.kind == "derivative" else v.description,
                index=i,
                kind="output" if connected or v.kind == "time" else v.kind,
                start=self.starts[i],
                is_output=i in exposed,
                hidden=v.hidden or v.kind == "time",
                depends=order.known[i] if connected else (0,) if v.kind == "time" else depends[v.depends],
                rate=v.rate + offset if v.rate >= 0 and not connected else -1,
                primitive=-1,
                start_from=v.start_from + offset if v.start_from >= 0 else -1,
                initial=tuple(i + offset for i in v.initial),
                derivative=v.derivative + offset if v.derivative >= 0 else -1,
                held=self._held(part, v),
                **NO_CLOCK,
            )

    def _held(self, part: Part, v: Variable) -> HeldForce | None:
        """What a stiffness or damping is to the force at ports of its part that the assembly exposes."""
        if v.held is None:
            return None
        ports = [
            self.exposed_ports[old].name for p in v.held.ports if (old := f"{part.name}.{p}") in self.exposed_ports
        ]
        if not ports:
            return None
        mass, inner = (
            self.names[part.offset + part.model[name].index] if name in part.model else ""
            for name in (v.held.mass, v.held.inner_mass)
        )
        return v.held._replace(ports=tuple(ports), mass=mass, inner_mass=inner)

    def _end_variables(self, exposed: set[int]) -> Iterator[tuple[str, SlaveVariable]]:
        """Variables that an assembly around this one may connect: outputs of all parts, inputs that are free or sum
        forces."""
        for part in self.parts:
            forces = {n for p in part.model.ports if p.side == "body" for n in p.force_names}
            for v in part.model.variables:
                i = v.index + part.offset
                if not v.hidden and v.kind != "time":
                    closed = v.kind == "input" and i in self.sources and v.name not in forces
                    causality = "local" if closed else "output" if i in exposed else None
                    yield self.names[i], end_of_variable(v, self.names[i], causality)

    def _ports(self) -> Iterator[PortUse]:
        """The ports of all parts, but for force elements that are connected already."""
        for part in self.parts:
            for port in part.model.ports:
                places = {n: part.offset + part.model[n].index for n in (*port.motion_names, *port.force_names)}
                if port.side == "force" and any(places[n] in self.sources for n in port.motion_names):
                    continue
                old = f"{part.name}.{port.name}"
                name = self.exposed_ports[old].name if old in self.exposed_ports else old
                yield port.renamed(name, lambda n, places=places: self.names[places[n]])  # type: ignore[misc]

    def _with_starts(self, model: AssemblyModel) -> AssemblyModel:
        where = f"{self.recipe.path}: [start]"
        unknown = self.recipe.start.keys() - model.visible_names.keys()
        exposed = {key: name for key in self.recipe.start if key in unknown and (name := self._exposed_as(key))}
        self.problems += [
            Problem(f"{where} {key}", f"is exposed as '{name}': write so") for key, name in exposed.items()
        ]
        given = {key: value for key, value in self.recipe.start.items() if key not in exposed}
        starts, problems = start_values(model, given, where)
        self.problems += problems + law_problems(model, starts, where)
        self._raise()
        variables = tuple(replace(v, start=starts[v.index]) if v.index in starts else v for v in model.variables)
        return replace(model, variables=variables)

    def _exposed_as(self, name: str) -> str:
        """The name outside of a variable of a part; empty if it keeps its own."""
        expose = self.recipe.expose
        for table in (expose.inputs, expose.outputs, expose.parameters, expose.ports):
            for new, old in table.items():
                if new != old and (name == old or name.startswith((f"{old}.", f"{old}["))):
                    return new + name[len(old) :]
        return ""


def _role(name: str) -> str:
    """`.f[1]` of the variable p.f[1] of a port."""
    return name[name.rindex(".") :]


def _names(model: Model, first: int) -> Iterator[str]:
    return (v.name for v in model.variables[first:])
