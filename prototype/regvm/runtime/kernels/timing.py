"""Time a machine as TVM's own benchmark does."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import tvm


def benchmark(machine: Any, func_name: str, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Run ``machine.invoke`` under TVM's rules of repetition; ``options`` may hold named arguments too."""
    rules = {"repeat": 5, "number": 5, "min_repeat_ms": 0, "limit_zero_time_iterations": 100}
    rules |= {"end_to_end": False, "cooldown_interval_ms": 0, "repeats_to_cooldown": 1}
    inputs = {k: v for k, v in options.items() if k not in rules}
    rules |= {k: v for k, v in options.items() if k in rules and v is not None}
    if args or inputs:
        machine.set_input(func_name, *args, **inputs)
    seconds = []
    for _ in range(rules["repeat"]):
        number = rules["number"]
        while True:
            start = time.perf_counter()
            for _ in range(number):
                machine.invoke_stateful(func_name)
            elapsed = time.perf_counter() - start
            if elapsed * 1000 >= rules["min_repeat_ms"]:
                break
            number *= 2
        seconds.append(elapsed / number)
    return tvm.runtime.module.BenchmarkResult(seconds)
