"""Requests as the strategies work on them: dense indices, aligned sizes, the conflict graph on demand.

Zero-size requests are not in it: they take no room wherever they lie.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from regvm.memory.request import Range, Request, lower_bound, round_up


@dataclass(frozen=True)
class Problem:
    """``sizes`` in bytes, multiples of ``alignment``; ``ranges`` as in the requests; both indexed alike."""

    sizes: Sequence[int]
    ranges: Sequence[tuple[Range, ...]]
    alignment: int
    bound: int

    @classmethod
    def from_requests(cls, requests: Sequence[Request], alignment: int) -> "Problem":
        return cls(
            sizes=[round_up(request.size, alignment) for request in requests],
            ranges=[request.ranges for request in requests],
            alignment=alignment,
            bound=lower_bound(requests, alignment),
        )

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def firsts(self) -> list[int]:
        return [ranges[0][0] for ranges in self.ranges]

    @cached_property
    def lasts(self) -> list[int]:
        return [ranges[-1][1] for ranges in self.ranges]

    @cached_property
    def events(self) -> list[tuple[int, bool, int]]:
        """(position, starts, index), ordered; at equal positions ends come first: ranges are half-open."""
        return sorted(
            event
            for index, ranges in enumerate(self.ranges)
            for lower, upper in ranges
            for event in ((lower, True, index), (upper, False, index))
        )

    @cached_property
    def conflicts(self) -> list[list[int]]:
        """For each request the others that are live at a common position. Costs time and room per pair."""
        conflicts: list[list[int]] = [[] for _ in self.sizes]
        live: dict[int, None] = {}
        for _, starts, index in self.events:
            if not starts:
                del live[index]
                continue
            conflicts[index].extend(live)
            for other in live:
                conflicts[other].append(index)
            live[index] = None
        if any(len(ranges) > 1 for ranges in self.ranges):
            return [list(dict.fromkeys(others)) for others in conflicts]
        return conflicts

    @cached_property
    def degree_bounds(self) -> list[int]:
        """For each request no fewer than its conflicts, without building them: holes are filled in."""
        firsts, lasts = sorted(self.firsts), sorted(self.lasts)
        ended_before = [_count_up_to(lasts, first) for first in self.firsts]
        return [
            bisect_left(firsts, last) - ended - 1
            for last, ended in zip(self.lasts, ended_before, strict=True)
        ]

    def subset(self, indices: Sequence[int]) -> "Problem":
        """The same problem with only ``indices``, renumbered in their order."""
        sizes = [self.sizes[index] for index in indices]
        ranges = [self.ranges[index] for index in indices]
        requests = [
            Request(index, size, spans) for index, (size, spans) in enumerate(zip(sizes, ranges, strict=True))
        ]
        return Problem(sizes, ranges, self.alignment, lower_bound(requests, self.alignment))


def _count_up_to(values: list[int], limit: int) -> int:
    return bisect_left(values, limit + 1)


def height(problem: Problem, offsets: Sequence[int]) -> int:
    """The bytes that ``offsets`` take, a multiple of the alignment."""
    return max((offset + size for offset, size in zip(offsets, problem.sizes, strict=True)), default=0)
