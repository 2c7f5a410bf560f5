"""What users hold: every way to set inputs, to run and to read results, and every way to get them wrong."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relay

import regvm
from regvm.errors import ArgumentError, ExecutionError, MatchError, RegvmError, StackLimitError
from regvm_testing.kernels import load

MODULE = """#[version = "0.0.5"]
def @main(%x: Tensor[(2), float32], %y: Tensor[(2), float32]) { subtract(%x, @twice(%y)) }
def @twice(%z: Tensor[(2), float32]) -> Tensor[(2), float32] { add(%z, %z) }
"""
X, Y = np.array([1, 2], "float32"), np.array([10, 30], "float32")
EXPECTED = [-19, -58]


@pytest.fixture(scope="module")
def exe() -> regvm.Executable:
    return regvm.compile(relay.fromtext(MODULE))


@pytest.fixture
def vm(exe: regvm.Executable) -> regvm.VirtualMachine:
    return regvm.VirtualMachine(exe, tvm.cpu())


def values(result: Any) -> Any:
    return result.numpy().tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda vm: vm.invoke("main", X, Y),
        lambda vm: vm.invoke("main", X, y=Y),
        lambda vm: vm.invoke("main", y=Y, x=X),
        lambda vm: vm.run(X, Y),
        lambda vm: vm.run(y=Y, x=X),
        lambda vm: vm.set_input("main", X, Y) or vm.invoke("main"),
        lambda vm: vm.set_input("main", X, y=Y) or vm.run(),
        lambda vm: vm.set_one_input("main", "y", Y) or vm.set_one_input("main", 0, X) or vm.run(),
        lambda vm: vm.set_one_input("main", y=Y) or vm.set_one_input("main", x=X) or vm.run(),
        lambda vm: vm.invoke_stateful("main", X, Y) or vm.get_outputs()[0],
        lambda vm: vm.set_input("main", X, Y) or vm.invoke_stateful("main") or vm.get_outputs()[0],
    ],
)
def test_every_way_to_pass_arguments_gives_the_result(
    vm: regvm.VirtualMachine, call: Callable[[regvm.VirtualMachine], Any]
) -> None:
    assert values(call(vm)) == EXPECTED


def test_named_arguments_that_no_parameter_has_are_left_out(vm: regvm.VirtualMachine) -> None:
    assert values(vm.invoke("main", X, Y, unrelated=7)) == EXPECTED


def test_inputs_stay_set_until_they_are_set_again(vm: regvm.VirtualMachine) -> None:
    vm.set_input("main", X, Y)
    assert values(vm.run()) == values(vm.run()) == EXPECTED
    vm.set_one_input("main", "y", -Y)
    assert values(vm.run()) == [21, 62]


def test_results_are_the_users_own(vm: regvm.VirtualMachine) -> None:
    first = vm.run(X, Y)
    second = vm.run(X, -Y)
    assert values(first) == EXPECTED
    assert values(second) == [21, 62]


def test_an_argument_may_be_the_result() -> None:
    identity = regvm.VirtualMachine(
        regvm.compile(relay.fromtext('#[version = "0.0.5"]\ndef @main(%x: int32) { %x }'))
    )
    assert int(identity.run(np.int32(7)).numpy()) == 7


def test_every_function_of_the_executable_can_be_invoked() -> None:
    machine = regvm.VirtualMachine(load(TWO))
    assert values(machine.invoke("double", X)) == [2, 4]
    assert values(machine.invoke("sum", X, Y)) == [11, 32]


TWO = """
function f0 @double(R0 x: float32[2])
  frame 1 registers, 0 slots, 0 bytes, 1 live
  tensor t0 float32[2] owned
  R0:t0 = invoke k1, (R0!)
  ret R0!
function f1 @sum(R0 a: float32[2], R1 b: float32[2])
  frame 2 registers, 0 slots, 0 bytes, 2 live
  tensor t0 float32[2] owned
  R0:t0 = invoke k0, (R0!, R1!)
  ret R0!
function f2 @both(R0 a: float32[2], R1 b: float32[2])
  frame 3 registers, 0 slots, 0 bytes, 3 live
  tensor t0 float32[2] owned
  R2:t0 = invoke k0, (R0, R1!)
  R0 = make_adt #0, (R0!, R2!)
  ret R0!
"""


def test_outputs_are_one_array_for_each_field_of_a_tuple() -> None:
    machine = regvm.VirtualMachine(load(TWO))
    machine.invoke_stateful("both", X, Y)
    assert [values(o) for o in machine.get_outputs()] == [[1, 2], [11, 32]]
    result = machine.invoke("both", X, Y)
    assert isinstance(result, tvm.runtime.container.ADT)
    assert (result.tag, len(result)) == (0, 2)


def test_outputs_can_be_written_into_arrays_of_the_user() -> None:
    machine = regvm.VirtualMachine(load(TWO))
    first, second = tvm.nd.empty((2,), "float32"), tvm.nd.empty((2,), "float32")
    machine.invoke_with_outputs("both", {"a": X, "b": Y}, [first, second])
    assert (values(first), values(second)) == ([1, 2], [11, 32])
    machine.set_input("both", Y, X)
    machine.invoke_with_outputs("both", None, [first, second])
    assert (values(first), values(second)) == ([10, 30], [11, 32])


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ([], "gives 2 tensors, but 0 outputs are set"),
        ([((2,), "float32")], "gives 2 tensors, but 1 outputs are set"),
        (
            [((2,), "float32"), ((3,), "float32")],
            r"output 1: the result is float32\[2\], but .* is float32\[3\]",
        ),
        ([((2,), "int32"), ((2,), "float32")], r"output 0: the result is float32\[2\], but .* is int32\[2\]"),
    ],
)
def test_arrays_that_the_outputs_do_not_fit_are_refused(outputs: list[Any], message: str) -> None:
    machine = regvm.VirtualMachine(load(TWO))
    with pytest.raises(ArgumentError, match=message):
        machine.invoke_with_outputs("both", {"a": X, "b": Y}, [tvm.nd.empty(*o) for o in outputs])
    assert values(machine.invoke("sum", X, Y)) == [11, 32]


def test_the_index_of_an_input_is_its_place_or_minus_one(vm: regvm.VirtualMachine) -> None:
    assert [vm.get_input_index(n) for n in ("x", "y", "z")] == [0, 1, -1]
    assert regvm.VirtualMachine(load(TWO)).get_input_index("b", "sum") == 1


def test_benchmark_times_the_function(vm: regvm.VirtualMachine) -> None:
    result = vm.benchmark(tvm.cpu(), X, Y, repeat=3, number=2)
    assert len(result.results) == 3
    assert all(r > 0 for r in result.results)
    result = vm.benchmark(tvm.cpu(), func_name="main", x=X, y=Y, repeat=1)
    assert result.mean > 0


def refused(call: Callable[[], Any], *parts: str) -> None:
    with pytest.raises(ArgumentError) as error:
        call()
    for part in parts:
        assert part in str(error.value)


def test_a_wrong_number_of_arguments_is_refused(vm: regvm.VirtualMachine) -> None:
    takes = "@main takes 2 arguments (x, y)"
    refused(lambda: vm.invoke("main", X), takes, "1 by position and 0 by name")
    refused(lambda: vm.invoke("main", X, Y, Y), takes, "3 by position and 0 by name")
    refused(lambda: vm.invoke("main", X, x=X, y=Y), takes, "1 by position and 2 by name")
    refused(lambda: vm.set_input("main", y=Y), takes, "0 by position and 1 by name")
    refused(lambda: vm.run(X), takes)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (np.zeros((3,), "float32"), "takes float32[2], but the argument is float32[3]"),
        (np.zeros((2, 1), "float32"), "takes float32[2], but the argument is float32[2, 1]"),
        (np.zeros((), "float32"), "takes float32[2], but the argument is float32[]"),
        (np.zeros((2,), "float64"), "takes float32[2], but the argument is float64[2]"),
        (np.zeros((2,), "int32"), "takes float32[2], but the argument is int32[2]"),
        (1.0, "takes float32[2], but the argument is float32[]"),
        ((X, X), "takes a tensor float32[2], not a adt"),
        (None, "takes float32[2], but the argument is"),
        ("text", "str is no array, number or tuple of these"),
        (object(), "object is no array, number or tuple of these"),
    ],
)
def test_an_argument_that_does_not_fit_is_refused_by_name(
    vm: regvm.VirtualMachine, argument: Any, message: str
) -> None:
    for call in (
        lambda: vm.invoke("main", X, argument),
        lambda: vm.set_input("main", X, y=argument),
        lambda: vm.set_one_input("main", "y", argument),
    ):
        refused(call, "@main, parameter y: ", message)
    assert values(vm.invoke("main", X, Y)) == EXPECTED


def test_a_refused_argument_leaves_the_inputs_that_were_set(vm: regvm.VirtualMachine) -> None:
    vm.set_input("main", X, Y)
    refused(lambda: vm.set_input("main", X, X[:1]), "parameter y")
    refused(lambda: vm.set_one_input("main", "x", 7), "parameter x")
    assert values(vm.run()) == EXPECTED


def test_a_function_that_does_not_exist_is_refused(vm: regvm.VirtualMachine) -> None:
    for call in (
        lambda: vm.invoke("mian", X, Y),
        lambda: vm.set_input("mian", X, Y),
        lambda: vm.set_one_input("mian", "x", X),
        lambda: vm.invoke_stateful("mian"),
        lambda: vm.get_input_index("x", "mian"),
        lambda: vm.invoke_with_outputs("mian", {}, []),
    ):
        refused(call, "there is no function @mian; the executable has main")


def test_a_parameter_that_does_not_exist_is_refused(vm: regvm.VirtualMachine) -> None:
    for tag in ("z", 2, -1, None):
        refused(lambda tag=tag: vm.set_one_input("main", tag, X), "@main has no parameter", "it takes x, y")  # type: ignore[misc]


def test_set_one_input_takes_one_input(vm: regvm.VirtualMachine) -> None:
    for call in (
        lambda: vm.set_one_input("main"),
        lambda: vm.set_one_input("main", "x"),
        lambda: vm.set_one_input("main", "x", X, Y),
        lambda: vm.set_one_input("main", x=X, y=Y),
    ):
        refused(call, "set_one_input takes")


def test_running_before_the_inputs_are_set_is_refused_with_their_names(vm: regvm.VirtualMachine) -> None:
    refused(vm.run, "@main: no value is set for x, y; call set_input first")
    vm.set_one_input("main", "x", X)
    refused(vm.run, "no value is set for y")


def test_outputs_before_a_run_are_refused(vm: regvm.VirtualMachine) -> None:
    refused(vm.get_outputs, "there is no result yet; call invoke_stateful first")


@pytest.mark.parametrize("device", [tvm.cuda(), [tvm.cpu(), tvm.cuda()], "cpu", 1])
def test_another_device_is_refused(exe: regvm.Executable, device: Any) -> None:
    refused(lambda: regvm.VirtualMachine(exe, device), "is not supported; the register VM runs on tvm.cpu()")


@pytest.mark.parametrize("device", [None, tvm.cpu(), [tvm.cpu()], (tvm.cpu(), tvm.cpu())])
def test_the_cpu_is_taken_alone_or_in_a_list(exe: regvm.Executable, device: Any) -> None:
    assert values(regvm.VirtualMachine(exe, device).run(X, Y)) == EXPECTED


def test_an_engine_that_does_not_exist_is_refused(exe: regvm.Executable) -> None:
    refused(lambda: regvm.VirtualMachine(exe, engine="steam"), "engine 'steam' does not exist", "interpreter")


FAILING = """#[version = "0.0.5"]
type Option[A] { Some(A), None }
def @main(%depth: int32, %kind: int32) -> int32 {
  if (equal(%kind, 0)) { @down(%depth) } else { @partial(None) }
}
def @down(%n: int32) -> int32 { if (equal(%n, 0)) { 0 } else { add(1, @down(subtract(%n, 1))) } }
def @partial(%o: Option[int32]) -> int32 { match? (%o) { Some(%v) => %v } }
"""


def test_a_machine_is_usable_after_every_error() -> None:
    machine = regvm.VirtualMachine(regvm.compile(relay.fromtext(FAILING)), stack_limit=50)
    for _ in range(3):
        with pytest.raises(StackLimitError, match=r"@down: .*limit of 50 frames"):
            machine.run(60, 0)
        assert int(machine.run(40, 0).numpy()) == 40
        with pytest.raises(MatchError, match=r"@partial, instruction \d+ \(fatal\)"):
            machine.run(1, 1)
        assert int(machine.run(3, 0).numpy()) == 3
        refused(lambda: machine.run(1), "takes 2 arguments")
        assert int(machine.run(7, 0).numpy()) == 7


def test_a_failed_run_leaves_no_result_of_an_earlier_one() -> None:
    machine = regvm.VirtualMachine(regvm.compile(relay.fromtext(FAILING)), stack_limit=50)
    machine.invoke_stateful("main", 2, 0)
    with pytest.raises(MatchError):
        machine.invoke_stateful("main", 1, 1)
    refused(machine.get_outputs, "there is no result yet")


def test_errors_are_one_family() -> None:
    assert issubclass(ArgumentError, RegvmError)
    assert issubclass(ArgumentError, ValueError)
    for error in (MatchError, StackLimitError):
        assert issubclass(error, ExecutionError)
    assert issubclass(ExecutionError, RuntimeError)


def test_peak_bytes_do_not_grow_from_run_to_run(vm: regvm.VirtualMachine) -> None:
    vm.run(X, Y)
    peak = vm.peak_intermediate_bytes
    assert peak >= 8
    for _ in range(5):
        vm.run(X, Y)
    assert vm.peak_intermediate_bytes == peak


def test_machines_over_one_executable_do_not_share_inputs(exe: regvm.Executable) -> None:
    one, two = regvm.VirtualMachine(exe), regvm.VirtualMachine(exe)
    one.set_input("main", X, Y)
    refused(two.run, "no value is set")
    two.set_input("main", Y, X)
    assert values(one.run()) == EXPECTED
    assert values(two.run()) == [8, 26]
