"""Functions are values: they capture, nest, are passed, returned, stored and called again."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Evaluate = Callable[..., Any]

FUNCTIONS = {
    "a closure captures a parameter": (
        """
        def @adder(%a: int32) -> fn (int32) -> int32 { fn (%b: int32) -> int32 { %a - %b } }
        def @main(%x: int32) { let %f = @adder(%x); %f(3) }
        """,
        [10],
        7,
    ),
    "a closure captures what it does not use first": (
        """
        def @main(%x: int32, %y: int32) {
          let %p = %x * %y;
          let %q = %x + %y;
          let %f = fn (%z: int32) { (%z * %q) - %p };
          %f(%x) + %f(%y)
        }
        """,
        [3, 5],
        3 * 8 - 15 + 5 * 8 - 15,
    ),
    "partial application twice over": (
        """
        def @main(%x: int32) {
          let %f = fn (%a: int32) { fn (%b: int32) { fn (%c: int32) { (%a - %b) * %c } } };
          let %g = %f(%x);
          let %h = %g(2);
          %h(5) + %h(7)
        }
        """,
        [9],
        7 * 5 + 7 * 7,
    ),
    "a function takes a function": (
        """
        def @twice(%f: fn (int32) -> int32, %x: int32) -> int32 { %f(%f(%x)) }
        def @main(%x: int32) { @twice(fn (%a: int32) { %a * %a }, %x) }
        """,
        [3],
        81,
    ),
    "a function returns a function that calls itself": (
        """
        def @make(%k: int32) -> fn (int32) -> int32 {
          let %down = fn (%n: int32) -> int32 { if (%n < 1) { %k } else { %down(%n - 1) + 2 } };
          %down
        }
        def @main(%x: int32) { let %f = @make(%x); let %g = @make(1); %f(3) - %g(%x) }
        """,
        [5],
        11 - 11,
    ),
    "a function returns one of two functions": (
        """
        def @pick(%c: bool) -> fn (int32) -> int32 {
          if (%c) { fn (%a: int32) -> int32 { %a + 1 } } else { fn (%a: int32) -> int32 { %a * 10 } }
        }
        def @main(%x: int32) { let %f = @pick(%x > 4); let %g = @pick(%x > 100); %f(%x) - %g(%x) }
        """,
        [5],
        6 - 50,
    ),
    "a global function is a value": (
        """
        def @inc(%a: int32) -> int32 { %a + 1 }
        def @apply(%f: fn (int32) -> int32, %x: int32) -> int32 { %f(%x) }
        def @main(%x: int32) -> int32 { let %f = @inc; @apply(@inc, %x) * %f(%x) }
        """,
        [6],
        49,
    ),
    "a let-bound function calls itself": (
        """
        def @main(%x: int32) {
          let %fact = fn (%n: int32) -> int32 { if (%n < 2) { 1 } else { %n * %fact(%n - 1) } };
          %fact(%x)
        }
        """,
        [6],
        720,
    ),
    "a let-bound function calls itself and captures": (
        """
        def @main(%x: int32, %step: int32) {
          let %down = fn (%n: int32, %sum: int32) -> int32 {
            if (%n < 1) { %sum + %step } else { %down(%n - %step, %sum + %n) }
          };
          %down(%x, 0) * %down(%step, 1)
        }
        """,
        [10, 3],
        (10 + 7 + 4 + 1 + 3) * (3 + 1 + 3),
    ),
    "let-bound functions nest and recurse": (
        """
        def @main(%x: int32) {
          let %outer = fn (%n: int32) -> int32 {
            let %inner = fn (%m: int32) -> int32 { if (%m < 1) { %n } else { 1 + %inner(%m - 1) } };
            if (%n < 1) { 0 } else { %inner(%n) + %outer(%n - 1) }
          };
          %outer(%x)
        }
        """,
        [4],
        2 * (4 + 3 + 2 + 1),
    ),
    "a recursive function passes itself on": (
        """
        def @apply(%f: fn (int32) -> int32, %x: int32) -> int32 { %f(%x) }
        def @main(%x: int32) {
          let %sum = fn (%n: int32) -> int32 { if (%n < 1) { 0 } else { %n + @apply(%sum, %n - 1) } };
          @apply(%sum, %x)
        }
        """,
        [5],
        15,
    ),
    "global functions call each other": (
        """
        def @even(%n: int32) -> bool { if (%n == 0) { True } else { @odd(%n - 1) } }
        def @odd(%n: int32) -> bool { if (%n == 0) { False } else { @even(%n - 1) } }
        def @main(%x: int32) -> (bool, bool) { (@even(%x), @odd(%x)) }
        """,
        [7],
        (False, True),
    ),
    "a tuple holds closures that hold closures": (
        """
        def @main(%x: int32) {
          let %a = fn (%p: int32) { fn (%q: int32) { (%p + %q) * %x } };
          let %pair = (%a(1), %a(2));
          let %f = %pair.0;
          let %g = %pair.1;
          (%f(10), %g(20))
        }
        """,
        [3],
        (33, 66),
    ),
    "functions compose": (
        """
        def @compose[A, B, C](%f: fn (B) -> C, %g: fn (A) -> B) -> fn (A) -> C { fn (%x: A) -> C { %f(%g(%x)) } }
        def @main(%x: int32) {
          let %h = @compose(fn (%a: int32) -> int32 { %a + 1 }, fn (%a: int32) -> int32 { %a * 3 });
          %h(%h(%x))
        }
        """,
        [2],
        (2 * 3 + 1) * 3 + 1,
    ),
    "a polymorphic identity": (
        """
        def @id[A](%x: A) -> A { %x }
        def @main(%x: int32) -> int32 { let %f = fn (%y: int32) -> int32 { @id(%y) + 1 }; @id(%f(@id(%x))) }
        """,
        [1],
        2,
    ),
    "a variable is shadowed": (
        """
        def @main(%x: int32) {
          let %y = %x + 1;
          let %f = fn (%z: int32) { %y * %z };
          let %y = 100;
          %f(%y) + %y
        }
        """,
        [1],
        300,
    ),
    "a function stored in data is called": (
        """
        type Box { Hold(fn (int32) -> int32), Empty }
        def @open(%b: Box) -> int32 { match (%b) { Hold(%f) => %f(5), Empty => 0 - 1 } }
        def @main(%x: int32) { @open(Hold(fn (%a: int32) -> int32 { %a - %x })) * @open(Empty) }
        """,
        [2],
        -3,
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, evaluate: Evaluate) -> None:
    program, arguments, expected = FUNCTIONS[name]
    value = evaluate(program, *[np.int32(a) for a in arguments])
    assert value == expected


@pytest.mark.parametrize("name", FUNCTIONS)
def test_relays_interpreter_agrees(name: str, interpret: Evaluate) -> None:
    program, arguments, expected = FUNCTIONS[name]
    value = interpret(program, *[np.int32(a) for a in arguments])
    assert value == expected


def test_a_constructor_is_a_value(evaluate: Evaluate) -> None:
    program = """
        type Box { Hold(int32) }
        def @wrap(%f: fn (int32) -> Box, %x: int32) -> Box { %f(%x) }
        def @main(%x: int32) -> int32 { match (@wrap(Hold, %x)) { Hold(%y) => %y + 1 } }
    """
    assert evaluate(program, np.int32(4)) == 5


def test_a_function_of_no_arguments(evaluate: Evaluate) -> None:
    assert evaluate("def @main() { let %f = fn () { 42 }; %f() }") == 42


def test_a_loop_with_a_free_variable(evaluate: Evaluate) -> None:
    program = """
        def @main(%limit: int32, %x: Tensor[(2), float32]) {
          let %loop = fn (%i: int32, %sum: Tensor[(2), float32]) -> (int32, Tensor[(2), float32]) {
            if (%i < %limit) { %loop(%i + 1, %sum + %x) } else { (%i, %sum) }
          };
          %loop(0, zeros(shape=[2], dtype="float32"))
        }
    """
    count, total = evaluate(program, np.int32(5), np.array([1, 2], "float32"))
    assert count == 5
    assert total.tolist() == [5, 10]
