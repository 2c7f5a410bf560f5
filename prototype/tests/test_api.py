"""What users call: compile anything, anywhere the same; save, load and export it; refuse what cannot be compiled."""

import hashlib
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
from regvm.errors import CompileError, FormatError, UnsupportedError, VerificationError
from regvm.frontend.reading import at_level
from regvm.memory.errors import UnknownStrategyError
from regvm_testing.relay_programs import CASES, HEADER

PROTOTYPE = Path(__file__).parents[1]
X, W = np.array([1, 2], "float32"), np.array([10, -30], "float32")


def product() -> Any:
    x, w = (relay.var(n, shape=(2,), dtype="float32") for n in "xw")
    return relay.Function([x, w], relay.tanh(x) * w)


EXPECTED = np.tanh(X) * W


def assert_product(machine: regvm.VirtualMachine, *arguments: Any) -> None:
    np.testing.assert_allclose(machine.run(*arguments).numpy(), EXPECTED, rtol=1e-6)


@pytest.mark.parametrize(
    "make", [product, lambda: tvm.IRModule.from_expr(product())], ids=["function", "module"]
)
def test_functions_and_modules_compile(make: Any) -> None:
    assert_product(regvm.VirtualMachine(regvm.compile(make())), X, W)


@pytest.mark.parametrize(
    "target",
    [
        "llvm",
        "llvm -mcpu=x86-64",
        tvm.target.Target("llvm"),
        {"cpu": "llvm"},
        {tvm.cpu(): tvm.target.Target("llvm")},
    ],
    ids=str,
)
def test_every_form_of_a_target_is_taken(target: Any) -> None:
    assert_product(regvm.VirtualMachine(regvm.compile(product(), target)), X, W)


def test_a_storage_strategy_changes_no_result_and_an_unknown_one_is_named() -> None:
    assert_product(regvm.VirtualMachine(regvm.compile(product(), storage_strategy="none")), X, W)
    with pytest.raises(UnknownStrategyError, match="'best'; choose one of coalesce"):
        regvm.compile(product(), storage_strategy="best")


@pytest.mark.parametrize("params", [{"w": W}, {"w": tvm.nd.array(W)}, {"w": W, "unrelated": X}])
def test_params_are_bound_by_name_and_leave_the_signature(params: Any) -> None:
    exe = regvm.compile(product(), params=params)
    assert exe.get_function_params("main") == ["x"]
    assert_product(regvm.VirtualMachine(exe), X)


def test_compiling_leaves_the_module_as_it_was() -> None:
    module = tvm.IRModule.from_expr(product())
    before = module.astext()
    regvm.compile(module, params={"w": W})
    assert module.astext() == before


def test_an_executable_tells_what_it_holds() -> None:
    exe = regvm.compile(relay.fromtext(CASES["loop"].text))
    assert [f.name for f in exe.functions] == list(exe.globals) == ["main", "loop"]
    assert exe.functions[1].params == ("i", "n", "acc", "x")
    assert len(exe.primitives) == len(exe.program.kernels) == 3
    assert [(c.dtype, c.shape) for c in exe.constants] == [("int32", ()), ("float32", ())]
    assert "jump @0" in exe.bytecode
    assert "functions: 2" in exe.stats
    assert exe.notes == ()


def test_save_and_load_exec() -> None:
    code, library = regvm.compile(product()).save()
    assert_product(regvm.VirtualMachine(regvm.Executable.load_exec(code, library)), X, W)


def test_load_exec_refuses_bytes_that_are_no_valid_program() -> None:
    exe = regvm.compile(product())
    code, library = exe.save()
    with pytest.raises(FormatError):
        regvm.Executable.load_exec(code[:-1], library)
    broken = regvm.Executable(exe.program.with_function(0, num_registers=1), library)
    with pytest.raises(VerificationError, match="valid-register"):
        regvm.Executable.load_exec(broken.save()[0], library)


def test_export_and_load(tmp_path: Path) -> None:
    exe = regvm.compile(product())
    exe.export(tmp_path / "a.regvm")
    loaded = regvm.load(tmp_path / "a.regvm")
    assert loaded.program == exe.program
    assert_product(regvm.VirtualMachine(loaded), X, W)
    loaded.export(tmp_path / "b.regvm")
    assert_product(regvm.VirtualMachine(regvm.load(tmp_path / "b.regvm")), X, W)


def test_a_program_without_kernels_is_exported_too(tmp_path: Path) -> None:
    x = relay.var("x", shape=(2,), dtype="float32")
    regvm.compile(relay.Function([x], x)).export(tmp_path / "a")
    assert regvm.VirtualMachine(regvm.load(tmp_path / "a")).run(X).numpy().tolist() == X.tolist()


def test_create_executor_evaluates_a_module_and_an_expression() -> None:
    executor = regvm.create_executor(mod=tvm.IRModule.from_expr(product()), device=tvm.cpu(), target="llvm")
    np.testing.assert_allclose(executor.evaluate()(X, w=W).numpy(), EXPECTED, rtol=1e-6)
    x = relay.var("x", shape=(2,), dtype="float32")
    assert executor.evaluate(relay.Function([x], x + x))(X).numpy().tolist() == [2, 4]


COMPILE = """
import sys, regvm
from regvm_testing.relay_programs import CASES
from tvm import relay
for name, case in (CASES.items() if sys.argv[2] == "forth" else reversed(CASES.items())):
    exe = regvm.compile(relay.fromtext(case.text))
    with open(f"{sys.argv[1]}/{name}.code", "wb") as file:
        file.write(exe.save()[0])
    exe.export(f"{sys.argv[1]}/{name}.regvm")
"""
RUN = """
import sys, numpy as np, regvm
machine = regvm.VirtualMachine(regvm.load(sys.argv[1]))
print(machine.run(np.int32(7), np.float32(2.5)).numpy())
"""


def in_process(script: str, *arguments: object, hash_seed: str = "0") -> str:
    environment = {**os.environ, "PYTHONPATH": str(PROTOTYPE), "PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-W", "error::UserWarning", "-c", script, *map(str, arguments)]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def digests(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir())}


@pytest.mark.thorough
def test_every_process_makes_the_same_bytes_whatever_it_compiled_before(tmp_path: Path) -> None:
    folders = []
    for hash_seed, order in (("0", "forth"), ("4242", "back")):
        folders.append(tmp_path / hash_seed)
        folders[-1].mkdir()
        in_process(COMPILE, folders[-1], order, hash_seed=hash_seed)
    assert len(digests(folders[0])) == 2 * len(CASES)
    assert digests(folders[0]) == digests(folders[1])
    # And what one process wrote, another runs.
    assert in_process(RUN, folders[0] / "loop.regvm").strip() == "17.5"


def parse(text: str) -> tvm.IRModule:
    return relay.fromtext(HEADER + text)


def external() -> tvm.IRModule:
    x = relay.var("x", shape=(2,), dtype="float32")
    inner = relay.Function([x], x + x, relay.TensorType((2,), "float32"))
    for key, text in (("Compiler", "vendor"), ("global_symbol", "vendor_0"), ("Primitive", None)):
        inner = inner.with_attr(key, text or tvm.tir.IntImm("int32", 1))
    vendor = relay.GlobalVar("vendor_0")
    y = relay.var("y", shape=(2,), dtype="float32")
    return tvm.IRModule(
        {vendor: inner, relay.GlobalVar("main"): relay.Function([y], relay.Call(vendor, [y]))}
    )


def test_a_module_without_main_is_refused_with_what_it_has() -> None:
    with pytest.raises(CompileError, match=r"the module has no @main.*it has f, g"):
        regvm.compile(parse("def @g() { 1 } def @f() { 2 }"))
    with pytest.raises(CompileError, match=r"the module has no @main.*it has no function"):
        regvm.compile(tvm.IRModule())


def test_external_code_is_refused_with_its_generator_and_the_mend() -> None:
    with pytest.raises((UnsupportedError, CompileError), match="vendor"):
        regvm.compile(external())


def test_several_targets_are_refused() -> None:
    with pytest.raises(CompileError, match="several targets are given"):
        regvm.compile(product(), {"cpu": "llvm", "cuda": "cuda"})


@pytest.mark.parametrize(
    ("target", "message"), [("cuda", "is not supported; use 'llvm'"), ("vax", "target vax is not")]
)
def test_other_targets_are_refused(target: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        regvm.compile(product(), target)


@pytest.mark.parametrize("thing", [42, "main", [product]])
def test_what_is_no_relay_is_refused(thing: Any) -> None:
    with pytest.raises(CompileError, match=f"not {type(thing).__name__}"):
        regvm.compile(thing)


def test_an_ill_typed_function_is_refused_with_the_type_checkers_words() -> None:
    x, y = relay.var("x", shape=(2,), dtype="float32"), relay.var("y", shape=(3,), dtype="float32")
    with pytest.raises(CompileError, match="Incompatible broadcast type"):
        regvm.compile(relay.Function([x, y], x + y))


def test_an_operator_without_a_kernel_is_refused_by_name() -> None:
    x = relay.var("x", shape=(2, 2), dtype="float32")
    call = relay.Call(relay.op.get("nn.batch_flatten"), [x])
    assert regvm.compile(relay.Function([x], call)).functions
    unknown = relay.Call(
        relay.op.get("memory.alloc_storage"), [relay.const(64, "int64"), relay.const(64, "int64")]
    )
    with pytest.raises((CompileError, UnsupportedError)):
        regvm.compile(relay.Function([x], unknown))


def doubled_if() -> Any:
    """`i + i`, on which SimplifyExpr fails where `i` is an `if`."""
    c = relay.var("c", shape=(), dtype="bool")
    x = relay.var("x", shape=(), dtype="int32")
    i = relay.If(c, x, x + relay.const(1))
    return relay.Function([c, x], i + i)


def test_an_optimisation_that_fails_is_skipped_with_a_warning_and_a_note() -> None:
    with at_level(3), pytest.warns(RuntimeWarning, match="skipped the optimisation SimplifyExpr"):
        exe = regvm.compile(doubled_if())
    assert any(
        note.startswith("skipped the optimisation SimplifyExpr, which fails on this module: ")
        for note in exe.notes
    )
    machine = regvm.VirtualMachine(exe)
    assert [int(machine.run(c, 20).numpy()) for c in (True, False)] == [40, 42]
