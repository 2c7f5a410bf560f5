"""A graph of cases gives each its own result; what fails is named, and a wrong feed must be refused."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pytest

from relay_conformance.cases import catalog, running
from relay_conformance.cases.case import Case, FeedRefusal, Form, ImportRefusal
from relay_conformance.cases.graphs import CaseParts, wrong_feed
from relay_conformance.cases.operands import tensor
from relay_conformance.cases.running import Result
from relay_conformance.cases.verdicts import Judged, Verdict, as_json, judge, wrong
from relay_conformance.execution import Cause, Failure, Measurement, Stage
from relay_conformance.executors import Figures
from relay_conformance.isolation import Outcome, TimedOut, Worker
from relay_conformance.program import Array
from relay_conformance.status import Status
from relay_conformance.values import outputs_from_arrays

P = ParamSpec("P")
T = TypeVar("T")

NEG = Case("Neg", "plain", {"x": tensor(2, 3)})
ADD = Case("AddV2", "plain", {"x": tensor(2, 3), "y": tensor(2, 3)})
REFUSING = Case("Neg", "refuses-shape", {"x": tensor(2, 3)}, refusal=FeedRefusal.SHAPE)
FIRST, SECOND = np.array([[1, 2], [3, 4]], np.float32), np.array([5, 6], np.float32)


def measured(*arrays: Array) -> Measurement:
    return Measurement("some-vm", outputs_from_arrays(arrays), Figures(), 0.0, 0.0)


def classed(
    got: Measurement | Failure, reference: Measurement | None = None, **wrong_feeds: Any
) -> list[Status]:
    """The statuses of two cases, one output each, whose right values are FIRST and SECOND."""
    graph = CaseParts((NEG, REFUSING), Form.PLACEHOLDERS, {}, (1, 1))
    reply = running._Reply(got, {REFUSING.id: wrong_feeds["refusal"]} if wrong_feeds else {})
    expected = outputs_from_arrays([FIRST, SECOND])
    against = reference or measured(FIRST, SECOND)
    return [
        running._classed(graph, case, part, "some-vm", reply, expected, against).status
        for case, part in graph.slices()
    ]


def test_right_outputs_agree() -> None:
    assert classed(measured(FIRST, SECOND)) == [Status.AGREE, Status.AGREE]


@pytest.mark.parametrize(
    ("damaged", "status"),
    [
        (FIRST + np.float32(1), Status.VALUE),
        (FIRST.astype(np.float64), Status.DTYPE),
        (FIRST[None], Status.SHAPE),
        (FIRST.ravel(), Status.SHAPE),
        (np.where(FIRST == 2, np.nan, FIRST).astype(np.float32), Status.VALUE),
    ],
)
def test_a_damaged_output_is_noticed_in_its_case_alone(damaged: Array, status: Status) -> None:
    assert classed(measured(damaged, SECOND)) == [status, Status.AGREE]


def test_one_bit_away_from_the_reference_is_noticed() -> None:
    near = np.nextafter(FIRST, np.float32(9))
    assert classed(measured(near, SECOND)) == [Status.VALUE, Status.AGREE]


@pytest.mark.parametrize("count", [1, 3])
def test_a_graph_with_another_number_of_outputs_has_no_parts(count: int) -> None:
    graph = CaseParts((NEG, REFUSING), Form.PLACEHOLDERS, {}, (1, 1))
    assert running._has_parts(measured(FIRST, SECOND), graph)
    assert not running._has_parts(measured(*[FIRST] * count), graph)


def test_an_output_too_many_is_no_agreement() -> None:
    assert classed(measured(FIRST, SECOND, FIRST)) == [Status.SHAPE, Status.SHAPE]


@pytest.mark.parametrize(
    ("stage", "cause", "status"),
    [
        (Stage.COMPILE, Cause.ERROR, Status.COMPILE),
        (Stage.RUN, Cause.ERROR, Status.RUN),
        (Stage.RUN, Cause.CRASH, Status.CRASH),
        (Stage.COMPILE, Cause.TIME_OUT, Status.TIME_OUT),
    ],
)
def test_a_failure_has_the_class_of_its_stage_and_cause(stage: Stage, cause: Cause, status: Status) -> None:
    failure = Failure("some-vm", stage, "it broke", cause=cause)
    assert classed(failure) == [status, status]


def test_a_wrong_feed_that_is_taken_is_no_agreement() -> None:
    assert classed(measured(FIRST, SECOND), refusal=outputs_from_arrays([SECOND])) == [
        Status.AGREE,
        Status.ACCEPTED,
    ]


def test_a_wrong_feed_must_be_refused_by_an_error_and_not_by_dying() -> None:
    refused = Failure("some-vm", Stage.RUN, "input x")
    died = Failure("some-vm", Stage.RUN, "died", cause=Cause.CRASH)
    assert classed(measured(FIRST, SECOND), refusal=refused)[1] is Status.AGREE
    assert classed(measured(FIRST, SECOND), refusal=died)[1] is Status.CRASH


@pytest.mark.parametrize(
    ("refusal", "shape", "dtype"), [("dtype", (2, 3), "float64"), ("shape", (1, 2, 3), "float32")]
)
def test_a_wrong_feed_differs_in_one_thing(refusal: str, shape: tuple[int, ...], dtype: str) -> None:
    case = Case("Neg", "plain", {"x": tensor(2, 3)}, refusal=FeedRefusal(refusal))
    graph = CaseParts((case,), Form.PLACEHOLDERS, {"Neg_plain/x": np.ones((2, 3), np.float32)}, (1,))
    wrong_array = wrong_feed(graph, case)["Neg_plain/x"]
    assert (wrong_array.shape, str(wrong_array.dtype)) == (shape, dtype)


def test_a_failure_that_nobody_knows_is_wrong_and_so_is_a_stale_entry() -> None:
    unknown = judge(Result(NEG, Form.CONSTANTS, "regvm", Status.VALUE, "differs"))
    rank = Case("Rank", "matrix", {"input": tensor(3, 4)})
    stale = judge(Result(rank, Form.CONSTANTS, "regvm", Status.AGREE))
    known = judge(Result(rank, Form.CONSTANTS, "regvm", Status.SHAPE, "differs"))
    holds = judge(Result(NEG, Form.CONSTANTS, "regvm", Status.AGREE))
    assert [one.verdict for one in (unknown, stale, known, holds)] == [
        Verdict.UNEXPLAINED,
        Verdict.STALE,
        Verdict.KNOWN,
        Verdict.HOLDS,
    ]
    assert wrong((unknown, stale, known, holds)) == (unknown, stale)
    assert known.defect == "rank-is-vector"


def test_the_report_counts_every_status_and_lists_what_fails() -> None:
    judged = (
        Judged(Result(NEG, Form.CONSTANTS, "regvm", Status.AGREE), Verdict.HOLDS),
        Judged(Result(ADD, Form.CONSTANTS, "regvm", Status.CRASH, "died"), Verdict.UNEXPLAINED),
    )
    report = as_json(judged)
    assert (report["cases"], report["holds"]) == (2, False)
    assert report["totals"]["regvm"]["agree"] == report["totals"]["regvm"]["crash"] == 1
    assert report["totals"]["regvm"].keys() == {status.value for status in Status}
    assert [one["case"] for one in report["results"]] == ["AddV2-plain-constants"]


@pytest.fixture(scope="module")
def machines() -> Any:
    on = running.machines(("tvm-vm", "regvm"), 120.0)
    yield on
    on.stop()


@pytest.mark.tensorflow
@pytest.mark.parametrize("form", Form)
def test_several_cases_share_a_graph(form: Form, machines: running.Machines) -> None:
    results = running.run_cases([NEG, ADD], form, machines)
    assert [(result.case.id, result.executor, result.status) for result in results] == [
        (case, executor, Status.AGREE)
        for case in ("Neg-plain", "AddV2-plain")
        for executor in ("tvm-vm", "regvm")
    ]


@pytest.mark.tensorflow
def test_a_case_that_kills_its_process_takes_no_other_with_it(machines: running.Machines) -> None:
    (fatal,) = (case for case in catalog.by_operator()["Range"] if case.kind == "fed-float32")
    results = running.run_cases([NEG, fatal], Form.PLACEHOLDERS, machines)
    statuses = {(result.case.kind, result.executor): result.status for result in results}
    assert statuses["plain", "tvm-vm"] is statuses["plain", "regvm"] is Status.AGREE
    assert statuses["fed-float32", "tvm-vm"] is Status.CRASH


STUCK = replace(NEG, kind="stuck")


class _Slow(Worker):
    """A worker for which every graph with STUCK takes too long."""

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Outcome[T]:
        cases = args[0]
        assert isinstance(cases, Sequence)
        return TimedOut(7.0) if STUCK in cases else super().call(function, *args, **kwargs)


@pytest.mark.tensorflow
def test_a_case_that_hangs_before_the_machines_takes_no_other_with_it(machines: running.Machines) -> None:
    with _Slow(120.0) as slow:
        results = running.run_cases([STUCK, NEG], Form.PLACEHOLDERS, replace(machines, importing=slow))
    assert [(r.case.kind, r.executor, r.status) for r in results] == [
        ("stuck", "tvm-vm", Status.TIME_OUT),
        ("stuck", "regvm", Status.TIME_OUT),
        ("plain", "tvm-vm", Status.AGREE),
        ("plain", "regvm", Status.AGREE),
    ]
    assert results[0].detail == "it was not imported within 7 s"


@pytest.mark.tensorflow
def test_a_case_that_ends_tensorflow_takes_no_other_with_it(machines: running.Machines) -> None:
    def die(tf: Any, tensors: Any) -> Any:
        """Of this scope, so that it travels by value: other processes can't import a test."""
        del tf, tensors
        os.abort()

    fatal = replace(NEG, kind="fatal", build=die)
    results = running.run_cases([fatal, NEG], Form.PLACEHOLDERS, machines)
    statuses = {(result.case.kind, result.executor): result.status for result in results}
    assert statuses["fatal", "tvm-vm"] is statuses["fatal", "regvm"] is Status.CRASH
    assert statuses["plain", "tvm-vm"] is statuses["plain", "regvm"] is Status.AGREE


@pytest.mark.tensorflow
def test_an_operator_that_is_not_refused_is_accepted(machines: running.Machines) -> None:
    case = Case("Neg", "refused", {"x": tensor(2)}, refusal=ImportRefusal("never"))
    assert {r.status for r in running.run_cases([case], Form.PLACEHOLDERS, machines)} == {Status.ACCEPTED}
