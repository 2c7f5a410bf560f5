"""A program knows its inputs, refuses others, and travels between processes."""

import pickle

import numpy as np
import pytest

from relay_conformance.errors import BadArgumentError, BadInputError, UnsupportedModelError
from relay_conformance.program import Program, TensorSpec, check_inputs, one_line, program_from_module
from relay_conformance.tvm_api import relay, tvm

SPECS = (TensorSpec("x", (2, None), "float32"), TensorSpec("n", (), "int32"))
X, N = np.zeros((2, 5), np.float32), np.array(1, np.int32)


def test_inputs_are_the_parameters_without_weights_in_order(pair_program: Program) -> None:
    assert pair_program.inputs == (TensorSpec("x", (3,), "int32"), TensorSpec("y", (3,), "int32"))
    weighted = program_from_module(pair_program.module, {"x": np.zeros(3, np.int32)})
    assert [spec.name for spec in weighted.inputs] == ["y"]


def test_a_program_pickles(pair_program: Program) -> None:
    copy = pickle.loads(pickle.dumps(pair_program))
    assert copy.inputs == pair_program.inputs
    assert tvm.ir.structural_equal(copy.module, pair_program.module)


def test_a_module_without_main_is_refused() -> None:
    with pytest.raises(BadInputError, match="no function `main`"):
        program_from_module(tvm.IRModule())


def test_an_ill_typed_module_is_refused() -> None:
    x = relay.var("x", shape=(2,), dtype="float32")
    y = relay.var("y", shape=(3,), dtype="float32")
    with pytest.raises(UnsupportedModelError, match="type check"):
        program_from_module(tvm.IRModule.from_expr(relay.Function([x, y], x + y)))


def test_an_input_that_is_no_tensor_is_refused() -> None:
    pair = relay.var("pair", relay.TupleType([relay.scalar_type("int32")]))
    with pytest.raises(BadInputError, match="pair of `main` must be a tensor"):
        program_from_module(tvm.IRModule.from_expr(relay.Function([pair], relay.TupleGetItem(pair, 0))))


def test_a_dynamic_dimension_takes_any_size() -> None:
    assert list(check_inputs(SPECS, {"n": N, "x:0": X}, "feed")) == ["x", "n"]
    assert str(SPECS[0]) == "x: (2, ?) float32"


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"x": X}, "input n is missing"),
        ({"x": X, "n": N, "z": N}, "no input is called z"),
        ({"x": X[0], "n": N}, r"got x: \(5\) float32, but the model takes x: \(2, \?\) float32"),
        ({"x": X[:1], "n": N}, r"got x: \(1, 5\) float32"),
        ({"x": X.astype(np.float64), "n": N}, "got x: .* float64"),
    ],
)
def test_other_inputs_are_refused_by_name(given: dict[str, np.ndarray], complaint: str) -> None:
    with pytest.raises(BadArgumentError, match=f"feed: {complaint}"):
        check_inputs(SPECS, given, "feed")


def test_one_line_finds_the_sentence_below_a_stack_trace() -> None:
    error = RuntimeError("Traceback:\n  0: frame\nInternalError: Check failed: it broke\nlisting")
    assert one_line(error) == "InternalError: Check failed: it broke"


def test_one_line_of_an_ordinary_or_empty_error() -> None:
    assert one_line(ValueError("plain\nsecond")) == "plain"
    assert one_line(KeyError()) == "KeyError"
