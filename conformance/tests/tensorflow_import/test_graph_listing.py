"""A graph is listed with its inputs, weights by size, nodes with shapes, and functions; data is left out."""

import pytest

from relay_conformance.models.control_flow import cond, nested_cond
from relay_conformance.tensorflow_import.graph_listing import Weight, show_graph, weights
from relay_conformance.tensorflow_import.graph_model import graph_model

pytestmark = pytest.mark.tensorflow


def test_sections_hold_inputs_weights_and_nodes() -> None:
    tf = pytest.importorskip("tensorflow")
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, (None, 3), "x")
        w = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], name="w")
        tf.constant(["a", "b"], name="names")
        tf.matmul(x, w, name="y")
    model = graph_model(graph.as_graph_def(), ("y:0",))
    assert show_graph(model) == (
        "inputs\n  x: (?, 3) float32\n\n"
        "outputs\n  y:0\n\n"
        "weights: 2, 24 bytes\n  w: (3, 2) float32, 24 bytes\n  names: (2) string\n\n"
        "nodes: 1\n  y = MatMul(x, w) -> (?, 2)\n"
    )


def test_functions_follow_the_graph() -> None:
    text = show_graph(cond(1))
    assert "  cond = StatelessIf(" in text
    assert text.count("\nfunction cond_") == 2
    assert "cond_mul_x: float32" in text


def test_control_flow_of_v1_is_nodes() -> None:
    text = show_graph(nested_cond(2))
    assert "Switch(" in text
    assert "Merge(" in text
    assert "function" not in text


def test_weights_are_the_constants_in_order() -> None:
    found = weights(cond(1).graph_def.node)
    assert found == (Weight("Const", (2,), "int32", 8), Weight("Greater/y", (), "float32", 4))
