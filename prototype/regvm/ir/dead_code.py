"""Drop instructions and block parameters that no effect or result depends on.

Runs after translation and before allocation: a dead value would occupy a register and storage. Relay is pure
but for references and calls (which may not end, or fail), so those are the roots.
"""

from __future__ import annotations

import dataclasses

from regvm import isa
from regvm.ir.function import Block, Function

_EFFECTS = (isa.Call, isa.CallClosure, isa.WriteRef)


def remove_dead_code(function: Function) -> Function:
    """The same function without dead instructions and without dead parameters of inner blocks."""
    needed = _needed_values(function)
    blocks = []
    for number, block in enumerate(function.blocks):
        kept = tuple(i for i in block.instructions if _is_needed(i, needed))
        parameters = block.parameters if number == 0 else tuple(p for p in block.parameters if p in needed)
        arguments = block.arguments
        if isinstance(block.terminator, isa.Jump):
            target = function.blocks[block.terminator.target]
            pairs = zip(target.parameters, block.arguments, strict=True)
            arguments = tuple(a for p, a in pairs if p in needed)
        blocks.append(Block(parameters, kept, arguments))
    return dataclasses.replace(function, blocks=tuple(blocks))


def _is_needed(instruction: isa.Instruction, needed: set[int]) -> bool:
    if isinstance(instruction, isa.InvokeInto):
        return any(u.register in needed for u in instruction.dests)
    if isinstance(instruction, _EFFECTS) or isa.row_of(instruction).ends_block:
        return True
    return any(d in needed for d in isa.defs(instruction))


def _needed_values(function: Function) -> set[int]:
    sources: dict[int, list[int]] = {}
    pending: list[int] = []
    for block in function.blocks:
        for instruction in block.instructions:
            used = [u.register for u in isa.uses(instruction)]
            if isinstance(instruction, isa.InvokeInto):
                for dest in instruction.dests:
                    sources.setdefault(dest.register, []).extend(used)
            elif isinstance(instruction, _EFFECTS) or isa.row_of(instruction).ends_block:
                pending.extend(used)
            for defined in isa.defs(instruction):
                sources.setdefault(defined, []).extend(used)
        if isinstance(block.terminator, isa.Jump):
            target = function.blocks[block.terminator.target]
            for parameter, argument in zip(target.parameters, block.arguments, strict=True):
                sources.setdefault(parameter, []).append(argument)
    needed: set[int] = set()
    while pending:
        value = pending.pop()
        if value not in needed:
            needed.add(value)
            pending.extend(sources.get(value, ()))
    return needed
