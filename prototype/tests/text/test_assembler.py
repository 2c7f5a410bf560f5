"""What the listing shows, the assembler reads back; what it cannot read, it refuses with line and column."""

import dataclasses
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regvm import isa
from regvm.errors import FormatError
from regvm.executable import Constant, Function, Program, TensorSlot, TensorType
from regvm.text.assembler import assemble
from regvm.text.listing import show_program
from regvm_testing.bytecode import PROGRAMS, instructions

LISTING = """\
function f0 @main(R0 x: float32[2], R1 "a b": (int32[?], List))
  frame 3 registers, 0 slots, 64 bytes, 2 live
  tensor t0 float32[2] at 0
  0  R2:t0 = invoke k0, (R0!)  ; double
  1  ret R2!

kernel k0 double (1 -> 1)

constant c0 float32[2] named w = 0x0000803f00000040
"""


def holding(instruction: isa.Instruction) -> Program:
    return Program((Function("f", (), 1, (instruction,)),), (), ())


@pytest.mark.parametrize("row", isa.ROWS, ids=lambda row: row.mnemonic)
@settings(max_examples=20)
@given(data=st.data())
def test_every_instruction_reads_back_over_the_whole_range_of_its_fields(
    row: isa.Row, data: st.DataObject
) -> None:
    program = holding(data.draw(instructions(row)))
    assert assemble(show_program(program)) == program


@given(PROGRAMS)
def test_every_program_reads_back(program: Program) -> None:
    assert assemble(show_program(program, inline_bytes=None)) == program


@given(PROGRAMS)
def test_a_listing_shows_one_item_or_instruction_a_line(program: Program) -> None:
    lines = [line for line in show_program(program).split("\n") if line]
    per_function = sum(2 + len(f.tensors) + len(f.instructions) for f in program.functions)
    assert len(lines) == per_function + len(program.constants) + len(program.kernels)


def test_a_listing_by_hand_is_a_program() -> None:
    program = assemble(LISTING)
    assert [f.name for f in program.functions] == ["main"]
    assert program.functions[0].params == ("x", "a b")
    assert program.functions[0].tensors == (TensorSlot(TensorType((2,), "float32"), (0,)),)
    assert program.functions[0].instructions == (
        isa.Invoke(0, (isa.Use(0, True),), (isa.Out(2, 0),)),
        isa.Ret(isa.Use(2, True)),
    )
    assert program.constants == (Constant("float32", (2,), bytes.fromhex("0000803f00000040"), "w"),)
    assert show_program(program) == LISTING


def test_numbers_comments_and_layout_are_free() -> None:
    loose = LISTING.replace("  0  ", "").replace("  1  ", "\t").replace("; double", ";;").replace(",", " , ")
    assert assemble("; a remark\r\n" + loose.replace("\n", "\r\n")) == assemble(LISTING)


def large() -> Program:
    return Program((), (Constant("uint8", (100,), bytes(range(100))), Constant("uint8", (1,), b"\7")), ())


def test_a_large_constant_is_listed_by_digest_and_found_by_it() -> None:
    listing = show_program(large())
    assert bytes(range(100)).hex() not in listing
    assert assemble(listing, [b"unrelated", bytes(range(100))]) == large()


def test_a_large_constant_whose_data_is_not_offered_is_refused_with_the_mend() -> None:
    with pytest.raises(FormatError, match=r"line 1, column \d+: expected the data of c0.*list all constants"):
        assemble(show_program(large()), [b"unrelated"])


def test_a_large_constant_can_be_listed_in_full() -> None:
    assert assemble(show_program(large(), inline_bytes=None)) == large()


def test_a_late_bound_constant_reads_back_without_data() -> None:
    program = Program((), (Constant("float32", (10, 10), None, "p 0"),), ())
    assert 'constant c0 float32[10, 10] named "p 0" late-bound' in show_program(program)
    assert assemble(show_program(program)) == program


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("function f0", "function ^f1", "f0 before this; found f1"),
        ("function f0", "^procedure f0", "function or kernel or constant; found procedure"),
        ("@main", "^main", "'@'"),
        ("R1 ", "^R2 ", "R1 before this"),
        ('"a b"', '^"a \\q"', "quoted as JSON quotes"),
        ('"a b"', '^"\\ud800"', "without half of a surrogate pair"),
        ("float32[2],", "^float33x[2],", "a data type before the dimensions, not float33x"),
        ("float32[2],", "float32[^-2],", "a dimension or ?"),
        ("List))", "List)^", "','; the line ends"),
        ("frame 3 ", "frame ^", "the number of registers"),
        ("64 bytes", "64 ^octets", "bytes; found octets"),
        ("tensor t0 float32", "tensor ^t1 float32", "t0 before this"),
        ("at 0", "at ^-64", "an offset in bytes"),
        ("at 0", "^within 0", "at or owned or in"),
        ("at 0", "in ^0", "a region"),
        ("  1  ret", "  ^2  ret", "instruction number 1"),
        ("ret R2", "^return R2", "an instruction's mnemonic; found return"),
        ("ret R2!", "R1 = ret R2^!", "ret to write 1 registers fewer"),
        ("ret R2!", "R1 = move^", "a register, such as R0; the line ends"),
        ("ret R2!", "^move R1", "a register before '= move'"),
        ("ret R2!", "ret R2!^!", "the end of the line"),
        ("ret R2!", "ret ^R99999999999999999999", "a register, such as R0"),
        ("R2:t0", "R2", "a tensor row after R2 before '= invoke'"),
        ("(R0!)", "(R0!^", "','; the line ends"),
        ("(1 -> 1)", "(1 ^, 1)", "'->'"),
        ("0x0000803f00000040", "0x^0000803f", "8 bytes as 16 lower-case hexadecimal digits"),
        (" = 0x0000803f00000040", "^", "sha256 or late-bound or ="),
        ("c0 float32[2]", "c0 float32[?^]", "dimensions are all known"),
    ],
)
def test_what_is_wrong_is_named_with_line_and_column(old: str, new: str, expected: str) -> None:
    head, _, rest = LISTING.partition(old)
    listing, at = head + new + rest, len(head) + new.find("^")
    with pytest.raises(FormatError) as refused:
        assemble(listing.replace("^", "", 1))
    found = re.fullmatch(r"line (\d+), column (\d+): expected (.*)", str(refused.value))
    assert found
    assert expected in found[3]
    if "^" in new:
        before = listing[:at].split("\n")
        assert (int(found[1]), int(found[2])) == (len(before), len(before[-1]) + 1)


def test_a_function_without_a_frame_is_refused() -> None:
    with pytest.raises(FormatError, match="line 1, column 17: expected a line 'frame N registers"):
        assemble("function f0 @f()")


def test_deeply_nested_types_are_refused_before_python_gives_up() -> None:
    nested = "(" * 5000 + ")" * 5000
    with pytest.raises(FormatError, match="nest at most 64 deep"):
        assemble(f"function f0 @f(R0 x: {nested})\n  frame 1 registers, 0 slots, 0 bytes, 1 live")


@given(st.text(), st.integers(0, len(LISTING)), st.integers(0, 20))
def test_any_text_is_a_program_or_a_format_error(inserted: str, at: int, removed: int) -> None:
    text = LISTING[:at] + inserted + LISTING[at + removed :]
    try:
        assert isinstance(assemble(text), Program)
    except FormatError as error:
        message = str(error)
    else:
        return
    assert message.startswith("line ")


def test_every_field_of_a_function_is_in_the_listing() -> None:
    function = assemble(LISTING).functions[0]
    for field in dataclasses.fields(Function):
        value = getattr(function, field.name)
        changes: dict[str, Any] = {field.name: value + 1 if isinstance(value, int) else value[:-1]}
        program = Program((dataclasses.replace(function, **changes),), (), ())
        assert show_program(program) != show_program(Program((function,), (), ())), field.name
