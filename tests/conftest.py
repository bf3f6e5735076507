"""What all tests share: repeatable examples, quick builds, and how long the fuzz runs and how much is sampled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import settings

from fmu_builder.cosim import master
from fmu_builder.export.fmu import host_fmu
from fmu_builder.paths import shipped

# The same examples on every machine and in every run; `--hypothesis-profile explore` looks for new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fuzz-calls",
        type=int,
        metavar="N",
        help="calls of the fuzz tests; by default 3,000, and 60,000 against the build with sanitizers",
    )
    parser.addoption(
        "--of-each",
        type=int,
        metavar="N",
        help="of every test run at most N of its parameters, from the first to the last at equal distances",
    )


@pytest.hookimpl(trylast=True)  # of what the markers have left
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    most: int | None = config.getoption("--of-each")
    if most is None:
        return
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item)
    kept = {id(item) for each in tests.values() for item in spread(each, most)}
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = [item for item in items if id(item) in kept]


def spread(items: list[pytest.Item], most: int) -> list[pytest.Item]:
    """At most so many of the items, the first and the last among them."""
    if len(items) <= most:
        return items
    return [items[round(k * (len(items) - 1) / (most - 1))] for k in range(most)]


@pytest.fixture(scope="session")
def fuzz_calls(pytestconfig: pytest.Config) -> int | None:
    """--fuzz-calls, None if it was not given."""
    calls: int | None = pytestconfig.getoption("--fuzz-calls")
    return calls


@pytest.fixture(scope="session", autouse=True)
def quick_slaves() -> Iterator[None]:
    """Scenarios of recipes that tests write run FMUs without optimization, which compile in a quarter of the time and
    have the same bits (contact_core/test_quick_builds.py); those of the catalogue run as users get them."""
    catalogue = shipped("fmus")

    def quick(recipe: Path, flags: Sequence[str] = ()) -> Path:
        return host_fmu(recipe, flags if recipe.resolve().parent == catalogue else (*flags, "-O0"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(master, "host_fmu", quick)
        yield
