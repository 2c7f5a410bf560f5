"""Kernel libraries as text and back: LLVM assembly, which needs no linker to load.

Belongs to the kernel side of the runtime and, like it, knows TVM.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any

import tvm

from regvm.errors import CompileError, FormatError

_STRING = re.compile(r'\[(\d+) x i8\] c"([^"]*)"')
_ADDRESS = re.compile(r'!"(0x[0-9a-f]+)(\.w\d+\.b\d+)?"')
_ORIGIN = re.compile(r"^(?:; ModuleID|source_filename) = .*\n", re.MULTILINE)
_MACHINE = re.compile(r"^target (?:datalayout|triple) = .*$", re.MULTILINE)
_TVM_TARGET = re.compile(r'^![0-9]+ = (!\{i32 \d, !"tvm_target", .*\})$', re.MULTILINE)


def to_text(library: Any) -> list[str]:
    """LLVM assembly of a library and of the libraries it imports; the same kernels give the same text.

    TVM names its aliasing metadata after addresses of its own process, which are numbered anew; LLVM names the file
    that a module was read from, which is left out.
    """
    texts = []
    with tempfile.TemporaryDirectory() as folder:
        for number, module in enumerate([library, *library.imported_modules]):
            path = Path(folder) / f"{number}.ll"
            module.save(str(path))
            texts.append(_reproducible(path.read_text()))
    return texts


def _reproducible(text: str) -> str:
    numbers: dict[str, int] = {}

    def renumber(found: re.Match[str]) -> str:
        number = numbers.setdefault(found[1], len(numbers))
        return f'!"buffer{number}{found[2] or ""}"'

    return _ADDRESS.sub(renumber, _ORIGIN.sub("", text))


def from_text(texts: list[str]) -> Any:
    """A library that compiles its kernels when they are first asked for. Raises FormatError for what LLVM refuses."""
    modules = []
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(texts):
            path = Path(folder) / f"{number}.ll"
            path.write_text(text)
            try:
                modules.append(tvm.runtime.load_module(str(path)))
            except tvm.error.TVMError as error:
                raise FormatError(
                    f"the kernel library cannot be read: {str(error).splitlines()[-1]}"
                ) from error
    for module in modules[1:]:
        modules[0].import_module(module)
    return modules[0]


def to_objects(library: Any, folder: Path) -> list[Path]:
    """Object files of a library and of the libraries it imports, written into a folder.

    Raises CompileError for a library that holds machine code already, which cannot be written as an object file.
    """
    written = []
    for number, module in enumerate([library, *library.imported_modules]):
        if module.type_key != "llvm":
            raise CompileError("the kernels are machine code already; compile the Relay module again")
        written.append(folder / f"kernels{number}.o")
        module.save(str(written[-1]), "o")
    return written


def from_shared_object(path: str | os.PathLike[str]) -> Any:
    """The library in a shared object. Raises FormatError for a file that the system cannot load."""
    try:
        return tvm.runtime.load_module(str(Path(path).resolve()), "so")
    except tvm.error.TVMError as error:
        raise FormatError(f"{path}: cannot be loaded: {str(error).splitlines()[-1]}") from error


def empty_like(text: str) -> str:
    """The assembly of a library without kernels, for the machine of another one's.

    Raises FormatError for a text that is no library's.
    """
    target = _TVM_TARGET.search(text)
    if target is None:
        raise FormatError("the kernel library does not name its target")
    return "\n".join([*_MACHINE.findall(text), "!llvm.module.flags = !{!0}", f"!0 = {target[1]}", ""])


def with_symbol(text: str, old: str, new: str) -> str:
    """The assembly of a kernel under another name; no other identifier may contain the ``old`` one.

    A kernel's error messages name it, and the type of a string says its length.
    """
    longer = len(new) - len(old)

    def resized(found: re.Match[str]) -> str:
        length = int(found[1]) + longer * found[2].count(old)
        return f'[{length} x i8] c"{found[2]}"'

    return _STRING.sub(resized, text).replace(old, new)
