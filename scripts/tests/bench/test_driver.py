"""What the driver makes of samples, and what it does with an engine that cannot go on."""

from typing import Any

import pytest
from scripts.bench import driver
from scripts.bench.driver import Settings, WorkerError
from scripts.bench.workloads import NATIVE, named

FAST, SLOW = NATIVE, "tvm-vm"


class FakeWorker:
    """An engine whose call at size n takes ``seconds * n`` and ``growth * n`` bytes."""

    def __init__(self, seconds: float, growth: int = 0, dies_at: int | None = None) -> None:
        self.seconds, self.growth, self.dies_at = seconds, growth, dies_at
        self.n = 0

    def ask(self, request: str, *arguments: Any, seconds: float = 0) -> dict[str, Any]:
        del seconds
        if request == "sample":
            return {"seconds": None if arguments[0] == "run" else self.seconds * self.n}
        self.n = arguments[0]
        if self.n == self.dies_at:
            raise WorkerError("the process ended with -9")
        return {
            "load_s": 0.0,
            "first_s": self.seconds * self.n,
            "growth_bytes": self.growth * self.n,
            "digest": "a",
        }


def _sizes(sizes: list[int], settings: Settings, **workers: FakeWorker) -> list[dict[str, Any]]:
    engines: dict[str, Any] = {
        name.replace("_", "-"): driver._Engine(worker, {})  # type: ignore[arg-type]
        for name, worker in workers.items()
    }
    return [driver._size(n, engines, settings) for n in sizes]


def test_a_ratio_is_the_median_of_the_rounds_ratios() -> None:
    samples: list[dict[str, float | None]] = [
        {FAST: 1.0, SLOW: 10.0},
        {FAST: 2.0, SLOW: 20.0},
        {FAST: 1.0, SLOW: 99.0},
        {FAST: 1.0, SLOW: None},
    ]
    ready: Any = {FAST: None, SLOW: None}
    assert driver._ratios(samples, ready) == {SLOW: 10.0}


def test_engines_are_set_side_by_side() -> None:
    (size,) = _sizes([10], Settings(), regvm_native=FakeWorker(1e-6), tvm_vm=FakeWorker(5e-6))
    assert size["ratios"]["invoke"] == {SLOW: pytest.approx(5.0)}
    assert size["bit_equal"]


def test_a_size_that_would_take_too_long_is_extrapolated_and_says_so() -> None:
    _, large = _sizes([1, 10_000], Settings(limit_s=100), regvm_native=FakeWorker(1e-6), tvm_vm=FakeWorker(1))
    found = large["engines"][SLOW]
    assert found["invoke_s"] == pytest.approx(10_000)
    assert found["extrapolated"] == "one call would take 10000 s"
    assert SLOW not in large["ratios"]["invoke"]


def test_a_size_that_would_take_too_much_memory_is_extrapolated_and_says_so() -> None:
    _, large = _sizes(
        [1, 10**6], Settings(), regvm_native=FakeWorker(1e-9), tvm_vm=FakeWorker(1e-9, growth=10**9)
    )
    assert "GB of memory" in large["engines"][SLOW]["extrapolated"]
    assert large["engines"][SLOW]["growth_bytes"] == 10**15


def test_an_engine_that_dies_is_reported_and_left_out_from_then_on() -> None:
    worker = FakeWorker(1e-6, dies_at=10)
    sizes = _sizes([1, 10, 100], Settings(), regvm_native=FakeWorker(1e-6), tvm_vm=worker)
    assert ["error" in s["engines"][SLOW] for s in sizes] == [False, True, True]
    assert sizes[2]["engines"][FAST]["invoke_s"] == pytest.approx(1e-4)


def test_a_worker_that_ends_raises() -> None:
    worker = driver.Worker(NATIVE, named("identity").name, {})
    worker._process.kill()
    with pytest.raises(WorkerError):
        worker.ask("compile")
