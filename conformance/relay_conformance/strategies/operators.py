"""What the drawn operators mean, in NumPy: integers wrap, each result has the dtype of its operands.

TVM's arithmetic simplifier takes it that int32 and int64 don't overflow, also inside kernels of data:
``less(add(x, 1), 5)`` as one kernel is False at the largest x, where the two operators one after the other
give True. So only the operators of the ring of integers (``RING``) take compound operands, which may be
fused; those that depend on order or division take variables, which TVM doesn't fuse across.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from relay_conformance.program import Array
from relay_conformance.strategies.syntax import Attribute

Attributes = Mapping[str, Any]
Meaning = Callable[[tuple[Any, ...], Attributes], Any]

RING = ("add", "subtract", "multiply", "bitwise_and", "bitwise_or", "bitwise_xor")
RING_UNARY = ("negative", "bitwise_not")
ORDER = ("maximum", "minimum")
COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
DIVISIONS = ("floor_divide", "floor_mod", "divide", "mod")
LOGICAL = ("logical_and", "logical_or", "logical_xor")
REDUCTIONS = ("sum", "max", "min")
INEXACT = ("tanh", "sigmoid", "nn.softmax")
"""Operators whose last bit depends on the library: NumPy is no voice on what follows from them."""


def _plain(function: Callable[..., Any]) -> Meaning:
    return lambda arguments, _: function(*arguments)


def _truncated_mod(a: Array, b: Array) -> Array:
    # NumPy's fmod has C's sign rule on integers too.
    return np.asarray(np.fmod(a, b))


def _truncated_divide(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.asarray(a / b)
    return np.asarray((a - np.fmod(a, b)) // b)


def _reduction(function: Callable[..., Any]) -> Meaning:
    def reduce(arguments: tuple[Any, ...], attributes: Attributes) -> Any:
        (source,) = arguments
        # NumPy would add small integers up in a larger type.
        given = {"dtype": source.dtype} if function is np.sum else {}
        axis, keep = tuple(attributes["axis"]), bool(attributes.get("keepdims", False))
        return function(source, axis=axis, keepdims=keep, **given)

    return reduce


def _softmax(arguments: tuple[Any, ...], _: Attributes) -> Any:
    (x,) = arguments
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _convolution(arguments: tuple[Any, ...], attributes: Attributes) -> Any:
    """NCHW with OIHW weights, stride 1."""
    data, weight = arguments
    pad = attributes["padding"][0]
    padded = np.pad(data, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, weight.shape[2:], axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, weight).astype(data.dtype)


def _max_pool(arguments: tuple[Any, ...], attributes: Attributes) -> Any:
    (data,) = arguments
    windows = np.lib.stride_tricks.sliding_window_view(data, attributes["pool_size"], axis=(2, 3))
    return windows.max(axis=(4, 5))


def _slice(arguments: tuple[Any, ...], attributes: Attributes) -> Any:
    bounds = zip(attributes["begin"], attributes["end"], strict=True)
    return arguments[0][tuple(slice(begin, end) for begin, end in bounds)]


MEANINGS: Mapping[str, Meaning] = {
    "add": _plain(np.add),
    "subtract": _plain(np.subtract),
    "multiply": _plain(np.multiply),
    "bitwise_and": _plain(np.bitwise_and),
    "bitwise_or": _plain(np.bitwise_or),
    "bitwise_xor": _plain(np.bitwise_xor),
    "bitwise_not": _plain(np.invert),
    "negative": _plain(np.negative),
    "abs": _plain(np.absolute),
    "maximum": _plain(np.maximum),
    "minimum": _plain(np.minimum),
    "less": _plain(np.less),
    "less_equal": _plain(np.less_equal),
    "greater": _plain(np.greater),
    "greater_equal": _plain(np.greater_equal),
    "equal": _plain(np.equal),
    "not_equal": _plain(np.not_equal),
    "logical_and": _plain(np.logical_and),
    "logical_or": _plain(np.logical_or),
    "logical_xor": _plain(np.logical_xor),
    "logical_not": _plain(np.logical_not),
    "floor_divide": _plain(np.floor_divide),
    "floor_mod": _plain(np.mod),
    "divide": _plain(_truncated_divide),
    "mod": _plain(_truncated_mod),
    "left_shift": _plain(np.left_shift),
    "right_shift": _plain(np.right_shift),
    "where": _plain(np.where),
    "squeeze": lambda a, o: np.squeeze(a[0], axis=tuple(o["axis"]) if "axis" in o else None),
    "expand_dims": lambda a, o: np.expand_dims(a[0], o["axis"]),
    "reshape": lambda a, o: np.reshape(a[0], o["newshape"]),
    "transpose": lambda a, o: np.transpose(a[0], o["axes"]),
    "reverse": lambda a, o: np.flip(a[0], o["axis"]),
    "concatenate": lambda a, o: np.concatenate(a[0], axis=o["axis"]),
    "strided_slice": _slice,
    "broadcast_to": lambda a, o: np.broadcast_to(a[0], o["shape"]),
    "full": lambda a, o: np.full(o["shape"], a[0], dtype=o["dtype"]),
    "cast": lambda a, o: a[0].astype(o["dtype"]),
    "sum": _reduction(np.sum),
    "max": _reduction(np.max),
    "min": _reduction(np.min),
    "nn.relu": lambda a, _: np.maximum(a[0], a[0].dtype.type(0)),
    "nn.dense": lambda a, _: a[0] @ a[1].T,
    "nn.batch_matmul": lambda a, _: a[0] @ np.swapaxes(a[1], 1, 2),
    "nn.conv2d": _convolution,
    "nn.max_pool2d": _max_pool,
    "nn.softmax": _softmax,
    "tanh": _plain(np.tanh),
    "sigmoid": lambda a, _: 1 / (1 + np.exp(-a[0])),
}


def apply(name: str, arguments: tuple[Any, ...], attributes: tuple[tuple[str, Attribute], ...]) -> Array:
    """The result of an operator on NumPy arrays; a tuple argument is a tuple of arrays."""
    return np.asarray(MEANINGS[name](arguments, dict(attributes)))
