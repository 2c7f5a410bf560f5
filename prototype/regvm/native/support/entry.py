"""The functions that Python calls, and the clock that lets it in now and then."""

from __future__ import annotations

import ctypes

from regvm.native.assembly import Assembly
from regvm.native.layout import (
    DLTENSOR,
    DLTENSOR_BYTES,
    NUM_CLASSES,
    WORD,
    Cell,
    Context,
    Frame,
    FunctionRecord,
    Object,
    ObjectKind,
    Pool,
    Status,
    Tensor,
    register_offset,
)

CHECKS_PER_TICK = 64
"""How many loop rounds and calls go by between two looks at the clock."""

_SLOW_TICK_NS = 1_000_000
_SLICE_NS = 50_000_000
_KEPT_FRAME_BYTES = 1 << 24
_KEPT_HEAP_BYTES = 1 << 24
_MONOTONIC = 1


def lines() -> list[str]:
    """The functions of this module."""
    return [
        *_tick(),
        *_external(),
        *_drop_value(),
        *_start(),
        *_resume(),
        *_finish(),
        *_take_result(),
        *_clear_cells(),
        *_trim(),
        *_dispose(),
        *_give_up(),
    ]


def _tick() -> list[str]:
    """Whether it is time to pause, so that Python can handle signals.

    Called after a number of rounds; after each round where rounds are slow.
    """
    code = Assembly()
    clock = code.variable("[2 x i64]")
    code.call("i32", "@clock_gettime", f"i32 {_MONOTONIC}", f"ptr {clock}")
    seconds = code.op("mul", "i64", code.load("i64", clock), 1000000000)
    now = code.op("add", "i64", seconds, code.load("i64", code.at(clock, WORD)))
    since = code.op("sub", "i64", now, code.get(Context, "%context", "ticked"))
    slow = code.compare("sgt", "i64", since, _SLOW_TICK_NS)
    code.set(Context, "%context", "budget", code.let(f"select i1 {slow}, i64 1, i64 {CHECKS_PER_TICK}"))
    code.set(Context, "%context", "ticked", now)
    deadline = code.get(Context, "%context", "deadline")
    with code.when(code.compare("eq", "i64", deadline, 0)):
        code.set(Context, "%context", "deadline", code.op("add", "i64", now, _SLICE_NS))
        code.emit("ret i1 false")
    late = code.compare("sgt", "i64", now, deadline)
    with code.when(late):
        code.set(Context, "%context", "deadline", 0)
    code.emit(f"ret i1 {late}")
    return code.function("i1 @regvm.tick(ptr %context) noinline nounwind")


def _external() -> list[str]:
    """A tensor over a DLTensor that the user's argument keeps alive."""
    code = Assembly()
    made = code.call("ptr", "@allocate", "ptr %context", f"i64 {ctypes.sizeof(Tensor)}")
    with code.when(code.is_null(made)):
        code.add(Context, "%context", "live_objects", -1)
        code.emit("ret ptr null")
    code.set(Object, made, "count", 1)
    code.set(Object, made, "kind", int(ObjectKind.EXTERNAL))
    code.call(
        "void",
        "@llvm.memcpy.p0.p0.i64",
        f"ptr {code.at(made, DLTENSOR)}",
        "ptr %header",
        f"i64 {DLTENSOR_BYTES}",
        "i1 false",
    )
    code.set(Tensor, made, "owner", "%header")
    code.emit(f"ret ptr {made}")
    return code.function("ptr @regvm.external(ptr %context, ptr %header) nounwind")


def _drop_value() -> list[str]:
    code = Assembly()
    code.call("void", "@drop_if", "ptr %context", "ptr %object")
    code.emit("ret void")
    return code.function("void @regvm.drop_value(ptr %context, ptr %object) nounwind")


def _start() -> list[str]:
    """Call a function on objects, whose references it takes over; returns the status.

    An argument with its lowest bit set is not an object but the address of a DLTensor, plus 1.
    """
    code = Assembly()
    with code.unless(code.is_null(code.get(Context, "%context", "result"))):
        code.call("void", "@regvm.finish", "ptr %context")
    code.set(Context, "%context", "budget", CHECKS_PER_TICK)
    code.set(Context, "%context", "deadline", 0)
    code.set(Context, "%context", "status", int(Status.NO_MEMORY))
    code.set(Context, "%context", "pc", 0)
    record = code.call("ptr", "@record", "ptr %context", "i32 %function")
    frame = code.call("ptr", "@acquire", "ptr %context", f"ptr {record}")
    with code.when(code.is_null(frame)):
        code.emit(f"ret i32 {int(Status.NO_MEMORY)}")
    code.set(Frame, frame, "parent", "null")
    code.set(Context, "%context", "frame", frame)
    registers = code.at(frame, register_offset(0))
    with code.count(code.get(FunctionRecord, record, "num_parameters")) as number:
        given = code.load("i64", code.element("%arguments", "i64", number))
        register = code.element(registers, "ptr", number)
        is_object = code.compare("eq", "i64", code.op("and", "i64", given, 1), 0)
        object_, header, after = code.fresh("object"), code.fresh("header"), code.fresh("after")
        code.go_if(is_object, object_, header)
        code.label(object_)
        code.store("ptr", code.let(f"inttoptr i64 {given} to ptr"), register)
        code.go(after)
        code.label(header)
        place = code.let(f"inttoptr i64 {code.op('sub', 'i64', given, 1)} to ptr")
        made = code.call("ptr", "@regvm.external", "ptr %context", f"ptr {place}")
        with code.when(code.is_null(made)):
            code.emit(f"ret i32 {int(Status.NO_MEMORY)}")
        code.store("ptr", made, register)
        code.go_on(after)
    code.call("void", code.get(FunctionRecord, record, "code"), "ptr %context", f"ptr {frame}", "ptr null")
    code.emit(f"ret i32 {code.get(Context, '%context', 'status')}")
    return code.function("i32 @regvm.start(ptr %context, i32 %function, ptr %arguments) nounwind")


def _resume() -> list[str]:
    """Go on after a pause; returns the status."""
    code = Assembly()
    frame = code.get(Context, "%context", "frame")
    code.call("void", code.get(Frame, frame, "code"), "ptr %context", f"ptr {frame}", "ptr null")
    code.emit(f"ret i32 {code.get(Context, '%context', 'status')}")
    return code.function("i32 @regvm.resume(ptr %context) nounwind")


def _finish() -> list[str]:
    """Free whatever a run left: its result, the frames of a failed one, references that hold each other.

    What waits to be used again stays, unless it is much, or memory ran out: the next run shall have that memory.
    """
    code = Assembly()
    code.call("void", "@unwind", "ptr %context")
    code.call("void", "@drop_if", "ptr %context", f"ptr {code.get(Context, '%context', 'result')}")
    code.set(Context, "%context", "result", "null")
    with code.unless(code.is_null(code.get(Context, "%context", "cells"))):
        code.call("void", "@clear_cells", "ptr %context")
    code.call("void", "@trim", "ptr %context", f"i64 {_KEPT_FRAME_BYTES}")
    heap, pooled = (code.get(Context, "%context", n) for n in ("heap_bytes", "pooled_bytes"))
    much = code.compare("sgt", "i64", code.op("add", "i64", heap, pooled), _KEPT_HEAP_BYTES)
    status = code.get(Context, "%context", "status")
    ran_out = code.compare("eq", "i32", status, int(Status.NO_MEMORY))
    nothing_lives = code.compare("eq", "i64", code.get(Context, "%context", "live_objects"), 0)
    with code.when(code.op("and", "i1", nothing_lives, code.op("or", "i1", much, ran_out))):
        code.call("void", "@trim", "ptr %context", "i64 0")
        code.call("void", "@give_up", "ptr %context")
    code.emit("ret void")
    return code.function("void @regvm.finish(ptr %context) nounwind")


def _take_result() -> list[str]:
    """Hand over a result that is one tensor, and finish; returns the address of its DLTensor, which Python owns now
    if the tensor owned its storage. Null for any other result, which stays.
    """
    code = Assembly()
    address = code.variable("ptr")
    result = code.get(Context, "%context", "result")
    kind = code.get(Object, result, "kind")
    owned, taken, other = (code.fresh(s) for s in ("owned", "taken", "other"))
    code.emit(
        f"switch i32 {kind}, label %{other} "
        f"[ i32 {int(ObjectKind.OWNED)}, label %{owned} i32 {int(ObjectKind.EXTERNAL)}, label %{taken} ]"
    )
    code.label(owned)
    code.set(Context, "%context", "taken_pool", code.get(Tensor, result, "pool"))
    code.set(Context, "%context", "taken_data", code.get(Tensor, result, "data"))
    code.go_on(taken)
    code.set(Context, "%context", "taken_kind", code.let(f"zext i32 {kind} to i64"))
    code.store("ptr", code.get(Tensor, result, "owner"), address)
    with code.when(code.compare("eq", "i32", kind, int(ObjectKind.OWNED))):
        code.set(Tensor, result, "owner", "null")
    code.call("void", "@regvm.finish", "ptr %context")
    code.emit(f"ret ptr {code.load('ptr', address)}")
    code.label(other)
    code.emit("ret ptr null")
    return code.function("ptr @regvm.take_result(ptr %context) nounwind")


def _clear_cells() -> list[str]:
    """Free all cells: protect each, empty each, then let go of each."""
    code = Assembly()
    current = code.variable("ptr")

    def each(visit: str) -> None:
        code.store("ptr", code.get(Context, "%context", "cells"), current)
        with code.loop() as done:
            cell = code.load("ptr", current)
            code.leave_if(code.is_null(cell), done)
            # Read before the visit, which may free the cell.
            code.store("ptr", code.get(Cell, cell, "next"), current)
            if visit == "protect":
                code.call("void", "@retain", f"ptr {cell}")
            elif visit == "empty":
                held = code.get(Cell, cell, "value")
                code.set(Cell, cell, "value", "null")
                code.call("void", "@drop_if", "ptr %context", f"ptr {held}")
            else:
                code.call("void", "@drop", "ptr %context", f"ptr {cell}")

    each("protect")
    each("empty")
    each("let go")
    code.emit("ret void")
    return code.function("internal void @clear_cells(ptr %context) noinline nounwind")


def _trim() -> list[str]:
    """Free frames of each function until those that wait take at most ``kept`` bytes.

    What regions take is not known here; of a function that has some, one frame stays.
    """
    code = Assembly()
    with code.count(code.get(Context, "%context", "num_functions")) as number:
        record = code.element(code.get(Context, "%context", "functions"), "%FunctionRecord", number)
        size = code.get(FunctionRecord, record, "frame_bytes")
        with code.loop() as done:
            frame = code.get(FunctionRecord, record, "free")
            code.leave_if(code.is_null(frame), done)
            total = code.op("mul", "i64", code.get(FunctionRecord, record, "num_frames"), size)
            plain = code.compare("eq", "i64", code.get(FunctionRecord, record, "num_blocks"), 0)
            limit = code.let(f"select i1 {plain}, i64 %kept, i64 0")
            code.leave_if(code.compare("sle", "i64", total, limit), done)
            # One frame always stays, however large: the next run needs it.
            alone = code.compare("sle", "i64", code.get(FunctionRecord, record, "num_frames"), 1)
            spare = code.compare("sgt", "i64", "%kept", 0)
            code.leave_if(code.op("and", "i1", alone, spare), done)
            code.set(FunctionRecord, record, "free", code.get(Frame, frame, "parent"))
            code.add(FunctionRecord, record, "num_frames", -1)
            arena = code.get(FunctionRecord, record, "arena_bytes")
            code.add(Context, "%context", "arena_bytes", code.op("sub", "i64", 0, arena))
            code.call("void", "@drop_regions", "ptr %context", f"ptr {record}", f"ptr {frame}")
            code.call("void", "@free", f"ptr {frame}")
    code.emit("ret void")
    return code.function("internal void @trim(ptr %context, i64 %kept) nounwind")


def _dispose() -> list[str]:
    """Free all memory of a machine, with a result that nobody took."""
    code = Assembly()
    code.call("void", "@regvm.finish", "ptr %context")
    code.call("void", "@trim", "ptr %context", "i64 0")
    code.call("void", "@give_up", "ptr %context")
    code.emit("ret void")
    return code.function("void @regvm.dispose(ptr %context) nounwind")


def _give_up() -> list[str]:
    """Free the tensors in the pools and the chunks of the free lists; no object may live."""
    code = Assembly()
    free_array = code.get(Context, "%context", "array_free")
    with code.count(code.get(Context, "%context", "num_pools")) as number:
        pool = code.element(code.get(Context, "%context", "pools"), "%Pool", number)
        with code.loop() as done:
            tensor = code.get(Pool, pool, "free")
            code.leave_if(code.is_null(tensor), done)
            code.set(Pool, pool, "free", code.load("ptr", tensor))
            code.call("i32", free_array, f"ptr {code.get(Tensor, tensor, 'owner')}")
    with code.loop() as done:
        chunk = code.get(Context, "%context", "chunks")
        code.leave_if(code.is_null(chunk), done)
        code.set(Context, "%context", "chunks", code.load("ptr", chunk))
        code.call("void", "@free", f"ptr {chunk}")
    code.emit(
        "call void @llvm.memset.p0.i64("
        f"ptr {code.address(Context, '%context', 'free')}, i8 0, i64 {NUM_CLASSES * WORD}, i1 false)"
    )
    code.set(Context, "%context", "chunk_next", "null")
    code.set(Context, "%context", "chunk_end", "null")
    code.set(Context, "%context", "heap_bytes", 0)
    code.set(Context, "%context", "pooled_bytes", 0)
    code.emit("ret void")
    return code.function("internal void @give_up(ptr %context) noinline nounwind")
