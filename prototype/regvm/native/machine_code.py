"""LLVM assembly to machine code in this process.

The same text is compiled once: machines of one executable share their code, which holds no address and no state.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from regvm.native import support

_SPEED = 1
"""Optimisation level: kernels do the work, and code must be there quickly."""

_CACHED = 32


@dataclass(frozen=True)
class MachineCode:
    """Compiled code; it lives as long as this object."""

    engine: Any

    def address(self, name: str) -> int:
        """Where a function is."""
        return int(self.engine.get_function_address(name))

    def variable(self, name: str) -> int:
        """Where a global variable is."""
        return int(self.engine.get_global_value_address(name))


@functools.lru_cache(maxsize=1)
def compiled_support() -> MachineCode:
    """The run-time support; programs that are compiled from now on find its functions by name."""
    _initialise()
    code = _compile(support.module())
    for name in support.exported():
        llvm.add_symbol(name, code.address(name))
    return code


@functools.lru_cache(maxsize=_CACHED)
def compiled_program(text: str) -> MachineCode:
    """Compile a program. Raises RuntimeError for text that LLVM refuses, which is a defect of the generator."""
    compiled_support()
    return _compile(text)


def object_code(text: str) -> bytes:
    """An object file for any processor of this machine's family, to be linked into a shared object."""
    _initialise()
    machine = llvm.Target.from_default_triple().create_target_machine(
        opt=_SPEED, reloc="pic", codemodel="default"
    )
    return bytes(machine.emit_object(_optimised(text, machine)))


def _initialise() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()


def _compile(text: str) -> MachineCode:
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), opt=_SPEED, jit=True
    )
    engine = llvm.create_mcjit_compiler(_optimised(text, machine), machine)
    engine.finalize_object()
    return MachineCode(engine)


def _optimised(text: str, machine: Any) -> Any:
    """A module after a short pipeline: a program is mostly calls, so that the usual one takes long and finds little."""
    module = llvm.parse_assembly(text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.run(
        module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=_SPEED))
    )
    return module
