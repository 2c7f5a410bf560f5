"""``resnet_model``: a ResNet-50 under the variable scope and names of TensorFlow 1's official model.

``resnet_model/conv2d/kernel``, ``resnet_model/batch_normalization/gamma``, ..., input ``input_tensor``,
output ``resnet_model/final_dense``. The layers of ``tf.compat.v1`` are gone with Keras 3, so their
variables and operations are written out here, with the same numbering. Batch-norm statistics come from one
seeded batch, for the reason that :mod:`relay_conformance.models.keras_applications` gives.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from relay_conformance.tensorflow_import.freezing import freeze_session
from relay_conformance.tensorflow_import.graph_model import GraphModel
from relay_conformance.tensorflow_import.loading import tensorflow

SCOPE = "resnet_model"
CLASSES = 1000
_IMAGE = (224, 224, 3)
_FILTERS = (64, 128, 256, 512)
_BLOCKS = (3, 4, 6, 3)
_WEIGHT_SEED = 2018
_EPSILON = 1e-5
_CALIBRATION_IMAGES = 2


class _Layers:
    """Numbers its layers as ``tf.compat.v1.layers`` does: ``conv2d``, ``conv2d_1``, ...

    ``assign_statistics`` collects, in order, the operations that store a batch's mean and variance.
    """

    def __init__(self, calibrating: bool) -> None:
        self._tf = tensorflow()
        self._generator = np.random.default_rng(_WEIGHT_SEED)
        self._counts: dict[str, int] = {}
        self._calibrating = calibrating
        self.assign_statistics: list[Any] = []

    def conv2d(self, images: Any, filters: int, size: int, stride: int = 1) -> Any:
        tf = self._tf
        with tf.compat.v1.variable_scope(self._name("conv2d")):
            kernel = self._kernel((size, size, int(images.shape[-1]), filters))
            return tf.nn.conv2d(images, kernel, [1, stride, stride, 1], "SAME")

    def batch_normalization(self, images: Any) -> Any:
        tf = self._tf
        channels = (int(images.shape[-1]),)
        with tf.compat.v1.variable_scope(self._name("batch_normalization")):
            gamma = self._variable("gamma", self._generator.uniform(0.8, 1.2, channels))
            beta = self._variable("beta", 0.1 * self._generator.standard_normal(channels))
            mean = self._variable("moving_mean", np.zeros(channels))
            variance = self._variable("moving_variance", np.ones(channels))
            if not self._calibrating:
                return tf.compat.v1.nn.fused_batch_norm(
                    images, gamma, beta, mean, variance, _EPSILON, is_training=False
                )[0]
            normalized, batch_mean, batch_variance = tf.compat.v1.nn.fused_batch_norm(
                images, gamma, beta, epsilon=_EPSILON
            )
            self.assign_statistics += [mean.assign(batch_mean), variance.assign(batch_variance)]
            return normalized

    def dense(self, features: Any, units: int) -> Any:
        tf = self._tf
        with tf.compat.v1.variable_scope(self._name("dense")):
            kernel = self._kernel((int(features.shape[-1]), units))
            bias = self._variable("bias", 0.1 * self._generator.standard_normal(units))
            return tf.nn.bias_add(tf.matmul(features, kernel), bias)

    def _name(self, kind: str) -> str:
        number = self._counts.get(kind, 0)
        self._counts[kind] = number + 1
        return kind if number == 0 else f"{kind}_{number}"

    def _kernel(self, shape: tuple[int, ...]) -> Any:
        scale = np.sqrt(2.0 / np.prod(shape[:-1]))
        return self._variable("kernel", scale * self._generator.standard_normal(shape))

    def _variable(self, name: str, value: Any) -> Any:
        array = np.asarray(value, np.float32)
        return self._tf.compat.v1.get_variable(name, initializer=array, use_resource=False)


def _network(layers: _Layers, images: Any) -> Any:
    tf = tensorflow()
    with tf.compat.v1.variable_scope(SCOPE, reuse=tf.compat.v1.AUTO_REUSE):
        features = layers.conv2d(images, _FILTERS[0], 7, 2)
        features = tf.identity(features, "initial_conv")
        features = tf.nn.max_pool2d(features, 3, 2, "SAME", name="initial_max_pool")
        for level, (filters, count) in enumerate(zip(_FILTERS, _BLOCKS, strict=True)):
            for block in range(count):
                stride = 2 if block == 0 and level > 0 else 1
                features = _bottleneck(layers, features, filters, stride, project=block == 0)
        features = tf.nn.relu(layers.batch_normalization(features))
        features = tf.reduce_mean(features, [1, 2], name="final_reduce_mean")
        return tf.identity(layers.dense(features, CLASSES), "final_dense")


def _bottleneck(layers: _Layers, features: Any, filters: int, stride: int, *, project: bool) -> Any:
    """Batch norm and ReLU come before each convolution (He et al. 2016)."""
    relu: Callable[[Any], Any] = tensorflow().nn.relu
    shortcut = features
    features = relu(layers.batch_normalization(features))
    if project:
        shortcut = layers.conv2d(features, 4 * filters, 1, stride)
    features = layers.conv2d(features, filters, 1)
    features = layers.conv2d(relu(layers.batch_normalization(features)), filters, 3, stride)
    features = layers.conv2d(relu(layers.batch_normalization(features)), 4 * filters, 1)
    return features + shortcut


def resnet_model(batch: int) -> GraphModel:
    """The frozen graph, with weights that are the same in every process."""
    tf = tensorflow()
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        images = tf.compat.v1.placeholder(tf.float32, (batch, *_IMAGE), "input_tensor")
        logits = _network(_Layers(calibrating=False), images)
        calibration = _Layers(calibrating=True)
        generator = np.random.default_rng(_WEIGHT_SEED)
        sample = generator.standard_normal((_CALIBRATION_IMAGES, *_IMAGE)).astype(np.float32)
        _network(calibration, tf.constant(sample))
        session.run(tf.compat.v1.global_variables_initializer())
        session.run(calibration.assign_statistics)
        return freeze_session(session, (logits.name,))
