"""The compiler in steps gives what ``compile`` gives, and says what is missing."""

import numpy as np
import pytest
import tvm
from tvm import relay

import regvm
from regvm.errors import CompileError, UnsupportedError


def scaled() -> relay.Function:
    x = relay.var("x", shape=(3,))
    w = relay.var("w", shape=(3,))
    return relay.Function([x, w], x * w)


def external_module() -> tvm.IRModule:
    x = relay.var("x", shape=(2,))
    inner = relay.Function([x], x + x).with_attr("Primitive", tvm.tir.IntImm("int32", 1))
    inner = inner.with_attr("Compiler", "elsewhere").with_attr("global_symbol", "outside")
    name = relay.GlobalVar("outside")
    module = tvm.IRModule({name: inner})
    module = relay.transform.InferType()(module)
    y = relay.var("y", shape=(2,))
    module["main"] = relay.Function([y], relay.Call(name, [y]))
    return relay.transform.InferType()(module)


def test_steps_give_the_bytes_of_compile() -> None:
    compiler = regvm.VMCompiler()
    compiler.set_params({"w": np.array([1, 2, 3], "float32")})
    compiler.lower(tvm.IRModule.from_expr(scaled()), "llvm")
    compiler.codegen()
    whole = regvm.compile(scaled(), "llvm", params={"w": np.array([1, 2, 3], "float32")})
    assert compiler.get_exec().save()[0] == whole.save()[0]


def test_parameters_are_bound_and_returned_as_arrays() -> None:
    compiler = regvm.VMCompiler()
    compiler.set_params({"w": relay.const(np.array([2, 2, 2], "float32"))})
    compiler.lower(tvm.IRModule.from_expr(scaled()), "llvm")
    compiler.codegen()
    assert compiler.get_params()["w"].numpy().tolist() == [2, 2, 2]
    machine = regvm.VirtualMachine(compiler.get_exec(), tvm.cpu())
    assert machine.invoke("main", np.array([1, 2, 3], "float32")).numpy().tolist() == [2, 4, 6]


def test_optimize_gives_a_lowered_module_with_parameters_bound() -> None:
    module, params = regvm.VMCompiler().optimize(
        tvm.IRModule.from_expr(scaled()), "llvm", params={"w": np.ones(3, "float32")}
    )
    assert [str(v.name_hint) for v in relay.analysis.free_vars(module["main"].body)] == ["x"]
    assert "call_lowered" in module.astext(show_meta_data=False)
    assert list(params) == ["w"]


def test_optimize_names_the_shape_functions_of_dynamic_calls() -> None:
    x, y = (relay.var(n, shape=(relay.Any(), 2)) for n in "xy")
    module, _ = regvm.VMCompiler().optimize(tvm.IRModule.from_expr(relay.Function([x, y], x + y)), "llvm")
    assert "shape_func" in module.astext(show_meta_data=False)


def test_steps_out_of_order_are_refused() -> None:
    compiler = regvm.VMCompiler()
    with pytest.raises(CompileError, match="call lower first"):
        compiler.codegen()
    with pytest.raises(CompileError, match="call lower and codegen first"):
        compiler.get_exec()


def test_functions_for_external_code_generators_are_lowered_and_then_refused() -> None:
    tvm.register_func("relay.ext.elsewhere", lambda _: None, override=True)
    compiler = regvm.VMCompiler()
    compiler.lower(external_module(), "llvm")
    with pytest.raises(UnsupportedError, match="external code generator"):
        compiler.codegen()


def test_a_failing_lowering_leaves_the_compiler_usable() -> None:
    compiler = regvm.VMCompiler()
    with pytest.raises(CompileError, match="no @main"):
        compiler.lower(tvm.IRModule(), "llvm")
    compiler.lower(scaled(), "llvm")
    compiler.codegen()
    assert compiler.get_exec().globals == ("main",)
