"""From the file of a recipe to a model: of one element, or of an assembly and its parts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fmu_builder.errors import InputError, Problem, collected
from fmu_builder.files import recorded_reads
from fmu_builder.model import planar_support
from fmu_builder.model.assembly import AssemblyModel, end_of_variable
from fmu_builder.model.assembly_builder import AssemblyBuilder
from fmu_builder.model.assembly_format import CheckedAssembly, parse_assembly, read_assembly, recipe_of_scenario
from fmu_builder.model.connectable import Ends
from fmu_builder.model.element_model import load_element
from fmu_builder.model.file_kinds import file_kind
from fmu_builder.model.model import ElementModel, Model
from fmu_builder.model.page_table import Shown, checked_page
from fmu_builder.model.scenario import CheckedScenario
from fmu_builder.paths import find_recipe


def load_model(path: Path) -> Model:
    """The model of a recipe's file, of one element or an assembly.  Raises InputError with every problem found."""
    with recorded_reads() as files:
        if file_kind(path) == "parts":
            model: Model = load_assembly(path)
        else:
            model = load_element(path)
    _, problems = checked_page(model.page, _shown(model), str(path))
    if problems:
        raise InputError(problems)
    return replace(model, files=tuple(dict.fromkeys(files)))


def _shown(model: Model) -> dict[str, list[Shown]]:
    """What a page may name."""
    return {
        name: [Shown(v.name, v.unit, v.is_settable, v.type in ("real", "int")) for v in group]
        for name, group in model.visible_names.items()
    }


def load_assembly(path: Path) -> AssemblyModel:
    """The model of an assembly's recipe.  Raises InputError with every problem of the recipe and of its parts."""
    recipe, problems = parse_assembly(path)
    with collected(problems):
        model = _whole(recipe)
    if problems:
        raise InputError(problems)
    return model


def assembly_of_scenario(scenario: CheckedScenario) -> AssemblyModel:
    """The model of a scenario as one FMU.  Raises InputError with every problem found."""
    with recorded_reads() as files:
        model = _whole(recipe_of_scenario(scenario))
    return replace(model, files=tuple(dict.fromkeys(files)))


def _whole(recipe: CheckedAssembly) -> AssemblyModel:
    """The model of an assembly that is not part of another: it has the solver."""
    model = _Loader().assembly(recipe, solver=True)
    return replace(model, unsupported=planar_support.warnings(model))


class _Loader:
    """Models of recipes, each read once."""

    def __init__(self) -> None:
        self._models: dict[Path, ElementModel | AssemblyModel] = {}
        self._ends: dict[Path, Ends] = {}
        self._open: list[Path] = []  # assemblies that are being read, each part of the one before

    def assembly(self, recipe: CheckedAssembly, solver: bool) -> AssemblyModel:
        self._open.append(recipe.path.resolve())
        try:
            return AssemblyBuilder(recipe, self, solver).build()
        finally:
            self._open.pop()

    def part(self, name: str, beside: Path) -> ElementModel | AssemblyModel:
        """The model of a part's recipe, without a solver of its own."""
        if Path(name).suffix == ".fmu":
            what = "a part must be a recipe: an FMU that is built already has a solver of its own"
            raise InputError(Problem(name, what))
        path = find_recipe(name, beside)
        known = path.resolve()
        if known in self._open:
            names = [p.stem for p in (*self._open[self._open.index(known) :], known)]
            raise InputError(Problem(str(path), f"this assembly contains itself: {' -> '.join(names)}"))
        if known not in self._models:
            kind = file_kind(path)
            if kind == "slaves":
                what = "a part must be a recipe, this is a scenario: move its slaves to [parts] of a recipe"
                raise InputError(Problem(str(path), what))
            if kind == "parts":
                self._models[known] = self.assembly(read_assembly(path), solver=False)
            else:
                self._models[known] = load_element(path, solver=False)
        return self._models[known]

    def ends(self, model: ElementModel | AssemblyModel) -> Ends:
        if isinstance(model, AssemblyModel):
            return model.ends
        known = model.path.resolve()
        if known not in self._ends:
            self._ends[known] = Ends(
                model.name,
                {v.name: end_of_variable(v, v.name) for v in model.variables if not v.hidden},
                {p.name: p for p in model.ports},
            )
        return self._ends[known]
