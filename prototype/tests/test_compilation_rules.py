"""The compiler's guarantees, each under the id that the RFC gives it."""

import os
import subprocess
import sys

import numpy as np
import pytest
from tvm import relay

import regvm
from regvm import errors, isa

LOOP = """
def @loop(%i: int32, %n: int32, %acc: Tensor[(1, 2), float32], %x: Tensor[(1, 2), float32])
    -> Tensor[(1, 2), float32] {
  if (less(%i, %n)) { @loop(add(%i, 1), %n, add(%acc, %x), %x) } else { %acc }
}
def @main(%n: int32, %x: Tensor[(1, 2), float32]) -> Tensor[(1, 2), float32] { @loop(0, %n, %x, %x) }
"""
ROTATION = """
def @turn(%n: int32, %a: Tensor[(2), int32], %b: Tensor[(2), int32], %c: Tensor[(2), int32])
    -> (Tensor[(2), int32], Tensor[(2), int32], Tensor[(2), int32]) {
  if (equal(%n, 0)) { (%a, %b, %c) } else { @turn(subtract(%n, 1), %b, %c, add(%a, %c)) }
}
def @main(%n: int32, %a: Tensor[(2), int32], %b: Tensor[(2), int32], %c: Tensor[(2), int32])
    -> (Tensor[(2), int32], Tensor[(2), int32], Tensor[(2), int32]) { @turn(%n, %a, %b, %c) }
"""
NESTED_IF = """
def @main(%c: bool, %d: bool, %x: Tensor[(2), int32], %y: Tensor[(2), int32])
    -> (Tensor[(2), int32], Tensor[(2), int32]) {
  let %i = if (%c) { if (%d) { subtract(%y, %x) } else { negative(%y) } } else { negative(%x) };
  (%i, %y)
}
"""


def compiled(program: str, **options: object) -> regvm.Executable:
    return regvm.compile(relay.parse(f'#[version = "0.0.5"]\n{program}'), check=True, **options)  # type: ignore[arg-type]


def vectors(count: int) -> list[np.ndarray]:
    return [np.array([3 * n + 1, -n], dtype="int32") for n in range(count)]


def fields(result: object) -> list[list[int]]:
    return [f.numpy().tolist() for f in result]  # type: ignore[attr-defined]


def rotated(n: int, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> list[list[int]]:
    for _ in range(n):
        a, b, c = b, c, a + c
    return [v.tolist() for v in (a, b, c)]


@pytest.mark.parametrize("program", [LOOP, ROTATION, NESTED_IF])
def test_comp_registers_are_as_many_as_values_live_at_once(program: str) -> None:
    for function in compiled(program).functions:
        cycle = any(isinstance(i, isa.Move) for i in function.instructions)
        assert function.num_registers in {function.max_live, function.max_live + cycle}


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 7, 20])
def test_comp_moves_of_an_edge_happen_at_once(n: int) -> None:
    a, b, c = vectors(3)
    machine = regvm.VirtualMachine(compiled(ROTATION))
    assert fields(machine.invoke("main", n, a, b, c)) == rotated(n, a, b, c)


@pytest.mark.parametrize(("c", "d"), [(True, True), (True, False), (False, True), (False, False)])
def test_comp_last_use_never_comes_before_a_later_read(c: bool, d: bool) -> None:
    x, y = vectors(2)
    machine = regvm.VirtualMachine(compiled(NESTED_IF))
    expected = (y - x if d else -y) if c else -x
    assert fields(machine.invoke("main", np.array(c), np.array(d), x, y)) == [expected.tolist(), y.tolist()]


def test_comp_limit_changes_no_result_down_to_the_widest_instruction() -> None:
    a, b, c = vectors(3)
    unlimited = compiled(ROTATION)
    widest = max(f.max_live for f in unlimited.functions)
    limits = []
    for limit in range(1, widest + 1):
        try:
            executable = compiled(ROTATION, register_limit=limit)
        except errors.CompileError:
            continue
        limits.append(limit)
        assert max(f.num_registers for f in executable.functions) <= limit
        assert fields(regvm.VirtualMachine(executable).invoke("main", 9, a, b, c)) == rotated(9, a, b, c)
    assert limits[0] < widest


def test_comp_limit_below_the_widest_instruction_is_refused_with_the_number_it_needs() -> None:
    with pytest.raises(
        errors.CompileError, match=r"register limit of 1 is too small; .* needs \d+ registers"
    ):
        compiled(ROTATION, register_limit=1)


def test_comp_escape_leaves_results_alone_when_the_machine_runs_again() -> None:
    a, b, c = vectors(3)
    machine = regvm.VirtualMachine(compiled(ROTATION))
    first = machine.invoke("main", 5, a, b, c)
    machine.invoke("main", 8, c, a, b)
    assert fields(first) == rotated(5, a, b, c)


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_comp_storage_keeps_what_a_loop_still_reads(n: int) -> None:
    x = np.array([[0.5, -2.0]], dtype="float32")
    machine = regvm.VirtualMachine(compiled(LOOP))
    assert machine.invoke("main", n, x).numpy().tolist() == ((n + 1) * x).tolist()


def test_comp_loop_allocates_nothing_in_its_steady_state() -> None:
    x = np.array([[0.5, -2.0]], dtype="float32")
    executable = compiled(LOOP)
    peaks = []
    for n in (10, 1000):
        machine = regvm.VirtualMachine(executable)
        machine.invoke("main", n, x)
        peaks.append(machine.peak_intermediate_bytes)
    assert peaks[0] == peaks[1] > 0


def test_comp_tail_call_takes_its_callers_place() -> None:
    program = """
    def @even(%n: int32) -> bool { if (equal(%n, 0)) { True } else { @odd(subtract(%n, 1)) } }
    def @odd(%n: int32) -> bool { if (equal(%n, 0)) { False } else { @even(subtract(%n, 1)) } }
    def @main(%n: int32) -> bool { @even(%n) }
    """
    machine = regvm.VirtualMachine(compiled(program), stack_limit=1)
    assert [bool(machine.invoke("main", n).numpy()) for n in (1000, 1001)] == [True, False]


@pytest.mark.thorough
def test_comp_deterministic_bytes_in_every_process() -> None:
    code = (
        "import hashlib, regvm\nfrom tvm import relay\n"
        f"exe = regvm.compile(relay.parse('''#[version = \"0.0.5\"]\\n{ROTATION}'''))\n"
        "print(hashlib.sha256(exe.save()[0]).hexdigest())"
    )
    hashes = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()[-1]
        for seed in ("1", "2")
    }
    assert len(hashes) == 1
