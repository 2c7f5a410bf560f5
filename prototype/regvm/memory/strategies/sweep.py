"""One pass in program order over a list of gaps: what a run-time allocator would do, with the sizes known.

It never looks at pairs of requests, so it stays near-linear however many are live at once. A request keeps
its place through its lifetime holes.
"""

from bisect import bisect_left, insort
from heapq import heappop, heappush

from regvm.memory.problem import Problem
from regvm.memory.strategies.registry import Options, Outcome, register


@register("sweep")
def sweep(problem: Problem, options: Options) -> Outcome:  # noqa: ARG001
    """Into the smallest gap that fits, else at the end; the larger first of requests that start together."""
    offsets = [0] * len(problem)
    gaps = _Gaps()
    ends: list[tuple[int, int]] = []
    for index in sorted(
        range(len(problem)), key=lambda index: (problem.firsts[index], -problem.sizes[index])
    ):
        while ends and ends[0][0] <= problem.firsts[index]:
            freed = heappop(ends)[1]
            gaps.release(offsets[freed], problem.sizes[freed])
        offsets[index] = gaps.take(problem.sizes[index])
        heappush(ends, (problem.lasts[index], index))
    return Outcome(offsets)


class _Gaps:
    """The free blocks of an arena without end, by address (to merge neighbours) and by size (to fit best)."""

    def __init__(self) -> None:
        self.top = 0
        self.lowers: list[int] = []
        self.uppers: list[int] = []
        self.by_size: list[tuple[int, int]] = []

    def take(self, size: int) -> int:
        place = bisect_left(self.by_size, (size, 0))
        if place == len(self.by_size):
            return self._extend(size)
        length, lower = self.by_size[place]
        self._remove(lower, lower + length)
        if length > size:
            self._insert(lower + size, lower + length)
        return lower

    def release(self, lower: int, size: int) -> None:
        upper = lower + size
        place = bisect_left(self.lowers, lower)
        if place < len(self.lowers) and self.lowers[place] == upper:
            upper = self.uppers[place]
            self._remove(self.lowers[place], upper)
        if place and self.uppers[place - 1] == lower:
            lower = self.lowers[place - 1]
            self._remove(lower, self.uppers[place - 1])
        self._insert(lower, upper)

    def _extend(self, size: int) -> int:
        lower = self.top
        # A gap at the very end counts towards the request: missing it is a known fault of other planners.
        if self.uppers and self.uppers[-1] == self.top:
            lower = self.lowers[-1]
            self._remove(lower, self.top)
        self.top = lower + size
        return lower

    def _insert(self, lower: int, upper: int) -> None:
        place = bisect_left(self.lowers, lower)
        self.lowers.insert(place, lower)
        self.uppers.insert(place, upper)
        insort(self.by_size, (upper - lower, lower))

    def _remove(self, lower: int, upper: int) -> None:
        place = bisect_left(self.lowers, lower)
        del self.lowers[place]
        del self.uppers[place]
        del self.by_size[bisect_left(self.by_size, (upper - lower, lower))]
