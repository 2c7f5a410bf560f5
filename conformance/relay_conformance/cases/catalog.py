"""All cases of all families, checked once: every id stands for one case."""

from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib import import_module

from relay_conformance.cases.case import Case

FAMILIES = (
    "unary",
    "binary",
    "reduction",
)


@cache
def families() -> Mapping[str, tuple[Case, ...]]:
    """The cases by family.

    Raises:
        ValueError: two cases have the same id.
    """
    found = {name: _cases(name) for name in FAMILIES}
    counts = Counter(case.id for cases in found.values() for case in cases)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise ValueError(f"several cases are called {', '.join(twice)}")
    return found


@cache
def by_operator() -> Mapping[str, tuple[Case, ...]]:
    """The cases by operator, in the order of the families."""
    found: dict[str, list[Case]] = {}
    for cases in families().values():
        for case in cases:
            found.setdefault(case.operator, []).append(case)
    return {operator: tuple(cases) for operator, cases in found.items()}


def _cases(name: str) -> tuple[Case, ...]:
    cases: tuple[Case, ...] = import_module(f"relay_conformance.cases.families.{name}").CASES
    return cases
