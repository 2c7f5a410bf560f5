"""The checker accepts what the placement pass decides, and rejects storage that is read after it was overwritten."""

import pytest
from hypothesis import given, settings

from regvm import isa
from regvm.errors import CheckError
from regvm.executable import InRegion, TensorType
from regvm.ir import Function, Module
from regvm.memory.placement_checker import Claims, Regions, Spans, assert_placement, check_placement
from regvm_testing.compiled import compile_module
from regvm_testing.programs import modules
from regvm_testing.writing import block, branch, function, invoke, invoke_many, ret, uses

U = isa.Use
CLAIMS = Claims([frozenset({0}), frozenset(), frozenset()])
"""Most functions here return their argument; what they call lets nothing escape."""

NOTHING = Claims([frozenset()] * 3)


def at(*offsets: int) -> tuple[tuple[int, ...], int]:
    return offsets, 64


def problems(code: Function, spans: Spans, storage_bytes: int = 256, claims: Claims = CLAIMS) -> list[str]:
    return check_placement(code, 0, spans, storage_bytes, claims)


CHAIN = function(block([0], invoke(1, 0, 0), invoke(2, 1, 1), invoke(3, 2, 2), ret(0)), tensors=3)
COUNTER = function(
    block([0], isa.Jump(1), passes=[0]),
    block([1], branch(1, 2, 3)),
    block([], invoke(2, 0, 1), isa.Jump(1), passes=[2]),
    block([], invoke(3, 1, 1), ret(0)),
    tensors=2,
)


@settings(max_examples=40, deadline=None)
@given(modules())
def test_accepts_every_real_placement(module: Module) -> None:
    for compiled in compile_module(module):
        assert compiled.storage_objections() == []


def test_accepts_one_place_for_what_is_dead_and_what_is_new() -> None:
    assert problems(CHAIN, {0: at(0), 1: at(64), 2: at(0)}) == []


def test_accepts_any_place_that_nobody_reads_again() -> None:
    code = function(block([0], invoke(1, 0, 0), invoke(2, 1, 0), ret(0)), tensors=2)
    assert problems(code, {0: at(0), 1: at(0)}) == []


def test_objects_to_an_output_over_an_input_of_its_kernel() -> None:
    assert problems(CHAIN, {0: at(0), 1: at(0)}) == [
        "b0, instruction 1: reads %1, whose storage has been overwritten"
    ]


def test_objects_to_a_partial_overlap() -> None:
    code = function(block([0], invoke(1, 0, 0), invoke(2, 1, 0), invoke(3, 2, 1, 2), ret(0)), tensors=3)
    spans = {0: ((0,), 100), 1: ((64,), 64)}
    assert problems(code, spans) == ["b0, instruction 2: reads %1, whose storage has been overwritten"]


def test_objects_to_two_outputs_of_one_kernel_at_one_place() -> None:
    code = function(block([0], invoke_many([(1, 0), (2, 1)], 0), invoke(3, 2, 1), ret(0)), tensors=3)
    assert problems(code, {0: at(0), 1: at(0)}) == [
        "b0, instruction 1: reads %1, whose storage has been overwritten"
    ]


def test_objects_to_a_read_through_a_reshape() -> None:
    code = function(
        block([0], invoke(1, 0, 0), isa.Reshape(2, U(1), 0), invoke(3, 1, 0), invoke(4, 2, 2), ret(0)),
        tensors=3,
    )
    assert problems(code, {0: at(0), 1: at(0)}) == [
        "b0, instruction 3: reads %2, whose storage has been overwritten"
    ]


def test_objects_to_what_one_branch_overwrites_and_the_join_reads() -> None:
    code = function(
        block([0], invoke(1, 0, 0), branch(0, 1, 2)),
        block([], invoke(2, 1, 0), isa.Jump(3), passes=[2]),
        block([], isa.Jump(3), passes=[0]),
        block([3], invoke(4, 2, 3, 1), ret(0)),
        tensors=3,
    )
    assert problems(code, {0: at(0), 1: at(0)}) == [
        "b3, instruction 0: reads %1, whose storage has been overwritten"
    ]
    assert problems(code, {0: at(0), 1: at(64)}) == []


def test_accepts_the_results_of_two_branches_at_one_place() -> None:
    code = function(
        block([0], branch(0, 1, 2)),
        block([], invoke(1, 0, 0), isa.Jump(3), passes=[1]),
        block([], invoke(2, 1, 0), isa.Jump(3), passes=[2]),
        block([3], invoke(4, 2, 3), ret(0)),
        tensors=3,
    )
    assert problems(code, {0: at(0), 1: at(0)}) == []


def test_objects_to_one_buffer_for_a_counter_and_accepts_two() -> None:
    assert problems(COUNTER, {0: at(0)}) == [
        "b2, instruction 0: reads %1, whose storage has been overwritten"
    ]
    assert problems(COUNTER, {0: at(0, 64)}) == []


def test_objects_to_two_buffers_at_one_place() -> None:
    assert problems(COUNTER, {0: at(0, 0)})
    assert problems(COUNTER, {0: ((0, 64), 100)})


def test_objects_to_two_buffers_for_a_rotation_of_three() -> None:
    code = function(
        block([0], isa.Jump(1), passes=[0, 0]),
        block([1, 2], branch(1, 2, 3)),
        block([], invoke(3, 0, 1, 2), isa.Jump(1), passes=[2, 3]),
        block([], ret(0)),
        tensors=1,
    )
    assert problems(code, {0: at(0, 64)})
    assert problems(code, {0: at(0, 64, 128)}) == []


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ({0: at(32)}, "t0: offset 32 is not aligned to 64"),
        ({0: at(-64)}, "t0: bytes -64 to 0 leave the arena of 256"),
        ({0: at(256)}, "t0: bytes 256 to 320 leave the arena of 256"),
        ({0: ((192,), 65)}, "t0: bytes 192 to 257 leave the arena of 256"),
    ],
)
def test_objects_to_a_place_that_cannot_be(spans: Spans, message: str) -> None:
    assert problems(CHAIN, spans) == [message]


@pytest.mark.parametrize(
    ("leaving", "mnemonic"),
    [
        ([ret(1)], "ret"),
        ([isa.MakeAdt(2, 0, uses(1)), ret(0)], "make_adt"),
        ([isa.MakeClosure(2, 0, uses(1)), ret(0)], "make_closure"),
        ([isa.MakeRef(2, U(1)), ret(0)], "make_ref"),
        ([isa.MakeRef(2, U(0)), isa.WriteRef(U(2), U(1)), ret(0)], "write_ref"),
        ([isa.CallClosure(2, U(0), uses(1)), ret(0)], "call_closure"),
        ([isa.TailCallClosure(U(0), uses(1))], "tail_call_closure"),
        ([isa.Call(2, 1, uses(1)), ret(0)], "call"),
        ([isa.TailCall(1, uses(1))], "tail_call"),
        ([isa.TailCall(2, uses(1))], "tail_call"),
        ([isa.Reshape(2, U(1), 0), ret(2)], "ret"),
    ],
)
def test_objects_to_a_tensor_that_leaves_the_frame(leaving: list[isa.Instruction], mnemonic: str) -> None:
    code = function(block([0], invoke(1, 0, 0), *leaving), tensors=1)
    claims = Claims([frozenset({0}), frozenset({0}), frozenset()])
    assert any(f"{mnemonic} lets" in p and "arena" in p for p in problems(code, {0: at(0)}, claims=claims))


def test_accepts_a_call_whose_callee_claims_to_let_nothing_escape() -> None:
    code = function(block([0], invoke(1, 0, 0), isa.Call(2, 1, uses(1)), ret(2)), tensors=1)
    assert problems(code, {0: at(0)}) == []


def test_objects_to_a_parameter_that_escapes_unclaimed() -> None:
    code = function(block([0], ret(0)))
    assert problems(code, {}, claims=NOTHING) == [
        "b0, instruction 0: ret lets parameter %0 escape, unclaimed"
    ]
    assert problems(code, {}) == []


def test_accepts_a_parameter_that_a_tail_call_passes_on() -> None:
    code = function(block([0], isa.TailCall(1, uses(0))))
    assert problems(code, {}, claims=NOTHING) == []
    assert problems(code, {}, claims=Claims([frozenset(), frozenset({0})])) == [
        "b0, instruction 0: tail_call lets parameter %0 escape, unclaimed"
    ]


def test_raises_with_the_listing_and_the_places() -> None:
    with pytest.raises(CheckError, match=r"(?s)storage is unsafe.*overwritten.*function @f"):
        assert_placement(CHAIN, 0, {0: at(0), 1: at(0)}, 64, CLAIMS)


VECTOR = TensorType((None,), "float32")


def regional(*code: isa.Instruction, rows: int = 3) -> Function:
    return function(block([0], *code, ret(0)), tensors=[VECTOR] * rows)


def placing(group: int, *rows: int) -> list[isa.Instruction]:
    return [*(isa.SetShape(r, U(0)) for r in rows), isa.PlaceTensors(group, rows)]


def in_regions(code: Function, of_group: dict[int, int], **slots: tuple[int, int]) -> list[str]:
    places = {int(row[1:]): InRegion(*place) for row, place in slots.items()}
    return check_placement(code, 0, {}, 0, CLAIMS, Regions(of_group, places))


REGIONAL = regional(
    *placing(0, 0, 1, 2), invoke(1, 0, 0), invoke(2, 1, 1), invoke(3, 2, 2), isa.Copy(4, U(3))
)


def test_accepts_one_slot_for_what_is_dead_and_what_is_new() -> None:
    assert in_regions(REGIONAL, {0: 0}, t0=(0, 0), t1=(0, 1), t2=(0, 0)) == []


def test_objects_to_one_slot_for_a_kernels_input_and_output() -> None:
    assert in_regions(REGIONAL, {0: 0}, t0=(0, 0), t1=(0, 0), t2=(0, 1)) == [
        "b0, instruction 5: reads %1, whose storage has been overwritten"
    ]


def test_objects_to_two_outputs_of_one_kernel_in_one_slot() -> None:
    code = regional(*placing(0, 0, 1), invoke_many([(1, 0), (2, 1)], 0), isa.Copy(3, U(1)), rows=2)
    assert in_regions(code, {0: 0}, t0=(0, 0), t1=(0, 0))
    assert in_regions(code, {0: 0}, t0=(0, 0), t1=(0, 1)) == []


def test_accepts_a_region_that_is_placed_again_while_something_lives_there() -> None:
    # The machine then takes other storage.
    code = regional(
        *placing(0, 0), invoke(1, 0, 0), *placing(1, 1), invoke(2, 1, 0), isa.Copy(3, U(1)), isa.Copy(4, U(2))
    )
    assert in_regions(code, {0: 0, 1: 0}, t0=(0, 0), t1=(0, 0)) == []


def test_objects_to_a_slot_that_a_second_round_writes_without_a_new_placing() -> None:
    code = function(
        block([0], *placing(0, 0), isa.Jump(1), passes=[0]),
        block([1], branch(0, 2, 3)),
        block([], invoke(2, 0, 1), isa.Jump(1), passes=[2]),
        block([], ret(0)),
        tensors=[VECTOR],
    )
    assert in_regions(code, {0: 0}, t0=(0, 0)) == [
        "b2, instruction 0: reads %1, whose storage has been overwritten"
    ]


def test_accepts_what_a_loop_carries_if_each_round_places_its_own() -> None:
    code = function(
        block([0], isa.Jump(1), passes=[0]),
        block([1], branch(0, 2, 3)),
        block([], *placing(0, 0), invoke(2, 0, 1), isa.Jump(1), passes=[2]),
        block([], ret(0)),
        tensors=[VECTOR],
    )
    assert in_regions(code, {0: 0}, t0=(0, 0)) == []


def test_objects_to_a_tensor_of_a_region_that_leaves_the_frame() -> None:
    code = function(block([0], *placing(0, 0), invoke(1, 0, 0), ret(1)), tensors=[VECTOR])
    assert in_regions(code, {0: 0}, t0=(0, 0)) == ["b0, instruction 3: ret lets %1 out of the arena"]


def test_objects_to_places_and_groups_that_do_not_fit() -> None:
    code = regional(*placing(0, 0), invoke(1, 0, 0), isa.Copy(2, U(1)), rows=2)
    assert in_regions(code, {0: 1}, t0=(0, 0)) == [
        "t0: placed in region 1, but its place is InRegion(region=0, slot=0)"
    ]
    assert in_regions(code, {0: 0}) == ["t0: placed in region 0, but its place is None"]
    assert in_regions(code, {0: 0}, t0=(0, 0), t1=(0, 1)) == ["t1: no group places it"]
