"""Kernels that LLVM refuses are built again without the passes that cause it; nothing else is."""

import numpy as np
import pytest

from relay_conformance import executors
from relay_conformance.execution import Measurement, execute
from relay_conformance.executors.lowering import RETRY_OPTIONS, build
from relay_conformance.isolation import Worker
from relay_conformance.program import program_from_module
from relay_conformance.tvm_api import relay, tvm


@pytest.mark.parametrize("name", ["tvm-vm", "regvm", "tvm-debug", "tvm-graph"])
def test_a_kernel_that_llvm_refuses_still_runs_everywhere(name: str, worker: Worker) -> None:
    x = relay.var("x", shape=(16,), dtype="int32")
    program = program_from_module(
        tvm.IRModule.from_expr(relay.Function([x], relay.floor_mod(x, relay.const(3))))
    )
    values = np.arange(-8, 8, dtype=np.int32)
    result = execute(worker, executors.get(name), program, [values])
    assert isinstance(result, Measurement), result
    assert result.outputs.arrays[0] is not None
    assert result.outputs.arrays[0].tolist() == (values % 3).tolist()


def test_the_retry_switches_the_two_passes_off() -> None:
    seen = []

    def compile_program() -> str:
        config = dict(tvm.transform.PassContext.current().config)
        seen.append({name: bool(config.get(name, False)) for name in RETRY_OPTIONS})
        if len(seen) == 1:
            raise tvm.TVMError(
                "LLVM module verification failed: location of #dbg_declare must be a pointer or int"
            )
        return "built"

    assert build(compile_program) == "built"
    assert seen == [dict.fromkeys(RETRY_OPTIONS, False), dict.fromkeys(RETRY_OPTIONS, True)]


def test_another_error_is_not_retried() -> None:
    calls = []

    def compile_program() -> None:
        calls.append(1)
        raise tvm.TVMError("something else")

    with pytest.raises(tvm.TVMError, match="something else"):
        build(compile_program)
    assert calls == [1]
