"""Run programs on engines, in a worker process: a batch as one module, or each alone where a batch fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from relay_conformance.execution import EXECUTOR_ERRORS
from relay_conformance.fuzzing import engines
from relay_conformance.fuzzing.engines import Engine
from relay_conformance.isolation import Crashed, Raised, Returned, TimedOut, Worker
from relay_conformance.program import Array, one_line
from relay_conformance.strategies import FuzzProgram, arrays, entry, render, render_batch
from relay_conformance.tvm_api import relay
from relay_conformance.values import Outputs, outputs_from_value


class Stage(Enum):
    COMPILE = "compile"
    RUN = "run"
    CRASH = "crash"
    TIME_OUT = "time-out"


@dataclass(frozen=True)
class Failure:
    """An engine brought no result; ``reason`` is one line."""

    stage: Stage
    reason: str


Result = Outputs | Failure

Case = tuple[str, tuple[Array, ...]]


def run_module(engine: Engine, text: str, cases: Sequence[Case], alone: bool) -> list[Result]:
    """Compile a module and run its functions; a failed compilation is the failure of each."""
    try:
        module = relay.transform.InferType()(relay.fromtext(text))
        with engines.pass_context(alone):
            invoke = engine.compile(module)
    except EXECUTOR_ERRORS as error:
        return [Failure(Stage.COMPILE, one_line(error)) for _ in cases]
    return [_run(invoke, function, arguments) for function, arguments in cases]


def _run(invoke: engines.Invoke, function: str, arguments: Sequence[Array]) -> Result:
    before = [array.tobytes() for array in arguments]
    try:
        outputs = outputs_from_value(invoke(function, arguments))
    except EXECUTOR_ERRORS as error:
        return Failure(Stage.RUN, one_line(error))
    if [array.tobytes() for array in arguments] != before:
        return Failure(Stage.RUN, "it wrote to its inputs")
    return outputs


def run_alone(worker: Worker, engine: Engine, program: FuzzProgram) -> Result:
    """One program with all passes."""
    return run_text(worker, engine, render(program), [("main", arrays(program))], alone=True)[0]


def run_text(worker: Worker, engine: Engine, text: str, cases: list[Case], *, alone: bool) -> list[Result]:
    """As ``run_module``, but a crash or a hang is the failure of every case."""
    match worker.call(run_module, engine, text, cases, alone):
        case Returned(results):
            return list(results)
        case Crashed(cause, last_words):
            failure = Failure(Stage.CRASH, f"its process died of {cause} {last_words}".strip())
        case TimedOut(limit):
            failure = Failure(Stage.TIME_OUT, f"no result within {limit:g} s")
        case Raised(error):
            raise error
    return [failure for _ in cases]


def run_batch(worker: Worker, engine: Engine, programs: Sequence[FuzzProgram]) -> list[Result]:
    """Each program's result; those of a batch that doesn't compile or that crashes come from running it alone."""
    if engine.batches and len(programs) > 1:
        cases = [(entry(number), arrays(program)) for number, program in enumerate(programs)]
        results = run_text(worker, engine, render_batch(programs), cases, alone=False)
        if not any(isinstance(r, Failure) and r.stage is not Stage.RUN for r in results):
            return results
    return [run_alone(worker, engine, program) for program in programs]


def warm_up(worker: Worker) -> Any:
    """Load TVM in the worker."""
    return worker.call(engines.get, "regvm")
