"""The rules of FMI 2.0: an FMU that breaks one is named with that rule, its place and a repair, and with no other."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from broken_behaviour import FAULTS, HANGS, WHOLE, broken_behaviour, library
from broken_fmus import BREAKS, broken, whole
from foreign import BODY, GAIN, foreign_fmu
from sarif import sarif_problems
from typer.testing import CliRunner

from fmu_builder import cli
from fmu_builder.check import guide_table
from fmu_builder.check.findings import DESCRIPTION
from fmu_builder.check.output import as_sarif
from fmu_builder.check.report import RULES, CheckReport, check_fmu
from fmu_builder.cli.commands import app
from fmu_builder.errors import InputError
from fmu_builder.export.fmu import fmu_contents, host_fmu, pack
from fmu_builder.export.terminals import FILE as TERMINALS
from fmu_builder.export.toolchain import PLATFORMS, compile_hosted, find_compiler, host_platform
from fmu_builder.model.loader import load_model
from fmu_builder.paths import catalogue, shipped

OTHERS = [(rule, number) for rule, changes in BREAKS.items() for number in range(1, len(changes))]
ELSEWHERE = {"A01", "A03", "A09", "B02"}  # broken by what is no change of the files


def written(folder: Path, data: bytes, name: str = "Whole.fmu") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def rules_of(report: CheckReport) -> set[str]:
    return {finding.rule.id for finding in report.findings}


def test_a_whole_fmu_breaks_no_rule(tmp_path: Path) -> None:
    assert check_fmu(written(tmp_path, pack(whole()))).findings == ()


def test_each_rule_is_broken_by_one_of_the_fmus() -> None:
    assert {rule.id for rule in RULES} - ELSEWHERE == BREAKS.keys() | FAULTS.keys()
    assert len({rule.name for rule in RULES}) == len({rule.id for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", BREAKS)
def test_an_fmu_that_breaks_a_rule_is_named_with_that_rule_alone(rule: str, tmp_path: Path) -> None:
    check_broken(rule, 0, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "number"), OTHERS)
def test_an_fmu_that_breaks_a_rule_otherwise_is_named_with_it_too(rule: str, number: int, tmp_path: Path) -> None:
    check_broken(rule, number, tmp_path)


def check_broken(rule: str, number: int, tmp_path: Path) -> None:
    report = check_fmu(written(tmp_path, broken(rule, number)), timeout=None)
    assert rules_of(report) == {rule}
    assert sarif_problems(as_sarif(report)) == []
    changed = {name for name, data in whole().items() if files_of(rule, number).get(name) != data}
    if changed == {DESCRIPTION}:
        lines = files_of(rule, number)[DESCRIPTION].decode().splitlines()
        for finding in report.findings:
            assert finding.found.file == DESCRIPTION
            assert 1 <= finding.found.line <= len(lines)


def files_of(rule: str, number: int) -> dict[str, bytes]:
    files = whole()
    BREAKS[rule][number](files)
    return files


def test_a_finding_names_line_value_rule_section_and_repair(tmp_path: Path) -> None:
    path = written(tmp_path, broken("V10"))
    (finding,) = check_fmu(path).findings
    line = files_of("V10", 0)[DESCRIPTION].decode().splitlines()[finding.found.line - 1]
    assert 'name="x"' in line
    assert str(finding).splitlines() == [
        f"error: modelDescription.xml:{finding.found.line}: start 1.25 of 'x' is outside of min -1 and max 1",
        "    V10 start-in-range (FMI 2.0.4, 2.2.7): correct start, min or max",
    ]


def test_a_library_that_lacks_functions_and_one_in_the_folder_of_another_platform_are_named(tmp_path: Path) -> None:
    compiler = find_compiler()
    assert compiler is not None
    source, library = tmp_path / "one.c", tmp_path / "one.so"
    source.write_text(
        'int fmi2DoStep(void);\n__attribute__((visibility("default"))) int fmi2DoStep(void) { return 0; }\n'
    )
    compile_hosted([source], library, [], compiler, ["-ffreestanding", "-nostdlib"])
    host, other = host_platform(), "win64" if host_platform() != "win64" else "linux64"
    for folder, rules in ((host, {"A09"}), (other, {"A08", "A09"})):
        data = library.read_bytes()
        files = whole() | {f"binaries/{folder}/Whole{PLATFORMS[folder].suffix}": data}
        report = check_fmu(written(tmp_path, pack(files)), timeout=None)
        assert rules_of(report) == rules
        assert "does not export fmi2CancelStep, " in " ".join(f.found.what for f in report.findings)


def test_the_ending_and_the_compression_of_the_archive_are_checked(tmp_path: Path) -> None:
    assert rules_of(check_fmu(written(tmp_path, pack(whole()), "Whole.zip"))) == {"A01"}
    path = tmp_path / "Whole.fmu"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        for name, data in whole().items():
            archive.writestr(name, data)
    assert rules_of(check_fmu(path)) == {"A03"}


@pytest.mark.parametrize("recipe", ["PointSurface", "TwoDBody", "PendulumOnFloor"])
def test_an_fmu_of_the_catalogue_breaks_no_rule(recipe: str, tmp_path: Path) -> None:
    check_catalogue(recipe, tmp_path)


@pytest.mark.slow
def test_no_fmu_of_the_catalogue_breaks_a_rule(tmp_path: Path) -> None:
    """The whole catalogue, as far as no call is needed: 6 s."""
    recipes = [path.stem for path in catalogue()]
    assert len(recipes) > 90
    for recipe in recipes:
        check_catalogue(recipe, tmp_path)


def check_catalogue(recipe: str, folder: Path) -> None:
    data = pack(fmu_contents(load_model(shipped("fmus") / f"{recipe}.toml"))[1])
    assert check_fmu(written(folder, data, f"{recipe}.fmu")).findings == ()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, of which a check leaves none."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


# ---- what is no FMU --------------------------------------------------------------------------------------------------

LAUGHS = b"""<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">
<!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;">]><fmiModelDescription fmiVersion="2.0" guid="&d;"/>"""


@pytest.mark.parametrize(
    ("description", "what"),
    [
        (LAUGHS, "declares a document type"),
        (b"<fmiModelDescription", "is no XML: "),
        (b"", "is no XML: "),
        (b'<fmiModelDescription fmiVersion="3.0"/>', "is for FMI 3.0, and this command is for FMI 2.0 only"),
        (b'<other fmiVersion="2.0"/>', "is no fmiModelDescription"),
    ],
    ids=["bomb", "cut", "empty", "version", "other"],
)
def test_a_description_that_cannot_be_checked_is_refused(description: bytes, what: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=what):
        check_fmu(written(tmp_path, pack({DESCRIPTION: description})))


@pytest.mark.parametrize(("rule", "file"), [("A12", "sources/buildDescription.xml"), ("A16", TERMINALS)])
def test_a_document_type_in_another_file_is_a_finding(rule: str, file: str, tmp_path: Path) -> None:
    """Of a reference to an entity in it the validation of lxml makes an exception."""
    before, end, after = whole()[file].rpartition(b"</")
    data = b'<!DOCTYPE a [<!ENTITY b "c">]>' + before + b"&b;" + end + after
    (finding,) = check_fmu(written(tmp_path, pack({**whole(), file: data})), timeout=None).findings
    assert (finding.rule.id, finding.found.file) == (rule, file) and "document type" in finding.found.what


def test_a_truncated_archive_and_a_bomb_are_refused(tmp_path: Path) -> None:
    data = pack(whole())
    with pytest.raises(InputError, match="is no complete FMU"):
        check_fmu(written(tmp_path, data[: len(data) // 2]))
    path = tmp_path / "Bomb.fmu"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(DESCRIPTION, bytes(64 * 2**20))
    with pytest.raises(InputError, match="times its size"):
        check_fmu(path)


@pytest.mark.parametrize("command", ["check", "record", "run"])
@pytest.mark.slow
def test_what_is_no_fmu_ends_each_command_with_a_message_and_leaves_nothing(
    command: str, tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = pack(whole())
    unpacked = tmp_path / "Bomb.fmu"
    with zipfile.ZipFile(unpacked, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(DESCRIPTION, bytes(64 * 2**20))
    for name, content in (
        ("Cut.fmu", data[: len(data) // 2]),
        ("Empty.fmu", b""),
        ("Laughs.fmu", pack({DESCRIPTION: LAUGHS})),
        ("Nothing.fmu", pack({"readme.txt": b"a"})),
    ):
        written(tmp_path, content, name)
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    for name in ("Bomb.fmu", "Cut.fmu", "Empty.fmu", "Laughs.fmu", "Nothing.fmu"):
        monkeypatch.setattr("sys.argv", ["fmu-builder", command, name])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr()
        assert (ended.value.code, said.out) == (2, ""), name
        assert said.err.startswith(f"error: {name}: ") and "Traceback" not in said.err and len(said.err) < 500
        assert sorted(tmp_path.rglob("*")) == before


def test_an_invalid_description_is_named_once_and_the_rest_is_not_checked(tmp_path: Path) -> None:
    files = whole()
    files[DESCRIPTION] = files[DESCRIPTION].replace(b'valueReference="7"', b'valueReference="x"')
    report = check_fmu(written(tmp_path, pack(files)))
    assert rules_of(report) == {"M01"}
    assert len(report.notes) == 1


# ---- calls -----------------------------------------------------------------------------------------------------------


def test_an_fmu_of_which_the_calls_break_no_rule_is_whole(tmp_path: Path, temporary: Path) -> None:
    report = check_fmu(broken_behaviour(tmp_path, WHOLE))
    assert (report.findings, report.notes) == ((), ())
    assert not list(temporary.iterdir())


def test_a_crash_is_named_with_its_call_and_the_other_rules_are_tried(tmp_path: Path, temporary: Path) -> None:
    report = check_fmu(broken_behaviour(tmp_path, "C"))
    assert rules_of(report) == {"B01"}
    assert report.findings[0].found.what.startswith("fmi2DoStep at t = 0 s crashes (")
    assert not list(temporary.iterdir())


def check_calls(rule: str, fault: str, folder: Path) -> None:
    report = check_fmu(broken_behaviour(folder, fault), timeout=20.0)
    assert rules_of(report) == {rule}
    assert sarif_problems(as_sarif(report)) == []
    (found, *_) = {finding.found.file for finding in report.findings}
    assert found == f"binaries/{host_platform()}/Broken{PLATFORMS[host_platform()].suffix}"


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "fault"), [(rule, fault) for rule, faults in FAULTS.items() for fault in faults])
def test_a_call_that_breaks_a_rule_is_named_with_that_rule_alone(rule: str, fault: str, tmp_path: Path) -> None:
    check_calls(rule, fault, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["S01", "S04", "S05", "V13", "V06", "V12"])
def test_an_fmu_with_a_faulty_description_is_called_all_the_same(rule: str, tmp_path: Path) -> None:
    files = files_of(rule, 0)
    files[DESCRIPTION] = files[DESCRIPTION].replace(b'guid="w--"', b'guid="f0"')
    files[f"binaries/{host_platform()}/Whole{PLATFORMS[host_platform()].suffix}"] = library()
    found = rules_of(check_fmu(written(tmp_path, pack(files))))
    assert rule in found
    assert not found & {"B01", "B02", "B04"}


@pytest.mark.slow
def test_a_call_that_hangs_is_ended_and_named(tmp_path: Path, temporary: Path) -> None:
    report = check_fmu(broken_behaviour(tmp_path, HANGS), timeout=4.0)
    assert [finding.rule.id for finding in report.findings] == ["B01"] * 3
    assert "fmi2DoStep at t = 0 s does not return within 4 s" in report.findings[0].found.what
    assert report.notes[0].startswith("not tried after 3 of such ends: ")
    assert not list(temporary.iterdir())


@pytest.mark.slow
def test_a_library_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    whole_library = library()
    report = check_fmu(broken_behaviour(tmp_path, WHOLE, whole_library[: len(whole_library) // 2]))
    assert "B02" in rules_of(report) or "B01" in rules_of(report)
    assert report.errors


def test_an_fmu_for_other_platforms_is_read_and_not_called(tmp_path: Path) -> None:
    other = "win64" if host_platform() != "win64" else "linux64"
    report = check_fmu(foreign_fmu(tmp_path, "Spring", BODY, platforms=(other,)))
    assert "A08" in rules_of(report)
    assert sarif_problems(as_sarif(report)) == []
    assert report.notes == (
        f"the rules on calls were not tried: there is no binary for this machine ({host_platform()}), but for: {other}",
    )


def test_a_library_with_another_name_than_the_model_identifier_is_missing(tmp_path: Path) -> None:
    fmu, renamed = foreign_fmu(tmp_path, "Spring", BODY), tmp_path / "Renamed.fmu"
    with zipfile.ZipFile(fmu) as old, zipfile.ZipFile(renamed, "w") as new:
        for name in old.namelist():
            new.writestr(re.sub(r"(binaries/.*/)Spring", r"\1Another", name), old.read(name))
    report = check_fmu(renamed)
    (note,) = report.notes
    assert "A07" in rules_of(report)
    assert f"for this machine ({host_platform()}): binaries/{host_platform()}/Spring" in note
    assert note.endswith(" is missing")


@pytest.mark.slow
def test_an_fmu_of_another_tool_fails_for_the_right_reasons(tmp_path: Path) -> None:
    """The guid selects what foreign.c does; it frees what it is given, and reads and sets whatever it is asked to."""
    report = check_fmu(foreign_fmu(tmp_path, "Gain", GAIN, guid="g0--"))
    assert rules_of(report) == {"B01", "B05", "B23", "B24", "B25", "B26", "B27"}
    crashes = [finding.found.what for finding in report.findings if "crashes" in finding.found.what]
    assert [what.partition(" crashes")[0] for what in crashes] == [
        "fmi2FreeInstance of NULL",
        "fmi2GetReal of no variable",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("recipe", [path.stem for path in catalogue()])
def test_an_fmu_of_the_catalogue_breaks_no_rule_when_it_is_called(recipe: str) -> None:
    report = check_fmu(host_fmu(shipped("fmus") / f"{recipe}.toml"))
    assert (report.findings, report.notes) == ((), ())


# ---- the command -----------------------------------------------------------------------------------------------------


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["check", *arguments])
    return result.exit_code, result.stdout


def test_the_command_tells_errors_by_its_exit_code(tmp_path: Path) -> None:
    good, bad = written(tmp_path, pack(whole()), "Good.fmu"), written(tmp_path, broken("V11"), "Bad.fmu")
    warned = written(tmp_path, broken("A13"), "Warned.fmu")
    assert run(str(good)) == (0, "Good.fmu: 0 errors, 0 warnings\n")
    assert run(str(bad))[0] == 1
    code, text = run(str(warned))
    assert code == 0
    assert text.startswith("warning: sources/fmi2Functions.h: ")
    assert text.endswith("Warned.fmu: 0 errors, 1 warning\n")


def test_json_holds_rule_place_and_repair(tmp_path: Path) -> None:
    code, text = run(str(written(tmp_path, broken("V11"))), "--json")
    found = json.loads(text)
    assert (code, found["errors"], found["warnings"]) == (1, 1, 0)
    (finding,) = found["findings"]
    assert finding["id"] == "V11" and finding["file"] == DESCRIPTION and finding["line"] > 0
    assert finding.keys() == {"id", "name", "section", "level", "text", "repair", "file", "line", "found"}


def test_sarif_places_each_finding_in_a_file_of_the_fmu(tmp_path: Path) -> None:
    code, text = run(str(written(tmp_path, broken("A16"))), "--sarif")
    (of_run,) = json.loads(text)["runs"]
    (result,) = of_run["results"]
    assert code == 1
    assert of_run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "A16"
    place = result["locations"][0]["physicalLocation"]
    artifact = of_run["artifacts"][place["artifactLocation"]["index"]]
    assert artifact == {"location": {"uri": "terminalsAndIcons/terminalsAndIcons.xml"}, "parentIndex": 0}
    assert place["region"]["startLine"] == 1


def test_sarif_names_files_by_uris(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = whole() | {"documentation/a b%.html": b"", "documentation/A b%.html": b""}
    path = written(tmp_path, pack(files), "My FMU.fmu")
    monkeypatch.chdir(tmp_path)
    for given, uri in ((str(path), path.as_uri()), ("My FMU.fmu", "My%20FMU.fmu")):
        found = json.loads(run(given, "--sarif")[1])
        assert sarif_problems(found) == []
        uris = [artifact["location"]["uri"] for artifact in found["runs"][0]["artifacts"]]
        assert uris[0] == uri
        assert set(uris[1:]) <= {"documentation/a%20b%25.html", "documentation/A%20b%25.html"}


def changed(log: Any, place: str, value: Any) -> Any:
    """A copy with another value there.   place: keys and indices, between slashes; None takes it away"""
    *way, last = [int(key) if key.isdigit() else key for key in place.split("/")]
    copy = json.loads(json.dumps(log))
    inside = copy
    for key in way:
        inside = inside[key]
    inside[last] = value
    if value is None:
        del inside[last]
    return copy


RESULT = "runs/0/results/0"


@pytest.mark.parametrize(
    ("place", "value", "what"),
    [
        ("version", "2.0.0", "'2.1.0' was expected"),
        ("runs/0/tool", None, "'tool' is a required property"),
        ("runs/0/unheard", 1, "'unheard' was unexpected"),
        ("runs/0/invocations/0/executionSuccessful", None, "is a required property"),
        (f"{RESULT}/message", {}, "'text' is a required property"),
        (f"{RESULT}/level", "fatal", "'fatal' is not one of"),
        (f"{RESULT}/ruleIndex", 0, "ruleIndex 0 is not that of ruleId A16"),
        (f"{RESULT}/ruleIndex", 1000, "ruleIndex 1000 is not that of ruleId A16"),
        (f"{RESULT}/locations/0/physicalLocation/region/startLine", 0, "less than the minimum of 1"),
        (f"{RESULT}/locations/0/physicalLocation/artifactLocation/index", 2, "there is no artifact of index 2"),
        (f"{RESULT}/locations/0/physicalLocation/artifactLocation/index", 0, "artifact 0 is not terminalsAndIcons"),
        ("runs/0/artifacts/1/parentIndex", 1, "is none of another artifact"),
        ("runs/0/artifacts/0/location/uri", "/data/Whole.fmu", "begins with a slash"),
        ("runs/0/artifacts/0/location/uri", "My FMU.fmu", "does not match"),
    ],
)
def test_a_log_that_breaks_sarif_is_told_from_ours(place: str, value: Any, what: str, tmp_path: Path) -> None:
    log = as_sarif(check_fmu(written(tmp_path, broken("A16")), timeout=None))
    assert sarif_problems(log) == []
    (problem, *_) = sarif_problems(changed(log, place, value))
    assert what in problem


def test_many_findings_of_one_rule_are_cut_as_text_and_whole_as_json(tmp_path: Path) -> None:
    files = whole()
    one = '<ScalarVariable name="a{0}" valueReference="{1}" variability="continuous"><Real nominal="0"/>'
    many = "".join(one.format(i, 100 + i) + "</ScalarVariable>\n" for i in range(30))
    files[DESCRIPTION] = files[DESCRIPTION].replace(b"</ModelVariables>", many.encode() + b"</ModelVariables>")
    path = str(written(tmp_path, pack(files)))
    text = run(path)[1]
    assert text.count("error: ") == 10
    assert "V11: 20 more\n" in text
    assert len(json.loads(run(path, "--json")[1])["findings"]) == 30


def test_wrong_uses_of_the_command_are_errors(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for arguments, what in (
        ([], "none is given"),
        (["a.fmu"], "there is no such file"),
        (["--json", "--sarif"], "give one"),
    ):
        monkeypatch.setattr("sys.argv", ["fmu-builder", "check", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code == 2
        assert what in capsys.readouterr().err


def test_a_recipe_in_the_place_of_an_fmu_is_named(tmp_path: Path) -> None:
    recipe = tmp_path / "Mass.toml"
    recipe.write_text('element = "point_mass"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"is a text in TOML, and no FMU: build it first, by `build .*Mass\.toml`"):
        check_fmu(recipe)
    recipe.write_text('[slaves]\nmass = "PointMass"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"it is a scenario, of which `build --assembly .*Mass\.toml` makes an FMU"):
        check_fmu(recipe)
    with pytest.raises(InputError, match="`build PointMass --platform host` makes"):
        check_fmu(Path("PointMass"))


def test_the_rules_are_printed_and_the_guide_lists_them() -> None:
    assert [line.split()[0] for line in run("--rules")[1].splitlines()] == [rule.id for rule in RULES]
    assert [rule["id"] for rule in json.loads(run("--rules", "--json")[1])] == [rule.id for rule in RULES]
    assert guide_table.PAGE.read_text(encoding="utf-8") == guide_table.page(), "python -m fmu_builder.check.guide_table"
