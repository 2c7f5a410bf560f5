"""Measure the evidence of the RFC, and write it into the RFC's text.

python -m scripts.evidence measure [--only PART]... [--model NAME]...   # an hour; writes rfc/results/evidence.json
python -m scripts.evidence write   # renders text and figures from the results and the instruction table
python -m scripts.evidence check   # exit status 1 where they are stale
"""

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import click
from scripts.evidence import measure as parts
from scripts.evidence.figures import stale_figures, write_figures
from scripts.evidence.render import rendered_files

from relay_conformance.models import BUILT_IN

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "rfc" / "results" / "evidence.json"
FIGURES = ROOT / "rfc" / "figures"
ALL = sorted(parts.PARTS.keys() | parts.MODEL_PARTS.keys())
Task: TypeAlias = tuple[dict[str, Any], str, Callable[[], Any]]


@click.group()
def main() -> None:
    """The RFC's evidence: measure, write, check."""


@main.command()
@click.option("--only", multiple=True, type=click.Choice(ALL), help="Measure just this part.")
@click.option(
    "--model",
    "models",
    multiple=True,
    type=click.Choice(sorted(BUILT_IN)),
    help="Measure just this model, in the parts that go model by model.",
)
def measure(only: tuple[str, ...], models: tuple[str, ...]) -> None:
    """Measure and store the results; parts and models that are not named keep theirs."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for part in only or ALL:
        for where, name, run in _tasks(part, models, results):
            click.echo(f"measuring {part} {name}".rstrip(), err=True)
            where[name or part] = run()
            RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")


def _tasks(part: str, models: tuple[str, ...], results: dict[str, Any]) -> Iterator[Task]:
    """Where each result of a part goes, whose it is, and what measures it."""
    if part in parts.PARTS:
        if not models:
            yield results, "", parts.PARTS[part]
        return
    found = parts.MODEL_PARTS[part]
    for name in found.models:
        if not models or name in models:
            yield results.setdefault(part, {}), name, partial(found.measure, name)


@main.command()
def write() -> None:
    """Render the generated parts of the RFC."""
    for path, text in rendered_files(ROOT, RESULTS).items():
        path.write_text(text)
    write_figures(FIGURES, json.loads(RESULTS.read_text()))


@main.command()
def check() -> None:
    """Say which files do not hold what would be rendered."""
    stale = [
        str(p.relative_to(ROOT)) for p, text in rendered_files(ROOT, RESULTS).items() if p.read_text() != text
    ]
    stale += [f"rfc/figures/{name}" for name in stale_figures(FIGURES, json.loads(RESULTS.read_text()))]
    for name in stale:
        click.echo(f"{name} is stale; run: python -m scripts.evidence write", err=True)
    sys.exit(bool(stale))


main()
