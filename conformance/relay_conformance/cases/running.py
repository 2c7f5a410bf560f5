"""Run a graph of cases on every executor and class what comes of each case.

A graph that fails as a whole is run again one case at a time, so that the failure has a name; a process that
dies or hangs, TensorFlow's and the importer's among them, takes only its own case with it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from relay_conformance import executors as registry
from relay_conformance.cases.case import Case, FeedRefusal, Form, ImportRefusal
from relay_conformance.cases.graphs import CaseParts, wrong_feed
from relay_conformance.cases.preparing import Prepared, Refused, prepare, refusal
from relay_conformance.comparison import Difference, bit_differences, tolerance_differences
from relay_conformance.execution import Failure, Measurement, execute, run_again
from relay_conformance.isolation import Crashed, Outcome, Raised, Returned, TimedOut, Worker
from relay_conformance.program import Array, Program
from relay_conformance.status import Status, difference_status, failure_status
from relay_conformance.values import Outputs, outputs_from_arrays

T = TypeVar("T")


@dataclass(frozen=True)
class Result:
    """``detail`` is one line, empty where the executor agrees."""

    case: Case
    form: Form
    executor: str
    status: Status
    detail: str = ""

    @property
    def id(self) -> str:
        return f"{self.case.id}-{self.form.value}"

    @property
    def covered(self) -> tuple[str, ...]:
        return self.case.covered

    def __str__(self) -> str:
        return f"{self.id} on {self.executor}: {self.status.value}: {self.detail}"


@dataclass(frozen=True)
class Machines:
    """Executors by name, each with a worker of its own, so that they compile at the same time.

    The first one is what the others are compared with bit for bit. ``importing`` runs TensorFlow and the importer.
    """

    workers: Mapping[str, Worker]
    importing: Worker

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.workers)

    def stop(self) -> None:
        for worker in (self.importing, *self.workers.values()):
            worker.stop()


def machines(names: Sequence[str], time_limit: float) -> Machines:
    """``time_limit`` in seconds for importing, for compiling and for running a graph, each."""
    workers = {registry.get(name).name: Worker(time_limit) for name in names}
    return Machines(workers, Worker(time_limit))


def run_cases(cases: Sequence[Case], form: Form, on: Machines) -> tuple[Result, ...]:
    """A result for each case and executor.

    Raises:
        BadInputError: TensorFlow refuses a case, which is the declaration's fault.
    """
    refused = [case for case in cases if isinstance(case.refusal, ImportRefusal)]
    others = [case for case in cases if not isinstance(case.refusal, ImportRefusal)]
    results = [result for case in refused for result in _run_refused(case, form, on)]
    return (*results, *_run_together(others, form, on))


def _run_refused(case: Case, form: Form, on: Machines) -> Iterator[Result]:
    assert isinstance(case.refusal, ImportRefusal)
    answer = _answer(on.importing.call(refusal, case, form))
    match answer:
        case Crashed() | TimedOut():
            status, detail = _broken(answer)
        case Refused(reason) if re.search(case.refusal.pattern, reason):
            status, detail = Status.AGREE, ""
        case Refused(reason):
            status, detail = Status.IMPORT, f"refused with: {reason}"
        case None:
            status, detail = Status.ACCEPTED, "the importer must refuse it"
    for name in on.names:
        yield Result(case, form, name, status, detail)


def _run_together(cases: Sequence[Case], form: Form, on: Machines) -> tuple[Result, ...]:
    if not cases:
        return ()
    prepared = _answer(on.importing.call(prepare, cases, form))
    if not isinstance(prepared, Prepared):
        if len(cases) > 1:
            return _one_by_one(cases, form, on)
        failed = (Status.IMPORT, prepared.reason) if isinstance(prepared, Refused) else _broken(prepared)
        return tuple(Result(cases[0], form, name, *failed) for name in on.names)
    graph = prepared.parts(cases, form)
    replies = _on_all(on, lambda name: _Reply.of(name, on.workers[name], graph, prepared.program))
    if len(cases) > 1 and not all(_has_parts(reply.outcome, graph) for reply in replies.values()):
        return _one_by_one(cases, form, on)
    reference = replies[on.names[0]].outcome
    return tuple(
        _classed(graph, case, part, name, reply, prepared.expected, reference)
        for case, part in graph.slices()
        for name, reply in replies.items()
    )


def _has_parts(outcome: Measurement | Failure, graph: CaseParts) -> bool:
    """With an output too many or too few nobody knows which are whose."""
    return isinstance(outcome, Measurement) and len(outcome.outputs.arrays) == sum(graph.outputs)


def _answer(outcome: Outcome[T]) -> T | Crashed | TimedOut:
    match outcome:
        case Returned(value):
            return value
        case Raised(error):
            raise error
        case Crashed() | TimedOut():
            return outcome


def _broken(outcome: Crashed | TimedOut) -> tuple[Status, str]:
    match outcome:
        case Crashed(cause, last_words):
            return Status.CRASH, f"importing it died of {cause}" + (
                f" after: {last_words}" if last_words else ""
            )
        case TimedOut(limit):
            return Status.TIME_OUT, f"it was not imported within {limit:g} s"


def _one_by_one(cases: Sequence[Case], form: Form, on: Machines) -> tuple[Result, ...]:
    return tuple(result for case in cases for result in _run_together([case], form, on))


@dataclass(frozen=True)
class _Reply:
    """What an executor gave on the right feed, and on the wrong ones by the case that must refuse it."""

    outcome: Measurement | Failure
    wrong: Mapping[str, Outputs | Failure]

    @staticmethod
    def of(name: str, worker: Worker, graph: CaseParts, program: Program) -> "_Reply":
        executor = registry.get(name)
        with worker.lock:
            outcome = execute(worker, executor, program, _ordered(program, graph.feed))
            if isinstance(outcome, Failure):
                return _Reply(outcome, {})
            wrong: dict[str, Outputs | Failure] = {}
            for case in graph.cases:
                if isinstance(case.refusal, FeedRefusal):
                    inputs = _ordered(program, wrong_feed(graph, case))
                    wrong[case.id] = run_again(worker, executor, program, inputs)
            return _Reply(outcome, wrong)


def _ordered(program: Program, feed: Mapping[str, Array]) -> list[Array]:
    return [feed[spec.name] for spec in program.inputs]


def _on_all(on: Machines, call: Callable[[str], _Reply]) -> dict[str, _Reply]:
    with ThreadPoolExecutor(len(on.names)) as pool:
        return dict(zip(on.names, pool.map(call, on.names), strict=True))


def _classed(
    graph: CaseParts,
    case: Case,
    part: slice,
    name: str,
    reply: _Reply,
    expected: Outputs,
    reference: Measurement | Failure,
) -> Result:
    if isinstance(reply.outcome, Failure):
        return Result(case, graph.form, name, failure_status(reply.outcome), str(reply.outcome))
    if case.id in reply.wrong:
        return _refused(graph, case, name, reply.wrong[case.id])
    got = reply.outcome.outputs
    if not _has_parts(reply.outcome, graph):
        detail = f"{len(got.arrays)} outputs, expected {sum(graph.outputs)}"
        return Result(case, graph.form, name, Status.SHAPE, detail)
    difference = _first(tolerance_differences(_part(expected, part), _part(got, part)))
    against = "TensorFlow"
    if difference is None and isinstance(reference, Measurement):
        difference = _first(bit_differences(_part(reference.outputs, part), _part(got, part)))
        against = reference.executor
    if difference is None:
        return Result(case, graph.form, name, Status.AGREE)
    return Result(
        case, graph.form, name, difference_status(difference), f"differs from {against}: {difference}"
    )


def _refused(graph: CaseParts, case: Case, name: str, answer: Outputs | Failure) -> Result:
    """A wrong feed must raise; whether the right one gives the right values is another case's question."""
    if not isinstance(answer, Failure):
        assert isinstance(case.refusal, FeedRefusal)
        detail = f"an input of another {case.refusal.value} than it was compiled for"
        return Result(case, graph.form, name, Status.ACCEPTED, detail)
    status = failure_status(answer)
    agrees = status is Status.RUN
    return Result(case, graph.form, name, Status.AGREE if agrees else status, "" if agrees else str(answer))


def _part(outputs: Outputs, part: slice) -> Outputs:
    return outputs_from_arrays([array for array in outputs.arrays[part] if array is not None])


def _first(differences: tuple[Difference, ...]) -> Difference | None:
    return differences[0] if differences else None
