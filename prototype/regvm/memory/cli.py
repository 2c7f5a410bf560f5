"""``regvm plan --csv``: plan a table of requests, check the plan, and print it as JSON or as a table."""

import json
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import NoReturn

import click
from rich.console import Console
from rich.table import Table

from regvm.memory.checker import PlanRejectedError, assert_plan
from regvm.memory.errors import PlanningError
from regvm.memory.planner import plan
from regvm.memory.plot import plot_plan
from regvm.memory.request import ALIGNMENT, Plan, Request, lower_bound
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


@click.command(name="plan")
@click.option(
    "--csv", "path", type=click.Path(path_type=Path), required=True, help="Table id,lower,upper,size."
)
@click.option("--strategy", default="default", show_default=True, help="How to plan.")
@click.option(
    "--alignment", type=int, default=ALIGNMENT, show_default=True, help="Of every offset, in bytes."
)
@click.option("--seconds", type=float, help="Time limit of search and optimal.")
@click.option("--iterations", type=int, help="Placements that search tries.")
@click.option("--capacity", type=int, help="Bytes within which search and optimal may stop.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--page", type=int, default=4096, show_default=True, help="Rounding of strategy exact, in bytes."
)
@click.option(
    "--picture", type=click.Path(path_type=Path), help="Also draw lifetime against offset: .png or .svg."
)
@click.option("--json", "json_output", is_flag=True, help="For machines.")
def plan_command(
    path: Path,
    strategy: str,
    alignment: int,
    seconds: float | None,
    iterations: int | None,
    capacity: int | None,
    seed: int,
    page: int,
    picture: Path | None,
    json_output: bool,
) -> None:
    """Plan the storage of a table of buffers: an offset for each, as few bytes as possible."""
    try:
        options = Options(seed=seed, iterations=iterations, seconds=seconds, page=page, capacity=capacity)
        planned = plan_table(path, strategy, alignment, options)
        if picture is not None:
            plot_plan(planned.requests, planned.plan, picture)
    except PlanningError as error:
        _leave(error, status=2)
    except PlanRejectedError as error:
        _leave(error, status=1)
    if json_output:
        click.echo(as_json(planned))
    else:
        print_planned(planned, Console())


def _leave(error: Exception, status: int) -> NoReturn:
    click.echo(f"Error: {error}", err=True)
    raise click.exceptions.Exit(status)
