"""Call kernels through ``TVMFuncCall``, with argument arrays that are built once for each call site.

That costs a quarter of a call through TVM's Python wrapper.
"""

from __future__ import annotations

import ctypes
import functools
from array import array
from collections.abc import Callable, Sequence
from typing import Any

import tvm
from tvm._ffi.base import _LIB, raise_last_ffi_error

from regvm.errors import ExecutionError

_DLTENSOR_HANDLE = 7


class CallSite:
    """One place from which a kernel is called; ``values`` takes the handles of its tensors, in order."""

    __slots__ = ("run", "values")

    def __init__(self, kernel: Any, count: int) -> None:
        self.values = array("Q", [0] * count)
        # The partial holds every buffer that the call uses.
        self.run: Callable[[], int] = functools.partial(
            _LIB.TVMFuncCall,
            ctypes.c_void_p(kernel.handle.value),
            (ctypes.c_uint64 * count).from_buffer(self.values),
            (ctypes.c_int * count)(*[_DLTENSOR_HANDLE] * count),
            ctypes.c_int(count),
            ctypes.byref(ctypes.c_uint64()),
            ctypes.byref(ctypes.c_int()),
        )


def last_error() -> str:
    """What the kernel that just failed said, without its backtrace."""
    try:
        raise_last_ffi_error()
    except (tvm.error.TVMError, ValueError, TypeError, AttributeError, IndexError, RuntimeError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return lines[-1] if lines else type(error).__name__
    return "no message"


def find_kernels(library: Any, names: Sequence[str]) -> list[Any]:
    """The kernels of a library by name; raises ExecutionError for those that it lacks."""
    if names and library is None:
        raise ExecutionError(f"no kernel library is given; the program calls {', '.join(names)}")
    kernels = [_find_kernel(library, name) for name in names]
    missing = [name for name, kernel in zip(names, kernels, strict=True) if kernel is None]
    if missing:
        raise ExecutionError(
            f"the kernel library lacks {', '.join(missing)}; load the executable with the library it was saved with"
        )
    return kernels


def _find_kernel(library: Any, name: str) -> Any:
    # implements_function would say no of a library that compiles its kernels when they are asked for.
    try:
        return library.get_function(name, query_imports=True)
    except AttributeError:
        return None
