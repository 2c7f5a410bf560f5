"""Frames: taken from a function's free list, given back, made when none is free, and unwound after an error.

All compiled functions have one signature, ``void (context, frame, value)``, and go on to each other by tail calls,
so that however deep a program's recursion is, the C stack stays as it was.
"""

from __future__ import annotations

from regvm.native.assembly import Assembly
from regvm.native.layout import Context, Frame, FunctionRecord, Status, register_offset

_ALIGNMENT = 64


def inline_lines() -> list[str]:
    """What compiled programs carry themselves, to be inlined."""
    return [*_record(), *_acquire(), *_give_back()]


def lines() -> list[str]:
    """The functions of this module that are compiled once."""
    return [*_make_frame(), *_push(), *_leave(), *_unwind()]


def _record() -> list[str]:
    code = Assembly()
    wide = code.let("sext i32 %function to i64")
    record = code.element(code.get(Context, "%context", "functions"), "%FunctionRecord", wide)
    code.emit(f"ret ptr {record}")
    return code.function("internal ptr @record(ptr %context, i32 %function) alwaysinline nounwind")


def _acquire() -> list[str]:
    """A frame whose registers hold nothing; null if there is no memory."""
    code = Assembly()
    found = code.get(FunctionRecord, "%record", "free")
    with code.when(code.is_null(found)):
        code.emit(f"ret ptr {code.call('ptr', '@regvm.make_frame', 'ptr %context', 'ptr %record')}")
    code.set(FunctionRecord, "%record", "free", code.get(Frame, found, "parent"))
    code.emit(f"ret ptr {found}")
    return code.function("internal ptr @acquire(ptr %context, ptr %record) alwaysinline nounwind")


def _make_frame() -> list[str]:
    code = Assembly()
    bytes_ = code.get(FunctionRecord, "%record", "frame_bytes")
    made = code.call("ptr", "@aligned_alloc", f"i64 {_ALIGNMENT}", f"i64 {bytes_}")
    with code.when(code.is_null(made)):
        code.emit("ret ptr null")
    template = code.get(FunctionRecord, "%record", "template")
    size = code.get(FunctionRecord, "%record", "template_bytes")
    code.call("void", "@llvm.memcpy.p0.p0.i64", f"ptr {made}", f"ptr {template}", f"i64 {size}", "i1 false")
    base = code.let(f"ptrtoint ptr {made} to i64")
    relocations = code.get(FunctionRecord, "%record", "relocations")
    with code.count(code.get(FunctionRecord, "%record", "num_relocations")) as number:
        place = code.at(made, code.load("i64", code.element(relocations, "i64", number)))
        code.store("i64", code.op("add", "i64", code.load("i64", place), base), place)
    code.add(FunctionRecord, "%record", "num_frames", 1)
    arena = code.get(FunctionRecord, "%record", "arena_bytes")
    now = code.add(Context, "%context", "arena_bytes", arena)
    peak = code.get(Context, "%context", "arena_peak")
    larger = code.compare("sgt", "i64", now, peak)
    code.set(Context, "%context", "arena_peak", code.let(f"select i1 {larger}, i64 {now}, i64 {peak}"))
    code.emit(f"ret ptr {made}")
    return code.function("ptr @regvm.make_frame(ptr %context, ptr %record) noinline nounwind")


def _push() -> list[str]:
    """A frame on top of ``frame``; null, with the status in the context, at the stack limit or without memory.

    Not inlined: programs call in many places, and what a call costs is little beside what LLVM takes to write this.
    """
    code = Assembly()
    depth = code.get(Context, "%context", "depth")
    with code.when(code.compare("sge", "i64", depth, code.get(Context, "%context", "stack_limit"))):
        code.set(Context, "%context", "status", int(Status.STACK_LIMIT))
        code.emit("ret ptr null")
    made = code.call("ptr", "@acquire", "ptr %context", "ptr %record")
    with code.when(code.is_null(made)):
        code.set(Context, "%context", "status", int(Status.NO_MEMORY))
        code.emit("ret ptr null")
    code.set(Context, "%context", "depth", code.op("add", "i64", depth, 1))
    code.set(Frame, made, "parent", "%frame")
    code.emit(f"ret ptr {made}")
    return code.function("ptr @regvm.push(ptr %context, ptr %frame, ptr %record) noinline nounwind")


def _give_back() -> list[str]:
    """Put a frame, whose registers hold nothing, on its function's free list."""
    code = Assembly()
    function = code.get(Frame, "%frame", "function")
    record = code.call("ptr", "@record", "ptr %context", f"i32 {function}")
    code.set(Frame, "%frame", "resume", 0)
    code.set(Frame, "%frame", "parent", code.get(FunctionRecord, record, "free"))
    code.set(FunctionRecord, record, "free", "%frame")
    code.emit("ret void")
    return code.function("internal void @give_back(ptr %context, ptr %frame) alwaysinline nounwind")


def _leave() -> list[str]:
    """Return ``value`` to the calling frame, or to whoever started the machine."""
    code = Assembly()
    parent = code.get(Frame, "%frame", "parent")
    code.call("void", "@give_back", "ptr %context", "ptr %frame")
    with code.when(code.is_null(parent)):
        code.set(Context, "%context", "frame", "null")
        code.set(Context, "%context", "result", "%value")
        code.set(Context, "%context", "status", int(Status.DONE))
        code.emit("ret void")
    code.add(Context, "%context", "depth", -1)
    go_on = code.get(Frame, parent, "code")
    code.emit(f"musttail call void {go_on}(ptr %context, ptr {parent}, ptr %value)")
    code.emit("ret void")
    return code.function("void @regvm.leave(ptr %context, ptr %frame, ptr %value) nounwind")


def _unwind() -> list[str]:
    """Give back all frames from the context's current one on, and let go of what they hold."""
    code = Assembly()
    current = code.variable("ptr", code.get(Context, "%context", "frame"))
    with code.loop() as done:
        frame = code.load("ptr", current)
        code.leave_if(code.is_null(frame), done)
        function = code.get(Frame, frame, "function")
        record = code.call("ptr", "@record", "ptr %context", f"i32 {function}")
        registers = code.at(frame, register_offset(0))
        with code.count(code.get(FunctionRecord, record, "num_values")) as number:
            place = code.element(registers, "ptr", number)
            code.call("void", "@drop_if", "ptr %context", f"ptr {code.load('ptr', place)}")
            code.store("ptr", "null", place)
        code.store("ptr", code.get(Frame, frame, "parent"), current)
        code.call("void", "@give_back", "ptr %context", f"ptr {frame}")
    code.set(Context, "%context", "frame", "null")
    code.set(Context, "%context", "depth", 0)
    code.emit("ret void")
    return code.function("internal void @unwind(ptr %context) noinline nounwind")
