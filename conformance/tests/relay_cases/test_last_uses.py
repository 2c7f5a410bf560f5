"""A read that is the last one on every path and carries no mark is found, and no other."""

from dataclasses import replace

from regvm import isa
from regvm.executable import Function, Kernel, Program, TensorSlot, TensorType
from relay_conformance.relay_cases.last_uses import unmarked

SCALAR = TensorType((), "bool")


def program(*code: isa.Instruction) -> Program:
    function = Function("main", (), 4, code, (TensorSlot(SCALAR, ()),))
    return Program((function,), (), (Kernel("k", 1, 1),))


def use(register: int, last: bool = False) -> isa.Use:
    return isa.Use(register, last)


def test_a_marked_last_read_is_right() -> None:
    assert unmarked(program(isa.Move(1, use(0, True)), isa.Ret(use(1, True)))) == []


def test_an_unmarked_last_read_is_found() -> None:
    assert unmarked(program(isa.Move(1, use(0)), isa.Ret(use(1, True)))) == [
        "@main, instruction 0: R0 is read last and not marked"
    ]


def test_a_read_before_another_needs_no_mark() -> None:
    assert (
        unmarked(
            program(
                isa.Move(1, use(0)), isa.MakeAdt(2, 0, (use(0, True), use(1, True))), isa.Ret(use(2, True))
            )
        )
        == []
    )


def test_a_register_that_is_written_before_it_is_read_again_was_read_last() -> None:
    found = unmarked(program(isa.Move(1, use(0)), isa.Move(0, use(1, True)), isa.Ret(use(0, True))))
    assert found == ["@main, instruction 0: R0 is read last and not marked"]


def test_a_read_in_one_branch_counts() -> None:
    code = (isa.Branch(use(0, True), 1, 2), isa.Ret(use(1, True)), isa.Drop((use(1, True),)), isa.Fatal())
    before = isa.Move(2, use(1))
    shifted = replace(code[0], then=2, otherwise=3)
    assert unmarked(program(before, shifted, *code[1:])) == []


def test_one_mark_of_several_reads_is_enough() -> None:
    assert unmarked(program(isa.MakeAdt(1, 0, (use(0), use(0, True))), isa.Ret(use(1, True)))) == []
