"""Where everything stands in the frames of a function, and from which pools its owned tensors come.

A frame is one block: head, registers, spill slots, a word for each tensor whose buffers take turns, the shape, size
and address of each dynamic tensor, the blocks of each region, an object for each placed buffer, and the arena.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass

from regvm.executable import ALIGNMENT, Function, Program, TensorType
from regvm.native.layout import MAX_SHAPE_RANK, REGION_BLOCKS, WORD, Tensor, register_offset


@dataclass(frozen=True)
class FrameLayout:
    """Offsets in bytes from the frame's address, by row of the tensor table; ``regions`` by number.

    ``dims``, ``sizes`` and ``data`` are of dynamic tensors: dimensions, rounded bytes, address in the region.
    """

    turns: Mapping[int, int]
    objects: Mapping[int, tuple[int, ...]]
    dims: Mapping[int, int]
    sizes: Mapping[int, int]
    data: Mapping[int, int]
    regions: tuple[int, ...]
    template_bytes: int
    arena: int
    frame_bytes: int

    def current_block(self, region: int) -> int:
        """Where the block of the last placing stands."""
        return self.regions[region] + (REGION_BLOCKS - 1) * WORD


def frame_layout(function: Function) -> FrameLayout:
    """The layout of a function's frames."""
    at = register_offset(function.num_registers + function.num_slots)
    turns: dict[int, int] = {}
    objects: dict[int, tuple[int, ...]] = {}
    for row, slot in enumerate(function.tensors):
        if len(slot.offsets) > 1:
            turns[row] = at
            at += WORD
    dims, sizes, data = {}, {}, {}
    for row, slot in enumerate(function.tensors):
        if not slot.type.is_static:
            sizes[row], data[row], dims[row] = at, at + WORD, at + 2 * WORD
            at += (2 + len(slot.type.shape)) * WORD
    regions = tuple(at + n * REGION_BLOCKS * WORD for n in range(function.num_regions))
    at += len(regions) * REGION_BLOCKS * WORD
    for row, slot in enumerate(function.tensors):
        objects[row] = tuple(at + n * ctypes.sizeof(Tensor) for n in range(len(slot.offsets)))
        at += len(slot.offsets) * ctypes.sizeof(Tensor)
    arena = _round_up(at)
    end = arena + _round_up(function.storage_bytes)
    return FrameLayout(turns, objects, dims, sizes, data, regions, at, arena, end)


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
