"""The errors a user of the register VM can meet; each names the place and the mend."""

from __future__ import annotations

from regvm.tvm_loading import TVMError


class RegvmError(TVMError):
    """Base of every error that the register VM raises on purpose; whoever catches the reference's catches it."""


class UnsupportedError(RegvmError):
    """A Relay construct that the register VM does not compile, with its place in the module."""


class CompileError(RegvmError):
    """A module that cannot be compiled: ill-typed, without ``main``, or refused by a required pass."""


class CheckError(RegvmError):
    """A checker found the compiler at fault; the message lists every violation and the code."""


class VerificationError(RegvmError):
    """Bytecode that could crash the machine; the message lists every violation."""


class FormatError(RegvmError):
    """Bytes or text that are not an executable, with the offset or line."""


class ArgumentError(RegvmError, ValueError):
    """An argument of the wrong number, type, shape, dtype or device."""


class ExecutionError(RegvmError):
    """Running a program failed; names the function and the instruction."""


class KernelError(ExecutionError):
    """A kernel reported an error."""


class MatchError(ExecutionError):
    """No clause of a ``match`` fits the value."""


class StackLimitError(ExecutionError):
    """A recursion went deeper than the machine's stack limit."""
