"""The bound makes just the calls of a run, and gives its result again."""

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from scripts.bench import bound, programs
from tvm import relay

import regvm
from regvm.runtime.kernels import arguments, calls
from regvm.runtime.values import Tensor


def _trace(text: str, *args: object) -> bound.Trace:
    executable = regvm.compile(relay.fromtext(text))
    number = executable.program.index_of()["main"]
    parameters = executable.functions[number].parameters
    values = [arguments.to_value(a, p, "main") for a, p in zip(args, parameters, strict=True)]
    return bound.trace(executable.program, executable.lib, number, values)


def test_a_loop_calls_three_kernels_a_turn_and_one_more() -> None:
    found = _trace(programs.LOOP_SCALAR, np.int32(100), np.int32(3))
    assert len(found.order) == 301
    assert found.instructions > 500
    # What a loop carries takes turns in two buffers.
    assert len(found.unique) < 12


def test_replaying_computes_the_result_again() -> None:
    found = _trace(programs.LIST, np.int32(50))
    replay = bound.Replay(found)
    result = arguments.to_user(found.result)
    assert int(result.numpy()) == 1275
    result.copyfrom(np.int32(0))
    replay()
    assert int(arguments.to_user(found.result).numpy()) == 1275


def test_each_tensor_that_owns_its_storage_is_counted() -> None:
    assert _trace(programs.LIST, np.int32(50)).allocations == 100


def test_replaying_leaves_the_interpreter_as_it_was() -> None:
    before = (calls.CallSite, Tensor.__init__)
    _trace(programs.LIST, np.int32(1))
    assert before == (calls.CallSite, Tensor.__init__)
