"""``regvm`` and ``regvm-native``: the register VM, interpreted and as machine code."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from relay_conformance.errors import UnavailableExecutorError
from relay_conformance.executors.lowering import build
from relay_conformance.executors.protocol import Figures
from relay_conformance.program import Array, Program
from relay_conformance.tvm_api import regvm, tvm


@dataclass
class RegisterVMExecutable:
    executable: Any
    engine: str
    _machine: Any = field(default=None, init=False)

    def bind(self, inputs: Sequence[Array]) -> Callable[[], Any]:
        device = tvm.cpu()
        machine = regvm.VirtualMachine(self.executable, device=device, engine=self.engine)
        self._machine = machine
        arguments = [tvm.nd.array(array, device) for array in inputs]
        return lambda: machine.invoke("main", *arguments)

    def figures(self) -> Figures:
        functions = self.executable.functions
        return Figures(
            registers={function.name: int(function.num_registers) for function in functions},
            max_live={function.name: int(function.max_live) for function in functions},
            instructions=sum(len(function.instructions) for function in functions),
            peak_intermediate_bytes=None
            if self._machine is None
            else int(self._machine.peak_intermediate_bytes),
        )


@dataclass(frozen=True)
class RegisterVMExecutor:
    name: str = "regvm"
    engine: str = "interpreter"

    def compile(self, program: Program, target: str) -> RegisterVMExecutable:
        if self.engine == "native" and find_spec("regvm.native") is None:
            raise UnavailableExecutorError(
                f"executor {self.name}: this regvm has no native engine; use the executor regvm"
            )
        # regvm mends the kernels that LLVM refuses itself; the optimisation level must be the reference's.
        executable = build(lambda: regvm.compile(program.module, target=target, params=dict(program.params)))
        return RegisterVMExecutable(executable, self.engine)
