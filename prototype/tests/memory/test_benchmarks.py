"""The problems are what they say: exact conflicts, exact fillings, the same program for the same seed."""

from random import Random

import pytest

from regvm.memory.benchmarks import (
    USMP_FAN_OUT_LISTED,
    cut_up,
    generated_program,
    mobilenet_v2,
    random_requests,
)
from regvm.memory.problem import Problem
from regvm.memory.request import Request, lower_bound


def test_listed_conflicts_are_the_only_ones() -> None:
    conflicts = Problem.from_requests(USMP_FAN_OUT_LISTED, 1).conflicts
    assert [sorted(others) for others in conflicts] == [
        [1, 2],
        [0, 2, 4],
        [0, 1, 3, 4],
        [2, 4, 5],
        [1, 2, 3, 5],
        [3, 4],
        [],
    ]


@pytest.mark.parametrize("seed", range(5))
def test_a_cut_up_rectangle_is_full_at_every_position(seed: int) -> None:
    requests = cut_up(Random(seed), 40, positions=20, capacity=500)
    assert len(requests) == 40
    for position in range(20):
        live = [r.size for r in requests for lower, upper in r.ranges if lower <= position < upper]
        assert sum(live) == 500
    assert lower_bound(requests, 1) == 500


def test_a_program_depends_on_its_seed_alone() -> None:
    assert generated_program(200, seed=3) == generated_program(200, seed=3)
    assert generated_program(200, seed=3) != generated_program(200, seed=4)


def test_residual_additions_keep_their_shortcut_live() -> None:
    longest = max(mobilenet_v2(), key=lambda request: request.last - request.first)
    assert longest.last - longest.first == 5


def test_random_requests_have_holes_and_empty_sizes_among_them() -> None:
    requests: list[Request] = random_requests(Random(0), 300, largest=20)
    assert any(len(request.ranges) == 3 for request in requests)
    assert any(request.size == 0 for request in requests)
