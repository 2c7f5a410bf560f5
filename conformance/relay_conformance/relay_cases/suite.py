"""A run of the Relay-level cases for the command line: chosen by pattern, on executors by name, judged."""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from relay_conformance import executors as registry
from relay_conformance.cases import ledger
from relay_conformance.cases.verdicts import Judged, judge
from relay_conformance.errors import BadInputError
from relay_conformance.expectations import NONE, Expectations
from relay_conformance.isolation import Worker
from relay_conformance.relay_cases import catalog
from relay_conformance.relay_cases.batches import batches
from relay_conformance.relay_cases.case import RelayCase
from relay_conformance.relay_cases.running import run_batch


def chosen(patterns: Sequence[str]) -> tuple[RelayCase, ...]:
    """The cases whose id, rule or family matches a pattern; all without patterns.

    Raises:
        BadInputError: no case matches.
    """
    found = tuple(
        case
        for family, cases in catalog.families().items()
        for case in cases
        if not patterns or any(fnmatchcase(n, p) for p in patterns for n in (family, case.rule, case.id))
    )
    if not found:
        raise BadInputError(
            f"no case matches {' '.join(patterns)}; give a rule such as lang-if, a family such as "
            f"{catalog.FAMILIES[0]}, or a pattern such as 'comp-tail-call-*'"
        )
    return found


def run(
    cases: Sequence[RelayCase],
    executors: Sequence[str],
    levels: Sequence[int] | None,
    time_limit: float,
    progress: Callable[[str], None] = lambda _: None,
    expectations: Expectations = NONE,
) -> tuple[Judged, ...]:
    """Every case on every executor, at all its opt levels or the given ones; ``time_limit`` in seconds a batch."""
    machines = {registry.get(name).name: name for name in executors}
    judged: list[Judged] = []
    with Worker(time_limit) as worker:
        for executor in machines:
            for batch in batches(cases, _alone(cases, executor, expectations)):
                progress(f"{executor}: {batch[0].id}")
                judged += [judge(r, expectations) for r in run_batch(worker, executor, batch, levels)]
    return tuple(judged)


def _alone(cases: Sequence[RelayCase], executor: str, expectations: Expectations) -> frozenset[str]:
    """What is known to fail would take its batch with it."""
    return frozenset(
        case.id
        for case in cases
        if expectations.reason(executor, case.id)
        or ((defect := ledger.defect_of(case.id)) is not None and defect.fails_on(executor))
    )
