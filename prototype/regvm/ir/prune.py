"""Leave out functions, kernels and constants that nothing reaches, and number the rest anew.

Dead code may have been the only use of them; a kernel that is not called need not be built.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from regvm import isa
from regvm.ir.function import Function, Module
from regvm.isa import Kind


def prune(module: Module, roots: Sequence[int] = (0,)) -> Module:
    """The part of a module that the functions ``roots`` reach; numbers keep their order."""
    functions = _reachable(module, roots)
    kept = [module.functions[f] for f in functions]
    kernels = _mentioned(kept, Kind.KERNEL)
    constants = _mentioned(kept, Kind.CONSTANT)
    numbers = {
        Kind.FUNCTION: {old: new for new, old in enumerate(functions)},
        Kind.KERNEL: {old: new for new, old in enumerate(kernels)},
        Kind.CONSTANT: {old: new for new, old in enumerate(constants)},
    }
    return Module(
        tuple(_renumber(f, numbers) for f in kept),
        tuple(module.constants[c] for c in constants),
        tuple(module.kernels[k] for k in kernels),
    )


def _reachable(module: Module, roots: Sequence[int]) -> list[int]:
    found = set(roots)
    pending = list(roots)
    while pending:
        for callee in _mentioned([module.functions[pending.pop()]], Kind.FUNCTION):
            if callee not in found:
                found.add(callee)
                pending.append(callee)
    return sorted(found)


def _mentioned(functions: Iterable[Function], wanted: Kind) -> list[int]:
    found = {
        getattr(instruction, name)
        for function in functions
        for block in function.blocks
        for instruction in block.instructions
        for name, kind in isa.row_of(instruction).fields
        if kind is wanted
    }
    return sorted(found)


def _renumber(function: Function, numbers: Mapping[Kind, Mapping[int, int]]) -> Function:
    blocks = tuple(
        dataclasses.replace(b, instructions=tuple(_renumber_instruction(i, numbers) for i in b.instructions))
        for b in function.blocks
    )
    return dataclasses.replace(function, blocks=blocks)


def _renumber_instruction(
    instruction: isa.Instruction, numbers: Mapping[Kind, Mapping[int, int]]
) -> isa.Instruction:
    changes = {
        name: numbers[kind][getattr(instruction, name)]
        for name, kind in isa.row_of(instruction).fields
        if kind in numbers
    }
    return dataclasses.replace(instruction, **changes) if changes else instruction
