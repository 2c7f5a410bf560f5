"""The engines that a machine may run on, by name.

The interpreter is here from the start. Engines of higher layers, which may need what is not installed everywhere,
are registered by whoever puts the package together, so that the runtime does not import them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from regvm.errors import ArgumentError
from regvm.executable import Program
from regvm.runtime.interpreter import Interpreter
from regvm.runtime.values import Value


class Engine(Protocol):
    """Runs one program. A machine calls it from one thread at a time."""

    @property
    def allocated_bytes(self) -> int:
        """Bytes of all arenas and, at their largest, of tensors that own their storage."""

    def perform(self, function: int, arguments: list[Value]) -> None:
        """Call a function by number. Raises ExecutionError; the engine stays usable."""

    def result(self) -> Value:
        """What the last call gave; only asked for after one that succeeded, so that it may be made late."""


@dataclass(frozen=True)
class _Kind:
    make: Callable[[Program, Any, int], Engine]
    available: Callable[[], bool]
    mend: str


_KINDS = {"interpreter": _Kind(Interpreter, lambda: True, "")}


def register(
    name: str, make: Callable[[Program, Any, int], Engine], available: Callable[[], bool], mend: str
) -> None:
    """Add an engine that ``auto`` prefers where it is ``available``; ``mend`` says how to make it so."""
    _KINDS[name] = _Kind(make, available, mend)


def names() -> tuple[str, ...]:
    """What ``engine=`` takes."""
    return ("auto", *_KINDS)


def create(name: str, program: Program, library: Any, stack_limit: int) -> Engine:
    """An engine by name. Raises ArgumentError for one that does not exist or is not installed."""
    if name == "auto":
        name = next(n for n, kind in reversed(_KINDS.items()) if kind.available())
    if name not in _KINDS:
        raise ArgumentError(f"engine {name!r} does not exist; choose one of {', '.join(names())}")
    kind = _KINDS[name]
    if not kind.available():
        raise ArgumentError(f"engine {name!r} is not installed here; {kind.mend}")
    return kind.make(program, library, stack_limit)
