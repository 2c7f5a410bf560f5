"""The one way in which the suite reaches a machine.

``Executor.compile`` gives an ``Executable``; ``Executable.bind`` puts the inputs on the device and gives a
call that runs ``main``, so that what is timed is the machine and not the conversion of its inputs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from relay_conformance.program import Array, Program


@dataclass(frozen=True)
class Figures:
    """What a machine says about its own code; ``None`` or empty where it doesn't. Sizes in bytes."""

    registers: Mapping[str, int] = field(default_factory=dict)
    max_live: Mapping[str, int] = field(default_factory=dict)
    instructions: int | None = None
    peak_intermediate_bytes: int | None = None


class Executable(Protocol):
    def bind(self, inputs: Sequence[Array]) -> Callable[[], Any]:
        """A call without arguments that runs ``main`` and returns TVM's or Python's tensors and tuples."""
        ...

    def figures(self) -> Figures:
        """Asked for after compiling, and again after a run, when what only a run can tell is known too."""
        ...


class Executor(Protocol):
    """Must pickle, because it works in another process."""

    @property
    def name(self) -> str: ...

    def compile(self, program: Program, target: str) -> Executable:
        """Any error is reported as this executor's.

        Raises:
            UnavailableExecutorError: something that it needs is not installed.
        """
        ...
