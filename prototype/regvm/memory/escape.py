"""Which tensors may outlive their frame, and so cannot live in its arena.

A tensor or parameter escapes if one of its aliases is returned, stored in an object, a closure or a reference, or
passed to a call that lets it escape. Calls are solved together, as a least fixed point over the module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regvm import isa
from regvm.ir.function import Function, Module
from regvm.memory.aliases import Aliases, aliases_of


@dataclass(frozen=True)
class Escape:
    """Of one function: its aliases, the roots among them that escape, and the numbers of such parameters."""

    aliases: Aliases
    escaping: frozenset[int]
    parameters: frozenset[int]


def analyse(module: Module) -> tuple[Escape, ...]:
    """The escape facts of every function of the module."""
    aliases = [aliases_of(f) for f in module.functions]
    callers = _callers(module)
    parameters = [frozenset[int]()] * len(module.functions)
    found: list[_Escaping] = [_NOTHING] * len(module.functions)
    # Callees mostly come after their callers.
    pending = list(range(len(module.functions)))
    waiting = set(pending)
    while pending:
        number = pending.pop()
        waiting.discard(number)
        function = module.functions[number]
        found[number] = _escaping(function, aliases[number], parameters)
        own = (
            n for n, p in enumerate(function.blocks[0].parameters) if p in found[number].through_parameters
        )
        claim = frozenset(own)
        if claim != parameters[number]:
            parameters[number] = claim
            again = [c for c in callers[number] if c not in waiting]
            pending.extend(again)
            waiting.update(again)
    return tuple(
        Escape(a, e.through_parameters | e.by_tail_call, p)
        for a, e, p in zip(aliases, found, parameters, strict=True)
    )


def _callers(module: Module) -> list[list[int]]:
    """For each function those that call it by number."""
    found: list[list[int]] = [[] for _ in module.functions]
    for number, function in enumerate(module.functions):
        calls = {
            i.function
            for b in function.blocks
            for i in b.instructions
            if isinstance(i, isa.Call | isa.TailCall)
        }
        for callee in sorted(calls):
            found[callee].append(number)
    return found


@dataclass(frozen=True)
class _Escaping:
    through_parameters: frozenset[int]
    by_tail_call: frozenset[int]


_NOTHING = _Escaping(frozenset(), frozenset())


def _escaping(function: Function, aliases: Aliases, parameters: list[frozenset[int]]) -> _Escaping:
    """What escapes if the functions of the module let just ``parameters`` escape.

    A tail call ends the frame, so this frame's tensors that it passes must not live there; but what the caller
    handed in lives on in the caller's frame.
    """
    out: set[int] = set()
    ended: set[int] = set()
    for block in function.blocks:
        for instruction in block.instructions:
            out.update(escaping_uses(instruction, parameters))
            if isinstance(instruction, isa.TailCall):
                ended.update(u.register for u in instruction.args)
    own = aliases.roots_of(ended) - set(function.blocks[0].parameters)
    return _Escaping(aliases.roots_of(out), own)


def escaping_uses(instruction: isa.Instruction, parameters: Sequence[frozenset[int]]) -> list[int]:
    """The values that an instruction stores or returns; ``parameters`` are those that each function lets escape."""
    match instruction:
        case isa.Ret(src) | isa.MakeRef(src=src) | isa.WriteRef(src=src):
            return [src.register]
        case isa.MakeAdt(fields=stored) | isa.MakeClosure(captured=stored):
            return [u.register for u in stored]
        case isa.Call(function=callee, args=args) | isa.TailCall(function=callee, args=args):
            return [u.register for n, u in enumerate(args) if n in parameters[callee]]
        case isa.CallClosure(args=args) | isa.TailCallClosure(args=args):
            return [u.register for u in args]
        case _:
            return []
