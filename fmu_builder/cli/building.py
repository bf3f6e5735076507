"""`build`: FMUs of recipes, of scenarios, of FMUs, and of the whole catalogue."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from fmu_builder.cli.files import find, find_scenario
from fmu_builder.cli.mesh_info import is_mesh, recipe_place, write_recipe
from fmu_builder.cli.printing import err, line, print_notes, print_progress, progress
from fmu_builder.errors import FmuBuilderError, InputError, Problem, ToolError, raise_all
from fmu_builder.export.archive import check_archive, platform_folders
from fmu_builder.export.fmi3_variables import Fmi
from fmu_builder.export.fmu import FMI3_SUFFIX, Built, build_fmu, build_model_fmu, fmu_name
from fmu_builder.export.many import build_fmus
from fmu_builder.export.origin import FOLDER, changes_since, read_origin, unpack_origin
from fmu_builder.export.toolchain import PLATFORMS, TUPLES, resolve_platforms
from fmu_builder.export.xml_files import DESCRIPTION, is_fmi3
from fmu_builder.files import real_place, write_whole, written
from fmu_builder.model.file_kinds import file_kind, is_recipe
from fmu_builder.model.loader import assembly_of_scenario
from fmu_builder.model.scenario import CheckedScenario, read_scenario
from fmu_builder.paths import catalogue, find_recipe, is_shipped
from fmu_builder.processes import in_processes


def versions(text: str | None) -> tuple[Fmi, ...]:
    """The versions of FMI of `--fmi`: 2, 3, or both with a comma; none where it is not given.  Raises InputError."""
    known: dict[str, Fmi] = {"2": 2, "3": 3, "2.0": 2, "3.0": 3}
    wanted = [one.strip() for one in text.split(",")] if text is not None else []
    if unknown := [one for one in wanted if one not in known]:
        raise InputError(Problem("--fmi", f"'{unknown[0]}' is unknown; 2 and 3 are known, 2,3 builds both"))
    return tuple(dict.fromkeys(known[one] for one in wanted))


def build_named(
    names: Sequence[str],
    output: Path | None,
    platform: Sequence[str],
    source_only: bool,
    assembly: bool,
    as_json: bool,
    references: Sequence[str] = (),
    fmi: Sequence[Fmi] = (),
    unit: str | None = None,
) -> None:
    """Build and print.  Raises the errors of all names as one, after the FMUs of the others are built.

    references   cases whose references the FMU shall hold; those of the catalogue hold their own
    unit         of the numbers in mesh files, by default mm"""
    platforms = _platforms(platform, source_only)
    _check_folder(output)
    if unit is not None and not any(map(is_mesh, names)):
        raise InputError(Problem("--unit", "is that of an STL, OBJ or PLY file, and none is named"))
    results: list[Built | FmuBuilderError] = []
    if references and len(names) > 1:
        raise InputError(Problem("--references", f"are of one FMU; {len(names)} are named"))
    cases = _cases(references)
    _refuse_equal_places(names, output, assembly, fmi)
    for name in names:
        try:
            if Path(name).suffix == ".fmu" and not assembly:
                if cases:
                    what = f"{name} keeps the references that it holds; give --references where its recipe is built"
                    raise InputError(Problem("--references", what))
                results += _build_again(Path(name), output, platform, fmi)
                continue
            if is_mesh(name) and not assembly:
                recipe = write_recipe(Path(name), unit or "mm")
                what = f"is the recipe of a point in contact with {name}, whose numbers are {unit or 'mm'}"
                print_notes([f"{recipe} {what}"])
                name = str(recipe)
            path = find_scenario(name) if assembly else find(name, "a recipe")
            # FMI 3.0 first: what it has no place for is refused before a file is written
            made = [_build(path, output, platforms, assembly, one, cases) for one in sorted(fmi or (2,), reverse=True)]
            results += [_with_live_page(one) for one in reversed(made)]
        except FmuBuilderError as error:
            results.append(error)
    _finish(results, as_json)


def build_catalogue(
    output: Path | None, platform: Sequence[str], source_only: bool, as_json: bool, fmi: Sequence[Fmi]
) -> None:
    """Build every recipe that is shipped, in processes on all cores, and print.  Raises as build_named."""
    platforms = _platforms(platform, source_only)
    recipes = catalogue()
    if output is None:
        what = f"builds the {len(recipes)} FMUs of the catalogue; name a folder for them by -o"
        raise InputError(Problem("--all", what))
    _check_folder(output)
    results: list[Built | FmuBuilderError] = []
    for version in fmi or (2,):
        with progress(f"building for FMI {version}.0", len(recipes)) as done:
            built = build_fmus(recipes, output, platforms, lambda recipe: done(f"built {recipe.stem}"), version)
        whole = [one if isinstance(one, FmuBuilderError) else _with_references(one) for one in built]
        results += _with_live_pages(whole)
    _finish(results, as_json)


def _check_folder(output: Path | None) -> None:
    """Raises InputError for the name of an FMU in the place of that of a folder."""
    if output is not None and output.suffix == ".fmu":
        what = "is the name of an FMU; name a folder, in which each FMU has the name of its recipe"
        raise InputError(Problem("-o", f"'{output}' {what}"))


def _refuse_equal_places(names: Sequence[str], output: Path | None, assembly: bool, fmi: Sequence[Fmi]) -> None:
    """Raises InputError where the FMUs of two sources would be one file, on some systems at least."""
    taken: dict[tuple[Path, str], tuple[Path, Path]] = {}
    problems: list[Problem] = []
    for name in names if len(names) > 1 else ():
        with suppress(FmuBuilderError):  # which its build raises again
            for source, target in _places(name, output, assembly, fmi):
                key = real_place(target.parent), target.name.casefold()
                other, written = taken.setdefault(key, (source, target))
                if real_place(other) == real_place(source):
                    continue
                same = "" if written.name == target.name else f" {written}, on Windows and macOS the same file,"
                what = f"its FMU would be {target}, and that of {other}{same} too: rename one, or build them one by one"
                problems.append(Problem(str(source), f"{what} into folders of their own by -o"))
    if problems:
        raise InputError(problems)


def _places(name: str, output: Path | None, assembly: bool, fmi: Sequence[Fmi]) -> Iterator[tuple[Path, Path]]:
    """The file that is built from, and the FMU that is written, of each version."""
    path = Path(name)
    if path.suffix == ".fmu" and not assembly:
        check_archive(path)
        origin = read_origin(path)
        stem, folder, fmi = path.stem if origin is None else origin.recipe.stem, Path(), fmi or (_version_of(path),)
    else:
        mesh = is_mesh(name) and not assembly
        recipe = recipe_place(path) if mesh else find_scenario(name) if assembly else find(name, "a recipe")
        path = path if mesh else recipe
        stem, folder = recipe.stem, Path() if is_shipped(recipe) else recipe.parent
    for version in fmi or (2,):
        yield path, (folder if output is None else output) / fmu_name(stem, version)


def _cases(names: Sequence[str]) -> list[Path]:
    if not names:
        return []
    from fmu_builder.cosim.validation import find_cases

    return list(find_cases(names).values())


def _with_references(built: Built, cases: Iterable[Path] = ()) -> Built:
    """With those of the given cases; without any an FMU of the catalogue gets its own."""
    from fmu_builder.cosim.reference_files import own_cases, with_references

    chosen = list(cases) or (own_cases(built.path, built.model.name) if is_shipped(built.model.path) else [])
    names = with_references(built.path, chosen) if chosen else ()
    return replace(built, notes=(*built.notes, f"holds the references of {', '.join(names)}")) if names else built


def _with_live_page(built: Built) -> Built:
    """An FMU for all platforms runs in its documentation; one for this machine only is to be built quickly."""
    from fmu_builder.pages.documentation import add_live_page

    if _can_show_itself(built):
        add_live_page(built.path, built.model)
    return built


def _prepare_live_page(name: str, files: Mapping[str, bytes]) -> None:
    from fmu_builder.pages.module import prepare_module

    prepare_module(name, files)


def _can_show_itself(built: Built) -> bool:
    in_c = not any(part.is_prototype for _, part in built.model.elements())
    return len(built.platforms) == len(PLATFORMS) and in_c and not built.path.stem.endswith(FMI3_SUFFIX)


def _with_live_pages(results: Sequence[Built | FmuBuilderError]) -> list[Built | FmuBuilderError]:
    """The same of many, in processes on all cores."""
    jobs = {str(one.path): (one,) for one in results if isinstance(one, Built) and _can_show_itself(one)}
    if not jobs:
        return list(results)
    with progress("live pages", len(jobs)) as done:
        found = in_processes(_live_page_or_error, jobs, lambda result: done("a live page"), _ended)
    return [found.get(str(one.path), one) if isinstance(one, Built) else one for one in results]


def _live_page_or_error(built: Built) -> Built | FmuBuilderError:
    try:
        return _with_live_page(built)
    except FmuBuilderError as error:
        return error


def _ended(path: str) -> Built | FmuBuilderError:
    return ToolError(Problem(path, "the process that wrote its live page was ended; is there enough memory?"))


def _platforms(platform: Sequence[str], source_only: bool) -> Sequence[str]:
    if source_only and platform:
        raise InputError(Problem("--source-only", "excludes --platform: sources have none"))
    return () if source_only else platform or ("all",)


def _finish(results: Sequence[Built | FmuBuilderError], as_json: bool) -> None:
    """Print what was built.  Raises all errors as one."""
    _print_built([result for result in results if isinstance(result, Built)], as_json)
    raise_all(result for result in results if isinstance(result, FmuBuilderError))


def _print_built(built: Sequence[Built], as_json: bool) -> None:
    for fmu in built:
        if not as_json:
            line(f"{fmu.path}  ({', '.join(fmu.platforms) or 'sources only'})")
        print_notes(f"{fmu.model.name}: {note}" for note in fmu.notes)
        print_notes((f"{fmu.model.name}: {warning}" for warning in fmu.warnings), "warning")
    if as_json:
        keys = ("path", "guid", "platforms", "notes", "warnings")
        print(json.dumps([{key: getattr(fmu, key) for key in keys} for fmu in built], indent=2, default=str))


def _build(
    path: Path, output: Path | None, platforms: Sequence[str], assembly: bool, fmi: Fmi, cases: Sequence[Path]
) -> Built:
    """With the references of the cases, or of the catalogue."""
    if not cases:
        return _with_references(_build_plain(path, output, platforms, assembly, fmi))
    from fmu_builder.cosim.reference_files import check_recipes

    check_recipes(cases, path)
    folder = output if output is not None else Path.cwd() if is_shipped(path) else path.parent
    with tempfile.TemporaryDirectory(prefix="fmu-builder-") as place:  # cases that do not fit leave nothing behind
        built = _with_references(_build_plain(path, Path(place), platforms, assembly, fmi), cases)
        target = folder / built.path.name
        with written(target):
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(target, built.path.read_bytes())
    return replace(built, path=target)


def _build_plain(path: Path, output: Path | None, platforms: Sequence[str], assembly: bool, fmi: Fmi) -> Built:
    what = f"building {path.stem}" + (" for FMI 3.0" if fmi == 3 else "")

    beside = _prepare_live_page if fmi == 2 and len(resolve_platforms(platforms)) == len(PLATFORMS) else None

    def build() -> Built:
        if not assembly:
            return build_fmu(path, output, platforms, fmi, beside)
        return build_model_fmu(assembly_of_scenario(_scenario(path)), output, platforms, fmi, beside)

    if not err.is_terminal:
        print_progress(what)
        return build()
    with err.status(what):
        return build()


def _build_again(fmu: Path, output: Path | None, platforms: Sequence[str], fmi: Sequence[Fmi]) -> list[Built]:
    """Build an FMU from the files it holds alone: other files of the user are not looked for.

    platforms, fmi   those of the FMU if none are given"""
    from fmu_builder.cosim.reference_files import files_of, replace_files
    from fmu_builder.pages.documentation import PAGE

    names = check_archive(fmu)
    origin = read_origin(fmu)
    if origin is None:
        what = f"was not built by fmu-builder, or by an early one: it holds no {FOLDER}; build it from its recipe"
        raise InputError(Problem(str(fmu), what))
    folder = output if output is not None else Path.cwd()
    folders = {*platform_folders(names)}
    wanted = platforms or [name for name in PLATFORMS if {name, TUPLES[name]} & folders]
    versions_ = fmi or (_version_of(fmu),)
    if (folder / fmu.name).resolve() == fmu.resolve():
        raise InputError(
            Problem(str(fmu), "would be replaced by the FMU that is built from it; name another folder by -o")
        )
    with tempfile.TemporaryDirectory(prefix="fmu-builder-") as place:
        recipe = unpack_origin(origin, Path(place))
        is_scenario = file_kind(recipe) == "slaves"
        made = [_build_plain(recipe, folder, wanted, is_scenario, version) for version in versions_]
        changed = changes_since(origin, made[0].model)
        if held := files_of(fmu):
            for built in made:
                replace_files(built.path, held)
        if PAGE in names:
            made = [_with_live_page(built) for built in made]
    notes = (f"other bytes than {fmu}: {', '.join(changed)}",) if changed else ()
    return [replace(built, notes=(*built.notes, *notes)) for built in made]


def _version_of(fmu: Path) -> Fmi:
    """As its modelDescription.xml says; the file may have any name."""
    with zipfile.ZipFile(fmu) as archive:
        return 3 if is_fmi3(archive.read(DESCRIPTION), str(fmu)) else 2


def _scenario(path: Path) -> CheckedScenario:
    """A scenario, and nothing else that can be run."""
    recipe = path if path.suffix == ".fmu" else find_recipe(str(path))
    if recipe.suffix == ".fmu" or is_recipe(recipe):
        what = "is built already" if recipe.suffix == ".fmu" else "is a recipe: build it without --assembly"
        raise InputError(Problem(f"{path}", f"--assembly takes a scenario, and this {what}"))
    return read_scenario(recipe)
