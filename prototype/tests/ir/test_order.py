"""Blocks come in reverse postorder: after their dominators, and only those that are reached."""

from hypothesis import given, settings

from regvm import isa
from regvm.ir import Module
from regvm.ir.order import order_blocks, reverse_postorder
from regvm.ir.printer import show
from regvm.ir.wellformed import assert_well_formed
from regvm_testing.behaviour import assert_same_behaviour
from regvm_testing.programs import modules
from regvm_testing.writing import block, branch, function, ret


def test_puts_the_first_successor_first_and_leaves_unreachable_blocks_out() -> None:
    scrambled = function(
        block([0], branch(0, 3, 1)),
        block([], isa.Jump(4), passes=[0]),
        block([], ret(0)),
        block([], isa.Copy(1, isa.Use(0)), isa.Jump(4), passes=[1]),
        block([2], ret(2)),
    )
    assert reverse_postorder(scrambled) == (0, 3, 1, 4)
    assert show(order_blocks(scrambled)).splitlines() == [
        "function @f(p0: float32[16])",
        "b0(%0):",
        "  branch %0, b1, b2",
        "b1():",
        "  %1 = copy %0",
        "  jump b3(%1)",
        "b2():",
        "  jump b3(%0)",
        "b3(%2):",
        "  ret %2",
    ]


def test_orders_a_chain_that_is_too_long_for_recursion() -> None:
    length = 5000
    chain = [block([], isa.Jump(n + 1)) for n in range(1, length)]
    long = function(block([0], isa.Jump(1)), *chain, block([], ret(0)))
    assert reverse_postorder(long) == tuple(range(length + 1))


@settings(max_examples=30, deadline=None)
@given(modules())
def test_keeps_well_formedness_and_behaviour(module: Module) -> None:
    for each in module.functions:
        ordered = order_blocks(each)
        assert_well_formed(ordered)
        assert_same_behaviour(each, ordered)
        assert order_blocks(ordered) == ordered
