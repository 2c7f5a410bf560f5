"""Elementwise operators of one operand: one table for all of floats, with the domain each is defined on.

Special values go in where TensorFlow and IEEE 754 agree on the result; the rows beside the table say where
an operator takes integers or booleans too.
"""

from relay_conformance.cases.case import Case, table
from relay_conformance.cases.families.refusals import with_refusals
from relay_conformance.cases.operands import (
    INF,
    NAN,
    Normal,
    Operand,
    Uniform,
    Values,
    given,
    leading_dimension_open,
    tensor,
)

# Operand's name and the values that an operator is defined on.
_FLOAT: dict[str, tuple[str, Values]] = {
    "Abs": ("x", Normal(3)),
    "Acos": ("x", Uniform(-1, 1)),
    "Acosh": ("x", Uniform(1, 5)),
    "Asin": ("x", Uniform(-1, 1)),
    "Asinh": ("x", Normal(3)),
    "Atan": ("x", Normal(3)),
    "Atanh": ("x", Uniform(-0.9, 0.9)),
    "Ceil": ("x", Normal(3)),
    "Cos": ("x", Normal(3)),
    "Cosh": ("x", Normal(2)),
    "Elu": ("features", Normal(2)),
    "Erf": ("x", Normal(1)),
    "Exp": ("x", Normal(2)),
    "Expm1": ("x", Normal(2)),
    "Floor": ("x", Normal(3)),
    "Identity": ("input", Normal(3)),
    "IsFinite": ("x", Normal(3)),
    "IsInf": ("x", Normal(3)),
    "IsNan": ("x", Normal(3)),
    "LeakyRelu": ("features", Normal(3)),
    "Log": ("x", Uniform(0.1, 9)),
    "Log1p": ("x", Uniform(-0.9, 9)),
    "Neg": ("x", Normal(3)),
    "Relu": ("features", Normal(3)),
    "Relu6": ("features", Normal(6)),
    "Rint": ("x", Normal(3)),
    "Round": ("x", Normal(3)),
    "Rsqrt": ("x", Uniform(0.1, 9)),
    "Selu": ("features", Normal(2)),
    "Sigmoid": ("x", Normal(3)),
    "Sign": ("x", Normal(3)),
    "Sin": ("x", Normal(3)),
    "Sinh": ("x", Normal(2)),
    "Softplus": ("features", Normal(3)),
    "Softsign": ("features", Normal(3)),
    "Sqrt": ("x", Uniform(0.1, 9)),
    "Square": ("x", Normal(3)),
    "StopGradient": ("input", Normal(3)),
    "Tan": ("x", Uniform(-1.2, 1.2)),
    "Tanh": ("x", Normal(2)),
    "ZerosLike": ("x", Normal(3)),
}
_STEADY = {
    "ZerosLike": "it gives zeros",
    "IsFinite": "ordinary numbers are finite",
    "IsInf": "ordinary numbers are finite",
    "IsNan": "ordinary numbers are none",
}
_INTEGERS = (
    "Abs",
    "Identity",
    "Neg",
    "Relu",
    "Relu6",
    "Sign",
    "Square",
    "StopGradient",
    "ZerosLike",
    "Round",
)
_BOOLEANS = ("Identity", "StopGradient", "ZerosLike")
_SPECIAL = (0.0, 1.0, -1.0, 0.5, INF, -INF, NAN, 3.5)


def _float_cases(operator: str, name: str, values: Values) -> tuple[Case, ...]:
    def of(*shape: int, dtype: str = "float32") -> dict[str, Operand]:
        return {name: tensor(*shape, dtype=dtype, values=values)}

    rows = {
        "matrix": of(3, 4),
        "rank-0": of(),
        "rank-1": of(7),
        "rank-4": of(2, 3, 1, 4),
        "one-element": of(1, 1),
        "empty": of(0, 3),
        "long-row": of(1, 130),
        "float64": of(3, 4, dtype="float64"),
        "open-batch": {name: leading_dimension_open(of(3, 4)[name])},
        "special": {name: given(_SPECIAL)},
    }
    return table(operator, rows, steady=_STEADY.get(operator, ""))


def _integer_cases(operator: str, name: str) -> tuple[Case, ...]:
    low, high = -(2**31), 2**31 - 1
    rows = {
        "int32": {name: tensor(3, 5, dtype="int32")},
        "int64": {name: tensor(6, dtype="int64")},
        "int32-extremes": {name: given([low, low + 1, -1, 0, 1, high], "int32")},
    }
    return table(operator, rows, steady=_STEADY.get(operator, ""))


def _logical_not() -> tuple[Case, ...]:
    rows = {
        "matrix": {"x": tensor(3, 4, dtype="bool")},
        "rank-0": {"x": tensor(dtype="bool")},
        "rank-1": {"x": tensor(9, dtype="bool")},
        "rank-4": {"x": tensor(2, 2, 1, 3, dtype="bool")},
        "empty": {"x": tensor(0, dtype="bool")},
        "one-element": {"x": given([[True]], "bool")},
        "open-batch": {"x": leading_dimension_open(tensor(3, 4, dtype="bool"))},
    }
    return table("LogicalNot", rows)


def _attributes() -> tuple[Case, ...]:
    x = tensor(4, 5, values=Normal(3))
    return (
        *table(
            "LeakyRelu",
            {f"alpha-{name}": ({"features": x}, {"alpha": alpha}) for name, alpha in _ALPHAS.items()},
        ),
        *table(
            "CheckNumerics",
            {
                "matrix": ({"tensor": x}, {"message": "checked"}),
                "rank-0": ({"tensor": tensor()}, {"message": "checked"}),
                "float64": ({"tensor": tensor(3, dtype="float64")}, {"message": ""}),
                "empty": ({"tensor": tensor(0, 2)}, {"message": "checked"}),
                "open-batch": ({"tensor": leading_dimension_open(x)}, {"message": "checked"}),
            },
        ),
        *table("Cast", _casts()),
    )


_ALPHAS = {"zero": 0.0, "one": 1.0, "negative": -0.5, "large": 3.0}


def _casts() -> dict[str, tuple[dict[str, Operand], dict[str, str]]]:
    rows = {
        f"{source}-to-{target}": ({"x": tensor(3, 4, dtype=source)}, {"DstT": target})
        for source in ("float32", "float64", "int32", "int64", "bool", "uint8", "float16")
        for target in ("float32", "float64", "int32", "int64", "bool", "uint8", "int8", "float16")
        if source != target and not (source.startswith("float") and target in ("uint8", "int8"))
        # A negative integer that turns into an unsigned one wraps the same way in both.
    }
    rows["rank-0"] = ({"x": tensor(dtype="int32")}, {"DstT": "float32"})
    rows["empty"] = ({"x": tensor(0, 2)}, {"DstT": "int32"})
    rows["same-dtype"] = ({"x": tensor(2, 2)}, {"DstT": "float32"})
    rows["fractions-to-int32"] = ({"x": given([-2.9, -0.5, 0.5, 1.5, 2.9])}, {"DstT": "int32"})
    rows["minus-one-to-bool"] = ({"x": given([-1, 0, 1, 2**40], "int64")}, {"DstT": "bool"})
    rows["nan-to-bool"] = ({"x": given([NAN, 0.0, -0.0, INF, 1.0])}, {"DstT": "bool"})
    rows["int64-wraps"] = ({"x": given([2**40 + 3, -(2**33) - 1, 5], "int64")}, {"DstT": "int32"})
    return rows


CASES = with_refusals(
    (
        *(
            case
            for operator, (name, values) in _FLOAT.items()
            for case in _float_cases(operator, name, values)
        ),
        *(case for operator in _INTEGERS for case in _integer_cases(operator, _FLOAT[operator][0])),
        *(
            Case(
                operator,
                "bool",
                {_FLOAT[operator][0]: tensor(3, 4, dtype="bool")},
                steady=_STEADY.get(operator, ""),
            )
            for operator in _BOOLEANS
        ),
        *_logical_not(),
        *_attributes(),
    )
)
