"""The command as a user calls it: results on standard output, one line on standard error for bad input, exit status."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relay

import regvm
from regvm_testing.commands import Call, Finished

PROTOTYPE = Path(__file__).parents[2]

RELAY = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %p: (Tensor[(3), float32], Tensor[(), bool])) {
  let %y = add(%x, %p.0);
  if (%p.1) { (%y, %x) } else { (multiply(%y, %y), %x) }
}
"""
WEIGHTED = """#[version = "0.0.5"]
def @main(%x: Tensor[(2), float32], %w: Tensor[(2), float32]) { multiply(%x, %w) }
"""
DYNAMIC = """#[version = "0.0.5"]
def @main(%x: Tensor[(?, 2), float32]) { add(%x, %x) }
"""
RECURSIVE = """#[version = "0.0.5"]
def @main(%n: Tensor[(), int32]) -> Tensor[(), int32] { @down(%n) }
def @down(%n: Tensor[(), int32]) -> Tensor[(), int32] {
  if (equal(%n, 0)) { 0 } else { add(1, @down(subtract(%n, 1))) }
}
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.relay"
    path.write_text(RELAY)
    return path


@pytest.fixture
def saved(model: Path, call: Call) -> Path:
    path = model.with_suffix(".regvm")
    assert call("compile", model, "-o", path).status == 0
    return path


def assert_refused(finished: Finished, *words: str, status: int = 2) -> None:
    assert finished.status == status
    assert finished.out == ""
    assert finished.err.startswith("regvm: ")
    assert finished.err.count("\n") == 1
    assert "Traceback" not in finished.err
    for word in words:
        assert word in finished.err


def test_compile_writes_an_executable_and_says_what_it_holds(model: Path, call: Call) -> None:
    finished = call("compile", model, "-o", model.with_suffix(".regvm"), "--json")
    assert (finished.status, finished.err) == (0, "")
    record = json.loads(finished.out)
    assert [f["name"] for f in record["functions"]] == ["main"]
    assert record["functions"][0]["params"] == ["x", "p"]
    assert record["functions"][0]["registers"] <= record["functions"][0]["max_live"] + 1
    assert record["instructions"] == record["functions"][0]["instructions"] > 0
    assert record["file_bytes"] == model.with_suffix(".regvm").stat().st_size
    assert record["compile_s"] > 0
    assert record["notes"] == []


def test_compile_prints_a_table_for_people(model: Path, call: Call) -> None:
    finished = call("compile", model, "-o", model.with_suffix(".regvm"))
    assert finished.status == 0
    assert "│ @main" in finished.out
    assert "kernels" in finished.out


def test_the_same_model_gives_the_same_file(model: Path, saved: Path, call: Call) -> None:
    again = model.with_name("again.regvm")
    assert call("compile", model, "-o", again).status == 0
    assert again.read_bytes() == saved.read_bytes()


def test_a_register_limit_is_kept_and_one_too_small_is_refused(
    model: Path, tmp_path: Path, call: Call
) -> None:
    path = tmp_path / "small.regvm"
    assert call("compile", model, "-o", path, "--register-limit", 4, "--check").status == 0
    assert max(f.num_registers for f in regvm.load(path).functions) <= 4
    refused = call("compile", model, "-o", tmp_path / "none.regvm", "--register-limit", 1)
    assert refused.status == 2
    assert "a register limit of 1 is too small" in refused.err
    assert not (tmp_path / "none.regvm").exists()


def test_relay_json_and_standard_input_are_taken_too(
    tmp_path: Path, saved: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_json = tmp_path / "model.json"
    as_json.write_text(tvm.ir.save_json(relay.fromtext(RELAY)))
    assert call("compile", as_json, "-o", tmp_path / "a").status == 0
    with (tmp_path / "model.relay").open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert call("compile", "-", "-o", tmp_path / "b").status == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == saved.read_bytes()


@pytest.mark.parametrize("level", range(4))
def test_every_opt_level_compiles_and_its_allocations_are_proved(model: Path, call: Call, level: int) -> None:
    output = model.with_suffix(".regvm")
    assert call("compile", model, "-o", output, "--opt-level", level, "--check").status == 0
    assert call("verify", output).out == f"{output}: valid\n"


def arrays(finished: Finished) -> dict[str, Any]:
    outputs = json.loads(finished.out)["outputs"]
    return {o["path"]: np.array(o["values"], o["dtype"]).reshape(o["shape"]) for o in outputs}


@pytest.mark.parametrize("condition", [True, False])
def test_run_takes_inputs_from_files_tuples_by_field(saved: Path, call: Call, condition: bool) -> None:
    x, b = np.arange(6, dtype="float32").reshape(2, 3), np.array([1, -2, 5], "float32")
    files = {"x": x, "p.0": b, "p.1": np.array(condition)}
    for name, array in files.items():
        np.save(saved.with_name(f"{name}.npy"), array)
    inputs = [w for name in files for w in ("--input", f"{name}={saved.with_name(name)}.npy")]
    finished = call("run", saved, "--json", *inputs)
    results = arrays(finished)
    np.testing.assert_array_equal(results["result.0"], x + b if condition else (x + b) ** 2)
    np.testing.assert_array_equal(results["result.1"], x)


def test_run_draws_what_is_not_given_by_seed(saved: Path, model: Path, call: Call) -> None:
    first = arrays(call("run", saved, "--json", "--seed", 3))
    assert np.std(first["result.0"]) > 0.1
    again, other = (
        arrays(call("run", model, "--json", "--seed", 3)),
        arrays(call("run", saved, "--json", "--seed", 4)),
    )
    np.testing.assert_array_equal(first["result.0"], again["result.0"])
    assert not np.array_equal(first["result.1"], other["result.1"])


def test_run_prints_a_table_with_the_seed(saved: Path, call: Call) -> None:
    finished = call("run", saved)
    assert finished.status == 0
    assert "result.1" in finished.out
    assert "seed 0: " in finished.out


def test_run_writes_its_results(saved: Path, call: Call) -> None:
    output = saved.with_name("results.npz")
    expected = arrays(call("run", saved, "--json", "--output", output))
    with np.load(output) as written:
        assert sorted(written.files) == ["result.0", "result.1"]
        np.testing.assert_array_equal(written["result.0"], expected["result.0"])


def test_run_takes_an_array_for_a_dynamic_shape(tmp_path: Path, call: Call) -> None:
    (tmp_path / "m").write_text(DYNAMIC)
    np.save(tmp_path / "x.npy", np.ones((5, 2), "float32"))
    finished = call("run", tmp_path / "m", "--input", f"x={tmp_path}/x.npy", "--json")
    np.testing.assert_array_equal(arrays(finished)["result"], np.full((5, 2), 2, "float32"))
    assert_refused(call("run", tmp_path / "m"), "parameter x is float32[?, 2]", "--input x=FILE.npy")


def test_numbers_that_json_lacks_are_strings(tmp_path: Path, call: Call) -> None:
    (tmp_path / "m").write_text(WEIGHTED)
    np.save(tmp_path / "x.npy", np.array([np.inf, np.nan], "float32"))
    np.save(tmp_path / "w.npy", np.array([-1, 1], "float32"))
    finished = call(
        "run", tmp_path / "m", "--input", f"x={tmp_path}/x.npy", "--input", f"w={tmp_path}/w.npy", "--json"
    )
    assert json.loads(finished.out)["outputs"][0]["values"] == ["-inf", "nan"]


def test_params_are_bound_from_an_archive(tmp_path: Path, call: Call) -> None:
    (tmp_path / "m").write_text(WEIGHTED)
    np.savez(tmp_path / "p.npz", w=np.array([2, 3], "float32"))
    np.save(tmp_path / "x.npy", np.array([10, 100], "float32"))
    finished = call(
        "run", tmp_path / "m", "--params", tmp_path / "p.npz", "--input", f"x={tmp_path}/x.npy", "--json"
    )
    assert arrays(finished)["result"].tolist() == [20, 300]


def test_dis_and_asm_are_inverse(saved: Path, call: Call) -> None:
    listing = saved.with_suffix(".txt")
    for data in ([], ["--data"]):
        listing.write_text(call("dis", saved, *data).out)
        assert call("asm", listing, "-o", saved.with_name("back.regvm"), "--from", saved).status == 0
        assert saved.with_name("back.regvm").read_bytes() == saved.read_bytes()


def test_dis_writes_json(saved: Path, call: Call) -> None:
    record = json.loads(call("dis", saved, "--json").out)
    (function,) = record["functions"]
    assert function["params"][1] == {"name": "p", "type": "(float32[3], bool[])"}
    assert any("branch" in text for text in function["instructions"])
    assert [k["name"] for k in record["kernels"]]


INVALID = "function f0 @main()\n  frame 1 registers, 0 slots, 0 bytes, 1 live\n  ret R0\n"


def test_verify_names_every_violation_and_leaves_with_1(tmp_path: Path, call: Call) -> None:
    (tmp_path / "bad.txt").write_text(INVALID)
    finished = call("verify", tmp_path / "bad.txt")
    assert (finished.status, finished.err) == (1, "")
    assert "[valid-register] @main: 1 registers, of which at most 0 are ever written" in finished.out
    record = json.loads(call("verify", tmp_path / "bad.txt", "--json").out)
    assert record["valid"] is False
    assert record["violations"][0]["rule"] == "valid-register"
    assert record["violations"][0]["instruction"] is None


def test_verify_takes_relay_and_executables(model: Path, saved: Path, call: Call) -> None:
    for path in (model, saved):
        assert json.loads(call("verify", path, "--json").out) == {"valid": True, "violations": []}


def test_asm_refuses_invalid_code_with_1_and_writes_nothing(tmp_path: Path, call: Call) -> None:
    (tmp_path / "bad.txt").write_text(INVALID)
    assert_refused(call("asm", tmp_path / "bad.txt", "-o", tmp_path / "out"), "valid-register", status=1)
    assert os.listdir(tmp_path) == ["bad.txt"]


def test_a_failing_run_leaves_with_1_and_says_where(tmp_path: Path, call: Call) -> None:
    text = """#[version = "0.0.5"]
type Option[A] { Some(A), None }
def @main(%x: Tensor[(2), float32]) { match? (Some(%x)) { None => %x } }
"""
    (tmp_path / "m").write_text(text)
    assert_refused(call("run", tmp_path / "m"), "@main, instruction", "no clause of the match fits", status=1)


MALFORMED = {
    "syntax": (RELAY.replace("let", "lett"), "line 3, column "),
    "token": (RELAY.replace("%p: ", "%p: %q"), 'failed to parse type found "q"\n'),
    "type": (RELAY.replace("(3), float32", "(4), float32"), "line 3, column 12: Incompatible broadcast type"),
    "operator": (RELAY.replace("multiply", "multipy"), "line 4, column 36: operator `multipy` not found"),
    "variable": (RELAY.replace("(%y, %y)", "(%y, %z)"), "this is not well-typed Relay text"),
    "header": (RELAY.partition("\n")[2], '#[version = "0.0.5"]'),
    "no main": ('#[version = "0.0.5"]\ndef @other() { 1 }', "the module has no @main", "it has other"),
    "json": ("{]", "this is not the JSON of a Relay module"),
    "other json": ('{"a": 1}', "this is not the JSON of a Relay module"),
    "json of another thing": (
        tvm.ir.save_json(relay.const(1)),
        "the JSON of a Constant, not of a Relay module",
    ),
    "neither": ("hello", "expected Relay text (which begins with", "a saved executable", "a listing"),
    "empty": ("", "expected Relay text"),
    "not text": (b"#[version\xff", "offset 9: this is no UTF-8 text"),
}


@pytest.mark.parametrize("case", MALFORMED)
@pytest.mark.parametrize("command", ["compile", "run", "dis", "verify"])
def test_what_is_no_relay_module_is_one_line_with_its_place(
    tmp_path: Path, call: Call, command: str, case: str
) -> None:
    content, *words = MALFORMED[case]
    assert all(isinstance(w, str) for w in words)
    (tmp_path / "m").write_bytes(content if isinstance(content, bytes) else content.encode())
    output = ["-o", tmp_path / "out"] if command == "compile" else []
    assert_refused(call(command, tmp_path / "m", *output), *map(str, words))
    assert os.listdir(tmp_path) == ["m"]


@pytest.mark.parametrize("command", ["run", "dis", "verify"])
def test_a_damaged_executable_is_one_line(saved: Path, call: Call, command: str) -> None:
    whole = saved.read_bytes()
    saved.write_bytes(whole[: len(whole) // 2])
    assert_refused(call(command, saved), str(saved), "write one with 'regvm compile'")


def test_inputs_that_do_not_fit_are_one_line(saved: Path, call: Call, tmp_path: Path) -> None:
    def given(name: str, array: Any) -> Finished:
        np.save(tmp_path / "a.npy", array)
        return call("run", saved, "--input", f"{name}={tmp_path}/a.npy")

    shape = given("x", np.zeros((3, 2), "float32"))
    assert_refused(shape, "@main, parameter x: takes float32[2, 3], but the argument is float32[3, 2]")
    assert_refused(given("x", np.zeros((2, 3))), "parameter x", "the argument is float64[2, 3]")
    assert_refused(given("p.0", np.zeros(4, "float32")), "parameter p.0: takes float32[3]")
    assert_refused(given("z", np.zeros(1)), "@main has no such parameter; it takes x, p.0, p.1")
    assert_refused(given("p", np.zeros(1)), "it takes x, p.0, p.1")
    (tmp_path / "b.npy").write_text("no array")
    assert_refused(call("run", saved, "--input", f"x={tmp_path}/b.npy"), "cannot read", "as a .npy file")
    assert_refused(call("run", saved, "--input", "x"), "expected NAME=FILE.npy")
    np.savez(tmp_path / "c.npz", x=np.zeros(1))
    assert_refused(call("run", saved, "--input", f"x={tmp_path}/c.npz"), "holds several arrays")


def test_a_parameter_that_is_no_array_is_one_line(tmp_path: Path, call: Call) -> None:
    text = '#[version = "0.0.5"]\ndef @main(%f: fn (Tensor[(), int32]) -> Tensor[(), int32]) { %f(1) }'
    (tmp_path / "m").write_text(text)
    assert_refused(call("run", tmp_path / "m"), "parameter f is a function")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["Missing command"]),
        (["frobnicate"], ["No such command 'frobnicate'"]),
        (["run"], ["Missing argument 'FILE'"]),
        (["compile", "MODEL"], ["Missing option '-o'"]),
        (["compile", "MODEL", "-o", "TMP/absent/out"], ["there is no folder TMP/absent"]),
        (["compile", "MODEL", "-o", "TMP"], ["this is a folder"]),
        (["compile", "SAVED", "-o", "TMP/out"], ["this is a saved executable; compile takes Relay"]),
        (["compile", "TMP", "-o", "TMP/out"], ["TMP: Is a directory"]),
        (["compile", "MODEL", "-o", "TMP/out", "--opt-level", "9"], ["'--opt-level'", "0<=x<=4"]),
        (["compile", "MODEL", "-o", "TMP/out", "--target", "vax"], ["target vax is not one that TVM knows"]),
        (
            ["compile", "MODEL", "-o", "TMP/out", "--target", "cuda"],
            ["target cuda is not supported; use 'llvm'"],
        ),
        (["compile", "MODEL", "-o", "TMP/out", "--params", "TMP/none"], ["--params: cannot read TMP/none"]),
        (["compile", "MODEL", "-o", "TMP/out", "--params", "MODEL"], ["--params: cannot read MODEL"]),
        (["run", "TMP/absent"], ["TMP/absent: No such file or directory"]),
        (["run", "SAVED", "--function", "mian"], ["there is no function @mian", "main"]),
        (["run", "SAVED", "--seed", "-1"], ["'--seed'"]),
        (["run", "SAVED", "--engine", "steam"], ["'--engine'", "interpreter"]),
        (["run", "SAVED", "--output", "TMP/absent/o.npz"], ["there is no folder"]),
        (["asm", "MODEL", "-o", "TMP/out"], ["this is Relay text; asm takes a listing"]),
        (["asm", "TMP/absent", "-o", "TMP/out"], ["No such file"]),
        (["verify", "SAVED", "--frob"], ["No such option"]),
    ],
)
def test_wrong_use_is_one_line_and_writes_nothing(
    model: Path, saved: Path, call: Call, arguments: list[str], words: list[str]
) -> None:
    names = {"MODEL": str(model), "SAVED": str(saved), "TMP": str(saved.parent)}

    def filled(text: str) -> str:
        for name, value in names.items():
            text = text.replace(name, value)
        return text

    before = sorted(os.listdir(saved.parent))
    assert_refused(call(*map(filled, arguments)), *map(filled, words))
    assert sorted(os.listdir(saved.parent)) == before


def test_params_that_main_lacks_are_one_line(model: Path, call: Call) -> None:
    np.savez(model.with_name("p.npz"), weight=np.zeros(3))
    finished = call("run", model, "--params", model.with_name("p.npz"))
    assert_refused(finished, "--params: @main has no parameter weight; it takes x, p")


def test_a_listing_that_cannot_be_read_is_one_line_with_its_place(tmp_path: Path, call: Call) -> None:
    (tmp_path / "l").write_text(INVALID.replace("ret R0", "ret 0"))
    assert_refused(
        call("asm", tmp_path / "l", "-o", tmp_path / "out"), "line 3, column 7: expected a register"
    )
    assert_refused(call("run", tmp_path / "l"), "make an executable with 'regvm asm'")


def test_the_storage_planner_is_one_of_the_commands(tmp_path: Path, call: Call) -> None:
    (tmp_path / "t.csv").write_text("id,lower,upper,size\na,0,2,64\nb,1,3,64\n")
    finished = call("plan", "--csv", tmp_path / "t.csv", "--json")
    assert finished.status == 0
    assert json.loads(finished.out)["bytes"] == 128
    assert call("plan", "--csv", tmp_path / "absent.csv").status == 2


@pytest.mark.thorough
def test_python_m_regvm_is_the_command_and_passes_its_status_on(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(PROTOTYPE)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "regvm", *arguments]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path
        )

    (tmp_path / "bad.relay").write_text(RELAY.replace("(3), float32", "(4), float32"))
    refused = run("run", "bad.relay")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.count("\n") == 1
    (tmp_path / "good.relay").write_text(RECURSIVE)
    np.save(tmp_path / "n.npy", np.int32(2000))
    finished = run("run", "good.relay", "--input", "n=n.npy", "--json")
    assert (finished.returncode, finished.stderr) == (0, "")
    assert json.loads(finished.stdout)["outputs"][0]["values"] == [2000]
