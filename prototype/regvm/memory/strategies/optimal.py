"""Exact planning by a constraint solver (OR-Tools CP-SAT, the optional extra ``exact``).

First the squeaky-wheel search; if it misses the target (the capacity asked for, or the largest live sum),
the decision "within the target" is put to the solver, as it propagates best; with time left, the height is
minimised between what is proved and what is known. ``solver_model`` states the constraints.
"""

from dataclasses import replace
from time import perf_counter

from regvm.memory.problem import Problem, height
from regvm.memory.strategies.registry import Options, Outcome, register
from regvm.memory.strategies.search import search
from regvm.memory.strategies.solver_model import decide, minimise, require_solver

SECONDS = 60.0

# It ends the matter at once on most programs, and gives the solver a plan to start from.
SEARCH_SHARE = 0.1

# Without a capacity to reach, what the decision may take of the time before the height is minimised instead.
DECISION_SHARE = 0.5


@register("optimal")
def optimal(problem: Problem, options: Options) -> Outcome:
    """Within ``options.seconds`` (60 by default) the best plan, and the number of bytes proved to be needed.

    With ``options.capacity`` set, the first plan within it. The solver runs ``options.workers`` threads;
    which of several equally good plans they find differs from run to run.

    Raises:
        MissingPackageError: OR-Tools is not installed.
    """
    require_solver()
    started = perf_counter()
    limit = SECONDS if options.seconds is None else options.seconds

    def left() -> float:
        return max(0.0, limit - (perf_counter() - started))

    target = max(problem.bound, options.capacity or 0)
    known = search(problem, replace(options, iterations=None, seconds=limit * SEARCH_SHARE)).offsets
    if height(problem, known) <= target:
        return Outcome(known)
    share = DECISION_SHARE if options.capacity is None else 1.0
    decided = decide(problem, target, left() * share, options)
    bound = max(problem.bound, decided.bound)
    if decided.offsets is not None or bound >= height(problem, known):
        return Outcome(decided.offsets or known, bound)
    best = minimise(problem, known, bound, left(), options)
    return Outcome(best.offsets or known, best.bound)
