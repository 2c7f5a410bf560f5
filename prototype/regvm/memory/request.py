"""What the storage planner is asked for, and what it answers: plain data, shared by planners and checker.

A position is a point of the linearised program. Live ranges are half-open, so a buffer that dies at the
position where another is born may give it its place. A buffer live on one side of an ``if`` only has a
lifetime hole over the other side.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from regvm.memory.errors import InvalidOptionError, InvalidRequestError

ALIGNMENT = 64

Id = str | int
Range = tuple[int, int]


@dataclass(frozen=True)
class Request:
    """One buffer: ``size`` in bytes, and the half-open live ranges ``[lower, upper)``, sorted and disjoint.

    Raises:
        InvalidRequestError: the size is negative, or the ranges are missing, empty, unsorted or overlapping.
    """

    id: Id
    size: int
    ranges: tuple[Range, ...]

    def __post_init__(self) -> None:
        if self.size < 0:
            raise InvalidRequestError(
                f"request {self.id!r}: size {self.size} is negative; give bytes, 0 or more"
            )
        if not self.ranges:
            raise InvalidRequestError(f"request {self.id!r}: no live range; give at least one [lower, upper)")
        for lower, upper in self.ranges:
            if lower >= upper:
                raise InvalidRequestError(
                    f"request {self.id!r}: live range [{lower}, {upper}) is empty; lower must be below upper"
                )
        for (lower, upper), (next_lower, next_upper) in zip(self.ranges, self.ranges[1:], strict=False):
            if next_lower < upper:
                raise InvalidRequestError(
                    f"request {self.id!r}: live range [{next_lower}, {next_upper}) must not start within "
                    f"[{lower}, {upper}); sort the ranges and merge those that overlap"
                )

    @property
    def first(self) -> int:
        """The first live position."""
        return self.ranges[0][0]

    @property
    def last(self) -> int:
        """The position after the last live one."""
        return self.ranges[-1][1]


@dataclass(frozen=True)
class Plan:
    """Where each request lives: offsets into one arena of ``bytes`` bytes.

    ``bound`` is a number of bytes that no plan of the same requests can go below: the largest live sum, or
    more if the strategy proved more. ``bytes == bound`` says that the plan is optimal.
    """

    offsets: Mapping[Id, int]
    bytes: int
    strategy: str
    bound: int


def round_up(size: int, alignment: int) -> int:
    """``size`` rounded up to a multiple of ``alignment``."""
    return (size + alignment - 1) // alignment * alignment


def require_alignment(alignment: int) -> None:
    """Raise InvalidOptionError unless ``alignment`` is a positive number of bytes."""
    if alignment < 1:
        raise InvalidOptionError(f"alignment {alignment} is not positive; give 1 or more bytes")


def require_distinct_ids(requests: Iterable[Request]) -> None:
    """Raise InvalidRequestError if two requests carry the same id: their offsets could not be told apart."""
    seen: set[Id] = set()
    for request in requests:
        if request.id in seen:
            raise InvalidRequestError(f"request {request.id!r} is given twice; ids must be distinct")
        seen.add(request.id)


def lower_bound(requests: Sequence[Request], alignment: int = ALIGNMENT) -> int:
    """The largest sum, over all positions, of the aligned sizes that are live there, in bytes.

    No plan with aligned offsets is smaller: the buffers live at one position lie side by side.
    """
    require_alignment(alignment)
    changes = [
        change
        for request in requests
        for lower, upper in request.ranges
        for change in (
            (lower, round_up(request.size, alignment)),
            (upper, -round_up(request.size, alignment)),
        )
    ]
    # At equal positions the negative change sorts first: ranges are half-open.
    changes.sort()
    live = largest = 0
    for _, change in changes:
        live += change
        largest = max(largest, live)
    return largest
