"""Calls that TVM compiles wrongly are rewritten, all others are left alone."""

from typing import Any

import numpy as np
import tvm
from tvm import relay

import regvm
from regvm.frontend import repairs


def inferred(expression: relay.Expr) -> tvm.IRModule:
    function = relay.Function(relay.analysis.free_vars(expression), expression)
    return relay.transform.InferType()(tvm.IRModule.from_expr(function))


def run(program: Any, *args: Any) -> Any:
    module = relay.fromtext('#[version = "0.0.5"]\n' + program) if isinstance(program, str) else program
    return regvm.VirtualMachine(regvm.compile(module, "llvm", check=True), tvm.cpu()).invoke("main", *args)


def operators(module: tvm.IRModule) -> set[str]:
    return set(relay.analysis.list_op_freqs(module))


def test_a_module_without_such_calls_is_left_as_it_is() -> None:
    x = relay.var("x", shape=(2, 3))
    module = inferred(relay.exp(x + x))
    assert repairs.rewritten(module) is module


def test_the_negative_of_signed_numbers_stays() -> None:
    module = inferred(relay.negative(relay.var("x", shape=(2,), dtype="int32")))
    tvm.ir.assert_structural_equal(repairs.rewritten(module), module)


def test_a_broadcast_to_numbers_of_32_bits_stays() -> None:
    module = inferred(relay.argmax(relay.broadcast_to(relay.var("x", shape=(1, 3)), (2, 3)), axis=1))
    rewritten = repairs.rewritten(module)
    assert operators(rewritten) == {"argmax", "broadcast_to"}


def test_unsigned_numbers_are_negated_inside_of_each_other() -> None:
    x = relay.var("x", shape=(3,), dtype="uint32")
    body = relay.negative(relay.negative(x) + relay.negative(x)) - relay.negative(x)
    data = np.array([0, 1, 7], "uint32")
    assert run(tvm.IRModule.from_expr(relay.Function([x], body)), data).numpy().tolist() == [0, 3, 21]


def test_unsigned_numbers_are_negated_in_closures_and_loops() -> None:
    program = """
        def @f(%x: uint32, %n: int32) -> uint32 {
          let %g = fn (%i: int32, %y: uint32) -> uint32 { if (%i < 1) { %y } else { %g(%i - 1, negative(%y)) } };
          %g(%n, %x)
        }
        def @main(%x: uint32) -> (uint32, uint32, uint32) {
          let %h = fn (%z: uint32) -> uint32 { negative(%z) };
          (%h(%x), @f(%x, 3), @f(%x, 4))
        }
    """
    values = [int(v.numpy()) for v in run(program, np.uint32(3))]
    assert values == [2**32 - 3, 2**32 - 3, 3]


def test_indices_of_an_extreme_keep_the_type_that_relay_gives_them() -> None:
    x = relay.var("x", shape=(2, 1))
    wide = relay.broadcast_to(x, relay.const(np.array([2, 3]), "int64"))
    module = inferred(relay.Tuple([relay.argmax(wide, axis=0), relay.argmin(wide, axis=0)]))
    expected = [f.dtype for f in module["main"].checked_type.ret_type.fields]
    results = run(module, np.array([[1], [2]], "float32"))
    assert [(str(r.dtype), r.numpy().tolist()) for r in results] == [
        (expected[0], [1, 1, 1]),
        (expected[1], [0, 0, 0]),
    ]


def test_closures_in_tuples_may_capture_and_recurse() -> None:
    program = """
        def @main(%x: int32) -> (int32, int32) {
          let %pair = (
            fn (%a: int32) -> fn (int32) -> int32 {
              let %down = fn (%n: int32) -> int32 { if (%n < 1) { %a + %x } else { %down(%n - 1) } };
              %down
            },
            fn (%a: int32) -> fn (int32) -> int32 { fn (%b: int32) -> int32 { %a * %b - %x } }
          );
          let %p = %pair.0;
          let %q = %pair.1;
          let %f = %p(%x);
          let %g = %q(%x);
          (%f(5), %g(3))
        }
    """
    assert [int(v.numpy()) for v in run(program, 4)] == [8, 8]


def test_calls_are_found_without_a_main() -> None:
    text = (
        '#[version = "0.0.5"]\ndef @other(%x: Tensor[(3), uint32]) -> Tensor[(3), uint32] { negative(%x) }\n'
    )
    module = relay.transform.InferType()(relay.fromtext(text))
    assert "negative" not in str(repairs.rewritten(module))
