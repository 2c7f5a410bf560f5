"""Evaluate Relay programs, written as text or built, on the register VM and on Relay's own interpreter."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relay

import regvm

HEADER = '#[version = "0.0.5"]\n'


def parse(program: Any) -> tvm.IRModule:
    """A module of Relay text, of a function, or of itself."""
    if isinstance(program, str):
        return relay.fromtext(HEADER + program)
    return program if isinstance(program, tvm.IRModule) else tvm.IRModule.from_expr(program)


def plain(value: Any) -> Any:
    """NumPy arrays for tensors and tuples for tuples; constructors' values as their fields."""
    if isinstance(value, tvm.nd.NDArray):
        return value.numpy()
    return tuple(plain(value[i]) for i in range(len(value)))


@pytest.fixture
def compiled() -> Callable[..., regvm.Executable]:
    """Compile with every checker on."""

    def compile_program(program: Any, *, opt_level: int = 3, **options: Any) -> regvm.Executable:
        # Relay's own optimisations fail on some programs; test_compilation.py checks what is said then.
        with warnings.catch_warnings(), tvm.transform.PassContext(opt_level=opt_level):
            warnings.filterwarnings("ignore", "skipped the optimisation", RuntimeWarning)
            return regvm.compile(parse(program), "llvm", check=True, **options)

    return compile_program


@pytest.fixture
def evaluate(compiled: Callable[..., regvm.Executable]) -> Callable[..., Any]:
    """``main``'s value on the register VM, as NumPy arrays and tuples."""

    def run(program: Any, *args: Any, opt_level: int = 3) -> Any:
        machine = regvm.VirtualMachine(compiled(program, opt_level=opt_level), tvm.cpu())
        return plain(machine.invoke("main", *args))

    return run


@pytest.fixture
def interpret() -> Callable[..., Any]:
    """``main``'s value on Relay's interpreter, as NumPy arrays and tuples."""

    def run(program: Any, *args: Any) -> Any:
        arrays = [np.asarray(a) for a in args]
        return plain(relay.create_executor("debug", mod=parse(program)).evaluate()(*arrays))

    return run
