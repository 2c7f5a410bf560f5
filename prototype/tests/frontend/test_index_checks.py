"""Indices that kernels read from tensors: out of range they are an error, and memory stays whole."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relay, te, tir

import regvm
from regvm.errors import KernelError
from regvm.frontend import index_checks

ANY = relay.Any()
ENGINES = pytest.mark.parametrize("engine", ["interpreter", "native"])


def var(name: str, *shape: Any, dtype: str = "int64") -> relay.Var:
    return relay.var(name, shape=shape, dtype=dtype)


def longs(*values: Any) -> np.ndarray[Any, Any]:
    return np.array(values, "int64")


X, XN = var("x", 3, 4, dtype="float32"), var("x", 2, ANY, dtype="float32")
D, AT, AT_TOO = var("d", 3, 3), var("i", 2), var("j", 2)
PAIRS, UPDATES, EXCESS = var("p", 2, ANY), var("u", ANY), var("u", 2, ANY)
ROWS, NEW = var("r", 2, 3), var("n", 2, 3)
FLOATS = np.arange(12, dtype="float32").reshape(3, 4)
WIDE = np.arange(6, dtype="float32").reshape(2, 3)
ZEROS = np.zeros((3, 3), "int64")

Case = tuple[list[relay.Var], relay.Expr, list[Any], list[Any], Any]
"""Parameters, body, arguments whose indices are in range, others whose are not, and the value of the first."""

CASES: dict[str, Case] = {
    "gather": (
        [XN, ROWS], relay.gather(XN, 1, ROWS),
        [WIDE, longs([2, 0, 1], [0, 0, 2])], [WIDE, longs([2, 0, 1], [0, 0, 3])], [[2, 0, 1], [3, 3, 5]],
    ),
    "gather below": (
        [XN, ROWS], relay.gather(XN, 1, ROWS),
        [WIDE, longs([0] * 3, [1] * 3)], [WIDE, longs([0] * 3, [-1] * 3)], [[0] * 3, [4] * 3],
    ),
    "gather_nd": (
        [X, PAIRS], relay.gather_nd(X, PAIRS, index_rank=2),
        [FLOATS, longs([0, 2], [1, 3])], [FLOATS, longs([0, 2], [1, 4])], [1, 11],
    ),
    "take without a mode": (
        [X, AT], relay.exp(relay.take(X, AT, axis=0, mode="fast")),
        [FLOATS * 0, longs(0, 2)], [FLOATS, longs(0, 2**40)], [[1] * 4] * 2,
    ),
    "adv_index": (
        [X, AT, AT_TOO], relay.adv_index([X, AT, AT_TOO]),
        [FLOATS, longs(0, 2), longs(3, 0)], [FLOATS, longs(0, 2), longs(3, -1)], [3, 8],
    ),
    "scatter_nd": (
        [D, PAIRS, UPDATES], relay.scatter_nd(D, PAIRS, UPDATES, "add"),
        [ZEROS, longs([0, 2], [1, 1]), longs(4, 5)], [ZEROS, longs([0, 3], [1, 1]), longs(4, 5)],
        [[0, 4, 0], [0, 0, 0], [0, 5, 0]],
    ),
    "scatter_elements": (
        [D, ROWS, NEW], relay.scatter_elements(D, ROWS, NEW, 0, "update"),
        [ZEROS, longs([0, 1, 2], [1, 2, -3]), longs([1, 2, 3], [4, 5, 6])],
        [ZEROS, longs([0, 1, 2], [1, 2, 3]), longs([1, 2, 3], [4, 5, 6])],
        [[1, 0, 6], [4, 2, 0], [0, 5, 3]],
    ),
}  # fmt: skip


@ENGINES
@pytest.mark.parametrize("name", CASES)
def test_an_index_out_of_range_is_an_error_and_the_machine_stays_usable(name: str, engine: str) -> None:
    params, body, good, bad, expected = CASES[name]
    machine = regvm.VirtualMachine(
        regvm.compile(relay.Function(params, body), "llvm"), tvm.cpu(), engine=engine
    )
    for _ in range(2):
        with pytest.raises(KernelError, match="an index is outside of dimension"):
            machine.invoke("main", *bad)
        assert machine.invoke("main", *good).numpy().tolist() == expected


@ENGINES
def test_updates_of_a_dimension_too_many_give_what_upstream_takes_for_right(engine: str) -> None:
    machine = regvm.VirtualMachine(
        regvm.compile(relay.Function([D, PAIRS, EXCESS], relay.scatter_nd(D, PAIRS, EXCESS, "add")), "llvm"),
        tvm.cpu(),
        engine=engine,
    )
    value = machine.invoke("main", ZEROS, longs([1, 1], [0, 1]), longs([2, 2], [1, 1]))
    assert value.numpy().tolist() == [[0, 0, 0], [0, 0, 0], [2, 2, 1]]


@ENGINES
def test_updates_of_a_dimension_too_many_leave_other_tensors_of_the_frame_alone(engine: str) -> None:
    pairs, excess = var("p", 2, 2), var("u", 2, 40)
    scattered = relay.annotation.stop_fusion(relay.scatter_nd(D + D, pairs, excess, "update"))
    ones = [relay.annotation.stop_fusion(relay.nn.relu(D + relay.const(n, "int64"))) for n in range(4)]
    total = ones[0] + ones[1] + ones[2] + ones[3]
    body = relay.Tuple([total, relay.sum(scattered)])
    machine = regvm.VirtualMachine(
        regvm.compile(relay.Function([D, pairs, excess], body), "llvm"), tvm.cpu(), engine=engine
    )
    value, _ = machine.invoke("main", ZEROS, longs([2, 2], [0, 1]), np.full((2, 40), 99))
    assert value.numpy().tolist() == [[6] * 3] * 3


def kernel(body: Callable[[Any, Any], Callable[[Any], Any]]) -> tir.PrimFunc:
    data, indices = te.placeholder((8,), name="data"), te.placeholder((4,), "int64", name="indices")
    out = te.compute((4,), body(data, indices), name="out")
    schedule = te.create_schedule(out.op)
    bounds = te.schedule.InferBound(schedule)
    statement = te.schedule.ScheduleOps(schedule, bounds)
    buffers: dict[Any, Any] = {}
    return te.schedule.SchedulePostProcToPrimFunc([data, indices, out], statement, buffers)


UNCHANGED: dict[str, Callable[[Any, Any], Callable[[Any], Any]]] = {
    "no index from data": lambda data, _: lambda i: data[i * 2] + data[i],
    "an index that is clipped": lambda data, indices: lambda i: data[tir.min(tir.max(indices[i], 0), 7)],
    "an index that wraps": lambda data, indices: lambda i: data[tir.floormod(indices[i], 8)],
}


@pytest.mark.parametrize("name", UNCHANGED)
def test_kernels_that_cannot_go_astray_are_left_as_they_are(name: str) -> None:
    function = kernel(UNCHANGED[name])
    tvm.ir.assert_structural_equal(index_checks.checked(function), function)


def test_each_index_is_checked_once() -> None:
    function = kernel(lambda data, indices: lambda i: data[indices[i]] * data[indices[i]])
    assert str(index_checks.checked(function)).count("an index is outside") == 1


MASKED: dict[str, Callable[[Any, Any], Callable[[Any], Any]]] = {
    "if_then_else": lambda data, indices: (
        lambda i: tir.if_then_else(indices[i] < 8, data[indices[i]], tir.const(-1.0, "float32"))
    ),
    "select": lambda data, indices: (
        lambda i: tir.Select(indices[i] < 8, data[indices[i]], tir.const(-1.0, "float32"))
    ),
    "and": lambda data, indices: (
        lambda i: tir.Select(
            tir.And(indices[i] < 8, data[indices[i]] > 0), data[i], tir.const(-1.0, "float32")
        )
    ),
}


@pytest.mark.parametrize("name", MASKED)
def test_an_index_that_a_condition_masks_is_no_error(name: str) -> None:
    function = index_checks.checked(kernel(MASKED[name])).with_attr("global_symbol", "main")
    run = tvm.build(tvm.IRModule({"main": function}), "llvm")
    data, indices = tvm.nd.array(np.arange(1, 9, dtype="float32")), tvm.nd.array(longs(1, 9, 7, 2**40))
    out = tvm.nd.empty((4,))
    run(data, indices, out)
    assert out.numpy()[[1, 3]].tolist() == [-1, -1]
    below = tvm.nd.array(longs(1, 0, -1, 2))
    with pytest.raises(tvm.error.TVMError, match="an index is outside of dimension 0 of data"):
        run(data, below, out)


def test_the_callers_own_passes_over_kernels_still_run() -> None:
    seen: list[Any] = []

    def record(function: Any, *_: Any) -> Any:
        seen.append(function)
        return function

    mine = tir.transform.prim_func_pass(record, opt_level=0, name="record")
    with tvm.transform.PassContext(config={"tir.add_lower_pass": [(0, mine)]}):
        regvm.compile(relay.Function([X], relay.exp(X)), "llvm")
    assert seen
