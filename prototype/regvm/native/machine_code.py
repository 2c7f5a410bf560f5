"""LLVM assembly to machine code in this process.

The same text is compiled once: machines of one executable share their code, which holds no address and no state.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

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
def _initialise() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@functools.lru_cache(maxsize=_CACHED)
def compile_assembly(text: str) -> MachineCode:
    """Compile a module. Raises RuntimeError for text that LLVM refuses, which is a defect of the generator."""
    _initialise()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), opt=_SPEED, jit=True
    )
    module = llvm.parse_assembly(text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=_SPEED))
    builder.getModulePassManager().run(module, builder)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return MachineCode(engine)
