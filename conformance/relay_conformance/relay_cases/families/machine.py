"""The compiler's guarantees as programs see them, and one program at least for each instruction.

A test requires that the instruction of an ``exec-`` rule is in the compiled program of each of its cases.
"""

import numpy as np

from relay_conformance.relay_cases.case import Refused, RelayCase, Row, table

_VECTOR = "Tensor[(2), int32]"
_LOOP = (
    f"def @f(%n: int32, %a: {_VECTOR}, %x: {_VECTOR}) -> {_VECTOR} "
    "{ if (%n < 1) { %a } else { @f(%n - 1, %a + %x, %x) } }\n"
)
_EVEN = (
    "def @even(%n: int32) -> bool { if (%n == 0) { True } else { @odd(%n - 1) } }\n"
    "def @odd(%n: int32) -> bool { if (%n == 0) { False } else { @even(%n - 1) } }\n"
)


def _turning(width: int) -> str:
    """A loop whose ``width`` values change places in a circle."""
    names = [f"%a{n}" for n in range(width)]
    types = ", ".join([_VECTOR] * width)
    parameters = ", ".join(f"{name}: {_VECTOR}" for name in names)
    turned = ", ".join([*names[1:], names[0]])
    return (
        f"def @f(%n: int32, {parameters}) -> ({types}) "
        f"{{ if (%n < 1) {{ ({', '.join(names)}) }} else {{ @f(%n - 1, {turned}) }} }}\n"
        f"def @main(%n: int32, {parameters}) {{ @f(%n, {', '.join(names)}) }}"
    )


def _turned(width: int, rounds: int) -> tuple[object, object]:
    values = [[n, 10 * n] for n in range(width)]
    return (rounds, *values), tuple(values[(place + rounds) % width] for place in range(width))


def _wide(width: int) -> str:
    """``width`` tensors that all live until the end, each made from the one before; calls are not fused."""
    product = f"def @product(%a: {_VECTOR}, %b: {_VECTOR}) -> {_VECTOR} {{ %a * %b }}\n"
    minus = f"def @minus(%a: {_VECTOR}, %b: {_VECTOR}) -> {_VECTOR} {{ %a - %b }}\n"
    lets = [f"let %a{n + 1} = @product(%a{n}, %x);".replace("%a0,", "%x,") for n in range(width)]
    total = f"%a{width}"
    for n in range(width - 1, 0, -1):
        total = f"@minus({total}, %a{n})"
    return f"{product}{minus}def @main(%x: {_VECTOR}) {{ {' '.join(lets)} {total} }}"


def _wide_result(width: int, x: list[int]) -> object:
    values = [np.array(x, "int32") ** (n + 2) for n in range(width)]
    total = values[-1]
    for value in reversed(values[:-1]):
        total = total - value
    return total


_COMPILER: dict[str, dict[str, Row]] = {
    "comp-registers": {
        "few-live-in-a-long-chain": (
            "def @main(%x: int32) { "
            + " ".join(f"let %a{n + 1} = %a{n} * 3;".replace("%a0 ", "%x ") for n in range(12))
            + " %a12 }",
            (1, 3**12),
        ),
        "holes-between-uses": (
            "def @main(%c: bool, %x: int32, %y: int32) { let %a = %x * 2; "
            "let %i = if (%c) { %y - 1 } else { let %b = %y * %y; %b + %a }; %i - %x }",
            ((True, 3, 5), 1),
            ((False, 3, 5), 28),
        ),
    },
    "comp-moves": {
        **{
            f"circle-of-{width}": (_turning(width), *(_turned(width, n) for n in (0, 1, width, width + 1)))
            for width in (2, 3, 5)
        },
        "one-value-to-two-places": (
            f"def @f(%n: int32, %a: {_VECTOR}, %b: {_VECTOR}) -> ({_VECTOR}, {_VECTOR}) "
            "{ if (%n < 1) { (%a, %b) } else { @f(%n - 1, %b, %b) } }\n"
            f"def @main(%n: int32, %a: {_VECTOR}, %b: {_VECTOR}) {{ @f(%n, %a, %b) }}",
            ((0, [1, 2], [3, 4]), ([1, 2], [3, 4])),
            ((2, [1, 2], [3, 4]), ([3, 4], [3, 4])),
        ),
        "circle-beside-what-lives-on": (
            "def @main(%z: int32, %c: bool, %x: int32, %y: int32) "
            "{ let %t = if (%c) { (%x, %y) } else { (%y, %x) }; ((%t.0 * 10) - %t.1) * %z }",
            ((2, True, 3, 4), 52),
            ((2, False, 3, 4), 74),
        ),
        "two-circles": (
            "def @f(%n: int32, %a: int32, %b: int32, %c: int32, %d: int32) -> (int32, int32, int32, int32) "
            "{ if (%n < 1) { (%a, %b, %c, %d) } else { @f(%n - 1, %b, %a, %d, %c) } }\n"
            "def @main(%n: int32) { @f(%n, 1, 2, 3, 4) }",
            (3, (2, 1, 4, 3)),
            (2, (1, 2, 3, 4)),
        ),
        "a-chain-beside-a-circle": (
            "def @f(%n: int32, %a: int32, %b: int32, %c: int32) -> (int32, int32, int32) "
            "{ if (%n < 1) { (%a, %b, %c) } else { @f(%n - 1, %b, %a, %a) } }\n"
            "def @main(%n: int32) { @f(%n, 1, 2, 3) }",
            (1, (2, 1, 1)),
            (2, (1, 2, 2)),
        ),
    },
    "comp-last-use": {
        "read-in-one-branch-and-after": (
            "def @main(%c: bool, %x: int32, %y: int32) { let %i = if (%c) { if (%c) { %y - %x } else { 0 "
            "- %y } } "
            "else { 0 - %x }; (%i, %y, %x) }",
            ((True, 3, 5), (2, 5, 3)),
            ((False, 3, 5), (-3, 5, 3)),
        ),
        "read-in-one-branch-only": (
            f"def @main(%c: bool, %x: {_VECTOR}) {{ let %a = %x * %x; if (%c) {{ %a - %x }} else {{ %x }} }}",
            ((True, [1, 3]), [0, 6]),
            ((False, [1, 3]), [1, 3]),
        ),
        "both-operands-at-once": ("def @main(%x: int32) { let %a = %x + 1; %a - %a }", (3, 0)),
        "in-the-last-round-of-a-loop": (
            _LOOP + f"def @main(%n: int32, %x: {_VECTOR}) {{ let %a = @f(%n, %x, %x); (%a, %x) }}",
            ((3, [1, 2]), ([4, 8], [1, 2])),
        ),
    },
    "comp-limit": {
        f"{width}-live-at-once": (_wide(width), ([1, 2], _wide_result(width, [1, 2]))) for width in (3, 6, 9)
    },
    "comp-escape": {
        "results-outlive-the-frame": (
            f"def @f(%x: {_VECTOR}) -> ({_VECTOR}, {_VECTOR}) {{ let %a = %x + %x; let %b = %a * %x; (%a, "
            f"%b) }}\n"
            f"def @main(%x: {_VECTOR}) {{ let %t = @f(%x); let %u = @f(%t.1); let %a = %t.0; (%a, %u) }}",
            ([1, 2], ([2, 4], ([4, 16], [8, 128]))),
        ),
        "captured-tensors-outlive-the-frame": (
            f"def @f(%x: {_VECTOR}) -> fn () -> {_VECTOR} {{ let %a = %x * %x; fn () -> {_VECTOR} {{ %a + "
            f"%x }} }}\n"
            f"def @main(%x: {_VECTOR}) {{ let %g = @f(%x); let %h = @f(%x + %x); (%g(), %h()) }}",
            ([1, 2], ([2, 6], [6, 20])),
        ),
        "a-stored-tensor-outlives-the-frame": (
            f"def @f(%r, %x: {_VECTOR}) -> () {{ ref_write(%r, %x * %x) }}\n"
            f"def @main(%x: {_VECTOR}) {{ let %r = ref(%x); let %_ = @f(%r, %x + %x); "
            "let %a = ref_read(%r); let %__ = @f(%r, %x); (%a, ref_read(%r)) }",
            ([1, 2], ([4, 16], [1, 4])),
        ),
        "a-parameter-given-back": (
            f"def @f(%c: bool, %a: {_VECTOR}) -> {_VECTOR} {{ if (%c) {{ %a }} else {{ %a + %a }} }}\n"
            f"def @main(%c: bool, %x: {_VECTOR}) {{ let %y = %x * %x; let %z = @f(%c, %y); let %w = %x - "
            f"%z; (%w, %z) }}",
            ((True, [1, 3]), ([0, -6], [1, 9])),
            ((False, [1, 3]), ([-1, -15], [2, 18])),
        ),
        "an-alias-by-reshape": (
            "def @main(%x: Tensor[(2, 2), int32]) { let %a = %x + %x; let %b = reshape(%a, newshape=[4]); "
            "let %c = %x * %x; let %d = reshape(%c, newshape=[4]); (%b, %d, %a) }",
            ([[1, 2], [3, 4]], ([2, 4, 6, 8], [1, 4, 9, 16], [[2, 4], [6, 8]])),
        ),
    },
    "comp-storage": {
        "an-early-value-is-read-late": (
            f"def @main(%x: {_VECTOR}) {{ let %a = %x + 1; let %b = %a * %a; let %c = %b - %x; let %d = "
            f"%c * %b; "
            "%d - %a }",
            ([1, 2], [10, 60]),
        ),
        "an-alias-is-read-late": (
            "def @main(%x: Tensor[(2, 2), int32]) { let %a = %x + 1; let %b = reshape(%a, newshape=[4]); "
            "let %c = %x * %x; let %d = %c - %x; let %e = %d * 2; (%e + %c, %b + 0) }",
            ([[1, 2], [3, 4]], ([[1, 8], [21, 40]], [2, 3, 4, 5])),
        ),
        "sizes-grow-and-shrink": (
            "def @main(%x: Tensor[(2), int32]) { let %a = %x + %x; let %b = concatenate((%a, %x)); "
            "let %c = concatenate((%b, %b)); let %d = sum(%c, axis=[0]); let %e = %x * %d; "
            "let %g = concatenate((%e, %a)); %g - %b }",
            ([1, 2], [18 - 2, 36 - 4, 2 - 1, 4 - 2]),
        ),
        "branches-share-and-the-join-reads": (
            f"def @main(%c: bool, %x: {_VECTOR}) {{ let %a = %x * %x; let %i = if (%c) {{ let %b = %a + "
            f"%a; %b - %x }} "
            "else { let %b = %a - %x; %b * %a }; (%i + %a, %i) }",
            ((True, [1, 3]), ([2, 24], [1, 15])),
            ((False, [1, 3]), ([1, 63], [0, 54])),
        ),
        "a-loop-carries-two": (
            f"def @f(%n: int32, %a: {_VECTOR}, %b: {_VECTOR}) -> {_VECTOR} "
            "{ if (%n < 1) { %a - %b } else { @f(%n - 1, %a + %b, %a) } }\n"
            f"def @main(%n: int32, %x: {_VECTOR}) {{ @f(%n, %x + 1, %x) }}",
            ((0, [1, 2]), [1, 1]),
            ((1, [1, 2]), [1, 2]),
            ((5, [1, 2]), [8, 13]),
        ),
        "two-outputs-of-one-kernel": (
            "def @main(%x: Tensor[(4), int32]) { let %a = %x * %x; let %s = split(%a, "
            "indices_or_sections=2); "
            "let %b = %s.0; let %c = %s.1; let %d = %b - %c; (%d * %b, %c) }",
            ([1, 2, 3, 4], ([-8, -48], [9, 16])),
        ),
    },
    "comp-loop": {
        f"{rounds}-rounds": (
            _LOOP + f"def @main(%n: int32, %x: {_VECTOR}) {{ @f(%n, %x, %x) }}",
            ((rounds, [1, 2]), [rounds + 1, 2 * rounds + 2]),
        )
        for rounds in (1, 2, 3, 64)
    },
    "comp-tail-call": {
        "of-itself": (
            "def @f(%n: int32, %a: int32) -> int32 { if (%n < 1) { %a } else { @f(%n - 1, %a + 3) } }\n"
            "def @main(%n: int32) { @f(%n, 0) }",
            (1500, 4500),
        ),
        "of-another": (_EVEN + "def @main(%n: int32) { @even(%n) }", (1000, True), (1001, False)),
        "of-a-closure": (
            "def @f(%n: int32, %g: fn (int32, int32) -> int32, %a: int32) -> int32 { %g(%n, %a) }\n"
            "def @main(%n: int32) { let %g = fn (%n: int32, %a: int32) -> int32 { %n - %a }; @f(%n, %g, 3) }",
            (10, 7),
        ),
        "in-a-clause": (
            "def @make(%n: int32, %l: L) -> L { if (%n < 1) { %l } else { @make(%n - 1, Cons(%n, %l)) } }\n"
            "def @sum(%l: L, %a: int32) -> int32 { match (%l) { Cons(%h, %t) => @sum(%t, %a + %h), Nil => "
            "%a } }\n"
            "def @main(%n: int32) { @sum(@make(%n, Nil), 0) }",
            (200, 20100),
        ),
        "of-a-function-with-more-parameters": (
            "def @g(%a: int32, %b: int32, %c: int32) -> int32 { (%a * %b) - %c }\n"
            "def @f(%a: int32) -> int32 { let %b = %a + 1; @g(%b, %a, %b) }\ndef @main(%n: int32) { @f(%n) }",
            (4, 15),
        ),
        "swaps-its-arguments": (
            "def @g(%a: int32, %b: int32) -> int32 { (%a * 10) - %b }\n"
            "def @f(%a: int32, %b: int32) -> int32 { @g(%b, %a) }\ndef @main(%a: int32, %b: int32) { "
            "@f(%a, %b) }",
            ((1, 2), 19),
        ),
    },
    "comp-deterministic": {
        "many-kernels-and-functions": (
            _EVEN + _LOOP + f"def @main(%n: int32, %x: {_VECTOR}) "
            "{ let %a = @f(%n, %x, %x); let %b = %a * %x; let %c = %b - %a; (@even(%n), %c, %a) }",
            ((2, [1, 2]), (True, [0, 6], [3, 6])),
        ),
    },
}
_EXECUTION: dict[str, dict[str, Row]] = {
    "exec-load-const": {
        "as-a-result": ("def @main(%c: bool) { if (%c) { 7 } else { 8 } }", (True, 7), (False, 8)),
        "as-an-argument": (
            "def @f(%n: int32, %a: int32) -> int32 { if (%n < 1) { %a } else { @f(%n - 1, %a * 3) } }\n"
            "def @main(%n: int32) { @f(%n, 5) }",
            (3, 135),
        ),
    },
    "exec-move": {
        "round-a-circle": (_turning(2), _turned(2, 3)),
        "a-result-to-its-place": (
            "def @main(%c: bool, %x: int32, %y: int32) { let %i = if (%c) { %x } else { %y }; (%i, %x, %y) }",
            ((True, 1, 2), (1, 1, 2)),
            ((False, 1, 2), (2, 1, 2)),
        ),
    },
    "exec-copy": {
        "out-of-a-loop": (
            _LOOP + f"def @main(%n: int32, %x: {_VECTOR}) {{ @f(%n, %x, %x) }}",
            ((2, [1, 2]), [3, 6]),
        ),
    },
    "exec-call-closure": {
        "for-a-value": (
            "def @f(%g: fn (int32) -> int32, %x: int32) -> int32 { %g(%x) - %g(%x + 1) }\n"
            "def @main(%x: int32) { @f(fn (%a: int32) -> int32 { %a * %x }, 10) }",
            (3, -3),
        ),
    },
    "exec-tail-call-closure": {
        "as-the-last-thing": (
            "def @f(%g: fn (int32) -> int32, %x: int32) -> int32 { %g(%x + 1) }\n"
            "def @main(%x: int32) { @f(fn (%a: int32) -> int32 { %a * %x }, 10) }",
            (3, 33),
        ),
    },
    "exec-drop": {
        "a-tensor-that-one-branch-reads": (
            f"def @f(%x: {_VECTOR}) -> {_VECTOR} {{ %x + %x }}\n"
            f"def @main(%c: bool, %x: {_VECTOR}) {{ let %a = @f(%x); if (%c) {{ %a - %x }} else {{ %x * "
            f"%x }} }}",
            ((True, [1, 2]), [1, 2]),
            ((False, [1, 2]), [1, 4]),
        ),
    },
    "exec-spill": {"what-is-read-last": (_wide(8), ([1, 2], _wide_result(8, [1, 2])))},
    "exec-reload": {
        "in-a-branch": (
            f"def @main(%c: bool, %x: {_VECTOR}) {{ let %a = %x + 1; let %b = %x + 2; let %d = %x + 3; "
            "let %i = if (%c) { (%a * %b) - %d } else { %d }; ((%i - %a) - %b) - %x }",
            ((True, [1, 2]), [-4, -2]),
            ((False, [1, 2]), [-2, -4]),
        ),
    },
    "exec-invoke": {
        "one-operand": (f"def @main(%x: {_VECTOR}) {{ negative(%x) }}", ([1, -2], [-1, 2])),
        "three-operands": (
            "def @main(%c: Tensor[(2), bool], %x: Tensor[(2), int32], %y: Tensor[(2), int32]) { where(%c, "
            "%x, %y) }",
            (([True, False], [1, 2], [3, 4]), [1, 4]),
        ),
    },
    "exec-invoke-into": {
        "a-size-that-data-decides": (
            "def @main(%x: Tensor[(?), int32]) { argwhere(%x) }",
            ([1, 0, 2], np.array([[0], [2]], "int32")),
        ),
        "an-unknown-size": ("def @main(%x: Tensor[(?), int32]) { %x * %x }", ([1, 2, 3], [1, 4, 9])),
    },
    "exec-alloc-tensor": {
        "twice": (
            "def @main(%x: Tensor[(?), int32]) { let %a = %x + 1; concatenate((%a, %a)) }",
            ([1, 2], [2, 3, 2, 3]),
        ),
    },
    "exec-shape-of": {
        "an-unknown-size": ("def @main(%x: Tensor[(?), int32]) { %x - 1 }", ([1, 2], [0, 1]), ([5], [4])),
    },
    "exec-set-shape": {
        "of-what-is-made-in-a-region": (
            "def @main(%x: Tensor[(?), int32]) { let %a = %x + 1; let %b = concatenate((%a, %a)); %b * 2 }",
            ([1, 2], [4, 6, 4, 6]),
            ([5], [12, 12]),
        ),
    },
    "exec-place-tensors": {
        "one-after-another": (
            "def @main(%x: Tensor[(?), int32]) { let %a = %x + 1; let %b = concatenate((%a, %x)); "
            "let %d = concatenate((%b, %a)); concatenate((%d, %d)) }",
            ([1], [2, 1, 2, 2, 1, 2]),
            ([1, 2], [2, 3, 1, 2, 2, 3, 2, 3, 1, 2, 2, 3]),
        ),
        "in-each-round-of-a-loop": (
            "def @f(%n: int32, %x: Tensor[(?), int32]) -> Tensor[(?), int32] { if (%n < 1) { %x } "
            "else { let %a = concatenate((%x, %x)); @f(%n - 1, sum(reshape(%a, newshape=[2, -1]), axis=[0])) } }\n"
            "def @main(%n: int32, %x: Tensor[(?), int32]) { @f(%n, %x) }",
            ((3, [1, 2]), [8, 16]),
            ((0, [1, 2]), [1, 2]),
        ),
    },
    "exec-reshape": {
        "to-a-vector": (
            "def @main(%x: Tensor[(2, 2), int32]) { let %a = %x + %x; (reshape(%a, newshape=[4]), %a) }",
            ([[1, 2], [3, 4]], ([2, 4, 6, 8], [[2, 4], [6, 8]])),
        ),
    },
    "exec-reshape-to": {
        "of-an-unknown-size": (
            "def @main(%x: Tensor[(?, 2), int32]) { let %a = %x + 1; reshape(%a, newshape=[-1]) }",
            ([[1, 2], [3, 4]], [2, 3, 4, 5]),
        ),
    },
    "exec-make-adt": {
        "a-tuple": ("def @main(%x: int32, %y: int32) { (%y, %x) }", ((1, 2), (2, 1))),
        "a-constructor": ("def @main(%x: int32) -> L { Cons(%x, Cons(%x + 1, Nil)) }", (1, (1, (2, ())))),
    },
    "exec-get-field": {
        "of-a-constructor": (
            "def @f(%l: L) -> int32 { match (%l) { Cons(%h, _) => %h, Nil => 0 } }\n"
            "def @main(%x: int32) { @f(Cons(%x, Nil)) - @f(Nil) }",
            (5, 5),
        ),
    },
    "exec-branch-tag": {
        "by-the-tag": (
            "def @f(%e: E) -> int32 { match (%e) { Red => 1, Green => 2, Blue => 3 } }\n"
            "def @main(%x: int32) { (@f(Blue) * 100) + ((@f(Green) * 10) + @f(Red)) }",
            (0, 321),
        ),
    },
    "exec-make-closure": {
        "with-a-captured-value": (
            "def @f(%x: int32) -> fn (int32) -> int32 { fn (%a: int32) -> int32 { %a - %x } }\n"
            "def @main(%x: int32) { let %g = @f(%x); %g(10) }",
            (3, 7),
        ),
    },
    "exec-branch": {
        "both-ways": (
            "def @main(%c: bool, %x: int32) { if (%c) { %x + 1 } else { %x - 1 } }",
            ((True, 1), 2),
            ((False, 1), 0),
        ),
    },
    "exec-jump": {
        "over-a-branch": (
            "def @main(%c: bool, %x: int32) { let %i = if (%c) { %x + 1 } else { %x - 1 }; %i * %i }",
            ((True, 1), 4),
            ((False, 5), 16),
        ),
    },
    "exec-call": {
        "for-a-value": (
            "def @f(%a: int32) -> int32 { if (%a < 1) { 0 } else { 1 + @f(%a - 1) } }\ndef @main(%x: "
            "int32) { @f(%x) * 2 }",
            (3, 6),
        ),
    },
    "exec-tail-call": {
        "of-another-function": (_EVEN + "def @main(%n: int32) { @odd(%n) }", (5, True), (4, False)),
    },
    "exec-ret": {"a-parameter": ("def @main(%x: int32, %y: int32) { %y }", ((1, 2), 2))},
    "exec-make-ref": {
        "of-a-parameter": ("def @main(%x: int32) { let %r = ref(%x); ref_read(%r) + 1 }", (1, 2))
    },
    "exec-read-ref": {
        "after-a-write": (
            "def @main(%x: int32) { let %r = ref(%x); let %_ = ref_write(%r, 5); ref_read(%r) }",
            (1, 5),
        ),
    },
    "exec-write-ref": {
        "twice": (
            "def @main(%x: int32) { let %r = ref(0); let %_ = ref_write(%r, %x); let %a = ref_read(%r); "
            "let %__ = ref_write(%r, %a * 2); (%a, ref_read(%r)) }",
            (3, (3, 6)),
        ),
    },
    "exec-fatal": {
        "where-no-clause-fits": (
            "def @f(%l: L) -> int32 { match? (%l) { Cons(%h, _) => %h } }\n"
            "def @main(%c: bool, %x: int32) { @f(if (%c) { Cons(%x, Nil) } else { Nil }) }",
            ((True, 3), 3),
            ((False, 3), Refused("match")),
        ),
    },
}
CASES: tuple[RelayCase, ...] = tuple(
    case for rules in (_COMPILER, _EXECUTION) for rule, rows in rules.items() for case in table(rule, rows)
)
