"""Draw programs, run them on two workers, and count what they show; failures are kept with their number."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from queue import SimpleQueue

from relay_conformance.fuzzing.draws import draw_programs
from relay_conformance.fuzzing.engines import Engine
from relay_conformance.fuzzing.running import Result, run_alone, run_batch, warm_up
from relay_conformance.fuzzing.verdict import Kind, Verdict, judge
from relay_conformance.isolation import Worker
from relay_conformance.strategies import FuzzProgram, evaluate

WORKERS = 2
DEFAULT_BATCH = 16
TIME_LIMIT = 120.0


@dataclass(frozen=True)
class Settings:
    """``minutes`` ends a campaign early; ``batch`` of 1 runs every program alone, with all passes."""

    profile: str
    examples: int
    seed: int
    engines: tuple[Engine, ...]
    minutes: float | None = None
    batch: int = DEFAULT_BATCH


@dataclass(frozen=True)
class Example:
    number: int
    program: FuzzProgram
    verdict: Verdict


@dataclass(frozen=True)
class Campaign:
    """``examples`` are those that don't agree, in the order of their numbers. ``seconds`` of wall time."""

    settings: Settings
    counts: dict[Kind, int]
    examples: tuple[Example, ...]
    seconds: float

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def failures(self) -> tuple[Example, ...]:
        return tuple(example for example in self.examples if example.verdict.kind.is_failure)

    @property
    def holds(self) -> bool:
        return not self.failures


def run_campaign(settings: Settings, progress: Callable[[int], None] = lambda _: None) -> Campaign:
    """Run all examples; ``progress`` is told how many are done."""
    counts: Counter[Kind] = Counter()
    kept: list[Example] = []
    with ExitStack() as stack:
        idle: SimpleQueue[Worker] = SimpleQueue()
        for _ in range(WORKERS):
            idle.put(stack.enter_context(Worker(TIME_LIMIT)))
        threads = stack.enter_context(ThreadPoolExecutor(WORKERS))
        list(threads.map(lambda _: _with_worker(idle, warm_up), range(WORKERS)))
        start = time.perf_counter()
        end = start + 60 * settings.minutes if settings.minutes is not None else float("inf")
        for examples in _results(threads, idle, settings, end):
            counts.update(example.verdict.kind for example in examples)
            kept += [example for example in examples if example.verdict.kind is not Kind.AGREE]
            progress(sum(counts.values()))
        seconds = time.perf_counter() - start
    return Campaign(settings, dict(counts), tuple(kept), seconds)


def _results(
    threads: ThreadPoolExecutor, idle: SimpleQueue[Worker], settings: Settings, end: float
) -> Iterator[list[Example]]:
    """Batches in order, two in work at a time, so that the next one is drawn while they run."""
    waiting: list[Future[list[Example]]] = []
    drawn = enumerate(draw_programs(settings.profile, settings.seed, settings.examples))
    while time.perf_counter() < end and (batch := list(itertools.islice(drawn, settings.batch))):
        waiting.append(threads.submit(_run_batch, idle, settings.engines, batch))
        if len(waiting) > WORKERS:
            yield waiting.pop(0).result()
    for future in waiting:
        yield future.result()


def _with_worker(idle: SimpleQueue[Worker], use: Callable[[Worker], object]) -> None:
    worker = idle.get()
    try:
        use(worker)
    finally:
        idle.put(worker)


def _run_batch(
    idle: SimpleQueue[Worker], engines: Sequence[Engine], batch: Sequence[tuple[int, FuzzProgram]]
) -> list[Example]:
    worker = idle.get()
    try:
        programs = [program for _, program in batch]
        results = {engine.name: run_batch(worker, engine, programs) for engine in engines}
        examples = []
        for place, (number, program) in enumerate(batch):
            verdict = _judge(program, {name: all_[place] for name, all_ in results.items()})
            examples.append(Example(number, program, verdict))
        return examples
    finally:
        idle.put(worker)


def _judge(program: FuzzProgram, results: dict[str, Result]) -> Verdict:
    return judge(program, evaluate(program), results)


def judge_alone(worker: Worker, engines: Sequence[Engine], program: FuzzProgram) -> Verdict:
    """The verdict on one program that is run by itself, with all passes."""
    return _judge(program, {engine.name: run_alone(worker, engine, program) for engine in engines})


def run_one(settings: Settings, program: FuzzProgram, number: int) -> Campaign:
    """A campaign of one program, run by itself."""
    start = time.perf_counter()
    with Worker(TIME_LIMIT) as worker:
        verdict = judge_alone(worker, settings.engines, program)
    kept = () if verdict.kind is Kind.AGREE else (Example(number, program, verdict),)
    return Campaign(settings, {verdict.kind: 1}, kept, time.perf_counter() - start)
