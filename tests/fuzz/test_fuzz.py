"""Random calls, right and wrong, against whole FMUs: what must never happen, whatever an importer does."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest
from call_machine import CallMachine
from call_model import Fmu
from fuzzed import CATALOGUE, RECIPES, built_fmu, sanitized_fmu, shipped_recipe, write_recipe
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from sanitizer import require_sanitizer

EVERYDAY_CALLS = 3_000
CI_CALLS = 40_000
STEPS_PER_EXAMPLE = 50
EXAMPLES_PER_ROUND = 9

GROUPS = ((), CATALOGUE[::2], CATALOGUE[1::2])  # those above, and two of the catalogue: for two processes


@pytest.fixture(scope="module")
def recipes(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("recipes")
    return [write_recipe(folder, name, text) for name, text in RECIPES.items()]


def catalogue_recipes(folder: Path, names: Sequence[str]) -> list[Path]:
    return [shipped_recipe(folder, name) for name in names]


def run_calls(fmus: Sequence[Fmu], calls: int) -> None:
    """Drive the machine until so many calls are made; the same ones every time.

    Hypothesis makes its first examples from scratch, and varies them when it has enough: rounds of few examples are all
    new."""
    for round_number in itertools.count():

        @seed(round_number)
        class Machine(CallMachine):
            def __init__(self) -> None:
                super().__init__(fmus)

        run_state_machine_as_test(
            Machine,
            settings=settings(
                max_examples=EXAMPLES_PER_ROUND,
                stateful_step_count=STEPS_PER_EXAMPLE,
                database=None,
                deadline=None,
                phases=[Phase.generate],  # without shrinking, which can take minutes
                suppress_health_check=list(HealthCheck),
            ),
        )
        if sum(fmu.library.calls for fmu in fmus) >= calls:
            return


def test_no_sequence_of_calls_breaks_an_fmu(recipes: list[Path], tmp_path: Path, fuzz_calls: int | None) -> None:
    run_calls([built_fmu(recipe, tmp_path) for recipe in recipes], fuzz_calls or EVERYDAY_CALLS)


@pytest.mark.platform
@pytest.mark.parametrize("names", GROUPS, ids=["recipes", "catalogue 1", "catalogue 2"])
def test_no_sequence_of_calls_breaks_a_rule_of_c(
    names: Sequence[str], recipes: list[Path], tmp_path: Path, fuzz_calls: int | None
) -> None:
    require_sanitizer()
    called = catalogue_recipes(tmp_path, names) if names else recipes
    run_calls([sanitized_fmu(recipe) for recipe in called], (fuzz_calls or CI_CALLS) // len(GROUPS))
