"""A frozen graph tells its inputs and outputs, and runs in TensorFlow."""

from typing import Any

import numpy as np
import pytest

from relay_conformance.errors import BadArgumentError, BadInputError
from relay_conformance.program import TensorSpec
from relay_conformance.tensorflow_import.graph_model import graph_model, run_graph

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def graph_def(tf: Any) -> Any:
    """``sum = x + x``, ``out = sum * 2``, over a batch of unknown size."""
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, (None, 3), "x")
        tf.multiply(tf.add(x, x, name="sum"), 2.0, name="out")
    return graph.as_graph_def()


def test_an_unknown_first_dimension_becomes_the_batch(graph_def: Any) -> None:
    assert graph_model(graph_def, batch=4).inputs == (TensorSpec("x", (4, 3), "float32"),)
    assert graph_model(graph_def).inputs == (TensorSpec("x", (None, 3), "float32"),)


def test_the_last_operation_is_the_output_unless_named(graph_def: Any) -> None:
    assert graph_model(graph_def).outputs == ("out:0",)
    assert graph_model(graph_def, ("sum", "out:0")).outputs == ("sum:0", "out:0")


def test_every_tensor_gets_its_shape(graph_def: Any) -> None:
    shaped = graph_model(graph_def, batch=4).graph_def
    (out,) = [node for node in shaped.node if node.name == "out"]
    assert [dimension.size for dimension in out.attr["_output_shapes"].list.shape[0].dim] == [4, 3]


@pytest.mark.parametrize("name", ["nothing", "out:7", "out:x"])
def test_an_output_that_does_not_exist_is_refused(name: str, graph_def: Any) -> None:
    with pytest.raises(BadArgumentError, match="outputs: the graph has no tensor"):
        graph_model(graph_def, (name,))


def test_a_graph_without_outputs_is_refused(tf: Any) -> None:
    with tf.Graph().as_default() as graph:
        tf.no_op()
    with pytest.raises(BadInputError, match="no outputs"):
        graph_model(graph.as_graph_def())


def test_variables_are_refused(tf: Any) -> None:
    with tf.Graph().as_default() as graph:
        tf.compat.v1.get_variable("v", initializer=np.float32(1), use_resource=True)
    with pytest.raises(BadInputError, match=r"holds variables .* freeze"):
        graph_model(graph.as_graph_def())


def test_an_operator_that_tensorflow_does_not_know_is_refused(graph_def: Any) -> None:
    graph_def.node[-1].op = "NoSuchOperator"
    with pytest.raises(BadInputError, match="NoSuchOperator"):
        graph_model(graph_def)


def test_it_runs_in_tensorflow(graph_def: Any) -> None:
    model = graph_model(graph_def, ("sum", "out"), batch=1)
    outputs, latency = run_graph(model, {"x": np.array([[1, 2, 3]], np.float32)}, 2)
    assert [array.tolist() for array in outputs.arrays if array is not None] == [[[2, 4, 6]], [[4, 8, 12]]]
    assert latency > 0


def test_a_failure_of_tensorflow_itself_is_bad_input(tf: Any) -> None:
    with tf.Graph().as_default() as graph:
        index = tf.compat.v1.placeholder(tf.int32, (), "index")
        tf.gather(tf.constant([1, 2]), index, name="out")
    with pytest.raises(BadInputError, match="TensorFlow itself fails"):
        run_graph(graph_model(graph.as_graph_def()), {"index": np.int32(9)}, 1)
