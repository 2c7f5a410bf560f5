"""Time a machine as TVM's own benchmark does, with TVM's own timer."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tvm

_RULES = {
    "repeat": 5,
    "number": 5,
    "min_repeat_ms": 0,
    "limit_zero_time_iterations": 100,
    "cooldown_interval_ms": 0,
    "repeats_to_cooldown": 1,
}
_names = (f"regvm.benchmark.{n}" for n in itertools.count())


def benchmark(
    machine: Any, device: Any, func_name: str, args: Sequence[Any], options: Mapping[str, Any]
) -> Any:
    """Run a function under TVM's rules of repetition; ``options`` may hold named arguments too.

    With ``end_to_end`` the arguments are set and the results fetched anew each time.
    """
    inputs = {k: v for k, v in options.items() if k not in _RULES and k != "end_to_end"}
    rules = _RULES | {k: v for k, v in options.items() if k in _RULES and v is not None}
    if options.get("end_to_end"):
        return _time(
            lambda _: (machine.invoke(func_name, *args, **inputs), None)[1], device, func_name, rules
        )
    if args or inputs:
        machine.set_input(func_name, *args, **inputs)
    return _time(machine.invoke_stateful, device, func_name, rules)


def _time(call: Callable[[str], None], device: Any, func_name: str, rules: Mapping[str, int]) -> Any:
    """TVM's timer takes a function by its global name where there is no module."""
    name = next(_names)
    tvm.register_func(name, call)
    try:
        return tvm.runtime.Module.time_evaluator(None, name, device, **rules)(func_name)
    finally:
        tvm._ffi.registry.remove_global_func(name)
