"""Operators that pick elements by index, range, mask or rank: gathering, slicing, selecting, top k, unique.

Indices stay in range: beyond it TensorFlow raises on a CPU, and Relay has several modes.
"""

from relay_conformance.cases.case import Case, Form, ImportRefusal, Rows, table
from relay_conformance.cases.families.refusals import with_refusals
from relay_conformance.cases.operands import (
    NAN,
    Operand,
    Shuffled,
    Uniform,
    fixed,
    given,
    leading_dimension_open,
    tensor,
)


def _indices(*shape: int, below: int, dtype: str = "int32") -> Operand:
    return tensor(*shape, dtype=dtype, values=Uniform(0, below - 1))


def _gathering() -> tuple[Case, ...]:
    x, cube = tensor(5, 4), tensor(2, 5, 3)
    gathers = {
        "rows": (x, _indices(6, below=5), 0),
        "scalar-index": (x, _indices(below=5), 0),
        "index-matrix": (x, _indices(2, 3, below=5), 0),
        "one-index": (x, given([4], "int32"), 0),
        "no-index": (x, given([], "int32"), 0),
        "int64-index": (x, _indices(3, below=5, dtype="int64"), 0),
        "rank-1": (tensor(7), _indices(4, below=7), 0),
        "int32": (tensor(5, 2, dtype="int32"), _indices(3, below=5), 0),
        "bool": (tensor(9, 2, dtype="bool"), _indices(6, below=9), 0),
        "float64": (tensor(5, 2, dtype="float64"), _indices(3, below=5), 0),
    }
    axes = {
        "columns": (x, _indices(3, below=4), 1),
        "negative-axis": (x, _indices(3, below=4), -1),
        "middle-axis": (cube, _indices(2, below=5), 1),
        "middle-matrix": (cube, _indices(2, 2, below=5), 1),
        "open-batch": (leading_dimension_open(x), _indices(3, below=4), 1),
    }
    v2: Rows = {
        k: {"params": o, "indices": i, "axis": fixed(a)} for k, (o, i, a) in {**gathers, **axes}.items()
    }
    v2 |= {
        "batched": (
            {"params": cube, "indices": _indices(2, 4, below=5), "axis": fixed(1)},
            {"batch_dims": 1},
        ),
        "batched-rank-2": (
            {"params": tensor(3, 5), "indices": _indices(3, 2, below=5), "axis": fixed(1)},
            {"batch_dims": 1},
        ),
    }
    nd = {
        "elements": (x, given([[0, 1], [4, 3], [2, 2]], "int32")),
        "rows": (x, given([[0], [4], [2]], "int32")),
        "one": (x, given([1, 2], "int32")),
        "matrix-of-elements": (x, given([[[0, 1], [1, 0]], [[4, 3], [3, 2]]], "int32")),
        "cube-rows": (cube, given([[0, 1], [1, 4]], "int32")),
        "int64-index": (x, given([[0, 1], [3, 3]], "int64")),
        "int32": (tensor(5, 4, dtype="int32"), given([[0, 1], [3, 3]], "int32")),
        "rank-1": (tensor(6), given([[5], [0]], "int32")),
    }
    return (
        *table("Gather", {k: {"params": o, "indices": i} for k, (o, i, _) in gathers.items()}),
        *table("GatherV2", v2),
        *table("GatherNd", {k: {"params": o, "indices": i} for k, (o, i) in nd.items()}),
        Case(
            "GatherV2",
            "fed-axis",
            {"params": x, "indices": _indices(2, below=4), "axis": given(1, "int32")},
            refusal=ImportRefusal("can't import"),
            only=Form.PLACEHOLDERS,
        ),
    )


def _slicing() -> tuple[Case, ...]:
    x, cube = tensor(5, 6), tensor(3, 4, 5)
    slices = {
        "inner": (x, [1, 2], [3, 3]),
        "all": (x, [0, 0], [5, 6]),
        "to-the-end": (x, [2, 1], [-1, -1]),
        "one-element": (x, [4, 5], [1, 1]),
        "nothing": (x, [1, 1], [0, 2]),
        "rank-1": (tensor(8), [3], [4]),
        "rank-3": (cube, [0, 1, 2], [2, -1, 3]),
        "int32": (tensor(5, 6, dtype="int32"), [1, 2], [3, 3]),
        "open-batch": (leading_dimension_open(x), [0, 1], [-1, 3]),
    }
    strided: dict[str, tuple[Operand, list[int], list[int], list[int], dict[str, int]]] = {
        "plain": (x, [1, 2], [4, 5], [1, 1], {}),
        "strides": (x, [0, 0], [5, 6], [2, 3], {}),
        "negative-stride": (x, [4, 5], [0, 1], [-1, -2], {}),
        "negative-bounds": (x, [-4, -5], [-1, -1], [1, 2], {}),
        "begin-mask": (x, [3, 2], [4, 5], [1, 1], {"begin_mask": 1}),
        "end-mask": (x, [1, 2], [2, 3], [1, 1], {"end_mask": 3}),
        "reversed": (x, [0, 0], [0, 0], [-1, -1], {"begin_mask": 3, "end_mask": 3}),
        "shrink": (x, [2, 1], [3, 4], [1, 1], {"shrink_axis_mask": 1}),
        "shrink-last": (x, [0, -1], [5, 0], [1, 1], {"shrink_axis_mask": 2}),
        "to-rank-0": (x, [2, 3], [3, 4], [1, 1], {"shrink_axis_mask": 3}),
        "new-axis": (x, [0, 1, 0], [0, 3, 4], [1, 1, 1], {"new_axis_mask": 1}),
        "ellipsis": (cube, [0, 1], [0, 4], [1, 1], {"ellipsis_mask": 1}),
        "ellipsis-middle": (cube, [1, 0, 2], [2, 0, 4], [1, 1, 1], {"ellipsis_mask": 2}),
        "ellipsis-shrink": (cube, [0, 2], [0, 3], [1, 1], {"ellipsis_mask": 1, "shrink_axis_mask": 2}),
        "fewer-bounds": (cube, [1], [3], [1], {}),
        "past-the-end": (x, [2, 3], [99, 99], [1, 1], {}),
        "nothing": (x, [3, 0], [3, 6], [1, 1], {}),
        "int64-data": (tensor(5, 6, dtype="int64"), [1, 2], [4, 5], [1, 1], {}),
        "rank-1": (tensor(9), [1], [8], [3], {}),
        "open-batch": (leading_dimension_open(x), [0, 1], [0, 4], [1, 1], {"begin_mask": 1, "end_mask": 1}),
    }
    return (
        *table(
            "Slice", {k: {"input": o, "begin": fixed(b), "size": fixed(s)} for k, (o, b, s) in slices.items()}
        ),
        *table(
            "Slice",
            {
                "fed-begin": {"input": x, "begin": given([1, 2], "int32"), "size": fixed([2, 3])},
                "fed-size": {"input": x, "begin": fixed([1, 2]), "size": given([2, 3], "int32")},
                "fed-both": {
                    "input": x,
                    "begin": given([1, 2], "int32"),
                    "size": given([2, 3], "int32"),
                },
            },
        ),
        *table(
            "StridedSlice",
            {
                k: ({"input": o, "begin": fixed(b), "end": fixed(e), "strides": fixed(s)}, masks)
                for k, (o, b, e, s, masks) in strided.items()
            },
        ),
    )


def _selecting() -> tuple[Case, ...]:
    def choose(c: Operand, a: Operand, b: Operand) -> tuple[Operand, Operand, Operand]:
        return c, a, b

    mask, x = tensor(3, 4, dtype="bool"), tensor(3, 4)
    same = {
        "matrix": choose(mask, x, x),
        "rank-0": choose(tensor(dtype="bool"), tensor(), tensor()),
        "rank-1": choose(tensor(6, dtype="bool"), tensor(6), tensor(6)),
        "int32": choose(mask, tensor(3, 4, dtype="int32"), tensor(3, 4, dtype="int32")),
        "bool": choose(mask, mask, mask),
        "float64": choose(mask, tensor(3, 4, dtype="float64"), tensor(3, 4, dtype="float64")),
        "nan": choose(given([True, False, True], "bool"), given([NAN, 1, 2]), given([3, NAN, NAN])),
        "empty": choose(tensor(0, 2, dtype="bool"), tensor(0, 2), tensor(0, 2)),
    }
    rows_only = {
        "row-mask": choose(tensor(3, dtype="bool"), x, x),
        "row-mask-square": choose(given([True, False, True], "bool"), tensor(3, 3), tensor(3, 3)),
        "scalar-mask": choose(tensor(dtype="bool"), x, x),
    }
    broadcast = {
        "mask-row": choose(tensor(4, dtype="bool"), x, x),
        "mask-column": choose(tensor(3, 1, dtype="bool"), x, x),
        "scalar-mask": choose(tensor(dtype="bool"), x, x),
        "scalar-values": choose(mask, tensor(), tensor()),
        "outer": choose(mask, tensor(3, 1), tensor(1, 4)),
        "square-mask": choose(given([True, False, True], "bool"), tensor(3, 3), tensor(3, 3)),
    }
    where = {
        "matrix": given([[1, 0, 1], [0, 0, 1]], "bool"),
        "rank-1": given([0, 1, 1, 0, 1], "bool"),
        "rank-3": tensor(2, 3, 2, dtype="bool"),
        "none": given([[0, 0], [0, 0]], "bool"),
        "all": given([1, 1, 1], "bool"),
        "int32": given([0, 3, -1, 0], "int32"),
        "float32": given([0.0, -0.0, 0.5, NAN]),
        "empty": tensor(0, 2, dtype="bool"),
        "open-batch": leading_dimension_open(given([[1, 0, 1], [0, 0, 1]], "bool")),
    }
    return (
        *table(
            "Select",
            {k: {"condition": c, "x": a, "y": b} for k, (c, a, b) in {**same, **rows_only}.items()},
            steady="coins may agree",
        ),
        *table(
            "SelectV2",
            {k: {"condition": c, "t": a, "e": b} for k, (c, a, b) in {**same, **broadcast}.items()},
            steady="coins may agree",
        ),
        *table("Where", {k: {"condition": c} for k, c in where.items()}, steady="positions may coincide"),
    )


def _ranking() -> tuple[Case, ...]:
    distinct = tensor(4, 7, values=Shuffled())
    top = {
        "three": (distinct, 3),
        "one": (distinct, 1),
        "all": (distinct, 7),
        "rank-1": (tensor(9, values=Shuffled()), 4),
        "rank-3": (tensor(2, 3, 5, values=Shuffled()), 2),
        "ties": (given([[3, 1, 3, 2], [5, 5, 5, 5]]), 3),
        "int32": (tensor(4, 7, dtype="int32", values=Shuffled()), 3),
        "float64": (tensor(4, 7, dtype="float64", values=Shuffled()), 3),
        "open-batch": (leading_dimension_open(distinct), 3),
    }
    hot: Rows = {
        "plain": ({"indices": _indices(5, below=4), **_hot(4)}, {}),
        "rank-0": ({"indices": _indices(below=4), **_hot(4)}, {}),
        "matrix": ({"indices": _indices(2, 3, below=4), **_hot(4)}, {}),
        "first-axis": ({"indices": _indices(5, below=4), **_hot(4)}, {"axis": 0}),
        "middle-axis": ({"indices": _indices(2, 3, below=4), **_hot(4)}, {"axis": 1}),
        "out-of-range": ({"indices": given([-1, 0, 4, 3], "int32"), **_hot(4)}, {}),
        "int32": ({"indices": _indices(5, below=4), **_hot(4, 3, -2, "int32")}, {}),
        "float-values": ({"indices": _indices(5, below=4), **_hot(4, 2.5, -1.5)}, {}),
        "int64-indices": ({"indices": _indices(5, below=4, dtype="int64"), **_hot(4)}, {}),
        "depth-1": ({"indices": given([0, 1, 0], "int32"), **_hot(1)}, {}),
    }
    unique = {
        "plain": given([3, 1, 3, 2, 1, 9], "int32"),
        "all-equal": given([4, 4, 4], "int32"),
        "all-distinct": tensor(8, dtype="int32", values=Shuffled()),
        "one": given([5], "int32"),
        "int64": given([3, -1, 3, 2, -1], "int64"),
        "float32": given([0.5, 1.5, 0.5, -2.0]),
        "negative": given([-5, 3, -5, 3, 0], "int32"),
        "long": tensor(60, dtype="int32", values=Uniform(0, 9)),
    }
    unravel = {
        "matrix": ([22, 3, 17], [5, 6]),
        "rank-1": ([4, 0, 2], [7]),
        "rank-3": ([59, 0, 31], [3, 4, 5]),
        "scalar": (17, [4, 5]),
        "one-index": ([11], [3, 4]),
    }
    return (
        *table("TopKV2", {k: {"input": o, "k": fixed(n)} for k, (o, n) in top.items()}),
        Case(
            "TopKV2",
            "unsorted",
            {"input": distinct, "k": fixed(2)},
            {"sorted": False},
            refusal=ImportRefusal("sorted=False"),
        ),
        *table("OneHot", hot),
        *table("Unique", {k: {"x": o} for k, o in unique.items()}, steady="values may coincide"),
        *table("UniqueWithCounts", {k: {"x": o} for k, o in unique.items()}, steady="values may coincide"),
        *table(
            "UnravelIndex",
            {
                f"{dtype}-{k}": {"indices": given(i, dtype), "dims": fixed(d, dtype)}
                for k, (i, d) in unravel.items()
                for dtype in ("int32", "int64")
            },
        ),
    )


def _hot(depth: int, on: float = 1, off: float = 0, dtype: str = "float32") -> dict[str, Operand]:
    return {"depth": fixed(depth), "on_value": fixed(on, dtype), "off_value": fixed(off, dtype)}


def _counting() -> tuple[Case, ...]:
    values = given([1, 3, 1, 0, 2, 1], "int32")
    none = fixed([], "float32")
    rows = {
        "plain": (values, 5, none),
        "smaller-size": (given([0, 1, 1, 0], "int32"), 2, none),
        "weights": (values, 5, tensor(6)),
        "int32-weights": (values, 4, tensor(6, dtype="int32")),
        "size-1": (given([0, 0, 0], "int32"), 1, none),
        "float64-weights": (values, 5, tensor(6, dtype="float64")),
    }
    dense = {
        "matrix": (given([[1, 2, 1], [0, 0, 3]], "int32"), 4, none),
        "matrix-weights": (given([[1, 2, 1], [0, 0, 3]], "int32"), 4, tensor(2, 3)),
        "int64": (given([1, 3, 1], "int64"), 5, none),
    }
    clipped: Rows = {
        "matrix": _clip(tensor(3, 4), -0.5, 0.5),
        "one-side": _clip(tensor(3, 4), -100.0, 0.0),
        "equal-bounds": _clip(tensor(3, 4), 0.5, 0.5),
        "int32": _clip(tensor(3, 4, dtype="int32"), -3, 4, "int32"),
        "rank-0": _clip(tensor(), -0.1, 0.1),
        "special": _clip(given([NAN, float("inf"), float("-inf"), 0.0]), -1.0, 1.0),
        "float64": _clip(tensor(3, 4, dtype="float64"), -0.5, 0.5, "float64"),
        "open-batch": _clip(leading_dimension_open(tensor(3, 4)), -0.5, 0.5),
    }
    return (
        *table(
            "Bincount",
            {k: {"arr": a, "size": fixed(n), "weights": w} for k, (a, n, w) in rows.items()},
            steady="counts may coincide",
        ),
        *table(
            "DenseBincount",
            {
                k: {"input": a, "size": fixed(n, a.dtype), "weights": w}
                for k, (a, n, w) in {**rows, **dense}.items()
            },
            steady="counts may coincide",
        ),
        Case(
            "DenseBincount",
            "binary",
            {"input": values, "size": fixed(6), "weights": none},
            {"binary_output": True},
        ),
        *table("ClipByValue", clipped, steady="clipped values may coincide"),
    )


def _clip(operand: Operand, low: float, high: float, dtype: str = "float32") -> dict[str, Operand]:
    return {"t": operand, "clip_value_min": fixed(low, dtype), "clip_value_max": fixed(high, dtype)}


CASES = with_refusals((*_gathering(), *_slicing(), *_selecting(), *_ranking(), *_counting()))
