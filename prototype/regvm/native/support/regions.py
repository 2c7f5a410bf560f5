"""Tensors whose sizes are computed when the program runs: their shapes, and the regions of frames that hold them.

A region is two words of the frame, each the block of memory of one placing or null. A block is a byte tensor on the
heap, to which the frame and each tensor in it refer; one to which only the frame refers can be taken again. While a
frame holds a block, it counts as part of the frame's arena.
"""

from __future__ import annotations

from regvm.executable import ALIGNMENT
from regvm.native.assembly import Assembly
from regvm.native.layout import (
    REGION_BLOCKS,
    WORD,
    Context,
    FunctionRecord,
    Object,
    ObjectKind,
    Status,
    Tensor,
)
from regvm.native.support.tensors import borrowing

_LARGEST = 1 << 46
"""Bytes of a tensor, more than any machine has: sums of sizes then stay within 64 bits."""

_MAX_RANK = 64
_BYTE = 1 | 8 << 8 | 1 << 16


def lines() -> list[str]:
    """The functions of this module."""
    return [
        *_set_shape(),
        *_region(),
        *_new_block(),
        *_let_go(),
        *_count_arena(),
        *_slice(),
        *_tensor_of_dims(),
        *_drop_regions(),
    ]


def _set_shape() -> list[str]:
    """Keep the dimensions that a vector holds; returns the tensor's rounded size in bytes, or -1."""
    code = Assembly()
    read = code.variable(f"[{_MAX_RANK} x i64]")
    rank = code.call("i64", "@read_dims", "ptr %context", "ptr %shape", f"ptr {read}")
    with code.when(code.compare("slt", "i64", rank, 0)):
        code.emit("ret i64 -1")
    with code.when(code.compare("ne", "i64", rank, "%rank")):
        code.set(Context, "%context", "status", int(Status.BAD_RANK))
        code.emit("ret i64 -1")
    bytes_ = code.call("i64", "@dtype_times", "i32 %dtype", f"i64 {rank}", f"ptr {read}")
    # As an unsigned number, -1 is too large too.
    with code.when(code.compare("ugt", "i64", bytes_, _LARGEST)):
        code.set(Context, "%context", "status", int(Status.NO_MEMORY))
        code.emit("ret i64 -1")
    size = code.op("mul", "i64", rank, WORD)
    code.call("void", "@llvm.memcpy.p0.p0.i64", "ptr %dims", f"ptr {read}", f"i64 {size}", "i1 false")
    code.emit(f"ret i64 {_rounded(code, bytes_)}")
    return code.function(
        "i64 @regvm.set_shape(ptr %context, ptr %shape, i64 %rank, ptr %dims, i32 %dtype) nounwind"
    )


def _region() -> list[str]:
    """A block of at least so many bytes that nothing but the region refers to; null if there is no memory.

    The block taken last stands last.
    """
    code = Assembly()
    spare = code.variable("ptr", "null")
    with code.count(str(REGION_BLOCKS)) as number:
        place = code.element("%blocks", "ptr", number)
        block = code.load("ptr", place)
        used, after = code.fresh("used"), code.fresh("after")
        code.leave_if(code.is_null(block), after)
        code.go_if(code.compare("eq", "i64", code.get(Object, block, "count"), 1), used, after)
        code.label(used)
        with code.when(code.compare("sge", "i64", code.get(Tensor, block, "bytes"), "%size")):
            _rotate(code, place, block)
            code.emit(f"ret ptr {block}")
        with code.when(code.is_null(code.load("ptr", spare))):
            code.store("ptr", place, spare)
        code.go_on(after)
    code.emit(f"ret ptr {_replace(code, spare)}")
    return code.function("ptr @regvm.region(ptr %context, ptr %blocks, i64 %size) noinline nounwind")


def _rotate(code: Assembly, place: str, block: str) -> None:
    """Move a block to the last place."""
    last = code.element("%blocks", "ptr", REGION_BLOCKS - 1)
    code.store("ptr", code.load("ptr", last), place)
    code.store("ptr", block, last)


def _replace(code: Assembly, spare: str) -> str:
    """A new block in place of one that is too small, or of the oldest; a region that grows takes half as much more."""
    wanted = code.variable("i64", "%size")
    place = code.variable("ptr", "%blocks")
    found = code.load("ptr", spare)
    with code.unless(code.is_null(found)):
        code.store("ptr", found, place)
        bytes_ = code.get(Tensor, code.load("ptr", found), "bytes")
        more = _rounded(code, code.op("add", "i64", bytes_, code.op("lshr", "i64", bytes_, 1)))
        larger = code.compare("sgt", "i64", more, "%size")
        code.store("i64", code.let(f"select i1 {larger}, i64 {more}, i64 %size"), wanted)
    chosen = code.load("ptr", place)
    code.call("void", "@let_go", "ptr %context", f"ptr {chosen}")
    made = code.call("ptr", "@new_block", "ptr %context", f"i64 {code.load('i64', wanted)}")
    with code.unless(code.is_null(made)):
        _rotate(code, chosen, made)
    return made


def _new_block() -> list[str]:
    code = Assembly()
    empty = code.compare("eq", "i64", "%size", 0)
    dims = code.variable("i64")
    code.store("i64", code.let(f"select i1 {empty}, i64 {ALIGNMENT}, i64 %size"), dims)
    peak = code.get(Context, "%context", "peak_bytes")
    made = code.call("ptr", "@array", "ptr %context", "i32 1", f"ptr {dims}", f"i32 {_BYTE}", "ptr null")
    with code.unless(code.is_null(made)):
        code.set(Context, "%context", "peak_bytes", peak)
        code.call("void", "@count_arena", "ptr %context", f"i64 {code.get(Tensor, made, 'bytes')}")
        code.add(Context, "%context", "live_objects", -1)
    code.emit(f"ret ptr {made}")
    return code.function("internal ptr @new_block(ptr %context, i64 %size) nounwind")


def _let_go() -> list[str]:
    """Empty a word of a region. The block may live on with the tensors in it, as an object like any other."""
    code = Assembly()
    block = code.load("ptr", "%place")
    with code.unless(code.is_null(block)):
        code.store("ptr", "null", "%place")
        less = code.op("sub", "i64", 0, code.get(Tensor, block, "bytes"))
        code.call("void", "@count_arena", "ptr %context", f"i64 {less}")
        code.add(Context, "%context", "live_objects", 1)
        code.call("void", "@drop", "ptr %context", f"ptr {block}")
    code.emit("ret void")
    return code.function("internal void @let_go(ptr %context, ptr %place) nounwind")


def _count_arena() -> list[str]:
    """Count bytes as those of a frame, no longer as those of a tensor that owns its storage."""
    code = Assembly()
    code.add(Context, "%context", "live_bytes", code.op("sub", "i64", 0, "%bytes"))
    now = code.add(Context, "%context", "arena_bytes", "%bytes")
    peak = code.get(Context, "%context", "arena_peak")
    larger = code.compare("sgt", "i64", now, peak)
    code.set(Context, "%context", "arena_peak", code.let(f"select i1 {larger}, i64 {now}, i64 {peak}"))
    code.emit("ret void")
    return code.function("internal void @count_arena(ptr %context, i64 %bytes) nounwind")


def _slice() -> list[str]:
    """A tensor in a block, at an address; it keeps its own copy of its dimensions."""
    code = Assembly()
    made = borrowing(code, ObjectKind.SLICE, "%block")
    code.set(Tensor, made, "data", "%data")
    code.set(Tensor, made, "dtype", "%dtype")
    code.call("void", "@retain", "ptr %block")
    code.emit(f"ret ptr {made}")
    return code.function(
        "ptr @regvm.slice(ptr %context, ptr %block, ptr %data, i32 %ndim, ptr %dims, i32 %dtype) nounwind"
    )


def _tensor_of_dims() -> list[str]:
    """A new tensor that owns its storage."""
    code = Assembly()
    made = code.call("ptr", "@array", "ptr %context", "i32 %ndim", "ptr %dims", "i32 %dtype", "ptr null")
    code.emit(f"ret ptr {made}")
    return code.function("ptr @regvm.tensor_of_dims(ptr %context, i32 %ndim, ptr %dims, i32 %dtype) nounwind")


def _drop_regions() -> list[str]:
    """Let go of the blocks of a frame that is to be freed."""
    code = Assembly()
    first = code.at("%frame", code.get(FunctionRecord, "%record", "regions"))
    with code.count(code.get(FunctionRecord, "%record", "num_blocks")) as number:
        code.call("void", "@let_go", "ptr %context", f"ptr {code.element(first, 'ptr', number)}")
    code.emit("ret void")
    return code.function("internal void @drop_regions(ptr %context, ptr %record, ptr %frame) nounwind")


def _rounded(code: Assembly, bytes_: str) -> str:
    return code.op("and", "i64", code.op("add", "i64", bytes_, ALIGNMENT - 1), -ALIGNMENT)
