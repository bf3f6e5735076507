"""A line and the point on it, over time: for the report of a case."""

from fmu_builder.cosim.line_motion import motion

PORTS = ("point", "body")

__all__ = ["PORTS", "motion"]
