"""Build the kernels of a program into one library.

Kernels get the names that the translator gave them, so that the library's symbols do not depend on the process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tvm

from regvm.errors import CompileError
from regvm.frontend.passes import summary_of

FALLBACK_OPTIONS = {"tir.disable_vectorize": True, "tir.disable_cse_tir": True}
"""For kernels that LLVM 21 and later refuse: a ``let`` of float or vector type gets debug information that
the verifier of LLVM does not accept ("location of #dbg_declare must be a pointer or int")."""

_REFUSAL = "#dbg_declare"


class RefusedKernelError(CompileError):
    """LLVM refuses a kernel as it was lowered; lowered under ``fallback_context`` it may be accepted."""


def build(prim_funcs: Mapping[str, Any], target: tvm.target.Target) -> tvm.runtime.Module | None:
    """Compile PrimFuncs by name for ``target``; None if there are none.

    Raises RefusedKernelError where LLVM refuses a kernel for its debug information, and CompileError for another
    failure.
    """
    if not prim_funcs:
        return None
    named = {name: f.with_attr("global_symbol", name) for name, f in sorted(prim_funcs.items())}
    try:
        return tvm.build(tvm.IRModule({tvm.ir.GlobalVar(n): f for n, f in named.items()}), target=target)
    except tvm.error.TVMError as error:
        kind = RefusedKernelError if _REFUSAL in str(error) else CompileError
        raise kind(f"kernels cannot be built: {summary_of(error)}") from error


def fallback_context() -> tvm.transform.PassContext:
    """The current context with the passes off that cause the refusal.

    They run where kernels are lowered, so lowering has to be done again under it, and not the build alone.
    """
    current = tvm.transform.PassContext.current()
    return tvm.transform.PassContext(
        opt_level=current.opt_level,
        required_pass=current.required_pass,
        disabled_pass=current.disabled_pass,
        instruments=current.instruments,
        config={**current.config, **FALLBACK_OPTIONS},
    )
