"""Sparse tensors as indices, values and a shape; and sums over segments of rows."""

from relay_conformance.cases.case import Case, Rows, table
from relay_conformance.cases.families.refusals import with_refusals
from relay_conformance.cases.operands import Operand, fixed, given, leading_dimension_open, tensor


def _products() -> tuple[Case, ...]:
    indices, shape = fixed([[0, 1], [1, 0], [2, 3]], "int64"), fixed([3, 4], "int64")
    values = fixed([1.5, -2.0, 3.25], "float32")

    def product(dense: Operand, indices: Operand = indices, values: Operand = values) -> dict[str, Operand]:
        return {"a_indices": indices, "a_values": values, "a_shape": shape, "b": dense}

    corner = fixed([[2, 3]], "int64")
    rows: Rows = {
        "plain": (product(tensor(4, 5)), {}),
        "adjoint-a": (product(tensor(3, 5)), {"adjoint_a": True}),
        "adjoint-b": (product(tensor(5, 4)), {"adjoint_b": True}),
        "adjoint-both": (product(tensor(5, 3)), {"adjoint_a": True, "adjoint_b": True}),
        "one-column": (product(tensor(4, 1)), {}),
        "one-value": (product(tensor(4, 2), corner, fixed([4.0], "float32")), {}),
    }
    add: Rows = {
        "plain": product(tensor(3, 4)),
        "one-value": product(tensor(3, 4), corner, fixed([4.0], "float32")),
        "zeros": product(given([[0.0] * 4] * 3)),
        "fed-values": {**product(tensor(3, 4)), "a_values": tensor(3)},
        "cancelling": product(given([[0, -1.5, 0, 0], [2, 0, 0, 0], [0, 0, 0, 1]])),
    }
    return (*table("SparseTensorDenseMatMul", rows), *table("SparseTensorDenseAdd", add))


def _dense() -> tuple[Case, ...]:
    def dense(
        indices: object, shape: list[int], values: Operand, default: float = 0, kind: str = "int32"
    ) -> dict[str, Operand]:
        return {
            "sparse_indices": fixed(indices, kind),
            "output_shape": fixed(shape, kind),
            "sparse_values": values,
            "default_value": fixed(default, values.dtype),
        }

    rows: Rows = {
        "matrix": dense([[0, 1], [1, 2]], [2, 4], tensor(2)),
        "default": dense([[0, 1], [1, 2]], [2, 4], tensor(2), 5.5),
        "vector": dense([1, 3, 4], [6], tensor(3)),
        "scalar-value": dense([1, 3, 4], [6], tensor()),
        "scalar-index": dense(3, [6], tensor()),
        "int32": dense([[0, 0]], [2, 2], tensor(1, dtype="int32"), -1),
        "rank-3": dense([[0, 1, 1], [1, 0, 2]], [2, 2, 3], tensor(2)),
        "int64-indices": dense([[0, 1], [1, 2]], [2, 4], tensor(2), 0, "int64"),
    }
    fed: Rows = {
        "fed-indices": {
            **dense([[0, 1], [1, 2]], [2, 4], tensor(2)),
            "sparse_indices": given([[0, 1], [1, 2]], "int32"),
        }
    }
    return table("SparseToDense", {**rows, **fed})


def _rows() -> tuple[Case, ...]:
    def fill(
        indices: list[list[int]], values: Operand, shape: list[int], default: float = -1.0
    ) -> dict[str, Operand]:
        return {
            "indices": given(indices, "int64"),
            "values": values,
            "dense_shape": fixed(shape, "int64"),
            "default_value": fixed(default, values.dtype),
        }

    fills = {
        "one-empty-row": fill([[0, 1], [0, 3], [2, 0]], tensor(3), [3, 4]),
        "several-empty-rows": fill([[1, 1], [4, 0]], tensor(2), [6, 4]),
        "no-empty-row": fill([[0, 1], [1, 0]], tensor(2), [2, 4]),
        "int64-values": fill([[0, 1], [2, 0]], tensor(2, dtype="int64"), [4, 5], 10),
        "one-value": fill([[1, 0]], tensor(1), [3, 2]),
    }

    def build_four_less_one(tf: object, tensors: object) -> object:
        """The importer has no map from the entries of the input to those of the output."""
        result = tf.raw_ops.SparseFillEmptyRows(**tensors)  # type: ignore[attr-defined, arg-type]
        return [result.output_indices, result.output_values, result.empty_row_indicator]

    reshapes = {
        "to-matrix": ([[0, 0, 0], [0, 1, 1], [1, 2, 3]], [2, 3, 4], [6, 4]),
        "minus-one": ([[0, 0, 0], [0, 1, 1], [1, 2, 3]], [2, 3, 4], [4, -1]),
        "to-vector": ([[0, 1], [2, 3]], [3, 4], [12]),
        "from-vector": ([[1], [7], [11]], [12], [2, 6]),
        "same": ([[0, 1], [2, 3]], [3, 4], [3, 4]),
        "ones": ([[0, 1], [2, 3]], [3, 4], [1, 3, 1, 4]),
    }
    return (
        *table(
            "SparseFillEmptyRows", fills, build=build_four_less_one, steady="defaults may be all there is"
        ),
        *table(
            "SparseReshape",
            {
                k: {
                    "input_indices": given(i, "int64"),
                    "input_shape": fixed(old, "int64"),
                    "new_shape": fixed(new, "int64"),
                }
                for k, (i, old, new) in reshapes.items()
            },
        ),
    )


def _segments() -> tuple[Case, ...]:
    data = tensor(6, 3)
    sums = {
        "plain": (data, [0, 0, 1, 2, 2, 2]),
        "one-segment": (data, [0, 0, 0, 0, 0, 0]),
        "each-its-own": (data, [0, 1, 2, 3, 4, 5]),
        "gap": (data, [0, 0, 2, 2, 4, 4]),
        "rank-1": (tensor(5), [0, 1, 1, 2, 2]),
        "rank-3": (tensor(4, 2, 2), [0, 0, 1, 1]),
        "int32": (tensor(4, 3, dtype="int32"), [0, 0, 1, 1]),
    }
    picks = {
        "plain": (data, [0, 2, 3, 5], [0, 0, 1, 2]),
        "repeated": (data, [1, 1, 4, 4], [0, 0, 1, 1]),
        "one-segment": (data, [5, 0, 3], [0, 0, 0]),
        "gap": (data, [0, 1, 2], [0, 2, 2]),
        "one-row": (data, [4], [0]),
        "float64": (tensor(6, 2, dtype="float64"), [0, 3, 5], [0, 1, 1]),
        "rank-1": (tensor(6), [0, 3, 5], [0, 1, 1]),
        "rank-3": (tensor(4, 2, 3), [0, 1, 3], [0, 0, 1]),
    }
    cases = list(
        table("SegmentSum", {k: {"data": o, "segment_ids": given(s, "int32")} for k, (o, s) in sums.items()})
    )
    cases += table(
        "SegmentSum",
        {
            "open-batch": {
                "data": leading_dimension_open(data),
                "segment_ids": given([0, 0, 1, 2, 2, 2], "int32"),
            }
        },
    )
    for name in ("Sum", "Mean", "SqrtN"):
        rows: dict[str, dict[str, Operand]] = {
            k: {"data": o, "indices": given(i, "int32"), "segment_ids": given(s, "int32")}
            for k, (o, i, s) in picks.items()
        }
        counted: Rows = {k: {**inputs, "num_segments": fixed(4)} for k, inputs in rows.items()}
        cases += table(f"SparseSegment{name}", rows)
        cases += table(f"SparseSegment{name}WithNumSegments", counted)
    return tuple(cases)


CASES = with_refusals((*_products(), *_dense(), *_rows(), *_segments()))
