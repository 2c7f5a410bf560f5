"""The default spends a linear budget and ignores what would make it depend on the machine."""

from regvm.memory import Options, Request, check_plan, plan
from regvm.memory.benchmarks import generated_program
from regvm.memory.problem import Problem
from regvm.memory.strategies import portfolio


def test_long_lived_requests_leave_until_the_pairs_fit() -> None:
    requests = [
        *[Request(f"long {index}", 64, ((0, 500),)) for index in range(50)],
        *[Request(index, 64, ((index, index + 2),)) for index in range(500)],
    ]
    problem = Problem.from_requests(requests, 64)
    assert portfolio._long_lived(problem, budget=100_000) == set()
    # 50 x 499 pairs with the long ones; each short one meets two short neighbours.
    assert portfolio._long_lived(problem, budget=1_100) == set(range(50))


def test_everything_live_at_once_goes_to_the_sweep() -> None:
    requests = [Request(index, 64, ((0, 1),)) for index in range(3_000)]
    result = plan(requests)
    assert check_plan(requests, result) == []
    assert result.bytes == result.bound == 64 * 3_000


def test_time_limits_change_nothing() -> None:
    requests = generated_program(300, seed=5)
    assert plan(requests, options=Options(seconds=0.0, iterations=1)) == plan(requests)
