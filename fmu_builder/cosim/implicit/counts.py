"""Contacts that an element counts although no force was solved for when they began.

A body went through a surface in a step, and met it at none of the motions that the solution looked at."""

from __future__ import annotations

import re
from ctypes import c_int, c_uint, memmove, sizeof

from fmu_builder.cosim.implicit.bodies import Values
from fmu_builder.cosim.slave import Slave

SLOWEST = 0.01  # of the largest velocity so far, of an impact that counts
COUNTING = "of the numbers of contacts"
_SPEED = re.compile(r"last_contact\.impact_speed(\[\d+\])?")


class Counts:
    """Those at the points of a contact element of fmu-builder, without slow ones: the straight path of a step may cut a
    curved surface that a body moves along.

    fresh    of the last step
    passed   those that had ended when the next step began"""

    def __init__(self, slave: Slave) -> None:
        variables = slave.description.variables if slave.description.ours else {}
        points = [(f[1] or "", v.reference) for n, v in variables.items() if (f := _SPEED.fullmatch(n))]
        if any(f"last_contact.peak_force{point}" not in variables for point, _ in points):
            points = []  # of a mechanism, whose contacts are inside it
        self._slave = slave
        self.references = (c_uint * len(points))(*(variables[f"contact_count{point}"].reference for point, _ in points))
        self.values, self.before = (c_int * len(points))(), (c_int * len(points))()
        self.speeds = Values(slave, [reference for _, reference in points])
        self.fresh = self.passed = 0
        self._get()

    def begin(self, acts: bool) -> None:
        """At the beginning of a step, at its first force."""
        self.passed += 0 if acts else self.fresh
        self.fresh = 0

    def step(self, acts: bool, fastest: float) -> None:
        """After a true step.   acts: whether there was a force in it; fastest: largest velocity of the group so far"""
        memmove(self.before, self.values, sizeof(self.values))
        self._get()
        rose = [now > before for now, before in zip(self.values, self.before, strict=True)]
        if acts or not any(rose):
            return
        speeds = self.speeds.get()
        self.fresh = sum(bool(one and speed > SLOWEST * fastest) for one, speed in zip(rose, speeds, strict=True))

    def _get(self) -> None:
        slave, size = self._slave, len(self.values)
        if size:
            status = slave.dll.fmi2GetInteger(slave.component, self.references, size, self.values)
            slave.check(status, "fmi2GetInteger", COUNTING)
