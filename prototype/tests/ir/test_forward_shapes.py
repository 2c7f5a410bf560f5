"""No shape is asked for that a value holds already."""

from hypothesis import given, settings

from regvm import isa
from regvm.executable import TensorType
from regvm.ir import Function, Module
from regvm.ir.forward_shapes import forward_shapes
from regvm.ir.printer import show
from regvm.ir.wellformed import assert_well_formed
from regvm_testing.programs import modules
from regvm_testing.writing import block, function, invoke, ret, uses

U = isa.Use
VECTOR = TensorType((2,), "int64")


def forwarded(*instructions: isa.Instruction, row: TensorType = VECTOR) -> list[str]:
    code = function(block([0], *instructions), tensors=[row])
    after = forward_shapes(code)
    assert_well_formed(after)
    return [line.strip() for line in show(after).splitlines()[2:]]


def test_the_shape_of_a_new_tensor_is_the_vector_that_it_was_made_of() -> None:
    assert forwarded(
        invoke(1, 0, 0), isa.AllocTensor(2, U(1), "int8"), isa.ShapeOf(3, U(2)), isa.Copy(4, U(3)), ret(4)
    ) == ["%1:t0 = invoke k2, (%0)", "%2 = alloc_tensor %1, int8", "%4 = copy %1", "ret %4"]


def test_the_shape_of_a_reshaped_tensor_is_the_vector_that_it_was_reshaped_to() -> None:
    assert (
        forwarded(invoke(1, 0, 0), isa.ReshapeTo(2, U(0), U(1)), isa.ShapeOf(3, U(2)), ret(3))[-1] == "ret %1"
    )


def test_a_chain_of_tensors_asks_for_no_shape() -> None:
    chain: list[isa.Instruction] = [invoke(1, 0, 0)]
    code: list[isa.Instruction] = []
    shape = 1
    for value in range(2, 12, 2):
        code += [isa.AllocTensor(value, U(shape), "int8"), isa.ShapeOf(value + 1, U(value))]
        shape = value + 1
    shown = forwarded(*chain, *code, ret(shape))
    assert shown[1:] == [*(f"%{v} = alloc_tensor %1, int8" for v in range(2, 12, 2)), "ret %1"]


def test_the_shape_of_a_scalar_is_no_vector_and_is_asked_for() -> None:
    code = (invoke(1, 0, 0), isa.AllocTensor(2, U(1), "int8"), isa.ShapeOf(3, U(2)), ret(3))
    assert "%3 = shape_of %2" in forwarded(*code, row=TensorType((0,), "int64"))


def test_a_vector_of_other_integers_is_no_answer() -> None:
    code = (invoke(1, 0, 0), isa.AllocTensor(2, U(1), "int8"), isa.ShapeOf(3, U(2)), ret(3))
    assert "%3 = shape_of %2" in forwarded(*code, row=TensorType((2,), "int32"))


def test_what_a_jump_passes_is_renamed_too() -> None:
    code = function(
        block(
            [0],
            invoke(1, 0, 0),
            isa.AllocTensor(2, U(1), "int8"),
            isa.ShapeOf(3, U(2)),
            isa.Jump(1),
            passes=[3],
        ),
        block([4], isa.MakeAdt(5, 0, uses(4)), ret(5)),
        tensors=[VECTOR],
    )
    after = forward_shapes(code)
    assert_well_formed(after)
    assert after.blocks[0].arguments == (1,)


@settings(max_examples=30, deadline=None)
@given(modules())
def test_functions_without_such_shapes_stay_the_same(module: Module) -> None:
    def tensor_rows(code: Function) -> set[str]:
        return {t.dtype for t in code.tensors}

    for code in module.functions:
        if "int64" not in tensor_rows(code):
            assert forward_shapes(code) is code
