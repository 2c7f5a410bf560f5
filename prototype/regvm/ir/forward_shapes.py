"""Ask for no shape that is known already: of a tensor made of a shape vector, that vector is the shape.

Runs before storage is planned: what a later tensor's shape depends on is then the shapes of earlier tensors, not
the tensors, so that the sizes of a whole chain of kernels are known before the first of them runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from regvm import isa
from regvm.executable import TensorType
from regvm.ir.function import Block, Function


def forward_shapes(function: Function) -> Function:
    """The same function without each ``shape_of`` whose answer another value holds."""
    known = _known_shapes(function)
    if not known:
        return function
    return dataclasses.replace(function, blocks=tuple(_forward(b, known) for b in function.blocks))


def shape_vectors(function: Function) -> dict[int, int]:
    """Values that hold a shape as ``shape_of`` would give it, an int64 vector, with the number of dimensions.

    Of a scalar ``shape_of`` gives no vector, so those without dimensions are left out.
    """
    found: dict[int, int] = {}
    for block in function.blocks:
        for instruction in block.instructions:
            if isinstance(instruction, isa.Invoke):
                for out in instruction.outs:
                    type_ = function.tensors[out.tensor]
                    if type_.dtype == "int64" and len(type_.shape) == 1 and type_.shape[0]:
                        found[out.register] = type_.shape[0]
    return found


def element_types(function: Function) -> dict[int, TensorType]:
    """The types of the tensors that ``alloc_tensor`` makes of a vector of known length."""
    vectors = shape_vectors(function)
    return {
        i.dst: TensorType((None,) * vectors[i.shape.register], i.dtype)
        for b in function.blocks
        for i in b.instructions
        if isinstance(i, isa.AllocTensor) and i.shape.register in vectors
    }


def _known_shapes(function: Function) -> dict[int, int]:
    """For each result of ``shape_of`` that another value holds, that value; blocks come after their dominators."""
    vectors = shape_vectors(function)
    shapes: dict[int, int] = {}
    known: dict[int, int] = {}
    for block in function.blocks:
        for instruction in block.instructions:
            match instruction:
                case isa.AllocTensor(dst, shape, _) | isa.ReshapeTo(dst, _, shape):
                    vector = known.get(shape.register, shape.register)
                    if vector in vectors:
                        shapes[dst] = vector
                case isa.ShapeOf(dst, src) if src.register in shapes:
                    known[dst] = shapes[src.register]
                case _:
                    pass
    return known


def _forward(block: Block, known: Mapping[int, int]) -> Block:
    kept = tuple(
        isa.rewrite(i, use=lambda u: isa.Use(known.get(u.register, u.register), u.last))
        for i in block.instructions
        if not (isinstance(i, isa.ShapeOf) and i.dst in known)
    )
    return Block(block.parameters, kept, tuple(known.get(a, a) for a in block.arguments))
