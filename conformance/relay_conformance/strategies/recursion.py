"""Draw functions that call themselves; each round uses up fuel or a piece of data, so that all of them end."""

from __future__ import annotations

from relay_conformance.strategies import tensors
from relay_conformance.strategies.blocks import FUEL, PAIR, UNARY, Blocks, chain, grow, variables_of
from relay_conformance.strategies.drawer import Drawer
from relay_conformance.strategies.syntax import (
    CHAIN,
    TREE,
    Anything,
    Call,
    Clause,
    Const,
    Constructed,
    Expr,
    Function,
    If,
    Lambda,
    Make,
    Match,
    Var,
)
from relay_conformance.strategies.types import BOOL, CELL, INT, Tensor, Type


def plain(blocks: Blocks) -> Function:
    """A function of one to three cells that calls only earlier ones."""
    drawer = blocks.drawer
    results: list[Type] = [CELL, PAIR] if PAIR in blocks.types else [CELL]
    result = drawer.choose(results)
    parameters = tuple(drawer.variable(CELL, "p") for _ in range(drawer.number(1, 3)))
    return Function(drawer.fresh("plain"), parameters, blocks.block(result, parameters, 1, lets=1))


def higher_order(blocks: Blocks) -> Function:
    """A function that applies its first argument."""
    drawer = blocks.drawer
    parameters = (drawer.variable(UNARY, "f"), drawer.variable(CELL, "p"))
    return Function(drawer.fresh("higher"), parameters, blocks.block(CELL, parameters, 2))


def adder(blocks: Blocks) -> Function:
    """A function that returns a closure over its argument."""
    drawer = blocks.drawer
    captured, parameter = drawer.variable(CELL, "p"), drawer.variable(CELL, "a")
    body = Lambda((parameter,), blocks.block(CELL, (captured, parameter), 1, lets=1))
    return Function(drawer.fresh("closing"), (captured,), body)


def loop(blocks: Blocks) -> Function:
    """A tail call a round; a round may leave early."""
    drawer = blocks.drawer
    name, fuel = drawer.fresh("loop"), Var(drawer.fresh(FUEL), INT)
    carried = tuple(drawer.variable(CELL, "p") for _ in range(drawer.number(1, 3)))
    bound = _bindings(blocks, carried)
    scope = (*carried, *(variable for variable, _ in bound))
    following = tuple(tensors.cell(drawer, scope, 1) for _ in carried)
    again: Expr = Call(name, (_less(fuel), *following), CELL)
    if drawer.number(0, 1):
        early = blocks.expression(CELL, scope, 1)
        again = If(tensors.condition(drawer, scope), again, early)
    body = If(_spent(fuel), blocks.expression(CELL, carried, 1), chain(bound, again))
    return Function(name, (fuel, *carried), body)


def recursion(blocks: Blocks) -> Function:
    """A call a round whose result is used afterwards, so that each round keeps a frame."""
    drawer = blocks.drawer
    name, fuel = drawer.fresh("down"), Var(drawer.fresh(FUEL), INT)
    parameters = tuple(drawer.variable(CELL, "p") for _ in range(drawer.number(1, 2)))
    bound = _bindings(blocks, parameters)
    scope = (*parameters, *(variable for variable, _ in bound))
    result = drawer.variable(CELL, "r")
    call = Call(name, (_less(fuel), *(tensors.cell(drawer, scope, 1) for _ in parameters)), CELL)
    after = tensors.cell(drawer, (*scope, result), 2)
    round_ = chain([*bound, (result, call)], after)
    return Function(name, (fuel, *parameters), If(_spent(fuel), drawer.atom(CELL, parameters), round_))


def build(blocks: Blocks) -> Function:
    """A list with an element for each unit of fuel."""
    drawer = blocks.drawer
    name, fuel, seed = drawer.fresh("build"), Var(drawer.fresh(FUEL), INT), drawer.variable(CELL, "p")
    rest = drawer.variable(CHAIN, "r")
    call = Call(name, (_less(fuel), tensors.cell(drawer, (seed,), 1)), CHAIN)
    linked = Make("Link", (tensors.cell(drawer, (seed,), 1), rest), CHAIN)
    body = If(_spent(fuel), Make("End", (), CHAIN), chain([(rest, call)], linked))
    return Function(name, (fuel, seed), body)


def fold_chain(blocks: Blocks) -> Function:
    """A tail-recursive walk along a list."""
    drawer = blocks.drawer
    name, data, total = drawer.fresh("fold"), drawer.variable(CHAIN, "c"), drawer.variable(CELL, "p")
    head, tail = drawer.variable(CELL, "h"), drawer.variable(CHAIN, "t")
    pattern = Constructed("Link", (Anything(head), Anything(tail)))
    scope = (total, head)
    step = Call(name, (tail, tensors.cell(drawer, scope, 2)), CELL)
    clauses = (
        Clause(Constructed("End", ()), tensors.cell(drawer, (total,), 1)),
        Clause(pattern, chain(_bindings(blocks, scope), step)),
    )
    return Function(name, (data, total), Match(data, clauses))


def fold_tree(blocks: Blocks) -> Function:
    """A walk of a tree, two calls a node."""
    drawer = blocks.drawer
    name, data = drawer.fresh("walk"), drawer.variable(TREE, "c")
    leaf = Constructed("Leaf", (Anything(drawer.variable(CELL, "h")),))
    left, value, right = (drawer.variable(t, "t") for t in (TREE, CELL, TREE))
    node = Constructed("Node", (Anything(left), Anything(value), Anything(right)))
    first, second = drawer.variable(CELL, "r"), drawer.variable(CELL, "r")
    calls: list[tuple[Var, Expr]] = [
        (first, Call(name, (left,), CELL)),
        (second, Call(name, (right,), CELL)),
    ]
    scope = (first, second, value)
    clauses = (
        Clause(leaf, tensors.cell(drawer, tuple(variables_of(leaf)), 1)),
        Clause(node, chain(calls, tensors.cell(drawer, scope, 2))),
    )
    return Function(name, (data,), Match(data, clauses))


def growing(blocks: Blocks) -> Function:
    """A loop whose tensor has another first dimension in each round."""
    drawer = blocks.drawer
    rest: tuple[int, ...] = drawer.choose([(), (2,)])
    type_ = Tensor((drawer.fresh("n"), *rest), drawer.choose(("int32", "float32")))
    longer = Tensor((drawer.fresh("n"), *rest), type_.dtype)
    name, fuel = drawer.fresh("grow"), Var(drawer.fresh(FUEL), INT)
    value = drawer.variable(type_, "p")
    joined = grow(tensors.tensor(drawer, (value,), 1, type_), value, longer)
    again = Call(name, (_less(fuel), joined), longer)
    body = If(_spent(fuel), tensors.tensor(drawer, (value,), 1, type_), again)
    return Function(name, (fuel, value), body)


def _bindings(blocks: Blocks, scope: tuple[Var, ...]) -> list[tuple[Var, Expr]]:
    bound: list[tuple[Var, Expr]] = []
    for _ in range(blocks.drawer.number(0, 2)):
        known = (*scope, *(variable for variable, _ in bound))
        type_: Type = CELL
        bound.append((blocks.drawer.variable(type_), blocks.value(type_, known, 1)))
    return bound


def _spent(fuel: Var) -> Expr:
    return tensors.op("less", fuel, Const(1, INT), to=BOOL)


def _less(fuel: Var) -> Expr:
    return tensors.op("subtract", fuel, Const(1, INT), to=INT)


def draw_functions(drawer: Drawer, blocks: Blocks, kinds: tuple[str, ...], most: int) -> None:
    """Up to ``most`` functions of the given kinds; each may call those before it."""
    for _ in range(drawer.number(0, most)):
        drawer.functions.append(KINDS[drawer.choose(kinds)](blocks))


KINDS = {
    "plain": plain,
    "loop": loop,
    "recursion": recursion,
    "higher_order": higher_order,
    "adder": adder,
    "build": build,
    "fold_chain": fold_chain,
    "fold_tree": fold_tree,
    "growing": growing,
}
