"""Merge a block into the one that jumps to it, where that is its only predecessor.

The translator makes a loop header for every function and a join for every ``if``; where there is no loop, or
one branch never comes back, the extra block only hides straight-line code.
"""

from __future__ import annotations

import dataclasses

from regvm import isa
from regvm.ir.function import Block, Function


def merge_blocks(function: Function) -> Function:
    """The same function, block parameters replaced by the one argument they can have.

    Merged-away blocks stay in place, unreachable; ``order_blocks`` removes them.
    """
    predecessors = function.predecessors()
    blocks = list(function.blocks)
    renamed: dict[int, int] = {}
    for number in range(len(blocks)):
        while isinstance(blocks[number].terminator, isa.Jump):
            target = blocks[number].successors[0]
            if target == number or len(predecessors[target]) != 1:
                break
            absorbed = blocks[target]
            renamed.update(zip(absorbed.parameters, blocks[number].arguments, strict=True))
            blocks[number] = Block(
                blocks[number].parameters,
                blocks[number].instructions[:-1] + absorbed.instructions,
                absorbed.arguments,
            )
            blocks[target] = Block((), (isa.Fatal(),))
    return dataclasses.replace(function, blocks=tuple(_rename(b, renamed) for b in blocks))


def _rename(block: Block, renamed: dict[int, int]) -> Block:
    def resolve(value: int) -> int:
        while value in renamed:
            value = renamed[value]
        return value

    instructions = tuple(
        isa.rewrite(i, use=lambda u: isa.Use(resolve(u.register), u.last)) for i in block.instructions
    )
    return Block(block.parameters, instructions, tuple(resolve(a) for a in block.arguments))
