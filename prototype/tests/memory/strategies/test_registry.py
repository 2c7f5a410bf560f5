"""Strategies are found by name, and a name stands for one."""

import pytest

from regvm.memory.problem import Problem
from regvm.memory.strategies import STRATEGIES, Options, Outcome
from regvm.memory.strategies.registry import find_strategy, register


def test_the_strategies_are_these() -> None:
    assert sorted(STRATEGIES) == [
        "coalesce",
        "default",
        "exact",
        "greedy_by_conflicts",
        "greedy_by_size",
        "none",
        "optimal",
        "search",
        "sweep",
    ]


def test_a_name_is_registered_once() -> None:
    def impostor(problem: Problem, options: Options) -> Outcome:
        raise NotImplementedError(problem, options)

    with pytest.raises(RuntimeError, match="'default' is registered twice"):
        register("default")(impostor)
    assert find_strategy("default") is not impostor
