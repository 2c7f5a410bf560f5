"""A value is live where, on some path, a use comes before a new definition."""

from hypothesis import given, settings

from regvm import isa
from regvm.ir import Module
from regvm.regalloc.liveness import analyse
from regvm_testing.liveness import live_at_block_ends
from regvm_testing.programs import modules
from regvm_testing.writing import block, branch, function, ret


@settings(max_examples=50, deadline=None)
@given(modules())
def test_agrees_with_the_definition_by_paths(module: Module) -> None:
    for each in module.functions:
        found = analyse(each)
        starts, ends = live_at_block_ends(each)
        assert list(found.live_in) == starts
        assert list(found.live_out) == ends


def test_keeps_a_value_live_all_round_a_loop_that_reads_it() -> None:
    loop = function(
        block([0, 1], isa.Jump(1), passes=[0]),
        block([2], branch(2, 2, 3)),
        block([], isa.Copy(3, isa.Use(1)), isa.Jump(1), passes=[3]),
        block([], ret(2)),
    )
    assert [sorted(v) for v in analyse(loop).live_in] == [[], [1], [1], [2]]
    assert [sorted(v) for v in analyse(loop).live_out] == [[1], [1, 2], [1], []]


def test_counts_arguments_as_read_by_the_jump_and_parameters_as_written_by_the_block() -> None:
    passing = function(block([0], isa.Jump(1), passes=[0]), block([1], ret(1)))
    assert analyse(passing).live_in == (frozenset(), frozenset())
    assert analyse(passing).live_out == (frozenset(), frozenset())
