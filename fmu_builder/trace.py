"""The former place of names that files of elements use; it is there for one version more."""

from __future__ import annotations

import warnings

from fmu_builder import Trace, read_trace, write_trace

__all__ = ["Trace", "read_trace", "write_trace"]

warnings.warn(
    "fmu_builder.trace: write `from fmu_builder import Trace, read_trace, write_trace`", FutureWarning, stacklevel=2
)
