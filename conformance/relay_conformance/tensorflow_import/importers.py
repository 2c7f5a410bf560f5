"""Choose one of TVM's two TensorFlow importers by the graph's operators, and call it.

``relay.frontend.tensorflow`` knows control flow as Switch, Merge, Enter, Exit and NextIteration, and
TensorArray; ``relay.frontend.tensorflow2`` knows it as If and While with functions, and TensorList. Neither
knows the other's.
"""

from enum import Enum
from typing import Any

from relay_conformance.errors import UnsupportedModelError
from relay_conformance.program import Program, one_line, program_from_module
from relay_conformance.tensorflow_import.graph_model import GraphModel
from relay_conformance.tensorflow_import.repairs import repaired
from relay_conformance.tvm_api import relay

_FUNCTIONAL = frozenset({"If", "While", "StatelessIf", "StatelessWhile", "Case", "StatelessCase"})
_DATAFLOW = frozenset({"Switch", "Merge", "Enter", "Exit", "NextIteration"})
# What the importers raise on a model that they don't know: asserts, look-ups that fail, calls of Relay's
# operators with wrong arguments, and Relay's own errors (`tvm.TVMError`, a RuntimeError). They name no type.
_IMPORTER_FAILURES = (
    RuntimeError,
    AssertionError,
    LookupError,
    AttributeError,
    TypeError,
    ValueError,
    UnboundLocalError,
)


class Importer(Enum):
    DATAFLOW = "relay.frontend.tensorflow"
    FUNCTIONAL = "relay.frontend.tensorflow2"


def importer_for(graph_def: Any) -> Importer:
    """The importer that knows this graph's control flow; where there is none, the one that knows more.

    Raises:
        UnsupportedModelError: the graph mixes both kinds.
    """
    operators = {node.op for node in graph_def.node}
    functional = {
        name
        for name in operators
        if name in _FUNCTIONAL or name.startswith(("TensorList", "EmptyTensorList"))
    }
    dataflow = operators & _DATAFLOW
    if functional and dataflow:
        raise UnsupportedModelError(
            f"the graph mixes {min(functional)} with {min(dataflow)}, and no importer knows both; "
            "freeze it with lower_control_flow=False, or build it with tf.compat.v1.disable_control_flow_v2()"
        )
    return Importer.FUNCTIONAL if functional else Importer.DATAFLOW


def import_graph(model: GraphModel) -> Program:
    """The Relay program of a frozen graph.

    Raises:
        UnsupportedModelError: the importer doesn't know an operator, which it names, or fails.
    """
    graph_def = repaired(model.graph_def)
    outputs = list(model.outputs)
    shapes = {spec.name: [_dimension(size) for size in spec.shape] for spec in model.inputs}
    importer = importer_for(graph_def)
    try:
        module, params = _from_tensorflow(importer)(graph_def, shape=shapes, outputs=outputs)
    except NotImplementedError as error:
        raise UnsupportedModelError(
            f"{importer.value} can't import the model: {one_line(error)}; give a model without them"
        ) from error
    except _IMPORTER_FAILURES as error:
        raise UnsupportedModelError(
            f"{importer.value} can't import the model: {type(error).__name__}: {one_line(error)}"
        ) from error
    return program_from_module(module, {name: value.numpy() for name, value in params.items()})


def _from_tensorflow(importer: Importer) -> Any:
    match importer:
        case Importer.DATAFLOW:
            return relay.frontend.from_tensorflow
        case Importer.FUNCTIONAL:
            # It imports TensorFlow at its top, so it can't be imported with the others.
            from tvm.relay.frontend import tensorflow2

            return tensorflow2.from_tensorflow


def _dimension(size: int | None) -> Any:
    return relay.Any() if size is None else size
