"""Bring a function under a register limit: values wait in spill slots of the frame between uses.

Done on SSA form, before registers are assigned: where more values would be live than there are registers, the
one used furthest in the future is evicted, and reloaded before its next use. (Braun and Hack, "Register spilling
and live-range splitting for SSA-form programs", 2009.) A value that is ever reloaded is stored once, where it is
defined. Each reload is a new name for the value; where names meet, a block parameter joins them. The result has
no point with more live values than the limit, so linear scan needs no more registers than that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from regvm import isa
from regvm.errors import CompileError
from regvm.ir.function import Function
from regvm.ir.printer import show_instruction
from regvm.regalloc import next_use
from regvm.regalloc.next_use import operands


@dataclass(frozen=True)
class Decisions:
    """What to reload where.

    ``entry[b]`` are the values in registers at the start of block ``b``, its parameters aside; ``before[b][i]``
    are reloaded before instruction ``i`` of block ``b``. ``spilled`` are the values that are reloaded anywhere.
    """

    entry: tuple[frozenset[int], ...]
    before: tuple[Mapping[int, tuple[int, ...]], ...]
    spilled: frozenset[int]


def smallest_limit(function: Function) -> tuple[int, str]:
    """The fewest registers that a function can run with, and what needs them."""
    widest = (len(function.parameters), "its parameters")
    for number, block in enumerate(function.blocks):
        widest = max(widest, (len(block.parameters), f"the parameters of b{number}"), key=lambda w: w[0])
        for instruction in block.instructions:
            width = max(len(operands(block, instruction)), len(isa.defs(instruction)))
            if width > widest[0]:
                widest = width, show_instruction(instruction, "%", "b")
    return widest


def decide(function: Function, limit: int) -> Decisions:
    """Choose what to keep in ``limit`` registers. Raises CompileError below ``smallest_limit``."""
    needed, reason = smallest_limit(function)
    if limit < needed:
        raise CompileError(
            f"@{function.name}: a register limit of {limit} is too small; {reason} needs {needed} registers"
        )
    return _Spiller(function, limit).run()


class _Spiller:
    def __init__(self, function: Function, limit: int) -> None:
        self._function = function
        self._limit = limit
        self._starts = next_use.at_block_starts(function)
        self._predecessors = function.predecessors()
        self._entry: list[set[int]] = [set() for _ in function.blocks]
        self._exit: dict[int, set[int]] = {}
        self._before: list[dict[int, list[int]]] = [{} for _ in function.blocks]

    def run(self) -> Decisions:
        for number in range(len(self._function.blocks)):
            self._entry[number] = self._choose_entry(number)
            self._run_block(number)
        for number in range(len(self._function.blocks)):
            self._couple(number)
        spilled = {v for block in self._before for values in block.values() for v in values}
        return Decisions(
            tuple(frozenset(e) for e in self._entry),
            tuple({i: tuple(values) for i, values in block.items()} for block in self._before),
            frozenset(spilled),
        )

    def _choose_entry(self, number: int) -> set[int]:
        """Values to have in registers at a block's start: what all blocks before it can bring, nearest use first."""
        live = self._starts[number]
        before = [p for p in self._predecessors[number] if p in self._exit]
        if not before:
            return set()
        if len(self._predecessors[number]) > 1 and not self._only_jumps_come(number):
            # A branch passes no arguments, so names could not be joined here.
            return set()
        brought = set.intersection(*(self._exit[p] for p in before)) & live.keys()
        room = self._limit - len(self._function.blocks[number].parameters)
        return set(sorted(brought, key=lambda v: (live[v], v))[:room])

    def _only_jumps_come(self, number: int) -> bool:
        blocks = self._function.blocks
        return all(isinstance(blocks[p].terminator, isa.Jump) for p in self._predecessors[number])

    def _run_block(self, number: int) -> None:
        block = self._function.blocks[number]
        end = next_use.at_end(block, self._starts)
        distances = next_use.at_instructions(block, end)
        held = set(self._entry[number]) | {p for p in block.parameters if p in distances[0]}
        for index, instruction in enumerate(block.instructions):
            read = operands(block, instruction)
            missing = [v for v in read if v not in held]
            if missing:
                self._before[number][index] = missing
            held.update(missing)
            held = self._evict(held, set(read), distances[index], self._limit)
            after = distances[index + 1]
            defined = isa.defs(instruction)
            held = {v for v in held if v in after}
            held = self._evict(held, set(), after, self._limit - len(defined))
            held.update(d for d in defined if d in after)
        self._exit[number] = held | set(block.arguments)

    @staticmethod
    def _evict(held: set[int], keep: set[int], distance: Mapping[int, int], room: int) -> set[int]:
        """Drop the values whose next use is furthest until ``room`` are left; those of ``keep`` stay."""
        if len(held) <= room:
            return held
        others = sorted(held - keep, key=lambda v: (distance[v], v))
        return keep | set(others[: room - len(keep)])

    def _couple(self, number: int) -> None:
        """Before a jump, reload what its target expects in registers and this block has not."""
        block = self._function.blocks[number]
        if isinstance(block.terminator, isa.Jump):
            target = block.terminator.target
            missing = sorted(self._entry[target] - self._exit[number])
            if missing:
                last = len(block.instructions) - 1
                known = self._before[number].setdefault(last, [])
                known.extend(v for v in missing if v not in known)
