"""What a program is made of, and how it runs: each rule under the id that the RFC gives it."""

import dataclasses
import gc
from collections import Counter
from typing import Any

import numpy as np
import pytest
from tvm import relay

import regvm
from regvm import binary, isa
from regvm.errors import KernelError, StackLimitError
from regvm.executable import Program
from regvm.text.assembler import assemble
from regvm.text.listing import show_program

# A call that is not in tail position, an if, a tensor of the arena and one that owns its storage.
PROGRAM = """#[version = "0.0.5"]
def @down(%n: int32, %x: Tensor[(2), float32]) -> Tensor[(2), float32] {
  if (less(%n, 1)) { %x } else {
    let %y = @down(subtract(%n, 1), add(%x, %x));
    subtract(%y, multiply(%x, 2f))
  }
}
def @main(%n: int32, %x: Tensor[(2), float32]) -> Tensor[(2), float32] { add(@down(%n, %x), %x) }
"""
X = np.array([1, 3], "float32")


@pytest.fixture(scope="module")
def executable() -> regvm.Executable:
    return regvm.compile(relay.parse(PROGRAM), check=True)


@pytest.fixture(scope="module")
def program(executable: regvm.Executable) -> Program:
    return executable.program


def down(n: int, x: Any) -> Any:
    return x if n < 1 else down(n - 1, x + x) - x * 2


def invoke(machine: regvm.VirtualMachine, n: int, x: Any = X) -> Any:
    return machine.invoke("main", np.array(n, "int32"), x).numpy()


def test_struct_row_of_the_table_makes_each_instruction() -> None:
    assert max(Counter(row.opcode for row in isa.ROWS).values()) == 1
    assert max(Counter(row.mnemonic for row in isa.ROWS).values()) == 1
    assert {row.cls for row in isa.ROWS} == set(isa.Instruction.__subclasses__())
    for row in isa.ROWS:
        assert [name for name, _ in row.fields] == [f.name for f in dataclasses.fields(row.cls)]


def test_struct_parameters_arrive_in_the_first_registers(executable: regvm.Executable) -> None:
    assert "@main(R0 n: int32[], R1 x: float32[2])" in executable.bytecode
    changed = executable.program.with_function(0, instructions=(isa.Ret(isa.Use(1, True)),))
    machine = regvm.VirtualMachine(regvm.Executable(changed, executable.lib), engine="interpreter")
    assert invoke(machine, 0).tolist() == X.tolist()


def test_struct_frame_has_registers_and_an_arena_of_its_own(executable: regvm.Executable) -> None:
    (recursive,) = (f for f in executable.functions if f.name == "down")
    assert recursive.storage_bytes > 0
    machine = regvm.VirtualMachine(executable)
    for n in (0, 1, 5, 30):
        assert invoke(machine, n).tolist() == (down(n, X) + X).tolist()


def test_struct_place_of_a_tensor_is_in_the_arena_or_its_own(program: Program) -> None:
    slots = [(function, slot) for function in program.functions for slot in function.tensors]
    assert {len(slot.offsets) > 0 for _, slot in slots} == {True, False}
    for function, slot in slots:
        for offset in slot.offsets:
            assert offset % 64 == 0
            assert offset + slot.type.num_bytes <= function.storage_bytes


def test_struct_text_reads_back_as_the_program(program: Program) -> None:
    assert assemble(show_program(program, inline_bytes=None)) == program


def test_struct_bytes_carry_the_program(program: Program) -> None:
    assert binary.decode(binary.encode(program)) == program


def test_struct_immutable_program_is_shared_by_machines(executable: regvm.Executable) -> None:
    before = binary.encode(executable.program)
    first, second = regvm.VirtualMachine(executable), regvm.VirtualMachine(executable)
    results = [invoke(machine, n).tolist() for n in (3, 4) for machine in (first, second)]
    assert results[0] == results[1] != results[2] == results[3]
    assert binary.encode(executable.program) == before


def test_exec_operands_are_read_before_any_register_is_emptied_or_written() -> None:
    listing = """
function f0 @main(R0 n: int32[], R1 x: float32[2])
  frame 2 registers, 0 slots, 0 bytes, 2 live
  R1 = make_adt #0, (R1, R0!, R1!)
  ret R1!
"""
    machine = regvm.VirtualMachine(regvm.Executable(assemble(listing), None))
    fields = machine.invoke("main", np.array(7, "int32"), X)
    assert [f.numpy().tolist() for f in fields] == [X.tolist(), 7, X.tolist()]


def test_exec_storage_is_freed_with_its_last_reference(executable: regvm.Executable) -> None:
    machine = regvm.VirtualMachine(executable, engine="interpreter")
    owned = machine._engine.owned  # type: ignore[attr-defined]
    invoke(machine, 30)
    gc.collect()
    # Each of 30 frames held one; the machine keeps its last result.
    assert owned.peak_bytes > 30 * X.nbytes
    assert owned.live_bytes == X.nbytes


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_exec_error_names_its_place_and_leaves_the_machine_usable(
    executable: regvm.Executable, engine: str
) -> None:
    if engine == "native":
        pytest.importorskip("llvmlite", reason="llvmlite (extra 'native') is not installed")
    machine = regvm.VirtualMachine(executable, engine=engine, strict=False)
    with pytest.raises(KernelError, match=r"^@\w+, instruction \d+ "):
        invoke(machine, 3, np.ones(3, "float32"))
    assert invoke(machine, 3).tolist() == (down(3, X) + X).tolist()


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_exec_depth_is_bounded_by_the_stack_limit_alone(executable: regvm.Executable, engine: str) -> None:
    if engine == "native":
        pytest.importorskip("llvmlite", reason="llvmlite (extra 'native') is not installed")
    machine = regvm.VirtualMachine(executable, engine=engine, stack_limit=5_000)
    assert invoke(machine, 4_000, np.zeros(2, "float32")).tolist() == [0, 0]
    with pytest.raises(StackLimitError, match=r"@down: .*raise the limit"):
        invoke(machine, 6_000, np.zeros(2, "float32"))
