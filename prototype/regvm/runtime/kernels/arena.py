"""Memory for a frame, with a tensor header for each placed buffer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from regvm.executable import ALIGNMENT, TensorSlot
from regvm.runtime.kernels.header import HEADER, describe
from regvm.runtime.kernels.regions import Regions
from regvm.runtime.values import Tensor


class Buffers(list[list[Tensor]]):
    """The storage of a frame: for each row of the tensor table its buffers in the arena, and the regions."""

    def __init__(self, placed: Iterable[list[Tensor]], regions: Regions) -> None:
        super().__init__(placed)
        self.regions = regions


class Arena:
    """Makes the arenas of one function."""

    def __init__(self, slots: Sequence[TensorSlot], storage_bytes: int) -> None:
        self._slots = slots
        self._bytes = storage_bytes
        self._shapes = [np.array(s.type.shape, dtype=np.int64) for s in slots if s.offsets]
        placed = [s for s in slots if s.offsets]
        self._headers = np.zeros(sum(len(s.offsets) for s in placed), dtype=HEADER)
        self._offsets = np.array([o for s in placed for o in s.offsets], dtype=np.uint64)
        row = 0
        for slot, shape in zip(placed, self._shapes, strict=True):
            for _ in slot.offsets:
                describe(self._headers[row], slot.type, shape)
                row += 1

    def make(self) -> Buffers:
        """For each row of the tensor table its buffers, in the order in which they take turns; empty regions."""
        memory = np.empty(self._bytes + ALIGNMENT, dtype=np.uint8)
        start = -(-memory.ctypes.data // ALIGNMENT) * ALIGNMENT
        headers = self._headers.copy()
        headers["data"] = self._offsets + np.uint64(start)
        owner = (memory, headers, self._shapes)
        handles = iter((headers.ctypes.data + HEADER.itemsize * np.arange(len(headers))).tolist())
        data = iter(headers["data"].tolist())
        placed = ([Tensor(next(handles), next(data), s.type, owner) for _ in s.offsets] for s in self._slots)
        return Buffers(placed, Regions(self._slots))
