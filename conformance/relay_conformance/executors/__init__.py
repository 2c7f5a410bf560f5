"""The machines under test, each behind the same small protocol."""

from relay_conformance.executors.protocol import Executable, Executor, Figures
from relay_conformance.executors.registry import ENTRY_POINT_GROUP, get, names

__all__ = ["ENTRY_POINT_GROUP", "Executable", "Executor", "Figures", "get", "names"]
