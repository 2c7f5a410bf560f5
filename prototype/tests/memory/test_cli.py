"""``regvm plan --csv`` prints the plan for people and for machines; bad input is one line and status 2."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from regvm.cli.plan import plan_command
from regvm.memory import cli
from regvm.memory.benchmarks import EIGHT_TENSORS
from regvm.memory.checker import Fault, PlanRejectedError, Violation
from regvm.memory.request import Plan


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "eight.csv"
    rows = [f"{request.id},{request.first},{request.last},{request.size}" for request in EIGHT_TENSORS]
    path.write_text("\n".join(["id,lower,upper,size", *rows]))
    return path


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(plan_command, [str(argument) for argument in arguments])


def test_json_carries_the_plan(table: Path) -> None:
    result = _run("--csv", table, "--strategy", "greedy_by_size", "--alignment", 1, "--json")
    assert result.exit_code == 0
    record = json.loads(result.stdout)
    assert record.keys() == {"strategy", "bytes", "lower_bound", "bound", "seconds", "offsets"}
    assert (record["strategy"], record["bytes"], record["lower_bound"]) == ("greedy_by_size", 124, 124)
    assert record["offsets"].keys() == {str(index) for index in range(8)}
    assert record["seconds"] >= 0


def test_the_default_is_the_default_strategy_at_64_bytes(table: Path) -> None:
    record = json.loads(_run("--csv", table, "--json").stdout)
    assert (record["strategy"], record["bytes"]) == ("default", 256)


def test_people_get_a_table(table: Path) -> None:
    result = _run("--csv", table, "--alignment", 1)
    assert result.exit_code == 0
    assert "default: 124 bytes in" in result.stdout
    assert "[5, 8)" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--strategy", "best"], "unknown storage strategy 'best'; choose one of"),
        (["--alignment", "0"], "alignment 0 is not positive"),
        (["--seconds", "-1"], "seconds -1.0 is negative"),
        (["--picture", "plan.bmp"], "use .png or .svg"),
    ],
)
def test_a_bad_option_is_one_line_and_status_2(table: Path, arguments: list[str], message: str) -> None:
    result = _run("--csv", table, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_a_bad_table_is_one_line_and_status_2(tmp_path: Path) -> None:
    result = _run("--csv", tmp_path / "absent.csv", "--json")
    assert result.exit_code == 2
    assert (
        result.stderr
        == f"Error: {tmp_path / 'absent.csv'}: No such file or directory; give a readable CSV file\n"
    )


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib (extra 'plot') is not installed")
def test_a_picture_is_drawn_beside_the_json(table: Path, tmp_path: Path) -> None:
    result = _run("--csv", table, "--picture", tmp_path / "plan.svg", "--json")
    assert json.loads(result.stdout)["bytes"] == 256
    assert (tmp_path / "plan.svg").read_text().startswith("<?xml")


def test_a_rejected_plan_is_status_1(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def reject(*_: object) -> None:
        violation = Violation(Fault.MISALIGNED, ("0",), "offset 1 is no multiple of 64")
        raise PlanRejectedError(Plan({}, 0, "default", 0), [violation])

    monkeypatch.setattr(cli, "assert_plan", reject)
    result = _run("--csv", table, "--json")
    assert result.exit_code == 1
    assert "'0' is misaligned" in result.stderr
