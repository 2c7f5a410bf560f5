"""Copy what a loop computed where it leaves the frame after the loop.

A tensor that escapes owns its storage, which is allocated each time the tensor is created. If that is in a loop
and only the last instance leaves, after the loop, one copy at the exit lets every round work in the arena.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from regvm import isa
from regvm.ir.components import loops_of_blocks
from regvm.ir.function import Block, Function, Module
from regvm.memory import escape
from regvm.memory.aliases import Aliases

Loops = tuple[int, ...]
"""The numbers of loops, two at most."""


def copy_out_of_loops(module: Module, escapes: Sequence[escape.Escape]) -> Module:
    """The module with such copies; the very same one where none is needed. ``escapes`` are its escape facts."""
    parameters = [e.parameters for e in escapes]
    functions = tuple(
        _rewrite(f, e.aliases, parameters) for f, e in zip(module.functions, escapes, strict=True)
    )
    if all(new is old for new, old in zip(functions, module.functions, strict=True)):
        return module
    return dataclasses.replace(module, functions=functions)


def _rewrite(function: Function, aliases: Aliases, parameters: Sequence[frozenset[int]]) -> Function:
    cycle_of = loops_of_blocks(function)
    loops = _loops_of_roots(function, aliases, cycle_of)
    fresh = iter(range(function.num_values, 2**62))
    blocks: list[Block] = []
    count = 0
    for number, block in enumerate(function.blocks):
        code: list[isa.Instruction] = []
        for instruction in block.instructions:
            leaving = {
                v
                for v in _leaving(instruction, parameters)
                if any(loop != cycle_of[number] for loop in loops.get(v, ()))
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


def _loops_of_roots(function: Function, aliases: Aliases, cycle_of: Sequence[int | None]) -> dict[int, Loops]:
    """For each value the loops in which it may have been created."""
    created_in = {
        d: cycle_of[n] for n, b in enumerate(function.blocks) for i in b.instructions for d in isa.defs(i)
    }

    def own(value: int) -> Iterator[Loops]:
        loop = created_in.get(value) if value in aliases.roots else None
        if loop is not None:
            yield (loop,)

    return aliases.forward(own, _two_of)


def _two_of(found: list[Loops]) -> Loops:
    """Two loops stand for any more: of two, one is not the loop that a value is used in."""
    return tuple(sorted({loop for loops in found for loop in loops})[:2])
