"""The syntax tree of drawn programs: small, typed and immutable, so that two readers can share it.

``render`` writes it as Relay, ``evaluate`` computes it with NumPy; neither knows of the other.
"""

from __future__ import annotations

from dataclasses import dataclass

from relay_conformance.strategies.types import CELL, Data, Func, Ref, Tensor, Tuple, Type

Attribute = int | str | bool | tuple[int, ...]


@dataclass(frozen=True)
class Var:
    name: str
    type: Type


@dataclass(frozen=True)
class Const:
    """A scalar; ``value`` is a whole number also where the dtype is a float or a truth value."""

    value: int
    type: Tensor


@dataclass(frozen=True)
class Op:
    name: str
    arguments: tuple[Expr, ...]
    attributes: tuple[tuple[str, Attribute], ...]
    type: Type


@dataclass(frozen=True)
class Let:
    variable: Var
    value: Expr
    body: Expr

    @property
    def type(self) -> Type:
        return self.body.type


@dataclass(frozen=True)
class If:
    condition: Expr
    then: Expr
    otherwise: Expr

    @property
    def type(self) -> Type:
        return self.then.type


@dataclass(frozen=True)
class Call:
    """A call of a global function."""

    function: str
    arguments: tuple[Expr, ...]
    type: Type


@dataclass(frozen=True)
class Apply:
    """A call of a closure, or of a function that is an argument."""

    closure: Var
    arguments: tuple[Expr, ...]
    type: Type


@dataclass(frozen=True)
class Lambda:
    parameters: tuple[Var, ...]
    body: Expr

    @property
    def type(self) -> Func:
        return Func(tuple(parameter.type for parameter in self.parameters), self.body.type)


@dataclass(frozen=True)
class Pack:
    items: tuple[Expr, ...]

    @property
    def type(self) -> Tuple:
        return Tuple(tuple(item.type for item in self.items))


@dataclass(frozen=True)
class Field:
    """A field of a tuple; the text form can take it of a variable only."""

    variable: Var
    index: int
    type: Type


@dataclass(frozen=True)
class Make:
    """A value of an algebraic data type."""

    constructor: str
    arguments: tuple[Expr, ...]
    type: Data


@dataclass(frozen=True)
class Clause:
    pattern: Pattern
    body: Expr


@dataclass(frozen=True)
class Match:
    subject: Expr
    clauses: tuple[Clause, ...]

    @property
    def type(self) -> Type:
        return self.clauses[0].body.type


@dataclass(frozen=True)
class NewRef:
    value: Expr

    @property
    def type(self) -> Ref:
        return Ref(self.value.type)


@dataclass(frozen=True)
class ReadRef:
    reference: Var
    type: Type


@dataclass(frozen=True)
class WriteRef:
    """Its value is the empty tuple."""

    reference: Var
    value: Expr

    @property
    def type(self) -> Tuple:
        return Tuple(())


Expr = (
    Var
    | Const
    | Op
    | Let
    | If
    | Call
    | Apply
    | Lambda
    | Pack
    | Field
    | Make
    | Match
    | NewRef
    | ReadRef
    | WriteRef
)


@dataclass(frozen=True)
class Constructed:
    """The pattern that a constructor's value fits, and its fields the ``fields``."""

    constructor: str
    fields: tuple[Pattern, ...]


@dataclass(frozen=True)
class Anything:
    """The pattern that everything fits; ``None`` binds no name."""

    variable: Var | None = None


Pattern = Constructed | Anything

CHAIN, TREE = Data("Chain"), Data("Tree")
DATA_TYPES: dict[Data, dict[str, tuple[Type, ...]]] = {
    CHAIN: {"End": (), "Link": (CELL, CHAIN)},
    TREE: {"Leaf": (CELL,), "Node": (TREE, CELL, TREE)},
}


@dataclass(frozen=True)
class Function:
    name: str
    parameters: tuple[Var, ...]
    body: Expr


@dataclass(frozen=True)
class Input:
    """An argument of ``main``: element ``i`` is ``start + i * step``, wrapped to the dtype; sizes are known."""

    variable: Var
    shape: tuple[int, ...]
    start: int
    step: int


@dataclass(frozen=True)
class FuzzProgram:
    """``functions`` end with ``main``, each calls itself or earlier ones; ``main`` takes ``inputs``."""

    functions: tuple[Function, ...]
    inputs: tuple[Input, ...]

    @property
    def main(self) -> Function:
        return self.functions[-1]
