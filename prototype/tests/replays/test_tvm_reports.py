"""Public reports against TVM as small programs of our own, with the right value asserted.

Named after the report's number. Where the reference is wrong too, ``conformance/known_defects.toml`` says so.
"""

import copy
import dataclasses
import math
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relay

import regvm
from regvm.errors import CompileError, MatchError

PROTOTYPE = Path(__file__).parents[2]
HEADER = '#[version = "0.0.5"]\n'
ANY = relay.Any()
F2 = np.array([1, 2], "float32")


def run(program: Any, *args: Any, opt_level: int = 3) -> Any:
    module = relay.fromtext(HEADER + program) if isinstance(program, str) else tvm.IRModule.from_expr(program)
    with tvm.transform.PassContext(opt_level=opt_level):
        executable = regvm.compile(module, "llvm", check=True)
    return plain(regvm.VirtualMachine(executable, tvm.cpu()).invoke("main", *args))


def plain(value: Any) -> Any:
    if isinstance(value, tvm.nd.NDArray):
        return value.numpy().tolist()
    return tuple(plain(value[n]) for n in range(len(value)))


def ramp(*shape: int) -> Any:
    return np.arange(np.prod(shape), dtype="float32").reshape(shape)


def var(name: str, *shape: Any, dtype: str = "float32") -> Any:
    return relay.var(name, shape=shape, dtype=dtype)


@pytest.mark.parametrize("b", [True, False])
def test_tvm_4997_two_conditionals_over_tuples(b: bool) -> None:
    program = """
        def @main(%b: bool, %x: int32, %y: int32) -> ((int32,), (int32,)) {
          let %p = (%x,);
          let %q = (%y,);
          let %first = if (%b) { %p } else { %q };
          let %second = if (%b) { %q } else { %p };
          (%first, %second)
        }
    """
    assert run(program, b, 0, 1) == (((0,), (1,)) if b else ((1,), (0,)))


@pytest.mark.parametrize("b", [True, False])
@pytest.mark.parametrize("c", [True, False])
def test_tvm_4997_three_conditionals_that_cross(b: bool, c: bool) -> None:
    program = """
        def @main(%b: bool, %c: bool, %x: int32, %y: int32) -> (int32, int32, int32) {
          let %p = if (%b) { %x } else { %y };
          let %q = if (%b) { %y } else { %x };
          let %r = if (%c) { %p } else { %q };
          (%p, %q, %r)
        }
    """
    p, q = (3, 8) if b else (8, 3)
    assert run(program, b, c, 3, 8) == (p, q, p if c else q)


def test_tvm_4758_the_value_of_a_match_is_used_twice() -> None:
    program = """
        type M { Some(int32), None }
        def @main(%x: int32) -> (int32, int32) {
          let %v = (match (Some(%x)) { Some(%a) => %a * 2, None => 0 });
          (%v + %v, %v - 1)
        }
    """
    assert run(program, 5) == (20, 9)


@pytest.mark.parametrize("opt_level", [0, 1, 2, 3])
def test_tvm_10324_every_opt_level_compiles(opt_level: int) -> None:
    x = var("x", 2)
    assert run(
        relay.Function([x], relay.nn.relu((x + x) * x - relay.const(3.0))), F2, opt_level=opt_level
    ) == [0, 5]


@pytest.mark.parametrize("opt_level", [0, 1, 2, 3])
def test_tvm_6798_writes_to_references_are_kept(opt_level: int) -> None:
    program = """
        def @main(%x: float32) -> float32 {
          let %r = ref(%x);
          let %unused = ref_write(%r, ref_read(%r) * 3f);
          let %f = fn () -> () { ref_write(%r, ref_read(%r) + 1f) };
          let %also = %f();
          ref_read(%r)
        }
    """
    assert run(program, 2.0, opt_level=opt_level) == 7


def test_tvm_6803_a_gradient_through_a_closure() -> None:
    x = var("x")
    square = relay.Function([x], x * x)
    module = relay.transform.InferType()(tvm.IRModule.from_expr(square))
    gradient = relay.transform.gradient(module["main"], mode="higher_order")
    value, (slope,) = run(gradient, np.float32(3))
    assert value == 9
    assert slope == 6


def test_tvm_pr3411_global_functions_are_closures() -> None:
    program = """
        def @inc(%a: int32) -> int32 { %a + 1 }
        def @main(%c: bool, %x: int32) -> int32 {
          let %f = if (%c) { @inc } else { fn (%a: int32) -> int32 { %a * 2 } };
          %f(%x)
        }
    """
    assert [run(program, c, 5) for c in (True, False)] == [6, 10]


def test_tvm_4218_recursive_calls_inside_lifted_functions() -> None:
    program = """
        def @main(%n: int32, %k: int32) -> int32 {
          let %outer = fn (%m: int32) -> int32 {
            let %inner = fn (%i: int32) -> int32 { if (%i < 1) { %k } else { %inner(%i - 1) + %m } };
            %inner(%m)
          };
          %outer(%n) + %outer(%n + 1)
        }
    """
    assert run(program, 2, 10) == (10 + 4) + (10 + 9)


def test_tvm_4432_constructors_are_functions() -> None:
    program = """
        type P { Pair(int32, int32), Swapped(int32, int32) }
        def @make(%f: fn (int32, int32) -> P, %x: int32) -> P { %f(%x, %x + 1) }
        def @value(%p: P) -> int32 { match (%p) { Pair(%a, %b) => %a * 10 + %b, Swapped(%a, %b) => %b * 10 + %a } }
        def @main(%c: bool, %x: int32) -> (int32, int32) {
          let %f = if (%c) { Pair } else { Swapped };
          (@value(@make(Pair, %x)), @value(%f(%x, 5)))
        }
    """
    assert [run(program, c, 2) for c in (True, False)] == [(23, 25), (23, 52)]


def test_tvm_4889_a_loop_with_free_variables() -> None:
    i, total, step = (var(n, dtype="int32") for n in ("i", "total", "step"))
    loop = relay.loops.while_loop(
        lambda i, _: i < relay.const(6), [i, total], lambda i, t: [i + relay.const(1), t + step * i]
    )
    body = relay.TupleGetItem(loop(relay.const(0), relay.const(100)), 1)
    assert run(relay.Function([step], body), 3) == 100 + 3 * 15


@pytest.mark.filterwarnings("ignore:skipped the optimisation SimplifyExpr")
def test_tvm_5757_nested_lets_of_recursive_functions() -> None:
    program = """
        def @main(%n: int32) -> int32 {
          let %r = (
            let %f = fn (%a: int32) -> int32 { if (%a < 1) { 0 } else { let %b = %f(%a - 1); %b + 2 } };
            %f(%n)
          );
          %r * %r
        }
    """
    assert run(program, 3) == 36


def test_tvm_5780_lets_inside_of_lets() -> None:
    program = """
        def @main(%x: int32) -> int32 {
          let %a = (let %b = (let %c = %x + 1; %c * %c); let %d = %b - %x; %d + %b);
          let %e = (let %g = %a * 2; %g);
          %a + %e
        }
    """
    assert run(program, 3) == 3 * (16 - 3 + 16)


def test_tvm_10078_lets_inside_of_branches_and_arguments() -> None:
    program = """
        def @f(%a: int32, %b: int32) -> int32 { %a - %b }
        def @main(%c: bool, %x: int32) -> int32 {
          @f((let %p = if (%c) { let %q = %x * 2; %q + 1 } else { let %r = %x; %r }; %p * %p), (let %s = %x; %s + 1))
        }
    """
    assert [run(program, c, 3) for c in (True, False)] == [49 - 4, 9 - 4]


def test_tvm_pr5237_a_copied_instruction_keeps_every_field() -> None:
    program = """
        type L { Cons(Tensor[(?), float32], L), Nil }
        def @count(%l: L) -> int32 { match (%l) { Cons(_, %t) => 1 + @count(%t), Nil => 0 } }
        def @main(%c: bool, %x: Tensor[(?), float32]) -> (int32, Tensor[(?), float32]) {
          let %r = ref(%x);
          let %f = fn (%v: Tensor[(?), float32]) -> Tensor[(?), float32] { concatenate((%v, ref_read(%r))) };
          let %_ = ref_write(%r, if (%c) { %f(%x) } else { reshape(%x, newshape=[-1]) });
          (@count(Cons(%x, Cons(%x, Nil))), ref_read(%r))
        }
    """
    executable = regvm.compile(relay.fromtext(HEADER + program), "llvm")
    instructions = [i for f in executable.functions for i in f.instructions]
    assert len({type(i) for i in instructions}) > 12
    for instruction in instructions:
        for copied in (
            copy.copy(instruction),
            pickle.loads(pickle.dumps(instruction)),
            dataclasses.replace(instruction),
        ):
            assert copied == instruction
            assert copied is not instruction
    assert regvm.Executable.load_exec(*executable.save()).functions == executable.functions


def test_tvm_10398_a_global_identity() -> None:
    program = """
        def @id[A](%a: A) -> A { %a }
        def @main(%x: Tensor[(2), float32]) -> (Tensor[(2), float32], int32) { (@id(@id(%x)), @id(7)) }
    """
    assert run(program, F2) == ([1, 2], 7)


def test_tvm_13626_a_tuple_of_nested_closures() -> None:
    program = """
        def @main(%x: int32) -> (int32, int32) {
          let %pair = (
            fn (%a: int32) -> fn (int32) -> int32 { fn (%b: int32) -> int32 { %a + %b } },
            fn (%a: int32) -> fn (int32) -> int32 { fn (%b: int32) -> int32 { %a * %b } }
          );
          let %p = %pair.0;
          let %q = %pair.1;
          let %f = %p(%x);
          let %g = %q(%x);
          (%f(2), %g(3))
        }
    """
    assert run(program, 5) == (7, 15)


def test_tvm_pr6776_a_reshape_of_a_tuples_field() -> None:
    pair = relay.var("p", type_annotation=relay.TupleType([relay.TensorType((2, 3)), relay.TensorType((4,))]))
    body = relay.reshape(relay.TupleGetItem(pair, 0), (3, -1))
    assert run(relay.Function([pair], body), (ramp(2, 3), ramp(4))) == ramp(3, 2).tolist()


DYNAMIC: dict[str, tuple[Any, Callable[[Any], Any], Any, Any]] = {
    "10721 a new shape of 0 and -1": (
        var("x", 2, ANY, 3), lambda x: relay.reshape(x, (0, -1)), ramp(2, 2, 3), ramp(2, 6),
    ),
    "10155 a squeeze of an axis": (
        var("x", ANY, 1, 3), lambda x: relay.squeeze(x, axis=[1]), ramp(2, 1, 3), ramp(2, 3),
    ),
    "10418 a slice backwards": (
        var("x", ANY, 4),
        lambda x: relay.strided_slice(x, begin=[3], end=[0], strides=[-1], axes=[1]),
        ramp(2, 4),
        ramp(2, 4)[:, 3:0:-1],
    ),
    "14135 a slice of one axis": (
        var("x", ANY, 3), lambda x: relay.strided_slice(x, begin=[1], end=[3], axes=[0]), ramp(4, 3), ramp(4, 3)[1:3],
    ),
    "9749 a copy": (var("x", ANY, 3), relay.copy, ramp(2, 3), ramp(2, 3)),
    "7096 rows divided anew": (var("x", ANY, 4), lambda x: relay.reshape(x, (-1, 2)), ramp(3, 4), ramp(6, 2)),
    "14648 twice as many rows": (
        var("x", ANY, 2), lambda x: relay.concatenate([x, x], 0), ramp(2, 2), np.concatenate([ramp(2, 2)] * 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DYNAMIC)
def test_tvm_shape_functions(name: str) -> None:
    parameter, build, argument, expected = DYNAMIC[name]
    assert run(relay.Function([parameter], build(parameter)), argument) == expected.tolist()


UNARY: dict[str, Callable[[Any], Any]] = {
    **{
        name: getattr(np, name)
        for name in ("abs", "cos", "cosh", "isfinite", "isinf", "isnan", "log10", "sign")
    },
    **{name: getattr(np, name) for name in ("sin", "sinh", "trunc")},
    **{
        name: getattr(np, name.replace("a", "arc", 1))
        for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh")
    },
    "erf": np.vectorize(math.erf),
}


@pytest.mark.parametrize("name", UNARY)
def test_tvm_15832_an_elementwise_operator_without_a_shape_function(name: str) -> None:
    x = var("x", ANY)
    data = F2 if name == "acosh" else np.array([0.25, 0.5, 0.75], "float32")
    value = run(relay.Function([x], getattr(relay, name)(x)), data)
    np.testing.assert_allclose(value, UNARY[name](data), rtol=1e-6, atol=1e-6)


def test_tvm_15832_an_operator_without_a_shape_function_is_named() -> None:
    x = var("x", ANY, 4, 4, 4)
    with pytest.raises(CompileError, match=r"ShapeFunc for nn\.depth_to_space"):
        run(relay.Function([x], relay.nn.depth_to_space(x, 2)), ramp(1, 4, 4, 4))


@pytest.mark.thorough
def test_tvm_pr8917_a_thousand_shapes_of_shapes() -> None:
    x = var("x", ANY, 2)
    body = x
    for _ in range(1000):
        body = relay.shape_of(body)
    assert run(relay.Function([x], body), ramp(3, 2)) == [1]


def test_tvm_pr7902_a_single_result_is_one_output() -> None:
    x = var("x", 2)
    machine = regvm.VirtualMachine(regvm.compile(relay.Function([x], x + x), "llvm"), tvm.cpu())
    machine.invoke_stateful("main", F2)
    assert [o.numpy().tolist() for o in machine.get_outputs()] == [[2, 4]]


@pytest.mark.parametrize("number", [np.float32(3), 3.0, np.array(3, "float32")])
def test_tvm_8553_scalars_from_numpy(number: Any) -> None:
    x = var("x")
    assert run(relay.Function([x], x * x), number) == 9


def test_tvm_pr7647_a_match_without_clauses() -> None:
    with pytest.raises(MatchError):
        run("type L { Cons(int32, L), Nil } def @main(%x: int32) -> int32 { match? (Cons(%x, Nil)) { } }", 1)


def test_tvm_pr9240_gather_with_a_dynamic_shape() -> None:
    x, i = var("x", ANY, 3), var("i", ANY, 3, dtype="int64")
    where = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1]])
    expected = np.take_along_axis(ramp(2, 3), where, 0).tolist()
    assert run(relay.Function([x, i], relay.gather(x, 0, i)), ramp(2, 3), where) == expected


@pytest.mark.parametrize("opt_level", [0, 1, 2, 3])
def test_tvm_13359_results_do_not_depend_on_the_opt_level(opt_level: int) -> None:
    x, c = var("x", 2, 3), relay.const(np.array([[1, 2, 4], [8, 16, 32]], "float32"))
    body = relay.divide(relay.multiply(x, c), c) + relay.subtract(x, relay.nn.relu(x))
    assert run(relay.Function([x], body), ramp(2, 3), opt_level=opt_level) == ramp(2, 3).tolist()


@pytest.mark.parametrize("shape", [(2, 4), relay.const(np.array([2, 4]), "int64")])
def test_tvm_11704_a_broadcast_before_dense(shape: Any) -> None:
    x, w = var("x", 1, 4), var("w", 3, 4)
    body = relay.nn.dense(relay.broadcast_to(x, shape), w)
    expected = (np.broadcast_to(ramp(1, 4), (2, 4)) @ ramp(3, 4).T).tolist()
    assert run(relay.Function([x, w], body), ramp(1, 4), ramp(3, 4)) == expected


def test_tvm_11895_a_concatenation_of_one() -> None:
    x = var("x", 2, 3)
    y = relay.concatenate([x + x], 1)
    body = relay.Tuple([y, y * y, relay.concatenate([y], 0), relay.concatenate([x], 0)])
    d = 2 * ramp(2, 3)
    assert run(relay.Function([x], body), ramp(2, 3)) == tuple(v.tolist() for v in (d, d * d, d, ramp(2, 3)))


def test_tvm_12305_one_input_used_many_times() -> None:
    x = var("x", 2)
    body = x
    for _ in range(60):
        body = body + x
    assert run(relay.Function([x], body), F2) == [61, 122]


@pytest.mark.thorough
def test_tvm_4534_a_long_program() -> None:
    x = var("x", dtype="int32")
    body = x
    for number in range(500):
        body = relay.annotation.stop_fusion(body + relay.const(number % 7))
    assert run(relay.Function([x], body), 1) == 1 + sum(n % 7 for n in range(500))


def test_tvm_13048_minus_one_is_true() -> None:
    x = var("x", 3, dtype="int64")
    body = relay.cast(relay.cast(x, "bool"), "int32")
    assert run(relay.Function([x], body), np.array([-1, 0, 2**40])) == [1, 0, 1]


def test_tvm_11794_argmax_of_a_broadcast_with_a_long_shape() -> None:
    x, y = var("x", 2, 1), var("y", 2, 3)
    wide = relay.broadcast_to(x, relay.const(np.array([2, 3]), "int64"))
    data = np.array([[3, 1, 2], [5, 6, 4]], "float32")
    assert run(relay.Function([x, y], relay.argmax(wide - y, axis=1)), ramp(2, 1), data) == [1, 2]


def test_tvm_13044_argmax_over_the_broadcast_axis() -> None:
    x = var("x", 3)
    wide = relay.broadcast_to(x, relay.const(np.array([2, 3]), "int64"))
    body = relay.argmax(wide - relay.const(1.0), axis=1)
    assert run(relay.Function([x], body), np.array([1, 3, 2], "float32")) == [1, 1]


def test_tvm_13031_a_broadcast_beside_its_argmax() -> None:
    x = var("x", 2, 1)
    wide = relay.broadcast_to(x, relay.const(np.array([2, 3]), "int64"))
    body = relay.Tuple([wide, relay.argmax(wide, axis=1)])
    assert run(relay.Function([x], body), ramp(2, 1)) == ([[0] * 3, [1] * 3], [0, 0])


def test_tvm_11897_slices_and_negative_pads() -> None:
    x = var("x", 4, 4)
    body = relay.concatenate([relay.strided_slice(x, [0, 0], [2, 4]), relay.nn.pad(x, ((-1, -1), (0, 0)))], 0)
    data = ramp(4, 4)
    assert run(relay.Function([x], body), data) == np.concatenate([data[:2], data[1:3]]).tolist()


@pytest.mark.parametrize("k", [-1, 0, 1])
def test_tvm_13029_triangles_with_a_long_k(k: int) -> None:
    x = var("x", 3, 3)
    body = relay.trilu(x, relay.const(k, "int64"), upper=True)
    assert run(relay.Function([x], body), ramp(3, 3)) == np.triu(ramp(3, 3), k).tolist()


def test_tvm_13030_the_sum_of_a_triangle() -> None:
    x = var("x", 3, 3)
    body = relay.sum(relay.trilu(x, relay.const(0, "int64"), upper=True))
    assert run(relay.Function([x], body), ramp(3, 3)) == np.triu(ramp(3, 3)).sum()


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((1, 2, 2, 2), 1), ((4,), 0), ((3, 2), 0)],
    ids=["12001 four dimensions", "PR 11719 one dimension", "PR 11803 two dimensions"],
)
def test_tvm_12001_softmax_over_any_axis(shape: tuple[int, ...], axis: int) -> None:
    x = var("x", *shape)
    e = np.exp(ramp(*shape))
    value = run(relay.Function([x], relay.nn.softmax(x, axis=axis)), ramp(*shape))
    np.testing.assert_allclose(value, e / e.sum(axis, keepdims=True), rtol=1e-5)


def test_tvm_10528_a_squeezed_convolution() -> None:
    x = var("x", 1, 2, 1, 1)
    weight = relay.const(np.array([[1, 2], [3, 4]], "float32").reshape(2, 2, 1, 1))
    body = relay.squeeze(relay.nn.conv2d(x, weight, channels=2, kernel_size=(1, 1)), axis=[2, 3])
    assert run(relay.Function([x], body), F2.reshape(1, 2, 1, 1)) == [[5, 11]]


def test_tvm_pr13348_zero_by_zero_is_not_a_number() -> None:
    x = var("x", 2)
    difference = x - x
    with pytest.warns(RuntimeWarning, match="FuseOps"):
        value = run(relay.Function([x], difference / difference), F2)
    assert np.isnan(value).all()


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_tvm_forum_12223_the_negative_of_unsigned_numbers(dtype: str) -> None:
    x = var("x", 2, dtype=dtype)
    body = relay.Tuple([relay.negative(x), relay.negative(relay.ones_like(x))])
    highest = np.iinfo(dtype).max
    assert run(relay.Function([x], body), np.array([0, 1], dtype)) == ([0, highest], [highest] * 2)


def test_tvm_forum_11994_an_unsigned_modulus() -> None:
    x = var("x", 3, dtype="uint64")
    body = relay.floor_mod(x, relay.const(np.array([3, 5, 2**63], "uint64"), "uint64"))
    assert run(relay.Function([x], body), np.array([7, 9, 2**63 + 5], "uint64")) == [1, 4, 5]


def test_tvm_pr11728_softmax_refuses_an_axis_out_of_range() -> None:
    x = var("x", 4)
    with pytest.raises(CompileError):
        run(relay.Function([x], relay.nn.softmax(x, axis=2)), ramp(4))


def test_tvm_pr13280_instance_norm_refuses_rank_two() -> None:
    x, ones = var("x", 4, 2), relay.const(np.ones(2, "float32"))
    with pytest.raises(CompileError):
        run(relay.Function([x], relay.nn.instance_norm(x, ones, ones)), ramp(4, 2))


VALUE_AFTER_NEST: dict[str, tuple[str, str, Callable[[int, int], Any]]] = {
    "pair": ("(%i, %y)", "(int32, int32)", lambda i, y: (i, y)),
    "sum": ("%i + %y", "int32", lambda i, y: i + y),
}
BRANCHES = {
    "if": "if (%c) { if (%c) { %y - %x } else { negative(%y) } } else { negative(%x) }",
    "call": "if (%c) { if (%c) { @sub(%y, %x) } else { negative(%y) } } else { negative(%x) }",
    "match": "if (%c) { (match (A) { A => %y - %x, B => negative(%y) }) } else { negative(%x) }",
    "deeper": "if (%c) { if (%c) { if (%c) { %y - %x } else { %x } } else { negative(%y) } } else { negative(%x) }",
}


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("branches", BRANCHES)
@pytest.mark.parametrize("use", VALUE_AFTER_NEST)
def test_a_value_lives_beyond_nested_branches(use: str, branches: str, taken: bool) -> None:
    body, type_, expected = VALUE_AFTER_NEST[use]
    program = f"""
        type E {{ A, B }}
        def @sub(%a: int32, %b: int32) -> int32 {{ %a - %b }}
        def @main(%c: bool, %x: int32, %y: int32) -> {type_} {{
          let %i = {BRANCHES[branches]};
          {body}
        }}
    """
    assert run(program, taken, 2, 7) == expected(5 if taken else -2, 7)


def test_a_loop_of_a_million_iterations_keeps_one_frame() -> None:
    program = """
        def @loop(%i: int32, %acc: int32) -> int32 { if (%i < 1) { %acc } else { @loop(%i - 1, %acc + 1) } }
        def @main(%n: int32) -> int32 { @loop(%n, 0) }
    """
    executable = regvm.compile(relay.fromtext(HEADER + program), "llvm")
    machine = regvm.VirtualMachine(executable, tvm.cpu(), engine="native", stack_limit=2)
    assert machine.invoke("main", 1_000_000).numpy() == 1_000_000
    assert machine.peak_intermediate_bytes < 4096
    # The specification in Python takes 20 s for as many.
    machine = regvm.VirtualMachine(executable, tvm.cpu(), engine="interpreter", stack_limit=2)
    assert machine.invoke("main", 20_000).numpy() == 20_000
    assert machine.peak_intermediate_bytes < 4096


DIVISION = """
import sys
import regvm, tvm, numpy as np
from tvm import relay
x, y = (relay.var(n, shape=(), dtype="int32") for n in "xy")
machine = regvm.VirtualMachine(regvm.compile(relay.Function([x, y], relay.divide(x, y)), "llvm"), tvm.cpu())
print(machine.invoke("main", np.int32(6), np.int32(3)).numpy(), flush=True)
machine.invoke("main", np.int32(int(sys.argv[1])), np.int32(int(sys.argv[2])))
"""


@pytest.mark.parametrize(("a", "b"), [(1, 0), (-(2**31), -1)])
def test_relax_20400_a_division_that_traps_ends_only_its_process(a: int, b: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DIVISION, str(a), str(b)],
        env={**os.environ, "PYTHONPATH": str(PROTOTYPE)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout.split() == ["2"]
    assert done.returncode != 0
