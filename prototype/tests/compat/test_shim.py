"""Installed, the shim answers for the reference everywhere; uninstalled, nothing of it is left."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import tvm
from tvm import relay

import regvm
from regvm import compat

PROTOTYPE = Path(__file__).parents[2]


@pytest.fixture
def _installed() -> Iterator[None]:
    with compat.installed():
        yield


def square() -> tvm.IRModule:
    x = relay.var("x", shape=(2,))
    return tvm.IRModule.from_expr(relay.Function([x], x * x))


@pytest.mark.usefixtures("_installed")
def test_compiling_and_running_under_the_references_names() -> None:
    executable = relay.vm.compile(square(), "llvm")
    assert isinstance(executable, regvm.Executable)
    machine = tvm.runtime.vm.VirtualMachine(executable, tvm.cpu())
    assert isinstance(machine, regvm.VirtualMachine)
    assert machine.invoke("main", np.array([2, 3], "float32")).numpy().tolist() == [4, 9]


@pytest.mark.usefixtures("_installed")
def test_executors_of_kind_vm_are_ours_and_others_stay() -> None:
    executor = relay.create_executor("vm", mod=square(), device=tvm.cpu(), target="llvm")
    assert isinstance(executor, regvm.VMExecutor)
    assert executor.evaluate()(np.array([2, 3], "float32")).numpy().tolist() == [4, 9]
    assert not isinstance(relay.create_executor("debug", mod=square()), regvm.VMExecutor)
    assert not isinstance(relay.create_executor(mod=square()), regvm.VMExecutor)


@pytest.mark.usefixtures("_installed")
def test_saved_code_loads_under_the_references_names() -> None:
    code, lib = relay.vm.compile(square(), "llvm").save()
    loaded = tvm.runtime.vm.Executable.load_exec(code, lib)
    machine = tvm.runtime.vm.VirtualMachine(loaded, tvm.cpu(), memory_cfg="naive")
    assert machine.run(np.array([2, 3], "float32")).numpy().tolist() == [4, 9]


@pytest.mark.usefixtures("_installed")
def test_the_compiler_in_steps_is_ours() -> None:
    compiler = relay.backend.vm.VMCompiler()
    assert isinstance(compiler, regvm.VMCompiler)
    compiler.lower(square(), "llvm")
    compiler.codegen()
    assert "main(x)" in compiler.get_exec().bytecode


def test_uninstalling_gives_every_name_back() -> None:
    names = [
        (relay.backend.vm, "compile"),
        (relay.backend.vm, "VMCompiler"),
        (relay.backend.vm, "VMExecutor"),
        (relay.build_module, "VMExecutor"),
        (relay.build_module, "create_executor"),
        (relay, "create_executor"),
        (tvm.runtime.vm, "Executable"),
        (tvm.runtime.vm, "VirtualMachine"),
    ]
    before = [getattr(module, name) for module, name in names]
    compat.install()
    compat.install()
    during = [getattr(module, name) for module, name in names]
    compat.uninstall()
    after = [getattr(module, name) for module, name in names]
    assert all(d is not b for d, b in zip(during, before, strict=True))
    assert all(a is b for a, b in zip(after, before, strict=True))
    compat.uninstall()


def test_the_shim_ends_with_an_error_too() -> None:
    original = relay.vm.compile
    with pytest.raises(ValueError, match="inside"), compat.installed():
        raise ValueError("inside")
    assert relay.vm.compile is original


@pytest.mark.thorough
def test_as_a_pytest_plugin_it_serves_names_that_tests_import(tmp_path: Path) -> None:
    (tmp_path / "test_user.py").write_text(
        "import numpy as np\n"
        "import tvm\n"
        "from tvm import relay\n"
        "from tvm.relay import create_executor\n"
        "from tvm.relay.backend.vm import VMCompiler\n"
        "def test_it():\n"
        "    x = relay.var('x', shape=(1,))\n"
        "    run = create_executor('vm', mod=tvm.IRModule.from_expr(relay.Function([x], x + x))).evaluate()\n"
        "    assert run(np.array([4], 'float32')).numpy().tolist() == [8]\n"
        "    assert VMCompiler.__module__ == 'regvm.compat.reference'\n"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "regvm.compat.plugin",
            "-p",
            "no:cacheprovider",
            str(tmp_path),
        ],
        env={**os.environ, "PYTHONPATH": str(PROTOTYPE)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
