"""Whatever holds the variables, freezing puts them into the graph and the outputs stay the same."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relay_conformance.errors import BadInputError
from relay_conformance.tensorflow_import.freezing import (
    freeze_function,
    freeze_keras,
    freeze_saved_model,
    freeze_session,
)
from relay_conformance.tensorflow_import.graph_model import GraphModel, run_graph

pytestmark = pytest.mark.tensorflow
X = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
WEIGHT = np.array([[1, 0], [0, 2], [1, 1]], np.float32)


def outputs(model: GraphModel) -> list[Any]:
    (spec,) = model.inputs
    return [array.tolist() for array in run_graph(model, {spec.name: X}, 1)[0].arrays if array is not None]


@pytest.fixture
def module(tf: Any) -> Any:
    holder = tf.Module()
    holder.weight = tf.Variable(WEIGHT)
    signature = [tf.TensorSpec((None, 3), tf.float32, "x")]
    holder.call = tf.function(lambda x: tf.matmul(x, holder.weight), input_signature=signature)
    return holder


def test_a_function(module: Any) -> None:
    model = freeze_function(module.call.get_concrete_function(), batch=2)
    assert outputs(model) == [(X @ WEIGHT).tolist()]


def test_control_flow_stays_functional(tf: Any) -> None:
    function = tf.function(lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x, lambda: -x))
    model = freeze_function(function.get_concrete_function(tf.TensorSpec((2, 3), tf.float32)))
    operators = {node.op for node in model.graph_def.node}
    assert "StatelessIf" in operators
    assert "Switch" not in operators


def test_a_session(tf: Any) -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, (2, 3), "x")
        weight = tf.compat.v1.get_variable("weight", initializer=WEIGHT, use_resource=False)
        out = tf.matmul(x, weight)
        session.run(tf.compat.v1.global_variables_initializer())
        model = freeze_session(session, (out.name,))
    assert outputs(model) == [(X @ WEIGHT).tolist()]


def test_a_saved_model_of_several_outputs(tf: Any, module: Any, tmp_path: Path) -> None:
    @tf.function(  # type: ignore[untyped-decorator, unused-ignore]
        input_signature=[tf.TensorSpec((None, 3), tf.float32, "x")]
    )
    def serve(x: Any) -> Any:
        return {"product": tf.matmul(x, module.weight), "moved": x + 1.0}

    tf.saved_model.save(module, str(tmp_path), signatures={"serving_default": serve.get_concrete_function()})
    model = freeze_saved_model(tmp_path, batch=2)
    assert model.inputs[0].shape == (2, 3)
    assert sorted(outputs(model)) == sorted([(X @ WEIGHT).tolist(), (X + 1).tolist()])


def test_a_saved_model_without_the_signature_is_refused(tf: Any, tmp_path: Path) -> None:
    tf.saved_model.save(tf.Module(), str(tmp_path))
    with pytest.raises(BadInputError, match="no signature serving_default"):
        freeze_saved_model(tmp_path, batch=1)


def test_a_broken_saved_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").write_bytes(b"not a protobuf")
    with pytest.raises(BadInputError, match="can't be loaded as a SavedModel"):
        freeze_saved_model(tmp_path, batch=1)


def test_a_keras_model_of_two_inputs(tf: Any) -> None:
    keras = tf.keras
    left, right = keras.Input((3,)), keras.Input((3,))
    model = freeze_keras(keras.Model([left, right], keras.layers.Subtract()([left, right])), batch=2)
    assert [spec.shape for spec in model.inputs] == [(2, 3), (2, 3)]
    feed = {
        spec.name: factor * X
        for spec, factor in zip(model.inputs, (np.float32(3), np.float32(1)), strict=True)
    }
    (array,) = run_graph(model, feed, 1)[0].arrays
    assert array is not None
    assert np.array_equal(np.abs(array), 2 * X)
