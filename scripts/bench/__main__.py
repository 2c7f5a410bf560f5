"""Measure the engines against each other: medians and ratios of one run, each engine in a process of its own.

python -m scripts.bench                          # everything, half an hour
python -m scripts.bench loop_scalar mlp          # these workloads
python -m scripts.bench --engine regvm-native --engine tvm-vm --largest 1000 list
python -m scripts.bench --json results.json      # writes the results, which a later run of other workloads adds to

Engines are timed in turns. A call that would take too long or too much memory is extrapolated, marked with ~.
Without --cache every engine compiles everything itself, so that its compile time is its own.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from scripts.bench import driver, table
from scripts.bench.machine import describe, load
from scripts.bench.worker import CLOCKS
from scripts.bench.workloads import BOUND, ENGINES, INTERPRETER, NATIVE, WORKLOADS, named


@click.command(help=__doc__.split("\n\n")[0])
@click.argument("names", nargs=-1, metavar="[WORKLOAD]...", type=click.Choice([w.name for w in WORKLOADS]))
@click.option("--engine", "engines", multiple=True, type=click.Choice(ENGINES), help="Measure just this one.")
@click.option("--largest", type=click.IntRange(min=1), help="Leave larger sizes out.")
@click.option("--rounds", default=9, show_default=True, type=click.IntRange(min=1), help="At most.")
@click.option("--limit", default=150.0, show_default=True, help="Seconds that one call may take.")
@click.option(
    "--memory-share",
    default=0.5,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="How much of the memory that is free one call may take.",
)
@click.option(
    "--clock",
    default="wall",
    show_default=True,
    type=click.Choice(list(CLOCKS)),
    help="What a call takes: time on the wall, or of the processor, for a machine that others use too.",
)
@click.option("--threads", default=1, show_default=True, type=click.IntRange(min=1), help="Of a kernel.")
@click.option(
    "--cache", is_flag=True, help="Take kernels from regvm's cache; compile times are left out then."
)
@click.option(
    "--json", "output", type=click.Path(path_type=Path), metavar="FILE", help="Write the results here."
)
@click.option("--list", "listing", is_flag=True, help="Name the workloads.")
def main(
    names: tuple[str, ...],
    engines: tuple[str, ...],
    largest: int | None,
    rounds: int,
    limit: float,
    memory_share: float,
    clock: str,
    threads: int,
    cache: bool,
    output: Path | None,
    listing: bool,
) -> None:
    """Measure, print, write."""
    console, errors = Console(), Console(stderr=True)
    if listing:
        for workload in WORKLOADS:
            click.echo(f"{workload.name}: {workload.summary}")
        return
    results: dict[str, Any] = (
        json.loads(output.read_text()) if output and output.exists() else {"workloads": {}}
    )
    results["machine"] = describe(threads)
    with tempfile.TemporaryDirectory() as folder:
        settings = driver.Settings(
            rounds=rounds,
            limit_s=limit,
            memory_share=memory_share,
            largest=largest,
            clock=clock,
            cached=cache,
            environments=_environments(threads, cache, folder),
        )
        for workload in [named(n) for n in names] or WORKLOADS:
            with errors.status(workload.name) as status:
                found = driver.measure(workload, engines or ENGINES, settings, status.update)
            results["workloads"][workload.name] = found | {"run": {"clock": clock, "load": load()}}
            table.show(workload.name, found, console)
            if output:
                output.write_text(json.dumps(results, indent=1, sort_keys=False) + "\n")


def _environments(threads: int, cache: bool, folder: str) -> dict[str, dict[str, str]]:
    """What each engine's process finds in its environment.

    The register VM's engines share kernels, so that just the first of them compiles; the others share nothing.
    """
    common = {
        "TVM_NUM_THREADS": str(threads),
        "OMP_NUM_THREADS": str(threads),
        "TF_NUM_INTRAOP_THREADS": str(threads),
        "TF_NUM_INTEROP_THREADS": str(threads),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    ours = common | {"REGVM_CACHE": "kernels", "REGVM_CACHE_DIR": folder}
    if cache:
        return dict.fromkeys(ENGINES, common)
    return dict.fromkeys(ENGINES, common | {"REGVM_CACHE": "off"}) | dict.fromkeys(
        (NATIVE, INTERPRETER, BOUND), ours
    )


if __name__ == "__main__":
    main()
