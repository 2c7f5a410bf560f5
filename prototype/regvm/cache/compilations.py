"""Whole compilations from the store: an executable's bytes, the keys of its kernels, and notes.

The bytes are whatever the machine in question loads; TVM's VM keeps its own here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from regvm.cache import kernels, settings
from regvm.cache.kernels import KernelLibrary
from regvm.cache.store import store_at
from regvm.frontend import fingerprint

_LENGTH_BYTES = 8


@dataclass(frozen=True)
class Compilation:
    """``code`` is an executable without its kernels."""

    code: bytes
    library: KernelLibrary
    notes: tuple[str, ...] = ()


def key_of(
    compiler: str,
    mod: Any,
    target: Any,
    params: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
) -> str | None:
    """What a compilation is kept under; None if it can't be, or if the user wants no compilations kept.

    ``compiler`` says which machine the code is for, ``options`` are its own. Raises ArgumentError for an
    environment variable that makes no sense.
    """
    if settings.read().mode is not settings.Mode.ON:
        return None
    return fingerprint.compilation(compiler, mod, target, params, options or {})


def find(key: str | None) -> Compilation | None:
    """The compilation under a key, if it and all its kernels are there."""
    if key is None:
        return None
    chosen = settings.read()
    store = store_at(chosen.folder, chosen.limit)
    entry = store.get(key)
    if entry is None:
        return None
    end = _LENGTH_BYTES + int.from_bytes(entry[:_LENGTH_BYTES], "little")
    about = json.loads(entry[_LENGTH_BYTES:end])
    library = kernels.find(about["kernels"], store)
    return None if library is None else Compilation(entry[end:], library, tuple(about["notes"]))


def keep(key: str | None, compilation: Compilation) -> None:
    """Keep a compilation whose kernels are kept."""
    library = compilation.library
    if key is None or library.keys is None:
        return
    chosen = settings.read()
    about = {"kernels": dict(library.keys), "notes": list(compilation.notes)}
    head = json.dumps(about, sort_keys=True).encode()
    entry = len(head).to_bytes(_LENGTH_BYTES, "little") + head + compilation.code
    store_at(chosen.folder, chosen.limit).put(key, entry)
