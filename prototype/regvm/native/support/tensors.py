"""Tensors that machine code makes: owned ones, from pools or from TVM, views, shapes and copies.

A function that makes one returns null where it can't, and says why in the context's ``status``.
"""

from __future__ import annotations

import ctypes

from regvm.native.assembly import Assembly
from regvm.native.layout import (
    DLTENSOR,
    DLTENSOR_BYTES,
    MAX_SHAPE_RANK,
    WORD,
    Context,
    Object,
    ObjectKind,
    Pool,
    Status,
    Tensor,
)

_CPU = 1
_INT64 = 64 << 8 | 1 << 16
_MAX_RANK = 64


def lines() -> list[str]:
    """The functions of this module."""
    return [
        *_tensor_bytes(),
        *_count_elements(),
        *_dtype_times(),
        *_array(),
        *_pooled(),
        *_view(),
        *_shape_of(),
        *_read_dims(),
        *_tensor_of_shape(),
        *_view_of_shape(),
        *_copy(),
    ]


def elements(code: Assembly, tensor: str) -> str:
    """The address of a tensor's first element."""
    return code.at(code.get(Tensor, tensor, "data"), code.get(Tensor, tensor, "byte_offset"))


def _tensor_bytes() -> list[str]:
    """Bytes of a tensor's elements, row-major and without padding."""
    code = Assembly()
    dtype, shape = code.get(Tensor, "%tensor", "dtype"), code.get(Tensor, "%tensor", "shape")
    rank = code.let(f"sext i32 {code.get(Tensor, '%tensor', 'ndim')} to i64")
    code.emit(f"ret i64 {code.call('i64', '@dtype_times', f'i32 {dtype}', f'i64 {rank}', f'ptr {shape}')}")
    return code.function("internal i64 @tensor_bytes(ptr %tensor) nounwind")


def _count_elements() -> list[str]:
    """How many elements a shape has; -1 for one with a negative dimension, or too many for 63 bits."""
    code = Assembly()
    total, empty = code.variable("i64", "1"), code.variable("i1", "false")
    with code.count("%rank") as number:
        dim = code.load("i64", code.element("%dims", "i64", number))
        with code.when(code.compare("slt", "i64", dim, 0)):
            code.emit("ret i64 -1")
        with code.when(code.compare("eq", "i64", dim, 0)):
            code.store("i1", "true", empty)
    with code.when(code.load("i1", empty)):
        code.emit("ret i64 0")
    with code.count("%rank") as number:
        dim = code.load("i64", code.element("%dims", "i64", number))
        _multiply(code, total, dim)
    code.emit(f"ret i64 {code.load('i64', total)}")
    return code.function("internal i64 @count_elements(i64 %rank, ptr %dims) nounwind")


def _multiply(code: Assembly, total: str, factor: str) -> None:
    """Multiply in place; returns -1 from the function where 63 bits are not enough."""
    pair = code.call(
        "{ i64, i1 }", "@llvm.smul.with.overflow.i64", f"i64 {code.load('i64', total)}", f"i64 {factor}"
    )
    with code.when(code.let(f"extractvalue {{ i64, i1 }} {pair}, 1")):
        code.emit("ret i64 -1")
    code.store("i64", code.let(f"extractvalue {{ i64, i1 }} {pair}, 0"), total)


def _array() -> list[str]:
    """A new tensor from TVM; ``pool`` is where it goes when it dies, or null."""
    code = Assembly()
    handle = code.variable("ptr", "null")
    parts = (
        "i32 " + code.op("and", "i32", "%dtype", 255),
        "i32 " + code.op("and", "i32", code.op("lshr", "i32", "%dtype", 8), 255),
        "i32 " + code.op("lshr", "i32", "%dtype", 16),
    )
    made = code.call("ptr", "@allocate", "ptr %context", f"i64 {ctypes.sizeof(Tensor)}")
    with code.when(code.is_null(made)):
        code.add(Context, "%context", "live_objects", -1)
        code.set(Context, "%context", "status", int(Status.NO_MEMORY))
        code.emit("ret ptr null")
    allocate = code.get(Context, "%context", "array_alloc")
    place = (f"i32 {_CPU}", "i32 0", f"ptr {handle}")
    failed = code.call("i32", allocate, "ptr %dims", "i32 %ndim", *parts, *place)
    with code.when(code.compare("ne", "i32", failed, 0)):
        code.call("void", "@free_block", "ptr %context", f"ptr {made}", f"i64 {ctypes.sizeof(Tensor)}")
        code.set(Context, "%context", "status", int(Status.NO_MEMORY))
        code.emit("ret ptr null")
    array = code.load("ptr", handle)
    _head(code, made, ObjectKind.OWNED)
    _memcpy(code, code.at(made, DLTENSOR), array, DLTENSOR_BYTES)
    code.set(Tensor, made, "owner", array)
    code.set(Tensor, made, "pool", "%pool")
    bytes_ = code.call("i64", "@tensor_bytes", f"ptr {made}")
    code.set(Tensor, made, "bytes", bytes_)
    _take(code, bytes_)
    code.emit(f"ret ptr {made}")
    return code.function(
        "internal ptr @array(ptr %context, i32 %ndim, ptr %dims, i32 %dtype, ptr %pool) noinline nounwind"
    )


def _pooled() -> list[str]:
    """A tensor of a pool's type."""
    code = Assembly()
    found = code.get(Pool, "%pool", "free")
    with code.when(code.is_null(found)):
        ndim, shape = code.get(Pool, "%pool", "ndim"), code.get(Pool, "%pool", "shape")
        dtype = code.get(Pool, "%pool", "dtype")
        arguments = ("ptr %context", f"i32 {ndim}", f"ptr {shape}", f"i32 {dtype}", "ptr %pool")
        code.emit(f"ret ptr {code.call('ptr', '@array', *arguments)}")
    code.set(Pool, "%pool", "free", code.load("ptr", found))
    code.set(Object, found, "count", 1)
    code.add(Context, "%context", "live_objects", 1)
    bytes_ = code.get(Pool, "%pool", "bytes")
    code.add(Context, "%context", "pooled_bytes", code.op("sub", "i64", 0, bytes_))
    _take(code, bytes_)
    code.emit(f"ret ptr {found}")
    return code.function("ptr @regvm.pooled(ptr %context, ptr %pool) nounwind")


def borrowing(code: Assembly, kind: ObjectKind, owner: str) -> str:
    """A header like the owner's over its storage, with dimensions of its own: ``%ndim`` of them at ``%dims``.

    Without memory for it the function that is written returns null.
    """
    dims_bytes = code.op("mul", "i64", code.let("sext i32 %ndim to i64"), WORD)
    size = code.op("add", "i64", dims_bytes, ctypes.sizeof(Tensor))
    made = code.call("ptr", "@allocate", "ptr %context", f"i64 {size}")
    with code.when(code.is_null(made)):
        code.add(Context, "%context", "live_objects", -1)
        code.set(Context, "%context", "status", int(Status.NO_MEMORY))
        code.emit("ret ptr null")
    shape = code.at(made, ctypes.sizeof(Tensor))
    _head(code, made, kind)
    code.set(Object, made, "tag", "%ndim")
    _memcpy(code, code.at(made, DLTENSOR), code.at(owner, DLTENSOR), DLTENSOR_BYTES)
    _memcpy(code, shape, "%dims", dims_bytes)
    code.set(Tensor, made, "ndim", "%ndim")
    code.set(Tensor, made, "shape", shape)
    code.set(Tensor, made, "owner", owner)
    return made


def _view() -> list[str]:
    """The elements of ``source``, whose reference it takes over, under other dimensions."""
    code = Assembly()
    rank = code.let("sext i32 %ndim to i64")
    source_rank = code.let(f"sext i32 {code.get(Tensor, '%source', 'ndim')} to i64")
    shape = code.get(Tensor, "%source", "shape")
    have = code.call("i64", "@count_elements", f"i64 {source_rank}", f"ptr {shape}")
    want = code.call("i64", "@count_elements", f"i64 {rank}", "ptr %dims")
    with code.when(code.compare("ne", "i64", have, want)):
        code.set(Context, "%context", "status", int(Status.RESHAPE))
        code.emit("ret ptr null")
    made = borrowing(code, ObjectKind.VIEW, "%source")
    code.set(Tensor, made, "strides", "null")
    code.emit(f"ret ptr {made}")
    return code.function("ptr @regvm.view(ptr %context, ptr %source, i32 %ndim, ptr %dims) nounwind")


def _shape_of() -> list[str]:
    """The dimensions of a tensor as an int64 vector; of a scalar an int64 scalar, as shape functions take it."""
    code = Assembly()
    ndim = code.get(Tensor, "%source", "ndim")
    rank = code.let(f"sext i32 {ndim} to i64")
    made = code.variable("ptr")
    small, large, both = code.fresh("small"), code.fresh("large"), code.fresh("both")
    code.go_if(code.compare("sle", "i64", rank, MAX_SHAPE_RANK), small, large)
    code.label(small)
    pool = code.element(code.get(Context, "%context", "pools"), "%Pool", rank)
    code.store("ptr", code.call("ptr", "@regvm.pooled", "ptr %context", f"ptr {pool}"), made)
    code.go(both)
    code.label(large)
    dims = code.variable("i64", rank)
    vector = ("ptr %context", "i32 1", f"ptr {dims}", f"i32 {_INT64}", "ptr null")
    code.store("ptr", code.call("ptr", "@array", *vector), made)
    code.go_on(both)
    result = code.load("ptr", made)
    with code.when(code.is_null(result)):
        code.emit("ret ptr null")
    data = code.get(Tensor, result, "data")
    with code.when(code.compare("eq", "i64", rank, 0)):
        code.store("i64", "0", data)
    _memcpy(code, data, code.get(Tensor, "%source", "shape"), code.op("mul", "i64", rank, WORD))
    code.emit(f"ret ptr {result}")
    return code.function("ptr @regvm.shape_of(ptr %context, ptr %source) nounwind")


def _read_dims() -> list[str]:
    """Widen an integer vector into ``dims``; returns its length, or -1 if it is too long or of another type."""
    code = Assembly()
    dtype = code.get(Tensor, "%shape", "dtype")
    data = elements(code, "%shape")
    bits = code.op("and", "i32", code.op("lshr", "i32", dtype, 8), 255)
    size = code.let(f"zext i32 {code.op('lshr', 'i32', code.op('add', 'i32', bits, 7), 3)} to i64")
    bytes_ = code.call("i64", "@tensor_bytes", "ptr %shape")
    length = code.op("udiv", "i64", bytes_, size)
    bad = code.fresh("bad")
    code.leave_if(code.compare("sgt", "i64", length, _MAX_RANK), bad)
    types = {
        code_ | width << 8 | 1 << 16: (extend, f"i{width}")
        for code_, extend in ((0, "sext"), (1, "zext"))
        for width in (8, 16, 32, 64)
    }
    labels = {number: code.fresh(type_) for number, (_, type_) in types.items()}
    with code.count(length) as number:
        read, after = code.variable("i64"), code.fresh("read")
        table = " ".join(f"i32 {n}, label %{label}" for n, label in labels.items())
        code.emit(f"switch i32 {dtype}, label %{bad} [ {table} ]")
        for key, (extend, type_) in types.items():
            code.label(labels[key])
            value = code.load(type_, code.element(data, type_, number))
            code.store("i64", value if type_ == "i64" else code.let(f"{extend} {type_} {value} to i64"), read)
            code.go(after)
        code.label(after)
        code.store("i64", code.load("i64", read), code.element("%dims", "i64", number))
    code.emit(f"ret i64 {length}")
    code.label(bad)
    code.set(Context, "%context", "status", int(Status.BAD_SHAPE))
    code.emit("ret i64 -1")
    return code.function("internal i64 @read_dims(ptr %context, ptr %shape, ptr %dims) noinline nounwind")


def _dtype_times() -> list[str]:
    """Bytes of as many elements as a shape has; -1 where there can be no such tensor."""
    code = Assembly()
    count = code.call("i64", "@count_elements", "i64 %rank", "ptr %dims")
    with code.when(code.compare("slt", "i64", count, 0)):
        code.emit("ret i64 -1")
    total = code.variable("i64", count)
    bits = code.op(
        "mul", "i32", code.op("and", "i32", code.op("lshr", "i32", "%dtype", 8), 255), _lanes(code)
    )
    _multiply(
        code, total, code.let(f"zext i32 {code.op('lshr', 'i32', code.op('add', 'i32', bits, 7), 3)} to i64")
    )
    code.emit(f"ret i64 {code.load('i64', total)}")
    return code.function("internal i64 @dtype_times(i32 %dtype, i64 %rank, ptr %dims) nounwind")


def _lanes(code: Assembly) -> str:
    return code.op("lshr", "i32", "%dtype", 16)


def _tensor_of_shape() -> list[str]:
    """A new tensor whose dimensions an integer vector holds."""
    code = Assembly()
    dims = code.variable(f"[{_MAX_RANK} x i64]")
    rank = code.call("i64", "@read_dims", "ptr %context", "ptr %shape", f"ptr {dims}")
    with code.when(code.compare("slt", "i64", rank, 0)):
        code.emit("ret ptr null")
    # TVM computes the size without a check, and would hand out less memory than the shape says.
    bytes_ = code.call("i64", "@dtype_times", "i32 %dtype", f"i64 {rank}", f"ptr {dims}")
    with code.when(code.compare("slt", "i64", bytes_, 0)):
        code.set(Context, "%context", "status", int(Status.NO_MEMORY))
        code.emit("ret ptr null")
    ndim = code.let(f"trunc i64 {rank} to i32")
    made = code.call("ptr", "@array", "ptr %context", f"i32 {ndim}", f"ptr {dims}", "i32 %dtype", "ptr null")
    code.emit(f"ret ptr {made}")
    return code.function("ptr @regvm.tensor_of_shape(ptr %context, ptr %shape, i32 %dtype) nounwind")


def _view_of_shape() -> list[str]:
    """The elements of ``source``, whose reference it takes over, under dimensions that a vector holds."""
    code = Assembly()
    dims = code.variable(f"[{_MAX_RANK} x i64]")
    rank = code.call("i64", "@read_dims", "ptr %context", "ptr %shape", f"ptr {dims}")
    with code.when(code.compare("slt", "i64", rank, 0)):
        code.emit("ret ptr null")
    ndim = code.let(f"trunc i64 {rank} to i32")
    made = code.call("ptr", "@regvm.view", "ptr %context", "ptr %source", f"i32 {ndim}", f"ptr {dims}")
    code.emit(f"ret ptr {made}")
    return code.function("ptr @regvm.view_of_shape(ptr %context, ptr %source, ptr %shape) nounwind")


def _copy() -> list[str]:
    """A tensor that owns a copy of the elements."""
    code = Assembly()
    ndim, shape = code.get(Tensor, "%source", "ndim"), code.get(Tensor, "%source", "shape")
    dtype = code.get(Tensor, "%source", "dtype")
    made = code.call(
        "ptr", "@array", "ptr %context", f"i32 {ndim}", f"ptr {shape}", f"i32 {dtype}", "ptr null"
    )
    with code.unless(code.is_null(made)):
        bytes_ = code.get(Tensor, made, "bytes")
        _memcpy(code, code.get(Tensor, made, "data"), elements(code, "%source"), bytes_)
    code.emit(f"ret ptr {made}")
    return code.function("ptr @regvm.copy(ptr %context, ptr %source) nounwind")


def _head(code: Assembly, made: str, kind: ObjectKind) -> None:
    code.set(Object, made, "count", 1)
    code.set(Object, made, "kind", int(kind))


def _take(code: Assembly, bytes_: str) -> None:
    live = code.add(Context, "%context", "live_bytes", bytes_)
    peak = code.get(Context, "%context", "peak_bytes")
    larger = code.compare("sgt", "i64", live, peak)
    code.set(Context, "%context", "peak_bytes", code.let(f"select i1 {larger}, i64 {live}, i64 {peak}"))


def _memcpy(code: Assembly, target: str, source: str, bytes_: int | str) -> None:
    code.call(
        "void",
        "@llvm.memcpy.p0.p0.i64",
        f"ptr {target}",
        f"ptr {source}",
        f"i64 {bytes_}",
        "i1 false",
    )
