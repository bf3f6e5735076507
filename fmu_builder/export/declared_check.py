"""Checks of declarations: elements keep to them, dependencies that never show, the order of parts."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from fmu_builder.errors import Problem
from fmu_builder.export import generate
from fmu_builder.export.cache import cache_folder, used
from fmu_builder.export.element_check import TIMEOUT, Called, check_element, content_of_tools, findings, point_text
from fmu_builder.export.generate import assembly_check_sources
from fmu_builder.export.probe_plan import pack
from fmu_builder.export.toolchain import Compiler
from fmu_builder.model.assembly import AssemblyModel
from fmu_builder.model.model import ElementModel, Model
from fmu_builder.paths import is_shipped_element

_MOST = 5  # problems that are shown
_POINTS = 6  # of an assembly


def element_problems(
    model: Model, compiler: Compiler, timeout: float = TIMEOUT, files: Mapping[str, bytes] | None = None
) -> list[Problem]:
    """Where the elements of the model do not keep to what they declare; if all do, whether an assembly of them can be
    evaluated in the order that follows from it.  Physics in Python is not checked.

    files   the sources of the FMU: with the same ones the same declarations passed before or not"""
    passed = None if files is None else used(cache_folder() / "checks" / f"{_content(model, files, compiler)}.passed")
    if passed is not None and passed.is_file():
        return []
    found = _problems(model, compiler, timeout)
    if passed is not None and not found:
        with suppress(OSError):
            passed.parent.mkdir(exist_ok=True)
            passed.touch()
    return found


# They change with names, start values and texts.
_OF_STARTS = ("sources/model_guid.h", "sources/model_name.h", "sources/model_tables.c")


def _content(model: Model, files: Mapping[str, bytes], compiler: Compiler) -> str:
    """A name that changes with everything that the check follows from, and not with start values of a recipe."""
    digest = content_of_tools(compiler)
    for path in (__file__, generate.__file__):
        digest.update(Path(path).read_bytes() + b"\0")
    for name, data in sorted(files.items()):
        if name.startswith("sources/") and name not in _OF_STARTS:
            digest.update(b"\0%s\0%d\0" % (name.encode(), len(data)) + data)
    for form in _forms(model):
        recipe = form.recipe
        starts = sorted((name, value) for name, value in recipe.starts.items() if name in recipe.structure_starts)
        choices, limits = sorted(recipe.choices.items()), sorted(recipe.limits.items())
        digest.update(repr((form.element.content, choices, form.sizes, limits, starts)).encode())
        digest.update(repr([(v.name, v.kind, v.type, v.on_demand) for v in form.variables]).encode())
        for depends in {id(v.depends): v.depends for v in form.variables}.values():
            digest.update(array("q", (-1, *depends)).tobytes())
    return digest.hexdigest()[:32]


def _problems(model: Model, compiler: Compiler, timeout: float) -> list[Problem]:
    forms = [form for form in _forms(model) if not form.is_prototype]
    found = [problem for form in forms for problem in check_element(form, compiler, timeout=timeout).problems]
    if not found and isinstance(model, AssemblyModel) and not model.is_prototype:
        found = assembly_problems(model, compiler, timeout + len(model.variables) // 1000)
    return found


def unshown_dependencies(model: Model, compiler: Compiler) -> Iterator[str]:
    """Declared dependencies of elements outside the package that never showed.  It takes a second or two for each,
    once."""
    for form in _forms(model):
        if not is_shipped_element(form.recipe.element_folder) and not form.is_prototype:
            seen = check_element(form, compiler, every=True)
            place = form.recipe.element_folder / "element.toml"
            yield from (
                f"{place}: {what}: not seen at {seen.points} points; leave out what the formulas do not read"
                for what in seen.unshown
            )


def _forms(model: Model) -> list[ElementModel]:
    """The elements, each form once."""
    return (
        [kind.model for kind in model.types] if isinstance(model, AssemblyModel) else [m for _, m in model.elements()]
    )


def assembly_problems(model: AssemblyModel, compiler: Compiler, timeout: float = TIMEOUT) -> list[Problem]:
    """Values that an evaluation in that order gets wrong.

    The right values come from all parts, evaluated from the last to the first, again and again until no bit changes:
    that needs no order.  Both begin with NaN wherever something is computed, so that nothing old is taken for new.
    Raises ToolError where the compiler fails, or a shipped part crashes or does not return, InputError where one of
    another element does."""
    sources, compiled = assembly_check_sources(model)
    is_own = not all(map(is_shipped_element, model.folders().values()))
    called = Called(f"{model.name}.check", str(model.path), timeout, "probe_assembly.c", is_own)
    found = findings(sources, compiled, pack(model, _POINTS), compiler, called)
    return list(_told(model, found["disordered"]))


def _told(model: AssemblyModel, disordered: dict[str, dict[str, float]]) -> Iterator[Problem]:
    for index, point in list(disordered.items())[:_MOST]:
        part = max((part for part in model.parts if part.offset <= int(index)), key=lambda one: one.offset)
        element = part.model.recipe.element_folder / "element.toml"
        what = (
            f"{model.variables[int(index)].name} follows from values that are older than the point"
            f" ({point_text(point) or 'the start values'}): a part of the assembly depends on more than it declares; "
            f"complete depends in {element} and in those of the parts before it, or leave it out"
        )
        yield Problem(f"{model.path}: connections", what)
