"""Recursion: one function and several, in tail position and not."""

from relay_conformance.relay_cases.case import table

_N = "def @main(%n: int32)"

CASES = table(
    "lang-recursion",
    {
        "factorial": (
            "def @f(%n: int32) -> int32 { if (%n < 1) { 1 } else { %n * @f(%n - 1) } }\n"
            + _N
            + " { @f(%n) }",
            (0, 1),
            (5, 120),
        ),
        "fibonacci": (
            "def @f(%n: int32) -> int32 { if (%n < 2) { %n } else { @f(%n - 1) + @f(%n - 2) } }\n"
            + _N
            + " { @f(%n) }",
            (10, 55),
            (1, 1),
        ),
        "accumulates": (
            "def @f(%n: int32, %a: int32) -> int32 { if (%n < 1) { %a } else { @f(%n - 1, %a + %n) } }\n"
            + _N
            + " { @f(%n, 0) }",
            (100, 5050),
            (0, 0),
        ),
        "zero-rounds": (
            "def @f(%n: int32, %a: int32) -> int32 { if (%n < 1) { %a } else { @f(%n - 1, %a * 2) } }\n"
            + _N
            + " { (@f(0, %n), @f(0 - 5, %n)) }",
            (7, (7, 7)),
        ),
        "greatest-common-divisor": (
            "def @gcd(%a: int32, %b: int32) -> int32 "
            "{ if (%a == %b) { %a } else { if (%a < %b) { @gcd(%a, %b - %a) } else { @gcd(%a - %b, %b) } "
            "} }\n"
            "def @main(%a: int32, %b: int32) { @gcd(%a, %b) }",
            ((48, 18), 6),
            ((7, 5), 1),
        ),
        "ackermann": (
            "def @f(%m: int32, %n: int32) -> int32 { if (%m < 1) { %n + 1 } else { if (%n < 1) { @f(%m - "
            "1, 1) } "
            "else { @f(%m - 1, @f(%m, %n - 1)) } } }\ndef @main(%m: int32, %n: int32) { @f(%m, %n) }",
            ((2, 2), 7),
            ((1, 3), 5),
        ),
        "even-and-odd": (
            "def @even(%n: int32) -> bool { if (%n == 0) { True } else { @odd(%n - 1) } }\n"
            "def @odd(%n: int32) -> bool { if (%n == 0) { False } else { @even(%n - 1) } }\n"
            + _N
            + " { (@even(%n), @odd(%n)) }",
            (10, (True, False)),
            (7, (False, True)),
        ),
        "three-functions-in-turn": (
            "def @a(%n: int32, %s: int32) -> int32 { if (%n < 1) { %s } else { @b(%n - 1, %s + 1) } }\n"
            "def @b(%n: int32, %s: int32) -> int32 { if (%n < 1) { %s } else { @c(%n - 1, %s * 10) } }\n"
            "def @c(%n: int32, %s: int32) -> int32 { if (%n < 1) { %s } else { @a(%n - 1, %s - 3) } }\n"
            + _N
            + " { @a(%n, 1) }",
            (0, 1),
            (3, 17),
            (5, 180),
        ),
        "variables-survive-the-inner-call": (
            "def @f(%n: int32) -> int32 { if (%n < 1) { 0 } else { let %a = %n * 2; let %b = @f(%n - 1); "
            "(%b * 10) + (%a - %n) } }\n" + _N + " { @f(%n) }",
            (4, 1234),
        ),
        "two-inner-calls": (
            "def @f(%n: int32) -> int32 { if (%n < 1) { 1 } else { let %a = @f(%n - 1); let %b = @f(%n - "
            "2); (%a * 2) - %b } }\n" + _N + " { @f(%n) }",
            (5, 1),
            (1, 1),
        ),
        "deep": (
            "def @f(%n: int32) -> int32 { if (%n < 1) { 0 } else { 1 + @f(%n - 1) } }\n" + _N + " { @f(%n) }",
            (400, 400),
        ),
        "over-tensors": (
            "def @f(%n: int32, %x: Tensor[(2), int32]) -> Tensor[(2), int32] { if (%n < 1) { %x } else { "
            "let %y = @f(%n - 1, %x + %x); %y - %x } }\n"
            "def @main(%n: int32, %x: Tensor[(2), int32]) { @f(%n, %x) }",
            ((3, [1, 2]), [1, 2]),
            ((0, [1, 2]), [1, 2]),
        ),
        "a-loop-in-a-loop": (
            "def @inner(%i: int32, %a: int32) -> int32 { if (%i < 1) { %a } else { @inner(%i - 1, %a + "
            "%i) } }\n"
            "def @outer(%n: int32, %a: int32) -> int32 { if (%n < 1) { %a } else { @outer(%n - 1, "
            "@inner(%n, %a)) } }\n" + _N + " { @outer(%n, 0) }",
            (4, 20),
            (0, 0),
        ),
        "a-loop-after-a-loop": (
            "def @up(%n: int32, %a: int32) -> int32 { if (%n < 1) { %a } else { @up(%n - 1, %a + 2) } }\n"
            "def @down(%n: int32, %a: int32) -> int32 { if (%n < 1) { %a } else { @down(%n - 1, %a - 1) } }\n"
            + _N
            + " { @down(%n, @up(%n, %n)) }",
            (5, 10),
        ),
        "carries-one-value-along": (
            "def @f(%n: int32, %a: int32, %x: int32) -> int32 { if (%n < 1) { %a } else { @f(%n - 1, %a + "
            "%x, %x) } }\n"
            "def @main(%n: int32, %x: int32) { @f(%n, %x, %x) }",
            ((4, 3), 15),
        ),
        "starts-with-an-invariant": (
            "def @f(%i: int32, %y: Tensor[(2), int32], %x: Tensor[(2), int32]) -> Tensor[(2), int32] "
            "{ if (%i < 5) { @f(%i + 1, %y + %x, %x) } else { %y } }\n"
            "def @main(%x: Tensor[(2), int32]) { @f(0, %x, %x) }",
            ([0, 2], [0, 12]),
        ),
        "values-change-places": (
            "def @f(%n: int32, %a: int32, %b: int32) -> (int32, int32) { if (%n < 1) { (%a, %b) } else { "
            "@f(%n - 1, %b, %a) } }\n"
            "def @main(%n: int32, %a: int32, %b: int32) { @f(%n, %a, %b) }",
            ((3, 1, 2), (2, 1)),
            ((4, 1, 2), (1, 2)),
        ),
        "values-shift-along": (
            "def @f(%n: int32, %a: int32, %b: int32, %c: int32) -> int32 "
            "{ if (%n < 1) { ((%a * 100) + (%b * 10)) + %c } else { @f(%n - 1, %b, %c, %a + %b) } }\n"
            + _N
            + " { @f(%n, 1, 2, 3) }",
            (0, 123),
            (1, 233),
            (3, 356),
        ),
        "leaves-by-two-ways": (
            "def @f(%n: int32, %a: int32) -> int32 { if (%n < 1) { 0 - %a } else { if (50 < %a) { %a } "
            "else { @f(%n - 1, %a * 3) } } }\n" + _N + " { @f(%n, 1) }",
            (2, -9),
            (10, 81),
        ),
        "goes-on-by-two-ways": (
            "def @f(%n: int32, %steps: int32) -> int32 { if (%n < 2) { %steps } else { "
            "if ((%n - ((%n / 2) * 2)) == 0) { @f(%n / 2, %steps + 1) } else { @f((%n * 3) + 1, %steps + "
            "1) } } }\n" + _N + " { @f(%n, 0) }",
            (6, 8),
            (1, 0),
        ),
        "in-the-condition": (
            "def @small(%n: int32) -> bool { if (%n < 10) { True } else { if (@small(%n - 10)) { False } "
            "else { True } } }\n" + _N + " { @small(%n) }",
            (5, True),
            (15, False),
            (25, True),
        ),
        "passes-a-function-on": (
            "def @f(%n: int32, %g: fn (int32) -> int32) -> int32 { if (%n < 1) { %g(1) } else { %g(@f(%n "
            "- 1, %g)) } }\n"
            "def @main(%n: int32, %x: int32) { @f(%n, fn (%a: int32) -> int32 { %a + %x }) }",
            ((3, 4), 17),
        ),
        "builds-then-folds": (
            "def @make(%n: int32, %l: L) -> L { if (%n < 1) { %l } else { @make(%n - 1, Cons(%n, %l)) } }\n"
            "def @fold(%l: L, %a: int32) -> int32 { match (%l) { Cons(%h, %t) => @fold(%t, (%a * 10) + "
            "%h), Nil => %a } }\n" + _N + " { @fold(@make(%n, Nil), 0) }",
            (4, 1234),
            (0, 0),
        ),
        "mains-own-parameter-counts": (
            "def @f(%n: int32) -> int32 { if (%n < 1) { 0 } else { @f(%n - 1) } }\n"
            + _N
            + " { %n - @f(%n) }",
            (9, 9),
        ),
    },
)
