"""Compare outputs: bit for bit between machines with the same kernels, within a tolerance against TensorFlow.

Between machines every bit counts, so ``0.0`` and ``-0.0`` differ; only NaN equals NaN whatever its payload,
since IEEE 754 leaves the payload open. Against TensorFlow, which has kernels of its own, the sign of zero
does not count.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from relay_conformance.program import Array
from relay_conformance.values import Outputs


class Kind(Enum):
    COUNT = "number of outputs"
    STRUCTURE = "nesting of the outputs"
    MISSING = "missing value"
    DTYPE = "dtype"
    SHAPE = "shape"
    VALUE = "value"


@dataclass(frozen=True)
class Tolerance:
    """An element may be off by ``relative`` times its own size plus ``absolute`` times the tensor's scale.

    The scale is the root mean square of the expected tensor, at least ``SMALLEST_SCALE``: a sum over
    thousands of terms is only as exact as its terms, however small the sum came out.
    """

    relative: float
    absolute: float


EXACT = Tolerance(0.0, 0.0)
# What an exact zero may be off by is this times `Tolerance.absolute`.
SMALLEST_SCALE = 1e-3
# Deep networks add up thousands of roundings, and in another order than TensorFlow does: MobileNet v1 is
# off by 170 units in the last place of float32. Integers and booleans are exact.
TOLERANCES: Mapping[str, Tolerance] = {
    "float16": Tolerance(1e-2, 1e-2),
    "bfloat16": Tolerance(5e-2, 5e-2),
    "float32": Tolerance(1e-5, 1e-4),
    "float64": Tolerance(1e-12, 1e-12),
}


@dataclass(frozen=True)
class Difference:
    """The first place where output number ``output`` differs; the errors are over all elements that do."""

    output: int
    kind: Kind
    expected: str
    actual: str
    index: tuple[int, ...] | None = None
    differing: int = 0
    size: int = 0
    largest_error: float | None = None
    mean_error: float | None = None

    def __str__(self) -> str:
        place = f"output {self.output}"
        if self.kind is not Kind.VALUE:
            return f"{place}: {self.kind.value} {self.actual}, expected {self.expected}"
        where = "" if not self.index else f" at {list(self.index)}"
        return (
            f"{place}: {self.differing} of {self.size} elements differ, first{where}: {self.actual}, "
            f"expected {self.expected}; largest error {self.largest_error:.3g}, "
            f"mean error {self.mean_error:.3g}"
        )


def bit_differences(expected: Outputs, actual: Outputs) -> tuple[Difference, ...]:
    """Every output in which two machines differ by at least one bit (NaN equals NaN)."""
    return _differences(expected, actual, _differing_bits)


def tolerance_differences(
    expected: Outputs, actual: Outputs, tolerances: Mapping[str, Tolerance] = TOLERANCES
) -> tuple[Difference, ...]:
    """Every output that is further from TensorFlow's than its dtype's tolerance; other dtypes are exact."""

    def outside(left: Array, right: Array) -> Array:
        return _outside(left, right, tolerances.get(str(left.dtype), EXACT))

    return _differences(expected, actual, outside)


def largest_error(expected: Outputs, actual: Outputs) -> float | None:
    """The largest absolute error over all outputs, infinite where one is not finite.

    ``None`` if the outputs can't be compared element by element.
    """
    pairs = list(zip(expected.arrays, actual.arrays, strict=False))
    if len(expected.arrays) != len(actual.arrays):
        return None
    worst = 0.0
    for left, right in pairs:
        if left is None or right is None or left.shape != right.shape:
            return None
        worst = max(worst, float(np.max(_errors(left, right), initial=0.0)))
    return worst


def _differences(expected: Outputs, actual: Outputs, differing: Any) -> tuple[Difference, ...]:
    counts = len(expected.arrays), len(actual.arrays)
    if counts[0] != counts[1]:
        return (Difference(min(counts), Kind.COUNT, str(counts[0]), str(counts[1])),)
    if expected.structure != actual.structure:
        return (Difference(0, Kind.STRUCTURE, expected.structure, actual.structure),)
    pairs = zip(expected.arrays, actual.arrays, strict=True)
    found = (_difference(number, left, right, differing) for number, (left, right) in enumerate(pairs))
    return tuple(difference for difference in found if difference is not None)


def _difference(number: int, left: Array | None, right: Array | None, differing: Any) -> Difference | None:
    if left is None or right is None:
        if left is right:
            return None
        return Difference(number, Kind.MISSING, _presence(left), _presence(right))
    if left.dtype != right.dtype:
        return Difference(number, Kind.DTYPE, str(left.dtype), str(right.dtype))
    if left.shape != right.shape:
        return Difference(number, Kind.SHAPE, str(left.shape), str(right.shape))
    mask = differing(left, right)
    if not mask.any():
        return None
    index = tuple(int(place[0]) for place in np.nonzero(np.atleast_1d(mask)))[: left.ndim]
    errors = _errors(left, right)[mask]
    return Difference(
        number,
        Kind.VALUE,
        str(left[index]),
        str(right[index]),
        index,
        int(mask.sum()),
        left.size,
        float(errors.max()),
        float(errors.mean()),
    )


def _presence(array: Array | None) -> str:
    return "nothing" if array is None else f"{array.dtype} tensor {array.shape}"


def _is_nan(array: Array) -> Array:
    # x != x is NaN's own test; it also serves the types that np.isnan does not take.
    return np.asarray(array != array)


def _differing_bits(left: Array, right: Array) -> Array:
    unsigned = f"u{left.dtype.itemsize}" if left.dtype.itemsize in (1, 2, 4, 8) else None
    if unsigned is None:
        different = np.asarray(left != right)
    else:
        different = np.asarray(_bits(left, unsigned) != _bits(right, unsigned))
    return different & ~(_is_nan(left) & _is_nan(right))


def _bits(array: Array, unsigned: str) -> Array:
    return np.ascontiguousarray(array).view(unsigned).reshape(array.shape)


def _outside(expected: Array, actual: Array, tolerance: Tolerance) -> Array:
    if tolerance == EXACT:
        return np.asarray(expected != actual)
    wide, other = expected.astype(np.float64), actual.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    scale = max(SMALLEST_SCALE, float(np.sqrt(np.mean(np.square(finite)))) if finite.size else 0.0)
    with np.errstate(invalid="ignore"):
        close = np.abs(wide - other) <= tolerance.relative * np.abs(wide) + tolerance.absolute * scale
    same = (wide == other) | (np.isnan(wide) & np.isnan(other))
    return np.asarray(~(same | (close & np.isfinite(wide))))


def _errors(expected: Array, actual: Array) -> Array:
    """Absolute errors as float64: infinite where one side is not finite, 0 where both are the same."""
    if expected.dtype.kind in "biu" and actual.dtype.kind in "biu":
        exact = np.abs(expected.astype(object) - actual.astype(object))
        return np.asarray(exact, dtype=np.float64).reshape(expected.shape)
    wide, other = np.asarray(expected, np.float64), np.asarray(actual, np.float64)
    with np.errstate(invalid="ignore"):
        errors = np.abs(wide - other)
    same = (wide == other) | (np.isnan(wide) & np.isnan(other))
    return np.asarray(np.where(same, 0.0, np.where(np.isnan(errors), np.inf, errors)))
