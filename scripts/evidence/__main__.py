"""Measure the evidence of the RFC, and write it into the RFC's text.

python -m scripts.evidence measure [--only PART]...   # minutes; writes rfc/results/evidence.json
python -m scripts.evidence write                      # renders text from the results and the instruction table
python -m scripts.evidence check                      # exit status 1 where the text is stale
"""

import json
import sys
from pathlib import Path

import click
from scripts.evidence import measure as parts
from scripts.evidence.render import rendered_files

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "rfc" / "results" / "evidence.json"


@click.group()
def main() -> None:
    """The RFC's evidence: measure, write, check."""


@main.command()
@click.option("--only", multiple=True, type=click.Choice(sorted(parts.PARTS)), help="Measure just this part.")
def measure(only: tuple[str, ...]) -> None:
    """Measure and store the results; parts that are not named keep theirs."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in only or sorted(parts.PARTS):
        click.echo(f"measuring {name}", err=True)
        results[name] = parts.PARTS[name]()
        RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")


@main.command()
def write() -> None:
    """Render the generated parts of the RFC."""
    for path, text in rendered_files(ROOT, RESULTS).items():
        path.write_text(text)


@main.command()
def check() -> None:
    """Say which files do not hold what would be rendered."""
    stale = [
        str(p.relative_to(ROOT)) for p, text in rendered_files(ROOT, RESULTS).items() if p.read_text() != text
    ]
    for name in stale:
        click.echo(f"{name} is stale; run: python -m scripts.evidence write", err=True)
    sys.exit(bool(stale))


main()
