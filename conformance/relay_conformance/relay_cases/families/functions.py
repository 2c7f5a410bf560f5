"""Calls, and functions as values."""

from relay_conformance.relay_cases.case import table

_X = "def @main(%x: int32)"
_XY = "def @main(%x: int32, %y: int32)"

_CALL = table(
    "lang-call",
    {
        "by-position": (
            "def @f(%a: int32, %b: int32) -> int32 { %a - %b }\n" + _XY + " { (@f(%x, %y), @f(%y, %x)) }",
            ((5, 2), (3, -3)),
        ),
        "one-value-for-two-parameters": (
            "def @f(%a: int32, %b: int32) -> int32 { (%a * 10) - %b }\n" + _X + " { @f(%x, %x) }",
            (4, 36),
        ),
        "its-variables-are-its-own": (
            "def @f(%a: int32) -> int32 { let %x = %a * 2; %x + 1 }\n" + _X + " { let %y = @f(%x); %y - %x }",
            (4, 5),
        ),
        "twice-with-other-arguments": (
            "def @f(%a: int32) -> int32 { (%a * %a) + 1 }\n" + _X + " { @f(%x) - @f(%x + 1) }",
            (4, -9),
        ),
        "of-a-call": ("def @f(%a: int32) -> int32 { %a * 3 }\n" + _X + " { @f(@f(@f(%x))) }", (2, 54)),
        "through-three-functions": (
            "def @f(%a: int32) -> int32 { %a + 1 }\ndef @g(%a: int32) -> int32 { @f(%a) * 2 }\n"
            "def @h(%a: int32) -> int32 { @g(%a) - @f(%a) }\n" + _X + " { @h(%x) }",
            (4, 5),
        ),
        "does-not-change-its-arguments": (
            "def @f(%a: Tensor[(2), int32]) -> Tensor[(2), int32] { let %b = %a + %a; %b * %b }\n"
            "def @main(%x: Tensor[(2), int32]) { let %y = %x + %x; let %z = @f(%y); (%y, %z, %y - %x) }",
            ([1, 2], ([2, 4], [16, 64], [1, 2])),
        ),
        "gives-its-argument-back": (
            "def @f(%a: Tensor[(2), int32]) -> Tensor[(2), int32] { %a }\n"
            "def @main(%x: Tensor[(2), int32]) { let %y = %x + %x; let %z = @f(%y); (%z * %x, %z) }",
            ([1, 2], ([2, 8], [2, 4])),
        ),
        "gives-one-of-two-arguments": (
            "def @f(%c: bool, %a: int32, %b: int32) -> int32 { if (%c) { %a } else { %b } }\n"
            + _XY
            + " { (@f(True, %x, %y), @f(False, %x, %y)) }",
            ((5, 2), (5, 2)),
        ),
        "gives-a-constant": ("def @f(%a: int32) -> int32 { 7 }\n" + _X + " { @f(%x) + %x }", (4, 11)),
        "without-arguments": (
            "def @f() -> int32 { 7 }\n" + _X + " { let %g = fn () -> int32 { %x - 1 }; %g() * 2 }",
            (4, 6),
        ),
        "of-twelve-arguments": (
            "def @f("
            + ", ".join(f"%a{n}: int32" for n in range(12))
            + ") -> int32 { %a0 - (%a5 * %a11) }\n"
            + _X
            + " { @f("
            + ", ".join(f"%x + {n}" for n in range(12))
            + ") }",
            (1, -71),
        ),
        "with-arguments-permuted": (
            "def @f(%a: int32, %b: int32, %c: int32) -> int32 { ((%a * 100) + (%b * 10)) + %c }\n"
            "def @g(%a: int32, %b: int32, %c: int32) -> int32 { @f(%c, %a, %b) }\n"
            + _X
            + " { @g(%x, %x + 1, %x + 2) }",
            (1, 312),
        ),
        "of-a-polymorphic-function": (
            "def @second[A, B](%a: A, %b: B) -> B { %b }\n"
            + _X
            + " { (@second(True, %x), @second(%x, False)) }",
            (4, (4, False)),
        ),
        "of-a-function-expression": (_X + " { (fn (%a: int32) -> int32 { %a * 2 })(%x + 1) }", (4, 10)),
        "in-both-branches": (
            "def @f(%a: int32) -> int32 { %a * 3 }\n"
            "def @main(%c: bool, %x: int32) { if (%c) { @f(%x) } else { @f(%x + 1) - 1 } }",
            ((True, 2), 6),
            ((False, 2), 8),
        ),
    },
)
_TWICE = "def @twice(%f: fn (int32) -> int32, %a: int32) -> int32 { %f(%f(%a)) }\n"
_CLOSURE = table(
    "lang-closure",
    {
        "captures-nothing": (_X + " { let %f = fn (%a: int32) -> int32 { %a + 1 }; %f(%x) }", (4, 5)),
        "captures-a-parameter": (
            _XY + " { let %f = fn (%a: int32) -> int32 { %a - %y }; %f(%x) }",
            ((5, 2), 3),
        ),
        "captures-two": (
            _XY + " { let %f = fn (%a: int32) -> int32 { (%a * %x) - %y }; (%f(10), %f(0)) }",
            ((5, 2), (48, -2)),
        ),
        "captures-two-and-is-called-last": (
            _XY + " { let %f = fn (%a: int32) -> int32 { (%a * %x) - %y }; %f(10) }",
            ((5, 2), 48),
        ),
        "captures-what-is-computed": (
            _X + " { let %b = %x * %x; let %f = fn (%a: int32) -> int32 { %a + %b }; %f(%x) }",
            (4, 20),
        ),
        "captures-a-tensor": (
            "def @main(%x: Tensor[(2), int32]) { let %b = %x + %x; "
            "let %f = fn (%a: Tensor[(2), int32]) -> Tensor[(2), int32] { %a * %b }; %f(%f(%x)) }",
            ([1, 2], [4, 32]),
        ),
        "captures-a-constant": (
            _X + " { let %k = 7; let %f = fn (%a: int32) -> int32 { %a * %k }; %f(%x) }",
            (2, 14),
        ),
        "captures-a-closure": (
            _X + " { let %f = fn (%a: int32) -> int32 { %a + %x }; "
            "let %g = fn (%a: int32) -> int32 { %f(%a) * 2 }; %g(10) }",
            (4, 28),
        ),
        "captures-twelve": (
            _X
            + " { "
            + " ".join(f"let %b{n} = %x * {n + 1};" for n in range(12))
            + " let %f = fn (%a: int32) -> int32 { "
            + " + ".join(["%a", *(f"%b{n}" for n in range(12))])
            + " }; %f(1) }",
            (1, 79),
        ),
        "keeps-what-it-captured": (
            _X + " { let %b = %x + 1; let %f = fn () -> int32 { %b }; let %b = 100; (%f(), %b) }",
            (4, (5, 100)),
        ),
        "is-made-twice": (
            "def @adder(%n: int32) -> fn (int32) -> int32 { fn (%a: int32) -> int32 { %a + %n } }\n"
            + _X
            + " { let %f = @adder(%x); let %g = @adder(%x * 10); (%f(1), %g(1), %f(2)) }",
            (4, (5, 41, 6)),
        ),
        "outlives-its-maker": (
            "def @make(%n: Tensor[(2), int32]) -> fn (Tensor[(2), int32]) -> Tensor[(2), int32] "
            "{ let %b = %n + %n; fn (%a: Tensor[(2), int32]) -> Tensor[(2), int32] { %a - %b } }\n"
            "def @main(%x: Tensor[(2), int32]) { let %f = @make(%x); let %g = @make(%x * %x); (%f(%x), "
            "%g(%x)) }",
            ([1, 3], ([-1, -3], [-1, -15])),
        ),
        "is-an-argument": (_TWICE + _X + " { @twice(fn (%a: int32) -> int32 { %a * 3 }, %x) }", (2, 18)),
        "is-an-argument-and-captures": (
            _TWICE + _XY + " { @twice(fn (%a: int32) -> int32 { (%a * %x) - %y }, 1) }",
            ((3, 2), 1),
        ),
        "global-as-an-argument": (
            _TWICE + "def @down(%a: int32) -> int32 { %a - 5 }\n" + _X + " { @twice(@down, %x) }",
            (12, 2),
        ),
        "takes-a-function": (
            _X + " { let %apply = fn (%f: fn (int32) -> int32, %a: int32) -> int32 { %f(%a) - %x }; "
            "%apply(fn (%b: int32) -> int32 { %b * %x }, 5) }",
            (4, 16),
        ),
        "is-composed": (
            "def @compose(%f: fn (int32) -> int32, %g: fn (int32) -> int32) -> fn (int32) -> int32 "
            "{ fn (%a: int32) -> int32 { %f(%g(%a)) } }\n"
            + _X
            + " { let %h = @compose(fn (%a: int32) -> int32 { %a - 1 }, fn (%a: int32) -> int32 { %a * 2 }); "
            "%h(%x) }",
            (4, 7),
        ),
        "is-curried": (
            _X + " { let %f = fn (%a: int32) -> fn (int32) -> int32 { fn (%b: int32) -> int32 { (%a * 10) - "
            "%b } }; "
            "let %g = %f(%x); (%g(1), %g(2)) }",
            (4, (39, 38)),
        ),
        "three-deep": (
            _X + " { let %f = fn (%a: int32) -> int32 { let %g = fn (%b: int32) -> int32 "
            "{ let %h = fn (%c: int32) -> int32 { ((%a * 100) + (%b * 10)) + (%c - %x) }; %h(%b + 1) }; "
            "%g(%a + 1) }; "
            "%f(1) }",
            (1, 122),
        ),
        "is-chosen": (
            "def @main(%c: bool, %x: int32) { let %f = if (%c) { fn (%a: int32) -> int32 { %a + 1 } } "
            "else { fn (%a: int32) -> int32 { %a * %x } }; %f(%x) }",
            ((True, 5), 6),
            ((False, 5), 25),
        ),
        "is-in-a-list": (
            "type G { Step(fn (int32) -> int32, G), Done }\n"
            "def @run(%g: G, %a: int32) -> int32 { match (%g) { Step(%f, %t) => @run(%t, %f(%a)), Done => "
            "%a } }\n"
            + _X
            + " { @run(Step(fn (%a: int32) -> int32 { %a + %x }, Step(fn (%a: int32) -> int32 { %a * 2 }, "
            "Done)), 1) }",
            (4, 10),
        ),
        "counts-in-a-reference": (
            _X + " { let %r = ref(%x); let %next = fn () -> int32 { let %v = ref_read(%r); "
            "let %_ = ref_write(%r, %v * 2); %v }; let %a = %next(); let %b = %next(); (%a, %b, "
            "ref_read(%r)) }",
            (3, (3, 6, 12)),
        ),
        "is-called-in-a-loop": (
            "def @iterate(%n: int32, %f: fn (int32) -> int32, %a: int32) -> int32 "
            "{ if (%n < 1) { %a } else { @iterate(%n - 1, %f, %f(%a)) } }\n"
            "def @main(%n: int32, %x: int32) { @iterate(%n, fn (%a: int32) -> int32 { (%a * 2) - %x }, 5) }",
            ((3, 1), 33),
            ((0, 1), 5),
        ),
        "grows-in-a-loop": (
            "def @wrap(%n: int32, %f: fn (int32) -> int32) -> fn (int32) -> int32 "
            "{ if (%n < 1) { %f } else { @wrap(%n - 1, fn (%a: int32) -> int32 { %f(%a) + %n }) } }\n"
            "def @main(%n: int32, %x: int32) { let %f = @wrap(%n, fn (%a: int32) -> int32 { %a * %x }); "
            "%f(10) }",
            ((4, 2), 30),
            ((0, 2), 20),
        ),
        "calls-itself": (
            "def @main(%n: int32, %k: int32) { let %f = fn (%i: int32, %a: int32) -> int32 "
            "{ if (%i == 0) { %a } else { %f(%i - 1, %a + %k) } }; %f(%n, 0) }",
            ((6, 7), 42),
            ((0, 7), 0),
        ),
        "calls-itself-but-not-last": (
            "def @main(%n: int32, %k: int32) { let %f = fn (%i: int32) -> int32 "
            "{ if (%i < 1) { %k } else { %i * %f(%i - 1) } }; %f(%n) }",
            ((5, 2), 240),
        ),
        "gives-a-tuple": (
            _X + " { let %f = fn (%a: int32) -> (int32, int32) { (%a, %x) }; let %t = %f(1); %t.0 - %t.1 }",
            (4, -3),
        ),
    },
)
CASES = (*_CALL, *_CLOSURE)
