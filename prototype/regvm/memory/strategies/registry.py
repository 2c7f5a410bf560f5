"""The table of strategies, filled by a decorator; a name registered twice is an import error."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from regvm.memory.errors import InvalidOptionError, UnknownStrategyError
from regvm.memory.problem import Problem


@dataclass(frozen=True)
class Options:
    """What a strategy may be told; each reads what concerns it.

    ``iterations`` and ``seconds`` bound the searching strategies. With ``seconds`` unset the result depends
    on the input and ``seed`` alone; with it set, on the machine's speed too. ``page`` is the rounding of
    ``exact``, in bytes. ``capacity`` in bytes lets a search stop as soon as the plan fits into it.
    ``workers`` are the solver's threads.
    """

    seed: int = 0
    iterations: int | None = None
    seconds: float | None = None
    page: int = 4096
    capacity: int | None = None
    workers: int = 2

    def __post_init__(self) -> None:
        for name in ("iterations", "seconds", "capacity"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise InvalidOptionError(f"{name} {value} is negative; give 0 or more, or leave it out")
        for name in ("page", "workers"):
            if getattr(self, name) < 1:
                raise InvalidOptionError(f"{name} {getattr(self, name)} is not positive; give 1 or more")


@dataclass(frozen=True)
class Outcome:
    """Offsets in bytes by index.

    ``bound``: bytes proved to be needed, where that is more than the live sum. ``reserved``: bytes taken in
    all, where that is more than the end of the last request, because regions are rounded up.
    """

    offsets: Sequence[int]
    bound: int = 0
    reserved: int = 0


Strategy: TypeAlias = Callable[[Problem, Options], Outcome]

STRATEGIES: dict[str, Strategy] = {}


def register(name: str) -> Callable[[Strategy], Strategy]:
    """Enter the decorated function into the table as ``name``."""

    def enter(strategy: Strategy) -> Strategy:
        if name in STRATEGIES:
            raise RuntimeError(f"storage strategy {name!r} is registered twice")
        STRATEGIES[name] = strategy
        return strategy

    return enter


def find_strategy(name: str) -> Strategy:
    """The strategy called ``name``.

    Raises:
        UnknownStrategyError: there is none; the message lists those there are.
    """
    if name not in STRATEGIES:
        raise UnknownStrategyError(
            f"unknown storage strategy {name!r}; choose one of {', '.join(sorted(STRATEGIES))}"
        )
    return STRATEGIES[name]
