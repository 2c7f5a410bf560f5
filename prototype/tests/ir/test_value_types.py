"""Values have the types that tables, parameters and calls give them, and none where nothing says."""

from dataclasses import replace

from regvm import isa
from regvm.executable import Constant, ObjectType, Parameter, TensorType, TupleType
from regvm.ir.value_types import infer
from regvm_testing.writing import TENSOR, block, branch, function, invoke, module, ret, uses

VECTOR = TensorType((2,), "int64")


def test_tensors_constants_shapes_and_tuples() -> None:
    made = function(
        block(
            [0],
            isa.LoadConst(1, 0),
            isa.ShapeOf(2, isa.Use(0)),
            isa.AllocTensor(3, isa.Use(1), "int8"),
            isa.Reshape(4, isa.Use(0), 0),
            isa.ReshapeTo(5, isa.Use(0), isa.Use(1)),
            isa.MakeAdt(6, 0, uses(3, 4)),
            isa.GetField(7, isa.Use(6), 1),
            isa.Copy(8, isa.Use(7)),
            ret(6),
        ),
        tensors=[TensorType((4, 4), "float32")],
    )
    (types,) = infer(replace(module(made), constants=(Constant("int64", (2,), bytes(16)),)))
    pair = TupleType((TensorType((None, None), "int8"), TensorType((4, 4), "float32")))
    assert types.values == {
        0: TENSOR,
        1: VECTOR,
        2: TensorType((1,), "int64"),
        3: pair.fields[0],
        4: pair.fields[1],
        5: TensorType((None, None), "float32"),
        6: pair,
        7: pair.fields[1],
        8: pair.fields[1],
    }
    assert types.result == pair


def test_a_parameter_that_two_types_reach_keeps_what_they_share() -> None:
    made = function(
        block([0], invoke(1, 0, 0), branch(0, 1, 2)),
        block([], isa.Jump(3), passes=[0]),
        block([], isa.Jump(3), passes=[1]),
        block([2], ret(2)),
        tensors=[TensorType((5,), "float32")],
    )
    assert infer(module(made))[0].result == TensorType((None,), "float32")


def test_a_parameter_that_unlike_types_reach_has_none() -> None:
    for count, known in ((0, TENSOR), (1, None)):
        made = function(
            block([0], isa.MakeAdt(1, 0, uses(0)), isa.GetField(2, isa.Use(1), 5), branch(0, 1, 2)),
            block([], isa.Jump(4), passes=[0]),
            block([], branch(0, 3, 5)),
            block([], isa.Jump(4), passes=[1 if count else 2]),
            block([3], ret(3)),
            block([], isa.Jump(4), passes=[0]),
        )
        assert infer(module(made))[0].values.get(3) == known


def test_results_travel_through_calls_and_recursion() -> None:
    first = function(block([0], isa.Call(1, 1, uses(0)), ret(1)))
    second = function(
        block([0], branch(0, 1, 2)), block([], isa.TailCall(2, uses(0))), block([], isa.Fatal())
    )
    third = function(block([0], branch(0, 1, 2)), block([], isa.TailCall(1, uses(0))), block([], ret(0)))
    types = infer(module(first, second, third))
    assert [t.result for t in types] == [TENSOR] * 3
    assert types[0].values[1] == TENSOR


def test_what_an_object_holds_has_no_type() -> None:
    made = replace(
        function(block([0], isa.GetField(1, isa.Use(0), 0), isa.MakeAdt(2, 0, uses(1)), ret(2))),
        parameters=(Parameter("list", ObjectType("List")),),
    )
    (types,) = infer(module(made))
    assert types.values == {0: ObjectType("List")}
    assert types.result is None
