"""What an FMU says, to whom, and when; and how it is created."""

from __future__ import annotations

import ctypes
import math
import xml.etree.ElementTree as ElementTree
import zipfile
from ctypes import byref, c_void_p
from pathlib import Path

import pytest
from fmi2 import (
    CO_SIMULATION,
    DISCARD,
    ERROR,
    MODEL_EXCHANGE,
    OK,
    WARNING,
    Fmu,
    Importer,
    Slave,
    integers,
    load_literal,
    only,
    reals,
    references,
    strings,
)

STANDARD = {"logStatusWarning", "logStatusDiscard", "logStatusError"}


@pytest.fixture
def slave(surface: Fmu) -> Slave:
    return surface.slave()


def declared_categories(fmu: Fmu) -> set[str]:
    with zipfile.ZipFile(fmu.file) as archive:
        root = ElementTree.fromstring(archive.read("modelDescription.xml"))
    return {category.attrib["name"] for category in root.iterfind("LogCategories/Category")}


def provoke(slave: Slave) -> dict[str, int]:
    """One message in each category the FMU has, all in the mode 'step complete': category -> its status."""
    if "point.r[3]" in slave.fmu.references:
        assert slave.set({"point.r[3]": -2.0 * slave.get("D_max")[0]}) == OK
        assert slave.step(slave.get("time")[0], 0.1) == OK
        assert slave.set({"point.r[3]": -0.5 * slave.get("D_max")[0]}) == OK
        assert slave.step(slave.get("time")[0], 0.1) == OK  # from the inner side
        assert slave.set({"point.r[3]": -2.0 * slave.get("D_max")[0]}) == OK
        assert slave.step(slave.get("time")[0], 0.1) == OK  # past the limit
    name = "point.r[3]" if "C_F" in slave.fmu.references else "p.f[3]"
    assert slave.set({name: math.nan}) == DISCARD
    assert slave.set({"time": 0.0}) == ERROR
    vr = references(slave.fmu.references[name])
    assert slave.call("fmi2SetRealInputDerivatives", vr, 1, integers(2), reals(0.0)) == WARNING
    return {m.category: m.status for m in slave.importer.messages}


# ---- categories --------------------------------------------------------------------------------------------------


def test_exactly_the_declared_categories_are_logged(surface: Fmu, mass: Fmu) -> None:
    assert declared_categories(mass) == STANDARD
    assert declared_categories(surface) == STANDARD | {"contact"}
    for fmu in (surface, mass):
        slave = fmu.slave()
        slave.initialize()
        assert set(provoke(slave)) == declared_categories(fmu)


def test_the_category_of_a_status_is_that_of_the_standard(slave: Slave) -> None:
    slave.initialize()
    statuses = provoke(slave)
    assert statuses["logStatusWarning"] == WARNING
    assert statuses["logStatusDiscard"] == DISCARD
    assert statuses["logStatusError"] == ERROR
    assert statuses["contact"] in (OK, WARNING)


def test_without_logging_only_errors_are_told(surface: Fmu) -> None:
    slave = surface.slave(logging=False)
    slave.initialize({"point.r[3]": -1e-3})
    assert set(provoke(slave)) == {"logStatusError"}


@pytest.mark.parametrize("category", ["contact", "logStatusWarning", "logStatusDiscard", "logStatusError", "logAll"])
@pytest.mark.parametrize("before", [True, False])
def test_one_category_alone_can_be_switched_on(surface: Fmu, category: str, before: bool) -> None:
    slave = surface.slave(logging=before)
    slave.initialize()
    assert slave.call("fmi2SetDebugLogging", 1, 1, strings(category.encode())) == OK
    expected = declared_categories(surface) if category == "logAll" else {category}
    assert set(provoke(slave)) == expected | {"logStatusError"}


def test_several_categories_can_be_switched_on_and_all_off_again(slave: Slave) -> None:
    slave.initialize()
    assert slave.call("fmi2SetDebugLogging", 1, 2, strings(b"contact", b"logStatusDiscard")) == OK
    assert set(provoke(slave)) == {"contact", "logStatusDiscard", "logStatusError"}
    slave.importer.messages.clear()
    assert slave.call("fmi2SetDebugLogging", 0, 2, strings(b"contact", b"logStatusDiscard")) == OK
    assert set(provoke(slave)) == {"logStatusError"}
    slave.importer.messages.clear()
    assert slave.call("fmi2SetDebugLogging", 1, 0, None) == OK
    assert set(provoke(slave)) == STANDARD | {"contact"}


def test_unknown_categories_are_each_warned_of_and_the_others_hold(slave: Slave) -> None:
    slave.initialize()
    categories = strings(b"contacts", b"contact", b"logEvents", None)
    assert slave.call("fmi2SetDebugLogging", 1, 4, categories) == WARNING
    assert slave.importer.texts == [
        "fmi2SetDebugLogging: the log category 'contacts' is unknown",
        "fmi2SetDebugLogging: the log category 'logEvents' is unknown",
        "fmi2SetDebugLogging: the log category '(NULL)' is unknown",
    ]
    assert {m.category for m in slave.importer.messages} == {"logStatusWarning"}
    slave.importer.messages.clear()
    assert set(provoke(slave)) == {"contact", "logStatusError"}


def test_an_unknown_category_is_not_told_to_who_switches_logging_off(slave: Slave) -> None:
    slave.initialize()
    assert slave.call("fmi2SetDebugLogging", 0, 1, strings(b"contacts")) == WARNING
    assert slave.importer.messages == []


def test_switches_of_the_log_belong_to_the_state(slave: Slave) -> None:
    slave.initialize()
    kept = slave.get_state()
    assert slave.call("fmi2SetDebugLogging", 0, 0, None) == OK
    assert slave.call("fmi2SetFMUstate", kept) == OK
    assert set(provoke(slave)) == STANDARD | {"contact"}
    assert slave.call("fmi2SetDebugLogging", 0, 0, None) == OK
    assert slave.call("fmi2Reset") == OK  # Reset does not
    slave.initialize()
    slave.importer.messages.clear()
    assert set(provoke(slave)) == {"logStatusError"}


# ---- text --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "hostile",
    ["100%", "%s%n%n", "#r5#", "#", "a%%b##c", "%" * 3000, "#" * 999, "é" * 700, "€" * 700, "💥" * 700],
    ids=lambda text: text[:8],
)
def test_text_arrives_finished_whatever_it_quotes(surface: Fmu, hostile: str) -> None:
    slave = surface.slave()
    assert slave.call("fmi2SetDebugLogging", 1, 1, strings(hostile.encode())) == WARNING
    importer = Importer()
    assert surface.instantiate(importer, guid=hostile.encode()) is None
    for message in (*slave.importer.messages, *importer.messages):
        assert message.is_finished
        assert hostile[:200] in message.text or message.text.count(hostile[0]) > 200
    assert surface.guid in only(importer.messages).text or len(hostile) > 500


def test_every_text_is_finished(surface: Fmu, mass: Fmu) -> None:
    for fmu in (surface, mass):
        slave = fmu.slave(name=b"10% #1")
        slave.initialize()
        provoke(slave)
        for message in slave.importer.messages:
            assert message.is_finished
            assert message.instance == "10% #1"


@pytest.mark.parametrize("letter", ["a", "é", "€", "💥"])
@pytest.mark.parametrize("length", [1, 253, 254, 255, 256, 400])
def test_long_instance_names_are_cut_between_characters(surface: Fmu, letter: str, length: int) -> None:
    slave = surface.slave(name=(letter * length).encode())
    assert slave.step(0.0, 0.1) == ERROR
    named = only(slave.importer.messages).instance  # decoding it has not failed
    assert named == letter * len(named)
    assert len(named.encode()) > 251 or len(named) == length


def test_the_name_is_copied(surface: Fmu) -> None:
    name = ctypes.create_string_buffer(b"wheel")
    slave = surface.slave(name=ctypes.cast(name, ctypes.c_char_p))
    name.value = b"XXXXX"
    assert slave.step(0.0, 0.1) == ERROR
    assert only(slave.importer.messages).instance == "wheel"


@pytest.mark.parametrize("environment", [None, 1, 0x7FFF_FFFF_FFFF_FFF0])
def test_the_environment_is_handed_through(surface: Fmu, environment: int | None) -> None:
    importer = Importer(environment=environment)
    assert surface.instantiate(importer, guid=b"wrong") is None
    slave = surface.slave(importer)
    assert slave.step(0.0, 0.1) == ERROR
    assert [message.environment for message in importer.messages] == [environment, environment]


def test_no_logger_is_survived(surface: Fmu) -> None:
    importer = Importer(logger=False)
    assert surface.instantiate(importer, guid=b"wrong") is None
    slave = surface.slave(importer)
    slave.initialize({"point.r[3]": -1e-3})
    assert slave.set({"C_F": -1.0}) == ERROR
    assert slave.call("fmi2SetDebugLogging", 1, 1, strings(b"nothing")) == WARNING
    assert slave.set({"D_max": 0.0}) == OK
    assert slave.step(0.0, 0.1) == ERROR
    assert importer.messages == []


def test_each_instance_logs_to_its_own_importer(surface: Fmu) -> None:
    first = surface.slave(Importer(environment=1), name=b"first")
    second = surface.slave(Importer(environment=2), name=b"second")
    for slave in (first, second):
        assert slave.step(0.0, 0.1) == ERROR
    for slave, expected in ((first, (1, "first")), (second, (2, "second"))):
        message = only(slave.importer.messages)
        assert (message.environment, message.instance) == expected


# ---- contact messages --------------------------------------------------------------------------------------------


def drive(slave: Slave, heights: list[float], speed: float = 0.0, point: str = "point") -> list[list[str]]:
    """The texts logged in each step, the point being put to one height after the other."""
    told = []
    for height in heights:
        slave.importer.messages.clear()
        assert slave.set({f"{point}.r[3]": height, f"{point}.v[3]": speed}) == OK
        assert slave.step(slave.get("time")[0], 0.1) == OK
        told.append(list(slave.importer.texts))
    return told


def test_a_contact_at_the_start_is_told_once_with_its_depth(slave: Slave) -> None:
    slave.initialize({"point.r[3]": -0.0125})
    message = only(slave.importer.messages)
    assert (message.status, message.category) == (OK, "contact")
    assert "start" in message.text
    assert "0.0125 m" in message.text
    assert drive(slave, [-0.0125, -0.0125]) == [[], []]


def test_no_contact_at_the_start_is_not_told(slave: Slave) -> None:
    slave.initialize({"point.r[3]": 0.0})
    assert slave.importer.messages == []


def test_passing_the_limit_depth_is_warned_of_once_a_contact(slave: Slave) -> None:
    slave.initialize({"D_max": 0.025})
    told = drive(slave, [-0.02, -0.03125, -0.04, -0.5, 0.1, -0.02, -0.0375, -0.04], speed=-1.0)
    assert [len(texts) for texts in told] == [0, 1, 0, 0, 0, 0, 1, 0]
    for text, depth in ((told[1][0], "0.03125 m"), (told[6][0], "0.0375 m")):
        assert depth in text
        assert "D_max = 0.025 m" in text


def test_the_warning_of_the_limit_depth_is_a_warning_in_the_category_contact(slave: Slave) -> None:
    slave.initialize({"D_max": 0.025, "point.r[3]": -0.02})
    drive(slave, [-0.03])
    message = only(slave.importer.messages)
    assert (message.status, message.category) == (WARNING, "contact")


def test_entering_from_the_inner_side_is_warned_of(slave: Slave) -> None:
    slave.initialize({"D_max": 0.025, "point.r[3]": -0.5})
    told = drive(slave, [-0.4, -0.02, -0.01, 0.01], speed=1.0)
    assert [len(texts) for texts in told] == [0, 1, 0, 0]
    assert "0.02 m" in told[1][0]
    assert "inner side" in told[1][0]


def test_entering_through_the_surface_is_no_event_to_tell(slave: Slave) -> None:
    slave.initialize({"point.r[3]": 0.05})
    assert drive(slave, [0.05, -0.02, -0.05, -0.01], speed=-1.0) == [[], [], [], []]


def test_the_message_says_which_point(three_points: Fmu) -> None:
    slave = three_points.slave()
    slave.initialize({"point[1].r[3]": 1.0, "point[2].r[3]": 1.0, "point[3].r[3]": -0.01})
    assert "point 3 " in only(slave.importer.messages).text
    assert slave.set({"D_max": 0.02}) == OK
    drive(slave, [-0.01, -0.03], speed=-1.0, point="point[2]")
    assert "point 2 " in slave.importer.texts[0]


# ---- creation ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("guid", [b"{12345678-0000-0000-0000-000000000000}", b"x", None])
def test_a_wrong_guid_gives_no_instance_and_names_both(surface: Fmu, guid: bytes | None) -> None:
    importer = Importer()
    assert surface.instantiate(importer, guid=guid, logging=False) is None
    message = only(importer.messages)
    assert (message.status, message.category, message.instance) == (ERROR, "logStatusError", "slave")
    assert surface.guid in message.text
    assert f"'{guid.decode() if guid else '(NULL)'}'" in message.text
    assert importer.allocated == 0


def test_a_guid_that_is_only_the_beginning_or_longer_is_wrong(surface: Fmu) -> None:
    for guid in (surface.guid[:-1], surface.guid + "}", surface.guid.upper(), surface.guid.strip("{}")):
        if guid != surface.guid:
            assert surface.instantiate(guid=guid.encode()) is None


@pytest.mark.parametrize("name", [b"", None])
def test_an_instance_needs_a_name(surface: Fmu, name: bytes | None) -> None:
    importer = Importer()
    assert surface.instantiate(importer, name=name) is None
    assert "the instance name is empty" in only(importer.messages).text
    assert only(importer.messages).instance == ""


def test_there_are_instances_of_two_types(surface: Fmu) -> None:
    importer = Importer()
    assert surface.instantiate(importer, kind=CO_SIMULATION) is not None
    assert surface.instantiate(importer, kind=MODEL_EXCHANGE) is not None
    assert importer.messages == []
    assert surface.instantiate(importer, kind=2) is None
    assert "the type 2 is neither fmi2ModelExchange (0) nor fmi2CoSimulation (1)" in only(importer.messages).text


@pytest.mark.parametrize(
    "address",
    [
        b"file:///C:/Program%20Files/x/resources",
        b"file:/C:/x/resources",
        b"file:/x/resources",
        b"file://localhost/x/resources/",
        b"file:///x/resources/",
        b"file:///models/f%C3%BCr/resources",
        "file:///models/für/resources".encode(),
        b"/no/uri",
        b"%",
        b"",
        None,
    ],
)
def test_any_address_of_the_resources_will_do(surface: Fmu, address: bytes | None) -> None:
    slave = surface.slave(resources=address)
    slave.initialize({"point.r[3]": -1e-3})
    assert slave.get("normal_force") == [100.0]


def test_freeing_no_instance_frees_nothing_and_leaves_the_others(surface: Fmu) -> None:
    importer = Importer()
    slave = surface.slave(importer)
    slave.initialize()
    before, freed = slave.state(), importer.freed
    surface.library.fmi2FreeInstance(None)
    assert importer.freed == freed and importer.messages == []
    assert slave.state() == before


def test_the_name_of_an_instance_may_be_used_twice(surface: Fmu) -> None:
    first, second = surface.slave(name=b"same"), surface.slave(name=b"same")
    assert first.handle != second.handle


# ---- memory ------------------------------------------------------------------------------------------------------


def test_all_memory_is_given_back(surface: Fmu, mass: Fmu, three_points: Fmu) -> None:
    for fmu in (surface, mass, three_points):
        importer = Importer()
        for k in range(20):
            slave = fmu.slave(importer)
            slave.initialize()
            states = [slave.get_state() for _ in range(3)]
            data = slave.serialize(states[0])
            for _ in range(2):
                place = c_void_p()
                assert slave.deserialize(data, place) == OK
                states.append(place)
            for t in range(5):
                assert slave.step(0.1 * t, 0.1) == OK
            assert slave.call("fmi2SetFMUstate", states[1]) == OK
            assert slave.call("fmi2Reset") == OK
            assert importer.allocated - importer.freed == 6
            for state in states:
                slave.free_state(state)
            slave.free()
            assert importer.allocated == importer.freed == 6 * (k + 1)
        assert importer.messages == []


def test_nothing_but_creation_and_states_allocates(surface: Fmu) -> None:
    slave = surface.slave(Importer(places=1))
    slave.initialize({"point.r[3]": -1e-3})
    for t in range(20):
        assert slave.step(0.1 * t, 0.1) == OK
    provoke(slave)
    assert slave.call("fmi2Reset") == OK
    assert slave.importer.allocated == 1


def test_no_memory_is_a_clean_refusal(surface: Fmu) -> None:
    importer = Importer(places=0)
    assert surface.instantiate(importer) is None
    assert "no memory" in only(importer.messages).text
    importer = Importer(places=2)
    slave = surface.slave(importer)
    slave.initialize()
    kept = slave.get_state()
    before = slave.serialize(kept)
    place = c_void_p()
    assert slave.call("fmi2GetFMUstate", byref(place)) == ERROR
    assert slave.deserialize(before, place) == ERROR
    assert place.value is None
    assert [("no memory for one more state" in text) for text in importer.texts] == [True, True]
    assert slave.call("fmi2GetFMUstate", byref(kept)) == OK  # into memory it has
    assert slave.serialize(kept) == before


def test_without_allocation_a_pool_of_four_serves_instances_and_states(tmp_path: Path) -> None:
    fmu = load_literal("PointSurface", tmp_path)
    importer = Importer(memory=False)
    for _ in range(3):  # freed places serve again
        slaves = [fmu.slave(importer, name=f"slave {i}".encode()) for i in range(3)]
        for i, slave in enumerate(slaves):
            slave.initialize({"point.r[3]": -1e-3 * (i + 1)})
        importer.messages.clear()
        kept = slaves[1].get_state()
        assert fmu.instantiate(importer) is None
        assert "no memory for one more instance" in only(importer.messages).text
        importer.messages.clear()
        place = c_void_p()
        assert slaves[0].call("fmi2GetFMUstate", byref(place)) == ERROR
        assert "no memory for one more state" in only(importer.messages).text
        assert slaves[1].set({"point.r[3]": 1.0}) == OK
        assert slaves[1].step(0.0, 0.1) == OK
        assert [slave.get("normal_force")[0] for slave in slaves] == pytest.approx([100.0, 0.0, 300.0])
        assert slaves[1].call("fmi2SetFMUstate", kept) == OK
        assert slaves[1].get("normal_force") == pytest.approx([200.0])
        slaves[1].free_state(kept)
        fourth = fmu.slave(importer)
        for slave in (*slaves, fourth):
            slave.free()
    assert importer.allocated == 0


def test_no_callbacks_at_all_are_survived(tmp_path: Path) -> None:
    fmu = load_literal("PointSurface", tmp_path)
    create = fmu.library.fmi2Instantiate
    assert create(b"slave", 1, b"wrong", None, None, 0, 1) is None
    assert create(None, 1, fmu.guid.encode(), None, None, 0, 1) is None
    handles = [create(b"slave", 1, fmu.guid.encode(), None, None, 0, 1) for _ in range(5)]
    assert all(handles[:4])
    assert handles[4] is None  # the pool is used up
    slave = Slave(fmu, handles[0], Importer())
    slave.initialize({"point.r[3]": -1e-3})
    assert slave.step(0.0, 0.1) == OK
    assert slave.get("normal_force") == [100.0]
    assert slave.step(5.0, 0.1) == ERROR
    for handle in handles[:4]:
        fmu.library.fmi2FreeInstance(handle)
