"""The run-time support of compiled programs: objects, tensors, frames, and the way in and out.

It is the same for every program, and compiled once in a process. The few functions that programs inline are
written into each program instead, with declarations of the others.
"""

from __future__ import annotations

from regvm.native import layout
from regvm.native.support import entry, frames, objects, regions, tensors

PREFIX = "regvm."
"""What the names begin with that programs and Python use."""

_LIBRARY = """\
declare ptr @malloc(i64) nounwind
declare ptr @aligned_alloc(i64, i64) nounwind
declare void @free(ptr) nounwind
declare i32 @clock_gettime(i32, ptr) nounwind
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""


def _inlined() -> list[str]:
    return [*objects.inline_lines(), *frames.inline_lines()]


def _compiled() -> list[str]:
    return [*objects.lines(), *tensors.lines(), *regions.lines(), *frames.lines(), *entry.lines()]


def module() -> str:
    """The LLVM assembly of the support as a module of its own."""
    return "\n".join([*layout.definitions(), _LIBRARY, *_inlined(), *_compiled()])


def preamble() -> list[str]:
    """What every program's module begins with."""
    return [*layout.definitions(), *_inlined(), *(f"declare {s}" for s in _signatures())]


def exported() -> list[str]:
    """The names of the functions that programs and Python use."""
    return [s.partition("@")[2].partition("(")[0] for s in _signatures()]


def _signatures() -> list[str]:
    heads = (line.removeprefix("define ").removesuffix(" {") for line in _compiled() if line[:7] == "define ")
    return [h for h in heads if not h.startswith("internal ")]
