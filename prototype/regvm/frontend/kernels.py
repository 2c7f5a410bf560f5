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


def build(prim_funcs: Mapping[str, Any], target: tvm.target.Target) -> tvm.runtime.Module | None:
    """Compile PrimFuncs by name for ``target``; None if there are none.

    Kernels that LLVM refuses under the default options are built again under FALLBACK_OPTIONS. Raises
    CompileError that names the kernel if that fails too.
    """
    if not prim_funcs:
        return None
    named = {name: f.with_attr("global_symbol", name) for name, f in sorted(prim_funcs.items())}
    try:
        return _build(named, target)
    except tvm.error.TVMError:
        return _build_one_by_one(named, target)


def build_one(name: str, symbol: str, prim_func: Any, target: tvm.target.Target) -> tvm.runtime.Module:
    """Compile one PrimFunc under a symbol that need not be its name; as ``build`` otherwise."""
    named = {symbol: prim_func.with_attr("global_symbol", symbol)}
    try:
        return _build(named, target)
    except tvm.error.TVMError:
        return _build_with_fallback(name, named, target)


def _build_one_by_one(named: Mapping[str, Any], target: tvm.target.Target) -> tvm.runtime.Module:
    """Find the kernels that LLVM refuses, and build the rest as ever."""
    refused: dict[str, Any] = {}
    accepted: dict[str, Any] = {}
    for name, prim_func in named.items():
        (accepted if _builds(name, prim_func, target) else refused)[name] = prim_func
    modules = [_build(accepted, target)] if accepted else []
    modules += [_build_with_fallback(name, {name: f}, target) for name, f in refused.items()]
    for module in modules[1:]:
        modules[0].import_module(module)
    return modules[0]


def _builds(name: str, prim_func: Any, target: tvm.target.Target) -> bool:
    try:
        _build({name: prim_func}, target)
    except tvm.error.TVMError:
        return False
    return True


def _build_with_fallback(
    name: str, named: Mapping[str, Any], target: tvm.target.Target
) -> tvm.runtime.Module:
    context = tvm.transform.PassContext.current()
    options = {**context.config, **FALLBACK_OPTIONS}
    try:
        with tvm.transform.PassContext(opt_level=context.opt_level, config=options):
            return _build(named, target)
    except tvm.error.TVMError as error:
        raise CompileError(f"kernel {name} cannot be built: {summary_of(error)}") from error


def _build(named: Mapping[str, Any], target: tvm.target.Target) -> tvm.runtime.Module:
    return tvm.build(tvm.IRModule({tvm.ir.GlobalVar(n): f for n, f in named.items()}), target=target)
