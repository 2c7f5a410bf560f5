"""Whether the moves of a function's edges need a register beyond the largest live set, by looking at every edge."""

from __future__ import annotations

from regvm import isa
from regvm.regalloc import linear_scan
from regvm_testing.compiled import Compiled
from regvm_testing.liveness import live_at_block_ends


def needs_scratch(compiled: Compiled, num_registers: int) -> bool:
    """Some jump permutes registers in a cycle while every other register is taken."""
    function = compiled.function
    registers = linear_scan.scan(function, compiled.intervals).registers
    live_at_start, _ = live_at_block_ends(function)
    for block in function.blocks:
        if not isinstance(block.terminator, isa.Jump):
            continue
        target = block.terminator.target
        pairs = zip(function.blocks[target].parameters, block.arguments, strict=True)
        moves = {registers[p]: registers[a] for p, a in pairs}
        taken = {registers[v] for v in live_at_start[target]} | moves.keys() | set(moves.values())
        if has_cycle(moves) and len(taken) == num_registers:
            return True
    return False


def has_cycle(moves: dict[int, int]) -> bool:
    """Whether following sources from some destination comes back to it, by more than one step."""
    for start in moves:
        current, seen = moves[start], 1
        while current != start and current in moves and seen <= len(moves):
            current, seen = moves[current], seen + 1
        if current == start and moves[start] != start:
            return True
    return False
