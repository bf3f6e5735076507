"""rigid_body: the Newton-Euler equations, what free rotation keeps, its ports, the rules of its inertia tensor."""

from __future__ import annotations

from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmi2 import ERROR, MODEL_EXCHANGE, OK, Fmu, literal, load_shipped
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from running import Running, Values, build, scalars
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from fmu_builder import run
from fmu_builder.errors import InputError
from fmu_builder.export.fmu import host_fmu
from fmu_builder.model.loader import assembly_of_scenario, load_model
from fmu_builder.model.scenario import read_scenario
from fmu_builder.paths import load_module, shipped

Vector = NDArray[np.float64]

references = load_module(shipped("elements") / "rigid_body" / "cases" / "references.py")

MOMENTS = np.array([1.0, 2.0, 2.5])
TUMBLING: Values = {
    "J_xx": 1.0,
    "J_yy": 2.0,
    "J_zz": 2.5,
    "g": (0.0, 0.0, 0.0),
    "w0": (0.6, 0.05, 0.8),
    "q0": (1.0, 0.0, 0.0, 0.0),
}
J_NAMES = ("J_xx", "J_yy", "J_zz", "J_xy", "J_xz", "J_yz")


@pytest.fixture(scope="module")
def body(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("RigidBody", tmp_path_factory.mktemp("body"))


@pytest.fixture(scope="module")
def block(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("RigidBlock", tmp_path_factory.mktemp("block"))


def attitude(q: Vector) -> Vector:
    """The rotation matrix of a quaternion, scalar first."""
    return Rotation.from_quat(q, scalar_first=True).as_matrix()


def tensor(rng: np.random.Generator) -> Vector:
    """The inertia tensor of seven random particles, so of a body."""
    r, m = rng.normal(size=(7, 3)), rng.uniform(0.1, 1.0, 7)
    return np.einsum("p,pij->ij", m, (r**2).sum(1)[:, None, None] * np.eye(3) - r[:, :, None] * r[:, None, :])


def elements(J: Vector) -> dict[str, float]:
    return dict(zip(J_NAMES, (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]), strict=True))


# ---- the equations ---------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_motion_obeys_newton_and_euler(body: Fmu, seed: int) -> None:
    """f = m (a - g), t = d(R J R^T w)/dt, q' = (0, w) q/2; the ports move with the body, and the power of all forces is
    the rate of the energies."""
    rng = np.random.default_rng(seed)
    J, m, g, offset = tensor(rng), rng.uniform(0.1, 10.0), rng.normal(size=3), rng.normal(size=3)
    r, q, v, w = (
        rng.normal(size=3),
        rng.uniform(0.6, 2.0) * Rotation.random(rng=rng).as_quat(),
        *rng.normal(size=(2, 3)),
    )
    forces = {name: 10.0 * rng.normal(size=3) for name in ("frame.f", "frame.t", "point.f", "attach.f", "attach.t")}
    start = {"m": m, "g": g, "r0": r, "q0": q, "v0": v, "w0": w, "point.offset": offset}
    running = Running(body, elements(J) | start | forces)
    R = attitude(q)
    arm, world = R @ offset, R @ J @ R.T

    def near(value: Vector) -> object:
        return pytest.approx(value, rel=1e-12, abs=1e-12 * max(1.0, float(np.abs(value).max())))

    assert running.vector("frame.q", 4) == near(q / np.linalg.norm(q))
    assert running.vector("frame.w") == near(w)
    assert running.vector("angular_momentum") == near(world @ w)
    for port in ("point", "attach"):
        assert running.vector(f"{port}.r") == near(r + arm)
        assert running.vector(f"{port}.v") == near(v + np.cross(w, arm))
    assert running.vector("attach.w") == near(w)
    assert list(running.vector("attach.q", 4)) == list(running.vector("frame.q", 4))
    force = forces["frame.f"] + forces["point.f"] + forces["attach.f"]
    moment = forces["frame.t"] + forces["attach.t"] + np.cross(arm, forces["point.f"] + forces["attach.f"])
    assert running.vector("acceleration") == near(force / m + g)
    states = [*(f"frame.{x}[{k}]" for x in "rv" for k in (1, 2, 3)), *(f"frame.q[{k}]" for k in (1, 2, 3, 4))]
    states += [f"spin[{k}]" for k in (1, 2, 3)]
    slopes = running.values([f"der({name})" for name in states])
    assert slopes[:3] == near(v)
    assert slopes[3:6] == near(force / m + g)
    unit = q / np.linalg.norm(q)
    turning = 0.5 * np.array([-w @ unit[1:], *(unit[0] * w + np.cross(w, unit[1:]))])
    assert slopes[6:10] == near(turning)
    assert slopes[10:] * np.trace(J) / 3.0 == near(moment)
    energies = ["energy.kinetic", "energy.potential"]
    assert running.values(energies) == near(np.array([0.5 * m * v @ v + 0.5 * w @ world @ w, -m * g @ r]))
    power = running.directional(energies, dict(zip(states, slopes, strict=True))).sum()
    work = forces["frame.f"] @ v + (forces["point.f"] + forces["attach.f"]) @ (v + np.cross(w, arm))
    assert power == pytest.approx(work + (forces["frame.t"] + forces["attach.t"]) @ w, rel=1e-10, abs=1e-10)
    running.step(1e-9)  # too short to see the motion
    rates = running.output_rates([f"frame.w[{k}]" for k in (1, 2, 3)])
    assert rates == pytest.approx(np.linalg.solve(world, moment - np.cross(w, world @ w)), rel=1e-6, abs=1e-6)


def test_a_driven_body_moves_as_another_integrator_says(body: Fmu) -> None:
    """Constant forces in the world on points of the body, against Euler's equations in body axes by scipy."""
    rng = np.random.default_rng(4)
    J, m, offset = tensor(rng), 2.0, np.array([0.3, -0.2, 0.4])
    g, f, t = np.array([0.0, 0.0, -9.81]), np.array([3.0, -2.0, 5.0]), np.array([0.5, 0.2, -0.4])
    w_0, v_0 = np.array([0.7, -1.1, 0.4]), np.array([1.0, 2.0, 3.0])

    def motion(_: float, x: Vector) -> Vector:
        R, w = attitude(x[6:10] / np.linalg.norm(x[6:10])), x[10:]
        moment = R.T @ t + np.cross(offset, R.T @ f)
        turning = 0.5 * np.array([-x[7:10] @ w, *(x[6] * w + np.cross(x[7:10], w))])
        return np.concatenate([x[3:6], f / m + g, turning, np.linalg.solve(J, moment - np.cross(w, J @ w))])

    x_0 = np.concatenate([np.zeros(3), v_0, [1.0, 0.0, 0.0, 0.0], w_0])
    end = solve_ivp(motion, (0.0, 5.0), x_0, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    start = {"m": m, "v0": v_0, "w0": w_0, "point.offset": offset, "point.f": f, "attach.t": t}
    running = Running(body, elements(J) | start, tolerance=1e-12)
    for _ in range(10):
        running.step(0.5)
    found = np.concatenate([running.vector("frame.r"), running.vector("frame.v"), running.vector("frame.q", 4)])
    assert found == pytest.approx(end[:10], abs=1e-9 * np.abs(end[:10]).max())
    assert attitude(running.vector("frame.q", 4)).T @ running.vector("frame.w") == pytest.approx(end[10:], abs=1e-9)


# ---- free rotation ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_spin_of_100000_seconds_keeps_length_momentum_and_energy(body: Fmu) -> None:
    """16,000 turns and 1.4 million substeps at the default tolerance of 1e-9."""
    running = Running(body, TUMBLING)
    momentum, energy = running.vector("angular_momentum"), running["energy.kinetic"]
    for _ in range(10):
        running.step(1e4)
        assert np.linalg.norm(running.vector("frame.q", 4)) == pytest.approx(1.0, abs=1e-9)
        assert list(running.vector("angular_momentum")) == list(momentum)
        assert running["energy.kinetic"] == pytest.approx(energy, rel=1e-9)


@pytest.mark.parametrize("axis", range(3))
def test_a_body_that_turns_about_a_principal_axis_goes_on_doing_so(body: Fmu, axis: int) -> None:
    """Also about the middle one, where the least disturbance grows: rounding leaves it a hundred turns or so."""
    w = np.zeros(3)
    w[axis] = 5.0
    running = Running(body, {**TUMBLING, "w0": w})
    for _ in range(4):
        running.step(0.5)
    assert running.vector("frame.w") == pytest.approx(w, abs=1e-12)
    expected = np.array([np.cos(5.0), *(np.sin(5.0) * w / 5.0)])
    assert running.vector("frame.q", 4) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-8, 1e-10])
def test_the_error_of_the_attitude_follows_the_tolerance(body: Fmu, tolerance: float) -> None:
    w_0, t = np.array(TUMBLING["w0"]), np.linspace(0.0, 20.0, 201)
    rates, q = references.free_rotation(MOMENTS, w_0, t)
    exact = references.product(q[0] * np.array([1.0, -1.0, -1.0, -1.0]), q[-1])
    running = Running(body, TUMBLING, tolerance=tolerance)
    running.step(20.0)
    error = np.abs(running.vector("frame.q", 4) - exact * np.sign(exact @ running.vector("frame.q", 4))).max()
    most = running["solver.steps"] * tolerance  # every substep errs by less than is allowed
    assert 1e-2 * tolerance < error < most
    body_rates = attitude(running.vector("frame.q", 4)).T @ running.vector("frame.w")
    assert body_rates == pytest.approx(rates[-1], abs=most)


def test_a_moment_is_not_mistaken_for_an_error_of_the_energy(body: Fmu) -> None:
    """Moments between phases without any: the energy follows their work, as in one motion without interruption."""
    moment, energies = np.array([0.0, 0.3, -0.2]), []
    running = Running(body, TUMBLING)
    for k in range(12):
        before, turned = running["energy.kinetic"], 0.0
        running.set({"frame.t": moment if k % 3 == 1 else (0.0, 0.0, 0.0)})
        for _ in range(200):
            w_1 = running.vector("frame.w")
            running.step(0.005)
            turned += 0.005 * moment @ (w_1 + running.vector("frame.w")) / 2.0
        energies.append(running["energy.kinetic"])
        work = turned if k % 3 == 1 else 0.0
        assert running["energy.kinetic"] - before == pytest.approx(work, abs=2e-6 if k % 3 == 1 else 1e-9)
    assert max(energies) - min(energies) > 0.1


def test_an_inertia_that_is_tuned_changes_the_energy_once(body: Fmu) -> None:
    """The momentum follows the mean of the principal moments; the mass leaves the velocity alone."""
    running = Running(body, TUMBLING)
    running.step(3.0)
    momentum, energy = running.vector("angular_momentum"), running["energy.kinetic"]
    running.set({name: 2.0 * MOMENTS[k] for k, name in enumerate(J_NAMES[:3])} | {"m": 7.0})
    assert running.vector("angular_momentum") == pytest.approx(2.0 * momentum, rel=1e-15)
    assert running["energy.kinetic"] == pytest.approx(2.0 * energy, rel=1e-14)
    for _ in range(20):
        running.step(1.0)
    assert running["energy.kinetic"] == pytest.approx(2.0 * energy, rel=1e-9)
    # of another shape the body has another energy at once, and keeps that
    running.set({"J_xx": 3.0})
    changed = running["energy.kinetic"]
    assert abs(changed / (2.0 * energy) - 1.0) > 0.01
    for _ in range(20):
        running.step(1.0)
    assert running["energy.kinetic"] == pytest.approx(changed, rel=1e-9)


def test_a_saved_state_continues_with_the_same_bits(body: Fmu) -> None:
    running = Running(body, TUMBLING)
    running.step(2.0)
    saved = running.slave.get_state()
    ends = []
    for _ in range(2):
        assert running.slave.call("fmi2SetFMUstate", saved) == OK
        running.time = 2.0
        running.step(5.0)
        running.set({"frame.t": (0.1, 0.0, 0.0)})
        running.step(1.0)
        running.set({"frame.t": (0.0, 0.0, 0.0)})
        running.step(1.0)
        ends.append([*running.vector("frame.q", 4), *running.vector("frame.w"), running["energy.kinetic"]])
    assert ends[0] == ends[1]
    running.slave.free_state(saved)


def test_in_model_exchange_cvode_finds_the_same_attitude_of_length_1(body: Fmu) -> None:
    t = np.linspace(0.0, 100.0, 1001)
    _, q = references.free_rotation(MOMENTS, np.array(TUMBLING["w0"]), t)
    exact = references.product(q[0] * np.array([1.0, -1.0, -1.0, -1.0]), q[-1])
    start = {f"{n}[{i}]": x for n in ("w0", "q0", "g") for i, x in enumerate(TUMBLING[n], 1)}  # type: ignore[arg-type]
    start |= {name: MOMENTS[k] for k, name in enumerate(J_NAMES[:3])}
    names = [f"frame.q[{k}]" for k in (1, 2, 3, 4)] + [f"angular_momentum[{k}]" for k in (1, 2, 3)]
    rows = fmpy.simulate_fmu(
        str(host_fmu(shipped("fmus") / "RigidBody.toml")),
        fmi_type="ModelExchange",
        solver="CVode",
        relative_tolerance=1e-10,
        stop_time=100.0,
        output_interval=1.0,
        start_values=start,
        output=names,
    )
    values = np.array([list(row)[1:] for row in rows])
    assert np.linalg.norm(values[:, :4], axis=1) == pytest.approx(np.ones(len(values)), abs=1e-8)
    assert np.ptp(values[:, 4:], axis=0) == pytest.approx(np.zeros(3), abs=1e-14)
    assert np.abs(values[-1, :4]) == pytest.approx(np.abs(exact), abs=1e-6)


def test_an_attitude_that_errs_is_turned_back_where_no_moment_acts_and_there_only(body: Fmu) -> None:
    """By c = |w| (J_m e/2 - T) G / G^2 besides w, G = w x L; under a moment by nothing."""
    values = dict(zip(J_NAMES[:3], MOMENTS, strict=True)) | {"w0[1]": 3.0, "w0[2]": -2.0, "w0[3]": 1.0}
    slave = body.slave(kind=MODEL_EXCHANGE)
    slave.initialize(values)
    assert slave.new_discrete_states()[0] == OK
    assert slave.call("fmi2EnterContinuousTimeMode") == OK
    states = [unknown.variable.derivative.name for unknown in body.description.derivatives]
    x = np.array(slave.continuous_states())
    L, w = (np.array(slave.get(*(f"{name}[{k}]" for k in (1, 2, 3)))) for name in ("angular_momentum", "frame.w"))
    assert x[states.index("spin_energy")] == pytest.approx(L @ w / np.mean(MOMENTS), rel=1e-14)

    def turning() -> Vector:
        """Twice the vector part of q' at q = 1, which is the angular velocity of the attitude."""
        return 2.0 * np.array(slave.get(*(f"der(frame.q[{k}])" for k in (2, 3, 4))))

    assert turning() == pytest.approx(w, rel=1e-14)
    off = 1e-4 * L @ w
    x[states.index("spin_energy")] += 2.0 * off / np.mean(MOMENTS)
    assert slave.set_states(list(x)) == OK
    gradient = np.cross(w, L)
    c = np.linalg.norm(w) * off * gradient / (gradient @ gradient)
    assert turning() - w == pytest.approx(c, rel=1e-5)
    assert slave.set({"frame.t[2]": 1e-9}) == OK
    assert turning() == pytest.approx(w, rel=1e-14)
    assert slave.derivatives()[states.index("spin_energy")] == pytest.approx(2e-9 * w[1] / np.mean(MOMENTS), rel=1e-14)


@pytest.mark.parametrize("speed", [1e-45, 1e-100, 1e-32, 1e-20, 1e-10, 1e20, 1e60, 1e-28])
def test_the_directional_derivatives_of_the_attitude_are_those_of_any_speed(body: Fmu, speed: float) -> None:
    """q' is homogeneous: of degree 1 in the spin s, where e is in proportion to s^2.  So q'_s has degree 0 and q'_e -1.
    A body slower than 1e-30 rad/s turns by w alone, which does not depend on e."""
    rates = tuple(f"der(frame.q[{k}])" for k in (1, 2, 3, 4))
    spin = tuple(f"spin[{k}]" for k in (1, 2, 3))

    def slopes(speed: float, by: str) -> Vector:
        running = Running(body, {**TUMBLING, "w0": tuple(speed * w for w in (0.6, 0.05, 0.8))})
        return running.directional(rates, {by: 1.0})

    for by in spin:
        known = slopes(1.0, by)
        if speed < 1e-30:
            mean = np.mean(MOMENTS)
            known = np.zeros(4)
            known[1 + spin.index(by)] = 0.5 * mean / MOMENTS[spin.index(by)]
        assert slopes(speed, by) == pytest.approx(known, rel=1e-9, abs=1e-9), by
    by_energy = slopes(1.0, "spin_energy")
    assert np.abs(by_energy).max() > 0.1
    expected = 0.0 * by_energy if speed < 1e-30 else by_energy / speed
    assert slopes(speed, "spin_energy") == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("method", ["auto", "explicit", "implicit"])
def test_a_bar_on_the_floor_comes_to_rest_under_every_method(tmp_path: Path, method: str) -> None:
    """Its spin fades until products of it vanish.  Then the floor holds its weight, and it lies flat."""
    methods = {"auto": 1, "explicit": 2, "implicit": 3}
    running = Running(load_shipped("BarOnFloor", tmp_path), {"solver.method": methods[method]})
    for _ in range(100):
        running.step(0.03)
    pressed = running["floor.normal_force[1]"] + running["floor.normal_force[2]"]
    assert pressed == pytest.approx(9.81, rel=1e-9)
    assert running["orientation[1]"] == pytest.approx(1.0, abs=1e-9)
    assert np.linalg.norm(running.vector("angular_velocity")) < 1e-9


def test_an_importer_that_sets_another_attitude_has_its_motion(body: Fmu) -> None:
    """After two free steps, with the spin it had; spin_energy is that of the attitude, or stays and follows at once."""
    values = dict(zip(J_NAMES[:3], MOMENTS, strict=True)) | {"w0[1]": 3.0, "w0[2]": -2.0, "w0[3]": 1.0}
    states = [unknown.variable.derivative.name for unknown in body.description.derivatives]
    q, e = [states.index(f"frame.q[{k}]") for k in (1, 2, 3, 4)], states.index("spin_energy")
    attitude_set = np.array([0.8, 0.0, 0.6, 0.0])

    def motion(steps: int, is_set: bool) -> Vector:
        """q after 1 s by Runge and Kutta's method, 1 ms a step."""
        slave, h, t = body.slave(kind=MODEL_EXCHANGE), 1e-3, 0.0
        slave.initialize(values)
        assert slave.new_discrete_states()[0] == OK
        assert slave.call("fmi2EnterContinuousTimeMode") == OK
        x = np.array(slave.continuous_states())

        def slope(time: float, point: Vector) -> Vector:
            assert slave.call("fmi2SetTime", time) == OK
            assert slave.set_states(list(point)) == OK
            return np.array(slave.derivatives())

        for k in range(steps + 1000):
            if k == steps:
                x[q] = attitude_set
                slope(t, x)
                if is_set:
                    w = np.array(slave.get(*(f"frame.w[{i}]" for i in (1, 2, 3))))
                    x[e] = x[[states.index(f"spin[{i}]") for i in (1, 2, 3)]] @ w
                    slope(t, x)
                assert slave.completed_step()[1] == (not is_set)
                x = np.array(slave.continuous_states())
            k_1 = slope(t, x)
            k_2 = slope(t + 0.5 * h, x + 0.5 * h * k_1)
            k_3 = slope(t + 0.5 * h, x + 0.5 * h * k_2)
            k_4 = slope(t + h, x + h * k_3)
            x, t = x + h / 6.0 * (k_1 + 2.0 * k_2 + 2.0 * k_3 + k_4), t + h
            slope(t, x)
            assert slave.completed_step()[0] == OK
        return x[q]

    fresh = motion(0, True)
    assert motion(2, True) == pytest.approx(fresh, abs=1e-12)
    assert motion(2, False) == pytest.approx(fresh, abs=1e-12)


# ---- structure -------------------------------------------------------------------------------------------------------


def test_a_body_without_points_has_its_frame_only(tmp_path: Path) -> None:
    recipe = 'element = "rigid_body"\n[structure]\npoints = 0\n'
    bare = build(tmp_path, "Bare", recipe)
    assert [port.name for port in load_model(tmp_path / "Bare.toml").ports] == ["frame"]
    assert not [name for name in bare.references if name.startswith(("point", "attach"))]
    running = Running(bare, {"v0": (0.0, 0.0, 4.0), "frame.f": (2.0, 0.0, 0.0)})
    running.step(0.5)
    assert running.vector("frame.v") == pytest.approx([1.0, 0.0, 4.0 - 9.81 / 2.0], rel=1e-14)


def test_points_are_numbered_in_recipes_scenarios_and_assemblies(tmp_path: Path) -> None:
    """Contacts at three points: a floor, and a lid that is another body."""
    (tmp_path / "Three.toml").write_text(
        'element = "rigid_body"\n[structure]\npoints = 3\n[start]\ng = [0, 0, 0]\n'
        '"point[1].offset" = [0.1, 0, 0]\n"point[2].offset" = ["20 cm", 0, 0]\n"point[3].offset[3]" = 0.3\n',
        encoding="utf-8",
    )
    (tmp_path / "drop.toml").write_text(
        """
connections = [
    ["body.point[2]", "floor.point"],
    ["lid.attach[3]", "under_lid.surface"],
    ["body.point[1]", "under_lid.point"],
]
[experiment]
stop = "2 ms"
step = "1 ms"
[slaves]
body = { recipe = "Three", start = { r0 = [0, 0, -0.01] } }
floor = { recipe = "PointSurface", start = { C_F = 1e3 } }
lid = { recipe = "Three", start = { r0 = [0, 0, -0.01] } }
under_lid = "PointSurface"
""",
        encoding="utf-8",
    )
    trace = run(tmp_path / "drop.toml").trace
    first, last = (dict(zip(trace.names, row, strict=True)) for row in trace.values[[0, -1]])
    assert [first[f"body.point[{i}].r[1]"] for i in (1, 2, 3)] == [0.1, 0.2, 0.0]
    assert first["lid.attach[3].r[3]"] == 0.3 - 0.01
    assert (first["floor.depth"], first["floor.contact.r[1]"]) == (0.01, 0.2)
    assert first["under_lid.depth"] == pytest.approx(0.3, rel=1e-15)
    assert last["lid.frame.v[3]"] < 0.0 < last["body.frame.v[3]"]
    whole = assembly_of_scenario(read_scenario(tmp_path / "drop.toml"))
    assert {name: whole[name].kind for name in ("body.point[2].f[3]", "lid.attach[3].t[1]", "body.point[3].f[1]")} == {
        "body.point[2].f[3]": "output",
        "lid.attach[3].t[1]": "output",
        "body.point[3].f[1]": "input",
    }
    wrong = tmp_path / "wrong.toml"
    wrong.write_text((tmp_path / "drop.toml").read_text().replace("point[2]", "point[4]"), encoding="utf-8")
    with pytest.raises(InputError, match=r"body\.point\[4\].*point\[[123]\]"):
        run(wrong)


@pytest.mark.slow
def test_coupled_by_fmpy_a_falling_block_converges_to_the_same_in_one_fmu(tmp_path: Path) -> None:
    """The force is held over the step: an error of first order, through the first impact."""
    text = """
connections = [
    ["body.point[1]", "floor.point[1]"], ["body.point[2]", "floor.point[2]"],
    ["body.point[3]", "floor.point[3]"], ["body.point[4]", "floor.point[4]"],
]
[experiment]
stop = "0.1 s"
step = "{step} us"
output_step = "0.1 s"
algorithm = "gauss_seidel"
[slaves]
body = {{ recipe = "RigidBlock", start = {{ r0 = [0, 0, 0.14], q0 = [1, 0.03, 0.04, -0.015], v0 = [0.3, 0, 0] }} }}
floor = {{ recipe = "FourPointSurface", start = {{ C_F = 1e5, C_r = 0.5, K_fr = 0.3 }} }}
"""
    literal("FourPointSurface", tmp_path)
    path = tmp_path / "drop.toml"
    names = [f"body.frame.{x}[{k}]" for x in "vw" for k in (1, 2, 3)]
    coupled = []
    for step in (20, 10):
        path.write_text(text.format(step=step), encoding="utf-8")
        trace = run(path).trace
        coupled.append(np.array([trace.values[-1, trace.names.index(name)] for name in names]))
    one = Running(load_shipped("BodyOnFloor", tmp_path), {"initial_angular_velocity": (0.0, 0.0, 0.0)})
    one.step(0.1)
    exact = np.array([*one.vector("velocity"), *one.vector("angular_velocity")])
    assert sum(one[f"floor.contact_count[{i}]"] for i in range(1, 5)) > 0
    errors = [np.abs(values - exact).max() for values in coupled]
    assert errors[1] < 0.02 * np.abs(exact).max()
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.3)


def test_a_contact_presses_and_turns_the_block_it_stands_on(block: Fmu) -> None:
    running = Running(block, {"g": (0.0, 0.0, 0.0), "point[1].f": (0.0, 0.0, 8.0)})
    corner = running.vector("point[1].r")
    assert list(corner) == pytest.approx([0.2, 0.15, -0.1])
    assert running["acceleration[3]"] == 8.0
    moments = running.values([f"der(spin[{k}])" for k in (1, 2, 3)]) * (0.13 + 0.2 + 0.25) / 12.0 / 3.0
    assert moments == pytest.approx(np.cross(corner, [0.0, 0.0, 8.0]), rel=1e-14)


# ---- rules -----------------------------------------------------------------------------------------------------------

TURNED = attitude(np.array([0.5, -0.1, 0.7, 0.5]))
WRONG = {
    "a negative moment": ({"J_xx": -1.0}, "J_xx = -1 kg.m2 is refused, it must be greater than 0 kg.m2"),
    "no moment": ({"J_zz": 0.0}, "J_zz = 0 kg.m2: it must be greater than 0 kg.m2"),
    "a saddle": (
        {"J_xx": 1.0, "J_yy": 1.0, "J_zz": 1.0, "J_xy": 2.0},
        "is not positive definite: its principal moments are 3, 1 and -1 kg.m2",
    ),
    "a rod without thickness": (
        {"J_xx": 1.0, "J_yy": 1.0, "J_zz": 2.0, "J_xy": -1.0},
        "J_xy = -1, J_xz = 0, J_yz = 0 kg.m2 is not positive definite",
    ),
    "no body": (
        {"J_xx": 1.0, "J_yy": 1.0, "J_zz": 2.1},
        "is that of no body: its largest principal moment 2.1 kg.m2 is greater than the sum of the other two, 1 and 1",
    ),
    "no body, turned": (
        elements(TURNED @ np.diag([1.0, 2.0, 4.0]) @ TURNED.T),
        "its largest principal moment 4 kg.m2 is greater than the sum of the other two, 2 and 1 kg.m2",
    ),
    "no orientation": ({"q0": (0.1, 0.2, 0.0, 0.0)}, "q0 = (0.1, 0.2, 0, 0): the length of a quaternion must be 1"),
    "no mass": ({"m": 0.0}, "m = 0 kg: it must be greater than 0 kg"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_what_no_body_can_have_is_refused_by_its_values(body: Fmu, fault: str) -> None:
    values, said = WRONG[fault]
    running = Running.in_initialization(body)
    refused = running.slave.set(scalars(values)) != OK
    assert refused or running.slave.call("fmi2ExitInitializationMode") == ERROR
    assert any(said in text for text in running.told), running.told


def test_a_tensor_that_is_tuned_out_of_reach_is_refused_before_the_next_step(body: Fmu) -> None:
    running = Running(body, TUMBLING)
    running.step(1.0)
    running.set({"J_yz": 2.3})
    assert running.slave.step(running.time, 1.0) == ERROR
    assert "is not positive definite" in running.told[-1] and "J_yz = 2.3" in running.told[-1]


def test_flat_bodies_are_bodies_also_when_their_tensor_is_rounded(body: Fmu) -> None:
    flat = elements(TURNED @ np.diag([1.0, 2.0, 3.0]) @ TURNED.T)
    for values in (flat, {name: float(f"{value:.6g}") for name, value in flat.items()}):
        running = Running(body, {**values, "w0": (0.6, 0.05, 0.8)})
        momentum, energy = running.vector("angular_momentum"), running["energy.kinetic"]
        running.step(0.1)
        assert list(running.vector("angular_momentum")) == list(momentum)
        assert running["energy.kinetic"] - energy == pytest.approx(0.5 * (9.81 * 0.1) ** 2, rel=1e-9)  # it falls


def test_all_faults_are_told_at_once(body: Fmu) -> None:
    running = Running.in_initialization(body)
    running.set({"m": 0.0, "J_xx": 1.0, "q0": (0.0, 0.0, 0.0, 0.0)})
    assert np.isfinite(running.vector("frame.q", 4)).all()
    assert running.slave.call("fmi2ExitInitializationMode") == ERROR
    for said in ("m = 0 kg", "q0 = (0, 0, 0, 0)", "is that of no body"):
        assert any(said in text for text in running.told), said
