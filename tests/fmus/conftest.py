"""The catalogue is tested with the same means as the FMI layer: tests/contact_core/running.py."""

from __future__ import annotations

import sys
from pathlib import Path

_means = str(Path(__file__).parents[1] / "contact_core")
if _means not in sys.path:
    sys.path.append(_means)
