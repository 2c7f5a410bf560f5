"""Make the native engine known to machines, without loading LLVM before one is wanted."""

from __future__ import annotations

from importlib import metadata
from typing import Protocol, runtime_checkable

from regvm.errors import CompileError
from regvm.native.code import Code
from regvm.runtime import engines

_MEND = "install llvmlite 0.46 or later: pip install 'relay-regvm[native]'"
_OLDEST = (0, 46)


@runtime_checkable
class _Compiled(Protocol):
    """An executable that may have brought its machine code with it."""

    @property
    def code(self) -> Code | None: ...


def register() -> None:
    """Register the engine ``native``."""
    engines.register("native", _make, _is_available, _MEND)


def _is_available(exe: engines.Loadable) -> bool:
    return _code_of(exe) is not None or _has_llvmlite()


def _code_of(exe: engines.Loadable) -> Code | None:
    return exe.code if isinstance(exe, _Compiled) else None


def _has_llvmlite() -> bool:
    try:
        found = metadata.version("llvmlite")
    except metadata.PackageNotFoundError:
        return False
    return tuple(int(part) for part in found.split(".")[:2]) >= _OLDEST


def require_llvmlite() -> None:
    """Raises CompileError where machine code cannot be made."""
    if not _has_llvmlite():
        raise CompileError(f"machine code takes LLVM; {_MEND}")


def _make(exe: engines.Loadable, stack_limit: int) -> engines.Engine:
    from regvm.native.engine import NativeEngine

    return NativeEngine(exe.program, exe.lib, stack_limit, _code_of(exe))
