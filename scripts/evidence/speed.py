"""How the RFC writes what ``scripts.bench`` measured: filters over one size of a workload."""

from collections.abc import Callable, Mapping
from typing import Any

from scripts.bench import table

_NOTHING = ""
_TIMES = "\N{MULTIPLICATION SIGN}"
_ENOUGH = 1_000
"""How many instructions it takes to tell what one costs."""


def times(size: Mapping[str, Any], engine: str, way: str = "invoke") -> str:
    """In how many times the native engine's time; ``~`` where the time was extrapolated."""
    found = table.ratio(engine, size, way)
    return _NOTHING if found is None else f"{_mark(size, engine)}{_digits(found)}{_TIMES}"


def over(size: Mapping[str, Any], engine: str) -> str:
    """The native engine's time as a multiple of another's."""
    found = table.ratio(engine, size)
    return _NOTHING if found is None else f"{_mark(size, engine)}{1 / found:.3g}"


def against(size: Mapping[str, Any], engine: str, other: str) -> str:
    """One engine's time as a multiple of another's, by their ratios to the native engine's."""
    mine, theirs = table.ratio(engine, size), table.ratio(other, size)
    return _NOTHING if mine is None or theirs is None else f"{mine / theirs:.3g}"


def slowest_codegen(bench: Mapping[str, Any], but: str) -> float:
    """The most seconds that generating machine code took, of all workloads but one."""
    compiled = {name: w["compiled"].get("regvm-native", {}) for name, w in bench["workloads"].items()}
    return max(float(c["codegen_s"]) for name, c in compiled.items() if name != but and "codegen_s" in c)


def spent(size: Mapping[str, Any], engine: str) -> str:
    """The time of a call."""
    found = size["engines"].get(engine, {})
    seconds = found.get("invoke_s")
    return _NOTHING if seconds is None else _mark(size, engine) + table.duration(seconds)


def grown(size: Mapping[str, Any], engine: str) -> str:
    """How much memory a call took at its peak, beyond what the process held before."""
    found = size["engines"].get(engine, {})
    if "growth_bytes" not in found:
        return _NOTHING
    return f"{_mark(size, engine)}{found['growth_bytes'] / 1e6:,.1f} MB"


def dispatch(size: Mapping[str, Any]) -> str:
    """Nanoseconds an instruction, where there are enough of them and they can be told from the noise."""
    counted = size["engines"].get("bound", {}).get("executed_instructions", 0)
    cost = table.dispatch_ns(size)
    return _NOTHING if cost is None or cost < 0 or counted < _ENOUGH else f"{cost:.1f} ns"


def _mark(size: Mapping[str, Any], engine: str) -> str:
    return "~" if "extrapolated" in size["engines"].get(engine, {}) else ""


def _digits(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


FILTERS: Mapping[str, Callable[..., Any]] = {
    "against": against,
    "dispatch": dispatch,
    "duration": table.duration,
    "grown": grown,
    "over": over,
    "slowest_codegen": slowest_codegen,
    "spent": spent,
    "times": times,
}
