"""The int32 program holds what the issue lists, over tensors of one element."""

import numpy as np

from relay_conformance.models.int32_program import INPUT_NAMES, int32_1x1, int32_inputs
from relay_conformance.numpy_evaluation import evaluate
from relay_conformance.program import TensorSpec


def test_its_inputs() -> None:
    assert int32_1x1().inputs == tuple(TensorSpec(name, (1, 1), "int32") for name in INPUT_NAMES)


def test_its_constructs() -> None:
    text = str(int32_1x1().module)
    for construct in ("add(", "subtract(", "multiply(", "let ", "@combine(", "if ("):
        assert construct in text


def test_the_formula_written_out() -> None:
    inputs = {
        name: np.array([[value]], np.int32) for name, value in zip(INPUT_NAMES, (3, 20, 4, 5), strict=True)
    }
    total, difference = 3 + 4, 20 - 5
    called = total * difference - total
    chosen = called + 3 * 5
    outputs = evaluate(int32_1x1(), inputs).arrays
    assert [array.item() for array in outputs if array is not None] == [chosen * total + difference, called]


def test_outputs_vary_with_the_seed_and_take_both_branches() -> None:
    inputs = [int32_inputs(seed) for seed in range(20)]
    results = {str(evaluate(int32_1x1(), given).arrays) for given in inputs}
    assert len(results) == 20
    branches = {
        int((given["x"] + given["p0"]).item()) < int((given["x1"] - given["p1"]).item()) for given in inputs
    }
    assert branches == {True, False}
