"""The entry point of the storage planner: requests in, plan out. The checker is the caller's to run."""

from collections.abc import Sequence

from regvm.memory.problem import Problem, height
from regvm.memory.request import ALIGNMENT, Plan, Request, require_alignment, require_distinct_ids
from regvm.memory.strategies import Options, find_strategy


def plan(
    requests: Sequence[Request],
    strategy: str = "default",
    alignment: int = ALIGNMENT,
    options: Options | None = None,
) -> Plan:
    """Offsets, multiples of ``alignment`` bytes, such that requests live at a common position never overlap.

    Raises:
        UnknownStrategyError: no strategy has that name.
        InvalidOptionError: the alignment is not positive.
        InvalidRequestError: an id is given twice.
        MissingPackageError: the strategy needs a package that is not installed.
    """
    require_alignment(alignment)
    require_distinct_ids(requests)
    planner = find_strategy(strategy)
    offsets = {request.id: 0 for request in requests}
    sized = [request for request in requests if request.size]
    if not sized:
        return Plan(offsets, 0, strategy, 0)
    problem = Problem.from_requests(sized, alignment)
    outcome = planner(problem, options or Options())
    offsets.update((request.id, offset) for request, offset in zip(sized, outcome.offsets, strict=True))
    size = max(height(problem, outcome.offsets), outcome.reserved)
    return Plan(offsets, size, strategy, max(problem.bound, outcome.bound))
