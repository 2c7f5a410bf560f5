"""Reports that the reference VM still gets wrong: it fails as the ledger says, and the register VM is right.

Named after the report's number where it has one. The reference runs in a process of its own, which it may end.
The prototype's tests hold the same programs against it on their own.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from relay_conformance.cases import ledger
from relay_conformance.execution import Failure, Measurement, execute
from relay_conformance.executors import get
from relay_conformance.isolation import Worker
from relay_conformance.program import program_from_module
from relay_conformance.tvm_api import relay, tvm

pytestmark = pytest.mark.thorough

REFERENCE = "tvm-vm"
SUBJECTS = ("regvm", "regvm-native")
HEADER = '#[version = "0.0.5"]\n'
X, Y = np.array([1, 2], "float32"), np.array([7, 9], "float32")


@dataclass(frozen=True)
class Report:
    """``fails`` is part of what the reference says, or None where its value is wrong."""

    defect: str
    program: Callable[[], Any]
    inputs: tuple[Any, ...]
    expected: tuple[Any, ...]
    fails: str | None


def text(program: str) -> Callable[[], Any]:
    return lambda: relay.fromtext(HEADER + program)


def function(build: Callable[..., Any], *parameters: Any) -> Callable[[], Any]:
    def make() -> Any:
        variables = [relay.var(f"x{n}", **p) for n, p in enumerate(parameters)]
        return tvm.IRModule.from_expr(relay.Function(variables, build(*variables)))

    return make


def tensor(*shape: Any, dtype: str = "float32") -> dict[str, Any]:
    return {"shape": shape, "dtype": dtype}


def wide(x: Any) -> Any:
    return relay.broadcast_to(x, relay.const(np.array([2, 3]), "int64"))


NEST = "let %i = if (%c) { if (%c) { %y - %x } else { negative(%y) } } else { negative(%x) };"
SIGNATURE = "%c: bool, %x: Tensor[(2), float32], %y: Tensor[(2), float32]"

REPORTS: dict[str, Report] = {
    "found here: a value that lives beyond nested branches": Report(
        "kills-live-registers",
        text(f"def @main({SIGNATURE}) -> Tensor[(2), float32] {{ {NEST} %i + %y }}"),
        (np.array(True), X, Y), (Y - X + Y,), "expected to have non-NULL",
    ),
    "found here: a conditional's value used twice": Report(
        "simplify-expr-free-variables",
        text(f"def @main({SIGNATURE}) {{ %0 = if (%c) {{ negative(%x) }} else {{ negative(%y) }}; %0 + %0 }}"),
        (np.array(True), X, Y), (-2 * X,), "fv.size() == 0",
    ),
    "4519, 6798, 6803: references": Report(
        "no-references",
        text("def @main(%x: float32) { let %r = ref(%x); let %_ = ref_write(%r, ref_read(%r) * 3f); ref_read(%r) }"),
        (np.float32(2),), (np.float32(6),), "",
    ),
    "13044: argmax over the broadcast axis": Report(
        "argmax-index-dtype",
        function(lambda x: relay.argmax(wide(x) - relay.const(1.0), axis=1), tensor(3)),
        (np.array([1, 3, 2], "float32"),), (np.array([1, 1]),), "dtype is expected to be",
    ),
    "13031: a broadcast beside its argmax": Report(
        "broadcast-beside-argmax",
        function(lambda x: relay.Tuple([wide(x), relay.argmax(wide(x), axis=1)]), tensor(2, 1)),
        (X.reshape(2, 1),), (np.array([[1] * 3, [2] * 3], "float32"), np.array([0, 0])), "DiagnosticError",
    ),
    "PR 13348: zero by zero": Report(
        "fused-zero-by-zero",
        function(lambda x: (x - x) / (x - x), tensor(2)), (X,), (np.full(2, np.nan, "float32"),), "Divide by zero",
    ),
    "forum 12223: the negative of unsigned numbers": Report(
        "negative-of-unsigned",
        function(relay.negative, tensor(2, dtype="uint32")),
        (np.array([0, 1], "uint32"),), (np.array([0, 2**32 - 1], "uint32"),), None,
    ),
    "13626: closures in a tuple": Report(
        "plan-devices-closures-in-tuple",
        text("""
            def @main(%x: int32) -> int32 {
              let %pair = (
                fn (%a: int32) -> fn (int32) -> int32 { fn (%b: int32) -> int32 { %a + %b } },
                fn (%a: int32) -> fn (int32) -> int32 { fn (%b: int32) -> int32 { %a * %b } }
              );
              let %p = %pair.0;
              let %q = %pair.1;
              let %f = %p(%x);
              let %g = %q(%x);
              %f(2) - %g(3)
            }
        """),
        (np.int32(5),), (np.int32(7 - 15),), "",
    ),
    "15832: an elementwise operator over any dimension": Report(
        "no-shape-function-of-elementwise",
        function(relay.sin, tensor(relay.Any())), (X,), (np.sin(X),), "ShapeFunc",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def machines() -> Iterator[Worker]:
    with Worker(time_limit=120.0) as worker:
        yield worker


@pytest.mark.parametrize("name", REPORTS)
def test_the_reference_fails_as_the_ledger_says(name: str, machines: Worker) -> None:
    report = REPORTS[name]
    result = execute(machines, get(REFERENCE), program_from_module(report.program()), report.inputs)
    if report.fails is None:
        assert isinstance(result, Measurement), result
        assert not agrees(result, report.expected)
    else:
        assert isinstance(result, Failure)
        assert report.fails in result.reason
    (defect,) = [d for d in ledger.defects() if d.id == report.defect]
    assert defect.fails_on(REFERENCE)


@pytest.mark.parametrize("subject", SUBJECTS)
@pytest.mark.parametrize("name", REPORTS)
def test_the_register_vm_is_right(name: str, subject: str, machines: Worker) -> None:
    report = REPORTS[name]
    result = execute(machines, get(subject), program_from_module(report.program()), report.inputs)
    assert isinstance(result, Measurement), result
    assert agrees(result, report.expected), result.outputs
    (defect,) = [d for d in ledger.defects() if d.id == report.defect]
    assert not defect.fails_on("regvm")


def agrees(result: Measurement, expected: tuple[Any, ...]) -> bool:
    arrays = result.outputs.arrays
    return len(arrays) == len(expected) and all(
        a is not None and a.shape == np.shape(e) and np.allclose(a, e, rtol=1e-6, equal_nan=True)
        for a, e in zip(arrays, expected, strict=True)
    )


LEVEL_0 = """
import json, sys
import numpy as np
import regvm, tvm
from tvm import relay
x = relay.var("x", shape=(2,))
module = tvm.IRModule.from_expr(relay.Function([x], relay.nn.relu((x + x) * x)))
with tvm.transform.PassContext(opt_level=0):
    executable = {compile}(module, "llvm")
print(json.dumps({machine}(executable, tvm.cpu()).invoke("main", np.array([1, 2], "float32")).numpy().tolist()))
"""

LOOP = """
import json
import numpy as np
import regvm, tvm
from tvm import relay
def peak():
    # Of this program: the one that getrusage tells is at least as large as the process that started it.
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
module = relay.fromtext('''#[version = "0.0.5"]
    def @loop(%i: int32, %a: int32) -> int32 {{ if (%i < 1) {{ %a }} else {{ @loop(%i - 1, %a + 1) }} }}
    def @main(%n: int32) -> int32 {{ @loop(%n, 0) }}''')
machine = {machine}({compile}(module, "llvm"), tvm.cpu())
machine.invoke("main", np.int32(10))
before = peak()
assert int(machine.invoke("main", np.int32(5000)).numpy()) == 5000
print(json.dumps((peak() - before) * 1024 / 5000))
"""

OURS = {"compile": "regvm.compile", "machine": "regvm.VirtualMachine"}
THEIRS = {"compile": "relay.vm.compile", "machine": "tvm.runtime.vm.VirtualMachine"}


def run_script(script: str, names: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script.format(**names)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_tvm_10324_opt_level_0() -> None:
    assert run_script(LEVEL_0, THEIRS).returncode != 0
    ours = run_script(LEVEL_0, OURS)
    assert ours.returncode == 0, ours.stderr
    assert json.loads(ours.stdout) == [2, 8]


def test_found_here_a_loop_keeps_a_frame_for_each_iteration() -> None:
    """In bytes of resident memory an iteration."""
    theirs, ours = (json.loads(run_script(LOOP, names).stdout) for names in (THEIRS, OURS))
    assert theirs > 4000
    assert ours < 100
