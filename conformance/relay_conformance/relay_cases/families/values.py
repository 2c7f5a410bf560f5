"""Constants of every data type, and operators on them."""

import numpy as np

from relay_conformance.relay_cases.case import RelayCase, Run, nested, table
from relay_conformance.values import outputs_from_value

_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_FLOATS = ("float16", "float32", "float64")
_SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -2.0]


def _constant(kind: str, value: np.ndarray) -> RelayCase:
    """The constant is a result twice: alone, and of an ``if`` that it leaves by a register."""
    shape = ", ".join(map(str, value.shape)) + ("," if value.ndim == 1 else "")
    type_ = f"Tensor[({shape}), {value.dtype}]"
    text = f"def @main(%c: bool, %k: {type_}) {{ (%k, if (%c) {{ %k }} else {{ %k }}) }}"
    expected = outputs_from_value((value, value))
    runs = tuple(Run((nested(choice),), expected) for choice in (True, False))
    return RelayCase("lang-constant", kind, text, runs, {"k": value})


def _extremes(dtype: str) -> np.ndarray:
    limits = np.iinfo(dtype)
    return np.array([limits.min, limits.max, 1], dtype)


_CONSTANTS = (
    *(_constant(f"scalar-{dtype}", np.array(5, dtype)) for dtype in (*_INTEGERS, *_FLOATS)),
    _constant("scalar-bool", np.array(True)),
    *(_constant(f"extremes-{dtype}", _extremes(dtype)) for dtype in _INTEGERS),
    *(_constant(f"special-{dtype}", np.array(_SPECIAL, dtype)) for dtype in _FLOATS),
    _constant("matrix-bool", np.array([[True, False], [False, False]])),
    _constant(
        "smallest-float32", np.array([np.finfo("float32").smallest_subnormal, np.finfo("float32").max])
    ),
    _constant("no-elements", np.zeros((2, 0), "int32")),
    _constant("one-element", np.zeros((1, 1, 1), "int8")),
    _constant("long-vector", np.arange(1000, dtype="int16")),
)
_WRITTEN = table(
    "lang-constant",
    {
        "written-int32": ("def @main() { (0, 1, -1, 2147483647) }", ((), (0, 1, -1, 2147483647))),
        "written-int64": ("def @main() { 9000000000i64 }", ((), np.array(9_000_000_000, "int64"))),
        "written-float32": ("def @main() { (0.5f, -1.25f, 1e10f) }", ((), (0.5, -1.25, np.float32(1e10)))),
        "written-float64": ("def @main() { 0.1f64 }", ((), np.array(0.1, "float64"))),
        "written-bool": ("def @main() { (True, False) }", ((), (True, False))),
        "equal-ones-in-many-places": (
            "def @main(%x: int32) { (%x + 3, %x - 3, if (%x < 3) { 3 } else { 3 + 3 }) }",
            (1, (4, -2, 3)),
            (5, (8, 2, 6)),
        ),
        "is-not-changed-by-a-use": (
            "def @f(%n: int32, %a: int32) -> int32 { if (%n < 1) { %a } else { @f(%n - 1, 5 + %a) } }\n"
            "def @main(%n: int32) { (@f(%n, 5), 5) }",
            (3, (20, 5)),
        ),
    },
)


def _wrapping(dtype: str) -> tuple[str, tuple[object, object]]:
    type_ = f"Tensor[(3,), {dtype}]"
    given = _extremes(dtype)
    with np.errstate(over="ignore"):
        expected = (given + given, given - given[::-1], given * given)
    text = f"def @main(%x: {type_}, %y: {type_}) {{ (%x + %x, %x - %y, %x * %x) }}"
    return text, ((given, given[::-1].copy()), expected)


def _floats(dtype: str) -> tuple[str, tuple[object, object]]:
    type_ = f"Tensor[(4,), {dtype}]"
    given, other = np.array([np.nan, np.inf, -0.0, 1.5], dtype), np.array([1, -np.inf, 0.0, 0.25], dtype)
    with np.errstate(invalid="ignore"):
        expected = (given + other, given * other, given < other)
    return f"def @main(%x: {type_}, %y: {type_}) {{ (%x + %y, %x * %y, %x < %y) }}", (
        (given, other),
        expected,
    )


_OPERATORS = table(
    "lang-operator",
    {
        **{f"wraps-{dtype}": _wrapping(dtype) for dtype in ("int8", "int32", "int64", "uint8", "uint32")},
        **{f"special-{dtype}": _floats(dtype) for dtype in ("float32", "float64")},
        "order-of-operands": (
            "def @main(%x: int32, %y: int32) { (%x - %y, %y - %x) }",
            ((7, 3), (4, -4)),
        ),
        "truncates-division": (
            "def @main(%x: Tensor[(4), int32]) { %x / 3 }",
            ([7, -7, 6, -1], [2, -2, 2, 0]),
        ),
        "compares": (
            "def @main(%x: Tensor[(3), int32], %y: Tensor[(3), int32]) "
            "{ (%x < %y, %x <= %y, %x > %y, %x >= %y, %x == %y, %x != %y) }",
            (
                ([1, 2, 3], [2, 2, 2]),
                (
                    [True, False, False],
                    [True, True, False],
                    [False, False, True],
                    [False, True, True],
                    [False, True, False],
                    [True, False, True],
                ),
            ),
        ),
        "joins-truth-values": (
            "def @main(%a: bool, %b: bool) { (logical_and(%a, %b), logical_or(%a, %b), logical_not(%a)) }",
            ((True, False), (False, True, False)),
            ((True, True), (True, True, False)),
            ((False, False), (False, False, True)),
        ),
        "broadcasts-a-scalar": (
            "def @main(%x: Tensor[(2), int32], %y: int32) { (%x + %y, %y - %x) }",
            (([1, 2], 10), ([11, 12], [9, 8])),
        ),
        "broadcasts-both-ways": (
            "def @main(%x: Tensor[(2, 1), int32], %y: Tensor[(3), int32]) { %x * %y }",
            (([[1], [2]], [1, 2, 3]), [[1, 2, 3], [2, 4, 6]]),
        ),
        "takes-one-value-twice": ("def @main(%x: int32) { %x * %x }", (-4, 16)),
        "gives-what-another-takes": ("def @main(%x: int32) { ((%x + 1) * (%x + 1)) - (%x * 2) }", (3, 10)),
        "of-no-elements": (
            "def @main(%x: Tensor[(0, 2), int32]) { (%x + %x, sum(%x, axis=[0])) }",
            (np.zeros((0, 2), "int32"), (np.zeros((0, 2), "int32"), [0, 0])),
        ),
        "has-several-results": (
            "def @main(%x: Tensor[(4), int32]) { let %s = split(%x, indices_or_sections=2); (%s.1, %s.0) }",
            ([1, 2, 3, 4], ([3, 4], [1, 2])),
        ),
        "takes-a-tuple": (
            "def @main(%x: Tensor[(2), int32], %y: Tensor[(1), int32]) "
            "{ (concatenate((%x, %y)), concatenate((%y, %x, %y))) }",
            (([1, 2], [3]), ([1, 2, 3], [3, 1, 2, 3])),
        ),
        "keeps-the-elements-in-another-shape": (
            "def @main(%x: Tensor[(2, 3), int32]) { (reshape(%x, newshape=[3, 2]), reshape(%x, "
            "newshape=[6])) }",
            ([[1, 2, 3], [4, 5, 6]], ([[1, 2], [3, 4], [5, 6]], [1, 2, 3, 4, 5, 6])),
        ),
        "casts": (
            'def @main(%x: Tensor[(3), int32]) { (cast(%x, dtype="int8"), cast(%x, dtype="float32"), '
            'cast(%x, dtype="bool")) }',
            ([300, -1, 0], (np.array([44, -1, 0], "int8"), [300.0, -1.0, 0.0], [True, True, False])),
        ),
        "matrix-product": (
            "def @main(%x: Tensor[(1, 2), float32], %w: Tensor[(3, 2), float32]) { nn.dense(%x, %w, "
            "units=None) }",
            (([[1.0, 2.0]], [[1.0, 0.0], [0.0, 1.0], [3.0, -1.0]]), [[1.0, 2.0, 1.0]]),
        ),
    },
)
CASES = (*_CONSTANTS, *_WRITTEN, *_OPERATORS)
