"""What all tests share: repeatable examples, and the option that sets how long the fuzz runs."""

from __future__ import annotations

import pytest
from hypothesis import settings

# The same examples on every machine and in every run; `--hypothesis-profile explore` looks for new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fuzz-calls",
        type=int,
        metavar="N",
        help="calls of the fuzz tests; by default 3,000, and 100,000 against the build with sanitizers",
    )


@pytest.fixture(scope="session")
def fuzz_calls(pytestconfig: pytest.Config) -> int | None:
    """--fuzz-calls, None if it was not given."""
    calls: int | None = pytestconfig.getoption("--fuzz-calls")
    return calls
