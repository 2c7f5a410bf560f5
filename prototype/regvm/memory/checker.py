"""Accept only storage plans that are right; written from the definition, and it imports no planner.

A plan is right if every request has an offset that is a multiple of the alignment, lies within the plan's
bytes, and shares no byte with another request that is live at a common position.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from regvm.memory.request import ALIGNMENT, Id, Plan, Request, require_alignment, require_distinct_ids


class Fault(Enum):
    """The ways in which a plan can be wrong."""

    MISSING = "has no offset"
    UNKNOWN = "was never requested"
    OUT_OF_RANGE = "lies outside the arena"
    MISALIGNED = "is misaligned"
    OVERLAP = "overlaps a buffer that is live with it"


@dataclass(frozen=True)
class Violation:
    """One fault, the ids concerned, and the figures that show it."""

    fault: Fault
    ids: tuple[Id, ...]
    detail: str

    def __str__(self) -> str:
        return f"{' and '.join(repr(id) for id in self.ids)} {self.fault.value}: {self.detail}"


class PlanRejectedError(Exception):
    """A storage plan that violates its requests: a fault of the planner, not of the user."""

    def __init__(self, plan: Plan, violations: Sequence[Violation]) -> None:
        self.plan = plan
        self.violations = tuple(violations)
        lines = [f"storage plan of strategy {plan.strategy!r} rejected, {len(violations)} violations:"]
        super().__init__("\n  ".join([*lines, *map(str, violations)]))


def check_plan(requests: Sequence[Request], plan: Plan, alignment: int = ALIGNMENT) -> list[Violation]:
    """Every violation, none if the plan is right; near-linear time if it is.

    Raises:
        InvalidRequestError: an id is given twice.
        InvalidOptionError: the alignment is not positive.
    """
    require_alignment(alignment)
    require_distinct_ids(requests)
    placed = [request for request in requests if request.id in plan.offsets]
    violations = [*_unmatched_ids(requests, plan)]
    for request in placed:
        violations.extend(_misplaced(request, plan, alignment))
    if _any_overlap(placed, plan):
        violations.extend(_overlaps(placed, plan))
    return violations


def assert_plan(requests: Sequence[Request], plan: Plan, alignment: int = ALIGNMENT) -> None:
    """Raise PlanRejectedError, with all violations, unless the plan is right."""
    violations = check_plan(requests, plan, alignment)
    if violations:
        raise PlanRejectedError(plan, violations)


def _unmatched_ids(requests: Sequence[Request], plan: Plan) -> Iterator[Violation]:
    requested = {request.id for request in requests}
    for request in requests:
        if request.id not in plan.offsets:
            yield Violation(Fault.MISSING, (request.id,), f"{request.size} bytes are requested")
    for id in plan.offsets:
        if id not in requested:
            yield Violation(Fault.UNKNOWN, (id,), f"the plan puts it at {plan.offsets[id]}")


def _misplaced(request: Request, plan: Plan, alignment: int) -> Iterator[Violation]:
    offset = plan.offsets[request.id]
    if offset < 0 or offset + request.size > plan.bytes:
        extent = f"[{offset}, {offset + request.size}) is not within [0, {plan.bytes})"
        yield Violation(Fault.OUT_OF_RANGE, (request.id,), extent)
    if offset % alignment:
        yield Violation(Fault.MISALIGNED, (request.id,), f"offset {offset} is no multiple of {alignment}")


def _events(requests: Sequence[Request]) -> list[tuple[int, bool, int]]:
    """(position, starts, index) in order; at equal positions the ends come first, as ranges are half-open."""
    return sorted(
        event
        for index, request in enumerate(requests)
        if request.size
        for lower, upper in request.ranges
        for event in ((lower, True, index), (upper, False, index))
    )


def _any_overlap(requests: Sequence[Request], plan: Plan) -> bool:
    """While the live extents are disjoint, a new one that overlaps any of them overlaps its neighbour."""
    extents = [(plan.offsets[request.id], plan.offsets[request.id] + request.size) for request in requests]
    live: list[tuple[int, int]] = []
    for _, starts, index in _events(requests):
        if not starts:
            del live[bisect_left(live, extents[index])]
            continue
        place = bisect_left(live, extents[index])
        lower, upper = extents[index]
        if place < len(live) and live[place][0] < upper:
            return True
        if place and live[place - 1][1] > lower:
            return True
        insort(live, extents[index])
    return False


def _overlaps(requests: Sequence[Request], plan: Plan) -> Iterator[Violation]:
    live: set[int] = set()
    reported: set[tuple[int, int]] = set()
    for position, starts, index in _events(requests):
        if not starts:
            live.discard(index)
            continue
        for other in sorted(live):
            pair = (min(index, other), max(index, other))
            if pair not in reported and _share_bytes(requests[index], requests[other], plan):
                reported.add(pair)
                yield _overlap(requests[pair[0]], requests[pair[1]], plan, position)
        live.add(index)


def _share_bytes(one: Request, other: Request, plan: Plan) -> bool:
    lower, other_lower = plan.offsets[one.id], plan.offsets[other.id]
    return lower < other_lower + other.size and other_lower < lower + one.size


def _overlap(one: Request, other: Request, plan: Plan, position: int) -> Violation:
    extents = " and ".join(
        f"[{plan.offsets[request.id]}, {plan.offsets[request.id] + request.size})" for request in (one, other)
    )
    return Violation(Fault.OVERLAP, (one.id, other.id), f"{extents} at position {position}")
