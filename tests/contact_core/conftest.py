"""The C under test, as built for this machine by the same compiler that builds FMUs."""

from __future__ import annotations

import pytest

from fmu_builder.host import HostLibrary, host_library


@pytest.fixture(scope="session")
def host() -> HostLibrary:
    return host_library()
