"""Each case on the reference and on both engines of the register VM, at every opt level and in every variation.

What fails must be in the ledger, and what the ledger names must fail.
"""

from collections.abc import Iterator
from functools import cache

import pytest

from relay_conformance.cases import ledger
from relay_conformance.isolation import Worker
from relay_conformance.relay_cases import catalog
from relay_conformance.relay_cases.batches import batches
from relay_conformance.relay_cases.case import RelayCase
from relay_conformance.relay_cases.running import Result, run_batch
from relay_conformance.status import Status

pytestmark = pytest.mark.thorough

EXECUTORS = ("regvm", "regvm-native", "tvm-vm")
Batch = tuple[RelayCase, ...]


def parameters() -> Iterator[object]:
    """A case on an executor with its batch; pytest-xdist keeps those of a batch in one process."""
    for executor in EXECUTORS:
        known = {
            case.id: defect.symptom
            for case in catalog.all_cases()
            if (defect := ledger.defect_of(case.id)) is not None and defect.fails_on(executor)
        }
        for batch in batches(catalog.all_cases(), frozenset(known)):
            # The interpreter and the native engine share what was lowered.
            group = pytest.mark.xdist_group(f"{'tvm' if executor == 'tvm-vm' else 'regvm'} {batch[0].id}")
            for case in batch:
                marks = [group]
                if case.id in known:
                    marks.append(pytest.mark.xfail(reason=known[case.id], strict=True))
                yield pytest.param(executor, batch, case, id=f"{executor}-{case.id}", marks=marks)


@cache
def results(worker: Worker, executor: str, first: str, levels: tuple[int, ...]) -> dict[str, Result]:
    return {result.id: result for result in run_batch(worker, executor, BATCHES[executor, first], levels)}


PARAMETERS = list(parameters())
BATCHES: dict[tuple[str, str], Batch] = {
    (executor, batch[0].id): batch
    for executor, batch, _ in (p.values for p in PARAMETERS)  # type: ignore[attr-defined]
}


def check(worker: Worker, executor: str, batch: Batch, case: RelayCase, levels: tuple[int, ...]) -> None:
    result = results(worker, executor, batch[0].id, levels)[case.id]
    again = f"again: relay-conformance relay run {case.id} --executors {executor}"
    assert result.status is Status.AGREE, f"{result}\n{again}"


@pytest.mark.parametrize(("executor", "batch", "case"), PARAMETERS)
def test_case(executor: str, batch: Batch, case: RelayCase, worker: Worker) -> None:
    check(worker, executor, batch, case, (3,) if executor == "tvm-vm" else (0, 3))


@pytest.mark.slow
@pytest.mark.parametrize(("executor", "batch", "case"), PARAMETERS)
def test_case_at_the_levels_between(executor: str, batch: Batch, case: RelayCase, worker: Worker) -> None:
    check(worker, executor, batch, case, (1, 2))
