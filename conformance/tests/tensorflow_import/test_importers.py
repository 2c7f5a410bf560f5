"""The importer is chosen by the graph's operators, and its failures are one line that names the cause."""

from typing import Any

import pytest

from relay_conformance.errors import UnsupportedModelError
from relay_conformance.models.control_flow import cond, nested_cond, while_loop
from relay_conformance.tensorflow_import.graph_model import graph_model
from relay_conformance.tensorflow_import.importers import Importer, import_graph, importer_for

pytestmark = pytest.mark.tensorflow


def graph_of(tf: Any, *operators: str) -> Any:
    graph_def = tf.compat.v1.GraphDef()
    for operator in operators:
        graph_def.node.add(name=operator, op=operator)
    return graph_def


@pytest.mark.parametrize("operator", ["If", "While", "StatelessIf", "StatelessWhile", "TensorListStack"])
def test_functional_control_flow_goes_to_the_second_importer(operator: str, tf: Any) -> None:
    assert importer_for(graph_of(tf, "Const", operator)) is Importer.FUNCTIONAL


@pytest.mark.parametrize(
    "operator", ["Switch", "Merge", "Enter", "Exit", "NextIteration", "TensorArrayV3", "Add"]
)
def test_everything_else_goes_to_the_first_importer(operator: str, tf: Any) -> None:
    assert importer_for(graph_of(tf, "Const", operator)) is Importer.DATAFLOW


def test_a_mixture_is_refused_with_the_mend(tf: Any) -> None:
    with pytest.raises(UnsupportedModelError, match=r"mixes If with Merge.*lower_control_flow=False"):
        importer_for(graph_of(tf, "If", "Merge"))


def test_the_control_flow_models_take_both_ways() -> None:
    assert importer_for(cond(1).graph_def) is Importer.FUNCTIONAL
    assert importer_for(while_loop(1).graph_def) is Importer.FUNCTIONAL
    assert importer_for(nested_cond(1).graph_def) is Importer.DATAFLOW


def test_inputs_of_the_program_are_placeholders_with_their_shapes() -> None:
    model = nested_cond(2)
    assert set(import_graph(model).inputs) == set(model.inputs)


def test_an_unknown_operator_is_named(tf: Any) -> None:
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, (3,), "x")
        tf.math.divide_no_nan(x, x, name="out")
    with pytest.raises(UnsupportedModelError, match="DivNoNan"):
        import_graph(graph_model(graph.as_graph_def()))


def test_a_failure_inside_the_importer_is_one_line(tf: Any) -> None:
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, (2, 2), "x")
        tf.linalg.band_part(x, tf.cast(tf.reduce_sum(x), tf.int64), 0, name="out")
    with pytest.raises(UnsupportedModelError) as caught:
        import_graph(graph_model(graph.as_graph_def()))
    assert "\n" not in str(caught.value)
