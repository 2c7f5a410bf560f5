"""Linear scan: give each value a register, as few as the largest live set.

Blocks are scanned in dominance order. In SSA form two values interfere only if one is live where the other is
defined (Hack, Grund, Goos, "Register allocation for programs in SSA form", 2006), so at each definition any
register that no live value holds will do, and the scan never needs more than the largest live set.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass

from regvm import isa
from regvm.ir.function import Function
from regvm.regalloc.intervals import Intervals


@dataclass(frozen=True)
class Assignment:
    """``registers[v]`` is the register of value ``v``, for its whole life; the count has no gaps below it."""

    registers: Mapping[int, int]
    num_registers: int


def scan(function: Function, intervals: Intervals) -> Assignment:
    """Assign registers in the order of definition; parameters come first, so they get registers 0, 1, …"""
    hints = _hints(function)
    events: list[tuple[int, int, int]] = []
    for value, ranges in intervals.ranges.items():
        for begin, end in ranges:
            events.append((begin, 1, value))
            events.append((end, 0, value))
    order = {v: n for n, v in enumerate(_definition_order(function))}
    events.sort(key=lambda e: (e[0], e[1], order[e[2]]))
    assigned: dict[int, int] = {}
    pool = _Pool()
    for _, starting, value in events:
        if not starting:
            pool.release(assigned[value])
        elif value in assigned:
            pool.take(assigned[value])
        else:
            wanted = [assigned[h] for h in hints.get(value, ()) if h in assigned]
            assigned[value] = pool.take_any(wanted)
    return Assignment(assigned, pool.size)


class _Pool:
    """Registers that no live value holds."""

    def __init__(self) -> None:
        self.size = 0
        self._free: set[int] = set()
        self._lowest: list[int] = []

    def release(self, register: int) -> None:
        self._free.add(register)
        heapq.heappush(self._lowest, register)

    def take(self, register: int) -> None:
        self._free.remove(register)

    def take_any(self, wanted: list[int]) -> int:
        for register in wanted:
            if register in self._free:
                self._free.remove(register)
                return register
        while self._lowest:
            register = heapq.heappop(self._lowest)
            if register in self._free:
                self._free.remove(register)
                return register
        self.size += 1
        return self.size - 1


def _definition_order(function: Function) -> list[int]:
    order: list[int] = []
    for block in function.blocks:
        order.extend(block.parameters)
        order.extend(d for i in block.instructions for d in isa.defs(i))
    return order


def _hints(function: Function) -> dict[int, list[int]]:
    """For each value those that it would best share a register with: what flows into it, or it into."""
    hints: dict[int, list[int]] = {}
    for block in function.blocks:
        if isinstance(block.terminator, isa.Jump):
            parameters = function.blocks[block.terminator.target].parameters
            for parameter, argument in zip(parameters, block.arguments, strict=True):
                hints.setdefault(parameter, []).append(argument)
                hints.setdefault(argument, []).append(parameter)
    return hints
