"""Under a limit, what is used furthest in the future waits in a slot, and is reloaded before it is read."""

import pytest

from regvm import isa
from regvm.errors import CompileError
from regvm.ir import Function
from regvm.ir.printer import show
from regvm.ir.wellformed import check_well_formed
from regvm.regalloc import next_use, spill_code, spilling
from regvm_testing.writing import block, branch, function, invoke, invoke_many, ret, uses

U = isa.Use

# Three values wait while the fourth is made; %1 is read last.
THREE = function(
    block(
        [0], invoke(1, 0, 0), invoke(2, 1, 0), invoke(3, 2, 2), invoke(4, 3, 3, 2), invoke(5, 4, 4, 1), ret(5)
    ),
    tensors=5,
)


def written(code: Function, limit: int) -> list[str]:
    decisions = spilling.decide(code, limit)
    slots = {value: place for place, value in enumerate(sorted(decisions.spilled))}
    return [
        line.strip() for line in show(spill_code.insert(code, decisions, slots).function).splitlines()[1:]
    ]


def test_distances_count_instructions_to_the_next_use() -> None:
    starts = next_use.at_block_starts(THREE)
    assert starts[0] == {}
    end = next_use.at_end(THREE.blocks[0], starts)
    assert next_use.at_instructions(THREE.blocks[0], end)[2] == {1: 2, 2: 0}


def test_the_smallest_distance_over_all_paths_counts() -> None:
    code = function(
        block([0], branch(0, 1, 2)),
        block([], invoke(1, 0, 0), ret(1)),
        block([], invoke(2, 1, 0), invoke(3, 2, 2), invoke(4, 3, 3, 0), ret(4)),
        tensors=4,
    )
    assert next_use.at_end(code.blocks[0], next_use.at_block_starts(code))[0] == 0


def test_what_is_used_furthest_in_the_future_is_spilled() -> None:
    assert spilling.decide(THREE, 2).spilled == {1}


def test_a_value_is_stored_where_it_is_made_and_reloaded_before_it_is_read() -> None:
    assert written(THREE, 2) == [
        "b0(%0):",
        "%1:t0 = invoke k2, (%0)",
        "spill s0, %1",
        "%2:t1 = invoke k2, (%0)",
        "%3:t2 = invoke k2, (%2)",
        "%4:t3 = invoke k4, (%3, %2)",
        "%6 = reload s0",
        "%5:t4 = invoke k4, (%4, %6)",
        "ret %5",
    ]


def test_enough_registers_spill_nothing() -> None:
    assert spilling.decide(THREE, 3).spilled == frozenset()


def test_the_names_of_a_value_meet_in_a_parameter_of_the_join() -> None:
    code = function(
        block([0], invoke(1, 0, 0), branch(0, 1, 2)),
        block([], invoke(2, 1, 0), invoke(3, 2, 2, 0), invoke(4, 3, 3, 1), isa.Jump(3), passes=[4]),
        block([], invoke(5, 4, 0), isa.Jump(3), passes=[5]),
        block([6], invoke(7, 5, 6, 1), ret(7)),
        tensors=6,
    )
    decisions = spilling.decide(code, 2)
    spilled = spill_code.insert(code, decisions, {v: n for n, v in enumerate(sorted(decisions.spilled))})
    allocators = ("spill before allocation", "reload before allocation")
    assert [p for p in check_well_formed(spilled.function) if not p.endswith(allocators)] == []
    assert set(spilled.original.values()) <= decisions.spilled


@pytest.mark.parametrize(
    ("code", "needed", "reason"),
    [
        (function(block([0, 1, 2], ret(0))), 3, "its parameters"),
        (function(block([0], isa.MakeAdt(1, 0, uses(0, 0)), ret(1))), 1, "its parameters"),
        (
            function(block([0], invoke(1, 0, 0), isa.MakeAdt(2, 0, uses(0, 1)), ret(2)), tensors=1),
            2,
            "%2 = make_adt #0, (%0, %1)",
        ),
        (
            function(block([0], invoke_many([(1, 0), (2, 1)], 0), ret(1)), tensors=2),
            2,
            "%1:t0, %2:t1 = invoke k3, (%0)",
        ),
    ],
)
def test_the_widest_instruction_says_how_few_registers_will_do(
    code: Function, needed: int, reason: str
) -> None:
    assert spilling.smallest_limit(code) == (needed, reason)
    with pytest.raises(CompileError) as refused:
        spilling.decide(code, needed - 1)
    assert f"{reason} needs {needed} registers" in str(refused.value)
