"""Memory for objects, and counting references.

Blocks come from free lists by size, filled from chunks. An object whose last reference goes is put on a list,
and the list is worked off in a loop, so that freeing a long list takes no stack. Counts are not atomic: a
machine belongs to one thread. An immortal object is counted like any other; its count never reaches 0.
"""

from __future__ import annotations

import ctypes

from regvm.native.assembly import Assembly, head
from regvm.native.layout import (
    CHUNK_BYTES,
    NUM_CLASSES,
    WORD,
    Cell,
    Context,
    Fields,
    Object,
    ObjectKind,
    Pool,
    Tensor,
)

_GRAIN = 16


def inline_lines() -> list[str]:
    """What compiled programs carry themselves, to be inlined."""
    return [*_retain(), *_drop(), *_drop_if()]


def lines() -> list[str]:
    """The functions of this module that are compiled once."""
    return [
        *_allocate(),
        *_refill(),
        *_free_block(),
        *_make_fields(),
        *_make_cell(),
        *_release_into(),
        *_destroy(),
    ]


def _retain() -> list[str]:
    code = Assembly()
    code.add(Object, "%object", "count", 1)
    code.emit("ret void")
    return code.function("internal void @retain(ptr %object) alwaysinline nounwind")


def _drop() -> list[str]:
    code = Assembly()
    left = code.add(Object, "%object", "count", -1)
    with code.when(code.compare("eq", "i64", left, 0)):
        code.call("void", "@regvm.destroy", "ptr %context", "ptr %object")
    code.emit("ret void")
    return code.function("internal void @drop(ptr %context, ptr %object) alwaysinline nounwind")


def _drop_if() -> list[str]:
    code = Assembly()
    with code.unless(code.is_null("%object")):
        code.call("void", "@drop", "ptr %context", "ptr %object")
    code.emit("ret void")
    return code.function("internal void @drop_if(ptr %context, ptr %object) alwaysinline nounwind")


def _allocate() -> list[str]:
    """A block; null if there is no memory."""
    code = Assembly()
    class_ = code.op("lshr", "i64", code.op("add", "i64", "%bytes", _GRAIN - 1), 4)
    code.add(Context, "%context", "live_objects", 1)
    with code.when(code.compare("uge", "i64", class_, NUM_CLASSES)):
        code.emit(f"ret ptr {code.call('ptr', '@malloc', 'i64 %bytes')}")
    place = code.element(code.address(Context, "%context", "free"), "ptr", class_)
    block = code.load("ptr", place)
    with code.when(code.is_null(block)):
        code.emit(f"ret ptr {code.call('ptr', '@refill', 'ptr %context', f'i64 {class_}')}")
    code.store("ptr", code.load("ptr", block), place)
    code.emit(f"ret ptr {block}")
    return code.function("internal ptr @allocate(ptr %context, i64 %bytes) alwaysinline nounwind")


def _refill() -> list[str]:
    """A block of a class whose free list is empty, from the current chunk or a new one."""
    code = Assembly()
    bytes_ = code.op("shl", "i64", "%class", 4)
    block = code.variable("ptr", code.get(Context, "%context", "chunk_next"))
    start = code.let(f"ptrtoint ptr {code.load('ptr', block)} to i64")
    end = code.let(f"ptrtoint ptr {code.get(Context, '%context', 'chunk_end')} to i64")
    left = code.op("sub", "i64", end, start)
    with code.when(code.compare("slt", "i64", left, bytes_)):
        chunk = code.call("ptr", "@malloc", f"i64 {CHUNK_BYTES}")
        with code.when(code.is_null(chunk)):
            code.emit("ret ptr null")
        code.add(Context, "%context", "heap_bytes", CHUNK_BYTES)
        code.store("ptr", code.get(Context, "%context", "chunks"), chunk)
        code.set(Context, "%context", "chunks", chunk)
        code.set(Context, "%context", "chunk_end", code.at(chunk, CHUNK_BYTES))
        code.store("ptr", code.at(chunk, _GRAIN), block)
    found = code.load("ptr", block)
    code.set(Context, "%context", "chunk_next", code.at(found, bytes_))
    code.emit(f"ret ptr {found}")
    return code.function("internal ptr @refill(ptr %context, i64 %class) noinline nounwind")


def _free_block() -> list[str]:
    code = Assembly()
    class_ = code.op("lshr", "i64", code.op("add", "i64", "%bytes", _GRAIN - 1), 4)
    code.add(Context, "%context", "live_objects", -1)
    with code.when(code.compare("uge", "i64", class_, NUM_CLASSES)):
        code.call("void", "@free", "ptr %block")
        code.emit("ret void")
    place = code.element(code.address(Context, "%context", "free"), "ptr", class_)
    code.store("ptr", code.load("ptr", place), "%block")
    code.store("ptr", "%block", place)
    code.emit("ret void")
    return code.function("internal void @free_block(ptr %context, ptr %block, i64 %bytes) nounwind")


def _make_fields() -> list[str]:
    """Algebraic data or a closure, its fields not yet written; null if there is no memory."""
    code = Assembly()
    bytes_ = _fields_bytes(code, "%size")
    made = code.call("ptr", "@allocate", "ptr %context", f"i64 {bytes_}")
    with code.when(code.is_null(made)):
        code.add(Context, "%context", "live_objects", -1)
        code.emit("ret ptr null")
    _begin(code, made, "%kind", "%tag")
    code.set(Fields, made, "size", "%size")
    code.emit(f"ret ptr {made}")
    return code.function("ptr @regvm.make_fields(ptr %context, i32 %kind, i32 %tag, i64 %size) nounwind")


def _make_cell() -> list[str]:
    """A reference that holds ``value``, first in the machine's list of cells; null if there is no memory."""
    code = Assembly()
    made = code.call("ptr", "@allocate", "ptr %context", f"i64 {ctypes.sizeof(Cell)}")
    with code.when(code.is_null(made)):
        code.add(Context, "%context", "live_objects", -1)
        code.emit("ret ptr null")
    _begin(code, made, int(ObjectKind.REF), 0)
    first = code.get(Context, "%context", "cells")
    code.set(Cell, made, "value", "%value")
    code.set(Cell, made, "previous", "null")
    code.set(Cell, made, "next", first)
    with code.unless(code.is_null(first)):
        code.set(Cell, first, "previous", made)
    code.set(Context, "%context", "cells", made)
    code.emit(f"ret ptr {made}")
    return code.function("ptr @regvm.make_cell(ptr %context, ptr %value) nounwind")


def _release_into() -> list[str]:
    """Let go of one reference (or null); an object that was the last of goes on the list."""
    code = Assembly()
    with code.unless(code.is_null("%object")):
        left = code.add(Object, "%object", "count", -1)
        with code.when(code.compare("eq", "i64", left, 0)):
            code.store("ptr", code.load("ptr", "%list"), "%object")
            code.store("ptr", "%object", "%list")
    code.emit("ret void")
    return code.function("internal void @release_into(ptr %list, ptr %object) nounwind")


def _destroy() -> list[str]:
    """Free an object that nobody refers to, and all that it alone kept alive.

    The word of the count, no longer needed, links the objects that wait.
    """
    code = Assembly()
    waiting = code.variable("ptr", "%object")
    code.store("ptr", "null", "%object")
    with code.loop() as done:
        current = code.load("ptr", waiting)
        code.leave_if(code.is_null(current), done)
        code.store("ptr", code.load("ptr", current), waiting)
        kind = head(code, current, "kind")
        cases = {kind_: code.fresh(kind_.name.lower()) for kind_ in ObjectKind}
        after = code.fresh("next")
        table = " ".join(f"i32 {int(k)}, label %{label}" for k, label in cases.items())
        code.emit(f"switch i32 {kind}, label %{after} [ {table} ]")
        for kind_, label in cases.items():
            code.label(label)
            _FREE[kind_](code, current, waiting)
            code.go(after)
        code.label(after)
    code.emit("ret void")
    return code.function("void @regvm.destroy(ptr %context, ptr %object) noinline nounwind")


def _free_owned(code: Assembly, tensor: str, waiting: str) -> None:
    """Back to its pool; or, if it has none or lost its array to the user, freed."""
    del waiting
    pool, array = code.get(Tensor, tensor, "pool"), code.get(Tensor, tensor, "owner")
    pooled, kept, discard, freed = (code.fresh(s) for s in ("pooled", "kept", "discard", "freed"))
    code.add(Context, "%context", "live_bytes", code.op("sub", "i64", 0, code.get(Tensor, tensor, "bytes")))
    nothing = code.op("or", "i1", code.is_null(pool), code.is_null(array))
    code.go_if(nothing, discard, pooled)
    code.label(pooled)
    code.go_if(code.compare("ne", "i32", code.get(Pool, pool, "keep"), 0), kept, discard)
    code.label(kept)
    code.add(Context, "%context", "live_objects", -1)
    code.add(Context, "%context", "pooled_bytes", code.get(Tensor, tensor, "bytes"))
    code.store("ptr", code.get(Pool, pool, "free"), tensor)
    code.set(Pool, pool, "free", tensor)
    code.go(freed)
    code.label(discard)
    with code.unless(code.is_null(array)):
        code.call("i32", code.get(Context, "%context", "array_free"), f"ptr {array}")
    code.call("void", "@free_block", "ptr %context", f"ptr {tensor}", f"i64 {ctypes.sizeof(Tensor)}")
    code.go_on(freed)


def _free_view(code: Assembly, tensor: str, waiting: str) -> None:
    code.call("void", "@release_into", f"ptr {waiting}", f"ptr {code.get(Tensor, tensor, 'owner')}")
    dims = code.let(f"sext i32 {head(code, tensor, 'tag')} to i64")
    bytes_ = code.op("add", "i64", code.op("shl", "i64", dims, 3), ctypes.sizeof(Tensor))
    code.call("void", "@free_block", "ptr %context", f"ptr {tensor}", f"i64 {bytes_}")


def _free_external(code: Assembly, tensor: str, waiting: str) -> None:
    del waiting
    code.call("void", "@free_block", "ptr %context", f"ptr {tensor}", f"i64 {ctypes.sizeof(Tensor)}")


def _free_placed(code: Assembly, tensor: str, waiting: str) -> None:
    """Immortal: never reached."""
    del code, tensor, waiting


def _free_fields(code: Assembly, object_: str, waiting: str) -> None:
    size = code.get(Fields, object_, "size")
    first = code.at(object_, ctypes.sizeof(Fields))
    with code.count(size) as number:
        held = code.load("ptr", code.element(first, "ptr", number))
        code.call("void", "@release_into", f"ptr {waiting}", f"ptr {held}")
    code.call("void", "@free_block", "ptr %context", f"ptr {object_}", f"i64 {_fields_bytes(code, size)}")


def _free_cell(code: Assembly, cell: str, waiting: str) -> None:
    code.call("void", "@release_into", f"ptr {waiting}", f"ptr {code.get(Cell, cell, 'value')}")
    previous, following = code.get(Cell, cell, "previous"), code.get(Cell, cell, "next")
    with code.when(code.is_null(previous)):
        code.set(Context, "%context", "cells", following)
    with code.unless(code.is_null(previous)):
        code.set(Cell, previous, "next", following)
    with code.unless(code.is_null(following)):
        code.set(Cell, following, "previous", previous)
    code.call("void", "@free_block", "ptr %context", f"ptr {cell}", f"i64 {ctypes.sizeof(Cell)}")


_FREE = {
    ObjectKind.OWNED: _free_owned,
    ObjectKind.VIEW: _free_view,
    ObjectKind.SLICE: _free_view,
    ObjectKind.EXTERNAL: _free_external,
    ObjectKind.PLACED: _free_placed,
    ObjectKind.ADT: _free_fields,
    ObjectKind.CLOSURE: _free_fields,
    ObjectKind.REF: _free_cell,
}


def _fields_bytes(code: Assembly, size: str) -> str:
    return code.op("add", "i64", code.op("mul", "i64", size, WORD), ctypes.sizeof(Fields))


def _begin(code: Assembly, made: str, kind: int | str, tag: int | str) -> None:
    code.set(Object, made, "count", 1)
    code.set(Object, made, "kind", kind)
    code.set(Object, made, "tag", tag)
