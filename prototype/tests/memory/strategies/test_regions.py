"""The strategies without offset packing do what those they stand for do."""

from regvm.memory import Options, Request, plan

SMALL_THEN_LARGE = [Request("small", 100, ((0, 1),)), Request("large", 5_000, ((1, 2),))]


def test_exact_reuses_the_same_number_of_pages_only() -> None:
    same_pages = [Request(0, 100, ((0, 1),)), Request(1, 4_000, ((1, 2),))]
    assert plan(same_pages, "exact").bytes == 4_096
    assert plan(SMALL_THEN_LARGE, "exact").bytes == 4_096 + 8_192


def test_the_page_of_exact_can_be_set() -> None:
    assert plan(SMALL_THEN_LARGE, "exact", options=Options(page=1)).bytes == 128 + 5_056


def test_coalesce_lets_a_region_grow() -> None:
    assert plan(SMALL_THEN_LARGE, "coalesce").bytes == 5_056


def test_coalesce_prefers_the_smallest_region_that_is_large_enough() -> None:
    requests = [
        Request("small", 64, ((0, 1),)),
        Request("medium", 256, ((0, 1),)),
        Request("large", 1_024, ((0, 1),)),
        Request("next", 200, ((1, 2),)),
    ]
    result = plan(requests, "coalesce")
    assert result.offsets["next"] == result.offsets["medium"]


def test_a_region_is_kept_through_lifetime_holes() -> None:
    requests = [Request("holed", 64, ((0, 1), (2, 3))), Request("inside", 64, ((1, 2),))]
    assert plan(requests, "coalesce").bytes == 128


def test_none_shares_nothing() -> None:
    assert plan(SMALL_THEN_LARGE, "none").offsets == {"small": 0, "large": 128}
