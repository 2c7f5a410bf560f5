"""NumPy evaluates Relay without any of the code under test, and says what it does not know."""

from typing import Any

import numpy as np
import pytest

from relay_conformance.errors import UnsupportedModelError
from relay_conformance.numpy_evaluation import evaluate
from relay_conformance.program import Program, program_from_module
from relay_conformance.tvm_api import relay, tvm


def program(text: str) -> Program:
    return program_from_module(relay.fromtext('#[version = "0.0.5"]\n' + text))


def results(evaluated: Program, **inputs: Any) -> list[Any]:
    arrays = {name: np.asarray(value) for name, value in inputs.items()}
    return [array.tolist() for array in evaluate(evaluated, arrays).arrays if array is not None]


def test_operators_lets_and_tuples(pair_program: Program) -> None:
    assert results(pair_program, x=np.array([1, 2, 3], np.int32), y=np.array([5, 5, 5], np.int32)) == [
        [2, 5, 10],
        [-4, -3, -2],
    ]


@pytest.mark.parametrize(("flag", "expected"), [(True, 18.0), (False, 8.0)])
def test_nested_conditionals(flag: bool, expected: float, killed_register_program: Program) -> None:
    assert results(killed_register_program, c=flag, x=np.float32(2), y=np.float32(10)) == [expected]


def test_integers_wrap_as_in_kernels() -> None:
    squared = program("def @main(%x: int32) { multiply(%x, %x) }")
    assert results(squared, x=np.int32(2**16)) == [0]


@pytest.mark.thorough
def test_a_long_tail_recursive_loop_does_not_nest() -> None:
    loop = program(
        "def @loop(%i: int32, %n: int32, %total: int32) -> int32 {\n"
        "  if (less(%i, %n)) { @loop(add(%i, 1), %n, add(%total, %i)) } else { %total }\n}\n"
        "def @main(%n: int32) -> int32 { @loop(0, %n, 0) }"
    )
    assert results(loop, n=np.int32(3000)) == [3000 * 2999 // 2]


def test_weights_are_inputs_that_are_there(pair_program: Program) -> None:
    weighted = program_from_module(pair_program.module, {"y": np.array([1, 1, 1], np.int32)})
    assert results(weighted, x=np.array([1, 2, 3], np.int32))[1] == [0, 1, 2]


def test_a_field_of_a_tuple_and_a_called_function() -> None:
    called = program(
        "def @main(%x: int32) { let %p = (%x, add(%x, 1)); (fn (%y: int32) { multiply(%y, 3) })(%p.1) }"
    )
    assert results(called, x=np.int32(4)) == [15]


def test_an_unknown_operator_is_named() -> None:
    with pytest.raises(UnsupportedModelError, match=r"nn.softmax"):
        results(
            program("def @main(%x: Tensor[(2), float32]) { nn.softmax(%x) }"), x=np.array([1, 2], np.float32)
        )


def test_an_unknown_construct_is_named() -> None:
    reference = relay.RefRead(relay.RefCreate(relay.const(1)))
    held = program_from_module(tvm.IRModule.from_expr(relay.Function([], reference)))
    with pytest.raises(UnsupportedModelError, match="RefRead"):
        evaluate(held, {})
