"""The program under translation: numbers for its functions, constants and kernels, in order of first use.

Numbers and names depend on the program only, never on addresses or on the order of TVM's maps, so that the
same module gives the same bytes in every process.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import tvm
from tvm import relay

from regvm.errors import UnsupportedError
from regvm.executable import Constant, Kernel
from regvm.frontend.bindings import Binding


@dataclass(frozen=True)
class Pending:
    """A function that has a number and awaits translation.

    A function expression has ``captured``: what its free variables stand for where it stands, over the
    registers there. Those registers become its last parameters. ``itself`` is the variable that ``let`` binds
    it to, through which it may call itself.
    """

    name: str
    function: Any
    captured: tuple[tuple[Any, Binding], ...] = ()
    itself: Any = None


@dataclass
class ProgramBuilder:
    """Hands out numbers; functions wait in ``pending`` in the order in which they got theirs."""

    module: tvm.IRModule
    pending: deque[Pending] = field(default_factory=deque)
    constants: list[Constant] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)
    prim_funcs: dict[str, Any] = field(default_factory=dict)
    _functions: dict[str, int] = field(default_factory=dict)
    _globals: dict[int, int] = field(default_factory=dict)
    _constants: dict[Constant, int] = field(default_factory=dict)
    _kernels: dict[str, int] = field(default_factory=dict)

    def add_function(self, waiting: Pending) -> int:
        """A number for a function; its name gets a suffix if it is taken."""
        name = _unique(waiting.name, self._functions)
        number = len(self._functions)
        self._functions[name] = number
        self.pending.append(Pending(name, waiting.function, waiting.captured, waiting.itself))
        return number

    def global_function(self, var: Any) -> int:
        """The number of a global function, which is translated if it is called."""
        key = var.handle.value
        if key not in self._globals:
            name = str(var.name_hint)
            function = self.module[var]
            if not isinstance(function, relay.Function):
                raise UnsupportedError(
                    f"@{name} is called as a Relay function but is a {type(function).__name__}"
                )
            attributes = function.attrs
            if attributes is not None and "Compiler" in list(attributes.keys()):
                raise UnsupportedError(
                    f"@{name} is for the external code generator {attributes['Compiler']!r}; "
                    "compile without partitioning the graph"
                )
            self._globals[key] = self.add_function(Pending(name, function))
        return self._globals[key]

    def constant(self, node: Any) -> int:
        """The number of a constant; equal constants share one."""
        data = node.data
        constant = Constant(str(data.dtype), tuple(int(d) for d in data.shape), data.numpy().tobytes())
        if constant not in self._constants:
            self._constants[constant] = len(self.constants)
            self.constants.append(constant)
        return self._constants[constant]

    def kernel(self, var: Any, num_inputs: int, num_outputs: int) -> int:
        """The number of a kernel, which gets a name of its own in order of first use."""
        lowered_name = str(var.name_hint)
        if lowered_name not in self._kernels:
            prim_func = self.module[var]
            if not isinstance(prim_func, tvm.tir.PrimFunc):
                raise UnsupportedError(f"kernel {lowered_name} comes from an external code generator")
            stem = lowered_name.removeprefix("vm_mod_").rstrip("0123456789").removesuffix("_")
            name = _unique(stem or "kernel", self.prim_funcs)
            self._kernels[lowered_name] = len(self.kernels)
            self.kernels.append(Kernel(name, num_inputs, num_outputs))
            self.prim_funcs[name] = prim_func
        return self._kernels[lowered_name]


def _unique(name: str, taken: Any) -> str:
    candidate, count = name, 0
    while candidate in taken:
        count += 1
        candidate = f"{name}_{count}"
    return candidate
