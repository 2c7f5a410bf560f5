"""Evaluate a Relay program with NumPy: the third voice where there is no TensorFlow graph.

It walks the expression and keeps to NumPy's own operators, so that it shares no kernel, pass or register
with the machines under test. Integers wrap, as they do in TVM's kernels. Only the operators in
``_OPERATORS`` are known.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from relay_conformance.errors import UnsupportedModelError
from relay_conformance.program import Array, Program
from relay_conformance.tvm_api import relay, tvm
from relay_conformance.values import Outputs, outputs_from_value

_OPERATORS: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "negative": np.negative,
    "abs": np.absolute,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_not": np.logical_not,
    "squeeze": np.squeeze,
}

Environment = Mapping[Any, Any]


def evaluate(program: Program, inputs: Mapping[str, Array]) -> Outputs:
    """The outputs of ``main``.

    Raises:
        UnsupportedModelError: the program holds an operator or a construct that is not known here.
    """
    main = program.module["main"]
    values = {**program.params, **inputs}
    environment = {parameter: np.asarray(values[parameter.name_hint]) for parameter in main.params}
    with np.errstate(over="ignore"):
        return outputs_from_value(_evaluate(program.module, main.body, environment))


def _evaluate(module: Any, expression: Any, environment: Environment) -> Any:
    """``let``, ``if`` and tail calls are followed in a loop, so that Relay's loops don't nest Python's."""
    while True:
        match expression:
            case relay.Let():
                value = _evaluate(module, expression.value, environment)
                environment = {**environment, expression.var: value}
                expression = expression.body
            case relay.If():
                condition = _evaluate(module, expression.cond, environment)
                expression = expression.true_branch if bool(condition) else expression.false_branch
            case relay.Call() if isinstance(expression.op, relay.GlobalVar | relay.Function):
                callee = expression.op
                function = module[callee] if isinstance(callee, relay.GlobalVar) else callee
                arguments = [_evaluate(module, argument, environment) for argument in expression.args]
                captured = {} if isinstance(callee, relay.GlobalVar) else environment
                environment = {**captured, **dict(zip(function.params, arguments, strict=True))}
                expression = function.body
            case _:
                return _evaluate_leaf(module, expression, environment)


def _evaluate_leaf(module: Any, expression: Any, environment: Environment) -> Any:
    match expression:
        case relay.Var():
            return environment[expression]
        case relay.Constant():
            return expression.data.numpy()
        case relay.Tuple():
            return tuple(_evaluate(module, field, environment) for field in expression.fields)
        case relay.TupleGetItem():
            return _evaluate(module, expression.tuple_value, environment)[expression.index]
        case relay.Call() if isinstance(expression.op, tvm.ir.Op):
            arguments = [_evaluate(module, argument, environment) for argument in expression.args]
            return _call_operator(expression, arguments)
        case _:
            raise UnsupportedModelError(f"NumPy can't evaluate {type(expression).__name__}")


def _call_operator(call: Any, arguments: list[Any]) -> Any:
    operator = _OPERATORS.get(call.op.name)
    if operator is None:
        known = ", ".join(sorted(_OPERATORS))
        raise UnsupportedModelError(f"NumPy can't evaluate {call.op.name}; it knows {known}")
    # `squeeze` is the only one with an attribute, and Relay writes "every axis of size 1" as None.
    options = {"axis": _axes(call.attrs.axis)} if call.op.name == "squeeze" else {}
    return operator(*arguments, **options)


def _axes(axis: Any) -> tuple[int, ...] | None:
    return None if axis is None else tuple(int(number) for number in axis)
