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
    absorbed: set[int] = set()
    for number in range(len(blocks)):
        if number in absorbed:
            continue
        last = blocks[number]
        code = list(last.instructions)
        while isinstance(last.terminator, isa.Jump):
            target = last.terminator.target
            if target == number or len(predecessors[target]) != 1:
                break
            following = blocks[target]
            renamed.update(zip(following.parameters, last.arguments, strict=True))
            code[-1:] = following.instructions
            blocks[target] = Block((), (isa.Fatal(),))
            absorbed.add(target)
            last = following
        blocks[number] = Block(blocks[number].parameters, tuple(code), last.arguments)
    resolve = _Resolver(renamed)
    return dataclasses.replace(function, blocks=tuple(_rename(b, resolve) for b in blocks))


class _Resolver:
    """What a value is called after all renaming; each answer is kept, or long chains would be walked often."""

    def __init__(self, renamed: dict[int, int]) -> None:
        self._renamed = renamed

    def __call__(self, value: int) -> int:
        chain = []
        while value in self._renamed:
            chain.append(value)
            value = self._renamed[value]
        self._renamed.update(dict.fromkeys(chain, value))
        return value


def _rename(block: Block, resolve: _Resolver) -> Block:
    instructions = tuple(
        isa.rewrite(i, use=lambda u: isa.Use(resolve(u.register), u.last)) for i in block.instructions
    )
    return Block(block.parameters, instructions, tuple(resolve(a) for a in block.arguments))
