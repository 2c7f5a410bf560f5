"""The memory layout of a tensor's header."""

from __future__ import annotations

from typing import Any

import numpy as np
import tvm

from regvm.executable import TensorType

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


def describe(header: Any, type_: TensorType, dims: Any) -> None:
    """Write a tensor's type into its header; ``dims`` is its shape as int64 numbers, which the header refers to."""
    dtype = tvm.DataType(type_.dtype)
    header["device_type"] = CPU
    header["ndim"] = len(type_.shape)
    header["code"], header["bits"], header["lanes"] = dtype.type_code, dtype.bits, dtype.lanes
    header["shape"] = dims.ctypes.data if len(type_.shape) else 0
