"""``lstm``: an LSTM layer written out over a ``tf.while_loop`` with TensorArrays, all of whose states are the output.

A Keras LSTM freezes to While with TensorList, and lowered it loses the shapes that TVM's importer of Switch and
Merge asks for. So the loop is built with v1 control flow, as TensorFlow 1's ``dynamic_rnn`` did, and each
TensorArray says the shape of its elements.
"""

from typing import Any

import numpy as np

from relay_conformance.models.control_flow import v1_control_flow
from relay_conformance.program import Array
from relay_conformance.tensorflow_import.graph_model import GraphModel, graph_model
from relay_conformance.tensorflow_import.loading import tensorflow

STEPS = 50
FEATURES = 16
HIDDEN = 32
_WEIGHT_SEED = 1997
# Added to the forget gate, so that a step early in the sequence still tells in the last state.
_FORGET_BIAS = 1.0


def lstm(batch: int) -> GraphModel:
    """``x`` of ``(batch, 50, 16)`` to the hidden states ``(batch, 50, 32)``; gates as Hochreiter and Schmidhuber's."""
    tf = tensorflow()
    with tf.Graph().as_default() as graph, v1_control_flow():
        x = tf.compat.v1.placeholder(tf.float32, (batch, STEPS, FEATURES), "x")
        tf.transpose(_states(tf, tf.transpose(x, (1, 0, 2)), batch), (1, 0, 2), name="out")
    return graph_model(graph.as_graph_def(), ("out:0",))


def _states(tf: Any, x: Any, batch: int) -> Any:
    """The hidden state after each step, steps first."""
    kernel, bias = (tf.constant(weight) for weight in _weights())
    steps = tf.TensorArray(tf.float32, STEPS, element_shape=(batch, FEATURES)).unstack(x)
    states = tf.TensorArray(tf.float32, STEPS, element_shape=(batch, HIDDEN))

    def body(t: Any, hidden: Any, cell: Any, states: Any) -> Any:
        gates = tf.nn.bias_add(tf.matmul(tf.concat([steps.read(t), hidden], 1), kernel), bias)
        enter, candidate, forget, leave = tf.split(gates, 4, axis=1)
        cell = tf.sigmoid(forget + _FORGET_BIAS) * cell + tf.sigmoid(enter) * tf.tanh(candidate)
        hidden = tf.sigmoid(leave) * tf.tanh(cell)
        return t + 1, hidden, cell, states.write(t, hidden)

    # Two zeros, because the importer takes one initial value of two loop variables for one variable.
    hidden, cell = tf.zeros((batch, HIDDEN)), tf.zeros((batch, HIDDEN))
    turns = tf.while_loop(lambda t, *_: t < STEPS, body, (tf.constant(0), hidden, cell, states))
    return turns[-1].stack()


def _weights() -> tuple[Array, Array]:
    generator = np.random.default_rng(_WEIGHT_SEED)
    fan_in = FEATURES + HIDDEN
    kernel = np.sqrt(2.0 / fan_in) * generator.standard_normal((fan_in, 4 * HIDDEN))
    return kernel.astype(np.float32), (0.1 * generator.standard_normal(4 * HIDDEN)).astype(np.float32)
