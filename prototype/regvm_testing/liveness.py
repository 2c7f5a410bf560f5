"""What is live where, by the definition: on some path a use comes before a new definition. No dataflow.

Positions are those of the intervals: index ``i`` (a block's start, or an instruction) reads at ``2i`` and
writes at ``2i + 1``.
"""

from __future__ import annotations

from dataclasses import dataclass

from regvm import isa
from regvm.ir import Function


@dataclass(frozen=True)
class _Point:
    """An index: what it reads and writes, and the indices that may follow."""

    reads: frozenset[int]
    writes: frozenset[int]
    after: tuple[int, ...]


def _points(function: Function) -> list[_Point]:
    starts: list[int] = []
    index = 0
    for block in function.blocks:
        starts.append(index)
        index += 1 + len(block.instructions)
    found: list[_Point] = []
    for block in function.blocks:
        found.append(_Point(frozenset(), frozenset(block.parameters), (len(found) + 1,)))
        for instruction in block.instructions:
            reads = {u.register for u in isa.uses(instruction)}
            after: tuple[int, ...] = (len(found) + 1,)
            if instruction is block.terminator:
                reads.update(block.arguments)
                after = tuple(starts[s] for s in block.successors)
            found.append(_Point(frozenset(reads), frozenset(isa.defs(instruction)), after))
    return found


def live_positions(function: Function) -> dict[int, set[int]]:
    """For each value the positions at which it must keep its register."""
    points = _points(function)
    before: list[list[int]] = [[] for _ in points]
    for index, point in enumerate(points):
        for following in point.after:
            before[following].append(index)
    found: dict[int, set[int]] = {}
    for value in {v for p in points for v in (*p.reads, *p.writes)}:
        live = {2 * n + 1 for n, p in enumerate(points) if value in p.writes}
        # Walk backwards from each use until the definition.
        pending = [n for n, p in enumerate(points) if value in p.reads]
        while pending:
            index = pending.pop()
            if 2 * index in live:
                continue
            live.add(2 * index)
            for earlier in before[index]:
                live.add(2 * earlier + 1)
                if value not in points[earlier].writes:
                    pending.append(earlier)
        found[value] = live
    return found


def largest_live_set(function: Function) -> int:
    """The largest number of values that need a register at one position."""
    counts: dict[int, int] = {}
    for positions in live_positions(function).values():
        for position in positions:
            counts[position] = counts.get(position, 0) + 1
    return max(counts.values(), default=0)


def live_at_block_ends(function: Function) -> tuple[list[set[int]], list[set[int]]]:
    """For each block the values live before its parameters are written, and after its last instruction."""
    positions = live_positions(function)
    starts, ends = [], []
    index = 0
    for block in function.blocks:
        starts.append({v for v, live in positions.items() if 2 * index in live})
        index += len(block.instructions)
        ends.append(
            {v for v, live in positions.items() if 2 * index + 1 in live} - set(isa.defs(block.terminator))
        )
        index += 1
    return starts, ends
