"""Read Relay from text or JSON, for the command line."""

from __future__ import annotations

from contextlib import AbstractContextManager

import tvm
from tvm import relay

from regvm.errors import CompileError
from regvm.frontend.diagnostics import collected
from regvm.frontend.passes import summary_of

_HEADER = "#[version"


def read_text(text: str) -> tvm.IRModule:
    """A module of Relay's text form. Raises CompileError with line and column of a syntax or type error."""
    if not text.lstrip().startswith(_HEADER):
        raise CompileError(f'Relay text begins with a line {_HEADER} = "0.0.5"]; put that first')
    with collected() as errors:
        try:
            return relay.fromtext(text)
        except tvm.error.TVMError as error:
            reason = errors[0] if errors else summary_of(error)
            raise CompileError(f"this is not well-typed Relay text: {reason}") from error


def read_json(text: str) -> tvm.IRModule:
    """A module of the JSON that ``tvm.ir.save_json`` writes. Raises CompileError for any other."""
    try:
        node = tvm.ir.load_json(text)
    except (tvm.error.TVMError, KeyError, TypeError, ValueError, IndexError) as error:
        raise CompileError(f"this is not the JSON of a Relay module: {summary_of(error)}") from error
    if isinstance(node, relay.Function):
        return tvm.IRModule.from_expr(node)
    if not isinstance(node, tvm.IRModule):
        raise CompileError(f"this is the JSON of a {type(node).__name__}, not of a Relay module")
    return node


def at_level(opt_level: int) -> AbstractContextManager[object]:
    """Compile at this optimisation level inside."""
    context: AbstractContextManager[object] = tvm.transform.PassContext(opt_level=opt_level)
    return context
