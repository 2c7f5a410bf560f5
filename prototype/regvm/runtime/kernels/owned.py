"""Tensors that own their storage: allocated one by one, freed with their last reference, counted."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import tvm
from tvm._ffi.base import _LIB

from regvm.executable import TensorType
from regvm.runtime.kernels.calls import last_error
from regvm.runtime.kernels.header import CPU
from regvm.runtime.values import Tensor


class OwnedStorage:
    """Allocates tensors that own their storage, and counts the bytes that are live."""

    def __init__(self) -> None:
        self.live_bytes = 0
        self.peak_bytes = 0
        self._allocators: dict[TensorType, Callable[[Any], int]] = {}

    def allocate(self, type_: TensorType) -> Tensor:
        """A tensor of a static type, contents undefined; it is freed with its last reference.

        Raises MemoryError where there is no room for it.
        """
        allocator = self._allocators.get(type_)
        if allocator is None:
            allocator = self._allocators[type_] = _allocator(type_)
        handle = ctypes.c_void_p()
        if allocator(ctypes.byref(handle)):
            raise MemoryError(f"no memory for {type_}: {last_error()}")
        address = handle.value or 0
        size = type_.num_bytes
        self.live_bytes += size
        if self.live_bytes > self.peak_bytes:
            self.peak_bytes = self.live_bytes
        return Tensor(address, ctypes.c_uint64.from_address(address).value, type_, Owned(address, self, size))

    def copy(self, source: Tensor) -> Tensor:
        """A tensor with the elements of another."""
        target = self.allocate(source.type)
        ctypes.memmove(target.data, source.data, source.type.num_bytes)
        return target


def _allocator(type_: TensorType) -> Callable[[Any], int]:
    # TVM computes the size in 64 bits without a check, and would hand out less memory than the shape says.
    if any((d or 0) < 0 for d in type_.shape) or type_.num_bytes >> 63:
        raise MemoryError(f"{type_} is no possible tensor")
    dtype = tvm.DataType(type_.dtype)
    rank = len(type_.shape)
    return functools.partial(
        _LIB.TVMArrayAlloc,
        (ctypes.c_int64 * rank)(*(d or 0 for d in type_.shape)),
        ctypes.c_int(rank),
        ctypes.c_int(dtype.type_code),
        ctypes.c_int(dtype.bits),
        ctypes.c_int(dtype.lanes),
        ctypes.c_int(CPU),
        ctypes.c_int(0),
    )


class Owned:
    """The right to free one TVM array, until an NDArray takes it over."""

    __slots__ = ("address", "array", "size", "storage")

    def __init__(self, address: int, storage: OwnedStorage, size: int) -> None:
        self.address = address
        self.array: Any = None
        self.storage = storage
        self.size = size

    def as_ndarray(self) -> Any:
        if self.array is None:
            handle = ctypes.cast(ctypes.c_void_p(self.address), tvm._ffi.runtime_ctypes.TVMArrayHandle)
            self.array = tvm.nd.NDArray(handle)
        return self.array

    def __del__(self) -> None:
        self.storage.live_bytes -= self.size
        if self.array is None:
            _LIB.TVMArrayFree(ctypes.c_void_p(self.address))
