"""Hold results to the ledger and to an implementation's own expectations.

What fails must be known, and what is known must fail.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from rich.table import Table

from relay_conformance.cases import ledger
from relay_conformance.cases.running import Machines, run_cases
from relay_conformance.cases.selection import Batch
from relay_conformance.expectations import NONE, CaseResult, Expectations
from relay_conformance.status import Status
from relay_conformance.versions import versions


class Verdict(Enum):
    HOLDS = "holds"
    KNOWN = "known defect"
    UNEXPLAINED = "unexplained"
    STALE = "stale entry"


@dataclass(frozen=True)
class Judged:
    """``defect`` is the ledger's entry that matches the case, ``expected`` the reason in the file of --xfails."""

    result: CaseResult
    verdict: Verdict
    defect: str | None = None
    expected: str | None = None

    def __str__(self) -> str:
        known = self.defect or self.expected
        entry = "" if known is None else f" ({known})"
        return f"{self.verdict.value}{entry}: {self.result}"


def judge(result: CaseResult, expectations: Expectations = NONE) -> Judged:
    """What the ledger and the expectations say of a result."""
    defect = ledger.defect_of(result.id)
    name = defect.id if defect is not None and defect.fails_on(result.executor) else None
    reason = expectations.reason(result.executor, result.id)
    known = name is not None or reason is not None
    if result.status is Status.AGREE:
        return Judged(result, Verdict.STALE if known else Verdict.HOLDS, name, reason)
    return Judged(result, Verdict.KNOWN if known else Verdict.UNEXPLAINED, name, reason)


def judge_batches(
    batches: Sequence[Batch],
    on: Machines,
    progress: Callable[[str], None] = lambda _: None,
    expectations: Expectations = NONE,
) -> Iterator[tuple[Judged, ...]]:
    """The results of each batch, judged, as they come; ``progress`` is told what starts."""
    for number, batch in enumerate(batches, 1):
        progress(f"graph {number} of {len(batches)}: {batch.id}")
        yield tuple(judge(result, expectations) for result in run_cases(batch.cases, batch.form, on))


def run_batches(
    batches: Sequence[Batch], on: Machines, progress: Callable[[str], None] = lambda _: None
) -> tuple[Judged, ...]:
    """What :func:`judge_batches` gives, all of it."""
    return tuple(one for batch in judge_batches(batches, on, progress) for one in batch)


def wrong(judged: Iterable[Judged]) -> tuple[Judged, ...]:
    """What must not be: a failure that nobody knows, an entry that no longer fails."""
    return tuple(one for one in judged if one.verdict in (Verdict.UNEXPLAINED, Verdict.STALE))


def as_json(judged: Sequence[Judged]) -> dict[str, Any]:
    """Totals by executor and status, statuses by operator, and every result that is not plain agreement."""
    totals = Counter((one.result.executor, one.result.status.value) for one in judged)
    executors = sorted({executor for executor, _ in totals})
    return {
        "cases": len({one.result.id for one in judged}),
        "holds": not wrong(judged),
        "totals": {
            executor: {status.value: totals[executor, status.value] for status in Status}
            for executor in executors
        },
        "operators": _by_operator(judged),
        "results": [as_entry(one) for one in judged if one.verdict is not Verdict.HOLDS],
        "versions": versions(),
    }


def as_entry(one: Judged) -> dict[str, Any]:
    """One result in JSON."""
    return {
        "case": one.result.id,
        "executor": one.result.executor,
        "status": one.result.status.value,
        "verdict": one.verdict.value,
        "defect": one.defect,
        "expected": one.expected,
        "detail": one.result.detail,
    }


def _by_operator(judged: Sequence[Judged]) -> dict[str, dict[str, dict[str, int]]]:
    """Of each operator, or rule, and each executor how many cases ended in each status."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for one in judged:
        for operator in one.result.covered:
            counts = found.setdefault(operator, {}).setdefault(one.result.executor, {})
            counts[one.result.status.value] = counts.get(one.result.status.value, 0) + 1
    return {operator: found[operator] for operator in sorted(found)}


def as_table(judged: Sequence[Judged]) -> Table:
    """Statuses against executors, with how many of them the ledger knows."""
    table = Table(title="cases")
    executors = list(dict.fromkeys(one.result.executor for one in judged))
    table.add_column("")
    for executor in executors:
        table.add_column(executor, justify="right")
    for status in Status:
        table.add_row(status.value, *(_count(judged, executor, status=status) for executor in executors))
    for verdict in (Verdict.KNOWN, Verdict.UNEXPLAINED, Verdict.STALE):
        table.add_row(verdict.value, *(_count(judged, executor, verdict=verdict) for executor in executors))
    return table


def _count(
    judged: Sequence[Judged], executor: str, *, status: Status | None = None, verdict: Verdict | None = None
) -> str:
    matching = [
        one
        for one in judged
        if one.result.executor == executor
        and status in (None, one.result.status)
        and verdict in (None, one.verdict)
    ]
    return str(len(matching))
