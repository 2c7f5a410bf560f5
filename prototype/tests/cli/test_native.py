"""``regvm compile --native``: a shared object that every command takes, or one line that says what is missing."""

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("llvmlite")

from regvm_testing.commands import Call

LOOP = """#[version = "0.0.5"]
def @loop(%i: int32, %acc: int32) -> int32 { if (less(%i, 9)) { @loop(add(%i, 1), add(%acc, %i)) } else { %acc } }
def @main(%x: int32) -> int32 { @loop(0, %x) }
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.relay"
    path.write_text(LOOP)
    return path


@pytest.mark.skipif(shutil.which("cc") is None, reason="linking takes a C compiler")
def test_a_shared_object_runs_is_verified_and_is_listed(model: Path, call: Call) -> None:
    compiled = model.with_suffix(".so")
    assert call("compile", "--native", model, "-o", compiled).status == 0
    ran = [json.loads(call("run", f, "--seed", "3", "--json").out) for f in (compiled, model)]
    assert ran[0]["outputs"] == ran[1]["outputs"]
    assert call("verify", compiled).status == 0
    assert call("dis", compiled).out == call("dis", model).out


def test_without_a_linker_one_line_says_what_to_install(
    model: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    finished = call("compile", "--native", model, "-o", model.with_suffix(".so"))
    assert (finished.status, finished.out) == (2, "")
    assert finished.err.count("\n") == 1
    assert "install a C compiler" in finished.err
    assert not model.with_suffix(".so").exists()


def test_a_shared_object_is_no_relay(model: Path, call: Call, tmp_path: Path) -> None:
    path = tmp_path / "other.so"
    path.write_bytes(b"\x7fELF and no more")
    assert "this is a shared object" in call("compile", path, "-o", model.with_suffix(".regvm")).err
    refused = call("run", path)
    assert refused.status == 2
    assert "not a register VM executable" in refused.err
