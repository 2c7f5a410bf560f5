"""The planner's report prints checked figures, and refuses bad input in one line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]


def _report(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "plan_report.py"), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "prototype")}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_the_default_reaches_the_published_figures() -> None:
    result = _report("published", "--strategy", "default", "--json")
    figures = {one["problem"]: one["bytes"] for one in json.loads(result.stdout)}
    assert figures["8 tensors"] == 124
    assert figures["XNNPACK chain"] == 180
    assert figures["USMP fan-out"] == 190
    assert figures["USMP ResNet block"] == 7_200_256


def test_scaling_has_a_row_per_size() -> None:
    result = _report("scaling", "--bindings", "50", "--bindings", "500", "--json")
    assert [one["requests"] for one in json.loads(result.stdout)] == [50, 500]


def test_tables_are_measured_against_the_capacity(tmp_path: Path) -> None:
    table = tmp_path / "two.csv"
    table.write_text("id,lower,upper,size\na,0,2,100\nb,2,3,100\n")
    result = _report("tables", str(tmp_path), "--strategy", "none", "--capacity", "200", "--json")
    (one,) = json.loads(result.stdout)
    assert (one["problem"], one["bytes"], one["excess"]) == ("two", 256, 0.28)


def test_people_get_a_table_with_means() -> None:
    result = _report("published", "--strategy", "none")
    assert "10,839,936" in result.stdout
    assert "mean" in result.stdout


def test_bad_input_is_one_line_and_status_2(tmp_path: Path) -> None:
    table = tmp_path / "bad.csv"
    table.write_text("id,lower,upper,size\na,0,2,large\n")
    for arguments in (["scaling", "--strategy", "best"], ["tables", str(table)]):
        result = _report(*arguments)
        assert result.returncode == 2
        assert result.stderr.strip().count("\n") == 0
