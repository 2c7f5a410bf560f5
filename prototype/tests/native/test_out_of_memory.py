"""Where memory runs out the engine says so, frees what the run held, and goes on working."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import regvm
from regvm import isa
from regvm.errors import ExecutionError
from regvm.executable import Function, Parameter, TensorType
from regvm_testing.relay_programs import FOLD

GROWING = (
    "def @grow(%i: int32, %x: Tensor[(?, 2), float32]) -> Tensor[(?, 2), float32] {"
    " if (less(%i, 3)) { let %y = (%x, %x); @grow(add(%i, 1), concatenate(%y)) } else { %x } }\n"
    "def @main(%x: Tensor[(?, 2), float32]) -> Tensor[(?, 2), float32] { @grow(0, %x) }\n"
)
CLOSURES = (
    "def @main(%a: int32, %b: int32) -> (int32, int32) {"
    " let %f = fn (%x: int32) -> int32 { add(%x, %a) };"
    " let %r = ref(%f(%b)); let %s = ref_read(%r); ref_write(%r, %f(%s)); (%s, ref_read(%r)) }\n"
)

_ALLOCATE = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, *[ctypes.c_int] * 6, ctypes.POINTER(ctypes.c_void_p)
)


class Failing:
    """In the place of TVM's allocation: the call of this number fails."""

    def __init__(self, machine: Any, number: int) -> None:
        context = machine._engine._context
        allocate = _ALLOCATE(context.array_alloc)
        self.calls = 0

        def call(*arguments: Any) -> int:
            self.calls += 1
            return -1 if self.calls == number else int(allocate(*arguments))

        self.function = _ALLOCATE(call)
        context.array_alloc = ctypes.cast(self.function, ctypes.c_void_p).value


@pytest.mark.parametrize(
    ("text", "args"),
    [(FOLD, (5,)), (GROWING, (np.ones((2, 2), "float32"),)), (CLOSURES, (3, 5))],
    ids=["list", "dynamic shapes", "closures and references"],
)
def test_any_allocation_may_fail(text: str, args: tuple[Any, ...], compiled: Any, outcome: Any) -> None:
    exe = compiled(text)
    machine: Any = regvm.VirtualMachine(exe, engine="native")
    counting = Failing(machine, 0)
    expected = outcome(machine, *args)
    assert counting.calls > 1
    for number in range(1, counting.calls + 1):
        machine = regvm.VirtualMachine(exe, engine="native")
        failing = Failing(machine, number)
        with pytest.raises(ExecutionError, match=r"instruction .*: there is no memory"):
            machine.invoke_stateful("main", *args)
        assert failing.calls == number
        assert machine._engine.live_objects == 0
        assert outcome(machine, *args) == expected


def test_a_frame_that_is_too_large(assemble: Any) -> None:
    vector = TensorType((3,), "float32")
    huge = Function("huge", (Parameter("x", vector),), 1, (isa.Ret(isa.Use(0)),), storage_bytes=2**60)
    main = Function(
        "main", (Parameter("x", vector),), 2, (isa.Call(1, 1, (isa.Use(0),)), isa.Ret(isa.Use(1)))
    )
    machine: Any = regvm.VirtualMachine(assemble(main, huge), engine="native")
    with pytest.raises(ExecutionError, match=r"@main, instruction 0 .*: there is no memory"):
        machine.invoke("main", np.ones(3, "float32"))
    with pytest.raises(ExecutionError, match="no memory for a frame"):
        machine.invoke("huge", np.ones(3, "float32"))
    assert machine._engine.live_objects == 0


LIMITED = f"""
import resource
import numpy as np
import regvm
import tvm
from regvm.errors import ExecutionError

exe = regvm.compile(tvm.relay.fromtext({'#[version = "0.0.5"]' + FOLD!r}))
machine = regvm.VirtualMachine(exe, engine="native")
assert int(machine.invoke("main", 100).numpy()) == 5050
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
limit = int(status["VmData"].split()[0]) * 1024 + 2**27
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
for _ in range(2):
    try:
        machine.invoke("main", 50_000_000)
    except ExecutionError as error:
        print(error)
    assert machine._engine.live_objects == 0
    assert int(machine.invoke("main", 100).numpy()) == 5050
"""


def test_a_process_that_runs_out_of_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert all("there is no memory" in line for line in lines)
