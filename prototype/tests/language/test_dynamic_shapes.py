"""Shapes known only when the program runs: ``Any`` dimensions, shape functions, sizes that data decides."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relay

import regvm
from regvm.errors import ArgumentError, RegvmError

Evaluate = Callable[..., Any]
Compiled = Callable[..., regvm.Executable]
ANY = relay.Any()


def var(name: str, *shape: Any, dtype: str = "float32") -> relay.Var:
    return relay.var(name, shape=shape, dtype=dtype)


def ramp(*shape: int) -> np.ndarray[Any, Any]:
    return np.arange(np.prod(shape), dtype="float32").reshape(shape)


@pytest.mark.parametrize("rows", [0, 1, 2, 17])
def test_elementwise_over_any_rows(rows: int, evaluate: Evaluate) -> None:
    x = var("x", ANY, 3)
    value = evaluate(relay.Function([x], (x + x) * relay.const(2.0)), ramp(rows, 3))
    assert value.tolist() == (ramp(rows, 3) * 4).tolist()


@pytest.mark.parametrize(("left", "right"), [((1, 2), (3, 2)), ((3, 2), (1, 2)), ((3, 2), (3, 2))])
def test_broadcasting_is_decided_at_run_time(
    left: tuple[int, ...], right: tuple[int, ...], evaluate: Evaluate
) -> None:
    x, y = var("x", ANY, 2), var("y", ANY, 2)
    value = evaluate(relay.Function([x, y], x - y), ramp(*left), ramp(*right))
    assert value.tolist() == (ramp(*left) - ramp(*right)).tolist()


def test_one_machine_takes_one_size_after_another(compiled: Compiled) -> None:
    x = var("x", ANY)
    machine = regvm.VirtualMachine(compiled(relay.Function([x], x * x)), tvm.cpu())
    results = [machine.invoke("main", ramp(n)) for n in (5, 2, 9, 0, 5)]
    assert [r.numpy().tolist() for r in results] == [(ramp(n) ** 2).tolist() for n in (5, 2, 9, 0, 5)]


@pytest.mark.parametrize("axis", [0, 1])
def test_concatenation_of_what_grows(axis: int, evaluate: Evaluate) -> None:
    x, y = var("x", ANY, ANY), var("y", ANY, ANY)
    value = evaluate(relay.Function([x, y], relay.concatenate([x, y], axis)), ramp(2, 2), ramp(2, 2))
    assert value.tolist() == np.concatenate([ramp(2, 2)] * 2, axis).tolist()


def test_the_shape_is_a_value(evaluate: Evaluate) -> None:
    x = var("x", ANY, 3, ANY)
    value = evaluate(relay.Function([x], relay.shape_of(x, "int64")), ramp(2, 3, 4))
    assert value.tolist() == [2, 3, 4]
    assert value.dtype == np.int64


def test_shape_arithmetic(evaluate: Evaluate) -> None:
    x = var("x", ANY, 3)
    rows = relay.take(relay.shape_of(x, "int32"), relay.const(0))
    body = relay.cast(rows, "float32") * relay.sum(x)
    assert evaluate(relay.Function([x], body), ramp(4, 3)) == 4 * ramp(4, 3).sum()


def test_positions_of_what_is_true(evaluate: Evaluate) -> None:
    x = var("x", ANY, ANY)
    data = np.array([[0, 1, 0], [2, 0, 3]], "float32")
    assert evaluate(relay.Function([x], relay.argwhere(x)), data).tolist() == np.argwhere(data).tolist()
    assert evaluate(relay.Function([x], relay.argwhere(x)), data * 0).shape == (0, 2)


def test_distinct_elements(evaluate: Evaluate) -> None:
    x = var("x", ANY, dtype="int32")
    unique, _, inverse, count = relay.unique(x, is_sorted=True)
    size = relay.strided_slice(unique, begin=[0], end=count, slice_mode="end")
    data = np.array([3, 1, 3, 2, 1, 3], "int32")
    values, positions = evaluate(relay.Function([x], relay.Tuple([size, inverse])), data)
    expected, expected_positions = np.unique(data, return_inverse=True)
    assert values.tolist() == expected.tolist()
    assert positions.tolist() == expected_positions.tolist()


def test_an_upper_bound_is_cut_to_what_is_valid(evaluate: Evaluate) -> None:
    boxes = np.array(
        [[[0.9, 0, 0, 10, 10], [0.8, 1, 1, 10, 10], [0.7, 50, 50, 60, 60], [0.1, 0, 0, 1, 1]]], "float32"
    )
    x = var("x", 1, ANY, 5)
    count, valid, indices = relay.vision.get_valid_counts(x, relay.const(0.5), -1, 0)
    kept = relay.vision.non_max_suppression(
        valid,
        count,
        indices,
        relay.const(-1),
        relay.const(0.5),
        coord_start=1,
        score_index=0,
        id_index=-1,
        return_indices=True,
    )
    chosen, found = kept[0], kept[1]
    row = relay.strided_slice(
        relay.squeeze(chosen, axis=[0]), begin=[0], end=relay.reshape(found, (1,)), slice_mode="end"
    )
    assert evaluate(relay.Function([x], row), boxes).tolist() == [0, 2]


def test_a_reshape_by_data_shares_storage(compiled: Compiled) -> None:
    x, shape = var("x", 2, 6), var("s", 2, dtype="int64")
    executable = compiled(relay.Function([x, shape], relay.reshape(x, shape)))
    assert "reshape_to" in executable.bytecode
    machine = regvm.VirtualMachine(executable, tvm.cpu())
    for want in ([3, 4], [-1, 2], [12, 1]):
        value = machine.invoke("main", ramp(2, 6), np.array(want, "int64"))
        assert value.numpy().tolist() == ramp(2, 6).reshape(want).tolist()


def test_a_reshape_of_any_rows(evaluate: Evaluate) -> None:
    x = var("x", ANY, 4)
    value = evaluate(relay.Function([x], relay.reshape(x + x, (-1, 2, 2))), ramp(3, 4))
    assert value.tolist() == (2 * ramp(3, 4)).reshape(-1, 2, 2).tolist()


@pytest.mark.parametrize("size", [0, 1, 5])
def test_ranges(size: int, evaluate: Evaluate) -> None:
    stop = var("n", dtype="int32")
    body = relay.arange(relay.const(0), stop, relay.const(2), dtype="int32")
    assert evaluate(relay.Function([stop], body), np.int32(size)).tolist() == list(range(0, size, 2))


DYNAMIC: dict[str, tuple[Callable[..., Any], list[Any], Any]] = {
    "full": (
        lambda s: relay.full(relay.const(7.0), s, "float32"),
        [np.array([2, 3], "int64")],
        np.full((2, 3), 7),
    ),
    "zeros": (lambda s: relay.zeros(s, "float32"), [np.array([3, 1], "int64")], np.zeros((3, 1))),
    "ones": (lambda s: relay.ones(s, "float32"), [np.array([0, 2], "int64")], np.ones((0, 2))),
    "broadcast_to": (
        lambda s: relay.broadcast_to(relay.const(np.array([[1], [2]], "float32")), s),
        [np.array([2, 3], "int64")],
        [[1, 1, 1], [2, 2, 2]],
    ),
    "tile": (
        lambda s: relay.tile(relay.const(np.array([1, 2], "float32")), s),
        [np.array([2, 2], "int64")],
        np.tile([1, 2], (2, 2)),
    ),
    "one_hot": (
        lambda d: relay.one_hot(
            relay.const(np.array([0, 2], "int32")), relay.const(1.0), relay.const(0.0), d, -1, "float32"
        ),
        [np.array(3, "int32")],
        np.eye(3)[[0, 2]],
    ),
    "topk": (
        lambda k: relay.topk(relay.const(np.array([1, 5, 3], "float32")), k, ret_type="values"),
        [np.array([2], "int64")],
        [5, 3],
    ),
    "strided_slice": (
        lambda b: relay.strided_slice(relay.const(ramp(4)), b, relay.const(np.array([4], "int64"))),
        [np.array([1], "int64")],
        [1, 2, 3],
    ),
    "expand_dims": (
        lambda a: relay.squeeze(relay.expand_dims(relay.const(ramp(2)), 0), [0]) + a,
        [np.array([1, 1], "float32")],
        [1, 2],
    ),
    "pad": (
        lambda p: relay.nn.pad(relay.const(np.ones((1, 2), "float32")), p),
        [np.array([[1, 0], [0, 1]], "int64")],
        [[0, 0, 0], [1, 1, 0]],
    ),
    "upsampling": (
        lambda s: relay.nn.upsampling(
            relay.const(ramp(1, 1, 1, 2)), relay.const(1.0, "float32"), s, layout="NCHW"
        ),
        [np.array(2, "float32")],
        [[[[0, 0, 1, 1]]]],
    ),
    "sparse_to_dense": (
        lambda s: relay.sparse_to_dense(
            relay.const(np.array([0, 2], "int64")),
            s,
            relay.const(np.array([5, 6], "float32")),
            relay.const(0.0),
        ),
        [np.array([4], "int64")],
        [5, 0, 6, 0],
    ),
}


@pytest.mark.parametrize("name", DYNAMIC)
def test_operators_whose_shape_is_data(name: str, evaluate: Evaluate) -> None:
    build, arguments, expected = DYNAMIC[name]
    parameters = [relay.var(f"p{n}", shape=a.shape, dtype=str(a.dtype)) for n, a in enumerate(arguments)]
    value = evaluate(relay.Function(parameters, build(*parameters)), *arguments)
    assert value.shape == np.shape(expected)
    assert value.tolist() == np.asarray(expected).tolist()


def test_a_loop_whose_tensor_grows(evaluate: Evaluate) -> None:
    i, grown = var("i", dtype="int32"), var("v", ANY)
    loop = relay.Var("loop")
    item = relay.reshape(relay.cast(i, "float32"), (1,))
    more = relay.Call(loop, [i - relay.const(1), relay.concatenate([grown, item], 0)])
    body = relay.If(relay.less(i, relay.const(1)), grown, more)
    n = var("n", dtype="int32")
    start = relay.const(np.array([9], "float32"))
    result = relay.Let(
        loop,
        relay.Function([i, grown], body, relay.TensorType((ANY,), "float32")),
        relay.Call(loop, [n, start]),
    )
    assert evaluate(relay.Function([n], result), np.int32(4)).tolist() == [9, 4, 3, 2, 1]


@pytest.mark.parametrize("taken", [True, False])
def test_branches_of_different_sizes(taken: bool, evaluate: Evaluate) -> None:
    c, x = var("c", dtype="bool"), var("x", ANY)
    body = relay.If(c, relay.concatenate([x, x], 0), x + x)
    value = evaluate(relay.Function([c, x], body), np.bool_(taken), ramp(3))
    assert value.tolist() == ([0, 1, 2, 0, 1, 2] if taken else [0, 2, 4])


def test_a_matrix_product_of_any_rows(evaluate: Evaluate) -> None:
    x, y = var("x", ANY, 3), var("y", 4, 3)
    value = evaluate(relay.Function([x, y], relay.nn.dense(x, y)), ramp(2, 3), ramp(4, 3))
    assert value.tolist() == (ramp(2, 3) @ ramp(4, 3).T).tolist()


def test_reductions_and_transposes(evaluate: Evaluate) -> None:
    x = var("x", ANY, ANY, 2)
    body = relay.Tuple([relay.sum(x, axis=1), relay.transpose(x, [2, 0, 1]), relay.argmax(x, axis=0)])
    data = ramp(3, 4, 2)
    total, turned, position = evaluate(relay.Function([x], body), data)
    assert total.tolist() == data.sum(1).tolist()
    assert turned.tolist() == data.transpose(2, 0, 1).tolist()
    assert position.tolist() == data.argmax(0).tolist()


def test_sizes_that_do_not_fit_are_an_error_and_the_machine_stays_usable(compiled: Compiled) -> None:
    x, y = var("x", ANY), var("y", ANY)
    machine = regvm.VirtualMachine(compiled(relay.Function([x, y], x + y)), tvm.cpu())
    with pytest.raises(RegvmError):
        machine.invoke("main", ramp(2), ramp(3))
    assert machine.invoke("main", ramp(2), ramp(2)).numpy().tolist() == [0, 2]


def test_static_dimensions_and_rank_are_still_checked(compiled: Compiled) -> None:
    machine = regvm.VirtualMachine(compiled(relay.Function([v := var("x", ANY, 3)], v + v)), tvm.cpu())
    for wrong in (ramp(2, 4), ramp(3)):
        with pytest.raises(ArgumentError, match=r"parameter x: takes float32\[\?, 3\]"):
            machine.invoke("main", wrong)


def test_named_dimensions_are_dynamic_too(evaluate: Evaluate) -> None:
    n = tvm.te.size_var("n")
    x = var("x", n, 2)
    assert (
        evaluate(relay.Function([x], relay.reshape(x + x, (-1,))), ramp(3, 2)).tolist()
        == (2 * ramp(6)).tolist()
    )
