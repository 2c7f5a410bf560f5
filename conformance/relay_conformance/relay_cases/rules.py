"""The rules that cases test, by the ids of the RFC: of the language, of the instructions, of the compiler.

The rules of validation are about bytecode that no compiler makes, so the verifier's own tests hold them.
"""

from collections.abc import Mapping
from functools import cache

from regvm import isa

LANGUAGE: Mapping[str, str] = {
    "lang-type": "a program that Relay's type checker refuses is refused by every executor, before it runs",
    "lang-argument": "an argument has the parameter's data type and fits its shape, or it is refused",
    "lang-constant": "a constant is the value that was written, of its data type and shape, to the bit",
    "lang-operator": "an operator gives for the same operands the same bits, wherever it stands in the program",
    "lang-let": "a `let` binds a value once, for its own body; an inner scope may use the name for something else",
    "lang-if": "an `if` evaluates the branch that its condition chooses, and no other",
    "lang-match": "a `match` takes the first clause whose pattern fits; where none does, it raises",
    "lang-data": "a constructor's value keeps its tag and its fields for as long as something reaches it",
    "lang-tuple": "a tuple keeps the order of its fields, through any nesting",
    "lang-call": "a call binds arguments to parameters by position, and every call has variables of its own",
    "lang-closure": "a function is a value, which keeps what it captured when it was made",
    "lang-recursion": "a function may call itself and later ones, to any depth that memory allows",
    "lang-reference": "a reference is one cell under all its names; a read gives what was written last",
    "lang-order": "effects happen in the order of the program: the value of a `let` before its body, arguments from "
    "left to right",
    "lang-dynamic": "a dimension that is not known before the program runs takes any size that the operators allow",
}
COMPILER = (
    "comp-registers",
    "comp-moves",
    "comp-last-use",
    "comp-limit",
    "comp-escape",
    "comp-storage",
    "comp-loop",
    "comp-tail-call",
    "comp-deterministic",
)


@cache
def instructions() -> frozenset[str]:
    """The rules of execution, one an instruction."""
    return frozenset(f"exec-{row.mnemonic.replace('_', '-')}" for row in isa.ROWS)


@cache
def known() -> frozenset[str]:
    """Every rule that a case may name."""
    return frozenset((*LANGUAGE, *COMPILER, *instructions()))
