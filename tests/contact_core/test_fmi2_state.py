"""Saved, restored, moved, reset: an instance goes on with the same bits.  So do many at once, and in threads."""

from __future__ import annotations

import ctypes
import math
import random
import struct
import threading
from collections.abc import Callable, Iterator
from ctypes import byref, c_size_t, c_ubyte, c_void_p
from pathlib import Path

import pytest
from checksum import checksum, sealed
from fmi2 import (
    ERROR,
    OK,
    Fmu,
    Importer,
    Slave,
    arrays_behind_variables,
    integers,
    literal,
    load_literal,
    load_shipped,
    only,
    place_in_state,
    reals,
    references,
)

from fmu_builder.model.loader import load_model
from fmu_builder.model.model import Model
from fmu_builder.paths import shipped

STEP = 1e-3
STARTS: dict[str, dict[str, float]] = {
    "PointMass": {},
    "PointSurface": {"k_D": 3.0, "k_E": 0.25},
    "ThreePoints": {"k_D": 3.0, "k_E": 0.25, "D_max": 1.5e-3},
}
MODELS = tuple(STARTS)


@pytest.fixture(scope="module")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Fmu]:
    load = {name: load_literal if name == "PointSurface" else load_shipped for name in MODELS}
    return {name: load[name](name, tmp_path_factory.mktemp(name)) for name in MODELS}


@pytest.fixture(scope="module")
def surface_model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return load_model(literal("PointSurface", tmp_path_factory.mktemp("model")))


@pytest.fixture
def surface(fmus: dict[str, Fmu]) -> Fmu:
    return fmus["PointSurface"]


def motion(fmu: Fmu, seed: int) -> Callable[[Slave, int], None]:
    """What an importer sets before step k: points that bounce and slide, a turning surface, forces, a changed
    parameter, `work` switched, input derivatives.  The same k sets the same, whatever came before."""
    names = [name for name in ("point", "point[1]", "point[2]", "point[3]", "p") if f"{name}.r[3]" in fmu.references]

    def apply(slave: Slave, k: int) -> None:
        rng = random.Random(1000 * seed + k)
        values: dict[str, float] = {}
        rates: dict[str, float] = {}
        for i, name in enumerate(names):
            if name == "p":
                values |= {f"p.f[{j}]": rng.uniform(-5.0, 5.0) for j in (1, 2, 3)}
                rates |= {f"p.f[{j}]": rng.uniform(-5.0, 5.0) for j in (1, 2, 3)}
                values["m"] = 1.0 + (k // 7) % 3
                continue
            angle = 0.4 * k + 2.0 * i + seed
            values[f"{name}.r[1]"] = 1.2 * math.sin(0.13 * k + i)
            values[f"{name}.r[3]"] = 2e-3 * math.sin(angle)
            values[f"{name}.v[3]"] = 0.8 * math.cos(angle)
            values[f"{name}.v[1]"] = rng.uniform(-0.1, 0.1)
            rates |= {f"{name}.r[{j}]": values[f"{name}.v[{j}]"] for j in (1, 3)}
        if names != ["p"]:
            values["surface.q[2]"] = rng.uniform(-0.01, 0.01)
            values["surface.w[1]"] = rng.uniform(-0.1, 0.1)
            values["C_F"] = 1e5 * (1 + (k // 11) % 2)
            assert slave.set_boolean("work", k % 17 != 5) == OK
        assert slave.set(values) == OK
        if k % 3 == 1:
            vr = references(*(fmu.references[name] for name in rates))
            order = integers(*[1] * len(rates))
            assert slave.call("fmi2SetRealInputDerivatives", vr, len(rates), order, reals(*rates.values())) == OK

    return apply


def run(slave: Slave, apply: Callable[[Slave, int], None], first: int, last: int) -> bytes:
    """Steps first .. last - 1; the bits of all values after each."""
    bits = b""
    for k in range(first, last):
        apply(slave, k)
        assert slave.step(k * STEP, STEP) == OK, slave.importer.texts
        bits += slave.all_values()
    return bits


def started(fmu: Fmu, importer: Importer | None = None) -> Slave:
    slave = fmu.slave(importer)
    slave.initialize(STARTS[fmu.name])
    return slave


def test_the_motion_of_these_tests_meets_every_regime(fmus: dict[str, Fmu]) -> None:
    """Else bit-equal continuations would prove little."""
    for name in ("PointSurface", "ThreePoints"):
        slave = started(fmus[name])
        apply = motion(slave.fmu, 0)
        suffix = "[1]" if name == "ThreePoints" else ""
        phases = set()
        for k in range(60):
            run(slave, apply, k, k + 1)
            phases.add(slave.get_integer(f"phase{suffix}"))
        assert phases == {-1, 0, 1}
        assert slave.get_integer(f"contact_count{suffix}") > 3
        assert 0.0 not in slave.get("energy.damping", "energy.friction", "energy.work", "energy.switched")


# ---- get and set -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_a_restored_state_goes_on_with_the_same_bits(fmus: dict[str, Fmu], model: str) -> None:
    """Saved at random times, in and out of contact; restored after the instance went elsewhere."""
    fmu, rng = fmus[model], random.Random(7)
    for seed in range(3):
        slave, apply = started(fmu), motion(fmu, seed)
        saved: list[tuple[int, c_void_p]] = []
        bits: list[bytes] = []
        for k in range(60):
            if rng.random() < 0.2:
                saved.append((k, slave.get_state()))
            bits.append(run(slave, apply, k, k + 1))
        assert len(saved) > 3
        end = slave.state()
        rng.shuffle(saved)
        for k, place in saved:
            run(slave, motion(fmu, seed + 50), 60, 60 + rng.randrange(1, 5))
            assert slave.call("fmi2SetFMUstate", place) == OK
            assert run(slave, apply, k, 60) == b"".join(bits[k:])
            assert slave.state() == end


@pytest.mark.parametrize("model", MODELS)
def test_a_state_between_set_and_step_keeps_inputs_and_their_derivatives(fmus: dict[str, Fmu], model: str) -> None:
    slave = started(fmus[model])
    apply = motion(slave.fmu, 3)
    run(slave, apply, 0, 10)
    apply(slave, 10)  # k % 3 == 1: with input derivatives
    kept, before = slave.get_state(), slave.state()
    assert slave.step(10 * STEP, STEP) == OK
    expected = slave.all_values() + run(slave, apply, 11, 20)
    assert slave.call("fmi2SetFMUstate", kept) == OK
    assert slave.state() == before
    assert slave.step(10 * STEP, STEP) == OK
    assert slave.all_values() + run(slave, apply, 11, 20) == expected


@pytest.mark.parametrize("model", MODELS)
def test_a_step_can_be_repeated_with_another_length(fmus: dict[str, Fmu], model: str) -> None:
    """As a master does that halves a step: the result is that of an instance which took the small steps only."""
    slave, small = started(fmus[model]), started(fmus[model])
    apply = motion(slave.fmu, 4)
    run(slave, apply, 0, 12)
    run(small, apply, 0, 12)
    place = slave.get_state()
    assert slave.step(12 * STEP, STEP) == OK
    assert slave.call("fmi2SetFMUstate", place) == OK
    for instance in (slave, small):
        assert instance.step(12 * STEP, STEP / 2) == OK
        assert instance.step(12 * STEP + STEP / 2, STEP / 2) == OK
    assert slave.state() == small.state()


@pytest.mark.parametrize("mode", ["instantiated", "initialization", "step complete", "error", "terminated"])
def test_every_mode_can_be_saved_and_returned_to(surface: Fmu, mode: str) -> None:
    slave = surface.slave()
    assert slave.setup(stop=1.0) == OK
    if mode != "instantiated":
        assert slave.call("fmi2EnterInitializationMode") == OK
    if mode not in ("instantiated", "initialization"):
        assert slave.call("fmi2ExitInitializationMode") == OK
        assert slave.step(0.0, 0.1) == OK
    if mode == "error":
        assert slave.set({"D_max": 0.0}) == OK
        assert slave.step(0.1, 0.1) == ERROR
    if mode == "terminated":
        assert slave.call("fmi2Terminate") == OK
    data, place = slave.state(), slave.get_state()
    other = surface.slave()
    moved = c_void_p()
    assert other.deserialize(data, moved) == OK
    for instance, state in ((slave, place), (other, moved)):
        assert instance.call("fmi2Reset") == OK
        instance.initialize({"C_F": 7e5})
        assert instance.state() != data
        assert instance.call("fmi2SetFMUstate", state) == OK
        assert instance.state() == data


def test_an_instance_in_error_comes_back_with_a_state(surface: Fmu) -> None:
    slave, apply = started(surface), motion(surface, 1)
    run(slave, apply, 0, 10)
    place = slave.get_state()
    expected = run(slave, apply, 10, 20)
    assert slave.set({"D_max": 0.0}) == OK
    assert slave.step(20 * STEP, STEP) == ERROR
    assert slave.call("fmi2SetFMUstate", place) == OK
    assert run(slave, apply, 10, 20) == expected


def test_a_state_moves_to_another_instance(surface: Fmu) -> None:
    slave, apply = started(surface), motion(surface, 2)
    run(slave, apply, 0, 15)
    place = slave.get_state()
    other = surface.slave(name=b"other")  # never initialized
    assert other.call("fmi2SetFMUstate", place) == OK
    assert other.state() == slave.state()
    assert run(other, apply, 15, 30) == run(slave, apply, 15, 30)
    assert other.step(-1.0, 0.1) == ERROR
    assert other.importer.messages[-1].instance == "other"  # the name stays


def test_a_handle_is_used_again(surface: Fmu) -> None:
    slave, apply = started(surface), motion(surface, 2)
    place = slave.get_state()
    address, allocated = place.value, slave.importer.allocated
    run(slave, apply, 0, 5)
    assert slave.call("fmi2GetFMUstate", byref(place)) == OK
    assert (place.value, slave.importer.allocated) == (address, allocated)
    assert slave.serialize(place) == slave.state()
    data = slave.serialize(place)
    run(slave, apply, 5, 8)
    assert slave.call("fmi2GetFMUstate", byref(place)) == OK
    assert slave.deserialize(data, place) == OK  # into the same memory
    assert place.value == address
    assert slave.serialize(place) == data


def test_freeing_no_state_is_fine_and_a_freed_handle_is_null(surface: Fmu) -> None:
    slave = surface.slave()
    assert slave.call("fmi2FreeFMUstate", None) == OK
    place = c_void_p()
    assert slave.call("fmi2FreeFMUstate", byref(place)) == OK
    place = slave.get_state()
    assert slave.call("fmi2FreeFMUstate", byref(place)) == OK
    assert place.value is None
    assert slave.call("fmi2FreeFMUstate", byref(place)) == OK
    assert (slave.importer.allocated, slave.importer.freed) == (2, 1)
    assert slave.importer.messages == []


def test_a_saved_state_is_a_copy(surface: Fmu) -> None:
    slave = started(surface)
    place = slave.get_state()
    data = slave.serialize(place)
    run(slave, motion(surface, 0), 0, 5)
    assert slave.serialize(place) == data
    assert slave.call("fmi2SetFMUstate", place) == OK
    run(slave, motion(surface, 0), 0, 5)
    assert slave.serialize(place) == data


# ---- serialized --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_a_serialized_state_goes_on_in_a_new_instance_with_the_same_bits(fmus: dict[str, Fmu], model: str) -> None:
    fmu = fmus[model]
    slave, apply = started(fmu), motion(fmu, 5)
    for first in (0, 13, 29):
        run(slave, apply, first, {0: 13, 13: 29, 29: 40}[first])
        last = {0: 13, 13: 29, 29: 40}[first]
        data = slave.state()
        other, place = fmu.slave(), c_void_p()
        assert other.deserialize(data, place) == OK
        assert other.call("fmi2SetFMUstate", place) == OK
        assert other.state() == data
        kept = slave.get_state()
        assert run(other, apply, last, last + 10) == run(slave, apply, last, last + 10)
        assert slave.call("fmi2SetFMUstate", kept) == OK


def test_the_format_of_a_serialized_state_is_little_endian_with_a_checksum(surface: Fmu) -> None:
    data = started(surface).state()
    guid = surface.guid.encode()
    assert data[:16] == bytes(8) + b"FMUBSTAT"
    assert struct.unpack_from("<I", data, 16) == (2,)
    assert data[20 : 20 + len(guid)] == guid
    (count,) = struct.unpack_from("<Q", data, 20 + len(guid))
    header = 20 + len(guid) + 8
    assert len(data) == header + 8 * count + 8
    assert 1e5 in struct.unpack_from(f"<{count}d", data, header)  # C_F
    assert data[-8:] == checksum(data[:-8])


def test_a_bad_state_is_refused_with_the_reason(surface: Fmu) -> None:
    slave = started(surface)
    data = slave.state()
    header = 20 + len(surface.guid) + 8
    for bad, reason in (
        (sealed(b"X" + data[1:]), "no state of an FMU of this kind"),
        (sealed(data[:8] + b"X" + data[9:]), "no state of an FMU of this kind"),
        (b"", "no state of an FMU of this kind"),
        (data[:19], "no state of an FMU of this kind"),
        (sealed(data[:16] + struct.pack("<I", 1) + data[20:]), "another version"),
        (data[:20], "damaged or cut short"),
        (sealed(data[:20] + bytes(8)), "damaged or cut short"),
        (data[:40], "damaged or cut short"),
        (data[:header], "damaged or cut short"),
        (data[:-1], "damaged or cut short"),
        (data + b"\0", "damaged or cut short"),
        (sealed(data[:-16] + data[-8:]), f"it has {len(data) - 8} bytes instead of {len(data)}"),
        (sealed(data[:-8] + bytes(16)), f"it has {len(data) + 8} bytes instead of {len(data)}"),
        (sealed(data[: header - 8] + struct.pack("<Q", 1) + data[header:]), "instead of"),
    ):
        slave.importer.messages.clear()
        place = c_void_p()
        if bad:
            assert slave.deserialize(bad, place) == ERROR
        else:
            assert slave.call("fmi2DeSerializeFMUstate", (c_ubyte * 1)(), 0, byref(place)) == ERROR
        text = only(slave.importer.messages).text
        assert text.startswith("fmi2DeSerializeFMUstate: the state is refused: ")
        assert reason in text
        assert place.value is None
    assert slave.state() == data


def test_a_state_of_another_model_is_refused_and_both_are_named(fmus: dict[str, Fmu]) -> None:
    for giver in MODELS:
        for taker in MODELS:
            if giver == taker:
                continue
            slave, place = started(fmus[taker]), c_void_p()
            before = slave.state()
            assert slave.deserialize(started(fmus[giver]).state(), place) == ERROR
            text = only(slave.importer.messages).text
            assert fmus[giver].guid in text
            assert fmus[taker].guid in text
            assert "another model" in text
            assert place.value is None
            assert slave.state() == before


def test_every_single_damaged_byte_is_noticed(surface: Fmu) -> None:
    slave, rng = started(surface), random.Random(0)
    run(slave, motion(surface, 0), 0, 10)
    data = slave.state()
    allocated = slave.importer.allocated
    for i in range(len(data)):
        slave.importer.messages.clear()
        damaged = bytearray(data)
        damaged[i] ^= 1 << rng.randrange(8)
        assert slave.deserialize(bytes(damaged), c_void_p()) == ERROR
        assert "the state is refused" in only(slave.importer.messages).text
    assert slave.importer.allocated == allocated
    assert slave.state() == data


def test_the_first_word_of_a_state_is_zero(fmus: dict[str, Fmu]) -> None:
    """Some importers take it for an address."""
    for fmu in fmus.values():
        slave = started(fmu)
        place = slave.get_state()
        assert ctypes.string_at(place.value or 0, 8) == slave.serialize(place)[:8] == bytes(8)


NUMBERS = ("zero", "type", "mode", "experiment", "stop_defined", "stop_time", "logging", "categories", "dirty")


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ("zero", 1.0),
        ("type", 2.0),
        ("type", 0.5),
        ("mode", 0.0),
        ("mode", 3.0),
        ("mode", 32.0),  # event mode, of an instance for co-simulation
        ("mode", 128.0),
        ("mode", math.nan),
        ("experiment", 2.0),
        ("stop_time", math.inf),
        ("categories", -1.0),
        ("categories", 4294967296.0),
        ("dirty", 1.0),  # without a value that was set
        ("time", math.nan),
        ("C_F", -1.0),
        ("C_F", math.inf),
        ("C_r", 1.5),
        ("work", 2.0),
        ("contact_count", 0.5),
        ("contact_count", 2147483648.0),
        ("previous.in_contact", -1.0),
        ("energy.switched", math.nan),
    ],
)
def test_a_forged_number_under_a_right_checksum_is_refused(
    surface: Fmu, surface_model: Model, number: str, value: float
) -> None:
    """Of the instance, of parameters and inputs, of memory, hidden too; handle and instance stay as they were."""
    slave, model = started(surface), surface_model
    run(slave, motion(surface, 0), 0, 10)
    place = slave.get_state()
    data = slave.serialize(place)
    header = 20 + len(surface.guid) + 8
    at = header + 8 * NUMBERS.index(number) if number in NUMBERS else place_in_state(model, data, number)
    slave.importer.messages.clear()
    assert slave.deserialize(sealed(data[:at] + struct.pack("<d", value) + data[at + 8 :]), place) == ERROR
    text = only(slave.importer.messages).text
    assert text.startswith(f"fmi2DeSerializeFMUstate: the state is refused: {number} = ")
    assert slave.serialize(place) == slave.state() == data


def test_a_state_with_rates_of_inputs_is_taken(surface: Fmu, surface_model: Model) -> None:
    slave, model = started(surface), surface_model
    data = slave.state()
    for array, value in (("input_rates", 0.5), ("given_rates", 1.0), ("sides", -1.0), ("sides", 1.0)):
        at = place_in_state(model, data, array)
        place = c_void_p()
        changed = sealed(data[:at] + struct.pack("<d", value) + data[at + 8 :])
        assert slave.deserialize(changed, place) == OK, slave.importer.texts
        assert slave.serialize(place) == changed


@pytest.mark.parametrize(
    ("array", "value"),
    [
        ("input_rates", math.nan),
        ("input_rates", -math.inf),
        ("given_rates", 0.5),
        ("given_rates", 1.5),
        ("given_rates", math.nan),
        ("sides", 0.5),
        ("sides", -2.0),
    ],
)
def test_a_forged_rate_or_side_is_refused_first_and_last(
    surface: Fmu, surface_model: Model, array: str, value: float
) -> None:
    slave, model = started(surface), surface_model
    run(slave, motion(surface, 0), 0, 10)
    data = slave.state()
    begin, last = place_in_state(model, data, array), arrays_behind_variables(model)[array] - 2  # one is not used
    for at in (begin, begin + 8 * last):
        slave.importer.messages.clear()
        forged = sealed(data[:at] + struct.pack("<d", value) + data[at + 8 :])
        assert slave.deserialize(forged, c_void_p()) == ERROR
        assert f"the state is refused: {array} = " in only(slave.importer.messages).text
    assert slave.state() == data


def test_forged_outputs_are_computed_anew(surface: Fmu, surface_model: Model) -> None:
    """They follow from the rest of the state."""
    slave, model = started(surface), surface_model
    run(slave, motion(surface, 0), 0, 10)
    data = slave.state()
    at = place_in_state(model, data, "normal_force")
    place = c_void_p()
    assert slave.deserialize(sealed(data[:at] + struct.pack("<d", 1e300) + data[at + 8 :]), place) == OK
    assert slave.serialize(place) == data


@pytest.mark.parametrize("name", ["C_F", "point.r[1]"])
def test_a_forged_state_before_the_start_has_parameters_and_inputs(
    surface: Fmu, surface_model: Model, name: str
) -> None:
    """What follows from them is computed at the start; these are not."""
    slave = surface.slave()
    data = slave.state()
    at = place_in_state(surface_model, data, name)
    forged = sealed(data[:at] + struct.pack("<d", math.nan) + data[at + 8 :])
    assert slave.deserialize(forged, c_void_p()) == ERROR
    assert any(f"the state is refused: {name} = " in text for text in slave.importer.texts)


def test_parameters_of_a_forged_state_keep_the_rules(surface: Fmu, surface_model: Model) -> None:
    slave, model = started(surface), surface_model
    data = slave.state()
    at = place_in_state(model, data, "D_max")
    assert slave.deserialize(sealed(data[:at] + bytes(8) + data[at + 8 :]), c_void_p()) == ERROR
    assert "D_max = 0 m: it must be greater than 0 m" in slave.importer.texts[0]
    assert slave.importer.texts[1].endswith("its parameters break a rule")
    assert slave.state() == data


def bouncing(slave: Slave, steps: int) -> Iterator[None]:
    """A kilogram that falls on a floor of 1e5 N/m and holds its force, in steps of 1 ms."""
    z, v, h = 2e-3, 0.0, 1e-3
    for k in range(steps):
        assert slave.set({"point.r[3]": z, "point.v[3]": v}) == OK
        assert slave.step(k * h, h) == OK
        yield
        a = slave.get("point.f[3]")[0] - 9.81
        z, v = z + h * (v + 0.5 * h * a), v + h * a


def swinging(slave: Slave, steps: int) -> Iterator[None]:
    """A kilogram on a spring of 1 N/mm, in steps of 5 ms."""
    v, h = 0.5, 5e-3
    for k in range(steps):
        assert slave.set({"r.v": v}) == OK
        assert slave.step(k * h, h) == OK
        yield
        v += h * slave.get("r.F")[0]


@pytest.mark.parametrize(
    ("name", "moved", "forged"),
    [
        ("PointSurface", bouncing, {"partner[59]": (3.0, -1.0), "partner[9]": (-1e-3,), "port[1]": (2.0,)}),
        ("TranslationalSpring", swinging, {"partner[34]": (3.0, -1.0), "partner[47]": (-1.0,)}),
    ],
)
def test_memory_of_structs_keeps_the_ranges_of_its_header_and_no_state_of_a_run_is_refused(
    tmp_path: Path, name: str, moved: Callable[[Slave, int], Iterator[None]], forged: dict[str, tuple[float, ...]]
) -> None:
    """Lag, length of the interval, admittance and a flag, of what a port learns while a body bounces or swings."""
    fmu, model = load_shipped(name, tmp_path), load_model(shipped("fmus") / f"{name}.toml")
    slave, place, learned = fmu.slave(), c_void_p(), 0.0
    admittance = next(one for one in fmu.references if one.startswith("coupling.admittance"))
    slave.initialize()
    for _ in moved(slave, 300):
        data = slave.state()
        assert slave.deserialize(data, place) == OK, slave.importer.texts
        learned = slave.get(admittance)[0]
    assert 0.5 < learned < 2.0  # else this test shows nothing: W = 1/kg is what there is to learn
    for number, values in forged.items():
        at = place_in_state(model, data, number)
        for value in values:
            slave.importer.messages.clear()
            assert slave.deserialize(sealed(data[:at] + struct.pack("<d", value) + data[at + 8 :]), c_void_p()) == ERROR
            array = number.partition("[")[0]
            assert f"refused: {array} = {value:g} is none of its values" in only(slave.importer.messages).text
    assert slave.state() == data


def test_a_refused_state_leaves_the_handle_as_it_was(surface: Fmu) -> None:
    slave = started(surface)
    place = slave.get_state()
    data = slave.serialize(place)
    assert slave.deserialize(b"X" + data[1:], place) == ERROR
    assert slave.serialize(place) == data


def test_too_little_room_for_a_state_is_an_error_and_nothing_is_written(surface: Fmu) -> None:
    slave = started(surface)
    place, size = slave.get_state(), c_size_t()
    assert slave.call("fmi2SerializedFMUstateSize", place, byref(size)) == OK
    room = (c_ubyte * size.value)(*[7] * size.value)
    for given in (0, 1, size.value - 1):
        slave.importer.messages.clear()
        assert slave.call("fmi2SerializeFMUstate", place, room, given) == ERROR
        assert f"{given} bytes are given, {size.value} are needed" in only(slave.importer.messages).text
        assert set(room) == {7}
    larger = (c_ubyte * (size.value + 9))(*[7] * (size.value + 9))
    assert slave.call("fmi2SerializeFMUstate", place, larger, len(larger)) == OK
    assert bytes(larger[: size.value]) == slave.state()
    assert set(larger[size.value :]) == {7}


# ---- reset -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("mode", ["instantiated", "initialization", "step complete", "error", "terminated"])
def test_reset_brings_back_the_instance_as_created(fmus: dict[str, Fmu], model: str, mode: str) -> None:
    fmu = fmus[model]
    created = fmu.slave().state()
    slave = fmu.slave()
    assert slave.state() == created
    strict = "m" if model == "PointMass" else "D_max"
    assert slave.set({strict: 0.25}) == OK
    assert slave.setup(start=3.0, stop=9.0) == OK
    if mode != "instantiated":
        assert slave.call("fmi2EnterInitializationMode") == OK
    if mode not in ("instantiated", "initialization"):
        assert slave.call("fmi2ExitInitializationMode") == OK
        assert slave.step(3.0, 0.5) == OK
        motion(fmu, 0)(slave, 1)
    if mode == "error":
        assert slave.set({strict: 0.0}) == OK
        assert slave.step(3.5, 0.5) == ERROR
    if mode == "terminated":
        assert slave.call("fmi2Terminate") == OK
    assert slave.state() != created
    assert slave.call("fmi2Reset") == OK
    assert slave.state() == created
    assert slave.call("fmi2EnterInitializationMode") == ERROR  # the experiment is forgotten as well
    slave.initialize()
    assert slave.get("time") == [0.0]


@pytest.mark.parametrize("model", MODELS)
def test_two_runs_with_a_reset_between_are_equal_in_every_bit(fmus: dict[str, Fmu], model: str) -> None:
    slave, apply = started(fmus[model]), motion(fmus[model], 6)
    first = run(slave, apply, 0, 40)
    assert slave.call("fmi2Reset") == OK
    fresh = started(fmus[model])
    slave.initialize(STARTS[model])
    assert run(slave, apply, 0, 40) == first
    assert run(fresh, apply, 0, 40) == first
    assert slave.state() == fresh.state()


# ---- many --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["PointMass", "ThreePoints"])
def test_eight_threads_compute_what_one_does(fmus: dict[str, Fmu], model: str) -> None:
    """Each thread with instances of its own; ctypes releases the interpreter's lock during a call."""
    fmu = fmus[model]
    expected = [run(started(fmu), motion(fmu, seed), 0, 60) for seed in range(8)]
    found: dict[int, bytes] = {}
    together = threading.Barrier(8)

    def work(seed: int) -> None:
        together.wait()
        slave, bystander = started(fmu), started(fmu)
        apply = motion(fmu, seed)
        bits = b""
        for k in range(60):
            bits += run(slave, apply, k, k + 1)
            place = bystander.get_state()
            run(bystander, apply, 0, 1)
            assert bystander.call("fmi2SetFMUstate", place) == OK
            bystander.free_state(place)
        found[seed] = bits
        slave.free()
        bystander.free()

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found.get(seed) for seed in range(8)] == expected


def ride(slave: Slave, seed: int) -> bytes:
    """Long steps with many events inside, about 1 ms each, so that those of several threads overlap."""
    rng, references_of = random.Random(seed), slave.fmu.references
    moved = [n for n in references_of if n.startswith(("point", "surface")) and n.split(".")[1][0] in "rvw"]
    vr, first_order = references(*(references_of[name] for name in moved)), integers(*[1] * len(moved))
    for k in range(20):
        assert slave.set({name: rng.uniform(-0.01, 0.01) for name in moved}) == OK
        rates = reals(*(rng.uniform(-1.0, 1.0) for _ in moved))
        assert slave.call("fmi2SetRealInputDerivatives", vr, len(moved), first_order, rates) == OK
        assert slave.step(0.1 * k, 0.1) == OK, slave.importer.texts
    return slave.state()


def test_overlapping_steps_do_not_disturb_each_other(fmus: dict[str, Fmu]) -> None:
    fmu = fmus["ThreePoints"]
    expected = [ride(started(fmu), seed) for seed in range(8)]
    found: dict[int, bytes] = {}
    threads = [
        threading.Thread(target=lambda seed=seed: found.update({seed: ride(started(fmu), seed)})) for seed in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found.get(seed) for seed in range(8)] == expected


def test_threads_share_the_static_pool(tmp_path: Path) -> None:
    """Without memory callbacks: four places, never given twice."""
    fmu = load_literal("PointSurface", tmp_path)
    holders, lock, clashes, served = set[int](), threading.Lock(), [], []

    def work() -> None:
        for _ in range(200):
            slave = fmu.instantiate(Importer(memory=False))
            if slave is None:
                continue
            assert slave.handle is not None
            handle = slave.handle
            with lock:
                clashes.extend([handle] if handle in holders else [])
                holders.add(handle)
                served.append(handle)
            slave.setup()
            with lock:
                holders.discard(handle)
            slave.free()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert clashes == []
    assert len(served) >= 200
    last = [fmu.instantiate(Importer(memory=False)) for _ in range(5)]
    assert [slave is None for slave in last] == [False] * 4 + [True]


def test_two_hundred_instances_live_side_by_side(fmus: dict[str, Fmu]) -> None:
    fmu, importer = fmus["PointSurface"], Importer()
    slaves = [fmu.slave(importer, name=f"slave {i}".encode()) for i in range(200)]
    for i, slave in enumerate(slaves):
        slave.initialize({"C_F": 1e3 * (i + 1), "point.r[3]": -1e-3})
    for k in range(10):
        for slave in slaves:
            assert slave.step(k * STEP, STEP) == OK
    for i, slave in enumerate(slaves):
        assert slave.get("normal_force", "impulse") == pytest.approx([i + 1.0, (i + 1.0) * 10 * STEP], rel=1e-12)
        slave.free()
    assert importer.allocated == importer.freed == 200
