"""Checks of indices that kernels read from tensors, such as those of ``gather``: added while kernels are lowered.

Relay leaves an index out of range undefined, and TVM's kernels read and write wherever it leads. With a check it
is an error that the kernel reports, and memory stays whole. Runs before every other pass over a kernel, while a
buffer still has its dimensions; kernels without such indices are left as they are, and so is what kernels compute.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import tvm
from tvm import tir

from regvm.frontend.contexts import configured

_FIRST_PHASE = 0
_ADDED_PASSES = "tir.add_lower_pass"
_SCATTER_ND = "scatter_nd"


def context() -> tvm.transform.PassContext:
    """The current context with the checks as first pass over each kernel."""
    present = tvm.transform.PassContext.current().config.get(_ADDED_PASSES, ())
    return configured({_ADDED_PASSES: [*present, (_FIRST_PHASE, _pass())]})


@functools.cache
def _pass() -> Any:
    return tir.transform.prim_func_pass(
        lambda function, *_: checked(function), opt_level=0, name="regvm.CheckIndices"
    )


def checked(function: Any) -> Any:
    """The kernel with a check before each store that reads or writes where a tensor's element says."""
    if not _is_indirect(function.body):
        return function
    if _updates_overrun(function):
        return function.with_body(_rewrite(function.body, _skip))
    report = _Report()
    body = _rewrite(function.body, report.guard)
    return function.with_body(report.wrap(body)) if report.failures else function


def _rewrite(body: Any, guard: Callable[[Any], Any]) -> Any:
    return tir.stmt_functor.ir_transform(body, None, guard, ["tir.BufferStore"])


class _Report:
    """Which check failed, told after all loops: an assertion inside of a parallel loop may go unheard."""

    def __init__(self) -> None:
        self.failures: list[str] = []
        self._failed = tir.decl_buffer((1,), "int32", "failed_check")

    def guard(self, store: Any) -> Any:
        """The store if its indices are in range; otherwise the check's number is noted."""
        accesses = _unproven(store)
        noted = []
        for access in accesses:
            self.failures.append(
                f"an index is outside of dimension {access.dimension} of {access.buffer.name}"
            )
            noted.append(tir.BufferStore(self._failed, len(self.failures), [0]))
        for access, note in reversed(list(zip(accesses, noted, strict=True))):
            store = tir.IfThenElse(access.is_harmless, store, note)
        return store

    def wrap(self, body: Any) -> Any:
        """The kernel's body followed by the assertion that no check failed."""
        failed = tir.BufferLoad(self._failed, [0])
        asserts = [
            tir.AssertStmt(failed != number, tir.StringImm(text), tir.Evaluate(0))
            for number, text in enumerate(self.failures, 1)
        ]
        whole = tir.SeqStmt([tir.BufferStore(self._failed, 0, [0]), body, *asserts])
        return tir.Allocate(self._failed.data, "int32", [1], tir.const(True), whole)


@dataclass(frozen=True)
class _Access:
    """An index from data, the dimension it indexes, and what must hold for it to be used."""

    index: Any
    buffer: Any
    dimension: int
    conditions: tuple[Any, ...]

    @property
    def in_range(self) -> Any:
        extent = self.buffer.shape[self.dimension]
        return tir.all(self.index >= 0, self.index < extent)

    @property
    def is_harmless(self) -> Any:
        return functools.reduce(tir.Or, [tir.Not(c) for c in self.conditions], self.in_range)

    @property
    def is_proven(self) -> bool:
        return bool(tvm.arith.Analyzer().can_prove(self.in_range))


def _skip(store: Any) -> Any:
    """The store where its own indices are in range; the reference has room for the others and never reads it."""
    own = [a.in_range for a in _unproven(store) if a.buffer.same_as(store.buffer)]
    return tir.IfThenElse(functools.reduce(tir.And, own), store, None) if own else store


def _updates_overrun(function: Any) -> bool:
    """Whether this is a ``scatter_nd`` whose updates have more dimensions than the data has room for.

    Type inference lets it pass, and upstream takes what remains in range for the result.
    """
    buffers = [function.buffer_map[p] for p in function.params if p in function.buffer_map]
    if len(buffers) != len(("data", "indices", "updates", "out")) or not buffers[-1].name.startswith(
        _SCATTER_ND
    ):
        return False
    data, indices, updates, _ = (b.shape for b in buffers)
    return len(updates) > len(indices) - 1 + len(data) - int(indices[0])


def _is_indirect(body: Any) -> bool:
    """Whether an index holds a load. It asks for loads and stores only, since a call for every node takes long."""
    depth, found = 0, False

    def enter(node: Any) -> None:
        nonlocal depth, found
        if isinstance(node, tir.BufferStore):
            found = found or any(_has_load(i) for i in node.indices)
            return
        found = found or depth > 0
        depth += 1

    def leave(node: Any) -> None:
        nonlocal depth
        depth -= isinstance(node, tir.BufferLoad)

    tir.stmt_functor.ir_transform(body, enter, leave, ["tir.BufferLoad", "tir.BufferStore"])
    return found


def _has_load(expression: Any) -> bool:
    if isinstance(expression, tir.Var | tir.IntImm):
        return False
    loads: list[Any] = []
    tir.stmt_functor.post_order_visit(
        expression, lambda node: loads.append(node) if isinstance(node, tir.BufferLoad) else None
    )
    return bool(loads)


def _unproven(store: Any) -> list[_Access]:
    accesses = [
        *(a for i in store.indices for a in _accesses(i, ())),
        *_accesses(store.value, ()),
        *_indexed(store, ()),
    ]
    unique: list[_Access] = []
    for access in accesses:
        if not any(_same(access, other) for other in unique):
            unique.append(access)
    return [a for a in unique if not a.is_proven]


def _same(one: _Access, other: _Access) -> bool:
    return (
        one.dimension == other.dimension
        and one.buffer.same_as(other.buffer)
        and len(one.conditions) == len(other.conditions)
        and all(map(tvm.ir.structural_equal, one.conditions, other.conditions))
        and tvm.ir.structural_equal(one.index, other.index)
    )


def _indexed(node: Any, conditions: tuple[Any, ...]) -> Iterator[_Access]:
    for dimension, index in enumerate(node.indices):
        if _has_load(index):
            yield _Access(index, node.buffer, dimension, conditions)


def _accesses(expression: Any, conditions: tuple[Any, ...]) -> Iterator[_Access]:
    """The indices from data in an expression, innermost first, each under the conditions of its evaluation."""
    match expression:
        case tir.BufferLoad():
            for index in expression.indices:
                yield from _accesses(index, conditions)
            yield from _indexed(expression, conditions)
        case tir.Select():
            yield from _branches(
                expression.condition, expression.true_value, expression.false_value, conditions
            )
        case tir.Call() if getattr(expression.op, "name", "") == "tir.if_then_else":
            condition, then, otherwise = expression.args
            yield from _branches(condition, then, otherwise, conditions)
        case tir.Call():
            for argument in expression.args:
                yield from _accesses(argument, conditions)
        case tir.And():
            yield from _accesses(expression.a, conditions)
            yield from _accesses(expression.b, (*conditions, expression.a))
        case tir.Or():
            yield from _accesses(expression.a, conditions)
            yield from _accesses(expression.b, (*conditions, tir.Not(expression.a)))
        case tir.Cast():
            yield from _accesses(expression.value, conditions)
        case tir.Not():
            yield from _accesses(expression.a, conditions)
        case tir.expr.BinaryOpExpr() | tir.expr.CmpExpr():
            yield from _accesses(expression.a, conditions)
            yield from _accesses(expression.b, conditions)
        case _:
            return


def _branches(condition: Any, then: Any, otherwise: Any, conditions: tuple[Any, ...]) -> Iterator[_Access]:
    yield from _accesses(condition, conditions)
    yield from _accesses(then, (*conditions, condition))
    yield from _accesses(otherwise, (*conditions, tir.Not(condition)))
