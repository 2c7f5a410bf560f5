"""Made-up inputs follow from the seed, and are refused where they would be a guess."""

import numpy as np
import pytest

from relay_conformance.errors import BadInputError
from relay_conformance.inputs import seeded_inputs
from relay_conformance.program import TensorSpec

SPECS = tuple(
    TensorSpec(dtype, (4, 5), dtype) for dtype in ("float16", "float32", "int8", "int64", "uint8", "bool")
)


def test_the_same_seed_gives_the_same_arrays() -> None:
    first, second, other = (seeded_inputs(SPECS, seed) for seed in (1, 1, 2))
    for spec in SPECS:
        assert spec.accepts(first[spec.name])
        assert np.array_equal(first[spec.name], second[spec.name])
        assert not np.array_equal(first[spec.name], other[spec.name])


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_values_vary(dtype: str) -> None:
    array = seeded_inputs([TensorSpec("x", (100,), dtype)], 0)["x"]
    assert len(np.unique(array)) > 1


@pytest.mark.parametrize("spec", [TensorSpec("x", (None, 3), "float32"), TensorSpec("x", (2,), "string")])
def test_what_is_not_known_must_be_given(spec: TensorSpec) -> None:
    with pytest.raises(BadInputError, match=r"--input x=FILE.npy"):
        seeded_inputs([spec], 0)
