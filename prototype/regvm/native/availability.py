"""Make the native engine known to machines, without loading LLVM before one is wanted."""

from __future__ import annotations

from importlib import metadata
from typing import Any

from regvm.executable import Program
from regvm.runtime import engines

_MEND = "install llvmlite 0.46 or later: pip install 'relay-regvm[native]'"
_OLDEST = (0, 46)


def register() -> None:
    """Register the engine ``native``."""
    engines.register("native", _make, _is_available, _MEND)


def _is_available() -> bool:
    try:
        found = metadata.version("llvmlite")
    except metadata.PackageNotFoundError:
        return False
    return tuple(int(part) for part in found.split(".")[:2]) >= _OLDEST


def _make(program: Program, library: Any, stack_limit: int) -> engines.Engine:
    from regvm.native.engine import NativeEngine

    return NativeEngine(program, library, stack_limit)
