"""Tensors that meet in a block parameter share a buffer, unless one is created while the other is live."""

import pytest
from hypothesis import given, settings

from regvm import isa
from regvm.ir import Block, Function, Module
from regvm.memory.aliases import aliases_of
from regvm.memory.coalescing import Lifetimes, Spans, Tensor, coalesce, merge_spans
from regvm_testing.compiled import compile_module
from regvm_testing.programs import modules
from regvm_testing.writing import KERNELS, block, branch, function, invoke, ret


def joining(then: Block, otherwise: Block) -> Function:
    return function(
        block([0], branch(0, 1, 2)), then, otherwise, block([9], invoke(10, 5, 9), ret(0)), tensors=6
    )


SIDES = joining(
    block([], invoke(1, 0, 0), isa.Jump(3), passes=[1]), block([], invoke(2, 1, 0), isa.Jump(3), passes=[2])
)


@pytest.fixture(params=[0, 64], autouse=True)
def small_family(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tensors, taken for a small family, and for a large one."""
    monkeypatch.setattr("regvm.memory.coalescing.SMALL_FAMILY", request.param)


def groups(code: Function, *live: tuple[Tensor, Spans]) -> list[list[int]]:
    tensors = {t.value: t for t, _ in live}
    ranges = {t.value: spans for t, spans in live}
    lifetimes = Lifetimes(aliases_of(code), ranges)
    shared = coalesce(code, lifetimes.aliases, tensors, lifetimes)
    # Of a large family those that conflict are left out.
    found = {t.value for s in shared for t in s.tensors}
    apart = [[value] for value in tensors if value not in found]
    return sorted([t.value for t in s.tensors] for s in shared) + apart


def test_share_where_each_is_created_while_the_other_is_dead() -> None:
    assert groups(SIDES, (Tensor(1, 3, 64), ((6, 9), (13, 15))), (Tensor(2, 6, 64), ((12, 15),))) == [
        [1],
        [2],
    ]
    two = (Tensor(2, 6, 64), ((12, 13), (16, 19)))
    one = (Tensor(1, 3, 64), ((6, 9), (16, 19)))
    assert groups(SIDES, one, two) == [[1, 2]]


def test_stay_apart_where_one_is_read_by_the_instruction_that_creates_the_other() -> None:
    one, two = (Tensor(1, 3, 64), ((6, 13),)), (Tensor(2, 6, 64), ((12, 15),))
    assert groups(SIDES, one, two) == [[1], [2]]


def test_stay_apart_if_their_sizes_differ() -> None:
    one, two = (Tensor(1, 3, 64), ((6, 8),)), (Tensor(2, 6, 128), ((12, 14),))
    assert groups(SIDES, one, two) == [[1], [2]]


def test_stay_apart_if_they_never_meet() -> None:
    code = joining(block([], invoke(1, 0, 0), isa.Jump(3), passes=[0]), block([], invoke(2, 1, 0), ret(0)))
    one, two = (Tensor(1, 3, 64), ((6, 8),)), (Tensor(2, 6, 64), ((12, 14),))
    assert groups(code, one, two) == [[1], [2]]


def test_merged_spans_neither_overlap_nor_touch() -> None:
    assert merge_spans([(4, 6), (0, 2), (5, 9), (2, 3)]) == ((0, 3), (4, 9))


@settings(max_examples=25, deadline=None)
@given(modules())
def test_large_families_are_placed_as_safely_as_small_ones(module: Module) -> None:
    for compiled in compile_module(module):
        assert compiled.storage_objections() == []


def chain(length: int) -> Function:
    """An ``if`` after the other, each passing its tensor on or making another."""
    blocks, parameter = [], 0
    for n in range(length):
        made, joined, first = 2 * n + 1, 2 * n + 2, 3 * n
        blocks += [
            block([parameter], branch(parameter, first + 1, first + 2)),
            block([], invoke(made, n, parameter), isa.Jump(first + 3), passes=[made]),
            block([], isa.Jump(first + 3), passes=[parameter]),
        ]
        parameter = joined
    return function(*blocks, block([parameter], isa.Copy(999, isa.Use(parameter)), ret(999)), tensors=length)


@pytest.mark.parametrize("length", [2, 3, 40, 80])
def test_of_a_chain_of_ifs_no_kernel_writes_over_its_input(length: int) -> None:
    (compiled,) = compile_module(Module((chain(length),), (), KERNELS))
    assert compiled.storage_objections() == []


def test_tensors_of_a_large_family_that_conflict_own_their_storage() -> None:
    # In the arena all of them would have places of their own, of which two at most hold anything.
    (compiled,) = compile_module(Module((chain(80),), (), KERNELS))
    assert compiled.storage.storage_bytes <= 128
