"""Elementwise operators of two operands, with NumPy's broadcasting.

Divisors are never zero and never -1 beside the smallest integer, shifts stay inside the width: what C leaves
undefined ends every process (SIGFPE) or means nothing.
"""

from dataclasses import dataclass

from relay_conformance.cases.case import Case, Inputs, Rows, table
from relay_conformance.cases.families.refusals import with_refusals
from relay_conformance.cases.operands import (
    INF,
    NAN,
    Normal,
    Uniform,
    Values,
    given,
    leading_dimension_open,
    tensor,
)

_ANY = Normal(5)


@dataclass(frozen=True)
class _Binary:
    """What an operator takes: dtypes, the values of each side, and whether special values are defined."""

    dtypes: tuple[str, ...] = ("float32", "float64", "int32", "int64")
    left: Values = _ANY
    right: Values = _ANY
    special: bool = True
    names: tuple[str, str] = ("x", "y")


_POSITIVE = Uniform(1, 9)
_FLOATS = ("float32", "float64")
_INTEGERS = ("int32", "int64")
_BINARY = {
    "Add": _Binary(),
    "AddV2": _Binary(),
    "Atan2": _Binary(_FLOATS, Normal(2), Normal(2), names=("y", "x")),
    "Equal": _Binary(left=Uniform(0, 2), right=Uniform(0, 2)),
    "FloorDiv": _Binary(right=_POSITIVE, special=False),
    "FloorMod": _Binary(right=_POSITIVE, special=False),
    "Greater": _Binary(),
    "GreaterEqual": _Binary(),
    "LeftShift": _Binary(_INTEGERS, Uniform(-50, 50), Uniform(0, 8), special=False),
    "Less": _Binary(),
    "LessEqual": _Binary(),
    "LogicalAnd": _Binary(("bool",), Uniform(0, 1), Uniform(0, 1), special=False),
    "LogicalOr": _Binary(("bool",), Uniform(0, 1), Uniform(0, 1), special=False),
    "Maximum": _Binary(),
    "Minimum": _Binary(),
    "Mod": _Binary(_INTEGERS, right=_POSITIVE, special=False),
    "Mul": _Binary(),
    "NotEqual": _Binary(left=Uniform(0, 2), right=Uniform(0, 2)),
    "Pow": _Binary(_FLOATS, Uniform(0.2, 3), Normal(2)),
    "RealDiv": _Binary(_FLOATS, right=Uniform(0.5, 4)),
    "RightShift": _Binary(_INTEGERS, Uniform(-5000, 5000), Uniform(0, 8), special=False),
    "SquaredDifference": _Binary(),
    "Sub": _Binary(),
    "TruncateMod": _Binary(right=_POSITIVE, special=False),
}
_SIGNED_DIVISION = ("FloorDiv", "FloorMod", "TruncateMod", "Mod")
_SPECIAL_LEFT = (0.0, 1.0, -1.0, INF, -INF, NAN, 2.0, NAN)
_SPECIAL_RIGHT = (1.0, INF, INF, INF, 2.0, 1.0, -INF, NAN)
_EXTREMES = (-(2**31), 2**31 - 1, 2**31 - 1, -(2**31), 0, -1)


def _cases(operator: str, binary: _Binary) -> tuple[Case, ...]:
    first, second = binary.names

    def of(left: tuple[int, ...], right: tuple[int, ...], dtype: str = binary.dtypes[0]) -> Inputs:
        return {
            first: tensor(*left, dtype=dtype, values=binary.left),
            second: tensor(*right, dtype=dtype, values=binary.right),
        }

    def opened(inputs: Inputs) -> Inputs:
        return {name: leading_dimension_open(inputs[name]) for name in inputs}  # type: ignore[arg-type]

    rows: Rows = {
        "same-shape": of((3, 4), (3, 4)),
        "rank-0": of((), ()),
        "scalar-left": of((), (2, 3)),
        "scalar-right": of((2, 3), ()),
        "row": of((3, 4), (4,)),
        "column": of((3, 4), (3, 1)),
        "outer": of((3, 1), (1, 4)),
        "rank-4": of((2, 1, 3, 1), (5, 1, 4)),
        "one-element": of((1, 1), (1, 1)),
        "empty": of((0, 3), (1, 3)),
        "long-row": of((1, 67), (1, 67)),
        "open-batch": opened(of((3, 4), (3, 4))),
        **{f"{dtype}": of((4, 5), (4, 5), dtype) for dtype in binary.dtypes[1:]},
    }
    return table(operator, {**rows, **_corners(operator, binary)})


def _corners(operator: str, binary: _Binary) -> Rows:
    first, second = binary.names
    rows: Rows = {}
    if binary.special:
        rows["special"] = {first: given(_SPECIAL_LEFT), second: given(_SPECIAL_RIGHT)}
    if binary.special and "int32" in binary.dtypes:
        rows["int32-extremes"] = {
            first: given(_EXTREMES, "int32"),
            second: given(_EXTREMES[::-1], "int32"),
        }
    if operator in _SIGNED_DIVISION:
        rows["negative-divisor"] = {
            first: given([7, -7, 7, -7, 6, -6, 0, 1], "int32"),
            second: given([3, 3, -3, -3, -2, 2, -5, -4], "int32"),
        }
    if operator in ("FloorDiv", "FloorMod", "TruncateMod"):
        rows["negative-float-divisor"] = {
            first: given([7.5, -7.5, 7.5, -7.5, 6, -6]),
            second: given([2, 2, -2, -2, -3, 3]),
        }
    if operator in ("RealDiv", "Pow"):
        rows["zero"] = {first: given([1, 0, 4, 9]), second: given([0, 0, 0.5, -0.5])}
    if operator in ("Equal", "NotEqual"):
        rows["bool"] = {first: tensor(3, 4, dtype="bool"), second: tensor(3, 4, dtype="bool")}
    return rows


CASES = with_refusals(tuple(c for operator, binary in _BINARY.items() for c in _cases(operator, binary)))
