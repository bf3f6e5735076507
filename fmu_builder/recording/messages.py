"""Messages of loggers: printf formats with their arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ITEM = re.compile(r"%([-+ #0]*)(\d+|\*)?(?:\.(\d*|\*))?(hh|h|ll|l|q|j|z|t|L)?([%a-zA-Z])")
_UNSIGNED = {"hh": 8, "h": 16, None: 32}  # bits


def formatted(message: str, arguments: Sequence[int | float | str | None]) -> str:
    """The text of a message.  What has no argument that was recorded stays as it is; a text that could not be read is
    (unreadable)."""
    left = list(arguments)

    def item(match: re.Match[str]) -> str:
        flags, width, precision, length, kind = match.groups()
        if kind == "%":
            return "%"
        stars = (width == "*") + (precision == "*")
        if len(left) <= stars:
            left.clear()
            return match[0]
        values = [left.pop(0) for _ in range(stars + 1)]
        value = values[-1]
        if value is None:
            return "(unreadable)"
        if isinstance(value, int):
            value -= 2**64 * (value >= 2**63)  # they are recorded without a sign
            if kind in "uxXo":
                value %= 2 ** _UNSIGNED.get(length, 64)
        if kind == "p":
            return f"{value:#x}"
        python = {"i": "d", "u": "d", "a": "e", "A": "e", "F": "F"}.get(kind, kind)
        dot = "" if precision is None else f".{precision}"
        try:
            return f"%{flags}{width or ''}{dot}{python}" % (*values[:-1], value)
        except (TypeError, ValueError, OverflowError):
            return match[0]

    return _ITEM.sub(item, message)
