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
    """``prepare`` gives the function that runs ``main`` on TVM's tensors."""

    prepare: Callable[[], Callable[..., Any]]
    call: Callable[..., Any]
    builds_when_called: bool

    def bind(self, inputs: Sequence[Array]) -> Callable[[], Any]:
        arguments = [tvm.nd.array(array, tvm.cpu()) for array in inputs]
        call = build(lambda: self._called_once(arguments)) if self.builds_when_called else self.call
        return lambda: call(*arguments)

    def figures(self) -> Figures:
        return Figures()

    def _called_once(self, arguments: Sequence[Any]) -> Callable[..., Any]:
        """What lowers and what builds a kernel must see the same options, so both are done here."""
        call = self.prepare()
        call(*arguments)
        return call


@dataclass(frozen=True)
class RelayExecutor:
    """``kind`` is what ``relay.create_executor`` calls it."""

    name: str
    kind: str

    def compile(self, program: Program, target: str) -> RelayExecutable:
        main = relay.build_module.bind_params_by_name(program.module["main"], dict(program.params))
        module = tvm.IRModule(program.module.functions, program.module.type_definitions)
        module["main"] = main

        def prepare() -> Callable[..., Any]:
            function: Callable[..., Any] = relay.create_executor(
                self.kind, module, tvm.cpu(), target
            ).evaluate()
            return function

        return RelayExecutable(prepare, build(prepare), builds_when_called=self.kind == "debug")
