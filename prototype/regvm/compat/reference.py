"""What stands in the reference's place: its names, its texts, its leniency.

Over the register VM's own classes these differ where programs of the reference depend on it: an executable
describes itself in the reference's words, and types of arguments are left to the kernels, which check them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tvm

from regvm import api
from regvm.compat import compiler, executor, listing
from regvm.errors import ArgumentError
from regvm.runtime import machine


class Executable(api.Executable):
    """An executable that describes itself in the reference's words."""

    @staticmethod
    def of(executable: api.Executable) -> Executable:
        """The same program under the reference's interface."""
        return Executable(executable.program, executable.lib, executable.notes)

    @property
    def bytecode(self) -> str:
        """The listing in the reference's terms."""
        return listing.show_bytecode(self.program)

    @property
    def primitive_ops(self) -> list[str]:
        """The kernels' names as the reference has them."""
        return [listing.PRIMITIVE_PREFIX + k.name for k in self.program.kernels]

    @property
    def primitives(self) -> str:  # type: ignore[override]  # The reference gives a text.
        """The kernels, a line each."""
        return listing.show_primitives(self.primitive_ops)

    @property
    def constants(self) -> str:  # type: ignore[override]  # The reference gives a text.
        """The constants, a line each."""
        return listing.show_constants(self.program.constants)

    @property
    def virtual_devices(self) -> str:  # type: ignore[override]  # The reference gives a text.
        """The devices, a line each: the CPU."""
        return "VM VirtualDevice[0]: device type 1, id 0 and mem_scope \n"

    @property
    def globals(self) -> list[str]:  # type: ignore[override]  # The reference gives a list.
        """The functions' names by number."""
        return [f.name for f in self.program.functions]

    @staticmethod
    def load_exec(bytecode: Any, lib: Any) -> Executable:
        """The executable of ``save``. Raises TypeError for arguments of another type."""
        if not isinstance(bytecode, bytes | bytearray):
            raise TypeError(f"bytecode is expected to be a bytearray, but is a {type(bytecode).__name__}")
        if lib is not None and not isinstance(lib, tvm.runtime.Module):
            raise TypeError(f"lib is expected to be a tvm.runtime.Module, but is a {type(lib).__name__}")
        return Executable.of(api.Executable.load_exec(bytecode, lib))


class VirtualMachine(machine.VirtualMachine):
    """A machine that takes tensors of any type, and a tuple of one for a tensor, as the reference's does."""

    def __init__(self, exe: Any, device: Any, memory_cfg: Any = None) -> None:
        if not isinstance(exe, api.Executable):
            raise TypeError(f"exe is expected to be an Executable, but is a {type(exe).__name__}")
        if memory_cfg not in (None, "naive", "pooled") and not isinstance(memory_cfg, dict):
            raise ArgumentError(
                f"memory_cfg is 'naive', 'pooled' or a dictionary by device, not {memory_cfg!r}"
            )
        super().__init__(exe, device, memory_cfg, strict=False)


class VMCompiler(compiler.VMCompiler):
    """The compiler in steps."""

    def get_exec(self) -> Executable:
        """The executable."""
        return Executable.of(super().get_exec())


def compile(
    mod: Any,
    target: Any = None,
    target_host: Any = None,
    params: Mapping[str, Any] | None = None,
) -> Executable:
    """``regvm.compile`` under the reference's interface."""
    return Executable.of(api.compile(mod, target, target_host, params))


class VMExecutor(executor.VMExecutor):
    """The executor over these classes."""

    compile = staticmethod(compile)
    machine = VirtualMachine


def create_executor(
    kind: str = "debug",
    mod: Any = None,
    device: Any = None,
    target: Any = "llvm",
    params: Mapping[str, Any] | None = None,
) -> Any:
    """``relay.create_executor`` with this VMExecutor for the kind "vm"."""
    if kind == executor.VM:
        return VMExecutor(mod, tvm.cpu() if device is None else device, target, params)
    return executor.create_executor(kind, mod, device, target, params)
