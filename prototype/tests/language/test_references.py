"""References: made, read, written, aliased, captured, stored; the order of reads and writes is the program's.

The reference VM has none of this; Relay's interpreter decides.
"""

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm

import regvm
from regvm.runtime.values import Closure, Ref

Evaluate = Callable[..., Any]
Compiled = Callable[..., regvm.Executable]

PROGRAMS = {
    "a write is seen by a later read": (
        """
        def @main(%x: int32) -> (int32, int32) {
          let %r = ref(%x);
          let %before = ref_read(%r);
          let %_ = ref_write(%r, %before + 1);
          (%before, ref_read(%r))
        }
        """,
        [5],
        (5, 6),
    ),
    "two names for one cell": (
        """
        def @main(%x: int32) -> int32 {
          let %a = ref(%x);
          let %b = %a;
          let %_ = ref_write(%b, 10);
          ref_read(%a)
        }
        """,
        [5],
        10,
    ),
    "two cells with one initial value": (
        """
        def @main(%x: int32) -> (int32, int32) {
          let %a = ref(%x);
          let %b = ref(%x);
          let %_ = ref_write(%b, 10);
          (ref_read(%a), ref_read(%b))
        }
        """,
        [5],
        (5, 10),
    ),
    "a closure counts": (
        """
        def @main(%x: int32) -> (int32, int32, int32) {
          let %r = ref(%x);
          let %next = fn () -> int32 { let %v = ref_read(%r); let %_ = ref_write(%r, %v * 2); %v };
          let %a = %next();
          let %b = %next();
          (%a, %b, ref_read(%r))
        }
        """,
        [3],
        (3, 6, 12),
    ),
    "a write in one branch": (
        """
        def @main(%x: int32) -> int32 {
          let %r = ref(%x);
          let %_ = if (%x < 3) { ref_write(%r, 100) } else { () };
          ref_read(%r)
        }
        """,
        [2],
        100,
    ),
    "a function writes its caller's cell": (
        """
        def @main(%x: int32) -> int32 {
          let %add = fn (%cell, %by: int32) -> () { ref_write(%cell, ref_read(%cell) + %by) };
          let %r = ref(%x);
          let %a = %add(%r, 2);
          let %b = %add(%r, 30);
          ref_read(%r)
        }
        """,
        [1],
        33,
    ),
    "a loop through a cell": (
        """
        def @main(%x: int32) -> int32 {
          let %loop = fn (%n: int32, %r) -> int32 {
            if (%n < 1) { ref_read(%r) } else { let %_ = ref_write(%r, ref_read(%r) + %n); %loop(%n - 1, %r) }
          };
          %loop(%x, ref(0))
        }
        """,
        [100],
        5050,
    ),
    "a cell holds a tuple": (
        """
        def @main(%x: int32) -> (int32, int32) {
          let %r = ref((%x, 1));
          let %t = ref_read(%r);
          let %_ = ref_write(%r, (%t.1, %t.0 + 1));
          ref_read(%r)
        }
        """,
        [7],
        (1, 8),
    ),
    "a cell holds a cell": (
        """
        def @main(%x: int32) -> int32 {
          let %inner = ref(%x);
          let %outer = ref(%inner);
          let %_ = ref_write(ref_read(%outer), 9);
          ref_read(%inner)
        }
        """,
        [7],
        9,
    ),
    "recursion by a knot": (
        """
        def @main(%x: int32) -> int32 {
          let %r = ref(fn (%n: int32) -> int32 { %n });
          let %f = fn (%n: int32) -> int32 { if (%n < 1) { 0 } else { let %g = ref_read(%r); %n + %g(%n - 1) } };
          let %_ = ref_write(%r, %f);
          %f(%x)
        }
        """,
        [10],
        55,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_references(name: str, evaluate: Evaluate) -> None:
    program, arguments, expected = PROGRAMS[name]
    assert evaluate(program, *[np.int32(a) for a in arguments]) == expected


@pytest.mark.parametrize("name", PROGRAMS)
def test_relays_interpreter_agrees(name: str, interpret: Evaluate) -> None:
    program, arguments, expected = PROGRAMS[name]
    assert interpret(program, *[np.int32(a) for a in arguments]) == expected


@pytest.mark.parametrize("opt_level", [0, 1, 2, 3])
def test_writes_survive_every_opt_level(opt_level: int, evaluate: Evaluate) -> None:
    program = """
        def @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32] {
          let %r = ref(%x);
          let %a = ref_write(%r, ref_read(%r) + %x);
          let %b = ref_write(%r, ref_read(%r) * %x);
          ref_read(%r)
        }
    """
    value = evaluate(program, np.array([1, 2], "float32"), opt_level=opt_level)
    assert value.tolist() == [2, 8]


def test_a_cell_keeps_its_tensor_when_the_frame_is_gone(evaluate: Evaluate) -> None:
    program = """
        def @main(%x: Tensor[(4), float32]) -> Tensor[(4), float32] {
          let %fill = fn (%cell, %v: Tensor[(4), float32]) -> () { ref_write(%cell, %v + %v) };
          let %r = ref(%x);
          let %a = %fill(%r, %x);
          let %kept = ref_read(%r);
          let %b = %fill(%r, %kept);
          %kept + ref_read(%r)
        }
    """
    assert evaluate(program, np.ones(4, "float32")).tolist() == [6, 6, 6, 6]


def live_cells() -> int:
    gc.collect()
    return sum(isinstance(o, Ref) for o in gc.get_objects())


def test_a_cycle_is_collected(compiled: Compiled) -> None:
    program = """
        def @main(%x: int32) {
          let %r = ref(fn (%n: int32) -> int32 { %n });
          let %f = fn (%n: int32) -> int32 { let %g = ref_read(%r); %g(%n) };
          let %_ = ref_write(%r, %f);
          %r
        }
    """
    machine = regvm.VirtualMachine(compiled(program), tvm.cpu())
    cell = machine.invoke("main", np.int32(1))
    assert isinstance(cell, Ref)
    assert isinstance(cell.value, Closure)
    assert cell.value.captured[0] is cell
    before = live_cells()
    for _ in range(50):
        machine.invoke("main", np.int32(1))
    assert live_cells() <= before + 1
