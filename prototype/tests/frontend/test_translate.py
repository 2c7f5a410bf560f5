"""What the front end makes of each construct, as listings; and that it means what NumPy and Relay's interpreter say."""

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relay

import regvm
from regvm.frontend import source, translate
from regvm.frontend.reading import at_level
from regvm.ir.printer import show
from regvm_testing.relay_programs import CASES, HEADER, Case

GOLDEN = {
    "let": """
function @main(x: float32[2])
b0(%0):
  %2:t0 = invoke k0, (%0)
  %3:t1 = invoke k1, (%2)
  %4:t2 = invoke k2, (%3, %2)
  ret %4
""",
    "if": """
function @main(c: bool[], x: float32[2])
b0(%0, %1):
  branch %0, b1, b2
b1():
  %4:t0 = invoke k0, (%1)
  ret %4
b2():
  %5:t1 = invoke k1, (%1)
  ret %5
""",
    "nested": """
function @main(c: bool[], x: float32[], y: float32[])
b0(%0, %1, %2):
  branch %0, b1, b4
b1():
  branch %0, b2, b3
b2():
  %7:t0 = invoke k0, (%2, %1)
  jump b5(%7)
b3():
  %8:t1 = invoke k1, (%2)
  jump b5(%8)
b4():
  %9:t2 = invoke k1, (%1)
  jump b5(%9)
b5(%6):
  %10:t3 = invoke k2, (%6, %2)
  ret %10
""",
    "tuples": """
function @main(x: float32[], p: (float32[], (float32[], int32[])))
b0(%0, %1):
  %4 = get_field %1, .1
  %5 = get_field %4, .0
  %6 = get_field %4, .1
  %7:t0 = invoke k0, (%5, %6, %0)
  %8 = get_field %4, .1
  %9 = make_adt #0, (%8, %1)
  %10 = make_adt #0, (%7, %9)
  ret %10
""",
    "closure": """
function @main(x: float32[], y: float32[])
b0(%0, %1):
  %4 = call f1, (%1, %0, %1)
  %5 = make_closure f1, (%0, %1)
  %6 = make_adt #0, (%4, %5)
  ret %6

function @main.f(z: float32[], captured0: captured, captured1: captured)
b0(%0, %1, %2):
  %6:t0 = invoke k0, (%0, %1, %2)
  ret %6
""",
    "higher": """
function @main(x: float32[])
b0(%0):
  %2 = make_closure f1, (%0)
  tail_call f2, (%2, %0)

function @main.x(z: float32[], captured0: captured)
b0(%0, %1):
  %4:t0 = invoke k0, (%0, %1)
  ret %4

function @apply(f: function, x: float32[])
b0(%0, %1):
  %4 = call_closure %0, (%1)
  tail_call_closure %0, (%4)
""",
    "match": """
function @main(x: float32[])
b0(%0):
  %2 = load_const c0
  %3 = make_adt #2080374785, ()
  %4 = make_adt #2080374784, (%2, %3)
  %5 = make_adt #2080374784, (%0, %4)
  %6 = load_const c1
  tail_call f1, (%5, %6)

function @sum(l: L, acc: float32[])
b0(%0, %1):
  jump b1(%0, %1)
b1(%2, %3):
  branch_tag %2, #2080374784, b2, b3
b2():
  %4 = get_field %2, .0
  %5 = get_field %2, .1
  %6:t0 = invoke k0, (%4, %3)
  jump b1(%5, %6)
b3():
  ret %3
""",
    "loop": """
function @main(n: int32[], x: float32[])
b0(%0, %1):
  %4 = load_const c0
  %5 = load_const c1
  tail_call f1, (%4, %0, %5, %1)

function @loop(i: int32[], n: int32[], acc: float32[], x: float32[])
b0(%0, %1, %2, %3):
  jump b1(%0, %1, %2, %3)
b1(%4, %5, %6, %7):
  %8:t0 = invoke k0, (%4, %5)
  branch %8, b2, b3
b2():
  %9:t1 = invoke k1, (%4)
  %10:t2 = invoke k2, (%6, %7)
  jump b1(%9, %5, %10, %7)
b3():
  ret %6
""",
    "mutual": """
function @main(n: int32[])
b0(%0):
  tail_call f1, (%0)

function @even(n: int32[])
b0(%0):
  %2:t0 = invoke k0, (%0)
  branch %2, b1, b2
b1():
  %3 = load_const c0
  ret %3
b2():
  %4:t1 = invoke k1, (%0)
  tail_call f2, (%4)

function @odd(n: int32[])
b0(%0):
  %2:t0 = invoke k0, (%0)
  branch %2, b1, b2
b1():
  %3 = load_const c1
  ret %3
b2():
  %4:t1 = invoke k1, (%0)
  tail_call f1, (%4)
""",
    "dynamic": """
function @main(x: float32[?, 2], y: float32[?, 2])
b0(%0, %1):
  %4 = shape_of %0
  %5 = shape_of %1
  %6:t0 = invoke k0, (%4, %5)
  %7 = alloc_tensor %6, float32
  invoke_into k1, (%0, %1), (%7)
  ret %7
""",
    "ref": """
function @main(x: float32[], y: float32[])
b0(%0, %1):
  %4 = make_ref %0
  %5 = read_ref %4
  %6:t0 = invoke k0, (%5, %1)
  write_ref %4, %6
  %7 = read_ref %4
  %8 = make_adt #0, (%5, %7)
  ret %8
""",
    "let_rec": """
function @main(n: int32[], k: int32[])
b0(%0, %1):
  %4 = load_const c0
  tail_call f1, (%0, %4, %1)

function @main.f(i: int32[], a: int32[], captured0: captured)
b0(%0, %1, %2):
  jump b1(%0, %1, %2)
b1(%3, %4, %5):
  %6:t0 = invoke k0, (%3)
  branch %6, b2, b3
b2():
  ret %4
b3():
  %7:t1 = invoke k1, (%3)
  %8:t2 = invoke k2, (%4, %5)
  jump b1(%7, %8, %5)
""",
}


def listing(text: str) -> str:
    module, prim_funcs = translate.translate(source.lower(relay.fromtext(text), "llvm", None, None).module)
    assert [k.name for k in module.kernels] == list(prim_funcs)
    return "\n\n".join(show(f) for f in module.functions)


@pytest.mark.parametrize("name", CASES)
def test_the_listing_of_each_construct(name: str) -> None:
    assert listing(CASES[name].text) == GOLDEN[name].strip()


def test_a_listing_does_not_depend_on_what_was_compiled_before() -> None:
    before = {name: listing(case.text) for name, case in CASES.items()}
    for name in reversed(CASES):
        assert listing(CASES[name].text) == before[name]


def flat(result: Any) -> list[Any]:
    """The arrays of a result, functions left out."""
    if hasattr(result, "numpy"):
        return [result.numpy()]
    if hasattr(result, "tag"):
        return [a for n in range(len(result)) for a in flat(result[n])]
    return []


def assert_equal(actual: list[Any], expected: list[Any]) -> None:
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected, strict=True):
        assert (a.dtype, a.shape) == (np.asarray(e).dtype, np.shape(e))
        np.testing.assert_allclose(a, e, rtol=1e-6)


def compiled(case: Case, opt_level: int) -> regvm.VirtualMachine:
    with at_level(opt_level):
        return regvm.VirtualMachine(
            regvm.compile(relay.fromtext(case.text), check=True), engine="interpreter"
        )


@pytest.mark.parametrize("opt_level", range(4))
@pytest.mark.parametrize("name", CASES)
def test_results_are_numpys_at_every_opt_level(name: str, opt_level: int) -> None:
    machine = compiled(CASES[name], opt_level)
    for arguments in CASES[name].arguments:
        assert_equal(flat(machine.run(*arguments)), CASES[name].expected(*arguments))


def for_interpreter(argument: Any) -> Any:
    if isinstance(argument, tuple):
        return tvm.runtime.container.tuple_object([for_interpreter(a) for a in argument])
    return tvm.nd.array(np.asarray(argument))


@pytest.mark.parametrize("name", [n for n, case in CASES.items() if case.interpretable])
def test_results_are_those_of_relays_interpreter(name: str) -> None:
    case = CASES[name]
    machine = compiled(case, 3)
    interpreter = relay.create_executor(
        "debug", mod=relay.fromtext(case.text), device=tvm.cpu(), target="llvm"
    )
    for arguments in case.arguments:
        expected = interpreter.evaluate()(*map(for_interpreter, arguments))
        assert_equal(flat(machine.run(*arguments)), flat(expected))


def test_a_function_may_be_returned_in_a_tuple() -> None:
    text = (
        HEADER
        + """
def @main(%x: float32) -> (fn (float32) -> float32, float32) { (fn (%z: float32) -> float32 { multiply(%z, %x) }, %x) }
"""
    )
    exe = regvm.compile(relay.fromtext(text))
    result = regvm.VirtualMachine(exe).run(np.float32(3))
    assert (result.tag, len(result), float(result[1].numpy())) == (0, 2, 3)
