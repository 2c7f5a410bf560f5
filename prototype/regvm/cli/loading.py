"""Tell from a file's content what it is: Relay text or JSON, a saved executable, or a listing."""

from __future__ import annotations

import enum
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

import regvm
from regvm import binary, bundle
from regvm.api import Executable
from regvm.cli.progress import working
from regvm.errors import FormatError
from regvm.executable import Program
from regvm.frontend import reading, translate
from regvm.frontend import source as relay_source
from regvm.ir import Module
from regvm.native import shared_object
from regvm.text.assembler import assemble


class Form(enum.Enum):
    """What a file holds."""

    RELAY_TEXT = "Relay text"
    RELAY_JSON = "Relay JSON"
    EXECUTABLE = "a saved executable"
    SHARED_OBJECT = "a shared object"
    LISTING = "a listing"


@dataclass(frozen=True)
class Source:
    """A file, or standard input as ``-``, with what it holds."""

    path: str
    form: Form
    content: bytes

    @property
    def text(self) -> str:
        """The content as text; raises FormatError for bytes that are none."""
        try:
            return self.content.decode()
        except UnicodeDecodeError as error:
            raise FormatError(f"{self.path}: offset {error.start}: this is no UTF-8 text") from error


@dataclass(frozen=True)
class CompileOptions:
    """How Relay is compiled on the way."""

    opt_level: int = 3
    target: str = "llvm"
    params: Path | None = None
    check: bool = False
    register_limit: int | None = None


def read(path: str) -> Source:
    """Raises FormatError for a file that is none of the forms, OSError for one that cannot be read."""
    content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    return Source(path, _form(path, content), content)


def _form(path: str, content: bytes) -> Form:
    start = content.lstrip()
    if content.startswith(b"PK"):
        return Form.EXECUTABLE
    if shared_object.is_content(content):
        return Form.SHARED_OBJECT
    if start.startswith(b"{"):
        return Form.RELAY_JSON
    if start.startswith((b"#[version", b"def ", b"type ", b"fn ")):
        return Form.RELAY_TEXT
    if start.startswith((b"function ", b";")):
        return Form.LISTING
    raise FormatError(
        f'{path}: expected Relay text (which begins with #[version = "0.0.5"]), Relay JSON, a saved executable '
        "(from 'regvm compile') or a listing (from 'regvm dis')"
    )


def program_of(source: Source) -> Program:
    """The program of a saved executable or a listing, not verified."""
    if source.form is Form.LISTING:
        return assemble(source.text)
    if source.form is Form.SHARED_OBJECT:
        return binary.decode(shared_object.load(source.path).bytecode())
    return binary.decode(bundle.read(source.path)[0])


def executable_of(source: Source, options: CompileOptions) -> Executable:
    """A saved executable, or Relay compiled."""
    match source.form:
        case Form.EXECUTABLE | Form.SHARED_OBJECT:
            with working(f"loading {source.path}"):
                return regvm.load(source.path)
        case Form.RELAY_TEXT | Form.RELAY_JSON:
            return _compile(source, options)
        case Form.LISTING:
            raise FormatError(f"{source.path}: a listing has no kernels; make an executable with 'regvm asm'")


def module_of(source: Source, options: CompileOptions) -> Module:
    """Relay translated to the intermediate representation: what the allocators are given.

    Raises FormatError for a file that holds no Relay.
    """
    if source.form not in (Form.RELAY_TEXT, Form.RELAY_JSON):
        raise FormatError(f"{source.path}: this is {source.form.value}; a plan takes Relay text or JSON")
    with working(f"reading {source.path}"), reading.at_level(options.opt_level):
        module, params = _read(source, options)
        lowered = relay_source.lower(module, options.target, None, params)
        return translate.translate(lowered.module)[0]


def _compile(source: Source, options: CompileOptions) -> Executable:
    with working(f"compiling {source.path}"):
        module, params = _read(source, options)
        with reading.at_level(options.opt_level):
            return regvm.compile(
                module,
                options.target,
                params=params,
                check=options.check,
                register_limit=options.register_limit,
            )


def _read(source: Source, options: CompileOptions) -> tuple[Any, dict[str, Any] | None]:
    read_module = reading.read_text if source.form is Form.RELAY_TEXT else reading.read_json
    module = read_module(source.text)
    return module, _params(options.params, module) if options.params else None


def _params(path: Path, module: Any) -> dict[str, Any]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            params = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, AttributeError) as error:
        raise click.UsageError(f"--params: cannot read {path} as a .npz file: {error}") from error
    known = [str(p.name_hint) for p in module["main"].params]
    unknown = sorted(set(params) - set(known))
    if unknown:
        raise click.UsageError(
            f"--params: @main has no parameter {', '.join(unknown)}; it takes {', '.join(known) or 'none'}"
        )
    return params
