"""The default: several placements, best first, until one reaches the live sum or a linear budget is spent.

Ordinary programs have short live ranges: pairs of conflicting requests are few, and greedy by size mostly
reaches the live sum at once. Where it does not, the remaining budget goes into the squeaky-wheel search. A
program with so many requests live at once that the pairs exceed the budget has its longest-lived requests
laid out first, at the bottom, by the sweep, which never looks at pairs. So the time is near-linear in the
number of requests whatever the program, and the result depends on the requests alone.
"""

from collections.abc import Sequence
from random import Random

from regvm.memory.problem import Problem, height
from regvm.memory.strategies.registry import Options, Outcome, register
from regvm.memory.strategies.search import squeaky_wheel
from regvm.memory.strategies.sweep import sweep

# In visits of a pair, about 0.3 microseconds each: a tenth of a second, and some more for large programs.
FIXED_BUDGET = 300_000
BUDGET_PER_REQUEST = 30

# A small program that misses the live sum seldom gains after so many placements.
PLACEMENTS = 200


@register("default")
def default(problem: Problem, options: Options) -> Outcome:
    """Ignores every option but ``seed``."""
    budget = FIXED_BUDGET + BUDGET_PER_REQUEST * len(problem)
    long_lived = _long_lived(problem, budget)
    if not long_lived:
        return Outcome(_within_budget(problem, budget, options.seed))
    candidates = [sweep(problem, options).offsets, _in_two_layers(problem, long_lived, budget, options)]
    return Outcome(min(candidates, key=lambda offsets: height(problem, offsets)))


def _within_budget(problem: Problem, budget: int, seed: int) -> list[int]:
    visits = len(problem) + sum(problem.degree_bounds) // 2
    placements = min(PLACEMENTS, budget // visits)
    return squeaky_wheel(problem, problem.bound, Random(seed), lambda done: done < placements)


def _long_lived(problem: Problem, budget: int) -> set[int]:
    """The requests with most conflicts, so many that the pairs of the others fit into ``budget``."""
    degrees = problem.degree_bounds
    pairs = sum(degrees) // 2
    removed: set[int] = set()
    for index in sorted(range(len(problem)), key=degrees.__getitem__, reverse=True):
        if pairs <= budget // 2:
            break
        # Its pairs with those removed before are gone already; at most so many are counted twice.
        pairs -= max(0, degrees[index] - len(removed))
        removed.add(index)
    return removed


def _in_two_layers(problem: Problem, bottom: set[int], budget: int, options: Options) -> Sequence[int]:
    """``bottom`` by the sweep, all others above it."""
    lower = [index for index in range(len(problem)) if index in bottom]
    upper = [index for index in range(len(problem)) if index not in bottom]
    offsets = [0] * len(problem)
    lower_problem = problem.subset(lower)
    for index, offset in zip(lower, sweep(lower_problem, options).offsets, strict=True):
        offsets[index] = offset
    base = max(offsets[index] + problem.sizes[index] for index in lower)
    if upper:
        for index, offset in zip(
            upper, _within_budget(problem.subset(upper), budget, options.seed), strict=True
        ):
            offsets[index] = base + offset
    return offsets
