"""Operands of a case, and the seeded arrays that stand for them."""

import hashlib
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, TypeAlias

import numpy as np

from relay_conformance.program import Array

Shape: TypeAlias = tuple[int, ...]
INF, NAN = float("inf"), float("nan")


@dataclass(frozen=True)
class Normal:
    """Normal numbers times ``scale``; integers are rounded, so that ``scale`` is about their spread."""

    scale: float = 1.0


@dataclass(frozen=True)
class Uniform:
    """``low`` to ``high``, both included for integers."""

    low: float
    high: float


@dataclass(frozen=True)
class Given:
    """The values themselves, nested as the shape is."""

    values: Any


@dataclass(frozen=True)
class Shuffled:
    """0, 1, 2, … in a random order: no two equal, so that the order of a result is defined."""


Values: TypeAlias = Normal | Uniform | Given | Shuffled


class Role(Enum):
    """A fed operand is a placeholder in one form of the case; a fixed one, such as an axis, never is.

    A defaulted one is a placeholder that has a default, zero, and is fed all the same.
    """

    FED = "fed"
    FIXED = "fixed"
    DEFAULTED = "defaulted"


@dataclass(frozen=True)
class Operand:
    """``open_dimensions`` are those whose size the placeholder leaves unknown."""

    shape: Shape
    dtype: str
    values: Values
    role: Role = Role.FED
    open_dimensions: tuple[int, ...] = ()

    @property
    def placeholder_shape(self) -> tuple[int | None, ...]:
        return tuple(None if axis in self.open_dimensions else size for axis, size in enumerate(self.shape))


@dataclass(frozen=True)
class Operands:
    """Several operands where the operator takes a list."""

    items: tuple[Operand, ...] = field(default=())


def tensor(*shape: int, dtype: str = "float32", values: Values | None = None) -> Operand:
    """A fed operand; by default normal numbers, small integers or coins."""
    return Operand(shape, dtype, values or _ordinary(dtype))


def given(values: Any, dtype: str = "float32") -> Operand:
    """A fed operand of exactly these values."""
    array = np.array(values, dtype)
    return Operand(array.shape, dtype, Given(array.tolist()))


def fixed(values: Any, dtype: str = "int32") -> Operand:
    """A constant in every form of the case: an axis, a shape, a number of segments."""
    return replace(given(values, dtype), role=Role.FIXED)


def leading_dimension_open(operand: Operand) -> Operand:
    """The same with a first dimension that the graph doesn't know."""
    return replace(operand, open_dimensions=(0,))


def make(operand: Operand, seed: str) -> Array:
    """The array; the same for the same ``seed`` in every process."""
    generator = np.random.default_rng(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big"))
    return np.asarray(_draw(operand, generator)).astype(operand.dtype).reshape(operand.shape)


def _ordinary(dtype: str) -> Values:
    if dtype.startswith(("float", "bfloat")):
        return Normal()
    if dtype == "bool":
        return Uniform(0, 1)
    return Uniform(0, 20) if dtype.startswith("uint") else Uniform(-10, 10)


def _draw(operand: Operand, generator: np.random.Generator) -> Array:
    whole = not operand.dtype.startswith(("float", "bfloat"))
    match operand.values:
        case Normal(scale):
            drawn = generator.standard_normal(operand.shape) * scale
            return np.asarray(np.round(drawn) if whole else drawn)
        case Uniform(low, high) if whole:
            return np.asarray(generator.integers(int(low), int(high), operand.shape, endpoint=True))
        case Uniform(low, high):
            return np.asarray(generator.uniform(low, high, operand.shape))
        case Given(values):
            return np.array(values, operand.dtype)
        case Shuffled():
            return generator.permutation(int(np.prod(operand.shape)))
