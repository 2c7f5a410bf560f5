"""Tuples: as arguments, results, loop variables, fields of fields, empty, and of everything else."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relay

Evaluate = Callable[..., Any]
A, B = np.array([1, 2], "float32"), np.array([3, 4], "float32")


def pair_type(*shapes: tuple[int, ...]) -> relay.TupleType:
    return relay.TupleType([relay.TensorType(s) for s in shapes])


def test_a_tuple_is_a_result(evaluate: Evaluate) -> None:
    program = "def @main(%x: int32) -> (int32, (int32, int32)) { (%x, (%x + 1, %x * 2)) }"
    assert evaluate(program, np.int32(5)) == (5, (6, 10))


def test_a_tuple_is_an_argument(evaluate: Evaluate) -> None:
    program = "def @main(%p: (int32, (int32, int32))) -> int32 { (%p.0 * 100) + (%p.1.0 * 10) + %p.1.1 }"
    program = program.replace("%p.1.0", "%q.0").replace("%p.1.1", "%q.1").replace("{", "{ let %q = %p.1;", 1)
    assert evaluate(program, (np.int32(1), (np.int32(2), np.int32(3)))) == 123
    assert evaluate(program, [1, [2, 3]]) == 123


def test_a_tuple_passes_through(evaluate: Evaluate) -> None:
    pair = relay.var("p", type_annotation=pair_type((2,), (2,)))
    first, second = evaluate(relay.Function([pair], pair), (A, B))
    assert first.tolist() == [1, 2]
    assert second.tolist() == [3, 4]


def test_one_value_in_both_fields(evaluate: Evaluate) -> None:
    x = relay.var("x", shape=(2,))
    y = x + x
    first, second = evaluate(relay.Function([x], relay.Tuple([y, y])), A)
    assert first.tolist() == second.tolist() == [2, 4]


def test_the_empty_tuple(evaluate: Evaluate) -> None:
    assert evaluate("def @main() -> () { () }") == ()
    assert evaluate("def @main(%u: ()) -> ((), int32) { (%u, 1) }", ()) == ((), 1)
    assert evaluate("def @f(%u: ()) -> () { %u } def @main() -> () { @f(()) }") == ()


def test_a_tuple_of_one(evaluate: Evaluate) -> None:
    x = relay.var("x", shape=(2,))
    (only,) = evaluate(relay.Function([x], relay.Tuple([x + x])), A)
    assert only.tolist() == [2, 4]


def test_tuples_swap_in_a_loop(evaluate: Evaluate) -> None:
    program = """
        def @loop(%n: int32, %p: (Tensor[(2), float32], Tensor[(2), float32]))
            -> (Tensor[(2), float32], Tensor[(2), float32]) {
          if (%n < 1) { %p } else { @loop(%n - 1, (%p.1, %p.0 + %p.1)) }
        }
        def @main(%n: int32, %a: Tensor[(2), float32], %b: Tensor[(2), float32])
            -> (Tensor[(2), float32], Tensor[(2), float32]) { @loop(%n, (%a, %b)) }
    """
    a, b = A, B
    for _ in range(5):
        a, b = b, a + b
    first, second = evaluate(program, np.int32(5), A, B)
    assert first.tolist() == a.tolist()
    assert second.tolist() == b.tolist()


@pytest.mark.parametrize("chosen", [True, False])
def test_a_branch_gives_a_tuple(chosen: bool, evaluate: Evaluate) -> None:
    program = """
        def @main(%c: bool, %x: int32) -> (int32, int32) {
          let %p = if (%c) { (%x, 0) } else { (1, %x) };
          (%p.1, %p.0)
        }
    """
    assert evaluate(program, np.bool_(chosen), np.int32(9)) == ((0, 9) if chosen else (9, 1))


def test_an_operator_with_several_results(evaluate: Evaluate) -> None:
    x = relay.var("x", shape=(6,))
    parts = relay.split(x, 3)
    value = evaluate(relay.Function([x], relay.Tuple([parts[2], parts[0]])), np.arange(6, dtype="float32"))
    assert [v.tolist() for v in value] == [[4, 5], [0, 1]]


def test_an_operator_on_a_tuple_argument(evaluate: Evaluate) -> None:
    pair = relay.var("p", type_annotation=pair_type((2,), (2,)))
    attrs = tvm.ir.make_node("relay.attrs.ConcatenateAttrs", axis=0)
    value = evaluate(relay.Function([pair], relay.Call(relay.op.get("concatenate"), [pair], attrs)), (A, B))
    assert value.tolist() == [1, 2, 3, 4]


def test_a_reshape_of_a_field(evaluate: Evaluate) -> None:
    pair = relay.var("p", type_annotation=pair_type((2, 3), (2,)))
    body = relay.reshape(relay.TupleGetItem(pair, 0), (-1,))
    assert evaluate(relay.Function([pair], body), (np.ones((2, 3), "float32"), A)).shape == (6,)
