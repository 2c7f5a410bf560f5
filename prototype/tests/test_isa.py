"""The instruction table says all there is to say about an instruction; what derives from it agrees with it."""

import dataclasses
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regvm import isa
from regvm.isa import Kind, Out, Use
from regvm.runtime import interpreter
from regvm_testing.bytecode import instructions

ROWS = pytest.mark.parametrize("row", isa.ROWS, ids=lambda row: row.mnemonic)

EXPECTED: list[tuple[isa.Instruction, tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = [
    # instruction, registers read, registers written, targets
    (isa.Move(1, Use(2)), (2,), (1,), ()),
    (isa.LoadConst(1, 9), (), (1,), ()),
    (isa.Invoke(9, (Use(1), Use(2)), (Out(3, 8), Out(4, 8))), (1, 2), (3, 4), ()),
    (isa.InvokeInto(9, (Use(1),), (Use(2),)), (1, 2), (), ()),
    (isa.AllocTensor(1, Use(2), "int8"), (2,), (1,), ()),
    (isa.ShapeOf(1, Use(2)), (2,), (1,), ()),
    (isa.Reshape(1, Use(2), 9), (2,), (1,), ()),
    (isa.ReshapeTo(1, Use(2), Use(3)), (2, 3), (1,), ()),
    (isa.Copy(1, Use(2)), (2,), (1,), ()),
    (isa.DeviceCopy(1, Use(2), 9), (2,), (1,), ()),
    (isa.MakeAdt(1, 9, (Use(2), Use(3))), (2, 3), (1,), ()),
    (isa.GetField(1, Use(2), 9), (2,), (1,), ()),
    (isa.MakeClosure(1, 9, (Use(2),)), (2,), (1,), ()),
    (isa.MakeRef(1, Use(2)), (2,), (1,), ()),
    (isa.ReadRef(1, Use(2)), (2,), (1,), ()),
    (isa.WriteRef(Use(1), Use(2)), (1, 2), (), ()),
    (isa.Call(1, 9, (Use(2), Use(3))), (2, 3), (1,), ()),
    (isa.CallClosure(1, Use(2), (Use(3),)), (2, 3), (1,), ()),
    (isa.TailCall(9, (Use(1),)), (1,), (), ()),
    (isa.TailCallClosure(Use(1), (Use(2),)), (1, 2), (), ()),
    (isa.Ret(Use(1)), (1,), (), ()),
    (isa.Jump(7), (), (), (7,)),
    (isa.Branch(Use(1), 7, 8), (1,), (), (7, 8)),
    (isa.BranchTag(Use(1), 9, 7, 8), (1,), (), (7, 8)),
    (isa.Fatal(), (), (), ()),
    (isa.Drop((Use(1), Use(2))), (1, 2), (), ()),
    (isa.Spill(9, Use(1)), (1,), (), ()),
    (isa.Reload(1, 9), (), (1,), ()),
    (isa.SetShape(9, Use(1)), (1,), (), ()),
    (isa.PlaceTensors(9, (7, 8)), (), (), ()),
]


def test_every_row_has_an_expectation_below() -> None:
    assert [type(instruction) for instruction, *_ in EXPECTED] == [row.cls for row in isa.ROWS]


@pytest.mark.parametrize(
    ("instruction", "reads", "writes", "goes"), EXPECTED, ids=[r.mnemonic for r in isa.ROWS]
)
def test_uses_definitions_and_targets(
    instruction: isa.Instruction, reads: tuple[int, ...], writes: tuple[int, ...], goes: tuple[int, ...]
) -> None:
    assert tuple(u.register for u in isa.uses(instruction)) == reads
    assert isa.defs(instruction) == writes
    assert isa.targets(instruction) == goes


@pytest.mark.parametrize(
    ("instruction", "reads", "writes", "goes"), EXPECTED, ids=[r.mnemonic for r in isa.ROWS]
)
def test_rewrite_replaces_each_kind_of_number_and_nothing_else(
    instruction: isa.Instruction, reads: tuple[int, ...], writes: tuple[int, ...], goes: tuple[int, ...]
) -> None:
    renamed = isa.rewrite(
        instruction,
        use=lambda u: Use(u.register + 100, True),
        define=lambda d: d + 200,
        target=lambda t: t + 300,
    )
    assert isa.uses(renamed) == tuple(Use(r + 100, True) for r in reads)
    assert isa.defs(renamed) == tuple(w + 200 for w in writes)
    assert isa.targets(renamed) == tuple(g + 300 for g in goes)
    replaced = (Kind.USE, Kind.USES, Kind.DEF, Kind.OUTS, Kind.TARGET)
    for name, kind in isa.row_of(instruction).fields:
        if kind not in replaced:
            assert getattr(renamed, name) == getattr(instruction, name)


@ROWS
@settings(max_examples=20)
@given(data=st.data())
def test_rewrite_without_replacements_changes_nothing(row: isa.Row, data: st.DataObject) -> None:
    instruction = data.draw(instructions(row))
    assert isa.rewrite(instruction) == instruction


def test_rewrite_renumbers_tensor_rows_where_tensors_are_made() -> None:
    def renumber(row: int) -> int:
        return row + 10

    assert isa.rewrite(isa.Invoke(0, (), (Out(1, 2), Out(3, 4))), tensor=renumber).outs == (
        Out(1, 12),
        Out(3, 14),
    )
    assert isa.rewrite(isa.Reshape(1, Use(2), 3), tensor=renumber).tensor == 13
    assert isa.rewrite(isa.PlaceTensors(1, (2, 3)), tensor=renumber).tensors == (12, 13)


def test_rewrite_renumbers_regions() -> None:
    assert isa.rewrite(isa.PlaceTensors(1, (2,)), region=lambda r: r + 10) == isa.PlaceTensors(11, (2,))


@ROWS
def test_an_opcode_is_the_rows_place_and_a_mnemonic_names_one_row(row: isa.Row) -> None:
    assert isa.ROWS[row.opcode] is row
    assert isa.ROW_NAMED[row.mnemonic] is row
    assert isa.ROW_OF[row.cls] is row
    assert set(row.mnemonic) <= set(string.ascii_lowercase + "_")


@ROWS
def test_every_field_has_a_kind(row: isa.Row) -> None:
    assert [name for name, _ in row.fields] == [f.name for f in dataclasses.fields(row.cls)]
    assert all(isinstance(kind, Kind) for _, kind in row.fields)


@ROWS
def test_the_meaning_is_one_line_that_names_every_register_field(row: isa.Row) -> None:
    assert row.meaning
    assert "\n" not in row.meaning
    for name, kind in row.fields:
        if kind in (Kind.DEF, Kind.USE, Kind.USES, Kind.OUTS):
            assert f"R[{name}]" in row.meaning


@ROWS
def test_what_has_targets_ends_its_block(row: isa.Row) -> None:
    if any(kind is Kind.TARGET for _, kind in row.fields):
        assert row.ends_block


def test_every_instruction_has_exactly_one_handler() -> None:
    assert interpreter._HANDLERS.keys() == {row.cls for row in isa.ROWS}


def test_a_second_handler_is_an_error_at_import() -> None:
    with pytest.raises(TypeError, match="Move has two handlers"):
        interpreter._handles(isa.Move)(interpreter._move)


def test_a_missing_handler_is_an_error_at_import(monkeypatch: pytest.MonkeyPatch) -> None:
    row = dataclasses.replace(isa.ROWS[-1], mnemonic="unheard_of", cls=isa.Instruction)
    monkeypatch.setattr(isa, "ROWS", [*isa.ROWS, row])
    source = interpreter.__spec__.loader.get_code(interpreter.__name__)  # type: ignore[union-attr]
    with pytest.raises(TypeError, match="no handler for unheard_of"):
        exec(source, {"__name__": interpreter.__name__, "__spec__": interpreter.__spec__})


def test_a_second_row_of_one_name_is_an_error_at_import() -> None:
    with pytest.raises(TypeError, match="'move' stands twice in the instruction table"):
        isa._instruction("move", "R[dst] := R[src]")(isa.Move)
