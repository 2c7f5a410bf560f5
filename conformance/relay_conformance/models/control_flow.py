"""``while_loop``, ``cond`` and ``nested_cond``: small TensorFlow models whose control flow reaches the VM.

Their inputs are placeholders, because what is constant the importer folds before any machine sees it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from relay_conformance.program import Array
from relay_conformance.tensorflow_import.freezing import freeze_function
from relay_conformance.tensorflow_import.graph_model import GraphModel, graph_model
from relay_conformance.tensorflow_import.loading import tensorflow

_ROWS = 3


@contextmanager
def v1_control_flow() -> Iterator[None]:
    """Switch and Merge in place of If; TensorFlow has only a process-wide switch for it."""
    tf = tensorflow()
    enabled = tf.compat.v1.control_flow_v2_enabled()
    tf.compat.v1.disable_control_flow_v2()
    try:
        yield
    finally:
        if enabled:
            tf.compat.v1.enable_control_flow_v2()


def while_loop(batch: int) -> GraphModel:
    """``n`` times ``acc = acc * 1.1 + x``: the number of turns is only known at run time."""
    tf = tensorflow()

    def function(n: Any, x: Any) -> Any:
        def body(i: Any, accumulated: Any) -> Any:
            return i + 1, accumulated * 1.1 + x

        return tf.while_loop(lambda i, _: i < n, body, (tf.constant(0), tf.zeros_like(x)))[1]

    return _freeze(function, n=tf.TensorSpec((), tf.int32), x=tf.TensorSpec((batch, _ROWS), tf.float32))


def cond(batch: int) -> GraphModel:
    """``sum(x) > 0 ? x * 2 + y : y - x``."""
    tf = tensorflow()

    def function(x: Any, y: Any) -> Any:
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * 2.0 + y, lambda: y - x)

    spec = tf.TensorSpec((batch, _ROWS), tf.float32)
    return _freeze(function, x=spec, y=spec)


def nested_cond(batch: int) -> GraphModel:
    """``r = s > 0 ? (s > 10 ? y - x : 2y) : -x`` with ``s = sum(x)``, then ``3r + y``.

    ``y`` is captured by both and read after both. The reference kills its register in the inner branch, and
    fails in the kernel that reads it whenever ``s > 0``. Built with v1 control flow: in the functional form
    the importer makes each branch a function, and then the branches of Relay's ``if`` only call.
    """
    tf = tensorflow()
    with tf.Graph().as_default() as graph, v1_control_flow():
        x = tf.compat.v1.placeholder(tf.float32, (batch, _ROWS), "x")
        y = tf.compat.v1.placeholder(tf.float32, (batch, _ROWS), "y")
        total = tf.reduce_sum(x)

        def inner() -> Any:
            return tf.cond(total > 10.0, lambda: y - x, lambda: 2.0 * y)

        r = tf.cond(total > 0.0, inner, lambda: -x)
        tf.add(3.0 * r, y, name="out")
    return graph_model(graph.as_graph_def(), ("out:0",))


def while_loop_inputs(seed: int, batch: int) -> Mapping[str, Array]:
    generator = np.random.default_rng(seed)
    turns = np.asarray(generator.integers(5, 20), np.int32)
    return {"n": turns, "x": generator.standard_normal((batch, _ROWS)).astype(np.float32)}


def cond_inputs(seed: int, batch: int) -> Mapping[str, Array]:
    """``x`` has a positive sum, so that the branch taken is the one that nests."""
    generator = np.random.default_rng(seed)
    x, y = generator.uniform(0.5, 1.5, (2, batch, _ROWS)).astype(np.float32)
    return {"x": x, "y": y}


def _freeze(function: Any, **signature: Any) -> GraphModel:
    tf = tensorflow()
    return freeze_function(tf.function(function, autograph=False).get_concrete_function(**signature))
