"""``relay-conformance report``: runs that were kept, as one table of operators against executors."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from relay_conformance.errors import BadInputError

Counts = dict[str, dict[str, dict[str, int]]]
AGREE = "agree"


@click.command()
@click.argument(
    "runs", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False), metavar="RUN..."
)
@click.option("--json", "json_output", is_flag=True, help="Write JSON.")
def report(runs: tuple[Path, ...], json_output: bool) -> int:
    """Join RUNs, as `cases run` and `relay run` keep them with --output, into one table with totals and versions."""
    joined = join([_read(path) for path in runs])
    if json_output:
        click.echo(json.dumps(joined, indent=2))
    else:
        console = Console()
        console.print(_as_table(joined))
        console.print(_totals_table(joined))
        console.print(
            ", ".join(f"{name} {version}" for name, version in joined["versions"].items()), highlight=False
        )
    return 0 if joined["holds"] else 1


def join(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Counts of several runs added up.

    Raises:
        BadInputError: the runs are of different versions, whose results don't belong in one table.
    """
    versions = runs[0]["versions"]
    for run in runs[1:]:
        if run["versions"] != versions:
            raise BadInputError("the runs are of different versions; report each by itself")
    operators: Counts = {}
    totals: dict[str, dict[str, int]] = {}
    for run in runs:
        for operator, by_executor in run["operators"].items():
            for executor, counts in by_executor.items():
                _add(operators.setdefault(operator, {}).setdefault(executor, {}), counts)
        for executor, counts in run["totals"].items():
            _add(totals.setdefault(executor, {}), counts)
    return {
        "holds": all(run["holds"] for run in runs),
        "cases": sum(run["cases"] for run in runs),
        "totals": totals,
        "operators": {operator: operators[operator] for operator in sorted(operators)},
        "results": [result for run in runs for result in run["results"]],
        "versions": versions,
    }


def _add(into: dict[str, int], counts: dict[str, int]) -> None:
    for status, count in counts.items():
        into[status] = into.get(status, 0) + count


def _read(path: Path) -> dict[str, Any]:
    try:
        run = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise BadInputError(f"{path} can't be read: {error}") from error
    wanted = {"cases", "holds", "totals", "operators", "results", "versions"}
    if not isinstance(run, dict) or not wanted <= run.keys():
        raise BadInputError(f"{path}: not a run that `relay-conformance cases run --output` kept")
    return run


def _as_table(joined: dict[str, Any]) -> Table:
    """Every status of every operator: `12 agree, 1 value`."""
    executors = list(joined["totals"])
    table = Table(title=f"{joined['cases']} cases: {'holds' if joined['holds'] else 'DOES NOT HOLD'}")
    table.add_column("operator or rule")
    for executor in executors:
        table.add_column(executor)
    for operator, by_executor in joined["operators"].items():
        table.add_row(operator, *(_statuses(by_executor.get(executor, {})) for executor in executors))
    return table


def _statuses(counts: dict[str, int]) -> str:
    order = sorted(counts, key=lambda status: (status != AGREE, status))
    return ", ".join(f"{counts[status]} {status}" for status in order if counts[status])


def _totals_table(joined: dict[str, Any]) -> Table:
    table = Table(title="totals")
    table.add_column("")
    statuses = list(dict.fromkeys(status for counts in joined["totals"].values() for status in counts))
    for executor in joined["totals"]:
        table.add_column(executor, justify="right")
    for status in statuses:
        table.add_row(status, *(str(counts.get(status, 0)) for counts in joined["totals"].values()))
    return table
