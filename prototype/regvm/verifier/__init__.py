"""Bytecode that passes here cannot crash the machine.

It says nothing about what a program means: that is the checkers' part. ``static`` looks at each instruction by
itself, ``contents`` at what registers hold on every path.
"""

from __future__ import annotations

from dataclasses import dataclass

from regvm.errors import VerificationError
from regvm.executable import Program
from regvm.verifier.contents import check_contents
from regvm.verifier.rules import Rule
from regvm.verifier.static import check_constants, check_function

__all__ = ["Rule", "Violation", "assert_verified", "verify"]


@dataclass(frozen=True)
class Violation:
    """A broken rule and where.

    ``instruction`` is -1 for the function as a whole, ``function`` is empty for the program as a whole.
    """

    rule: Rule
    function: str
    instruction: int
    message: str

    def __str__(self) -> str:
        function = f"@{self.function}" if self.function else "program"
        place = f", instruction {self.instruction}" if self.instruction >= 0 else ""
        return f"[{self.rule.value}] {function}{place}: {self.message}"


def verify(program: Program) -> list[Violation]:
    """Every violation in the program; empty if it is valid."""
    found = [Violation(Rule.CONSTANT, "", -1, message) for message in check_constants(program)]
    for function in program.functions:
        static = [
            Violation(rule, function.name, at, message)
            for at, rule, message in check_function(program, function)
        ]
        found.extend(static)
        if not static:
            found.extend(
                Violation(rule, function.name, at, message)
                for at, rule, message in check_contents(program, function)
            )
    return found


def assert_verified(program: Program) -> None:
    """Raise VerificationError that lists every violation."""
    violations = verify(program)
    if violations:
        raise VerificationError("invalid bytecode:\n" + "\n".join(map(str, violations)))
