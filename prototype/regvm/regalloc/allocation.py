"""Allocated code, and the pass that writes it: registers in place of values, marks on last uses, moves on edges.

The function itself is never changed, so that the checker can compare the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass

from regvm import isa
from regvm.ir.function import Block, Function
from regvm.regalloc import linear_scan
from regvm.regalloc.intervals import Intervals, max_live
from regvm.regalloc.liveness import Liveness
from regvm.regalloc.parallel_moves import sequentialise


@dataclass(frozen=True)
class Allocation:
    """Code over registers, block by block as in the function it was made from; targets are block numbers."""

    blocks: tuple[tuple[isa.Instruction, ...], ...]
    num_registers: int
    num_slots: int
    max_live: int


def allocate(
    function: Function, live: Liveness, intervals: Intervals, owning: Set[int] = frozenset()
) -> Allocation:
    """Allocate the registers of one function, whose liveness and intervals are given.

    ``owning`` are the values that may keep storage from being freed: where such a value dies on an edge, or is
    never read, it is dropped.
    """
    assignment = linear_scan.scan(function, intervals)
    writer = _Writer(function, live, dict(assignment.registers), assignment.num_registers, owning)
    blocks = tuple(writer.write(number) for number in range(len(function.blocks)))
    return Allocation(blocks, writer.num_registers, 0, max_live(intervals))


_ENDS_FRAME = (isa.Ret, isa.TailCall, isa.TailCallClosure)
"""A block of only one of these needs no drops: the frame goes at once."""


class _Writer:
    def __init__(
        self,
        function: Function,
        live: Liveness,
        registers: dict[int, int],
        num_registers: int,
        owning: Set[int],
    ) -> None:
        self._function = function
        self._live = live
        self._register = registers
        self._owning = owning
        self._predecessors = function.predecessors()
        self.num_registers = num_registers

    def write(self, number: int) -> tuple[isa.Instruction, ...]:
        block = self._function.blocks[number]
        moves = self._edge_moves(block)
        live = set(self._live.live_out[number]) | set(block.arguments)
        backwards: list[isa.Instruction] = []
        for instruction in reversed(block.instructions):
            backwards.extend(self._drops(v for v in isa.defs(instruction) if v not in live))
            live.difference_update(isa.defs(instruction))
            backwards.append(self._mark(instruction, live))
            live.update(u.register for u in isa.uses(instruction))
            if instruction is block.terminator:
                backwards.extend(reversed(moves))
        if len(block.instructions) > 1 or not isinstance(block.terminator, _ENDS_FRAME):
            dead = [p for p in block.parameters if p not in live]
            backwards.extend(self._drops([*self._dead_on_edge(number), *dead]))
        return tuple(reversed(backwards))

    def _mark(self, instruction: isa.Instruction, live_after: set[int]) -> isa.Instruction:
        """Put registers in place; of several reads of a dying value the last one is marked."""
        marks = _last_reads([u.register for u in isa.uses(instruction)], live_after)
        return isa.rewrite(
            instruction,
            use=lambda u: isa.Use(self._register[u.register], next(marks)),
            define=self._register.__getitem__,
        )

    def _drops(self, values: Iterable[int]) -> list[isa.Instruction]:
        registers = sorted({self._register[v] for v in values if v in self._owning})
        return [isa.Drop(tuple(isa.Use(r, True) for r in registers))] if registers else []

    def _dead_on_edge(self, number: int) -> frozenset[int]:
        """What is live at the end of some block before, but not here.

        On another edge its register holds nothing that is live here: whatever is was live at the end of that
        block too, beside it.
        """
        incoming = [self._live.live_out[p] for p in self._predecessors[number]]
        return frozenset().union(*incoming) - self._live.live_in[number]

    def _edge_moves(self, block: Block) -> list[isa.Instruction]:
        if not isinstance(block.terminator, isa.Jump):
            return []
        target = block.terminator.target
        parameters = self._function.blocks[target].parameters
        wanted = {
            self._register[p]: self._register[a] for p, a in zip(parameters, block.arguments, strict=True)
        }
        through = {self._register[v] for v in self._live.live_in[target]}
        ordered = sequentialise(wanted, lambda: self._spare(wanted, through))
        needed = through | set(wanted)
        backwards: list[isa.Instruction] = []
        for dst, src in reversed(ordered):
            needed.discard(dst)
            backwards.append(isa.Move(dst, isa.Use(src, src not in needed)))
            needed.add(src)
        return backwards[::-1]

    def _spare(self, moves: dict[int, int], through: set[int]) -> int:
        taken = through | set(moves) | set(moves.values())
        for register in range(self.num_registers):
            if register not in taken:
                return register
        self.num_registers += 1
        return self.num_registers - 1


def _last_reads(values: list[int], live_after: set[int]) -> Iterator[bool]:
    last = {v: n for n, v in enumerate(values)}
    return iter([v not in live_after and last[v] == n for n, v in enumerate(values)])
