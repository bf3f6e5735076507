"""Runs of coupled slaves: the same bits as a plain master, consistent starts, and what happens when a slave fails."""

from __future__ import annotations

import itertools
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import fmpy
import numpy as np
import pytest
from fmpy.fmi2 import FMU2Slave
from foreign import BODY, GAIN, foreign_fmu, model_description, without_units
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from fmu_builder.cosim import slave as slave_module
from fmu_builder.cosim.master import load_scenario, run, system_of
from fmu_builder.cosim.result import Result
from fmu_builder.cosim.scenario_inputs import LawSignal
from fmu_builder.cosim.trace import Trace
from fmu_builder.errors import InputError, SlaveError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.export.toolchain import PLATFORMS, host_platform
from fmu_builder.laws.text import read_value
from fmu_builder.model.connectable import SlaveVariable
from fmu_builder.paths import shipped
from fmu_builder.units import parse_unit
from tests.contact_core.fmi2 import literal

AXES = (1, 2, 3)


class FMU2Counting(FMU2Slave):  # type: ignore[misc]
    """fmpy's slave (which goes by the first letters of its class name), counting the instances that live."""

    alive = 0
    calls: ClassVar[list[str]] = []

    def _call(self, name: str, *arguments: Any) -> Any:
        answer = super()._call(name, *arguments)
        FMU2Counting.calls.append(name)
        FMU2Counting.alive += (name == "fmi2Instantiate" and answer is not None) - (name == "fmi2FreeInstance")
        return answer


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """After every test: instances freed, temporary folders removed, working directory unchanged."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    before, open_before = Path.cwd(), dict(slave_module._slaves)  # which tests of other files may have left
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(slave_module, "FMU2Slave", FMU2Counting)
    FMU2Counting.alive, FMU2Counting.calls = 0, []
    yield folder
    assert FMU2Counting.alive == 0
    assert slave_module._slaves == open_before
    assert list(folder.iterdir()) == []
    assert Path.cwd() == before


def run_text(folder: Path, text: str) -> Result:
    """The run of a scenario in which PointSurface has the literal law."""
    literal("PointSurface", folder)
    path = folder / "system.toml"
    path.write_text(text, encoding="utf-8")
    return run(load_scenario(path))


def message_of(folder: Path, text: str, kind: type[InputError | SlaveError]) -> str:
    with pytest.raises(kind) as caught:
        run_text(folder, text)
    return str(caught.value)


DROP = """
connections = [ ["body.p", "floor.point"] ]
[experiment]
{experiment}
[slaves]
{slaves}
"""
SLAVES = {
    "body": 'body = {{ recipe = "PointMass", start = {{ r0 = [0, 0, {height}], v0 = [0.5, 0, 0] }} }}',
    "floor": 'floor = {{ recipe = "PointSurface", start = {{ C_F = "1e5 N/m", C_r = 0.5, K_fr = 0.3 }} }}',
}


def drop(experiment: str, order: Sequence[str] = ("body", "floor"), height: float = 0.02) -> str:
    return DROP.format(experiment=experiment, slaves="\n".join(SLAVES[n] for n in order).format(height=height))


# ---- the same numbers as an independent master -------------------------------------------------------------------


def plain_master(
    here: Path, algorithm: str, order: Sequence[str], step: float, count: int, height: float
) -> dict[str, list[float]]:
    """Two FMUs coupled by nothing but fmpy's FMU2Slave, one value at a time."""
    recipes = {"body": shipped("fmus") / "PointMass.toml", "floor": literal("PointSurface", here)}
    files = {name: host_fmu(recipe) for name, recipe in recipes.items()}
    slaves, refs = {}, {}
    for name, file in files.items():
        md = fmpy.read_model_description(str(file))
        folder = tempfile.mkdtemp()
        fmpy.extract(str(file), folder)
        library = f"{folder}/binaries/{host_platform()}/{md.modelName}{PLATFORMS[host_platform()].suffix}"
        slaves[name] = FMU2Slave(
            name, guid=md.guid, unzipDirectory=folder, modelIdentifier=md.modelName, libraryPath=library
        )
        slaves[name].instantiate()
        refs[name] = {v.name: v.valueReference for v in md.modelVariables}
    body, floor = slaves["body"], slaves["floor"]

    def set_(name: str, values: Mapping[str, float]) -> None:
        slaves[name].setReal([refs[name][v] for v in values], list(values.values()))

    motion = [f"{q}[{i}]" for q in "rv" for i in AXES]

    def read(name: str, port: str, values: Sequence[str]) -> list[float]:
        return [slaves[name].getReal([refs[name][f"{port}.{v}"]])[0] for v in values]

    set_("body", {"r0[3]": height, "v0[1]": 0.5})
    set_("floor", {"C_F": 1e5, "C_r": 0.5, "K_fr": 0.3})
    for s in slaves.values():
        s.setupExperiment(startTime=0.0, stopTime=count * step)
        s.enterInitializationMode()
    state, force = read("body", "p", motion), [0.0] * 3

    def pass_on(name: str) -> None:
        if name == "floor":
            set_("floor", {f"point.{v}": x for v, x in zip(motion, state, strict=True)})
        else:
            set_("body", {f"p.f[{i}]": x for i, x in zip(AXES, force, strict=True)})

    pass_on("floor")
    force = read("floor", "point", [f"f[{i}]" for i in AXES])
    pass_on("body")
    for s in slaves.values():
        s.exitInitializationMode()
    rows: dict[str, list[float]] = {}

    def record() -> None:
        for name, variables in (
            ("body", ["p.r[1]", "p.r[3]", "p.v[3]"]),
            ("floor", ["point.f[1]", "point.f[3]", "impulse"]),
        ):
            for v in variables:
                rows.setdefault(f"{name}.{v}", []).append(slaves[name].getReal([refs[name][v]])[0])

    record()
    for k in range(count):
        new_state, new_force = state, force
        for name in order:
            pass_on(name)
            slaves[name].doStep(k * step, step)
            if name == "body":
                new_state = read("body", "p", motion)
            else:
                new_force = read("floor", "point", [f"f[{i}]" for i in AXES])
            if algorithm == "gauss_seidel":
                state, force = new_state, new_force
        state, force = new_state, new_force
        record()
    for s in (body, floor):
        folder = Path(s.unzipDirectory)
        s.terminate()
        s.freeInstance()
        shutil.rmtree(folder)
    return rows


@pytest.mark.parametrize("order", [("body", "floor"), ("floor", "body")])
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_trace_equals_that_of_a_plain_fmpy_master_bit_for_bit(
    tmp_path: Path, algorithm: str, order: tuple[str, str]
) -> None:
    trace = run_text(tmp_path, drop(f'stop = 0.1\nstep = 1e-4\nalgorithm = "{algorithm}"', order)).trace
    expected = plain_master(tmp_path, algorithm, order, 1e-4, 1000, 0.02)
    assert trace["floor.impulse"][-1] > 0.1  # it did bounce
    for name, values in expected.items():
        assert trace[name].tolist() == values, name


def test_slave_order_matters_for_gauss_seidel_and_not_for_jacobi(tmp_path: Path) -> None:
    def force(algorithm: str, order: tuple[str, str]) -> list[float]:
        text = drop(f'stop = 0.1\nstep = 1e-4\nalgorithm = "{algorithm}"', order)
        values: list[float] = run_text(tmp_path, text).trace["floor.point.f[3]"].tolist()
        return values

    one, other = ("body", "floor"), ("floor", "body")
    assert force("jacobi", one) == force("jacobi", other)
    assert force("gauss_seidel", one) != force("gauss_seidel", other)


# ---- rows --------------------------------------------------------------------------------------------------------


def test_ten_seconds_of_milliseconds_give_10001_rows_at_start_plus_k_h(tmp_path: Path) -> None:
    fmu = foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
    trace = run_text(tmp_path, f'[experiment]\nstop = "10 s"\nstep = "1 ms"\n[slaves]\ng = "{fmu}"').trace
    assert trace.time.tolist() == [k * 0.001 for k in range(10001)]


def test_times_start_where_the_experiment_starts(tmp_path: Path) -> None:
    fmu = foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
    trace = run_text(tmp_path, f"[experiment]\nstart = -0.3\nstop = 0.4\nstep = 0.1\n[slaves]\ng = '{fmu}'").trace
    assert trace.time.tolist() == [-0.3 + k * 0.1 for k in range(8)]


@pytest.mark.parametrize(
    ("times", "last"),
    [
        ("stop = 0.02\nstep = 1e-3\noutput_step = '3 ms'", "0.018"),
        ("start = 0.1\nstop = 0.12\nstep = 1e-3\noutput_step = '50 ms'", "0.1"),
        ("stop = 0.3\nstep = 1e-3\noutput_step = '100 ms'", ""),
        ("start = 0.1\nstop = 0.8\nstep = 1e-3\noutput_step = '7 ms'", ""),
        ("stop = 0.02\nstep = 1e-3", ""),
    ],
)
def test_rows_that_end_before_the_run_are_noted(tmp_path: Path, times: str, last: str) -> None:
    result = run_text(tmp_path, drop(times))
    noted = [note for note in result.notes if "whole number of rows" in note]
    assert len(noted) == bool(last)
    assert all(note.endswith(f": the last row of the trace is that of {last} s") for note in noted)
    if last:
        assert result.trace.time[-1] == pytest.approx(float(last))


def test_output_step_thins_the_rows_and_changes_none(tmp_path: Path) -> None:
    fine = run_text(tmp_path, drop("stop = 0.08\nstep = 1e-4")).trace
    thin = run_text(tmp_path, drop("stop = 0.08\nstep = 1e-4\noutput_step = '2 ms'")).trace
    assert thin.time.tolist() == fine.time[::20].tolist()
    assert thin.values.tolist() == fine.values[::20].tolist()


def test_only_the_signals_that_are_asked_for_are_recorded_and_they_have_the_same_bits(tmp_path: Path) -> None:
    whole = run_text(tmp_path, drop("stop = 0.01\nstep = 1e-4")).trace
    chosen = 'stop = 0.01\nstep = 1e-4\nrecord = ["body.p.r[3]", "floor.energy.*", "floor.in_contact"]'
    part = run_text(tmp_path, drop(chosen)).trace
    energies = {name for name in whole.names if name.startswith("floor.energy.")}
    assert set(part.names) == {"body.p.r[3]", "floor.in_contact"} | energies and len(energies) > 3
    for name in part.names:
        np.testing.assert_array_equal(part[name], whole[name])


def test_a_run_tells_what_build_warns_of_in_a_recipe(tmp_path: Path) -> None:
    (tmp_path / "Pad.toml").write_text(
        'element = "point_surface"\n[surface]\nkind = "plane"\n[functions]\nF_fr = "-0.3*#N*tanh(#v/1[mm/s])"\n'
    )
    found = run_text(tmp_path, '[experiment]\nstop = 1e-3\nstep = 1e-3\n[slaves]\na = "Pad"\nb = "Pad"\n')
    (warning,) = [note for note in found.notes if "pulls" in note]
    assert warning.startswith("Pad: [functions] F_fr = -")


def test_a_pattern_that_names_no_signal_is_refused(tmp_path: Path) -> None:
    wrong = 'stop = 0.01\nstep = 1e-4\nrecord = ["body.p.r[4]", "floor.energie*"]'
    message = message_of(tmp_path, drop(wrong), InputError)
    assert "[experiment] record: 'body.p.r[4]' names no signal; did you mean 'body.p.r[" in message
    assert "'floor.energie*' names no signal" in message


def test_a_pattern_that_may_name_a_signal_of_a_faulty_slave_is_not_judged(tmp_path: Path) -> None:
    (tmp_path / "Flat.toml").write_text('element = "point_surface"\n[surface]\nkind = "plan"\n')
    record = 'record = ["car.hub", "*.touch", "body.x"]'
    slaves = '[slaves]\nbody = "SliderMass"\ncar = "Flat"'
    message = message_of(tmp_path, f"[experiment]\nstop = 1\nstep = 0.1\n{record}\n{slaves}", InputError)
    assert "[slaves] car: " in message and "record: 'body.x' names no signal" in message
    assert "car.hub" not in message and "touch" not in message


def test_progress_rises_from_0_to_1(tmp_path: Path) -> None:
    fmu = foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
    heard: list[float] = []
    run(fmu, progress=heard.append)
    assert heard[0] == 0.0 and heard[-1] == 1.0 and heard == sorted(heard)


# ---- notes -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_contact_inside_of_a_slave_that_a_moving_surface_makes_faster_gets_no_note(tmp_path: Path) -> None:
    result = run_text(
        tmp_path,
        """
        connections = [["ball.p", "table.point"], ["shaker.port", "table.surface"]]
        free_moment = true
        [experiment]
        stop = 0.45
        step = 1e-3
        [parts]
        ball = { recipe = "PointMass", start = { r0 = [0, 0, -9.81e-5] } }
        table = { recipe = "PointSurface", start = { C_F = 1e5, C_r = 0.5, K_fr = 0 } }
        shaker = { recipe = "PrescribedMotion", start = { "amplitude[3]" = 0.003, "frequency[3]" = 20 } }
        """,
    )
    assert max(contact.restitution or 0.0 for contact in result.contacts) > 1.5
    assert not result.notes


# ---- units -------------------------------------------------------------------------------------------------------


def in_unit(folder: Path, name: str, unit: str, base: str) -> Path:
    """An FMU y = u, both in a unit that it defines."""
    variables = tuple(replace(v, unit=unit) if v.name in "uy" else v for v in GAIN)
    text = model_description(name, variables, "g0--", bases={unit: base})
    return foreign_fmu(folder, name, variables, "g0--", description=text)


@pytest.mark.parametrize(
    ("given", "first", "last"),
    [
        ('start = { u = "2 m" }', 2000.0, 2000.0),
        ('start = { u = "2 mm" }', 2.0, 2.0),
        ("start = { u = 2 }", 2000.0, 2000.0),
        ('drive = "2[m]*#t/1[s]"', 0.0, 4.0),
        ("drive = { time = [0, 0.002], value = [1, 3] }", 1000.0, 3000.0),
    ],
)
def test_values_are_given_in_si_and_reach_an_fmu_in_its_own_unit(
    tmp_path: Path, given: str, first: float, last: float
) -> None:
    fmu = in_unit(tmp_path, "Gain", "mm", 'm="1" factor="0.001"')
    key, _, value = given.partition(" = ")
    start = f", start = {value}" if key == "start" else ""
    drive = f'[drive]\n"g.u" = {value}\n' if key == "drive" else ""
    text = f"[experiment]\nstop = 0.003\nstep = 0.001\n{drive}[slaves]\ng = {{ recipe = '{fmu}'{start} }}"
    y = run_text(tmp_path, text).trace["g.y"]
    assert (y[0], y[-1]) == pytest.approx((first, last), rel=1e-14)


def test_a_temperature_is_set_with_the_offset_of_its_unit(tmp_path: Path) -> None:
    fmu = in_unit(tmp_path, "Gain", "degC", 'K="1" offset="273.15"')
    text = f"[experiment]\nstop = 0.002\nstep = 0.001\n[slaves]\ng = {{ recipe = '{fmu}', start = {{ u = '300 K' }} }}"
    assert run_text(tmp_path, text).trace["g.y"][-1] == pytest.approx(26.85, rel=1e-12)


# ---- sums --------------------------------------------------------------------------------------------------------


def floors(count: int, stiffness: float) -> str:
    names = [f"floor{i}" for i in range(count)]
    connections = ", ".join(f'["body.p", "{n}.point"]' for n in names)
    slaves = "".join(
        f'{n} = {{ recipe = "PointSurface", start = {{ C_F = {stiffness}, C_r = 1, K_fr = 0 }} }}\n' for n in names
    )
    return f"""
        connections = [ {connections} ]
        [experiment]
        stop = 0.1
        step = 1e-4
        [slaves]
        body = {{ recipe = "PointMass", start = {{ "r0[3]" = 0.02 }} }}
        {slaves}"""


def test_two_floors_act_like_one_of_twice_the_stiffness(tmp_path: Path) -> None:
    two, one = run_text(tmp_path, floors(2, 5e4)).trace, run_text(tmp_path, floors(1, 1e5)).trace
    assert one["floor0.impulse"][-1] > 0.1
    assert two["body.p.r[3]"].tolist() == one["body.p.r[3]"].tolist()  # f + f is exact in binary


def test_three_floors_act_like_one_of_three_times_the_stiffness(tmp_path: Path) -> None:
    three, one = run_text(tmp_path, floors(3, 4e4)).trace, run_text(tmp_path, floors(1, 1.2e5)).trace
    np.testing.assert_allclose(three["body.p.r[3]"], one["body.p.r[3]"], rtol=0, atol=1e-12)  # rounding of f + f + f


# ---- initial exchange --------------------------------------------------------------------------------------------


def test_row_0_shows_the_force_of_the_start_position(tmp_path: Path) -> None:
    for order in (("body", "floor"), ("floor", "body")):
        trace = run_text(tmp_path, drop("stop = 1e-3\nstep = 1e-4", order, height=-1e-3)).trace
        assert trace["floor.depth"][0] == 1e-3
        assert trace["floor.elastic_force"][0] == 1e5 * 1e-3
        assert trace["floor.point.f[3]"][0] == trace["floor.normal_force"][0]


def gains(folder: Path, order: Sequence[int], wires: Sequence[tuple[int, int]], a: Mapping[int, float]) -> str:
    """Slaves g<i> with y = a u + 1, listed in `order`; `wires` are pairs (from, to)."""
    fmu = foreign_fmu(folder, "Gain", GAIN, "g0--")
    connections = ", ".join(f'["g{i}.y", "g{j}.u"]' for i, j in wires)
    slaves = "".join(f"g{i} = {{ recipe = '{fmu}', start = {{ a = {a[i]!r}, b = 1 }} }}\n" for i in order)
    return f"connections = [ {connections} ]\n[experiment]\nstop = 1e-3\nstep = 1e-3\n[slaves]\n{slaves}"


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_a_chain_is_consistent_at_row_0_in_any_order_of_listing(tmp_path: Path, order: tuple[int, ...]) -> None:
    a = {0: 2.0, 1: -3.0, 2: 0.5, 3: 7.0}
    trace = run_text(tmp_path, gains(tmp_path, order, [(0, 1), (1, 2), (2, 3)], a)).trace
    y = 1.0
    for i in range(4):
        assert trace[f"g{i}.y"][0] == y
        y = a[min(i + 1, 3)] * y + 1.0


@pytest.mark.parametrize(("a0", "a1"), [(0.5, 0.5), (-0.9, 0.9), (0.99, 0.99), (3.0, 0.1), (0.0, 0.7)])
def test_an_algebraic_loop_is_solved_to_1e_10(tmp_path: Path, a0: float, a1: float) -> None:
    # a feeder 2 before the loop 0 <-> 1, and a slave 3 behind it, all listed the wrong way round
    text = gains(tmp_path, [3, 1, 0, 2], [(0, 1), (1, 0), (1, 3)], {0: a0, 1: a1, 2: 1.0, 3: 2.0})
    trace = run_text(tmp_path, text).trace
    y0 = (a0 + 1.0) / (1.0 - a0 * a1)
    assert trace["g0.y"][0] == pytest.approx(y0, rel=1e-10)
    assert trace["g1.y"][0] == pytest.approx(a1 * y0 + 1.0, rel=1e-10)
    assert trace["g3.y"][0] == pytest.approx(2.0 * (a1 * y0 + 1.0) + 1.0, rel=1e-10)


@pytest.mark.parametrize("a", [1.0, -1.0, 2.0, 1e9])
def test_a_loop_without_a_fixed_point_is_refused_naming_its_path(tmp_path: Path, a: float) -> None:
    text = gains(tmp_path, [0, 1, 2], [(0, 1), (1, 2), (2, 0)], {0: a, 1: 1.0, 2: 1.0})
    message = message_of(tmp_path, text, InputError)
    assert "system.toml: connections" in message
    path = message.split("loop ")[1].split(" have ")[0].split(" -> ")
    assert path[0] == path[-1] and set(path) == {"g0.y", "g1.y", "g2.y"}
    assert path in [
        ["g0.y", "g1.y", "g2.y", "g0.y"],
        ["g1.y", "g2.y", "g0.y", "g1.y"],
        ["g2.y", "g0.y", "g1.y", "g2.y"],
    ]


# ---- drives ------------------------------------------------------------------------------------------------------

FLOOR = """
[experiment]
stop = {stop}
step = {step}
[slaves]
floor = {{ recipe = "PointSurface", start = {{ C_F = 1e5, C_r = 1.0, K_fr = 0 }} }}
[drive]
{drive}
"""


def floor(folder: Path, drive: str, stop: float = 1.0, step: float = 0.1) -> Trace:
    return run_text(folder, FLOOR.format(stop=stop, step=step, drive=drive)).trace


def test_a_driven_position_drives_its_velocity_with_the_exact_slope(tmp_path: Path) -> None:
    trace = floor(tmp_path, '"floor.point.r[3]" = { time = [0.2, 0.4, 0.8], value = [0.0, -0.002, -0.001] }')
    sent = trace["floor.distance"]  # of the inputs as set at the start of each step: one row late
    assert sent[0] == 0.0
    for k in range(10):
        assert sent[k + 1] == pytest.approx(np.interp(0.1 * k, [0.2, 0.4, 0.8], [0, -0.002, -0.001]), abs=1e-17)
    slope = [0.0, 0.0, -0.002 / 0.2, -0.002 / 0.2, 0.001 / 0.4, 0.001 / 0.4, 0.001 / 0.4, 0.001 / 0.4, 0.0, 0.0]
    np.testing.assert_allclose(trace["floor.depth_rate"][1:], -np.array(slope), rtol=1e-12, atol=0)


@pytest.mark.slow
def test_a_jump_of_a_drive_falls_on_its_step_whatever_the_rounding(tmp_path: Path) -> None:
    assert 3 * 0.1 > 0.3 and 3 * 0.3 < 0.9  # rounding goes either way
    for step in (0.1, 0.3):
        for jump in range(1, 10):
            at = round(jump * step, 1)
            table = f"{{ time = [0, {at}, {at}, 5], value = [0, 0, -0.001, -0.001] }}"
            trace = floor(tmp_path, f'"floor.point.r[3]" = {table}', stop=10 * step, step=step)
            assert (trace["floor.depth"] > 0).tolist() == [k > jump for k in range(11)], at


def test_a_velocity_that_is_driven_itself_keeps_its_own_table(tmp_path: Path) -> None:
    trace = floor(tmp_path, '"floor.point.r[3]" = { time = [0, 1], value = [1, 2] }\n"floor.point.v[3]" = 5.0')
    assert set(trace["floor.depth_rate"]) == {-5.0}


def test_constants_hold_and_booleans_switch(tmp_path: Path) -> None:
    drive = '"floor.point.r[3]" = -0.001\n"floor.work" = { time = [0, 0.3, 0.6], value = [true, false, true] }'
    trace = floor(tmp_path, drive)
    on = [True] + [not 3 <= k < 6 for k in range(10)]
    assert trace["floor.elastic_force"].tolist() == [100.0 * x for x in on]


def test_a_drive_outside_of_the_run_is_a_note(tmp_path: Path) -> None:
    table = '[drive]\n"floor.surface.r[1]" = {{ time = [{}], value = [0, 0.1] }}\n'
    path = tmp_path / "late.toml"
    for times, said in (("5, 6", ["covers 5 s to 6 s, and the run 0 s to 0.01 s"]), ("0, 0.005", []), ("0.005, 6", [])):
        path.write_text(drop('stop = "10 ms"\nstep = "1 ms"') + table.format(times))
        notes = [note for note in run(path).notes if "covers" in note]
        assert len(notes) == len(said) and all(map(str.__contains__, notes, said))


def test_a_drive_from_a_file_equals_the_same_table_in_place(tmp_path: Path) -> None:
    (tmp_path / "motion.csv").write_text('"time","z"\n0,0\n0.5,-0.002\n1,0\n', encoding="utf-8")
    (tmp_path / "switch.csv").write_text('"time","on"\n0,1\n0.5,0\n', encoding="utf-8")
    of_files = '"floor.point.r[3]" = { table = "motion.csv" }\n"floor.work" = { table = "switch.csv" }'
    in_place = (
        '"floor.point.r[3]" = { time = [0, 0.5, 1], value = [0, -0.002, 0] }\n'
        '"floor.work" = { time = [0, 0.5], value = [true, false] }'
    )
    one, other = floor(tmp_path, of_files), floor(tmp_path, in_place)
    assert one["floor.depth"].max() > 1e-3
    assert one.values.tolist() == other.values.tolist()


def test_a_drive_from_a_file_is_in_the_unit_that_its_column_names(tmp_path: Path) -> None:
    for header in ("time [s],z [mm]", "time (s),z (mm)", "t / s,z / mm", "t[s],z[mm]"):
        (tmp_path / "motion.csv").write_text(f"{header}\n0,0\n0.5,-2\n1,0\n", encoding="utf-8")
        z = floor(tmp_path, '"floor.point.r[3]" = { table = "motion.csv" }')["floor.distance"]
        assert z.min() == pytest.approx(-2e-3, rel=1e-12)
    (tmp_path / "motion.csv").write_text("time,z [kN]\n0,0\n1,0\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"column 'z \[kN\]' is for point.r\[3\], which is in m"):
        floor(tmp_path, '"floor.point.r[3]" = { table = "motion.csv" }')
    (tmp_path / "motion.csv").write_text("time [ms],z\n0,0\n1000,0\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"'time \[ms\]' must be the time in s; convert it$"):
        floor(tmp_path, '"floor.point.r[3]" = { table = "motion.csv" }')


def test_a_tunable_parameter_can_be_driven(tmp_path: Path) -> None:
    trace = floor(tmp_path, '"floor.point.r[3]" = -0.001\n"floor.C_F" = { time = [0, 1], value = [1e5, 2e5] }')
    np.testing.assert_allclose(trace["floor.elastic_force"][1:], 100.0 + 10.0 * np.arange(10), rtol=1e-12)


@pytest.mark.parametrize(
    ("C_F", "said"),
    [
        ('"10[N/m] - 200[N/m/s]*#t"', r"has the value -0.2 N/m at t = 0.051 s; C_F must be at least 0 N/m$"),
        ("{ time = [0, 0.5, 3], value = [1, -1, 1] }", r"has the value -0.004 N/m at t = 0.251 s"),
        ("{ time = [0, 1, 3], value = [1, 0.5, -1] }", ""),  # behind the run
    ],
)
def test_a_drive_that_leaves_the_range_of_its_variable_is_refused_before_the_run(
    tmp_path: Path, C_F: str, said: str
) -> None:
    drive = f'"floor.point.r[3]" = -0.001\n"floor.C_F" = {C_F}\n"floor.bouncy" = 1'
    with pytest.raises(InputError) as caught:
        floor(tmp_path, drive)
    problems = [str(problem) for problem in caught.value.problems]
    assert "[drive] floor.bouncy" in problems[-1]
    assert len(problems) == 1 + bool(said)
    assert not said or re.search(rf"\[drive\] floor.C_F: {said}", problems[0])


def test_strict_bounds_are_bounds_of_drives_and_of_start_values(tmp_path: Path) -> None:
    """modelDescription.xml has no place for them, and the FMU refuses them only where a step needs the value."""
    with pytest.raises(InputError, match=r"floor.k_E: has the value 1 at t = 0.5 s; k_E must be less than 1$"):
        floor(tmp_path, '"floor.point.r[3]" = -0.001\n"floor.k_E" = { time = [0, 0.5], value = [0, 1] }')
    slaves = '[slaves]\nfloor = { recipe = "PointSurface", start = { D_max = 0 } }\n'
    text = f"[experiment]\nstop = 1\nstep = 0.1\n{slaves}"
    (tmp_path / "strict.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"start D_max: 0 m is refused: D_max must be greater than 0 m$"):
        run(tmp_path / "strict.toml")


def test_a_driven_law_drives_the_velocity_with_its_exact_derivative(tmp_path: Path) -> None:
    law = "t < 0.45[s] -> -2[mm]*sin(2*PI*#t/1[s])^2, -1[mm] - 1[mm/s]*(#t - 0.45[s])"
    trace = floor(tmp_path, f'"floor.point.r[3]" = "{law}"', step=0.05)
    t = 0.05 * np.arange(20)
    wave = -0.002 * np.sin(2 * np.pi * t) ** 2
    expected = np.where(t < 0.45, wave, -0.001 - 0.001 * (t - 0.45))
    slope = np.where(t < 0.45, -0.002 * 2 * np.pi * np.sin(4 * np.pi * t), -0.001)
    np.testing.assert_allclose(trace["floor.distance"][1:], expected, rtol=1e-13, atol=1e-18)
    np.testing.assert_allclose(trace["floor.depth_rate"][1:], -slope, rtol=1e-12, atol=1e-17)


TURNING = """
connections = [["body.p", "floor.point"]]
[experiment]
stop = "1 s"
step = "1 ms"
[slaves]
body = {{ recipe = "PointMass", start = {{ r0 = ["0.1 m", 0, "-0.1 mm"] }} }}
floor = {{ recipe = "PointSurface", start = {{ K_fr = 0.5, "surface.q[2]" = 0.25 }} }}
[drive]
{drive}
"""


def test_a_driven_orientation_drives_the_angular_velocity_of_any_length_of_the_quaternion(tmp_path: Path) -> None:
    """Points that turn with the frame move as differences of their positions say; q[2] is a start value."""
    path = tmp_path / "turning.toml"
    laws = ("1.2*cos(0.7*#t/1[s])", "0.3 + (#t/1[s])^2", "sin(0.5*#t/1[s])")
    drive = "\n".join(f'"floor.surface.q[{i}]" = "{law}"' for i, law in zip((1, 3, 4), laws, strict=True))
    path.write_text(TURNING.format(drive=drive), encoding="utf-8")
    signals = {one.node[1]: one for one in system_of(load_scenario(path)).signals}

    def rotation(t: float) -> NDArray[np.float64]:
        q = np.array(
            [signals["surface.q[1]"].at(t), 0.25, signals["surface.q[3]"].at(t), signals["surface.q[4]"].at(t)]
        )
        return Rotation.from_quat(q, scalar_first=True).as_matrix()

    for t in (0.0, 0.4, 0.9):
        slope = (rotation(t + 1e-5) - rotation(t - 1e-5)) / 2e-5
        w = [signals[f"surface.w[{i}]"].at(t) for i in (1, 2, 3)]
        for point in np.eye(3):
            np.testing.assert_allclose(np.cross(w, rotation(t) @ point), slope @ point, atol=1e-9)


def test_friction_carries_a_mass_along_on_a_driven_turntable(tmp_path: Path) -> None:
    drive = '"floor.surface.q[1]" = "cos(0.5*#t/1[s])"\n"floor.surface.q[4]" = "sin(0.5*#t/1[s])"'
    trace = run_text(tmp_path, TURNING.format(drive=drive).replace(', "surface.q[2]" = 0.25', "")).trace
    assert np.max(trace["body.p.v[2]"]) == pytest.approx(0.1, rel=0.02)  # 1 rad/s at 0.1 m


def test_an_orientation_by_points_needs_its_angular_velocity_driven_too(tmp_path: Path) -> None:
    points = '"floor.surface.q[4]" = { time = [0, 1], value = [0, 1] }\n'
    wanted = (
        r"q\[4\]: points of an orientation give no angular velocity; .* drive it too: floor.surface.w\[1\], .*w\[2\]"
    )
    with pytest.raises(InputError, match=wanted):
        run_text(tmp_path, TURNING.format(drive=points + '"floor.surface.w[3]" = 1'))
    both = points + "".join(f'"floor.surface.w[{i}]" = 0\n' for i in (1, 2, 3))
    assert len(run_text(tmp_path, TURNING.format(drive=both)).trace.time) == 1001


def test_times_of_a_law_off_the_grid_of_steps_are_served_too() -> None:
    law = read_value("2[m]*(#t/1[s])^2", "", {"t": parse_unit("s")}, parse_unit("m"))
    signal = LawSignal(("a", "b"), SlaveVariable("b", 0, "Real", "input", "", None, "m", None, None), law, 0.5, 0.1)
    for t in (0.5, 0.5 + 3 * 0.1, 0.777, 0.2, 0.5 + 5000 * 0.1):
        assert signal.at(t) == pytest.approx(2.0 * t * t, rel=1e-15)
        assert signal.slope(("a", "c"), signal.variable).at(t) == pytest.approx(4.0 * t, rel=1e-15)


def test_wrong_drives_are_all_refused_with_their_reasons(tmp_path: Path) -> None:
    (tmp_path / "two.csv").write_text("time,a,b\n0,1,2\n", encoding="utf-8")
    text = """
        connections = [ ["body.p", "floor.point"] ]
        [experiment]
        stop = 1
        step = 0.1
        [slaves]
        body = "PointMass"
        floor = "PointSurface"
        [drive]
        "floor.point.r[3]" = 0.0
        "floor.werk" = true
        "floor.work" = 0.5
        "floor.C_F" = true
        "body.r0[1]" = 1.0
        "floor.depth" = 1.0
        "floor.surface.r[1]" = { table = "none.csv" }
        "floor.surface.r[2]" = { table = "two.csv" }
        "floor.surface.r[3]" = "1[mm]*sin(2*PI*t)"
        "floor.surface.v[1]" = "1[mm]*sin(t/1[s])"
        "floor.surface.v[2]" = "1[mm/s]/(t/1[s] - 0.5)"
        "floor.surface.w[1]" = "1[rad/s]*sin("
        """
    lines = [line for line in message_of(tmp_path, text, InputError).splitlines() if not line.startswith("    ")]
    wanted = {
        "surface.r[3]": "sin takes a number without unit, not s",
        "surface.v[1]": "the expression has the dimension m, m/s is needed",
        "surface.v[2]": "has no finite value at t = 0.5 s",
        "surface.w[1]": "the text ends; expected",
        "werk": "did you mean 'floor.work'?",
        "work": "0.5 must be true or false",
        "C_F": "true must be a number",
        "r0[1]": "fixed parameter",
        "depth": "output",
        "surface.r[1]": "none.csv",
        "surface.r[2]": "2 columns",
        "point.r[3]": "connected to body.p.r[3]",
    }
    assert len(lines) == len(wanted)
    for key, words in wanted.items():
        assert [line for line in lines if f".{key}: " in line and "[drive]" in line and words in line], (key, lines)


# ---- start values ------------------------------------------------------------------------------------------------


def test_start_values_have_units_vectors_and_all_types(tmp_path: Path) -> None:
    fmu = foreign_fmu(tmp_path, "Spring")
    text = f"""
        [experiment]
        stop = 1e-3
        step = 1e-3
        [slaves.s]
        recipe = '{fmu}'
        [slaves.s.start]
        r0 = ["1 mm", 0.5, "-2 cm"]
        m = "500 g"
        mode = "loaded"
        on = false
        label = "left"
        count = 7
        """
    done = run_text(tmp_path, text)
    trace = done.trace
    assert [trace[f"s.p.r[{i}]"][0] for i in AXES] == [0.001, 0.5, -0.02]
    assert trace["s.state"].tolist() == [2.0, 2.0]
    assert trace["s.moving"].tolist() == [0.0, 0.0]
    assert trace["s.steps"].tolist() == [0.0, 1.0]
    assert trace.units["s.p.v[1]"] == "m/s"
    assert [entry.text for entry in done.log] == ["the label is now left"]


def test_start_values_of_inputs_wait_for_initialization_mode(tmp_path: Path) -> None:
    fmu = foreign_fmu(tmp_path, "Gain", GAIN, "g0--")  # refuses inputs before it
    text = f"[experiment]\nstop = 1e-3\nstep = 1e-3\n[slaves.g]\nrecipe = '{fmu}'\nstart = {{ u = 3, a = 2, b = 0.5 }}"
    assert run_text(tmp_path, text).trace["g.y"].tolist() == [6.5, 6.5]


def test_wrong_start_values_are_all_refused_with_their_reasons(tmp_path: Path) -> None:
    fmu = foreign_fmu(tmp_path, "Spring")
    text = f"""
        [experiment]
        stop = 1
        step = 0.1
        [slaves]
        s = {{ recipe = '{fmu}', start = {{ "p.r[1]" = 1, count = 1.5, mode = "lauded", on = 1, k = true }} }}
        t = {{ recipe = '{fmu}', start = {{ label = 3, mode = true }} }}
        [slaves.floor]
        recipe = "PointSurface"
        [slaves.floor.start]
        C_F = "1e5 N"
        C_rr = 0.5
        work = "yes"
        [slaves.body]
        recipe = "PointMass"
        start = {{ r0 = [1, 2], v0 = 3, g = "down" }}
        """
    lines = message_of(tmp_path, text, InputError).splitlines()
    wanted = {
        "s start p.r[1]": "the FMU computes it",
        "s start count": "1.5 must be a whole number",
        "s start mode": "did you mean 'loaded'?",
        "s start on": "1 must be true or false",
        "t start label": "3 must be a text",
        "t start mode": "true is none of ",
        "s start k": "true must be a number",
        "floor start C_F": "N/m",
        "floor start C_rr": "did you mean 'C_r'?",
        "floor start work": "'yes' must be true or false",
        "body start r0": "3 values needed, 2 given",
        "body start v0": "3 values needed, 1 given",
        "body start g": "3 values needed, 1 given",
    }
    assert len(lines) == len(wanted)
    for key, words in wanted.items():
        assert [x for x in lines if re.search(rf"system.toml: \[slaves\] {re.escape(key)}(:| =) ", x) and words in x], (
            key
        )


def test_integers_beyond_32_bits_are_refused_as_start_values_and_drives(tmp_path: Path) -> None:
    fmu = foreign_fmu(tmp_path, "Spring")
    text = f"[experiment]\nstop = 1\nstep = 0.1\n[slaves.s]\nrecipe = '{fmu}'\n"
    (tmp_path / "up.csv").write_text("time,a\n0,1\n1,2147483648\n", encoding="utf-8")
    for given, where, value in (
        ("start = { count = 3000000000 }", "[slaves] s start count", "3000000000"),
        ("start = { count = -2147483649 }", "[slaves] s start count", "-2147483649"),
        ('[drive]\n"s.count" = 3e9', "[drive] s.count", "3000000000"),
        ('[drive]\n"s.count" = { time = [0, 1], value = [0, 1e30] }', "[drive] s.count", "1"),
        ('[drive]\n"s.count" = { table = "up.csv" }', "[drive] s.count", "2147483648"),
    ):
        said = message_of(tmp_path, text + given, InputError)
        assert f"system.toml: {where}: {value}" in said
        assert said.endswith(" must be a whole number of 32 bits, from -2147483648 to 2147483647")
    run_text(tmp_path, text + 'start = { count = -2147483648 }\n[drive]\n"s.count" = 2147483647')


def test_start_values_that_the_fmus_refuse_are_told_with_their_place(tmp_path: Path) -> None:
    fmu = foreign_fmu(tmp_path, "Spring")
    text = f"""
        [experiment]
        stop = 1
        step = 0.1
        [slaves]
        s = {{ recipe = '{fmu}', start = {{ m = -2 }} }}
        floor = {{ recipe = "PointSurface", start = {{ C_F = -1, C_r = 2 }} }}
        """
    lines = message_of(tmp_path, text, InputError).splitlines()
    assert len(lines) == 3
    assert "[slaves] s start m" in lines[0] and "m = -2 kg must be above 0" in lines[0]
    assert "[slaves] floor start C_F" in lines[1] and "-1" in lines[1] and "N/m" in lines[1]
    assert "[slaves] floor start C_r" in lines[2]


def test_a_start_value_on_a_strict_bound_is_an_error_of_the_input_as_one_beyond_it(tmp_path: Path) -> None:
    text = """
        [experiment]
        stop = 1
        step = 0.1
        [slaves]
        body = { recipe = "PointMass", start = { m = "0 g" } }
        floor = { recipe = "PointSurface", start = { C_F = -1, k_E = 1, D_max = "0 mm", C_r = 1 } }
        """
    lines = message_of(tmp_path, text, InputError).splitlines()
    assert len(lines) == 4
    assert lines[0].endswith("system.toml: [slaves] body start m: 0 kg is refused: m must be greater than 0 kg")
    assert "[slaves] floor start C_F: the FMU refuses it" in lines[1]
    assert lines[2].endswith("[slaves] floor start k_E: 1 is refused: k_E must be less than 1")
    assert lines[3].endswith("[slaves] floor start D_max: 0 m is refused: D_max must be greater than 0 m")


def test_what_fmus_of_ours_refuse_at_the_end_of_initialization_is_an_error_of_the_input(tmp_path: Path) -> None:
    """FMUs that are built already show no strict bound: they refuse the bound itself, and name all rules at once."""
    for name in ("PointMass", "PointSurface"):
        shutil.copy(host_fmu(shipped("fmus") / f"{name}.toml"), tmp_path / f"{name}.fmu")
    text = """
        [experiment]
        stop = 1
        step = 0.1
        [slaves]
        body = { recipe = "PointMass.fmu", start = { m = "0 g", g = [0, 0, 0] } }
        floor = { recipe = "PointSurface.fmu", start = { k_E = 1, D_max = "0 mm", C_r = 1 } }
        """
    first, *others = message_of(tmp_path, text, InputError).splitlines()
    assert first.endswith("system.toml: [slaves] body start m: m = 0 kg: it must be greater than 0 kg")
    assert sorted(line.partition("[slaves] ")[2] for line in others) == [
        "floor start D_max: D_max = 0 m: it must be greater than 0 m",
        "floor start k_E: k_E = 1: it must be less than 1",
    ]


def test_a_pose_that_a_guide_refuses_is_an_error_of_the_input(tmp_path: Path) -> None:
    """A body turns the line that it carries into VectorFr1: the guide's recipe cannot know."""
    (tmp_path / "Rail.toml").write_text(
        'element = "point_line_2"\n[line]\npoints = [[0, 0, 0], [1, 0, 0], [2, 0, 0]]\n[structure]\ncoupling = false\n'
        "[start]\nVectorFr1 = [0, 1, 0]\nVectorFr2 = [0, 0, 1]\n"
    )
    text = """
        connections = [["carrier.frame", "rail.body[1]"]]
        [experiment]
        stop = 1
        step = 0.1
        [slaves]
        carrier = { recipe = "RigidBody", start = { q0 = [0.7071067811865476, 0, 0, 0.7071067811865476] } }
        rail = { recipe = "Rail", start = { "point.r" = [0, 1, 0], VectorFr1 = [0, 2, 0] } }
        """
    (line,) = message_of(tmp_path, text, InputError).splitlines()
    assert "system.toml: [slaves] rail start VectorFr1: VectorFr1 = (0, 2, 0) points along the line: the sine" in line


def test_a_foreign_fmu_that_fails_in_its_initialization_is_no_error_of_the_input(tmp_path: Path) -> None:
    foreign_fmu(tmp_path, "Stuck", BODY)
    text = """
        [experiment]
        stop = 0.01
        step = 0.001
        [slaves]
        body = { recipe = "Stuck.fmu", start = { k = -1 } }
        """
    assert "body: fmi2ExitInitializationMode answered fmi2Error" in message_of(tmp_path, text, SlaveError)


# ---- foreign slaves, single slaves, notes ------------------------------------------------------------------------


@pytest.mark.parametrize("variables", [BODY, without_units(BODY)], ids=["units", "no units"])
def test_a_foreign_body_bounces_on_our_floor(tmp_path: Path, variables: Sequence[Any]) -> None:
    fmu = foreign_fmu(tmp_path, "Spring", variables)
    text = f"""
        connections = [ ["body.p", "floor.point"] ]
        [experiment]
        stop = 0.1
        step = 1e-5
        output_step = 1e-3
        [slaves]
        body = {{ recipe = '{fmu}', start = {{ k = 1e3, "r0[3]" = 0.01 }} }}
        floor = {{ recipe = "PointSurface", start = {{ C_F = 1e6, C_r = 1, K_fr = 0 }} }}
        """
    trace = run_text(tmp_path, text).trace
    # released at 10 mm it meets the floor at z = 0 after a quarter period, with v = -r0 sqrt(k/m)
    assert trace.events["floor.touch[1]"] == pytest.approx(np.pi / 2 / np.sqrt(1e3), rel=1e-3)
    # in contact both springs act; it leaves with the speed it came with: impulse = 2 m v - (part of the soft spring)
    assert trace["body.p.v[3]"].max() == pytest.approx(0.01 * np.sqrt(1e3), rel=0.02)
    assert trace["floor.depth"].max() < 1e-3


@pytest.mark.parametrize("what", ["fmu", "recipe"])
def test_a_single_fmu_or_recipe_runs_its_default_experiment(tmp_path: Path, what: str) -> None:
    recipe = shipped("fmus") / "PointMass.toml"
    trace = run(host_fmu(recipe) if what == "fmu" else recipe).trace
    assert len(trace.time) == 1001 and trace.time[-1] == 1.0
    assert trace["fmu.p.r[3]"][-1] == pytest.approx(-9.81 / 2, rel=1e-9)


def test_a_recipe_whose_text_speaks_of_slaves_is_no_scenario(tmp_path: Path) -> None:
    recipe = tmp_path / "Mass.toml"
    recipe.write_text('element = "point_mass"\ndescription = "one of the slaves"\n', encoding="utf-8")
    assert list(load_scenario(recipe).slaves) == ["fmu"]


def test_a_run_names_the_motion_that_nobody_gives(tmp_path: Path) -> None:
    notes = run_text(tmp_path, drop("stop = 1e-3\nstep = 1e-5")).notes
    assert len(notes) == 1 and "floor.surface" in notes[0] and "fixed to the ground" in notes[0]


def test_a_run_names_the_contact_to_which_the_held_force_gives_the_most_energy(tmp_path: Path) -> None:
    """Ten steps a contact under Jacobi: the speed should halve, and grows; at 744 nothing is to be said."""
    coarse = drop("stop = 0.5\nstep = 1e-3\nalgorithm = 'jacobi'")
    done = run_text(tmp_path, coarse)
    found = {value: name for name, value in done.trace.events.items() if name.startswith("floor.restitution")}
    worst = max(found)
    number = found[worst].removeprefix("floor.restitution[").removesuffix("]")
    assert worst > 1.05 and len(found) > 1
    assert any(f"floor: contact {number} ends {worst:.3g} times as fast" in note for note in done.notes)
    fine = run_text(tmp_path, drop("stop = 0.16\nstep = 1e-5"))
    assert fine.trace.events["floor.restitution[1]"] < 1.0 and len(fine.notes) == 1


def test_provenance_names_models_algorithm_and_step(tmp_path: Path) -> None:
    provenance = run_text(tmp_path, drop("stop = 1e-3\nstep = 1e-4\nalgorithm = 'jacobi'")).trace.provenance
    assert provenance["algorithm"] == "jacobi" and provenance["step"] == 1e-4
    slaves: Any = provenance["slaves"]
    assert slaves["floor"]["model"] == "PointSurface" and slaves["floor"]["guid"].startswith("{")


# ---- slaves that fail --------------------------------------------------------------------------------------------


def stuck(folder: Path, guid: str, algorithm: str = "gauss_seidel", stop: float = 0.02) -> str:
    fmu = foreign_fmu(folder, "Spring", BODY, guid)
    return f"""
        connections = [ ["body.p", "floor.point"] ]
        [experiment]
        stop = {stop}
        step = 1e-3
        algorithm = "{algorithm}"
        [slaves]
        floor = "PointSurface"
        body = {{ recipe = '{fmu}', start = {{ "r0[3]" = 1.0 }} }}
        """


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
@pytest.mark.parametrize(
    ("digit", "answer"),
    [("2", "fmi2Discard"), ("3", "fmi2Error"), ("4", "fmi2Fatal"), ("5", "fmi2Pending"), ("7", "undefined status 7")],
)
def test_a_failed_step_names_slave_status_time_and_what_was_logged(
    tmp_path: Path, digit: str, answer: str, algorithm: str
) -> None:
    message = message_of(tmp_path, stuck(tmp_path, f"b{digit}--", algorithm), SlaveError)
    assert message.startswith("body: fmi2DoStep answered ")
    assert answer in message and "step of 0.001 s from 0.005 s" in message
    assert "step 5 from 0.005 s: the valve is stuck" in message  # printf arguments filled in
    if digit == "2":
        assert "done up to 0.005 s" in message and "smaller step" in message
    if digit == "4":  # after fmi2Fatal no function of any instance may be called
        assert "fmi2FreeInstance" not in FMU2Counting.calls
        FMU2Counting.alive = 0


def test_a_warning_is_logged_and_the_run_goes_on(tmp_path: Path) -> None:
    done = run_text(tmp_path, stuck(tmp_path, "b1--"))
    assert len(done.trace.time) == 21
    logged = [str(entry) for entry in done.log if entry.slave == "body"]
    assert len(logged) == 15 and logged[0] == "body: step 5 from 0.005 s: the valve is stuck"


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_a_slave_that_ends_the_simulation_leaves_the_trace_so_far_and_a_note(tmp_path: Path, algorithm: str) -> None:
    done = run_text(tmp_path, stuck(tmp_path, "b2t-", algorithm))
    assert done.trace.time.tolist() == [k * 1e-3 for k in range(6)]
    assert "body ended the simulation at 0.005 s" in done.notes


@pytest.mark.parametrize(("guid", "time"), [("b0-n", "0.005 s"), ("b0-i", "0 s")])
def test_a_value_that_is_no_number_is_blamed_on_the_slave_that_gave_it(tmp_path: Path, guid: str, time: str) -> None:
    # 500 steps: the floor gets the value long before the rows are looked at
    message = message_of(tmp_path, stuck(tmp_path, guid, stop=0.5), SlaveError)
    assert message.startswith(f"body: p.r[1] is nan at {time}")
    assert "fmi2OK" in message


def test_a_value_that_is_no_number_and_goes_nowhere_is_found_as_well(tmp_path: Path) -> None:
    fmu = foreign_fmu(tmp_path, "Gain", GAIN, "g0-n")
    with pytest.raises(SlaveError, match=r"^fmu: y is nan at 0\.005 s"):
        run(fmu)


def test_a_slave_that_gives_no_instance_tells_why(tmp_path: Path) -> None:
    message = message_of(tmp_path, stuck(tmp_path, "0---"), SlaveError)
    assert (
        message == "body: fmi2Instantiate returned no instance; it logged: no licence: 3 seats of 3 are taken by others"
    )


def test_problems_of_all_slaves_and_connections_come_at_once(tmp_path: Path) -> None:
    foreign_fmu(tmp_path, "Empty", platforms=())
    foreign_fmu(tmp_path, "Windows", platforms=("win64", "win32"))
    (tmp_path / "cut.fmu").write_bytes(foreign_fmu(tmp_path, "Whole").read_bytes()[:2000])
    text = """
        connections = [ ["body.q", "floor.point"], ["empty.p", "floor.surface"], ["bodi.p", "floor.point"] ]
        [experiment]
        stop = 1
        step = 0.1
        [slaves]
        body = "PointMass"
        floor = { recipe = "PointSurface", start = { C_F = "1 kg" } }
        unknown = "PointMas"
        empty = "Empty.fmu"
        windows = "Windows.fmu"
        cut = "cut.fmu"
        none = "none.fmu"
        [drive]
        "floor.wrok" = true
        "empty.p.f[1]" = 1.0
        """
    lines = message_of(tmp_path, text, InputError).splitlines()
    wanted = (
        ("[slaves] unknown", "did you mean 'PointMass'?"),
        ("[slaves] empty", f"no binary for this machine ({host_platform()}); it has none"),
        ("[slaves] windows", "it has win64, win32"),
        ("[slaves] cut", "is no complete FMU"),
        ("[slaves] none", "no such file"),
        ("[slaves] floor start C_F", "'1 kg'"),
        ("[drive] floor.wrok", "did you mean 'floor.work'?"),
        ("connections [body.q, floor.point]", "no port or variable 'q'"),
        ("connections [bodi.p, floor.point]", "no slave 'bodi'; did you mean 'body'?"),
    )
    assert len(lines) == len(wanted)
    for where, words in wanted:
        assert [line for line in lines if where in line and words in line], (where, lines)


# ---- start values that connections overwrite ------------------------------------------------------------------------


def start_notes(folder: Path, text: str) -> list[str]:
    path = folder / "starts.toml"
    path.write_text(text)
    return [note for note in run(path).notes if note.startswith("[slaves]")]


def test_a_start_value_that_a_connection_overwrites_is_named(tmp_path: Path) -> None:
    """It changes no bit of the run; that of an input which nothing sets stays unnamed."""
    text = """
connections = [["body.p", "spring.r"]]
[experiment]
stop = 0.02
step = 1e-3
algorithm = "{algorithm}"
[slaves]
body = {{ recipe = "SliderMass", start = {{ v0 = 1{force} }} }}
spring = {{ recipe = "TranslationalSpring", start = {{ "c.v" = 0.5{speed} }} }}
"""
    for algorithm in ("jacobi", "gauss_seidel", "implicit"):
        given = text.format(algorithm=algorithm, force=', "p.F" = "2 N"', speed=', "r.v" = 3')
        told = "[slaves] {} has no effect: from the initialization on {} gives the value; remove it"
        assert start_notes(tmp_path, given) == [
            told.format("body start p.F = 2 N", "spring.r.F"),
            told.format("spring start r.v = 3 m/s", "body.p.v"),
        ]
        with_starts = run(tmp_path / "starts.toml").trace
        own = text.format(algorithm=algorithm, force=', "p.F" = 0', speed=', "r.v" = 0')
        assert start_notes(tmp_path, own) == [], "the FMU has it by itself"
        assert start_notes(tmp_path, text.format(algorithm=algorithm, force="", speed="")) == []
        assert run(tmp_path / "starts.toml").trace.values.tobytes() == with_starts.values.tobytes()


def test_a_start_value_is_named_as_a_file_has_it(tmp_path: Path) -> None:
    path = tmp_path / "off.toml"
    slaves = drop('stop = "2 ms"\nstep = "1 ms"').replace("C_r = 0.5", "C_r = 0.5, work = false")
    path.write_text(slaves + '[drive]\n"floor.work" = true\n')
    assert any(note.startswith("[slaves] floor start work = false has no effect") for note in run(path).notes)


def test_a_start_vector_and_a_drive_are_named_too(tmp_path: Path) -> None:
    text = """
connections = [["body.p.r[3]", "floor.point.r[3]"], ["body.p.v", "floor.point.v"], ["floor.point.f", "body.p.f"]]
[experiment]
stop = 0.002
step = 1e-3
[slaves]
body = { recipe = "PointMass", start = { r0 = [0, 0, 1] } }
floor = { recipe = "PointSurface", start = { "point.r" = [0, 0, 2], "surface.r[3]" = "1 mm" } }
[drive]
"floor.surface.r[3]" = "2[mm]*sin(2*PI*20[Hz]*#t)"
"""
    assert start_notes(tmp_path, text) == [
        "[slaves] floor start point.r = [0, 0, 2] has no effect for point.r[3]: from the initialization on body.p.r[3] "
        "gives the value",
        "[slaves] floor start surface.r[3] = 1 mm has no effect: from the initialization on its drive gives the value; "
        "remove it",
    ]


def test_a_start_value_that_the_drive_begins_with_is_not_named(tmp_path: Path) -> None:
    """An SSP archive holds it for readers without drives."""
    text = """
[experiment]
start = 0.1
stop = 0.102
step = 1e-3
[slaves]
spring = {{ recipe = "TranslationalSpring", start = {{ "r.v" = "{value} mm/s" }} }}
[drive]
"spring.r.v" = "20[mm/s2]*#t"
"""
    assert start_notes(tmp_path, text.format(value=2)) == []
    (note,) = start_notes(tmp_path, text.format(value=20))
    assert note.startswith("[slaves] spring start r.v = 20 mm/s has no effect")


def test_a_start_value_in_a_loop_is_called_a_first_guess(tmp_path: Path) -> None:
    """Of the two inputs of a loop one is read before it is set."""
    text = """
connections = [["a.y", "b.u"], ["b.y", "a.u"]]
[experiment]
stop = 0.02
step = 1e-2
[slaves]
a = { recipe = "ProbeLoop", start = { u = 7 } }
b = { recipe = "ProbeLoop", start = { u = 7 } }
"""
    notes = start_notes(tmp_path, text)
    assert len(notes) == 2
    assert sum("is only a first guess in a loop of initial values: " in note for note in notes) == 1
    assert sum("has no effect: " in note and note.endswith("; remove it") for note in notes) == 1


def test_faults_of_start_values_of_a_call_name_the_call(tmp_path: Path) -> None:
    """The file is right."""
    path = tmp_path / "drop.toml"
    path.write_text("""[experiment]
stop = 0.01
step = 1e-3
[slaves]
body = "PointMass"
floor = { recipe = "PointSurface", start = { C_F = 1 } }
""")
    told = {
        "floor.C_F": ("1 N", "run() start floor.C_F = '1 N' has the dimension"),
        "floor.C_G": (1, "run() start floor.C_G: PointSurface has no such variable"),
        "body.r0": ([1, 2], "run() start body.r0: [1, 2]: 3 values needed, 2 given"),
    }
    with pytest.raises(InputError) as caught:
        run(path, start={name: value for name, (value, _) in told.items()})
    found = sorted(map(str, caught.value.problems))
    assert all(map(str.startswith, found, sorted(text for _, text in told.values()))), found
    with pytest.raises(InputError, match=r"^run\(\) start floor\.C_F: .*must be at least 0 N/m"):
        run(path, start={"floor.C_F": -1})
    with pytest.raises(InputError, match=r"^run\(\) start m: .*must be greater than 0 kg"):
        run("PointMass", start={"m": -1})


def test_faults_of_a_file_and_of_a_call_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "drop.toml"
    path.write_text("""stp = 1
[experiment]
stop = 0.01
step = 1e-3
[slaves]
body = { recipe = "PointMass", start = { n = 1 } }
floor = "PointSurface"
""")
    with pytest.raises(InputError) as caught:
        run(path, stop="1 m", power="yes", record="nothing", start={"boy.m": 1, "body.m": "1 N"})
    told = [
        f"{path}: [slaves] body start n: PointMass has no such variable",
        f"{path}: stp: this key is unknown",
        "run() power: 'yes' must be True or False",
        "run() record: 'nothing' names no signal",
        "run() start body.m = '1 N' has the dimension",
        "run() start boy.m: there is no slave 'boy'",
        "run() stop = '1 m' has the dimension m but s is needed",
    ]
    found = sorted(map(str, caught.value.problems))
    assert len(found) == len(told) and all(map(str.startswith, found, told)), found
    path.write_text(path.read_text().replace("stop = 0.01", "stop = '1 m'"))
    with pytest.raises(InputError) as caught:
        run(path, step=3, start={"boy.m": 1})
    text = str(caught.value)
    assert "[experiment] stop = '1 m'" in text and "run() start boy.m" in text and "whole number" not in text
