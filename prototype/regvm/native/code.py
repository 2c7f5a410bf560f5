"""Machine code wherever it came from: compiled in this process, or loaded from a shared object."""

from __future__ import annotations

from typing import Protocol


class Code(Protocol):
    """Functions and variables by name; they stay as long as this object does."""

    def address(self, name: str) -> int:
        """Where a function is."""

    def variable(self, name: str) -> int:
        """Where a global variable is."""

    def __hash__(self) -> int: ...
