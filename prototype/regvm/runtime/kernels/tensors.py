"""Tensors from TVM's arrays and back, their shapes, and constants."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import tvm

from regvm.errors import ArgumentError, ExecutionError
from regvm.executable import Constant, ParamType, TensorType
from regvm.runtime.kernels.header import CPU, HEADER
from regvm.runtime.kernels.owned import Owned
from regvm.runtime.values import Tensor

_HEADER = struct.Struct("Qi4xiBBHQ8xQ")
"""The fields of HEADER without device number and strides."""


def wrap(array_: Any) -> Tensor:
    """A TVM NDArray as a tensor, storage shared."""
    header = array_.handle.contents
    shape = tuple(header.shape[i] for i in range(header.ndim))
    return Tensor(
        ctypes.addressof(header),
        (header.data or 0) + header.byte_offset,
        TensorType(shape, str(array_.dtype)),
        array_,
    )


def taker(type_: ParamType) -> Callable[[Any], Tensor | None]:
    """A function that wraps an NDArray of just this static type on the CPU, and gives None for anything else.

    It looks at the header as bytes, in a third of the time that ``wrap`` and a comparison of types take.
    """
    if not isinstance(type_, TensorType) or not type_.is_static:
        return _take_nothing
    dims = struct.pack(f"{len(type_.shape)}q", *type_.shape)
    dtype = tvm.DataType(type_.dtype)
    wanted = (CPU, len(type_.shape), dtype.type_code, dtype.bits, dtype.lanes)

    def take(argument: Any) -> Tensor | None:
        if type(argument) is not tvm.nd.NDArray:
            return None
        address = ctypes.addressof(argument.handle.contents)
        data, *found, shape, offset = _HEADER.unpack(ctypes.string_at(address, _HEADER.size))
        if tuple(found) != wanted or ctypes.string_at(shape, len(dims)) != dims:
            return None
        return Tensor(address, data + offset, type_, argument)

    return take


def _take_nothing(argument: Any) -> None:
    del argument


def unwrap(tensor: Tensor) -> Any:
    """The NDArray of a tensor that owns its storage; of any other, a copy in a new NDArray."""
    if isinstance(tensor.owner, Owned):
        return tensor.owner.as_ndarray()
    if isinstance(tensor.owner, tvm.nd.NDArray):
        return tensor.owner
    copy = tvm.nd.empty(tensor.type.shape, tensor.type.dtype)
    header = copy.handle.contents
    ctypes.memmove(header.data, tensor.data, tensor.type.num_bytes)
    return copy


def load_constant(constant: Constant) -> Tensor:
    """A constant as a tensor that is never handed out: whoever gets it as a result gets a copy.

    Raises ArgumentError for a late-bound constant that is not loaded.
    """
    if constant.data is None:
        raise ArgumentError(
            f"constant {constant.name} is late-bound and not loaded; "
            "call load_late_bound_consts on the executable before a machine is made"
        )
    tensor = wrap(tvm.nd.empty(constant.shape, constant.dtype))
    if constant.data:  # An empty array has no address to copy to.
        ctypes.memmove(tensor.data, constant.data, len(constant.data))
    tensor.owner = (tensor.owner,)
    return tensor


def reshape(source: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The elements of ``source`` under another shape of as many elements, storage shared.

    Raises ExecutionError for a shape of more or fewer elements.
    """
    if math.prod(shape) != math.prod(d or 0 for d in source.type.shape) or min(shape, default=0) < 0:
        raise ExecutionError(f"{source.type} cannot be reshaped to {list(shape)}")
    type_ = TensorType(shape, source.type.dtype)
    dims = np.array(shape, dtype=np.int64)
    header = np.zeros(1, dtype=HEADER)
    ctypes.memmove(header.ctypes.data, source.handle, HEADER.itemsize)
    header["ndim"], header["shape"], header["strides"] = len(shape), dims.ctypes.data if shape else 0, 0
    return Tensor(header.ctypes.data, source.data, type_, (header, dims, source))


def shape_of(tensor: Tensor) -> Tensor:
    """The dimensions of a tensor as an int64 vector; of a scalar an int64 scalar, as TVM's shape functions take it."""
    dims = np.array(tensor.type.shape, dtype=np.int64)
    return wrap(tvm.nd.array(dims if len(dims) else np.int64(0)))


def read_shape(tensor: Tensor) -> tuple[int, ...]:
    """The dimensions that an integer vector holds."""
    raw = ctypes.string_at(tensor.data, tensor.type.num_bytes)
    return tuple(np.frombuffer(raw, dtype=tensor.type.dtype).tolist())


def copy_out(source: Tensor, destination: Any, place: str) -> None:
    """Copy a tensor into an NDArray of the same type; raises ArgumentError for another one."""
    target = wrap(destination)
    if target.type != source.type:
        raise ArgumentError(f"{place}: the result is {source.type}, but the array for it is {target.type}")
    ctypes.memmove(target.data, source.data, source.type.num_bytes)
