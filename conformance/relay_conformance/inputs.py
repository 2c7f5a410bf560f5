"""Seeded inputs: the same seed gives the same arrays on every machine and NumPy."""

from collections.abc import Mapping, Sequence

import numpy as np

from relay_conformance.errors import BadInputError
from relay_conformance.program import Array, TensorSpec


def seeded_inputs(specs: Sequence[TensorSpec], seed: int) -> Mapping[str, Array]:
    """Normal numbers for floats, 0 to 9 for integers, coins for booleans.

    Raises:
        BadInputError: a dimension or a dtype is not known well enough to make one up; it must be given.
    """
    generator = np.random.default_rng(seed)
    return {spec.name: _array(spec, generator) for spec in specs}


def _array(spec: TensorSpec, generator: np.random.Generator) -> Array:
    shape = [size for size in spec.shape if size is not None]
    if len(shape) != len(spec.shape):
        raise BadInputError(f"input {spec} has unknown dimensions; give it with --input {spec.name}=FILE.npy")
    if spec.dtype.startswith("float"):
        return generator.standard_normal(shape).astype(spec.dtype)
    if spec.dtype == "bool":
        return generator.integers(0, 2, shape).astype(np.bool_)
    if spec.dtype.startswith(("int", "uint")):
        return generator.integers(0, 10, shape).astype(spec.dtype)
    raise BadInputError(
        f"input {spec} has a dtype with no seeded values; give it with --input {spec.name}=FILE.npy"
    )
