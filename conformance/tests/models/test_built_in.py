"""The built-in models are the ones that the command names, and their outputs vary."""

from typing import Any

import numpy as np
import pytest

from relay_conformance.inputs import seeded_inputs
from relay_conformance.models import BUILT_IN, Voice, load_built_in
from relay_conformance.models.keras_applications import mobilenet_v1, mobilenet_v2, resnet50_v2
from relay_conformance.models.resnet_model import resnet_model
from relay_conformance.tensorflow_import.graph_model import run_graph

NETWORKS = {
    "mobilenet_v1": mobilenet_v1,
    "mobilenet_v2": mobilenet_v2,
    "resnet50_v2": resnet50_v2,
    "resnet_model": resnet_model,
}


def test_the_names() -> None:
    assert list(BUILT_IN) == [*NETWORKS, "while_loop", "lstm", "cond", "nested_cond", "int32_1x1"]


def test_the_int32_program_needs_no_tensorflow() -> None:
    model = load_built_in("int32_1x1", 1)
    outputs, latency = model.evaluate(model.seeded_inputs(0), 1)
    assert model.voice is Voice.NUMPY
    assert len(outputs.arrays) == 2
    assert latency > 0


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", ["while_loop", "cond", "nested_cond"])
def test_the_small_models_vary_over_elements_and_seeds(name: str) -> None:
    model = load_built_in(name, 2)
    first, second = (model.evaluate(model.seeded_inputs(seed), 1)[0].arrays[0] for seed in (0, 1))
    assert first is not None
    assert second is not None
    assert first.shape == (2, 3)
    assert float(first.std()) > 0.05
    assert not np.array_equal(first, second)


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", NETWORKS)
def test_the_networks_logits_vary_and_depend_on_the_image(name: str) -> None:
    graph = NETWORKS[name](2)
    (spec,) = graph.inputs
    assert spec.shape == (2, 224, 224, 3)
    (logits,) = run_graph(graph, seeded_inputs(graph.inputs, 0), 1)[0].arrays
    assert logits is not None
    assert logits.shape == (2, 1000)
    assert np.isfinite(logits).all()
    assert 0.1 < float(logits.std()) < 10.0
    assert float(np.abs(logits[0] - logits[1]).mean()) > 0.01
    assert len(np.unique(logits)) > 1900


@pytest.mark.tensorflow
def test_the_resnet_of_variables_has_tensorflow_1_s_names() -> None:
    graph = resnet_model(1)
    names = {node.name for node in graph.graph_def.node}
    assert graph.inputs[0].name == "input_tensor"
    for layer in ("conv2d/kernel", "conv2d_52/kernel", "dense/kernel", "dense/bias"):
        assert f"resnet_model/{layer}" in names
    for number in ("", "_1", "_48"):
        for part in ("gamma", "beta", "moving_mean", "moving_variance"):
            assert f"resnet_model/batch_normalization{number}/{part}" in names


@pytest.mark.tensorflow
def test_the_same_weights_come_from_every_build() -> None:
    first, second = (_constants(mobilenet_v1(1).graph_def) for _ in range(2))
    assert first.keys() == second.keys()
    for name, value in first.items():
        np.testing.assert_allclose(value, second[name], rtol=1e-5, atol=1e-6)


def _constants(graph_def: Any) -> dict[str, Any]:
    from tensorflow.python.framework import tensor_util

    return {
        node.name: tensor_util.MakeNdarray(node.attr["value"].tensor)
        for node in graph_def.node
        if node.op == "Const" and node.attr["value"].tensor.dtype == 1
    }
