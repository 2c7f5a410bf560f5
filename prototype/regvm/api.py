"""What users call: compile a module, hold and save the executable, evaluate an expression.

Named and shaped like ``tvm.relay.vm`` and ``tvm.runtime.vm``, so that changing the import is enough.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from regvm import binary, bundle, compiler, verifier
from regvm.executable import Constant, Function, Program
from regvm.frontend import kernels, source, translate
from regvm.native import availability
from regvm.runtime.kernels import library
from regvm.runtime.machine import VirtualMachine
from regvm.text import listing

# The runtime is below the native engine and must not import it, so the two are joined here.
availability.register()


@dataclass(frozen=True)
class Executable:
    """A verified program with the library of its kernels; immutable, and shared by any number of machines.

    ``notes`` says what the compiler had to leave out, such as an optimisation that failed.
    """

    program: Program
    lib: Any
    notes: tuple[str, ...] = ()

    @property
    def functions(self) -> tuple[Function, ...]:
        """Each with name, params, num_registers, instructions, storage_bytes and max_live."""
        return self.program.functions

    @cached_property
    def bytecode(self) -> str:
        """The listing."""
        return listing.show_program(self.program)

    @property
    def stats(self) -> str:
        """Counts, a line each."""
        return listing.show_stats(self.program)

    @property
    def constants(self) -> tuple[Constant, ...]:
        """The constant pool."""
        return self.program.constants

    @property
    def primitives(self) -> tuple[str, ...]:
        """The kernels' names by number."""
        return tuple(k.name for k in self.program.kernels)

    @property
    def globals(self) -> tuple[str, ...]:
        """The functions' names by number."""
        return tuple(f.name for f in self.program.functions)

    def get_function_params(self, func_name: str) -> list[str]:
        """The names of a function's parameters."""
        return list(self.program.functions[self.program.index_of()[func_name]].params)

    def save(self) -> tuple[bytearray, Any]:
        """The program's bytes, and the kernel library as it is."""
        return bytearray(binary.encode(self.program)), self.lib

    @staticmethod
    def load_exec(bytecode: bytes | bytearray, lib: Any) -> Executable:
        """The executable of ``save``. Raises FormatError or VerificationError for bytes that are none."""
        program = binary.decode(bytes(bytecode))
        verifier.assert_verified(program)
        return Executable(program, lib)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write program and kernels to one file, for ``load``."""
        texts = library.to_text(self.lib) if self.lib is not None else []
        bundle.write(path, binary.encode(self.program), texts)


def load(path: str | os.PathLike[str]) -> Executable:
    """The executable that ``export`` wrote. Raises FormatError for another file."""
    code, texts = bundle.read(path)
    return Executable.load_exec(code, library.from_text(texts) if texts else None)


def compile(
    mod: Any,
    target: Any = "llvm",
    target_host: Any = None,
    params: Mapping[str, Any] | None = None,
    *,
    check: bool = False,
    register_limit: int | None = None,
) -> Executable:
    """Compile a Relay module or function under the current PassContext.

    ``params`` binds parameters of ``main`` by name. ``check`` proves the allocation and the storage plan of
    every function. ``register_limit`` is the most registers that a function may use; beyond it values are spilled.

    Raises CompileError for a module that is ill-typed or that a required pass refuses, or for a limit that is too
    small, and UnsupportedError for a construct that the register VM lacks; both name the place.
    """
    lowered = source.lower(mod, target, target_host, params)
    module, prim_funcs = translate.translate(lowered.module)
    program = compiler.generate(module, compiler.Options(check=check, register_limit=register_limit))
    return Executable(program, kernels.build(prim_funcs, lowered.target), lowered.notes)


class VMExecutor:
    """Evaluates the functions of a module on the register VM; shaped like the reference's executor."""

    def __init__(self, mod: Any, device: Any = None, target: Any = "llvm", *, engine: str = "auto") -> None:
        self.mod = source.as_module(mod)
        self.device = device
        self.target = target
        self._engine = engine

    def evaluate(self, expr: Any = None) -> Callable[..., Any]:
        """A function of ``main``'s arguments, by position or by name; of ``expr`` instead if it is given."""
        mod = self.mod if expr is None else source.with_main(self.mod, expr)
        machine = VirtualMachine(compile(mod, self.target), self.device, engine=self._engine)

        def run(*args: Any, **kwargs: Any) -> Any:
            if args or kwargs:
                machine.set_input("main", *args, **kwargs)
            return machine.invoke("main")

        return run


def create_executor(
    mod: Any = None, device: Any = None, target: Any = "llvm", *, engine: str = "auto"
) -> VMExecutor:
    """An executor over a module, as ``relay.create_executor("vm", …)`` gives one."""
    return VMExecutor(mod, device, target, engine=engine)
