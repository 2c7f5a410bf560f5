"""A case: a Relay program that tests one rule, the arguments that it is run on, and what it must give."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from relay_conformance.program import Array
from relay_conformance.values import Outputs, outputs_from_value

_KIND = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Refused:
    """An error that the register VM's message must match; other executors word theirs as they like."""

    pattern: str


@dataclass(frozen=True)
class Run:
    """Arguments of ``main``, in order, and its outputs or the refusal."""

    arguments: tuple[Array, ...]
    expected: Outputs | Refused


@dataclass(frozen=True)
class RelayCase:
    """``text`` is Relay over the data types of ``prelude``; it defines ``main`` and what that calls.

    ``constants`` replace parameters of ``main`` by name. A program that may not compile has a ``refusal`` in place
    of runs. What would disturb other programs of its module runs ``alone``.
    """

    rule: str
    kind: str
    text: str
    runs: tuple[Run, ...]
    constants: Mapping[str, Array] = field(default_factory=dict)
    refusal: Refused | None = None
    alone: bool = False

    def __post_init__(self) -> None:
        if not _KIND.fullmatch(self.kind):
            raise ValueError(f"{self.rule}: the kind {self.kind!r} must be lower case with hyphens")

    @property
    def id(self) -> str:
        return f"{self.rule}-{self.kind}"

    @property
    def negative(self) -> bool:
        return self.refusal is not None or any(isinstance(run.expected, Refused) for run in self.runs)


# A program with pairs of arguments and result; the arguments are a tuple, and one alone needs none.
Row: TypeAlias = tuple[Any, ...]


def table(rule: str, rows: Mapping[str, Row], **common: Any) -> tuple[RelayCase, ...]:
    """Cases of one rule by kind; ``common`` goes to every case.

    Python's numbers are int32, float32 or bool scalars and lists are tensors of them; tuples are tuples.
    """
    return tuple(_case(rule, kind, text, pairs, common) for kind, (text, *pairs) in rows.items())


def refusals(rule: str, rows: Mapping[str, tuple[str, str]]) -> tuple[RelayCase, ...]:
    """Programs that may not compile, with the pattern of the register VM's message."""
    return tuple(RelayCase(rule, kind, text, (), refusal=Refused(p)) for kind, (text, p) in rows.items())


def _case(rule: str, kind: str, text: str, pairs: list[Any], common: Mapping[str, Any]) -> RelayCase:
    return RelayCase(rule, kind, text, tuple(_run(*pair) for pair in pairs), **common)


def _run(arguments: Any, expected: Any) -> Run:
    given = arguments if isinstance(arguments, tuple) else (arguments,)
    right = expected if isinstance(expected, Refused) else outputs_from_value(nested(expected))
    return Run(tuple(nested(argument) for argument in given), right)


def nested(value: Any) -> Any:
    """Arrays in nested tuples, of Python's numbers and lists."""
    if isinstance(value, tuple):
        return tuple(nested(item) for item in value)
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value)
    array = np.asarray(value)
    narrow = {"i": "int32", "f": "float32", "b": "bool"}
    return array.astype(narrow[array.dtype.kind])
