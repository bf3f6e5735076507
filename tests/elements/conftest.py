"""Elements are tested through their FMUs, with the same means as the FMI layer: tests/contact_core/running.py."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_means = str(Path(__file__).parents[1] / "contact_core")
if _means not in sys.path:
    sys.path.append(_means)


@pytest.fixture(scope="module")
def crew(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from tests.elements.coupled_fmus import Crew

    crew = Crew(tmp_path_factory.mktemp("crew"))
    yield crew
    crew.close()
