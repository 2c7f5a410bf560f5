"""A frozen TensorFlow graph with its inputs and outputs by name, and how to run it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from relay_conformance.errors import BadArgumentError, BadInputError
from relay_conformance.execution import median_seconds
from relay_conformance.program import Array, TensorSpec, one_line
from relay_conformance.tensorflow_import.loading import tensorflow
from relay_conformance.values import Outputs, outputs_from_arrays

_PLACEHOLDERS = ("Placeholder", "PlaceholderWithDefault")


@dataclass(frozen=True)
class GraphModel:
    """``graph_def`` holds no variables; ``outputs`` are tensor names such as ``out:0``."""

    graph_def: Any
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[str, ...]


def graph_model(
    graph_def: Any, outputs: tuple[str, ...] | None = None, batch: int | None = None
) -> GraphModel:
    """Read inputs and outputs off a frozen graph; an unknown first dimension becomes ``batch``.

    ``outputs`` defaults to the last operation that gives a tensor.

    Raises:
        BadInputError: the graph has no outputs, holds variables, or doesn't import into this TensorFlow.
        BadArgumentError: an output does not exist.
    """
    variables = sorted({node.op for node in graph_def.node if node.op in ("VarHandleOp", "VariableV2")})
    if variables:
        raise BadInputError(f"the graph holds variables ({', '.join(variables)}); freeze them into constants")
    shaped = with_shapes(_with_batch(graph_def, batch))
    graph = _as_graph(shaped)
    operations = [
        operation for operation in graph.get_operations() if operation.outputs and operation.type != "NoOp"
    ]
    if not operations:
        raise BadInputError("graph: it has no outputs; give a graph with at least one operation")
    names = outputs or (operations[-1].outputs[0].name,)
    return GraphModel(shaped, _inputs(graph), tuple(_tensor_name(graph, name) for name in names))


def with_shapes(graph_def: Any) -> Any:
    """The graph with the inferred shape of every tensor written down, which the importers rely on."""
    return _as_graph(graph_def).as_graph_def(add_shapes=True)


def run_graph(model: GraphModel, feed: Mapping[str, Array], repeats: int) -> tuple[Outputs, float]:
    """TensorFlow's own outputs, and the median time in seconds of ``repeats`` runs after a first one.

    Raises:
        BadInputError: TensorFlow refuses the inputs or fails on them.
    """
    tf = tensorflow()
    graph = _as_graph(model.graph_def)
    tensors = [graph.get_tensor_by_name(name) for name in model.outputs]
    feed_by_tensor = {f"{name}:0": array for name, array in feed.items()}
    with tf.compat.v1.Session(graph=graph) as session:
        # A prepared call leaves out the parsing of names and feeds, which the machines don't pay either.
        call = session.make_callable(tensors, feed_list=[graph.get_tensor_by_name(n) for n in feed_by_tensor])
        try:
            arrays = call(*feed_by_tensor.values())
        except tf.errors.OpError as error:
            raise BadInputError(f"TensorFlow itself fails on this model: {one_line(error)}") from error
        latency = median_seconds(lambda: call(*feed_by_tensor.values()), repeats)
    return outputs_from_arrays(arrays), latency


def _as_graph(graph_def: Any) -> Any:
    tf = tensorflow()
    with tf.Graph().as_default() as graph:
        try:
            tf.import_graph_def(graph_def, name="")
        except (ValueError, tf.errors.OpError) as error:
            raise BadInputError(f"TensorFlow can't read the graph: {one_line(error)}") from error
    return graph


def _with_batch(graph_def: Any, batch: int | None) -> Any:
    copy = type(graph_def)()
    copy.CopyFrom(graph_def)
    for node in copy.node:
        if node.op in _PLACEHOLDERS and batch is not None:
            dimensions = node.attr["shape"].shape.dim
            if dimensions and dimensions[0].size < 0:
                dimensions[0].size = batch
    return copy


def _inputs(graph: Any) -> tuple[TensorSpec, ...]:
    return tuple(
        _spec(operation.outputs[0]) for operation in graph.get_operations() if operation.type in _PLACEHOLDERS
    )


def _spec(tensor: Any) -> TensorSpec:
    if tensor.shape.rank is None:
        raise BadInputError(f"input {tensor.op.name} has no known rank; give the placeholder a shape")
    return TensorSpec(tensor.op.name, tuple(tensor.shape.as_list()), tensor.dtype.name)


def _tensor_name(graph: Any, name: str) -> str:
    full = name if ":" in name else f"{name}:0"
    try:
        found: str = graph.get_tensor_by_name(full).name
    except (KeyError, ValueError):
        last = [operation.name for operation in graph.get_operations() if operation.outputs][-3:]
        raise BadArgumentError(
            "outputs", f"the graph has no tensor {full}; its last ones are {', '.join(last)}"
        ) from None
    return found
