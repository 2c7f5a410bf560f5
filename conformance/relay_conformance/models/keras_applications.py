"""Keras' own architectures, with seeded weights that keep signals alive.

Weights drawn at random make the activations of a deep network die out or explode, and then every output is
the same and comparing says nothing. So kernels are scaled by their fan-in (He et al. 2015), and the
batch-norm layers take their statistics from one seeded batch, which brings every layer's activations back
to unit variance. The classifier's logits are the output; a softmax would flatten them.
"""

from typing import Any

import numpy as np

from relay_conformance.program import Array
from relay_conformance.tensorflow_import.freezing import freeze_keras
from relay_conformance.tensorflow_import.graph_model import GraphModel
from relay_conformance.tensorflow_import.loading import tensorflow

_WEIGHT_SEED = 2019
_CALIBRATION_IMAGES = 2


def mobilenet_v1(batch: int) -> GraphModel:
    """MobileNet v1, width 1.0, 224 by 224 pixels, 1,000 classes."""
    applications = tensorflow().keras.applications
    return freeze_keras(_seeded(applications.MobileNet(weights=None, classifier_activation=None)), batch)


def mobilenet_v2(batch: int) -> GraphModel:
    """MobileNet v2, width 1.0, 224 by 224 pixels, 1,000 classes."""
    applications = tensorflow().keras.applications
    return freeze_keras(_seeded(applications.MobileNetV2(weights=None, classifier_activation=None)), batch)


def resnet50_v2(batch: int) -> GraphModel:
    """ResNet-50 v2, 224 by 224 pixels, 1,000 classes."""
    applications = tensorflow().keras.applications
    return freeze_keras(_seeded(applications.ResNet50V2(weights=None, classifier_activation=None)), batch)


def _seeded(model: Any) -> Any:
    keras = tensorflow().keras
    generator = np.random.default_rng(_WEIGHT_SEED)
    normalizations = [layer for layer in model.layers if isinstance(layer, keras.layers.BatchNormalization)]
    for layer in model.layers:
        if layer not in normalizations:
            layer.set_weights([_weight(array.shape, generator) for array in layer.get_weights()])
    for layer in normalizations:
        gamma, beta, mean, variance = layer.get_weights()
        gamma = generator.uniform(0.8, 1.2, gamma.shape)
        beta = 0.1 * generator.standard_normal(beta.shape)
        layer.set_weights([gamma, beta, mean, variance])
        layer.momentum = 0.0
    images = generator.standard_normal((_CALIBRATION_IMAGES, *model.input_shape[1:]))
    # With a momentum of 0, one pass in training mode makes the batch's statistics the layer's own.
    model(images.astype(np.float32), training=True)
    return model


def _weight(shape: tuple[int, ...], generator: np.random.Generator) -> Array:
    if len(shape) == 1:
        return np.asarray(0.1 * generator.standard_normal(shape))
    # A depthwise kernel (3, 3, channels, 1) sums over its window only.
    fan_in = np.prod(shape[:2]) if len(shape) == 4 and shape[-1] == 1 else np.prod(shape[:-1])
    return np.asarray(np.sqrt(2.0 / fan_in) * generator.standard_normal(shape))
