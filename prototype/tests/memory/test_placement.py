"""Tensors that stay share the arena over time; never with what is live, nor a kernel's output with its inputs."""

from collections.abc import Sequence

from hypothesis import given, settings

from regvm import isa
from regvm.executable import TensorType
from regvm.ir import Function, Module
from regvm.memory import escape
from regvm.memory.placement import Placement, place
from regvm.memory.planner import plan
from regvm.memory.request import Plan, Request
from regvm.regalloc import intervals, liveness
from regvm_testing.compiled import compile_module
from regvm_testing.programs import modules
from regvm_testing.writing import TENSOR, block, branch, function, invoke, invoke_many, module, ret

U = isa.Use
BIG = TensorType((160,), "float32")


def placed(code: Function) -> Placement:
    (facts,) = escape.analyse(module(code))
    spans = intervals.build(code, liveness.analyse(code))
    return place(code, facts, spans.ranges, spans.starts, plan)


def overlap(code: Function, placement: Placement, a: int, b: int) -> bool:
    """Whether rows ``a`` and ``b`` of the tensor table share a byte."""
    sizes = [t.num_bytes for t in code.tensors]
    return any(
        x < y + sizes[b] and y < x + sizes[a] for x in placement.offsets[a] for y in placement.offsets[b]
    )


def test_a_chain_needs_two_places() -> None:
    chain = [invoke(n + 1, n, n) for n in range(6)]
    result = placed(function(block([0], *chain, ret(0)), tensors=6))
    assert result.storage_bytes == 128
    assert len(result.offsets) == 6


def test_an_output_is_never_placed_over_an_input_of_its_kernel() -> None:
    code = function(block([0], invoke(1, 0, 0), invoke(2, 1, 1), ret(0)), tensors=2)
    assert not overlap(code, placed(code), 0, 1)


def test_two_outputs_of_one_kernel_are_apart_even_if_one_is_never_read() -> None:
    code = function(block([0], invoke_many([(1, 0), (2, 1)], 0), invoke(3, 2, 2), ret(0)), tensors=3)
    assert not overlap(code, placed(code), 0, 1)


def test_the_branches_of_an_if_share_space() -> None:
    code = function(
        block([0], branch(0, 1, 2)),
        block([], invoke(1, 0, 0), invoke(2, 1, 1), ret(0)),
        block([], invoke(3, 2, 0), invoke(4, 3, 3), ret(0)),
        tensors=4,
    )
    assert placed(code).storage_bytes == 128


def test_what_joins_from_a_branch_is_apart_from_what_is_live_across() -> None:
    # The fault of ExecuTorch's issue 21494: a branch's result lies over a tensor that is read after the join.
    code = function(
        block([0], invoke(1, 0, 0), branch(0, 1, 2)),
        block([], invoke(2, 1, 0), isa.Jump(3), passes=[2]),
        block([], invoke(3, 2, 0), isa.Jump(3), passes=[3]),
        block([4], invoke(5, 3, 4), invoke(6, 4, 5, 1), ret(0)),
        tensors=5,
    )
    result = placed(code)
    for inside in (1, 2, 3, 4):
        assert not overlap(code, result, 0, inside)
    assert not overlap(code, result, 1, 3)
    assert not overlap(code, result, 2, 3)
    # What joins is one tensor, so both sides write it at one place.
    assert result.offsets[1] == result.offsets[2]
    assert result.storage_bytes == 192


def test_a_result_that_joins_keeps_its_place_while_the_joined_value_lives() -> None:
    code = function(
        block([0], branch(0, 1, 2)),
        block([], invoke(1, 0, 0), isa.Jump(3), passes=[1]),
        block([], isa.Jump(3), passes=[0]),
        block([2], invoke(3, 1, 0), invoke(4, 2, 3, 2), ret(0)),
        tensors=3,
    )
    assert not overlap(code, placed(code), 0, 1)


def test_a_reshape_keeps_its_source_alive() -> None:
    code = function(
        block([0], invoke(1, 0, 0), isa.Reshape(2, U(1), 1), invoke(3, 2, 0), invoke(4, 3, 2, 3), ret(0)),
        tensors=4,
    )
    assert not overlap(code, placed(code), 0, 2)


def test_a_tensor_that_escapes_is_left_out() -> None:
    code = function(block([0], invoke(1, 0, 0), invoke(2, 1, 1), ret(2)), tensors=2)
    assert set(placed(code).offsets) == {0}


def test_only_values_that_are_surely_in_the_arena_are_said_to_be() -> None:
    code = function(
        block([0], invoke(1, 0, 0), branch(0, 1, 2)),
        block([], isa.Jump(3), passes=[1]),
        block([], isa.Jump(3), passes=[0]),
        block([2], invoke(3, 1, 2), ret(0)),
        tensors=2,
    )
    assert placed(code).in_arena == {1, 3}


def test_a_counter_gets_two_places_that_take_turns() -> None:
    code = function(
        block([0], isa.Jump(1), passes=[0]),
        block([1], branch(1, 2, 3)),
        block([], invoke(2, 0, 1), isa.Jump(1), passes=[2]),
        block([], invoke(3, 1, 1), ret(0)),
        tensors=2,
    )
    result = placed(code)
    assert len(set(result.offsets[0])) == 2
    # What the loop carries lies in two places in turn; a copy would need both as well, and the time to copy.
    assert result.storage_bytes == 192


def test_a_tensor_of_which_too_many_instances_live_owns_its_storage() -> None:
    parameters = [1, 2, 3, 4, 5]
    code = function(
        block([0], isa.Jump(1), passes=[0] * 5),
        block(parameters, branch(1, 2, 3)),
        block([], invoke(6, 0, 1), isa.Jump(1), passes=[2, 3, 4, 5, 6]),
        block([], ret(0)),
        tensors=1,
    )
    assert placed(code).offsets == {}


def test_asks_the_planner_for_each_buffer_with_its_size_and_spans() -> None:
    asked: list[Request] = []

    def remember(requests: Sequence[Request]) -> Plan:
        asked.extend(requests)
        return plan(requests)

    code = function(block([0], invoke(1, 0, 0), invoke(2, 1, 1), ret(0)), tensors=[BIG, TENSOR])
    (facts,) = escape.analyse(module(code))
    spans = intervals.build(code, liveness.analyse(code))
    place(code, facts, spans.ranges, spans.starts, remember)
    # From the instruction that writes it up to the last that reads it, both included.
    assert [(r.size, r.ranges) for r in asked] == [(640, ((2, 5),)), (64, ((4, 6),))]


@settings(max_examples=25, deadline=None)
@given(modules())
def test_places_are_aligned_and_inside_the_arena(mod: Module) -> None:
    for compiled in compile_module(mod):
        for offsets, size in compiled.storage.spans.values():
            assert all(o % 64 == 0 and 0 <= o <= compiled.storage.storage_bytes - size for o in offsets)
