"""``if``: which branch runs, what lives through it, and where its value goes."""

from relay_conformance.relay_cases.case import table

_CX = "def @main(%c: bool, %x: int32, %y: int32)"
_CD = "def @main(%c: bool, %d: bool, %x: int32, %y: int32)"
_SPIN = "def @spin(%n: int32) -> int32 { @spin(%n) }\n"

CASES = table(
    "lang-if",
    {
        "takes-the-branch": (_CX + " { if (%c) { %x } else { %y } }", ((True, 1, 2), 1), ((False, 1, 2), 2)),
        "computes-in-the-branch": (
            _CX + " { if (%c) { %x - %y } else { %y - %x } }",
            ((True, 1, 5), -4),
            ((False, 1, 5), 4),
        ),
        "leaves-the-other-branch-alone": (
            _SPIN + _CX + " { if (%c) { %x + %y } else { @spin(%x) } }",
            ((True, 1, 5), 6),
        ),
        "writes-in-the-taken-branch-only": (
            _CX + " { let %r = ref(%x); let %_ = if (%c) { ref_write(%r, %y) } else { () }; ref_read(%r) }",
            ((True, 1, 5), 5),
            ((False, 1, 5), 1),
        ),
        "value-is-used-after": (
            _CX + " { let %i = if (%c) { %x - %y } else { %y }; %i * %x }",
            ((True, 3, 5), -6),
            ((False, 3, 5), 15),
        ),
        "value-is-used-twice": (
            _CX + " { let %i = if (%c) { %x - %y } else { %y }; %i * %i }",
            ((True, 3, 5), 4),
            ((False, 3, 5), 25),
        ),
        "reads-the-same-value-before-in-and-after": (
            _CX + " { let %a = %x * 2; let %i = if (%c) { %a - %y } else { %y }; (%i, %a + %x) }",
            ((True, 3, 5), (1, 9)),
            ((False, 3, 5), (5, 9)),
        ),
        "condition-is-used-again": (
            _CX + " { let %i = if (%c) { %x } else { %y }; (%i, %c) }",
            ((True, 3, 5), (3, True)),
            ((False, 3, 5), (5, False)),
        ),
        "condition-is-computed": (
            _CX + " { if (%x < %y) { %x } else { %y } }",
            ((True, 3, 5), 3),
            ((True, 6, 5), 5),
        ),
        "condition-is-a-constant": (
            _CX + " { (if (True) { %x } else { %y }, if (False) { %x } else { %y }) }",
            ((True, 3, 5), (3, 5)),
        ),
        "condition-is-a-call": (
            "def @small(%a: int32) -> bool { %a < 10 }\n" + _CX + " { if (@small(%x)) { %y } else { %x } }",
            ((True, 3, 5), 5),
            ((True, 30, 5), 30),
        ),
        "condition-is-an-if": (
            _CX + " { if (if (%c) { %x < %y } else { %y < %x }) { 1 } else { 2 } }",
            ((True, 3, 5), 1),
            ((False, 3, 5), 2),
        ),
        "nested-in-then": (
            _CD + " { if (%c) { if (%d) { %x - %y } else { %y } } else { %x } }",
            ((True, True, 1, 5), -4),
            ((True, False, 1, 5), 5),
            ((False, True, 1, 5), 1),
        ),
        "nested-in-else": (
            _CD + " { if (%c) { %x } else { if (%d) { %x - %y } else { %y } } }",
            ((False, True, 1, 5), -4),
            ((False, False, 1, 5), 5),
            ((True, True, 1, 5), 1),
        ),
        "nested-then-read-after": (
            _CD + " { let %i = if (%c) { if (%d) { %y - %x } else { 0 - %y } } else { 0 - %x }; %i + %y }",
            ((True, True, 1, 5), 9),
            ((True, False, 1, 5), 0),
            ((False, True, 1, 5), 4),
        ),
        "nested-and-a-parameter-is-a-result": (
            _CD + " { let %i = if (%c) { if (%d) { %y - %x } else { %x } } else { %x }; (%i, %y) }",
            ((True, True, 1, 5), (4, 5)),
            ((True, False, 1, 5), (1, 5)),
            ((False, False, 1, 5), (1, 5)),
        ),
        "nested-three-deep": (
            _CD + " { if (%c) { if (%d) { if (%x < %y) { 1 } else { 2 } } else { 3 } } else { 4 } }",
            ((True, True, 1, 5), 1),
            ((True, True, 5, 1), 2),
            ((True, False, 1, 5), 3),
            ((False, True, 1, 5), 4),
        ),
        "one-after-another": (
            _CD + " { let %i = if (%c) { %x } else { %y }; let %j = if (%d) { %x } else { %y }; %i - %j }",
            ((True, False, 1, 5), -4),
            ((False, True, 1, 5), 4),
            ((True, True, 1, 5), 0),
        ),
        "the-second-on-the-first-s-value": (
            _CD + " { let %i = if (%c) { %x } else { %y }; if (%i < 3) { %i + 100 } else { %i - 100 } }",
            ((True, True, 1, 5), 101),
            ((False, True, 1, 5), -95),
        ),
        "both-branches-give-a-parameter": (
            _CX + " { let %i = if (%c) { %x } else { %x }; %i - %y }",
            ((True, 1, 5), -4),
            ((False, 1, 5), -4),
        ),
        "branches-swap": (
            _CX + " { let %t = if (%c) { (%x, %y) } else { (%y, %x) }; %t.0 - %t.1 }",
            ((True, 1, 5), -4),
            ((False, 1, 5), 4),
        ),
        "gives-a-tuple": (
            _CX + " { if (%c) { (%x, (%y, %x)) } else { (%y, (%y, %y)) } }",
            ((True, 1, 5), (1, (5, 1))),
            ((False, 1, 5), (5, (5, 5))),
        ),
        "gives-a-function": (
            _CX + " { let %f = if (%c) { fn (%a: int32) -> int32 { %a + %x } } "
            "else { fn (%a: int32) -> int32 { %a - %y } }; %f(10) }",
            ((True, 1, 5), 11),
            ((False, 1, 5), 5),
        ),
        "gives-data": (
            _CX + " { match (if (%c) { Leaf(%x) } else { Node(Leaf(%x), %y, Leaf(3)) }) "
            "{ Leaf(%v) => %v, Node(_, %v, _) => %v * 10 } }",
            ((True, 1, 5), 1),
            ((False, 1, 5), 50),
        ),
        "gives-a-reference": (
            _CX + " { let %a = ref(%x); let %b = ref(%y); let %r = if (%c) { %a } else { %b }; "
            "let %_ = ref_write(%r, 9); (ref_read(%a), ref_read(%b)) }",
            ((True, 1, 5), (9, 5)),
            ((False, 1, 5), (1, 9)),
        ),
        "in-a-branch-a-let-of-its-own": (
            _CX + " { if (%c) { let %a = %x * 2; let %b = %a - %y; %b * %a } else { let %a = %y; %a } }",
            ((True, 3, 5), 6),
            ((False, 3, 5), 5),
        ),
        "as-an-operand": (
            _CX + " { (if (%c) { %x } else { %y }) - (if (%c) { %y } else { %x }) }",
            ((True, 1, 5), -4),
            ((False, 1, 5), 4),
        ),
        "as-an-argument": (
            "def @f(%a: int32, %b: int32) -> int32 { %a - %b }\n"
            + _CX
            + " { @f(if (%c) { %x } else { %y }, if (%c) { %y } else { 7 }) }",
            ((True, 1, 5), -4),
            ((False, 1, 5), -2),
        ),
        "over-tensors": (
            "def @main(%c: bool, %x: Tensor[(2), int32]) { let %a = %x + %x; if (%c) { %a } else { %x * "
            "%a } }",
            ((True, [1, 2]), [2, 4]),
            ((False, [1, 2]), [2, 8]),
        ),
        "in-a-function-that-is-called-twice": (
            "def @pick(%c: bool, %a: int32, %b: int32) -> int32 { if (%c) { %a } else { %b } }\n"
            + _CX
            + " { @pick(%c, %x, %y) - @pick(logical_not(%c), %x, %y) }",
            ((True, 1, 5), -4),
            ((False, 1, 5), 4),
        ),
        "a-chain-of-ten": (
            "def @main(%x: int32) { "
            + "".join(f"if (%x == {n}) {{ {n * n} }} else {{ " for n in range(10))
            + "0 - %x"
            + " }" * 10
            + " }",
            (0, 0),
            (3, 9),
            (9, 81),
            (10, -10),
        ),
        "diamonds-in-a-row": (
            "def @main(%x: int32) { "
            + " ".join(
                f"let %a{n + 1} = if (%a{n} < {n * 3}) {{ %a{n} + {n} }} else {{ %a{n} - 1 }};".replace(
                    "%a0", "%x"
                )
                for n in range(6)
            )
            + " %a6 - %x }",
            (0, 14),
            (100, -6),
        ),
    },
)
