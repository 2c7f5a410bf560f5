"""The conflict graph is exactly "live at a common position", whatever the ranges."""

from random import Random

import pytest

from regvm.memory.benchmarks import random_requests
from regvm.memory.problem import Problem, height
from regvm.memory.request import Request


def _positions(request: Request) -> set[int]:
    return {position for lower, upper in request.ranges for position in range(lower, upper)}


@pytest.mark.parametrize("seed", range(40))
def test_conflicts_are_common_positions(seed: int) -> None:
    requests = random_requests(Random(seed), 12)
    problem = Problem.from_requests(requests, 1)
    for index, request in enumerate(requests):
        expected = {
            other
            for other in range(len(requests))
            if other != index and _positions(request) & _positions(requests[other])
        }
        assert sorted(problem.conflicts[index]) == sorted(expected)
        assert problem.degree_bounds[index] >= len(expected)


def test_degrees_are_exact_without_holes() -> None:
    requests = [Request(index, 1, ((index % 7, index % 7 + 1 + index % 3),)) for index in range(30)]
    problem = Problem.from_requests(requests, 1)
    assert problem.degree_bounds == [len(others) for others in problem.conflicts]


def test_a_subset_is_renumbered() -> None:
    problem = Problem.from_requests(
        [Request(id, size, ((0, 2),)) for id, size in enumerate((64, 128, 192))], 64
    )
    subset = problem.subset([2, 0])
    assert subset.sizes == [192, 64]
    assert subset.bound == 256


def test_the_height_is_the_highest_end() -> None:
    problem = Problem.from_requests([Request(0, 10, ((0, 1),)), Request(1, 70, ((1, 2),))], 64)
    assert height(problem, [64, 0]) == 128
