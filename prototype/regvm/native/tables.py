"""The tables that a machine's context points to: constants, pools, and records of functions with frame templates.

Everything here is memory that machine code reads; the objects that hold it must outlive the machine.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from regvm.executable import Function, TensorType
from regvm.native.frame_layout import FrameLayout, frame_layout
from regvm.native.layout import (
    DLTENSOR,
    DLTENSOR_BYTES,
    IMMORTAL,
    REGION_BLOCKS,
    Frame,
    FunctionRecord,
    ObjectKind,
    Pool,
    Tensor,
)
from regvm.runtime import values

_CPU = 1
_KEPT_BYTES = 1 << 16
"""Larger tensors go back to TVM when they die."""

DtypeWord = Callable[[str], int]


def constant_objects(constants: Sequence[values.Tensor]) -> Any:
    """An immortal object for each constant."""
    objects = (Tensor * max(1, len(constants)))()
    for object_, constant in zip(objects, constants, strict=False):
        object_.object.count = IMMORTAL
        object_.object.kind = ObjectKind.EXTERNAL
        ctypes.memmove(ctypes.addressof(object_) + DLTENSOR, constant.handle, DLTENSOR_BYTES)
        object_.owner = constant.handle
    return objects


def addresses_of(objects: Any) -> range:
    """The addresses of the elements of a ctypes array."""
    size, start = ctypes.sizeof(objects._type_), ctypes.addressof(objects)
    return range(start, start + size * len(objects), size)


def pools(types: Sequence[TensorType], dtype_word: DtypeWord) -> tuple[Any, list[Any]]:
    """A pool for each type, and what holds their shapes."""
    made, shapes = (Pool * len(types))(), [_shape(t) for t in types]
    for pool, type_, shape in zip(made, types, shapes, strict=True):
        pool.shape = ctypes.addressof(shape)
        pool.bytes = type_.num_bytes
        pool.ndim = len(type_.shape)
        pool.dtype = dtype_word(type_.dtype)
        pool.keep = int(type_.num_bytes <= _KEPT_BYTES)
    return made, shapes


def fill_record(
    record: FunctionRecord, number: int, function: Function, code: int, dtype_word: DtypeWord
) -> Any:
    """Fill in a function's record; returns what holds the memory that it points to."""
    plan = frame_layout(function)
    shapes = {row: _shape(function.tensors[row].type) for row, places in plan.objects.items() if places}
    template = (ctypes.c_char * plan.template_bytes)()
    relocations: list[int] = []
    head = Frame.from_buffer(template)
    head.code, head.function = code, number
    for row, shape in shapes.items():
        relocations += _place(template, plan, function, row, shape, dtype_word)
    words = np.array(relocations, dtype=np.int64)
    record.code = code
    record.template, record.template_bytes = ctypes.addressof(template), plan.template_bytes
    record.frame_bytes, record.arena_bytes = plan.frame_bytes, function.storage_bytes
    record.relocations, record.num_relocations = words.ctypes.data, len(words)
    record.num_parameters = len(function.parameters)
    record.regions = plan.regions[0] if plan.regions else 0
    record.num_blocks = len(plan.regions) * REGION_BLOCKS
    record.num_values = function.num_registers + function.num_slots
    return template, words, shapes


def _place(
    template: Any, plan: FrameLayout, function: Function, row: int, shape: Any, dtype_word: DtypeWord
) -> list[int]:
    """Write the objects of one row of the tensor table; returns the offsets of the words to relocate."""
    slot, places = function.tensors[row], plan.objects[row]
    relocations = []
    for number, (place, offset) in enumerate(zip(places, slot.offsets, strict=True)):
        tensor = Tensor.from_buffer(template, place)
        tensor.object.count = IMMORTAL
        tensor.object.kind = ObjectKind.PLACED
        tensor.data = plan.arena + offset
        tensor.device_type = _CPU
        tensor.ndim, tensor.dtype = len(slot.type.shape), dtype_word(slot.type.dtype)
        tensor.shape = ctypes.addressof(shape)
        tensor.owner = places[(number + 1) % len(places)]
        relocations += [place + Tensor.data.offset, place + Tensor.owner.offset]
    if row in plan.turns:
        ctypes.c_int64.from_buffer(template, plan.turns[row]).value = places[0]
        relocations.append(plan.turns[row])
    return relocations


def _shape(type_: TensorType) -> Any:
    return (ctypes.c_int64 * max(1, len(type_.shape)))(*(d or 0 for d in type_.shape))
