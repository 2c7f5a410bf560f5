"""What a campaign found: a table for people, JSON for machines, and the files of its failures."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from rich.table import Table

from relay_conformance.fuzzing.campaign import Campaign, Example, Settings
from relay_conformance.fuzzing.records import record_of, write
from relay_conformance.fuzzing.verdict import Kind
from relay_conformance.strategies import FuzzProgram, arrays, render
from relay_conformance.versions import versions


def as_table(campaign: Campaign) -> Table:
    """Programs by class."""
    settings = campaign.settings
    table = Table(
        title=f"{settings.profile}, seed {settings.seed}: {'holds' if campaign.holds else 'differs'}"
    )
    table.add_column("class")
    table.add_column("programs", justify="right")
    table.add_column("first")
    for kind in Kind:
        if campaign.counts.get(kind):
            first = next((str(e.number) for e in campaign.examples if e.verdict.kind is kind), "")
            table.add_row(kind.value, str(campaign.counts[kind]), first)
    table.add_row("all", str(campaign.total), "", style="bold")
    return table


def as_json(campaign: Campaign, shrunk: dict[int, FuzzProgram]) -> dict[str, Any]:
    """Counts by class, rate and each example that does not agree."""
    settings = campaign.settings
    return {
        "profile": settings.profile,
        "seed": settings.seed,
        "executors": [engine.name for engine in settings.engines],
        "programs": campaign.total,
        "holds": campaign.holds,
        "seconds": round(campaign.seconds, 3),
        "programs_per_second": round(rate(campaign), 3),
        "classes": {kind.value: campaign.counts.get(kind, 0) for kind in Kind},
        "examples": [_example(settings, e, shrunk.get(e.number)) for e in campaign.examples],
        "versions": versions(),
    }


def rate(campaign: Campaign) -> float:
    """Programs a second of wall time."""
    return campaign.total / campaign.seconds if campaign.seconds else 0.0


def command(settings: Settings, number: int) -> str:
    """What runs one example again."""
    words = ["relay-conformance", "fuzz", "--profile", settings.profile, "--seed", str(settings.seed)]
    names = ",".join(engine.name for engine in settings.engines)
    return shlex.join([*words, "--example", str(number), "--executors", names])


def explanation(settings: Settings, example: Example, smallest: FuzzProgram) -> str:
    """The verdict, the program as Relay with its inputs, and the command that replays it."""
    inputs = zip(smallest.inputs, arrays(smallest), strict=True)
    shown = "\n".join(f"%{given.variable.name} = {array.tolist()}" for given, array in inputs)
    verdict = example.verdict
    heading = f"example {example.number}: {verdict.kind.value} of {verdict.executor}: {verdict.detail}"
    return f"{heading}\n{render(smallest)}\n{shown}\nagain: {command(settings, example.number)}"


def keep(folder: Path, settings: Settings, example: Example, smallest: FuzzProgram) -> Path:
    """Write the file that ``--replay`` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{settings.profile}-{settings.seed}-{example.number}.json"
    about = {
        "class": example.verdict.kind.value,
        "executor": example.verdict.executor,
        "detail": example.verdict.detail,
        "command": command(settings, example.number),
    }
    write(path, record_of(smallest), about)
    return path


def _example(settings: Settings, example: Example, smallest: FuzzProgram | None) -> dict[str, Any]:
    shown = smallest or example.program
    return {
        "number": example.number,
        "class": example.verdict.kind.value,
        "executor": example.verdict.executor,
        "detail": example.verdict.detail,
        "failure": example.verdict.kind.is_failure,
        "shrunk": smallest is not None,
        "program": render(shown),
        "inputs": {g.variable.name: a.tolist() for g, a in zip(shown.inputs, arrays(shown), strict=True)},
        "command": command(settings, example.number),
    }
