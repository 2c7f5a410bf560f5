"""What an executor returned, as NumPy arrays in one flat order beside the shape of the nest they came in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relay_conformance.program import Array
from relay_conformance.tvm_api import tvm


@dataclass(frozen=True)
class Outputs:
    """``structure`` writes each tensor as ``*``, such as ``(*, (*, *))``.

    ``None`` in place of an array is a result that was left out, as the reference does with a killed register.
    """

    arrays: tuple[Array | None, ...]
    structure: str


def outputs_from_arrays(arrays: Sequence[Any]) -> Outputs:
    """Outputs of one tensor, or of a flat tuple of several."""
    flat = tuple(np.asarray(array) for array in arrays)
    return Outputs(flat, "*" if len(flat) == 1 else f"({', '.join('*' * len(flat))})")


def outputs_from_value(value: Any) -> Outputs:
    """Flatten TVM's tensors and tuples, Python's, or a mixture.

    Raises:
        TypeError: the value holds something else, such as a closure.
    """
    arrays: list[Array | None] = []
    structure = _flatten(value, arrays)
    return Outputs(tuple(arrays), structure)


def _flatten(value: Any, arrays: list[Array | None]) -> str:
    if value is None:
        arrays.append(None)
        return "*"
    if isinstance(value, tvm.nd.NDArray):
        arrays.append(value.numpy())
        return "*"
    if isinstance(value, np.ndarray | np.generic):
        arrays.append(np.asarray(value))
        return "*"
    if isinstance(value, tvm.runtime.container.ADT | tvm.ir.Array | tuple | list):
        return f"({', '.join(_flatten(field, arrays) for field in value)})"
    raise TypeError(f"an executor returned {type(value).__name__}, which is neither a tensor nor a tuple")
