"""What an FMU was made from, in extra/org.fmu-builder of the archive: its recipe with all files, structure, tool.

The same version of fmu-builder builds the FMU again from these files, to the same bytes.

    origin.toml      tool, version, recipe; [elements]: hash of each one's text; [structure.MODEL]: what was compiled
    files/...        the recipe, those of its parts, CSV files, and the folders of elements that are not shipped

Files lie there as they lie on disk, below the folder that all of them have in common."""

from __future__ import annotations

import hashlib
import os
import sys
import tomllib
import zipfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

import tomli_w

from fmu_builder.errors import InputError, Problem, listed
from fmu_builder.files import read_bytes
from fmu_builder.model.declaration import value_text
from fmu_builder.model.model import ElementModel, Model
from fmu_builder.paths import own_version, shipped

FOLDER = "extra/org.fmu-builder"
_ABOUT = f"{FOLDER}/origin.toml"
_SHOWN = 12  # values of a constant; a profile has thousands


@dataclass(frozen=True)
class Origin:
    """`recipe`: its path below `files`; `elements`: hash by name; `structure`: of each model, texts by name."""

    version: str
    recipe: PurePosixPath
    elements: Mapping[str, str]
    structure: Mapping[str, Mapping[str, str]]
    files: Mapping[str, bytes]

    @property
    def text(self) -> str:
        """That of the recipe."""
        return self.files[str(self.recipe)].decode("utf-8-sig", "replace")


def origin_files(model: Model) -> dict[str, bytes]:
    """Archive name -> bytes."""
    installed = _installed()
    beside = [path for path in (*model.files, *_own_files(model, installed)) if not _is_below(path, installed)]
    files = list(dict.fromkeys(path.resolve() for path in (model.path, *beside)))
    root = Path(os.path.commonpath([path.parent for path in files]))
    names = {path: path.relative_to(root).as_posix() for path in files}
    origin = Origin(
        version=own_version(),
        recipe=PurePosixPath(names[model.path.resolve()]),
        elements={folder.name: element_hash(folder) for folder in _element_folders(model)},
        structure=structure_tables(model),
        files={},
    )
    found = {f"{FOLDER}/files/{name}": read_bytes(path) for path, name in names.items()}
    return {_ABOUT: _toml(origin).encode("utf-8"), **dict(sorted(found.items()))}


def _own_files(model: Model, installed: Collection[Path]) -> Iterator[Path]:
    """The files of the elements that are not shipped: what is built from, and the pictures of their pages."""
    for folder in _element_folders(model):
        if not _is_below(folder, installed):
            yield from (p for p in folder.iterdir() if p.is_file() and not p.name.startswith("."))


def _installed() -> frozenset[Path]:
    return frozenset(shipped(folder).resolve() for folder in ("elements", "contact_core", "fmus"))


def _is_below(path: Path, folders: Collection[Path]) -> bool:
    return any(parent in folders for parent in path.resolve().parents)


def _element_folders(model: Model) -> list[Path]:
    return sorted({folder.resolve() for folder in model.folders().values()})


def element_hash(folder: Path) -> str:
    """Of what an element compiles to and is checked by: its declaration, C and Python."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.iterdir() if p.suffix in (".toml", ".c", ".h", ".py")):
        data = path.read_bytes()
        digest.update(f"{path.name} {len(data)}\n".encode() + data)
    return digest.hexdigest()[:16]


def structure_tables(model: Model) -> dict[str, dict[str, str]]:
    """What was compiled into the FMU that no start value changes: choices, sizes and constants (SI) of each recipe."""
    found: dict[str, dict[str, str]] = {}
    for _, element in model.elements():
        if element.name not in found:
            found[element.name] = dict(_structure_of(element))
    return found


def _structure_of(model: ElementModel) -> Iterator[tuple[str, str]]:
    yield "element", model.element_name
    for name, choice in sorted(model.recipe.choices.items()):
        if name in model.element.slots:
            yield name, "a law of the recipe" if choice else "the law of the element"
        else:
            yield name, value_text(choice)
    for name, size in sorted(model.sizes.items()):
        yield name, str(size)
    for constant in model.constants:
        values = constant.values
        if isinstance(values, bytes):
            place = f" in resources/{constant.file_name}" if constant.is_resource else ""
            yield constant.name, f"{len(values)} bytes{place}"
        else:
            yield constant.name, listed([*map(_shown, values)], _SHOWN)


def _shown(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.9g}" if abs(value) < sys.float_info.max else "unbounded"


_HEAD = "# What this FMU was built from.  `fmu-builder build FILE.fmu` builds it again, `fmu-builder info` shows it.\n"


def _toml(origin: Origin) -> str:
    tables = {
        "tool": "fmu-builder",
        "version": origin.version,
        "recipe": str(origin.recipe),
        "elements": dict(sorted(origin.elements.items())),
        "structure": origin.structure,
    }
    return _HEAD + tomli_w.dumps(tables)


def read_origin(fmu: Path) -> Origin | None:
    """The origin of an FMU; None for one without.  Raises InputError where it is damaged."""
    with zipfile.ZipFile(fmu) as archive:
        if _ABOUT not in archive.namelist():
            return None
        prefix = f"{FOLDER}/files/"
        files = {
            name.removeprefix(prefix): archive.read(name) for name in archive.namelist() if name.startswith(prefix)
        }
        try:
            about = tomllib.loads(archive.read(_ABOUT).decode("utf-8"))
            origin = Origin(
                version=str(about["version"]),
                recipe=PurePosixPath(about["recipe"]),
                elements=dict(about["elements"]),
                structure={name: dict(table) for name, table in about.get("structure", {}).items()},
                files=files,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(Problem(f"{fmu}: {_ABOUT}", f"cannot be read: {error}")) from error
    if str(origin.recipe) not in files:
        raise InputError(Problem(f"{fmu}: {_ABOUT}", f"names the recipe {origin.recipe}, which is missing in it"))
    return origin


def unpack_origin(origin: Origin, folder: Path) -> Path:
    """Write the files below an empty folder; returns the recipe.  The names were checked with the archive."""
    for name, data in origin.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder / origin.recipe


def changes_since(origin: Origin, model: Model) -> list[str]:
    """Differences between this tool and the one that built the FMU, as texts: version, elements of the installation."""
    version = own_version()
    found = [f"it was built by fmu-builder {origin.version}, this is {version}"] if origin.version != version else []
    for folder in _element_folders(model):
        if origin.elements.get(folder.name) != element_hash(folder):
            found.append(f"the element {folder.name} has changed since then")
    return found


def build_date() -> str | None:
    """The date of SOURCE_DATE_EPOCH as FMI writes it; None without: then equal sources give equal bytes.

    Raises InputError for a value that is no number of seconds."""
    text = os.environ.get("SOURCE_DATE_EPOCH")
    if not text:
        return None
    try:
        return datetime.fromtimestamp(int(text), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError) as error:
        what = f"'{text}' must be a whole number of seconds since 1970, as `date +%s` prints it"
        raise InputError(Problem("SOURCE_DATE_EPOCH", what)) from error
