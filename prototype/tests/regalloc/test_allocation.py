"""Allocated code does what the function does, marks last reads, and lets go of what is dead."""

from collections.abc import Set

import pytest
from hypothesis import given, settings

from regvm import isa
from regvm.ir import Function, Module
from regvm.ir.printer import show_instruction
from regvm.regalloc import allocation, intervals, liveness
from regvm_testing.campaign import check_registers
from regvm_testing.compiled import compile_module
from regvm_testing.programs import modules
from regvm_testing.scratch import has_cycle
from regvm_testing.writing import block, branch, function, invoke, ret, uses


def allocate(code: Function, owning: Set[int] = frozenset()) -> allocation.Allocation:
    live = liveness.analyse(code)
    return allocation.allocate(code, live, intervals.build(code, live), owning)


def lines(code: Function, owning: Set[int] = frozenset()) -> list[list[str]]:
    return [[show_instruction(i, "R", "b") for i in b] for b in allocate(code, owning).blocks]


@settings(max_examples=40, deadline=None)
@given(modules())
def test_takes_one_register_more_only_where_a_cycle_of_moves_needs_it(module: Module) -> None:
    for compiled in compile_module(module):
        check_registers(compiled, compiled.function.name)


def test_takes_that_register_where_a_loop_swaps_and_no_other_is_free() -> None:
    swap = function(
        block([0, 1], isa.Jump(1), passes=[0, 1]),
        block([2, 3], branch(2, 2, 3)),
        block([], isa.Jump(1), passes=[3, 2]),
        block([], ret(2)),
    )
    allocated = allocate(swap)
    assert (allocated.max_live, allocated.num_registers) == (2, 3)
    assert lines(swap)[2] == ["R2 = move R0!", "R0 = move R1!", "R1 = move R2!", "jump b1"]


def test_takes_a_free_register_for_a_cycle_where_there_is_one() -> None:
    swap = function(
        block(
            [0, 1],
            isa.Copy(4, isa.Use(0)),
            isa.Copy(5, isa.Use(4)),
            isa.MakeAdt(6, 0, uses(0, 1, 4, 5)),
            isa.Jump(1),
            passes=[0, 1],
        ),
        block([2, 3], branch(2, 2, 3)),
        block([], isa.Jump(1), passes=[3, 2]),
        block([], ret(2)),
    )
    allocated = allocate(swap)
    assert allocated.num_registers == allocated.max_live


def test_marks_the_last_of_several_reads_of_a_dying_value() -> None:
    code = function(block([0, 1], isa.MakeAdt(2, 0, uses(0, 1, 0)), isa.MakeAdt(3, 0, uses(1, 2)), ret(3)))
    assert lines(code) == [
        ["R0 = make_adt #0, (R0, R1, R0!)", "R0 = make_adt #0, (R1!, R0!)", "ret R0!"],
    ]


def test_copies_one_argument_to_two_parameters() -> None:
    code = function(
        block([0], isa.Jump(1), passes=[0, 0]), block([1, 2], isa.MakeAdt(3, 0, uses(1, 2)), ret(3))
    )
    assert lines(code)[0] == ["R1 = move R0", "jump b1"]


def test_drops_what_dies_on_one_side_of_a_branch() -> None:
    code = function(
        block([0], isa.Copy(1, isa.Use(0)), branch(0, 1, 2)),
        block([], ret(1)),
        block([], isa.Copy(2, isa.Use(0)), ret(2)),
    )
    assert lines(code, {1})[2] == ["drop (R1!)", "R0 = copy R0!", "ret R0!"]
    assert lines(code)[2] == ["R0 = copy R0!", "ret R0!"]


def test_drops_what_dies_on_one_of_several_edges_to_a_block() -> None:
    # b3 is reached from b0, where %1 dies on the edge, and from b1, where nothing does.
    code = function(
        block([0], isa.Copy(1, isa.Use(0)), branch(0, 1, 3)),
        block([], isa.MakeAdt(2, 0, uses(1)), branch(0, 2, 3)),
        block([], ret(2)),
        block([], isa.Copy(3, isa.Use(0)), ret(3)),
    )
    assert lines(code, {1, 2})[3][0] == "drop (R1!)"


def test_drops_a_result_and_a_parameter_that_nobody_reads() -> None:
    code = function(
        block([0], isa.Call(1, 0, uses(0)), isa.Jump(1), passes=[0, 0]),
        block([2, 3], isa.Copy(4, isa.Use(2)), ret(4)),
    )
    assert lines(code, {1, 2, 3}) == [
        ["R1 = call f0, (R0)", "drop (R1!)", "R1 = move R0", "jump b1"],
        ["drop (R1!)", "R0 = copy R0!", "ret R0!"],
    ]


@settings(max_examples=25, deadline=None)
@given(modules())
def test_holds_nothing_that_is_dead_at_the_end_of_a_block(module: Module) -> None:
    for compiled in compile_module(module):
        assert_no_leaks(compiled.function, compiled.allocated, compiled.live)


def assert_no_leaks(code: Function, allocated: allocation.Allocation, live: liveness.Liveness) -> None:
    """Registers that may hold something at the end of a block are no more than what is live there, or passed on."""
    held_at: dict[int, set[int]] = {0: set(range(len(code.parameters)))}
    pending = [0]
    while pending:
        number = pending.pop()
        held = set(held_at[number])
        for instruction in allocated.blocks[number]:
            held -= {u.register for u in isa.uses(instruction) if u.last}
            held |= set(isa.defs(instruction))
        if code.blocks[number].successors:
            passed = len(code.blocks[code.blocks[number].successors[0]].parameters)
            assert len(held) <= len(live.live_out[number]) + passed
        for successor in code.blocks[number].successors:
            joined = held_at.get(successor, set()) | held
            if joined != held_at.get(successor):
                held_at[successor] = joined
                pending.append(successor)


@pytest.mark.parametrize(
    ("moves", "cyclic"),
    [({0: 1, 1: 0}, True), ({0: 1, 1: 2}, False), ({0: 0}, False), ({0: 1, 1: 2, 2: 1}, True)],
)
def test_knows_a_cycle_of_moves(moves: dict[int, int], cyclic: bool) -> None:
    assert has_cycle(moves) is cyclic


def test_passes_arguments_and_takes_the_result_of_a_call_without_a_move() -> None:
    code = function(
        block([0], invoke(1, 0, 0), isa.Call(2, 1, uses(1, 0)), isa.Call(3, 1, uses(2, 2)), ret(3)), tensors=1
    )
    assert not any(isinstance(i, isa.Move) for i in allocate(code).blocks[0])


def test_leaves_a_function_as_it_is() -> None:
    code = function(block([0], invoke(1, 0, 0), ret(1)), tensors=1)
    assert lines(code) == [["R0:t0 = invoke k2, (R0!)", "ret R0!"]]
    assert code == function(block([0], invoke(1, 0, 0), ret(1)), tensors=1)
