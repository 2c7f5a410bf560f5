"""Requests are refused where no plan could serve them; the lower bound is the largest live sum."""

import pytest

from regvm.memory.benchmarks import EIGHT_TENSORS, mobilenet_v1, mobilenet_v2
from regvm.memory.errors import InvalidOptionError, InvalidRequestError
from regvm.memory.request import Request, lower_bound, require_distinct_ids, round_up


@pytest.mark.parametrize(
    ("size", "ranges", "message"),
    [
        (-1, ((0, 1),), "size -1 is negative"),
        (1, (), "no live range"),
        (1, ((3, 3),), r"live range \[3, 3\) is empty"),
        (1, ((4, 2),), r"live range \[4, 2\) is empty"),
        (1, ((0, 3), (2, 5)), r"\[2, 5\) must not start within \[0, 3\)"),
        (1, ((6, 8), (0, 2)), r"\[0, 2\) must not start within \[6, 8\)"),
    ],
)
def test_a_request_is_refused(size: int, ranges: tuple[tuple[int, int], ...], message: str) -> None:
    with pytest.raises(InvalidRequestError, match=message) as error:
        Request("weights", size, ranges)
    assert "'weights'" in str(error.value)


def test_ranges_may_touch() -> None:
    assert Request(0, 8, ((0, 2), (2, 4))).last == 4


def test_equal_ids_are_refused() -> None:
    with pytest.raises(InvalidRequestError, match="'a' is given twice"):
        require_distinct_ids([Request("a", 1, ((0, 1),)), Request("a", 2, ((0, 1),))])


@pytest.mark.parametrize(("size", "rounded"), [(0, 0), (1, 64), (64, 64), (65, 128)])
def test_sizes_round_up(size: int, rounded: int) -> None:
    assert round_up(size, 64) == rounded


def test_the_bound_is_the_largest_live_sum() -> None:
    assert lower_bound(EIGHT_TENSORS, alignment=1) == 124
    assert lower_bound(mobilenet_v1()) / 2**20 == pytest.approx(4.594, abs=5e-4)
    assert lower_bound(mobilenet_v2()) / 2**20 == pytest.approx(5.742, abs=5e-4)


def test_the_bound_counts_aligned_sizes() -> None:
    assert lower_bound([Request(0, 1, ((0, 2),)), Request(1, 65, ((1, 2),))], alignment=64) == 192


def test_the_bound_sees_half_open_ends() -> None:
    assert lower_bound([Request(0, 8, ((0, 2),)), Request(1, 8, ((2, 4),))], alignment=1) == 8


def test_the_bound_sees_lifetime_holes() -> None:
    holed = Request(0, 8, ((0, 1), (3, 4)))
    assert lower_bound([holed, Request(1, 8, ((1, 3),))], alignment=1) == 8


def test_the_bound_of_nothing_is_zero() -> None:
    assert lower_bound([]) == 0


@pytest.mark.parametrize("alignment", [0, -64])
def test_an_alignment_that_is_not_positive_is_refused(alignment: int) -> None:
    with pytest.raises(InvalidOptionError, match="not positive"):
        lower_bound([], alignment)
