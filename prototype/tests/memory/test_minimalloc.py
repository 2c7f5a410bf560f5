"""The MiniMalloc tables A to K: what each strategy reaches within 1 MiB, and how far above it the others end.

The tables are not part of this repository: REGVM_DATA names the folder that holds ``minimalloc``, by default
``../shared/data`` beside the checkout.
"""

import os
from pathlib import Path

import pytest

from regvm.memory import Options, assert_plan, plan
from regvm.memory.table import read_table

CHECKOUT = Path(__file__).parents[3]
FOLDER = Path(os.environ.get("REGVM_DATA", CHECKOUT.parent / "shared" / "data")) / "minimalloc"
CAPACITY = 1 << 20

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="no MiniMalloc tables: set REGVM_DATA to the folder that holds minimalloc/"
)


def _excess(name: str, strategy: str, options: Options) -> float:
    requests = read_table(FOLDER / f"{name}.1048576.csv")
    result = plan(requests, strategy, options=options)
    assert_plan(requests, result)
    return max(0.0, result.bytes / CAPACITY - 1)


def test_the_example_takes_its_live_sum() -> None:
    requests = read_table(FOLDER / "example.12.csv")
    assert plan(requests, alignment=1).bytes == 12


def test_the_default_stays_under_a_fifth_above_on_average() -> None:
    assert sum(_excess(name, "default", Options()) for name in "ABCDEFGHIJK") / 11 < 0.2


@pytest.mark.parametrize("name", "ABCDEFGHIJK")
def test_the_default_beats_greedy_by_size(name: str) -> None:
    assert _excess(name, "default", Options()) < _excess(name, "greedy_by_size", Options())


@pytest.mark.slow
def test_the_search_stays_under_a_tenth_above_on_average_in_5_seconds() -> None:
    options = Options(seconds=5, capacity=CAPACITY)
    assert sum(_excess(name, "search", options) for name in "ABCDEFGHIJK") / 11 < 0.1


@pytest.mark.slow
def test_the_exact_strategy_fits_at_least_4_in_60_seconds_each() -> None:
    pytest.importorskip("ortools", reason="OR-Tools (extra 'exact') is not installed")
    options = Options(seconds=60, capacity=CAPACITY)
    assert sum(_excess(name, "optimal", options) == 0 for name in "BCFGHKJE") >= 4
