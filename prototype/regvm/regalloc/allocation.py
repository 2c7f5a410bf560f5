"""Allocated code, and the pass that writes it: registers in place of values, marks on last uses, moves on edges.

The function itself is never changed, so that the checker can compare the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass

from regvm import isa
from regvm.ir.function import Block, Function
from regvm.regalloc import linear_scan, liveness, spill_code, spilling
from regvm.regalloc.intervals import Intervals, build, max_live
from regvm.regalloc.linear_scan import Assignment
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
    function: Function,
    live: Liveness,
    intervals: Intervals,
    owning: Set[int] = frozenset(),
    limit: int | None = None,
) -> Allocation:
    """Allocate the registers of one function, whose liveness and intervals are given.

    ``owning`` are the values that may keep storage from being freed: where such a value dies on an edge, or is
    never read, it is dropped. With fewer than ``max_live`` registers, by ``limit``, values are spilled; raises
    CompileError if the widest instruction needs more.
    """
    largest = max_live(intervals)
    num_slots = 0
    if limit is not None and largest > limit:
        decisions = spilling.decide(function, limit)
        waiting = Intervals({v: intervals.ranges[v] for v in sorted(decisions.spilled)}, intervals.starts)
        slots = linear_scan.scan(function, waiting)
        spilled = spill_code.insert(function, decisions, slots.registers)
        function, num_slots = spilled.function, slots.num_registers
        live = liveness.analyse(function)
        intervals = build(function, live)
        owning = owning | {name for name, value in spilled.original.items() if value in owning}
    assignment = linear_scan.scan(function, intervals)
    writer = _Writer(function, live, assignment, owning, limit, num_slots)
    blocks = tuple(writer.write(number) for number in range(len(function.blocks)))
    return Allocation(blocks, writer.num_registers, writer.num_slots, largest)


_ENDS_FRAME = (isa.Ret, isa.TailCall, isa.TailCallClosure)
"""A block of only one of these needs no drops: the frame goes at once."""


_SLOT = -1
"""Stands for a spill slot among the registers of a parallel move."""


class _Writer:
    def __init__(
        self,
        function: Function,
        live: Liveness,
        assignment: Assignment,
        owning: Set[int],
        limit: int | None,
        num_slots: int,
    ) -> None:
        self._function = function
        self._live = live
        self._register = assignment.registers
        self._limit = limit
        self._first_free_slot = num_slots
        self._owning = owning
        self._predecessors = function.predecessors()
        self.num_registers = assignment.num_registers
        self.num_slots = num_slots

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
            backwards.append(self._transfer(dst, src, src not in needed))
            needed.add(src)
        return backwards[::-1]

    def _transfer(self, dst: int, src: int, last: bool) -> isa.Instruction:
        if dst == _SLOT:
            return isa.Spill(self._first_free_slot, isa.Use(src, last))
        if src == _SLOT:
            return isa.Reload(dst, self._first_free_slot)
        return isa.Move(dst, isa.Use(src, last))

    def _spare(self, moves: dict[int, int], through: set[int]) -> int:
        """A place to break a cycle of moves: a register that is free here, a new one, or at the limit a slot."""
        taken = through | set(moves) | set(moves.values())
        for register in range(self.num_registers):
            if register not in taken:
                return register
        if self._limit is not None and self.num_registers >= self._limit:
            self.num_slots = self._first_free_slot + 1
            return _SLOT
        self.num_registers += 1
        return self.num_registers - 1


def _last_reads(values: list[int], live_after: set[int]) -> Iterator[bool]:
    last = {v: n for n, v in enumerate(values)}
    return iter([v not in live_after and last[v] == n for n, v in enumerate(values)])
