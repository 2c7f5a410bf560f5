"""All cases of all families, checked once: every id stands for one case, and every rule is one of the RFC's."""

from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib import import_module

from relay_conformance.relay_cases import rules
from relay_conformance.relay_cases.case import RelayCase

FAMILIES = (
    "types",
    "values",
    "bindings",
    "branches",
    "matching",
    "tuples",
    "functions",
    "recursion",
    "references",
    "dynamic",
    "machine",
    "defects",
)


@cache
def families() -> Mapping[str, tuple[RelayCase, ...]]:
    """The cases by family.

    Raises:
        ValueError: two cases have the same id, or a case names a rule that does not exist.
    """
    found = {name: _cases(name) for name in FAMILIES}
    cases = [case for family in found.values() for case in family]
    twice = [name for name, count in Counter(case.id for case in cases).items() if count > 1]
    if twice:
        raise ValueError(f"several cases are called {', '.join(twice)}")
    unknown = sorted({case.rule for case in cases} - rules.known())
    if unknown:
        raise ValueError(f"the RFC has no rule {', '.join(unknown)}")
    return found


def all_cases() -> tuple[RelayCase, ...]:
    return tuple(case for cases in families().values() for case in cases)


def _cases(name: str) -> tuple[RelayCase, ...]:
    cases: tuple[RelayCase, ...] = import_module(f"relay_conformance.relay_cases.families.{name}").CASES
    return cases
