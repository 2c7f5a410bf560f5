"""The model that the RFC follows is shown at every stage, and the stages agree with each other."""

import re
from typing import Any

import pytest
from scripts.evidence.example import follow

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def stages() -> dict[str, Any]:
    return follow()


def test_each_value_of_the_blocks_has_a_register_of_the_frame(stages: dict[str, Any]) -> None:
    values = set(re.findall(r"%\d+", stages["blocks"]))
    assert {row["value"] for row in stages["intervals"]} == values
    size = int(re.search(r"frame (\d+) registers", stages["listing"])[1])  # type: ignore[index]
    assert {int(row["register"][1:]) for row in stages["intervals"]} == set(range(size))


def test_values_that_share_a_register_are_never_live_at_once(stages: dict[str, Any]) -> None:
    taken: dict[str, list[tuple[int, int]]] = {}
    for row in stages["intervals"]:
        ranges = [(int(a), int(b)) for a, b in re.findall(r"\[(\d+), (\d+)\)", row["ranges"])]
        for begin, end in ranges:
            assert all(end <= b or e <= begin for b, e in taken.get(row["register"], []))
        taken.setdefault(row["register"], []).extend(ranges)


def test_what_the_reference_kills_is_live_into_each_block_but_the_first(stages: dict[str, Any]) -> None:
    assert all("`%1`" in row["live_in"] for row in stages["liveness"][1:])


def test_offsets_lie_in_the_arena(stages: dict[str, Any]) -> None:
    assert stages["storage"]
    for row in stages["storage"]:
        assert row["offset"] % 64 == 0
        assert row["offset"] + row["bytes"] <= stages["arena_bytes"]


def test_the_normal_form_names_no_device(stages: dict[str, Any]) -> None:
    assert "let %x_0 = fn" in stages["normal_form"]
    assert "device" not in stages["normal_form"]
