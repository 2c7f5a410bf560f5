"""The control-flow models compute what they say, take the branch that nests, and vary."""

import numpy as np
import pytest

from relay_conformance.models.control_flow import (
    cond,
    cond_inputs,
    nested_cond,
    while_loop,
    while_loop_inputs,
)
from relay_conformance.program import Array
from relay_conformance.tensorflow_import.graph_model import GraphModel, run_graph

pytestmark = pytest.mark.tensorflow


def run(model: GraphModel, **inputs: Array) -> Array:
    (array,) = run_graph(model, inputs, 1)[0].arrays
    assert array is not None
    return array


@pytest.mark.parametrize("batch", [1, 4])
def test_the_loop_accumulates(batch: int) -> None:
    inputs = while_loop_inputs(0, batch)
    accumulated = np.zeros_like(inputs["x"])
    for _ in range(int(inputs["n"])):
        accumulated = accumulated * np.float32(1.1) + inputs["x"]
    np.testing.assert_allclose(run(while_loop(batch), **inputs), accumulated, rtol=1e-5)


def test_cond_takes_both_branches() -> None:
    x, y = cond_inputs(0, 1).values()
    np.testing.assert_allclose(run(cond(1), x=x, y=y), 2 * x + y, rtol=1e-6)
    np.testing.assert_allclose(run(cond(1), x=-x, y=y), y + x, rtol=1e-6)


@pytest.mark.parametrize(
    ("x", "expected"), [(5.0, 7.0 + 3 * (7 - 5)), (1.0, 7.0 + 3 * 14), (-1.0, 7.0 + 3 * 1)]
)
def test_nested_cond_takes_all_three_branches(x: float, expected: float) -> None:
    filled = np.full((1, 3), x, np.float32)
    result = run(nested_cond(1), x=filled, y=np.full((1, 3), 7, np.float32))
    assert result.tolist() == [[expected] * 3]


@pytest.mark.parametrize("seed", range(5))
def test_seeded_inputs_take_the_branch_that_nests(seed: int) -> None:
    assert float(cond_inputs(seed, 1)["x"].sum()) > 0


def test_tensorflow_s_control_flow_is_left_as_it_was() -> None:
    import tensorflow as tf

    before = tf.compat.v1.control_flow_v2_enabled()
    nested_cond(1)
    assert tf.compat.v1.control_flow_v2_enabled() is before
