"""The command measures, prints a table, and writes JSON that a later run adds to."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llvmlite")

ROOT = Path(__file__).parents[3]


def _bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(str(ROOT / p) for p in ("prototype", "conformance", "."))
    return subprocess.run(
        [sys.executable, "-m", "scripts.bench", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
        cwd=ROOT,
        check=False,
    )


def test_it_compares_the_engines(tmp_path: Path) -> None:
    output = tmp_path / "results.json"
    engines = [f"--engine={e}" for e in ("regvm-native", "regvm", "bound", "tvm-vm")]
    options = ["--cache", "--rounds=1", "--largest=10", f"--json={output}"]
    first = _bench("loop_scalar", *engines, *options)
    assert first.returncode == 0, first.stderr
    assert "a tail-recursive loop over int32 scalars" in first.stdout
    second = _bench("identity", "--engine=regvm-native", *options)
    assert second.returncode == 0, second.stderr
    results: Any = json.loads(output.read_text())
    assert list(results["workloads"]) == ["loop_scalar", "identity"]
    assert results["machine"]["threads"] == 1
    assert results["workloads"]["identity"]["run"]["clock"] == "wall"
    compiled = results["workloads"]["loop_scalar"]["compiled"]
    assert all("compile_s" not in c for c in compiled.values())
    assert compiled["regvm-native"]["codegen_s"] > 0
    size = results["workloads"]["loop_scalar"]["sizes"]["10"]
    assert set(size["engines"]) == {"regvm-native", "regvm", "bound", "tvm-vm"}
    assert size["bit_equal"]
    assert set(size["ratios"]["invoke"]) == {"regvm", "bound", "tvm-vm"}
    assert size["engines"]["bound"]["kernel_calls"] == 31


def test_it_names_its_workloads() -> None:
    listed = _bench("--list").stdout
    for name in ("loop_scalar", "list", "tree", "match", "closures", "growing", "lstm", "nms", "resnet50_v2"):
        assert f"{name}: " in listed


def test_a_workload_that_does_not_exist_is_refused() -> None:
    refused = _bench("bubblesort")
    assert refused.returncode == 2
    assert "bubblesort" in refused.stderr
