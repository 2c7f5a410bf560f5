"""A plan becomes a PNG or an SVG, the same one each time."""

import sys
from pathlib import Path

import pytest

from regvm.memory import Request, plan
from regvm.memory.benchmarks import EIGHT_TENSORS
from regvm.memory.errors import InvalidOptionError, MissingPackageError
from regvm.memory.plot import plot_plan

PLAN = plan(EIGHT_TENSORS, alignment=1)


def test_without_matplotlib_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r"relay-regvm\[plot\]"):
        plot_plan(EIGHT_TENSORS, PLAN, tmp_path / "plan.png")


def test_another_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidOptionError, match=r"'\.gif'; use \.png or \.svg"):
        plot_plan(EIGHT_TENSORS, PLAN, tmp_path / "plan.gif")


@pytest.fixture
def _matplotlib() -> None:
    pytest.importorskip("matplotlib", reason="matplotlib (extra 'plot') is not installed")


@pytest.mark.usefixtures("_matplotlib")
def test_a_png_is_written(tmp_path: Path) -> None:
    plot_plan(EIGHT_TENSORS, PLAN, tmp_path / "plan.png")
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("_matplotlib")
def test_an_svg_names_bytes_and_bound_and_is_deterministic(tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        plot_plan(EIGHT_TENSORS, PLAN, tmp_path / name, title="eight tensors")
    text = (tmp_path / "one.svg").read_text()
    assert "eight tensors" in text
    assert "plan: 124 bytes" in text
    assert text == (tmp_path / "two.svg").read_text()


@pytest.mark.usefixtures("_matplotlib")
def test_each_live_range_is_a_rectangle(tmp_path: Path) -> None:
    def paths(requests: list[Request]) -> int:
        plot_plan(requests, plan(requests), tmp_path / "plan.svg")
        return (tmp_path / "plan.svg").read_text().count("<path")

    whole = [Request(0, 64, ((0, 9),))]
    holed = [Request(0, 64, ((0, 2), (7, 9)))]
    assert paths(holed) == paths(whole) + 1


@pytest.mark.usefixtures("_matplotlib")
def test_nothing_can_be_drawn(tmp_path: Path) -> None:
    plot_plan([], plan([]), tmp_path / "plan.png")
    assert (tmp_path / "plan.png").exists()


@pytest.mark.usefixtures("_matplotlib")
def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidOptionError, match="give a file that can be written"):
        plot_plan(EIGHT_TENSORS, PLAN, tmp_path / "absent" / "plan.png")
