"""What ``set_shape``, ``place_tensors`` and the making of a dynamic tensor become: the arithmetic of sizes and offsets.

Slots are known while compiling, sizes are not: the offset of a slot is the sum of the sizes of the slots below it,
and the size of a slot the largest of its tensors'.
"""

from __future__ import annotations

from collections.abc import Sequence

from regvm import isa
from regvm.native.contents import Contents
from regvm.native.function_code import FunctionCode
from regvm.native.layout import Tensor


def set_shape(to: FunctionCode, ins: isa.SetShape) -> None:
    """Keep the shape and the rounded size in the frame."""
    code, type_ = to.code, to.function.tensors[ins.tensor].type
    shape = to.read(ins.shape, Contents.TENSOR)
    size = code.call(
        "i64",
        "@regvm.set_shape",
        "ptr %context",
        f"ptr {shape}",
        f"i64 {len(type_.shape)}",
        f"ptr {code.at('%frame', to.frame.dims[ins.tensor])}",
        f"i32 {to.dtype_word(type_.dtype)}",
    )
    to.fail_if(code.compare("slt", "i64", size, 0), None)
    code.store("i64", size, code.at("%frame", to.frame.sizes[ins.tensor]))
    to.release([ins.shape])


def place_tensors(to: FunctionCode, ins: isa.PlaceTensors) -> None:
    """Take a block for the region, and keep the address of each tensor in the frame."""
    code = to.code
    by_slot: dict[int, list[int]] = {}
    for row in ins.tensors:
        by_slot.setdefault(_slot(to, row), []).append(row)
    offsets: dict[int, str] = {}
    total = "0"
    for slot, rows in sorted(by_slot.items()):
        offsets[slot] = total
        total = code.op("add", "i64", total, _largest(to, rows))
    blocks = code.at("%frame", to.frame.regions[ins.region])
    block = code.call("ptr", "@regvm.region", "ptr %context", f"ptr {blocks}", f"i64 {total}")
    to.fail_if_null(block, None)
    data = code.get(Tensor, block, "data")
    for row in ins.tensors:
        code.store("ptr", code.at(data, offsets[_slot(to, row)]), code.at("%frame", to.frame.data[row]))


def new_dynamic_tensor(to: FunctionCode, row: int, owned: Sequence[str]) -> str:
    """A tensor of the shape that was set: in its region, or in storage of its own."""
    code, slot = to.code, to.function.tensors[row]
    ndim = f"i32 {len(slot.type.shape)}"
    dims = f"ptr {code.at('%frame', to.frame.dims[row])}"
    dtype = f"i32 {to.dtype_word(slot.type.dtype)}"
    if slot.within is None:
        made = code.call("ptr", "@regvm.tensor_of_dims", "ptr %context", ndim, dims, dtype)
    else:
        block = code.load("ptr", code.at("%frame", to.frame.current_block(slot.within.region)))
        data = code.load("ptr", code.at("%frame", to.frame.data[row]))
        made = code.call(
            "ptr", "@regvm.slice", "ptr %context", f"ptr {block}", f"ptr {data}", ndim, dims, dtype
        )
    to.fail_if_null(made, None, owned)
    return made


def _slot(to: FunctionCode, row: int) -> int:
    within = to.function.tensors[row].within
    assert within is not None
    return within.slot


def _largest(to: FunctionCode, rows: Sequence[int]) -> str:
    code = to.code
    sizes = [code.load("i64", code.at("%frame", to.frame.sizes[row])) for row in rows]
    largest = sizes[0]
    for size in sizes[1:]:
        larger = code.compare("sgt", "i64", size, largest)
        largest = code.let(f"select i1 {larger}, i64 {size}, i64 {largest}")
    return largest
