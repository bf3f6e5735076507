"""Steps that a slave makes beside the master: fmi2DoStep answers fmi2Pending, and fmi2GetStatus when it has ended.

The master waits for each of them, so they need no other order of calls."""

from __future__ import annotations

import time
from collections.abc import Callable
from ctypes import CDLL, CFUNCTYPE, byref, c_double, c_int, c_void_p
from typing import Any

_OK, _ERROR, _PENDING = 0, 3, 5
_DO_STEP_STATUS = 0  # fmi2StatusKind
_LONGEST_PAUSE = 1e-3  # s, between two questions; the first ones follow at once
DoStep = CFUNCTYPE(c_int, c_void_p, c_double, c_double, c_int)


def waiting_step(library: CDLL) -> Any:
    """fmi2DoStep of a library, which returns when the step has ended, with its result: a function of C.

    Ctrl-C that arrives in it as an exception cancels the step, which answers fmi2Error."""
    functions = CDLL(library._name, handle=library._handle)  # of argument types that are not those of others
    do_step, ask, cancel = (functions[f"fmi2{name}"] for name in ("DoStep", "GetStatus", "CancelStep"))
    do_step.argtypes = (c_void_p, c_double, c_double, c_int)
    ask.argtypes = (c_void_p, c_int, c_void_p)
    cancel.argtypes = (c_void_p,)

    def step(component: int, begin: float, length: float, keeps_no_state: int) -> int:
        status: int = do_step(component, begin, length, keeps_no_state)
        if status != _PENDING:
            return status
        try:
            return _result(lambda answer: int(ask(component, _DO_STEP_STATUS, byref(answer))))
        except KeyboardInterrupt:
            cancel(component)
            return _ERROR

    return DoStep(step)


def _result(ask: Callable[[c_int], int]) -> int:
    """The status of a step once it is another than fmi2Pending."""
    answer, pause = c_int(_PENDING), 1e-6
    while True:
        asked = ask(answer)
        if asked != _OK:
            return asked
        if answer.value != _PENDING:
            return answer.value
        time.sleep(pause)
        pause = min(2.0 * pause, _LONGEST_PAUSE)
