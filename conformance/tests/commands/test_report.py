"""Runs that were kept become one table: every status of every operator, totals and versions."""

import json
from pathlib import Path
from typing import Any

import pytest

from relay_conformance.cli import main
from relay_conformance.commands.report import join
from relay_conformance.errors import BadInputError


def run(**changes: Any) -> dict[str, Any]:
    return {
        "cases": 3,
        "holds": True,
        "totals": {"regvm": {"agree": 2, "value": 1}},
        "operators": {"Abs": {"regvm": {"agree": 2, "value": 1}}},
        "results": [{"case": "Abs-x", "status": "value"}],
        "versions": {"python": "3"},
        **changes,
    }


def kept(tmp_path: Path, *runs: dict[str, Any]) -> list[str]:
    paths = [tmp_path / f"{number}.json" for number in range(len(runs))]
    for path, content in zip(paths, runs, strict=True):
        path.write_text(json.dumps(content))
    return [str(path) for path in paths]


def test_counts_add_up() -> None:
    other = run(operators={"Abs": {"tvm-vm": {"crash": 1}}, "Add": {"regvm": {"agree": 1}}}, holds=False)
    joined = join([run(), other])
    assert joined["operators"] == {
        "Abs": {"regvm": {"agree": 2, "value": 1}, "tvm-vm": {"crash": 1}},
        "Add": {"regvm": {"agree": 1}},
    }
    assert joined["totals"] == {"regvm": {"agree": 4, "value": 2}}
    assert (joined["cases"], joined["holds"], len(joined["results"])) == (6, False, 2)


def test_runs_of_different_versions_are_not_mixed() -> None:
    with pytest.raises(BadInputError, match="different versions"):
        join([run(), run(versions={"python": "4"})])


def test_the_table_lists_every_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", *kept(tmp_path, run())]) == 0
    out = capsys.readouterr().out
    assert "2 agree, 1 value" in out
    assert "python 3" in out


def test_the_json_is_the_joined_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--json", *kept(tmp_path, run(holds=False))]) == 1
    assert json.loads(capsys.readouterr().out) == run(holds=False)


@pytest.mark.parametrize(("text", "complaint"), [("{}", "not a run"), ("{", "can't be read")])
def test_another_file_is_refused(
    text: str, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    assert main(["report", str(path)]) == 2
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1
