"""Algebraic data and ``match``."""

from relay_conformance.relay_cases.case import Refused, table

_UPTO = "def @upto(%n: int32) -> L { if (%n < 1) { Nil } else { Cons(%n, @upto(%n - 1)) } }\n"
_SUM = "def @sum(%l: L) -> int32 { match (%l) { Cons(%h, %t) => %h + @sum(%t), Nil => 0 } }\n"
_GROW = (
    "def @grow(%d: int32) -> T { if (%d < 1) { Leaf(1) } else { Node(@grow(%d - 1), %d, @grow(%d - 1)) } }\n"
)
_COLOUR = "def @colour(%n: int32) -> E { if (%n < 1) { Red } else { if (%n < 2) { Green } else { Blue } } }\n"
_MAIN = "def @main(%x: int32)"

_MATCH = table(
    "lang-match",
    {
        "first-clause": (_MAIN + " { match (Leaf(%x)) { Leaf(%v) => %v + 1, Node(_, _, _) => 0 } }", (3, 4)),
        "last-clause": (
            _MAIN
            + " { match (Node(Leaf(1), %x, Leaf(2))) { Leaf(%v) => %v + 1, Node(_, %v, _) => %v - 1 } }",
            (3, 2),
        ),
        "wildcard": (_MAIN + " { match (Leaf(%x)) { _ => %x } }", (3, 3)),
        "wildcard-after-a-constructor": (
            _UPTO + _MAIN + " { match (@upto(%x)) { Cons(%h, Nil) => %h, _ => 0 - %x } }",
            (1, 1),
            (2, -2),
            (0, 0),
        ),
        "variable-for-the-whole": (
            _UPTO + _SUM + _MAIN + " { match (@upto(%x)) { %l => @sum(%l) } }",
            (3, 6),
        ),
        "three-constructors-without-fields": (
            _COLOUR + _MAIN + " { match (@colour(%x)) { Red => 10, Green => 20, Blue => 30 } }",
            (0, 10),
            (1, 20),
            (2, 30),
        ),
        "four-constructors": (
            "def @eval(%e: X) -> int32 { match (%e) { Lit(%v) => %v, Add(%a, %b) => @eval(%a) + @eval(%b), "
            "Mul(%a, %b) => @eval(%a) * @eval(%b), Neg(%a) => 0 - @eval(%a) } }\n"
            + _MAIN
            + " { @eval(Add(Mul(Lit(%x), Lit(3)), Neg(Lit(1)))) }",
            (4, 11),
        ),
        "the-order-of-clauses-decides": (
            _UPTO + _MAIN + " { match (@upto(%x)) { Cons(_, Nil) => 1, Cons(_, _) => 2, _ => 0 } }",
            (0, 0),
            (1, 1),
            (2, 2),
        ),
        "all-fields": (
            _MAIN + " { match (Node(Leaf(%x), %x + 1, Leaf(%x + 2))) "
            "{ Node(Leaf(%a), %b, Leaf(%c)) => ((%a * 100) + (%b * 10)) + %c, _ => 0 } }",
            (1, 123),
        ),
        "some-fields": (
            _MAIN
            + " { match (Node(Leaf(%x), %x + 1, Leaf(%x + 2))) { Node(_, _, Leaf(%c)) => %c, _ => 0 } }",
            (1, 3),
        ),
        "nested-twice": (
            _UPTO + _MAIN + " { match (@upto(%x)) "
            "{ Cons(_, Cons(%b, _)) => %b, Cons(%a, Nil) => 0 - %a, Nil => 99 } }",
            (4, 3),
            (1, -1),
            (0, 99),
        ),
        "nested-three-times": (
            _UPTO
            + _MAIN
            + " { match (@upto(%x)) { Cons(%a, Cons(%b, Cons(%c, _))) => (%a * %b) - %c, _ => 7 } }",
            (4, 10),
            (3, 5),
            (2, 7),
        ),
        "nested-on-both-sides": (
            _GROW
            + _MAIN
            + " { match (@grow(%x)) { Node(Node(_, %a, _), %b, Node(_, %c, _)) => (%a + %b) + %c, "
            "Node(_, %b, _) => %b * 100, Leaf(%v) => 0 - %v } }",
            (3, 7),
            (1, 100),
            (0, -1),
        ),
        "of-a-tuple": (
            _MAIN + " { match ((%x, (%x + 1, %x + 2))) { (%a, (%b, %c)) => (%a - %b) * %c } }",
            (3, -5),
        ),
        "of-a-tuple-of-data": (
            _UPTO + "def @zip(%p: (L, L)) -> int32 { match (%p) { "
            "(Cons(%a, %s), Cons(%b, %t)) => (%a * %b) + @zip((%s, %t)), (Nil, Cons(%b, _)) => 1000 * %b, "
            "_ => 0 } }\n" + _MAIN + " { (@zip((@upto(%x), @upto(%x))), @zip((@upto(%x), @upto(%x + 1)))) }",
            (2, (5, 8 + 1000 - 0)),
        ),
        "a-tuple-in-a-constructor": (
            _MAIN
            + " { match (Pair((%x, (%x + 1, %x + 2)))) { Pair((%a, (%b, %c))) => (%a * 100) + ((%b * 10) "
            "+ %c) } }",
            (1, 123),
        ),
        "value-is-used-twice": (
            _UPTO
            + _MAIN
            + " { let %m = (match (@upto(%x)) { Cons(%h, _) => %h + 1, Nil => 0 }); (%m * %m) - %m }",
            (5, 30),
            (0, 0),
        ),
        "reads-a-parameter-in-a-clause-and-after": (
            _UPTO + _MAIN + " { let %m = (match (@upto(%x)) "
            "{ Cons(%a, Cons(%b, _)) => %x + %b, Cons(_, Nil) => %x, Nil => 1 - %x }); %m - %x }",
            (3, 2),
            (1, 0),
            (0, 1),
        ),
        "in-a-clause-of-a-match": (
            _UPTO
            + _MAIN
            + " { match (@upto(%x)) { Cons(%a, %t) => match (%t) { Cons(%b, _) => %a * %b, Nil => 0 - %a }, "
            "Nil => 5 } }",
            (4, 12),
            (1, -1),
            (0, 5),
        ),
        "in-a-branch": (
            _UPTO
            + "def @main(%c: bool, %x: int32) { if (%c) { match (@upto(%x)) { Cons(%h, _) => %h, Nil => 0 "
            "} } "
            "else { %x * 2 } }",
            ((True, 3), 3),
            ((False, 3), 6),
        ),
        "gives-data": (
            _UPTO
            + _SUM
            + _MAIN
            + " { @sum(match (@upto(%x)) { Cons(%h, %t) => Cons(%h * 10, %t), Nil => @upto(3) }) }",
            (2, 21),
            (0, 6),
        ),
        "gives-a-tuple": (
            _UPTO
            + _MAIN
            + " { match (@upto(%x)) { Cons(%h, Cons(%i, _)) => (%h, %i), Cons(%h, Nil) => (%h, 0), "
            "Nil => (0, 0) } }",
            (3, (3, 2)),
            (1, (1, 0)),
            (0, (0, 0)),
        ),
        "gives-a-function": (
            _UPTO
            + _MAIN
            + " { let %f = (match (@upto(%x)) { Cons(%h, _) => fn (%a: int32) -> int32 { %a * %h }, "
            "Nil => fn (%a: int32) -> int32 { %a - 1 } }); %f(10) }",
            (3, 30),
            (0, 9),
        ),
        "of-what-a-function-gives": (
            _UPTO
            + "def @head(%l: L) -> M[int32] { match (%l) { Cons(%h, _) => Just(%h), Nil => Nothing } }\n"
            + _MAIN
            + " { match (@head(@upto(%x))) { Just(%v) => %v * 2, Nothing => 0 - 1 } }",
            (4, 8),
            (0, -1),
        ),
        "falls-through-and-raises": (
            _UPTO + _MAIN + " { match? (@upto(%x)) { Cons(%h, Cons(_, _)) => %h } }",
            (1, Refused("match")),
            (0, Refused("match")),
            (2, 2),
        ),
        "without-clauses-raises": (
            _UPTO + _MAIN + " -> int32 { match? (@upto(%x)) { } }",
            (2, Refused("match")),
        ),
        "falls-through-in-a-callee": (
            _UPTO
            + "def @head(%l: L) -> int32 { match? (%l) { Cons(%h, _) => %h } }\n"
            + _MAIN
            + " { @head(@upto(%x)) + @head(@upto(%x - 1)) }",
            (2, 3),
            (1, Refused("match")),
        ),
        "of-a-polymorphic-type": (
            "def @get[A](%m: M[A], %d: A) -> A { match (%m) { Just(%v) => %v, Nothing => %d } }\n"
            + _MAIN
            + " { (@get(Just(%x), 0), @get(Nothing, 7), @get(Just(True), False)) }",
            (3, (3, 7, True)),
        ),
        "of-data-in-data": (
            _MAIN + " { match (Just(Just(%x))) { Just(Just(%v)) => %v, Just(Nothing) => 1, Nothing => 2 } }",
            (3, 3),
        ),
        "binds-a-tensor": (
            "def @main(%x: Tensor[(2), int32]) { match (Two(%x, %x + %x)) { One(%a) => %a, Two(%a, %b) => "
            "%b - %a } }",
            ([1, 2], [1, 2]),
        ),
    },
)
_DATA = table(
    "lang-data",
    {
        "is-a-result": (_UPTO + _MAIN + " -> L { @upto(%x) }", (2, (2, (1, ()))), (0, ())),
        "tree-is-a-result": (_GROW + _MAIN + " -> T { @grow(%x) }", (1, ((1,), 1, (1,)))),
        "without-fields-is-a-result": (
            _COLOUR + _MAIN + " -> (E, int32) { (@colour(%x), %x) }",
            (1, ((), 1)),
        ),
        "list-is-summed": (_UPTO + _SUM + _MAIN + " { @sum(@upto(%x)) }", (6, 21)),
        "long-list": (_UPTO + _SUM + _MAIN + " { @sum(@upto(%x)) }", (150, 11325)),
        "list-is-mapped": (
            _UPTO + _SUM + "def @map(%f: fn (int32) -> int32, %l: L) -> L "
            "{ match (%l) { Cons(%h, %t) => Cons(%f(%h), @map(%f, %t)), Nil => Nil } }\n"
            + _MAIN
            + " { @sum(@map(fn (%a: int32) -> int32 { %a * %x }, @upto(%x))) }",
            (4, 40),
        ),
        "list-is-reversed": (
            _UPTO
            + "def @turn(%l: L, %done: L) -> L { match (%l) { Cons(%h, %t) => @turn(%t, Cons(%h, %done)), "
            "Nil => %done } }\n" + _MAIN + " -> L { @turn(@upto(%x), Nil) }",
            (3, (1, (2, (3, ())))),
        ),
        "list-is-filtered": (
            _UPTO
            + "def @keep(%l: L) -> L { match (%l) { Cons(%h, %t) => if (2 < %h) { Cons(%h, @keep(%t)) } "
            "else { @keep(%t) }, Nil => Nil } }\n" + _MAIN + " -> L { @keep(@upto(%x)) }",
            (4, (4, (3, ()))),
            (2, ()),
        ),
        "part-is-shared": (
            _UPTO
            + _SUM
            + _MAIN
            + " { let %l = @upto(%x); (@sum(Cons(100, %l)), @sum(Cons(200, %l)), @sum(%l)) }",
            (3, (106, 206, 6)),
        ),
        "outlives-its-maker": (
            "def @make(%x: Tensor[(2), int32]) -> V { let %a = %x + %x; Two(%a, %a * %x) }\n"
            "def @main(%x: Tensor[(2), int32]) { let %v = @make(%x); let %w = @make(%x + %x); "
            "match (%v) { Two(%a, %b) => %b - %a, One(%a) => %a } }",
            ([1, 2], [0, 4]),
        ),
        "keeps-a-tensor-through-a-loop": (
            "type Q { Item(Tensor[(2), int32], Q), End }\n"
            "def @fill(%n: int32, %x: Tensor[(2), int32], %q: Q) -> Q "
            "{ if (%n < 1) { %q } else { @fill(%n - 1, %x + %x, Item(%x, %q)) } }\n"
            "def @total(%q: Q, %s: Tensor[(2), int32]) -> Tensor[(2), int32] "
            "{ match (%q) { Item(%h, %t) => @total(%t, %s + %h), End => %s } }\n"
            "def @main(%n: int32, %x: Tensor[(2), int32]) { @total(@fill(%n, %x, End), %x) }",
            ((4, [1, 3]), [16, 48]),
            ((0, [1, 3]), [1, 3]),
        ),
        "holds-a-function": (
            _MAIN + " { let %g = Fun(fn (%a: int32) -> int32 { %a - %x }); "
            "match (%g) { Fun(%f) => %f(10), Same => 10 } }",
            (3, 7),
        ),
        "of-two-types-at-once": (
            _MAIN + " { let %a = Push(%x, Push(2, Empty)); let %b = Push(True, Empty); "
            "match ((%a, %b)) { (Push(%v, _), Push(%t, _)) => if (%t) { %v } else { 0 }, _ => 0 - 1 } }",
            (7, 7),
        ),
        "deep-tree": (
            _GROW
            + "def @total(%t: T) -> int32 { match (%t) { Leaf(%v) => %v, Node(%l, %v, %r) => (@total(%l) "
            "+ %v) + @total(%r) } }\n" + _MAIN + " { @total(@grow(%x)) }",
            (4, 42),
        ),
        "built-in-a-branch": (
            _SUM
            + "def @main(%c: bool, %x: int32) { @sum(if (%c) { Cons(%x, Cons(%x, Nil)) } else { Nil }) }",
            ((True, 3), 6),
            ((False, 3), 0),
        ),
        "constant-fields": (_SUM + "def @main() { @sum(Cons(1, Cons(2, Cons(3, Nil)))) }", ((), 6)),
    },
)
CASES = (*_MATCH, *_DATA)
