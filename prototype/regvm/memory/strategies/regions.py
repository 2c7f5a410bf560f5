"""Strategies without offset packing: every request has a region of its own or takes over a whole one.

They stand for what others do. ``none`` shares nothing. ``exact`` is a pooled allocator that rounds to pages
and hands out a free region of exactly the same rounded size. ``coalesce`` lets regions grow to their
largest tenant, as the storage pass of Relay's PR 5144 did. The last two give a region back only after the
last live position, so lifetime holes bring them nothing.
"""

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import accumulate
from math import lcm

from regvm.memory.problem import Problem
from regvm.memory.request import round_up
from regvm.memory.strategies.registry import Options, Outcome, register


@register("none")
def share_nothing(problem: Problem, options: Options) -> Outcome:  # noqa: ARG001
    """Every request beside the others."""
    return Outcome(_side_by_side(problem.sizes))


@register("exact")
def reuse_exact_size(problem: Problem, options: Options) -> Outcome:
    """A free region of the same size, rounded up to ``options.page``, or a new one."""
    granule = lcm(options.page, problem.alignment)
    sizes: list[int] = []
    tenancy: list[int] = [0] * len(problem)
    free: dict[int, list[int]] = {}
    for index, released in _arrivals(problem, tenancy):
        for region in released:
            free.setdefault(sizes[region], []).append(region)
        size = round_up(problem.sizes[index], granule)
        if free.get(size):
            tenancy[index] = free[size].pop()
        else:
            tenancy[index] = len(sizes)
            sizes.append(size)
    starts = _side_by_side(sizes)
    return Outcome([starts[region] for region in tenancy], reserved=sum(sizes))


@register("coalesce")
def coalesce_regions(problem: Problem, options: Options) -> Outcome:  # noqa: ARG001
    """The smallest free region that is large enough, else the largest free one, grown, else a new one."""
    sizes: list[int] = []
    tenancy: list[int] = [0] * len(problem)
    free: list[int] = []
    for index, released in _arrivals(problem, tenancy):
        free.extend(released)
        size = problem.sizes[index]
        if not free:
            tenancy[index] = len(sizes)
            sizes.append(size)
            continue
        region = min(free, key=lambda region: _misfit(sizes[region], size))
        free.remove(region)
        sizes[region] = max(sizes[region], size)
        tenancy[index] = region
    starts = _side_by_side(sizes)
    return Outcome([starts[region] for region in tenancy])


def _misfit(region: int, size: int) -> tuple[bool, int]:
    """Sorts regions that need not grow before those that must, and each kind by how far off it is."""
    return region < size, abs(region - size)


def _arrivals(problem: Problem, tenancy: Sequence[int]) -> Iterable[tuple[int, list[int]]]:
    """The requests in the order they become live, each with the regions released since the one before.

    ``tenancy`` is the caller's: it must name a request's region before the next arrival is asked for.
    """
    ends: list[tuple[int, int]] = []
    for index in sorted(range(len(problem)), key=problem.firsts.__getitem__):
        released = []
        while ends and ends[0][0] <= problem.firsts[index]:
            released.append(tenancy[heappop(ends)[1]])
        yield index, released
        heappush(ends, (problem.lasts[index], index))


def _side_by_side(sizes: Sequence[int]) -> list[int]:
    return list(accumulate(sizes, initial=0))[:-1]
