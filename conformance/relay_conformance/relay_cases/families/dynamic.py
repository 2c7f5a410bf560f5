"""Dimensions that are known only when the program runs."""

import numpy as np

from relay_conformance.relay_cases.case import Refused, table

_ROWS = "def @main(%x: Tensor[(?, 2), int32])"
_FLAT = "def @main(%x: Tensor[(?), int32])"


def _ramp(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape, dtype=int), dtype="int32").reshape(shape)


_CASES = {
    "elementwise": (_ROWS + " { %x + %x }", *((_ramp(n, 2), 2 * _ramp(n, 2)) for n in (0, 1, 5))),
    "with-a-constant": (_ROWS + " { (%x * 3) - 1 }", (_ramp(2, 2), 3 * _ramp(2, 2) - 1)),
    "of-two-unknown-sizes": (
        "def @main(%x: Tensor[(?, ?), int32]) { %x * %x }",
        *((_ramp(*s), _ramp(*s) ** 2) for s in ((2, 3), (3, 2), (0, 1))),
    ),
    "of-three-dimensions": (
        "def @main(%x: Tensor[(2, ?, 1), int32]) { %x - 1 }",
        *((_ramp(2, n, 1), _ramp(2, n, 1) - 1) for n in (1, 4)),
    ),
    "broadcasts-when-it-runs": (
        "def @main(%x: Tensor[(?, 2), int32], %y: Tensor[(?, 2), int32]) { %x - %y }",
        ((_ramp(1, 2), _ramp(3, 2)), _ramp(1, 2) - _ramp(3, 2)),
        ((_ramp(3, 2), _ramp(1, 2)), _ramp(3, 2) - _ramp(1, 2)),
        ((_ramp(3, 2), _ramp(3, 2)), 0 * _ramp(3, 2)),
    ),
    "refuses-what-does-not-broadcast": (
        "def @main(%x: Tensor[(?, 2), int32], %y: Tensor[(?, 2), int32]) { %x - %y }",
        ((_ramp(2, 2), _ramp(3, 2)), Refused("")),
        ((_ramp(3, 2), _ramp(3, 2)), 0 * _ramp(3, 2)),
    ),
    "shape-is-a-value": (
        'def @main(%x: Tensor[(?, 3), int32]) { shape_of(%x, dtype="int64") }',
        (_ramp(2, 3), np.array([2, 3], "int64")),
        (_ramp(0, 3), np.array([0, 3], "int64")),
    ),
    "shape-is-reckoned-with": (
        'def @main(%x: Tensor[(?, 3), int32]) { shape_of(%x, dtype="int32") * shape_of(%x, dtype="int32") }',
        (_ramp(2, 3), [4, 9]),
    ),
    "size-decides-a-branch": (
        'def @main(%x: Tensor[(?), int32]) { let %n = sum(shape_of(%x, dtype="int32"), axis=[0]); '
        "if (%n < 3) { %x + %x } else { %x * %x } }",
        (_ramp(2), 2 * _ramp(2)),
        (_ramp(4), _ramp(4) ** 2),
    ),
    "concatenated": (
        "def @main(%x: Tensor[(?, 2), int32], %y: Tensor[(?, 2), int32]) { concatenate((%x, %y)) }",
        ((_ramp(2, 2), _ramp(3, 2)), np.concatenate([_ramp(2, 2), _ramp(3, 2)])),
        ((_ramp(0, 2), _ramp(1, 2)), _ramp(1, 2)),
    ),
    "concatenated-with-itself": (
        _FLAT + " { concatenate((%x, %x)) }",
        (_ramp(3), np.concatenate([_ramp(3), _ramp(3)])),
    ),
    "summed": (_ROWS + " { sum(%x, axis=[0]) }", (_ramp(3, 2), [6, 9]), (_ramp(0, 2), [0, 0])),
    "summed-over-the-known": (_ROWS + " { sum(%x, axis=[1]) }", (_ramp(3, 2), [1, 5, 9])),
    "grows-in-a-loop": (
        "def @f(%n: int32, %x: Tensor[(?), int32]) -> Tensor[(?), int32] "
        "{ if (%n < 1) { %x } else { @f(%n - 1, concatenate((%x, %x))) } }\n"
        "def @main(%n: int32, %x: Tensor[(?), int32]) { @f(%n, %x) }",
        ((2, _ramp(2)), np.tile(_ramp(2), 4)),
        ((0, _ramp(2)), _ramp(2)),
    ),
    "goes-through-a-call": (
        "def @f(%x: Tensor[(?), int32]) -> Tensor[(?), int32] { %x + %x }\n" + _FLAT + " { @f(@f(%x)) }",
        (_ramp(3), 4 * _ramp(3)),
    ),
    "goes-through-a-branch": (
        "def @main(%c: bool, %x: Tensor[(?), int32]) { let %y = if (%c) { concatenate((%x, %x)) } else { "
        "%x }; %y + %y }",
        ((True, _ramp(2)), 2 * np.tile(_ramp(2), 2)),
        ((False, _ramp(2)), 2 * _ramp(2)),
    ),
    "is-captured": (
        _FLAT + " { let %f = fn (%a: Tensor[(?), int32]) -> Tensor[(?), int32] { concatenate((%a, %x)) }; "
        "%f(%f(%x)) }",
        (_ramp(2), np.tile(_ramp(2), 3)),
    ),
    "is-in-a-tuple": (
        _FLAT + " { let %t = (%x, concatenate((%x, %x))); (%t.1, %t.0 + %t.0) }",
        (_ramp(2), (np.tile(_ramp(2), 2), 2 * _ramp(2))),
    ),
    "is-in-data": (
        _FLAT + " { match (Just(concatenate((%x, %x)))) { Just(%v) => %v * %v, Nothing => %x } }",
        (_ramp(2), np.tile(_ramp(2), 2) ** 2),
    ),
    "meets-a-known-size": (
        "def @main(%x: Tensor[(?), int32], %y: Tensor[(3), int32]) { %x + %y }",
        ((_ramp(3), _ramp(3)), 2 * _ramp(3)),
        ((_ramp(1), _ramp(3)), _ramp(3)),
    ),
    "is-reshaped": (
        "def @main(%x: Tensor[(?, 2), int32]) { reshape(%x, newshape=[-1]) + 1 }",
        (_ramp(3, 2), _ramp(6) + 1),
        (_ramp(0, 2), _ramp(0)),
    ),
    "is-reshaped-like-another": (
        "def @main(%x: Tensor[(?), int32], %y: Tensor[(?, 2), int32]) { reshape_like(%x, %y) + %y }",
        ((_ramp(6), _ramp(3, 2)), 2 * _ramp(3, 2)),
    ),
    "positions-of-what-is-true": (
        _FLAT + " { argwhere(%x) }",
        ([0, 3, 0, 1], np.array([[1], [3]], "int32")),
        ([0, 0], np.zeros((0, 1), "int32")),
    ),
    "is-transposed": (
        "def @main(%x: Tensor[(?, 2), int32]) { transpose(%x, axes=None) }",
        (_ramp(3, 2), _ramp(3, 2).T),
    ),
    "is-cast": (
        'def @main(%x: Tensor[(?), int32]) { cast(%x, dtype="float32") }',
        (_ramp(3), _ramp(3).astype("float32")),
    ),
    "is-expanded": (_FLAT + " { expand_dims(%x, axis=0) }", (_ramp(3), _ramp(1, 3))),
    "is-dropped-and-made-again": (
        _FLAT + " { let %a = %x + 1; let %b = %a * 2; let %c = %b - %x; let %d = %c * %c; %d - 1 }",
        (_ramp(3), (_ramp(3) + 2) ** 2 - 1),
    ),
}
CASES = table("lang-dynamic", _CASES)
