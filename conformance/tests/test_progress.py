"""Progress shows on a terminal, after a while, and never in a file."""

import time
from io import StringIO

import pytest
from rich.console import Console

from relay_conformance import progress
from relay_conformance.progress import progress_display


def shown(*, terminal: bool, duration: float) -> str:
    console = Console(file=StringIO(), force_terminal=terminal)
    with progress_display(console) as tell:
        tell("compiling")
        time.sleep(duration)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY_S", 0.2)


def test_it_shows_what_runs_after_the_delay() -> None:
    assert "compiling" in shown(terminal=True, duration=0.6)


def test_it_shows_nothing_before() -> None:
    assert shown(terminal=True, duration=0.0) == ""


def test_it_shows_nothing_in_a_file() -> None:
    assert shown(terminal=False, duration=0.6) == ""


def test_the_delay_is_two_seconds_as_the_design_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert progress.DELAY_S == 2.0
