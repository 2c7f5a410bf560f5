"""Make some tensors of a module dynamic, in groups, as the grouping of dynamic tensors leaves them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Set
from random import Random

from regvm import isa
from regvm.executable import TensorType
from regvm.ir import Block, Function, Module
from regvm.memory import escape

VECTOR = TensorType((None,), "float32")


def make_dynamic(module: Module, random: Random) -> Module:
    """The same module with shapes set and tensors placed; which shapes is left to chance."""
    escapes = escape.analyse(module)
    functions = (_dynamic(f, e.escaping, random) for f, e in zip(module.functions, escapes, strict=True))
    return dataclasses.replace(module, functions=tuple(functions))


def _dynamic(function: Function, escaping: Set[int], random: Random) -> Function:
    tensors = list(function.tensors)
    blocks: list[Block] = []
    groups = 0
    for block in function.blocks:
        code: list[isa.Instruction] = []
        known = list(block.parameters) or list(function.blocks[0].parameters)
        pieces = _pieces(block.instructions, random)
        for piece in pieces:
            rows = [o for i in piece if isinstance(i, isa.Invoke) for o in i.outs if random.random() < 0.8]
            placed = tuple(o.tensor for o in rows if o.register not in escaping)
            if placed and known:
                for out in rows:
                    tensors[out.tensor] = VECTOR
                    code.append(isa.SetShape(out.tensor, isa.Use(random.choice(known))))
                code.append(isa.PlaceTensors(groups, placed))
                groups += 1
            code.extend(piece)
        blocks.append(dataclasses.replace(block, instructions=tuple(code)))
    return dataclasses.replace(function, blocks=tuple(blocks), tensors=tuple(tensors))


def _pieces(
    instructions: tuple[isa.Instruction, ...], random: Random
) -> Iterator[tuple[isa.Instruction, ...]]:
    at = 0
    while at < len(instructions):
        size = random.randint(1, 8)
        yield instructions[at : at + size]
        at += size
