"""The checker accepts what the allocator writes, and rejects code that computes something else."""

import pytest
from hypothesis import given, settings

from regvm import isa
from regvm.errors import CheckError
from regvm.ir import Module
from regvm.regalloc.checker import assert_allocation, check_allocation
from regvm_testing.compiled import compile_module
from regvm_testing.programs import modules
from regvm_testing.writing import block, branch, function, ret, uses

U = isa.Use
LAST = True

PAIR = function(
    block([0, 1], isa.MakeAdt(2, 0, uses(0, 1)), isa.Copy(3, U(1)), isa.MakeAdt(4, 0, uses(2, 3)), ret(4))
)
RIGHT = (
    isa.MakeAdt(0, 0, (U(0, LAST), U(1))),
    isa.Copy(1, U(1, LAST)),
    isa.MakeAdt(0, 0, (U(0, LAST), U(1, LAST))),
    isa.Ret(U(0, LAST)),
)

LOOP = function(
    block([0, 1], isa.Jump(1), passes=[0, 1]),
    block([2, 3], branch(2, 2, 3)),
    block([], isa.Jump(1), passes=[3, 2]),
    block([], ret(3)),
)
LOOP_RIGHT = (
    (isa.Jump(1),),
    (isa.Branch(U(0), 2, 3),),
    (isa.Move(2, U(0, LAST)), isa.Move(0, U(1, LAST)), isa.Move(1, U(2, LAST)), isa.Jump(1)),
    (isa.Drop((U(0, LAST),)), isa.Ret(U(1, LAST))),
)


def problems(*code: isa.Instruction, registers: int = 2, slots: int = 0) -> list[str]:
    return [str(v) for v in check_allocation(PAIR, (code,), registers, slots)]


@settings(max_examples=40, deadline=None)
@given(modules())
def test_accepts_every_real_allocation(module: Module) -> None:
    for compiled in compile_module(module):
        assert compiled.objections() == []


def test_accepts_code_by_hand() -> None:
    assert problems(*RIGHT) == []
    assert check_allocation(LOOP, LOOP_RIGHT, 3) == []


def test_accepts_a_detour_through_a_spill_slot() -> None:
    code = (RIGHT[0], isa.Spill(0, U(0, LAST)), RIGHT[1], isa.Reload(0, 0), *RIGHT[2:])
    assert problems(*code, slots=1) == []


@pytest.mark.parametrize(
    ("at", "wrong", "message"),
    [
        (0, isa.MakeAdt(0, 0, (U(1), U(0, LAST))), "reads R1, which does not carry %0"),
        (0, isa.MakeAdt(0, 1, (U(0, LAST), U(1))), "differs from the function in a field"),
        (0, isa.MakeAdt(0, 0, (U(0, LAST), U(1, LAST))), "reads R1, which does not carry %1"),
        (0, isa.MakeAdt(1, 0, (U(0, LAST), U(1))), "reads R1, which does not carry %1"),
        (1, isa.Copy(0, U(1, LAST)), "reads R0, which does not carry %2"),
        (1, isa.Copy(2, U(1, LAST)), "writes R2, outside the frame of 2"),
        (1, isa.ShapeOf(1, U(1, LAST)), "shape_of stands where the function has copy"),
    ],
)
def test_objects_to_a_wrong_instruction(at: int, wrong: isa.Instruction, message: str) -> None:
    found = problems(*RIGHT[:at], wrong, *RIGHT[at + 1 :])
    assert any(message in p for p in found), found


def test_objects_to_instructions_that_are_missing_or_too_many() -> None:
    assert problems(*RIGHT[:-1]) == ["b0, instruction 2: ret of the function is missing"]
    assert problems(*RIGHT, RIGHT[0]) == ["b0, instruction 4: code after the end of the block"]
    assert problems(*RIGHT[:3], RIGHT[1], RIGHT[3]) == [
        "b0, instruction 3: copy stands where the function has ret"
    ]


def test_objects_to_a_slot_that_is_used_again_too_early() -> None:
    code = (RIGHT[0], isa.Spill(0, U(0, LAST)), isa.Spill(0, U(1)), RIGHT[1], isa.Reload(0, 0), *RIGHT[2:])
    assert problems(*code, slots=1) == ["b0, instruction 5: reads R0, which does not carry %2"]


def test_objects_to_a_slot_outside_the_frame() -> None:
    assert any("writes S0, outside" in p for p in problems(isa.Spill(0, U(0)), *RIGHT))


def test_objects_to_a_register_that_is_marked_at_the_first_of_two_reads() -> None:
    twice = function(block([0], isa.MakeAdt(1, 0, uses(0, 0)), ret(1)))
    code = (isa.MakeAdt(0, 0, (U(0, LAST), U(0))), isa.Ret(U(0, LAST)))
    found = check_allocation(twice, (code,), 1)
    assert [v.message for v in found] == ["reads R0, which does not carry %0"]


def test_objects_to_two_outputs_in_one_register() -> None:
    pair = function(block([], isa.Invoke(1, (), (isa.Out(0, 0), isa.Out(1, 1))), ret(1)), tensors=2)
    code = (isa.Invoke(1, (), (isa.Out(0, 0), isa.Out(0, 1))), isa.Ret(U(0, LAST)))
    assert [v.message for v in check_allocation(pair, (code,), 1)] == ["writes one register twice"]


@pytest.mark.parametrize(
    "moves",
    [
        LOOP_RIGHT[2][1:],
        (LOOP_RIGHT[2][1], LOOP_RIGHT[2][0], *LOOP_RIGHT[2][2:]),
        (*LOOP_RIGHT[2][:2], isa.Move(1, U(0)), LOOP_RIGHT[2][3]),
        (isa.Jump(1),),
    ],
    ids=["a move dropped", "moves reordered", "a wrong argument", "no moves"],
)
def test_objects_to_wrong_arguments_round_a_loop(moves: tuple[isa.Instruction, ...]) -> None:
    assert check_allocation(LOOP, (*LOOP_RIGHT[:2], moves, LOOP_RIGHT[3]), 3)


def test_objects_to_a_value_of_the_round_before() -> None:
    # %2 is made anew each round; R1 still holds the one before when it is read.
    stale = function(
        block([0], isa.Jump(1)),
        block([], isa.Copy(1, U(0)), isa.Copy(2, U(1)), branch(2, 1, 2)),
        block([], ret(1)),
    )
    right = (
        (isa.Jump(1),),
        (isa.Copy(1, U(0)), isa.Copy(2, U(1)), isa.Branch(U(2, LAST), 1, 2)),
        (isa.Ret(U(1, LAST)),),
    )
    assert check_allocation(stale, right, 4) == []
    late = (
        (isa.Copy(3, U(0)), isa.Jump(1)),
        (isa.Copy(1, U(0)), isa.Copy(2, U(1)), isa.Move(3, U(1)), isa.Branch(U(2, LAST), 1, 2)),
        (isa.Ret(U(3, LAST)),),
    )
    assert check_allocation(stale, late, 4)


def test_objects_to_another_number_of_blocks() -> None:
    assert [v.message for v in check_allocation(PAIR, (), 2)] == ["0 blocks for 1"]


def test_raises_with_both_listings_and_every_violation() -> None:
    with pytest.raises(CheckError, match=r"(?s)not preserved.*%4 = make_adt.*R0 = make_adt") as raised:
        assert_allocation(PAIR, ((RIGHT[0], *RIGHT[2:]),), 2)
    assert "make_adt stands where the function has copy" in str(raised.value)
