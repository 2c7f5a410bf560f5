"""Draw blocks: chains of ``let`` with a value, over everything in scope.

What has an effect (a write of a reference, a call that may write) is only ever bound by a ``let``, so that the
order of effects is the order of the text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from relay_conformance.strategies import syntax, tensors
from relay_conformance.strategies.drawer import Drawer, Scope
from relay_conformance.strategies.syntax import (
    CHAIN,
    TREE,
    Anything,
    Clause,
    Constructed,
    Expr,
    If,
    Let,
    Make,
    Pack,
    Var,
)
from relay_conformance.strategies.types import CELL, INT, Data, Func, Ref, Tensor, Tuple, Type

PAIR = Tuple((CELL, CELL))
UNARY = Func((CELL,), CELL)
FUEL = "fuel"
Production = Callable[[], Expr]


@dataclass(frozen=True)
class Blocks:
    """``types`` are those that a ``let`` may bind; ``dynamic`` types come from what is in scope."""

    drawer: Drawer
    types: tuple[Type, ...]
    tensors: bool = False

    def block(self, type_: Type, scope: Scope, depth: int, lets: int = 2) -> Expr:
        """Up to ``lets`` bindings, then a value of ``type_``."""
        bound: list[tuple[Var, Expr]] = []
        for _ in range(self.drawer.number(0, lets)):
            value = self.binding(scope, depth)
            variable = self.drawer.variable(value.type)
            bound.append((variable, value))
            scope = (*scope, variable)
        return chain(bound, self.value(type_, scope, depth))

    def value(self, type_: Type, scope: Scope, depth: int) -> Expr:
        """What may stand where a block ends or after ``let x =``."""
        productions: list[Production] = [lambda: self.expression(type_, scope, depth)]
        if depth > 0:
            # Twice, because most of what a program does is arithmetic.
            productions *= 2
            productions.append(lambda: self._if(type_, scope, depth))
            functions = self.drawer.callables(type_)
            if functions:
                productions.append(lambda: self.call(self.drawer.choose(functions), scope, depth - 1))
            closures = self.drawer.closures(type_, scope)
            if closures:
                productions.append(lambda: self._apply(self.drawer.choose(closures), type_, scope))
            matchable = [v for v in scope if isinstance(v.type, Data)]
            if matchable:
                productions.append(lambda: self._match(self.drawer.choose(matchable), type_, scope, depth))
        return self.drawer.choose(productions)()

    def expression(self, type_: Type, scope: Scope, depth: int) -> Expr:
        """A value without blocks, save those of a closure."""
        match type_:
            case Tensor() if self.tensors:
                return tensors.tensor(self.drawer, scope, depth, type_)
            case Tensor():
                # Mostly one operator, in the innermost branch too: what is tested is the machine, and kernels
                # of one operator are shared by the programs of a module.
                return tensors.cell(self.drawer, scope, 2 if self.drawer.number(0, 7) == 7 else 1, type_)
            case Tuple(fields):
                return Pack(tuple(self.expression(field, scope, depth - 1) for field in fields))
            case Data():
                return self._data(type_, scope, depth)
            case Func(parameters, result):
                return self._closure(parameters, result, scope, depth)
            case Ref(value):
                return syntax.NewRef(self.expression(value, scope, depth - 1))
            case _:
                raise TypeError(f"no expression of type {type_} is drawn")

    def call(self, function: syntax.Function, scope: Scope, depth: int) -> syntax.Call:
        """A call of a global function; what bounds its recursion is a small constant."""
        arguments: list[Expr] = []
        for parameter in function.parameters:
            if parameter.name.startswith(FUEL):
                arguments.append(syntax.Const(self.drawer.number(0, 4), INT))
            else:
                arguments.append(self.expression(parameter.type, scope, depth))
        return syntax.Call(function.name, tuple(arguments), function.body.type)

    def binding(self, scope: Scope, depth: int) -> Expr:
        """A value to bind: of a drawn type, or a use of a reference in scope."""
        dynamic = [v.type for v in scope if isinstance(v.type, Tensor) and has_names(v.type)]
        types = list(dict.fromkeys([*dynamic, *self.types]))
        productions: list[Production] = [lambda: self.value(self.drawer.choose(types), scope, depth)]
        for variable in scope:
            if isinstance(variable.type, Ref):
                productions += self._uses(variable, variable.type.value, scope, depth)
        grown = [t for t in dict.fromkeys(dynamic) if isinstance(t.shape[0], str) and t.dtype != "bool"]
        if grown:
            productions.append(lambda: self._grown(self.drawer.choose(grown), scope, depth))
        return self.drawer.choose(productions)()

    def _grown(self, type_: Tensor, scope: Scope, depth: int) -> Expr:
        """A tensor with a first dimension that nothing else has."""
        result = Tensor((self.drawer.fresh("n"), *type_.shape[1:]), type_.dtype)
        functions = [
            f
            for f in self.drawer.functions
            if isinstance(f.body.type, Tensor) and f.parameters[-1].type != CELL
        ]
        suited = [f for f in functions if _same_rest(f.parameters[-1].type, type_)]
        if suited and self.drawer.number(0, 1):
            fuel = syntax.Const(self.drawer.number(0, 3), INT)
            argument = self.expression(type_, scope, depth - 1)
            return syntax.Call(self.drawer.choose(suited).name, (fuel, argument), result)
        return grow(self.expression(type_, scope, depth - 1), self.drawer.atom(type_, scope), result)

    def _uses(self, reference: Var, type_: Type, scope: Scope, depth: int) -> list[Production]:
        return [
            lambda: syntax.ReadRef(reference, type_),
            lambda: syntax.WriteRef(reference, self.expression(type_, scope, depth - 1)),
        ]

    def _if(self, type_: Type, scope: Scope, depth: int) -> If:
        condition = tensors.condition(self.drawer, scope)
        branches = [self.block(type_, scope, depth - 1, lets=1) for _ in range(2)]
        return If(condition, *branches)

    def _apply(self, closure: Var, type_: Type, scope: Scope) -> Expr:
        assert isinstance(closure.type, Func)
        arguments = tuple(self.drawer.atom(p, scope) for p in closure.type.parameters)
        return syntax.Apply(closure, arguments, type_)

    def _closure(self, parameters: tuple[Type, ...], result: Type, scope: Scope, depth: int) -> Expr:
        known = [v for v in scope if v.type == Func(parameters, result)]
        if known and (depth <= 0 or self.drawer.number(0, 1)):
            return self.drawer.choose(known)
        names = tuple(self.drawer.variable(p, "a") for p in parameters)
        # A closure that may call others could run for long, so it sees no functions with a loop in them.
        inner = replace(self, drawer=self.drawer)
        return syntax.Lambda(names, inner.block(result, (*scope, *names), max(0, depth - 1), lets=1))

    def _data(self, type_: Data, scope: Scope, depth: int) -> Expr:
        known = [v for v in scope if v.type == type_]
        productions: list[Production] = []
        if type_ == CHAIN:
            productions.append(lambda: Make("End", (), CHAIN))
        else:
            productions.append(lambda: Make("Leaf", (self.expression(CELL, scope, 0),), TREE))
        productions += [lambda v=v: v for v in known]  # type: ignore[misc]
        if depth > 0:
            constructor = "Link" if type_ == CHAIN else "Node"
            fields = syntax.DATA_TYPES[type_][constructor]
            productions.append(
                lambda: Make(constructor, tuple(self.expression(f, scope, depth - 1) for f in fields), type_)
            )
        return self.drawer.choose(productions)()

    def _match(self, subject: Var, type_: Type, scope: Scope, depth: int) -> syntax.Match:
        assert isinstance(subject.type, Data)
        patterns = _chain_patterns(self.drawer) if subject.type == CHAIN else _tree_patterns(self.drawer)
        clauses = []
        for pattern in patterns:
            inner = (*scope, *variables_of(pattern))
            clauses.append(Clause(pattern, self.block(type_, inner, depth - 1, lets=1)))
        return syntax.Match(subject, tuple(clauses))


def chain(bound: list[tuple[Var, Expr]], body: Expr) -> Expr:
    """Nested ``let``."""
    for variable, value in reversed(bound):
        body = Let(variable, value, body)
    return body


def grow(first: Expr, second: Expr, result: Tensor) -> Expr:
    """Both after each other."""
    return tensors.op("concatenate", Pack((first, second)), to=result, axis=0)


def has_names(type_: Tensor) -> bool:
    """Whether a dimension is dynamic."""
    return any(isinstance(size, str) for size in type_.shape)


def _same_rest(parameter: Type, type_: Tensor) -> bool:
    return (
        isinstance(parameter, Tensor)
        and has_names(parameter)
        and parameter.shape[1:] == type_.shape[1:]
        and parameter.dtype == type_.dtype
    )


def variables_of(pattern: syntax.Pattern) -> list[Var]:
    """What a pattern binds."""
    if isinstance(pattern, Anything):
        return [] if pattern.variable is None else [pattern.variable]
    return [variable for field in pattern.fields for variable in variables_of(field)]


def _chain_patterns(drawer: Drawer) -> list[syntax.Pattern]:
    def link(tail: syntax.Pattern) -> Constructed:
        return Constructed("Link", (Anything(drawer.variable(CELL, "h")), tail))

    end, rest = Constructed("End", ()), Anything(drawer.variable(CHAIN, "t"))
    return drawer.choose(
        [
            [end, link(rest)],
            [link(rest), Anything()],
            [link(link(rest)), link(end), end],
            [link(end), link(link(link(Anything()))), rest],
        ]
    )


def _tree_patterns(drawer: Drawer) -> list[syntax.Pattern]:
    def leaf() -> Constructed:
        return Constructed("Leaf", (Anything(drawer.variable(CELL, "h")),))

    def node(left: syntax.Pattern, right: syntax.Pattern) -> Constructed:
        return Constructed("Node", (left, Anything(drawer.variable(CELL, "h")), right))

    def tree() -> Anything:
        return Anything(drawer.variable(TREE, "t"))

    return drawer.choose(
        [
            [leaf(), node(tree(), tree())],
            [node(leaf(), leaf()), node(leaf(), tree()), Anything()],
            [node(node(tree(), Anything()), leaf()), tree()],
        ]
    )
