"""Put the register VM in the reference's place, for programs that call ``tvm.relay.vm`` and ``tvm.runtime.vm``.

Every name that a loaded module holds for a replaced function or class is changed, so that a module that took it
with ``from … import`` is served too; ``uninstall`` changes exactly these back.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tvm import relay
from tvm.relay.backend import vm as compiler_module
from tvm.runtime import vm as runtime_module

from regvm.compat import reference

_REPLACEMENTS = (
    (compiler_module.compile, reference.compile),
    (compiler_module.VMCompiler, reference.VMCompiler),
    (compiler_module.VMExecutor, reference.VMExecutor),
    (runtime_module.Executable, reference.Executable),
    (runtime_module.VirtualMachine, reference.VirtualMachine),
    (relay.create_executor, reference.create_executor),
)

_changed: list[tuple[Any, str, Any]] = []


def install() -> None:
    """Replace the reference; a second call does nothing."""
    if _changed:
        return
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("regvm"):
            continue
        for name, value in list(vars(module).items()) if hasattr(module, "__dict__") else []:
            for original, replacement in _REPLACEMENTS:
                if value is original:
                    setattr(module, name, replacement)
                    _changed.append((module, name, original))


def uninstall() -> None:
    """Give the reference its place back; without ``install`` it does nothing."""
    while _changed:
        module, name, original = _changed.pop()
        setattr(module, name, original)


@contextmanager
def installed() -> Iterator[None]:
    """The register VM in the reference's place inside a ``with`` block."""
    install()
    try:
        yield
    finally:
        uninstall()
