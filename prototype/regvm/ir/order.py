"""Put blocks into reverse postorder: dominators first, unreachable blocks gone.

The allocator scans blocks in an order in which a definition comes before its uses; reverse postorder is one.
"""

from __future__ import annotations

import dataclasses

from regvm import isa
from regvm.ir.function import Function


def reverse_postorder(function: Function) -> tuple[int, ...]:
    """Reachable blocks, each after all its dominators; the first successor comes first."""
    postorder: list[int] = []
    seen = {0}
    stack: list[tuple[int, list[int]]] = [(0, list(function.blocks[0].successors))]
    while stack:
        number, pending = stack[-1]
        while pending and pending[-1] in seen:
            pending.pop()
        if pending:
            successor = pending.pop()
            seen.add(successor)
            stack.append((successor, list(function.blocks[successor].successors)))
        else:
            postorder.append(number)
            stack.pop()
    return tuple(reversed(postorder))


def order_blocks(function: Function) -> Function:
    """The same function with its blocks in reverse postorder."""
    order = reverse_postorder(function)
    renumbered = {old: new for new, old in enumerate(order)}
    blocks = []
    for old in order:
        block = function.blocks[old]
        last = isa.rewrite(block.terminator, target=renumbered.__getitem__)
        blocks.append(dataclasses.replace(block, instructions=(*block.instructions[:-1], last)))
    return dataclasses.replace(function, blocks=tuple(blocks))
