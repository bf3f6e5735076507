"""Recipes, assemblies, scenarios and cases written in Python: the content of a TOML file as pydantic models.

A document is read by the code that reads files, under the path NAME.toml in the current folder: rules, units and
messages are the same, and paths inside count from there.  `toml()` and `save()` give the file itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import numpy as np
import tomli_w
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from fmu_builder.errors import InputError, Problem
from fmu_builder.files import path_given, staged, texts_as_files, written
from fmu_builder.model.assembly_format import Defaults, Expose
from fmu_builder.model.file_kinds import camel_case
from fmu_builder.model.page_table import PageTable
from fmu_builder.model.scenario import (
    CALL_LIMIT,
    ISOLATED,
    MASS,
    MEMORY_LIMIT,
    START,
    STEP,
    Convergence,
    Drive,
    Experiment,
    Pair,
    Reference,
)
from fmu_builder.model.table_model import KIND, Number, Quantity, TableModel, Truth, Whole, rule

Tables = dict[str, Any]
_CONNECTIONS = "pairs of ports, or of single variables: ('ball.p', 'floor.point')"
_MOMENT = "a port of kind point may stand for one of kind frame that returns a moment"
_ARRAYS = "true: in FMI 3.0 vectors are arrays, not scalars"
_PAGE = "plot, range, names: what its live page shows"
_Table = TypeVar("_Table", bound=TableModel)


def _table(value: object) -> object:
    if not isinstance(value, dict | BaseModel):
        raise rule("must be a table: a dictionary, or its model")
    return value


def _member(value: object) -> object:
    if not isinstance(value, str | dict | BaseModel):
        raise rule("must be the name of a recipe, a document, a Part, or a dictionary of one")
    return value


# a dictionary stays one until the file is read: its faults are named with all others
AsModel: TypeAlias = Annotated[SkipJsonSchema[dict[str, Any]] | _Table, BeforeValidator(_table)]


class Document(TableModel):
    """What one TOML file holds."""

    model_config = ConfigDict(frozen=False)
    name: str = Field(default="", description="of the file without .toml: the name of the FMU, and of the messages")

    def toml(self) -> str:
        """The text of the file.   Raises InputError where a part is a document, which needs a file of its own."""
        texts = self._texts(Path())
        if len(texts) > 1:
            others = ", ".join(path.name for path in list(texts)[1:])
            raise InputError(Problem(self._file().name, f"consists of several files, {others} too: use save()"))
        return next(iter(texts.values()))

    def save(self, folder: Path | str = ".") -> Path:
        """Write NAME.toml, and a file of each part that is a document, all or none; returns the path of the first.

        Raises InputError where the file of a part would replace another one, ToolError for a folder that cannot be
        written to."""
        texts = self._texts(Path(folder))
        _check_places(texts)
        with written(Path(folder)):
            Path(folder).mkdir(parents=True, exist_ok=True)
        with written(next(iter(texts))), staged(*texts) as files:
            for file, text in zip(files, texts.values(), strict=True):
                file.write_text(text, encoding="utf-8", newline="\n")
        return next(iter(texts))

    def _file(self) -> Path:
        stem = self.name or self._default_name()
        if not stem or Path(stem).name != stem or "\\" in stem or stem.startswith("."):
            rule = "must be the name of a file: not empty, and without folders"
            raise InputError(Problem(f"{type(self).__name__}() name", f"{stem!r} {rule}"))
        return Path(f"{stem}.toml")

    def _default_name(self) -> str:
        return type(self).__name__

    def _texts(self, folder: Path) -> dict[Path, str]:
        """The text of this document, and then of those in it, by path."""
        inner: dict[Path, str] = {}
        tables: Tables = {}
        for key, value in _given(self).items():
            if value is not None and key != "name":
                tables[key] = _plain(value, folder, inner, f"{self._file()}: {key}")
        for key in ("parts", "slaves"):
            if isinstance(tables.get(key), dict):
                tables[key] = _in_order(tables[key])
        for part, value in (getattr(self, "parts", None) or getattr(self, "slaves", None) or {}).items():
            recipe = value.get("recipe") if isinstance(value, dict) else getattr(value, "recipe", value)
            if isinstance(recipe, str) and folder / f"{recipe.removesuffix('.toml')}.toml" in inner:
                what = f"'{recipe}' is a document of another part as well; give that a name of its own"
                raise InputError(Problem(f"{self._file()}: {part}", what))
        return {folder / self._file(): tomli_w.dumps(tables)} | inner


def _in_order(members: Tables) -> Tables:
    """Parts or slaves, all as tables if one is: TOML has the tables after what is given by its name alone."""
    if not any(isinstance(one, dict) for one in members.values()):
        return members
    return {name: {"recipe": one} if isinstance(one, str) else one for name, one in members.items()}


def _given(model: BaseModel) -> dict[str, object]:
    """The fields that were given, and its kind, in the order of their declaration, and then the others."""
    fields = [name for name in type(model).model_fields if name in model.model_fields_set or name == KIND]
    return {name: getattr(model, name) for name in fields} | (model.model_extra or {})


def _check_places(texts: Mapping[Path, str]) -> None:
    """Raises InputError where a document inside another one has the path of a file with other content."""
    for path, text in list(texts.items())[1:]:
        if path.is_file() and path.read_text(encoding="utf-8") != text:
            what = "is a file with other content; give the document of this part a name of its own"
            raise InputError(Problem(str(path), what))


def _plain(value: object, folder: Path, inner: dict[Path, str], where: str, part: str = "") -> object:
    """What TOML can hold; a document becomes the name of its file, which goes to `inner`.

    where   of the value in messages;   part   name of the part or slave that it belongs to.   Raises InputError."""
    if isinstance(value, Document):
        named = value if value.name or not part else value.model_copy(update={"name": part})
        texts = named._texts(folder)
        path = next(iter(texts))
        if inner.get(path, texts[path]) != texts[path]:
            raise InputError(Problem(path.name, "stands for two different documents; give each a name of its own"))
        inner.update(texts)
        return path.name
    if isinstance(value, BaseModel):
        value = _given(value)
    if isinstance(value, Mapping):
        of = {key: str(key) if isinstance(one, Document) else part for key, one in value.items()}
        return {
            str(key): _plain(one, folder, inner, f"{where} {key}", part if key == "recipe" else of[key] or str(key))
            for key, one in value.items()
            if one is not None
        }
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(one, folder, inner, where, part) for one in value]
    if isinstance(value, Path):
        return str(value)
    if not isinstance(value, str | bool | int | float):
        raise InputError(Problem(where, f"{value!r} must be a number, a text, true, false, a list or a table of these"))
    return value


class Recipe(Document):
    """One element with its structure and start values.

    Tables of the element, such as `surface` of point_surface, are given like the fields, as dictionaries or models:
    surface = a Plane, Disc, Sphere, Cylinder, Cone, Torus, Revolution, Extrusion, HeightField, Patch or Mesh;
    line = a GuideLine of point_line_1 and point_line_2; body, constraint, point = lists of Body, of Profile, Pin and
    Distance, and of Point, of planar_mechanism.  `fmu-builder schema NAME` lists those of an element."""

    model_config = ConfigDict(extra="allow")
    element: str = Field(description="name of a shipped element, or path of the folder of one of your own")
    description: str | None = Field(default=None, description="one sentence for modelDescription.xml")
    language: str | None = Field(default=None, description="'c', or 'python' for a prototype")
    structure: dict[str, Any] | None = Field(default=None, description="sizes and choices that the build fixes")
    start: dict[str, Any] | None = Field(default=None, description=START)
    functions: dict[str, Any] | None = Field(default=None, description="laws in the slots of the element")
    drawing: dict[str, Any] | None = Field(default=None, description="color and visible, for pictures")
    arrays: Truth | None = Field(default=None, description=_ARRAYS)
    page: AsModel[PageTable] | None = Field(default=None, description=_PAGE)

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            element: str,
            name: str = "",
            description: str | None = None,
            language: str | None = None,
            structure: dict[str, Any] | None = None,
            start: dict[str, Any] | None = None,
            functions: dict[str, Any] | None = None,
            drawing: dict[str, Any] | None = None,
            arrays: bool | None = None,
            page: PageTable | Mapping[str, Any] | None = None,
            **tables: TableModel | Sequence[TableModel] | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        ) -> None: ...

    def _default_name(self) -> str:
        return camel_case(Path(self.element).name)


class Part(TableModel):
    """A part of an assembly or a slave of a scenario."""

    recipe: str | Recipe | Assembly = Field(description="name or path of a recipe, path of an .fmu, or a document")
    start: dict[str, Any] | None = Field(default=None, description=START)
    mass: Quantity | None = Field(default=None, description=MASS)
    step: Quantity | None = Field(default=None, description=STEP)
    isolated: Truth | None = Field(default=None, description=ISOLATED)
    call_limit: Quantity | None = Field(default=None, description=CALL_LIMIT)
    memory_limit: Number | None = Field(default=None, description=MEMORY_LIMIT)
    count: Whole | None = Field(default=None, description="so many of them: NAME[1], NAME[2], ...")


Member = Annotated["str | Recipe | Assembly | AsModel[Part]", BeforeValidator(_member)]


class Assembly(Document):
    """Several elements under one solver, in one FMU."""

    description: str | None = Field(default=None, description="one sentence for modelDescription.xml")
    parts: dict[str, Member] = Field(description="what it consists of")
    connections: list[Pair] = Field(default=[], description=_CONNECTIONS)
    free_moment: Truth | None = Field(default=None, description=_MOMENT)
    expose: AsModel[Expose] | None = Field(
        default=None, description="inputs, outputs, parameters, ports: new names of variables of the parts"
    )
    start: dict[str, Any] | None = Field(default=None, description=START)
    experiment: AsModel[Defaults] | None = Field(default=None, description="stop, step, tolerance: defaults of the FMU")
    arrays: Truth | None = Field(default=None, description=_ARRAYS)
    page: AsModel[PageTable] | None = Field(default=None, description=_PAGE)


class Scenario(Document):
    """Slaves that are coupled, and their experiment."""

    description: str | None = Field(default=None, description="what it shows")
    slaves: dict[str, Member] = Field(description="FMUs and recipes")
    connections: list[Pair] = Field(default=[], description=_CONNECTIONS)
    free_moment: Truth | None = Field(default=None, description=_MOMENT)
    experiment: AsModel[Experiment] = Field(
        description="stop and step, needed; start, output_step, algorithm, tolerance, record"
    )
    drive: dict[str, bool | int | float | str | AsModel[Drive] | SkipJsonSchema[Any]] | None = Field(
        default=None,
        description="inputs and tunable parameters over time: a number, a law of #t, {time, value}, or {table}",
    )
    page: AsModel[PageTable] | None = Field(default=None, description=_PAGE)


class Case(Scenario):
    """A scenario with a reference to compare with."""

    reference: AsModel[Reference] = Field(
        description="file, source, and what each of `signals` and `events` may differ by: absolute, relative, time"
    )
    convergence: AsModel[Convergence] | None = Field(
        default=None, description="quantity, steps, order: how its error falls with the communication step"
    )


DOCUMENTS: Mapping[str, type[Document]] = {
    "recipe": Recipe,
    "assembly": Assembly,
    "scenario": Scenario,
    "case": Case,
}


def keys_of(document: type[Document]) -> list[str]:
    """The keys that a file of this kind may have."""
    return [key for key in document.model_fields if key not in Document.model_fields]


@contextmanager
def as_file(source: Document | Path | str, argument: str = "scenario") -> Iterator[Path]:
    """The path under which a document can be read inside, or the path itself.

    argument   its name in messages.   Raises InputError for a value of another type."""
    if not isinstance(source, Document):
        yield path_given(source, argument, "a document, ")
        return
    texts = source._texts(Path.cwd())
    with texts_as_files(texts):
        yield next(iter(texts)).relative_to(Path.cwd())
