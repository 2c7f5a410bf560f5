"""Sizes and offsets of dynamic tensors are computed at run time, in storage that nothing refers to any more."""

import pytest

from regvm.errors import ExecutionError
from regvm.executable import InRegion, TensorSlot, TensorType
from regvm.runtime.kernels.regions import Regions
from regvm.runtime.values import Tensor

VECTOR = TensorType((None,), "float32")


def regions(*slots: int) -> Regions:
    return Regions([TensorSlot(VECTOR, (), InRegion(0, slot)) for slot in slots])


def placed(frame: Regions, *lengths: int) -> tuple[list[Tensor], int]:
    """Tensors of so many elements in rows 0, 1, …, and the bytes by which the frame grew."""
    for row, length in enumerate(lengths):
        frame.set_shape(row, (length,))
    grown = frame.place(0, range(len(lengths)))
    made = [frame.take(row) for row in range(len(lengths))]
    assert all(isinstance(t, Tensor) for t in made)
    return [t for t in made if isinstance(t, Tensor)], grown


@pytest.mark.parametrize(("length", "size"), [(0, 0), (1, 64), (15, 64), (16, 64), (17, 128), (1000, 4032)])
def test_a_size_is_rounded_up_to_64_bytes(length: int, size: int) -> None:
    (first, second), _ = placed(regions(0, 1), length, 1)
    assert second.data - first.data == size


def test_a_slot_is_as_large_as_the_largest_of_its_tensors() -> None:
    tensors, grown = placed(regions(0, 1, 0, 2), 16, 1, 64, 1)
    assert [t.data - tensors[0].data for t in tensors] == [0, 256, 0, 320]
    assert grown == 384


def test_storage_is_aligned_and_holds_the_shape() -> None:
    ((tensor,), _) = placed(regions(0), 5)
    assert tensor.data % 64 == 0
    assert tensor.type == TensorType((5,), "float32")


def test_storage_that_nothing_refers_to_is_taken_again() -> None:
    frame = regions(0)
    tensors, _ = placed(frame, 100)
    address = tensors[0].data
    del tensors
    (again,), grown = placed(frame, 90)
    assert (again.data, grown) == (address, 0)


def test_storage_that_something_refers_to_is_left_alone() -> None:
    frame = regions(0)
    (kept,), _ = placed(frame, 100)
    (other,), grown = placed(frame, 100)
    assert kept.data != other.data
    assert grown == 448


def test_what_a_loop_hands_on_takes_two_blocks_and_then_allocates_nothing() -> None:
    frame = regions(0)
    grown = []
    carried: list[Tensor] = []
    for _ in range(10):
        carried, bytes_ = placed(frame, 100)
        grown.append(bytes_)
    assert len(carried) == 1
    assert grown == [448, 448] + [0] * 8


def test_a_region_that_grows_takes_half_as_much_more() -> None:
    frame = regions(0)
    rounds = sum(placed(frame, length)[1] > 0 for length in range(16, 16 * 200, 16))
    assert rounds < 20


def test_a_row_outside_of_regions_has_a_type_only() -> None:
    frame = Regions([TensorSlot(VECTOR)])
    frame.set_shape(0, (3,))
    assert frame.take(0) == TensorType((3,), "float32")


def test_another_number_of_dimensions_is_refused() -> None:
    with pytest.raises(ExecutionError, match=r"float32\[\?\] cannot have the shape \[1, 2\]"):
        regions(0).set_shape(0, (1, 2))


@pytest.mark.parametrize("length", [-1, 2**62, 2**45])
def test_an_impossible_shape_is_refused(length: int) -> None:
    with pytest.raises(MemoryError, match="no possible tensor"):
        regions(0).set_shape(0, (length,))
