"""An FMU's functions as they are: every status is returned, every message and every allocation recorded.

fmpy raises on each status above Warning; these tests are about those.  Memory the FMU asks for is filled with 0xFF
(every double NaN) and fenced, so that a read of what was never written, or a write behind the end, shows.
"""

from __future__ import annotations

import ctypes
import re
import tempfile
import zipfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from ctypes import POINTER, c_char_p, c_double, c_int, c_size_t, c_ubyte, c_uint, c_void_p
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fmpy
import pytest

from fmu_builder.export.fmu import host_fmu
from fmu_builder.export.model_data import kept_records
from fmu_builder.export.toolchain import PLATFORMS, host_platform
from fmu_builder.model.model import Model
from fmu_builder.model.toml_files import read_toml
from fmu_builder.paths import catalogue, shipped

# Flags for FMUs of recipes that tests write: they compile in a quarter of the time, and the bits are those of optimized
# code (test_quick_builds.py, tests/platform/test_compilers.py).  The catalogue's are tested as users get them.
QUICK = ("-O0",)

OK, WARNING, DISCARD, ERROR, FATAL, PENDING = range(6)
CO_SIMULATION, MODEL_EXCHANGE = 1, 0
DO_STEP_STATUS, PENDING_STATUS, LAST_SUCCESSFUL_TIME, TERMINATED = range(4)
THREE_POINTS = """
element = "point_surface"
[structure]
points = 3
coupling = false
[surface]
kind = "plane"
x = [-1, 1]
y = [-1, 1]
[start]
C_F = "1e5 N/m"
C_r = 0.5
K_fr = 0.3
"""

_REFERENCES, _REALS, _INTEGERS, _STRINGS = POINTER(c_uint), POINTER(c_double), POINTER(c_int), POINTER(c_char_p)
_STATE, _STATE_PLACE, _BYTES = c_void_p, POINTER(c_void_p), POINTER(c_ubyte)

# Arguments behind the component.
SIGNATURES: dict[str, tuple[Any, ...]] = {
    "fmi2SetDebugLogging": (c_int, c_size_t, _STRINGS),
    "fmi2SetupExperiment": (c_int, c_double, c_double, c_int, c_double),
    "fmi2EnterInitializationMode": (),
    "fmi2ExitInitializationMode": (),
    "fmi2Terminate": (),
    "fmi2Reset": (),
    "fmi2GetReal": (_REFERENCES, c_size_t, _REALS),
    "fmi2GetInteger": (_REFERENCES, c_size_t, _INTEGERS),
    "fmi2GetBoolean": (_REFERENCES, c_size_t, _INTEGERS),
    "fmi2GetString": (_REFERENCES, c_size_t, _STRINGS),
    "fmi2SetReal": (_REFERENCES, c_size_t, _REALS),
    "fmi2SetInteger": (_REFERENCES, c_size_t, _INTEGERS),
    "fmi2SetBoolean": (_REFERENCES, c_size_t, _INTEGERS),
    "fmi2SetString": (_REFERENCES, c_size_t, _STRINGS),
    "fmi2GetFMUstate": (_STATE_PLACE,),
    "fmi2SetFMUstate": (_STATE,),
    "fmi2FreeFMUstate": (_STATE_PLACE,),
    "fmi2SerializedFMUstateSize": (_STATE, POINTER(c_size_t)),
    "fmi2SerializeFMUstate": (_STATE, _BYTES, c_size_t),
    "fmi2DeSerializeFMUstate": (_BYTES, c_size_t, _STATE_PLACE),
    "fmi2GetDirectionalDerivative": (_REFERENCES, c_size_t, _REFERENCES, c_size_t, _REALS, _REALS),
    "fmi2SetRealInputDerivatives": (_REFERENCES, c_size_t, _INTEGERS, _REALS),
    "fmi2GetRealOutputDerivatives": (_REFERENCES, c_size_t, _INTEGERS, _REALS),
    "fmi2DoStep": (c_double, c_double, c_int),
    "fmi2CancelStep": (),
    "fmi2GetStatus": (c_int, _INTEGERS),
    "fmi2GetRealStatus": (c_int, _REALS),
    "fmi2GetIntegerStatus": (c_int, _INTEGERS),
    "fmi2GetBooleanStatus": (c_int, _INTEGERS),
    "fmi2GetStringStatus": (c_int, _STRINGS),
    "fmi2EnterEventMode": (),
    "fmi2NewDiscreteStates": (c_void_p,),
    "fmi2EnterContinuousTimeMode": (),
    "fmi2CompletedIntegratorStep": (c_int, _INTEGERS, _INTEGERS),
    "fmi2SetTime": (c_double,),
    "fmi2SetContinuousStates": (_REALS, c_size_t),
    "fmi2GetDerivatives": (_REALS, c_size_t),
    "fmi2GetEventIndicators": (_REALS, c_size_t),
    "fmi2GetContinuousStates": (_REALS, c_size_t),
    "fmi2GetNominalsOfContinuousStates": (_REALS, c_size_t),
}

_LOGGER = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_char_p, c_char_p)
_ALLOCATE = ctypes.CFUNCTYPE(c_void_p, c_size_t, c_size_t)
_FREE = ctypes.CFUNCTYPE(None, c_void_p)
_STEP_FINISHED = ctypes.CFUNCTYPE(None, c_void_p, c_int)


class CallbackFunctions(ctypes.Structure):
    _fields_ = (
        ("logger", _LOGGER),
        ("allocateMemory", _ALLOCATE),
        ("freeMemory", _FREE),
        ("stepFinished", _STEP_FINISHED),
        ("componentEnvironment", c_void_p),
    )


class EventInfo(ctypes.Structure):
    """fmi2EventInfo."""

    _fields_ = (
        ("newDiscreteStatesNeeded", c_int),
        ("terminateSimulation", c_int),
        ("nominalsOfContinuousStatesChanged", c_int),
        ("valuesOfContinuousStatesChanged", c_int),
        ("nextEventTimeDefined", c_int),
        ("nextEventTime", c_double),
    )


def references(*values: int) -> Any:
    return (c_uint * len(values))(*values)


def reals(*values: float) -> Any:
    return (c_double * len(values))(*values)


def integers(*values: int) -> Any:
    return (c_int * len(values))(*values)


def strings(*values: bytes | None) -> Any:
    return (c_char_p * len(values))(*values)


@dataclass(frozen=True)
class Message:
    """One call of the logger.  `raw` is the text as it arrived, `text` without the doubling of % and #."""

    environment: int | None
    instance: str
    status: int
    category: str
    raw: str

    @property
    def text(self) -> str:
        return self.raw.replace("%%", "%").replace("##", "#")

    @property
    def is_finished(self) -> bool:
        """Nothing for printf or for #r1# is left, and the line has no end."""
        return bool(re.fullmatch(r"(?:[^%#]|%%|##)+", self.raw, re.DOTALL)) and not self.raw.endswith("\n")


@dataclass
class Importer:
    """The importer's side: its callbacks, what it was told, what it gave away.

    logger, memory: false hands a NULL instead, as waits does for stepFinished.   places: how many allocations succeed,
    None for all.   finished: statuses that stepFinished has got"""

    logger: bool = True
    memory: bool = True
    waits: bool = False
    places: int | None = None
    environment: int | None = None
    messages: list[Message] = field(default_factory=list)
    finished: list[int] = field(default_factory=list)
    allocated: int = 0
    freed: int = 0

    _FENCE = b"\xa5" * 64

    def __post_init__(self) -> None:
        self._blocks: dict[int, Any] = {}
        self._logger = _LOGGER(self._log)
        self._allocate = _ALLOCATE(self._give)
        self._free = _FREE(self._take)
        self._finished = _STEP_FINISHED(lambda environment, status: self.finished.append(status))

    def structure(self) -> CallbackFunctions:
        return CallbackFunctions(
            self._logger if self.logger else _LOGGER(),
            self._allocate if self.memory else _ALLOCATE(),
            self._free if self.memory else _FREE(),
            self._finished if self.waits else _STEP_FINISHED(),
            self.environment,
        )

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.messages]

    def _log(self, environment: int | None, instance: bytes, status: int, category: bytes, text: bytes) -> None:
        self.messages.append(Message(environment, instance.decode(), status, category.decode(), text.decode()))

    def _give(self, count: int, size: int) -> int | None:
        if self.places is not None and self.allocated >= self.places:
            return None
        self.allocated += 1
        block = ctypes.create_string_buffer(b"\xff" * (count * size) + self._FENCE, count * size + len(self._FENCE))
        address = ctypes.addressof(block)
        self._blocks[address] = block
        return address

    def _take(self, address: int | None) -> None:
        if address is None:
            return
        block = self._blocks.pop(address)  # KeyError: freed twice, or not ours
        assert block.raw.endswith(self._FENCE), "the FMU wrote behind the end of its memory"
        self.freed += 1


class Fmu:
    """A loaded FMU: one library, any number of instances."""

    def __init__(self, file: Path, folder: Path) -> None:
        """Load the binary of `file` from a copy of its own in `folder`, so that its static memory is fresh."""
        self.file = file
        self.description = fmpy.read_model_description(str(file))
        self.name: str = self.description.coSimulation.modelIdentifier
        self.guid: str = self.description.guid
        self.references = {v.name: v.valueReference for v in self.description.modelVariables}
        self.types = {v.name: v.type for v in self.description.modelVariables}
        platform = host_platform()
        suffix = PLATFORMS[platform].suffix
        path = Path(tempfile.mkdtemp(dir=folder)) / f"{self.name}{suffix}"
        with zipfile.ZipFile(file) as archive:
            path.write_bytes(archive.read(f"binaries/{platform}/{self.name}{suffix}"))
        self.library = ctypes.CDLL(str(path))
        for name, arguments in SIGNATURES.items():
            function = getattr(self.library, name)
            function.restype, function.argtypes = c_int, (c_void_p, *arguments)
        self.library.fmi2FreeInstance.restype, self.library.fmi2FreeInstance.argtypes = None, (c_void_p,)
        create = self.library.fmi2Instantiate
        create.restype = c_void_p
        create.argtypes = (c_char_p, c_int, c_char_p, c_char_p, POINTER(CallbackFunctions), c_int, c_int)

    def names(self, *types: str) -> list[str]:
        return [name for name, type_ in self.types.items() if type_ in types]

    def instantiate(
        self,
        importer: Importer | None = None,
        *,
        name: bytes | None = b"slave",
        kind: int = CO_SIMULATION,
        guid: bytes | None = b"",
        resources: bytes | None = b"file:///models/resources",
        logging: bool = True,
    ) -> Slave | None:
        """A new instance, or None if the FMU refuses.  guid b"" is the right one.  The callbacks' struct is destroyed
        after the call, as FMI 2.0.5 allows."""
        importer = importer or Importer()
        structure = importer.structure()
        guid = self.guid.encode() if guid == b"" else guid
        handle = self.library.fmi2Instantiate(name, kind, guid, resources, ctypes.byref(structure), 0, logging)
        ctypes.memset(ctypes.byref(structure), 0xFF, ctypes.sizeof(structure))
        return Slave(self, handle, importer) if handle else None

    def slave(self, importer: Importer | None = None, **options: Any) -> Slave:
        """A new instance; the FMU must not refuse."""
        slave = self.instantiate(importer, **options)
        assert slave is not None
        return slave


class Slave:
    """One instance.  Its memory belongs to the importer, so forgetting it frees it, unless the pool serves it."""

    def __init__(self, fmu: Fmu, handle: int | None, importer: Importer) -> None:
        self.fmu, self.handle, self.importer = fmu, handle, importer

    def call(self, function: str, *arguments: Any) -> int:
        """The status of a function of FMI 2.0."""
        return int(getattr(self.fmu.library, function)(self.handle, *arguments))

    def free(self) -> None:
        self.fmu.library.fmi2FreeInstance(self.handle)
        self.handle = None

    # ---- values

    def set(self, values: Mapping[str, float]) -> int:
        """fmi2SetReal of all names in one call."""
        vr = references(*(self.fmu.references[name] for name in values))
        return self.call("fmi2SetReal", vr, len(values), reals(*values.values()))

    def set_boolean(self, name: str, value: int) -> int:
        return self.call("fmi2SetBoolean", references(self.fmu.references[name]), 1, integers(value))

    def set_integer(self, name: str, value: int) -> int:
        """Of an Integer or an enumeration."""
        return self.call("fmi2SetInteger", references(self.fmu.references[name]), 1, integers(value))

    def get(self, *names: str) -> list[float]:
        """Reals that must be there."""
        values = reals(*[0.0] * len(names))
        status = self.call(
            "fmi2GetReal", references(*(self.fmu.references[name] for name in names)), len(names), values
        )
        assert status == OK, self.importer.texts
        return list(values)

    def get_integer(self, name: str, kind: str = "Integer") -> int:
        value = integers(99)
        family = "Boolean" if kind == "Boolean" else "Integer"
        assert self.call(f"fmi2Get{family}", references(self.fmu.references[name]), 1, value) == OK
        return int(value[0])

    def all_values(self) -> bytes:
        """The bits of all Reals, Integers and Booleans."""
        bits = bytes(reals(*self.get(*self.fmu.names("Real"))))
        for kind in ("Integer", "Boolean", "Enumeration"):
            bits += bytes(integers(*(self.get_integer(name, kind) for name in self.fmu.names(kind))))
        return bits

    # ---- course

    def setup(self, start: float = 0.0, stop: float | None = None) -> int:
        return self.call("fmi2SetupExperiment", 0, 0.0, start, stop is not None, stop or 0.0)

    def initialize(
        self, values: Mapping[str, float] | None = None, start: float = 0.0, stop: float | None = None
    ) -> None:
        """From instantiated to step complete, with start values."""
        assert self.set(values or {}) == OK, self.importer.texts
        assert self.setup(start, stop) == OK, self.importer.texts
        assert self.call("fmi2EnterInitializationMode") == OK, self.importer.texts
        assert self.call("fmi2ExitInitializationMode") == OK, self.importer.texts

    def step(self, t: float, h: float) -> int:
        return self.call("fmi2DoStep", t, h, 0)

    # ---- model exchange

    def new_discrete_states(self) -> tuple[int, EventInfo]:
        """Status and answer of fmi2NewDiscreteStates."""
        info = EventInfo(9, 9, 9, 9, 9, 9.0)
        return self.call("fmi2NewDiscreteStates", ctypes.byref(info)), info

    def completed_step(self) -> tuple[int, int, int]:
        """Status, enterEventMode and terminateSimulation of fmi2CompletedIntegratorStep."""
        enter, terminate = integers(9), integers(9)
        return self.call("fmi2CompletedIntegratorStep", 1, enter, terminate), enter[0], terminate[0]

    def set_states(self, x: Sequence[float]) -> int:
        return self.call("fmi2SetContinuousStates", reals(*x), len(x))

    def continuous_states(self) -> list[float]:
        return self._vector("fmi2GetContinuousStates", self.fmu.description.numberOfContinuousStates)

    def derivatives(self) -> list[float]:
        return self._vector("fmi2GetDerivatives", self.fmu.description.numberOfContinuousStates)

    def indicators(self) -> list[float]:
        return self._vector("fmi2GetEventIndicators", self.fmu.description.numberOfEventIndicators)

    def nominals(self) -> list[float]:
        return self._vector("fmi2GetNominalsOfContinuousStates", self.fmu.description.numberOfContinuousStates)

    def _vector(self, function: str, size: int) -> list[float]:
        values = reals(*[9.0] * size)
        assert self.call(function, values, size) == OK, self.importer.texts
        return list(values)

    # ---- state

    def get_state(self) -> c_void_p:
        place = c_void_p()
        assert self.call("fmi2GetFMUstate", ctypes.byref(place)) == OK, self.importer.texts
        return place

    def free_state(self, place: c_void_p) -> None:
        assert self.call("fmi2FreeFMUstate", ctypes.byref(place)) == OK
        assert place.value is None

    def serialize(self, place: c_void_p) -> bytes:
        size = c_size_t()
        assert self.call("fmi2SerializedFMUstateSize", place, ctypes.byref(size)) == OK
        data = (c_ubyte * size.value)()
        assert self.call("fmi2SerializeFMUstate", place, data, size) == OK
        return bytes(data)

    def state(self) -> bytes:
        """The serialized state: two are equal if and only if nothing has changed."""
        place = self.get_state()
        data = self.serialize(place)
        self.free_state(place)
        return data

    def deserialize(self, data: bytes, place: c_void_p) -> int:
        """fmi2DeSerializeFMUstate; `place` holds the state afterwards if the status is OK."""
        return self.call(
            "fmi2DeSerializeFMUstate", (c_ubyte * len(data)).from_buffer_copy(data), len(data), ctypes.byref(place)
        )


# Recipes and cases that the everyday tests see in others: forms of an element, elements that are others by other names,
# and points on surfaces.
ALIKE = (
    "BallOnFloor",
    "BarOnFloor",
    "BeadInBowl",
    "BeadInMeshBowl",
    "BeadInRotatingPipe",
    "BeadInSpinningBowl",
    "BeadLeavesRail",
    "BeadOnCycloid",
    "BeadOnHelix",
    "BeadOnHoop",
    "BeadOnParabola",
    "BeadOnRing",
    "BeadOnThreeBodies",
    "BlockHeld",
    "BlockNeverStops",
    "BlockOnBelt",
    "BlockOnIncline",
    "BodyOnFloor",
    "CamChainConvex",
    "CamChainFriction",
    "CamChainLiftOff",
    "CamFollower",
    "DoublePendulum",
    "EccentricCam",
    "FloorPatch",
    "FloorWithStribeck",
    "FourBar",
    "FourPointSurface",
    "GuideRail",
    "MarbleInFunnel",
    "MarbleInTube",
    "NFourBar",
    "PendulumOnFloor",
    "PendulumOnFloorTurned",
    "PendulumOnProfile",
    "PlanarMechanism",
    "PointBowl",
    "PointCone",
    "PointCylinder",
    "PointDisc",
    "PointExtrusion",
    "PointLine1",
    "PointPipe",
    "PointRevolution",
    "PointRoad",
    "PointSaddle",
    "PointSphere",
    "PointToPointSpring",
    "PointMeshBowl",
    "PointTorus",
    "PointTube",
    "PrescribedPlanarMotion",
    "PrescribedRotation",
    "PrescribedTranslation",
    "PuckOnRoad",
    "RigidBar",
    "RigidBlock",
    "RotationalDamper",
    "RotationalSpringByAngles",
    "SliderCrank",
    "SlidingBlock",
    "SlidingOffSphere",
    "SlidingRod",
    "SpinningGuide",
    "SpringMassTrain",
    "SpringPendulum",
    "Squeezer",
    "TipOnFloor",
    "TorsionPendulum",
    "TranslationalDamper",
    "TranslationalSpring",
    "TranslationalSpringByPositions",
    "TrolleyInGuide",
    "TwoBodyImpact",
    "TwoDPointTheta",
    "TwoDPointX",
    "TwoDPointY",
    "TwoInertias",
    "TwoPointSurface",
    "bar_drops",
    "bead_is_thrown_out",
    "bead_leaves_rail",
    "bead_on_cycloid",
    "bead_on_helix",
    "bead_on_hoop",
    "bead_on_ring",
    "bead_rests_in_spinning_bowl",
    "bead_swings_in_bowl",
    "block_creeps_by_sine",
    "block_is_shaken",
    "block_is_turned",
    "block_never_stops",
    "block_sticks_and_slips",
    "cam_follower",
    "double_pendulum",
    "eccentric_cam",
    "four_bar",
    "marble_runs_in_funnel",
    "marble_runs_in_tube",
    "mass_orbits_on_spring",
    "mass_slides_off",
    "n_four_bar",
    "pendulum_falls_on_floor",
    "pendulum_on_profile",
    "puck_glides_over_road",
    "rubbing",
    "shaken_rest",
    "slider_crank",
    "sliding_rod",
    "spinning_guide",
    "spring_pendulum_rings",
    "squeezer",
    "swing",
    "tip_slides",
    "tip_slides_between_fmus",
    "train",
    "train_rings",
)


def some_slow(names: Iterable[str]) -> list[object]:
    """Names of recipes or cases as parameters of a test; those of ALIKE are slow."""
    return [pytest.param(n, marks=pytest.mark.slow) if n.rpartition("/")[2] in ALIKE else n for n in names]


def recipes(of_elements: bool = False, without: Collection[str] = ()) -> list[object]:
    """Parameters of a test: the names of the catalogue, or of its recipes of one element; some are slow."""
    names = [path.stem for path in catalogue() if not of_elements or "element" in read_toml(path)]
    return some_slow(name for name in names if name not in without)


def load_shipped(name: str, folder: Path) -> Fmu:
    """A catalogue FMU, or "ThreePoints": a bounded patch met by three points."""
    if name == "ThreePoints":
        recipe = folder / "ThreePoints.toml"
        recipe.write_text(THREE_POINTS, encoding="utf-8")
        return Fmu(host_fmu(recipe, QUICK), folder)
    return Fmu(host_fmu(shipped("fmus") / f"{name}.toml"), folder)


def literal(name: str, folder: Path, called: str = "") -> Path:
    """A recipe of the catalogue without the group `coupling`: its force is the law at the inputs.  It is written to the
    folder, under the same name or another one, so that scenarios there mean it by that name."""
    path = folder / f"{called or name}.toml"
    text = (shipped("fmus") / f"{name}.toml").read_text(encoding="utf-8")
    text += "" if "[structure]" in text else "\n[structure]\n"
    path.write_text(text.replace("[structure]\n", "[structure]\ncoupling = false\n"), encoding="utf-8")
    return path


def load_literal(name: str, folder: Path) -> Fmu:
    """The FMU of `literal`."""
    return Fmu(host_fmu(literal(name, folder)), folder)


def only(messages: Iterable[Message]) -> Message:
    """The one message there is."""
    found: Sequence[Message] = list(messages)
    assert len(found) == 1, found
    return found[0]


def arrays_behind_variables(model: Model) -> dict[str, int]:
    """Of a serialized state, in front of the checksum: the number of doubles of each (CcState of instance.h)."""
    inputs = sum(v.is_continuous_input for v in model.variables)
    count, size = kept_records(model)
    records = 1 + count * (2 + size) if count else 0
    return {
        "input_rates": inputs + 1,
        "given_rates": inputs + 1,
        "sides": len(model.indicators) + 1,
        "records": records,
    }


def place_in_state(model: Model, data: bytes, name: str) -> int:
    """Where the first byte of a variable, or of one of these arrays, is in a serialized state."""
    behind, places = len(data) - 8, {}
    for array, size in reversed(arrays_behind_variables(model).items()):
        behind -= 8 * size
        places[array] = behind
    return places[name] if name in places else behind - 8 * (len(model.variables) - model[name].index)
