"""``check_equal``: one TensorFlow graph, several machines, one verdict."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from relay_conformance import executors as registry
from relay_conformance.bisection import first_difference
from relay_conformance.comparison import bit_differences, tolerance_differences
from relay_conformance.errors import BadArgumentError, DisagreementError
from relay_conformance.execution import DEFAULT_TIME_LIMIT, Failure, Measurement, Stage, execute
from relay_conformance.executors.protocol import Executor
from relay_conformance.isolation import Worker, shared_worker
from relay_conformance.program import Array, Program, check_inputs
from relay_conformance.tensorflow_import.graph_model import GraphModel, graph_model
from relay_conformance.tensorflow_import.importers import import_graph
from relay_conformance.values import Outputs, outputs_from_arrays

DEFAULT_EXECUTORS = ("tvm-vm", "regvm")


def check_equal(
    graph: Any,
    tf_out: Any,
    *,
    feed: Mapping[str, Any] | None = None,
    outputs: Sequence[str] | None = None,
    executors: Sequence[str] = DEFAULT_EXECUTORS,
    time_limit: float = DEFAULT_TIME_LIMIT,
) -> None:
    """Require that the executors agree bit for bit, and that each is within tolerance of TensorFlow.

    Args:
        graph: a ``tf.Graph`` without variables. tf_out: what TensorFlow gave: an array, or a sequence of as
        many as there are outputs. feed: arrays by placeholder, such as ``{"x:0": x}``; of exactly the
        placeholder's dtype. outputs: tensor names; by default the last operation's first tensor, or, where
        ``tf_out`` is a sequence
            of several arrays, the tensors that nothing in the graph reads, in the graph's order.
        executors: names of :func:`relay_conformance.executors.names`; the first one is what the others are
            compared with.
        time_limit: seconds for compiling and for running, each, on each executor.

    Raises:
        DisagreementError: an executor fails, differs from the first one, or from TensorFlow; it says which,
            where, and by how much.
        BadArgumentError: an argument can't be used; it is named.
        UnsupportedModelError: TVM can't import the graph.
    """
    if not executors:
        raise BadArgumentError("executors", "name at least one")
    machines = [registry.get(name) for name in executors]
    expected = outputs_from_arrays(tf_out if isinstance(tf_out, list | tuple) else [tf_out])
    model = graph_model(_graph_def(graph), tuple(_output_names(graph, outputs, len(expected.arrays))))
    _check_count(model, expected)
    arrays = {name: np.asarray(array) for name, array in (feed or {}).items()}
    checked = check_inputs(model.inputs, arrays, "feed")
    program = import_graph(model)
    arguments: list[Array] = [checked[spec.name] for spec in program.inputs]
    worker = shared_worker(time_limit)
    results = [execute(worker, machine, program, arguments) for machine in machines]
    complaints = disagreements(expected, results)
    if complaints:
        complaints += _places(worker, machines, results, program, arguments)
        raise DisagreementError("; ".join(complaints))


def _places(
    worker: Worker,
    machines: Sequence[Executor],
    results: Sequence[Measurement | Failure],
    program: Program,
    arguments: Sequence[Array],
) -> list[str]:
    """For each machine that leaves the first one that gave a result, the Relay binding where it first does."""
    measured = [result for result in results if isinstance(result, Measurement)]
    if not measured:
        return []
    reference = next(machine for machine in machines if machine.name == measured[0].executor)
    found = []
    for machine, result in zip(machines, results, strict=True):
        failed = isinstance(result, Failure) and result.stage is Stage.RUN
        differs = isinstance(result, Measurement) and bit_differences(measured[0].outputs, result.outputs)
        if failed or differs:
            place = first_difference(worker, reference, machine, program, arguments)
            if place is not None:
                found.append(f"{machine.name} first leaves {reference.name} in {place}")
    return found


def disagreements(expected: Outputs, results: Sequence[Measurement | Failure]) -> list[str]:
    """Every failure, every difference from the first machine, and every one from TensorFlow."""
    complaints = [str(result) for result in results if isinstance(result, Failure)]
    measured = [result for result in results if isinstance(result, Measurement)]
    for result in measured[1:]:
        complaints += [
            f"{result.executor} differs from {measured[0].executor}: {difference}"
            for difference in bit_differences(measured[0].outputs, result.outputs)
        ]
    for result in measured:
        complaints += [
            f"{result.executor} differs from TensorFlow: {difference}"
            for difference in tolerance_differences(expected, result.outputs)
        ]
    return complaints


def _graph_def(graph: Any) -> Any:
    if not hasattr(graph, "as_graph_def"):
        raise BadArgumentError("graph", f"expected a tf.Graph, got {type(graph).__name__}")
    if not any(operation.outputs for operation in graph.get_operations()):
        raise BadArgumentError("graph", "it has no outputs; give a graph with at least one operation")
    return graph.as_graph_def(add_shapes=True)


def _output_names(graph: Any, outputs: Sequence[str] | None, count: int) -> Sequence[str]:
    if outputs is not None:
        if not outputs:
            raise BadArgumentError("outputs", "name at least one tensor")
        return outputs
    operations = [operation for operation in graph.get_operations() if operation.outputs]
    if count == 1:
        return [operations[-1].outputs[0].name]
    tensors = [tensor for operation in operations for tensor in operation.outputs]
    unread = [tensor.name for tensor in tensors if not tensor.consumers()]
    if len(unread) != count:
        raise BadArgumentError(
            "outputs",
            f"tf_out has {count} arrays, but the graph ends in {len(unread)} tensors; name them",
        )
    return unread


def _check_count(model: GraphModel, expected: Outputs) -> None:
    if len(model.outputs) != len(expected.arrays):
        raise BadArgumentError(
            "tf_out",
            f"it has {len(expected.arrays)} arrays for {len(model.outputs)} outputs; give one for each",
        )
