"""A library of a few small kernels, for bytecode that is written by hand."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import tvm
from tvm import te

import regvm  # noqa: F401 - loads TVM so that TensorFlow can follow
from regvm.executable import Program
from regvm.text.assembler import assemble

KERNELS = """
kernel k0 add (2 -> 1)
kernel k1 double (1 -> 1)
kernel k2 positive (1 -> 1)
kernel k3 halves (1 -> 2)
"""
"""As ``assemble`` takes them. ``positive`` tells whether the first element of a float32[2] is above zero, ``halves``
splits it; the others work on the whole."""


@dataclass(frozen=True)
class Loadable:
    """What a machine needs of an executable."""

    program: Program
    lib: Any


@functools.cache
def library() -> Any:
    """The kernels, compiled."""
    x = te.placeholder((2,), "float32", "x")
    y = te.placeholder((2,), "float32", "y")
    results = {
        "add": [x, y, te.compute((2,), lambda i: x[i] + y[i])],
        "double": [x, te.compute((2,), lambda i: x[i] * 2.0)],
        "positive": [x, te.compute((), lambda: x[0] > 0.0)],
        "halves": [x, te.compute((1,), lambda i: x[i]), te.compute((1,), lambda i: x[i + 1])],
    }
    functions = {
        tvm.ir.GlobalVar(name): te.create_prim_func(tensors).with_attr("global_symbol", name)
        for name, tensors in results.items()
    }
    return tvm.build(tvm.IRModule(functions), target="llvm")


def load(listing: str) -> Loadable:
    """Bytecode by hand, over the kernels of the library."""
    return Loadable(assemble(listing + KERNELS), library())
