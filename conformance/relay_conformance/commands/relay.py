"""``relay-conformance relay``: the Relay-level cases, on the machines and on executors of others."""

from pathlib import Path

import click

from relay_conformance.commands.options import (
    HOLDS,
    all_case_ids,
    expectation_options,
    finish,
    read_expectations,
    require_tvm,
)


@click.group()
def relay() -> None:
    """The cases at the level of Relay, named by the RFC's rules."""
    require_tvm()


@relay.command("run")
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...")
@click.option(
    "--executors", default="tvm-vm,regvm,regvm-native", show_default=True, help="Names, with commas."
)
@click.option(
    "--level", "levels", multiple=True, type=click.IntRange(0, 3), help="Opt level; all by default."
)
@click.option("--time-limit", default=300.0, show_default=True, help="Seconds, for each batch at a level.")
@expectation_options
@click.option("--json", "json_output", is_flag=True, help="Write JSON.")
def run_cases(
    patterns: tuple[str, ...],
    executors: str,
    levels: tuple[int, ...],
    time_limit: float,
    xfails: Path | None,
    update: bool,
    output: Path | None,
    json_output: bool,
) -> int:
    """Run the cases whose id, rule or family matches a PATTERN (with * and ?), or all."""
    from relay_conformance.progress import progress_display
    from relay_conformance.relay_cases import suite

    chosen = suite.chosen(patterns)
    before = read_expectations(xfails, update, all_case_ids() if xfails else ())
    with progress_display() as progress:
        judged = suite.run(chosen, executors.split(","), levels or None, time_limit, progress, before)
    return finish(judged, before, xfails, update, output, json_output)


@relay.command("list")
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...")
def list_cases(patterns: tuple[str, ...]) -> int:
    """Name the cases that match a PATTERN, or all; one a line."""
    from relay_conformance.relay_cases import suite

    for case in suite.chosen(patterns):
        click.echo(case.id)
    return HOLDS


@relay.command("show")
@click.argument("case_id", metavar="CASE")
def show_case(case_id: str) -> int:
    """Write the Relay text of a CASE, as `regvm` takes it."""
    from relay_conformance.relay_cases import suite
    from relay_conformance.relay_cases.prelude import DATA_TYPES, HEADER

    (case, *_) = suite.chosen([case_id])
    click.echo(f"{HEADER}{DATA_TYPES}{case.text}")
    return HOLDS
