"""Every tensor that a function creates is listed once, with its place and its lifetime."""

from hypothesis import given, settings

from regvm import isa
from regvm.compiler import place_functions
from regvm.executable import TensorType
from regvm.ir import Module
from regvm.ir.value_types import infer
from regvm.memory.inventory import Allocation, allocations, bytes_without_sharing
from regvm_testing.programs import modules
from regvm_testing.writing import TENSOR, block, function, invoke, module, ret


def listed(program: Module) -> list[tuple[Allocation, ...]]:
    return [
        allocations(p.function, p.placement, p.intervals.ranges, types.values)
        for p, types in zip(place_functions(program), infer(program), strict=True)
    ]


def test_what_is_returned_owns_its_storage_and_the_rest_lies_in_the_arena() -> None:
    made = function(block([0], invoke(1, 0, 0), invoke(2, 1, 1), ret(2)), tensors=2)
    inner, result = listed(module(made))[0]
    assert (inner.value, inner.type, inner.num_bytes, inner.offsets) == (1, TENSOR, 64, (0,))
    assert inner.ranges == ((2, 5),)
    assert (result.value, result.num_bytes, result.offsets) == (2, 64, ())


def test_a_size_that_is_known_only_at_run_time_is_none() -> None:
    made = function(
        block(
            [0],
            isa.ShapeOf(1, isa.Use(0)),
            isa.AllocTensor(2, isa.Use(1), "int8"),
            isa.Copy(3, isa.Use(0)),
            ret(2),
        )
    )
    dynamic, copy = listed(module(made))[0]
    assert (dynamic.type, dynamic.num_bytes) == (TensorType((None,), "int8"), None)
    assert (copy.type, copy.num_bytes, copy.offsets) == (TENSOR, 64, ())


@settings(max_examples=30, deadline=None)
@given(modules())
def test_the_arena_holds_what_is_listed_there(program: Module) -> None:
    for placed, tensors in zip(place_functions(program), listed(program), strict=True):
        placement = placed.placement
        assert len({t.value for t in tensors}) == len(tensors)
        ends = [o + (t.num_bytes or 0) for t in tensors for o in t.offsets]
        assert max(ends, default=0) <= placement.storage_bytes <= bytes_without_sharing(placement)
        assert sum(len(t.offsets) for t in tensors) >= len(placement.requests)
