"""One order, first fit: by size (Pisarchyk and Lee, 2020) or by number of conflicts (TVM's USMP has both)."""

from regvm.memory.placing import first_fit
from regvm.memory.problem import Problem
from regvm.memory.strategies.registry import Options, Outcome, register


@register("greedy_by_size")
def greedy_by_size(problem: Problem, options: Options) -> Outcome:  # noqa: ARG001
    """Largest first; equal sizes by most conflicts, then in the order given."""
    keys = [(-size, -len(others)) for size, others in zip(problem.sizes, problem.conflicts, strict=True)]
    return Outcome(first_fit(problem, sorted(range(len(problem)), key=keys.__getitem__)))


@register("greedy_by_conflicts")
def greedy_by_conflicts(problem: Problem, options: Options) -> Outcome:  # noqa: ARG001
    """Most conflicts first; equal numbers by size, then in the order given."""
    keys = [(-len(others), -size) for size, others in zip(problem.sizes, problem.conflicts, strict=True)]
    return Outcome(first_fit(problem, sorted(range(len(problem)), key=keys.__getitem__)))
