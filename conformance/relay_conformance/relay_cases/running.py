"""Run cases on executors in workers, and class what comes of each.

A batch that fails as a whole, or takes its process with it, is run again one case at a time, so that the failure
has a name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from relay_conformance.comparison import bit_differences
from relay_conformance.execution import Cause, Failure, Stage, failure_of
from relay_conformance.executors import registry
from relay_conformance.isolation import Raised, Returned, Worker
from relay_conformance.relay_cases import attempts
from relay_conformance.relay_cases.attempts import Attempt
from relay_conformance.relay_cases.case import Refused, RelayCase, Run
from relay_conformance.status import Status, difference_status, failure_status
from relay_conformance.values import Outputs


@dataclass(frozen=True)
class Result:
    """``detail`` is one line that names the variation, empty where the executor agrees in all of them."""

    case: RelayCase
    executor: str
    status: Status
    detail: str = ""

    @property
    def id(self) -> str:
        return self.case.id

    @property
    def covered(self) -> tuple[str, ...]:
        return (self.case.rule,)

    def __str__(self) -> str:
        return f"{self.id} on {self.executor}: {self.status.value}: {self.detail}"


def run_batch(
    worker: Worker, executor: str, cases: tuple[RelayCase, ...], only: Sequence[int] | None = None
) -> tuple[Result, ...]:
    """A result for each case, over all of the executor's opt levels or the ``only`` ones."""
    levels = [level for level in attempts.levels(executor) if only is None or level in only]
    if cases[0].refusal is not None:
        return (_refused(worker, executor, cases[0], levels),)
    tried: list[list[Attempt]] = [[] for _ in cases]
    for level in levels:
        for place, found in enumerate(_attempt(worker, executor, cases, level)):
            tried[place] += found
    return tuple(classed(case, executor, found) for case, found in zip(cases, tried, strict=True))


def _attempt(worker: Worker, executor: str, cases: tuple[RelayCase, ...], level: int) -> list[list[Attempt]]:
    outcome = worker.call(attempts.attempt, registry.get(executor), cases, level)
    if isinstance(outcome, Returned):
        return list(outcome.value)
    if len(cases) > 1:
        return [found for case in cases for found in _attempt(worker, executor, (case,), level)]
    failure = failure_of(executor, Stage.COMPILE, outcome)
    return [[Attempt(f"level {level}", (failure,))]]


def _refused(worker: Worker, executor: str, case: RelayCase, levels: Sequence[int]) -> Result:
    """Its own error is what an executor must give; the register VM's must also be in the right words."""
    assert case.refusal is not None
    for level in levels:
        outcome = worker.call(attempts.attempt, registry.get(executor), (case,), level)
        if not isinstance(outcome, Raised):
            status = Status.ACCEPTED if isinstance(outcome, Returned) else Status.CRASH
            return Result(case, executor, status, f"level {level}: it must be refused, but {_short(outcome)}")
        failure = failure_of(executor, Stage.COMPILE, outcome)
        if isinstance(outcome.error, AssertionError) or not _in_words(executor, case.refusal, failure):
            return Result(case, executor, Status.COMPILE, f"level {level}: refused with {failure.reason}")
    return Result(case, executor, Status.AGREE)


def _in_words(executor: str, refusal: Refused, failure: Failure) -> bool:
    return not executor.startswith("regvm") or re.search(refusal.pattern, failure.reason) is not None


def _short(outcome: object) -> str:
    return "it compiled" if isinstance(outcome, Returned) else str(outcome)


def classed(case: RelayCase, executor: str, found: Sequence[Attempt]) -> Result:
    """The first attempt that went wrong decides."""
    for attempt in found:
        for number, result in enumerate(attempt.results):
            run = f"run {number}" if len(case.runs) > 1 else ""
            where = ", ".join(filter(None, (attempt.variation, run)))
            status, detail = _compared(executor, case.runs[number], result)
            if status is not Status.AGREE:
                return Result(case, executor, status, ": ".join(filter(None, (where, detail))))
    return Result(case, executor, Status.AGREE)


def _compared(executor: str, run: Run, result: Outputs | Failure) -> tuple[Status, str]:
    if isinstance(result, Failure):
        by_itself = result.cause is Cause.ERROR and result.stage is Stage.RUN
        if isinstance(run.expected, Refused) and by_itself and _in_words(executor, run.expected, result):
            return Status.AGREE, ""
        return failure_status(result), result.reason
    if isinstance(run.expected, Refused):
        return Status.ACCEPTED, f"it must be refused, but gave {result.structure}"
    differences = bit_differences(run.expected, result)
    return (difference_status(differences[0]), str(differences[0])) if differences else (Status.AGREE, "")
