"""For ``regvm plan --csv``: plan a table of requests, check the plan, and print it as JSON or as a table."""

import json
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.table import Table

from regvm.memory.checker import assert_plan
from regvm.memory.planner import plan
from regvm.memory.request import Plan, Request, lower_bound
from regvm.memory.strategies import Options
from regvm.memory.table import read_table


@dataclass(frozen=True)
class PlannedTable:
    """A table's plan with the time it took, and the largest live sum."""

    requests: list[Request]
    plan: Plan
    seconds: float
    lower_bound: int


def plan_table(path: Path, strategy: str, alignment: int, options: Options) -> PlannedTable:
    """Read, plan and check; ``seconds`` is the planning alone.

    Raises:
        PlanningError: the table, the strategy or an option is not valid.
        PlanRejectedError: the checker found the planner at fault.
    """
    requests = read_table(path)
    started = perf_counter()
    result = plan(requests, strategy, alignment, options)
    seconds = perf_counter() - started
    assert_plan(requests, result, alignment)
    return PlannedTable(requests, result, seconds, lower_bound(requests, alignment))


def as_json(planned: PlannedTable) -> str:
    """``strategy``, ``bytes``, ``lower_bound``, ``bound``, ``seconds`` and ``offsets`` as one JSON object."""
    return json.dumps(
        {
            "strategy": planned.plan.strategy,
            "bytes": planned.plan.bytes,
            "lower_bound": planned.lower_bound,
            "bound": planned.plan.bound,
            "seconds": round(planned.seconds, 6),
            "offsets": dict(planned.plan.offsets),
        }
    )


def print_planned(planned: PlannedTable, console: Console) -> None:
    """The plan as a table for people, one row per request."""
    result = planned.plan
    table = Table(
        title=f"{result.strategy}: {result.bytes:,} bytes in {planned.seconds:.3f} s, "
        f"lower bound {planned.lower_bound:,}"
    )
    table.add_column("id")
    for column in ("live", "size", "offset", "end"):
        table.add_column(column, justify="right")
    for request in planned.requests:
        offset = result.offsets[request.id]
        live = " ".join(f"[{lower}, {upper})" for lower, upper in request.ranges)
        # Brackets are markup to rich.
        table.add_row(
            str(request.id),
            live.replace("[", r"\["),
            f"{request.size:,}",
            f"{offset:,}",
            f"{offset + request.size:,}",
        )
    console.print(table)
