"""What follows fmi2Discard of a step: the end of the simulation, or the step once more in shorter parts.

FMI 2.0, 4.2.4: after fmi2Discard a slave takes no further step until its state is that of before (fmi2SetFMUstate); a
shorter step may succeed then.  The inputs of a communication step are held, so that a slave which makes it in parts
ends where the others do, and nothing else is repeated.
A state that is kept before each step costs more than many a step: the first run keeps none.  Where a slave discards a
step, DiscardedStepError ends that run, and the next one keeps the states of this slave."""

from __future__ import annotations

from ctypes import byref, c_double, c_int
from dataclasses import dataclass, field

from fmu_builder.cosim.kept_state import Kept
from fmu_builder.cosim.slave import DISCARD, OK, Slave
from fmu_builder.errors import Problem, SlaveError

_TERMINATED, _LAST_SUCCESSFUL_TIME = 3, 2  # fmi2StatusKind
SHORTEST = 1e-9  # part of a step that is tried, of the step
MOST = 1000  # parts of a step that are tried


class DiscardedStepError(SlaveError):
    """A step that a slave has made in part, and could make in parts from the state before it.   slave: its name"""

    slave = ""


def last_successful_time(slave: Slave, otherwise: float) -> float:
    """After fmi2Discard: the time, s, up to which the step was made; `otherwise` if the slave gives none."""
    last = c_double(otherwise)
    status = slave.dll.fmi2GetRealStatus(slave.component, _LAST_SUCCESSFUL_TIME, byref(last))
    return last.value if status == OK else otherwise


def end_of(slave: Slave, begin: float) -> str | None:
    """After fmi2Discard of a step: a note if the slave ended the simulation, else None."""
    ended = c_int(0)
    if slave.dll.fmi2GetBooleanStatus(slave.component, _TERMINATED, byref(ended)) == OK and ended.value:
        return f"{slave.name} ended the simulation at {last_successful_time(slave, begin):g} s"
    return None


def ended_in_trial(slave: Slave, note: str) -> SlaveError:
    """Of a slave that ended the simulation in a step that would have been taken back."""
    what = f"{note}, in a step that is tried; take smaller steps, or algorithm = jacobi or gauss_seidel, which try none"
    return SlaveError(Problem(slave.name, what))


def not_made(slave: Slave, begin: float, step: float, why: str = "try a smaller step") -> SlaveError:
    """Of a step that a slave has discarded, and that is not made again."""
    last = last_successful_time(slave, begin)
    return slave.error("fmi2DoStep", DISCARD, f"step of {step:g} s from {begin:g} s, done up to {last:g} s; {why}")


def refused(slave: Slave, begin: float, step: float) -> SlaveError:
    """Of a step that a slave has discarded, without an end: DiscardedStepError if it can be made in parts."""
    description = slave.description
    if not description.can_restore:
        return not_made(slave, begin, step, "its state cannot be restored to repeat it: try a smaller step")
    if not description.varies_step:
        return not_made(slave, begin, step, "its steps have one length: try a smaller one")
    error = DiscardedStepError(not_made(slave, begin, step).problems)
    error.slave = slave.name
    return error


@dataclass
class PartedSteps:
    """The steps of a slave whose state is kept before each of them.

    count   steps that were made in parts     first   beginnings of the parts of the first one, s"""

    slave: Slave
    kept: Kept = field(init=False)
    count: int = 0
    first: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.kept = Kept(self.slave)

    def make(self, begin: float, step: float) -> str | None:
        """A step that was discarded, in parts; a note if the slave ended the simulation.   Raises SlaveError."""
        slave, end = self.slave, begin + step
        at, goal = begin, end  # of the step that was discarded; the state of `at` is kept
        begins = [begin]
        for _ in range(MOST):
            if note := end_of(slave, at):
                return note
            last = last_successful_time(slave, at)
            goal = last if at < last < goal else at + (goal - at) / 2.0
            if goal - at < SHORTEST * step:
                break
            self.kept.restore()
            if not self._is_made(at, goal):
                continue
            at, goal = goal, end
            begins.append(at)
            self.kept.keep()
            if self._is_made(at, goal):
                self.first = self.first if self.count else begins
                self.count += 1
                return None
        raise not_made(slave, at, goal - at, "shorter steps were discarded too")

    def _is_made(self, begin: float, end: float) -> bool:
        slave, step = self.slave, end - begin
        status = slave.dll.fmi2DoStep(slave.component, begin, step, 0)
        if status == DISCARD:
            return False
        slave.check(status, "fmi2DoStep", f"step of {step:g} s from {begin:g} s")
        return True

    def note(self) -> str | None:
        """What the run says of it."""
        if not self.count:
            return None
        parts = ", ".join(f"{time:g}" for time in self.first[:8]) + ", ..." * (len(self.first) > 8)
        steps = f"{self.count} steps" if self.count > 1 else "one step"
        begun = "the first one in parts from" if self.count > 1 else "in parts from"
        return f"{self.slave.name} discarded {steps}, made again from the state before: {begun} {parts} s on"
