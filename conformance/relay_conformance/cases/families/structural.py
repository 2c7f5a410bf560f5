"""What a graph is made of beside operators: placeholders, constants, and nodes that give nothing."""

from dataclasses import replace
from typing import Any

from relay_conformance.cases.case import Case, Form, ImportRefusal, table
from relay_conformance.cases.operands import Operand, Role, fixed, given, tensor

_KINDS = {
    "matrix": tensor(3, 4),
    "rank-0": tensor(),
    "rank-4": tensor(2, 1, 3, 2),
    "empty": tensor(0, 3),
    "float64": tensor(3, dtype="float64"),
    "float16": tensor(3, dtype="float16"),
    "int8": tensor(5, dtype="int8"),
    "uint8": tensor(5, dtype="uint8"),
    "int16": tensor(5, dtype="int16"),
    "int64": tensor(5, dtype="int64"),
    "bool": tensor(5, dtype="bool"),
    "bool-rank-0": given(True, "bool"),
}


def _itself(tf: Any, t: Any) -> Any:
    return tf.identity(t["x"])


def _sources() -> tuple[Case, ...]:
    def of(operator: str, role: Role, only: Form) -> tuple[Case, ...]:
        rows = {kind: {"x": replace(operand, role=role)} for kind, operand in _KINDS.items()}
        return table(operator, rows, build=_itself, only=only, steady="coins may agree")

    return (
        *of("Placeholder", Role.FED, Form.PLACEHOLDERS),
        *of("Const", Role.FIXED, Form.CONSTANTS),
        *of("PlaceholderWithDefault", Role.DEFAULTED, Form.PLACEHOLDERS),
    )


def _nothing() -> tuple[Case, ...]:
    """A node that gives nothing holds the next one back, and changes no value."""
    nexts = {
        "identity": lambda tf, x: tf.identity(x),
        "add": lambda _, x: x + x,
        "reduction": lambda tf, x: tf.reduce_sum(x, 1),
        "transpose": lambda tf, x: tf.transpose(x),
    }

    def after(make: Any, following: Any) -> Any:
        def build(tf: Any, t: Any) -> Any:
            with tf.control_dependencies([make(tf, t)]):
                return following(tf, t["x"])

        return build

    def assertion(tf: Any, t: Any) -> Any:
        return tf.raw_ops.Assert(condition=tf.reduce_all(t["x"] < 100.0), data=[t["x"]])

    makers = {"NoOp": lambda tf, _: tf.raw_ops.NoOp(), "Assert": assertion}
    return tuple(
        Case(operator, f"before-{name}", {"x": tensor(3, 4)}, build=after(make, following))
        for operator, make in makers.items()
        for name, following in nexts.items()
    )


# Operators that no importer of TVM 0.19 knows, each on operands that TensorFlow takes.
_UNKNOWN: dict[str, dict[str, Operand]] = {
    **{
        name: {"x": tensor(2, 3)}
        for name in ("BesselI0e", "BesselI1e", "Digamma", "Inv", "Lgamma", "Ndtri", "OnesLike", "Reciprocal")
    },
    **{
        name: {"x": tensor(2, 3), "y": tensor(2, 3)}
        for name in ("Div", "DivNoNan", "MulNoNan", "TruncateDiv", "Xdivy", "Xlog1py", "Xlogy")
    },
    **{
        name: {"x": tensor(4, dtype="int32"), "y": tensor(4, dtype="int32")}
        for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")
    },
    "Cholesky": {"input": given([[2.0, 0.5], [0.5, 1.0]])},
    "Cumsum": {"x": tensor(2, 3), "axis": fixed(1)},
    "Diag": {"diagonal": tensor(3)},
    "DiagPart": {"input": tensor(3, 3)},
    "Invert": {"x": tensor(4, dtype="int32")},
    "L2Loss": {"t": tensor(2, 3)},
    "MatrixDeterminant": {"input": tensor(3, 3)},
    "MatrixInverse": {"input": tensor(3, 3)},
    "PopulationCount": {"x": tensor(4, dtype="int32")},
    "UnsortedSegmentSum": {
        "data": tensor(3, 2),
        "segment_ids": given([0, 1, 0], "int32"),
        "num_segments": fixed(2),
    },
}


def _unknown() -> tuple[Case, ...]:
    return tuple(
        Case(
            operator,
            "unknown",
            inputs,
            refusal=ImportRefusal(rf"operators are not implemented.*{operator}"),
            only=Form.PLACEHOLDERS,
        )
        for operator, inputs in _UNKNOWN.items()
    )


CASES = (*_sources(), *_nothing(), *_unknown())
