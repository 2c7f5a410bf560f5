"""Each engine behind one shape: compile a program, then bind the arguments of its calls.

Two ways of calling are measured, the same for each engine that has them: ``invoke`` takes arguments and gives the
result; ``run`` has its arguments set before, and leaves the result where it is, as ``benchmark`` measures it.
"""

from __future__ import annotations

import functools
import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import tvm
from scripts.bench import bound as replaying
from scripts.bench.workloads import (
    BOUND,
    GRAPH,
    INTERPRETER,
    NATIVE,
    REFERENCE,
    RELAX,
    TENSORFLOW,
    Arguments,
    Loaded,
)
from tvm import relay

import regvm
from regvm.native import machine_code
from regvm.native.lowering import lower
from regvm.runtime.kernels import arguments as regvm_arguments
from regvm.runtime.kernels.native import dtype_word
from relay_conformance.executors.lowering import build
from relay_conformance.executors.relax_vm import RelaxExecutor
from relay_conformance.executors.tvm_vm import TVMVirtualMachineExecutor

Call = Callable[[], Any]


@dataclass(frozen=True)
class Bound:
    """``result`` gives what the last ``invoke`` gave, as arrays; ``figures`` are counted, not timed."""

    invoke: Call
    run: Call | None
    result: Callable[[], list[Any]]
    figures: dict[str, int] = field(default_factory=dict)


class Compiled(Protocol):
    """A compiled program."""

    def bind(self, calls: Sequence[Arguments]) -> Bound: ...

    def figures(self) -> dict[str, float]:
        """Counts that don't depend on arguments."""
        ...


def _each(calls: Sequence[Call]) -> Call:
    """One call as it is, several one after the other."""
    if len(calls) == 1:
        return calls[0]

    def run() -> Any:
        return [call() for call in calls]

    return run


def _on_device(calls: Sequence[Arguments]) -> list[list[Any]]:
    return [[tvm.nd.array(a) for a in arguments] for arguments in calls]


def arrays(result: Any) -> list[Any]:
    """The arrays of a result, depth first."""
    if hasattr(result, "numpy"):
        return [result.numpy()]
    if isinstance(result, np.ndarray | np.generic):
        return [np.asarray(result)]
    return [a for n in range(len(result)) for a in arrays(result[n])]


def digest(found: Sequence[Any]) -> str:
    """Equal just if types and bytes are."""
    total = hashlib.sha256()
    for array in found:
        total.update(f"{array.dtype}{array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


@dataclass(frozen=True)
class _Machines:
    """Machines with the interface of TVM's VirtualMachine."""

    make: Callable[[], Any]
    counts: dict[str, float]

    def bind(self, calls: Sequence[Arguments]) -> Bound:
        machine = self.make()
        given = _on_device(calls)
        invoke = _each([functools.partial(machine.invoke, "main", *a) for a in given])
        run = None
        if len(given) == 1:
            other = self.make()
            other.set_input("main", *given[0])
            run = functools.partial(other.invoke_stateful, "main")
        return Bound(invoke, run, lambda: arrays(invoke()))

    def figures(self) -> dict[str, float]:
        return self.counts


def _register_machine(loaded: Loaded, engine: str) -> Compiled:
    executable = build(lambda: regvm.compile(loaded.program.module, params=dict(loaded.program.params)))
    counts: dict[str, float] = {
        "instructions": sum(len(f.instructions) for f in executable.functions),
        "registers": max(f.num_registers for f in executable.functions),
    }
    if engine == "native":
        counts["codegen_s"] = _codegen_s(executable.program)
    return _Machines(lambda: regvm.VirtualMachine(executable, tvm.cpu(), engine=engine), counts)


def _codegen_s(program: Any) -> float:
    """Processor time from bytecode to machine code, without the support, which is compiled once a process."""
    machine_code.compiled_support()
    start = time.process_time()
    machine_code.compiled_program(lower(program, dtype_word))
    return time.process_time() - start


def _reference(loaded: Loaded) -> Compiled:
    compiled = TVMVirtualMachineExecutor().compile(loaded.program, "llvm")
    figures = compiled.figures()
    counts: dict[str, float] = {
        "instructions": figures.instructions or 0,
        "registers": max(figures.registers.values(), default=0),
    }
    return _Machines(lambda: tvm.runtime.vm.VirtualMachine(compiled.executable, tvm.cpu()), counts)


@dataclass(frozen=True)
class _Replayed:
    executable: Any

    def bind(self, calls: Sequence[Arguments]) -> Bound:
        program = self.executable.program
        number = program.index_of()["main"]
        parameters = program.functions[number].parameters
        replays = []
        for arguments in _on_device(calls):
            values = [
                regvm_arguments.to_value(a, p, "main") for a, p in zip(arguments, parameters, strict=True)
            ]
            replays.append(replaying.Replay(replaying.trace(program, self.executable.lib, number, values)))
        invoke = _each(replays)
        traces = [r.trace for r in replays]

        def result() -> list[Any]:
            invoke()
            found = [arrays(regvm_arguments.to_user(t.result)) for t in traces]
            return [a for one in found for a in one]

        counts = {
            "executed_instructions": sum(t.instructions for t in traces),
            "kernel_calls": sum(len(t.order) for t in traces),
            "owned_tensors": sum(t.allocations for t in traces),
        }
        return Bound(invoke, invoke, result, counts)

    def figures(self) -> dict[str, float]:
        return {"kernels": len(self.executable.program.kernels)}


def _bound(loaded: Loaded) -> Compiled:
    return _Replayed(build(lambda: regvm.compile(loaded.program.module, params=dict(loaded.program.params))))


@dataclass(frozen=True)
class _Graph:
    library: Any
    names: tuple[str, ...]

    def bind(self, calls: Sequence[Arguments]) -> Bound:
        from tvm.contrib.graph_executor import GraphModule

        (given,) = _on_device(calls)
        module = GraphModule(self.library["default"](tvm.cpu()))
        outputs = range(module.get_num_outputs())
        named = list(zip(self.names, given, strict=True))

        def invoke() -> Any:
            for name, array in named:
                module.set_input(name, array)
            module.run()
            return [module.get_output(n) for n in outputs]

        invoke()
        return Bound(invoke, module.run, lambda: arrays(invoke()))

    def figures(self) -> dict[str, float]:
        return {}


def _graph(loaded: Loaded) -> Compiled:
    program = loaded.program
    library = build(lambda: relay.build(program.module, "llvm", params=dict(program.params)))
    return _Graph(library, tuple(i.name for i in program.inputs))


@dataclass(frozen=True)
class _Relax:
    executable: Any

    def bind(self, calls: Sequence[Arguments]) -> Bound:
        from tvm import relax

        (given,) = _on_device(calls)
        machine = relax.VirtualMachine(self.executable, tvm.cpu())
        invoke = functools.partial(machine["main"], *given)
        machine.set_input("main", *given)
        run = functools.partial(machine.invoke_stateful, "main")
        return Bound(invoke, run, lambda: arrays(invoke()))

    def figures(self) -> dict[str, float]:
        return {}


def _relax(loaded: Loaded) -> Compiled:
    return _Relax(RelaxExecutor().compile(loaded.program, "llvm").executable)


@dataclass(frozen=True)
class _Session:
    graph: Any

    def bind(self, calls: Sequence[Arguments]) -> Bound:
        from relay_conformance.tensorflow_import.loading import tensorflow

        tf = tensorflow()
        graph = tf.Graph()
        with graph.as_default():
            tf.import_graph_def(self.graph.graph_def, name="")
        session = tf.compat.v1.Session(graph=graph)
        call = session.make_callable(
            [graph.get_tensor_by_name(name) for name in self.graph.outputs],
            feed_list=[graph.get_tensor_by_name(f"{i.name}:0") for i in self.graph.inputs],
        )
        invoke = _each([functools.partial(call, *arguments) for arguments in calls])
        return Bound(invoke, None, lambda: arrays(invoke()))

    def figures(self) -> dict[str, float]:
        return {}


def _session(loaded: Loaded) -> Compiled:
    assert loaded.graph is not None
    return _Session(loaded.graph())


COMPILERS: dict[str, Callable[[Loaded], Compiled]] = {
    NATIVE: lambda loaded: _register_machine(loaded, "native"),
    INTERPRETER: lambda loaded: _register_machine(loaded, "interpreter"),
    BOUND: _bound,
    REFERENCE: _reference,
    GRAPH: _graph,
    RELAX: _relax,
    TENSORFLOW: _session,
}
