"""The memory layout of a tensor's header."""

from __future__ import annotations

import numpy as np

CPU = 1
"""DLPack's number for the CPU."""

# struct DLTensor of dlpack.h, as TVM 0.19 has it.
HEADER = np.dtype(
    [
        ("data", "u8"),
        ("device_type", "i4"),
        ("device_id", "i4"),
        ("ndim", "i4"),
        ("code", "u1"),
        ("bits", "u1"),
        ("lanes", "u2"),
        ("shape", "u8"),
        ("strides", "u8"),
        ("byte_offset", "u8"),
    ]
)
