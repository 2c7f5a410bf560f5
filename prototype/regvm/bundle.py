"""An executable in one file: a zip archive of the program's bytes and the kernels' LLVM assembly.

Members carry no time stamps, so that the same executable gives the same file.
"""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib
from pathlib import Path

from regvm.errors import FormatError

_PROGRAM = "program.bin"
_KERNELS = "kernels/"
_EPOCH = (1980, 1, 1, 0, 0, 0)

# What zipfile raises on a damaged archive; RuntimeError where a flipped bit asks for a password.
_DAMAGES = (
    EOFError,
    KeyError,
    NotImplementedError,
    OSError,
    RuntimeError,
    UnicodeDecodeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


def write(path: str | os.PathLike[str], code: bytes, kernels: list[str]) -> None:
    """Write the file whole or not at all."""
    target = Path(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(zipfile.ZipInfo(_PROGRAM, _EPOCH), code, zipfile.ZIP_DEFLATED)
            for number, text in enumerate(kernels):
                member = zipfile.ZipInfo(_kernel(number), _EPOCH)
                archive.writestr(member, text, zipfile.ZIP_DEFLATED)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def read(path: str | os.PathLike[str]) -> tuple[bytes, list[str]]:
    """The program's bytes and the kernels' text.

    Raises FormatError for a file that ``write`` did not write, OSError for one that cannot be read at all.
    """
    content = io.BytesIO(Path(path).read_bytes())
    try:
        with zipfile.ZipFile(content) as archive:
            names = [n for n in archive.namelist() if n.startswith(_KERNELS)]
            kernels = [archive.read(_kernel(number)).decode() for number in range(len(names))]
            return archive.read(_PROGRAM), kernels
    except _DAMAGES as error:
        raise FormatError(
            f"{path}: not a register VM executable ({error}); write one with 'regvm compile'"
        ) from error


def _kernel(number: int) -> str:
    return f"{_KERNELS}{number:03}.ll"
