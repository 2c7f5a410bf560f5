"""One engine in a process of its own: it compiles one workload, then answers what the driver asks.

The driver asks one worker at a time, so that no two of them share the machine while one is timed.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import resource
import time
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from scripts.bench.workloads import named

Answer = dict[str, Any]


CLOCKS: Mapping[str, Callable[[], float]] = {"wall": time.perf_counter, "cpu": time.process_time}
"""``cpu`` counts what all threads of the process compute, and so leaves out what others take of the machine."""


def serve(connection: Connection, engine: str, workload: str, environment: Mapping[str, str]) -> None:
    """Answer requests until the driver hangs up; an error is an answer, too."""
    os.environ.update(environment)
    _silence()
    # Before TVM, so that it is loaded in the way that lets TensorFlow share the process.
    importlib.import_module("regvm")
    worker = _Worker(engine, workload)
    while True:
        try:
            request, arguments = connection.recv()
        except EOFError:
            return
        try:
            answer = getattr(worker, request)(*arguments)
        except Exception as error:  # Whatever an engine raises is its result.
            lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
            answer = {"error": f"{type(error).__name__}: {lines[-1]}"}
        connection.send(answer)


def _silence() -> None:
    """TVM and TensorFlow write to the process's standard error, past Python."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)


class _Worker:
    def __init__(self, engine: str, workload: str) -> None:
        self._engine = engine
        self._workload = named(workload)
        self._compiled: Any = None
        self._bound: Any = None

    def compile(self) -> Answer:
        """Load and compile; seconds of compiling, and the counts that the engine tells of its code."""
        from scripts.bench.adapters import COMPILERS

        loaded = self._workload.load()
        seconds, self._compiled = _timed(lambda: COMPILERS[self._engine](loaded))
        return {"compile_s": seconds, **self._compiled.figures()}

    def bind(self, n: int, memory_limit: int) -> Answer:
        """Make a machine and call it for the first time at this size."""
        from scripts.bench.adapters import digest

        self._bound = None
        gc.collect()
        limit = _status_bytes("VmData") + memory_limit
        resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.RLIM_INFINITY))
        calls = self._workload.calls(n)
        loading, self._bound = _timed(lambda: self._compiled.bind(calls))
        before = _forget_peak()
        computing = time.process_time()
        first, found = _timed(self._bound.result)
        computing = time.process_time() - computing
        growth = _peak() - before
        gc.collect()
        gc.freeze()
        return {
            "load_s": loading,
            "first_s": first,
            "first_cpu_s": computing,
            "growth_bytes": growth,
            "digest": digest(found),
            **self._bound.figures,
        }

    def sample(self, way: str, number: int, clock: str) -> Answer:
        """Seconds of one call on the average of ``number``; ``way`` is ``invoke`` or ``run``."""
        now = CLOCKS[clock]
        call = self._bound.invoke if way == "invoke" else self._bound.run
        if call is None:
            return {"seconds": None}
        gc.disable()
        try:
            start = now()
            for _ in range(number):
                call()
            return {"seconds": (now() - start) / number}
        finally:
            gc.enable()


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    done = work()
    return time.perf_counter() - start, done


def _forget_peak() -> int:
    """Let Linux forget the largest resident set so far; returns the present one, in bytes."""
    # What free() keeps for later would hide what the next run takes.
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> int:
    return _status_bytes("VmHWM")


def _status_bytes(name: str) -> int:
    """A figure of this process's memory, as Linux counts it."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines[name].split()[0]) * 1024
