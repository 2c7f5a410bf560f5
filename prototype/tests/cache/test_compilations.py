"""A compilation is found again if, and only if, nothing that its result depends on has changed."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relay

import regvm
from regvm.cache import compilations
from regvm.cache.kernels import KernelLibrary
from regvm.errors import CompileError
from regvm.frontend import source, translate

TARGET = tvm.target.Target("llvm", host="llvm")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGVM_CACHE", "on")
    monkeypatch.setenv("REGVM_CACHE_DIR", str(tmp_path))
    return tmp_path


def _module(factor: float = 2.0, epsilon: float = 1e-5, name: str = "x") -> tvm.IRModule:
    x = relay.var(name, shape=(4,), dtype="float32")
    weights = relay.var("w", shape=(4,), dtype="float32")
    bound = relay.var("y")
    normal = relay.nn.l2_normalize(x * relay.const(factor), eps=epsilon)
    body = relay.Let(bound, normal, relay.If(relay.const(True), bound + weights, bound))
    return tvm.IRModule.from_expr(relay.Function([x, weights], body))


WEIGHTS = {"w": np.arange(4, dtype="float32")}


def _key(
    mod: Any = None,
    compiler: str = "machine 1",
    target: Any = TARGET,
    params: Any = WEIGHTS,
    options: Any = None,
) -> str:
    key = compilations.key_of(compiler, mod or _module(), target, params, options)
    assert key is not None
    return key


def _refuse(*_: Any, **__: Any) -> None:
    raise AssertionError("the compiler ran")


def test_a_second_compile_runs_no_pass_and_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    first = regvm.compile(_module(), params=WEIGHTS)
    monkeypatch.setattr(source, "lower", _refuse)
    second = regvm.compile(_module(), params=WEIGHTS)
    assert second.program == first.program
    assert second.save()[0] == first.save()[0]
    x = np.array([3, -4, 0.5, 2], dtype="float32")
    results = [regvm.VirtualMachine(e, tvm.cpu()).run(x).numpy().tobytes() for e in (first, second)]
    assert results[0] == results[1]
    with pytest.raises(AssertionError, match="the compiler ran"):
        regvm.compile(_module(3.0), params=WEIGHTS)


def test_a_module_is_the_same_after_it_was_compiled() -> None:
    module = _module()
    before = _key(module)
    regvm.compile(module, params=WEIGHTS)
    assert _key(module) == before == _key(_module())


@pytest.mark.parametrize(
    "other",
    [
        lambda: _key(_module(factor=2.0000002)),
        lambda: _key(_module(epsilon=1.000000001e-5)),
        lambda: _key(_module(name="renamed")),
        lambda: _key(params={"w": np.array([0, 1, 2, 4], dtype="float32")}),
        lambda: _key(params={}),
        lambda: _key(compiler="machine 2"),
        lambda: _key(options={"register_limit": 8}),
        lambda: _key(target=tvm.target.Target("llvm -mcpu=haswell", host="llvm -mcpu=haswell")),
    ],
    ids=["constant", "attribute", "name", "weights", "no weights", "compiler", "options", "target"],
)
def test_what_differs_has_another_key(other: Callable[[], str]) -> None:
    assert other() != _key()


def test_another_opt_level_has_another_key() -> None:
    with tvm.transform.PassContext(opt_level=1):
        lower = _key()
    with tvm.transform.PassContext(opt_level=1, disabled_pass=["FoldConstant"]):
        without = _key()
    assert len({lower, without, _key()}) == 3


def test_with_tuning_records_in_use_nothing_is_kept(tmp_path: Path) -> None:
    with tvm.autotvm.apply_history_best([]):
        assert compilations.key_of("machine", _module(), TARGET) is None
    assert not list(tmp_path.glob("*/*"))


def test_a_module_that_is_ill_typed_is_left_to_the_compiler() -> None:
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(3,))
    module = tvm.IRModule.from_expr(relay.Function([x, y], x + y))
    assert compilations.key_of("machine", module, TARGET) is None
    with pytest.raises(CompileError):
        regvm.compile(module)


def test_testers_of_the_compiler_meet_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    regvm.compile(_module(), params=WEIGHTS)
    monkeypatch.setenv("REGVM_CACHE", "kernels")
    monkeypatch.setattr(translate, "translate", _refuse)
    with pytest.raises(AssertionError, match="the compiler ran"):
        regvm.compile(_module(), params=WEIGHTS)


def test_what_the_compiler_left_out_is_told_again() -> None:
    key = _key()
    made = regvm.compile(_module(), params=WEIGHTS)
    library = KernelLibrary(None, {})
    compilations.keep(key, compilations.Compilation(bytes(made.save()[0]), library, ("skipped a pass",)))
    found = compilations.find(key)
    assert found is not None
    assert found.notes == ("skipped a pass",)
    assert found.code == bytes(made.save()[0])


def test_a_note_of_a_kept_compilation_is_a_warning_again(monkeypatch: pytest.MonkeyPatch) -> None:
    regvm.compile(_module(), params=WEIGHTS)
    find = compilations.find

    def with_note(key: str | None) -> Any:
        kept = find(key)
        assert kept is not None
        return compilations.Compilation(kept.code, kept.library, ("skipped a pass",))

    monkeypatch.setattr(compilations, "find", with_note)
    with pytest.warns(RuntimeWarning, match="skipped a pass"):
        exe = regvm.compile(_module(), params=WEIGHTS)
    assert exe.notes == ("skipped a pass",)


@pytest.mark.parametrize("damage", ["truncated", "flipped", "removed"])
def test_a_damaged_entry_is_made_again(damage: str, folder: Path) -> None:
    expected = regvm.compile(_module(), params=WEIGHTS)
    whole = {path: path.read_bytes() for path in folder.glob("*/*.entry")}
    assert len(whole) > 1
    for path, entry in whole.items():
        match damage:
            case "truncated":
                path.write_bytes(entry[:-3])
            case "flipped":
                path.write_bytes(entry[:60] + bytes([entry[60] ^ 4]) + entry[61:])
            case _:
                path.unlink()
        again = regvm.compile(_module(), params=WEIGHTS)
        assert again.program == expected.program
        assert path.read_bytes() == entry


def test_a_folder_that_cannot_be_written_to_costs_a_warning_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("REGVM_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.warns(RuntimeWarning, match="nothing more is kept"):
        exe = regvm.compile(_module(), params=WEIGHTS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = regvm.compile(_module(), params=WEIGHTS)
    assert again.program == exe.program
