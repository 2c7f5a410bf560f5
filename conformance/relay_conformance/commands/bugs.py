"""``relay-conformance bugs``: the ledger of known defects, and a rerun of what shows one."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table

from relay_conformance.commands.options import finish, require_tvm
from relay_conformance.errors import BadInputError

if TYPE_CHECKING:
    from relay_conformance.cases.ledger import Defect
    from relay_conformance.cases.verdicts import Judged


@click.group(invoke_without_command=True)
@click.option("--ledger", type=click.Path(path_type=Path, dir_okay=False), help="Another file of defects.")
@click.option("--json", "json_output", is_flag=True, help="Write JSON.")
@click.pass_context
def bugs(context: click.Context, ledger: Path | None, json_output: bool) -> int:
    """List the known defects of TVM and TensorFlow; `bugs run ID` shows one."""
    require_tvm()
    from relay_conformance.cases.ledger import PATH, defects

    found = defects(ledger or PATH)
    context.obj = found
    if context.invoked_subcommand is not None:
        return 0
    if json_output:
        click.echo(json.dumps([_as_json(defect) for defect in found], indent=2))
    else:
        Console().print(_as_table(found))
    return 0


@bugs.command("run")
@click.argument("defect_id", metavar="ID")
@click.option("--executors", default="tvm-vm,regvm", show_default=True, help="The first is the reference.")
@click.option("--time-limit", default=120.0, show_default=True, help="Seconds, for each machine's step.")
@click.option("--json", "json_output", is_flag=True, help="Write JSON.")
@click.pass_obj
def run_bug(
    found: "tuple[Defect, ...]", defect_id: str, executors: str, time_limit: float, json_output: bool
) -> int:
    """Run the cases of the defect ID; exit status 1 where it no longer shows."""
    defect = next((one for one in found if one.id == defect_id), None)
    if defect is None:
        raise BadInputError(f"no defect is called {defect_id}; `relay-conformance bugs` lists them")
    judged = _rerun(defect, executors.split(","), time_limit)
    if not judged:
        raise BadInputError(f"{defect_id} has no case of its own; its reproducer is: {defect.reproducer}")
    if not json_output:
        click.echo(
            f"{defect.id} ({defect.layer.value}): {defect.symptom}\nright: {defect.right}\ncause: "
            f"{defect.cause}"
        )
        for one in judged:
            click.echo(str(one))
    from relay_conformance import expectations

    return finish(judged, expectations.NONE, None, False, None, json_output)


def _rerun(defect: "Defect", executors: list[str], time_limit: float) -> "tuple[Judged, ...]":
    from relay_conformance.relay_cases import catalog, suite

    relay = [case for case in catalog.all_cases() if defect.matches(case.id)]
    judged = suite.run(relay, executors, None, time_limit) if relay else ()
    return (*judged, *_rerun_graphs(defect, executors, time_limit))


def _rerun_graphs(defect: "Defect", executors: list[str], time_limit: float) -> "tuple[Judged, ...]":
    from relay_conformance.cases import selection

    batches = [
        selection.Batch(batch.family, batch.form, (case,))
        for batch in selection.full()
        for case in batch.cases
        if defect.matches(selection.case_id(case, batch.form))
    ]
    if not batches:
        return ()
    from relay_conformance.cases.running import machines
    from relay_conformance.cases.verdicts import run_batches
    from relay_conformance.progress import progress_display
    from relay_conformance.tensorflow_import.loading import silence_tensorflow

    silence_tensorflow()
    on = machines(executors, time_limit)
    try:
        with progress_display() as progress:
            return run_batches(batches, on, progress)
    finally:
        on.stop()


def _as_json(defect: "Defect") -> dict[str, Any]:
    return {
        "id": defect.id,
        "layer": defect.layer.value,
        "symptom": defect.symptom,
        "issue": defect.issue,
        "reproducer": defect.reproducer,
        "right": defect.right,
        "cause": defect.cause,
        "executors": list(defect.executors),
        "cases": list(defect.cases),
        "tensorflow": str(defect.tensorflow) or None,
    }


def _as_table(found: "tuple[Defect, ...]") -> Table:
    table = Table(title=f"{len(found)} known defects")
    for heading in ("id", "layer", "issue", "executors", "symptom"):
        table.add_column(heading, overflow="fold")
    for defect in found:
        issue = "" if defect.issue is None else str(defect.issue)
        table.add_row(defect.id, defect.layer.value, issue, ", ".join(defect.executors), defect.symptom)
    return table
