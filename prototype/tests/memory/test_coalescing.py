"""Tensors that meet in a block parameter share a buffer, unless one is created while the other is live."""

from regvm import isa
from regvm.ir import Block, Function
from regvm.memory.coalescing import Tensor, coalesce, merge_spans
from regvm_testing.writing import block, branch, function, invoke, ret


def joining(then: Block, otherwise: Block) -> Function:
    return function(
        block([0], branch(0, 1, 2)), then, otherwise, block([9], invoke(10, 5, 9), ret(0)), tensors=6
    )


SIDES = joining(
    block([], invoke(1, 0, 0), isa.Jump(3), passes=[1]), block([], invoke(2, 1, 0), isa.Jump(3), passes=[2])
)
ROOTS = {1: frozenset({1}), 2: frozenset({2}), 9: frozenset({1, 2})}


def groups(code: Function, roots: dict[int, frozenset[int]], *tensors: Tensor) -> list[list[int]]:
    return [[t.value for t in s.tensors] for s in coalesce(code, roots, {t.value: t for t in tensors})]


def test_share_where_each_is_created_while_the_other_is_dead() -> None:
    one, two = Tensor(1, 3, 64, ((6, 9), (13, 15))), Tensor(2, 6, 64, ((12, 15),))
    assert groups(SIDES, ROOTS, one, two) == [[1], [2]]
    two = Tensor(2, 6, 64, ((12, 13), (16, 19)))
    one = Tensor(1, 3, 64, ((6, 9), (16, 19)))
    assert groups(SIDES, ROOTS, one, two) == [[1, 2]]


def test_stay_apart_where_one_is_read_by_the_instruction_that_creates_the_other() -> None:
    one, two = Tensor(1, 3, 64, ((6, 13),)), Tensor(2, 6, 64, ((12, 15),))
    assert groups(SIDES, ROOTS, one, two) == [[1], [2]]


def test_stay_apart_if_their_sizes_differ() -> None:
    one, two = Tensor(1, 3, 64, ((6, 8),)), Tensor(2, 6, 128, ((12, 14),))
    assert groups(SIDES, ROOTS, one, two) == [[1], [2]]


def test_stay_apart_if_they_never_meet() -> None:
    apart = {1: frozenset({1}), 2: frozenset({2})}
    code = joining(block([], invoke(1, 0, 0), isa.Jump(3), passes=[0]), block([], invoke(2, 1, 0), ret(0)))
    one, two = Tensor(1, 3, 64, ((6, 8),)), Tensor(2, 6, 64, ((12, 14),))
    assert groups(code, apart, one, two) == [[1], [2]]


def test_merged_spans_neither_overlap_nor_touch() -> None:
    assert merge_spans([(4, 6), (0, 2), (5, 9), (2, 3)]) == ((0, 3), (4, 9))
