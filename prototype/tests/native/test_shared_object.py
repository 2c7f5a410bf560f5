"""Ahead of time: what is written is complete, runs as the program does, and refuses to be anything else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import regvm
from regvm.errors import CompileError, FormatError, KernelError
from regvm.native import availability, shared_object
from regvm_testing.relay_programs import FOLD

linked = pytest.mark.skipif(shutil.which("cc") is None, reason="linking takes a C compiler")

GROWING = (
    "def @grow(%i: int32, %x: Tensor[(?, 2), float32]) -> Tensor[(?, 2), float32] {"
    " if (less(%i, 6)) { let %y = (%x, %x); @grow(add(%i, 1), concatenate(%y)) } else { %x } }\n"
    "def @main(%x: Tensor[(?, 2), float32]) -> Tensor[(?, 2), float32] { @grow(0, %x) }\n"
)
CLOSURE = (
    "def @main(%a: int32, %b: int32) -> int32 {"
    " let %f = fn (%x: int32) -> int32 { add(%x, %a) };"
    " let %twice = fn (%g: fn(int32) -> int32) -> int32 { %g(%g(%b)) };"
    " %twice(%f) }\n"
)
IDENTITY = "def @main(%x: Tensor[(3), float32]) -> Tensor[(3), float32] { %x }\n"
PROGRAMS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "recursion over a list": (FOLD, (300,)),
    "dynamic shapes": (GROWING, (np.ones((3, 2), np.float32),)),
    "closures": (CLOSURE, (3, 5)),
    "no kernels": (IDENTITY, (np.ones(3, np.float32),)),
}


@pytest.fixture
def exported(compiled: Callable[[str], regvm.Executable], tmp_path: Path) -> Callable[[str], Path]:
    """A program's shared object."""

    def make(text: str) -> Path:
        path = tmp_path / "model.so"
        compiled(text).export_native(path)
        return path

    return make


@linked
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_gives_what_the_interpreter_gives(
    name: str, exported: Callable[[str], Path], outcome: Callable[..., Any]
) -> None:
    text, args = PROGRAMS[name]
    loaded = regvm.load(exported(text))
    machines = [regvm.VirtualMachine(loaded, engine=e) for e in ("native", "interpreter")]
    first, second = (outcome(m, *args) for m in machines)
    assert first == second


@linked
def test_it_holds_the_same_program(compiled: Callable[[str], regvm.Executable], tmp_path: Path) -> None:
    exe = compiled(FOLD)
    exe.export_native(tmp_path / "model.so")
    assert regvm.load(tmp_path / "model.so").program == exe.program


@linked
def test_it_runs_without_llvm_without_a_linker_and_under_another_name(
    exported: Callable[[str], Path], tmp_path: Path
) -> None:
    moved = exported(FOLD).rename(tmp_path / "renamed")
    code = (
        "import sys; sys.modules['llvmlite'] = None\n"
        "import regvm\n"
        "machine = regvm.VirtualMachine(regvm.load('renamed'))\n"
        "print(type(machine._engine).__name__, machine.invoke('main', 100))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=moved.parent,
        env={**os.environ, "PATH": "", "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.split() == ["NativeEngine", "5050"]


@linked
def test_two_are_loaded_side_by_side(compiled: Callable[[str], regvm.Executable], tmp_path: Path) -> None:
    compiled(FOLD).export_native(tmp_path / "fold.so")
    compiled(CLOSURE).export_native(tmp_path / "closure.so")
    fold, closure = (
        regvm.VirtualMachine(regvm.load(tmp_path / f"{n}.so"), engine="native") for n in ("fold", "closure")
    )
    assert int(fold.invoke("main", 10).numpy()) == 55
    assert int(closure.invoke("main", 3, 5).numpy()) == 11


@linked
def test_a_failing_kernel_is_named(assemble: Any, tmp_path: Path) -> None:
    from regvm import isa
    from regvm.executable import Function, Parameter, TensorSlot, TensorType

    vector = TensorType((3,), "float32")
    wrong = Function(
        "main",
        (Parameter("x", vector),),
        2,
        (
            isa.Reshape(1, isa.Use(0), 1),
            isa.Invoke(0, (isa.Use(0), isa.Use(1)), (isa.Out(1, 0),)),
            isa.Ret(isa.Use(1)),
        ),
        (TensorSlot(vector), TensorSlot(TensorType((1, 3), "float32"))),
    )
    loaded = assemble(wrong)
    regvm.Executable(loaded.program, loaded.lib).export_native(tmp_path / "model.so")
    machine = regvm.VirtualMachine(regvm.load(tmp_path / "model.so"), engine="native")
    with pytest.raises(KernelError, match="@main, instruction 1 "):
        machine.invoke("main", np.ones(3, np.float32))


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"PATH": "/nowhere"}, "there is no cc, gcc, clang; install a C compiler"),
        ({"CC": "no-such-compiler -m64"}, "CC names no-such-compiler, which is not there"),
        ({"CC": "false"}, "the linker false failed: exit status 1"),
    ],
)
def test_a_linker_that_is_missing_or_fails_is_named_and_leaves_no_file(
    variables: dict[str, str],
    message: str,
    compiled: Callable[[str], regvm.Executable],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exe = compiled(FOLD)
    monkeypatch.delenv("CC", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(CompileError, match=message):
        exe.export_native(tmp_path / "model.so")
    assert list(tmp_path.iterdir()) == []


def test_without_llvmlite_nothing_is_written(
    compiled: Callable[[str], regvm.Executable], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exe = compiled(FOLD)
    monkeypatch.setattr(availability, "_has_llvmlite", lambda: False)
    with pytest.raises(CompileError, match="install llvmlite"):
        exe.export_native(tmp_path / "model.so")
    assert list(tmp_path.iterdir()) == []


@linked
def test_another_version_is_refused(exported: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = exported(FOLD)
    monkeypatch.setattr(shared_object, "_fingerprint", lambda: b"0" * 64)
    with pytest.raises(FormatError, match="compiled by another version of regvm"):
        regvm.load(path)


@linked
def test_a_shared_object_of_something_else_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "other.c"
    source.write_text("int other(void) { return 1; }\n")
    path = tmp_path / "other.so"
    subprocess.run(["cc", "-shared", "-o", str(path), str(source)], check=True)
    with pytest.raises(FormatError, match="not a register VM executable"):
        regvm.load(path)


@linked
@pytest.mark.parametrize("place", [100, 5_000, 20_000])
def test_a_damaged_file_is_refused(place: int, exported: Callable[[str], Path]) -> None:
    path = exported(FOLD)
    content = bytearray(path.read_bytes())
    content[place] ^= 4
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"model\.so: damaged"):
        regvm.load(path)


@linked
def test_a_file_that_is_cut_short_is_refused(exported: Callable[[str], Path]) -> None:
    path = exported(FOLD)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(FormatError, match="not a register VM executable"):
        regvm.load(path)


@linked
def test_what_was_loaded_is_not_compiled_again(exported: Callable[[str], Path], tmp_path: Path) -> None:
    loaded = regvm.load(exported(FOLD))
    with pytest.raises(CompileError, match="compile the Relay module again"):
        loaded.export_native(tmp_path / "again.so")
