"""Kernels from the store, built and kept where they are missing.

Each kernel is a library of its own, built under a symbol that stands for its name, so that programs that call
it otherwise share it. What a process has loaded once, and so compiled to machine code, it uses again.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from regvm.cache import settings
from regvm.cache.store import Store, store_at
from regvm.errors import FormatError
from regvm.frontend import fingerprint, kernels
from regvm.runtime.kernels import library

_SYMBOL = "regvm_cached_kernel"
_LOADED = 512


@dataclass(frozen=True)
class KernelLibrary:
    """``module`` holds the kernels by name; ``keys``, the entries they came from, is None if they are not kept."""

    module: Any
    keys: Mapping[str, str] | None = None


@dataclass(frozen=True)
class _Kernel:
    """``empty`` is the assembly of a library without kernels, for the same machine."""

    module: Any
    empty: str


def build(prim_funcs: Mapping[str, Any], target: Any, plainly: kernels.Plainly) -> KernelLibrary:
    """The kernels of PrimFuncs by name, as ``frontend.kernels.build`` gives them, but from the store if possible.

    What LLVM refuses is kept, too, in the form that ``plainly`` gives. Raises CompileError that names the kernel if
    one cannot be built.
    """
    plainly = functools.cache(plainly)
    chosen = settings.read()
    keys = _keys(prim_funcs, target) if chosen.mode is not settings.Mode.OFF else None
    if keys is None:
        return KernelLibrary(kernels.build(prim_funcs, target, plainly))
    store = store_at(chosen.folder, chosen.limit)
    found = [
        _find(name, key, store) or _build(name, key, prim_funcs[name], target, plainly, store)
        for name, key in keys.items()
    ]
    return KernelLibrary(_joined(found), keys)


def find(keys: Mapping[str, str], store: Store) -> KernelLibrary | None:
    """The kernels that are kept under these keys, by name; None if one is missing."""
    found = []
    for name, key in keys.items():
        kernel = _find(name, key, store)
        if kernel is None:
            return None
        found.append(kernel)
    return KernelLibrary(_joined(found), keys)


def _keys(prim_funcs: Mapping[str, Any], target: Any) -> dict[str, str] | None:
    keys = {}
    for name in sorted(prim_funcs):
        key = fingerprint.kernel(prim_funcs[name], target)
        if key is None:
            return None
        keys[name] = key
    return keys


def _find(name: str, key: str, store: Store) -> _Kernel | None:
    entry = store.get(key)
    if entry is None:
        return None
    try:
        return _load(name, zlib.decompress(entry))
    except (zlib.error, FormatError):
        store.discard(key)
        return None


def _build(
    name: str, key: str, prim_func: Any, target: Any, plainly: kernels.Plainly, store: Store
) -> _Kernel:
    (text,) = library.to_text(kernels.build_one(name, _SYMBOL, prim_func, target, plainly))
    store.put(key, zlib.compress(text.encode(), 1))
    return _load(name, text.encode())


@functools.lru_cache(maxsize=_LOADED)
def _load(name: str, text: bytes) -> _Kernel:
    """Called with the text and not the key, so that what is loaded is what the store holds."""
    named = library.with_symbol(text.decode(), _SYMBOL, name)
    return _Kernel(library.from_text([named]), library.empty_like(named))


def _joined(found: list[_Kernel]) -> Any:
    """One library for a program; the kernels' own are shared, so they must not import each other."""
    if not found:
        return None
    top = library.from_text([found[0].empty])
    for kernel in found:
        top.import_module(kernel.module)
    return top
