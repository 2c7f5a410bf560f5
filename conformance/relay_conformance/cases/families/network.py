"""Operators of neural networks beside convolution: products of matrices, normalisation, softmax, an LSTM cell."""

from typing import Any

from relay_conformance.cases.case import Case, Rows, table
from relay_conformance.cases.families.refusals import with_refusals
from relay_conformance.cases.operands import (
    INF,
    Normal,
    Operand,
    Operands,
    Uniform,
    fixed,
    given,
    leading_dimension_open,
    tensor,
)


def _products() -> tuple[Case, ...]:
    def pair(a: Operand, b: Operand) -> dict[str, Operand]:
        return {"a": a, "b": b}

    plain: Rows = {
        "plain": pair(tensor(3, 4), tensor(4, 5)),
        "transpose-a": (pair(tensor(4, 3), tensor(4, 5)), {"transpose_a": True}),
        "transpose-b": (pair(tensor(3, 4), tensor(5, 4)), {"transpose_b": True}),
        "transpose-both": (pair(tensor(4, 3), tensor(5, 4)), {"transpose_a": True, "transpose_b": True}),
        "row-times-column": pair(tensor(1, 6), tensor(6, 1)),
        "column-times-row": pair(tensor(5, 1), tensor(1, 4)),
        "one-element": pair(tensor(1, 1), tensor(1, 1)),
        "float64": pair(tensor(3, 4, dtype="float64"), tensor(4, 5, dtype="float64")),
        "int32": pair(tensor(3, 4, dtype="int32"), tensor(4, 5, dtype="int32")),
        "large": pair(tensor(17, 33), tensor(33, 19)),
        "over-nothing": pair(tensor(2, 0), tensor(0, 3)),
        "empty-result": pair(tensor(0, 4), tensor(4, 3)),
        "open-batch": pair(leading_dimension_open(tensor(3, 4)), tensor(4, 5)),
    }
    steady = {"over-nothing": plain.pop("over-nothing")} if isinstance(plain, dict) else {}

    def batch(x: Operand, y: Operand, **adjoint: bool) -> Any:
        return {"x": x, "y": y}, adjoint

    batched: Rows = {
        "plain": batch(tensor(2, 3, 4), tensor(2, 4, 5)),
        "adjoint-x": batch(tensor(2, 4, 3), tensor(2, 4, 5), adj_x=True),
        "adjoint-y": batch(tensor(2, 3, 4), tensor(2, 5, 4), adj_y=True),
        "adjoint-both": batch(tensor(2, 4, 3), tensor(2, 5, 4), adj_x=True, adj_y=True),
        "rank-4": batch(tensor(2, 3, 2, 4), tensor(2, 3, 4, 2)),
        "rank-4-adjoint": batch(tensor(2, 3, 4, 2), tensor(2, 3, 2, 4), adj_x=True, adj_y=True),
        "one-batch": batch(tensor(1, 3, 4), tensor(1, 4, 5)),
        "float64": batch(tensor(2, 3, 4, dtype="float64"), tensor(2, 4, 5, dtype="float64")),
        "rank-2": batch(tensor(3, 4), tensor(4, 5)),
        "open-batch": batch(leading_dimension_open(tensor(2, 3, 4)), leading_dimension_open(tensor(2, 4, 5))),
    }
    broadcast: Rows = {
        "broadcast-one": batch(tensor(2, 3, 4), tensor(1, 4, 5)),
        "broadcast-matrix": batch(tensor(2, 3, 4), tensor(4, 5)),
        "broadcast-left-matrix": batch(tensor(3, 4), tensor(2, 4, 5)),
        "broadcast-rank-4-matrix": batch(tensor(2, 3, 2, 4), tensor(4, 5)),
        "broadcast-rank-4": batch(tensor(2, 1, 2, 4), tensor(1, 3, 4, 2)),
    }
    return (
        *table("MatMul", plain),
        *table("MatMul", steady, steady="over nothing each is zero"),
        *table("BatchMatMul", batched),
        *table("BatchMatMulV2", {**batched, **broadcast}),
        *_einsum(),
    )


def _einsum() -> tuple[Case, ...]:
    equations = {
        "product": ("ij,jk->ik", (tensor(3, 4), tensor(4, 5))),
        "batched": ("bij,bjk->bik", (tensor(2, 3, 4), tensor(2, 4, 5))),
        "outer": ("i,j->ij", (tensor(3), tensor(4))),
        "inner": ("i,i->", (tensor(5), tensor(5))),
        "transpose": ("ij->ji", (tensor(3, 4),)),
        "sum-rows": ("ij->i", (tensor(3, 4),)),
        "sum-all": ("ij->", (tensor(3, 4),)),
        "trace": ("ii->", (tensor(4, 4),)),
        "diagonal": ("ii->i", (tensor(4, 4),)),
        "elementwise": ("ij,ij->ij", (tensor(3, 4), tensor(3, 4))),
        "rank-4": ("abcd,abed->abce", (tensor(2, 2, 3, 4), tensor(2, 2, 5, 4))),
        "ellipsis": ("...ij,...jk->...ik", (tensor(2, 3, 4), tensor(2, 4, 2))),
    }
    return table(
        "Einsum",
        {
            k: ({"inputs": Operands(operands)}, {"equation": equation})
            for k, (equation, operands) in equations.items()
        },
    )


def _normalisation() -> tuple[Case, ...]:
    def fused(image: Operand, channels: int, *, computed: bool) -> dict[str, Operand]:
        vector = tensor(channels, values=Uniform(0.5, 2))
        moment = fixed([], "float32") if computed else vector
        return {"x": image, "scale": vector, "offset": vector, "mean": moment, "variance": moment}

    image = tensor(2, 3, 4, 5)
    inference = {"is_training": False}
    rows: Rows = {
        "inference": (fused(image, 5, computed=False), inference),
        "epsilon": (fused(image, 5, computed=False), {**inference, "epsilon": 0.1}),
        "one-channel": (fused(tensor(2, 3, 3, 1), 1, computed=False), inference),
        "one-pixel": (fused(tensor(3, 1, 1, 4), 4, computed=False), inference),
        "batch-1": (fused(tensor(1, 4, 4, 3), 3, computed=False), inference),
        "channels-first": (
            fused(tensor(2, 3, 4, 5), 3, computed=False),
            {**inference, "data_format": "NCHW"},
        ),
    }

    def first_output(operator: str) -> Any:
        def build(tf: Any, tensors: Any) -> Any:
            return getattr(tf.raw_ops, operator)(**tensors, is_training=True).y

        return build

    cases: list[Case] = []
    for operator in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"):
        cases += _only_y(operator, rows)
        cases.append(Case(operator, "training", fused(image, 5, computed=True), build=first_output(operator)))
    return tuple(cases)


def _only_y(operator: str, rows: Rows) -> tuple[Case, ...]:
    """The other outputs of an inference are the moments and room that nobody defines."""

    def build(attributes: Any) -> Any:
        return lambda tf, tensors: getattr(tf.raw_ops, operator)(**tensors, **attributes).y

    return tuple(
        Case(operator, kind, row[0], build=build(row[1]))
        for kind, row in rows.items()
        if isinstance(row, tuple)
    )


def _softmax() -> tuple[Case, ...]:
    shapes = {
        "matrix": tensor(3, 5),
        "one-row": tensor(1, 7),
        "rank-1": tensor(6),
        "rank-3": tensor(2, 3, 4),
        "rank-4": tensor(2, 2, 3, 4),
        "large-values": tensor(3, 5, values=Normal(300)),
        "float64": tensor(3, 5, dtype="float64"),
        "minus-infinity": given([[0.0, -INF, 1.0], [2.0, 1.0, -INF]]),
        "long": tensor(2, 200),
        "empty": tensor(0, 4),
        "open-batch": leading_dimension_open(tensor(3, 5)),
    }
    rows: Rows = {k: {"logits": o} for k, o in shapes.items()}
    one: Rows = {"one-class": {"logits": tensor(4, 1)}}
    return (
        *table("Softmax", rows),
        *table("Softmax", one, steady="one class is certain"),
        *table("LogSoftmax", rows),
        *table("LogSoftmax", one, steady="one class is certain"),
    )


def _lrn() -> tuple[Case, ...]:
    image = tensor(1, 3, 3, 8, values=Normal(3))
    rows: Rows = {
        "default": ({"input": image}, {}),
        "radius-1": ({"input": image}, {"depth_radius": 1}),
        "radius-0": ({"input": image}, {"depth_radius": 0}),
        "bias": ({"input": image}, {"depth_radius": 2, "bias": 2.0}),
        "alpha": ({"input": image}, {"depth_radius": 2, "alpha": 0.01}),
        "beta": ({"input": image}, {"depth_radius": 2, "beta": 0.75}),
        "batch": ({"input": tensor(3, 2, 2, 4)}, {"depth_radius": 1}),
        "one-channel": ({"input": tensor(2, 3, 3, 1)}, {"depth_radius": 2}),
    }
    return table("LRN", rows)


def _lstm() -> tuple[Case, ...]:
    def cell(batch: int, size: int, units: int, dtype: str = "float32") -> dict[str, Operand]:
        peephole = fixed([0.0] * units, dtype)
        return {
            "x": tensor(batch, size, dtype=dtype),
            "cs_prev": tensor(batch, units, dtype=dtype),
            "h_prev": tensor(batch, units, dtype=dtype),
            "w": tensor(size + units, 4 * units, dtype=dtype),
            "wci": peephole,
            "wcf": peephole,
            "wco": peephole,
            "b": tensor(4 * units, dtype=dtype),
        }

    rows: Rows = {
        "plain": (cell(1, 3, 2), {"cell_clip": -1.0}),
        "batch": (cell(4, 3, 2), {"cell_clip": -1.0}),
        "one-unit": (cell(2, 3, 1), {"cell_clip": -1.0}),
        "forget-bias": (cell(2, 3, 2), {"cell_clip": -1.0, "forget_bias": 0.25}),
        "no-forget-bias": (cell(2, 3, 2), {"cell_clip": -1.0, "forget_bias": 0.0}),
        "large": (cell(3, 8, 16), {"cell_clip": -1.0}),
        "cell-clip": (cell(2, 3, 2), {"cell_clip": 0.3}),
    }
    return table("LSTMBlockCell", rows)


CASES = with_refusals((*_products(), *_normalisation(), *_softmax(), *_lrn(), *_lstm()))
