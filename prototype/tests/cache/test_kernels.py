"""Kernels from the store are the ones that a build gives."""

import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relay

import regvm
from regvm.cache import kernels as cached
from regvm.cache.store import store_at
from regvm.errors import KernelError
from regvm.frontend import fingerprint, kernels, source, translate
from regvm.runtime.kernels import library


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("REGVM_CACHE", "kernels")
    monkeypatch.setenv("REGVM_CACHE_DIR", str(tmp_path / "cache"))
    cached._load.cache_clear()
    yield tmp_path / "cache"
    cached._load.cache_clear()


def _function(operator: Any = relay.exp) -> relay.Function:
    x = relay.var("x", shape=(5, 7), dtype="float32")
    hidden = relay.nn.softmax(operator(x))
    return relay.Function([x], relay.sum(hidden * x, axis=1))


def _prim_funcs(function: relay.Function) -> tuple[dict[str, Any], Any]:
    lowered = source.lower(function, "llvm", None, None)
    return translate.translate(lowered.module)[1], lowered.target


def _run(exe: regvm.Executable) -> bytes:
    x = np.random.default_rng(1).normal(size=(5, 7)).astype("float32")
    return bytes(regvm.VirtualMachine(exe, tvm.cpu(), engine="interpreter").run(x).numpy().tobytes())


def _entries(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*/*.entry")}


def test_a_kernel_under_another_symbol_is_the_text_of_a_build_under_that_name() -> None:
    prim_funcs, target = _prim_funcs(_function())
    for name, prim_func in prim_funcs.items():
        (built,) = library.to_text(kernels.build({name: prim_func}, target, dict))
        (stand_in,) = library.to_text(kernels.build_one(name, "regvm_cached_kernel", prim_func, target, dict))
        assert library.with_symbol(stand_in, "regvm_cached_kernel", name) == built


def test_results_with_the_cache_cold_and_warm_and_without_it_are_equal_to_the_bit(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    cold = _run(regvm.compile(_function()))
    assert _entries(folder)
    cached._load.cache_clear()
    warm = _run(regvm.compile(_function()))
    monkeypatch.setenv("REGVM_CACHE", "off")
    assert cold == warm == _run(regvm.compile(_function()))


def test_a_second_compile_builds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    regvm.compile(_function())

    def refuse(*_: Any) -> None:
        raise AssertionError("a kernel was built")

    monkeypatch.setattr(kernels, "build_one", refuse)
    regvm.compile(_function())
    with pytest.raises(AssertionError, match="a kernel was built"):
        regvm.compile(_function(relay.tanh))


def test_switched_off_nothing_is_written(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("REGVM_CACHE", "off")
    regvm.compile(_function())
    assert not folder.exists()


def test_an_entry_that_llvm_does_not_read_is_built_again(folder: Path) -> None:
    expected = _run(regvm.compile(_function()))
    prim_funcs, target = _prim_funcs(_function())
    store = store_at(folder, 1024 * 1_000_000)
    for number, prim_func in enumerate(prim_funcs.values()):
        key = fingerprint.kernel(prim_func, target)
        assert key is not None
        store.put(key, b"not zlib" if number else zlib.compress(b"not LLVM"))
    cached._load.cache_clear()
    assert _run(regvm.compile(_function())) == expected


def test_a_kernel_that_llvm_refuses_is_kept_as_it_could_be_built(folder: Path) -> None:
    x = relay.var("x", shape=(16,), dtype="int32")
    function = relay.Function([x], relay.floor_mod(x, relay.const(3)))
    values = np.arange(-8, 8, dtype="int32")
    for _ in range(2):
        cached._load.cache_clear()
        exe = regvm.compile(function)
        assert regvm.VirtualMachine(exe, tvm.cpu()).run(values).numpy().tolist() == (values % 3).tolist()
    assert len(_entries(folder)) == 1


def test_other_pass_options_and_targets_have_other_kernels() -> None:
    prim_funcs, target = _prim_funcs(_function())
    prim_func = next(iter(prim_funcs.values()))
    other_target = tvm.target.Target("llvm -mcpu=haswell", host="llvm -mcpu=haswell")
    keys = {fingerprint.kernel(prim_func, target), fingerprint.kernel(prim_func, other_target)}
    with tvm.transform.PassContext(config={"tir.disable_vectorize": True}):
        keys.add(fingerprint.kernel(prim_func, target))
    with tvm.transform.PassContext(opt_level=1):
        keys.add(fingerprint.kernel(prim_func, target))
    assert len(keys) == 4
    assert None not in keys


def test_a_name_given_by_the_program_does_not_matter() -> None:
    prim_funcs, target = _prim_funcs(_function())
    prim_func = next(iter(prim_funcs.values()))
    renamed = prim_func.with_attr("global_symbol", "another")
    assert fingerprint.kernel(renamed, target) == fingerprint.kernel(prim_func, target)


def test_an_instrument_that_wants_to_see_passes_sees_them() -> None:
    prim_funcs, target = _prim_funcs(_function())
    with tvm.transform.PassContext(instruments=[tvm.ir.instrument.PassTimingInstrument()]):
        assert fingerprint.kernel(next(iter(prim_funcs.values())), target) is None


def test_executables_that_share_kernels_do_not_see_each_others() -> None:
    first, second = regvm.compile(_function()), regvm.compile(_function(relay.tanh))
    alone = set(first.primitives) - set(second.primitives)
    assert alone
    for name in alone:
        with pytest.raises(AttributeError):
            second.lib.get_function(name, query_imports=True)


def test_a_library_from_the_cache_is_exported_and_loaded(tmp_path: Path) -> None:
    exe = regvm.compile(_function())
    exe.export(tmp_path / "program")
    assert _run(regvm.load(tmp_path / "program")) == _run(exe)


_COMPILE = """
import hashlib, sys
import regvm, tvm
from tvm import relay
x = relay.var("x", shape=(5, 7), dtype="float32")
exe = regvm.compile(relay.Function([x], relay.sum(relay.nn.softmax(relay.exp(x)) * x, axis=1)))
import numpy as np
values = np.random.default_rng(1).normal(size=(5, 7)).astype("float32")
out = regvm.VirtualMachine(exe, tvm.cpu(), engine="interpreter").run(values).numpy()
print(hashlib.sha256(bytes(exe.save()[0]) + out.tobytes()).hexdigest())
"""


@pytest.mark.thorough
@pytest.mark.parametrize("mode", ["kernels", "on"])
def test_two_processes_that_compile_the_same_thing_agree(
    mode: str, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setenv("REGVM_CACHE", mode)
    path = str(Path(regvm.__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", path)
    processes = [
        subprocess.Popen([sys.executable, "-c", _COMPILE], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert outputs[0] == outputs[1] != ""
    assert _entries(folder)
    assert not list(folder.glob("*/*.partial"))


def test_a_kernel_names_itself_in_its_errors() -> None:
    exe = regvm.compile(_function())
    name = exe.primitives[0]
    with pytest.raises((tvm.error.TVMError, KernelError, TypeError, ValueError), match=name):
        exe.lib.get_function(name, query_imports=True)()
