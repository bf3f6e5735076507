"""Packages of Modelica classes: of recipes that are named, or of all of the catalogue that have a Modelica form."""

from __future__ import annotations

import html as markup
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fmu_builder.errors import InputError, Problem, collected, listed
from fmu_builder.files import read_text, written
from fmu_builder.model.assembly import AssemblyModel
from fmu_builder.model.file_kinds import IDENTIFIER, camel_case, file_kind
from fmu_builder.model.loader import assembly_of_scenario, load_model
from fmu_builder.model.model import ElementModel, Model
from fmu_builder.model.scenario import read_scenario
from fmu_builder.modelica import words
from fmu_builder.modelica.element_class import ElementClass, element_class
from fmu_builder.modelica.icons import IMAGES, image_name
from fmu_builder.modelica.interfaces import INTERFACES
from fmu_builder.modelica.ready_made import ready_made_laws
from fmu_builder.modelica.system_class import SystemClass, system_class
from fmu_builder.paths import catalogue, own_version, shipped

MSL_VERSION = "4.0.0"
ELEMENTS, EXAMPLES = "Elements", "Examples"
CASES = (  # scenarios of the shipped elements that are examples of the library, beside the assemblies of the catalogue
    "inertia/cases/run_up",
    "point_mass/cases/projectile",
    "point_surface/cases/sliding_block",
    "rotational_damper/cases/run_down",
    "slider_mass/cases/push",
    "translational_damper/cases/run_down",
)


@dataclass(frozen=True)
class Written:
    """What was written: the folder, and its classes by full name.

    left_out  recipes of the catalogue without a Modelica form, with the reason"""

    folder: Path
    elements: Mapping[str, ElementClass]
    systems: Mapping[str, SystemClass]
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def classes(self) -> tuple[str, ...]:
        """Their full names, elements first."""
        return (*self.elements, *self.systems)


def write_package(recipes: Iterable[Path], output: Path) -> Written:
    """Write the classes of recipes and scenarios, with those of the parts that they name, as the package `output`: a
    folder, whose name is that of the package.

    Raises InputError with everything that has no Modelica form, ToolError for a folder that cannot be written."""
    sources = {path: path.stem for path in recipes}
    problems: list[Problem] = []
    found = _Classes(_package_name(output))
    for path, name in sources.items():
        with collected(problems):
            found.add(_model(path), name, _start(path))
    if problems:
        raise InputError(problems)
    written = found.written(output)
    _write(written, "Classes of recipes, by fmu-builder", found.interfaces)
    return written


def write_library(output: Path) -> Written:
    """Write the library: each recipe of the catalogue that has a Modelica form, the systems of such, and CASES.

    Raises InputError or ToolError for a folder that cannot take it."""
    found = _Classes(_package_name(output))
    left_out: dict[str, str] = {}
    models = [_model(path) for path in catalogue()]
    for model in sorted(models, key=lambda one: isinstance(one, AssemblyModel)):  # elements first
        try:
            found.add(model, model.name)
        except InputError as error:
            left_out[model.name] = error.problems[0].what
    for case in CASES:
        path = shipped("elements") / f"{case}.toml"
        found.add(_model(path), case_class(case), _start(path))
    written = found.written(output, left_out)
    _write(written, "Springs, dampers, bodies, points in the plane, contact", found.interfaces, ready_made_laws())
    return written


def case_class(case: str) -> str:
    """The name of the class of one of CASES: `inertia/cases/run_up` is InertiaRunUp."""
    element, _, name = case.partition("/cases/")
    return camel_case(f"{element}_{name}")


def _model(path: Path) -> Model:
    if file_kind(path) == "slaves":
        return assembly_of_scenario(read_scenario(path))
    return load_model(path)


def _start(path: Path) -> float:
    """The time at which a scenario begins, s; 0 for a recipe."""
    return read_scenario(path).seconds("start") if file_kind(path) == "slaves" else 0.0


_STANDARD = ("Modelica", "ModelicaServices", "ModelicaReference", "Complex")


def _package_name(output: Path) -> str:
    name = output.resolve().name
    if name in _STANDARD:
        what = f"a package {name} would hide that of the Modelica Standard Library; give another name"
        raise InputError(Problem(str(output), what))
    if not IDENTIFIER.fullmatch(name) or name in words.KEYWORDS:
        rule = "letters, digits and _, the first no digit, and no keyword"
        what = f"its name is that of the package, so it must be a Modelica identifier: {rule}"
        raise InputError(Problem(str(output), what))
    return name


class _Classes:
    """Classes of models, each once."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.elements: dict[str, ElementClass] = {}
        self.systems: dict[str, SystemClass] = {}
        self._paths: dict[str, Path] = {}

    def add(self, model: Model, name: str, start: float = 0.0) -> None:
        """Raises InputError; then nothing of the model is added.   start: s, of the experiment of a system"""
        if isinstance(model, ElementModel):
            self.elements |= self._new([model])
            return
        assert isinstance(model, AssemblyModel)
        if name in words.KEYWORDS:
            raise InputError(Problem(str(model.path), f"'{name}' is a word of Modelica; rename the file"))
        new = self._new([part.model for part in model.parts])
        self.systems[name] = system_class(model, self.elements | new, name, f"{ELEMENTS}.", start)
        self.elements |= new

    def _new(self, models: Iterable[ElementModel]) -> dict[str, ElementClass]:
        """The classes of the models that are not there yet."""
        found: dict[str, ElementClass] = {}
        problems: list[Problem] = []
        for name, model in {one.name: one for one in models}.items():
            path = model.path.resolve()
            if self._paths.setdefault(name, path) != path:
                what = f"a class of this name is made of {self._paths[name]}: rename one of the files"
                problems.append(Problem(str(model.path), what))
            elif name not in self.elements:
                with collected(problems):
                    found[name] = element_class(model, self.package)
        if problems:
            raise InputError(problems)
        return found

    @property
    def interfaces(self) -> dict[str, str]:
        """Our own connectors and grounds, where something needs them."""
        planar = any(one.kind == "planar" for element in self.elements.values() for one in element.connectors.values())
        is_used = planar or any("Interfaces." in system.text for system in self.systems.values())
        return dict(INTERFACES) if is_used else {}

    def written(self, folder: Path, left_out: Mapping[str, str] | None = None) -> Written:
        return Written(
            folder,
            {f"{self.package}.{ELEMENTS}.{name}": one for name, one in sorted(self.elements.items())},
            {f"{self.package}.{EXAMPLES}.{name}": one for name, one in sorted(self.systems.items())},
            left_out or {},
        )


_MARK = "// Written by fmu-builder"  # begins package.mo
_SUBPACKAGES = {
    "Interfaces": "Connectors that the Modelica Standard Library lacks",
    "Laws": "Laws of contact and friction that are ready-made",
    ELEMENTS: "Elements, a class for each recipe",
    EXAMPLES: "Systems that can be simulated",
}


def _write(
    written: Written, description: str, interfaces: Mapping[str, str], laws: Mapping[str, str] | None = None
) -> None:
    folder, package = written.folder, written.folder.resolve().name
    files: dict[str, str] = {}
    contents = {
        "Interfaces": interfaces,
        "Laws": laws or {},
        ELEMENTS: {one.name: one.text for one in written.elements.values()},
        EXAMPLES: {one.name: one.text for one in written.systems.values()},
    }
    order = [name for name, classes in contents.items() if classes]
    for name in order:
        files[f"{name}/package.mo"] = _package(package, name, _SUBPACKAGES[name])
        files[f"{name}/package.order"] = "".join(f"{one}\n" for one in contents[name])
        for one, text in contents[name].items():
            files[f"{name}/{one}.mo"] = f"within {package}.{name};\n{text}"
    about = words.html(_about(written))
    files["package.order"] = "".join(f"{name}\n" for name in order)
    files["package.mo"] = (
        f"{_MARK} {own_version()}\npackage {package} {words.string(description)}\n"
        f'  annotation(uses(Modelica(version="{MSL_VERSION}")),\n    {about});\nend {package};\n'
    )
    for drawing in sorted({one.drawing for one in written.elements.values() if one.drawing is not None}):
        files[f"{IMAGES}/{image_name(drawing)}"] = read_text(drawing)
    _replace(folder, files)


def _package(outer: str, name: str, description: str) -> str:
    return f"within {outer};\npackage {name} {words.string(description)}\nend {name};\n"


def _about(written: Written) -> Sequence[str]:
    return [
        "<p>Classes of fmu-builder, which exports the same elements as FMUs. Connectors are those of the Modelica "
        "Standard Library. The force of a connector acts on the component, as everywhere in that library.</p>",
        *(f"<p><code>{markup.escape(name)}</code></p>" for name in written.classes),
    ]


def _signed(name: str, text: str) -> str:
    """The text of a file with the line that says who wrote it; package.mo begins with its own, package.order can have
    none."""
    if name.endswith(".svg"):
        return f"{text.rstrip()}\n<!-- {_signature(name)} -->\n"
    within, _, rest = text.partition("\n")
    return f"{within}\n// {_signature(name)}\n{rest}" if within.startswith("within ") else text


def _signature(name: str) -> str:
    """With the place of the file, so that a copy under another name is not taken for ours."""
    return f"Written by fmu-builder as {name}; the next package replaces this file"


def _is_ours(folder: Path, place: Path) -> bool:
    name = place.relative_to(folder).as_posix()
    return name == "package.mo" or _signature(name) in place.read_text(encoding="utf-8", errors="replace")


def _replace(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files, in place of those of an earlier package.  Files of others stay, in package.order too."""
    texts = {name: _signed(name, text) for name, text in files.items()}
    with written(folder):
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            ours = _files_of_ours(folder, texts)
            for name in texts:
                if name.endswith("package.order"):
                    texts[name] += _others(folder / name, texts[name], ours)
            for old in ours:
                old.unlink()
                if old.name == "package.mo":
                    old.with_name("package.order").unlink(missing_ok=True)
        for name, text in texts.items():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8", newline="\n")


def _files_of_ours(folder: Path, names: Collection[str]) -> set[Path]:
    """The files of the package there that fmu-builder wrote.

    Raises InputError if it is no package of ours, or one of the names is a file of others."""
    head = folder / "package.mo"
    if not head.is_file() or not head.read_text(encoding="utf-8", errors="replace").startswith(_MARK):
        what = "exists, and is no package of fmu-builder; name another folder, or remove it"
        raise InputError(Problem(str(folder), what))
    found = {place for place in (*folder.rglob("*.mo"), *(folder / IMAGES).glob("*.svg")) if place.is_file()}
    ours = {place for place in found if _is_ours(folder, place)}
    taken = sorted(name for place in found - ours if (name := place.relative_to(folder).as_posix()) in names)
    if taken:
        what = f"{listed(taken, 3)} would be replaced, but this version of fmu-builder did not write what is there"
        raise InputError(Problem(str(folder), f"{what}; rename what is yours, or name another folder"))
    return ours


def _others(order: Path, written: str, ours: Collection[Path]) -> str:
    """The lines of the package.order there that name classes of others."""
    if not order.is_file():
        return ""
    kept = [
        name
        for name in order.read_text(encoding="utf-8", errors="replace").splitlines()
        for place in (order.with_name(f"{name}.mo"), order.parent / name / "package.mo")
        if name not in written.splitlines() and place not in ours and place.is_file()
    ]
    return "".join(f"{name}\n" for name in kept)
