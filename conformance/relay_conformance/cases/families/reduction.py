"""Operators that reduce axes: which axes, kept or not, negative, all, none, and over nothing."""

from relay_conformance.cases.case import Case, Inputs, Rows, table
from relay_conformance.cases.families.refusals import with_refusals
from relay_conformance.cases.operands import (
    INF,
    NAN,
    Normal,
    Operand,
    Shuffled,
    Uniform,
    Values,
    fixed,
    given,
    leading_dimension_open,
    tensor,
)

_FLOAT_REDUCTIONS: dict[str, Values] = {
    "EuclideanNorm": Normal(2),
    "Max": Normal(3),
    "Mean": Normal(3),
    "Min": Normal(3),
    "Prod": Uniform(0.5, 1.6),
    "Sum": Normal(3),
}


def _on(operand: Operand, axis: object, dtype: str = "int32") -> Inputs:
    return {"input": operand, "axis": fixed(axis, dtype)}


def _float(operator: str, values: Values) -> tuple[Case, ...]:
    def of(*shape: int, dtype: str = "float32") -> Operand:
        return tensor(*shape, dtype=dtype, values=values)

    rows: Rows = {
        "last-axis": _on(of(3, 4), [1]),
        "first-axis": _on(of(3, 4), [0]),
        "negative-axis": _on(of(3, 4), [-1]),
        "scalar-axis": _on(of(3, 4), 1),
        "both-axes": _on(of(3, 4), [0, 1]),
        "no-axes": _on(of(3, 4), []),
        "kept": (_on(of(3, 4), [1]), {"keep_dims": True}),
        "all-kept": (_on(of(3, 4), [0, 1]), {"keep_dims": True}),
        "outer-axes": _on(of(2, 3, 4), [0, 2]),
        "unordered-axes": _on(of(2, 3, 4), [2, 0]),
        "middle-axis": _on(of(2, 3, 4), [1]),
        "rank-0": _on(of(), []),
        "size-1": _on(of(3, 1), [1]),
        "empty-result": _on(of(0, 3), [1]),
        "over-nothing": _on(of(0, 3), [0]),
        "int64-axis": _on(of(3, 4), [1], "int64"),
        "float64": _on(of(3, 4, dtype="float64"), [1]),
        "int32": _on(tensor(3, 4, dtype="int32", values=Uniform(1, 5)), [1]),
        "open-batch": _on(leading_dimension_open(of(3, 4)), [1]),
        "over-open-batch": _on(leading_dimension_open(of(3, 4)), [0]),
    }
    corners = {
        "special": _on(given([[1, NAN], [INF, 1], [-INF, 2], [3, 4]]), [1]),
        "long": _on(of(2, 200), [1]),
    }
    return (
        *table(operator, {k: v for k, v in rows.items() if k != "over-nothing"}),
        *table(
            operator,
            {"over-nothing": rows["over-nothing"]},
            steady="over nothing each is the neutral element",
        ),
        *table(operator, corners),
    )


def _logical(operator: str) -> tuple[Case, ...]:
    mixed = given([[1, 1, 1], [0, 1, 0], [0, 0, 0], [1, 1, 1]], "bool")
    cube = tensor(2, 3, 2, dtype="bool")
    rows: Rows = {
        "last-axis": _on(mixed, [1]),
        "negative-axis": _on(mixed, [-1]),
        "scalar-axis": _on(mixed, 1),
        "kept": (_on(mixed, [1]), {"keep_dims": True}),
        "both-axes": _on(mixed, [0, 1]),
        "outer-axes": _on(cube, [0, 2]),
        "rank-0": _on(tensor(dtype="bool"), []),
        "no-axes": _on(mixed, []),
        "empty-result": _on(tensor(0, 2, dtype="bool"), [1]),
        "open-batch": _on(leading_dimension_open(mixed), [1]),
    }
    over_nothing = {"over-nothing": _on(tensor(0, 2, dtype="bool"), [0])}
    return (
        *table(operator, {k: v for k, v in rows.items() if k != "outer-axes"}),
        *table(operator, {"outer-axes": rows["outer-axes"]}, steady="coins may agree"),
        *table(operator, over_nothing, steady="over nothing it is the neutral element"),
    )


def _positions(operator: str) -> tuple[Case, ...]:
    def on(operand: Operand, axis: int, dtype: str = "int32") -> Inputs:
        return {"input": operand, "dimension": fixed(axis, dtype)}

    def distinct(*shape: int, dtype: str = "float32") -> Operand:
        return tensor(*shape, dtype=dtype, values=Shuffled())

    rows: Rows = {
        "last-axis": on(distinct(5, 6), 1),
        "first-axis": on(distinct(5, 6), 0),
        "negative-axis": on(distinct(5, 6), -1),
        "rank-1": on(distinct(9), 0),
        "middle-axis": on(distinct(2, 5, 3), 1),
        "to-int32": (on(distinct(5, 6), 1), {"output_type": "int32"}),
        "int32": on(distinct(5, 6, dtype="int32"), 1),
        "float64": on(distinct(5, 6, dtype="float64"), 1),
        "int64-axis": on(distinct(5, 6), 1, "int64"),
        "empty-result": on(distinct(0, 3), 1),
        "open-batch": on(leading_dimension_open(distinct(5, 6)), 1),
    }
    ties = {
        "ties": on(given([[1, 3, 3], [2, 2, 2], [0, 5, 0]]), 1),
        "infinities": on(given([[INF, 1, -INF], [-INF, 0, INF]]), 1),
    }
    return (
        *table(operator, rows),
        *table(operator, ties),
        *table(operator, {"size-1": on(distinct(4, 1), 1)}, steady="there is one position"),
    )


CASES = with_refusals(
    (
        *(case for operator, values in _FLOAT_REDUCTIONS.items() for case in _float(operator, values)),
        *_logical("All"),
        *_logical("Any"),
        *_positions("ArgMax"),
        *_positions("ArgMin"),
    )
)
