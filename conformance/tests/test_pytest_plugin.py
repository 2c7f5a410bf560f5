"""The fixture as a suite of others uses it: a run of pytest with the plugin named in its conftest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.tensorflow

TEST = """
import numpy as np
import tensorflow as tf


def graph():
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, (1, 3), name="x")
        tf.nn.relu(x, name="out")
    return graph


FED = {"x:0": np.array([[-1, 0, 1]], "float32")}


def test_right(check_equal):
    check_equal(graph(), np.array([[0, 0, 1]], "float32"), feed=FED)


def test_wrong(check_equal):
    check_equal(graph(), np.array([[0, 0, 2]], "float32"), feed=FED)
"""


def run(folder: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    (folder / "conftest.py").write_text('pytest_plugins = ["relay_conformance.pytest_plugin"]\n')
    (folder / "test_it.py").write_text(TEST)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(folder)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_right_graph_passes_and_a_wrong_one_says_where(tmp_path: Path) -> None:
    done = run(tmp_path, "--relay-executors", "regvm,regvm-native")
    assert "1 failed, 1 passed" in done.stdout
    assert (
        "regvm-native differs from TensorFlow: output 0: 1 of 3 elements differ, first at [0, 2]"
        in done.stdout
    )


def test_an_executor_that_does_not_exist_stops_the_run(tmp_path: Path) -> None:
    done = run(tmp_path, "--relay-executors", "moon-vm")
    assert done.returncode == 4
    assert "no executor is called moon-vm" in done.stderr
