"""In the reference's place an executable speaks its words, and a machine takes what the reference's takes."""

from unittest.mock import patch

import numpy as np
import pytest
import tvm
from tvm import relay

from regvm.compat import reference
from regvm.errors import ArgumentError, KernelError


def machine_of(function: relay.Function) -> reference.VirtualMachine:
    return reference.VirtualMachine(reference.compile(tvm.IRModule.from_expr(function), "llvm"), tvm.cpu())


def pair_field(index: int) -> relay.Function:
    pair = relay.var(
        "pair", type_annotation=relay.TupleType([relay.TensorType((2,)), relay.TensorType((3,))])
    )
    return relay.Function([pair], relay.TupleGetItem(pair, index))


def test_functions_are_listed_with_their_parameters() -> None:
    x = relay.var("x", shape=(2,), dtype="int32")
    module = tvm.IRModule({relay.GlobalVar("step"): relay.Function([x], x + relay.const(1))})
    module = relay.transform.InferType()(module)
    y, z = (relay.var(n, shape=(2,), dtype="int32") for n in "yz")
    module["main"] = relay.Function([y, z], module.get_global_var("step")(y) * z)
    executable = reference.compile(relay.transform.InferType()(module), "llvm")
    assert sorted(executable.globals) == ["main", "step"]
    assert "main(y, z)" in executable.bytecode
    assert "step(x)" in executable.bytecode
    assert any(name.startswith("vm_mod_fused_add") for name in executable.primitive_ops)
    assert "VM PackedFunc[0]: vm_mod_fused_" in executable.primitives
    assert executable.get_function_params("main") == ["y", "z"]


def test_reshapes_and_allocations_have_the_references_names() -> None:
    x = relay.var("x", shape=(2, 3))
    reshaped = reference.compile(relay.Function([x], relay.reshape(x, (6,))), "llvm").bytecode
    assert reshaped.count("reshape_tensor") == 1
    added = reference.compile(relay.Function([x], x + x), "llvm").bytecode
    assert "alloc_tensor float32[2, 3]" in added
    assert "alloc_tensor_reg" not in added
    y = relay.var("y", shape=(relay.Any(), 3))
    assert "alloc_tensor_reg" in reference.compile(relay.Function([y], y + y), "llvm").bytecode


def test_constants_and_devices_are_described() -> None:
    x = relay.var("x", shape=(2,))
    executable = reference.compile(
        relay.Function([x], x + relay.const(np.array([1.5, 2], "float32"))), "llvm"
    )
    assert executable.constants == "VM Const[0]: NDArray[(2),float32,(1,0)]=[1.5,2.0] on device index 0\n"
    assert "VirtualDevice[0]: device type 1" in executable.virtual_devices


def test_an_unread_tuple_field_may_have_any_shape() -> None:
    fields = (np.array([1, 2], "float32"), np.ones(7, "float32"))
    assert machine_of(pair_field(0)).invoke("main", fields).numpy().tolist() == [1, 2]


def test_an_argument_that_no_kernel_reads_may_have_any_type() -> None:
    x = relay.var("x", shape=(relay.Any(),))
    assert machine_of(relay.Function([x], relay.Tuple([x]))).invoke("main", 3)[0].numpy() == 3


def test_a_tensor_may_come_in_a_tuple_of_one() -> None:
    x = relay.var("x", shape=())
    assert machine_of(relay.Function([x], x + x)).invoke("main", [np.float32(3)]).numpy() == 6


def test_a_wrong_shape_that_is_read_is_an_error_of_the_kernel() -> None:
    x = relay.var("x", shape=(2,))
    machine = machine_of(relay.Function([x], x + x))
    with pytest.raises(KernelError):
        machine.invoke("main", np.ones(3, "float32"))
    assert machine.invoke("main", np.ones(2, "float32")).numpy().tolist() == [2, 2]


def test_a_reshape_never_reads_beyond_a_smaller_argument() -> None:
    x = relay.var("x", shape=(4, 4))
    machine = machine_of(relay.Function([x], relay.reshape(x, (16,))))
    with pytest.raises(RuntimeError, match="cannot be reshaped"):
        machine.invoke("main", np.ones((2, 2), "float32"))


def test_errors_are_errors_of_the_reference_too() -> None:
    x = relay.var("x", shape=(2,))
    with pytest.raises(tvm.error.TVMError):
        machine_of(relay.Function([x], x)).invoke("missing", np.ones(2, "float32"))


def test_what_is_no_executable_is_a_type_error() -> None:
    x = relay.var("x", shape=(2,))
    code, lib = reference.compile(relay.Function([x], x + x), "llvm").save()
    with pytest.raises(TypeError):
        reference.Executable.load_exec("text", lib)
    with pytest.raises(TypeError):
        reference.Executable.load_exec(code, "library")
    with pytest.raises(TypeError):
        reference.VirtualMachine("executable", tvm.cpu())


def test_a_wrong_memory_configuration_is_refused() -> None:
    x = relay.var("x", shape=(2,))
    executable = reference.compile(relay.Function([x], x), "llvm")
    with pytest.raises(ArgumentError, match="memory_cfg"):
        reference.VirtualMachine(executable, tvm.cpu(), "arena")
    reference.VirtualMachine(executable, [tvm.cpu()], {tvm.cpu(): "naive"})


def test_benchmarks_use_tvms_timer() -> None:
    x = relay.var("x", shape=(2,))
    machine = machine_of(relay.Function([x], x + x))
    timed = machine.benchmark(tvm.cpu(), np.ones(2, "float32"), repeat=3, number=2)
    assert len(timed.results) == 3
    assert timed.mean > 0
    ends = machine.benchmark(tvm.cpu(), x=np.ones(2, "float32"), repeat=2, number=1, end_to_end=True)
    assert len(ends.results) == 2
    made_up = tvm.runtime.module.BenchmarkResult([1, 3])
    with patch.object(tvm.runtime.Module, "time_evaluator", return_value=lambda _: made_up):
        assert machine.benchmark(tvm.cpu(), np.ones(2, "float32")).mean == 2
