"""What the compiler accepts: every opt level, parameters, several functions, devices, and passes that fail."""

import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relay

import regvm
from regvm.errors import ArgumentError, CompileError, UnsupportedError

Evaluate = Callable[..., Any]
Compiled = Callable[..., regvm.Executable]
LEVELS = [0, 1, 2, 3]

EVERYTHING = """
type L { Cons(Tensor[(2), float32], L), Nil }
def @build(%n: int32, %x: Tensor[(2), float32]) -> L {
  if (%n < 1) { Nil } else { Cons(%x * cast(%n, dtype="float32"), @build(%n - 1, %x)) }
}
def @fold(%f: fn (Tensor[(2), float32], Tensor[(2), float32]) -> Tensor[(2), float32],
          %z: Tensor[(2), float32], %l: L) -> Tensor[(2), float32] {
  match (%l) { Cons(%h, %t) => @fold(%f, %f(%z, %h), %t), Nil => %z }
}
def @main(%n: int32, %x: Tensor[(2), float32]) -> (Tensor[(2), float32], Tensor[(2), float32]) {
  let %count = ref(zeros(shape=[2], dtype="float32"));
  let %f = fn (%a: Tensor[(2), float32], %b: Tensor[(2), float32]) -> Tensor[(2), float32] {
    let %_ = ref_write(%count, ref_read(%count) + %b);
    (%a + %b) * %x
  };
  let %r = @fold(%f, %x, @build(%n, %x));
  (%r, ref_read(%count))
}
"""


@pytest.mark.parametrize("opt_level", LEVELS)
def test_every_opt_level(opt_level: int, evaluate: Evaluate) -> None:
    x = np.array([1, 2], "float32")
    folded, total = x, np.zeros(2, "float32")
    for factor in (3, 2, 1):
        folded = (folded + x * factor) * x
        total = total + x * factor
    value, count = evaluate(EVERYTHING, np.int32(3), x, opt_level=opt_level)
    assert value.tolist() == folded.tolist()
    assert count.tolist() == total.tolist()


@pytest.mark.parametrize("opt_level", LEVELS)
def test_a_network_at_every_opt_level(opt_level: int, evaluate: Evaluate) -> None:
    data = relay.var("data", shape=(1, 2, 4, 4))
    weight = relay.const(np.arange(36, dtype="float32").reshape(2, 2, 3, 3) / 36)
    body = relay.nn.relu(
        relay.nn.conv2d(data, weight, padding=(1, 1), channels=2, kernel_size=(3, 3)) - relay.const(1.0)
    )
    body = relay.nn.batch_flatten(relay.nn.max_pool2d(body, (2, 2), (2, 2)))
    image = np.arange(32, dtype="float32").reshape(1, 2, 4, 4) / 32
    value = evaluate(relay.Function([data], body), image, opt_level=opt_level)
    padded = np.pad(image[0], ((0, 0), (1, 1), (1, 1)))
    kernel = weight.data.numpy()
    full = np.array(
        [[[np.sum(padded[:, i : i + 3, j : j + 3] * k) for j in range(4)] for i in range(4)] for k in kernel]
    )
    pooled = np.maximum(full - 1, 0).reshape(2, 2, 2, 2, 2).max(axis=(2, 4))
    np.testing.assert_allclose(value[0], pooled.ravel(), rtol=1e-5)


def test_parameters_are_bound_by_name(compiled: Compiled) -> None:
    x, w = relay.var("x", shape=(2,)), relay.var("w", shape=(2,))
    executable = compiled(relay.Function([x, w], x * w), params={"w": np.array([3, 4], "float32")})
    assert executable.get_function_params("main") == ["x"]
    machine = regvm.VirtualMachine(executable, tvm.cpu())
    assert machine.invoke("main", np.array([1, 2], "float32")).numpy().tolist() == [3, 8]


def test_parameters_beyond_mains_are_ignored(compiled: Compiled) -> None:
    x = relay.var("x", shape=(2,))
    executable = compiled(relay.Function([x], x), params={"other": np.ones(2, "float32")})
    assert executable.get_function_params("main") == ["x"]


def test_functions_that_main_calls_are_entries_too(compiled: Compiled) -> None:
    program = """
        def @double(%a: int32) -> int32 { %a * 2 }
        def @main(%x: int32) -> int32 { @double(%x) + 1 }
    """
    machine = regvm.VirtualMachine(compiled(program), tvm.cpu())
    assert machine.invoke("double", np.int32(4)).numpy() == 8
    assert machine.invoke("main", np.int32(4)).numpy() == 9


def test_functions_that_main_does_not_reach_are_left_out_as_in_the_reference(compiled: Compiled) -> None:
    program = """
        def @idle[A](%f: fn (A) -> A, %a: A) -> A { %f(%a) }
        def @other(%a: int32) -> int32 { %a * 2 }
        def @main(%x: int32) -> int32 { %x + 1 }
    """
    assert compiled(program).globals == ("main",)
    assert relay.vm.compile(relay.fromtext('#[version = "0.0.5"]\n' + program), "llvm").globals == ["main"]


UNREACHED = """
    def @double(%a: int32) -> int32 { %a * 2 }
    def @other(%a: Tensor[(?), float32]) -> float32 { @last(%a + %a) }
    def @last(%a: Tensor[(?), float32]) -> float32 { sum(%a) }
    def @broken(%a: Tensor[(?, 4, 4, 4), float32]) -> Tensor[(?, 1, 8, 8), float32] {
      nn.depth_to_space(%a, block_size=2)
    }
    def @main(%x: int32) -> int32 { @double(%x) + 1 }
"""


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_functions_that_main_does_not_reach_are_entries_if_named(engine: str, compiled: Compiled) -> None:
    executable = compiled(UNREACHED, entries=["main", "other"])
    assert set(executable.globals) == {"main", "double", "other", "last"}
    machine = regvm.VirtualMachine(executable, tvm.cpu(), engine=engine)
    assert machine.invoke("other", np.array([1, 2, 3], "float32")).numpy() == 12
    assert machine.invoke("main", 4).numpy() == 9
    assert executable.get_function_params("other") == ["a"]


def test_main_need_not_be_an_entry(compiled: Compiled) -> None:
    executable = compiled(UNREACHED, entries=["other"])
    assert set(executable.globals) == {"other", "last"}
    machine = regvm.VirtualMachine(executable, tvm.cpu())
    assert machine.invoke("other", np.array([1, 2], "float32")).numpy() == 6
    with pytest.raises(ArgumentError, match="there is no function @main"):
        machine.invoke("main", 4)


def test_a_function_that_no_entry_reaches_breaks_nothing(compiled: Compiled) -> None:
    assert set(compiled(UNREACHED).globals) == {"main", "double"}
    with pytest.raises(CompileError, match="depth_to_space"):
        compiled(UNREACHED, entries=["broken"])


def test_a_layout_that_tvm_asserts_against_is_refused_with_the_pass() -> None:
    x = relay.var("x", shape=(1, 5, 5, 3))
    w = relay.var("w", shape=(4, 3, 3, 3))
    convolution = relay.nn.conv2d(
        x, w, channels=4, kernel_size=(3, 3), data_layout="NHWC", kernel_layout="OHWI"
    )
    with (
        tvm.transform.PassContext(opt_level=3),
        pytest.warns(RuntimeWarning, match="skipped the optimisation AlterOpLayout"),
        pytest.raises(CompileError, match=r"Relay pass \w+ fails on this module: AssertionError"),
    ):
        regvm.compile(relay.Function([x, w], convolution))


@pytest.mark.parametrize(
    ("entries", "message"),
    [(["main", "absent"], "no @absent, .* it has broken, double, last"), ([], "no entry")],
)
def test_entries_that_do_not_exist_are_refused(entries: list[str], message: str, compiled: Compiled) -> None:
    with pytest.raises(CompileError, match=message):
        compiled(UNREACHED, entries=entries)


def test_entries_come_back_from_a_saved_executable(compiled: Compiled) -> None:
    code, lib = compiled(UNREACHED, entries=["main", "other"]).save()
    machine = regvm.VirtualMachine(regvm.Executable.load_exec(code, lib), tvm.cpu())
    assert machine.invoke("other", np.array([2], "float32")).numpy() == 4


def test_annotations_of_the_cpu_change_nothing(evaluate: Evaluate) -> None:
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
    body = x + relay.annotation.on_device(x * y, tvm.cpu())
    body = relay.annotation.stop_fusion(relay.device_copy(body, tvm.cpu(), tvm.cpu())) - y
    value = evaluate(relay.Function([x, y], body), np.array([1, 2], "float32"), np.array([3, 4], "float32"))
    assert value.tolist() == [1, 6]


X2 = relay.var("x", shape=(2,))
ANNOTATIONS: dict[str, relay.Expr] = {
    "the result is on a device": relay.annotation.on_device(X2 + X2, tvm.cpu(), constrain_result=True),
    "the body is on a device": relay.annotation.on_device(
        X2 + X2, tvm.cpu(), constrain_result=False, constrain_body=True
    ),
    "either may be": relay.annotation.on_device(
        X2 + X2, tvm.cpu(), constrain_result=False, constrain_body=False
    ),
    "a copy": relay.device_copy(X2 + X2, tvm.cpu(), tvm.cpu()),
    "a checkpoint": relay.annotation.checkpoint(X2 + X2),
    "no fusion": relay.annotation.stop_fusion(X2 + X2),
}


@pytest.mark.parametrize("opt_level", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ANNOTATIONS)
def test_an_annotation_changes_no_value(name: str, opt_level: int, evaluate: Evaluate) -> None:
    body = relay.nn.relu(ANNOTATIONS[name]) - X2
    value = evaluate(relay.Function([X2], body), np.array([-1, 3], "float32"), opt_level=opt_level)
    assert value.tolist() == [1, 3]


def test_functions_for_external_code_generators_are_refused_by_name() -> None:
    x = relay.var("x", shape=(2,))
    inner = relay.Function([x], x + x).with_attr("Primitive", tvm.tir.IntImm("int32", 1))
    inner = inner.with_attr("Compiler", "somewhere").with_attr("global_symbol", "partition_0")
    name = relay.GlobalVar("partition_0")
    module = relay.transform.InferType()(tvm.IRModule({name: inner}))
    y = relay.var("y", shape=(2,))
    module["main"] = relay.Function([y], relay.Call(name, [y]))
    tvm.register_func("relay.ext.somewhere", lambda _: None, override=True)
    with pytest.raises(UnsupportedError, match=r"partition_0.*external code generator"):
        regvm.compile(module, "llvm")


def test_regions_marked_for_external_code_generators_are_refused_with_the_annotation() -> None:
    x = relay.var("x", shape=(2,))
    begin, end = relay.annotation.compiler_begin, relay.annotation.compiler_end
    with pytest.raises(CompileError, match=r"LowerTE fails.*annotation\.compiler_begin"):
        regvm.compile(relay.Function([x], end(relay.exp(begin(x, "somewhere")), "somewhere")), "llvm")


def test_ill_typed_modules_are_refused() -> None:
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(3,))
    with pytest.raises(CompileError):
        regvm.compile(tvm.IRModule.from_expr(relay.Function([x, y], x + y)), "llvm")


# Numbered, not bound by ``let``: one node that has two users.
BY_IF = "%0 = if (%c) { negative(%x) } else { negative(%y) }; "
BY_MATCH = """
%0 = if (%c) { First(%x) } else { Second(%y) };
%1 = (match (%0) { First(%a) => negative(%a), Second(%b) => negative(%b) });
"""
BY_FIELD = "%0 = if (%c) { (negative(%x), %y) } else { (negative(%y), %x) }; %1 = %0.0; "
REUSED: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "i + i": (BY_IF + "%0 + %0", lambda i, _: i + i),
    "i * i": (BY_IF + "%0 * %0", lambda i, _: i * i),
    "(i + x) + i": (BY_IF + "(%0 + %x) + %0", lambda i, x: i + x + i),
    "i - (i * x)": (BY_IF + "%0 - (%0 * %x)", lambda i, x: i - i * x),
    "match, i + i": (BY_MATCH + "%1 + %1", lambda i, _: i + i),
    "match, (i + x) + i": (BY_MATCH + "(%1 + %x) + %1", lambda i, x: i + x + i),
    "tuple field, (i + x) + i": (BY_FIELD + "(%1 + %x) + %1", lambda i, x: i + x + i),
}


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("name", REUSED)
def test_a_conditionals_value_used_twice(name: str, taken: bool) -> None:
    body, expected = REUSED[name]
    vector = "Tensor[(2), float32]"
    module = relay.fromtext(
        f'#[version = "0.0.5"]\ntype E {{ First({vector}), Second({vector}) }}\n'
        f"def @main(%c: bool, %x: {vector}, %y: {vector}) -> {vector} {{ {body} }}"
    )
    with warnings.catch_warnings(record=True) as caught, tvm.transform.PassContext(opt_level=3):
        warnings.simplefilter("always")
        executable = regvm.compile(module, "llvm", check=True)
    x, y = np.array([1, 2], "float32"), np.array([5, 7], "float32")
    value = regvm.VirtualMachine(executable, tvm.cpu()).invoke("main", np.bool_(taken), x, y)
    assert value.numpy().tolist() == expected(-x if taken else -y, x).tolist()
    said = [str(w.message) for w in caught if "skipped the optimisation" in str(w.message)]
    assert said == list(executable.notes)
    assert all("SimplifyExpr" in note for note in executable.notes)


def test_a_skipped_optimisation_is_noted() -> None:
    module = relay.fromtext(
        '#[version = "0.0.5"]\ndef @main(%c: bool, %x: Tensor[(2), float32], %y: Tensor[(2), float32]) {'
        + BY_IF + "%0 + %0 }"
    )  # fmt: skip
    with pytest.warns(RuntimeWarning, match="SimplifyExpr"), tvm.transform.PassContext(opt_level=3):
        executable = regvm.compile(module, "llvm")
    assert len(executable.notes) >= 1


def test_two_threads_over_one_executable_agree(compiled: Compiled) -> None:
    executable = compiled(EVERYTHING)
    x = np.array([1, 2], "float32")
    single = regvm.VirtualMachine(executable, tvm.cpu())
    expected = [single.invoke("main", np.int32(n), x)[0].numpy().tobytes() for n in range(5)]
    wrong: list[int] = []

    def work() -> None:
        machine = regvm.VirtualMachine(executable, tvm.cpu())
        for run in range(1000):
            value = machine.invoke("main", np.int32(run % 5), x)[0].numpy().tobytes()
            if value != expected[run % 5]:
                wrong.append(run)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
