"""The dump has a file for each pass, a summary, and for a TensorFlow model its graph; bad input is one line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]
PROGRAM = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) { nn.relu(add(%x, multiply(2f, 3f))) }
"""


def _dump(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "dump_passes.py"), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'prototype'}{os.pathsep}{ROOT / 'conformance'}"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, check=False)


def test_a_relay_file_gives_numbered_stages_and_a_summary(tmp_path: Path) -> None:
    (tmp_path / "small.relay").write_text(PROGRAM)
    result = _dump("small.relay", folder=tmp_path)
    assert result.returncode == 0, result.stderr
    written = sorted(p.name for p in (tmp_path / "small.passes").iterdir())
    assert written[:2] == ["00_input.relay", "01_InferType.relay"]
    assert "graph.txt" not in written
    rows = [line.split("\t") for line in (tmp_path / "small.passes" / "summary.txt").read_text().splitlines()]
    assert rows[0] == ["pass", "nodes", "calls", "constants", "kernels", "changed"]
    assert [f"{row[0]}.relay" for row in rows[1:]] == written[:-1]
    for name, *_, changed in rows[1:]:
        text = (tmp_path / "small.passes" / f"{name}.relay").read_text()
        assert text.startswith("// unchanged but for types: see ") == (changed == "no")
        assert name in result.stdout


@pytest.mark.tensorflow
def test_a_tensorflow_model_gives_its_graph_too(tmp_path: Path) -> None:
    result = _dump("cond", "--out", "dump", folder=tmp_path)
    assert result.returncode == 0, result.stderr
    graph = (tmp_path / "dump" / "graph.txt").read_text()
    assert "  x: (1, 3) float32\n" in graph
    assert (tmp_path / "dump" / "00_input.relay").exists()


def test_bad_input_is_one_line_and_status_2(tmp_path: Path) -> None:
    (tmp_path / "broken.relay").write_text(PROGRAM.replace("relu", "no_such_operator"))
    for model in ("broken.relay", "absent.pb"):
        result = _dump(model, folder=tmp_path)
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr.count("\n") == 1
