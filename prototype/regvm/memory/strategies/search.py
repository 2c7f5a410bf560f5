"""Squeaky-wheel search: plan, blame what stands above the bound, let it go earlier, plan again.

After the best of several fixed orders, each iteration lowers the rank of every request that ends above the
target, by a random amount that grows with how far above it ends, and places again lowest first
(``placing.lowest_first``). Joslin and Clements, "Squeaky wheel optimization" (1999). Plain hill climbing
over a first-fit order stops far earlier: a swap of two requests seldom repairs a tower of ten.
"""

from collections.abc import Callable, Iterator, Sequence
from math import inf
from random import Random
from time import perf_counter

from regvm.memory.placing import first_fit, lowest_first, settled
from regvm.memory.problem import Problem, height
from regvm.memory.strategies.registry import Options, Outcome, register

ITERATIONS = 500

# Without progress for so many iterations, the search goes back to the best ranks it knows.
PATIENCE = 60


@register("search")
def search(problem: Problem, options: Options) -> Outcome:
    """The best of ``iterations`` placements (500 if ``seconds`` is unset) or of ``seconds``."""
    deadline = inf if options.seconds is None else perf_counter() + options.seconds
    iterations = inf if options.iterations is None else options.iterations
    if iterations == deadline == inf:
        iterations = ITERATIONS
    target = max(problem.bound, options.capacity or 0)

    def goes_on(done: int) -> bool:
        return done < iterations and (deadline == inf or perf_counter() < deadline)

    return Outcome(squeaky_wheel(problem, target, Random(options.seed), goes_on))


def squeaky_wheel(problem: Problem, target: int, random: Random, goes_on: Callable[[int], bool]) -> list[int]:
    """The first offsets within ``target`` bytes, or the best when ``goes_on(placements done)`` says no.

    At least one placement is made.
    """
    best: list[int] = []
    best_height: float = inf
    for done, offsets in enumerate(_placements(problem, target, random), start=1):
        top = height(problem, offsets)
        if top < best_height:
            best, best_height = offsets, top
        if best_height <= target:
            return best
        if not goes_on(done):
            break
    return settled(problem, best)


def _placements(problem: Problem, target: int, random: Random) -> Iterator[list[int]]:
    """Without end: every fixed order placed both ways, then the blaming iterations from the best of them."""
    best_ranks: list[float] = []
    best_height: float = inf
    for keys in fixed_orders(problem):
        order = sorted(range(len(problem)), key=keys.__getitem__)
        yield first_fit(problem, order)
        ranks = _ranks(order)
        offsets = lowest_first(problem, ranks)
        yield offsets
        if height(problem, offsets) < best_height:
            best_ranks, best_height = ranks, height(problem, offsets)
    ranks, stale = list(best_ranks), 0
    while True:
        offsets = lowest_first(problem, ranks)
        yield offsets
        stale += 1
        if height(problem, offsets) < best_height:
            best_ranks, best_height, stale = list(ranks), height(problem, offsets), 0
        elif stale > PATIENCE:
            ranks, stale = list(best_ranks), 0
        _blame(problem, ranks, offsets, target, random)


def fixed_orders(problem: Problem) -> Iterator[Sequence[tuple[int, ...]]]:
    """Sort keys by index: size, pressure, neighbours' bytes, start, area, length, number of conflicts."""
    sizes, conflicts = problem.sizes, problem.conflicts
    lengths = [sum(upper - lower for lower, upper in ranges) for ranges in problem.ranges]
    around = [sum(sizes[other] for other in others) for others in conflicts]
    yield [(-size, -len(others)) for size, others in zip(sizes, conflicts, strict=True)]
    yield [
        (-pressure, -length, -size)
        for pressure, length, size in zip(pressures(problem), lengths, sizes, strict=True)
    ]
    yield [(-total,) for total in around]
    yield [(first, -size) for first, size in zip(problem.firsts, sizes, strict=True)]
    yield [(-size * length,) for size, length in zip(sizes, lengths, strict=True)]
    yield [(-length, -size) for size, length in zip(sizes, lengths, strict=True)]
    yield [(-len(others), -size) for size, others in zip(sizes, conflicts, strict=True)]


def pressures(problem: Problem) -> list[int]:
    """For each request the largest live sum at its positions, in bytes: how crowded the worst of them is."""
    worst = [0] * len(problem)
    live: dict[int, None] = {}
    total = 0
    for _, starts, index in problem.events:
        total += problem.sizes[index] if starts else -problem.sizes[index]
        if not starts:
            del live[index]
            continue
        live[index] = None
        for other in live:
            worst[other] = max(worst[other], total)
    return worst


def _ranks(order: Sequence[int]) -> list[float]:
    ranks = [0.0] * len(order)
    for rank, index in enumerate(order):
        ranks[index] = float(rank)
    return ranks


def _blame(problem: Problem, ranks: list[float], offsets: Sequence[int], target: int, random: Random) -> None:
    step = 0.1 * len(problem)
    for index, (offset, size) in enumerate(zip(offsets, problem.sizes, strict=True)):
        excess = offset + size - target
        if excess > 0:
            ranks[index] -= random.random() * step * (1 + 5 * excess / target)
