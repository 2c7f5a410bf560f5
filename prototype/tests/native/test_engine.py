"""The native engine on whole programs: the same results as the interpreter, bounded memory, the same errors."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import signal
import threading
import time
from collections.abc import Iterator
from importlib import metadata
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import tvm

import regvm
from regvm import isa
from regvm.errors import ArgumentError, ExecutionError, KernelError, MatchError, StackLimitError
from regvm.executable import Function, ObjectType, Parameter, TensorSlot, TensorType

VECTOR = TensorType((3,), "float32")
X = np.array([1, -2, 3], dtype=np.float32)
PARAMETER = Parameter("x", VECTOR)

LIST = "type L { Nil, Cons(Tensor[(), int32], L) }\n"
BUILD = LIST + (
    "def @build(%n: int32, %acc: L) -> L {"
    " if (equal(%n, 0)) { %acc } else { @build(subtract(%n, 1), Cons(%n, %acc)) } }\n"
)
FOLD = BUILD + (
    "def @sum(%l: L) -> int32 { match (%l) { Nil => 0, Cons(%h, %t) => add(%h, @sum(%t)) } }\n"
    "def @main(%n: int32) -> int32 { @sum(@build(%n, Nil)) }\n"
)
LOOP = (
    "def @loop(%i: int32, %n: int32, %acc: Tensor[(1, 1), float32], %x: Tensor[(1, 1), float32])"
    " -> Tensor[(1, 1), float32] {"
    " if (less(%i, %n)) { @loop(add(%i, 1), %n, add(%acc, %x), %x) } else { %acc } }\n"
    "def @main(%n: int32, %x: Tensor[(1, 1), float32]) -> Tensor[(1, 1), float32]"
    " { @loop(0, %n, %x, %x) }\n"
)
EVEN = (
    "def @even(%n: int32) -> bool { if (equal(%n, 0)) { True } else { @odd(subtract(%n, 1)) } }\n"
    "def @odd(%n: int32) -> bool { if (equal(%n, 0)) { False } else { @even(subtract(%n, 1)) } }\n"
    "def @main(%n: int32) -> bool { @even(%n) }\n"
)
CLOSURES = LIST + (
    "def @map(%f: fn(int32) -> int32, %l: L) -> L {"
    " match (%l) { Nil => Nil, Cons(%h, %t) => Cons(%f(%h), @map(%f, %t)) } }\n"
    "def @main(%a: int32, %b: int32) -> L {"
    " let %add_a = fn (%x: int32) -> int32 { add(%x, %a) };"
    " let %twice = fn (%f: fn(int32) -> int32) -> fn(int32) -> int32 {"
    " fn (%x: int32) -> int32 { %f(%f(%x)) } };"
    " let %g = %twice(%add_a);"
    " @map(%g, Cons(%a, Cons(%b, Nil))) }\n"
)
REFERENCES = (
    "def @main(%x: int32) -> (int32, int32) {"
    " let %r = ref(%x);"
    " let %first = ref_read(%r);"
    " ref_write(%r, add(%x, 1));"
    " (%first, ref_read(%r)) }\n"
)
GROWING = (
    "def @grow(%i: int32, %x: Tensor[(?, 2), float32]) -> Tensor[(?, 2), float32] {"
    " if (less(%i, 6)) { let %y = (%x, %x); @grow(add(%i, 1), concatenate(%y)) } else { %x } }\n"
    "def @main(%x: Tensor[(?, 2), float32]) -> Tensor[(?, 2), float32] { @grow(0, %x) }\n"
)


def main(*instructions: isa.Instruction, **more: Any) -> Function:
    """A function of one vector."""
    named = {r for i in instructions for r in (*isa.defs(i), *(u.register for u in isa.uses(i)))}
    options: dict[str, Any] = {"parameters": (PARAMETER,), "tensors": (TensorSlot(VECTOR),), **more}
    return Function(name="main", num_registers=max(named) + 1, instructions=instructions, **options)


def live_objects(machine: Any) -> int:
    """What is left on a machine's heap."""
    return int(machine._engine.live_objects)


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000])
def test_a_loop_gives_what_the_interpreter_gives(n: int, compiled: Any, agree: Any) -> None:
    agree(compiled(LOOP), n, np.full((1, 1), 0.1, dtype=np.float32))


def test_a_list_is_folded(compiled: Any, agree: Any) -> None:
    agree(compiled(FOLD), 500)


@pytest.mark.parametrize("n", [0, 7, 10])
def test_functions_that_call_each_other_in_tail_position(n: int, compiled: Any, agree: Any) -> None:
    agree(compiled(EVEN), n)


def test_closures_are_made_passed_and_called(compiled: Any, agree: Any) -> None:
    agree(compiled(CLOSURES), 3, 5)


def test_references_are_written_and_read(compiled: Any, agree: Any) -> None:
    agree(compiled(REFERENCES), 3)


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_shapes_that_only_the_run_knows(rows: int, compiled: Any, agree: Any) -> None:
    agree(compiled(GROWING), np.arange(rows * 2, dtype=np.float32).reshape(rows, 2))


def test_a_deep_recursion_needs_no_stack(compiled: Any) -> None:
    machine = regvm.VirtualMachine(compiled(FOLD), engine="native")
    assert int(machine.invoke("main", 100_000).numpy()) == 100_000 * 100_001 // 2 - 2**32
    assert live_objects(machine) == 0


def test_a_tail_call_needs_no_frame(compiled: Any) -> None:
    machine = regvm.VirtualMachine(compiled(EVEN), engine="native", stack_limit=0)
    assert bool(machine.invoke("main", 100_000).numpy())


def test_a_list_goes_in_and_comes_out(compiled: Any, agree: Any) -> None:
    exe = compiled(LIST + "def @main(%l: L) -> (L, L) { (%l, %l) }\n")
    nil = tvm.runtime.container.ADT(_tag(exe, "Nil"), [])
    items = nil
    for number in range(50):
        items = tvm.runtime.container.ADT(_tag(exe, "Cons"), [tvm.nd.array(np.int32(number)), items])
    agree(exe, items)


def _tag(exe: regvm.Executable, name: str) -> int:
    del exe
    module = tvm.relay.fromtext('#[version = "0.0.5"]\n' + LIST)
    return int(module.get_type("L")[1 if name == "Nil" else 2].tag)


def test_an_argument_that_is_returned_is_the_same_array(compiled: Any) -> None:
    machine = regvm.VirtualMachine(
        compiled("def @main(%x: Tensor[(3), float32]) -> Tensor[(3), float32] { %x }\n"), engine="native"
    )
    array = tvm.nd.array(X)
    assert machine.invoke("main", array).same_as(array)


def test_a_constant_that_is_returned_is_a_copy(assemble: Any) -> None:
    exe = assemble(main(isa.LoadConst(1, 0), isa.Ret(isa.Use(1))))
    machine = regvm.VirtualMachine(exe, engine="native")
    machine.invoke("main", X).copyfrom(np.zeros(3, dtype=np.float32))
    assert machine.invoke("main", X).numpy().tolist() == [1, 2, 3]


def test_results_outlive_the_machine(compiled: Any) -> None:
    machine = regvm.VirtualMachine(compiled(CLOSURES), engine="native")
    result = machine.invoke("main", 3, 5)
    del machine
    gc.collect()
    assert [int(result[0].numpy()), int(result[1][0].numpy())] == [9, 11]


def test_a_reference_keeps_its_identity_over_runs(assemble: Any) -> None:
    make = main(isa.MakeRef(1, isa.Use(0, True)), isa.Ret(isa.Use(1, True)))
    cell = Parameter("r", ObjectType("reference"))
    write = Function(
        "write",
        (cell, PARAMETER),
        3,
        (
            isa.ReadRef(2, isa.Use(0)),
            isa.Invoke(0, (isa.Use(2, True), isa.Use(1)), (isa.Out(2, 0),)),
            isa.WriteRef(isa.Use(0), isa.Use(2, True)),
            isa.Ret(isa.Use(0)),
        ),
        (TensorSlot(VECTOR),),
    )
    machine = regvm.VirtualMachine(assemble(make, write), engine="native")
    ref = machine.invoke("main", X)
    again = machine.invoke("write", ref, X)
    assert again is ref
    machine.invoke("write", ref, X)
    assert ref.value.type == VECTOR
    read = regvm.runtime.kernels.arguments.to_user(ref.value)
    assert read.numpy().tolist() == (3 * X).tolist()


def test_references_that_hold_each_other_are_freed(assemble: Any) -> None:
    """A cell holds a tuple that holds the cell; nothing else does."""
    knot = main(
        isa.MakeRef(1, isa.Use(0)),
        isa.MakeAdt(2, 0, (isa.Use(1), isa.Use(0, True))),
        isa.WriteRef(isa.Use(1), isa.Use(2, True)),
        isa.Drop((isa.Use(1, True),)),
        isa.LoadConst(1, 0),
        isa.Ret(isa.Use(1)),
    )
    machine = regvm.VirtualMachine(assemble(knot), engine="native")
    machine.invoke("main", X)
    assert live_objects(machine) == 0


def test_a_reference_to_itself_comes_out(assemble: Any, agree: Any) -> None:
    knot = main(isa.MakeRef(1, isa.Use(0)), isa.WriteRef(isa.Use(1), isa.Use(1)), isa.Ret(isa.Use(1, True)))
    assert agree(assemble(knot), X) == ("ref", ("again", 0))


def test_a_kernel_that_fails_is_named_and_leaves_the_machine_usable(assemble: Any, agree: Any) -> None:
    wrong = TensorSlot(TensorType((1, 3), "float32"))
    failing = main(
        isa.Invoke(1, (isa.Use(0),), (isa.Out(1, 0),)),
        isa.Invoke(2, (isa.Use(0),), (isa.Out(2, 2),)),
        isa.Branch(isa.Use(2, True), 3, 5),
        isa.Reshape(1, isa.Use(1, True), 1),
        isa.Invoke(0, (isa.Use(0), isa.Use(1)), (isa.Out(2, 0),)),
        isa.Ret(isa.Use(1, True)),
        tensors=(TensorSlot(VECTOR), wrong, TensorSlot(TensorType((), "bool"))),
    )
    exe = assemble(failing)
    kind, message = agree(exe, X)
    assert kind == KernelError.__name__
    assert message.startswith("@main, instruction 4 (")
    machine = regvm.VirtualMachine(exe, engine="native")
    with pytest.raises(KernelError):
        machine.invoke("main", X)
    assert machine.invoke("main", -X).numpy().tolist() == X.tolist()


@pytest.mark.parametrize("shape", [(2,), (3, 2), (-3,), (-1, -3), (2**32, 2**32, 3)])
def test_a_reshape_to_other_elements_is_refused(shape: tuple[int, ...], assemble: Any) -> None:
    dims = Parameter("dims", TensorType((len(shape),), "int64"))
    exe = assemble(
        main(
            isa.ReshapeTo(0, isa.Use(0, True), isa.Use(1, True)),
            isa.Ret(isa.Use(0, True)),
            parameters=(PARAMETER, dims),
            tensors=(),
        )
    )
    machine = regvm.VirtualMachine(exe, engine="native")
    with pytest.raises(ExecutionError, match=r"@main, instruction 0 .*cannot be reshaped"):
        machine.invoke("main", X, np.array(shape))
    assert live_objects(machine) == 0


def test_a_match_that_nothing_fits(assemble: Any, agree: Any) -> None:
    failing = main(
        isa.MakeAdt(1, 5, (isa.Use(0),)), isa.BranchTag(isa.Use(1), 4, 2, 3), isa.Ret(isa.Use(1)), isa.Fatal()
    )
    assert agree(assemble(failing), X)[0] == MatchError.__name__


@pytest.mark.parametrize("limit", [0, 1, 10, 501])
def test_the_stack_limit_is_the_interpreters(limit: int, compiled: Any, agree: Any) -> None:
    found = agree(compiled(FOLD), 500, stack_limit=limit)
    assert (found[0] == StackLimitError.__name__) == (limit < 501)


@pytest.mark.parametrize("size", [20, 21, 22, 40])
def test_an_allocation_that_cannot_be_met(size: int, assemble: Any) -> None:
    """More than there is, and so much that 64 bits don't hold it."""
    huge = main(
        isa.LoadConst(1, 0), isa.Reshape(1, isa.Use(1), 1), isa.AllocTensor(1, isa.Use(1), "float32"),
        isa.Ret(isa.Use(1)), tensors=(TensorSlot(VECTOR), TensorSlot(VECTOR)),
    )  # fmt: skip
    machine = regvm.VirtualMachine(assemble(huge), engine="native")
    with pytest.raises(ExecutionError, match=r"@main, instruction 2 .*the shape is no vector"):
        machine.invoke("main", X)
    shape = Parameter("shape", TensorType((3,), "int64"))
    made = main(isa.AllocTensor(0, isa.Use(0), "float32"), isa.Ret(isa.Use(0)), parameters=(shape,))
    machine = regvm.VirtualMachine(assemble(made), engine="native")
    with pytest.raises(ExecutionError, match=r"@main, instruction 0 .*memory"):
        machine.invoke("main", np.full(3, 2**size, dtype=np.int64))
    assert live_objects(machine) == 0
    assert machine.invoke("main", np.array([1, 2, 3])).shape == (1, 2, 3)


@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        (isa.Copy(2, isa.Use(1)), "no tensor"),
        (isa.GetField(2, isa.Use(1), 0), "neither tuple nor"),
        (isa.BranchTag(isa.Use(1), 0, 3, 3), "neither tuple nor"),
        (isa.CallClosure(2, isa.Use(1), ()), "no function"),
        (isa.ReadRef(2, isa.Use(1)), "no reference"),
    ],
)
@pytest.mark.parametrize("kind", ["tensor", "adt", "closure", "ref"])
def test_a_value_of_the_wrong_kind_is_refused(
    instruction: isa.Instruction, message: str, kind: str, assemble: Any
) -> None:
    """The verifier can't know what a field holds; machine code looks."""
    make = {
        "tensor": isa.Copy(1, isa.Use(0)),
        "adt": isa.MakeAdt(1, 0, (isa.Use(0),)),
        "closure": isa.MakeClosure(1, 0, (isa.Use(0),)),
        "ref": isa.MakeRef(1, isa.Use(0)),
    }[kind]
    hide = [isa.MakeAdt(1, 0, (isa.Use(1),)), isa.GetField(1, isa.Use(1), 0)]
    exe = assemble(
        main(isa.TailCall(1, (isa.Use(0),)), tensors=()),
        Function("f", (PARAMETER,), 3, (make, *hide, _moved(instruction), isa.Ret(isa.Use(0)))),
    )
    machine = regvm.VirtualMachine(exe, engine="native")
    fits = {"tensor": "no tensor", "adt": "neither", "closure": "no function", "ref": "no reference"}
    if fits[kind] in message:
        # A closure that calls @main again goes on without end.
        if kind != "closure":
            machine.invoke("main", X)
    else:
        with pytest.raises(ExecutionError, match=rf"@f, instruction 3 .*{message}"):
            machine.invoke("main", X)
    assert live_objects(machine) == 0


def _moved(instruction: isa.Instruction) -> isa.Instruction:
    return isa.rewrite(instruction, target=lambda _: 4)


def test_a_parameter_of_the_wrong_kind_is_refused(assemble: Any) -> None:
    exe = assemble(
        main(isa.MakeAdt(1, 0, ()), isa.TailCall(1, (isa.Use(1),)), tensors=()),
        Function("f", (PARAMETER,), 1, (isa.Ret(isa.Use(0)),)),
    )
    machine = regvm.VirtualMachine(exe, engine="native")
    with pytest.raises(ExecutionError, match=r"@f, instruction 0 .*no tensor"):
        machine.invoke("main", X)
    assert live_objects(machine) == 0


def test_a_closure_of_the_wrong_arity_is_refused(assemble: Any) -> None:
    exe = assemble(
        main(isa.MakeClosure(1, 0, ()), isa.TailCallClosure(isa.Use(1), ()), tensors=()),
    )
    with pytest.raises(ExecutionError, match="another number of arguments"):
        regvm.VirtualMachine(exe, engine="native").invoke("main", X)


def test_a_field_that_is_not_there_is_refused(assemble: Any) -> None:
    exe = assemble(main(isa.MakeAdt(1, 0, ()), isa.GetField(1, isa.Use(1), 0), isa.Ret(isa.Use(1))))
    with pytest.raises(ExecutionError, match="no such field"):
        regvm.VirtualMachine(exe, engine="native").invoke("main", X)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C raises, whatever this process was started with: a shell's background job starts with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_a_signal_stops_a_long_loop_and_leaves_the_machine_usable(compiled: Any) -> None:
    machine = regvm.VirtualMachine(compiled(LOOP), engine="native")
    one = np.ones((1, 1), dtype=np.float32)
    machine.invoke("main", 1, one)
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(0.2, interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        machine.invoke("main", 2**31 - 1, one)
    assert time.perf_counter() - sent[0] < 1
    assert live_objects(machine) == 0
    assert float(machine.invoke("main", 10, one).numpy()[0, 0]) == 11


@pytest.mark.usefixtures("interruptible")
def test_a_signal_stops_a_recursion_without_loops(compiled: Any) -> None:
    machine = regvm.VirtualMachine(compiled(EVEN), engine="native")
    sent = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    sent.start()
    with pytest.raises(KeyboardInterrupt):
        machine.invoke("main", -1)
    assert live_objects(machine) == 0


def test_a_run_that_is_paused_goes_on_where_it_was(compiled: Any) -> None:
    """Over a second of rounds: many pauses."""
    machine = regvm.VirtualMachine(compiled(LOOP), engine="native")
    paused = 0
    engine: Any = machine._engine
    resume = engine._entry.resume

    def count(context: int) -> int:
        nonlocal paused
        paused += 1
        return int(resume(context))

    engine._entry = _Counting(engine._entry, count)
    assert float(machine.invoke("main", 5_000_000, np.ones((1, 1), np.float32)).numpy()[0, 0]) == 5_000_001
    assert paused > 0


class _Counting:
    """The entry points of an engine, with another ``resume``."""

    def __init__(self, entry: Any, resume: Any) -> None:
        self._entry = entry
        self.resume = resume

    def __getattr__(self, name: str) -> Any:
        return getattr(self._entry, name)


@pytest.mark.thorough
def test_memory_stays_flat_over_many_runs(compiled: Any) -> None:
    programs = [
        (FOLD, (20,)),
        (CLOSURES, (3, 5)),
        (REFERENCES, (3,)),
        (GROWING, (np.ones((2, 2), "float32"),)),
    ]
    for text, args in programs:
        machine = regvm.VirtualMachine(compiled(text), engine="native")
        for _ in range(500):
            machine.invoke("main", *args)
        before = _resident()
        for _ in range(2_500):
            machine.invoke("main", *args)
        assert live_objects(machine) == 0
        assert _resident() - before < 2**20


def _resident() -> int:
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_a_result_that_nobody_takes_is_used_again(compiled: Any) -> None:
    machine = regvm.VirtualMachine(compiled(LOOP), engine="native")
    one = np.ones((1, 1), dtype=np.float32)
    for _ in range(3):
        machine.invoke_stateful("main", 5, one)
        assert live_objects(machine) == 1
    assert float(machine.get_outputs()[0].numpy()[0, 0]) == 6
    assert live_objects(machine) == 0


def test_a_result_that_was_taken_is_not_written_over(compiled: Any) -> None:
    machine = regvm.VirtualMachine(compiled(LOOP), engine="native")
    one = np.ones((1, 1), dtype=np.float32)
    machine.invoke_stateful("main", 5, one)
    (first,), (again,) = machine.get_outputs(), machine.get_outputs()
    assert first.same_as(again)
    machine.invoke("main", 8, one)
    assert float(first.numpy()[0, 0]) == 6


def test_a_machine_gives_its_memory_back(compiled: Any) -> None:
    exe = compiled(FOLD)
    before = 0
    for number in range(6):
        machine = regvm.VirtualMachine(exe, engine="native")
        machine.invoke("main", 20_000)
        del machine
        if number == 1:
            before = _resident()
    assert _resident() - before < 4 * 2**20


def test_a_large_run_does_not_keep_its_memory(compiled: Any) -> None:
    machine = regvm.VirtualMachine(compiled(FOLD), engine="native")
    machine.invoke("main", 100)
    before = _resident()
    machine.invoke("main", 300_000)
    # What malloc keeps is free for everyone in the process.
    ctypes.CDLL(None).malloc_trim(0)
    assert _resident() - before < 32 * 2**20
    assert int(machine.invoke("main", 100).numpy()) == 5050


def test_two_threads_with_a_machine_each(compiled: Any) -> None:
    exe = compiled(LOOP)
    found: dict[int, float] = {}

    def work(seed: int) -> None:
        machine = regvm.VirtualMachine(exe, engine="native")
        x = np.full((1, 1), seed, dtype=np.float32)
        for _ in range(20):
            found[seed] = float(machine.invoke("main", 20_000, x).numpy()[0, 0])

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {1: 20_001, 2: 40_002}


def test_auto_takes_the_native_engine(compiled: Any) -> None:
    machine = regvm.VirtualMachine(compiled(EVEN))
    assert type(machine._engine).__name__ == "NativeEngine"


@pytest.mark.parametrize("version", ["0.45.1", "0.9", None])
def test_without_llvmlite_auto_takes_the_interpreter(
    version: str | None, compiled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(name: str) -> str:
        if version is None:
            raise metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(metadata, "version", found)
    exe = compiled(EVEN)
    assert type(regvm.VirtualMachine(exe)._engine).__name__ == "Interpreter"
    with pytest.raises(ArgumentError, match="install llvmlite"):
        regvm.VirtualMachine(exe, engine="native")


def test_an_engine_that_does_not_exist_is_named(compiled: Any) -> None:
    with pytest.raises(ArgumentError, match="auto, interpreter, native"):
        regvm.VirtualMachine(compiled(EVEN), engine="jit")


def test_the_peak_of_intermediate_memory_is_the_interpreters(compiled: Any) -> None:
    for text, args in [(FOLD, (100,)), (LOOP, (10, np.ones((1, 1), "float32"))), (EVEN, (5,))]:
        peaks = set()
        for engine in ("interpreter", "native"):
            machine = regvm.VirtualMachine(compiled(text), engine=engine)
            machine.invoke("main", *args)
            peaks.add(machine.peak_intermediate_bytes)
        assert len(peaks) == 1


def test_the_same_program_gives_the_same_assembly(compiled: Any) -> None:
    from regvm.native.lowering import lower
    from regvm.runtime.kernels.native import dtype_word

    first, second = (lower(compiled(FOLD).program, dtype_word) for _ in range(2))
    assert first == second


CARRIED = (
    "def @loop(%i: int32, %a: Tensor[(?), float32], %x: Tensor[(3), float32]) -> Tensor[(?), float32] {"
    " if (greater(%i, 0)) { @loop(subtract(%i, 1), concatenate((nn.relu(%a), %x), axis=0), %x) } else { %a } }\n"
    "def @main(%n: int32, %a: Tensor[(?), float32], %x: Tensor[(3), float32]) -> Tensor[(?), float32]"
    " { @loop(%n, %a, %x) }\n"
)


def test_regions_leave_no_objects_between_runs_and_go_with_the_machine(compiled: Any) -> None:
    executable = compiled(CARRIED)
    large = np.zeros(1_000_000, dtype=np.float32)
    before = 0
    for number in range(12):
        machine = regvm.VirtualMachine(executable, engine="native")
        for n in (3, 0, 5):
            assert machine.invoke("main", np.array(n, dtype=np.int32), large, X).shape == (1_000_000 + 3 * n,)
            assert live_objects(machine) == 0
        del machine
        if number == 3:
            before = _resident()
    # Each machine's regions take some 16 MB.
    assert _resident() - before < 16_000_000


def test_a_shape_of_another_rank_is_an_error_and_the_machine_goes_on(assemble: Any) -> None:
    unknown = TensorSlot(TensorType((None, None), "float32"))
    shape = Parameter("shape", TensorType((None,), "int64"))
    made = main(
        isa.SetShape(0, isa.Use(0)),
        isa.Invoke(3, (isa.Use(1),), (isa.Out(0, 0),)),
        isa.Ret(isa.Use(0)),
        parameters=(shape, Parameter("s", TensorType((), "float32"))),
        tensors=(unknown,),
    )
    machine = regvm.VirtualMachine(assemble(made), engine="native")
    scalar = np.float32(1)
    with pytest.raises(ExecutionError, match=r"@main, instruction 0 .*another number of dimensions"):
        machine.invoke("main", np.array([3]), scalar)
    with pytest.raises(ExecutionError, match=r"@main, instruction 0 .*memory"):
        machine.invoke("main", np.array([2**40, 2**40]), scalar)
    assert live_objects(machine) == 0
