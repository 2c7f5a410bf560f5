"""Where everything stands in the frames of a function, and from which pools its owned tensors come.

A frame is one block: head, registers, spill slots, a word for each tensor whose buffers take turns, an object for
each placed buffer, and the arena.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass

from regvm.executable import ALIGNMENT, Function, Program, TensorType
from regvm.native.layout import MAX_SHAPE_RANK, WORD, Tensor, register_offset


@dataclass(frozen=True)
class FrameLayout:
    """Offsets in bytes from the frame's address; ``turns`` and ``objects`` by row of the tensor table."""

    turns: Mapping[int, int]
    objects: Mapping[int, tuple[int, ...]]
    template_bytes: int
    arena: int
    frame_bytes: int


def frame_layout(function: Function) -> FrameLayout:
    """The layout of a function's frames."""
    at = register_offset(function.num_registers + function.num_slots)
    turns: dict[int, int] = {}
    objects: dict[int, tuple[int, ...]] = {}
    for row, slot in enumerate(function.tensors):
        if len(slot.offsets) > 1:
            turns[row] = at
            at += WORD
    for row, slot in enumerate(function.tensors):
        objects[row] = tuple(at + n * ctypes.sizeof(Tensor) for n in range(len(slot.offsets)))
        at += len(slot.offsets) * ctypes.sizeof(Tensor)
    arena = _round_up(at)
    return FrameLayout(turns, objects, at, arena, arena + _round_up(function.storage_bytes))


def pool_types(program: Program) -> tuple[TensorType, ...]:
    """The types of the program's pools by number: first those of shape vectors, by rank."""
    shapes = [TensorType((rank,) if rank else (), "int64") for rank in range(MAX_SHAPE_RANK + 1)]
    owned = (
        slot.type
        for function in program.functions
        for slot in function.tensors
        if not slot.offsets and slot.type.is_static
    )
    return (*shapes, *dict.fromkeys(owned))


def _round_up(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
