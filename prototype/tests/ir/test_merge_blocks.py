"""A block that only one jump leads to becomes a part of where the jump is."""

from hypothesis import given, settings

from regvm import isa
from regvm.ir import Module
from regvm.ir.merge_blocks import merge_blocks
from regvm.ir.order import order_blocks
from regvm.ir.printer import show
from regvm.ir.wellformed import assert_well_formed
from regvm_testing.behaviour import assert_same_behaviour
from regvm_testing.programs import modules
from regvm_testing.writing import block, branch, function, ret


def test_replaces_parameters_by_arguments_through_a_chain() -> None:
    chain = function(
        block([0], isa.Jump(1), passes=[0]),
        block([1], isa.Copy(2, isa.Use(1)), isa.Jump(2), passes=[2, 1]),
        block([3, 4], isa.MakeAdt(5, 0, (isa.Use(3), isa.Use(4))), ret(5)),
    )
    assert show(order_blocks(merge_blocks(chain))).splitlines() == [
        "function @f(p0: float32[16])",
        "b0(%0):",
        "  %2 = copy %0",
        "  %5 = make_adt #0, (%2, %0)",
        "  ret %5",
    ]


def test_keeps_the_header_of_a_loop() -> None:
    loop = function(
        block([0], isa.Jump(1), passes=[0]),
        block([1], branch(1, 2, 3)),
        block([], isa.Copy(2, isa.Use(1)), isa.Jump(1), passes=[2]),
        block([], ret(1)),
    )
    assert merge_blocks(loop) == loop


def test_keeps_a_block_that_jumps_to_itself() -> None:
    forever = function(block([0], isa.Jump(1)), block([], isa.Jump(1)))
    assert merge_blocks(forever) == forever


def test_keeps_a_target_of_both_sides_of_a_branch() -> None:
    both = function(block([0], branch(0, 1, 1)), block([], ret(0)))
    assert merge_blocks(both) == both


def test_merges_in_whatever_order_the_blocks_stand() -> None:
    backwards = function(
        block([0], isa.Jump(3), passes=[0]),
        block([1], ret(1)),
        block([2], isa.Jump(1), passes=[2]),
        block([3], isa.Jump(2), passes=[3]),
    )
    assert order_blocks(merge_blocks(backwards)).blocks == (block([0], ret(0)),)


@settings(max_examples=30, deadline=None)
@given(modules())
def test_keeps_well_formedness_and_behaviour_and_leaves_nothing_to_merge(module: Module) -> None:
    for each in module.functions:
        merged = order_blocks(merge_blocks(each))
        assert_well_formed(merged)
        assert_same_behaviour(each, merged)
        predecessors = merged.predecessors()
        for number, kept in enumerate(merged.blocks):
            if isinstance(kept.terminator, isa.Jump):
                target = kept.terminator.target
                assert target == number or len(predecessors[target]) > 1
