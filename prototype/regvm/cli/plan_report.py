"""Plan the storage of every function of a model, by one strategy or several, and show the result."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.table import Table

from regvm.compiler import PlacedFunction, place_functions
from regvm.ir import Module
from regvm.ir.value_types import infer
from regvm.memory.checker import assert_plan
from regvm.memory.inventory import Allocation, allocations, bytes_without_sharing
from regvm.memory.planner import plan
from regvm.memory.request import Plan, Request, lower_bound
from regvm.memory.strategies import Options


@dataclass(frozen=True)
class Outcome:
    """One strategy on one function: ``seconds`` is the planning alone, sizes are in bytes."""

    strategy: str
    bytes: int
    lower_bound: int
    no_sharing: int
    seconds: float


@dataclass(frozen=True)
class PlannedFunction:
    """A function with its tensors as the first strategy places them."""

    placed: PlacedFunction
    tensors: tuple[Allocation, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def name(self) -> str:
        return self.placed.function.name

    @property
    def owned_bytes(self) -> int:
        """Of the tensors that own their storage and whose size is known."""
        return sum(t.num_bytes or 0 for t in self.tensors if _place(t) == "owned")


@dataclass(frozen=True)
class PlannedModel:
    """The functions as planned, and the module that they make."""

    module: Module
    functions: tuple[PlannedFunction, ...]


def plan_model(module: Module, strategies: Sequence[str], options: Options) -> PlannedModel:
    """Plan every function by every strategy, and check each plan.

    Raises:
        PlanningError: a strategy or an option is not valid, or its package is not installed.
        PlanRejectedError: the checker found the planner at fault.
    """
    seconds: list[float] = []

    def planner(requests: Sequence[Request]) -> Plan:
        result, taken = _planned(requests, strategies[0], options)
        seconds.append(taken)
        return result

    placed = place_functions(module, planner)
    rewritten = dataclasses.replace(module, functions=tuple(p.function for p in placed))
    functions = [
        PlannedFunction(
            p,
            allocations(p.function, p.placement, p.intervals.ranges, types.values),
            tuple(_outcomes(p, taken, strategies, options)),
        )
        for p, taken, types in zip(placed, seconds, infer(rewritten), strict=True)
    ]
    return PlannedModel(rewritten, tuple(functions))


def _outcomes(
    placed: PlacedFunction, seconds: float, strategies: Sequence[str], options: Options
) -> list[Outcome]:
    requests = placed.placement.requests
    results = [(placed.placement.plan, seconds)]
    results += [_planned(requests, strategy, options) for strategy in strategies[1:]]
    bound, apart = lower_bound(requests), bytes_without_sharing(placed.placement)
    return [
        Outcome(result.strategy, result.bytes, bound, apart, round(taken, 6)) for result, taken in results
    ]


def _planned(requests: Sequence[Request], strategy: str, options: Options) -> tuple[Plan, float]:
    started = perf_counter()
    result = plan(requests, strategy, options=options)
    seconds = perf_counter() - started
    assert_plan(requests, result)
    return result, seconds


def as_json(planned: PlannedModel) -> dict[str, Any]:
    """Sizes and offsets in bytes; ``live`` are half-open ranges of positions; null is known only at run time."""
    return {
        "functions": [
            {
                "name": f.name,
                "tensors": [
                    {
                        "tensor": f"%{t.value}",
                        "type": None if t.type is None else str(t.type),
                        "bytes": t.num_bytes,
                        "live": [list(r) for r in t.ranges],
                        "place": _place(t),
                        "offsets": list(t.offsets),
                        "region": None if t.within is None else t.within._asdict(),
                    }
                    for t in f.tensors
                ],
                "owned_bytes": f.owned_bytes,
                "plans": [dataclasses.asdict(o) for o in f.outcomes],
            }
            for f in planned.functions
        ],
        "totals": [dataclasses.asdict(o) for o in _totals(planned)],
    }


def _place(tensor: Allocation) -> str:
    return "arena" if tensor.offsets else "owned" if tensor.within is None else "region"


def print_planned(planned: PlannedModel, console: Console) -> None:
    """A table of tensors for each function that allocates, then the sizes by strategy."""
    for function in planned.functions:
        if function.tensors:
            console.print(_tensors(function))
    table = Table("function", "strategy")
    for heading in ("bytes", "lower bound", "no sharing", "owned", "seconds"):
        table.add_column(heading, justify="right")
    for function in planned.functions:
        for outcome in function.outcomes:
            table.add_row(f"@{function.name}", *_cells(outcome, function.owned_bytes))
    if len(planned.functions) > 1:
        owned = sum(f.owned_bytes for f in planned.functions)
        for total in _totals(planned):
            table.add_row("all", *_cells(total, owned), style="bold")
    console.print(table)


def _tensors(function: PlannedFunction) -> Table:
    table = Table(title=f"@{function.name}", title_justify="left")
    for heading in ("tensor", "type", "bytes", "live", "place"):
        table.add_column(heading, justify="right" if heading == "bytes" else "left", overflow="fold")
    for tensor in function.tensors:
        size = "at run time" if tensor.num_bytes is None else f"{tensor.num_bytes:,}"
        live = " ".join(f"[{lower}, {upper})" for lower, upper in tensor.ranges)
        cells = (f"%{tensor.value}", str(tensor.type or "?"), size, live, _shown_place(tensor))
        # Brackets are markup to rich.
        table.add_row(*(cell.replace("[", r"\[") for cell in cells))
    return table


def _shown_place(tensor: Allocation) -> str:
    if tensor.within is not None:
        return f"region {tensor.within.region}, slot {tensor.within.slot}"
    return f"at {' or '.join(f'{o:,}' for o in tensor.offsets)}" if tensor.offsets else "owned"


def _cells(outcome: Outcome, owned: int) -> list[str]:
    sizes = (outcome.bytes, outcome.lower_bound, outcome.no_sharing, owned)
    return [outcome.strategy, *(f"{s:,}" for s in sizes), f"{outcome.seconds:.3f}"]


def _totals(planned: PlannedModel) -> list[Outcome]:
    """Of each strategy the sums over all functions."""
    return [
        Outcome(
            group[0].strategy,
            sum(o.bytes for o in group),
            sum(o.lower_bound for o in group),
            sum(o.no_sharing for o in group),
            round(sum(o.seconds for o in group), 6),
        )
        for group in zip(*(f.outcomes for f in planned.functions), strict=True)
    ]
