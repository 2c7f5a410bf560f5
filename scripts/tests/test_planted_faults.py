"""The faults are many, of all kinds, and planted where their text stands; what showed is counted."""

import json
from pathlib import Path

import click
import pytest
from scripts.planted_faults import __main__ as command
from scripts.planted_faults.__main__ import Outcome, as_json, planted, run
from scripts.planted_faults.faults import FAULTS, Fault

from regvm import compiler


def test_there_are_sixty_of_ten_kinds_with_names_of_their_own() -> None:
    assert len(FAULTS) == len({fault.id for fault in FAULTS}) >= 60
    assert len({fault.kind for fault in FAULTS}) >= 10


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault.id))
def test_the_place_of_each_fault_is_there_once_and_compiles(fault: Fault) -> None:
    text = (command.SOURCE / fault.file).read_text()
    assert text.count(fault.old) == 1
    compile(text.replace(fault.old, fault.new), fault.file, "exec")


def test_a_fault_is_planted_in_a_copy(tmp_path: Path) -> None:
    before = Path(compiler.__file__).read_text()
    fault = Fault("x", "kind", "compiler.py", "def generate(", "def degenerate(")
    copy = planted(fault, tmp_path) / "regvm" / "compiler.py"
    assert copy.read_text() == before.replace("def generate(", "def degenerate(")
    assert Path(compiler.__file__).read_text() == before


def test_a_fault_without_its_place_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(click.UsageError, match=r"x: its place stands 0 times in compiler\.py"):
        planted(Fault("x", "kind", "compiler.py", "nowhere at all", ""), tmp_path)


@pytest.mark.thorough
def test_what_shows_is_told_in_a_line(tmp_path: Path) -> None:
    fault = Fault(
        "x", "kind", "compiler.py", "def generate(", "raise ValueError('planted')\n\n\ndef generate("
    )
    prepared = tmp_path / "prepared.pickle"
    prepared.write_bytes(b"")
    how = run(planted(fault, tmp_path), prepared, 60.0)
    assert how == "ValueError: planted"


def test_the_report_counts_and_names_survivors() -> None:
    first, second = FAULTS[:2]
    report = json.loads(json.dumps(as_json([Outcome(first, "wrong", 1.0), Outcome(second, "", 1.0)], 3)))
    assert (report["planted"], report["noticed"], report["share"]) == (2, 1, 0.5)
    assert report["survivors"] == [second.id]
