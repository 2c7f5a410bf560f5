"""A figure is drawn from the results, tells when they have changed, and is left alone when they have not."""

from pathlib import Path
from typing import Any

import pytest
from scripts.evidence.figures import registers, stale_figures, write_figures

RESULTS: dict[str, Any] = {
    "population": {"all": {"both": {"largest": {"2": 5, "3": 1}, "reference_largest": {"8": 6}}}},
    "models": {"net": {"registers": {"main": 3, "f": 9}, "reference_registers": {"main": 40}}},
}


def test_the_largest_function_of_each_model_is_one_more_program() -> None:
    assert registers(RESULTS) == {"register VM": {2: 5, 3: 1, 9: 1}, "reference": {8: 6, 40: 1}}


def test_drawn_once_and_again_where_the_results_changed(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib (extra 'plot') is not installed")
    folder = tmp_path / "figures"
    assert stale_figures(folder, RESULTS) == ["registers.svg"]
    write_figures(folder, RESULTS)
    assert stale_figures(folder, RESULTS) == []
    first = (folder / "registers.svg").read_bytes()
    assert b"<svg" in first
    assert b"7 programs" in first
    changed = {**RESULTS, "models": {}}
    assert stale_figures(folder, changed) == ["registers.svg"]
    write_figures(folder, changed)
    assert stale_figures(folder, changed) == []
    assert (folder / "registers.svg").read_bytes() != first
