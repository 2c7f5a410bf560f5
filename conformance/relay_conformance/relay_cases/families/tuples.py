"""Tuples: made, taken apart, nested, passed through calls, branches and loops."""

from relay_conformance.relay_cases.case import table

_XY = "def @main(%x: int32, %y: int32)"
_LONG = 70

CASES = table(
    "lang-tuple",
    {
        "is-a-result": (_XY + " { (%x, %y) }", ((1, 2), (1, 2))),
        "of-one-field": ("def @main(%x: int32) { (%x,) }", (1, (1,))),
        "of-no-fields": ("def @main(%x: int32) { () }", (1, ())),
        "nested": (_XY + " { (%x, (%y, (%x, %y)), ()) }", ((1, 2), (1, (2, (1, 2)), ()))),
        "with-one-value-twice": (_XY + " { (%x, %x, %y, %x) }", ((1, 2), (1, 1, 2, 1))),
        "with-what-is-computed": (_XY + " { (%x + %y, %x - %y, %x * %y) }", ((5, 2), (7, 3, 10))),
        "of-several-types": (
            "def @main(%c: bool, %x: Tensor[(2), float32]) { (%c, %x, 3, (1.5f, %c)) }",
            ((True, [1.0, 2.0]), (True, [1.0, 2.0], 3, (1.5, True))),
        ),
        "field-of-a-tuple": (_XY + " { let %t = (%x, %y); (%t.1, %t.0) }", ((1, 2), (2, 1))),
        "field-of-a-field": (
            _XY + " { let %t = (%x, (%y, %x)); let %u = %t.1; (%u.0, %u.1) }",
            ((1, 2), (2, 1)),
        ),
        "field-is-used-after-the-tuple": (
            _XY + " { let %t = (%x + %y, %x - %y); let %a = %t.0; let %b = %t.1; (%a * %b) - %a }",
            ((5, 2), 14),
        ),
        "whole-and-field": (_XY + " { let %t = (%x + %y, %y); (%t, %t.0) }", ((1, 2), ((3, 2), 3))),
        "is-an-argument": (
            "def @f(%t: (int32, (int32, int32))) -> int32 { let %u = %t.1; %t.0 - (%u.0 * %u.1) }\n"
            + _XY
            + " { @f((%x, (%y, 3))) }",
            ((10, 2), 4),
        ),
        "is-a-function-s-result": (
            "def @f(%a: int32, %b: int32) -> (int32, int32) { (%a + %b, %a - %b) }\n"
            + _XY
            + " { let %t = @f(%x, %y); let %u = @f(%t.1, %t.0); (%t, %u) }",
            ((5, 2), ((7, 3), (10, -4))),
        ),
        "goes-through-a-function": (
            "def @id(%t: (int32, int32)) -> (int32, int32) { %t }\n"
            + _XY
            + " { let %t = @id(@id((%x, %y))); %t.0 - %t.1 }",
            ((5, 2), 3),
        ),
        "goes-round-a-loop": (
            "def @f(%n: int32, %t: (int32, int32)) -> (int32, int32) "
            "{ if (%n < 1) { %t } else { @f(%n - 1, (%t.1, %t.0 + %t.1)) } }\n"
            "def @main(%n: int32) { @f(%n, (0, 1)) }",
            (10, (55, 89)),
            (0, (0, 1)),
        ),
        "fields-turn-in-a-loop": (
            "def @f(%n: int32, %t: (int32, int32, int32)) -> (int32, int32, int32) "
            "{ if (%n < 1) { %t } else { @f(%n - 1, (%t.1, %t.2, %t.0)) } }\n"
            "def @main(%n: int32, %x: int32) { @f(%n, (%x, %x + 1, %x + 2)) }",
            ((4, 1), (2, 3, 1)),
        ),
        "is-captured": (
            _XY + " { let %t = (%x, %y); let %f = fn (%a: int32) -> int32 { (%a * %t.0) - %t.1 }; %f(10) }",
            ((5, 2), 48),
        ),
        "holds-a-function": (
            _XY + " { let %t = (fn (%a: int32) -> int32 { %a - %x }, %y); let %f = %t.0; %f(%t.1) }",
            ((5, 2), -3),
        ),
        "holds-data": (
            _XY + " { let %t = (Leaf(%x), %y); match (%t.0) { Leaf(%v) => %v - %t.1, Node(_, _, _) => 0 } }",
            ((5, 2), 3),
        ),
        "of-tensors": (
            "def @main(%x: Tensor[(2), int32]) { let %t = (%x + %x, %x * %x); (%t.1 - %t.0, %t) }",
            ([3, 4], ([3, 8], ([6, 8], [9, 16]))),
        ),
        "of-seventy-fields": (
            "def @main(%x: int32) { let %t = ("
            + ", ".join(["%x", "%x + 1"] * (_LONG // 2))
            + f"); %t.0 + %t.{_LONG - 1} }}",
            (3, 7),
        ),
        "of-eight-live-tensors": (
            "def @main(%x: Tensor[(2), int32]) { "
            + " ".join(f"let %a{n} = %a{n - 1} + %x;".replace("%a0 ", "%x ") for n in range(1, 9))
            + " ("
            + ", ".join(f"%a{n}" for n in range(1, 9))
            + ") }",
            ([1, 2], tuple([n + 1, 2 * n + 2] for n in range(1, 9))),
        ),
    },
)
