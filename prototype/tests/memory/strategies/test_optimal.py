"""The exact strategy finds and proves optima, and says what to install where the solver is missing."""

import sys
from random import Random

import pytest

from regvm.memory import Options, Request, check_plan, lower_bound, plan
from regvm.memory.benchmarks import EIGHT_TENSORS, USMP_FAN_OUT_LISTED, cut_up
from regvm.memory.errors import MissingPackageError
from regvm.memory.problem import Problem, height
from regvm.memory.strategies.solver_model import Answer, decide, maximal_live_sets, minimise, twins


def test_without_the_solver_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    with pytest.raises(MissingPackageError, match=r"relay-regvm\[exact\]"):
        plan(EIGHT_TENSORS, "optimal")


def test_only_maximal_live_sets_are_stated() -> None:
    ranges = [((0, 4),), ((1, 3),), ((2, 3),), ((3, 5),)]
    problem = Problem.from_requests([Request(index, 1, spans) for index, spans in enumerate(ranges)], 1)
    assert maximal_live_sets(problem) == [frozenset({0, 1, 2}), frozenset({0, 3})]


def test_twins_have_size_and_lifetime_in_common() -> None:
    rows = [(1, ((0, 2),)), (2, ((0, 2),)), (1, ((0, 2),)), (1, ((0, 3),)), (1, ((0, 2),))]
    problem = Problem.from_requests([Request(index, *row) for index, row in enumerate(rows)], 1)
    assert list(twins(problem)) == [(0, 2), (2, 4)]


@pytest.mark.thorough
def test_the_gap_above_the_live_sum_is_proved() -> None:
    pytest.importorskip("ortools", reason="OR-Tools (extra 'exact') is not installed")
    result = plan(USMP_FAN_OUT_LISTED, "optimal", 1, Options(seconds=20))
    assert lower_bound(USMP_FAN_OUT_LISTED, 1) == 150
    assert result.bytes == result.bound == 190
    assert check_plan(USMP_FAN_OUT_LISTED, result, 1) == []


@pytest.mark.parametrize(
    ("capacity", "fits", "bound"), [(100, False, 150), (189, False, 190), (190, True, 0)]
)
def test_the_decision_is_exact(capacity: int, fits: bool, bound: int) -> None:
    pytest.importorskip("ortools", reason="OR-Tools (extra 'exact') is not installed")
    problem = Problem.from_requests(USMP_FAN_OUT_LISTED, 1)
    answer = decide(problem, capacity, 20, Options())
    assert (answer.offsets is not None, answer.bound) == (fits, bound)


def test_a_decision_without_time_proves_nothing() -> None:
    pytest.importorskip("ortools", reason="OR-Tools (extra 'exact') is not installed")
    problem = Problem.from_requests(cut_up(Random(2), 200, 100, 1_000), 1)
    assert decide(problem, 1_000, 0.0, Options()) == Answer(None, 0)


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_what_the_search_misses_is_found(seed: int) -> None:
    pytest.importorskip("ortools", reason="OR-Tools (extra 'exact') is not installed")
    requests = cut_up(Random(seed), 60, positions=50, capacity=1_000)
    assert plan(requests, "optimal", 1, Options(seconds=20)).bytes == 1_000


def test_the_height_is_minimised_where_the_live_sum_is_out_of_reach() -> None:
    pytest.importorskip("ortools", reason="OR-Tools (extra 'exact') is not installed")
    problem = Problem.from_requests(USMP_FAN_OUT_LISTED, 1)
    stacked = [0, 10, 30, 130, 170, 220, 280]
    answer = minimise(problem, stacked, problem.bound, 20, Options())
    assert answer.offsets is not None
    assert height(problem, answer.offsets) == answer.bound == 190


def test_an_alignment_beyond_the_sizes_is_kept() -> None:
    pytest.importorskip("ortools", reason="OR-Tools (extra 'exact') is not installed")
    result = plan(EIGHT_TENSORS, "optimal", 64, Options(seconds=5))
    assert result.bytes == lower_bound(EIGHT_TENSORS, 64)
