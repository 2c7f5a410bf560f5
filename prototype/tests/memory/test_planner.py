"""Every strategy's plan is right on every input; the default reaches the published figures."""

from importlib.util import find_spec
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regvm.memory import STRATEGIES, Options, PlanningError, Request, check_plan, lower_bound, plan
from regvm.memory.benchmarks import (
    EIGHT_TENSORS,
    USMP_FAN_OUT,
    USMP_FAN_OUT_LISTED,
    USMP_RESNET_BLOCK,
    XNNPACK_CHAIN,
    chain,
    generated_program,
    mobilenet_v1,
    mobilenet_v2,
    random_requests,
)
from regvm.memory.errors import InvalidOptionError, InvalidRequestError, UnknownStrategyError

EVERY_STRATEGY = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(
            name == "optimal" and find_spec("ortools") is None,
            reason="OR-Tools (extra 'exact') is not installed",
        ),
    )
    for name in sorted(STRATEGIES)
]

PACKING = ["default", "search", "greedy_by_size", "greedy_by_conflicts"]


@st.composite
def requests_to_plan(draw: st.DrawFn) -> list[Request]:
    count = draw(st.integers(0, 14))
    return random_requests(draw(st.randoms(use_true_random=False)), count)


@pytest.mark.parametrize("strategy", EVERY_STRATEGY)
@given(requests=requests_to_plan(), alignment=st.sampled_from([1, 16, 64]))
@settings(max_examples=60, deadline=None)
def test_every_plan_passes_the_checker(strategy: str, requests: list[Request], alignment: int) -> None:
    result = plan(requests, strategy, alignment, Options(seconds=2 if strategy == "optimal" else None))
    assert check_plan(requests, result, alignment) == []
    assert result.bytes >= result.bound >= lower_bound(requests, alignment)
    assert result.strategy == strategy
    assert list(result.offsets) == [request.id for request in requests]


@pytest.mark.parametrize("strategy", sorted(STRATEGIES.keys() - {"optimal"}))
def test_plans_are_deterministic(strategy: str) -> None:
    requests = random_requests(Random(7), 60)
    options = Options(seed=3, iterations=80)
    assert plan(requests, strategy, options=options) == plan(requests, strategy, options=options)


def test_the_eight_tensors_take_124_bytes() -> None:
    assert plan(EIGHT_TENSORS, "none", 1).bytes == 234
    for strategy in PACKING:
        assert plan(EIGHT_TENSORS, strategy, 1).bytes == 124


@pytest.mark.parametrize("strategy", [*PACKING, "sweep", "coalesce"])
def test_the_gap_below_the_second_block_is_used(strategy: str) -> None:
    assert plan(XNNPACK_CHAIN, strategy, 1).bytes == 180


@pytest.mark.parametrize("strategy", ["default", "search"])
def test_the_fan_out_takes_190_bytes(strategy: str) -> None:
    assert plan(USMP_FAN_OUT, strategy, 1).bytes == 190


def test_the_fan_out_as_listed_takes_no_more_than_its_planner_says() -> None:
    assert plan(USMP_FAN_OUT_LISTED, "greedy_by_size", 1).bytes == 190
    assert plan(USMP_FAN_OUT_LISTED, "greedy_by_conflicts", 1).bytes <= 320
    assert plan(USMP_FAN_OUT_LISTED, "default", 1).bytes == 190


def test_the_resnet_block_takes_its_live_sum() -> None:
    assert plan(USMP_RESNET_BLOCK, "greedy_by_size", 1).bytes <= 7_920_256
    for strategy in ("default", "search", "greedy_by_conflicts"):
        assert plan(USMP_RESNET_BLOCK, strategy, 1).bytes == 7_200_256


@pytest.mark.parametrize(("requests", "unshared"), [(mobilenet_v1(), 19.248), (mobilenet_v2(), 26.313)])
def test_mobilenets_take_their_live_sum(requests: list[Request], unshared: float) -> None:
    assert plan(requests, "none").bytes / 2**20 == pytest.approx(unshared, abs=5e-4)
    for strategy in PACKING:
        assert plan(requests, strategy).bytes == lower_bound(requests)


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=60))
def test_a_chain_takes_its_two_largest_neighbours(sizes: list[int]) -> None:
    requests = chain(sizes)
    assert plan(requests).bytes == lower_bound(requests)


@pytest.mark.parametrize("seed", range(30))
def test_small_plans_are_optimal(seed: int) -> None:
    requests = random_requests(Random(seed), 5, largest=5)
    assert plan(requests, "search", 1).bytes == _smallest(requests)


def _smallest(requests: list[Request]) -> int:
    """By trying every combination of offsets below the sum of all sizes."""
    total = sum(request.size for request in requests)
    live = [{p for lower, upper in request.ranges for p in range(lower, upper)} for request in requests]
    pairs = [(one, other) for one in range(len(requests)) for other in range(one) if live[one] & live[other]]
    sizes = [request.size for request in requests]
    for limit in range(lower_bound(requests, 1), total):
        for offsets in product(*(range(limit - size + 1) for size in sizes)):
            if all(
                offsets[a] + sizes[a] <= offsets[b] or offsets[b] + sizes[b] <= offsets[a]
                for a, b in pairs
                if sizes[a] and sizes[b]
            ):
                return limit
    return total


@pytest.mark.parametrize("strategy", EVERY_STRATEGY)
def test_no_request_takes_no_bytes(strategy: str) -> None:
    assert plan([], strategy).bytes == 0


@pytest.mark.parametrize("strategy", sorted(STRATEGIES.keys() - {"exact", "optimal"}))
def test_one_request_takes_its_aligned_size(strategy: str) -> None:
    result = plan([Request("only", 100, ((3, 4),))], strategy)
    assert (result.bytes, result.offsets) == (128, {"only": 0})


@pytest.mark.parametrize("strategy", EVERY_STRATEGY)
def test_zero_size_requests_take_no_bytes(strategy: str) -> None:
    empty = [Request(f"empty{index}", 0, ((0, 5),)) for index in range(3)]
    assert plan(empty, strategy).bytes == 0
    result = plan([*empty, Request("full", 4096, ((0, 5),))], strategy)
    assert (result.bytes, result.offsets["empty0"]) == (4096, 0)


@pytest.mark.parametrize("strategy", EVERY_STRATEGY)
def test_requests_that_start_and_end_together_lie_side_by_side(strategy: str) -> None:
    requests = [Request(index, 4096, ((1, 2),)) for index in range(5)]
    assert sorted(plan(requests, strategy).offsets.values()) == [4096 * index for index in range(5)]


@pytest.mark.parametrize("strategy", PACKING)
def test_the_branches_of_an_if_share_their_bytes(strategy: str) -> None:
    branches = [Request("then", 640, ((2, 4),)), Request("else", 512, ((4, 6),))]
    across = Request("across", 64, ((0, 7),))
    assert plan([*branches, across], strategy).bytes == 704


@pytest.mark.parametrize("strategy", PACKING)
def test_a_lifetime_hole_is_used(strategy: str) -> None:
    requests = [Request("read in else only", 640, ((0, 2), (4, 6))), Request("then", 640, ((2, 4),))]
    assert plan(requests, strategy).bytes == 640


@pytest.mark.parametrize("strategy", sorted(STRATEGIES.keys() - {"optimal"}))
def test_conditionals_whose_results_live_together_share_nothing(strategy: str) -> None:
    # ExecuTorch 21494: the second conditional's arena was laid over the first one's result.
    first = [Request("then 1", 64, ((0, 2), (4, 9))), Request("else 1", 64, ((2, 9),))]
    second = [Request("then 2", 64, ((5, 6), (7, 9))), Request("else 2", 64, ((6, 9),))]
    requests = [*first, *second]
    result = plan(requests, strategy)
    assert len({result.offsets[id] for id in ("then 1", "else 1", "then 2", "else 2")}) == 4


def test_ten_thousand_bindings_reach_the_live_sum() -> None:
    requests = generated_program(10_000)
    result = plan(requests)
    assert check_plan(requests, result) == []
    assert result.bytes == result.bound


def test_a_crowd_of_long_lived_requests_stays_fast_and_near_the_live_sum() -> None:
    # Some 20 million pairs: a planner that looks at each needs minutes.
    crowd = [Request(f"long {index}", 100 + index, ((0, 20_000),)) for index in range(1_000)]
    requests = [*crowd, *generated_program(19_000)]
    result = plan(requests)
    assert check_plan(requests, result) == []
    assert result.bytes <= 1.25 * result.bound


def test_an_unknown_strategy_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownStrategyError, match=r"'best'; choose one of coalesce, default, exact, "):
        plan([], "best")


def test_equal_ids_are_refused() -> None:
    with pytest.raises(InvalidRequestError, match="7 is given twice"):
        plan([Request(7, 1, ((0, 1),)), Request(7, 1, ((4, 5),))])


@pytest.mark.parametrize("alignment", [0, -1])
def test_an_alignment_that_is_not_positive_is_refused(alignment: int) -> None:
    with pytest.raises(InvalidOptionError, match="alignment"):
        plan([], alignment=alignment)


@pytest.mark.parametrize(
    "option", [{"seconds": -1.0}, {"iterations": -1}, {"capacity": -1}, {"page": 0}, {"workers": 0}]
)
def test_an_option_out_of_range_is_refused(option: dict[str, int]) -> None:
    with pytest.raises(PlanningError, match=next(iter(option))):
        Options(**option)
