"""Bytes carry every program whole; bytes that carry none are refused, whatever they are."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regvm import isa, verifier
from regvm.binary import decode, encode, layout
from regvm.errors import FormatError, VerificationError
from regvm.executable import Function, Program
from regvm.text.assembler import assemble
from regvm_testing.bytecode import PROGRAMS, instructions

VALID = assemble("""
function f0 @main(R0 x: float32[?, 3], R1 pair: (int32[], List))
  frame 4 registers, 1 slots, 192 bytes, 3 live
  tensor t0 float32[2, 3] at 0 or 64
  tensor t1 bool[] at 128
  R2:t0, R3:t1 = invoke k0, (R0, R0)
  spill s0, R2!
  branch R3!, @3, @5
  R2 = reload s0
  tail_call f0, (R2!, R1!)
  R2 = make_adt #-5, (R0!, R1!)
  ret R2!
kernel k0 both (2 -> 2)
constant c0 float32[2] named w = 0x0000803f00000040
constant c1 uint8[300] named big late-bound
""")


@pytest.mark.parametrize("row", isa.ROWS, ids=lambda row: row.mnemonic)
@settings(max_examples=20)
@given(data=st.data())
def test_every_instruction_comes_back_over_the_whole_range_of_its_fields(
    row: isa.Row, data: st.DataObject
) -> None:
    program = Program((Function("f", (), 1, (data.draw(instructions(row)),)),), (), ())
    assert decode(encode(program)) == program


@given(PROGRAMS)
def test_every_program_comes_back(program: Program) -> None:
    assert decode(encode(program)) == program


@given(PROGRAMS)
def test_equal_programs_have_equal_bytes(program: Program) -> None:
    assert encode(decode(encode(program))) == encode(program)


def test_the_program_of_the_tests_below_is_valid() -> None:
    assert verifier.verify(VALID) == []


def test_every_truncation_is_refused_with_the_offset() -> None:
    whole = encode(VALID)
    for length in range(len(whole)):
        with pytest.raises(FormatError, match=r"^offset \d+: "):
            decode(whole[:length])


def test_bytes_after_the_program_are_refused() -> None:
    with pytest.raises(FormatError, match="2 bytes follow the program"):
        decode(encode(VALID) + b"\0\0")


def test_other_files_are_refused() -> None:
    with pytest.raises(FormatError, match="offset 0: these bytes are not a register VM executable"):
        decode(b"\x7fELF" + bytes(100))


def _damaged(data: bytes) -> str:
    """What becomes of bytes: the only three things that may."""
    try:
        program = decode(data)
        verifier.assert_verified(program)
    except FormatError:
        return "malformed"
    except VerificationError:
        return "invalid"
    assert decode(encode(program)) == program
    return "valid"


def test_every_flipped_bit_is_malformed_invalid_or_another_valid_program() -> None:
    whole = encode(VALID)
    seen = set()
    for at in range(len(whole)):
        for bit in range(8):
            data = bytearray(whole)
            data[at] ^= 1 << bit
            seen.add(_damaged(bytes(data)))
    assert seen == {"malformed", "invalid", "valid"}


@settings(max_examples=300)
@given(
    st.lists(st.tuples(st.integers(0, len(encode(VALID)) - 1), st.binary(max_size=4)), min_size=1, max_size=4)
)
def test_overwritten_bytes_are_malformed_invalid_or_another_valid_program(
    changes: list[tuple[int, bytes]],
) -> None:
    data = bytearray(encode(VALID))
    for at, replacement in changes:
        data[at : at + len(replacement)] = replacement
    _damaged(bytes(data))


@given(st.binary(max_size=200))
def test_any_bytes_behind_the_header_are_malformed_invalid_or_a_valid_program(tail: bytes) -> None:
    _damaged(layout.MAGIC + bytes(layout.VERSION) + tail)


@pytest.mark.parametrize("version", [(0, 0), (1, 0), (2, 1), (3, 0), (200, 0)])
def test_another_major_or_a_newer_minor_version_is_refused(
    version: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "VERSION", version)
    data = encode(VALID)
    monkeypatch.undo()
    with pytest.raises(
        FormatError, match=rf"format {version[0]}.{version[1]} is not readable by this version"
    ):
        decode(data)


def test_an_older_minor_version_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    data = encode(VALID)
    monkeypatch.setattr(layout, "VERSION", (2, 7))
    assert decode(data) == VALID


def _number(value: int) -> bytes:
    groups = bytearray()
    while value >= 0x80:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*groups, value])


HEADER = layout.MAGIC + bytes(layout.VERSION)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (_number(2**64) + b"\0\0", "longer than 64 bits"),
        (b"\xff" * 12, "longer than 64 bits"),
        (_number(2**40), "items cannot fit"),
        (b"\1\1\xff", "not UTF-8"),
        (b"\1\1f\1\1x\7", "no type with tag 7"),
        (b"\1\1f\1\1x" + b"\1\1" * 100, "nest deeper than 64"),
        (b"\1\1f\1\1x\0\4void\0", "'void' is no data type"),
        (b"\1\1f\1\1x\0\x07float32\1\x7e", "-2 is no dimension"),
        (b"\1\1f\0\0\0\0\0\0\0\1\x7f", "no instruction with opcode 127"),
        (b"\0\1\x05uint8\1\2\0\1\1a\0", "does not hold as many bytes"),
        (b"\0\1\x05uint8\0\0\2\1a\0", "2 is neither 0 nor 1"),
    ],
)
def test_what_no_program_has_is_named(body: bytes, reason: str) -> None:
    with pytest.raises(FormatError, match=reason):
        decode(HEADER + body)


def test_nothing_is_allocated_for_what_a_count_claims() -> None:
    claims = b"\0\1\x05uint8\1" + _number(2**62) + b"\0\1" + _number(2**62)
    with pytest.raises(FormatError, match="the file is truncated"):
        decode(HEADER + claims)
