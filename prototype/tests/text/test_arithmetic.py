"""Arithmetic is shown as Relay reads it, and folding keeps the value."""

import re

from hypothesis import given
from hypothesis import strategies as st

from regvm.text.arithmetic import (
    Expression,
    Number,
    Term,
    add,
    divide,
    fold,
    multiply,
    rounded_up,
    show,
)

NAMES = {"%a": 3, "%b": 70, "%c": 0}


def expressions() -> st.SearchStrategy[Expression]:
    leaves = st.one_of(st.integers(0, 100).map(Number), st.sampled_from(sorted(NAMES)).map(Term))
    return st.recursive(leaves, _operations, max_leaves=12)


def _operations(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    # What is divided by is never 0.
    quotient = st.builds(divide, inner, st.integers(1, 100).map(Number))
    return st.one_of(st.builds(add, inner, inner), st.builds(multiply, inner, inner), quotient)


def evaluate(text: str) -> int:
    """Python's rules of precedence are Relay's, and so is its ``//`` on numbers that are not negative."""
    shown = re.sub(r"%(\w+)", lambda m: str(NAMES[m.group()]), text.replace("i64", "").replace("/", "//"))
    assert re.fullmatch(r"[0-9+*/() ]+", shown)
    return int(eval(shown))


@given(expressions())
def test_what_is_shown_has_the_value_of_the_folded_expression(expression: Expression) -> None:
    assert fold(expression, NAMES) == Number(evaluate(show(expression)))


@given(expressions(), st.sets(st.sampled_from(sorted(NAMES))))
def test_folding_what_is_known_keeps_the_value(expression: Expression, known: set[str]) -> None:
    partly = fold(expression, {name: NAMES[name] for name in known})
    assert fold(partly, NAMES) == fold(expression, NAMES)


def test_sizes_are_rounded_as_storage_is() -> None:
    size = rounded_up(Term("%size"), 64)
    assert show(size) == "(%size + 63i64) / 64i64 * 64i64"
    assert [fold(size, {"%size": n}) for n in (0, 1, 64, 65)] == [Number(n) for n in (0, 64, 64, 128)]


def test_operands_on_the_right_keep_their_parentheses() -> None:
    one, two = Number(1), Number(2)
    assert show(add(one, add(one, two))) == "1i64 + (1i64 + 2i64)"
    assert show(add(add(one, one), two)) == "1i64 + 1i64 + 2i64"
    assert show(multiply(one, divide(one, two))) == "1i64 * (1i64 / 2i64)"
