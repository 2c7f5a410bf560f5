"""Shape functions that TVM lacks: of operators whose result has the shape of their first operand, and of ``any``.

Without one an operator over a dynamic dimension is not compiled, and TVM misses those of ``sin`` and many more.
They are registered while a module's kernels are lowered and taken back after that, so that other users of TVM in
the process meet TVM as it is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tvm import topi
from tvm.ir import Op
from tvm.relay.op import _reduce
from tvm.relay.op import op as registry

ShapeFunction = Callable[[Any, Sequence[Any], Any], list[Any]]

_OF_FIRST_OPERAND = (
    *(
        "abs",
        "bitwise_not",
        "erf",
        "fixed_point_multiply",
        "isfinite",
        "isinf",
        "isnan",
        "log10",
        "sign",
        "trunc",
    ),
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "sin", "sinh"),
    *("matrix_set_diag", "nn.log_softmax", "nn.lrn", "reinterpret", "reverse", "reverse_sequence"),
    *("sequence_mask", "strided_set", "trilu"),
    *("annotation.cast_hint", "annotation.checkpoint", "annotation.stop_fusion"),
)


def _first_operand(attrs: Any, inputs: Sequence[Any], out_ranks: Any) -> list[Any]:
    del attrs, out_ranks
    return [topi.identity(inputs[0])]


def additions() -> dict[str, ShapeFunction]:
    """The shape functions by operator."""
    return {"any": _reduce.reduce_shape_func} | dict.fromkeys(_OF_FIRST_OPERAND, _first_operand)


@dataclass
class _Users:
    """How many compilations need the additions at present, and what stood in their place."""

    count: int
    replaced: dict[str, tuple[Any, Any]]


_lock = threading.Lock()
_users = _Users(0, {})


@contextmanager
def added() -> Iterator[None]:
    """The additions are registered inside a ``with`` block, of whatever thread is in one."""
    with _lock:
        if _users.count == 0:
            for name, function in additions().items():
                _users.replaced[name] = _replace(name, [False], function)
        _users.count += 1
    try:
        yield
    finally:
        with _lock:
            _users.count -= 1
            if _users.count == 0:
                for name, (dependent, function) in _users.replaced.items():
                    _replace(name, dependent, function)
                _users.replaced.clear()


def _replace(name: str, dependent: Any, function: Any) -> tuple[Any, Any]:
    """Register a shape function, or none; returns what was registered."""
    operator = Op.get(name)
    before = operator.get_attr("TShapeDataDependent"), operator.get_attr("FShapeFunc")
    operator.reset_attr("TShapeDataDependent")
    operator.reset_attr("FShapeFunc")
    if function is not None:
        registry.register_shape_func(name, list(dependent), function)
    return before
