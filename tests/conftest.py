"""What all tests share: the option that sets how long the fuzz runs."""

from __future__ import annotations

import pytest


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
