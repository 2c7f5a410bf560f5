"""Integer arithmetic over named values, as Relay writes it, and its folding."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass


class Operator(enum.Enum):
    """Of 64-bit integers; division truncates."""

    ADD = "+"
    MULTIPLY = "*"
    DIVIDE = "/"


@dataclass(frozen=True)
class Number:
    """A number that is known while compiling."""

    value: int


@dataclass(frozen=True)
class Term:
    """A variable, or an expression of Relay that stands for itself."""

    text: str


@dataclass(frozen=True)
class Binary:
    """An operation."""

    operator: Operator
    left: Expression
    right: Expression


Expression = Number | Term | Binary


def add(left: Expression, right: Expression) -> Expression:
    """``left + right``."""
    return Binary(Operator.ADD, left, right)


def multiply(left: Expression, right: Expression) -> Expression:
    """``left * right``."""
    return Binary(Operator.MULTIPLY, left, right)


def divide(left: Expression, right: Expression) -> Expression:
    """``left / right``."""
    return Binary(Operator.DIVIDE, left, right)


def rounded_up(size: Expression, alignment: int) -> Expression:
    """``(size + alignment - 1) / alignment * alignment``."""
    unit = Number(alignment)
    return multiply(divide(add(size, Number(alignment - 1)), unit), unit)


def fold(expression: Expression, known: Mapping[str, int]) -> Expression:
    """The same value with the ``known`` variables replaced, and each operation done that numbers decide."""
    match expression:
        case Number():
            return expression
        case Term(text):
            return Number(known[text]) if text in known else expression
        case Binary(operator, left, right):
            return _folded(operator, fold(left, known), fold(right, known))


_NEUTRAL = {Operator.ADD: Number(0), Operator.MULTIPLY: Number(1), Operator.DIVIDE: Number(1)}


def _folded(operator: Operator, left: Expression, right: Expression) -> Expression:
    if right == _NEUTRAL[operator]:
        return left
    if left == _NEUTRAL[operator] and operator is not Operator.DIVIDE:
        return right
    if not isinstance(left, Number) or not isinstance(right, Number):
        return Binary(operator, left, right)
    match operator:
        case Operator.ADD:
            return Number(left.value + right.value)
        case Operator.MULTIPLY:
            return Number(left.value * right.value)
        case Operator.DIVIDE:
            return Number(left.value // right.value)


def show(expression: Expression) -> str:
    """Infix text with the parentheses that it needs; operators of one rank group from the left."""
    match expression:
        case Number(value):
            return f"{value}i64"
        case Term(text):
            return text
        case Binary(operator, left, right):
            rank = _rank(expression)
            shown_left = f"({show(left)})" if _rank(left) < rank else show(left)
            shown_right = f"({show(right)})" if _rank(right) <= rank else show(right)
            return f"{shown_left} {operator.value} {shown_right}"


def _rank(expression: Expression) -> int:
    if not isinstance(expression, Binary):
        return 3
    return 1 if expression.operator is Operator.ADD else 2
