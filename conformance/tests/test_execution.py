"""Running a program on a machine gives outputs and figures, or says at which stage it failed and why."""

import numpy as np
import pytest

from relay_conformance import executors
from relay_conformance.execution import Failure, Measurement, Stage, execute, median_seconds
from relay_conformance.isolation import Worker
from relay_conformance.program import Program

pytestmark = pytest.mark.thorough

X, Y = np.array([1, 2, 3], np.int32), np.array([5, 5, 5], np.int32)
STATIC_MACHINES = ("tvm-vm", "regvm", "tvm-debug", "tvm-graph", "relax-vm")


@pytest.mark.parametrize("name", STATIC_MACHINES)
def test_every_machine_runs_a_static_program(name: str, worker: Worker, pair_program: Program) -> None:
    result = execute(worker, executors.get(name), pair_program, [X, Y], repeats=2)
    assert isinstance(result, Measurement), result
    assert result.outputs.structure == "(*, *)"
    assert [array.tolist() for array in result.outputs.arrays if array is not None] == [
        [2, 5, 10],
        [-4, -3, -2],
    ]
    assert min(result.compile_s, result.latency_s) > 0


@pytest.mark.parametrize("name", STATIC_MACHINES)
def test_a_kernel_that_kills_its_process_is_a_failure_and_not_the_end(
    name: str, worker: Worker, dividing_program: Program, pair_program: Program
) -> None:
    zero, seven = np.array(0, np.int32), np.array(7, np.int32)
    failed = execute(worker, executors.get(name), dividing_program, [seven, zero])
    assert isinstance(failed, Failure)
    assert failed.stage is Stage.RUN
    ran = execute(worker, executors.get(name), pair_program, [X, Y])
    assert isinstance(ran, Measurement)


def test_the_reference_fails_where_it_kills_a_live_register(
    worker: Worker, killed_register_program: Program
) -> None:
    arguments = [np.array(True), np.float32(2), np.float32(10)]
    failed = execute(worker, executors.get("tvm-vm"), killed_register_program, arguments)
    assert isinstance(failed, Failure)
    assert "expected to have non-NULL DLTensor" in failed.reason
    assert failed.figures is not None
    assert failed.figures.registers["main"] > 0


@pytest.mark.parametrize("name", ["regvm", "tvm-debug"])
def test_the_others_are_right_there(name: str, worker: Worker, killed_register_program: Program) -> None:
    arguments = [np.array(True), np.float32(2), np.float32(10)]
    result = execute(worker, executors.get(name), killed_register_program, arguments)
    assert isinstance(result, Measurement), result
    assert result.outputs.arrays == (np.float32(18),)


def test_a_program_that_does_not_compile_fails_at_that_stage(
    worker: Worker, killed_register_program: Program
) -> None:
    arguments = [np.array(True), np.float32(2), np.float32(10)]
    failed = execute(worker, executors.get("tvm-graph"), killed_register_program, arguments)
    assert isinstance(failed, Failure)
    assert str(failed) == "tvm-graph failed when compiling: TVMError: if is not supported."


def test_a_machine_that_takes_too_long_is_a_failure(pair_program: Program) -> None:
    with Worker(0.01) as hurried:
        failed = execute(hurried, executors.get("tvm-vm"), pair_program, [X, Y])
    assert isinstance(failed, Failure)
    assert failed.reason == "no result within 0.01 s"


def test_an_engine_that_is_not_there_is_named(worker: Worker, pair_program: Program) -> None:
    pytest.importorskip("regvm")
    from importlib.util import find_spec

    if find_spec("regvm.native") is not None:
        pytest.skip("this regvm has its native engine")
    failed = execute(worker, executors.get("regvm-native"), pair_program, [X, Y])
    assert isinstance(failed, Failure)
    assert "no native engine" in failed.reason


def test_the_median_ignores_an_outlier() -> None:
    delays = iter([0.0, 0.0, 0.05])
    import time

    assert median_seconds(lambda: time.sleep(next(delays)), 3) < 0.04
