"""Build the kernels of a program into one library.

Kernels get the names that the translator gave them, so that the library's symbols do not depend on the process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tvm

from regvm.errors import CompileError
from regvm.frontend.contexts import configured
from regvm.frontend.passes import summary_of

PLAIN_OPTIONS = {"tir.disable_vectorize": True, "tir.disable_cse_tir": True}
"""LLVM 21 and later refuse a ``let`` of float or vector type, to which TVM attaches debug information that LLVM's
verifier does not accept ("location of #dbg_declare must be a pointer or int"). Without these two passes there is
none; they run while kernels are lowered, so that lowering has to be done again."""

Plainly = Callable[[], Mapping[str, Any]]
"""Gives the same kernels, by the same names, lowered so that every LLVM accepts them."""


def plain_context() -> tvm.transform.PassContext:
    """The current context without the passes that make what LLVM refuses."""
    return configured(PLAIN_OPTIONS)


def build(
    prim_funcs: Mapping[str, Any], target: tvm.target.Target, plainly: Plainly
) -> tvm.runtime.Module | None:
    """Compile PrimFuncs by name for ``target``; None if there are none.

    Kernels that LLVM refuses are taken from ``plainly`` instead. Raises CompileError that names the kernel if LLVM
    refuses that too.
    """
    if not prim_funcs:
        return None
    named = _named(prim_funcs)
    try:
        return _build(named, target)
    except tvm.error.TVMError:
        return _build_one_by_one(named, target, plainly)


def build_one(
    name: str, symbol: str, prim_func: Any, target: tvm.target.Target, plainly: Plainly
) -> tvm.runtime.Module:
    """Compile one PrimFunc under a symbol that need not be its name; as ``build`` otherwise."""
    try:
        return _build(_named({symbol: prim_func}), target)
    except tvm.error.TVMError:
        return _build_plain(name, symbol, plainly()[name], target)


def _named(prim_funcs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: f.with_attr("global_symbol", name) for name, f in sorted(prim_funcs.items())}


def _build_one_by_one(
    named: Mapping[str, Any], target: tvm.target.Target, plainly: Plainly
) -> tvm.runtime.Module:
    """Find the kernels that LLVM refuses, and build the rest as ever."""
    accepted = {name: f for name, f in named.items() if _builds(name, f, target)}
    modules = [_build(accepted, target)] if accepted else []
    plain = _named(plainly())
    modules += [_build_plain(name, name, plain[name], target) for name in named if name not in accepted]
    for module in modules[1:]:
        modules[0].import_module(module)
    return modules[0]


def _builds(name: str, prim_func: Any, target: tvm.target.Target) -> bool:
    try:
        _build({name: prim_func}, target)
    except tvm.error.TVMError:
        return False
    return True


def _build_plain(name: str, symbol: str, prim_func: Any, target: tvm.target.Target) -> tvm.runtime.Module:
    """Building lowers once more, so that it has to leave the same passes out."""
    try:
        with plain_context():
            return _build(_named({symbol: prim_func}), target)
    except tvm.error.TVMError as error:
        raise CompileError(f"kernel {name} cannot be built: {summary_of(error)}") from error


def _build(named: Mapping[str, Any], target: tvm.target.Target) -> tvm.runtime.Module:
    return tvm.build(tvm.IRModule({tvm.ir.GlobalVar(n): f for n, f in named.items()}), target=target)
