"""``relax-vm``: TVM's Relax VM, for programs without control flow, through TVM's translator from Relay."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from relay_conformance.executors.lowering import OPT_LEVEL, build
from relay_conformance.executors.protocol import Figures
from relay_conformance.program import Array, Program
from relay_conformance.tvm_api import tvm


@dataclass(frozen=True)
class RelaxExecutable:
    executable: Any

    def bind(self, inputs: Sequence[Array]) -> Callable[[], Any]:
        from tvm import relax

        machine = relax.VirtualMachine(self.executable, tvm.cpu())
        arguments = [tvm.nd.array(array, tvm.cpu()) for array in inputs]
        return lambda: machine["main"](*arguments)

    def figures(self) -> Figures:
        return Figures()


@dataclass(frozen=True)
class RelaxExecutor:
    name: str = "relax-vm"

    def compile(self, program: Program, target: str) -> RelaxExecutable:
        # Relax registers its passes and operators on import; nobody else should pay for that.
        from tvm import relax
        from tvm.relax.testing.relay_translator import from_relay

        weights = {name: tvm.nd.array(array) for name, array in program.params.items()}

        def compile_program() -> Any:
            module = from_relay(program.module["main"], target, relay_params=weights, opt_level=OPT_LEVEL)
            return relax.build(module, target)

        return RelaxExecutable(build(compile_program))
