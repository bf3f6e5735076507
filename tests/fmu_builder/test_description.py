"""modelDescription.xml and buildDescription.xml: every rule of FMI 2.0 that an importer may insist on."""

from __future__ import annotations

import math
import posixpath
import re
import shutil
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from fmpy.validation import validate_fmu
from lxml import etree

from fmu_builder.export import generate
from fmu_builder.export.description import build_description, model_description
from fmu_builder.export.documentation import documentation_files
from fmu_builder.export.fmu import build_fmu, content_guid, fmu_contents, host_fmu
from fmu_builder.export.generate import fmu_sources, write_sources
from fmu_builder.export.toolchain import find_compiler, run_compiler
from fmu_builder.model.assembly import AssemblyModel
from fmu_builder.model.declaration import Declaration, DefaultExperiment
from fmu_builder.model.loader import load_model
from fmu_builder.model.model import ElementModel, Model
from fmu_builder.model.step_advice import preferred_step
from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import catalogue, shipped
from fmu_builder.units import parse_quantity, parse_unit
from tests.contact_core.fmi2 import recipes

GUID = "{01234567-89ab-cdef-0123-456789abcdef}"
THREE_POINTS = """
element = "point_surface"
description = "Three points against a patch"
[structure]
points = 3
[surface]
kind = "plane"
x = [-1, 1]
[start]
C_F = "2e5 N/m"
"""

# written out a second time: unit, powers of the SI bases
UNITS: dict[str, dict[str, int]] = {
    "1": {},
    "m": {"m": 1},
    "s": {"s": 1},
    "K": {"K": 1},
    "Pa": {"kg": 1, "m": -1, "s": -2},
    "m2": {"m": 2},
    "Pa/m": {"kg": 1, "m": -2, "s": -2},
    "kg": {"kg": 1},
    "1/kg": {"kg": -1},
    "1/(kg.m2)": {"kg": -1, "m": -2},
    "m/s": {"m": 1, "s": -1},
    "m/s2": {"m": 1, "s": -2},
    "rad": {"rad": 1},
    "rad/s": {"rad": 1, "s": -1},
    "rad/s2": {"rad": 1, "s": -2},
    "rad2/s2": {"rad": 2, "s": -2},
    "rad2/s3": {"rad": 2, "s": -3},
    "1/s": {"s": -1},
    "Hz": {"s": -1},
    "s/m": {"s": 1, "m": -1},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N/m": {"kg": 1, "s": -2},
    "N.m": {"kg": 1, "m": 2, "s": -2},
    "N.m/rad": {"kg": 1, "m": 2, "s": -2, "rad": -1},
    "N.m.s/rad": {"kg": 1, "m": 2, "s": -1, "rad": -1},
    "N.s/m": {"kg": 1, "s": -1},
    "kg.m2": {"kg": 1, "m": 2},
    "N.s": {"kg": 1, "m": 1, "s": -1},
    "N.m.s": {"kg": 1, "m": 2, "s": -1},
    "J": {"kg": 1, "m": 2, "s": -2},
    "W": {"kg": 1, "m": 2, "s": -3},
}
# display value of one SI unit
DISPLAY = {
    ("1", "%"): 100.0,
    ("m", "mm"): 1e3,
    ("m", "cm"): 1e2,
    ("m2", "mm2"): 1e6,
    ("m2", "cm2"): 1e4,
    ("m/s", "mm/s"): 1e3,
    ("m/s", "km/h"): 3.6,
    ("m/s2", "mm/s2"): 1e3,
    ("rad", "deg"): 180.0 / math.pi,
    ("rad", "rev"): 0.5 / math.pi,
    ("rad/s2", "deg/s2"): 180.0 / math.pi,
    ("s", "ms"): 1e3,
    ("s", "min"): 1.0 / 60.0,
    ("s/m", "s/mm"): 1e-3,
    ("kg", "g"): 1e3,
    ("kg", "t"): 1e-3,
    ("rad/s", "rpm"): 30.0 / math.pi,
    ("rad/s", "deg/s"): 180.0 / math.pi,
    ("N", "kN"): 1e-3,
    ("N", "mN"): 1e3,
    ("N", "lbf"): 1.0 / 4.4482216152605,
    ("N/m", "N/mm"): 1e-3,
    ("N/m", "kN/mm"): 1e-6,
    ("N.m", "N.mm"): 1e3,
    ("N.m", "kN.m"): 1e-3,
    ("N.m/rad", "N.m/deg"): math.pi / 180.0,
    ("N.m.s/rad", "N.m.s/deg"): math.pi / 180.0,
    ("N.s/m", "N.s/mm"): 1e-3,
    ("kg.m2", "kg.mm2"): 1e6,
    ("J", "kJ"): 1e-3,
    ("J", "mJ"): 1e3,
    ("W", "kW"): 1e-3,
    ("Pa", "kPa"): 1e-3,
    ("Pa", "bar"): 1e-5,
    ("Pa", "MPa"): 1e-6,
    ("Pa", "GPa"): 1e-9,
    ("K", "degC"): 1.0,
}


def model_of(folder: Path, text: str, name: str = "ThreePoints") -> Model:
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return load_model(path)


Rule = Callable[[Model, etree._Element], None]
RULES: list[Rule] = []


def rule(check: Rule) -> Rule:
    """One of the rules that every description keeps."""
    RULES.append(check)
    return check


@pytest.mark.parametrize("name", [*recipes(), "ThreePoints"])
def test_every_rule_is_kept(name: str, tmp_path: Path) -> None:
    model = model_of(tmp_path, THREE_POINTS) if name == "ThreePoints" else load_model(shipped("fmus") / f"{name}.toml")
    root = etree.fromstring(model_description(model, GUID))
    broken = []
    for check in RULES:
        try:
            check(model, root)
        except AssertionError as error:
            broken.append(f"not kept: {check.__name__.replace('_', ' ')}: {error}")
    assert not broken, "\n".join(broken)


def variables(root: etree._Element) -> list[etree._Element]:
    return list(root.find("ModelVariables"))


def typed(variable: etree._Element) -> etree._Element:
    """The element Real, Integer or Boolean of a variable."""
    (one,) = [child for child in variable if child.tag in ("Real", "Integer", "Boolean", "String", "Enumeration")]
    return one


def unknowns(root: etree._Element, group: str) -> list[int]:
    found = root.find(f"ModelStructure/{group}")
    return [] if found is None else [int(unknown.get("index")) for unknown in found]


# ---- names and numbers -----------------------------------------------------------------------------------------------


@rule
def names_obey_the_grammar_of_structured_names_and_are_unique(model: Model, root: etree._Element) -> None:
    quoted = r"""'([A-Za-z_0-9!#$%&()*+,\-./:;<>=?@\[\]^{}|~ ]|\\['"?\\abfnrtv])+'"""
    part = rf"([A-Za-z_][A-Za-z_0-9]*|{quoted})(\[[1-9][0-9]*(,[1-9][0-9]*)*\])?"
    grammar = re.compile(rf"{part}(\.{part})*|der\({part}(\.{part})*(,[1-9][0-9]*)?\)")
    assert root.get("variableNamingConvention") == "structured"
    names = [v.get("name") for v in variables(root)]
    assert [name for name in names if not grammar.fullmatch(name)] == []
    assert len(set(names)) == len(names)


@rule
def value_references_are_unique_and_ascending(model: Model, root: etree._Element) -> None:
    references = [int(v.get("valueReference")) for v in variables(root)]
    assert references == sorted(set(references))


def c_member(name: str, element: Declaration) -> str:
    """The member of the C struct that a variable's name means, read off element.toml: `each` counts first."""
    shown = {entry.shown: key for table in (element.inputs, element.outputs) for key, entry in table.items()}
    name = shown.get(name, name)
    derivative = re.fullmatch(r"der\((.*)\)", name)
    plain = derivative[1] if derivative else name
    first, *rest = re.split(r"\.", plain)
    base = re.sub(r"\[[^]]*\]", "", plain)
    declared = next(
        (table[key] for table in (element.ports, element.states, element.outputs, element.memory, element.locals,
                                  element.parameters, element.inputs)
         for key in (base, base.split(".")[0]) if key in table),
        None,
    )  # fmt: skip
    each = declared and declared.each

    def indexed(part: str, counts: bool) -> str:
        member, _, indices = part.rstrip("]").partition("[")
        numbers = [int(number) - 1 for number in indices.split(",") if number]
        sized = getattr(declared, "size", None) is not None and not rest
        if counts and each is not None and len(numbers) == (1 if sized else 0):
            numbers.insert(0, 0)
        return member + "".join(f"[{number}]" for number in numbers)

    member = ".".join([indexed(first, True), *(indexed(part, False) for part in rest)])
    return f"der.{member}" if derivative else member


@rule
def value_references_are_the_places_in_the_c_struct(model: Model, root: etree._Element) -> None:
    """Compiled, not run: the compiler itself compares the offsets."""
    if isinstance(model, AssemblyModel):
        check_places_of_parts(model)
        return
    compiler = find_compiler()
    assert compiler is not None
    lines = ["#include <stddef.h>", '#include "model_data.h"']
    for v in variables(root):
        if v.find("String") is not None:
            continue  # is no number: kept beside the struct
        place = f"offsetof(Element, {c_member(v.get('name'), model.element)})"
        lines.append(f'_Static_assert({place} == {v.get("valueReference")} * sizeof(double), "{v.get("name")}");')
    lines.append('_Static_assert(sizeof(Element) == CC_VARIABLES * sizeof(double), "all of the block");')
    lines.append(f'_Static_assert(CC_VARIABLES == {len(model.variables)}, "variables");')
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_sources(fmu_sources(model, GUID), folder)
        (folder / "places.c").write_text("\n".join(lines) + "\n", encoding="utf-8")
        run_compiler(compiler, ["-std=c11", "-c", str(folder / "places.c"), "-o", str(folder / "places.o")])


def check_places_of_parts(model: AssemblyModel) -> None:
    """Behind its own variables the block of an assembly holds the blocks of its parts, which are those of elements."""
    end = next(v.index for v in model.variables if v.name.startswith(f"{model.parts[0].name}."))
    for part in model.parts:
        assert part.offset == end
        for v in part.model.variables:
            own = model.variables[end + v.index]
            assert own.description == (f"Derivative of {own.name[4:-1]}" if v.kind == "derivative" else v.description)
        end += len(part.model.variables)
    assert end == len(model.variables)


# ---- attributes of variables -----------------------------------------------------------------------------------------

# causality: variabilities, initial, start
ALLOWED = {
    "independent": ({"continuous"}, {None}, False),
    "parameter": ({"fixed", "tunable"}, {"exact"}, True),
    "input": ({"continuous", "discrete"}, {None}, True),
    "output": ({"continuous", "discrete"}, {"calculated"}, False),
    "local": ({"continuous", "discrete"}, {"calculated"}, False),
}


@rule
def causality_variability_initial_and_start_are_a_legal_combination(model: Model, root: etree._Element) -> None:
    for v in variables(root):
        variabilities, initials, has_start = ALLOWED[v.get("causality")]
        assert v.get("variability") in variabilities, v.get("name")
        assert v.get("initial") in initials, v.get("name")
        assert ("start" in typed(v).attrib) == has_start, v.get("name")
    assert sum(v.get("causality") == "independent" for v in variables(root)) == 1


@rule
def only_reals_are_continuous(model: Model, root: etree._Element) -> None:
    for v in variables(root):
        if typed(v).tag != "Real":
            assert v.get("variability") in ("discrete", "fixed", "tunable"), v.get("name")


@rule
def every_variable_is_described(model: Model, root: etree._Element) -> None:
    assert [v.get("name") for v in variables(root) if len(v.get("description") or "") < 3] == []


@rule
def the_states_that_events_change_are_reinitialized(model: Model, root: etree._Element) -> None:
    marked = {v.get("name") for v in variables(root) if "reinit" in typed(v).attrib}
    assert marked == {v.name for v in model.by_kind("state") if v.reinit}
    if isinstance(model, ElementModel):
        constrained = model.element_name == "planar_mechanism" and model.sizes["constraints"] > 0
        bristle = model.recipe.choices.get("bristle", False)
        spins = model.element_name == "rigid_body"  # its spin energy follows an attitude that is set
        doses = model.element_name == "probe_event"
        assert bool(marked) == (constrained or bristle or spins or doses)


@rule
def inputs_may_be_set_repeatedly(model: Model, root: etree._Element) -> None:
    assert not any("canHandleMultipleSetPerTimeInstant" in v.attrib for v in variables(root))


@rule
def derivatives_are_listed_in_the_order_of_their_states(model: Model, root: etree._Element) -> None:
    listed = variables(root)
    unknowns = [listed[int(u.get("index")) - 1] for u in root.iterfind("ModelStructure/Derivatives/Unknown")]
    assert [v.get("name") for v in unknowns] == [f"der({v.name})" for v in model.by_kind("state")]
    references = [int(v.get("valueReference")) for v in unknowns]
    assert references == sorted(references)


@rule
def derivatives_name_their_states(model: Model, root: etree._Element) -> None:
    listed = variables(root)
    derivatives = [v for v in listed if "derivative" in typed(v).attrib]
    assert {v.get("name") for v in derivatives} == {v.get("name") for v in listed if v.get("name").startswith("der(")}
    for v in derivatives:
        assert v.get("name") == f"der({listed[int(typed(v).get('derivative')) - 1].get('name')})"


@pytest.mark.parametrize("name", [path.stem for path in catalogue() if path.stem in ("PointMass", "PointSurface")])
def test_bounds_nominals_and_starts_are_those_of_element_and_recipe(name: str) -> None:
    root = etree.fromstring(model_description(load_model(shipped("fmus") / f"{name}.toml"), GUID))
    attributes = {v.get("name"): dict(typed(v).attrib) for v in variables(root)}
    if name == "PointMass":
        # a strict bound can only be written as the bound itself
        assert attributes["m"] == {"unit": "kg", "min": "0.0", "start": "1.0"}
        assert attributes["g[3]"] == {"unit": "m/s2", "start": "-9.81"}
    else:
        assert attributes["C_F"] == {"unit": "N/m", "displayUnit": "N/mm", "min": "0.0", "start": "100000.0"}
        assert attributes["C_r"] == {"unit": "1", "min": "0.0", "max": "1.0", "start": "0.5"}
        assert attributes["k_E"] == {"unit": "1", "min": "0.0", "max": "1.0", "start": "0.5"}
        assert attributes["depth"] == {"unit": "m", "displayUnit": "mm", "nominal": "0.001"}
        assert attributes["phase"] == {"min": "-1", "max": "1"}
        assert attributes["work"] == {"start": "true"}
        assert attributes["in_contact"] == {}
        assert attributes["surface.q[1]"] == {"unit": "1", "start": "1.0"}


def test_numbers_read_back_to_the_same_bits(tmp_path: Path) -> None:
    model = model_of(tmp_path, THREE_POINTS.replace('"2e5 N/m"', "0.1") + "k_D = 3.0000000000000004e-7\n")
    root = etree.fromstring(model_description(model, GUID))
    starts = {v.get("name"): typed(v).get("start") for v in variables(root)}
    assert float(starts["C_F"]) == 0.1
    assert float(starts["k_D"]) == 3.0000000000000004e-7


# ---- units -----------------------------------------------------------------------------------------------------------


@rule
def every_real_has_a_unit_that_is_defined_once_with_its_powers_of_the_bases(model: Model, root: etree._Element) -> None:
    units = {unit.get("name"): unit for unit in root.find("UnitDefinitions")}
    assert len(units) == len(root.find("UnitDefinitions"))
    used = {typed(v).get("unit") for v in variables(root) if typed(v).tag == "Real"}
    assert used == set(units)
    for name, unit in units.items():
        assert dict(unit.find("BaseUnit").attrib) == {base: str(power) for base, power in UNITS[name].items()}, name


@rule
def display_units_are_defined_and_convert_rightly(model: Model, root: etree._Element) -> None:
    found = {
        (unit.get("name"), display.get("name")): display
        for unit in root.find("UnitDefinitions")
        for display in unit.findall("DisplayUnit")
    }
    for pair, display in found.items():
        assert float(display.get("factor")) == pytest.approx(DISPLAY[pair], rel=1e-15), pair
        assert float(display.get("offset", "0")) == (-273.15 if pair == ("K", "degC") else 0.0)
    for v in variables(root):
        if "displayUnit" in typed(v).attrib:
            assert (typed(v).get("unit"), typed(v).get("displayUnit")) in found, v.get("name")


# ---- structure -------------------------------------------------------------------------------------------------------


@rule
def every_output_is_listed_once_in_order(model: Model, root: etree._Element) -> None:
    outputs = [i for i, v in enumerate(variables(root), start=1) if v.get("causality") == "output"]
    assert unknowns(root, "Outputs") == outputs


@rule
def every_derivative_is_listed_once_in_order(model: Model, root: etree._Element) -> None:
    derivatives = [i for i, v in enumerate(variables(root), start=1) if "derivative" in typed(v).attrib]
    assert unknowns(root, "Derivatives") == derivatives


@rule
def initial_unknowns_are_all_calculated_outputs_states_and_derivatives(model: Model, root: etree._Element) -> None:
    listed = variables(root)
    states = {int(typed(v).get("derivative")) for v in listed if "derivative" in typed(v).attrib}
    expected = [
        i
        for i, v in enumerate(listed, start=1)
        if v.get("initial") in ("calculated", "approx")
        and (v.get("causality") == "output" or i in states or "derivative" in typed(v).attrib)
    ]
    assert unknowns(root, "InitialUnknowns") == expected


@rule
def dependencies_are_stated_ascending_and_only_on_what_may_be_known(model: Model, root: etree._Element) -> None:
    listed = variables(root)
    states = {int(typed(v).get("derivative")) for v in listed if "derivative" in typed(v).attrib}
    inputs = {"input", "independent"}
    causalities = {"Outputs": inputs, "Derivatives": inputs, "InitialUnknowns": {*inputs, "parameter"}}
    with_states = ("Outputs", "Derivatives")
    for group, allowed in causalities.items():
        for unknown in root.find(f"ModelStructure/{group}") if root.find(f"ModelStructure/{group}") is not None else []:
            known = [int(index) for index in unknown.get("dependencies").split()]
            assert all(a < b for a, b in pairwise(known))
            for index in known:
                is_state = group in with_states and index in states
                assert is_state or listed[index - 1].get("causality") in allowed


# ---- the rest of the file --------------------------------------------------------------------------------------------


@rule
def head_names_the_model_and_what_it_is_for(model: Model, root: etree._Element) -> None:
    assert root.attrib["fmiVersion"] == "2.0"
    assert root.attrib["guid"] == GUID
    assert root.attrib["modelName"] == model.name
    assert root.attrib["description"] == model.description
    assert root.attrib["numberOfEventIndicators"] == str(len(model.indicators))


@rule
def capabilities_are_those_that_are_tested(model: Model, root: etree._Element) -> None:
    assert dict(root.find("ModelExchange").attrib) == {
        "modelIdentifier": model.name,
        "needsExecutionTool": "false",
        "completedIntegratorStepNotNeeded": "false",
        "canBeInstantiatedOnlyOncePerProcess": "false",
        "canNotUseMemoryManagementFunctions": "false",
        "canGetAndSetFMUstate": "true",
        "canSerializeFMUstate": "true",
        "providesDirectionalDerivative": "true",
    }
    assert dict(root.find("CoSimulation").attrib) == {
        "modelIdentifier": model.name,
        "needsExecutionTool": "false",
        "canHandleVariableCommunicationStepSize": "true",
        "canInterpolateInputs": "true",
        "maxOutputDerivativeOrder": "1",
        "canRunAsynchronuously": "false",
        "canBeInstantiatedOnlyOncePerProcess": "false",
        "canNotUseMemoryManagementFunctions": "false",
        "canGetAndSetFMUstate": "true",
        "canSerializeFMUstate": "true",
        "providesDirectionalDerivative": "true",
    }


@rule
def the_page_tells_of_both_interfaces(model: Model, root: etree._Element) -> None:
    page = " ".join(documentation_files(model)["documentation/index.html"].decode("utf-8").split())
    assert "for co-simulation and for model exchange" in page
    assert f"event indicators: {len(model.indicators)}." in page


def declared_experiment(model: Model) -> DefaultExperiment:
    """That of the element, with the step of the coupling.mode; of an assembly its own stop and step, with the smallest
    tolerance of its parts."""
    if not isinstance(model, AssemblyModel):
        of_element = model.element.experiment
        return of_element.model_copy(update={"step": preferred_step(model.variables, of_element.step)})
    own = read_toml(model.path)["experiment"]
    times = {key: parse_quantity(own[key], parse_unit("s"), key) for key in ("stop", "step")}
    return DefaultExperiment(**times, tolerance=min(part.model.element.experiment.tolerance for part in model.parts))


@rule
def default_experiment_is_that_of_the_element(model: Model, root: etree._Element) -> None:
    experiment = {key: float(value) for key, value in root.find("DefaultExperiment").attrib.items()}
    declared = declared_experiment(model)
    assert experiment == {
        "startTime": 0.0,
        "stopTime": declared.stop,
        "stepSize": declared.step,
        "tolerance": declared.tolerance,
    }


@rule
def log_categories_are_the_standard_ones_used_and_those_of_the_element(model: Model, root: etree._Element) -> None:
    categories = {category.get("name"): category.get("description") for category in root.find("LogCategories")}
    elements = [part.model for part in model.parts] if isinstance(model, AssemblyModel) else [model]
    declared = {name for element in elements for name in element.element.log}
    assert set(categories) == {"logStatusWarning", "logStatusDiscard", "logStatusError", *declared}
    assert all(len(text) > 10 for text in categories.values())
    # an element logs in declared categories only
    for path in (path for element in elements for path in element.recipe.element_folder.glob("*.c")):
        for category in re.findall(r"cc_report\(host, CC_\w+, \"(\w+)\"", path.read_text(encoding="utf-8")):
            assert category in categories


@rule
def source_files_exist_and_are_told_twice_alike(model: Model, root: etree._Element) -> None:
    _, files = fmu_contents(model)
    listed, again = (
        [file.get("name") for file in root.find(f"{interface}/SourceFiles")]
        for interface in ("ModelExchange", "CoSimulation")
    )
    assert listed == again
    build = etree.fromstring(build_description(model))
    assert files["sources/buildDescription.xml"] == build_description(model)
    (configuration,) = build.findall("BuildConfiguration")
    assert configuration.get("modelIdentifier") == model.name
    assert [file.get("name") for file in build.iter("SourceFile")] == listed
    assert all(f"sources/{name}" in files for name in listed)
    assert [folder.get("name") for folder in build.iter("IncludeDirectory")] == ["."]
    missing = set()
    for name, data in files.items():
        if name.startswith("sources/") and name.endswith((".c", ".h")):
            for included in re.findall(r'#include "([^"]+)"', data.decode()):
                beside = posixpath.normpath(posixpath.join(posixpath.dirname(name), included))
                if beside not in files and f"sources/{included}" not in files:
                    missing.add(included)
    of_an_element_alone = {"element.c"} if isinstance(model, AssemblyModel) else set()
    assert missing == {"fmi2Functions.h"} | of_an_element_alone  # the importer brings the headers of the standard


@pytest.mark.slow
def test_built_fmu_satisfies_the_validator(tmp_path: Path) -> None:
    path = tmp_path / "ThreePoints.toml"
    path.write_text(THREE_POINTS, encoding="utf-8")
    assert validate_fmu(str(host_fmu(path))) == []


# ---- GUID ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def own_element(tmp_path: Path) -> Path:
    """A recipe with an element of its own beside it, free to change."""
    for name in ("point_surface", "point_mass"):
        shutil.copytree(shipped("elements") / name, tmp_path / "elements" / name)
    path = tmp_path / "ThreePoints.toml"
    path.write_text(THREE_POINTS, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("elements/point_surface/element.c", "/* One point", "/* A point"),
        ("elements/point_surface/element.toml", "Limit depth", "The limit depth"),
        ("elements/point_surface/element.toml", "start = 0.5, min", "start = 0.25, min"),
        ("ThreePoints.toml", "points = 3", "points = 2"),
        ("ThreePoints.toml", "2e5", "2.0000001e5"),
        ("ThreePoints.toml", "x = [-1, 1]", "x = [-1, 2]"),
        ("ThreePoints.toml", "Three points against", "Points against"),
    ],
)  # fmt: skip
def test_guid_changes_with_every_change_of_sources_or_description(
    own_element: Path, file: str, old: str, new: str
) -> None:
    before = content_guid(load_model(own_element))
    path = own_element.parent / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert content_guid(load_model(own_element)) != before


def test_guid_changes_with_contact_core(own_element: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    core = own_element.parent / "contact_core"
    shutil.copytree(shipped("contact_core"), core)
    monkeypatch.setattr(generate, "shipped", lambda folder: own_element.parent / folder)
    before = content_guid(load_model(own_element))
    header = core / "surfaces" / "plane.h"
    header.write_text(header.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert content_guid(load_model(own_element)) != before


def test_guid_does_not_change_with_platforms_or_place(own_element: Path, tmp_path: Path) -> None:
    guid = content_guid(load_model(own_element))
    assert re.fullmatch(r"\{[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}", guid)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(own_element, elsewhere)
    built = build_fmu(elsewhere / own_element.name, elsewhere, ())
    assert built.platforms == ()
    assert built.guid == guid
    assert build_fmu(own_element, tmp_path / "host", ("host",)).guid == guid
