"""What a loop computes is copied where it leaves the frame after the loop, and nowhere else."""

from hypothesis import given, settings

from regvm import isa
from regvm.ir import Function, Module
from regvm.ir.printer import show
from regvm.ir.wellformed import assert_well_formed
from regvm.memory import escape
from regvm.memory.loop_exits import copy_out_of_loops
from regvm_testing.programs import modules
from regvm_testing.writing import block, branch, function, invoke, module, ret, uses

U = isa.Use


def copied_module(code: Module) -> Module:
    return copy_out_of_loops(code, escape.analyse(code))


def copied(code: Function, *others: Function) -> list[str]:
    after = copied_module(module(code, *others)).functions[0]
    assert_well_formed(after)
    return [line.strip() for line in show(after).splitlines()]


def counting(*end: isa.Instruction) -> Function:
    return function(
        block([0], isa.Jump(1), passes=[0]),
        block([1], branch(1, 2, 3)),
        block([], invoke(2, 0, 1), isa.Jump(1), passes=[2]),
        block([], *end),
        tensors=1,
    )


def test_copies_what_is_returned_after_a_loop_so_that_the_loop_works_in_the_arena() -> None:
    code = counting(ret(1))
    assert copied(code)[-2:] == ["%3 = copy %1", "ret %3"]
    after = copied_module(module(code))
    assert 2 in escape.analyse(module(code))[0].escaping
    assert 2 not in escape.analyse(after)[0].escaping


def test_copies_a_value_that_is_stored_twice_once_for_each_instruction() -> None:
    assert copied(counting(isa.MakeAdt(3, 0, uses(1, 1)), ret(3)))[-3:] == [
        "%4 = copy %1",
        "%3 = make_adt #0, (%4, %4)",
        "ret %3",
    ]


def test_copies_what_a_tail_call_after_the_loop_takes() -> None:
    reader = function(block([0], isa.Copy(1, U(0)), ret(1)), name="reader")
    assert copied(counting(isa.TailCall(1, uses(1))), reader)[-2:] == ["%3 = copy %1", "tail_call f1, (%3)"]


def test_copies_nothing_where_only_a_call_reads_it() -> None:
    reader = function(block([0], isa.Copy(1, U(0)), ret(1)), name="reader")
    assert "copy" not in " ".join(copied(counting(isa.Call(3, 1, uses(1)), ret(3)), reader))


def test_copies_nothing_in_a_straight_line() -> None:
    code = function(block([0], invoke(1, 0, 0), ret(1)), tensors=1)
    assert copied_module(module(code)).functions == (code,)


def test_copies_nothing_where_each_round_stores_its_own() -> None:
    code = function(
        block([0], isa.MakeRef(1, U(0)), isa.Jump(1)),
        block([], invoke(2, 0, 0), isa.WriteRef(U(1), U(2)), branch(0, 1, 2)),
        block([], ret(1)),
        tensors=1,
    )
    assert "copy" not in " ".join(copied(code))


def test_copies_nothing_that_came_from_before_the_loop() -> None:
    code = function(
        block([0], invoke(1, 0, 0), isa.Jump(1)),
        block([], branch(0, 1, 2)),
        block([], ret(1)),
        tensors=1,
    )
    assert "copy" not in " ".join(copied(code))


def test_finds_loops_apart_from_each_other() -> None:
    # The second loop stores what the first one made.
    code = function(
        block([0], isa.MakeRef(1, U(0)), isa.Jump(1)),
        block([], invoke(2, 0, 0), branch(2, 1, 2)),
        block([], isa.Jump(3)),
        block([], isa.WriteRef(U(1), U(2)), branch(0, 3, 4)),
        block([], ret(1)),
        tensors=1,
    )
    assert copied(code)[-5:-2] == ["%3 = copy %2", "write_ref %1, %3", "branch %0, b3, b4"]


@settings(max_examples=25, deadline=None)
@given(modules())
def test_adds_only_copies(mod: Module) -> None:
    after = copied_module(mod)
    for old, new in zip(mod.functions, after.functions, strict=True):
        assert_well_formed(new)
        copies = {
            i.dst: i.src.register for b in new.blocks for i in b.instructions if isinstance(i, isa.Copy)
        }
        added = {dst: src for dst, src in copies.items() if dst >= old.num_values}
        stripped = [without(added, b.instructions) for b in new.blocks]
        assert stripped == [b.instructions for b in old.blocks]


def without(copies: dict[int, int], code: tuple[isa.Instruction, ...]) -> tuple[isa.Instruction, ...]:
    """The code as it was before the copies."""
    kept = [i for i in code if not copies.keys() & set(isa.defs(i))]
    return tuple(
        isa.rewrite(i, use=lambda u: isa.Use(copies.get(u.register, u.register), u.last)) for i in kept
    )
