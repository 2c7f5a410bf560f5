"""Runs a workload: starts a worker for each engine, and times them in turns.

In each round every engine is timed once, so that what disturbs the machine disturbs all of them; a ratio is the
median of the rounds' ratios. A size that an engine is foreseen not to manage, by its time or its memory, is not run
but extrapolated from the largest one that was, and says so.
"""

from __future__ import annotations

import multiprocessing
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scripts.bench.machine import available_bytes
from scripts.bench.worker import serve
from scripts.bench.workloads import BOUND, INTERPRETER, NATIVE, REFERENCE, Workload

Results = dict[str, Any]

_BIT_EQUAL = (NATIVE, INTERPRETER, BOUND, REFERENCE)
WAYS = ("invoke", "run")


@dataclass(frozen=True)
class Settings:
    """``sample_s`` is how long one sample takes at least; ``limit_s`` how long one call may take at most."""

    rounds: int = 9
    sample_s: float = 0.05
    limit_s: float = 150.0
    round_s: float = 20.0
    memory_share: float = 0.5
    largest: int | None = None
    clock: str = "wall"
    cached: bool = False
    environments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


class WorkerError(Exception):
    """The engine took its process with it, or did not answer in time."""


class Worker:
    """The driver's end of a worker process."""

    def __init__(self, engine: str, workload: str, environment: Mapping[str, str]) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(
            target=serve, args=(other, engine, workload, environment), daemon=True
        )
        self._process.start()
        other.close()

    def ask(self, request: str, *arguments: Any, seconds: float = 1_800) -> Results:
        """The worker's answer. Raises WorkerError."""
        try:
            self._connection.send((request, arguments))
            if not self._connection.poll(seconds):
                raise WorkerError(f"no answer within {seconds:.0f} s")
            answer: Results = self._connection.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            raise WorkerError(f"the process ended with {self._process.exitcode}") from None
        return answer

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.kill()
        self._process.join()


@dataclass
class _Engine:
    """An engine while its workload runs; ``seen`` are the sizes that it managed."""

    worker: Worker
    compiled: Results
    seen: dict[int, Results] = field(default_factory=dict)
    failure: str = ""


def measure(
    workload: Workload, engines: tuple[str, ...], settings: Settings, say: Callable[[str], None]
) -> Results:
    """All sizes of a workload, as JSON takes them."""
    alive: dict[str, _Engine] = {}
    failed: dict[str, str] = {}
    try:
        for name in (e for e in engines if e in workload.engines):
            say(f"{workload.name}: compiling for {name}")
            worker = Worker(name, workload.name, settings.environments.get(name, {}))
            answer = _ask(worker, "compile")
            if "error" in answer:
                failed[name] = answer["error"]
                worker.close()
            else:
                if settings.cached:
                    # How long it took says nothing then.
                    del answer["compile_s"]
                alive[name] = _Engine(worker, answer)
        sizes = {}
        for n in workload.sizes:
            if settings.largest is None or n <= max(settings.largest, workload.sizes[0]):
                say(f"{workload.name}: {n:,}")
                sizes[str(n)] = _size(n, alive, settings)
    finally:
        for engine in alive.values():
            engine.worker.close()
    return {
        "summary": workload.summary,
        "unit": workload.unit,
        "compiled": {name: e.compiled for name, e in alive.items()},
        "failed": failed,
        "sizes": sizes,
    }


def _ask(worker: Worker, request: str, *arguments: Any) -> Results:
    try:
        return worker.ask(request, *arguments)
    except WorkerError as error:
        return {"error": str(error)}


def _size(n: int, engines: dict[str, _Engine], settings: Settings) -> Results:
    """All engines at one size."""
    found: dict[str, Results] = {}
    ready = {}
    for name, engine in engines.items():
        found[name] = _first_call(n, engine, settings)
        if "first_s" in found[name]:
            ready[name] = engine
    digests = {found[name]["digest"] for name in ready if name in _BIT_EQUAL}
    samples = {way: _rounds(way, ready, found, settings) for way in WAYS}
    for name in ready:
        for way in WAYS:
            taken = [t for r in samples[way] if (t := r.get(name)) is not None]
            found[name][f"{way}_s"] = statistics.median(taken) if taken else None
        found[name].pop("digest")
        engines[name].seen[n] = found[name]
    for name, result in found.items():
        if name not in ready and "error" not in result:
            result.update(_extrapolated(n, engines[name]))
    return {
        "engines": found,
        "bit_equal": len(digests) <= 1,
        "ratios": {way: _ratios(samples[way], ready) for way in WAYS},
    }


def _first_call(n: int, engine: _Engine, settings: Settings) -> Results:
    """The first call at a size, or why there is none."""
    if engine.failure:
        return {"error": engine.failure}
    room = int(available_bytes() * settings.memory_share)
    if engine.seen:
        guess = _extrapolated(n, engine)
        if guess["invoke_s"] > settings.limit_s:
            return {"extrapolated": f"one call would take {guess['invoke_s']:.0f} s"}
        if guess["growth_bytes"] > room:
            return {"extrapolated": f"one call would take {guess['growth_bytes'] / 1e9:.1f} GB of memory"}
    answer = _ask(engine.worker, "bind", n, room)
    engine.failure = answer.get("error", "")
    return answer


def _extrapolated(n: int, engine: _Engine) -> Results:
    """Time and memory in proportion to the largest size that was run."""
    largest = max(engine.seen)
    last = engine.seen[largest]
    return {
        "invoke_s": last["invoke_s"] * n / largest,
        "growth_bytes": int(last["growth_bytes"] * n / largest),
    }


def _rounds(
    way: str, ready: Mapping[str, _Engine], found: Mapping[str, Results], settings: Settings
) -> list[dict[str, float | None]]:
    """Samples by engine, round by round; a call that takes very long is timed in one round only."""
    slow = {name for name in ready if found[name]["first_s"] > settings.round_s}
    if slow and way != "invoke":
        return []
    rounds = 1 if slow else max(3, min(settings.rounds, int(settings.round_s / _total(found, ready))))
    numbers = {name: _number(way, e.worker, settings) for name, e in ready.items() if name not in slow}
    taken = [
        {name: _sample(way, ready[name].worker, k, settings) for name, k in numbers.items()}
        for _ in range(rounds)
    ]
    for name in slow:
        taken[0][name] = found[name]["first_s" if settings.clock == "wall" else "first_cpu_s"]
    return taken


def _total(found: Mapping[str, Results], ready: Mapping[str, _Engine]) -> float:
    return max(1e-3, sum(float(found[name]["first_s"]) for name in ready))


def _number(way: str, worker: Worker, settings: Settings) -> int:
    """How many calls make one sample."""
    seconds = _sample(way, worker, 1, settings)
    if seconds is None or seconds > settings.sample_s:
        return 1
    again = _sample(way, worker, max(1, int(settings.sample_s / 10 / max(seconds, 1e-7))), settings)
    return max(1, int(settings.sample_s / max(again or 0, 1e-7)))


def _sample(way: str, worker: Worker, number: int, settings: Settings) -> float | None:
    seconds: float | None = worker.ask("sample", way, number, settings.clock)["seconds"]
    return seconds


def _ratios(samples: list[dict[str, float | None]], ready: Mapping[str, _Engine]) -> Results:
    """How many times each engine's time is the native engine's: the median over the rounds."""
    pairs: dict[str, list[float]] = {name: [] for name in ready if name != NATIVE}
    for taken in samples:
        base = taken.get(NATIVE)
        for name in pairs:
            other = taken.get(name)
            if base and other:
                pairs[name].append(other / base)
    return {name: statistics.median(found) for name, found in pairs.items() if found}
