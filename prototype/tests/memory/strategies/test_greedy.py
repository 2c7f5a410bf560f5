"""The greedy strategies take the requests in their order: the first of it lies at the bottom."""

import pytest

from regvm.memory import Request, plan

REQUESTS = [
    Request("long", 64, ((0, 9),)),
    Request("large", 640, ((2, 3),)),
    Request("early", 128, ((0, 2),)),
]


@pytest.mark.parametrize(
    ("strategy", "lowest"), [("greedy_by_size", "large"), ("greedy_by_conflicts", "long")]
)
def test_the_first_of_the_order_lies_lowest(strategy: str, lowest: str) -> None:
    assert plan(REQUESTS, strategy).offsets[lowest] == 0
    assert plan(REQUESTS, strategy).bytes == 704


def test_equals_keep_the_order_given() -> None:
    requests = [Request(id, 64, ((0, 1),)) for id in "cab"]
    assert plan(requests, "greedy_by_size").offsets == {"c": 0, "a": 64, "b": 128}
