"""Storage of one frame for tensors whose sizes are known only when the program runs.

The shapes of a group of tensors are set first; then the group is placed: sizes are rounded up to a multiple of 64
bytes, a slot is as large as its largest tensor and begins where the slot below ends, and the region takes a block of
memory that no tensor refers to any more, or a new one. A region keeps two blocks, so that what one round of a loop
hands to the next costs no allocation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regvm.errors import ExecutionError
from regvm.executable import ALIGNMENT, TensorSlot, TensorType, round_up
from regvm.runtime.kernels.header import HEADER, describe
from regvm.runtime.values import Tensor

_LARGEST = 1 << 46
"""Bytes of a tensor, more than any machine has: sums of sizes then stay within 64 bits."""


class Regions:
    """The regions of one frame, and the shapes that are set for rows of its tensor table."""

    def __init__(self, slots: Sequence[TensorSlot]) -> None:
        self._slots = slots
        self._types: dict[int, TensorType] = {}
        self._placed: dict[int, Tensor] = {}
        self._blocks: dict[int, list[_Block]] = {}

    def set_shape(self, row: int, shape: tuple[int, ...]) -> None:
        """Say which shape the row's next tensor has.

        Raises ExecutionError for another number of dimensions, and MemoryError for an impossible shape.
        """
        declared = self._slots[row].type
        if len(shape) != len(declared.shape):
            raise ExecutionError(f"{declared} cannot have the shape {list(shape)}")
        type_ = TensorType(shape, declared.dtype)
        if min(shape, default=0) < 0 or type_.num_bytes > _LARGEST:
            raise MemoryError(f"{type_} is no possible tensor")
        self._types[row] = type_
        self._placed.pop(row, None)

    def place(self, region: int, rows: Sequence[int]) -> int:
        """Place the next tensors of these rows; returns by how many bytes the frame's memory grew."""
        sizes: dict[int, int] = {}
        for row in rows:
            slot = self._slot(row)
            sizes[slot] = max(sizes.get(slot, 0), round_up(self._types[row].num_bytes))
        offsets: dict[int, int] = {}
        total = 0
        for slot in sorted(sizes):
            offsets[slot] = total
            total += sizes[slot]
        block, grown = self._block(region, total)
        for row in rows:
            self._placed[row] = block.tensor(self._types[row], offsets[self._slot(row)])
        return grown

    def take(self, row: int) -> Tensor | TensorType:
        """The tensor that was placed for the row; where its place is in no region, the type that it must have."""
        return self._placed.pop(row, None) or self._types[row]

    def _slot(self, row: int) -> int:
        within = self._slots[row].within
        assert within is not None
        return within.slot

    def _block(self, region: int, size: int) -> tuple[_Block, int]:
        blocks = self._blocks.setdefault(region, [])
        unused = [b for b in blocks if not b.tensors]
        for block in unused:
            if block.size >= size:
                blocks.remove(block)
                blocks.append(block)
                return block, 0
        # A region that grows once may grow again: it takes half as much more, so that few rounds of a loop allocate.
        spare = unused[0] if unused else None
        replaced = spare or (blocks[0] if len(blocks) == _KEPT_BLOCKS else None)
        grown = size if spare is None else max(size, round_up(spare.size + spare.size // 2))
        if replaced is not None:
            blocks.remove(replaced)
        del unused, spare
        before = replaced.size if replaced is not None else 0
        replaced = None
        blocks.append(_Block(max(grown, ALIGNMENT)))
        return blocks[-1], blocks[-1].size - before


_KEPT_BLOCKS = 2


class _Block:
    """Memory for the tensors of one placing; ``tensors`` counts those that are still referred to."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.tensors = 0
        self._memory = np.empty(size + ALIGNMENT, dtype=np.uint8)
        self._start = -(-self._memory.ctypes.data // ALIGNMENT) * ALIGNMENT

    def tensor(self, type_: TensorType, offset: int) -> Tensor:
        """A tensor at an offset in bytes."""
        dims = np.array(type_.shape, dtype=np.int64)
        header = np.zeros(1, dtype=HEADER)
        describe(header[0], type_, dims)
        header["data"] = self._start + offset
        return Tensor(header.ctypes.data, self._start + offset, type_, _Lease(self, (header, dims)))


class _Lease:
    """Counts one tensor of a block for as long as something refers to it."""

    __slots__ = ("_block", "_held")

    def __init__(self, block: _Block, held: object) -> None:
        self._block = block
        self._held = held
        block.tensors += 1

    def __del__(self) -> None:
        self._block.tensors -= 1
