"""Intervals cover exactly the positions at which a value is live, holes left out."""

from hypothesis import given, settings

from regvm import isa
from regvm.ir import Function, Module
from regvm.regalloc.intervals import Intervals, build, max_live
from regvm.regalloc.liveness import analyse
from regvm_testing.liveness import largest_live_set, live_positions
from regvm_testing.programs import modules
from regvm_testing.writing import block, branch, function, ret, uses


def intervals(code: Function) -> Intervals:
    return build(code, analyse(code))


@settings(max_examples=50, deadline=None)
@given(modules())
def test_cover_the_live_positions_and_no_others(module: Module) -> None:
    for each in module.functions:
        found = intervals(each)
        covered = {v: {p for lower, upper in r for p in range(lower, upper)} for v, r in found.ranges.items()}
        assert covered == live_positions(each)
        assert max_live(found) == largest_live_set(each)


@settings(max_examples=20, deadline=None)
@given(modules())
def test_are_sorted_and_apart(module: Module) -> None:
    for each in module.functions:
        for ranges in intervals(each).ranges.values():
            points = [point for each_range in ranges for point in each_range]
            assert points == sorted(set(points))


def test_have_a_hole_over_the_branch_that_does_not_read_the_value() -> None:
    code = function(
        block([0, 1], branch(0, 1, 2)),
        block([], ret(0)),
        block([], ret(1)),
    )
    # b0 is index 0 and 1, b1 index 2 and 3, b2 index 4 and 5.
    assert intervals(code).ranges == {0: ((1, 7),), 1: ((1, 4), (8, 11))}
    assert intervals(code).starts == (0, 2, 4)


def test_let_a_result_take_the_register_of_an_operand_that_dies() -> None:
    code = function(block([0], isa.Copy(1, isa.Use(0)), ret(1)))
    assert intervals(code).ranges == {0: ((1, 3),), 1: ((3, 5),)}
    assert max_live(intervals(code)) == 1


def test_give_a_value_that_nobody_reads_a_register_while_it_is_written() -> None:
    code = function(block([0], isa.Copy(1, isa.Use(0)), ret(0)))
    assert intervals(code).ranges[1] == ((3, 4),)
    assert max_live(intervals(code)) == 2


def test_of_no_value_need_no_register() -> None:
    assert max_live(intervals(function(block([], isa.Fatal())))) == 0


def test_count_parameters_of_a_block_together_even_if_nobody_reads_them() -> None:
    code = function(
        block([0], isa.Jump(1), passes=[0, 0, 0]), block([1, 2, 3], isa.MakeAdt(4, 0, uses()), ret(4))
    )
    assert max_live(intervals(code)) == 3
