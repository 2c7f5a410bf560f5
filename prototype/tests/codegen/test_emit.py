"""Blocks become one line of instructions: no needless jumps, each tensor row once."""

from collections.abc import Mapping

from regvm import executable, isa
from regvm.codegen.emit import Blocks, emit
from regvm.executable import TensorSlot, TensorType
from regvm.ir import Function
from regvm.ir.printer import show_instruction
from regvm_testing.writing import TENSOR, block, function

U = isa.Use
OTHER = TensorType((2, 8), "float32")
EMPTY = function(block([0], isa.Fatal()))


def emitted(
    blocks: Blocks, code: Function = EMPTY, offsets: Mapping[int, tuple[int, ...]] | None = None
) -> executable.Function:
    return emit(
        code, blocks, num_registers=3, num_slots=1, max_live=2, offsets=offsets or {}, storage_bytes=256
    )


def lines(*blocks: tuple[isa.Instruction, ...]) -> list[str]:
    return [show_instruction(i, "R", "@") for i in emitted(blocks).instructions]


MOVE = isa.Move(1, U(0))
RET = isa.Ret(U(0))


def test_a_jump_to_the_next_block_is_left_out() -> None:
    assert lines((MOVE, isa.Jump(1)), (RET,)) == ["R1 = move R0", "ret R0"]


def test_targets_become_places_of_instructions() -> None:
    assert lines((isa.Branch(U(0), 2, 1),), (MOVE, isa.Jump(3)), (MOVE, isa.Jump(3)), (RET,)) == [
        "branch R0, @3, @1",
        "R1 = move R0",
        "jump @4",
        "R1 = move R0",
        "ret R0",
    ]


def test_a_target_that_only_jumps_on_is_skipped_and_gone() -> None:
    assert lines((isa.Branch(U(0), 1, 3),), (isa.Jump(2),), (isa.Jump(3),), (RET,)) == [
        "branch R0, @1, @1",
        "ret R0",
    ]


def test_an_entry_that_only_jumps_is_skipped() -> None:
    assert lines((isa.Jump(2),), (RET,), (MOVE, isa.Jump(1))) == ["R1 = move R0", "ret R0"]


def test_a_block_that_jumps_to_itself_stays() -> None:
    assert lines((isa.Branch(U(0), 1, 2),), (isa.Jump(1),), (RET,)) == [
        "branch R0, @1, @2",
        "jump @1",
        "ret R0",
    ]


def test_a_ring_of_jumps_stays_a_ring() -> None:
    code = lines((MOVE, isa.Jump(1)), (isa.Jump(2),), (isa.Jump(3),), (isa.Jump(2),))
    assert code[0] == "R1 = move R0"
    # Whatever is left jumps among itself for ever.
    assert code[1:]
    assert all(c.startswith("jump @") and int(c.removeprefix("jump @")) >= 1 for c in code[1:])


def test_an_entry_that_leads_into_a_ring_of_jumps() -> None:
    assert lines((isa.Jump(1),), (isa.Jump(1),)) == ["jump @0"]


def test_a_block_that_is_not_reached_is_left_out() -> None:
    assert lines((RET,), (MOVE, isa.Jump(0))) == ["ret R0"]


def test_the_last_block_ends_the_code() -> None:
    code = lines((isa.Branch(U(0), 1, 2),), (RET,), (MOVE, isa.Jump(1)))
    assert code == ["branch R0, @1, @2", "ret R0", "R1 = move R0", "jump @1"]


def invoke(row: int) -> isa.Invoke:
    return isa.Invoke(0, (), (isa.Out(0, row),))


def rows(
    types: list[TensorType], offsets: Mapping[int, tuple[int, ...]]
) -> tuple[list[int], tuple[TensorSlot, ...]]:
    code = function(block([0], isa.Fatal()), tensors=types)
    result = emitted(((*map(invoke, range(len(types))), RET),), code, offsets)
    return [i.outs[0].tensor for i in result.instructions if isinstance(i, isa.Invoke)], result.tensors


def test_equal_rows_of_the_tensor_table_become_one() -> None:
    numbers, table = rows([TENSOR, OTHER, TENSOR, TENSOR], {0: (0,), 2: (0,), 3: (64,)})
    assert numbers == [0, 1, 0, 2]
    assert table == (TensorSlot(TENSOR, (0,)), TensorSlot(OTHER), TensorSlot(TENSOR, (64,)))


def test_rows_whose_buffers_take_turns_are_kept_apart_because_turns_are_counted_by_row() -> None:
    numbers, table = rows([TENSOR, TENSOR], {0: (0, 64), 1: (0, 64)})
    assert numbers == [0, 1]
    assert table == (TensorSlot(TENSOR, (0, 64)),) * 2


def test_rows_that_nothing_uses_are_left_out() -> None:
    code = function(block([0], isa.Fatal()), tensors=[OTHER, TENSOR])
    result = emitted(((isa.Reshape(1, U(0), 1), RET),), code)
    assert result.tensors == (TensorSlot(TENSOR),)


def test_what_the_passes_found_is_handed_on() -> None:
    result = emitted(((RET,),))
    assert (result.name, result.params) == ("f", ("p0",))
    assert (result.num_registers, result.num_slots, result.max_live, result.storage_bytes) == (3, 1, 2, 256)
