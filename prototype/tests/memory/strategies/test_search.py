"""The search beats its starting orders, stops at its target, and keeps to its budget and seed."""

from random import Random
from time import perf_counter

from regvm.memory import Options, plan
from regvm.memory.benchmarks import EIGHT_TENSORS, cut_up
from regvm.memory.problem import Problem, height
from regvm.memory.strategies.search import pressures, squeaky_wheel


def test_blaming_beats_the_fixed_orders() -> None:
    gains = 0
    for seed in range(4):
        requests = cut_up(Random(seed), 200, positions=100, capacity=1_000)
        fixed = plan(requests, "search", 1, Options(iterations=14)).bytes
        searched = plan(requests, "search", 1, Options(iterations=200)).bytes
        assert searched <= fixed
        gains += searched < fixed
    assert gains >= 3


def test_it_stops_at_the_target() -> None:
    problem = Problem.from_requests(cut_up(Random(1), 80, 40, 1_000), 1)
    placements: list[int] = []

    def goes_on(done: int) -> bool:
        placements.append(done)
        return done < 500

    offsets = squeaky_wheel(problem, 2 * problem.bound, Random(0), goes_on)
    assert height(problem, offsets) <= 2 * problem.bound
    assert len(placements) < 14


def test_one_placement_is_made_without_any_budget() -> None:
    assert plan(cut_up(Random(3), 200, 100, 1_000), "search", options=Options(iterations=0)).bytes > 0


def test_the_time_limit_is_kept() -> None:
    started = perf_counter()
    plan(cut_up(Random(3), 200, 100, 1_000), "search", options=Options(seconds=0.2))
    assert perf_counter() - started < 2


def test_pressure_is_the_largest_live_sum_along_a_request() -> None:
    problem = Problem.from_requests(EIGHT_TENSORS, 1)
    assert pressures(problem) == [60, 88, 124, 124, 124, 124, 114, 114]
