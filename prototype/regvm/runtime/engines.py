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


class Loadable(Protocol):
    """What a machine needs of an executable."""

    @property
    def program(self) -> Program: ...

    @property
    def lib(self) -> Any: ...


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
    make: Callable[[Loadable, int], Engine]
    available: Callable[[Loadable], bool]
    mend: str


def _interpreter(exe: Loadable, stack_limit: int) -> Engine:
    return Interpreter(exe.program, exe.lib, stack_limit)


_KINDS = {"interpreter": _Kind(_interpreter, lambda _: True, "")}


def register(
    name: str,
    make: Callable[[Loadable, int], Engine],
    available: Callable[[Loadable], bool],
    mend: str,
) -> None:
    """Add an engine that ``auto`` prefers where it is ``available`` for an executable; ``mend`` makes it so."""
    _KINDS[name] = _Kind(make, available, mend)


def names() -> tuple[str, ...]:
    """What ``engine=`` takes."""
    return ("auto", *_KINDS)


def create(name: str, exe: Loadable, stack_limit: int) -> Engine:
    """An engine by name. Raises ArgumentError for one that does not exist or is not installed."""
    if name == "auto":
        name = next(n for n, kind in reversed(_KINDS.items()) if kind.available(exe))
    if name not in _KINDS:
        raise ArgumentError(f"engine {name!r} does not exist; choose one of {', '.join(names())}")
    kind = _KINDS[name]
    if not kind.available(exe):
        raise ArgumentError(f"engine {name!r} is not installed here; {kind.mend}")
    return kind.make(exe, stack_limit)
