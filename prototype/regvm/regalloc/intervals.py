"""Live intervals with lifetime holes, over a linear numbering of the function.

Index ``i`` stands for a block's start or for an instruction; it reads at position ``2i`` and writes at
``2i + 1``. A range is half-open. A value that is read last at index ``j`` ends before ``2j + 1``, so the result
of that instruction may take its register. (Poletto and Sarkar, "Linear scan register allocation", 1999; holes
as in Traub, Holloway and Smith, 1998.)
"""

from __future__ import annotations

from dataclasses import dataclass

from regvm import isa
from regvm.ir.function import Block, Function
from regvm.regalloc.liveness import Liveness

Range = tuple[int, int]


@dataclass(frozen=True)
class Intervals:
    """``ranges[v]`` are the sorted, disjoint ranges of value ``v``; ``starts[b]`` is the index of block ``b``."""

    ranges: dict[int, tuple[Range, ...]]
    starts: tuple[int, ...]


def build(function: Function, liveness: Liveness) -> Intervals:
    """The ranges in which each value must keep its register."""
    starts: list[int] = []
    ranges: dict[int, list[Range]] = {}
    index = 0
    for number, block in enumerate(function.blocks):
        starts.append(index)
        _add_block(ranges, block, index, liveness.live_in[number], liveness.live_out[number])
        index += 1 + len(block.instructions)
    return Intervals({v: _merge(r) for v, r in sorted(ranges.items())}, tuple(starts))


def _add_block(
    ranges: dict[int, list[Range]],
    block: Block,
    start: int,
    live_in: frozenset[int],
    live_out: frozenset[int],
) -> None:
    """Add one block's ranges, its parameters as written at its start and a jump's arguments as read by it."""
    begins = dict.fromkeys(live_in, 2 * start)
    begins.update(dict.fromkeys(block.parameters, 2 * start + 1))
    last: dict[int, int] = {}
    index = start
    for index, instruction in enumerate(block.instructions, start + 1):
        for use in isa.uses(instruction):
            last[use.register] = index
        for value in isa.defs(instruction):
            begins[value] = 2 * index + 1
    last.update(dict.fromkeys(block.arguments, index))
    end = 2 * index + 2
    for value, begin in begins.items():
        if value in live_out:
            stop = end
        elif value in last:
            stop = 2 * last[value] + 1
        else:
            stop = begin + 1
        ranges.setdefault(value, []).append((begin, stop))


def _merge(ranges: list[Range]) -> tuple[Range, ...]:
    merged: list[Range] = []
    for begin, end in sorted(ranges):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return tuple(merged)


def max_live(intervals: Intervals) -> int:
    """The largest number of values live at one position: no allocation can do with fewer registers."""
    changes: dict[int, int] = {}
    for ranges in intervals.ranges.values():
        for begin, end in ranges:
            changes[begin] = changes.get(begin, 0) + 1
            changes[end] = changes.get(end, 0) - 1
    live = largest = 0
    for position in sorted(changes):
        live += changes[position]
        largest = max(largest, live)
    return largest
