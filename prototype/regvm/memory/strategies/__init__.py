"""The strategies, one a file; importing this package registers them all."""

from regvm.memory.strategies import greedy, optimal, portfolio, regions, search, sweep
from regvm.memory.strategies.registry import STRATEGIES, Options, Outcome, find_strategy

__all__ = [
    "STRATEGIES",
    "Options",
    "Outcome",
    "find_strategy",
    "greedy",
    "optimal",
    "portfolio",
    "regions",
    "search",
    "sweep",
]
