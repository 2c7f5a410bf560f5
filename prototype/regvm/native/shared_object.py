"""A program ahead of time: one shared object with its machine code, its kernels, and its bytecode.

What loads it needs neither LLVM nor a linker. Its machine code and this package share structures in memory, so it
says which ones it was compiled for, and another version of the package refuses it. It ends in a checksum, because
the system would load a damaged file and crash.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regvm.errors import CompileError, FormatError
from regvm.executable import Program
from regvm.native import support
from regvm.native.lowering import lower

_MAGIC = b"\x7fELF"
_PREFIX = support.PREFIX
_LINKERS = ("cc", "gcc", "clang")
_FINGERPRINT_BYTES = 64
_TRAILER = b"regvm.so"


@dataclass(frozen=True)
class SharedObject:
    """A loaded file."""

    handle: Any

    def address(self, name: str) -> int:
        """Where a function is."""
        return self.variable(name)

    def variable(self, name: str) -> int:
        """Where a global variable is."""
        return ctypes.addressof(ctypes.c_char.in_dll(self.handle, name))

    def bytecode(self) -> bytes:
        """The program's bytes. Raises FormatError for a file of another version."""
        found = ctypes.string_at(self.variable(f"{_PREFIX}fingerprint"), _FINGERPRINT_BYTES)
        if found != _fingerprint():
            raise FormatError(
                f"{self.handle._name}: compiled by another version of regvm; compile it again with this one"
            )
        start, end = (self.variable(f"{_PREFIX}program{part}") for part in ("", ".end"))
        return ctypes.string_at(start, end - start)


def is_one(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a shared object at all."""
    with open(path, "rb") as file:
        return is_content(file.read(len(_MAGIC)))


def is_content(content: bytes) -> bool:
    """Whether a file that begins so is a shared object."""
    return content.startswith(_MAGIC)


def load(path: str | os.PathLike[str]) -> SharedObject:
    """Raises FormatError for a file that ``write`` did not write, or that is damaged."""
    content = Path(path).read_bytes()
    size = len(_TRAILER) + hashlib.sha256().digest_size
    if not content.endswith(_TRAILER):
        raise FormatError(f"{path}: not a register VM executable; write one with 'regvm compile --native'")
    if _trailer(content[:-size]) != content[-size:]:
        raise FormatError(f"{path}: damaged; write it again with 'regvm compile --native'")
    # With a folder in its name: the system looks for other names where libraries are.
    where = Path(path).resolve()
    try:
        return SharedObject(ctypes.CDLL(str(where)))
    except OSError as error:
        raise FormatError(f"{path}: cannot be loaded: {error}") from error


def write(
    path: str | os.PathLike[str],
    program: Program,
    bytecode: bytes,
    dtype_word: Callable[[str], int],
    save_kernels: Callable[[Path], Sequence[Path]],
) -> None:
    """Compile and link; the file is written whole or not at all.

    ``save_kernels`` writes the kernels as object files into a folder. Raises CompileError where there is no linker,
    before anything is compiled, or where it fails.
    """
    linker = _find_linker()
    # Only now, so that loading a shared object needs no LLVM.
    from regvm.native.machine_code import object_code

    target = Path(path)
    with tempfile.TemporaryDirectory(prefix="regvm-") as name:
        folder = Path(name)
        (folder / "program.bin").write_bytes(bytecode)
        parts = {
            "support": support.module(),
            "program": "\n".join([_data(folder / "program.bin"), lower(program, dtype_word)]),
        }
        objects = []
        for part, text in parts.items():
            objects.append(folder / f"{part}.o")
            objects[-1].write_bytes(object_code(text))
        linked = folder / "linked.so"
        _link(linker, linked, [*objects, *save_kernels(folder)])
        partial = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            content = linked.read_bytes()
            partial.write_bytes(content + _trailer(content))
            partial.chmod(0o755)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)


def _trailer(content: bytes) -> bytes:
    return hashlib.sha256(content).digest() + _TRAILER


def _fingerprint() -> bytes:
    """Stands for the structures and the support that machine code relies on."""
    return hashlib.sha256(support.module().encode()).hexdigest().encode()


def _data(bytecode: Path) -> str:
    """The bytecode and the fingerprint as symbols; the assembler reads the file, which may be large."""
    lines = [
        '.section .rodata.regvm,"a",@progbits',
        f'.globl "{_PREFIX}program"',
        f'.globl "{_PREFIX}program.end"',
        f'.globl "{_PREFIX}fingerprint"',
        f'"{_PREFIX}program":',
        f'.incbin "{bytecode}"',
        f'"{_PREFIX}program.end":',
        ".byte 0",
        f'"{_PREFIX}fingerprint":',
        f'.ascii "{_fingerprint().decode()}"',
        ".text",
    ]
    quoted = (line.replace('"', r"\22") for line in lines)
    return "\n".join(f'module asm "{line}"' for line in quoted)


def _find_linker() -> list[str]:
    """The command that links, from CC where it is set."""
    wanted = shlex.split(os.environ.get("CC", ""))
    for command in [wanted] if wanted else [[name] for name in _LINKERS]:
        if shutil.which(command[0]):
            return command
    missing = f"CC names {wanted[0]}, which is not there" if wanted else f"there is no {', '.join(_LINKERS)}"
    raise CompileError(
        f"a shared object takes a linker, but {missing}; install a C compiler, or compile without --native"
    )


def _link(linker: Sequence[str], output: Path, objects: Sequence[Path]) -> None:
    # Symbolic: a function of this file is never taken from another library that has one of its name.
    options = ["-shared", "-Wl,-Bsymbolic", "-Wl,-z,noexecstack", "-o", str(output)]
    done = subprocess.run(
        [*linker, *options, *map(str, objects), "-lm"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise CompileError(f"the linker {linker[0]} failed: {said}")
