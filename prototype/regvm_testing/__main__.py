"""A long run over random programs: ``python -m regvm_testing --programs 10000``; status 1 if a promise breaks."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from regvm_testing.campaign import Tally, run

WANTED = 0.99


@click.command()
@click.option("--programs", default=1000, show_default=True, help="How many programs to check.")
@click.option("--seed", default=0, show_default=True, help="The first program's seed; the others follow it.")
def main(programs: int, seed: int) -> None:
    """Check random programs, and that damage to what was compiled from them is rejected."""
    unlimited, spilled = Tally(), Tally()
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("programs", total=programs)
        try:
            functions = run(
                range(seed, seed + programs), unlimited, spilled, lambda _: progress.advance(task)
            )
        except AssertionError as broken:
            raise click.ClickException(f"{broken}; repeat it with --programs 1 and its seed") from None
    tallies = (("unlimited registers, and storage", unlimited), ("as few registers as can be", spilled))
    for title, tally in tallies:
        table = Table("damage", "made", "changes the program", "of these rejected", title=title)
        for kind in tally.made:
            table.add_row(kind.value, *(str(c[kind]) for c in (tally.made, tally.changed, tally.rejected)))
        Console().print(table)
    Console().print(f"seeds {seed} to {seed + programs - 1}, {functions} functions")
    sys.exit(any(t.share_rejected(kind) < WANTED for _, t in tallies for kind in t.made))


if __name__ == "__main__":
    main()
