"""``tvm-debug``, Relay's own interpreter, and ``tvm-graph``, the graph executor."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from relay_conformance.executors.lowering import build
from relay_conformance.executors.protocol import Figures
from relay_conformance.program import Array, Program
from relay_conformance.tvm_api import relay, tvm


@dataclass(frozen=True)
class RelayExecutable:
    call: Callable[..., Any]

    def bind(self, inputs: Sequence[Array]) -> Callable[[], Any]:
        arguments = [tvm.nd.array(array, tvm.cpu()) for array in inputs]
        # The interpreter lowers the program anew in each call, so the options must be there too.
        return lambda: build(lambda: self.call(*arguments))

    def figures(self) -> Figures:
        return Figures()


@dataclass(frozen=True)
class RelayExecutor:
    """``kind`` is what ``relay.create_executor`` calls it."""

    name: str
    kind: str

    def compile(self, program: Program, target: str) -> RelayExecutable:
        main = relay.build_module.bind_params_by_name(program.module["main"], dict(program.params))
        module = tvm.IRModule(program.module.functions, program.module.type_definitions)
        module["main"] = main
        return RelayExecutable(
            build(lambda: relay.create_executor(self.kind, module, tvm.cpu(), target).evaluate())
        )
