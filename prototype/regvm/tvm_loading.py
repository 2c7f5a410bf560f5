"""Load TVM so that it can share a process with TensorFlow; every other module imports TVM after this one.

``libtvm.so`` and TensorFlow each bring an LLVM. Loaded the ordinary way, the symbols of the first one
answer the calls of the second, and the process dies in ``Session.run``. ``RTLD_DEEPBIND`` makes ``libtvm.so``
prefer its own symbols, and ``RTLD_LOCAL`` keeps them out of TensorFlow's sight. TVM asks ctypes for
``RTLD_GLOBAL``, so that constant is replaced while ``import tvm`` runs.

What a process has loaded cannot be loaded again in another way. Where somebody else imported TVM first,
this module raises :class:`UnsafeTVMLoadError` if TensorFlow is there too, and otherwise makes a later
``import tensorflow`` raise it, in place of the crash.
"""

import ctypes
import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

_MEND = (
    "tvm was imported before regvm, so its LLVM and TensorFlow's answer each other's calls until one of them "
    "crashes; start the process again with `import regvm` before `import tvm`"
)


class UnsafeTVMLoadError(ImportError):
    """TVM and TensorFlow can't share this process, because TVM was loaded with its symbols visible to all."""


class _RefusingLoader(Loader):
    """Fails when the module is really imported, so that looking for its spec still works."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        raise UnsafeTVMLoadError(f"cannot import {spec.name}: {_MEND}", name=spec.name)

    def exec_module(self, module: ModuleType) -> None:
        raise UnsafeTVMLoadError(f"cannot import {module.__name__}: {_MEND}", name=module.__name__)


class _TensorFlowGuard(MetaPathFinder):
    """Answers for TensorFlow ahead of the finder that would load it."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        del path, target
        return ModuleSpec(fullname, _RefusingLoader()) if fullname == "tensorflow" else None


def tvm_symbols_are_global() -> bool:
    """Whether every library of this process can see TVM's symbols, which is what makes TensorFlow crash."""
    return hasattr(ctypes.CDLL(None), "TVMGetLastError")


def _import_tvm() -> None:
    constants = vars(ctypes)
    flags = constants["RTLD_GLOBAL"]
    constants["RTLD_GLOBAL"] = ctypes.RTLD_LOCAL | os.RTLD_DEEPBIND
    try:
        import tvm  # noqa: F401
    finally:
        constants["RTLD_GLOBAL"] = flags


def load() -> None:
    """Import TVM beside TensorFlow's reach, or say why that is too late.

    Raises:
        UnsafeTVMLoadError: TVM was loaded the ordinary way and TensorFlow is in this process too.
        ImportError: TVM is not installed, or a library that it needs is not.
    """
    # TVM would otherwise try to download schedules at each compile.
    os.environ.setdefault("TOPHUB_LOCATION", "NONE")
    if "tvm" not in sys.modules:
        _import_tvm()
    elif tvm_symbols_are_global():
        if "tensorflow" in sys.modules:
            raise UnsafeTVMLoadError(f"cannot use tvm and tensorflow in one process: {_MEND}", name="tvm")
        if not any(isinstance(finder, _TensorFlowGuard) for finder in sys.meta_path):
            sys.meta_path.insert(0, _TensorFlowGuard())


load()

if TYPE_CHECKING:

    class TVMError(RuntimeError):
        """What TVM raises."""

else:
    from tvm.error import TVMError  # noqa: F401
