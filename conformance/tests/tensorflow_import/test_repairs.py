"""Attributes that are newer than the importer go where they mean nothing, and nothing else does."""

from typing import Any

import numpy as np
import pytest

from relay_conformance.tensorflow_import.repairs import repaired

pytestmark = pytest.mark.tensorflow


def node(tf: Any, operator: str, **attributes: Any) -> Any:
    """A graph of one node; booleans and types as attributes."""
    graph_def = tf.compat.v1.GraphDef()
    made = graph_def.node.add(name="n", op=operator)
    for name, value in attributes.items():
        if isinstance(value, bool):
            made.attr[name].b = value
        else:
            made.attr[name].type = value.as_datatype_enum
    return graph_def


def attributes(graph_def: Any) -> set[str]:
    return set(graph_def.node[0].attr)


def newest_matmul(tf: Any) -> bool:
    with tf.Graph().as_default() as graph:
        tf.matmul(tf.eye(2), tf.eye(2))
    return any("grad_a" in made.attr for made in graph.as_graph_def().node)


def test_a_default_newer_than_the_importer_goes(tf: Any) -> None:
    if not newest_matmul(tf):
        pytest.skip("this TensorFlow does not know grad_a")
    assert attributes(repaired(node(tf, "MatMul", grad_a=False, transpose_b=False))) == {"transpose_b"}


def test_a_value_that_means_something_stays(tf: Any) -> None:
    assert attributes(repaired(node(tf, "MatMul", grad_a=True))) == {"grad_a"}
    assert attributes(repaired(node(tf, "TopKV2", index_type=tf.int64))) == {"index_type"}


def test_defaults_that_the_importer_reads_stay(tf: Any) -> None:
    assert attributes(repaired(node(tf, "MatMul", transpose_a=False, transpose_b=False))) == {
        "transpose_a",
        "transpose_b",
    }


def test_the_type_of_topk_s_constant_always_goes(tf: Any) -> None:
    assert attributes(repaired(node(tf, "TopKV2", Tk=tf.int64, sorted=True))) == {"sorted"}


def test_functions_are_repaired_and_the_original_is_not_touched(tf: Any) -> None:
    graph_def = tf.compat.v1.GraphDef()
    function = graph_def.library.function.add()
    function.node_def.add(name="n", op="TopKV2").attr["Tk"].type = tf.int32.as_datatype_enum
    assert not repaired(graph_def).library.function[0].node_def[0].attr
    assert set(function.node_def[0].attr) == {"Tk"}


def test_the_repaired_operators_run_on_the_reference(tf: Any) -> None:
    from relay_conformance import check_equal

    values = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, values.shape, "x")
        product = tf.matmul(x, x, transpose_b=True)
        flat = tf.matmul(
            tf.reshape(product, (2, 9)),
            tf.constant(np.ones((9, 5), np.float32) * np.arange(5, dtype=np.float32)),
        )
        tf.nn.top_k(flat, 2, name="out")
        with tf.compat.v1.Session() as session:
            expected = session.run(["out:0", "out:1"], {x: values})
    check_equal(graph, expected, feed={"x:0": values}, outputs=["out:0", "out:1"], executors=("tvm-vm",))
