"""Everything that the reference takes as an argument is taken, of every data type and shape, and comes back whole."""

from typing import Any

import numpy as np
import pytest
import tvm
from tvm.runtime.container import ADT

from regvm.errors import ArgumentError
from regvm.executable import ObjectType, Parameter, ParamType, TensorType, TupleType
from regvm.runtime.kernels.arguments import Data, to_user, to_value
from regvm.runtime.values import Adt, Closure, Ref, Tensor, Value

DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
]
SHAPES = [(), (0,), (1,), (3, 0, 2), (2, 3), (2, 1, 4)]


def value(argument: Any, type_: ParamType) -> Value:
    return to_value(argument, Parameter("x", type_), "main")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_arrays_of_every_type_and_shape_come_back(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.random.default_rng(7).integers(0, 100, shape).astype(dtype)
    for argument in (array, tvm.nd.array(array)):
        result = to_user(value(argument, TensorType(shape, dtype))).numpy()
        np.testing.assert_array_equal(result, array)
        assert (result.dtype, result.shape) == (array.dtype, shape)


def test_bfloat16_arrays_are_taken_as_they_are() -> None:
    array = tvm.nd.empty((2, 3), "bfloat16")
    assert to_user(value(array, TensorType((2, 3), "bfloat16"))).same_as(array)
    with pytest.raises(ArgumentError, match=r"takes bfloat16\[2, 3\], but the argument is uint16"):
        value(np.zeros((2, 3), "uint16"), TensorType((2, 3), "bfloat16"))


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24, dtype="float32").reshape(4, 6)[::2, ::3],
        np.arange(4, dtype="float32").reshape(2, 2).T,
        np.arange(4, dtype="float32")[::-1].reshape(2, 2),
        np.asfortranarray(np.arange(4, dtype="float32").reshape(2, 2)),
        np.broadcast_to(np.float32(3), (2, 2)),
        np.arange(4, dtype=">f4").reshape(2, 2).astype("float32"),
    ],
)
def test_arrays_in_any_memory_order_are_taken_by_value(array: Any) -> None:
    result = to_user(value(array, TensorType((2, 2), "float32"))).numpy()
    np.testing.assert_array_equal(result, array)


def test_a_numpy_array_is_copied_and_an_ndarray_is_not() -> None:
    array = np.zeros(2, "float32")
    taken = value(array, TensorType((2,), "float32"))
    array[:] = 7
    assert to_user(taken).numpy().tolist() == [0, 0]
    shared = tvm.nd.array(array)
    assert to_user(value(shared, TensorType((2,), "float32"))).same_as(shared)


@pytest.mark.parametrize(
    ("scalar", "dtype"),
    [
        (3, "int32"),
        (-3, "int32"),
        (2.5, "float32"),
        (np.int64(3), "int32"),
        (np.uint8(3), "int32"),
        (np.float64(2.5), "float32"),
        (np.float16(2.5), "float16"),
        (True, "bool"),
        (np.bool_(True), "bool"),
        (True, "int32"),
        (np.int64(3), "int64"),
        (2.5, "float64"),
        (np.float64(2.5), "float64"),
        (np.float32(2.5), "float32"),
    ],
)
def test_scalars_keep_a_type_that_fits_or_get_the_references(scalar: Any, dtype: str) -> None:
    result = to_user(value(scalar, TensorType((), dtype)))
    assert (result.numpy(), result.dtype, result.shape) == (scalar, dtype, ())


@pytest.mark.parametrize("shape", [(5, 3), (0, 3), (1, 3)])
def test_an_unknown_dimension_takes_any_size(shape: tuple[int, ...]) -> None:
    taken = value(np.zeros(shape, "int8"), TensorType((None, 3), "int8"))
    assert isinstance(taken, Tensor)
    assert taken.type.shape == shape


@pytest.mark.parametrize("shape", [(5, 4), (5,), (5, 3, 1)])
def test_an_unknown_dimension_leaves_the_others_fixed(shape: tuple[int, ...]) -> None:
    with pytest.raises(ArgumentError, match=r"@main, parameter x: takes int8\[\?, 3\]"):
        value(np.zeros(shape, "int8"), TensorType((None, 3), "int8"))


SCALAR = TensorType((), "int32")
NESTED = TupleType((SCALAR, TupleType((SCALAR, TupleType(())))))


@pytest.mark.parametrize("make", [tuple, list])
def test_tuples_and_lists_are_tuples(make: Any) -> None:
    taken = value(make([1, make([2, make([])])]), NESTED)
    result = to_user(taken)
    assert isinstance(result, ADT)
    assert (result.tag, len(result)) == (0, 2)
    assert int(result[0].numpy()) == 1
    assert int(result[1][0].numpy()) == 2
    assert len(result[1][1]) == 0


def test_results_are_taken_as_arguments_again() -> None:
    result = to_user(value((1, (2, ())), NESTED))
    assert int(to_user(value(result, NESTED))[1][0].numpy()) == 2
    data = to_user(Adt(7, (Adt(8, ()),)))
    taken = value(data, ObjectType("List"))
    assert isinstance(taken, Adt)
    assert taken.tag == 7
    assert isinstance(taken.fields[0], Adt)
    assert taken.fields[0].tag == 8


def test_none_is_an_empty_tensor() -> None:
    taken = value(None, TensorType((None,), "float64"))
    assert isinstance(taken, Tensor)
    assert str(taken.type) == "float64[0]"


def test_functions_and_references_pass_through() -> None:
    closure, ref = Closure(0, ()), Ref(Adt(0, ()))
    assert value(closure, ObjectType("function")) is closure
    assert value(ref, ObjectType("reference")) is ref
    assert to_user(closure) is closure


@pytest.mark.parametrize(
    ("argument", "type_", "message"),
    [
        ((1,), NESTED, r"parameter x: takes a tuple \(int32\[\], \(int32\[\], \(\)\)\)"),
        (1, NESTED, "parameter x: takes a tuple"),
        ((1, (2.5, ())), NESTED, r"parameter x\.1\.0: takes int32\[\], but the argument is float32\[\]"),
        ((1, (2, (3,))), NESTED, r"parameter x\.1\.1: takes a tuple \(\)"),
        ((1, "two"), NESTED, "parameter x: str is no array"),
        ({"a": 1}, SCALAR, "parameter x: dict is no array"),
        (1, ObjectType("function"), "parameter x: takes a function, not a tensor"),
        ((1,), ObjectType("reference"), "parameter x: takes a reference, not a adt"),
        (np.array(["a"]), SCALAR, "parameter x: .*<U1"),
        (np.array([object()]), SCALAR, "parameter x: .*object"),
        (np.zeros(2, "complex64"), SCALAR, "parameter x: .*complex64"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(argument: Any, type_: ParamType, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        value(argument, type_)


def test_a_list_as_long_as_memory_allows_comes_back() -> None:
    data: Value = Adt(1, ())
    for _ in range(20_000):
        data = Adt(2, (data,))
    result = to_user(data)
    length = 0
    while result.tag == 2:
        result, length = result[0], length + 1
    assert length == 20_000


def test_a_list_as_long_as_memory_allows_is_taken() -> None:
    data: Value = Adt(1, ())
    for _ in range(20_000):
        data = Adt(2, (data,))
    again = value(to_user(data), ObjectType("List"))
    for _ in range(20_000):
        assert isinstance(again, Adt)
        (again,) = again.fields
    assert isinstance(again, Adt)
    assert again.tag == 1


def test_what_holds_a_function_or_a_reference_comes_back_with_tag_and_fields() -> None:
    closure, cell = Closure(0, ()), Ref(Adt(0, ()))
    result = to_user(Adt(0, (Adt(7, (closure,)), cell)))
    assert isinstance(result, Data)
    assert (result.tag, len(result), result[0].tag, result[0][0], result[1]) == (0, 2, 7, closure, cell)
    again = value(result, TupleType((ObjectType("List"), ObjectType("reference"))))
    assert isinstance(again, Adt)
    assert again.fields[1] is cell


def test_shared_parts_stay_shared() -> None:
    part = value(np.zeros(1, "float32"), TensorType((1,), "float32"))
    data: Value = part
    # Without sharing this would be 2 ** 40 objects.
    for _ in range(40):
        data = Adt(0, (data, data))
    result = to_user(data)
    for _ in range(40):
        result = result[1]
    assert result.numpy().tolist() == [0]
