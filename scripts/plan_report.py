"""Measure the storage planner: published problems, plan time by program size, and MiniMalloc-like tables.

    python scripts/plan_report.py published
    python scripts/plan_report.py scaling
    python scripts/plan_report.py tables ../shared/data/minimalloc/[A-K]*.csv --capacity 1048576 \\
        --strategy search --seconds 5

Each takes ``--json``. Every plan is checked before its figures are printed; ``seconds`` is planning alone.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from regvm.memory import STRATEGIES, Options, PlanningError, Request, assert_plan, lower_bound, plan
from regvm.memory.benchmarks import (
    EIGHT_TENSORS,
    USMP_FAN_OUT,
    USMP_FAN_OUT_LISTED,
    USMP_RESNET_BLOCK,
    XNNPACK_CHAIN,
    generated_program,
    mobilenet_v1,
    mobilenet_v2,
)
from regvm.memory.table import read_table

PUBLISHED: dict[str, Sequence[Request]] = {
    "8 tensors": EIGHT_TENSORS,
    "XNNPACK chain": XNNPACK_CHAIN,
    "USMP fan-out": USMP_FAN_OUT,
    "USMP fan-out, as listed": USMP_FAN_OUT_LISTED,
    "USMP ResNet block": USMP_RESNET_BLOCK,
    "MobileNet v1": mobilenet_v1(),
    "MobileNet v2": mobilenet_v2(),
}

WITHOUT_SOLVER = sorted(STRATEGIES.keys() - {"optimal"})


class BadInputError(click.ClickException):
    """One line, and exit status 2."""

    exit_code = 2


@dataclass(frozen=True)
class Measurement:
    """One plan; ``excess`` is its share above ``limit``, the capacity or the largest live sum."""

    problem: str
    strategy: str
    requests: int
    bytes: int
    lower_bound: int
    limit: int
    seconds: float

    @property
    def excess(self) -> float:
        return max(0.0, self.bytes / self.limit - 1) if self.limit else 0.0


def measure(
    problem: str, requests: Sequence[Request], strategy: str, alignment: int, options: Options
) -> Measurement:
    """Plan, check and time."""
    started = perf_counter()
    result = plan(requests, strategy, alignment, options)
    seconds = perf_counter() - started
    assert_plan(requests, result, alignment)
    bound = lower_bound(requests, alignment)
    limit = max(bound, options.capacity or 0)
    return Measurement(problem, strategy, len(requests), result.bytes, bound, limit, round(seconds, 4))


def show(measurements: Sequence[Measurement], as_json: bool) -> None:
    """A row per measurement, then for several problems the mean of each strategy."""
    if as_json:
        click.echo(json.dumps([{**asdict(one), "excess": round(one.excess, 6)} for one in measurements]))
        return
    table = Table("problem", "strategy")
    for column in ("requests", "bytes", "lower bound", "excess", "seconds"):
        table.add_column(column, justify="right")
    for one in measurements:
        figures = (f"{one.requests:,}", f"{one.bytes:,}", f"{one.lower_bound:,}", f"{one.excess:.2%}")
        table.add_row(one.problem, one.strategy, *figures, f"{one.seconds:.3f}")
    for strategy in dict.fromkeys(one.strategy for one in measurements):
        group = [one for one in measurements if one.strategy == strategy]
        fitting = sum(one.excess == 0 for one in group)
        excess = sum(one.excess for one in group) / len(group)
        seconds = sum(one.seconds for one in group) / len(group)
        summary = (f"{fitting} of {len(group)} at the limit", f"{excess:.2%}", f"{seconds:.3f}")
        table.add_row("mean", strategy, "", "", *summary, style="bold")
    # Figures are never cut, not even where the output is no terminal.
    Console(width=max(Console().width, 110)).print(table)


def _measure_all(tasks: Sequence[Callable[[], Measurement]], as_json: bool) -> None:
    try:
        measured = [task() for task in track(tasks, console=Console(stderr=True), transient=True)]
    except PlanningError as error:
        raise BadInputError(str(error)) from error
    show(measured, as_json)


json_option = click.option("--json", "as_json", is_flag=True, help="For machines.")
strategy_option = click.option(
    "--strategy", "strategies", multiple=True, help="Repeat for several; without it all but optimal."
)


@click.group(help="Measure the storage planner.")
def main() -> None:
    pass


@main.command(help="Problems with published figures, at alignment 1, every strategy.")
@strategy_option
@json_option
def published(strategies: tuple[str, ...], as_json: bool) -> None:
    options = Options(page=4096)
    tasks = [
        lambda name=name, requests=requests, strategy=strategy: measure(name, requests, strategy, 1, options)
        for name, requests in PUBLISHED.items()
        for strategy in strategies or WITHOUT_SOLVER
    ]
    _measure_all(tasks, as_json)


@main.command(help="Plan time of generated programs by their number of bindings.")
@click.option("--bindings", type=int, multiple=True, default=(100, 1_000, 10_000, 100_000), show_default=True)
@click.option("--strategy", "strategies", multiple=True, default=("default",), show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@json_option
def scaling(bindings: tuple[int, ...], strategies: tuple[str, ...], seed: int, as_json: bool) -> None:
    programs = {count: generated_program(count, seed) for count in bindings}
    tasks = [
        lambda count=count, requests=requests, strategy=strategy: measure(
            f"{count:,} bindings", requests, strategy, 64, Options()
        )
        for count, requests in programs.items()
        for strategy in strategies
    ]
    _measure_all(tasks, as_json)


@main.command(help="Every CSV table of a folder, or single ones.")
@click.argument("paths", type=click.Path(path_type=Path, exists=True), nargs=-1, required=True)
@strategy_option
@click.option("--capacity", type=int, help="Bytes to fit into; without it the largest live sum is the limit.")
@click.option("--seconds", type=float, help="Time limit for search and optimal, each table.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--alignment", type=int, default=64, show_default=True)
@json_option
def tables(
    paths: tuple[Path, ...],
    strategies: tuple[str, ...],
    capacity: int | None,
    seconds: float | None,
    seed: int,
    alignment: int,
    as_json: bool,
) -> None:
    files = [file for path in paths for file in (sorted(path.glob("*.csv")) if path.is_dir() else [path])]
    try:
        options = Options(seed=seed, seconds=seconds, capacity=capacity)
        problems = {file.stem: read_table(file) for file in files}
    except PlanningError as error:
        raise BadInputError(str(error)) from error
    tasks = [
        lambda name=name, requests=requests, strategy=strategy: measure(
            name, requests, strategy, alignment, options
        )
        for strategy in strategies or WITHOUT_SOLVER
        for name, requests in problems.items()
    ]
    _measure_all(tasks, as_json)


if __name__ == "__main__":
    main()
