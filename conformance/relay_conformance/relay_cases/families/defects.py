"""Programs that show defects of the ledger at the level of Relay; each is a plain case of its rule all the same."""

import numpy as np

from relay_conformance.relay_cases.case import RelayCase, Row, table

_LARGEST = np.array([[2147483647]], "int32")
_NAN = np.full(2, np.nan, "float32")
_CELL = "def @main(%x: Tensor[(1, 1), int32])"
_FLOATS = "def @main(%x: Tensor[(2), float32])"
_ROWS: dict[str, dict[str, Row]] = {
    "lang-operator": {
        "compares-what-wrapped": (
            _CELL + " { less(add(%x, 1), 5) }",
            (_LARGEST, [[True]]),
            ([[9]], [[False]]),
        ),
        "maximum-of-what-wrapped": (
            _CELL + " { maximum(add(%x, 1), 1) }",
            (_LARGEST, [[1]]),
            ([[9]], [[10]]),
        ),
        "negative-of-unsigned": (
            "def @main(%x: Tensor[(2), uint64]) { negative(ones_like(%x)) }",
            (np.array([1, 2], "uint64"), np.full(2, 2**64 - 1, "uint64")),
        ),
        "zero-by-zero": (_FLOATS + " { (%x - %x) / (%x - %x) }", ([1.0, 2.0], _NAN)),
        "divides-a-constant": (
            "def @main(%x: Tensor[(3), int32]) "
            '{ add(%x, floor_divide(full(-128, shape=[3], dtype="int32"), 3)) }',
            ([1, 2, 3], [-42, -41, -40]),
        ),
    },
    "lang-dynamic": {
        "absolute": (
            "def @main(%x: Tensor[(?, 2), int32]) { abs(%x) }",
            ([[1, -2]], [[1, 2]]),
            ([[-1, 2], [3, -4]], [[1, 2], [3, 4]]),
        ),
        "bitwise-not": (
            "def @main(%x: Tensor[(?, 2), int32]) { bitwise_not(%x) }",
            ([[1, -2]], [[-2, 1]]),
            ([[0, 2], [3, -4]], [[-1, -3], [-4, 3]]),
        ),
    },
    "lang-if": {
        "value-added-to-itself": (
            "def @main(%c: bool, %x: int32, %y: int32) "
            "{ %0 = if (%c) { negative(%x) } else { negative(%y) }; %0 + %0 }",
            ((True, 3, 5), -6),
            ((False, 3, 5), -10),
        ),
    },
}
CASES: tuple[RelayCase, ...] = tuple(case for rule, rows in _ROWS.items() for case in table(rule, rows))
