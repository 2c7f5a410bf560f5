"""The command ``relay-conformance``: exit status 0 where it holds, 1 on a difference, 2 on bad input.

Bad input is one line on standard error. TVM and TensorFlow are imported by the commands that need them, so
that ``--help``, ``--list`` and ``doctor`` work where one of the two does not.
"""

import json
import sys
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from rich.console import Console

from relay_conformance.commands.bugs import bugs
from relay_conformance.commands.options import (
    all_case_ids,
    expectation_options,
    finish,
    read_expectations,
    require_tvm,
)
from relay_conformance.commands.relay import relay
from relay_conformance.commands.report import report
from relay_conformance.errors import BadInputError, ConformanceError

if TYPE_CHECKING:
    from relay_conformance.program import Array

HOLDS, DIFFERS, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


@click.group(no_args_is_help=False)
@click.version_option(package_name="relay-regvm")
def cli() -> None:
    """Hold the machines that run Relay to each other and to TensorFlow."""


cli.add_command(bugs)
cli.add_command(relay)
cli.add_command(report)


@cli.command()
@click.argument("model", required=False)
@click.option("--list", "list_models", is_flag=True, help="Name the built-in models.")
@click.option("--input", "inputs", multiple=True, metavar="NAME=FILE.npy", help="Replace a seeded input.")
@click.option("--output", "outputs", multiple=True, metavar="TENSOR", help="Of a file: what to compare.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Of the inputs.")
@click.option("--batch", default=1, show_default=True, type=click.IntRange(min=1), help="Batch size.")
@click.option("--repeats", default=10, show_default=True, type=click.IntRange(min=1), help="Of timed runs.")
@click.option("--executor", default="regvm", show_default=True, help="The machine under test.")
@click.option("--time-limit", default=900.0, show_default=True, help="Seconds, for each machine's step.")
@click.option("--json", "json_output", is_flag=True, help="Write JSON.")
def compare(
    model: str | None,
    list_models: bool,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    seed: int,
    batch: int,
    repeats: int,
    executor: str,
    time_limit: float,
    json_output: bool,
) -> int:
    """Run MODEL on TensorFlow, on TVM's Relay VM and on the register VM.

    MODEL is a frozen graph (.pb), a SavedModel folder, a .keras file, Relay (text in a .relay file, JSON in a
    .json file) or the name of a built-in.
    """
    if list_models:
        return _list_models(json_output)
    if model is None:
        raise click.UsageError("Missing argument 'MODEL'; --list names the built-in ones.")
    given = dict(_read_input(text) for text in inputs)
    require_tvm()
    from relay_conformance.compare import Settings
    from relay_conformance.compare import compare as run
    from relay_conformance.loading import load_model
    from relay_conformance.progress import progress_display
    from relay_conformance.report import agreement, as_json, as_table, confirmation
    from relay_conformance.tensorflow_import.loading import silence_tensorflow

    silence_tensorflow()
    with progress_display() as progress:
        progress(f"loading {model}")
        loaded = load_model(model, batch, outputs or None)
        settings = Settings(seed=seed, batch=batch, repeats=repeats, subject=executor, time_limit=time_limit)
        comparison = run(loaded, given, settings, progress)
    if json_output:
        _write_json(as_json(comparison))
    else:
        console = Console()
        console.print(as_table(comparison))
        console.print(f"The machines: {agreement(comparison)}.", soft_wrap=True, markup=False)
        console.print(f"{confirmation(comparison)}.", soft_wrap=True, markup=False)
    return HOLDS if comparison.holds else DIFFERS


@cli.command()
@click.option("--json", "json_output", is_flag=True, help="Write JSON.")
def doctor(json_output: bool) -> int:
    """Say what works here, and how to mend what does not."""
    from relay_conformance.doctor import as_json, as_table, examine
    from relay_conformance.progress import progress_display

    with progress_display() as progress:
        checks = examine(progress)
    if json_output:
        _write_json(as_json(checks))
    else:
        Console().print(as_table(checks))
    return HOLDS if all(check.works for check in checks) else DIFFERS


@cli.command()
@click.option("--json", "json_output", is_flag=True, help="Write JSON.")
def manifest(json_output: bool) -> int:
    """Say for each operator of TVM's TensorFlow importers which cases cover it, or why none can."""
    require_tvm()
    from relay_conformance.manifest import as_json, as_table, holes
    from relay_conformance.manifest import manifest as entries_of

    entries = entries_of()
    if json_output:
        _write_json(as_json(entries))
    else:
        Console().print(as_table(entries))
    return DIFFERS if holes(entries) else HOLDS


@cli.group()
def cases() -> None:
    """The cases of the importer's operators, run on TensorFlow and on every machine."""


@cases.command("run")
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...")
@click.option("--all", "everything", is_flag=True, help="Every case; by default a few of each operator.")
@click.option(
    "--executors",
    default="tvm-vm,regvm,regvm-native",
    show_default=True,
    help="The first is the reference.",
)
@click.option("--time-limit", default=120.0, show_default=True, help="Seconds, for each machine's step.")
@expectation_options
@click.option("--json", "json_output", is_flag=True, help="Write JSON.")
def run_cases(
    patterns: tuple[str, ...],
    everything: bool,
    executors: str,
    time_limit: float,
    xfails: Path | None,
    update: bool,
    output: Path | None,
    json_output: bool,
) -> int:
    """Run the cases whose id, operator or family matches a PATTERN (with * and ?), or a selection of all."""
    require_tvm()
    from relay_conformance.cases import selection
    from relay_conformance.cases.running import machines
    from relay_conformance.cases.verdicts import judge_batches
    from relay_conformance.commands.streaming import kept, streamed
    from relay_conformance.progress import progress_display
    from relay_conformance.tensorflow_import.loading import silence_tensorflow

    silence_tensorflow()
    chosen = selection.chosen(patterns, everything)
    before = read_expectations(xfails, update, all_case_ids() if xfails else ())
    on = machines(executors.split(","), time_limit)
    try:
        with progress_display() as progress:
            batches = judge_batches(chosen, on, progress, before)
            if output is not None:
                batches = kept(batches, output)
            if json_output:
                batches = streamed(batches, lambda text: click.echo(text, nl=False))
            judged = tuple(one for batch in batches for one in batch)
    finally:
        on.stop()
    return finish(judged, before, xfails, update, output, json_output, shown=True)


@cases.command("list")
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...")
def list_cases(patterns: tuple[str, ...]) -> int:
    """Name the cases that match a PATTERN, or all; one a line."""
    require_tvm()
    from relay_conformance.cases import selection

    for batch in selection.chosen(patterns, everything=True):
        for case in batch.cases:
            click.echo(selection.case_id(case, batch.form))
    return HOLDS


@cli.command()
@click.option("--profile", default="int32-1x1", show_default=True, help="What programs are made of.")
@click.option("--examples", default=100, show_default=True, type=click.IntRange(min=1), help="How many.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Of the programs.")
@click.option("--executors", default="regvm,tvm-vm", show_default=True, help="Names, with commas.")
@click.option("--minutes", type=click.FloatRange(min=0, min_open=True), help="Stop after so many.")
@click.option("--batch", default=16, show_default=True, type=click.IntRange(1, 64), help="Programs a module.")
@click.option("--example", type=click.IntRange(min=0), help="Run the program of this number alone.")
@click.option("--replay", type=click.Path(path_type=Path), help="Run a kept program.")
@click.option("--keep", type=click.Path(path_type=Path, file_okay=False), help="Folder for failing programs.")
@click.option(
    "--shrink", default=120.0, show_default=True, type=click.FloatRange(min=0), help="Seconds each."
)
@click.option("--json", "json_output", is_flag=True, help="Write JSON.")
def fuzz(
    profile: str,
    examples: int,
    seed: int,
    executors: str,
    minutes: float | None,
    batch: int,
    example: int | None,
    replay: Path | None,
    keep: Path | None,
    shrink: float,
    json_output: bool,
) -> int:
    """Run drawn Relay programs on the executors and in NumPy; the same seed draws the same programs.

    With --batch 1 each program is compiled alone, with all passes.
    """
    require_tvm()
    if find_spec("hypothesis") is None:
        raise BadInputError(
            "fuzz draws programs with Hypothesis; pip install 'relay-regvm[conformance]' brings it"
        )
    from relay_conformance.fuzzing import command, report

    names = tuple(executors.split(","))
    if replay is not None:
        return HOLDS if command.replay(replay, names, Console()) else DIFFERS
    request = command.Request(profile, examples, seed, names, batch, minutes, example, shrink, keep)
    campaign, shrunk = command.fuzz(request, Console(stderr=True))
    if json_output:
        _write_json(report.as_json(campaign, shrunk))
    else:
        command.show(campaign, shrunk, Console())
    return HOLDS if campaign.holds else DIFFERS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the console script exits with what this returns."""
    try:
        with warnings.catch_warnings():
            # The terminal belongs to the report; what TVM's importer warns of is no news to its user.
            warnings.simplefilter("ignore")
            status = cli.main(args=arguments, prog_name="relay-conformance", standalone_mode=False)
    except click.ClickException as error:
        return _complain(error.format_message(), BAD_INPUT)
    except BadInputError as error:
        return _complain(str(error), BAD_INPUT)
    except ConformanceError as error:
        return _complain(str(error), DIFFERS)
    except click.Abort:
        return _complain("interrupted", INTERRUPTED)
    return status if isinstance(status, int) else HOLDS


def _complain(message: str, status: int) -> int:
    click.echo(f"relay-conformance: {' '.join(message.split())}", err=True)
    return status


def _list_models(json_output: bool) -> int:
    from relay_conformance.models.built_in import BUILT_IN

    summaries = {name: model.summary for name, model in BUILT_IN.items()}
    if json_output:
        _write_json(summaries)
    else:
        width = max(map(len, summaries))
        for name, summary in summaries.items():
            click.echo(f"{name:<{width}}  {summary}")
    return HOLDS


def _write_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, allow_nan=False))


def _read_input(text: str) -> "tuple[str, Array]":
    name, separator, file = text.rpartition("=")
    if not separator or not name:
        raise BadInputError(f"--input {text}: expected NAME=FILE.npy")
    try:
        array = np.load(Path(file), allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise BadInputError(f"--input {name}: can't read {file} as a .npy file: {error}") from error
    if not isinstance(array, np.ndarray):
        raise BadInputError(f"--input {name}: {file} holds several arrays; save one with numpy.save")
    return name, array


if __name__ == "__main__":
    sys.exit(main())
