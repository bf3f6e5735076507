"""Scenario files: what is read, and that every fault of the text is told at once with file, table and key."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fmu_builder import Experiment, Part, Scenario, cli, run
from fmu_builder.cosim.master import load_scenario
from fmu_builder.errors import InputError
from fmu_builder.model.scenario import check_times, read_scenario

GOOD = """
connections = [ ["body.p", "floor.point"] ]
[experiment]
stop = "0.5 s"
step = "1 ms"
[slaves]
body = "PointMass"
floor = { recipe = "PointSurface", start = { C_F = "1e5 N/m", r0 = [0, 1.5, "2 mm"], work = true } }
[drive]
"floor.work" = { time = [0, 0.1], value = [true, false] }
"floor.surface.r[1]" = 0.5
"floor.surface.r[3]" = { table = "motion.csv" }
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "system.toml"
    path.write_text(text, encoding="utf-8")
    return path


def faults(folder: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_scenario(written(folder, text))
    return [str(p).replace(f"{folder}/", "") for p in caught.value.problems]


def test_a_scenario_is_read_with_its_defaults(tmp_path: Path) -> None:
    scenario = read_scenario(written(tmp_path, GOOD))
    assert scenario.name == "system"
    assert [scenario.seconds(k) for k in ("start", "stop", "step", "output_step")] == [0.0, 0.5, 1e-3, 1e-3]  # type: ignore[arg-type]
    assert scenario.experiment.algorithm == "gauss_seidel" and scenario.free_moment is False
    assert scenario.connections == [("body.p", "floor.point")]
    assert scenario.slaves["body"].recipe == "PointMass" and scenario.slaves["body"].start == {}
    assert scenario.slaves["floor"].start == {"C_F": "1e5 N/m", "r0": [0, 1.5, "2 mm"], "work": True}
    assert scenario.drive["floor.work"].value == [True, False]
    assert (scenario.drive["floor.surface.r[1]"].time, scenario.drive["floor.surface.r[1]"].value) == ([0.0], [0.5])


def test_an_unknown_key_is_answered_with_the_keys_of_a_file_only(tmp_path: Path) -> None:
    (line,) = faults(tmp_path, GOOD.replace("connections", "ends", 1))
    assert line == (
        "system.toml: ends: this key is unknown; known: connections, convergence, description, drive, experiment, "
        "free_moment, page, reference, slaves"
    )


def test_a_start_value_of_a_vector_and_of_its_element_are_refused(tmp_path: Path) -> None:
    (line,) = faults(tmp_path, GOOD.replace("work = true }", '"r0[2]" = 1 }'))
    assert line == "system.toml: [slaves] floor start r0[2]: has a start value by r0 already; remove one of them"


def test_a_tolerance_is_less_than_the_whole(tmp_path: Path) -> None:
    (line,) = faults(tmp_path, GOOD.replace('step = "1 ms"', 'step = "1 ms"\ntolerance = 5'))
    assert line == "system.toml: [experiment] tolerance: 5: must be less than 1"


def test_six_faults_of_one_file_are_told_at_once(tmp_path: Path) -> None:
    lines = faults(
        tmp_path,
        """
        connections = [ ["body.p", "flor.point"] ]
        [experiment]
        stop = 1
        step = "1 mm"
        algoritm = "jacobi"
        [slaves]
        body = { recipe = "PointMass", start = { r0 = { x = 1 } } }
        floor = "PointSurface"
        [drive]
        "floor.work" = ["on"]
        [reference]
        file = "ref.csv"
        """,
    )
    wanted = (
        ("connections [body.p, flor.point]: ", "did you mean 'floor'?"),
        ("[experiment] step = '1 mm' ", "has the dimension m but s is needed"),
        ("[experiment] algoritm: ", "this key is unknown; did you mean 'algorithm'?"),
        ("[slaves.body.start] r0: ", "must be a number, a text, true, false, or a list of these"),
        ("[drive] floor.work: ", "['on'] must be a number, a law of #t, true, false"),
        ("[reference] source: ", "this key is missing"),
    )
    assert len(lines) == len(wanted)
    for where, words in wanted:
        assert [line for line in lines if line.startswith(f"system.toml: {where}") and words in line], (where, lines)


EXPERIMENT = "[experiment]\n{}\n[slaves]\nbody = 'PointMass'\n"


@pytest.mark.parametrize(
    ("experiment", "where", "words"),
    [
        ("stop = 1\nstep = 0", "step", "0 s must be greater than 0"),
        ("stop = 1\nstep = -0.1", "step", "-0.1 s must be greater than 0"),
        ("start = 2\nstop = 1\nstep = 0.1", "stop", "1 s must be after start = 2 s"),
        ("start = 0.5\nstop = 1\nstep = 0.3", "stop", "steps of 0.3 s after start = 0.5 s; 1.1 s is the nearest one"),
        ("stop = 1\nstep = 4", "stop", "not a whole number of steps of 4 s after start = 0 s; 4 s is the nearest one"),
        (
            "stop = 1\nstep = 0.1\noutput_step = 0.28",
            "output_step",
            "not a whole multiple of step = 0.1 s; 0.3 s is the nearest one",
        ),
        ("stop = 1\nstep = 0.1\noutput_step = 0.01", "output_step", "not a whole multiple of step = 0.1 s; 0.1 s is"),
        ("stop = 1\nstep = '1 mm'", "step", "'1 mm' has the dimension m but s is needed"),
        ("stop = 1\nstep = nan", "step", "nan"),
        ("stop = inf\nstep = 1", "stop", "inf"),
        ("stop = 1\nstep = true", "step", "true: must be a number (SI) or a text with a unit"),
        ("stop = 1\nstep = [1]", "step", "[1]: must be a number (SI) or a text with a unit"),
        ("stop = 1", "step", "this key is missing"),
        (
            "stop = 1\nstep = 0.1\nalgorithm = 'newton'",
            "algorithm",
            "'newton' is none of jacobi, gauss_seidel, implicit, adaptive",
        ),
        ("stop = 1\nstep = 0.1\ntolerance = 0", "tolerance", "greater than 0"),
        (
            "stop = 1\nstep = 0.1\norder = 'structur'",
            "order: 'structur'",
            "must be 'listed', 'structure', or a list of the names of slaves",
        ),
    ],
)
def test_a_faulty_experiment_is_told_once(tmp_path: Path, experiment: str, where: str, words: str) -> None:
    (line,) = faults(tmp_path, EXPERIMENT.format(experiment))
    assert line.startswith(f"system.toml: [experiment] {where}") and words in line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[slaves]\nbody = 5", "[slaves] body: 5: must be a table"),
        ("[slaves]\n'a b' = 'PointMass'", "[slaves] a b: the name of a slave must be an identifier"),
        ("[slaves]", "[slaves]: there is no slave"),
        ("[slaves]\nbody = { recipe = '' }", "[slaves.body] recipe"),
        ("[slaves]\nbody = { start = {} }", "[slaves.body] recipe: this key is missing"),
        ("[slaves]\nbody = { recipe = 'PointMass', start = { r0 = [] } }", "[slaves.body.start] r0"),
        (
            "[slaves]\nbody = 'PointMass'\n[drive]\n'body.m' = { time = [0, 1], value = [1] }",
            "the same number of entries",
        ),
        (
            "[slaves]\nbody = 'PointMass'\n[drive]\n'body.m' = { time = [1, 0], value = [1, 2] }",
            "time must not decrease",
        ),
        ("[slaves]\nbody = 'PointMass'\n[drive]\n'body.m' = { time = [], value = [] }", "at least one"),
        ("[slaves]\nbody = 'PointMass'\n[drive]\n'body.m' = { time = [0] }", "give one of a law, table"),
        ("[slaves]\nbody = 'PointMass'\n[drive]\n'body.m' = { law = '1', time = [0] }", "give one of a law, table"),
        (
            "[slaves]\nbody = 'PointMass'\n[drive]\n'body.m' = { table = 'a.csv', time = [0], value = [0] }",
            "give one of a law",
        ),
        ("[slaves]\nbody = 'PointMass'\n[drive]\n'body.m' = nan", "[drive.body.m] value 1"),
        ("[slaves]\nbody = 'PointMass'\n[drive]\n'body.m' = [1, 2]", "[drive] body.m: [1, 2] must be a number"),
        (
            "[slaves]\nbody = 'PointMass'\n[drive]\n'body.m' = { time = [0], value = ['x'] }",
            "'x': must be a finite number (SI)",
        ),
    ],
)
def test_faulty_slaves_and_drives_are_told_once(tmp_path: Path, text: str, words: str) -> None:
    (line,) = faults(tmp_path, f"[experiment]\nstop = 1\nstep = 0.1\n{text}\n")
    assert line.startswith("system.toml: ") and words in line


@pytest.mark.parametrize(
    ("connections", "words"),
    [
        ('[["body.p"]]', "must be a pair of texts"),
        ('[["body.p", "body.q", "body.r"]]', "must be a pair of texts"),
        ('[["body", "body.q"]]', "'body' must be 'slave.port' or 'slave.variable'"),
        ('"body.p"', "list"),
    ],
)
def test_faulty_connections_are_told(tmp_path: Path, connections: str, words: str) -> None:
    lines = faults(tmp_path, f"connections = {connections}\n" + EXPERIMENT.format("stop = 1\nstep = 0.1"))
    assert all(line.startswith("system.toml: ") for line in lines)
    assert any("connections" in line and words in line for line in lines)


def test_an_end_without_a_port_is_told_once(tmp_path: Path) -> None:
    path = written(tmp_path, '[experiment]\nstop = 1\nstep = 1\n[slaves]\na = "PointMass"\nb = "PointSurface"\n')
    path.write_text('connections = [["a", "b.point"]]\n' + path.read_text())
    with pytest.raises(InputError) as caught:
        load_scenario(path)
    (problem,) = caught.value.problems
    assert "'a' must be 'slave.port' or 'slave.variable'" in str(problem)


@pytest.mark.parametrize(
    ("tables", "where", "words"),
    [
        (
            "[reference]\nfile = 'a.csv'\nsource = 'none'",
            "[reference] source",
            "'none': must have at least 10 characters",
        ),
        ("[reference]\nfile = 1\nsource = 'closed form'", "[reference] file", "1: must be a text"),
        ("[convergence]\nquantity = 'a.b'\nsteps = [1]\norder = 1", "steps", "[1]: must have at least 3 entries"),
        ("[convergence]\nquantity = 'a.b'\nsteps = 5\norder = 1", "steps", "5: must be a list"),
        (
            "[convergence]\nquantity = 'a.b'\nsteps = [1, '1 m', 3]\norder = 1",
            "[convergence] steps 2",
            "'1 m' has the dimension m but s is needed",
        ),
        ("[convergence]\nquantity = 'a.b'\nsteps = [1, 0, 3]\norder = 1", "steps 2", "0 s must be greater than 0"),
        (
            "[convergence]\nquantity = 'a.b'\nsteps = [0.1, '100 ms', 0.5]\norder = 1",
            "[convergence] steps 2",
            "0.1 s is there twice: the order follows from the errors of different steps; change one",
        ),
        (
            "[convergence]\nquantity = 'a.b'\nsteps = [0.5, 0.3, 0.1]\norder = 1",
            "[convergence] steps 2",
            "0.3 s: no whole number of such steps ends at stop = 1 s after start = 0 s; 0.333333333 s is the nearest "
            "step that does",
        ),
        ("[convergence]\nquantity = 'a.b'\nsteps = [1, 2, 3]\norder = 'x'", "order", "'x': must be a number"),
        ("[convergence]\nquantity = 'a.b'\nsteps = [1, 2, 3]\norder = 0", "order", "0: must be greater than 0"),
    ],
)
def test_the_rules_of_a_case_are_named_in_the_words_of_all_other_keys(
    tmp_path: Path, tables: str, where: str, words: str
) -> None:
    said = faults(tmp_path, EXPERIMENT.format("stop = 1\nstep = 0.1") + tables)
    assert any(where in line and line.endswith(words) for line in said), said


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("power = 'x'", "power: 'x': must be true or false"),
        ("power = []", "power: []: must be true or false"),
        ("power = 1", "power: 1: must be true or false"),
        ("power = 'yes'", "power: 'yes': must be true or false"),
        ("tolerance = '1e-3'", "tolerance: '1e-3': must be a number"),
        ("tolerance = true", "tolerance: true: must be a number"),
        ("tolerance = inf", "tolerance: inf: must be a finite number"),
        ("tolerance = []", "tolerance: []: must be a number"),
        ("record = []", "record: []: must not be empty"),
        ("record = [1]", "record 1: 1: must be a text"),
    ],
)
def test_kinds_of_values_are_named_in_our_words(tmp_path: Path, key: str, words: str) -> None:
    assert any(line.endswith(words) for line in faults(tmp_path, EXPERIMENT.format(f"stop = 1\nstep = 0.1\n{key}")))


def test_the_keys_suggested_are_those_of_the_table_at_hand(tmp_path: Path) -> None:
    """`tolerance` is a key of [experiment], and of a signal there are `absolute` and `relative`."""
    text = EXPERIMENT.format("stop = 1\nstep = 0.1")
    text += '[reference]\nfile = "a.csv"\nsource = "closed form"\ntolerance = 1\nsignals."body.m" = { absolut = 1 }\n'
    of_signal, of_reference = sorted(faults(tmp_path, text))
    assert of_reference.endswith("[reference] tolerance: this key is unknown; known: events, file, signals, source")
    assert of_signal.endswith("[reference.signals.body.m] absolut: this key is unknown; did you mean 'absolute'?")


def test_an_entry_of_a_list_is_named_by_its_number(tmp_path: Path) -> None:
    text = 'connections = [["body.p", "body.p"], ["body.p"]]\n' + EXPERIMENT.format("stop = 1\nstep = 0.1")
    assert any("system.toml: connections 2: ['body.p']: must be a pair" in line for line in faults(tmp_path, text))
    text = EXPERIMENT.format("stop = 1\nstep = 0.1") + '[drive]\n"body.p.f[1]" = { time = [0, "x"], value = [1, 2] }\n'
    assert any("[drive.body.p.f[1]] time 2: 'x': " in line for line in faults(tmp_path, text))


def test_wrong_times_are_told_beside_an_unknown_algorithm(tmp_path: Path) -> None:
    text = EXPERIMENT.format('stop = -1\nstep = 0\nalgorithm = "jacoby"')
    assert sorted(faults(tmp_path, text)) == [
        "system.toml: [experiment] algorithm: 'jacoby' is none of jacobi, gauss_seidel, implicit, adaptive; "
        "did you mean 'jacobi'?",
        "system.toml: [experiment] step: 0 s must be greater than 0",
        "system.toml: [experiment] stop: -1 s must be after start = 0 s",
    ]


@pytest.mark.parametrize(
    ("times", "told"),
    [
        (
            "start = 1\nstop = 0.5\nstep = 0.1\noutput_step = 0.25",
            ["stop: 0.5 s must be after start", "output_step: 0.25 s is not a whole multiple of step = 0.1 s"],
        ),
        (
            "stop = '1 m'\nstep = -0.1\noutput_step = 0",
            ["stop = '1 m' has the dimension", "step: -0.1 s must be greater", "output_step: 0 s must be greater"],
        ),
        ("start = 'x'\nstop = 1\nstep = 0", ["start = 'x' must start with a number", "step: 0 s must be greater"]),
        ("stop = true\nstep = -1", ["stop: true: must be a number (SI)", "step: -1 s must be greater"]),
        ("step = -1\noutput_step = -2", ["step: -1 s", "output_step: -2 s", "stop: this key is missing"]),
        (
            "stop = 1e9\nstep = 1e-6\noutput_step = 1.5e-6",
            [
                "step: 1e-06 s makes 1e+15 steps",
                "output_step: 1.5e-06 s makes",
                "output_step: 1.5e-06 s is not a whole",
            ],
        ),
        ("stop = 1e9\nstep = 1e-6", ["step: 1e-06 s makes 1e+15 steps"]),
        ("stop = 1\nstep = 0\noutput_step = 0.25", ["step: 0 s must be greater"]),
    ],
)
def test_a_faulty_time_hides_no_other_one(tmp_path: Path, times: str, told: list[str]) -> None:
    found = sorted(faults(tmp_path, EXPERIMENT.format(times)))
    assert len(found) == len(told)
    for line, words in zip(found, sorted(told), strict=True):
        assert line.startswith(f"system.toml: [experiment] {words}"), found


def test_a_key_named_like_a_field_of_ours_is_unknown(tmp_path: Path) -> None:
    (line,) = faults(tmp_path, "path = 'x'\n" + EXPERIMENT.format("stop = 1\nstep = 0.1"))
    assert line == "system.toml: path: this key is unknown"


def test_a_syntax_error_has_its_line_and_a_wrong_encoding_its_line(tmp_path: Path) -> None:
    (line,) = faults(tmp_path, "[experiment]\nstop = = 1\n")
    assert line.startswith("system.toml: is not valid TOML") and "line 2" in line
    path = tmp_path / "system.toml"
    path.write_bytes(b"description = '\xe4'\n")
    with pytest.raises(InputError, match=r"line 1: is not UTF-8 text: invalid"):
        read_scenario(path)
    with pytest.raises(InputError, match=r"none\.toml: cannot be read"):
        read_scenario(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("step", "output_step", "words"),
    [(1e-300, 1e-3, "1e+300 steps; at most 1e+09"), (1e-8, 1e-8, "1e+08 rows; at most 1e+07")],
)
def test_a_run_no_machine_can_finish_is_refused(step: float, output_step: float, words: str) -> None:
    problems = check_times("[experiment]", 0.0, 1.0, step, output_step)
    assert any(words in str(problem) for problem in problems)


# ---- all faults at once, each with its place ---------------------------------------------------------------------


def said_of(path: Path, text: str) -> list[str]:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_scenario(path)
    return [str(problem).removeprefix(f"{path}: ") for problem in caught.value.problems]


def test_no_fault_of_a_scenario_hides_another(tmp_path: Path) -> None:
    """Faults of the text, of [experiment] and of [drive] beside those that only the slaves show."""
    faults = said_of(
        tmp_path / "system.toml",
        """algorithm = "jacobi"
conections = []
[experiment]
stop = "1 kg"
step = true
output_step = []
tolerance = -1
connections = []
[slaves]
m = { recipe = "PointMass", start = { mm = 1, m = "1 s" } }
n = "PointMas"
[drive]
"m.p.f[1]" = { tabel = "x.csv" }
"m.p.f[2]" = { table = "x.csv" }
"m.p.f[3]" = []
"m.q" = 1
""",
    )
    assert [fault.partition(": ")[0].partition(" = ")[0] for fault in faults] == [
        "[drive] m.p.f[3]",
        "[experiment] stop",
        "[experiment] step",
        "[experiment] output_step",
        "[experiment] tolerance",
        "[experiment] connections",
        "[drive.m.p.f[1]] tabel",
        "algorithm",
        "conections",
        "[slaves] n",
        "[slaves] m start mm",
        "[slaves] m start m",
        "[drive] m.p.f[2]",
        "[drive] m.q",
    ]
    by_place = dict(fault.split(": ", 1) for fault in faults if ": " in fault)
    assert by_place["algorithm"] == "this key is unknown; it belongs into [experiment]"
    assert by_place["[experiment] connections"].endswith("; it belongs to the top of the file, above its tables")
    assert by_place["[drive.m.p.f[1]] tabel"] == "this key is unknown; did you mean 'table'?"


def test_a_faulty_key_of_a_slave_or_a_faulty_connection_hides_no_other(tmp_path: Path) -> None:
    faults = said_of(
        tmp_path / "system.toml",
        """connections = [["m.p", "floor.pont"], ["m.p"], ["m.q", "floor.point"]]
[experiment]
stop = 1
step = 0.1
[slaves]
m = { recipe = "PointMass", strat = { m = 1 } }
floor = { recipe = "PointSurface", start = { C_f = 1 }, mas = 1 }
""",
    )
    assert [fault.partition(": ")[0] for fault in faults] == [
        "connections 2",
        "[slaves.m] strat",
        "[slaves.floor] mas",
        "[slaves] floor start C_f",
        "connections [m.p, floor.pont]",
        "connections [m.q, floor.point]",
    ]


def test_a_misspelt_table_of_slaves_is_named_and_read(tmp_path: Path) -> None:
    faults = said_of(tmp_path / "system.toml", '[experiment]\nstop = 1\nstep = 0.1\n[slavs]\nm = "PointMas"\n')
    assert len(faults) == 2
    assert faults[0] == "slavs: this key is unknown; did you mean 'slaves'?"
    assert faults[1].startswith("[slaves] m: PointMas: there is no recipe of this name")


def test_every_time_that_is_not_positive_is_named(tmp_path: Path) -> None:
    where = [p.where for p in check_times("[experiment]", 0.0, -1.0, 0.0, -3.0)]
    assert where == ["[experiment] step", "[experiment] output_step", "[experiment] stop"]


def test_all_options_of_a_run_are_checked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["run", "PointMass", "--step", "0", "--stop=-1", "--algorithm", "x"]
    monkeypatch.setattr(sys, "argv", ["fmu-builder", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert all(f"error: --{option}: " in said for option in ("step", "stop", "algorithm"))


def test_a_stop_is_as_exact_as_a_late_start_allows() -> None:
    """At 1e4 s numbers lie 2e-12 s apart, a five-hundredth of the step."""
    late = Experiment(start=1e4, stop=1e4 + 1e-6, step=1e-9)
    result = run(Scenario(slaves={"mass": Part(recipe="SliderMass", start={"v0": 1.0})}, experiment=late))
    assert len(result.trace.time) == 1001
    assert result["mass.p.s"][-1] == pytest.approx(1e-6, rel=1e-5)
