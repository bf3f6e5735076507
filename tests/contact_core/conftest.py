"""The C under test, as built for this machine by the same compiler that builds FMUs, and FMUs that many tests run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fmi2 import Fmu, load_literal, load_shipped

from fmu_builder.export.host import HostLibrary, host_library


@pytest.fixture(scope="session")
def host() -> HostLibrary:
    return host_library()


@pytest.fixture(scope="module")
def surface(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_literal("PointSurface", tmp_path_factory.mktemp("PointSurface"))


@pytest.fixture(scope="module")
def mass(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("PointMass", tmp_path_factory.mktemp("PointMass"))


@pytest.fixture(scope="module")
def three_points(tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    return load_shipped("ThreePoints", tmp_path_factory.mktemp("ThreePoints"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With FMU_BUILDER_SANITIZE=1 the host library is sanitized, FMUs are what they are without: of the tests in this
    folder those that call the host library remain.  Sanitized FMUs are driven by tests/fuzz."""
    if os.environ.get("FMU_BUILDER_SANITIZE") != "1":
        return

    def calls_what_is_sanitized(item: pytest.Item) -> bool:
        return item.path.parent != Path(__file__).parent or "host" in getattr(item, "fixturenames", ())

    config.hook.pytest_deselected(items=[item for item in items if not calls_what_is_sanitized(item)])
    items[:] = [item for item in items if calls_what_is_sanitized(item)]
