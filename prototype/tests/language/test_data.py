"""Algebraic data and ``match``: nested constructor, tuple and wildcard patterns, in the order of the clauses."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm

import regvm
from regvm.errors import MatchError

Evaluate = Callable[..., Any]
Compiled = Callable[..., regvm.Executable]

LISTS = """
type L { Cons(int32, L), Nil }
def @upto(%n: int32) -> L { if (%n < 1) { Nil } else { Cons(%n, @upto(%n - 1)) } }
def @sum(%l: L) -> int32 { match (%l) { Cons(%h, %t) => %h + @sum(%t), Nil => 0 } }
"""
TREES = """
type T { Leaf(int32), Node(T, int32, T) }
"""

PROGRAMS = {
    "a list is folded": (LISTS + "def @main(%n: int32) -> int32 { @sum(@upto(%n)) }", [4], 10),
    "a list is mapped by a closure": (
        LISTS
        + """
        def @map(%f: fn (int32) -> int32, %l: L) -> L {
          match (%l) { Cons(%h, %t) => Cons(%f(%h), @map(%f, %t)), Nil => Nil }
        }
        def @main(%n: int32) -> int32 { @sum(@map(fn (%a: int32) -> int32 { %a * %n }, @upto(%n))) }
        """,
        [4],
        40,
    ),
    "the second element by a nested pattern": (
        LISTS
        + """
        def @second(%l: L) -> int32 {
          match (%l) { Cons(_, Cons(%b, _)) => %b, Cons(%a, Nil) => 0 - %a, Nil => 99 }
        }
        def @main(%n: int32) -> (int32, int32, int32) { (@second(@upto(%n)), @second(@upto(1)), @second(Nil)) }
        """,
        [4],
        (3, -1, 99),
    ),
    "the first clause that fits is taken": (
        LISTS
        + """
        def @kind(%l: L) -> int32 { match (%l) { Cons(_, Nil) => 1, Cons(_, _) => 2, _ => 0 } }
        def @main(%n: int32) -> (int32, int32, int32) { (@kind(@upto(%n)), @kind(@upto(1)), @kind(Nil)) }
        """,
        [3],
        (2, 1, 0),
    ),
    "a tuple of data in one pattern": (
        LISTS
        + """
        def @zip(%p: (L, L)) -> int32 {
          match (%p) {
            (Cons(%a, %x), Cons(%b, %y)) => (%a * %b) + @zip((%x, %y)),
            (Nil, Cons(%b, _)) => 1000 * %b,
            (_, _) => 0
          }
        }
        def @main(%n: int32) -> (int32, int32) { (@zip((@upto(%n), @upto(%n))), @zip((@upto(%n), @upto(%n + 1)))) }
        """,
        [3],
        (14, 3 * 4 + 2 * 3 + 1 * 2 + 1000),
    ),
    "a constructor that holds a tuple": (
        """
        type P { Pair((int32, (int32, int32))) }
        def @main(%x: int32) -> int32 {
          match (Pair((%x, (%x + 1, %x + 2)))) { Pair((%a, (%b, %c))) => (%a * 100) + ((%b * 10) + %c) }
        }
        """,
        [1],
        123,
    ),
    "trees are built and folded": (
        TREES
        + """
        def @grow(%d: int32) -> T { if (%d < 1) { Leaf(1) } else { Node(@grow(%d - 1), %d, @grow(%d - 1)) } }
        def @total(%t: T) -> int32 { match (%t) { Leaf(%v) => %v, Node(%l, %v, %r) => (@total(%l) + %v) + @total(%r) } }
        def @main(%d: int32) -> int32 { @total(@grow(%d)) }
        """,
        [4],
        16 + 4 + 2 * 3 + 4 * 2 + 8,
    ),
    "a pattern three constructors deep": (
        TREES
        + """
        def @probe(%t: T) -> int32 {
          match (%t) {
            Node(Node(Leaf(%a), _, _), %b, Leaf(%c)) => (%a + %b) + %c,
            Node(_, %b, _) => 0 - %b,
            Leaf(%v) => %v
          }
        }
        def @main(%x: int32) -> (int32, int32, int32) {
          let %deep = Node(Node(Leaf(%x), 5, Leaf(6)), 10, Leaf(100));
          (@probe(%deep), @probe(Node(Leaf(1), 7, %deep)), @probe(Leaf(%x)))
        }
        """,
        [1],
        (111, -7, 1),
    ),
    "the value of a match is used twice": (
        LISTS
        + """
        def @main(%n: int32) -> int32 {
          let %m = (match (@upto(%n)) { Cons(%h, _) => %h + 1, Nil => 0 });
          (%m * %m) - %m
        }
        """,
        [5],
        30,
    ),
    "polymorphic data": (
        """
        type Maybe[A] { Just(A), Nothing }
        def @get[A](%m: Maybe[A], %d: A) -> A { match (%m) { Just(%v) => %v, Nothing => %d } }
        def @main(%x: int32) -> (int32, int32, bool) {
          (@get(Just(%x), 0), @get(Nothing, 7), @get(Just(True), False))
        }
        """,
        [3],
        (3, 7, True),
    ),
    "a match in the arm of a match": (
        LISTS
        + """
        def @main(%n: int32) -> int32 {
          match (@upto(%n)) {
            Cons(%a, %t) => match (%t) { Cons(%b, _) => if (%a > %b) { %a * %b } else { %b }, Nil => 0 - %a },
            Nil => 0
          }
        }
        """,
        [4],
        12,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_data(name: str, evaluate: Evaluate) -> None:
    program, arguments, expected = PROGRAMS[name]
    assert evaluate(program, *[np.int32(a) for a in arguments]) == expected


@pytest.mark.parametrize("name", PROGRAMS)
def test_relays_interpreter_agrees(name: str, interpret: Evaluate) -> None:
    program, arguments, expected = PROGRAMS[name]
    assert interpret(program, *[np.int32(a) for a in arguments]) == expected


def test_a_match_that_falls_through_raises_and_the_machine_stays_usable(compiled: Compiled) -> None:
    program = LISTS + "def @main(%n: int32) -> int32 { match? (@upto(%n)) { Cons(%h, Cons(_, _)) => %h } }"
    machine = regvm.VirtualMachine(compiled(program), tvm.cpu())
    for argument in (1, 0):
        with pytest.raises(MatchError, match="@main"):
            machine.invoke("main", np.int32(argument))
    assert machine.invoke("main", np.int32(2)).numpy() == 2


def test_a_match_without_clauses_always_raises(compiled: Compiled) -> None:
    program = LISTS + "def @main(%n: int32) -> int32 { match? (@upto(%n)) { } }"
    with pytest.raises(MatchError):
        regvm.VirtualMachine(compiled(program), tvm.cpu()).invoke("main", np.int32(2))


def test_data_is_a_result_with_its_constructors_tag(compiled: Compiled) -> None:
    program = LISTS + "def @main(%n: int32) -> L { @upto(%n) }"
    machine = regvm.VirtualMachine(compiled(program), tvm.cpu())
    three = machine.invoke("main", np.int32(3))
    assert [three[0].numpy(), three[1][0].numpy(), three[1][1][0].numpy()] == [3, 2, 1]
    assert three.tag == three[1].tag != three[1][1][1].tag
    assert len(three[1][1][1]) == 0


def test_a_result_goes_in_as_an_argument(compiled: Compiled) -> None:
    program = (
        LISTS
        + "def @main(%l: L) -> L { match (%l) { Cons(%h, %t) => Cons(%h, Cons(%h, %t)), Nil => @upto(2) } }"
    )
    machine = regvm.VirtualMachine(compiled(program), tvm.cpu())
    make = regvm.VirtualMachine(compiled(LISTS + "def @main() -> L { Nil }"), tvm.cpu())
    value = machine.invoke("main", machine.invoke("main", make.invoke("main")))
    found = []
    while len(value):
        found.append(int(value[0].numpy()))
        value = value[1]
    assert found == [2, 2, 1]
