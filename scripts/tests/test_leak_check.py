"""The leak check runs, checks its own results, and says when memory grows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]


def leak_check(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "leak_check.py"), *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT / "prototype")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_memory_stays_flat_and_a_line_is_printed_for_each_tenth() -> None:
    done = leak_check("--invocations", "100")
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == [str(n) for n in range(0, 101, 10)]


def test_growth_past_the_tolerance_fails() -> None:
    done = leak_check("--invocations", "10", "--tolerance", "-1")
    assert done.returncode == 1
    assert "memory grew by more than -1.0 MiB" in done.stderr
