"""Compile and run a program on an executor, in a worker; outputs and figures come back, or the failure."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from relay_conformance.errors import ConformanceError
from relay_conformance.executors.protocol import Executable, Executor, Figures
from relay_conformance.isolation import Crashed, Outcome, Raised, Returned, TimedOut, Worker
from relay_conformance.program import Array, Program, one_line
from relay_conformance.tvm_api import regvm
from relay_conformance.values import Outputs, outputs_from_value

T = TypeVar("T")

DEFAULT_TIME_LIMIT = 900.0
DEFAULT_TARGET = "llvm"
# What TVM, LLVM and a machine under test raise where several programs share a call; each is a result of the run.
EXECUTOR_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ConformanceError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
    regvm.errors.RegvmError,
)


class Stage(Enum):
    COMPILE = "compiling"
    RUN = "running"


class Cause(Enum):
    """How an executor failed: with an error of its own, with its process, or by not coming to an end."""

    ERROR = "error"
    CRASH = "crash"
    TIME_OUT = "time-out"


@dataclass(frozen=True)
class Failure:
    """An executor did not bring a result. ``reason`` is one line.

    The figures and the time in seconds are those of a program that compiled and then failed.
    """

    executor: str
    stage: Stage
    reason: str
    figures: Figures | None = None
    compile_s: float | None = None
    cause: Cause = Cause.ERROR

    def __str__(self) -> str:
        return f"{self.executor} failed when {self.stage.value}: {self.reason}"


@dataclass(frozen=True)
class Measurement:
    """Times in seconds; the latency is the median of the repeats, after a first run that is not counted."""

    executor: str
    outputs: Outputs
    figures: Figures
    compile_s: float
    latency_s: float


# The compiled program lives in the worker: it holds machine code, which does not travel between processes.
_compiled: Executable | None = None


def _compile(executor: Executor, program: Program, target: str) -> tuple[Figures, float]:
    global _compiled
    _compiled = None
    start = time.perf_counter()
    _compiled = executor.compile(program, target)
    elapsed = time.perf_counter() - start
    return _compiled.figures(), elapsed


def _run(inputs: Sequence[Array], repeats: int) -> tuple[Outputs, Figures, float]:
    if _compiled is None:
        raise RuntimeError("nothing is compiled in this worker")
    run = _compiled.bind(inputs)
    outputs = outputs_from_value(run())
    return outputs, _compiled.figures(), median_seconds(run, repeats)


def median_seconds(run: Callable[[], object], repeats: int) -> float:
    """The median time of ``repeats`` calls; 0 for none."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times) if times else 0.0


def execute(
    worker: Worker,
    executor: Executor,
    program: Program,
    inputs: Sequence[Array],
    repeats: int = 1,
    target: str = DEFAULT_TARGET,
) -> Measurement | Failure:
    """Never raises what the executor does; a crash or a hang of it is a :class:`Failure` too."""
    with worker.lock:
        return _execute(worker, executor, program, inputs, repeats, target)


def _execute(
    worker: Worker,
    executor: Executor,
    program: Program,
    inputs: Sequence[Array],
    repeats: int,
    target: str,
) -> Measurement | Failure:
    compiled = worker.call(_compile, executor, program, target)
    if not isinstance(compiled, Returned):
        return failure_of(executor.name, Stage.COMPILE, compiled)
    static_figures, compile_s = compiled.value
    ran = worker.call(_run, inputs, repeats)
    if not isinstance(ran, Returned):
        return Failure(executor.name, Stage.RUN, _reason(ran), static_figures, compile_s, cause=_cause(ran))
    outputs, figures, latency = ran.value
    return Measurement(executor.name, outputs, figures, compile_s, latency)


def run_again(
    worker: Worker,
    executor: Executor,
    program: Program,
    inputs: Sequence[Array],
    target: str = DEFAULT_TARGET,
) -> Outputs | Failure:
    """Run on other inputs what :func:`execute` compiled last; after a crash it is compiled again."""
    with worker.lock:
        compiled = worker.call(_is_compiled)
        if compiled != Returned(True):
            result = _execute(worker, executor, program, inputs, 1, target)
            return result.outputs if isinstance(result, Measurement) else result
        ran = worker.call(_run, inputs, 0)
        if not isinstance(ran, Returned):
            return failure_of(executor.name, Stage.RUN, ran)
        return ran.value[0]


def failure_of(executor: str, stage: Stage, outcome: Outcome[T]) -> Failure:
    """The failure that a call in a worker is, which did not return."""
    return Failure(executor, stage, _reason(outcome), cause=_cause(outcome))


def _is_compiled() -> bool:
    return _compiled is not None


def _cause(outcome: Outcome[T]) -> Cause:
    match outcome:
        case Crashed():
            return Cause.CRASH
        case TimedOut():
            return Cause.TIME_OUT
        case Raised() | Returned():
            return Cause.ERROR


def _reason(outcome: Outcome[T]) -> str:
    match outcome:
        case Raised(error):
            return one_line(error)
        case Crashed(cause, last_words):
            return f"its process died of {cause}" + (f" after: {last_words}" if last_words else "")
        case TimedOut(limit):
            return f"no result within {limit:g} s"
        case Returned():
            raise TypeError("a result is no failure")
