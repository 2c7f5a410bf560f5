"""The benchmark's programs that are no Relay text: TensorFlow graphs of its own, and non-maximum suppression."""

from typing import Any

import numpy as np
import tvm
from tvm import relay

from relay_conformance.program import Program, program_from_module
from relay_conformance.tensorflow_import.freezing import freeze_function
from relay_conformance.tensorflow_import.graph_model import GraphModel
from relay_conformance.tensorflow_import.loading import tensorflow

_SEED = 7
_LAYERS = (32, 32, 8)
_FEATURES = 16
BOXES = 1_000


def mlp() -> GraphModel:
    """Three dense layers with bias and ReLU, 16 to 32 to 32 to 8, batch 1."""
    tf = tensorflow()
    generator = np.random.default_rng(_SEED)
    widths = zip((_FEATURES, *_LAYERS), _LAYERS, strict=False)
    layers = [
        (tf.constant(generator.normal(size=(i, o)).astype("float32")), tf.constant(np.ones(o, "float32")))
        for i, o in widths
    ]

    def function(x: Any) -> Any:
        for weight, bias in layers:
            x = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, weight), bias))
        return x

    return _freeze(function, x=tf.TensorSpec((1, _FEATURES), tf.float32))


def loop(shape: tuple[int, ...], dtype: str) -> GraphModel:
    """TensorFlow's form of the loops: ``n`` times ``acc + x``, or with matrices ``tanh(acc @ x.T + x)``."""
    tf = tensorflow()

    def function(n: Any, x: Any) -> Any:
        def body(i: Any, acc: Any) -> Any:
            matrix = acc.shape.num_elements() > 1
            return i + 1, tf.tanh(tf.matmul(acc, x, transpose_b=True) + x) if matrix else acc + x

        return tf.while_loop(lambda i, _: i < n, body, (tf.constant(0), x))[1]

    return _freeze(function, n=tf.TensorSpec((), tf.int32), x=tf.TensorSpec(shape, dtype))


def non_maximum_suppression() -> Program:
    """Of 1,000 boxes (class, score, corners) those above a score that no better box covers."""
    boxes = relay.var("boxes", shape=(1, BOXES, 6), dtype="float32")
    valid, kept, indices = relay.vision.get_valid_counts(boxes, 0.2)
    suppressed = relay.vision.non_max_suppression(
        kept,
        valid,
        indices,
        max_output_size=-1,
        iou_threshold=0.5,
        return_indices=False,
        invalid_to_bottom=True,
    )
    return program_from_module(tvm.IRModule.from_expr(relay.Function([boxes], suppressed)))


def boxes() -> Any:
    """Boxes of one image; many overlap."""
    generator = np.random.default_rng(_SEED)
    corners = generator.uniform(0, 90, (BOXES, 2))
    sizes = generator.uniform(5, 10, (BOXES, 2))
    columns = (generator.integers(0, 4, (BOXES, 1)), generator.random((BOXES, 1)), corners, corners + sizes)
    return np.concatenate(columns, axis=1)[None].astype("float32")


def _freeze(function: Any, **signature: Any) -> GraphModel:
    tf = tensorflow()
    return freeze_function(tf.function(function, autograph=False).get_concrete_function(**signature))
