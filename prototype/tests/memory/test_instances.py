"""A tensor that a loop makes anew needs as many buffers as of its instances can be live at once."""

import pytest

from regvm import isa
from regvm.ir import Block, Function
from regvm.memory.escape import analyse
from regvm.memory.instances import live_instances
from regvm.regalloc import intervals, liveness
from regvm_testing.writing import block, branch, function, invoke, module, ret

LIMIT = 6


def buffers(code: Function, tensor: int) -> int:
    (facts,) = analyse(module(code))
    spans = intervals.build(code, liveness.analyse(code))
    aliases = facts.aliases.names_of([tensor])
    index = next(
        index
        for start, b in zip(spans.starts, code.blocks, strict=True)
        for index, i in enumerate(b.instructions, start + 1)
        if tensor in isa.defs(i)
    )
    return live_instances(code, tensor, index, aliases, spans.ranges, spans.starts, LIMIT)


def loop(parameters: list[int], body: Block, read_at_end: list[int], first: list[int]) -> Function:
    """b0 enters the loop b1 with ``first``; b2 is its body; b3 reads ``read_at_end``."""
    reads = [invoke(90 + n, 5 + n, v) for n, v in enumerate(read_at_end)]
    return function(
        block([0], isa.Jump(1), passes=first),
        block(parameters, branch(parameters[0], 2, 3)),
        body,
        block([], *reads, ret(0)),
        tensors=9,
    )


def test_one_where_nothing_is_carried() -> None:
    code = loop([1], block([], invoke(2, 0, 1), invoke(3, 1, 2), isa.Jump(1), passes=[0]), [], [0])
    assert buffers(code, 2) == 1


def test_one_where_the_next_round_reads_it_only_before_it_is_made_anew() -> None:
    body = block([], invoke(2, 0, 1), invoke(3, 1, 2), isa.Jump(1), passes=[3])
    assert buffers(loop([1], body, [1], [0]), 3) == 1


def test_two_where_a_kernel_reads_the_instance_before_while_it_writes() -> None:
    # i' = i + 1
    body = block([], invoke(2, 0, 1), isa.Jump(1), passes=[2])
    assert buffers(loop([1], body, [], [0]), 2) == 2


def test_two_where_the_instance_before_is_read_after() -> None:
    body = block([], invoke(2, 0), invoke(3, 1, 1), isa.Jump(1), passes=[2])
    assert buffers(loop([1], body, [], [0]), 2) == 2


def test_three_for_a_rotation_as_of_fibonacci() -> None:
    # (a, b) becomes (b, a + b)
    body = block([], invoke(3, 0, 1, 2), isa.Jump(1), passes=[2, 3])
    assert buffers(loop([1, 2], body, [1], [0, 0]), 3) == 3


@pytest.mark.parametrize("carried", [1, 2, 3, 4])
def test_one_more_than_it_is_carried_on(carried: int) -> None:
    parameters = list(range(1, carried + 1))
    made = carried + 1
    body = block([], invoke(made, 0, parameters[0]), isa.Jump(1), passes=[*parameters[1:], made])
    assert buffers(loop(parameters, body, [], [0] * carried), made) == carried + 1


def test_more_than_the_limit_where_an_old_instance_is_kept_for_ever() -> None:
    # %2 keeps the first instance, %1 takes the newest.
    code = function(
        block([0], isa.Jump(1), passes=[0, 0]),
        block([1, 2], branch(1, 2, 5)),
        block([], invoke(3, 0, 1), branch(1, 3, 4)),
        block([], isa.Jump(1), passes=[3, 2]),
        block([], isa.Jump(1), passes=[3, 3]),
        block([], invoke(4, 1, 2), ret(0)),
        tensors=2,
    )
    assert buffers(code, 3) == LIMIT + 1


def test_of_a_branch_that_passes_the_carried_instance_through() -> None:
    # One side makes a new one, the other hands the old one on.
    code = function(
        block([0], isa.Jump(1), passes=[0]),
        block([1], branch(1, 2, 5)),
        block([], branch(1, 3, 4)),
        block([], invoke(2, 0, 1), isa.Jump(1), passes=[2]),
        block([], isa.Jump(1), passes=[1]),
        block([], invoke(3, 1, 1), ret(0)),
        tensors=2,
    )
    assert buffers(code, 2) == 2


def test_follows_a_reshape() -> None:
    body = block([], isa.Reshape(4, isa.Use(1), 0), invoke(2, 1, 4), isa.Jump(1), passes=[2])
    assert buffers(loop([1], body, [], [0]), 2) == 2


def test_one_for_a_straight_line_even_if_reshapes_of_it_are_read_long_after() -> None:
    code = function(
        block(
            [0], invoke(1, 0, 0), isa.Reshape(2, isa.Use(1), 0), invoke(3, 1, 1), invoke(4, 2, 2, 3), ret(0)
        ),
        tensors=3,
    )
    assert buffers(code, 1) == 1
