"""``regvm plan``: the storage of a model's functions, or of a table of buffers, planned, checked and shown."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click
from rich.console import Console

from regvm.cli import loading, plan_report, report
from regvm.cli.loading import CompileOptions
from regvm.cli.options import json_option, relay_options
from regvm.cli.plan_report import PlannedModel, plan_model
from regvm.memory import cli as tables
from regvm.memory.checker import PlanRejectedError
from regvm.memory.errors import PlanningError
from regvm.memory.plot import plot_plan
from regvm.memory.request import ALIGNMENT
from regvm.memory.strategies import Options
from regvm.text.plan_relay import show_plan

_ROWS_MIN_WIDTH = 110
"""Columns: figures are never cut, not even where the output is no terminal."""


@click.command(name="plan")
@click.argument("model", required=False)
@click.option(
    "--csv", "path", type=click.Path(path_type=Path), help="In place of MODEL: a table id,lower,upper,size."
)
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    default=("default",),
    show_default=True,
    help="How to plan; of MODEL, repeat it to compare several, the first of which is shown in full.",
)
@click.option(
    "--relay",
    type=click.Choice(["unfolded", "folded"]),
    help="Print MODEL as Relay with storage, sizes and offsets explicit, before or after folding the arithmetic.",
)
@click.option("--function", help="Of MODEL: whose picture; without it the one with the largest arena.")
@click.option("--alignment", type=int, help=f"Of --csv: of every offset, in bytes.  [default: {ALIGNMENT}]")
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
@relay_options
@json_option
def plan_command(
    model: str | None,
    path: Path | None,
    strategies: tuple[str, ...],
    relay: str | None,
    function: str | None,
    alignment: int | None,
    picture: Path | None,
    json_output: bool,
    **options: Any,
) -> None:
    """Plan the storage of MODEL, Relay text or JSON in a file or - for standard input, or of a table.

    Each tensor gets an offset in the arena of its function's frame, as few bytes as possible, or owns its storage
    if it may outlive the frame.
    """
    names = {f.name for f in dataclasses.fields(CompileOptions)}
    compiling = CompileOptions(**{k: v for k, v in options.items() if k in names})
    try:
        planning = Options(**{k: v for k, v in options.items() if k not in names})
        if model is not None and path is None:
            if alignment is not None:
                raise click.UsageError(
                    f"--alignment goes with --csv; tensors of a model are aligned to {ALIGNMENT}"
                )
            _plan_model(model, compiling, strategies, planning, relay, function, picture, json_output)
        elif path is not None and model is None:
            if relay is not None or function is not None or len(strategies) > 1:
                raise click.UsageError(
                    "--relay, --function and a second --strategy go with MODEL, not with --csv"
                )
            _plan_table(
                path,
                strategies[0],
                ALIGNMENT if alignment is None else alignment,
                planning,
                picture,
                json_output,
            )
        else:
            raise click.UsageError("give either MODEL, Relay in a file or -, or --csv FILE")
    except PlanningError as error:
        _leave(error, status=2)
    except PlanRejectedError as error:
        _leave(error, status=1)


def _plan_table(
    path: Path, strategy: str, alignment: int, options: Options, picture: Path | None, json_output: bool
) -> None:
    planned = tables.plan_table(path, strategy, alignment, options)
    if picture is not None:
        plot_plan(planned.requests, planned.plan, picture)
    if json_output:
        click.echo(tables.as_json(planned))
    else:
        tables.print_planned(planned, Console())


def _plan_model(
    model: str,
    compiling: CompileOptions,
    strategies: Sequence[str],
    options: Options,
    relay: str | None,
    function: str | None,
    picture: Path | None,
    json_output: bool,
) -> None:
    if relay is not None and json_output:
        raise click.UsageError("--relay prints Relay text; leave out --json")
    planned = plan_model(loading.module_of(loading.read(model), compiling), strategies, options)
    if picture is not None:
        drawn = _drawn(planned, function)
        placement = drawn.placed.placement
        plot_plan(placement.requests, placement.plan, picture, f"@{drawn.name}, strategy {strategies[0]}")
    if relay is not None:
        placements = [f.placed.placement for f in planned.functions]
        click.echo(show_plan(planned.module, placements, folded=relay == "folded"), nl=False)
    elif json_output:
        report.write_json(plan_report.as_json(planned))
    else:
        plan_report.print_planned(planned, Console(width=max(Console().width, _ROWS_MIN_WIDTH)))


def _drawn(planned: PlannedModel, name: str | None) -> plan_report.PlannedFunction:
    if name is None:
        return max(planned.functions, key=lambda f: f.placed.placement.storage_bytes)
    for function in planned.functions:
        if function.name == name:
            return function
    known = ", ".join(f.name for f in planned.functions)
    raise click.UsageError(f"--function: there is no function @{name}; the model has {known}")


def _leave(error: Exception, status: int) -> NoReturn:
    click.echo(f"Error: {error}", err=True)
    raise click.exceptions.Exit(status)
