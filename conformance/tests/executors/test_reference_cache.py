"""The reference through the cache is the reference: its own bytecode, the same results, regvm's kernels."""

from pathlib import Path

import numpy as np
import pytest

from relay_conformance import executors
from relay_conformance.executors import reference_cache
from relay_conformance.executors.tvm_vm import figures_from_listing
from relay_conformance.program import Program, program_from_module
from relay_conformance.tvm_api import relay, tvm

X, Y = np.array([7, -2, 3], dtype=np.int32), np.array([1, 5, -9], dtype=np.int32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGVM_CACHE_DIR", str(tmp_path))
    return tmp_path


def _results(name: str, program: Program) -> list[list[int]]:
    executable = executors.get(name).compile(program, "llvm")
    return [array.numpy().tolist() for array in executable.bind([X, Y])()]


def _entries(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*/*.entry")}


@pytest.mark.parametrize("mode", ["off", "kernels", "on"])
def test_every_mode_gives_the_same(
    mode: str, folder: Path, monkeypatch: pytest.MonkeyPatch, pair_program: Program
) -> None:
    monkeypatch.setenv("REGVM_CACHE", mode)
    expected = [(X * X + 1).tolist(), (X - Y).tolist()]
    assert [_results("tvm-vm", pair_program) for _ in range(2)] == [expected] * 2
    assert bool(_entries(folder)) == (mode != "off")


def test_the_reference_finds_the_kernels_of_regvm(
    folder: Path, monkeypatch: pytest.MonkeyPatch, pair_program: Program
) -> None:
    monkeypatch.setenv("REGVM_CACHE", "kernels")
    expected = _results("regvm", pair_program)
    kernels = _entries(folder)
    assert _results("tvm-vm", pair_program) == expected
    assert _entries(folder) == kernels != set()


@pytest.mark.usefixtures("folder")
def test_the_bytecode_is_that_of_its_own_compiler(
    monkeypatch: pytest.MonkeyPatch, pair_program: Program
) -> None:
    listings = []
    for mode in ("off", "kernels", "on", "on"):
        monkeypatch.setenv("REGVM_CACHE", mode)
        with tvm.transform.PassContext(opt_level=3):
            compiled = reference_cache.compile_reference(pair_program.module, "llvm", {})
        listings.append(figures_from_listing(compiled.bytecode))
    assert listings == [listings[0]] * 4


@pytest.mark.usefixtures("folder")
def test_a_second_compile_does_not_lower_again(
    monkeypatch: pytest.MonkeyPatch, pair_program: Program
) -> None:
    monkeypatch.setenv("REGVM_CACHE", "on")
    expected = _results("tvm-vm", pair_program)

    def refuse() -> None:
        raise AssertionError("the compiler ran")

    monkeypatch.setattr(relay.vm, "VMCompiler", refuse)
    assert _results("tvm-vm", pair_program) == expected


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("mode", ["off", "kernels", "on"])
def test_a_program_without_kernels_compiles(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGVM_CACHE", mode)
    x, y = (relay.var(name, shape=(3,), dtype="int32") for name in "xy")
    program = program_from_module(tvm.IRModule.from_expr(relay.Function([x, y], relay.Tuple([y, x]))))
    assert [_results("tvm-vm", program) for _ in range(2)] == [[Y.tolist(), X.tolist()]] * 2


@pytest.mark.usefixtures("folder")
def test_what_it_says_of_a_missing_library_is_not_shown(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], pair_program: Program
) -> None:
    monkeypatch.setenv("REGVM_CACHE", "kernels")
    _results("tvm-vm", pair_program)
    assert "Executable is empty" not in capfd.readouterr().err
