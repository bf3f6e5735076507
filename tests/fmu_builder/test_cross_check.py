"""Triples of the FMI cross-check give back the outputs of a slave in a tool that runs its FMU alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from fmpy import simulate_fmu
from fmpy.util import read_csv, read_ref_opt_file
from foreign import BODY, GAIN, foreign_fmu

from fmu_builder.cli import app
from fmu_builder.cosim import cross_check_folder
from fmu_builder.cosim.cross_check import write_triples
from fmu_builder.cosim.master import Master, load_scenario, run, system_of
from fmu_builder.errors import InputError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.export.toolchain import host_platform
from fmu_builder.model.loader import load_model
from fmu_builder.paths import catalogue, find_recipe, own_version

TEXT = """
connections = [["first.y", "second.u"], ["third.p.r[1]", "first.u"]]
[experiment]
algorithm = "jacobi"
stop = "20 ms"
step = "1 ms"
output_step = "2 ms"
{record}
[slaves]
first = {{ recipe = "Gain.fmu" }}
second = "Gain.fmu"
third = {{ recipe = "Body.fmu", start = {{ k = 100 }} }}
[drive]
"third.p.f[1]" = "3[N]*sin(200[1/s]*#t)"
"""


DROP = """
connections = [["body.p", "floor.point"]]
[experiment]
stop = "2 ms"
step = "0.1 ms"
algorithm = "ALGORITHM"
[slaves]
body = "PointMass"
floor = "PointSurface"
"""


def triples(folder: Path, record: str = "", text: str = TEXT) -> tuple[dict[str, Path], list[str]]:
    foreign_fmu(folder, "Gain", GAIN, "g0--")
    foreign_fmu(folder, "Body", BODY)
    path = folder / "system.toml"
    path.write_text(text.format(record=record))
    scenario = load_scenario(path)
    files, notes = write_triples(system_of(scenario), run(scenario).trace, folder / "made" / "triples")
    return {file.name: file for file in files}, notes


def test_each_slave_has_outputs_options_and_where_it_has_any_inputs(tmp_path: Path) -> None:
    files, notes = triples(tmp_path)
    kinds = [f"{name}_{kind}" for name in ("first", "second", "third") for kind in ("in.csv", "ref.csv", "ref.opt")]
    assert sorted(files) == sorted(kinds)
    assert sorted(p.name for p in (tmp_path / "made" / "triples").iterdir()) == sorted(kinds)
    rows, starts = notes
    assert rows == (
        "the triples hold the inputs every 0.002 s, and the run has new ones every 0.001 s: "
        "with an output_step of 0.001 s they hold all"
    )
    assert starts == "the triple of third holds no start values: k must be set as in the scenario"
    options = read_ref_opt_file(files["first_ref.opt"])
    assert (options["StartTime"], options["StopTime"], options["StepSize"]) == (0.0, 0.02, 0.001)
    assert options["OutputIntervalLength"] == 0.002


def test_inputs_are_the_outputs_they_are_connected_to_and_the_drives(tmp_path: Path) -> None:
    files, _ = triples(tmp_path)
    read = {name: read_csv(file) for name, file in files.items() if name.endswith(".csv")}
    assert np.array_equal(read["second_in.csv"]["u"], read["first_ref.csv"]["y"])
    assert np.array_equal(read["first_in.csv"]["u"], read["third_ref.csv"]["p.r[1]"])
    time = read["third_in.csv"]["time"]
    assert np.allclose(read["third_in.csv"]["p.f[1]"], 3.0 * np.sin(200.0 * time), rtol=1e-15, atol=1e-300)


def test_another_tool_gets_the_outputs_from_a_triple(tmp_path: Path) -> None:
    files, _ = triples(tmp_path, text=TEXT.replace('output_step = "2 ms"', ""))
    options, expected = read_ref_opt_file(files["third_ref.opt"]), read_csv(files["third_ref.csv"])
    found = simulate_fmu(
        str(tmp_path / "Body.fmu"),
        start_time=options["StartTime"],
        stop_time=options["StopTime"],
        output_interval=options["OutputIntervalLength"],
        start_values={"k": 100.0},
        input=read_csv(files["third_in.csv"]),
        output=["p.r[1]", "p.v[1]"],
        validate=False,
    )
    assert np.max(np.abs(expected["p.r[1]"])) > 1e-5
    for name in ("p.r[1]", "p.v[1]"):  # rounding of the interpolated force
        assert np.allclose(found[name], expected[name], rtol=1e-9, atol=1e-15)


def test_a_trace_without_what_an_input_is_made_of_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"second.u is first.y, which the trace does not hold; record it"):
        triples(tmp_path, 'record = ["second.*", "third.*"]')
    assert not (tmp_path / "made").exists()


def test_a_run_whose_trace_would_not_do_does_not_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
    foreign_fmu(tmp_path, "Body", BODY)
    path = tmp_path / "system.toml"
    path.write_text(TEXT.format(record='record = ["second.*", "third.*"]'))
    output = tmp_path / "trace.csv"
    monkeypatch.setattr(Master, "run", None)
    command = ["run", str(path), "-o", str(output), "--cross-check", str(tmp_path / "made")]
    with pytest.raises(InputError, match=r"first\.y, which the trace does not hold"):
        app(command, standalone_mode=False)
    assert not output.exists() and not (tmp_path / "made").exists()


def test_the_command_lists_the_triples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
    foreign_fmu(tmp_path, "Body", BODY)
    path, folder = tmp_path / "system.toml", tmp_path / "made"
    path.write_text(TEXT.format(record=""))
    command = ["run", str(path), "-o", str(tmp_path / "trace.csv"), "--cross-check", str(folder), "--json"]
    app(command, standalone_mode=False)
    assert sorted(json.loads(capsys.readouterr().out)["triples"]) == sorted(map(str, folder.iterdir()))


def test_the_step_of_a_triple_is_that_of_its_slave(tmp_path: Path) -> None:
    longer = TEXT.replace('second = "Gain.fmu"', 'second = {{ recipe = "Gain.fmu", step = "2 ms" }}')
    files, _ = triples(tmp_path, text=longer)
    assert [read_ref_opt_file(files[f"{name}_ref.opt"])["StepSize"] for name in ("first", "second")] == [0.001, 0.002]


@pytest.mark.parametrize(
    ("algorithm", "told"),
    [
        ("jacobi", "coupling.order = parallel"),
        ("gauss_seidel", "coupling.order = sequential"),
        ("implicit", "coupling.mode = hold"),
    ],
)
def test_what_the_run_sets_by_itself_and_newer_inputs_are_noted(tmp_path: Path, algorithm: str, told: str) -> None:
    path = tmp_path / "drop.toml"
    path.write_text(DROP.replace("ALGORITHM", algorithm))
    scenario = load_scenario(path)
    _, notes = write_triples(system_of(scenario), run(scenario).trace, tmp_path / "made")
    newer = [note for note in notes if f"under {algorithm} slaves step with newer ones" in note]
    assert bool(newer) == (algorithm != "jacobi")
    (start,) = [note for note in notes if "what the run sets by itself" in note]
    assert start.startswith("the triple of floor does not hold ") and told in start
    learns = [note for note in notes if note.startswith("floor learns in the mode auto")]
    assert bool(learns) == (algorithm != "implicit")


def test_a_trace_without_outputs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the trace holds no output of a slave"):
        foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
        foreign_fmu(tmp_path, "Body", BODY)
        path = tmp_path / "system.toml"
        path.write_text(TEXT.format(record=""))
        scenario = load_scenario(path)
        trace = run(scenario).trace
        empty = type(trace)(trace.time, (), trace.values[:, :0], {}, {}, {})
        write_triples(system_of(scenario), empty, tmp_path / "made")


# ---- the folders of the cross-check --------------------------------------------------------------------------------


def export(folder: Path, *arguments: str) -> dict[str, Path]:
    """Files of the export of the given arguments by their path below fmus/2.0."""
    made = folder / "made"
    app(["cross-check", *arguments, "-o", str(made)], standalone_mode=False)
    root = made / "fmus" / "2.0"
    return {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}


def test_the_folders_are_those_of_the_rules_and_another_tool_gets_the_reference(tmp_path: Path) -> None:
    fmu = foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
    files = export(tmp_path, str(fmu), "--platform", "linux64", "--stop", "20 ms", "--step", "1 ms")
    place = "cs/linux64/unknown/unknown/Gain"
    assert set(files) == {f"{place}/{name}" for name in ("Gain.fmu", "Gain_ref.csv", "Gain_ref.opt", "README.md")}
    options, expected = read_ref_opt_file(files[f"{place}/Gain_ref.opt"]), read_csv(files[f"{place}/Gain_ref.csv"])
    assert options["StopTime"] == 0.02 == expected["time"][-1]
    found = simulate_fmu(str(files[f"{place}/Gain.fmu"]), stop_time=0.02, output_interval=0.001, validate=False)
    assert np.array_equal(found["y"], expected["y"])
    readme = files[f"{place}/README.md"].read_text()
    assert readme.startswith("# Gain\n\n- FMI 2.0")  # neither the system nor the FMU has a description
    assert "2.0, co-simulation, exported by a tool that it does not name" in readme
    assert "License of the FMU: not stated in modelDescription.xml" in readme and "no runtime" not in readme


def test_inputs_of_a_system_are_written_and_then_there_is_no_model_exchange(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cross_check_folder, "MOST_SIGNALS", 1)  # ten of the rules are more than SliderMass has
    foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
    path = tmp_path / "system.toml"
    path.write_text(
        '[experiment]\nstop = "5 ms"\nstep = "1 ms"\n[slaves]\na = "Gain.fmu"\nb = "SliderMass"\n'
        '[drive]\n"a.u" = "3*#t/1[s]"\n'
    )
    files = export(tmp_path, str(path), "--platform", "linux64")
    kinds = {name.rpartition("/")[0].split("/")[0] + "/" + name.rpartition("/")[2] for name in files}
    assert {"cs/Gain_in.csv", "cs/SliderMass_ref.csv", "me/SliderMass_ref.csv"} <= kinds
    (reference,) = (path for name, path in files.items() if name.startswith("me/") and name.endswith("_ref.csv"))
    assert read_csv(reference).dtype.names == ("time", "p.s")
    assert f"/linux64/fmu-builder/{own_version()}/SliderMass/" in reference.as_posix()
    readme = reference.with_name("README.md").read_text()
    assert f"exported by fmu-builder {own_version()}\n" in readme and "in the FMU. License of the FMU: BSD" in readme
    assert "cs/SliderMass_in.csv" not in kinds and "me/Gain_ref.csv" not in kinds


@pytest.mark.parametrize(
    ("algorithm", "output_step", "holds", "noted"),
    [
        ("jacobi", "1 ms", "at the communication points; they are held over each step.\n", []),
        ("gauss_seidel", "1 ms", "step. The run was one of gauss_seidel, whose steps may have newer", ["under"]),
        ("jacobi", "5 ms", "every 0.005 s; in the run they had new values every 0.001 s, which are held", ["every"]),
    ],
)
def test_what_the_inputs_of_a_reference_are_to_the_steps_is_said(
    algorithm: str, output_step: str, holds: str, noted: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
    path = tmp_path / "system.toml"
    path.write_text(
        f'connections = [["a.u", "b.p.s"]]\n[experiment]\nstop = "5 ms"\nstep = "1 ms"\nalgorithm = "{algorithm}"\n'
        '[slaves]\nb = "SliderMass"\na = "Gain.fmu"\n'
    )
    files = export(tmp_path, str(path), "--platform", host_platform(), "--output-step", output_step)
    (readme,) = (path.read_text() for name, path in files.items() if name.endswith("Gain/README.md"))
    assert holds in readme
    notes = [line for line in capsys.readouterr().err.splitlines() if "the triples hold" in line]
    assert len(notes) == len(noted) and all(word in note for word, note in zip(noted, notes, strict=True))


def test_the_readme_of_a_reference_names_the_step_of_its_slave(tmp_path: Path) -> None:
    path = tmp_path / "system.toml"
    path.write_text('[experiment]\nstop = "4 ms"\nstep = "1 ms"\n[slaves.b]\nrecipe = "SliderMass"\nstep = "2 ms"\n')
    files = export(tmp_path, str(path), "--platform", host_platform())
    readmes = {name.split("/")[0]: file for name, file in files.items() if name.endswith("README.md")}
    assert "fmi2DoStep with the step 0.002 s" in readmes["cs"].read_text()
    assert "the same FMU with the step 0.002 s" in readmes["me"].read_text()
    assert read_ref_opt_file(readmes["cs"].with_name("SliderMass_ref.opt"))["StepSize"] == 0.002


@pytest.mark.slow
@pytest.mark.parametrize("name", [path.stem for path in catalogue()])
def test_the_catalogue_is_exported_and_fmpy_gets_the_references(name: str, tmp_path: Path) -> None:
    """In a hundred points or all there are, to the tolerance that the export states: differences of the two masters in
    the times of steps, of their rounding, grow from bounce to bounce of a ball."""
    experiment = load_model(find_recipe(name)).experiment
    steps = max(1, round(experiment.stop / experiment.step / 100))
    files = export(tmp_path, name, "--platform", host_platform(), "--output-step", f"{steps * experiment.step!r} s")
    kinds = {place.split("/")[0]: path for place, path in files.items() if place.endswith("_ref.csv")}
    assert kinds.keys() == {"cs", "me"} and not any(place.endswith("_in.csv") for place in files)
    reference = kinds["cs"]
    options, expected = read_ref_opt_file(reference.with_name(f"{name}_ref.opt")), read_csv(reference)
    assert 5 <= len(expected) < 300 and np.array_equal(expected, read_csv(kinds["me"]))
    signals = list(expected.dtype.names[1:])
    found = simulate_fmu(
        str(reference.with_name(f"{name}.fmu")),
        stop_time=options["StopTime"],
        step_size=options["StepSize"],
        output_interval=options["StepSize"],
        output=signals,
        validate=False,
    )[::steps]
    for signal in signals:
        allowed = options["RelTol"] * max(1.0, np.abs(expected[signal]).max())
        np.testing.assert_allclose(found[signal], expected[signal], rtol=0.0, atol=allowed, err_msg=signal)


def test_a_given_fmu_has_to_be_for_fmi_2_and_for_the_platform(tmp_path: Path) -> None:
    options = ["--stop", "20 ms", "--step", "1 ms"]
    with pytest.raises(InputError, match=r"is for FMI 3\.0.*: export it for FMI 2\.0"):
        export(tmp_path, str(host_fmu(find_recipe("SliderMass"), fmi=3)), *options)
    fmu = foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
    other = next(name for name in ("win64", "linux64") if name != host_platform())
    with pytest.raises(InputError, match=f"has no binary for {other}"):
        export(tmp_path, str(fmu), "--platform", other, *options)
    assert not (tmp_path / "made").exists()
    assert {name.split("/")[1] for name in export(tmp_path, str(fmu), *options)} == {host_platform()}


def test_the_option_of_a_faulty_output_step_is_named_as_it_is_given(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^--output-step: 0\.0015 s is not a whole multiple of step = 0\.001 s; "):
        export(tmp_path, "BouncingBall", "--step", "1 ms", "--output-step", "1.5 ms")


@pytest.mark.slow
def test_a_reference_beyond_a_megabyte_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_check_folder, "MOST_BYTES", 100)
    fmu = foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
    export(tmp_path, str(fmu), "--platform", "linux64", "--stop", "20 ms", "--step", "1 ms", "--output-step", "10 ms")
    with pytest.raises(
        InputError, match=r"_ref\.csv: has [\d.]+ MB, .* at most [\d.e-]+ MB: choose a longer --output-step"
    ):
        export(tmp_path, str(fmu), "--platform", "linux64", "--stop", "20 ms", "--step", "1 ms")


@pytest.mark.parametrize(
    ("slaves", "options", "what"),
    [
        ('a = { recipe = "SliderMass", start = { m = 2 } }', [], r"a starts with m; .* write them into \[start\]"),
        ('a = "SliderMass"\nb = "SliderMass"', [], "a and b are FMUs of one name, SliderMass"),
        ('a = "SliderMass"', ["--platform", "linux65"], "'linux65' is none of linux64, win64, darwin64"),
    ],
)
def test_what_the_rules_have_no_place_for_is_refused(
    tmp_path: Path, slaves: str, options: list[str], what: str
) -> None:
    path = tmp_path / "system.toml"
    path.write_text(f'[experiment]\nstop = "5 ms"\nstep = "1 ms"\n[slaves]\n{slaves}\n')
    with pytest.raises(InputError, match=what):
        export(tmp_path, str(path), *options)
    assert not (tmp_path / "made").exists()


def test_a_value_that_the_run_sets_by_itself_is_named_as_such_with_the_value_to_write(tmp_path: Path) -> None:
    path = tmp_path / "drop.toml"
    path.write_text(DROP.replace("ALGORITHM", "jacobi"))
    with pytest.raises(InputError) as caught:
        export(tmp_path, str(path))
    assert str(caught.value) == (
        f"{path}: the run sets coupling.order = parallel of floor by itself; the cross-check knows no start values: "
        "write them into [start] of its recipe"
    )
