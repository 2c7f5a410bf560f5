"""Catch the diagnostics that TVM's parser and type checker would print on standard error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import tvm
from tvm.ir import diagnostics

_TOKEN = re.compile(r"Token\(span=.*?, token_type=\w+, data=(.*)\)")
_OVERRIDE = "diagnostics.OverrideRenderer"


@contextmanager
def collected() -> Iterator[list[str]]:
    """Gives a list that fills with the errors, each with line and column where it has them.

    TVM has one renderer a process; the one that a user has set comes back afterwards.
    """
    errors: list[str] = []

    def render(context: diagnostics.DiagnosticContext) -> None:
        errors.extend(_show(d) for d in context.diagnostics if d.level <= diagnostics.DiagnosticLevel.ERROR)

    users = tvm.get_global_func(_OVERRIDE, allow_missing=True)
    diagnostics.override_renderer(render)
    try:
        yield errors
    finally:
        diagnostics.override_renderer(None)
        if users is not None:
            tvm.register_func(_OVERRIDE, users, override=True)


def _show(diagnostic: diagnostics.Diagnostic) -> str:
    # The parser shows a token as the object that it is, address included.
    message = _TOKEN.sub(r"\1", " ".join(str(diagnostic.message).split()))
    span = diagnostic.span
    return f"line {span.line}, column {span.column}: {message}" if span is not None else message
