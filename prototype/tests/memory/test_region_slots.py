"""As many slots as dynamic tensors are live at once; groups whose tensors are not live together share a region."""

from regvm import isa
from regvm.compiler import intervals_of
from regvm.executable import InRegion, TensorType
from regvm.ir import Function
from regvm.memory import escape
from regvm.memory.placement import Placement, place
from regvm.memory.planner import plan
from regvm_testing.writing import block, branch, function, invoke, module, ret

U = isa.Use
VECTOR = TensorType((None,), "float32")


def placed(code: Function) -> Placement:
    (facts,) = escape.analyse(module(code))
    _, spans = intervals_of(code)
    return place(code, facts, spans.ranges, spans.starts, plan)


def group(number: int, *rows: int, shapes: tuple[int, ...] = ()) -> list[isa.Instruction]:
    """Shapes, of parameter 0 if not said otherwise, and the placing of a group."""
    of = shapes or (0,) * len(rows)
    sizes = [isa.SetShape(r, U(s)) for r, s in zip(rows, of, strict=True)]
    return [*sizes, isa.PlaceTensors(number, rows)]


def straight(*instructions: isa.Instruction, rows: int) -> Function:
    return function(block([0, 9], *instructions), tensors=[VECTOR] * rows)


def test_a_chain_takes_two_slots_in_turn() -> None:
    code = straight(
        *group(0, 0, 1, 2, 3),
        invoke(1, 0, 0),
        invoke(2, 1, 1),
        invoke(3, 2, 2),
        invoke(4, 3, 3),
        ret(0),
        rows=4,
    )
    slots = [placed(code).within[row].slot for row in range(4)]
    assert slots == [0, 1, 0, 1]


def test_a_tensor_takes_the_slot_of_a_dead_one_of_its_size() -> None:
    code = straight(
        *group(0, 0, 1, 2, 3, shapes=(0, 9, 0, 9)),
        invoke(1, 0, 0),
        invoke(2, 1, 0),
        isa.Copy(5, U(1)),
        isa.Copy(6, U(2)),
        invoke(3, 2, 0),
        invoke(4, 3, 0),
        isa.Copy(7, U(3)),
        isa.Copy(8, U(4)),
        ret(0),
        rows=4,
    )
    slots = [placed(code).within[row].slot for row in range(4)]
    assert slots == [0, 1, 0, 1]


def test_the_element_size_is_part_of_a_size() -> None:
    small = TensorType((None,), "int8")
    code = function(
        block(
            [0],
            *group(0, 0, 1, 2),
            invoke(1, 0, 0),
            invoke(2, 1, 0),
            isa.Copy(5, U(1)),
            isa.Copy(6, U(2)),
            invoke(3, 2, 0),
            isa.Copy(7, U(3)),
            ret(0),
        ),
        tensors=[small, VECTOR, small],
    )
    assert placed(code).within[2] == placed(code).within[0]


def test_groups_one_after_the_other_share_a_region() -> None:
    first = [*group(0, 0), invoke(1, 0, 0), isa.Copy(2, U(1))]
    code = straight(*first, *group(1, 1), invoke(3, 1, 2), isa.Copy(4, U(3)), ret(0), rows=2)
    assert placed(code).regions == {0: 0, 1: 0}


def test_a_group_that_is_live_where_another_is_placed_has_a_region_of_its_own() -> None:
    last = [isa.Copy(4, U(3)), isa.Copy(5, U(1)), ret(0)]
    code = straight(*group(0, 0), invoke(1, 0, 0), *group(1, 1), invoke(3, 1, 1), *last, rows=2)
    assert placed(code).regions == {0: 0, 1: 1}


def test_the_branches_of_an_if_share_a_region_though_their_results_meet() -> None:
    code = function(
        block([0], branch(0, 1, 2)),
        block([], *group(0, 0), invoke(1, 0, 0), isa.Jump(3), passes=[1]),
        block([], *group(1, 1), invoke(2, 1, 0), isa.Jump(3), passes=[2]),
        block([3], isa.Copy(4, U(3)), ret(4)),
        tensors=[VECTOR] * 2,
    )
    assert placed(code).regions == {0: 0, 1: 0}


def test_branches_never_share_with_what_is_live_across_them() -> None:
    code = function(
        block([0], *group(0, 0), invoke(1, 0, 0), branch(0, 1, 2)),
        block([], *group(1, 1), invoke(2, 1, 0), isa.Jump(3), passes=[2]),
        block([], *group(2, 2), invoke(3, 2, 0), isa.Jump(3), passes=[3]),
        block([4], invoke(5, 3, 1, 4), isa.Copy(6, U(5)), ret(6)),
        tensors=[VECTOR] * 3 + [TensorType((2,), "int8")],
    )
    regions = placed(code).regions
    assert regions[1] == regions[2] != regions[0]


def test_what_a_loop_carries_has_one_place() -> None:
    code = function(
        block([0], isa.Jump(1), passes=[0]),
        block([1], branch(1, 2, 3)),
        block([], *group(0, 0, shapes=(1,)), invoke(2, 0, 1), isa.Jump(1), passes=[2]),
        block([], isa.Copy(3, U(1)), ret(3)),
        tensors=[VECTOR],
    )
    assert placed(code).within == {0: InRegion(0, 0)}
    assert placed(code).in_arena == frozenset()


def test_what_escapes_has_no_place() -> None:
    code = straight(isa.SetShape(0, U(0)), isa.PlaceTensors(0, ()), invoke(1, 0, 0), ret(1), rows=1)
    assert placed(code).within == {}
