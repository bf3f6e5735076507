"""The balances of elements whose forces are held: what the bodies lost is what the element stores, dissipated and
switched, less what holding its force made, whatever the master does.

A kilogram is moved by the test itself, by the force that acted on it: the work on the element is known exactly."""

from __future__ import annotations

import numpy as np
import pytest
from fmi2 import OK, Fmu, load_shipped
from numpy.typing import ArrayLike, NDArray
from running import Running, build
from scipy.integrate import solve_ivp

UNKNOWN, SEQUENTIAL, PARALLEL = 1, 2, 3  # of coupling.order
JACOBI, GAUSS_SEIDEL = "jacobi", "gauss_seidel"
EXACT, SEMI_IMPLICIT = 0.5, 1.0  # position rule of the integrator of the body
ORDERS = pytest.mark.parametrize(
    ("master", "order"),
    [(JACOBI, UNKNOWN), (JACOBI, PARALLEL), (GAUSS_SEIDEL, UNKNOWN), (GAUSS_SEIDEL, SEQUENTIAL)],
)
RULES = pytest.mark.parametrize("beta", [EXACT, SEMI_IMPLICIT])
H = 1e-3
FLOOR = """
element = "point_surface"
[surface]
kind = "plane"
[structure]
coupling = true
bristle = {bristle}
{points}
[start]
C_r = 0.5
K_fr = 0.3
"""
FLOORS = {"ramp": (1, False), "bristle": (1, True), "four points": (4, False), "four bristles": (4, True)}


@pytest.fixture(scope="module")
def floors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Fmu]:
    folder, made = tmp_path_factory.mktemp("floors"), {}
    for name, (points, bristle) in FLOORS.items():
        several = f"points = {points}" if points > 1 else ""
        recipe = FLOOR.format(points=several, bristle=str(bristle).lower())
        stiff = "k_B = 1e5\nc_B = 100\n" if bristle else ""
        made[name] = build(folder, name.title().replace(" ", ""), recipe + stiff)
    return made


class Block:
    """1 kg that does not turn, on its corners."""

    def __init__(
        self, floor: Fmu, points: int, master: str, order: int, beta: float = EXACT,
        z: float = 2.3e-3, v: ArrayLike = (0.7, 0.0, -1.0), **values: float,
    ) -> None:  # fmt: skip
        self.master, self.beta, self.work = master, beta, 0.0
        self.r, self.v = np.array([0.0, 0.0, z]), np.array(v, dtype=float)
        corners = [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.1, 0.1, 0.0), (0.0, 0.1, 0.0)][:points]
        names = ["point"] if points == 1 else [f"point[{k + 1}]" for k in range(points)]
        self.corners = dict(zip(names, corners, strict=True))
        self.contact = Running(floor, {"coupling.order": order, "C_F": 1e5 / points, **values, **self.motion()})

    def motion(self) -> dict[str, ArrayLike]:
        motion: dict[str, ArrayLike] = {}
        for name, arm in self.corners.items():
            motion |= {f"{name}.r": self.r + arm, f"{name}.v": self.v}
        return motion

    def force(self) -> NDArray[np.float64]:
        return np.sum([self.contact.vector(f"{name}.f") for name in self.corners], axis=0)

    def step(self) -> None:
        before = self.force()
        self.contact.set(self.motion())
        self.contact.step(H)
        f = before if self.master == JACOBI else self.force()
        a = f + self.outer_force()
        self.work -= float(f @ (H * (self.v + 0.5 * H * a)))
        self.r, self.v = self.r + H * (self.v + self.beta * H * a), self.v + H * a

    def outer_force(self) -> NDArray[np.float64]:
        return np.zeros(3)

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.step()

    def see(self) -> None:
        """The last interval is over."""
        self.contact.set(self.motion())
        self.contact.step(H)

    @property
    def made(self) -> float:
        """J, by holding the forces."""
        return sum(self.contact[f"coupling.energy[{k + 1}]"] for k in range(len(self.corners)))

    def assert_closed(self) -> None:
        self.see()
        assert self.contact["energy.residual"] == pytest.approx(-self.made, abs=1e-12)
        assert self.contact["energy.work"] == pytest.approx(self.work, abs=1e-12)


class PressedBlock(Block):
    """An axis of 3e4 N/m and 300 N s/m, held in each interval, moves it 10 mm into the floor."""

    def outer_force(self) -> NDArray[np.float64]:
        return np.array([0.0, 0.0, -3e4 * (self.r[2] + 0.01) - 300.0 * self.v[2]])


class GuidedBlock(Block):
    """An axis of 1.73e5 N/m and 480 N s/m moves it 2.08 mm down in 18.75 ms; its force follows within the interval."""

    time = 0.0

    def step(self) -> None:
        before = self.force()
        self.contact.set(self.motion())
        self.contact.step(H)
        f = float((before if self.master == JACOBI else self.force())[2])

        def rate(t: float, y: NDArray[np.float64]) -> ArrayLike:
            axis = 8.33e-4 - 2.08e-3 * min(t / 0.01875, 1.0)
            return [y[1], f - 23.5 - 1.73e5 * (y[0] - axis) - 480.0 * y[1]]

        span = (self.time, self.time + H)
        end = solve_ivp(rate, span, [self.r[2], self.v[2]], rtol=1e-9, atol=1e-12, max_step=H / 2).y[:, -1]
        self.r[2], self.v[2], self.time = end[0], end[1], span[1]


@pytest.mark.parametrize(("z", "C_F"), [(4.167e-4, 5.76e5), (3.2e-4, 4e5)])
@pytest.mark.slow
def test_a_lag_that_is_found_off_the_surface_changes_the_books_at_once(
    floors: dict[str, Fmu], z: float, C_F: float
) -> None:
    block = GuidedBlock(floors["ramp"], 1, JACOBI, UNKNOWN, z=z, v=(0.0, 0.0, -0.5), C_F=C_F)
    found = []
    for _ in range(20):
        lag = block.contact["coupling.lag[1]"]
        block.step()
        if block.contact["coupling.lag[1]"] != lag and block.force()[2] == 0.0:
            found.append(block.time)
        assert block.contact["energy.residual"] == pytest.approx(-block.made, abs=1e-12)
    assert found


PRESSED_BY_LAW = -2.648e-3  # m, after 41 ms under the law, the axis held in each ms (scipy's LSODA)


@ORDERS
@pytest.mark.parametrize("kind", FLOORS)
@pytest.mark.parametrize("speed", [0.0, 0.7])
def test_a_contact_that_an_axis_presses_on_books_what_the_body_lost_and_rubs_within_its_limit(
    floors: dict[str, Fmu], kind: str, master: str, order: int, speed: float
) -> None:
    """It is where the law has it after 40 steps."""
    block = PressedBlock(floors[kind], FLOORS[kind][0], master, order, v=(speed, 0.0, -1.0))
    away = 0.0
    for k in range(80):
        block.step()
        away = block.r[2] / PRESSED_BY_LAW - 1.0 if k == 40 else away
        for name in block.corners:
            f = block.contact.vector(f"{name}.f")
            assert np.hypot(f[0], f[1]) <= 0.3 * f[2] * (1 + 1e-9) + 1e-12
    print(f"{kind}, {master}, order {order}, {speed} m/s: {100 * away:.1f} % deeper than the law")
    assert abs(away) < 0.03
    block.assert_closed()


@ORDERS
@RULES
@pytest.mark.parametrize("kind", FLOORS)
@pytest.mark.parametrize(("z", "v"), [(2.3e-3, (0.7, 0.0, -1.0)), (-0.01, (1.0, 0.0, 0.0)), (-0.01, (0.0, 0.0, 0.0))])
def test_a_contact_books_what_the_body_lost_with_the_lag_that_it_finds(
    floors: dict[str, Fmu], kind: str, master: str, order: int, beta: float, z: float, v: tuple[float, ...]
) -> None:
    """A body that starts deep is thrown out before the lag is known: what was booked with another one is put right."""
    block = Block(floors[kind], FLOORS[kind][0], master, order, beta, z, v)
    block.run(40)
    assert block.r[2] > 0.0
    block.assert_closed()


@ORDERS
@pytest.mark.parametrize("kind", FLOORS)
@pytest.mark.parametrize("to", [-6e-3, 5e-3])
def test_what_a_contact_stores_where_it_is_put_elsewhere_is_switched_energy(
    floors: dict[str, Fmu], kind: str, master: str, order: int, to: float
) -> None:
    """Whoever moves the body does the work, and not the force: of the interval that ends there nothing is booked.  What
    bristles of points that are out of contact held is friction."""
    block = Block(floors[kind], FLOORS[kind][0], master, order, z=2.3e-3)
    while block.r[2] > -2e-3:
        work = block.work
        block.step()
    stored, booked, block.work = block.contact["energy.elastic"], block.contact["energy.work"], work
    rubbed = block.contact["energy.friction"]
    block.r[2] = to
    block.step()
    switched = block.contact["energy.switched"]
    relaxed = block.contact["energy.friction"] - rubbed
    assert switched + relaxed == pytest.approx(stored - block.contact["energy.elastic"], abs=1e-12)
    assert (relaxed > 1e-6) == (FLOORS[kind][1] and to > 0.0)
    assert block.contact["energy.work"] == pytest.approx(booked, abs=1e-12)
    block.run(20)
    assert block.contact["energy.switched"] == switched
    block.assert_closed()


@ORDERS
@RULES
@pytest.mark.parametrize("kind", FLOORS)
def test_laws_that_change_in_a_contact_leave_no_gap(
    floors: dict[str, Fmu], kind: str, master: str, order: int, beta: float
) -> None:
    points, bristle = FLOORS[kind]
    block = Block(floors[kind], points, master, order, beta)
    block.run(5)
    block.contact.set({"C_F": 3e5 / points})
    block.run(2)
    block.contact.set({"C_F": 1e5 / points, "C_r": 0.2, "K_fr": 0.1, **({"k_B": 3e5} if bristle else {})})
    block.run(1)
    assert block.contact["energy.elastic"] > 0.0 and abs(block.contact["energy.switched"]) > 0.01
    block.run(30)
    block.assert_closed()


@pytest.mark.parametrize(("master", "order"), [(JACOBI, PARALLEL), (GAUSS_SEIDEL, SEQUENTIAL)])
@pytest.mark.parametrize("change", [{"K_fr": 0.1}, {"K_fr": 0.9}, {"c_B": 10.0}, {"c_B": 1e3}, {"k_B": 3e5}])
def test_friction_that_changes_while_the_tip_slips_makes_no_energy_in_the_interval_before(
    floors: dict[str, Fmu], master: str, order: int, change: dict[str, float]
) -> None:
    """Of a body that is known nothing is made along the surface.  A force that acts one interval late is that of the
    K_fr before for an interval more: it makes the friction of that interval by the difference, and less where the tip
    of the bristle sticks first."""
    known = {"coupling.m_eff": 1.0, "coupling.identify": 0.0, "C_r": 1.0}
    block = Block(floors["bristle"], 1, master, order, **known)
    block.run(6)
    block.contact.set(change)
    late = 0.0
    for k in range(20):
        N, v = float(block.contact.vector("point.f")[2]), block.v[0]
        block.step()
        if k == 0 and master == JACOBI:
            late = (change.get("K_fr", 0.3) - 0.3) * N * H * 0.5 * (v + block.v[0])
    block.see()
    made = block.contact["coupling.energy[1]"]
    assert 0.1 * late < made < late if late > 0.0 else made == pytest.approx(late, abs=1e-12)
    block.assert_closed()


@ORDERS
@pytest.mark.parametrize("kind", FLOORS)
@pytest.mark.parametrize("repeats", [False, True])
def test_the_last_interval_of_a_held_force_is_booked_where_the_law_takes_its_place(
    floors: dict[str, Fmu], kind: str, master: str, order: int, repeats: bool
) -> None:
    """As the master repeats a step with other inputs, or gives their derivatives; here in steps of 1 ns."""
    block = Block(floors[kind], FLOORS[kind][0], master, order)
    block.run(5)
    contact = block.contact
    if repeats:
        before, time = contact.slave.get_state(), contact.time
        contact.set(block.motion() | {f"{name}.v": 1.001 * block.v for name in block.corners})
        contact.step(1e-9)
        assert contact.slave.call("fmi2SetFMUstate", before) == OK
        contact.time = time
    contact.set(block.motion())
    if not repeats:
        contact.rates({f"{name}.r": block.v for name in block.corners})
    contact.step(1e-9)
    assert contact["coupling.in_force[1]"] == 0
    assert contact["energy.work"] == pytest.approx(block.work, abs=1e-6)
    assert contact["energy.residual"] == pytest.approx(-block.made, abs=1e-6)


def test_a_bristle_goes_the_way_of_its_point_once_where_inputs_change_within_the_step(floors: dict[str, Fmu]) -> None:
    """It is stretched by 20 um: k_B z + c_B v, and k_B z^2/2 + c_B v z of work."""
    contact, v = Running(floors["bristle"], {"point.r": (0.0, 0.0, -1e-3), "point.v": (1e-3, 0.0, 0.0)}), 1e-3
    for k in range(20):
        contact.set({"point.r": (k * v * H, 0.0, -1e-3), "point.v": (v, 0.0, 0.0)})
        contact.rates({"point.r": (v, 0.0, 0.0), "point.v": (0.0, 0.0, 0.0)})
        contact.step(H)
    z = 20 * v * H
    assert contact.vector("point.f")[0] == pytest.approx(-(1e5 * z + 100 * v), rel=1e-9)
    assert contact["energy.work"] == pytest.approx(0.5e5 * z**2 + 100 * v * z, rel=1e-9)
    assert abs(contact["energy.residual"]) < 1e-12


K = 1e3  # N/m


class Slider:
    """1 kg on a spring or a damper to the ground."""

    def __init__(self, element: Fmu, master: str, order: int, beta: float = EXACT, **values: float) -> None:
        self.master, self.beta, self.work, self.x, self.v = master, beta, 0.0, 0.01, -1.0
        self.places = "r.s" in element.references
        self.element = Running(element, {"coupling.order": order, **values, **self.motion()})

    def motion(self) -> dict[str, ArrayLike]:
        return {"r.v": self.v, **({"r.s": self.x} if self.places else {})}

    def aside(self, k: float) -> float:
        """What the spring stores more at the place that is seen than at that on the parabola of the body."""
        x = self.x - (self.beta - 0.5) * 5 * H * self.v
        return 0.5 * k * (self.x**2 - x**2) if self.places else 0.0

    def step(self) -> None:
        before = self.element["r.F"]
        self.element.set(self.motion())
        self.element.step(5 * H)
        f = before if self.master == JACOBI else self.element["r.F"]
        self.work -= 5 * H * f * (self.v + 2.5 * H * f)
        self.x, self.v = self.x + 5 * H * (self.v + self.beta * 5 * H * f), self.v + 5 * H * f

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.step()

    def see(self, H: float) -> None:
        self.element.set(self.motion())
        self.element.step(H)


AXES = {
    "spring": ("translational_spring", "", "k"),
    "by places": ("translational_spring", "positions = true\n", "k"),
    "damper": ("translational_damper", "", "d"),
}


@pytest.fixture(scope="module")
def axes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Fmu]:
    folder = tmp_path_factory.mktemp("axes")
    recipe = 'element = "{}"\n[structure]\ncoupling = true\n{}'
    return {name: build(folder, name.title().replace(" ", ""), recipe.format(*of)) for name, of in AXES.items()}


@ORDERS
@RULES
@pytest.mark.parametrize("kind", AXES)
@pytest.mark.parametrize("at", [3, 30])
def test_a_spring_or_damper_books_what_the_body_lost_though_its_law_changes(
    axes: dict[str, Fmu], kind: str, master: str, order: int, beta: float, at: int
) -> None:
    law, values = AXES[kind][2], (K, 3 * K) if kind != "damper" else (20.0, 60.0)
    at_start = {"x0": 0.01} if kind == "spring" else {}
    slider = Slider(axes[kind], master, order, beta, **{law: values[0]}, **at_start)
    start = slider.aside(values[0])
    slider.run(at)
    slider.element.set({law: values[1]})
    slider.run(60)
    slider.see(5 * H)
    lost = slider.work + slider.aside(values[1]) - start
    assert slider.element["energy.work"] == pytest.approx(lost, abs=1e-12)
    assert slider.element["energy.residual"] == pytest.approx(-slider.element["coupling.energy"], abs=1e-12)


@ORDERS
@pytest.mark.parametrize("kind", AXES)
def test_a_spring_or_damper_shows_what_its_last_held_force_made_where_the_law_takes_its_place(
    axes: dict[str, Fmu], kind: str, master: str, order: int
) -> None:
    slider = Slider(axes[kind], master, order, **{AXES[kind][2]: K if kind != "damper" else 20.0})
    slider.run(20)
    slider.element.set(slider.motion())
    slider.element.rates({"r.v": 0.0})
    slider.element.step(1e-12)
    assert slider.element["coupling.in_force"] == 0
    assert slider.element["energy.residual"] == pytest.approx(-slider.element["coupling.energy"], abs=1e-9)


class Bead(Block):
    """1 kg on a straight rail along x that ends at 1 m."""

    def __init__(self, rail: Fmu, master: str, order: int, beta: float, x: float, **values: float) -> None:
        self.master, self.beta, self.work = master, beta, 0.0
        self.r, self.v = np.array([x, 1e-3, 0.0]), np.array([0.6, 0.0, 0.0])
        self.corners = {"point": (0.0, 0.0, 0.0)}
        self.contact = Running(rail, {"coupling.order": order, "k_r1": 1e4, "k_r2": 1e4, **values, **self.motion()})

    @property
    def made(self) -> float:
        return self.contact["coupling.energy"]

    def aside(self, k: float) -> float:
        across = (self.r - (self.beta - 0.5) * H * self.v)[1:]
        return 0.5 * k * float(self.r[1:] @ self.r[1:] - across @ across)


@pytest.fixture(scope="module")
def rail(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("GuideRail", tmp_path_factory.mktemp("rail"))


@ORDERS
@RULES
@pytest.mark.parametrize("leaves", [False, True])
def test_a_guide_books_what_the_body_lost_though_its_law_changes_or_the_point_leaves_it(
    rail: Fmu, master: str, order: int, beta: float, leaves: bool
) -> None:
    """Under Jacobi the force of the last sample on the rail acts on behind its end."""
    bead = Bead(rail, master, order, beta, 0.95 if leaves else 0.5, K_fr=0.0 if leaves else 0.1, normDamp=1.0)
    bead.run(40)
    bead.contact.set({"k_r1": 3e4, "k_r2": 3e4})
    bead.run(80)
    assert (bead.r[0] > 1.0) == leaves
    bead.work += 0.0 if leaves else bead.aside(3e4)
    bead.assert_closed()
