"""Executors as the fuzzer uses them: one module holds several programs, and each is run by its entry's name.

Most of the time goes into Relay's passes and into lowering and building kernels; programs in one module share
what they have in common. ``SimplifyExpr`` takes time that grows with the square of the module (it infers the
types of the whole module at each rewrite) and refuses valid programs, so it runs for single programs only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from relay_conformance.executors import registry
from relay_conformance.executors.lowering import OPT_LEVEL, RETRY_OPTIONS
from relay_conformance.program import Array, program_from_module
from relay_conformance.tvm_api import regvm, relay, tvm

QUADRATIC_PASSES = ("SimplifyExpr", "SimplifyExprPostAlterOp")
_LLVM_REFUSAL = "#dbg_declare"
Invoke = Callable[[str, Sequence[Array]], Any]


class Engine(Protocol):
    """Must pickle. ``batches``: whether functions other than ``main`` can be run."""

    @property
    def name(self) -> str: ...

    @property
    def batches(self) -> bool: ...

    def compile(self, module: Any) -> Invoke:
        """What runs a function of the module by name on arrays."""
        ...


@dataclass(frozen=True)
class RegisterVMEngine:
    name: str = "regvm"
    engine: str = "interpreter"
    batches: bool = True

    def compile(self, module: Any) -> Invoke:
        return bind(regvm.compile(module, check=True), self.engine)


def bind(executable: Any, engine: str = "interpreter") -> Invoke:
    """What runs the functions of a ``regvm`` executable; each call on a machine of its own."""

    def invoke(function: str, arguments: Sequence[Array]) -> Any:
        machine = regvm.VirtualMachine(executable, tvm.cpu(), engine=engine)
        return machine.invoke(function, *map(tvm.nd.array, arguments))

    return invoke


@dataclass(frozen=True)
class ReferenceEngine:
    name: str = "tvm-vm"
    batches: bool = True

    def compile(self, module: Any) -> Invoke:
        executable = self._executable(module)

        def invoke(function: str, arguments: Sequence[Array]) -> Any:
            # Frames of a call that failed stay on the reference's stack, so each call gets a new machine.
            machine = tvm.runtime.vm.VirtualMachine(executable, tvm.cpu())
            return machine.invoke(function, *map(tvm.nd.array, arguments))

        return invoke

    @staticmethod
    def _executable(module: Any) -> Any:
        try:
            return relay.vm.compile(module, target="llvm")
        except tvm.TVMError as error:
            if _LLVM_REFUSAL not in str(error):
                raise
        context = tvm.transform.PassContext.current()
        options = {**dict(context.config), **RETRY_OPTIONS}
        disabled = list(context.disabled_pass)
        with tvm.transform.PassContext(context.opt_level, disabled_pass=disabled, config=options):
            return relay.vm.compile(module, target="llvm")


@dataclass(frozen=True)
class RegisteredEngine:
    """Any other registered executor; it can run ``main`` only."""

    name: str
    batches: bool = False

    def compile(self, module: Any) -> Invoke:
        executable = registry.get(self.name).compile(program_from_module(module), "llvm")
        return lambda _, arguments: executable.bind(arguments)()


def get(name: str) -> Engine:
    """The engine of an executor. Raises BadArgumentError for a name that is not registered."""
    match name:
        case "regvm":
            return RegisterVMEngine()
        case "regvm-native":
            return RegisterVMEngine(name, "native")
        case "tvm-vm":
            return ReferenceEngine()
        case _:
            registry.get(name)
            return RegisteredEngine(name)


def pass_context(alone: bool) -> Any:
    """The passes of opt level 3; all of them for a program that is ``alone``."""
    disabled = [] if alone else list(QUADRATIC_PASSES)
    return tvm.transform.PassContext(opt_level=OPT_LEVEL, disabled_pass=disabled)
