"""The storage problem as a CP-SAT model, for ``optimal``.

One interval of offsets per request. The requests live together at a position must be disjoint: a
one-machine scheduling constraint each, stated only where the live set is maximal. This propagates far
better than rectangles that must not overlap, of whose fixed axis the solver makes little. Symmetry:
requests of equal size and lifetime lie in the order given, and the one of largest area lies in the lower
half, as any plan may be turned upside down.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, gcd
from typing import TYPE_CHECKING, Any

from regvm.memory.errors import MissingPackageError
from regvm.memory.problem import Problem, height
from regvm.memory.request import Range
from regvm.memory.strategies.registry import Options

if TYPE_CHECKING:
    from ortools.sat.python import cp_model


@dataclass(frozen=True)
class Answer:
    """Offsets in bytes, None if none were found in time, and the bytes proved to be needed, or 0."""

    offsets: Sequence[int] | None
    bound: int


def require_solver() -> Any:
    """The solver's module.

    Raises:
        MissingPackageError: it is not installed.
    """
    try:
        from ortools.sat.python import cp_model
    except ImportError as error:
        raise MissingPackageError(
            "strategy 'optimal' needs OR-Tools: pip install 'relay-regvm[exact]', or choose 'search'"
        ) from error
    return cp_model


def decide(problem: Problem, capacity: int, seconds: float, options: Options) -> Answer:
    """A plan within ``capacity`` bytes, or the proof that there is none.

    Without a hint: a plan that does not fit leads the solver astray for long.
    """
    unit = gcd(*problem.sizes)
    highest = capacity // unit
    if capacity < problem.bound:
        return Answer(None, problem.bound)
    cp_model = require_solver()
    model = cp_model.CpModel()
    offsets = _state_blocks(model, problem, highest)
    _halve(model, problem, offsets, highest)
    solver = _solver(cp_model, seconds, options)
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return Answer(None, (highest + 1) * unit)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Answer([solver.value(variable) * unit for variable in offsets], 0)
    return Answer(None, 0)


def minimise(problem: Problem, known: Sequence[int], bound: int, seconds: float, options: Options) -> Answer:
    """The lowest plan found from the ``known`` one on, and what is proved beyond ``bound`` bytes."""
    unit = gcd(*problem.sizes)
    lowest, highest = -(-bound // unit), height(problem, known) // unit
    cp_model = require_solver()
    model = cp_model.CpModel()
    offsets = _state_blocks(model, problem, highest)
    for variable, offset in zip(offsets, known, strict=True):
        model.add_hint(variable, offset // unit)
    top = model.new_int_var(lowest, highest, "height")
    for variable, size in zip(offsets, problem.sizes, strict=True):
        model.add(variable + size // unit <= top)
    _halve(model, problem, offsets, top)
    model.minimize(top)
    solver = _solver(cp_model, seconds, options)
    status = solver.solve(model)
    # Before the search proper starts, the solver's bound may still be minus infinity.
    proved = ceil(max(lowest, solver.best_objective_bound)) * unit
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Answer([solver.value(variable) * unit for variable in offsets], proved)
    return Answer(None, proved)


def _state_blocks(model: "cp_model.CpModel", problem: Problem, highest: int) -> "list[cp_model.IntVar]":
    unit = gcd(*problem.sizes)
    sizes = [size // unit for size in problem.sizes]
    offsets = [model.new_int_var(0, highest - size, f"offset{index}") for index, size in enumerate(sizes)]
    blocks = [
        model.new_fixed_size_interval_var(offset, size, f"block{index}")
        for index, (offset, size) in enumerate(zip(offsets, sizes, strict=True))
    ]
    for live in maximal_live_sets(problem):
        model.add_no_overlap([blocks[index] for index in sorted(live)])
    for index, other in twins(problem):
        model.add(offsets[index] + sizes[index] <= offsets[other])
    return offsets


def _halve(
    model: "cp_model.CpModel",
    problem: Problem,
    offsets: "Sequence[cp_model.IntVar]",
    top: "cp_model.IntVar | int",
) -> None:
    """Upside down a plan is a plan: of each two keep the one whose largest request lies in the lower half."""
    areas = [size * _length(ranges) for size, ranges in zip(problem.sizes, problem.ranges, strict=True)]
    largest = max(range(len(problem)), key=areas.__getitem__)
    model.add(2 * offsets[largest] <= top - problem.sizes[largest] // gcd(*problem.sizes))


def _solver(cp_model: Any, seconds: float, options: Options) -> Any:
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = options.workers
    solver.parameters.random_seed = options.seed
    return solver


def maximal_live_sets(problem: Problem) -> list[frozenset[int]]:
    """The sets of requests live at one position that are part of no other such set that stands next to them.

    A live set only matters where the next event ends a lifetime: before that it still grows.
    """
    live: set[int] = set()
    grown = False
    maximal = []
    for _, starts, index in problem.events:
        if starts:
            live.add(index)
        else:
            if grown:
                maximal.append(frozenset(live))
            live.discard(index)
        grown = starts
    return maximal


def twins(problem: Problem) -> Iterator[tuple[int, int]]:
    """Neighbours, in the order given, among requests of equal size and lifetime."""
    last: dict[tuple[int, tuple[Range, ...]], int] = {}
    for index, key in enumerate(zip(problem.sizes, problem.ranges, strict=True)):
        if key in last:
            yield last[key], index
        last[key] = index


def _length(ranges: Sequence[Range]) -> int:
    return sum(upper - lower for lower, upper in ranges)
