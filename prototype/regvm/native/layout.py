"""The memory that machine code and Python share: every structure is declared here, once.

Machine code sees the LLVM types that are derived from these declarations; Python reads and writes the same
memory through ctypes.
"""

from __future__ import annotations

import ctypes
import enum
from typing import Any

WORD = 8
"""Bytes of a pointer or register."""

IMMORTAL = -(1 << 62)
"""The count of an object that nobody frees: a constant, or a tensor in a frame's arena."""

NUM_CLASSES = 34
"""Blocks of up to 33 * 16 bytes come from free lists, one for each multiple of 16; larger ones from malloc."""

CHUNK_BYTES = 1 << 16
"""How much the free lists take from malloc at a time."""

MAX_SHAPE_RANK = 8
"""The shape vectors of tensors up to this rank come from a pool: pools 0 to 8 are theirs."""


REGION_BLOCKS = 2
"""Blocks that a region keeps, so that what one round of a loop hands to the next costs no allocation."""


class ObjectKind(enum.IntEnum):
    """What an object on the heap is. The tensors come first, so that one comparison finds them."""

    OWNED = 0
    VIEW = 1
    EXTERNAL = 2
    SLICE = 3
    PLACED = 4
    ADT = 5
    CLOSURE = 6
    REF = 7


class Status(enum.IntEnum):
    """Why machine code returned."""

    DONE = 0
    PAUSED = 1
    KERNEL = 2
    MATCH = 3
    STACK_LIMIT = 4
    NO_MEMORY = 5
    NOT_A_TENSOR = 6
    NOT_DATA = 7
    NOT_A_FUNCTION = 8
    NOT_A_REFERENCE = 9
    NO_FIELD = 10
    ARITY = 11
    BAD_SHAPE = 12
    RESHAPE = 13
    BAD_RANK = 14


class Object(ctypes.Structure):
    """What every object begins with. ``tag`` is a constructor's tag, or a closure's function."""

    _fields_ = [("count", ctypes.c_int64), ("kind", ctypes.c_int32), ("tag", ctypes.c_int32)]


class Tensor(ctypes.Structure):
    """A tensor: the fields from ``data`` to ``byte_offset`` are a DLTensor, which kernels take.

    ``owner``: of OWNED, the TVM array; of VIEW, the object whose elements it shares; of EXTERNAL, the address of
    the user's DLTensor; of SLICE, the block of a region that it lies in; of PLACED, the buffer whose turn is next.
    ``pool`` is where an OWNED tensor returns to, or null; ``tag`` of a VIEW or SLICE is the number of dimensions
    that stand behind the object.
    """

    _fields_ = [
        ("object", Object),
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_int64),
        ("owner", ctypes.c_void_p),
        ("pool", ctypes.c_void_p),
        ("bytes", ctypes.c_int64),
    ]


class Fields(ctypes.Structure):
    """Algebraic data, or a closure with what it captured; ``size`` fields stand behind the structure."""

    _fields_ = [("object", Object), ("size", ctypes.c_int64)]


class Cell(ctypes.Structure):
    """A reference. All live cells of a machine are linked, so that cycles can be found and freed."""

    _fields_ = [
        ("object", Object),
        ("value", ctypes.c_void_p),
        ("previous", ctypes.c_void_p),
        ("next", ctypes.c_void_p),
    ]


class Pool(ctypes.Structure):
    """Tensors of one static type that wait to be used again. ``keep`` is 0 where they are too large to keep."""

    _fields_ = [
        ("free", ctypes.c_void_p),
        ("shape", ctypes.c_void_p),
        ("bytes", ctypes.c_int64),
        ("ndim", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
        ("keep", ctypes.c_int32),
    ]


class Frame(ctypes.Structure):
    """The head of a frame. Registers, spill slots, whose turn it is, regions, placed tensors and the arena follow.

    ``resume`` says where its function goes on: 0 is the beginning. A free frame's registers hold nothing, and its
    ``parent`` is the next free frame.
    """

    _fields_ = [
        ("parent", ctypes.c_void_p),
        ("code", ctypes.c_void_p),
        ("resume", ctypes.c_int32),
        ("function", ctypes.c_int32),
    ]


class FunctionRecord(ctypes.Structure):
    """What the machine must know of one function to make its frames.

    A frame begins as ``template_bytes`` copied from ``template``; the words at the offsets in ``relocations``
    then get the frame's address added. The ``num_blocks`` words of its regions begin at ``regions``.
    """

    _fields_ = [
        ("code", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
        ("template", ctypes.c_void_p),
        ("template_bytes", ctypes.c_int64),
        ("frame_bytes", ctypes.c_int64),
        ("arena_bytes", ctypes.c_int64),
        ("relocations", ctypes.c_void_p),
        ("num_relocations", ctypes.c_int64),
        ("num_parameters", ctypes.c_int64),
        ("num_values", ctypes.c_int64),
        ("num_frames", ctypes.c_int64),
        ("regions", ctypes.c_int64),
        ("num_blocks", ctypes.c_int64),
    ]


class Context(ctypes.Structure):
    """The state of one machine. The first three are functions of TVM's C interface.

    ``taken_kind``, ``taken_pool`` and ``taken_data`` tell of the result that Python took last: an object's kind, and
    of an OWNED one its pool, or null, and the address of its elements. ``heap_bytes`` is what the free lists took from
    malloc, ``pooled_bytes`` what tensors hold that wait in pools.
    """

    _fields_ = [
        ("call_kernel", ctypes.c_void_p),
        ("array_alloc", ctypes.c_void_p),
        ("array_free", ctypes.c_void_p),
        ("kernels", ctypes.c_void_p),
        ("constants", ctypes.c_void_p),
        ("pools", ctypes.c_void_p),
        ("functions", ctypes.c_void_p),
        ("num_functions", ctypes.c_int64),
        ("num_pools", ctypes.c_int64),
        ("frame", ctypes.c_void_p),
        ("result", ctypes.c_void_p),
        ("taken_kind", ctypes.c_int64),
        ("taken_pool", ctypes.c_void_p),
        ("taken_data", ctypes.c_void_p),
        ("status", ctypes.c_int32),
        ("pc", ctypes.c_int32),
        ("budget", ctypes.c_int64),
        ("deadline", ctypes.c_int64),
        ("ticked", ctypes.c_int64),
        ("depth", ctypes.c_int64),
        ("stack_limit", ctypes.c_int64),
        ("live_objects", ctypes.c_int64),
        ("live_bytes", ctypes.c_int64),
        ("peak_bytes", ctypes.c_int64),
        ("arena_bytes", ctypes.c_int64),
        ("arena_peak", ctypes.c_int64),
        ("heap_bytes", ctypes.c_int64),
        ("pooled_bytes", ctypes.c_int64),
        ("cells", ctypes.c_void_p),
        ("chunks", ctypes.c_void_p),
        ("chunk_next", ctypes.c_void_p),
        ("chunk_end", ctypes.c_void_p),
        ("free", ctypes.c_void_p * NUM_CLASSES),
    ]


STRUCTURES: tuple[type[ctypes.Structure], ...] = (
    Object,
    Tensor,
    Fields,
    Cell,
    Pool,
    Frame,
    FunctionRecord,
    Context,
)

DLTENSOR = Tensor.data.offset
"""Where the DLTensor begins in a tensor object."""

DLTENSOR_BYTES = Tensor.owner.offset - DLTENSOR

_SCALARS = {ctypes.c_void_p: "ptr", ctypes.c_int64: "i64", ctypes.c_int32: "i32"}


def llvm_type(type_: Any) -> str:
    """The LLVM type of a ctypes type of this module."""
    if type_ in STRUCTURES:
        return f"%{type_.__name__}"
    if issubclass(type_, ctypes.Array):
        return f"[{type_._length_} x {llvm_type(type_._type_)}]"
    return next(name for scalar, name in _SCALARS.items() if type_ is scalar)


def definitions() -> list[str]:
    """The LLVM definitions of all structures."""
    return [
        f"%{s.__name__} = type {{ {', '.join(llvm_type(f[1]) for f in s._fields_)} }}" for s in STRUCTURES
    ]


def field(structure: type[ctypes.Structure], name: str) -> tuple[int, str]:
    """Number and LLVM type of a field."""
    for number, (candidate, type_, *_) in enumerate(structure._fields_):
        if candidate == name:
            return number, llvm_type(type_)
    raise KeyError(f"{structure.__name__} has no field {name}")


def register_offset(register: int) -> int:
    """Where a register, or behind the registers a spill slot, stands in a frame."""
    return ctypes.sizeof(Frame) + WORD * register
