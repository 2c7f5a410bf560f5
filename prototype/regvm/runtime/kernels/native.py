"""What machine code needs of TVM: addresses of its C interface, kernels' handles, and arrays handed over."""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import tvm
from tvm._ffi.base import _LIB

from regvm.executable import TensorType
from regvm.runtime.kernels.header import HEADER
from regvm.runtime.kernels.owned import Owned, OwnedStorage
from regvm.runtime.values import Tensor


def address_of(name: str) -> int:
    """The address of a function of TVM's C interface."""
    return ctypes.cast(getattr(_LIB, name), ctypes.c_void_p).value or 0


def handles(kernels: Sequence[Any]) -> list[int]:
    """The handles that ``TVMFuncCall`` takes; the kernels must be kept alive."""
    return [int(k.handle.value) for k in kernels]


@functools.cache
def dtype_word(dtype: str) -> int:
    """A data type as a DLTensor holds it: code, bits and lanes in the bytes of a little-endian word."""
    parsed = tvm.DataType(dtype)
    return int(parsed.type_code) | int(parsed.bits) << 8 | int(parsed.lanes) << 16


_TYPE = struct.Struct("16xi4sQ")
"""The number of dimensions, the data type and the address of the dimensions, from a tensor's header."""


def type_at(address: int) -> TensorType:
    """The type of the DLTensor at an address."""
    rank, word, shape = _TYPE.unpack(ctypes.string_at(address, _TYPE.size))
    return _type(word, ctypes.string_at(shape, 8 * rank) if rank else b"")


@functools.lru_cache(maxsize=4096)
def _type(word: bytes, dims: bytes) -> TensorType:
    parsed = tvm.DataType("int32")
    parsed.type_code, parsed.bits, parsed.lanes = struct.unpack("BBH", word)
    return TensorType(struct.unpack(f"{len(dims) // 8}q", dims), str(parsed))


def data_at(address: int) -> int:
    """The address of the first element of the DLTensor at an address."""
    header = _header(address)
    return int(header["data"]) + int(header["byte_offset"])


def _header(address: int) -> Any:
    return np.frombuffer(ctypes.string_at(address, HEADER.itemsize), dtype=HEADER)[0]


def adopt(array: int, type_: TensorType, storage: OwnedStorage) -> Tensor:
    """A tensor that owns the TVM array at an address, which nobody else frees from now on."""
    size = type_.num_bytes
    storage.live_bytes += size
    data = ctypes.c_uint64.from_address(array).value
    return Tensor(array, data, type_, Owned(array, storage, size))


_HANDLE = tvm._ffi.runtime_ctypes.TVMArrayHandle


def hand_over(array: int, data: int, type_: TensorType) -> Tensor:
    """The TVM array at an address, with its elements at ``data``, as a tensor whose NDArray frees it."""
    ndarray = tvm.nd.NDArray(_HANDLE(_HANDLE._type_.from_address(array)))
    return Tensor(array, data, type_, ndarray)
