"""Options that the commands which run cases share, and what becomes of them."""

import json
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.console import Console

from relay_conformance.errors import BadInputError

if TYPE_CHECKING:
    from relay_conformance.cases.verdicts import Judged
    from relay_conformance.expectations import Expectations

F = TypeVar("F", bound=Callable[..., Any])
HOLDS, DIFFERS = 0, 1


def expectation_options(command: F) -> F:
    """``--xfails``, ``--update-expectations`` and ``--output``."""
    for option in (
        click.option(
            "--output", type=click.Path(path_type=Path, dir_okay=False), help="Also write JSON here."
        ),
        click.option("--update-expectations", "update", is_flag=True, help="Rewrite the file of --xfails."),
        click.option("--xfails", type=click.Path(path_type=Path, dir_okay=False), help="Expected failures."),
    ):
        command = option(command)
    return command


def read_expectations(xfails: Path | None, update: bool, known: Collection[str]) -> "Expectations":
    """The file of ``--xfails``; with ``--update-expectations`` it need not be there yet.

    Raises:
        BadInputError: the file is wrong, or there is none to rewrite.
    """
    from relay_conformance import expectations

    if xfails is None:
        if update:
            raise BadInputError("--update-expectations rewrites the file of --xfails; name one")
        return expectations.NONE
    if update and not xfails.exists():
        return expectations.NONE
    return expectations.read(xfails, known)


def all_case_ids() -> frozenset[str]:
    """Of graph cases with their forms, and of the Relay-level cases."""
    from relay_conformance.cases import selection
    from relay_conformance.relay_cases import catalog

    graphs = (selection.case_id(case, batch.form) for batch in selection.full() for case in batch.cases)
    return frozenset((*graphs, *(case.id for case in catalog.all_cases())))


def finish(
    judged: "Sequence[Judged]",
    before: "Expectations",
    xfails: Path | None,
    update: bool,
    output: Path | None,
    json_output: bool,
    *,
    shown: bool = False,
) -> int:
    """Show a run unless it was ``shown`` as it went, keep what was asked for, and say whether it holds."""
    from relay_conformance import expectations
    from relay_conformance.cases.verdicts import as_json, as_table, wrong

    report = json.dumps(as_json(judged), indent=2, allow_nan=False)
    if output is not None:
        output.write_text(report + "\n")
    if json_output and not shown:
        click.echo(report)
    elif not json_output:
        for one in wrong(judged):
            click.echo(str(one))
        Console().print(as_table(judged))
    if update and xfails is not None:
        seen = [(one.result, one.defect is not None) for one in judged]
        expectations.write(xfails, expectations.updated(before, seen))
        return HOLDS
    return DIFFERS if wrong(judged) else HOLDS


def require_tvm() -> None:
    """Name the mend in place of the loader's traceback."""
    try:
        import relay_conformance.tvm_api  # noqa: F401
    except (ImportError, OSError) as error:
        raise BadInputError(f"TVM can't be loaded ({error}); `relay-conformance doctor` says more") from error
