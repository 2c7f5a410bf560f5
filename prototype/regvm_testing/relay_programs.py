"""Small Relay programs, one for each construct, with arguments that take every branch and what NumPy makes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

HEADER = '#[version = "0.0.5"]\n'


@dataclass(frozen=True)
class Case:
    """Relay text, some argument lists, and the flat list of results that each gives."""

    text: str
    arguments: tuple[tuple[Any, ...], ...]
    expected: Callable[..., list[Any]]
    interpretable: bool = True
    """Whether Relay's own interpreter gives the results in a form that can be read."""


def _f(*values: float) -> Any:
    return np.array(values if len(values) > 1 else values[0], "float32")


def _loop(n: int, x: Any) -> list[Any]:
    return [np.float32(n) * x]


FOLD = """type L { Nil, Cons(int32, L) }
def @build(%n: int32, %acc: L) -> L { if (equal(%n, 0)) { %acc } else { @build(subtract(%n, 1), Cons(%n, %acc)) } }
def @sum(%l: L) -> int32 { match (%l) { Nil => 0, Cons(%h, %t) => add(%h, @sum(%t)) } }
def @main(%n: int32) -> int32 { @sum(@build(%n, Nil)) }
"""
"""The sum of 1 to n by a list of n elements, in a recursion n deep; without the header."""


CASES: dict[str, Case] = {
    "let": Case(
        HEADER
        + """def @main(%x: Tensor[(2), float32]) { let %a = add(%x, %x); let %b = tanh(%a); multiply(%b, %a) }""",
        ((_f(1, -2),), (_f(0.5, 3),)),
        lambda x: [np.tanh(2 * x) * (2 * x)],
    ),
    "if": Case(
        HEADER
        + """def @main(%c: bool, %x: Tensor[(2), float32]) { if (%c) { tanh(%x) } else { negative(%x) } }""",
        ((np.bool_(True), _f(1, -2)), (np.bool_(False), _f(1, -2))),
        lambda c, x: [np.tanh(x) if c else -x],
    ),
    "nested": Case(
        HEADER
        + """def @main(%c: bool, %x: float32, %y: float32) {
  let %i = if (%c) { if (%c) { subtract(%y, %x) } else { negative(%y) } } else { negative(%x) };
  add(%i, %y) }""",
        ((np.bool_(True), _f(2), _f(7)), (np.bool_(False), _f(2), _f(7))),
        lambda c, x, y: [(y - x if c else -x) + y],
    ),
    "tuples": Case(
        HEADER
        + """def @main(%x: float32, %p: (float32, (float32, int32))) {
  let %q = (%x, %p); let %a = %q.1; let %b = %a.1;
  (add(%q.0, %b.0), (%b.1, %p)) }""",
        ((_f(2), (_f(3), (_f(4), np.int32(5)))),),
        lambda x, p: [x + p[1][0], p[1][1], p[0], p[1][0], p[1][1]],
    ),
    "closure": Case(
        HEADER
        + """def @main(%x: float32, %y: float32) {
  let %f = fn (%z: float32) -> float32 { add(multiply(%z, %x), %y) };
  (%f(%y), %f) }""",
        ((_f(2), _f(3)),),
        lambda x, y: [y * x + y],
        interpretable=False,
    ),
    "higher": Case(
        HEADER
        + """def @apply(%f: fn (float32) -> float32, %x: float32) -> float32 { %f(%f(%x)) }
def @main(%x: float32) -> float32 { @apply(fn (%z: float32) -> float32 { add(%z, %x) }, %x) }""",
        ((_f(2),), (_f(-5),)),
        lambda x: [_f(3) * x],
    ),
    "match": Case(
        HEADER
        + """type L[A] { Cons(A, L[A]), Nil }
def @sum(%l: L[float32], %acc: float32) -> float32 {
  match (%l) { Cons(%h, %t) => @sum(%t, add(%h, %acc)), Nil => %acc } }
def @main(%x: float32) -> float32 { @sum(Cons(%x, Cons(2f, Nil)), 0f) }""",
        ((_f(5),),),
        lambda x: [x + _f(2)],
    ),
    "loop": Case(
        HEADER
        + """def @loop(%i: int32, %n: int32, %acc: float32, %x: float32) -> float32 {
  if (less(%i, %n)) { @loop(add(%i, 1), %n, add(%acc, %x), %x) } else { %acc } }
def @main(%n: int32, %x: float32) -> float32 { @loop(0, %n, 0f, %x) }""",
        ((np.int32(0), _f(2.5)), (np.int32(7), _f(2.5))),
        _loop,
    ),
    "mutual": Case(
        HEADER
        + """def @even(%n: int32) -> bool { if (equal(%n, 0)) { True } else { @odd(subtract(%n, 1)) } }
def @odd(%n: int32) -> bool { if (equal(%n, 0)) { False } else { @even(subtract(%n, 1)) } }
def @main(%n: int32) -> bool { @even(%n) }""",
        ((np.int32(10),), (np.int32(7),)),
        lambda n: [np.bool_(n % 2 == 0)],
    ),
    "dynamic": Case(
        HEADER
        + """def @main(%x: Tensor[(?, 2), float32], %y: Tensor[(?, 2), float32]) { concatenate((%x, %y), axis=0) }""",
        (
            (np.ones((2, 2), "float32"), np.zeros((3, 2), "float32")),
            (np.ones((0, 2), "float32"), _f(1, 2).reshape(1, 2)),
        ),
        lambda x, y: [np.concatenate([x, y])],
    ),
    "ref": Case(
        HEADER
        + """def @main(%x: float32, %y: float32) {
  let %r = ref(%x); let %a = ref_read(%r); let %_ = ref_write(%r, add(%a, %y)); (%a, ref_read(%r)) }""",
        ((_f(2), _f(5)),),
        lambda x, y: [x, x + y],
    ),
    "let_rec": Case(
        HEADER
        + """def @main(%n: int32, %k: int32) -> int32 {
  let %f = fn (%i: int32, %a: int32) -> int32 { if (equal(%i, 0)) { %a } else { %f(subtract(%i, 1), add(%a, %k)) } };
  %f(%n, 0) }""",
        ((np.int32(6), np.int32(7)), (np.int32(0), np.int32(7))),
        lambda n, k: [np.int32(n * k)],
    ),
}
