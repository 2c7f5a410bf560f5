"""The command as a user calls it: what it prints, its exit status, and one line for bad input."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relay_conformance.cli import main
from relay_conformance.models import BUILT_IN


def run(*arguments: str, folder: Path | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "relay_conformance", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def assert_bad_input(finished: "subprocess.CompletedProcess[str]", *words: str) -> None:
    assert finished.returncode == 2, finished.stderr
    assert finished.stdout == ""
    (line,) = finished.stderr.splitlines()
    assert line.startswith("relay-conformance: ")
    for word in words:
        assert word in line


@pytest.fixture
def frozen(tf: Any, tmp_path: Path) -> Path:
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, (None, 3), "x")
        tf.matmul(x, tf.constant(2 * np.eye(3, dtype=np.float32)), name="out")
    path = tmp_path / "model.pb"
    path.write_bytes(graph.as_graph_def().SerializeToString())
    return path


@pytest.mark.thorough
class TestWithoutTensorFlow:
    def test_list_names_the_built_ins(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["compare", "--list"]) == 0
        assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(BUILT_IN)

    def test_list_as_json(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["compare", "--list", "--json"]) == 0
        assert json.loads(capsys.readouterr().out).keys() == BUILT_IN.keys()

    def test_the_int32_program(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["compare", "int32_1x1", "--repeats", "1"]) == 0
        out = capsys.readouterr().out
        assert "int32_1x1: holds" in out
        assert "The machines: bit-equal." in out
        assert "NumPy confirms tvm-vm and regvm." in out

    def test_another_executor_as_json(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["compare", "int32_1x1", "--executor", "tvm-debug", "--repeats", "1", "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        assert (report["executor"], report["vms_bit_equal"], report["max_abs_error"]) == (
            "tvm-debug",
            True,
            0.0,
        )

    def test_a_machine_that_is_not_there_is_a_difference_and_no_traceback(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["compare", "int32_1x1", "--time-limit", "0.001", "--json"]) == 1
        assert "no result within 0.001 s" in json.loads(capsys.readouterr().out)["failure"]

    def test_help_and_version(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["--help"]) == 0
        assert "compare" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ([], ["Missing command"]),
            (["nothing"], ["No such command", "nothing"]),
            (["compare"], ["Missing argument 'MODEL'", "--list"]),
            (["compare", "--nothing"], ["No such option", "--nothing"]),
            (["compare", "cond", "--batch", "0"], ["--batch"]),
            (["compare", "cond", "--seed", "x"], ["--seed"]),
            (["compare", "nothing"], ["nothing is neither a file", "mobilenet_v1"]),
            (["compare", "int32_1x1", "--executor", "nothing"], ["no executor is called nothing", "regvm"]),
            (["compare", "int32_1x1", "--input", "x"], ["--input x: expected NAME=FILE.npy"]),
            (["compare", "int32_1x1", "--input", "x=absent.npy"], ["can't read absent.npy"]),
            (["compare", "int32_1x1", "--output", "out"], ["--output goes with a file"]),
        ],
    )
    def test_bad_input_is_one_line(
        self, arguments: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(arguments) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        (line,) = captured.err.splitlines()
        for word in words:
            assert word in line

    @pytest.mark.parametrize(
        ("array", "words"),
        [
            (np.ones((2, 1), np.int32), ["got x: (2, 1) int32", "takes x: (1, 1) int32"]),
            (np.ones((1, 1), np.float32), ["got x: (1, 1) float32", "takes x: (1, 1) int32"]),
        ],
    )
    def test_an_input_of_the_wrong_shape_or_dtype(self, array: Any, words: list[str], tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", array)
        assert_bad_input(run("compare", "int32_1x1", "--input", "x=x.npy", folder=tmp_path), *words)

    def test_files_that_are_no_array(self, tmp_path: Path) -> None:
        (tmp_path / "x.npy").write_bytes(b"\x93NUMPY cut")
        assert_bad_input(
            run("compare", "int32_1x1", "--input", "x=x.npy", folder=tmp_path), "can't read x.npy"
        )
        np.savez(tmp_path / "several.npz", a=1)
        finished = run("compare", "int32_1x1", "--input", "x=several.npz", folder=tmp_path)
        assert_bad_input(finished, "holds several arrays")

    def test_an_unknown_input_names_the_known_ones(self, tmp_path: Path) -> None:
        np.save(tmp_path / "z.npy", np.ones((1, 1), np.int32))
        finished = run("compare", "int32_1x1", "--input", "z=z.npy", folder=tmp_path)
        assert_bad_input(finished, "no input is called z", "x: (1, 1) int32")

    def test_without_tvm_one_line_sends_to_the_doctor(self, tmp_path: Path) -> None:
        (tmp_path / "tvm.py").write_text("raise OSError('libLLVM.so: cannot open shared object file')")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
        finished = subprocess.run(
            [sys.executable, "-m", "relay_conformance", "compare", "int32_1x1"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert_bad_input(finished, "libLLVM.so", "`relay-conformance doctor`")


@pytest.mark.tensorflow
class TestModels:
    def test_a_frozen_graph_holds(self, frozen: Path) -> None:
        finished = run("compare", str(frozen), "--batch", "2", "--json", "--seed", "5")
        report = json.loads(finished.stdout)
        assert (finished.returncode, finished.stderr) == (0, ""), report
        assert (report["seed"], report["batch"], report["outputs"][0]["shape"]) == (5, 2, [2, 3])

    def test_a_given_input_is_used(self, frozen: Path, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", np.zeros((1, 3), np.float32))
        finished = run("compare", str(frozen), "--json", "--input", f"x:0={tmp_path / 'x.npy'}")
        assert json.loads(finished.stdout)["output_std"] == 0.0

    def test_nested_cond_reports_the_reference_s_failure(self) -> None:
        finished = run("compare", "nested_cond")
        assert finished.returncode == 1
        assert finished.stderr == ""
        assert "The machines: tvm-vm failed when running" in finished.stdout
        assert "TensorFlow confirms regvm." in finished.stdout
        assert "Traceback" not in finished.stdout

    def test_a_truncated_graph(self, frozen: Path) -> None:
        frozen.write_bytes(frozen.read_bytes()[:-20])
        assert_bad_input(run("compare", str(frozen)), "no frozen graph or is cut short")

    def test_a_folder_that_is_no_saved_model(self, tmp_path: Path) -> None:
        assert_bad_input(run("compare", str(tmp_path)), "is not a SavedModel", "saved_model.pb")

    def test_an_output_that_does_not_exist(self, frozen: Path) -> None:
        assert_bad_input(run("compare", str(frozen), "--output", "nothing"), "no tensor nothing:0", "out")

    def test_an_operator_that_the_importer_does_not_know(self, tf: Any, frozen: Path) -> None:
        with tf.Graph().as_default() as graph:
            x = tf.compat.v1.placeholder(tf.float32, (3,), "x")
            tf.math.divide_no_nan(x, x, name="out")
        frozen.write_bytes(graph.as_graph_def().SerializeToString())
        assert_bad_input(run("compare", str(frozen)), "DivNoNan")

    def test_an_input_that_can_not_be_made_up_must_be_given(self, tf: Any, frozen: Path) -> None:
        with tf.Graph().as_default() as graph:
            tf.nn.relu(tf.compat.v1.placeholder(tf.float32, (1, None), "x"), name="out")
        frozen.write_bytes(graph.as_graph_def().SerializeToString())
        assert_bad_input(run("compare", str(frozen)), "x: (1, ?) float32", "--input x=FILE.npy")

    def test_bad_input_leaves_nothing_behind(self, frozen: Path, tmp_path: Path) -> None:
        frozen.write_bytes(frozen.read_bytes()[:-20])
        before = sorted(tmp_path.rglob("*"))
        run("compare", str(frozen), folder=tmp_path)
        assert sorted(tmp_path.rglob("*")) == before

    def test_the_doctor(self) -> None:
        finished = run("doctor", "--json")
        report = json.loads(finished.stdout)
        assert [check for check in report["checks"] if not check["works"]] == []
        assert (finished.returncode, report["works"]) == (0, True)
