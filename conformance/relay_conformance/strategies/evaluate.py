"""Compute a drawn program with NumPy: the third voice, which shares no pass, kernel or register with a machine.

It reads the syntax tree, not the Relay text, so that an error in the text is noticed as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from typing_extensions import assert_never

from relay_conformance.program import Array
from relay_conformance.strategies import operators, syntax
from relay_conformance.strategies.syntax import Expr, FuzzProgram, Pattern

_LARGEST_EXACT = 2.0**24
"""Whole float32 numbers up to here are exact in every order of summing, with or without fused operations."""


@dataclass(frozen=True)
class Made:
    """A value of an algebraic data type."""

    constructor: str
    fields: tuple[Any, ...]


@dataclass
class Cell:
    """A reference."""

    value: Any


@dataclass(frozen=True)
class Expected:
    """The outputs as NumPy arrays in nested tuples; not ``exact``: floats had to be rounded on the way."""

    value: Any
    exact: bool


Environment = Mapping[str, Any]


def arrays(program: FuzzProgram) -> tuple[Array, ...]:
    """The arguments of ``main``."""
    return tuple(_array(given) for given in program.inputs)


def _array(given: syntax.Input) -> Array:
    count = int(np.prod(given.shape, dtype=np.int64))
    type_ = given.variable.type
    assert hasattr(type_, "dtype")
    values = [given.start + index * given.step for index in range(count)]
    match type_.dtype:
        case "bool":
            flat = np.array([value % 2 for value in values], dtype=np.bool_)
        case "float32":
            # Small whole numbers: what is computed from them is exact for long.
            flat = np.array([(value + 8) % 17 - 8 for value in values], dtype=np.float32)
        case dtype:
            # Through uint64, because casting there and narrowing wrap without a complaint.
            flat = np.array([value % 2**64 for value in values], dtype=np.uint64).astype(dtype)
    return flat.reshape(given.shape)


def evaluate(program: FuzzProgram) -> Expected:
    """The value of ``main`` on the program's own inputs."""
    evaluator = _Evaluator({function.name: function for function in program.functions})
    with np.errstate(all="ignore"):
        value = evaluator.call(program.main.name, arrays(program))
    return Expected(value, evaluator.exact)


class _Evaluator:
    def __init__(self, functions: Mapping[str, syntax.Function]) -> None:
        self._functions = functions
        self.exact = True

    def call(self, name: str, arguments: tuple[Any, ...]) -> Any:
        function = self._functions[name]
        names = [parameter.name for parameter in function.parameters]
        return self._value(function.body, dict(zip(names, arguments, strict=True)))

    def _all(self, expressions: tuple[Expr, ...], environment: Environment) -> tuple[Any, ...]:
        return tuple(self._value(expression, environment) for expression in expressions)

    def _value(self, expression: Expr, environment: Environment) -> Any:
        match expression:
            case syntax.Var(name):
                return environment[name]
            case syntax.Const(value, type_):
                return np.array(value, dtype=type_.dtype)
            case syntax.Op(name, arguments, attributes):
                return self._operator(name, self._all(arguments, environment), attributes)
            case syntax.Let(variable, value, body):
                return self._value(body, {**environment, variable.name: self._value(value, environment)})
            case syntax.If(condition, then, otherwise):
                return self._value(
                    then if bool(self._value(condition, environment)) else otherwise, environment
                )
            case syntax.Call(function, arguments):
                return self.call(function, self._all(arguments, environment))
            case syntax.Apply(closure, arguments):
                return environment[closure.name](*self._all(arguments, environment))
            case syntax.Lambda(parameters, body):
                return self._closure(parameters, body, environment)
            case syntax.Pack(items):
                return self._all(items, environment)
            case syntax.Field(variable, index):
                return environment[variable.name][index]
            case syntax.Make(constructor, arguments):
                return Made(constructor, self._all(arguments, environment))
            case syntax.Match(subject, clauses):
                return self._match(self._value(subject, environment), clauses, environment)
            case syntax.NewRef(value):
                return Cell(self._value(value, environment))
            case syntax.ReadRef(reference):
                return environment[reference.name].value
            case syntax.WriteRef(reference, value):
                environment[reference.name].value = self._value(value, environment)
                return ()
            case _:
                assert_never(expression)

    def _operator(self, name: str, arguments: tuple[Any, ...], attributes: Any) -> Array:
        result = operators.apply(name, arguments, attributes)
        if result.dtype.kind == "f":
            whole = np.isfinite(result) & (np.abs(result) <= _LARGEST_EXACT) & (result == np.floor(result))
            self.exact = self.exact and name not in operators.INEXACT and bool(whole.all())
        return result

    def _closure(
        self, parameters: tuple[syntax.Var, ...], body: Expr, environment: Environment
    ) -> Callable[..., Any]:
        names = [parameter.name for parameter in parameters]
        return lambda *given: self._value(body, {**environment, **dict(zip(names, given, strict=True))})

    def _match(self, subject: Any, clauses: tuple[syntax.Clause, ...], environment: Environment) -> Any:
        for clause in clauses:
            bound = _bindings(clause.pattern, subject)
            if bound is not None:
                return self._value(clause.body, {**environment, **bound})
        raise AssertionError("a drawn match covers every case")


def _bindings(pattern: Pattern, subject: Any) -> dict[str, Any] | None:
    """What the names of a pattern stand for; ``None`` where it doesn't fit."""
    match pattern:
        case syntax.Anything(None):
            return {}
        case syntax.Anything(variable):
            assert variable is not None
            return {variable.name: subject}
        case syntax.Constructed(constructor, fields):
            if subject.constructor != constructor:
                return None
            bound: dict[str, Any] = {}
            for field, value in zip(fields, subject.fields, strict=True):
                inner = _bindings(field, value)
                if inner is None:
                    return None
                bound.update(inner)
            return bound
        case _:
            assert_never(pattern)
