"""Entries of bytes in files, found by the digest that names their content; shared by any number of processes.

An entry appears by one rename, whole, so that reading needs no lock; two processes that write the same one write
the same bytes. An entry carries a checksum over its name and its bytes: what was cut short, altered or put under
another name is removed and counts as absent. Nothing here may cost the user the compilation: a folder that
cannot be written to is given up with one warning.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import tempfile
import time
import warnings
from pathlib import Path

_MAGIC = b"regvm cache 1\n"
_HEADER = len(_MAGIC) + hashlib.sha256().digest_size
_SUFFIX = ".entry"
_PARTIAL = ".partial"
_ABANDONED_SECONDS = 3600.0
_KEPT_WHEN_FULL = 0.9


class Store:
    """Entries under ``folder``, together at most ``limit`` bytes; those that were used last stay."""

    def __init__(self, folder: Path, limit: int) -> None:
        self._folder = folder
        self._limit = limit
        self._given_up = False
        self._total: int | None = None
        self._since_look = 0

    def get(self, key: str) -> bytes | None:
        """The bytes under a key, which become the last used; None if there are none that are whole."""
        path = self._path(key)
        try:
            entry = path.read_bytes()
        except OSError:
            return None
        payload = entry[_HEADER:]
        if entry[:_HEADER] != _header(key, payload):
            self.discard(key)
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return payload

    def put(self, key: str, payload: bytes) -> None:
        """Keep bytes under a key, and drop what was used longest ago if the store grows past its limit."""
        size = _HEADER + len(payload)
        if self._given_up or size > self._limit:
            return
        try:
            self._write(self._path(key), _header(key, payload) + payload)
            self._make_room(size)
        except OSError as error:
            self._given_up = True
            warnings.warn(
                f"nothing more is kept in the cache {self._folder}: {error.strerror or error}; "
                "REGVM_CACHE_DIR moves it, and REGVM_CACHE=off does without",
                RuntimeWarning,
                stacklevel=2,
            )

    def discard(self, key: str) -> None:
        """Remove an entry if it is there and may be removed."""
        with contextlib.suppress(OSError):
            self._path(key).unlink()

    def _path(self, key: str) -> Path:
        # 256 folders, because some file systems are slow in a folder of many files.
        return self._folder / key[:2] / f"{key}{_SUFFIX}"

    def _write(self, path: Path, entry: bytes) -> None:
        # Kernels are code that this user's processes will run.
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        handle, partial = tempfile.mkstemp(suffix=_PARTIAL, dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(entry)
            os.replace(partial, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(partial)
            raise

    def _make_room(self, written: int) -> None:
        """Look at the folder where this process's own count can be over the limit, or is stale by a sixteenth."""
        self._since_look += written
        if self._total is not None:
            self._total += written
        if self._total is None or self._total > self._limit or self._since_look > self._limit // 16:
            self._total = self._evict()
            self._since_look = 0

    def _evict(self) -> int:
        """Remove down to nine tenths of the limit if the store is over it; returns the bytes that stay."""
        entries = sorted(_entries(self._folder))
        total = sum(size for _, size, _ in entries)
        if total <= self._limit:
            return total
        for _, size, path in entries:
            if total <= self._limit * _KEPT_WHEN_FULL:
                break
            with contextlib.suppress(OSError):
                os.unlink(path)
            total -= size
        return total


@functools.cache
def store_at(folder: Path, limit: int) -> Store:
    """The process's store for a folder, which remembers that it gave up."""
    return Store(folder, limit)


def _header(key: str, payload: bytes) -> bytes:
    return _MAGIC + hashlib.sha256(key.encode() + b"\n" + payload).digest()


def _entries(folder: Path) -> list[tuple[int, int, str]]:
    """Time of last use, size and path of each entry; what a killed process left half written is removed."""
    found = []
    for path in folder.glob("??/*"):
        # Another process may have been first to remove it.
        with contextlib.suppress(FileNotFoundError):
            status = path.stat()
            if path.suffix == _SUFFIX:
                found.append((status.st_mtime_ns, status.st_size, str(path)))
            elif path.suffix == _PARTIAL and time.time() - status.st_mtime > _ABANDONED_SECONDS:
                path.unlink()
    return found
