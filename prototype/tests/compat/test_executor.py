"""``create_executor`` takes the reference's arguments, and ours without the kind."""

import numpy as np
import pytest
import tvm
from tvm import relay

import regvm
from regvm.errors import ArgumentError


def doubled() -> tvm.IRModule:
    x = relay.var("x", shape=(2,))
    return tvm.IRModule.from_expr(relay.Function([x], x + x))


def with_helper() -> tvm.IRModule:
    x = relay.var("x", shape=(), dtype="int32")
    module = tvm.IRModule({relay.GlobalVar("inc"): relay.Function([x], x + relay.const(1))})
    return relay.transform.InferType()(module)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((), {}),
        (("vm",), {}),
        ((), {"kind": "vm", "device": tvm.cpu(), "target": "llvm"}),
        (("vm",), {"device": tvm.cpu(0), "target": tvm.target.Target("llvm")}),
    ],
)
def test_the_module_may_be_named(args: tuple[object, ...], kwargs: dict[str, object]) -> None:
    run = regvm.create_executor(*args, mod=doubled(), **kwargs).evaluate()
    assert run(np.array([1, 2], "float32")).numpy().tolist() == [2, 4]


def test_all_arguments_may_go_by_position() -> None:
    for executor in (
        regvm.create_executor(doubled(), tvm.cpu(), "llvm"),
        regvm.create_executor(doubled(), tvm.cpu()),
        regvm.create_executor("vm", doubled(), tvm.cpu(), "llvm"),
        regvm.create_executor(doubled(), device=tvm.cpu(), engine="interpreter"),
    ):
        assert executor.evaluate()(np.array([1, 2], "float32")).numpy().tolist() == [2, 4]


def test_parameters_are_bound() -> None:
    x, w = relay.var("x", shape=(2,)), relay.var("w", shape=(2,))
    module = tvm.IRModule.from_expr(relay.Function([x, w], x - w))
    executor = regvm.create_executor("vm", mod=module, params={"w": np.array([1, 1], "float32")})
    assert executor.evaluate()(np.array([5, 6], "float32")).numpy().tolist() == [4, 5]


def test_arguments_go_by_name_and_names_beyond_the_parameters_are_ignored() -> None:
    x, y = relay.var("x", shape=()), relay.var("y", shape=())
    run = regvm.create_executor(mod=tvm.IRModule.from_expr(relay.Function([x, y], x - y))).evaluate()
    assert run(y=np.float32(2), x=np.float32(7), other=np.float32(0)).numpy() == 5
    assert run(np.float32(7), y=np.float32(2)).numpy() == 5


def test_an_expression_is_evaluated_at_once() -> None:
    module = with_helper()
    executor = regvm.create_executor(mod=module)
    value = executor.evaluate(relay.Call(module.get_global_var("inc"), [relay.const(41)]))
    assert value.numpy() == 42
    assert value.dtype == "int32"


def test_a_function_gives_a_callable_over_the_modules_definitions() -> None:
    module = with_helper()
    x = relay.var("x", shape=(), dtype="int32")
    inc = module.get_global_var("inc")
    executor = regvm.create_executor(mod=module)
    assert executor.evaluate(relay.Function([x], inc(inc(x))))(np.int32(1)).numpy() == 3
    assert executor.evaluate(inc)(np.int32(1)).numpy() == 2


def test_bindings_replace_free_variables() -> None:
    x = relay.var("x", shape=(), dtype="int32")
    value = regvm.create_executor().evaluate(x * relay.const(3), binds={x: np.array(4, "int32")})
    assert value.numpy() == 12


def test_evaluating_leaves_the_module_alone() -> None:
    module = with_helper()
    regvm.create_executor(mod=module).evaluate(relay.const(1))
    assert [str(v.name_hint) for v in module.get_global_vars()] == ["inc"]


def test_other_kinds_are_the_references() -> None:
    run = regvm.create_executor("debug", mod=doubled(), device=tvm.cpu()).evaluate()
    assert run(np.array([1, 2], "float32")).numpy().tolist() == [2, 4]


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ArgumentError, match="no executor 'stack'; choose one of vm, debug"):
        regvm.create_executor("stack", mod=doubled())


def test_the_executable_and_the_machine_are_at_hand() -> None:
    executor = regvm.VMExecutor(doubled(), tvm.cpu(), "llvm")
    executor.evaluate()
    assert isinstance(executor.executable, regvm.Executable)
    assert isinstance(executor.vm, regvm.VirtualMachine)
