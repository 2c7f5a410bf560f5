"""The choices that every part of a drawn program is made of, and what has been drawn so far.

Each list of options is in order of size, because Hypothesis shrinks towards the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import strategies as st

from relay_conformance.strategies import syntax
from relay_conformance.strategies.syntax import Const, Expr, Op, Var
from relay_conformance.strategies.types import Func, Tensor, Tuple, Type

T = TypeVar("T")
Scope = tuple[Var, ...]

_SMALL = (0, 1, 2, 3, -1, 7, -2, -9)
_LARGE = (100, -128, 65_536, 2**31 - 1, -(2**31) + 1)


@dataclass
class Drawer:
    """Draws names, numbers and atoms; holds the functions and the inputs of the program that is being drawn."""

    draw: Callable[[st.SearchStrategy[Any]], Any]
    functions: list[syntax.Function] = field(default_factory=list)
    inputs: list[syntax.Input] = field(default_factory=list)
    may_add_inputs: bool = False
    _count: int = 0

    def fresh(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def variable(self, type_: Type, prefix: str = "v") -> Var:
        return Var(self.fresh(prefix), type_)

    def choose(self, options: Sequence[T]) -> T:
        chosen: T = options[self.number(0, len(options) - 1)]
        return chosen

    def number(self, low: int, high: int) -> int:
        drawn: int = low if low == high else self.draw(st.integers(low, high))
        return drawn

    def constant(self, dtype: str) -> Const:
        """A scalar that every dtype of the kind can hold."""
        if dtype == "bool":
            return Const(self.number(0, 1), Tensor((), dtype))
        if dtype.startswith("uint"):
            return Const(self.choose((0, 1, 2, 3, 200)), Tensor((), dtype))
        return Const(self.choose((*_SMALL, *_LARGE) if dtype == "int32" else _SMALL), Tensor((), dtype))

    def add_input(self, type_: Tensor, shape: tuple[int, ...], name: str = "") -> Var:
        variable = Var(name or self.fresh("x"), type_)
        large = _LARGE if type_.dtype == "int32" else ()
        start = self.choose((0, 1, 5, -3, 100, *large))
        step = 0 if len(shape) == 0 or max(shape) == 1 else self.choose((1, 0, -1, 3, 37))
        self.inputs.append(syntax.Input(variable, shape, start, step))
        return variable

    def atom(self, type_: Type, scope: Scope) -> Expr:
        """A variable, a field of one, or a constant; a tensor of a type that is not there becomes an input."""
        found: list[Expr] = [variable for variable in scope if variable.type == type_]
        for variable in scope:
            if isinstance(variable.type, Tuple):
                fields = enumerate(variable.type.fields)
                found += [syntax.Field(variable, i, t) for i, t in fields if t == type_]
        if found:
            return self.choose(found)
        assert isinstance(type_, Tensor), f"nothing of type {type_} is in scope"
        static = static_shape(type_)
        assert static is not None, f"nothing of type {type_} is in scope"
        if static and self.may_add_inputs and len(self.inputs) < 6:
            return self.add_input(type_, static)
        scalar = self.constant(type_.dtype)
        if not static:
            return scalar
        return Op("full", (scalar,), (("shape", static), ("dtype", type_.dtype)), type_)

    def callables(self, result: Type) -> list[syntax.Function]:
        return [function for function in self.functions if function.body.type == result]

    def closures(self, result: Type, scope: Scope) -> list[Var]:
        return [v for v in scope if isinstance(v.type, Func) and v.type.result == result]


def static_shape(type_: Tensor) -> tuple[int, ...] | None:
    """The shape, if no dimension of it is dynamic."""
    sizes = tuple(size for size in type_.shape if isinstance(size, int))
    return sizes if len(sizes) == len(type_.shape) else None
