"""The LSTM computes the recurrence, its states vary from step to step, and TVM imports it with its loop."""

import numpy as np
import pytest

from relay_conformance.inputs import seeded_inputs
from relay_conformance.models import load_built_in
from relay_conformance.models.lstm import FEATURES, HIDDEN, STEPS, _weights, lstm
from relay_conformance.program import Array
from relay_conformance.tensorflow_import.graph_model import run_graph

pytestmark = pytest.mark.tensorflow


def run(batch: int, seed: int) -> tuple[Array, Array]:
    graph = lstm(batch)
    inputs = seeded_inputs(graph.inputs, seed)
    (states,) = run_graph(graph, inputs, 1)[0].arrays
    assert states is not None
    return inputs["x"], states


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def test_the_recurrence_written_out() -> None:
    x, states = run(1, 0)
    kernel, bias = _weights()
    hidden, cell = np.zeros((1, HIDDEN)), np.zeros((1, HIDDEN))
    for step in range(STEPS):
        gates = np.concatenate([x[:, step], hidden], axis=1) @ kernel + bias
        enter, candidate, forget, leave = np.split(gates, 4, axis=1)
        cell = sigmoid(forget + 1) * cell + sigmoid(enter) * np.tanh(candidate)
        hidden = sigmoid(leave) * np.tanh(cell)
        np.testing.assert_allclose(states[:, step], hidden, atol=1e-4)


@pytest.mark.parametrize("batch", [1, 3])
def test_the_states_vary_over_steps_rows_and_seeds(batch: int) -> None:
    (x, first), (_, second) = run(batch, 0), run(batch, 1)
    assert x.shape == (batch, STEPS, FEATURES)
    assert first.shape == (batch, STEPS, HIDDEN)
    assert float(first.std()) > 0.1
    assert float(np.abs(first[:, -1] - first[:, -2]).mean()) > 0.01
    assert float(np.abs(first - second).mean()) > 0.05
    if batch > 1:
        assert float(np.abs(first[0] - first[1]).mean()) > 0.05


def test_tvm_imports_it_with_its_loop() -> None:
    text = load_built_in("lstm", 1).program.module["main"].astext(show_meta_data=False)
    assert "while_loop" in text
    assert "@tensor_array_write_float32_1_32" in text
