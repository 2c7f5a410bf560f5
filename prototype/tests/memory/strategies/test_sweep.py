"""The sweep fits best, merges what is freed, and extends the last gap instead of leaving it."""

from regvm.memory import Request, plan


def test_the_smallest_gap_that_fits_is_taken() -> None:
    requests = [
        Request("wide", 256, ((0, 1),)),
        Request("wall", 192, ((0, 9),)),
        Request("narrow", 128, ((0, 1),)),
        Request("roof", 64, ((0, 9),)),
        Request("next", 100, ((1, 2),)),
    ]
    result = plan(requests, "sweep")
    assert result.offsets["next"] == result.offsets["narrow"] > 0


def test_neighbouring_gaps_merge() -> None:
    requests = [
        Request(0, 192, ((0, 1),)),
        Request(1, 128, ((0, 2),)),
        Request(2, 64, ((0, 9),)),
        Request(3, 320, ((2, 3),)),
    ]
    assert plan(requests, "sweep").offsets[3] == 0


def test_the_gap_at_the_end_is_extended() -> None:
    requests = [Request(0, 128, ((0, 9),)), Request(1, 64, ((0, 1),)), Request(2, 256, ((1, 2),))]
    assert plan(requests, "sweep").bytes == 128 + 256
