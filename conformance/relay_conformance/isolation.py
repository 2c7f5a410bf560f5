"""Run work in a process of its own, so that a crash or a hang is a result and not the end of the run.

The reference can abort its process, and an integer division by zero in a kernel kills any process. One worker
serves all calls, since loading TVM takes a second; it is replaced after a crash or a hang. The time limit is
kept by this process, because a worker that hangs in native code can't keep one itself. loky rather than
``multiprocessing``: its workers don't run the caller's main module again, so a plain script may use them.
"""

import contextlib
import os
import re
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, ParamSpec, TypeVar

from loky import ProcessPoolExecutor  # type: ignore[import-untyped, unused-ignore]
from loky.process_executor import (  # type: ignore[import-untyped, unused-ignore]
    TerminatedWorkerError,
)

_START_LIMIT = 120.0
# loky replaces a worker that has grown by 300 MB; a compiled ResNet is larger, and would be lost with it.
_KEEP_A_GROWN_WORKER = {"LOKY_MAX_MEMORY_LEAK_SIZE": "1e18"}

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Returned(Generic[T]):
    value: T


@dataclass(frozen=True)
class Raised:
    error: BaseException


@dataclass(frozen=True)
class Crashed:
    """``cause`` names the signal or exit status, ``last_words`` the end of what the process wrote."""

    cause: str
    last_words: str


@dataclass(frozen=True)
class TimedOut:
    """The time limit in seconds."""

    limit: float


Outcome = Returned[T] | Raised | Crashed | TimedOut


def _write_to(path: str) -> None:
    """Send what TVM's kernels and LLVM print to a file: the terminal belongs to the report."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(file, 1)
    os.dup2(file, 2)


class Worker:
    """A reusable process. A context manager: it ends the process.

    Whoever makes several calls that belong together holds ``lock`` around them.
    """

    def __init__(self, time_limit: float) -> None:
        """``time_limit`` is in seconds, for each call."""
        self.lock = threading.RLock()
        self._time_limit = time_limit
        self._pool: Any = None
        self._folder = tempfile.TemporaryDirectory(prefix="relay-conformance-")
        self._log = Path(self._folder.name) / "worker.log"

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Outcome[T]:
        """Run ``function`` in the worker; it must be importable there, and its arguments must pickle."""
        if self._pool is None:
            self._log.write_bytes(b"")
            self._pool = ProcessPoolExecutor(
                max_workers=1,
                timeout=None,
                initializer=_write_to,
                initargs=(str(self._log),),
                env=_KEEP_A_GROWN_WORKER,
            )
            # Starting is this machine's affair, and no time of the call's.
            self._pool.submit(os.getpid).result(_START_LIMIT)
        future = self._pool.submit(function, *args, **kwargs)
        try:
            error = future.exception(self._time_limit)
        except FutureTimeoutError:
            self.stop()
            return TimedOut(self._time_limit)
        if isinstance(error, TerminatedWorkerError):
            last_words = self._last_words()
            self.stop()
            return Crashed(_cause(error), last_words)
        return Returned(future.result()) if error is None else Raised(error)

    def stop(self) -> None:
        """Kill the process; the next call starts another one."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, kill_workers=True)
            self._pool = None

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            return _before_the_crash(self._log.read_text(errors="replace"))
        return ""

    def __enter__(self) -> "Worker":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
        self._folder.cleanup()


@cache
def shared_worker(time_limit: float) -> Worker:
    """The worker that this process keeps for that time limit in seconds; it ends with the process."""
    return Worker(time_limit)


def _cause(error: TerminatedWorkerError) -> str:
    found = re.search(r"exit codes of the workers are \{(.*)\}", str(error))
    return found.group(1) if found else "unknown"


def _before_the_crash(log: str) -> str:
    """The last line that the process itself wrote, ahead of faulthandler's listing."""
    own, _, _ = log.partition("Fatal Python error")
    lines = [line.strip() for line in own.splitlines() if line.strip()]
    return lines[-1] if lines else ""
