"""Constants and parameters of every data type; tensors without elements and without dimensions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relay

import regvm

Evaluate = Callable[..., Any]
Compiled = Callable[..., regvm.Executable]

DTYPES = [
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
]  # fmt: skip
LEVELS = [0, 1, 2, 3]


@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
def test_a_constant_is_a_result(dtype: str, evaluate: Evaluate) -> None:
    data = np.array([[0, 1, 2], [3, 100, 127]]).astype(dtype)
    value = evaluate(relay.Function([], relay.const(data, str(data.dtype))))
    assert value.dtype == data.dtype
    assert value.tolist() == data.tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_constant_meets_a_parameter(dtype: str, evaluate: Evaluate) -> None:
    x = relay.var("x", shape=(3,), dtype=dtype)
    data = np.array([1, 2, 100]).astype(dtype)
    value = evaluate(relay.Function([x], x + relay.const(np.array([1, 0, 5]), dtype)), data)
    assert value.dtype == data.dtype
    assert value.tolist() == [2, 2, 105]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_the_largest_and_smallest_numbers_pass(dtype: str, evaluate: Evaluate) -> None:
    ends = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    x = relay.var("x", shape=(2,), dtype=dtype)
    constant, argument = evaluate(
        relay.Function([x], relay.Tuple([relay.const(ends, dtype), relay.reverse(x, 0)])), ends
    )
    assert constant.tolist() == ends.tolist()
    assert argument.tolist() == ends[::-1].tolist()


def test_bool_logic(evaluate: Evaluate) -> None:
    x = relay.var("x", shape=(2,), dtype="bool")
    body = relay.logical_not(relay.logical_and(x, relay.const(np.array([True, True]))))
    assert evaluate(relay.Function([x], body), np.array([True, False])).tolist() == [False, True]


def test_bfloat16_is_carried(evaluate: Evaluate) -> None:
    x = relay.var("x", shape=(4,))
    body = relay.cast(relay.cast(x, "bfloat16"), "float32")
    assert evaluate(relay.Function([x], body), np.array([1, 2, 0.5, -3], "float32")).tolist() == [
        1,
        2,
        0.5,
        -3,
    ]


@pytest.mark.parametrize("engine", ["interpreter", "native"])
@pytest.mark.parametrize("opt_level", LEVELS)
def test_bfloat16_is_a_constant_and_computed_with(opt_level: int, engine: str, compiled: Compiled) -> None:
    x = relay.var("x", shape=(3,))
    half = relay.cast(relay.const(np.array([0.5, 255, -3], "float32")), "bfloat16")
    body = relay.cast(relay.cast(x, "bfloat16") + half, "float32")
    executable = compiled(relay.Function([x], relay.Tuple([body, half])), opt_level=opt_level)
    machine = regvm.VirtualMachine(executable, tvm.cpu(), engine=engine)
    total, constant = machine.invoke("main", np.array([1, 1, 3], "float32"))
    assert total.numpy().tolist() == [1.5, 256, 0]
    assert constant.dtype == "bfloat16"


def test_special_floats_keep_their_bits(evaluate: Evaluate) -> None:
    data = np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324])
    value = evaluate(relay.Function([], relay.const(data, str(data.dtype))))
    assert value.tobytes() == data.tobytes()


@pytest.mark.parametrize("opt_level", LEVELS)
def test_tensors_without_elements(opt_level: int, evaluate: Evaluate) -> None:
    x = relay.var("x", shape=(0, 3))
    y = relay.var("y", shape=(2, 3))
    body = relay.Tuple([relay.concatenate([x, y], 0), x + x, relay.sum(x, axis=0), relay.transpose(x)])
    joined, double, total, turned = evaluate(
        relay.Function([x, y], body),
        np.ones((0, 3), "float32"),
        np.ones((2, 3), "float32"),
        opt_level=opt_level,
    )
    assert joined.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert double.shape == (0, 3)
    assert total.tolist() == [0, 0, 0]
    assert turned.shape == (3, 0)


def test_an_empty_constant(evaluate: Evaluate) -> None:
    assert evaluate(relay.Function([], relay.const(np.ones((2, 0), "float32")))).shape == (2, 0)


@pytest.mark.parametrize("opt_level", LEVELS)
def test_tensors_without_dimensions(opt_level: int, evaluate: Evaluate) -> None:
    x, y = relay.var("x", shape=()), relay.var("y", shape=(2,))
    body = relay.Tuple([x + relay.const(1.0), x * y, relay.sum(y), relay.reshape(x, (1, 1))])
    one, two, three, four = evaluate(
        relay.Function([x, y], body), np.float32(2), np.array([3, 4], "float32"), opt_level=opt_level
    )
    assert (one.shape, float(one)) == ((), 3)
    assert two.tolist() == [6, 8]
    assert (three.shape, float(three)) == ((), 7)
    assert four.tolist() == [[2]]


def test_equal_constants_are_kept_once(compiled: Compiled) -> None:
    x = relay.var("x", shape=(2,))
    ones = [relay.const(np.ones(2, "float32")) for _ in range(3)]
    body = relay.Tuple([relay.op.annotation.stop_fusion(x + ones[0]) * ones[1], x - ones[2]])
    assert len(compiled(relay.Function([x], body)).program.constants) == 1


def test_a_constant_result_is_a_copy(compiled: Compiled) -> None:
    executable = compiled(relay.Function([], relay.const(np.array([1, 2], "float32"))))
    machine = regvm.VirtualMachine(executable, tvm.cpu())
    machine.invoke("main").copyfrom(np.zeros(2, "float32"))
    assert machine.invoke("main").numpy().tolist() == [1, 2]


NUMBERS = {
    "bool": [True, np.True_],
    "int8": [5, np.int8(5), -128],
    "int32": [5, np.int32(5), True],
    "int64": [5, 2**40, np.int64(2**40)],
    "uint8": [255, np.uint8(1)],
    "uint64": [2**63],
    "float16": [1.5, np.float16(1.5), 3],
    "float32": [1.5, np.float32(1.5), np.float64(1.5), 7],
    "float64": [0.1, np.float64(0.1), 7],
}


@pytest.mark.parametrize(("dtype", "number"), [(d, n) for d, numbers in NUMBERS.items() for n in numbers])
def test_a_number_takes_its_parameters_type(dtype: str, number: Any, evaluate: Evaluate) -> None:
    x = relay.var("x", shape=(), dtype=dtype)
    value = evaluate(relay.Function([x], x), number)
    assert value.dtype == np.dtype(dtype)
    assert value == np.dtype(dtype).type(number)


@pytest.mark.parametrize(("dtype", "number"), [("int8", 128), ("uint8", -1), ("int32", 1.5), ("bool", 1)])
def test_a_number_that_does_not_fit_is_refused(dtype: str, number: Any, compiled: Compiled) -> None:
    x = relay.var("x", shape=(), dtype=dtype)
    machine = regvm.VirtualMachine(compiled(relay.Function([x], x)), tvm.cpu())
    with pytest.raises(regvm.errors.ArgumentError, match=f"parameter x: takes {dtype}"):
        machine.invoke("main", number)
