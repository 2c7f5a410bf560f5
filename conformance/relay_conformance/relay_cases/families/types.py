"""What the type checker refuses, and the arguments that a compiled program refuses."""

import numpy as np

from relay_conformance.relay_cases.case import Refused, refusals, table

_ILL_TYPED = refusals(
    "lang-type",
    {
        "refuses-two-dtypes": ("def @main(%x: int32, %y: float32) { %x + %y }", "int32|float32|type"),
        "refuses-shapes-that-do-not-broadcast": (
            "def @main(%x: Tensor[(2), int32], %y: Tensor[(3), int32]) { %x + %y }",
            "broadcast|type",
        ),
        "refuses-too-few-arguments": (
            "def @f(%x: int32, %y: int32) -> int32 { %x + %y }\ndef @main(%x: int32) { @f(%x) }",
            "argument|type",
        ),
        "refuses-too-many-arguments": (
            "def @f(%x: int32) -> int32 { %x }\ndef @main(%x: int32) { @f(%x, %x) }",
            "argument|type",
        ),
        "refuses-an-argument-of-another-type": (
            "def @f(%x: Tensor[(2), int32]) -> Tensor[(2), int32] { %x }\ndef @main(%x: int32) { @f(%x) }",
            "type|shape|dimension|mismatch|unif",
        ),
        "refuses-another-result-than-declared": (
            "def @main(%x: int32) -> bool { %x + 1 }",
            "type|mismatch|unif",
        ),
        "refuses-branches-of-two-types": (
            "def @main(%c: bool, %x: int32) { if (%c) { %x } else { (%x, %x) } }",
            "type|mismatch|unif",
        ),
        "refuses-a-condition-that-is-no-bool": (
            "def @main(%x: int32) { if (%x) { 1 } else { 2 } }",
            "bool|type|mismatch|unif",
        ),
        "refuses-a-condition-that-is-no-scalar": (
            "def @main(%c: Tensor[(2), bool]) { if (%c) { 1 } else { 2 } }",
            "type|mismatch|unif|dimension",
        ),
        "refuses-a-field-beyond-the-tuple": (
            "def @main(%x: int32) { let %t = (%x, %x); %t.2 }",
            "index|field|tuple|type",
        ),
        "refuses-a-call-of-a-tensor": ("def @main(%x: int32) { %x(1) }", "function|call|type"),
        "refuses-a-constructor-with-too-few-fields": (
            "def @main(%x: int32) -> L { Cons(%x) }",
            "argument|field|type|unif",
        ),
        "refuses-a-constructor-of-another-type": (
            "def @main(%x: int32) -> L { Cons(%x, Leaf(%x)) }",
            "type|mismatch|unif",
        ),
        "refuses-clauses-of-two-types": (
            "def @main(%x: int32) { match (Leaf(%x)) { Leaf(%v) => %v, Node(_, _, _) => True } }",
            "type|mismatch|unif",
        ),
        "refuses-a-pattern-of-another-type": (
            "def @main(%x: int32) -> int32 { match? (Leaf(%x)) { Cons(%h, _) => %h } }",
            "type|mismatch|unif|constructor|pattern",
        ),
        "refuses-a-match-that-leaves-out-a-constructor": (
            "def @main(%x: int32) -> int32 { match (Leaf(%x)) { Leaf(%v) => %v } }",
            "match|clause|exhaust|case",
        ),
        "refuses-a-write-of-another-type": (
            "def @main(%x: int32) { let %r = ref(%x); ref_write(%r, True) }",
            "type|mismatch|unif",
        ),
        "refuses-a-read-of-what-is-no-reference": ("def @main(%x: int32) { ref_read(%x) }", "ref|type|unif"),
        "refuses-an-operator-with-a-missing-operand": (
            "def @main(%x: int32) { add(%x) }",
            "add|argument|type",
        ),
        "refuses-an-attribute-that-does-not-fit": (
            "def @main(%x: Tensor[(2, 3), int32]) { reshape(%x, newshape=[5]) }",
            "reshape|size|shape|elements|type",
        ),
        "refuses-an-axis-that-is-not-there": (
            "def @main(%x: Tensor[(2), int32]) { sum(%x, axis=[3]) }",
            "axis|dimension|range|bound|type",
        ),
        "refuses-a-list-of-two-types": (
            "def @main(%x: int32) -> int32 { match? (Push(%x, Push(True, Empty))) { Push(%v, _) => %v } }",
            "type|mismatch|unif",
        ),
        "refuses-two-types-for-one-type-parameter": (
            "def @same[A](%a: A, %b: A) -> A { %a }\ndef @main(%x: int32) { @same(%x, True) }",
            "type|mismatch|unif|bool",
        ),
    },
)
_VECTOR = "def @main(%x: Tensor[(2), int32]) -> Tensor[(2), int32] { %x + %x }"
_ARGUMENTS = table(
    "lang-argument",
    {
        "refuses-another-integer-width": (
            _VECTOR,
            (np.array([1, 2], "int64"), Refused("int64")),
            ([1, 2], [2, 4]),
        ),
        "refuses-a-float-for-an-integer": (_VECTOR, ([1.0, 2.0], Refused("float32")), ([3, 4], [6, 8])),
        "refuses-a-bool-for-an-integer": (_VECTOR, ([True, False], Refused("bool"))),
        "refuses-an-unsigned-for-a-signed": (_VECTOR, (np.array([1, 2], "uint32"), Refused("uint32"))),
        "refuses-another-length": (_VECTOR, ([1, 2, 3], Refused("3")), ([1, 2], [2, 4])),
        "refuses-a-dimension-more": (_VECTOR, ([[1, 2]], Refused("1, 2|2"))),
        "refuses-a-scalar-for-a-vector": (_VECTOR, (1, Refused(r"int32\[\]"))),
        "refuses-a-vector-for-a-scalar": (
            "def @main(%x: int32) -> int32 { %x + 1 }",
            ([1], Refused("shape|dimension|rank|1")),
            (1, 2),
        ),
        "refuses-an-argument-too-many": (_VECTOR, (([1, 2], [1, 2]), Refused("1|2|argument"))),
        "refuses-an-argument-too-few": (
            "def @main(%x: int32, %y: int32) -> int32 { %x - %y }",
            (1, Refused("1|2|argument")),
            ((5, 3), 2),
        ),
        "refuses-the-rank-of-an-open-shape": (
            "def @main(%x: Tensor[(?, 2), int32]) { %x + %x }",
            ([1, 2], Refused("2")),
            ([[1, 2]], [[2, 4]]),
        ),
        "refuses-the-known-part-of-an-open-shape": (
            "def @main(%x: Tensor[(?, 2), int32]) { %x + %x }",
            ([[1, 2, 3]], Refused("3")),
            ([[1, 2], [3, 4]], [[2, 4], [6, 8]]),
        ),
        "refuses-one-that-is-no-number": (
            "def @main(%x: int32) -> int32 { %x + 1 }",
            (np.array(1, "int8"), Refused("int8")),
            (np.array(1.5, "float64"), Refused("float64")),
        ),
        "refuses-a-wrong-second-one": (
            "def @main(%x: int32, %y: Tensor[(2), int32]) { %y - %x }",
            ((1, [1, 2, 3]), Refused("3")),
            ((1, [1, 2]), [0, 1]),
        ),
        "refuses-a-vector-without-elements": (
            _VECTOR,
            (np.zeros(0, "int32"), Refused(r"int32\[0\]")),
            ([1, 2], [2, 4]),
        ),
        "takes-no-arguments": ("def @main() -> int32 { 7 }", ((), 7)),
        "takes-a-strided-array": (
            _VECTOR,
            (np.array([1, 9, 2, 9], "int32")[::2], [2, 4]),
            (np.array([1, 2], "int32")[::-1], [4, 2]),
        ),
        "takes-one-array-twice": (
            "def @main(%x: Tensor[(2), int32], %y: Tensor[(2), int32]) { (%x + %y, %x - %y) }",
            (([1, 2], [1, 2]), ([2, 4], [0, 0])),
        ),
        "unread-ones-are-allowed": ("def @main(%x: int32, %y: int32) -> int32 { %y }", ((1, 2), 2)),
    },
)
CASES = (*_ILL_TYPED, *_ARGUMENTS)
