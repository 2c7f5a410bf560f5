"""The built-in models by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from relay_conformance import numpy_evaluation
from relay_conformance.execution import median_seconds
from relay_conformance.inputs import seeded_inputs
from relay_conformance.models.control_flow import (
    cond,
    cond_inputs,
    nested_cond,
    while_loop,
    while_loop_inputs,
)
from relay_conformance.models.int32_program import int32_1x1, int32_inputs
from relay_conformance.models.keras_applications import mobilenet_v1, mobilenet_v2, resnet50_v2
from relay_conformance.models.lstm import lstm
from relay_conformance.models.model import Model, Voice
from relay_conformance.models.resnet_model import resnet_model
from relay_conformance.program import Array, Program
from relay_conformance.tensorflow_import.graph_model import GraphModel, run_graph
from relay_conformance.tensorflow_import.importers import import_graph
from relay_conformance.values import Outputs

Inputs = Callable[[int], Mapping[str, Array]]


@dataclass(frozen=True)
class BuiltIn:
    """``load`` takes the batch size."""

    summary: str
    voice: Voice
    load: Callable[[str, int], Model]


def tensorflow_model(name: str, graph: GraphModel, inputs: Inputs | None = None) -> Model:
    """A frozen graph as a model; without ``inputs``, they are made up from their shapes and dtypes.

    Raises:
        UnsupportedModelError: TVM can't import the graph.
    """
    return Model(
        name=name,
        program=import_graph(graph),
        inputs=graph.inputs,
        seeded_inputs=inputs or (lambda seed: seeded_inputs(graph.inputs, seed)),
        voice=Voice.TENSORFLOW,
        evaluate=lambda feed, repeats: run_graph(graph, feed, repeats),
        output_names=graph.outputs,
        graph=graph,
    )


def relay_model(name: str, program: Program, inputs: Inputs | None = None) -> Model:
    """A Relay program as a model, with NumPy as its third voice."""

    def evaluate(feed: Mapping[str, Array], repeats: int) -> tuple[Outputs, float]:
        outputs = numpy_evaluation.evaluate(program, feed)
        return outputs, median_seconds(lambda: numpy_evaluation.evaluate(program, feed), repeats)

    return Model(
        name=name,
        program=program,
        inputs=program.inputs,
        seeded_inputs=inputs or (lambda seed: seeded_inputs(program.inputs, seed)),
        voice=Voice.NUMPY,
        evaluate=evaluate,
        output_names=(),
    )


def _frozen(build: Callable[[int], GraphModel]) -> Callable[[str, int], Model]:
    return lambda name, batch: tensorflow_model(name, build(batch))


def _control_flow(
    build: Callable[[int], GraphModel], inputs: Callable[[int, int], Mapping[str, Array]]
) -> Callable[[str, int], Model]:
    return lambda name, batch: tensorflow_model(name, build(batch), lambda seed: inputs(seed, batch))


BUILT_IN: Mapping[str, BuiltIn] = {
    "mobilenet_v1": BuiltIn("Keras MobileNet v1, logits", Voice.TENSORFLOW, _frozen(mobilenet_v1)),
    "mobilenet_v2": BuiltIn("Keras MobileNet v2, logits", Voice.TENSORFLOW, _frozen(mobilenet_v2)),
    "resnet50_v2": BuiltIn("Keras ResNet-50 v2, logits", Voice.TENSORFLOW, _frozen(resnet50_v2)),
    "resnet_model": BuiltIn(
        "ResNet-50 of v1 variables in the scope resnet_model, logits",
        Voice.TENSORFLOW,
        _frozen(resnet_model),
    ),
    "while_loop": BuiltIn(
        "a tf.while_loop that accumulates", Voice.TENSORFLOW, _control_flow(while_loop, while_loop_inputs)
    ),
    "lstm": BuiltIn(
        "an LSTM of 50 steps: a tf.while_loop that reads and writes TensorArrays",
        Voice.TENSORFLOW,
        _frozen(lstm),
    ),
    "cond": BuiltIn("a tf.cond", Voice.TENSORFLOW, _control_flow(cond, cond_inputs)),
    "nested_cond": BuiltIn(
        "a tf.cond inside a tf.cond; a captured tensor is read after both",
        Voice.TENSORFLOW,
        _control_flow(nested_cond, cond_inputs),
    ),
    "int32_1x1": BuiltIn(
        "a Relay program over (1, 1) int32 tensors: let, a call, an if",
        Voice.NUMPY,
        lambda name, _: relay_model(name, int32_1x1(), int32_inputs),
    ),
}


def load_built_in(name: str, batch: int) -> Model:
    """The model of that name; ``batch`` has no meaning for ``int32_1x1``."""
    return BUILT_IN[name].load(name, batch)
