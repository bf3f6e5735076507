"""Whole numbers of all types of FMI 3.0 in the master, which has those of 32 bits."""

from __future__ import annotations

import ctypes
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fmu_builder.cosim.fmi3.adaptor import KINDS, name_in_fmi3
from fmu_builder.cosim.slave import Slave, read_slave
from fmu_builder.errors import SlaveError
from fmu_builder.export.toolchain import PLATFORMS, TUPLES, compile_hosted, find_compiler, host_platform

WHOLE = [kind for kind, of in KINDS.items() if of == "Integer"]  # the place is the value reference


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """numbers_fmi3.c with a parameter of each type, named as the type in small letters."""
    folder = tmp_path_factory.mktemp("numbers")
    suffix = PLATFORMS[host_platform()].suffix
    library = folder / f"Numbers{suffix}"
    compiler = find_compiler()
    assert compiler is not None
    compile_hosted([Path(__file__).with_name("numbers_fmi3.c")], library, [], compiler, [])
    kept = 'causality="parameter" variability="tunable" start="0"'
    variables = "".join(
        f'<{kind} name="{kind.lower()}" valueReference="{place}" {kept}/>'
        for place, kind in enumerate([*WHOLE, "Float32"])
    )
    with zipfile.ZipFile(folder / "Numbers.fmu", "w") as archive:
        archive.writestr(
            "modelDescription.xml",
            '<?xml version="1.0"?><fmiModelDescription fmiVersion="3.0" modelName="Numbers" instantiationToken="n">'
            f'<CoSimulation modelIdentifier="Numbers"/><ModelVariables>{variables}</ModelVariables>'
            "<ModelStructure/></fmiModelDescription>",
        )
        archive.writestr("resources/table.txt", "1\n")
        archive.write(library, f"binaries/{TUPLES[host_platform()]}/Numbers{suffix}")
    return folder / "Numbers.fmu"


@pytest.fixture
def slave(numbers: Path) -> Iterator[Slave]:
    """Tried out with a start value of each type: the FMU finds its resources there too."""
    description = read_slave(numbers)
    one = Slave("numbers", description, {**{kind.lower(): 7 for kind in WHOLE}, "float32": 0.5})
    yield one
    one.close()


def test_start_values_of_all_types_are_tried_out(slave: Slave) -> None:
    for kind in WHOLE:
        variable = slave.description.variables[kind.lower()]
        slave.set(variable, 99)
        assert slave.get(variable) == 99.0


@pytest.mark.parametrize(
    ("kind", "number", "says"),
    [
        (
            "Int8",
            300,
            "fmi3SetInt8 answered fmi3Error (int8 = 300); it logged: int8: 300 is outside the range of Int8, ",
        ),
        ("UInt64", -1, "uint64: -1 is outside the range of UInt64, 0 ... "),
        (
            "Int64",
            6_000_000_000,
            "int64 = 6000000000 is no whole number of 32 bits",
        ),
    ],
)
def test_a_number_that_its_type_does_not_hold_is_refused(slave: Slave, kind: str, number: int, says: str) -> None:
    with pytest.raises(SlaveError, match=re.escape(says)):
        slave.set(slave.description.variables[kind.lower()], number)


def test_an_answer_beyond_32_bits_is_refused(slave: Slave) -> None:
    variable = slave.description.variables["int64"]
    answer = ctypes.c_int64(5_000_000_000)
    references, one = (ctypes.c_uint * 1)(variable.reference), ctypes.c_size_t(1)
    fmu = slave.fmu.adaptor.fmu
    assert fmu.fmi3SetInt64(ctypes.c_void_p(1), references, one, ctypes.byref(answer), one) == 0
    says = "fmi3GetInt64 answered fmi3Error (int64); it logged: int64: 5000000000 is outside the range of the master, "
    with pytest.raises(SlaveError, match=re.escape(says)):
        slave.get(variable)


def test_a_function_for_several_types_is_named_by_those_of_the_fmu() -> None:
    kinds = {0: "Float32", 1: "UInt8", 2: "Enumeration"}
    assert name_in_fmi3("fmi2SetInteger, fmi2GetReal", kinds) == "fmi3SetUInt8 or fmi3SetInt64, fmi3GetFloat32"
