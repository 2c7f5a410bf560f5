"""The run-time support that every compiled program carries: objects, tensors, frames, and the way in and out."""

from __future__ import annotations

from regvm.native.support import entry, frames, objects, tensors

EXTERNAL = """\
declare ptr @malloc(i64) nounwind
declare ptr @aligned_alloc(i64, i64) nounwind
declare void @free(ptr) nounwind
declare i32 @clock_gettime(i32, ptr) nounwind
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""


def lines() -> list[str]:
    """The LLVM assembly of the support."""
    return [EXTERNAL, *objects.lines(), *tensors.lines(), *frames.lines(), *entry.lines()]
