"""``check_equal`` holds where it should, and otherwise says which machine or argument, where, by how much."""

from typing import Any

import numpy as np
import pytest

from relay_conformance import check_equal
from relay_conformance.equality import disagreements
from relay_conformance.errors import BadArgumentError, DisagreementError
from relay_conformance.execution import Failure, Measurement, Stage
from relay_conformance.executors import Figures
from relay_conformance.values import outputs_from_arrays

X = np.array([[1, 2, 3], [4, 5, 6]], np.float32)


def measurement(executor: str, *arrays: Any) -> Measurement:
    return Measurement(executor, outputs_from_arrays(arrays), Figures(), 0.0, 0.0)


class TestVerdict:
    """Without TensorFlow: what the results of the machines amount to."""

    expected = outputs_from_arrays([X])

    def test_agreement(self) -> None:
        results = [measurement("tvm-vm", X), measurement("regvm", X.copy())]
        assert disagreements(self.expected, results) == []

    def test_machines_must_agree_bit_for_bit_even_within_the_tolerance(self) -> None:
        results = [measurement("tvm-vm", X), measurement("regvm", np.nextafter(X, np.float32(9)))]
        (complaint,) = disagreements(self.expected, results)
        assert complaint.startswith(
            "regvm differs from tvm-vm: output 0: 6 of 6 elements differ, first at [0, 0]"
        )

    def test_both_wrong_in_the_same_way_is_still_wrong(self) -> None:
        results = [measurement("tvm-vm", X + 1), measurement("regvm", X + 1)]
        assert [complaint.split(":")[0] for complaint in disagreements(self.expected, results)] == [
            "tvm-vm differs from TensorFlow",
            "regvm differs from TensorFlow",
        ]

    @pytest.mark.parametrize("changed", [X[:1], X.astype(np.float64), X * 2])
    def test_a_change_of_one_machine_is_a_complaint_about_it(self, changed: Any) -> None:
        complaints = disagreements(self.expected, [measurement("tvm-vm", X), measurement("regvm", changed)])
        assert len(complaints) == 2
        assert all(complaint.startswith("regvm differs from") for complaint in complaints)

    def test_an_output_too_many_is_a_complaint(self) -> None:
        complaints = disagreements(self.expected, [measurement("tvm-vm", X, X)])
        assert complaints == ["tvm-vm differs from TensorFlow: output 1: number of outputs 2, expected 1"]

    def test_a_failure_is_a_complaint_and_the_rest_is_still_compared(self) -> None:
        failed = Failure("tvm-vm", Stage.RUN, "its process died of SIGFPE(-8)")
        complaints = disagreements(self.expected, [failed, measurement("regvm", X + 1)])
        assert complaints[0] == "tvm-vm failed when running: its process died of SIGFPE(-8)"
        assert complaints[1].startswith("regvm differs from TensorFlow")


@pytest.fixture
def graph(tf: Any) -> Any:
    """``sum = x + y`` and ``out = sum * x``, float32 (2, 3)."""
    with tf.Graph().as_default() as built:
        x = tf.compat.v1.placeholder(tf.float32, (2, 3), "x")
        y = tf.compat.v1.placeholder(tf.float32, (2, 3), "y")
        tf.multiply(tf.add(x, y, name="sum"), x, name="out")
    return built


FEED = {"x:0": X, "y:0": X + 1}
OUT = (2 * X + 1) * X


@pytest.mark.tensorflow
class TestHolds:
    def test_a_graph_without_placeholders(self, tf: Any) -> None:
        with tf.Graph().as_default() as built, tf.compat.v1.Session() as session:
            result = tf.reduce_sum(tf.constant(X) * 2.0, axis=1)
            check_equal(built, session.run(result))

    def test_with_a_feed_and_outputs(self, graph: Any) -> None:
        check_equal(graph, [2 * X + 1, OUT], feed=FEED, outputs=["sum:0", "out"])

    def test_the_last_operation_is_the_default_output(self, graph: Any) -> None:
        check_equal(graph, OUT, feed=FEED)

    def test_several_results_are_the_tensors_that_nobody_reads(self, tf: Any) -> None:
        with tf.Graph().as_default() as built:
            x = tf.compat.v1.placeholder(tf.float32, (2, 3), "x")
            tf.split(x, 3, axis=1)
        check_equal(built, [X[:, :1], X[:, 1:2], X[:, 2:]], feed={"x": X})

    @pytest.mark.parametrize(
        "executors", [("tvm-vm",), ("tvm-vm", "tvm-debug", "tvm-graph"), ("regvm", "tvm-vm")]
    )
    def test_the_executors_are_chosen(self, executors: tuple[str, ...], graph: Any) -> None:
        check_equal(graph, OUT, feed=FEED, executors=executors)

    def test_the_register_vm_where_the_reference_fails(self) -> None:
        import tensorflow as tf

        from relay_conformance.models.control_flow import nested_cond

        model = nested_cond(1)
        with tf.Graph().as_default() as built:
            tf.import_graph_def(model.graph_def, name="")
        x, y = np.full((1, 3), 5, np.float32), np.full((1, 3), 7, np.float32)
        feed, expected = {"x": x, "y": y}, np.full((1, 3), 13, np.float32)
        with pytest.raises(DisagreementError, match="tvm-vm failed when running"):
            check_equal(built, expected, feed=feed, outputs=["out"], executors=("tvm-vm",))
        check_equal(built, expected, feed=feed, outputs=["out"], executors=("regvm",))


@pytest.mark.tensorflow
class TestFails:
    @pytest.mark.parametrize(
        ("changed", "words"),
        [
            (
                OUT + np.array([[0, 0, 0], [0, 1, 0]], np.float32),
                r"1 of 6 elements differ, first at \[1, 1\]: 55.0, expected 56.0",
            ),
            (OUT.astype(np.float64), "dtype float32, expected float64"),
            (OUT[0], r"shape \(2, 3\), expected \(3,\)"),
        ],
    )
    def test_a_perturbed_result_of_tensorflow(self, changed: Any, words: str, graph: Any) -> None:
        with pytest.raises(DisagreementError, match=f"tvm-vm differs from TensorFlow: output 0: {words}"):
            check_equal(graph, changed, feed=FEED, executors=("tvm-vm",))

    def test_a_kernel_that_kills_its_process(self, tf: Any) -> None:
        with tf.Graph().as_default() as built:
            x = tf.compat.v1.placeholder(tf.int32, (), "x")
            tf.math.floordiv(tf.constant(7), x, name="out")
        with pytest.raises(DisagreementError, match="tvm-vm failed when running: its process died of SIGFPE"):
            check_equal(built, np.int32(0), feed={"x": np.int32(0)}, executors=("tvm-vm",))


@pytest.mark.tensorflow
class TestBadCall:
    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"feed": {"x:0": X}}, "feed: input y is missing"),
            ({"feed": {**FEED, "z:0": X}}, "feed: no input is called z"),
            ({"feed": {**FEED, "x:0": X[:1]}}, r"feed: got x: \(1, 3\) float32"),
            ({"feed": {**FEED, "x:0": X.astype(np.int32)}}, r"feed: got x: \(2, 3\) int32"),
            ({"feed": None}, "feed: input x is missing"),
            ({"outputs": ["nothing:0"]}, "outputs: the graph has no tensor nothing:0"),
            ({"outputs": []}, "outputs: name at least one tensor"),
            ({"outputs": ["sum:0", "out:0"]}, "tf_out: it has 1 arrays for 2 outputs"),
            ({"executors": ("nothing",)}, "executors: no executor is called nothing"),
            ({"executors": ()}, "executors: name at least one"),
        ],
    )
    def test_the_argument_is_named(self, changes: dict[str, Any], words: str, graph: Any) -> None:
        with pytest.raises(BadArgumentError, match=words):
            check_equal(graph, OUT, **{"feed": FEED, "executors": ("tvm-vm",), **changes})

    def test_several_results_for_a_graph_that_ends_in_one(self, graph: Any) -> None:
        with pytest.raises(BadArgumentError, match="outputs: tf_out has 3 arrays"):
            check_equal(graph, [OUT, OUT, OUT], feed=FEED)

    def test_a_graph_without_outputs(self, tf: Any) -> None:
        with tf.Graph().as_default() as built:
            tf.no_op()
        with pytest.raises(BadArgumentError, match="graph: it has no outputs"):
            check_equal(built, X)

    def test_something_that_is_no_graph(self) -> None:
        with pytest.raises(BadArgumentError, match=r"graph: expected a tf\.Graph, got str"):
            check_equal("graph", X)
