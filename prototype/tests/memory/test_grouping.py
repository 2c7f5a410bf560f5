"""Dynamic tensors are placed in groups, whose sizes are known before the first kernel of the group runs."""

from regvm import isa
from regvm.executable import TensorType
from regvm.ir import Function
from regvm.ir.printer import show
from regvm.ir.wellformed import assert_well_formed
from regvm.memory.grouping import group_dynamic_tensors
from regvm_testing.writing import block, branch, function, invoke, ret, uses

U = isa.Use
VECTOR = TensorType((2,), "int64")


def dynamic(shape: int, dst: int, *args: int) -> list[isa.Instruction]:
    """A kernel that writes a new tensor, of the shape in a value."""
    kernel = {1: 2, 2: 4}[len(args)]
    return [isa.AllocTensor(dst, U(shape), "float32"), isa.InvokeInto(kernel, uses(*args), uses(dst))]


def grouped(code: Function, *escaping: int) -> list[str]:
    after = group_dynamic_tensors(code, frozenset(escaping))
    assert_well_formed(after)
    return [line.strip() for line in show(after).splitlines()[2:]]


def straight(*instructions: isa.Instruction) -> Function:
    rows = sum(isinstance(i, isa.Invoke) for i in instructions)
    return function(block([0], *instructions), tensors=[VECTOR] * rows)


def test_shapes_that_follow_from_shapes_are_computed_before_the_group_is_placed() -> None:
    code = straight(
        invoke(1, 0, 0), *dynamic(1, 2, 0), invoke(3, 1, 1), *dynamic(3, 4, 2), isa.Copy(5, U(4)), ret(5)
    )
    assert grouped(code) == [
        "%1:t0 = invoke k2, (%0)",
        "set_shape t2, %1",
        "%3:t1 = invoke k2, (%1)",
        "set_shape t3, %3",
        "place_tensors g0, (t2, t3)",
        "%2:t2 = invoke k2, (%0)",
        "%4:t3 = invoke k2, (%2)",
        "%5 = copy %4",
        "ret %5",
    ]


def test_a_shape_that_a_kernel_of_the_group_decides_begins_another_group() -> None:
    code = straight(
        invoke(1, 0, 0), *dynamic(1, 2, 0), invoke(3, 1, 2), *dynamic(3, 4, 2), isa.Copy(5, U(4)), ret(5)
    )
    shown = grouped(code)
    assert [line for line in shown if line.startswith("place")] == [
        "place_tensors g0, (t2)",
        "place_tensors g1, (t3)",
    ]
    assert shown.index("%2:t2 = invoke k2, (%0)") < shown.index("%3:t1 = invoke k2, (%2)")


def test_a_call_ends_a_group_since_nothing_is_moved_over_it() -> None:
    code = straight(
        invoke(1, 0, 0),
        *dynamic(1, 2, 0),
        isa.Call(6, 0, uses(0)),
        invoke(3, 1, 1),
        *dynamic(3, 4, 2),
        isa.Copy(5, U(4)),
        ret(5),
    )
    assert "place_tensors g1, (t3)" in grouped(code)


def test_what_escapes_owns_its_storage_as_before() -> None:
    code = straight(invoke(1, 0, 0), *dynamic(1, 2, 0), ret(2))
    assert group_dynamic_tensors(code, frozenset({2})) is code


def test_of_a_kernel_with_two_results_the_one_that_escapes_is_not_placed() -> None:
    both = [isa.AllocTensor(2, U(1), "int8"), isa.AllocTensor(3, U(1), "int8")]
    code = straight(invoke(1, 0, 0), *both, isa.InvokeInto(3, uses(0), uses(2, 3)), isa.Copy(4, U(2)), ret(3))
    shown = grouped(code, 3)
    assert shown[1:5] == [
        "set_shape t1, %1",
        "set_shape t2, %1",
        "place_tensors g0, (t1)",
        "%2:t1, %3:t2 = invoke k3, (%0)",
    ]


def test_a_tensor_whose_rank_is_unknown_is_left_alone() -> None:
    code = function(block([0], *dynamic(0, 1, 0), isa.Copy(2, U(1)), ret(2)))
    assert group_dynamic_tensors(code, frozenset()) is code


def test_a_tensor_that_is_read_before_its_kernel_writes_it_is_left_alone() -> None:
    alloc, call = dynamic(1, 2, 0)
    code = straight(invoke(1, 0, 0), alloc, isa.Copy(3, U(2)), call, isa.Copy(4, U(2)), ret(3))
    assert group_dynamic_tensors(code, frozenset()) is code


def test_each_block_has_groups_of_its_own() -> None:
    code = function(
        block([0], invoke(1, 0, 0), branch(0, 1, 2)),
        block([], *dynamic(1, 2, 0), isa.Copy(3, U(2)), ret(3)),
        block([], *dynamic(1, 4, 0), isa.Copy(5, U(4)), ret(5)),
        tensors=[VECTOR],
    )
    assert [line for line in grouped(code) if line.startswith("place")] == [
        "place_tensors g0, (t1)",
        "place_tensors g1, (t2)",
    ]
