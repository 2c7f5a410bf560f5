"""How far away the next use of each value is: backward dataflow, the smallest distance over all paths.

The spiller evicts the value that is used furthest in the future (Belady, 1966). Distances count instructions.
"""

from __future__ import annotations

from collections.abc import Mapping

from regvm import isa
from regvm.ir.function import Block, Function

Distances = Mapping[int, int]


def at_block_starts(function: Function) -> list[Distances]:
    """For each block the distance from its start to the next use of each value that is live there."""
    starts: list[Distances] = [{} for _ in function.blocks]
    changed = True
    while changed:
        changed = False
        for number in reversed(range(len(function.blocks))):
            block = function.blocks[number]
            found = at_instructions(block, at_end(block, starts))[0]
            start = {v: d for v, d in found.items() if v not in block.parameters}
            if start != starts[number]:
                starts[number] = start
                changed = True
    return starts


def at_end(block: Block, starts: list[Distances]) -> dict[int, int]:
    """Distances from just behind a block's last instruction."""
    merged: dict[int, int] = {}
    for successor in block.successors:
        for value, distance in starts[successor].items():
            merged[value] = min(distance, merged.get(value, distance))
    return merged


def at_instructions(block: Block, end: Distances) -> list[dict[int, int]]:
    """Distances from before each instruction of a block, and from behind the last one."""
    current = dict(end)
    found = [current]
    for instruction in reversed(block.instructions):
        current = {v: d + 1 for v, d in current.items()}
        for defined in isa.defs(instruction):
            current.pop(defined, None)
        current.update(dict.fromkeys(operands(block, instruction), 0))
        found.append(current)
    return found[::-1]


def operands(block: Block, instruction: isa.Instruction) -> list[int]:
    """The values that an instruction reads, each once; a jump reads the arguments that it passes."""
    read = [u.register for u in isa.uses(instruction)]
    if instruction is block.terminator:
        read.extend(block.arguments)
    return list(dict.fromkeys(read))
