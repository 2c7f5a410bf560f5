"""Make the native engine known to machines, without loading LLVM before one is wanted."""

from __future__ import annotations

import importlib.util
from typing import Any

from regvm.executable import Program
from regvm.runtime import engines

_MEND = "install llvmlite: pip install 'relay-regvm[native]'"


def register() -> None:
    """Register the engine ``native``."""
    engines.register("native", _make, _is_available, _MEND)


def _is_available() -> bool:
    return importlib.util.find_spec("llvmlite") is not None


def _make(program: Program, library: Any, stack_limit: int) -> engines.Engine:
    from regvm.native.engine import NativeEngine

    return NativeEngine(program, library, stack_limit)
