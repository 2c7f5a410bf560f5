"""Placing follows the order given; settling never raises a request."""

from random import Random

import pytest

from regvm.memory.benchmarks import random_requests
from regvm.memory.placing import first_fit, lowest_first, settled
from regvm.memory.problem import Problem, height
from regvm.memory.request import Request

LIVE_TOGETHER = ((0, 1),)


def _problem(*sizes_and_ranges: tuple[int, tuple[tuple[int, int], ...]]) -> Problem:
    requests = [Request(index, size, ranges) for index, (size, ranges) in enumerate(sizes_and_ranges)]
    return Problem.from_requests(requests, 1)


def test_first_fit_stacks_in_order() -> None:
    assert first_fit(_problem((3, LIVE_TOGETHER), (4, LIVE_TOGETHER), (5, LIVE_TOGETHER)), [2, 0, 1]) == [
        5,
        8,
        0,
    ]


def test_first_fit_fills_the_gap_before_the_first_block() -> None:
    problem = _problem((100, ((0, 2),)), (80, ((1, 3),)), (60, ((2, 4),)))
    assert first_fit(problem, [0, 1, 2]) == [0, 100, 0]


def test_first_fit_sees_blocks_that_overlap_one_another() -> None:
    # The two lower requests share their place; the third is live with both and must go above the longer.
    problem = _problem((10, ((0, 1),)), (4, ((1, 2),)), (5, ((0, 2),)))
    assert first_fit(problem, [0, 1, 2]) == [0, 0, 10]


def test_lowest_first_asks_the_ranks_only_among_the_lowest() -> None:
    problem = _problem((10, ((0, 2),)), (7, ((1, 3),)), (6, ((2, 4),)))
    assert lowest_first(problem, [0, 1, 2]) == [0, 10, 0]
    assert lowest_first(problem, [1, 0, 2]) == [7, 0, 7]


@pytest.mark.parametrize("seed", range(40))
def test_settling_raises_nothing(seed: int) -> None:
    random = Random(seed)
    requests = [request for request in random_requests(random, 15) if request.size]
    problem = Problem.from_requests(requests, 1)
    offsets = lowest_first(problem, [random.random() for _ in requests])
    after = settled(problem, offsets)
    assert all(new <= old for new, old in zip(after, offsets, strict=True))
    assert problem.bound <= height(problem, after) <= height(problem, offsets)
