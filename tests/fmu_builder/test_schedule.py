"""Slaves with steps of their own, and the order in which Gauss-Seidel calls them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from foreign import BODY, GAIN, foreign_fmu

from fmu_builder.cosim.loop.program import BLOCK, LOOP
from fmu_builder.cosim.master import Master, load_scenario, run
from fmu_builder.cosim.result import Result
from fmu_builder.errors import InputError
from tests.contact_core.fmi2 import literal

STEP = 2.0**-14  # s: whole multiples of it are exact
LOOPS = ("compiled", "python")


def written(folder: Path, text: str) -> Path:
    path = folder / "system.toml"
    path.write_text(text, encoding="utf-8")
    return path


def drop(folder: Path, step: float, experiment: str, own: Mapping[str, float] = {}, order: str = "body floor") -> Path:
    """own: steps of slaves"""
    literal("PointSurface", folder)
    steps = {name: f", step = {own[name]!r}" if name in own else "" for name in ("body", "floor")}
    slaves = {
        "body": f'body = {{ recipe = "PointMass", start = {{ r0 = [0, 0, 0.02], v0 = [0.3, 0, 0] }}{steps["body"]} }}',
        "floor": f'floor = {{ recipe = "PointSurface", start = {{ C_F = 1e4 }}{steps["floor"]} }}',
    }
    text = f"""
        connections = [["body.p", "floor.point"]]
        [experiment]
        stop = 0.125
        step = {step!r}
        output_step = {4 * STEP!r}
        {experiment}
        [slaves]
        """
    return written(folder, text + "\n".join(slaves[name] for name in order.split()))


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("order", ["body floor", "floor body"])
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_slaves_with_one_step_run_as_if_it_were_that_of_the_experiment(
    tmp_path: Path, algorithm: str, order: str, loop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LOOP, loop)
    experiment = f'algorithm = "{algorithm}"'
    own = run(drop(tmp_path, STEP, experiment, dict.fromkeys(("body", "floor"), 4 * STEP), order))
    plain = run(drop(tmp_path, 4 * STEP, experiment, order=order))
    assert plain.trace["floor.contact_count"][-1] > 0
    assert own.trace.values.tobytes() == plain.trace.values.tobytes()
    assert own.contacts == plain.contacts
    assert own.notes == plain.notes
    assert own.trace.provenance["steps"] == {"body": 4 * STEP, "floor": 4 * STEP}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_outputs_of_a_slow_slave_hold_until_its_step_has_ended(
    tmp_path: Path, algorithm: str, loop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mass of 1 kg under a driven force of 1 N per s, in steps of 5: the force is that of the beginning of a step."""
    monkeypatch.setenv(LOOP, loop)
    ticks, count = 5, 3 * 5 * BLOCK
    text = f"""
        connections = [["slow.p.v[1]", "fast.u"]]
        [experiment]
        stop = {count * STEP!r}
        step = {STEP!r}
        algorithm = "{algorithm}"
        [slaves]
        slow = {{ recipe = "{foreign_fmu(tmp_path, "Mass")}", step = {ticks * STEP!r} }}
        fast = "{foreign_fmu(tmp_path, "Gain", GAIN, "g0--")}"
        [drive]
        "slow.p.f[1]" = "1[N]*(t/1[s])"
        """
    trace = run(written(tmp_path, text)).trace
    done = np.arange(count + 1) // ticks
    np.testing.assert_array_equal(trace["slow.steps"], done)
    speed = np.concatenate([[0.0], np.cumsum((ticks * STEP) ** 2 * np.arange(count // ticks))])
    np.testing.assert_allclose(trace["slow.p.v[1]"], speed[done], rtol=1e-13, atol=0)
    seen = trace["fast.y"][1:]  # what the gain was set to in its last step
    if algorithm == "jacobi":
        np.testing.assert_array_equal(seen, trace["slow.p.v[1]"][:-1])
    else:  # the slow one is stepped before it
        np.testing.assert_array_equal(seen, trace["slow.p.v[1]"][1:])


@pytest.mark.parametrize("slow", ["body", "floor"])
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_different_steps_are_the_same_in_both_loops_and_a_note_names_them(
    tmp_path: Path, algorithm: str, slow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {slow: 2 * STEP, **({"floor": STEP} if slow == "body" else {})}
    path = drop(tmp_path, STEP, f'algorithm = "{algorithm}"', own)
    found: list[Result] = []
    for loop in LOOPS:
        monkeypatch.setenv(LOOP, loop)
        found.append(run(path))
    one, other = found
    assert one.trace.values.tobytes() == other.trace.values.tobytes()
    assert one.contacts == other.contacts and len(one.contacts) > 0
    assert one.notes == other.notes
    (note,) = [note for note in one.notes if "over steps of" in note]
    if slow == "body":
        assert note == (
            "floor gives several forces in each step of its body body, over steps of 6.103515625e-5 and "
            "0.0001220703125 s, and body feels one of them alone: that makes energy; leave out the step of floor, or "
            "give it one of 0.0001220703125 s"
        )
    else:
        assert note.startswith("body and floor ") and "steps of 0.0001220703125 s for both are as good" in note


@pytest.mark.parametrize("order", ["body floor", "floor body"])
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_a_force_has_the_step_of_a_slow_body(tmp_path: Path, algorithm: str, order: str) -> None:
    experiment = f'algorithm = "{algorithm}"'
    own = run(drop(tmp_path, STEP, experiment, {"body": 4 * STEP}, order))
    plain = run(drop(tmp_path, 4 * STEP, experiment, order=order))
    assert plain.trace["floor.contact_count"][-1] > 0
    assert own.trace.values.tobytes() == plain.trace.values.tobytes()
    assert own.notes == plain.notes
    assert own.trace.provenance["steps"] == {"body": 4 * STEP, "floor": 4 * STEP}


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
@pytest.mark.parametrize("slow", ["mass", "spring"])
def test_a_note_on_different_steps_does_not_depend_on_names(tmp_path: Path, slow: str, names: tuple[str, str]) -> None:
    mass, spring = names
    own = {"mass": ('step = "1 ms"', 'step = "0.5 ms"'), "spring": ('step = "0.5 ms"', 'step = "1 ms"')}[slow]
    text = f"""
        connections = [["{mass}.p", "{spring}.r"]]
        [experiment]
        stop = "10 ms"
        step = "0.5 ms"
        [slaves]
        {mass} = {{ recipe = "SliderMass", {own[0]} }}
        {spring} = {{ recipe = "TranslationalSpring", {own[1]} }}
        """
    (note,) = [note for note in run(written(tmp_path, text)).notes if "over steps of 0.0005 and 0.001 s" in note]
    if slow == "mass":
        assert note.startswith(f"{spring} gives several forces in each step of its body {mass}, ")
    else:
        assert note.startswith(f"{mass} and {spring} act on each other ")


@pytest.mark.parametrize("order", ["a b s", "s a b", "a s b"])
@pytest.mark.parametrize("recipe", ["TranslationalSpringByPositions", "TranslationalSpring"])
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_a_spring_between_a_slow_and_a_quick_body_keeps_energy_and_momentum(
    tmp_path: Path, algorithm: str, recipe: str, order: str
) -> None:
    """Two masses of 1 kg on 500 N/m, one of which moves at 1 m/s, 200 steps of the slow one in a period."""
    slaves = {
        "a": 'a = { recipe = "SliderMass", start = { v0 = 1, m = 1 }, step = "1 ms" }',
        "b": 'b = { recipe = "SliderMass", start = { m = 1 } }',
        "s": f's = {{ recipe = "{recipe}", start = {{ k = 500 }} }}',
    }
    text = f"""
        connections = [["a.p", "s.r"], ["b.p", "s.c"]]
        [experiment]
        stop = "2 s"
        step = "0.25 ms"
        output_step = "1 ms"
        algorithm = "{algorithm}"
        [slaves]
        """
    result = run(written(tmp_path, text + "\n".join(slaves[name] for name in order.split())))
    a, b, t = result["a.p.v"], result["b.p.v"], np.array(result.trace.time)
    np.testing.assert_allclose(a + b, 1.0, rtol=0, atol=0.02)
    omega = np.sqrt(1000.0)
    np.testing.assert_allclose(a, 0.5 + 0.5 * np.cos(omega * t), rtol=0, atol=0.02)


def test_a_force_between_steps_of_which_none_divides_the_other_has_the_longer_one(tmp_path: Path) -> None:
    text = """
        connections = [["a.p", "s.r"], ["b.p", "s.c"]]
        [experiment]
        stop = "84 ms"
        step = "0.5 ms"
        [slaves]
        a = { recipe = "SliderMass", step = "3.5 ms" }
        b = { recipe = "SliderMass", step = "4 ms" }
        s = "TranslationalSpring"
        """
    master = Master(load_scenario(written(tmp_path, text)))
    assert master.schedule.ticks == {"a": 7, "b": 8, "s": 8}
    assert list(master.schedule.order)[-1] == "s"
    notes = master.schedule.notes(master.wiring, master.descriptions, 0.5e-3, (), ())
    assert any(
        note.startswith("a and b, bodies of s, have steps of 0.0035 and 0.004 s, which seldom end together")
        for note in notes
    )


def test_a_force_has_the_step_of_a_slow_body_behind_a_gain(tmp_path: Path) -> None:
    text = f"""
        connections = [["m.p.v", "gain.u"], ["gain.y", "s.r.v"], ["s.r.F", "m.p.F"]]
        [experiment]
        stop = "0.2 s"
        step = "0.5 ms"
        [slaves]
        gain = "{foreign_fmu(tmp_path, "Gain", GAIN, "g0--")}"
        m = {{ recipe = "SliderMass", step = "2 ms" }}
        s = "TranslationalSpring"
        """
    assert Master(load_scenario(written(tmp_path, text))).schedule.ticks == {"gain": 1, "m": 4, "s": 4}


def test_a_slow_force_that_is_listed_before_quick_bodies_is_named(tmp_path: Path) -> None:
    experiment = 'algorithm = "gauss_seidel"\norder = ["floor", "body"]'
    result = run(drop(tmp_path, STEP, experiment, {"floor": 2 * STEP}, "floor body"))
    assert any(
        note.startswith("floor is stepped before its body body, whose steps are shorter, and sees it in the midst")
        for note in result.notes
    )


def test_steps_that_do_not_divide_are_all_named_with_their_repair(tmp_path: Path) -> None:
    gain = foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
    text = f"""
        [experiment]
        stop = "10 ms"
        step = "1 ms"
        [slaves]
        a = {{ recipe = "{gain}", step = "2.5 ms" }}
        b = {{ recipe = "{gain}", step = "4 ms" }}
        c = {{ recipe = "{gain}", step = "0.4 ms" }}
        d = {{ recipe = "{gain}", step = "-1 ms" }}
        e = {{ recipe = "{gain}", step = "5 ms" }}
        f = {{ recipe = "{gain}", step = "5 mm" }}
        """
    with pytest.raises(InputError) as caught:
        load_and_check(written(tmp_path, text))
    lines = str(caught.value).splitlines()
    wanted = {
        "a step": "0.0025 s is not a whole multiple of step = 0.001 s; 0.002 s is the nearest one",
        "c step": "0.0004 s is not a whole multiple of step = 0.001 s; 0.001 s is the nearest one",
        "d step": "'-1 ms' must be greater than 0",
        "f step": "has the dimension m but s",
        "b step": "the run of 0.01 s is not a whole number of steps of 0.004 s; 0.02 s is the next stop",  # of e, too
    }
    assert len(lines) == len(wanted)
    for (where, what), line in zip(wanted.items(), lines, strict=True):
        assert f"system.toml: [slaves] {where}" in line and what in line


def test_a_step_of_its_own_is_refused_where_forces_are_solved_for(tmp_path: Path) -> None:
    path = drop(tmp_path, STEP, 'algorithm = "implicit"', {"floor": 2 * STEP})
    with pytest.raises(InputError, match=r"\[slaves\] floor step: all slaves have the step of the experiment under"):
        load_and_check(path)


@pytest.mark.parametrize("step", ["0", '"-1 ms"', "nan"])
def test_a_step_of_the_experiment_that_is_none_is_told_once(tmp_path: Path, step: str) -> None:
    gain = foreign_fmu(tmp_path, "Gain", GAIN, "g0--")
    text = f"""
        [experiment]
        stop = "10 ms"
        step = {step}
        [slaves]
        a = {{ recipe = "{gain}", step = "2 ms" }}
        """
    with pytest.raises(InputError) as caught:
        load_and_check(written(tmp_path, text))
    (problem,) = caught.value.problems
    assert "[experiment] step" in str(problem)


def load_and_check(path: Path) -> Master:
    return Master(load_scenario(path))


def test_a_step_of_a_part_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "Two.toml"
    path.write_text('[parts]\nmass = { recipe = "PointMass", step = "1 ms" }\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"\[parts\] mass step: is for slaves of a scenario"):
        run(path)


# ---- order -------------------------------------------------------------------------------------------------------


def loop_of_three(folder: Path, order: str) -> Path:
    """y = a u + 1: `last` reads `middle`, and that `first`; a body, whose speed follows no input at once."""
    gain = foreign_fmu(folder, "Gain", GAIN, "g0--")
    body = foreign_fmu(folder, "Body", [replace(v, depends=()) if v.causality == "output" else v for v in BODY])
    text = f"""
        connections = [["first.y", "middle.u"], ["middle.y", "last.u"], ["last.y", "body.p.f[1]"],
                       ["body.p.v[1]", "first.u"]]
        [experiment]
        stop = 0.01
        step = 0.001
        {order}
        [slaves]
        last = "{gain}"
        middle = "{gain}"
        first = {{ recipe = "{gain}", start = {{ b = 1 }} }}
        body = "{body}"
        """
    return written(folder, text)


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("", "last middle first body"),
        ('order = "listed"', "last middle first body"),
        ('order = "structure"', "body first middle last"),
        ('order = ["first", "last", "body", "middle"]', "first last body middle"),
    ],
)
def test_gauss_seidel_calls_the_slaves_in_the_order_that_is_asked_for(
    tmp_path: Path, order: str, expected: str
) -> None:
    master = load_and_check(loop_of_three(tmp_path, order))
    assert list(master.schedule.order) == expected.split()
    done = master.run(lambda share: None)
    assert done.trace.names[0].startswith("last.")  # columns are as listed


def test_the_order_of_the_structure_passes_a_value_through_in_one_step(tmp_path: Path) -> None:
    through = run(loop_of_three(tmp_path, 'order = "structure"')).trace
    np.testing.assert_array_equal(through["last.y"], 1.0 + through["body.p.v[1]"])
    listed = run(loop_of_three(tmp_path, "")).trace
    assert np.all(listed["last.y"][4:] < 1.0 + listed["body.p.v[1]"][4:])


def test_an_order_that_is_none_is_refused_with_all_its_faults(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load_and_check(loop_of_three(tmp_path, 'order = ["frist", "last", "last"]'))
    text = str(caught.value)
    assert "[experiment] order: there is no slave 'frist'; did you mean 'first'?" in text
    assert "last is named twice" in text and "middle, first, body must be in it" in text
    with pytest.raises(InputError, match="order"):
        load_and_check(loop_of_three(tmp_path, 'order = "struktur"'))


@pytest.mark.parametrize("order", ["structure", ["body", "first", "middle", "last"]])
@pytest.mark.parametrize("algorithm", ["jacobi", "implicit", "adaptive"])
def test_an_order_is_refused_where_the_slaves_have_none(tmp_path: Path, algorithm: str, order: str | list[str]) -> None:
    path = loop_of_three(tmp_path, f"order = {order}" if isinstance(order, list) else f'order = "{order}"')
    path.write_text(path.read_text().replace("[experiment]", f'[experiment]\nalgorithm = "{algorithm}"'))
    with pytest.raises(InputError, match=rf"\[experiment\] order: is of gauss_seidel, .* {algorithm}: remove it"):
        load_and_check(path)


def test_another_algorithm_for_one_run_leaves_the_order_out(tmp_path: Path) -> None:
    path = loop_of_three(tmp_path, 'order = "structure"')
    assert "order" in run(path, algorithm="gauss_seidel").trace.provenance
    assert "order" not in run(path, algorithm="jacobi").trace.provenance


def test_a_coupling_tolerance_is_refused_where_no_step_is_controlled(tmp_path: Path) -> None:
    path = drop(tmp_path, STEP, "coupling_tolerance = 1e-4")
    with pytest.raises(InputError) as caught:
        load_and_check(path)
    assert str(caught.value).endswith(
        "system.toml: [experiment] coupling_tolerance: 0.0001: is of adaptive, and the algorithm is gauss_seidel: "
        "remove it, or choose algorithm = 'adaptive'"
    )
    path.write_text(path.read_text().replace("[experiment]", '[experiment]\nalgorithm = "adaptive"'))
    load_and_check(path)
    assert run(path, algorithm="jacobi", stop=4 * STEP).trace.provenance["algorithm"] == "jacobi"


@pytest.mark.parametrize("behind", [False, True])
@pytest.mark.parametrize(
    ("algorithm", "listed"), [("gauss_seidel", False), ("gauss_seidel", True), ("jacobi", False), ("implicit", False)]
)
def test_a_force_element_between_its_bodies_is_moved_behind_them_or_named(
    tmp_path: Path, algorithm: str, listed: bool, behind: bool
) -> None:
    """Two masses fly side by side at 30 m/s: their spring is relaxed.  Stepped between them it sees one of them a step
    further, 30 m/s * 1 ms = 30 mm, which is 30 N."""
    slaves = {
        "left": 'left = { recipe = "SliderMass", start = { v0 = 30 } }',
        "spring": 'spring = { recipe = "TranslationalSpringByPositions", start = { k = 1000 } }',
        "right": 'right = { recipe = "SliderMass", start = { v0 = 30 } }',
    }
    order = ["left", "right", "spring"] if behind else list(slaves)
    text = f"""
        connections = [["left.p", "spring.r"], ["right.p", "spring.c"]]
        [experiment]
        stop = "10 ms"
        step = "1 ms"
        algorithm = "{algorithm}"
        {'order = "listed"' if listed else ""}
        [slaves]
        """
    result = run(written(tmp_path, text + "\n".join(slaves[name] for name in order)))
    notes = [note for note in result.notes if note.startswith("spring is stepped between its bodies left and right: ")]
    between = listed and not behind
    assert len(notes) == between
    moved = algorithm != "jacobi" and not listed and not behind
    assert result.trace.provenance.get("order") == (["left", "right", "spring"] if moved else None)
    most = float(np.abs(result.trace["spring.F"]).max())
    assert most == pytest.approx(30.0, rel=0.1) if between else most < 1e-9


@pytest.mark.parametrize("order", ["A pa pb B spring", "A pa spring pb B", "pa A B pb spring", "A B pa pb spring"])
def test_what_passes_a_motion_on_is_called_behind_the_body_or_named(tmp_path: Path, order: str) -> None:
    """Two bodies fall side by side along x, and a relaxed spring joins points of them.  Seen a step late, one of them
    falls behind by g H, 9.8 mm/s."""
    slaves = {
        "A": 'A = { recipe = "TwoDBody", start = { g = [9.81, 0] } }',
        "B": 'B = { recipe = "TwoDBody", start = { g = [9.81, 0] } }',
        "pa": 'pa = "TwoDPointX"',
        "pb": 'pb = "TwoDPointX"',
        "spring": 'spring = { recipe = "TranslationalSpring", start = { k = 1000 } }',
    }
    text = """
        connections = [["A.P[1]", "pa.P_out"], ["B.P[1]", "pb.P_out"], ["pa.p_in", "spring.r"], ["pb.p_in", "spring.c"]]
        [experiment]
        stop = "0.1 s"
        step = "1 ms"
        """
    parts = "\n[slaves]\n" + "\n".join(slaves[name] for name in order.split())
    result = run(written(tmp_path, text + parts))
    assert np.abs(result["spring.F"]).max() < 1e-9
    result = run(written(tmp_path, text + 'order = "listed"\n' + parts))
    notes = [note for note in result.notes if note.startswith("spring is stepped between its bodies ")]
    assert len(notes) == (order != "A B pa pb spring") == (np.abs(result["spring.F"]).max() > 1e-3)
    assert all("behind their bodies and what passes their motion on" in note for note in notes)


def test_two_points_of_one_body_that_pass_its_motion_on_are_called_alike(tmp_path: Path) -> None:
    """A spring between two points of a body that falls along x: one of them a step late, it gives 1 N."""
    text = """
        connections = [["A.P[1]", "pa.P_out"], ["A.P[1]", "pb.P_out"], ["pa.p_in", "spring.r"], ["pb.p_in", "spring.c"]]
        [experiment]
        stop = "0.1 s"
        step = "1 ms"
        [slaves]
        pa = "TwoDPointX"
        A = { recipe = "TwoDBody", start = { g = [9.81, 0] } }
        pb = "TwoDPointX"
        spring = { recipe = "TranslationalSpring", start = { k = 1000 } }
        """
    assert np.abs(run(written(tmp_path, text))["spring.F"]).max() < 1e-9
    result = run(written(tmp_path, text.replace('step = "1 ms"', 'step = "1 ms"\n        order = "listed"')))
    assert np.abs(result["spring.F"]).max() > 0.5
    assert [note for note in result.notes if note.startswith("spring is stepped between two ways from its body A: ")]


@pytest.mark.parametrize("algorithm", ["implicit", "adaptive"])
def test_a_group_that_is_not_solved_for_is_called_in_the_order_of_gauss_seidel(tmp_path: Path, algorithm: str) -> None:
    """Relaxed springs between masses that fly side by side at 30 m/s: in the order listed one of them gives 30 N.  A
    position that is converted on its way keeps the group from being solved for."""
    path = written(
        tmp_path,
        f"""
        connections = [["left.p", "spring.r"], ["right.p", "spring.c"]]
        [experiment]
        stop = "10 ms"
        step = "1 ms"
        algorithm = "{algorithm}"
        [slaves]
        left = {{ recipe = "SliderMass", start = {{ v0 = 30 }} }}
        spring = {{ recipe = "TranslationalSpringByPositions", start = {{ k = 1000 }} }}
        right = {{ recipe = "SliderMass", start = {{ v0 = 30 }} }}
        """,
    )
    master = Master(load_scenario(path))
    assert master.schedule.order == ["left", "right", "spring"]
    for group in master.groups:
        group.reasons["spring"] = "is not to be solved for"
    result = master.run(lambda share: None)
    assert np.abs(result["spring.F"]).max() < 1e-9
