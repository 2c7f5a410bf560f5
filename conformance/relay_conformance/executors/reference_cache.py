"""Compile for TVM's VM with the kernels of the cache that regvm has.

The reference's own compiler makes the bytecode, and its own VM loads and runs it: only the kernels come from
elsewhere. They are those of regvm, to the byte, because both have the same PrimFuncs.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from regvm.cache import compilations, kernels, settings
from relay_conformance.tvm_api import relay, tvm

COMPILER = "tvm-vm"


def compile_reference(module: Any, target: str, params: Mapping[str, Any]) -> Any:
    """What ``relay.vm.compile`` gives under the current PassContext: a ``tvm.runtime.vm.Executable``."""
    chosen = tvm.target.Target(target, host=target)
    key = compilations.key_of(COMPILER, module, chosen, params)
    kept = compilations.find(key)
    if kept is not None:
        return _load(kept)
    compiler = relay.vm.VMCompiler()
    if params:
        compiler.set_params(dict(params))
    if settings.read().mode is settings.Mode.OFF:
        prim_funcs = {}
        compiler.lower(module, target)
    else:
        prim_funcs = _lower(compiler, module, target)
    if not prim_funcs:
        compiler.codegen()
        return compiler.get_exec()
    code = _bytecode(compiler)
    compilation = compilations.Compilation(code, kernels.build(prim_funcs, chosen, _give_up))
    compilations.keep(key, compilation)
    return _load(compilation)


def _give_up() -> Mapping[str, Any]:
    """LLVM's refusal, which is being handled, goes on to ``lowering.build``, which compiles the whole again."""
    raise


def _load(compilation: compilations.Compilation) -> Any:
    return tvm.runtime.vm.Executable.load_exec(bytearray(compilation.code), compilation.library.module)


@tvm.instrument.pass_instrument
class _LastModule:
    """The compiler keeps its lowered module to itself; the last pass to end is the whole sequence, and sees it."""

    def __init__(self) -> None:
        self.module: Any = None

    def run_after_pass(self, module: Any, info: Any) -> None:
        del info
        self.module = module


def _lower(compiler: Any, module: Any, target: str) -> dict[str, Any]:
    """Lower to bytecode; returns the kernels by the names that the bytecode calls them by."""
    context = tvm.transform.PassContext.current()
    last = _LastModule()
    with tvm.transform.PassContext(
        opt_level=context.opt_level,
        required_pass=list(context.required_pass),
        disabled_pass=list(context.disabled_pass),
        instruments=[*context.instruments, last],
        config=dict(context.config),
    ):
        compiler.lower(module, target)
    functions = last.module.functions_items()
    return {
        str(function.attrs["global_symbol"]): function
        for _, function in functions
        if isinstance(function, tvm.tir.PrimFunc)
    }


def _bytecode(compiler: Any) -> bytes:
    with _quiet():
        executable = compiler.get_exec()
    return bytes(executable.save()[0])


@contextmanager
def _quiet() -> Iterator[None]:
    """TVM warns on the process's standard error that there are no kernels, which is as it should be here."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
