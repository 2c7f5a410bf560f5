"""A call in tail position takes no frame, whatever stands around it; other recursion is bounded and says so."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm

import regvm
from regvm.errors import StackLimitError

Compiled = Callable[..., regvm.Executable]

TAIL_CALLS = {
    "itself": """
        def @loop(%i: int32, %acc: int32) -> int32 { if (%i < 1) { %acc } else { @loop(%i - 1, %acc + %i) } }
        def @main(%n: int32) -> int32 { @loop(%n, 0) }
    """,
    "each other": """
        def @ping(%i: int32, %acc: int32) -> int32 { if (%i < 1) { %acc } else { @pong(%i - 1, %acc + %i) } }
        def @pong(%i: int32, %acc: int32) -> int32 { if (%i < 1) { %acc } else { @ping(%i - 1, %acc + %i) } }
        def @main(%n: int32) -> int32 { @ping(%n, 0) }
    """,
    "let-bound": """
        def @main(%n: int32) -> int32 {
          let %one = 1;
          let %loop = fn (%i: int32, %acc: int32) -> int32 {
            if (%i < %one) { %acc } else { %loop(%i - %one, %acc + %i) }
          };
          %loop(%n, 0)
        }
    """,
    "through a closure": """
        def @step(%f: fn (int32, int32) -> int32, %i: int32, %acc: int32) -> int32 { %f(%i, %acc) }
        def @main(%n: int32) -> int32 {
          let %loop = fn (%i: int32, %acc: int32) -> int32 {
            if (%i < 1) { %acc } else { @step(%loop, %i - 1, %acc + %i) }
          };
          %loop(%n, 0)
        }
    """,
    "through a closure that is made each time": """
        def @step(%f: fn () -> int32) -> int32 { %f() }
        def @loop(%i: int32, %acc: int32) -> int32 {
          if (%i < 1) { %acc } else { @step(fn () -> int32 { @loop(%i - 1, %acc + %i) }) }
        }
        def @main(%n: int32) -> int32 { @loop(%n, 0) }
    """,
    "in the arm of a match": """
        type Step { More(int32, int32), Done(int32) }
        def @next(%i: int32, %acc: int32) -> Step { if (%i < 1) { Done(%acc) } else { More(%i - 1, %acc + %i) } }
        def @loop(%s: Step) -> int32 { match (%s) { More(%i, %acc) => @loop(@next(%i, %acc)), Done(%v) => %v } }
        def @main(%n: int32) -> int32 { @loop(@next(%n, 0)) }
    """,
    "in a nested branch under a let": """
        def @loop(%i: int32, %acc: int32) -> int32 {
          let %done = %i < 1;
          if (%done) { %acc } else {
            let %sum = %acc + %i;
            if (%sum < 0) { 0 - 1 } else { let %r = @loop(%i - 1, %sum); %r }
          }
        }
        def @main(%n: int32) -> int32 { @loop(%n, 0) }
    """,
}


@pytest.mark.parametrize("name", TAIL_CALLS)
def test_tail_calls_need_no_frames(name: str, compiled: Compiled) -> None:
    machine = regvm.VirtualMachine(compiled(TAIL_CALLS[name]), tvm.cpu(), stack_limit=2)
    assert machine.invoke("main", np.int32(2000)).numpy() == 2000 * 2001 // 2


@pytest.mark.parametrize("name", TAIL_CALLS)
def test_tail_calls_need_no_memory(name: str, compiled: Compiled) -> None:
    executable = compiled(TAIL_CALLS[name])
    peaks = set()
    for rounds in (50, 1000):
        machine = regvm.VirtualMachine(executable, tvm.cpu())
        machine.invoke("main", np.int32(rounds))
        peaks.add(machine.peak_intermediate_bytes)
    assert len(peaks) == 1


DEEP = """
type L { Cons(int32, L), Nil }
def @build(%i: int32, %l: L) -> L { if (%i < 1) { %l } else { @build(%i - 1, Cons(1, %l)) } }
def @sum(%l: L) -> int32 { match (%l) { Cons(%h, %t) => %h + @sum(%t), Nil => 0 } }
def @main(%n: int32) -> int32 { @sum(@build(%n, Nil)) }
"""


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_a_fold_over_a_hundred_thousand_elements(engine: str, compiled: Compiled) -> None:
    machine = regvm.VirtualMachine(compiled(DEEP), tvm.cpu(), engine=engine)
    assert machine.invoke("main", np.int32(100_000)).numpy() == 100_000


def test_a_list_of_a_hundred_thousand_elements_is_freed(compiled: Compiled) -> None:
    program = DEEP.replace("%n: int32) -> int32 { @sum(@build(%n, Nil))", "%n: int32) -> L { @build(%n, Nil)")
    machine = regvm.VirtualMachine(compiled(program), tvm.cpu())
    machine.invoke_stateful("main", np.int32(100_000))
    machine.invoke_stateful("main", np.int32(1))
    assert len(machine.get_outputs()) == 2


def test_deeper_than_the_limit_is_an_error_and_the_machine_stays_usable(compiled: Compiled) -> None:
    machine = regvm.VirtualMachine(compiled(DEEP), tvm.cpu(), stack_limit=100)
    with pytest.raises(StackLimitError, match=r"@sum.*stack limit of 100"):
        machine.invoke("main", np.int32(200))
    assert machine.invoke("main", np.int32(50)).numpy() == 50


def test_a_call_that_is_not_in_tail_position_needs_a_frame(compiled: Compiled) -> None:
    program = "def @f(%x: int32) -> int32 { %x + 1 } def @main(%x: int32) -> int32 { @f(%x) * 2 }"
    machine: Any = regvm.VirtualMachine(compiled(program), tvm.cpu(), stack_limit=0)
    with pytest.raises(StackLimitError):
        machine.invoke("main", np.int32(1))
