"""Two ways to turn an order of requests into offsets; every greedy and searching strategy builds on them.

``first_fit`` takes the requests in the order given and puts each into the first gap that holds it.
``lowest_first`` lets the request that can lie lowest go first and asks the order only where several can. It
leaves the gaps below an overhang empty, yet packs dense programs better, because it never builds a tower
early. Both cost one visit per pair of conflicting requests, and a sort.
"""

from collections.abc import Sequence
from heapq import heapify, heappop, heapreplace

from regvm.memory.problem import Problem


def first_fit(problem: Problem, order: Sequence[int]) -> list[int]:
    """Offsets by index; ``order`` is a permutation of the indices."""
    sizes, conflicts = problem.sizes, problem.conflicts
    offsets = [-1] * len(sizes)
    taken: list[list[tuple[int, int]]] = [[] for _ in sizes]
    for index in order:
        offset = _first_gap(taken[index], sizes[index])
        offsets[index] = offset
        block = (offset, offset + sizes[index])
        for other in conflicts[index]:
            if offsets[other] < 0:
                taken[other].append(block)
    return offsets


def _first_gap(blocks: list[tuple[int, int]], size: int) -> int:
    blocks.sort()
    end = 0
    for lower, upper in blocks:
        if lower - end >= size:
            return end
        # Blocks may overlap one another: they conflict with this request, not always among themselves.
        if upper > end:
            end = upper
    return end


def lowest_first(problem: Problem, ranks: Sequence[float]) -> list[int]:
    """Offsets by index; of the requests that can lie equally low, the smallest rank goes first."""
    sizes, conflicts = problem.sizes, problem.conflicts
    offsets = [-1] * len(sizes)
    floors = [0] * len(sizes)
    queue = [(0, rank, index) for index, rank in enumerate(ranks)]
    heapify(queue)
    while queue:
        floor, rank, index = queue[0]
        if floors[index] > floor:
            heapreplace(queue, (floors[index], rank, index))
            continue
        heappop(queue)
        offsets[index] = floor
        end = floor + sizes[index]
        for other in conflicts[index]:
            if floors[other] < end and offsets[other] < 0:
                floors[other] = end
    return offsets


def settled(problem: Problem, offsets: Sequence[int]) -> list[int]:
    """The same plan with every request dropped into the lowest gap, lowest first: no request moves up."""
    return first_fit(problem, sorted(range(len(offsets)), key=offsets.__getitem__))
