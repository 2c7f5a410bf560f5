"""Whether bytecode keeps `comp-last-use` to the end: no register keeps a value that nothing reads any more.

The compiler's checker proves that a mark never comes too early; a mark that is missing changes no result, only how
long memory is held, so it is looked for here. Read off the bytecode alone: a register that is read, and not read
again before it is written, must be marked where it is read.
"""

from collections.abc import Sequence

from regvm import isa
from regvm.executable import Function, Program


def unmarked(program: Program) -> list[str]:
    """Every read that is the last one on all paths and does not say so."""
    return [found for function in program.functions for found in _unmarked(function)]


def _unmarked(function: Function) -> list[str]:
    live = _live_after(function.instructions)
    return [
        f"@{function.name}, instruction {number}: R{use.register} is read last and not marked"
        for number, instruction in enumerate(function.instructions)
        for use in isa.uses(instruction)
        if not use.last and use.register not in live[number] and not _marked_beside(instruction, use.register)
    ]


def _marked_beside(instruction: isa.Instruction, register: int) -> bool:
    """Of several reads of a register in one instruction one carries the mark."""
    return any(use.last for use in isa.uses(instruction) if use.register == register)


def _live_after(code: Sequence[isa.Instruction]) -> list[frozenset[int]]:
    before: list[frozenset[int]] = [frozenset()] * len(code)
    after = list(before)
    changed = True
    while changed:
        changed = False
        for number in reversed(range(len(code))):
            following = list(isa.targets(code[number]))
            if not isa.row_of(code[number]).ends_block:
                following.append(number + 1)
            out = frozenset[int]().union(*(before[n] for n in following))
            read = {use.register for use in isa.uses(code[number])}
            start = frozenset(read | (out - set(isa.defs(code[number]))))
            if (start, out) != (before[number], after[number]):
                before[number], after[number] = start, out
                changed = True
    return after
