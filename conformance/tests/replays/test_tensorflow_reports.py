"""Reports against TVM's TensorFlow importers, as graphs of our own with TensorFlow's value as the right one.

Named after the report's number. What the importer gets wrong is an entry of the ledger: then no machine can be
right, and the test holds the importer to what the entry says.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from relay_conformance import check_equal
from relay_conformance.errors import DisagreementError, UnsupportedModelError
from relay_conformance.execution import Measurement, execute
from relay_conformance.executors import get
from relay_conformance.isolation import Worker
from relay_conformance.models import load_built_in
from relay_conformance.models.control_flow import v1_control_flow
from relay_conformance.program import Program
from relay_conformance.tensorflow_import.freezing import freeze_function, freeze_keras
from relay_conformance.tensorflow_import.importers import import_graph

pytestmark = [pytest.mark.tensorflow, pytest.mark.thorough]

EXECUTORS = ("tvm-vm", "regvm", "regvm-native")
OURS = ("regvm", "regvm-native")
X = np.array([[1, 2, 3], [4, 5, 6]], np.float32)


def hold(
    tf: Any,
    build: Callable[..., Any],
    feed: Mapping[str, Any],
    executors: tuple[str, ...] = EXECUTORS,
) -> None:
    """Build a graph over placeholders, run it on TensorFlow, and hold the machines to that."""
    with tf.Graph().as_default() as graph, v1_control_flow():
        placeholders = {
            name: tf.compat.v1.placeholder(array.dtype, array.shape, name) for name, array in feed.items()
        }
        result = build(**placeholders)
        outputs = list(result) if isinstance(result, list | tuple) else [result]
        with tf.compat.v1.Session() as session:
            expected = session.run(outputs, {placeholders[name]: array for name, array in feed.items()})
    fed = {f"{name}:0": array for name, array in feed.items()}
    names = [output.name for output in outputs]
    check_equal(graph, expected, feed=fed, outputs=names, executors=executors)


def outputs_on(executor: str, program: Program, inputs: list[Any], worker: Worker) -> list[Any]:
    result = execute(worker, get(executor), program, inputs)
    assert isinstance(result, Measurement), result
    return list(result.outputs.arrays)


def test_tvm_4969_two_loops_of_different_names(tf: Any) -> None:
    def build(n: Any, x: Any) -> Any:
        first = tf.while_loop(lambda i, _: i < n, lambda i, a: (i + 1, a + 1.0), (0, x * 1.0), name="alpha")
        second = tf.while_loop(
            lambda i, _: i < n + 1, lambda i, b: (i + 1, b * 2.0), (0, x * 1.0), name="beta"
        )
        return [first[1], second[1]]

    hold(tf, build, {"n": np.array(3, np.int32), "x": X})


def test_tvm_4969_one_loop_feeds_the_other(tf: Any) -> None:
    def build(n: Any, x: Any) -> Any:
        first = tf.while_loop(lambda i, _: i < n, lambda i, a: (i + 1, a + 1.0), (0, x * 1.0), name="one")
        second = tf.while_loop(
            lambda i, _: i < first[0], lambda i, b: (i + 1, b * 2.0), (0, first[1]), name="one_more"
        )
        return second[1] - first[1]

    hold(tf, build, {"n": np.array(2, np.int32), "x": X})


def scoped_loop(tf: Any, n: Any, x: Any) -> Any:
    with tf.name_scope("outer"), tf.name_scope("inner"):
        return tf.while_loop(lambda i, _: i < n, lambda i, a: (i + 1, a * 0.5 + 1.0), (0, x * 1.0))


@pytest.mark.parametrize("n", [0, 1, 4])
def test_tvm_2812_a_loop_inside_of_a_named_scope(n: int, tf: Any) -> None:
    hold(tf, lambda n, x: scoped_loop(tf, n, x)[1] * 2.0, {"n": np.array(n, np.int32), "x": X})


def test_tvm_2812_two_results_of_a_loop_inside_of_a_named_scope_are_not_imported(tf: Any) -> None:
    """Each ``Exit`` makes a loop of its own there: loop-in-scope-two-results in the ledger."""

    def build(n: Any, x: Any) -> Any:
        turns, value = scoped_loop(tf, n, x)
        return [turns + 1, value * 2.0]

    with pytest.raises(UnsupportedModelError, match="WellFormed"):
        hold(tf, build, {"n": np.array(1, np.int32), "x": X}, OURS)


def test_tvm_5117_an_operator_that_the_importer_lacks_is_named(tf: Any) -> None:
    """GatherTree and Resampler are in TensorFlow Addons; Roll stands for what the importer lacks."""
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, (2, 3), "x")
        tf.raw_ops.Roll(input=x, shift=[1], axis=[0])
    with pytest.raises(UnsupportedModelError, match="Roll"):
        check_equal(graph, np.zeros((2, 3), "float32"), feed={"x:0": X}, executors=OURS)


def test_tvm_5810_sparse_reshape(tf: Any) -> None:
    def build(indices: Any) -> Any:
        sparse = tf.sparse.SparseTensor(indices, [1.0, 2.0, 3.0], (2, 6))
        reshaped = tf.sparse.reshape(sparse, (3, 4))
        return [reshaped.indices, reshaped.dense_shape]

    hold(tf, build, {"indices": np.array([[0, 1], [0, 5], [1, 2]])}, OURS)


@pytest.mark.parametrize("adjoint", [False, True])
def test_tvm_5810_a_sparse_tensor_times_a_dense_one(adjoint: bool, tf: Any) -> None:
    def build(x: Any) -> Any:
        sparse = tf.sparse.SparseTensor([[0, 1], [1, 0], [1, 2]], [1.0, 2.0, 3.0], (2, 3))
        return tf.sparse.sparse_dense_matmul(sparse, x, adjoint_a=adjoint)

    hold(tf, build, {"x": X if adjoint else np.ascontiguousarray(X.T)}, OURS)


@pytest.mark.parametrize("forget_bias", [0.0, 1.0])
def test_tvm_pr3410_the_forget_bias_of_an_lstm(forget_bias: float, tf: Any) -> None:
    """BlockLSTM's gates come as i, c, f, o; the bias belongs to the third."""

    def build(x: Any, c: Any, h: Any) -> Any:
        weights = tf.constant(np.linspace(-1, 1, 5 * 8, dtype="float32").reshape(5, 8))
        bias = tf.constant(np.linspace(-0.5, 0.5, 8, dtype="float32"))
        zero = tf.zeros((2,))
        cell = tf.raw_ops.LSTMBlockCell(
            x=x, cs_prev=c, h_prev=h, w=weights, wci=zero, wcf=zero, wco=zero, b=bias, forget_bias=forget_bias
        )
        return [cell.cs, cell.h]

    feed = {"x": X[:1], "c": np.array([[0.5, -1]], "float32"), "h": np.array([[1, 0.25]], "float32")}
    hold(tf, build, feed)


def test_tvm_9999_a_range_over_constants(tf: Any) -> None:
    def build(x: Any) -> Any:
        steps = tf.range(tf.constant(1), tf.constant(7), tf.constant(2))
        return [x + tf.cast(steps, tf.float32), steps]

    hold(tf, build, {"x": X})


def test_tvm_13855_a_condition_of_fewer_dimensions(tf: Any) -> None:
    def build(p: Any, x: Any, y: Any) -> Any:
        return tf.where(p, x, y)

    hold(tf, build, {"p": np.array([True, False, True]), "x": X, "y": -X})


def test_tvm_13855_select_takes_rows_where_selectv2_broadcasts(tf: Any) -> None:
    square = np.arange(4, dtype="float32").reshape(2, 2)

    def build(p: Any, x: Any, y: Any) -> Any:
        return [tf.raw_ops.Select(condition=p, x=x, y=y), tf.raw_ops.SelectV2(condition=p, t=x, e=y)]

    hold(tf, build, {"p": np.array([True, False]), "x": square, "y": -square - 1})


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("batch", [1, 3])
def test_tvm_14869_and_15176_a_keras_lstm_of_any_batch_and_direction(
    batch: int, backwards: bool, tf: Any, worker: Worker
) -> None:
    tf.keras.utils.set_random_seed(7)
    model = tf.keras.Sequential(
        [tf.keras.layers.Input((4, 3)), tf.keras.layers.LSTM(5, go_backwards=backwards)]
    )
    data = np.linspace(-1, 1, batch * 12, dtype="float32").reshape(batch, 4, 3)
    program = import_graph(freeze_keras(model, batch))
    for executor in EXECUTORS:
        (value,) = outputs_on(executor, program, [data], worker)
        np.testing.assert_allclose(value, model(data).numpy(), rtol=1e-5, atol=1e-6)
        assert not backwards or np.abs(value - model(data[:, ::-1]).numpy()).max() > 1e-3


def test_found_here_a_nested_conditional_and_what_follows(worker: Worker) -> None:
    """``s > 0 ? (s > 10 ? y - x : 2y) : -x``, then ``3r + y``: TensorFlow gives 49 and 13 for x = 1 and 5."""
    graph = load_built_in("nested_cond", 1).graph
    assert graph is not None
    program = import_graph(graph)
    y = np.full((1, 3), 7, np.float32)
    for executor in OURS:
        for each, right in ((1, 49), (5, 13), (-1, 10)):
            x = np.full((1, 3), each, np.float32)
            (value,) = outputs_on(executor, program, [x, y], worker)
            assert value.tolist() == [[right] * 3]


def test_found_here_the_importer_confuses_an_invariant_with_its_loop_variable(tf: Any) -> None:
    def build(x: Any) -> Any:
        return tf.while_loop(lambda i, _: i < 5, lambda i, y: (i + 1, y + x), (0, x))[1]

    with pytest.raises(DisagreementError, match="differs from TensorFlow"):
        hold(tf, build, {"x": X}, OURS)


def test_found_here_the_loop_is_right_where_the_invariant_is_another_tensor(tf: Any) -> None:
    def build(x: Any) -> Any:
        return tf.while_loop(lambda i, _: i < 5, lambda i, y: (i + 1, y + x), (0, x * 1.0))[1]

    hold(tf, build, {"x": X})


def test_found_here_a_tensor_array_without_a_shape_is_not_imported(tf: Any) -> None:
    def build(x: Any) -> Any:
        return tf.TensorArray(tf.float32, 2, infer_shape=False).unstack(x).stack()

    with pytest.raises(UnsupportedModelError, match="get_var"):
        hold(tf, build, {"x": X}, OURS)


def test_found_here_a_tensor_array_with_a_shape_is(tf: Any) -> None:
    def build(x: Any) -> Any:
        return tf.TensorArray(tf.float32, 2, element_shape=(3,)).unstack(x).stack()

    hold(tf, build, {"x": X})


def test_a_dynamic_rnn_of_v2_control_flow(tf: Any, worker: Worker) -> None:
    weights = tf.constant(np.linspace(-1, 1, 15, dtype="float32").reshape(5, 3))

    specs = [tf.TensorSpec((4, 1, 2), tf.float32), tf.TensorSpec((1, 3), tf.float32)]
    model = freeze_function(
        tf.function(
            lambda steps, state: tf.while_loop(
                lambda i, _: i < 4,
                lambda i, s: (i + 1, tf.tanh(tf.concat([tf.gather(steps, i), s], 1) @ weights)),
                (0, state),
            )[1],
            autograph=False,
        ).get_concrete_function(*specs)
    )
    steps, state = np.linspace(-1, 1, 8, dtype="float32").reshape(4, 1, 2), np.zeros((1, 3), np.float32)
    expected = state
    for step in steps:
        expected = np.tanh(np.concatenate([step, expected], 1) @ weights.numpy())
    program = import_graph(model)
    given = {"steps": steps, "state": state}
    for executor in EXECUTORS:
        (value,) = outputs_on(executor, program, [given[i.name] for i in program.inputs], worker)
        np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)
