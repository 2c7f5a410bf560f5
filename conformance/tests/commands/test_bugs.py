"""The ledger on the command line: listed, as JSON, and one defect run again."""

import json
from pathlib import Path

import pytest

from relay_conformance.cases import ledger
from relay_conformance.cli import main

Capture = pytest.CaptureFixture[str]


def test_the_table_names_every_defect(capsys: Capture) -> None:
    assert main(["bugs"]) == 0
    assert f"{len(ledger.defects())} known defects" in capsys.readouterr().out


def test_the_json_has_every_field(capsys: Capture) -> None:
    assert main(["bugs", "--json"]) == 0
    found = {entry["id"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert found.keys() == {defect.id for defect in ledger.defects()}
    entry = found["no-references"]
    assert entry["issue"] == 6798
    assert all(
        entry[name] for name in ("layer", "symptom", "reproducer", "right", "cause", "executors", "cases")
    )


@pytest.mark.thorough
def test_a_defect_is_run_again(capsys: Capture) -> None:
    assert main(["bugs", "run", "plan-devices-function-of-a-match"]) == 0
    out = capsys.readouterr().out
    assert (
        "known defect (plan-devices-function-of-a-match): lang-match-gives-a-function on tvm-vm: compile"
        in out
    )
    assert "holds: lang-match-gives-a-function on regvm" in out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["bugs", "run", "moon"], "no defect is called moon; `relay-conformance bugs` lists them"),
        (
            ["bugs", "run", "a-frame-for-each-iteration"],
            "has no case of its own; its reproducer is: def @loop",
        ),
    ],
)
def test_what_cannot_be_run_is_refused(arguments: list[str], complaint: str, capsys: Capture) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1


def test_an_entry_without_a_reproducer_is_named(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "defects.toml"
    path.write_text(
        "[[defect]]\nid='a'\nlayer='kernel'\nsymptom='s'\nright='r'\ncause='c'\nexecutors=['*']\n"
    )
    assert main(["bugs", "--ledger", str(path)]) == 2
    assert capsys.readouterr().err.strip().endswith("a lacks reproducer")
