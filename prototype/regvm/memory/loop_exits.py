"""Copy what a loop computed where it leaves the frame after the loop.

A tensor that escapes owns its storage, which is allocated each time the tensor is created. If that is in a loop
and only the last instance leaves, after the loop, one copy at the exit lets every round work in the arena.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from regvm import isa
from regvm.ir.function import Block, Function, Module
from regvm.memory import escape


def copy_out_of_loops(module: Module, escapes: Sequence[escape.Escape]) -> Module:
    """The module with such copies; the very same one where none is needed. ``escapes`` are its escape facts."""
    parameters = [e.parameters for e in escapes]
    functions = tuple(
        _rewrite(f, e.roots, parameters) for f, e in zip(module.functions, escapes, strict=True)
    )
    if all(new is old for new, old in zip(functions, module.functions, strict=True)):
        return module
    return dataclasses.replace(module, functions=functions)


def _rewrite(function: Function, roots: escape.Roots, parameters: Sequence[frozenset[int]]) -> Function:
    cycle_of = _cycles(function)
    created_in = {
        d: cycle_of[n] for n, b in enumerate(function.blocks) for i in b.instructions for d in isa.defs(i)
    }
    fresh = iter(range(function.num_values, 2**62))
    blocks: list[Block] = []
    count = 0
    for number, block in enumerate(function.blocks):
        code: list[isa.Instruction] = []
        for instruction in block.instructions:
            leaving = {
                v
                for v in _leaving(instruction, parameters)
                if any(created_in.get(r) not in (None, cycle_of[number]) for r in roots.get(v, ()))
            }
            copies = {v: next(fresh) for v in sorted(leaving)}
            count += len(copies)
            code.extend(isa.Copy(dst, isa.Use(v)) for v, dst in copies.items())
            code.append(_replace(instruction, copies))
        blocks.append(dataclasses.replace(block, instructions=tuple(code)))
    if not count:
        return function
    return dataclasses.replace(function, blocks=tuple(blocks), num_values=function.num_values + count)


def _leaving(instruction: isa.Instruction, parameters: Sequence[frozenset[int]]) -> Iterator[int]:
    yield from escape.escaping_uses(instruction, parameters)
    if isinstance(instruction, isa.TailCall):
        yield from (u.register for u in instruction.args)


def _replace(instruction: isa.Instruction, copies: dict[int, int]) -> isa.Instruction:
    return isa.rewrite(instruction, use=lambda u: isa.Use(copies.get(u.register, u.register), u.last))


def _cycles(function: Function) -> list[int | None]:
    """For each block the number of the outermost loop that it is in, or None: strongly connected components.

    (Tarjan, "Depth-first search and linear graph algorithms", 1972; iterative.)
    """
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    open_blocks: list[int] = []
    closed: set[int] = set()
    found: list[int | None] = [None] * len(function.blocks)
    work = [(0, iter(function.blocks[0].successors))]
    index[0] = low[0] = 0
    open_blocks.append(0)
    while work:
        block, successors = work[-1]
        for successor in successors:
            if successor not in index:
                index[successor] = low[successor] = len(index)
                open_blocks.append(successor)
                work.append((successor, iter(function.blocks[successor].successors)))
                break
            if successor not in closed:
                low[block] = min(low[block], index[successor])
        else:
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[block])
            if low[block] == index[block]:
                closed.update(_close(function, block, open_blocks, found))
    return found


def _close(function: Function, head: int, open_blocks: list[int], found: list[int | None]) -> list[int]:
    members = []
    while True:
        members.append(open_blocks.pop())
        if members[-1] == head:
            break
    if len(members) > 1 or head in function.blocks[head].successors:
        for member in members:
            found[member] = head
    return members
