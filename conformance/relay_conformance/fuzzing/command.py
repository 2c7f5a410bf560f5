"""``relay-conformance fuzz``: a campaign, one example of it, or a file that was kept."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from relay_conformance.errors import BadInputError
from relay_conformance.fuzzing import engines, records, report
from relay_conformance.fuzzing.campaign import (
    TIME_LIMIT,
    Campaign,
    Example,
    Settings,
    judge_alone,
    run_campaign,
    run_one,
)
from relay_conformance.fuzzing.draws import draw_program
from relay_conformance.fuzzing.shrinking import shrink
from relay_conformance.isolation import Worker
from relay_conformance.strategies import FuzzProgram
from relay_conformance.strategies.programs import profile as profile_of


@dataclass(frozen=True)
class Request:
    """The options of the command; ``shrink_seconds`` of 0 leaves failures as they were drawn."""

    profile: str
    examples: int
    seed: int
    executors: tuple[str, ...]
    batch: int
    minutes: float | None
    example: int | None
    shrink_seconds: float
    keep: Path | None


def settings_of(request: Request) -> Settings:
    """Raises BadArgumentError for a profile or an executor that does not exist."""
    profile_of(request.profile)
    if len(set(request.executors)) != len(request.executors):
        raise BadInputError(f"--executors {','.join(request.executors)}: each may be named once")
    chosen = tuple(engines.get(name) for name in request.executors)
    return Settings(request.profile, request.examples, request.seed, chosen, request.minutes, request.batch)


def fuzz(request: Request, console: Console) -> tuple[Campaign, dict[int, FuzzProgram]]:
    """Run the campaign; failures come back shrunk by number, and are kept if asked for."""
    settings = settings_of(request)
    if request.example is not None:
        program = draw_program(request.profile, request.seed, request.example)
        campaign = run_one(settings, program, request.example)
    else:
        with _progress(settings, console) as progress:
            campaign = run_campaign(settings, progress)
    shrunk = _shrink_all(campaign, request.shrink_seconds)
    if request.keep is not None:
        for example in campaign.failures:
            report.keep(request.keep, settings, example, shrunk.get(example.number, example.program))
    return campaign, shrunk


def show(campaign: Campaign, shrunk: dict[int, FuzzProgram], console: Console) -> None:
    """The table, the rate, and each kind of failure with its smallest program."""
    console.print(report.as_table(campaign))
    console.print(f"{report.rate(campaign):.1f} programs a second", highlight=False)
    for example in first_of_each(campaign):
        smallest = shrunk.get(example.number, example.program)
        text = report.explanation(campaign.settings, example, smallest)
        console.print(text, soft_wrap=True, markup=False, highlight=False)


def replay(path: Path, executors: tuple[str, ...], console: Console) -> bool:
    """Run a kept program again; whether all is right."""
    record = records.read(path)
    with Worker(TIME_LIMIT) as worker:
        verdict = records.replay(worker, [engines.get(name) for name in executors], record)
    fault = f" of {verdict.executor}: {verdict.detail}" if verdict.executor else ""
    console.print(f"{path}: {verdict.kind.value}{fault}", soft_wrap=True, markup=False, highlight=False)
    return not verdict.executor


def first_of_each(campaign: Campaign) -> list[Example]:
    """The first failure of each kind and executor: the others are likely the same."""
    found: dict[object, Example] = {}
    for example in campaign.failures:
        found.setdefault((example.verdict.kind, example.verdict.executor), example)
    return list(found.values())


def _shrink_all(campaign: Campaign, seconds: float) -> dict[int, FuzzProgram]:
    failures = first_of_each(campaign)
    if not failures or seconds <= 0:
        return {}
    settings = campaign.settings
    shrunk = {}
    with Worker(TIME_LIMIT) as worker:
        for example in failures:
            try:
                smallest, _ = shrink(
                    settings.profile,
                    settings.seed,
                    example.number,
                    lambda program: judge_alone(worker, settings.engines, program),
                    seconds,
                )
            except LookupError:
                # It shows among others only; the program as drawn is what there is to say.
                continue
            shrunk[example.number] = smallest
    return shrunk


def _progress(settings: Settings, console: Console) -> AbstractContextManager[Callable[[int], None]]:
    if not console.is_terminal:
        return nullcontext(lambda _: None)
    return _Bar(settings, console)


class _Bar:
    def __init__(self, settings: Settings, console: Console) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, console=console, transient=True)
        self._task = self._bar.add_task(settings.profile, total=settings.examples)

    def __enter__(self) -> Callable[[int], None]:
        self._bar.start()
        return lambda done: self._bar.update(self._task, completed=done)

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
