"""Expected failures of an implementation, as a file beside it: which case fails on which executor, and why.

The ledger is about TVM; this is for a fork of it, or for another machine, that runs the suite against itself. An
entry is strict: a case that no longer fails makes the run fail until its entry is gone.
"""

import json
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from relay_conformance.errors import BadInputError
from relay_conformance.status import Status

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_HEADING = """\
# Expected failures, by executor and case; `relay-conformance … --xfails FILE --update-expectations` rewrites this
# file from a run, and keeps the reasons.
"""


class CaseResult(Protocol):
    """What came of a case on an executor; ``covered`` are the operators or the rule that it is about."""

    @property
    def id(self) -> str: ...

    @property
    def executor(self) -> str: ...

    @property
    def status(self) -> Status: ...

    @property
    def detail(self) -> str: ...

    @property
    def covered(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class Expectations:
    """Reasons by executor and case."""

    reasons: Mapping[tuple[str, str], str]

    def reason(self, executor: str, case: str) -> str | None:
        return self.reasons.get((executor, case))


NONE = Expectations({})


def read(path: Path, known: Collection[str]) -> Expectations:
    """The expected failures in a file; ``known`` are the ids of all cases.

    Raises:
        BadInputError: it can't be read, or an entry lacks a key, has no reason, names an unknown case, or stands
            twice; the entry is named.
    """
    try:
        entries = tomllib.loads(path.read_text()).get("xfail", [])
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise BadInputError(f"{path} can't be read: {error}") from error
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BadInputError(f"{path}: expected tables [[xfail]] with executor, case and reason")
    reasons: dict[tuple[str, str], str] = {}
    for number, entry in enumerate(entries, 1):
        key, reason = _entry(path, number, entry, known)
        if key in reasons:
            raise BadInputError(f"{path}: {key[1]} on {key[0]} stands twice; keep one entry")
        reasons[key] = reason
    return Expectations(reasons)


def _entry(
    path: Path, number: int, entry: Mapping[str, Any], known: Collection[str]
) -> tuple[tuple[str, str], str]:
    case = entry.get("case") or f"entry {number}"
    for name in ("executor", "case", "reason"):
        value = entry.get(name)
        if not isinstance(value, str) or not value.strip():
            raise BadInputError(f"{path}: {case} has no {name}; give executor, case and reason, each a text")
    if case not in known:
        raise BadInputError(f"{path}: no case is called {case}; `relay-conformance cases list` names all")
    return (entry["executor"], case), entry["reason"]


def updated(before: Expectations, results: Iterable[tuple[CaseResult, bool]]) -> Expectations:
    """The expectations after a run; with each result whether the ledger explains it.

    Entries of cases that did not run stay; those that agree go; new ones get what was seen as their reason.
    """
    reasons = dict(before.reasons)
    for result, explained in results:
        key = (result.executor, result.id)
        if result.status is Status.AGREE or explained:
            reasons.pop(key, None)
        else:
            reasons.setdefault(key, f"{result.status.value}: {result.detail}".strip(": "))
    return Expectations(reasons)


def write(path: Path, expectations: Expectations) -> None:
    """Sorted by executor and case, so that a rewritten file differs where results do."""
    entries = [
        f"\n[[xfail]]\nexecutor = {_text(executor)}\ncase = {_text(case)}\nreason = {_text(reason)}\n"
        for (executor, case), reason in sorted(expectations.reasons.items())
    ]
    path.write_text(_HEADING + "".join(entries))


def _text(value: str) -> str:
    # A JSON text is a TOML text, but for what JSON leaves unescaped.
    return json.dumps(value).replace("\x7f", "\\u007f")
